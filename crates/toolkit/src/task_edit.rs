//! Changes of a task: its box, its fields and its text, and its next occurrence, as the Tasks plugin writes them. The
//! rest of the note keeps its bytes.

#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::{Span, civil::Date};
use lapidary_note::{
    Document, EditError, EditResult, LineRange, LineTable, TaskFieldKind, TaskFieldStyle, TaskLine, TaskPriority,
    TaskState,
};
use lapidary_query::RecurrenceRule;
use lapidary_vault::TaskSettings;

/// What is to change of a task.
#[derive(Clone, Debug, Default)]
pub struct TaskChange {
    /// The character in the box.
    pub status: Option<char>,
    /// By kind; `None` removes the date.
    pub dates: Vec<(TaskFieldKind, Option<Date>)>,
    /// `Some(None)` removes it.
    pub priority: Option<Option<TaskPriority>>,
    /// What it says.
    pub description: Option<String>,
    /// A recurring task that is done gets no next occurrence.
    pub without_next: bool,
}

/// Where a task is in a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    /// From 1.
    pub line: usize,
    pub status: char,
    checkbox: Range<usize>,
    /// Without marker and box.
    text: Range<usize>,
}

/// The note afterwards.
pub struct EditedTask {
    pub document: Document,
    /// The line of the task; `None` if it was removed because it is done.
    pub line: Option<usize>,
    /// The line of its next occurrence.
    pub next: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum TaskEditError {
    /// The next occurrence cannot be computed.
    Rule(String),
    /// A field is in the middle of its text, which cannot be replaced without it.
    FieldInText,
    Edit(EditError),
}

/// All tasks of a note, in document order.
pub fn tasks_of(document: &Document) -> Vec<TaskPlace> {
    // One table for all tasks: a note may have thousands.
    let (note, lines) = (document.note(), LineTable::of(document.shown()));
    let place = |task: &lapidary_note::Task| TaskPlace {
        line: lines.line(task.checkbox.start),
        status: task.status,
        checkbox: task.checkbox.clone(),
        text: task.text.clone(),
    };
    note.tasks.iter().map(place).collect()
}

impl TaskPlace {
    pub fn text<'d>(&self, document: &'d Document) -> TaskLine<'d> {
        TaskLine::of(&document.shown()[self.text.clone()])
    }
}

/// The note with a changed task.
pub fn edited(
    document: &Document,
    place: &TaskPlace,
    change: &TaskChange,
    settings: Option<TaskSettings>,
    today: Date,
) -> Result<EditedTask, TaskEditError> {
    let shown = document.shown();
    let status = change.status.unwrap_or(place.status);
    let (was, is) = (TaskState::of(place.status), TaskState::of(status));
    let before = &shown[place.text.clone()];
    let habit = FieldHabit::of(document, place, settings);
    let mut text = match &change.description {
        // A field in the middle would be lost with the text around it.
        Some(description) => TaskLine::of(before).with_description(description).ok_or(TaskEditError::FieldInText)?,
        None => before.to_owned(),
    };
    if let Some(priority) = change.priority {
        // Read again each time, as every change moves the fields behind it.
        text = TaskLine::of(&text).with(TaskFieldKind::Priority, priority.map(TaskPriority::name), habit.style());
    }
    // A task that says nothing is only a box.
    if was != is && !before.is_empty() {
        for (kind, date) in habit.dates_of(is, today) {
            text = dated(&text, kind, date, habit.style());
        }
    }
    // After the dates of the box, so that a date that was asked for wins.
    for (kind, date) in &change.dates {
        text = dated(&text, *kind, *date, habit.style());
    }
    let line = LineRange::one(place.line).span(shown).map_err(TaskEditError::Edit)?;
    let with = |status: char, text: &str| {
        // Marker and indent stay as they are written.
        let (front, gap) = (&shown[line.start..place.checkbox.start], &shown[place.checkbox.end..place.text.start]);
        let gap = if gap.is_empty() && !text.is_empty() { " " } else { gap };
        format!("{front}[{status}]{gap}{text}")
    };
    // A box that was done already has had its next occurrence.
    let is_finished = is == TaskState::Done && was != TaskState::Done;
    let next = match is_finished && !change.without_next {
        true => next_text(&text, settings, habit.style(), today)?,
        false => None,
    };
    let done = TaskLine::of(&text);
    // The plugin's word for a task that is not kept.
    let is_removed =
        is_finished && done.value(TaskFieldKind::OnCompletion).is_some_and(|word| word.eq_ignore_ascii_case("delete"));
    // What follows the text on its line, such as white space at the end.
    let end = shown[place.text.end..line.end].trim_end_matches('\n');
    let own = (!is_removed).then(|| format!("{}{end}", with(status, &text)));
    // Always open, whatever box the last one has.
    let next = next.map(|next| with(' ', &next));
    let below = settings.is_some_and(|settings| settings.next_is_below);
    // As the plugin's setting says; above is its default.
    let written: Vec<&str> = match below {
        true => own.iter().chain(&next).map(String::as_str).collect(),
        false => next.iter().chain(&own).map(String::as_str).collect(),
    };
    let EditResult { document, .. } =
        document.replace_lines(LineRange::one(place.line), &written.join("\n")).map_err(TaskEditError::Edit)?;
    // Only where both are written does one of them move down.
    let second = place.line + usize::from(own.is_some() && next.is_some());
    Ok(EditedTask {
        document,
        line: own.is_some().then_some(if below { place.line } else { second }),
        next: next.is_some().then_some(if below { second } else { place.line }),
    })
}

