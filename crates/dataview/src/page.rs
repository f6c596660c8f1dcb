//! Notes as rows. Their values are looked up by name; a whole one is made only where a query asks for it.

use std::{cell::OnceCell, collections::HashMap, ops::ControlFlow, rc::Rc};

use lapidary_query::{LinkValue, TextPosition, Value, VaultRow, dataview_field, dataview_property};

use super::{
    cell::Cell,
    engine::QueryEngine,
    letters::{canonical_name, has_canonical_name, is_canonical, linkable_heading},
    links::{field_link, row_link},
};

/// A property of this name is not a field: Obsidian once put the place of the frontmatter there.
pub(super) const POSITION: &str = "position";

/// A note, with what was already read of it.
pub(super) struct PageData<'v> {
    pub(super) row: VaultRow<'v>,
    items: OnceCell<PageItems>,
    headings: OnceCell<Vec<(usize, String)>>,
    blocks: OnceCell<Vec<(usize, String)>>,
    item_fields: OnceCell<ItemFields>,
    item_links: OnceCell<Vec<ItemLink>>,
}

/// A link in the text, by its line.
struct ItemLink {
    line: usize,
    link: LinkValue,
}

/// The fields that are written in list items. Each item asks for several of them, so they are found by item and name.
#[derive(Default)]
struct ItemFields {
    /// By item, those of one item as they are written.
    written: Vec<ItemField>,
    /// Places in `written`, by item and name.
    by_name: Vec<usize>,
}

struct ItemField {
    item: usize,
    key: Rc<str>,
    value: String,
}

/// The list items of a note, with their texts one behind the other: there are many, and few are shown.
#[derive(Default)]
struct PageItems {
    texts: String,
    items: Vec<PageItem>,
    /// The items directly below each.
    children: Vec<Vec<usize>>,
    /// Whether a task that is not done is anywhere below.
    holds_open_task: Vec<bool>,
}

/// A list item, or a task if it has a status. Lines are counted from 1.
pub(super) struct PageItem {
    pub(super) line: usize,
    pub(super) line_count: usize,
    pub(super) depth: usize,
    pub(super) parent: Option<usize>,
    pub(super) status: Option<char>,
    pub(super) list_line: Option<usize>,
    pub(super) start: TextPosition,
    pub(super) end: TextPosition,
    /// Where marker and text begin and end among the texts.
    marker_start: usize,
    text_start: usize,
    text_end: usize,
}

impl PageItem {
    pub(super) fn is_done(&self) -> bool {
        matches!(self.status, Some('x' | 'X'))
    }
}

impl<'v> PageData<'v> {
    pub(super) fn new(row: VaultRow<'v>) -> Self {
        Self {
            row,
            items: OnceCell::new(),
            headings: OnceCell::new(),
            blocks: OnceCell::new(),
            item_fields: OnceCell::new(),
            item_links: OnceCell::new(),
        }
    }

    pub(super) fn path(&self) -> &str {
        self.row.path()
    }

    fn all_items(&self) -> &PageItems {
        self.items.get_or_init(|| {
            let mut all = PageItems::default();
            for item in self.row.items() {
                // Marker and text of all items lie in one string, which takes far fewer allocations.
                let marker_start = all.texts.len();
                all.texts += item.marker;
                let text_start = all.texts.len();
                all.texts += &item.text;
                all.items.push(PageItem {
                    line: item.line,
                    line_count: item.line_count,
                    depth: item.depth,
                    parent: item.parent,
                    status: item.status,
                    list_line: item.list_line,
                    start: item.start,
                    end: item.end,
                    marker_start,
                    text_start,
                    text_end: all.texts.len(),
                });
            }
            all.children = vec![Vec::new(); all.items.len()];
            all.holds_open_task = vec![false; all.items.len()];
            // Children come after their parents, so backwards each is complete before its parent asks.
            for (at, item) in all.items.iter().enumerate().rev() {
                // A parent that comes later could close a circle.
                let Some(parent) = item.parent.filter(|parent| *parent < at) else { continue };
                let is_open = item.status.is_some() && !item.is_done();
                all.holds_open_task[parent] |= is_open || all.holds_open_task[at];
                all.children[parent].push(at);
            }
            // They were collected backwards.
            all.children.iter_mut().for_each(|children| children.reverse());
            all
        })
    }

