//! Changes a task.

use lapidary_note::{ContentHash, Document, TaskFieldKind, TaskLine, TaskPriority};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, TaskCandidate,
    ToolGroup, ToolPlan, WireFamily, WriteTool, clipped,
};
use lapidary_query::nearest_several;
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput, FileWritten},
    task_days::new_day,
    task_edit::{self, TaskChange, TaskEditError, TaskPlace},
};
use lapidary_vault::{VaultPath, View, links::folded_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct TaskUpdate;

/// Tick, reopen or change a task: its box, text, dates and priority, in the way that the note writes them (emoji of the
/// Tasks plugin or Dataview fields).
///
/// Name it by `line`, `id` or `text`. A recurring task that is done gets its next occurrence. Dates: `2026-04-14`, `today`,
/// `tomorrow`, or `none` to remove one.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// Its line, as `tasks_list` shows it.
    #[serde(default)]
    #[schemars(range(min = 1))]
    line: Option<usize>,
    /// Its block id (`^id`), or that of the Tasks plugin (🆔).
    #[serde(default)]
    id: Option<String>,
    /// What it says, or a part of it that no other task has.
    #[serde(default)]
    text: Option<String>,
    /// `done`, `open`, `cancelled`, or a character for the box.
    #[serde(default)]
    status: Option<String>,
    /// A date.
    #[serde(default)]
    due: Option<String>,
    /// A date.
    #[serde(default)]
    scheduled: Option<String>,
    /// A date.
    #[serde(default)]
    start: Option<String>,
    /// When it was completed, if not today.
    #[serde(default)]
    done: Option<String>,
    /// `highest`, `high`, `medium`, `low`, `lowest` or `none`.
    #[serde(default)]
    priority: Option<String>,
    /// What it is to say.
    #[serde(default)]
    new_text: Option<String>,
    /// `false`: without the next occurrence.
    #[serde(default = "yes")]
    next: bool,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    /// The task as it is now; none if it was removed because it is done (🏁 delete).
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<WrittenTask>,
    /// Its next occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<WrittenTask>,
}

#[derive(Serialize, JsonSchema)]
struct WrittenTask {
    line: usize,
    /// With box and fields.
    text: String,
}

