//! Lists tasks.

mod filter;
mod task_page;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily, fence::fenced,
    quote::one_line,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{cursor::PageCursor, index};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use filter::TaskFilter;
use task_page::{GroupedTasks, TaskGrouping};

pub(crate) struct TasksList;

/// List tasks by note, the earliest due first. Dates: `overdue`, `today`, `this_week`, `none`, `2026-04-14` or `FROM..TO`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A date.
    #[serde(default)]
    due: Option<String>,
    /// A date.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    scheduled: Option<String>,
    /// A date.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    start: Option<String>,
    /// When it was completed.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    done: Option<String>,
    /// `open` (default), `done`, `cancelled`, `all` or a box character.
    #[serde(default)]
    status: Option<String>,
    /// `highest` to `lowest`, or `none`.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    priority: Option<String>,
    /// Only recurring tasks, or only others.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    recurring: Option<bool>,
    /// One tag.
    #[serde(default)]
    tag: Option<String>,
    /// Folder/note.
    #[serde(default)]
    path: Option<String>,
    /// Only below this heading.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    heading: Option<String>,
    /// Words in it.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    text: Option<String>,
    /// Within each group by note.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    group: TaskGrouping,
    /// How many.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    #[schemars(extend("x-rare" = true, "default" = USUAL_TASKS))]
    limit: Option<usize>,
    /// Next page.
    #[serde(default)]
    cursor: Option<String>,
}

/// How many a caller gets that does not say how many it wants.
const USUAL_TASKS: usize = 30;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Of all pages.
    total: usize,
    notes: usize,
    groups: Vec<TaskGroup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Tasks of one note.
#[derive(Serialize, JsonSchema)]
struct TaskGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    path: String,
    tasks: Vec<TaskOutput>,
}

#[derive(Serialize, JsonSchema)]
struct TaskOutput {
    line: usize,
    /// Without fields; long ones are cut.
    text: String,
    /// The character in the box, unless it is a space.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recurrence: Option<String>,
    /// Its block id, or that of the Tasks plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

impl ReadTool for TasksList {
    const DECLARATION: Declaration = Declaration {
        name: "tasks_list",
        dotted: None,
        title: "List tasks",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: true,
        idempotent: true,
        // `path` may name a note, so it is not a folder by its role.
        paths: &[],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::PathIsDirectory],
        words: "todo agenda deadlines, what is due",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/path", TextLanguage::Path)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let mut cursor = PageCursor::parse_up_to(input.cursor.as_deref(), MOST_TASKS)?;
        // A cursor carries the limit that the first call had.
        if input.cursor.is_none() {
            // The steps of a run have no room to save, and a part would look like all to them.
            cursor.limit = input.limit.unwrap_or(if context.in_steps { MOST_TASKS } else { USUAL_TASKS });
        }
        let filter = TaskFilter::of(Self::DECLARATION.name, context, view, &input)?;
        let notes = index::notes(context, view)?;
        let found = GroupedTasks::find(context, notes, &filter, input.group, cursor)?;
        // With the limit of the first page, so that pages do not overlap.
        let next = found.next.map(|offset| PageCursor { offset, ..cursor }.written());
        Ok(Output { total: found.total, notes: found.notes, groups: found.groups, next_cursor: next })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { total, notes, groups, next_cursor } = output;
        if *total == 0 {
            return Some("No tasks.".to_owned());
        }
        let mut text = format!("{} in {}", counted(*total, "task"), counted(*notes, "note"));
        if !groups.is_empty() {
            // Texts of tasks come from notes, so they are fenced.
            text += "\n";
            text += &fenced(&listed(groups));
        }
        if let Some(next) = next_cursor {
            text += &format!("\nMore with `cursor: {next}`");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        // Examples take place on 15 April 2026.
        const NOTES: &[(&str, &str)] = &[
            (
                "House/Roof.md",
                "# Slates\n- [ ] Order slates ⏫ 📅 2026-04-02\n- [x] Measure 📅 2026-03-01 ✅ 2026-03-02\n",
            ),
            ("Garden.md", "- [/] Plant #tree [due:: 2026-04-15]\n- [ ] Read about moss\n"),
        ];
        vec![
            Example {
                says: "What is overdue",
                before: NOTES,
                input: json!({ "due": "overdue" }),
                gives: ExampleResult::Output(json!({
                    "total": 1,
                    "notes": 1,
                    "groups": [{
                        "path": "House/Roof.md",
                        "tasks": [{ "line": 2, "text": "Order slates", "due": "2026-04-02", "priority": "high" }],
                    }],
                })),
                after: &[],
            },
            Example {
                says: "All open tasks, those with a date first",
                before: NOTES,
                input: json!({ "group": "due", "limit": 2 }),
                gives: ExampleResult::Output(json!({
                    "total": 3,
                    "notes": 2,
                    "groups": [
                        {
                            "group": "2026-04-02",
                            "path": "House/Roof.md",
                            "tasks": [{ "line": 2, "text": "Order slates", "due": "2026-04-02", "priority": "high" }],
                        },
                        {
                            "group": "2026-04-15",
                            "path": "Garden.md",
                            "tasks": [{ "line": 1, "text": "Plant #tree", "status": "/", "due": "2026-04-15" }],
                        },
                    ],
                    "nextCursor": "eyJvZmZzZXQiOjIsImxpbWl0IjoyfQ",
                })),
                after: &[],
            },
            Example {
                says: "What was done in March, in one folder",
                before: NOTES,
                input: json!({ "done": "2026-03-01..2026-03-31", "path": "House" }),
                gives: ExampleResult::Including(json!({ "total": 1 })),
                after: &[],
            },
            Example {
                says: "A word that is not a day",
                before: NOTES,
                input: json!({ "due": "soon" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

const MOST_TASKS: usize = 500;

/// A line for each note and task.
fn listed(groups: &[TaskGroup]) -> String {
    let (mut text, mut last): (String, Option<&str>) = (String::new(), None);
    for group in groups {
        // Groups come in order, so a heading is written only where the group changes.
        if let Some(name) = group.group.as_deref().filter(|name| last != Some(*name)) {
            text += &format!("## {}\n", one_line(name));
            last = Some(name);
        }
        text += &one_line(&group.path);
        text.push('\n');
        for task in &group.tasks {
            text += &format!("{:>4} ", task.line);
            text += &task.status.map_or_else(String::new, |status| format!("[{status}] "));
            // A task may go on over several lines of its note.
            text += &one_line(&task.text);
            let dates =
                [("due", &task.due), ("scheduled", &task.scheduled), ("start", &task.start), ("done", &task.done)];
            for (name, date) in dates {
                text += &date.as_ref().map_or_else(String::new, |date| format!(" · {name} {date}"));
            }
            text += &task.priority.map_or_else(String::new, |priority| format!(" · {priority}"));
            text += &task.recurrence.as_ref().map_or_else(String::new, |rule| format!(" · {}", one_line(rule)));
            text += &task.id.as_ref().map_or_else(String::new, |id| format!(" · id {id}"));
            text.push('\n');
        }
    }
    text
}