    /// The items directly below an item.
    pub(super) fn children(&self, at: usize) -> &[usize] {
        self.all_items().children.get(at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn holds_open_task(&self, at: usize) -> bool {
        self.all_items().holds_open_task.get(at).copied().unwrap_or_default()
    }

    fn all_item_fields(&self) -> &ItemFields {
        self.item_fields.get_or_init(|| {
            let mut written = Vec::new();
            // A field outside of all lists belongs to the page only.
            self.row.visit_fields(&mut |field| {
                written.extend(field.item.map(|item| ItemField {
                    item,
                    key: field.key.into(),
                    value: field.value.to_owned(),
                }));
            });
            // Stable, so that the fields of an item stay in the order in which they are written.
            written.sort_by_key(|field| field.item);
            let mut by_name: Vec<usize> = (0..written.len()).collect();
            by_name.sort_by(|a, b| {
                let name = |at: &usize| (written[*at].item, &written[*at].key);
                name(a).cmp(&name(b))
            });
            ItemFields { written, by_name }
        })
    }

    /// The names of the fields that are written in an item, in order.
    pub(super) fn item_field_names(&self, item: usize) -> impl Iterator<Item = &Rc<str>> {
        let written = &self.all_item_fields().written;
        let first = written.partition_point(|field| field.item < item);
        written[first..].iter().take_while(move |field| field.item == item).map(|field| &field.key)
    }

    /// What is written in an item as a field of this name, in order.
    pub(super) fn item_field_values(&self, item: usize, name: &str) -> impl Iterator<Item = &str> {
        let ItemFields { written, by_name } = self.all_item_fields();
        let first = by_name.partition_point(|at| (written[*at].item, &*written[*at].key) < (item, name));
        let own = by_name[first..].iter().map(|at| &written[*at]);
        own.take_while(move |field| field.item == item && *field.key == *name).map(|field| field.value.as_str())
    }

    /// The links on the lines of an item, of each line the links first, then the embeds.
    pub(super) fn links_of_item(&self, item: &PageItem) -> impl Iterator<Item = &LinkValue> {
        let links = self.item_links.get_or_init(|| {
            let links = self.row.links();
            let mut own: Vec<_> = links.iter().filter(|link| link.property.is_none()).collect();
            // By line, to be found with a binary search; embeds last, as Dataview has them.
            own.sort_by_key(|link| (link.line, link.embed));
            own.into_iter().map(|link| ItemLink { line: link.line, link: row_link(link) }).collect()
        });
        let (start, end) = (item.line, item.line + item.line_count);
        let first = links.partition_point(|link| link.line < start);
        links[first..].iter().take_while(move |link| link.line < end).map(|link| &link.link)
    }

    pub(super) fn items(&self) -> &[PageItem] {
        &self.all_items().items
    }

    /// `-`, `*`, `+`, `1.` or `1)`
    pub(super) fn marker(&self, item: &PageItem) -> &str {
        self.all_items().texts.get(item.marker_start..item.text_start).unwrap_or_default()
    }

    pub(super) fn text(&self, item: &PageItem) -> &str {
        self.all_items().texts.get(item.text_start..item.text_end).unwrap_or_default()
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
        let blocks = self.blocks.get_or_init(|| {
            let mut blocks: Vec<_> =
                self.row.blocks().into_iter().map(|block| (block.line, block.id.to_owned())).collect();
            blocks.sort_by_key(|(line, _)| *line);
            blocks
        });
        // A block id may be on any line of the item.
        let first = blocks.partition_point(|(line, _)| *line < item.line);
        let found = blocks.get(first).filter(|(line, _)| *line < item.line + item.line_count);
        found.map(|(_, id)| id.as_str())
    }

    /// Everything that is written into fields of the page, in the order in which Dataview collects it: properties, list
    /// items that are not tasks, all other text. Values are made of those that are wanted.
    fn visit_values(
        &self,
        engine: &QueryEngine<'v>,
        wanted: &dyn Fn(&str) -> bool,
        put: &mut dyn FnMut(&str, Cell<'v>),
    ) {
        self.row.visit_properties(&mut |name, value| {
            if name != POSITION && wanted(name) {
                put(name, self.property(engine, &value()));
            }
            ControlFlow::Continue(())
        });
        // Fields come in the order of the text, but those in list items count first.
        let mut outside = Vec::new();
        self.row.visit_fields(&mut |field| {
            if field.of_task || !wanted(field.key) {
                return;
            }
            let value = self.inline(engine, field.value);
            match field.item {
                Some(_) => put(field.key, value),
                None => outside.push((field.key, value)),
            }
        });
        outside.into_iter().for_each(|(key, value)| put(key, value));
    }

    /// The value of a field: of all that are written so, or else of all that have this canonical name.
    pub(super) fn field(&self, engine: &QueryEngine<'v>, wanted: &str) -> Option<Cell<'v>> {
        // The name belongs to the page itself.
        if wanted == "file" {
            return None;
        }
        let mut exact = FieldValues::default();
        let mut alike: Vec<(Rc<str>, Cell<'v>)> = Vec::new();
        // A canonical name is compared as it is; only the others have to be converted.
        let fits = |name: &str| name == wanted || (!is_canonical(name) && has_canonical_name(name, wanted));
        self.visit_values(engine, &fits, &mut |name, value| {
            if name == wanted {
                exact.add(value);
            } else {
                alike.push((name.into(), value));
            }
        });
        // A name as it is written wins over one that only becomes the same.
        let found = exact.value();
        if found.is_some() || alike.is_empty() {
            return found;
        }
        // The values of one spelling stay together.
        let mut names: HashMap<Rc<str>, usize> = HashMap::new();
        for (name, _) in &alike {
            let next = names.len();
            names.entry(Rc::clone(name)).or_insert(next);
        }
        alike.sort_by_key(|(name, _)| names.get(name).copied());
        let mut values = FieldValues::default();
        alike.into_iter().for_each(|(_, value)| values.add(value));
        values.value()
    }

    /// All fields with their values, raw names first.
    pub(super) fn fields(&self, engine: &QueryEngine<'v>) -> Vec<(Rc<str>, Cell<'v>)> {
        let mut raw: indexmap::IndexMap<Rc<str>, Vec<Cell<'v>>> = indexmap::IndexMap::new();
        self.visit_values(engine, &|_| true, &mut |name, value| raw.entry(name.into()).or_default().push(value));
        let mut canonical: indexmap::IndexMap<Rc<str>, Vec<Cell<'v>>> = indexmap::IndexMap::new();
        for (name, values) in raw.iter().filter(|(name, _)| !is_canonical(name)) {
            let other = canonical_name(name);
            // A field that is really called so is not mixed with others.
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
        let mut found = None;
        // Only the first value of a name counts, so that later ones of the same name are passed over.
        let mut seen: Vec<Rc<str>> = Vec::new();
        self.visit_values(engine, &wanted, &mut |name, value| {
            if found.is_none() && !seen.iter().any(|known| **known == *name) {
                seen.push(name.into());
                found = matches!(value, Cell::Date(_)).then_some(value);
            }
        });
        found
    }

    fn property(&self, engine: &QueryEngine<'v>, value: &Value) -> Cell<'v> {
        match value {
            Value::Null | Value::Boolean(_) | Value::Number(_) => self.typed(engine, value, false),
            // Dates and durations begin with a digit, links with a bracket.
            Value::Text(text) if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '[' | '!')) => {
                Cell::text(text.as_str())
            }
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

/// The values of a field, of which most have one.
#[derive(Default)]
pub(super) struct FieldValues<'v> {
    first: Option<Cell<'v>>,
    more: Vec<Cell<'v>>,
}

impl<'v> FieldValues<'v> {
    pub(super) fn add(&mut self, value: Cell<'v>) {
        match self.first {
            None => self.first = Some(value),
            Some(_) => self.more.push(value),
        }
    }

    /// One value is itself, several are a list.
    pub(super) fn value(self) -> Option<Cell<'v>> {
        if self.more.is_empty() {
            return self.first;
        }
        Some(Cell::list(self.first.into_iter().chain(self.more).collect()))
    }
}

fn unwrapped(values: Vec<Cell<'_>>) -> Option<Cell<'_>> {
    let mut all = FieldValues::default();
    values.into_iter().for_each(|value| all.add(value));
    all.value()
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
