//! Rows as objects: pages, list items, groups.

use std::rc::Rc;

use super::{
    cell::{Cell, CellObject, in_script_order},
    engine::QueryEngine,
    items::{item_entries, item_value},
    page::PageData,
};

/// A row, or another object whose values are looked up.
pub(super) struct RecordData<'v> {
    base: RecordBase<'v>,
    /// What FLATTEN has set; the last of a name counts.
    extra: Vec<(Rc<str>, Cell<'v>)>,
}

#[derive(Clone)]
pub(super) enum RecordBase<'v> {
    Page(Rc<PageData<'v>>),
    /// A list item. As the row of a TASK query it answers for its page, too.
    Item {
        page: Rc<PageData<'v>>,
        item: usize,
        with_page: bool,
    },
    Object(Rc<CellObject<'v>>),
}

impl<'v> RecordData<'v> {
    pub(super) fn new(base: RecordBase<'v>) -> Self {
        Self { base, extra: Vec::new() }
    }

    pub(super) fn page(page: Rc<PageData<'v>>) -> Self {
        Self::new(RecordBase::Page(page))
    }

    /// The same with another value under a name.
    pub(super) fn with(&self, name: &Rc<str>, value: Cell<'v>) -> Self {
        // No more than it needs: there may be millions of rows.
        let mut extra = Vec::with_capacity(self.extra.len() + 1);
        extra.extend_from_slice(&self.extra);
        extra.push((Rc::clone(name), value));
        Self { base: self.base.clone(), extra }
    }

    /// What [`Self::with`] takes in memory, with the allocator's own part.
    pub(super) fn size_with_one_more(&self) -> usize {
        // An estimate: allocators round up and keep a header.
        const ALLOCATION: usize = 32;
        size_of::<Self>() + (self.extra.len() + 1) * size_of::<(Rc<str>, Cell<'_>)>() + 2 * ALLOCATION
    }

    pub(super) fn base(&self) -> &RecordBase<'v> {
        &self.base
    }

    pub(super) fn extra(&self) -> &[(Rc<str>, Cell<'v>)] {
        &self.extra
    }

    pub(super) fn depth(&self) -> usize {
        let base = match &self.base {
            RecordBase::Object(object) => object.depth,
            _ => 1,
        };
        // Values of FLATTEN lie one level below the row.
        self.extra.iter().map(|(_, cell)| 1 + cell.depth()).fold(base, usize::max)
    }

    /// Only an object without entries is empty: every page has a file.
    pub(super) fn is_empty(&self) -> bool {
        self.extra.is_empty() && matches!(&self.base, RecordBase::Object(object) if object.entries.is_empty())
    }

    /// The page whose `file` the row has, unless another `file` was put over it.
    pub(super) fn file_page(&self) -> Option<&Rc<PageData<'v>>> {
        // The caller then looks the name up like any other.
        if self.extra.iter().any(|(name, _)| **name == *"file") {
            return None;
        }
        match &self.base {
            RecordBase::Page(page) | RecordBase::Item { page, with_page: true, .. } => Some(page),
            _ => None,
        }
    }

    pub(super) fn get(&self, engine: &QueryEngine<'v>, name: &str) -> Option<Cell<'v>> {
        // The last FLATTEN of a name hides the others, and the fields of the row.
        if let Some((_, value)) = self.extra.iter().rev().find(|(known, _)| **known == *name) {
            return Some(value.clone());
        }
        match &self.base {
            RecordBase::Object(object) => object.entries.get(name).cloned(),
            RecordBase::Page(page) if name == "file" => Some(Cell::File(Rc::clone(page))),
            RecordBase::Page(page) => page.field(engine, name),
            RecordBase::Item { page, item, with_page } => {
                let own = item_value(engine, page, *item, name);
                match own {
                    // An item's own field `file` comes first.
                    None if *with_page && name == "file" => Some(Cell::File(Rc::clone(page))),
                    None if *with_page => page.field(engine, name),
                    own => own,
                }
            }
        }
    }

    /// Everything in it, in the order of Dataview's objects.
    pub(super) fn entries(&self, engine: &QueryEngine<'v>) -> Vec<(Rc<str>, Cell<'v>)> {
        let page_entries = |page: &Rc<PageData<'v>>| {
            std::iter::once((Rc::from("file"), Cell::File(Rc::clone(page))))
                .chain(page.fields(engine))
                .collect::<Vec<_>>()
        };
        let base: Vec<(Rc<str>, Cell<'v>)> = match &self.base {
            RecordBase::Object(object) => {
                object.entries.iter().map(|(name, value)| (Rc::clone(name), value.clone())).collect()
            }
            RecordBase::Page(page) => page_entries(page),
            RecordBase::Item { page, item, with_page } => {
                let mut entries = item_entries(engine, page, *item);
                if *with_page {
                    entries.extend(page_entries(page));
                }
                entries
            }
        };
        let mut all: indexmap::IndexMap<Rc<str>, Cell<'v>> = indexmap::IndexMap::new();
        for (name, value) in base {
            // An item's own value hides that of its page.
            all.entry(name).or_insert(value);
        }
        for (name, value) in &self.extra {
            // FLATTEN hides what the row had, in the place where it was.
            all.insert(Rc::clone(name), value.clone());
        }
        in_script_order(all.into_iter().collect())
    }
}
