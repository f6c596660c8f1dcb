//! Rows as objects: pages, list items, groups. Their values are looked up by name; a whole one is made only where a query
//! asks for it.

use std::{cell::OnceCell, ops::ControlFlow, rc::Rc};

use crate::{TextPosition, Value, VaultRow, dataview_field, dataview_property, value::literal};

use super::{
    cell::{Cell, CellObject, in_script_order},
    engine::QueryEngine,
    letters::{canonical_name, is_canonical, linkable_heading},
    links::{field_link, item_outlinks},
};

/// Items nested deeper are left out of their parents; lists that people write have a handful of levels.
const DEEPEST_ITEM: usize = 48;

/// A note, with what was already read of it.
pub(super) struct PageData<'v> {
    pub(super) row: VaultRow<'v>,
    items: OnceCell<Vec<PageItem>>,
    fields: OnceCell<Vec<PageField>>,
    headings: OnceCell<Vec<(usize, String)>>,
    blocks: OnceCell<Vec<(usize, String)>>,
}

/// A list item, or a task if it has a status. Lines are counted from 1.
pub(super) struct PageItem {
    pub(super) line: usize,
    pub(super) line_count: usize,
    pub(super) depth: usize,
    pub(super) parent: Option<usize>,
    pub(super) marker: Box<str>,
    pub(super) status: Option<char>,
    pub(super) text: Rc<str>,
    pub(super) list_line: Option<usize>,
    pub(super) start: TextPosition,
    pub(super) end: TextPosition,
}

/// A value that is written into the text.
pub(super) struct PageField {
    pub(super) key: Rc<str>,
    pub(super) value: String,
    pub(super) item: Option<usize>,
}

impl<'v> PageData<'v> {
    pub(super) fn new(row: VaultRow<'v>) -> Self {
        Self {
            row,
            items: OnceCell::new(),
            fields: OnceCell::new(),
            headings: OnceCell::new(),
            blocks: OnceCell::new(),
        }
    }

    pub(super) fn is_note(&self) -> bool {
        self.row.is_note()
    }

    pub(super) fn path(&self) -> &str {
        self.row.path()
    }

    pub(super) fn items(&self) -> &[PageItem] {
        self.items.get_or_init(|| {
            let items = self.row.items().into_iter();
            items
                .map(|item| PageItem {
                    line: item.line,
                    line_count: item.line_count,
                    depth: item.depth,
                    parent: item.parent,
                    marker: item.marker.into(),
                    status: item.status,
                    text: item.text.as_ref().into(),
                    list_line: item.list_line,
                    start: item.start,
                    end: item.end,
                })
                .collect()
        })
    }

    pub(super) fn text_fields(&self) -> &[PageField] {
        self.fields.get_or_init(|| {
            let fields = self.row.fields().into_iter();
            fields
                .map(|field| PageField { key: field.key.into(), value: field.value.to_owned(), item: field.item })
                .collect()
        })
    }

    /// The nearest heading above a line.
    pub(super) fn heading_above(&self, line: usize) -> Option<String> {
        let headings = self.headings.get_or_init(|| {
            self.row.headings().into_iter().map(|heading| (heading.line, linkable_heading(heading.text))).collect()
        });
        let above = headings.partition_point(|(at, _)| *at <= line);
        above.checked_sub(1).map(|last| headings[last].1.clone())
    }

    pub(super) fn block_id(&self, item: &PageItem) -> Option<&str> {
        let blocks = self
            .blocks
            .get_or_init(|| self.row.blocks().into_iter().map(|block| (block.line, block.id.to_owned())).collect());
        let lines = item.line..item.line + item.line_count;
        blocks.iter().find(|(line, _)| lines.contains(line)).map(|(_, id)| id.as_str())
    }

    /// Those fields of the text that belong to the page, in the order in which Dataview collects them.
    fn own_text_fields(&self) -> impl Iterator<Item = &PageField> {
        let is_task = |item: usize| self.items().get(item).is_some_and(|item| item.status.is_some());
        let fields = self.text_fields();
        let in_items = fields.iter().filter(move |field| field.item.is_some_and(|item| !is_task(item)));
        in_items.chain(fields.iter().filter(|field| field.item.is_none()))
    }