impl WriteTool for TaskUpdate {
    const DECLARATION: Declaration = Declaration {
        name: "task_update",
        dotted: None,
        title: "Change a task",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::TaskMissing,
            ReasonKind::TaskAmbiguous,
            ReasonKind::RecurrenceUnsupported,
            ReasonKind::EditRefused,
        ],
        words: "tick check off complete a task, mark as done, untick reopen, todo checkbox, due date, reschedule postpone, cancel, priority, recurring",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, mut input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let today = context.now.date();
        // Before the note is read: a wrong argument is the same refusal for every note.
        let change = input.change(today)?;
        // Taken out, because the rest of the input is moved below.
        let wanted = WantedTask { line: input.line, id: input.id.take(), text: input.text.take() };
        if wanted.line.is_none() && wanted.id.is_none() && wanted.text.is_none() {
            return Err(Reason::bad_argument(tool, "line", "must be given, or `id` or `text`, to name the task"));
        }
        let editing = FileEdit::begin(tool, context, view, input.file)?;
        let document = editing.document()?;
        // In the note as it is now, so a line number from an older list is checked by the text, if that was given.
        let place = wanted.find(&document, editing.path())?;
        let edited = task_edit::edited(&document, &place, &change, view.task_settings(), today);
        let edited = edited.map_err(|error| match error {
            TaskEditError::Rule(rule) => {
                let (path, line) = (editing.path().clone(), place.line);
                Reason::RecurrenceUnsupported { path, line, rule: clipped(&rule) }
            }
            TaskEditError::FieldInText => editing
                .bad_argument("new_text", "cannot replace a text with fields in the middle; edit the line instead"),
            TaskEditError::Edit(error) => editing.refusal(error),
        })?;
        let lines: Vec<&str> = edited.document.shown().lines().collect();
        let shown = |line: Option<usize>| {
            let text = line.and_then(|line| lines.get(line - 1)).copied().unwrap_or_default();
            // Without quote marks and indentation, which the caller knows from the note.
            line.map(|line| WrittenTask { line, text: text.trim_start_matches([' ', '\t', '>']).trim_end().to_owned() })
        };
        let (task, next) = (shown(edited.line), shown(edited.next));
        Ok(editing.plan(&edited.document, |written| Output { written, task, next }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let line =
            |task: &WrittenTask| format!("line {}: {}", task.line, lapidary_operation::quote::quoted(&task.text));
        let done = output.task.as_ref().map_or_else(|| "task removed".to_owned(), line);
        let next = output.next.as_ref().map_or_else(String::new, |next| format!("\nNext on {}", line(next)));
        Some(format!("{}{next}", output.written.text(&done)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str =
            "# Week\n- [ ] Order slates 📅 2026-04-14\n- [ ] Water 🔁 every week 📅 2026-04-15\n- [ ] Call Ruth\n";
        const NOTES: &[(&str, &str)] = &[("a.md", NOTE)];
        const TICKED: &str = "# Week\n- [x] Order slates 📅 2026-04-14 ✅ 2026-04-15\n- [ ] Water 🔁 every week 📅 2026-04-15\n- [ ] Call Ruth\n";
        vec![
            Example {
                says: "Tick a task by its text",
                before: NOTES,
                input: json!({ "file": "a.md", "text": "slates", "status": "done" }),
                gives: ExampleResult::Output(json!({
                    "file": "a.md",
                    "changed": true,
                    "contentHash": ContentHash::of(TICKED.as_bytes()).to_string(),
                    "totalLines": 4,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": TICKED.len(),
                    "dry_run": false,
                    "task": { "line": 2, "text": "- [x] Order slates 📅 2026-04-14 ✅ 2026-04-15" },
                })),
                after: &[("a.md", TICKED)],
            },
            Example {
                says: "A recurring task comes back",
                before: NOTES,
                input: json!({ "file": "a.md", "line": 3, "status": "done" }),
                gives: ExampleResult::Including(json!({
                    "task": { "line": 4, "text": "- [x] Water 🔁 every week 📅 2026-04-15 ✅ 2026-04-15" },
                    "next": { "line": 3, "text": "- [ ] Water 🔁 every week 📅 2026-04-22" },
                })),
                after: &[(
                    "a.md",
                    "# Week\n- [ ] Order slates 📅 2026-04-14\n- [ ] Water 🔁 every week 📅 2026-04-22\n- [x] Water 🔁 every week 📅 2026-04-15 ✅ 2026-04-15\n- [ ] Call Ruth\n",
                )],
            },
            Example {
                says: "Another day and priority",
                before: NOTES,
                input: json!({ "file": "a.md", "text": "Call Ruth", "due": "tomorrow", "priority": "high" }),
                gives: ExampleResult::Including(json!({
                    "task": { "line": 4, "text": "- [ ] Call Ruth ⏫ 📅 2026-04-16" },
                })),
                after: &[(
                    "a.md",
                    "# Week\n- [ ] Order slates 📅 2026-04-14\n- [ ] Water 🔁 every week 📅 2026-04-15\n- [ ] Call Ruth ⏫ 📅 2026-04-16\n",
                )],
            },
            Example {
                says: "A task that is not there",
                before: NOTES,
                input: json!({ "file": "a.md", "text": "Order slate tiles", "status": "done" }),
                gives: ExampleResult::Refusal(ReasonKind::TaskMissing),
                after: NOTES,
            },
            Example {
                says: "A text that several tasks have",
                before: &[("a.md", "- [ ] Call Ruth\n- [ ] Call Tomas\n")],
                input: json!({ "file": "a.md", "text": "call", "status": "done" }),
                gives: ExampleResult::Refusal(ReasonKind::TaskAmbiguous),
                after: &[("a.md", "- [ ] Call Ruth\n- [ ] Call Tomas\n")],
            },
            Example {
                says: "A rule whose next day is not known",
                before: &[("a.md", "- [ ] Prune 🔁 every January on the 15th 📅 2026-01-15\n")],
                input: json!({ "file": "a.md", "line": 1, "status": "done" }),
                gives: ExampleResult::Refusal(ReasonKind::RecurrenceUnsupported),
                after: &[("a.md", "- [ ] Prune 🔁 every January on the 15th 📅 2026-01-15\n")],
            },
        ]
    }
}

impl Input {
    fn change(&mut self, today: jiff::civil::Date) -> Result<TaskChange, Reason> {
        let tool = TaskUpdate::DECLARATION.name;
        let given = [
            ("due", TaskFieldKind::Due, &self.due),
            ("scheduled", TaskFieldKind::Scheduled, &self.scheduled),
            ("start", TaskFieldKind::Start, &self.start),
            ("done", TaskFieldKind::Done, &self.done),
        ];
        let mut dates = Vec::new();
        // `today` and `none` are resolved here, so the edit only knows dates.
        for (name, kind, given) in given {
            if let Some(given) = given {
                dates.push((kind, new_day(tool, name, given, today)?));
            }
        }
        let change = TaskChange {
            status: self.status.as_deref().map(|given| status(tool, given)).transpose()?,
            dates,
            priority: self.priority.as_deref().map(|given| priority(tool, given)).transpose()?,
            description: self.new_text.as_deref().map(|given| description(tool, given)).transpose()?,
            without_next: !self.next,
        };
        let is_empty = change.status.is_none()
            && change.dates.is_empty()
            && change.priority.is_none()
            && change.description.is_none();
        match is_empty {
            true => Err(Reason::bad_argument(tool, "status", "must be given, or another part that is to change")),
            false => Ok(change),
        }
    }
}

fn status(tool: &str, given: &str) -> Result<char, Reason> {
    let mut characters = given.chars();
    Ok(match (given, characters.next(), characters.next()) {
        ("done", ..) => 'x',
        // An empty box, however it is written.
        ("open" | "", ..) => ' ',
        ("cancelled", ..) => '-',
        // A bracket would end the box, and no other line may begin in it.
        (_, Some(only), None) if !only.is_control() && !"[]\u{2028}\u{2029}".contains(only) => only,
        _ => {
            return Err(Reason::bad_argument(tool, "status", "must be `done`, `open`, `cancelled`, or one character"));
        }
    })
}

fn priority(tool: &str, given: &str) -> Result<Option<TaskPriority>, Reason> {
    match (given, TaskPriority::read(given)) {
        ("none", _) => Ok(None),
        (_, Some(priority)) => Ok(Some(priority)),
        _ => {
            let problem = "must be `highest`, `high`, `medium`, `low`, `lowest` or `none`";
            Err(Reason::bad_argument(tool, "priority", problem))
        }
    }
}

fn description(tool: &str, given: &str) -> Result<String, Reason> {
    let given = given.trim();
    if given.is_empty() || given.contains(['\n', '\r']) {
        return Err(Reason::bad_argument(tool, "new_text", "must be one line of text"));
    }
    Ok(given.to_owned())
}

/// How the caller names the task. If it names it in several ways, all have to fit.
struct WantedTask {
    line: Option<usize>,
    id: Option<String>,
    text: Option<String>,
}

/// How many candidates a refusal shows.
const MOST_CANDIDATES: usize = 5;

impl WantedTask {
    fn find(&self, document: &Document, path: &VaultPath) -> Result<TaskPlace, Reason> {
        let tasks = task_edit::tasks_of(document);
        let mut fitting: Vec<&TaskPlace> = tasks.iter().filter(|task| self.fits(task, document)).collect();
        // A task that says exactly this is meant, even if others say it and more.
        if let Some(text) = &self.text {
            let says_it =
                |task: &&&TaskPlace| folded_name(&task.text(document).description()) == folded_name(text.trim());
            // Only if it is one: two tasks with the same text cannot be told apart by it.
            if let [exact] = fitting.iter().filter(says_it).collect::<Vec<_>>()[..] {
                fitting = vec![exact];
            }
        }
        let candidate = |task: &&TaskPlace| {
            let text = clipped(&task.text(document).description());
            TaskCandidate { line: task.line, text }
        };
        match fitting[..] {
            [only] => Ok(only.clone()),
            [] => Err(Reason::TaskMissing {
                path: path.clone(),
                wanted: self.shown(),
                tasks: self.nearest(&tasks, document).iter().map(candidate).collect(),
                total: tasks.len(),
            }),
            _ => Err(Reason::TaskAmbiguous {
                path: path.clone(),
                wanted: self.shown(),
                tasks: fitting.iter().take(MOST_CANDIDATES).map(candidate).collect(),
                total: fitting.len(),
            }),
        }
    }

    fn fits(&self, task: &TaskPlace, document: &Document) -> bool {
        let text = task.text(document);
        let has_id = |id: &String| {
            let id = id.trim().trim_start_matches('^');
            text.block_id() == Some(id) || text.value(TaskFieldKind::Id) == Some(id)
        };
        // Folded like names: accents may be composed or not.
        let says = |wanted: &String| folded_name(&text.description()).contains(&*folded_name(wanted.trim()));
        self.line.is_none_or(|line| line == task.line)
            && self.id.as_ref().is_none_or(has_id)
            && self.text.as_ref().is_none_or(says)
    }

    fn shown(&self) -> String {
        let line = self.line.map(|line| format!("line {line}"));
        let parts = [line, self.id.clone(), self.text.clone()].into_iter().flatten();
        clipped(&parts.collect::<Vec<_>>().join(", "))
    }

    fn nearest<'t>(&self, tasks: &'t [TaskPlace], document: &Document) -> Vec<&'t TaskPlace> {
        if let Some(text) = &self.text {
            let says = |task: &TaskPlace| task.text(document).description();
            let all: Vec<String> = tasks.iter().map(says).collect();
            let near = nearest_several(text, all.iter().map(String::as_str), MOST_CANDIDATES);
            // The first with that text; a candidate only has to lead the caller to the right line.
            let found = |name: &&str| all.iter().position(|one| one == name).and_then(|at| tasks.get(at));
            let near: Vec<&TaskPlace> = near.iter().filter_map(found).collect();
            if !near.is_empty() {
                return near;
            }
            // A word in common is a better hint than none.
            let words: Vec<String> =
                // Short words are in almost every task.
                text.split_whitespace().map(str::to_lowercase).filter(|word| word.len() > 3).collect();
            let shares = |task: &&TaskPlace| {
                let says = task.text(document).description().to_lowercase();
                words.iter().any(|word| says.contains(word.as_str()))
            };
            return tasks.iter().filter(shares).take(MOST_CANDIDATES).collect();
        }
        let mut near: Vec<&TaskPlace> = tasks.iter().collect();
        if let Some(line) = self.line {
            // A line number that is off by a few is the usual mistake.
            near.sort_by_key(|task| task.line.abs_diff(line));
            near.truncate(MOST_CANDIDATES);
            return near;
        }
        // Ids were asked for, so only tasks that have one are worth naming.
        let with_id = |task: &&TaskPlace| {
            let text: TaskLine<'_> = task.text(document);
            text.block_id().is_some() || text.value(TaskFieldKind::Id).is_some()
        };
        near.into_iter().filter(with_id).take(MOST_CANDIDATES).collect()
    }
}
