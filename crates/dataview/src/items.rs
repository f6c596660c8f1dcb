//! List items and tasks as objects.

use std::{collections::HashSet, rc::Rc};

use lapidary_query::{TextPosition, literal};

use super::{
    cell::Cell,
    engine::QueryEngine,
    page::{FieldValues, PageData, PageItem},
    record::{RecordBase, RecordData},
};

/// Items nested deeper are left out of their parents; lists that people write have a handful of levels.
const DEEPEST_ITEM: usize = 48;

/// The names that every list item answers to, in order.
const ITEM_KEYS: [(&str, ItemPart); 17] = [
    ("symbol", ItemPart::Symbol),
    ("link", ItemPart::Link),
    ("section", ItemPart::Section),
    ("text", ItemPart::Text),
    ("tags", ItemPart::Tags),
    ("line", ItemPart::Line),
    ("lineCount", ItemPart::LineCount),
    ("list", ItemPart::List),
    ("outlinks", ItemPart::Outlinks),
    ("path", ItemPart::Path),
    ("children", ItemPart::Children),
    ("task", ItemPart::Task),
    ("annotated", ItemPart::Annotated),
    ("position", ItemPart::Position),
    ("subtasks", ItemPart::Children),
    ("real", ItemPart::Task),
    ("header", ItemPart::Section),
];

/// Those of them that say the same as another.
const OLDER_NAMES: [&str; 3] = ["subtasks", "real", "header"];

/// What an item says about itself, whatever is written in it.
#[derive(Clone, Copy)]
enum ItemPart {
    Symbol,
    Link,
    Section,
    Text,
    Tags,
    Line,
    LineCount,
    List,
    Outlinks,
    Path,
    Children,
    Task,
    Annotated,
    Position,
}

/// The same of tasks.
const TASK_KEYS: [(&str, TaskPart); 4] = [
    ("status", TaskPart::Status),
    ("checked", TaskPart::Checked),
    ("completed", TaskPart::Completed),
    ("fullyCompleted", TaskPart::FullyCompleted),
];

#[derive(Clone, Copy)]
enum TaskPart {
    Status,
    Checked,
    Completed,
    FullyCompleted,
}

/// Dates of tasks, with the names of the fields that they are taken from.
const TASK_DATES: [(&str, &[&str]); 5] = [
    ("created", &["created", "ctime", "cday"]),
    ("due", &["due", "duetime", "dueday"]),
    ("completion", &["completed", "completion", "comptime", "compday"]),
    ("start", &["start"]),
    ("scheduled", &["scheduled"]),
];

fn named<T: Copy>(names: &[(&str, T)], wanted: &str) -> Option<T> {
    names.iter().find(|(name, _)| *name == wanted).map(|(_, found)| *found)
}

/// Whether list items or tasks answer to a name, whatever is written in them.
pub(super) fn is_item_name(name: &str) -> bool {
    named(&ITEM_KEYS, name).is_some()
        || named(&TASK_KEYS, name).is_some()
        || named(&TASK_DATES, name).is_some()
        || matches!(name, "parent" | "blockId")
}

fn number<'v>(count: usize) -> Cell<'v> {
    #[expect(clippy::cast_precision_loss, reason = "nothing that is counted is so large")]
    Cell::Number(count as f64)
}

pub(super) fn item_value<'v>(
    engine: &QueryEngine<'v>,
    page: &Rc<PageData<'v>>,
    at: usize,
    name: &str,
) -> Option<Cell<'v>> {
    let item = page.items().get(at)?;
    if let Some(part) = named(&ITEM_KEYS, name) {
        return Some(item_part(page, at, item, part));
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
        if let Some(part) = named(&TASK_KEYS, name) {
            return Some(task_part(page, at, item, part));
        }
        if let Some(sources) = named(&TASK_DATES, name) {
            let first = |source: &&str| item_field(engine, page, at, source, true);
            // The first name that has a field decides, even if its value is not used.
            if let Some(date) = sources.iter().find_map(first).filter(Cell::is_truthy) {
                return Some(date);
            }
        }
    }
    item_field(engine, page, at, name, false)
}

/// The value of one field of an item, or the first of its values.
fn item_field<'v>(
    engine: &QueryEngine<'v>,
    page: &PageData<'v>,
    at: usize,
    name: &str,
    only_first: bool,
) -> Option<Cell<'v>> {
    let mut values = FieldValues::default();
    let written = page.item_field_values(at, name);
    written.take(if only_first { 1 } else { usize::MAX }).for_each(|value| values.add(page.inline(engine, value)));
    values.value()
}