    /// The value of a field: of all that are written so, or else of all that have this canonical name.
    pub(super) fn field(&self, engine: &QueryEngine<'v>, wanted: &str) -> Option<Cell<'v>> {
        if wanted == "file" {
            return None;
        }
        let (mut exact, mut alike) = (Vec::new(), Vec::new());
        self.row.visit_properties(&mut |name, value| {
            if name == wanted {
                exact.push(self.property(engine, &value()));
            } else if !is_canonical(name) && canonical_name(name) == wanted {
                alike.push(self.property(engine, &value()));
            }
            ControlFlow::Continue(())
        });
        for field in self.own_text_fields() {
            if *field.key == *wanted {
                exact.push(self.inline(engine, &field.value));
            } else if !is_canonical(&field.key) && canonical_name(&field.key) == wanted {
                alike.push(self.inline(engine, &field.value));
            }
        }
        let found = if exact.is_empty() { alike } else { exact };
        unwrapped(found)
    }

    /// All fields with their values, raw names first.
    pub(super) fn fields(&self, engine: &QueryEngine<'v>) -> Vec<(Rc<str>, Cell<'v>)> {
        let mut raw: indexmap::IndexMap<Rc<str>, Vec<Cell<'v>>> = indexmap::IndexMap::new();
        self.row.visit_properties(&mut |name, value| {
            raw.entry(name.into()).or_default().push(self.property(engine, &value()));
            ControlFlow::Continue(())
        });
        for field in self.own_text_fields() {
            raw.entry(Rc::clone(&field.key)).or_default().push(self.inline(engine, &field.value));
        }
        let mut canonical: indexmap::IndexMap<Rc<str>, Vec<Cell<'v>>> = indexmap::IndexMap::new();
        for (name, values) in raw.iter().filter(|(name, _)| !is_canonical(name)) {
            let other = canonical_name(name);
            if !other.is_empty() && !raw.contains_key(other.as_str()) {
                canonical.entry(other.into()).or_default().extend(values.iter().cloned());
            }
        }
        let all = raw.into_iter().chain(canonical).filter(|(name, _)| **name != *"file");
        all.filter_map(|(name, values)| Some((name, unwrapped(values)?))).collect()
    }

    /// The first value of the first field whose name is one of these in any case.
    pub(super) fn first_date(&self, engine: &QueryEngine<'v>, names: &[&str]) -> Option<Cell<'v>> {
        let wanted = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let date = |cell: Cell<'v>| matches!(cell, Cell::Date(_)).then_some(cell);
        let mut found = None;
        // Only the first value of a name counts, so that later ones of the same name are passed over.
        let mut seen: Vec<Rc<str>> = Vec::new();
        self.row.visit_properties(&mut |name, value| {
            if wanted(name) && found.is_none() {
                seen.push(name.into());
                found = date(self.property(engine, &value()));
            }
            ControlFlow::Continue(())
        });
        for field in self.own_text_fields().filter(|field| wanted(&field.key)) {
            if found.is_some() {
                break;
            }
            if !seen.contains(&field.key) {
                seen.push(Rc::clone(&field.key));
                found = date(self.inline(engine, &field.value));
            }
        }
        found
    }

    fn property(&self, engine: &QueryEngine<'v>, value: &Value) -> Cell<'v> {
        match value {
            Value::Null | Value::Boolean(_) | Value::Number(_) => self.typed(engine, value, false),
            _ => self.typed(engine, &dataview_property(value), false),
        }
    }

    pub(super) fn inline(&self, engine: &QueryEngine<'v>, text: &str) -> Cell<'v> {
        self.typed(engine, &dataview_field(text), true)
    }

    /// A value as the engine has it. Links in fields lead where they lead from the note; lengths of time in the text are
    /// normalised, those in the frontmatter are not.
    fn typed(&self, engine: &QueryEngine<'v>, value: &Value, normalises: bool) -> Cell<'v> {
        match value {
            Value::Duration(duration) if normalises => Cell::duration(duration.normalised()),
            Value::Link(link) => Cell::link(field_link(&*self.row, link)),
            Value::List(items) => Cell::list(items.iter().map(|item| self.typed(engine, item, normalises)).collect()),
            Value::Object(entries) => {
                let entry =
                    |(name, value): (&String, &Value)| (Rc::from(name.as_str()), self.typed(engine, value, normalises));
                Cell::object(entries.iter().map(entry).collect())
            }
            value => plain_cell(engine, value),
        }
    }
}

/// One value is itself, several are a list.
fn unwrapped(mut values: Vec<Cell<'_>>) -> Option<Cell<'_>> {
    if values.len() <= 1 { values.pop() } else { Some(Cell::list(values)) }
}

/// A value as it is, without a look at what its texts may mean.
pub(super) fn plain_cell<'v>(engine: &QueryEngine<'v>, value: &Value) -> Cell<'v> {
    match value {
        Value::Null => Cell::Null,
        Value::Boolean(value) => Cell::Boolean(*value),
        Value::Number(number) => Cell::Number(number.as_f64()),
        Value::Text(text) => Cell::text(text.as_str()),
        Value::Date(date) => engine.date(date),
        Value::Duration(duration) => Cell::duration(*duration),
        Value::Link(link) => Cell::link(link.clone()),
        Value::List(items) => Cell::list(items.iter().map(|item| plain_cell(engine, item)).collect()),
        Value::Object(entries) => {
            let entry = |(name, value): (&String, &Value)| (Rc::from(name.as_str()), plain_cell(engine, value));
            Cell::object(entries.iter().map(entry).collect())
        }
    }
}

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
        let mut extra = self.extra.clone();
        extra.push((Rc::clone(name), value));
        Self { base: self.base.clone(), extra }
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
        self.extra.iter().map(|(_, cell)| 1 + cell.depth()).fold(base, usize::max)
    }

    /// Only an object without entries is empty: every page has a file.
    pub(super) fn is_empty(&self) -> bool {
        self.extra.is_empty() && matches!(&self.base, RecordBase::Object(object) if object.entries.is_empty())
    }

    /// The page whose `file` the row has, unless another `file` was put over it.
    pub(super) fn file_page(&self) -> Option<&Rc<PageData<'v>>> {
        if self.extra.iter().any(|(name, _)| **name == *"file") {
            return None;
        }
        match &self.base {
            RecordBase::Page(page) | RecordBase::Item { page, with_page: true, .. } => Some(page),
            _ => None,
        }
    }

    pub(super) fn get(&self, engine: &QueryEngine<'v>, name: &str) -> Option<Cell<'v>> {
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
            all.entry(name).or_insert(value);
        }
        for (name, value) in &self.extra {
            all.insert(Rc::clone(name), value.clone());
        }
        in_script_order(all.into_iter().collect())
    }
}

/// The keys that every list item has, in order.
const ITEM_KEYS: [&str; 17] = [
    "symbol",
    "link",
    "section",
    "text",
    "tags",
    "line",
    "lineCount",
    "list",
    "outlinks",
    "path",
    "children",
    "task",
    "annotated",
    "position",
    "subtasks",
    "real",
    "header",
];
/// Of tasks: what the box says, and dates from fields of these names.
const TASK_KEYS: [&str; 4] = ["status", "checked", "completed", "fullyCompleted"];
const TASK_DATES: [(&str, &[&str]); 5] = [
    ("created", &["created", "ctime", "cday"]),
    ("due", &["due", "duetime", "dueday"]),
    ("completion", &["completion", "completed", "comptime", "compday"]),
    ("start", &["start"]),
    ("scheduled", &["scheduled"]),
];

fn number<'v>(count: usize) -> Cell<'v> {
    #[expect(clippy::cast_precision_loss, reason = "nothing that is counted is so large")]
    Cell::Number(count as f64)
}

fn item_value<'v>(engine: &QueryEngine<'v>, page: &Rc<PageData<'v>>, at: usize, name: &str) -> Option<Cell<'v>> {
    let item = page.items().get(at)?;
    if ITEM_KEYS.contains(&name) {
        return Some(item_part(page, at, item, name));
    }
    // A field of such a name answers only where there is nothing else to say.
    let known = match name {
        "parent" => item.parent.and_then(|parent| page.items().get(parent)).map(|parent| number(parent.line - 1)),
        "blockId" => page.block_id(item).map(Cell::text),
        _ => None,
    };
    if known.is_some() {
        return known;
    }
    if item.status.is_some() {
        if TASK_KEYS.contains(&name) {
            return Some(task_part(page, at, item, name));
        }
        if let Some((_, sources)) = TASK_DATES.iter().find(|(known, _)| *known == name) {
            let first = |source: &&str| item_fields(engine, page, at, source).into_iter().next();
            if let Some(date) = sources.iter().find_map(first).filter(Cell::is_truthy) {
                return Some(date);
            }
        }
    }
    unwrapped(item_fields(engine, page, at, name))
}

/// The values of one field of an item.
fn item_fields<'v>(engine: &QueryEngine<'v>, page: &PageData<'v>, at: usize, name: &str) -> Vec<Cell<'v>> {
    let fields = page.text_fields().iter().filter(|field| field.item == Some(at) && *field.key == *name);
    fields.map(|field| page.inline(engine, &field.value)).collect()
}

fn task_part<'v>(page: &PageData<'v>, at: usize, item: &PageItem, name: &str) -> Cell<'v> {
    let done = |item: &PageItem| matches!(item.status, Some('x' | 'X'));
    match name {
        "status" => Cell::text(item.status.map(String::from).unwrap_or_default()),
        "checked" => Cell::Boolean(item.status.is_some_and(|status| status != ' ')),
        "completed" => Cell::Boolean(done(item)),
        _ => {
            let below = page.items()[at + 1..].iter().take_while(|other| other.depth > item.depth);
            Cell::Boolean(done(item) && below.filter(|other| other.status.is_some()).all(done))
        }
    }
}