fn dated(text: &str, kind: TaskFieldKind, date: Option<Date>, style: TaskFieldStyle) -> String {
    let date = date.map(|date| date.to_string());
    TaskLine::of(text).with(kind, date.as_deref(), style)
}

/// The text of the next occurrence; `None` if the task does not recur.
fn next_text(
    text: &str,
    settings: Option<TaskSettings>,
    style: TaskFieldStyle,
    today: Date,
) -> Result<Option<String>, TaskEditError> {
    let task = TaskLine::of(text);
    // Without a rule there is nothing to compute, and nothing that could fail.
    let Some(rule) = task.value(TaskFieldKind::Recurrence) else { return Ok(None) };
    let unsupported = || TaskEditError::Rule(rule.to_owned());
    let parsed = RecurrenceRule::parse(rule).ok_or_else(unsupported)?;
    let date = |kind| task.value(kind).and_then(|date| date.parse::<Date>().ok());
    const PLANNED: [TaskFieldKind; 3] = [TaskFieldKind::Due, TaskFieldKind::Scheduled, TaskFieldKind::Start];
    // The first of these that it has is what the rule is about; the others keep their distance from it.
    let reference = PLANNED.iter().find_map(|kind| date(*kind));
    let next = parsed.next(reference, today).ok_or_else(unsupported)?;
    let mut written = text.to_owned();
    for kind in PLANNED {
        let Some((planned, reference)) = date(kind).zip(reference) else { continue };
        // In days: the distance of months depends on where they begin.
        let distance = Span::new().days((planned - reference).get_days());
        let moved = next.checked_add(distance).map_err(|_| unsupported())?;
        written = dated(&written, kind, Some(moved), style);
    }
    // It is another task: it has not been done, and nothing refers to it yet.
    const OF_THE_LAST: [TaskFieldKind; 5] = [
        TaskFieldKind::Done,
        TaskFieldKind::Cancelled,
        TaskFieldKind::Created,
        TaskFieldKind::Id,
        TaskFieldKind::DependsOn,
    ];
    for kind in OF_THE_LAST {
        written = TaskLine::of(&written).with(kind, None, style);
    }
    if settings.is_some_and(|settings| settings.sets_created_date) {
        written = dated(&written, TaskFieldKind::Created, Some(today), style);
    }
    // A block id names one place; the next occurrence must not take it over.
    if let Some(id) = TaskLine::of(&written).block_id().map(str::len) {
        let end = written.trim_end().len() - id - '^'.len_utf8();
        written.truncate(written[..end].trim_end().len());
    }
    Ok(Some(written))
}

/// How the fields of a note are written, and which dates a change of the box sets.
struct FieldHabit {
    /// `None` if neither the note nor a plugin has fields: then a tick is only a tick.
    style: Option<TaskFieldStyle>,
    settings: Option<TaskSettings>,
}

impl FieldHabit {
    /// By the task itself, then by the other tasks of the note, then by the settings of the plugin.
    fn of(document: &Document, place: &TaskPlace, settings: Option<TaskSettings>) -> Self {
        let by_note = || {
            let styles = tasks_of(document).into_iter().filter_map(|other| other.text(document).style());
            let styles: Vec<TaskFieldStyle> = styles.collect();
            let emoji = styles.iter().filter(|style| **style == TaskFieldStyle::Emoji).count();
            match styles.len() {
                0 => None,
                // Of equals the emoji style, which is the plugin's default.
                all if emoji * 2 >= all => Some(TaskFieldStyle::Emoji),
                _ => Some(TaskFieldStyle::Dataview),
            }
        };
        let by_plugin = settings.map(|settings| match settings.in_dataview_fields {
            true => TaskFieldStyle::Dataview,
            false => TaskFieldStyle::Emoji,
        });
        Self { style: place.text(document).style().or_else(by_note).or(by_plugin), settings }
    }

    fn style(&self) -> TaskFieldStyle {
        self.style.unwrap_or(TaskFieldStyle::Emoji)
    }

    /// The dates that belong to a box with this meaning.
    fn dates_of(&self, state: TaskState, today: Date) -> [(TaskFieldKind, Option<Date>); 2] {
        let has_fields = self.style.is_some();
        // Without the plugin, a note that has such fields is continued as it is.
        let (done, cancelled) = match self.settings {
            Some(settings) => (settings.sets_done_date, settings.sets_cancelled_date),
            None => (has_fields, has_fields),
        };
        let done = (state == TaskState::Done && done).then_some(today);
        let cancelled = (state == TaskState::Cancelled && cancelled).then_some(today);
        [(TaskFieldKind::Done, done), (TaskFieldKind::Cancelled, cancelled)]
    }
}