fn task_part<'v>(page: &PageData<'v>, at: usize, item: &PageItem, part: TaskPart) -> Cell<'v> {
    match part {
        TaskPart::Status => Cell::text(item.status.map(String::from).unwrap_or_default()),
        TaskPart::Checked => Cell::Boolean(item.status.is_some_and(|status| status != ' ')),
        TaskPart::Completed => Cell::Boolean(item.is_done()),
        TaskPart::FullyCompleted => Cell::Boolean(item.is_done() && !page.holds_open_task(at)),
    }
}

fn item_part<'v>(page: &Rc<PageData<'v>>, at: usize, item: &PageItem, part: ItemPart) -> Cell<'v> {
    match part {
        ItemPart::Symbol => Cell::text(page.marker(item)),
        ItemPart::Section => Cell::link(page.section_link(item)),
        ItemPart::Link => Cell::link(page.item_link(item)),
        ItemPart::Text => Cell::text(page.text(item)),
        ItemPart::Tags => Cell::list(item_tags(page.text(item)).into_iter().map(Cell::text).collect()),
        // Dataview counts lines from 0.
        ItemPart::Line => number(item.line - 1),
        ItemPart::LineCount => number(item.line_count),
        ItemPart::List => item.list_line.map_or(Cell::Number(-1.0), |line| number(line - 1)),
        ItemPart::Outlinks => Cell::list(page.links_of_item(item).cloned().map(Cell::link).collect()),
        ItemPart::Path => Cell::text(page.path()),
        ItemPart::Children => Cell::list(child_items(page, at).map(|child| item_cell(page, child)).collect()),
        ItemPart::Task => Cell::Boolean(item.status.is_some()),
        ItemPart::Annotated => Cell::Boolean(page.item_field_names(at).next().is_some()),
        ItemPart::Position => {
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
    // Bounded, as everything that shows items walks their children.
    let is_shown = page.items()[at].depth < DEEPEST_ITEM;
    page.children(at).iter().copied().filter(move |_| is_shown)
}

/// A list item by itself.
pub(super) fn item_cell<'v>(page: &Rc<PageData<'v>>, item: usize) -> Cell<'v> {
    let base = RecordBase::Item { page: Rc::clone(page), item, with_page: false };
    Cell::Record(Rc::new(RecordData::new(base)))
}

/// Every `#` with what may follow it in a tag, wherever it is in the text.
pub(super) fn item_tags(text: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut seen = HashSet::new();
    for (at, _) in text.match_indices('#') {
        let name = &text[at + 1..];
        let end = name.find(|c: char| !literal::is_in_tag(c)).unwrap_or(name.len());
        let tag = &text[at..at + 1 + end];
        if end > 0 && seen.insert(tag) {
            tags.push(tag);
        }
    }
    tags
}

pub(super) fn item_entries<'v>(
    engine: &QueryEngine<'v>,
    page: &Rc<PageData<'v>>,
    at: usize,
) -> Vec<(Rc<str>, Cell<'v>)> {
    let Some(item) = page.items().get(at) else { return Vec::new() };
    // Without the older names: each level of a list would hold the levels below it twice.
    let keys = ITEM_KEYS.into_iter().filter(|(name, _)| !OLDER_NAMES.contains(name));
    let mut names: Vec<Rc<str>> = keys.map(|(name, _)| Rc::from(name)).collect();
    names.extend(["parent", "blockId"].into_iter().map(Rc::from));
    names.extend(page.item_field_names(at).cloned());
    if item.status.is_some() {
        names.extend(TASK_KEYS.into_iter().map(|(name, _)| Rc::from(name)));
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
    let mut names: Vec<Rc<str>> = page.item_field_names(at).cloned().collect();
    // Dates of a task come from its fields, so without fields there are none.
    if is_task && !names.is_empty() {
        names.extend(TASK_DATES.into_iter().map(|(name, _)| Rc::from(name)));
    }
    let mut seen = HashSet::new();
    for name in names {
        let known = named(&ITEM_KEYS, &name).is_some() || (is_task && named(&TASK_KEYS, &name).is_some());
        if !known
            && seen.insert(Rc::clone(&name))
            && let Some(value) = item_value(engine, page, at, &name)
        {
            found.push((name, value));
        }
    }
    found
}
