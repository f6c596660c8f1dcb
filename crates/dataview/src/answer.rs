//! What a query gives.

use serde_json::{Map, Value as Json, json};

use lapidary_query::{DateValue, DroppedRows, Object, QueryStep, Value, typed_json};

use super::items::item_tags;

/// The result of a query, with what the app does not say: how it was found, and which rows were left out.
#[derive(Clone, Debug, PartialEq)]
pub struct DqlAnswer {
    /// The rows that are shown.
    pub result: DqlResult,
    /// The place of the first of them among all.
    pub first: usize,
    /// How many rows there are, shown or not; of tasks before they are nested.
    pub total: usize,
    /// By what rows are grouped, the innermost last; empty if they are pages or tasks.
    pub groups: Vec<String>,
    pub steps: Vec<QueryStep>,
    /// Rows that errors left out, for each step with any.
    pub dropped: Vec<DroppedRows>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DqlResult {
    Table { headers: Vec<String>, shows_id: bool, rows: Vec<TableRow> },
    List { shows_id: bool, entries: Vec<ListEntry> },
    Task { tasks: TaskGrouping },
    Calendar { entries: Vec<CalendarEntry> },
}

/// The cells are as many as the headers; the first is the id if ids are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// A link to the page, or the key of a group.
    pub id: Value,
    pub cells: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListEntry {
    pub id: Value,
    /// What was asked for beside or instead of the id.
    pub value: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TaskGrouping {
    Tasks(Vec<DqlTask>),
    /// Keys with what is in the groups.
    Groups(Vec<(Value, TaskGrouping)>),
}

/// A task, or a list item inside one.
#[derive(Clone, Debug, PartialEq)]
pub struct DqlTask {
    pub path: String,
    /// From 0.
    pub line: usize,
    /// The line of the item that holds it.
    pub parent: Option<usize>,
    /// What is in the box; nothing for an item without.
    pub status: Option<char>,
    pub text: String,
    /// `-`, `*`, `+`, `1.` or `1)`
    pub symbol: Box<str>,
    pub line_count: usize,
    /// The heading above it, as links write it.
    pub section: Option<Box<str>>,
    pub block_id: Option<Box<str>>,
    /// All of them, whether they fit the query or not.
    pub children: Vec<DqlTask>,
    /// The fields that are written in the item, the dates of a task among them, and what FLATTEN has set; of rows of the
    /// query only, not of their children.
    pub fields: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CalendarEntry {
    pub date: DateValue,
    pub link: Value,
}

impl DqlResult {
    /// How many rows are shown, before tasks are nested.
    pub fn len(&self) -> usize {
        match self {
            Self::Table { rows, .. } => rows.len(),
            Self::List { entries, .. } => entries.len(),
            Self::Task { tasks } => tasks.len(),
            Self::Calendar { entries } => entries.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `table`, `list`, `task` or `calendar`
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Table { .. } => "table",
            Self::List { .. } => "list",
            Self::Task { .. } => "task",
            Self::Calendar { .. } => "calendar",
        }
    }

    /// The result with the types of its values.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Table { headers, rows, .. } => {
                let cells = |row: &TableRow| row.cells.iter().map(typed_json).collect::<Json>();
                json!({ "type": "table", "headers": headers, "rows": rows.iter().map(cells).collect::<Json>() })
            }
            Self::List { shows_id, entries } => {
                let entry = |entry: &ListEntry| match &entry.value {
                    // Without ids the list holds bare values.
                    Some(value) if *shows_id => json!({ "key": typed_json(&entry.id), "value": typed_json(value) }),
                    Some(value) => typed_json(value),
                    None => typed_json(&entry.id),
                };
                json!({ "type": "list", "values": entries.iter().map(entry).collect::<Json>() })
            }
            Self::Task { tasks } => json!({ "type": "task", "tasks": tasks.to_json() }),
            Self::Calendar { entries } => {
                let entry = |entry: &CalendarEntry| json!({ "date": typed_json(&Value::Date(entry.date.clone())), "link": typed_json(&entry.link) });
                json!({ "type": "calendar", "entries": entries.iter().map(entry).collect::<Json>() })
            }
        }
    }
}

impl TaskGrouping {
    /// How many tasks are in all groups.
    pub fn len(&self) -> usize {
        match self {
            Self::Tasks(tasks) => tasks.len(),
            Self::Groups(groups) => groups.iter().map(|(_, tasks)| tasks.len()).sum(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Tasks(tasks) => tasks.iter().map(DqlTask::to_json).collect(),
            Self::Groups(groups) => {
                let group = |(key, tasks): &(Value, Self)| json!({ "key": typed_json(key), "rows": tasks.to_json() });
                groups.iter().map(group).collect()
            }
        }
    }
}

impl DqlTask {
    /// What a query can ask of the item, under the names by which it asks, except what is usual or follows from the rest:
    /// a model pays for every task of a long list.
    fn to_json(&self) -> Json {
        self.written(true)
    }

    /// The file is named at the outermost item; those below it are in the same one.
    fn written(&self, outermost: bool) -> Json {
        let known = [
            ("text", Some(json!(self.text))),
            ("path", outermost.then(|| json!(self.path))),
            ("line", Some(json!(self.line))),
            // What is absent is left out, not null.
            ("section", self.section.as_deref().map(|section| json!(section))),
            ("blockId", self.block_id.as_deref().map(|id| json!(id))),
            ("symbol", (&*self.symbol != "-").then(|| json!(self.symbol))),
            ("lineCount", (self.line_count != 1).then(|| json!(self.line_count))),
            ("tags", Some(item_tags(&self.text)).filter(|tags| !tags.is_empty()).map(|tags| json!(tags))),
            ("parent", self.parent.filter(|_| outermost).map(|parent| json!(parent))),
        ];
        let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let mut written: Map<String, Json> = known.collect();
        // A field never hides what the item itself says, not even what is left out here.
        for (name, value) in self.fields.iter().filter(|(name, _)| !OWN_NAMES.contains(&name.as_str())) {
            written.insert(name.clone(), typed_json(value));
        }
        if let Some(status) = self.status {
            written.insert("status".to_owned(), json!(status.to_string()));
            written.insert("completed".to_owned(), json!(is_done(status)));
            // It follows from the task itself unless a child says otherwise.
            if self.is_fully_completed() != is_done(status) {
                written.insert("fullyCompleted".to_owned(), json!(self.is_fully_completed()));
            }
        }
        if !self.children.is_empty() {
            written.insert("children".to_owned(), self.children.iter().map(|child| child.written(false)).collect());
        }
        Json::Object(written)
    }

    fn is_fully_completed(&self) -> bool {
        // An item without a box does not count as open.
        self.status.is_none_or(is_done) && self.children.iter().all(Self::is_fully_completed)
    }
}

/// What an item says itself.
const OWN_NAMES: [&str; 17] = [
    "symbol",
    "link",
    "section",
    "text",
    "tags",
    "line",
    "lineCount",
    "list",
    "path",
    "task",
    "parent",
    "blockId",
    "status",
    "checked",
    "completed",
    "fullyCompleted",
    "children",
];

fn is_done(status: char) -> bool {
    matches!(status, 'x' | 'X')
}