fn item_part<'v>(page: &Rc<PageData<'v>>, at: usize, item: &PageItem, name: &str) -> Cell<'v> {
    match name {
        "symbol" => Cell::text(&*item.marker),
        "section" | "header" => Cell::link(page.section_link(item)),
        "link" => Cell::link(page.item_link(item)),
        "text" => Cell::Text(Rc::clone(&item.text)),
        "tags" => Cell::list(item_tags(&item.text).into_iter().map(Cell::text).collect()),
        "line" => number(item.line - 1),
        "lineCount" => number(item.line_count),
        "list" => item.list_line.map_or(Cell::Number(-1.0), |line| number(line - 1)),
        "outlinks" => Cell::list(item_outlinks(page, item).into_iter().map(Cell::link).collect()),
        "path" => Cell::text(page.path()),
        "children" | "subtasks" => Cell::list(child_items(page, at).map(|child| item_cell(page, child)).collect()),
        "task" | "real" => Cell::Boolean(item.status.is_some()),
        "annotated" => Cell::Boolean(page.text_fields().iter().any(|field| field.item == Some(at))),
        _ => {
            let place = |position: TextPosition| {
                let parts = [
                    (Rc::from("line"), number(position.line.saturating_sub(1))),
                    (Rc::from("col"), number(position.column)),
                    (Rc::from("offset"), number(position.offset)),
                ];
                Cell::object(parts.into_iter().collect())
            };
            let parts = [(Rc::from("start"), place(item.start)), (Rc::from("end"), place(item.end))];
            Cell::object(parts.into_iter().collect())
        }
    }
}

/// The items that an item holds directly.
pub(super) fn child_items<'p>(page: &'p PageData<'_>, at: usize) -> impl Iterator<Item = usize> + 'p {
    let depth = page.items()[at].depth;
    let items = page.items().iter().enumerate().skip(at + 1);
    let below = items.take_while(move |(_, other)| other.depth > depth && depth < DEEPEST_ITEM);
    below.filter(move |(_, other)| other.parent == Some(at)).map(|(child, _)| child)
}

/// A list item by itself.
pub(super) fn item_cell<'v>(page: &Rc<PageData<'v>>, item: usize) -> Cell<'v> {
    let base = RecordBase::Item { page: Rc::clone(page), item, with_page: false };
    Cell::Record(Rc::new(RecordData::new(base)))
}

/// Every `#` with what may follow it in a tag, wherever it is in the text.
pub(super) fn item_tags(text: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    for (at, _) in text.match_indices('#') {
        let name = &text[at + 1..];
        let end = name.find(|c: char| !literal::is_in_tag(c)).unwrap_or(name.len());
        let tag = &text[at..at + 1 + end];
        if end > 0 && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

fn item_entries<'v>(engine: &QueryEngine<'v>, page: &Rc<PageData<'v>>, at: usize) -> Vec<(Rc<str>, Cell<'v>)> {
    let Some(item) = page.items().get(at) else { return Vec::new() };
    let mut names: Vec<Rc<str>> = ITEM_KEYS.into_iter().map(Rc::from).collect();
    names.extend(["parent", "blockId"].into_iter().map(Rc::from));
    names.extend(page.text_fields().iter().filter(|field| field.item == Some(at)).map(|field| Rc::clone(&field.key)));
    if item.status.is_some() {
        names.extend(TASK_KEYS.into_iter().map(Rc::from));
        names.extend(TASK_DATES.into_iter().map(|(name, _)| Rc::from(name)));
    }
    let mut entries: indexmap::IndexMap<Rc<str>, Cell<'v>> = indexmap::IndexMap::new();
    for name in names {
        if !entries.contains_key(&name)
            && let Some(value) = item_value(engine, page, at, &name)
        {
            entries.insert(name, value);
        }
    }
    entries.into_iter().collect()
}

/// The fields that are written in an item, with the dates of a task. A name that means something else is left out.
pub(super) fn written_fields<'v>(
    engine: &QueryEngine<'v>,
    page: &Rc<PageData<'v>>,
    at: usize,
) -> Vec<(Rc<str>, Cell<'v>)> {
    let is_task = page.items().get(at).is_some_and(|item| item.status.is_some());
    let mut found: Vec<(Rc<str>, Cell<'v>)> = Vec::new();
    let own = page.text_fields().iter().filter(|field| field.item == Some(at)).map(|field| Rc::clone(&field.key));
    let mut names: Vec<Rc<str>> = own.collect();
    if is_task && !names.is_empty() {
        names.extend(TASK_DATES.into_iter().map(|(name, _)| Rc::from(name)));
    }
    for name in names {
        let known = ITEM_KEYS.contains(&&*name) || (is_task && TASK_KEYS.contains(&&*name));
        if !known
            && !found.iter().any(|(other, _)| *other == name)
            && let Some(value) = item_value(engine, page, at, &name)
        {
            found.push((name, value));
        }
    }
    found
}
