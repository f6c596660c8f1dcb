//! One page of tasks, in groups. The order is by numbers of the index; texts are read for the page only.

use std::{borrow::Cow, collections::BTreeSet};

use lapidary_note::{TaskFieldKind, TaskLine, TaskState};
use lapidary_operation::{Context, Reason};
use lapidary_query::RowItem;
use lapidary_toolkit::cursor::PageCursor;
use lapidary_vault::{DatedTask, Digest, FileEntry, VisibleNotes};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{TaskGroup, TaskOutput, filter::TaskFilter};

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum TaskGrouping {
    #[default]
    Note,
    Due,
    Priority,
    Status,
    Folder,
    Tag,
}

pub(super) struct GroupedTasks {
    pub(super) total: usize,
    pub(super) notes: usize,
    pub(super) groups: Vec<TaskGroup>,
    /// Where the next page begins.
    pub(super) next: Option<usize>,
}

/// A note with tasks that are wanted. Small: there may be one for every note of a large vault.
struct NoteCount<'n> {
    entry: FileEntry<'n>,
    count: u32,
    /// Of the earliest; after all days if none is due.
    due: i32,
}

/// A task of the answer, before its text is read.
struct OrderedTask {
    /// What groups are ordered by, and their name.
    key: (i64, String),
    due: i32,
    /// Which of the notes, in path order.
    note: usize,
    task: DatedTask,
}

/// A page ends before it has more bytes than this, however long its tasks are.
const PAGE_BYTES: usize = 16_000;
/// Longer texts are cut.
const LONGEST_TEXT: usize = 300;
const NOT_DUE: i32 = i32::MAX;

impl GroupedTasks {
    pub(super) fn find(
        context: &Context<'_>,
        notes: &VisibleNotes,
        filter: &TaskFilter,
        grouping: TaskGrouping,
        page: PageCursor,
    ) -> Result<Self, Reason> {
        let go_on = || context.cancel.check().is_ok();
        let counted = |entry, digest| NoteCount::of(entry, digest, filter);
        // In parallel over all notes; only counts and the earliest day are kept.
        let found = notes.map_notes(filter.below.as_ref(), &go_on, counted);
        let found = found.map_err(|error| Reason::from_index(&error, context.cancel))?;
        let mut this = Self {
            total: found.iter().map(|note| note.count as usize).sum(),
            notes: found.len(),
            groups: Vec::new(),
            next: None,
        };
        let shown = match grouping {
            TaskGrouping::Note => by_note(&found, filter, page),
            _ => by_key(context, &found, filter, grouping, page)?,
        };
        this.fill(shown, page);
        Ok(this)
    }

    /// Puts as many tasks into groups as the page has room for.
    fn fill(&mut self, shown: Vec<(Option<String>, String, TaskOutput)>, page: PageCursor) {
        let (mut bytes, mut count) = (0, 0);
        for (group, path, task) in shown {
            let is_same = |last: &TaskGroup| last.group == group && last.path == path;
            let is_new = !self.groups.last().is_some_and(is_same);
            // About what the fields of a task take beside its text.
            bytes += task.text.len() + 100 + if is_new { path.len() + 40 } else { 0 };
            // Never an empty page: a caller that goes on must get further.
            if bytes > PAGE_BYTES && count > 0 {
                break;
            }
            count += 1;
            if is_new {
                self.groups.push(TaskGroup { group, path, tasks: Vec::new() });
            }
            if let Some(last) = self.groups.last_mut() {
                last.tasks.push(task);
            }
        }
        let end = page.offset.saturating_add(count);
        self.next = (end < self.total && count > 0).then_some(end);
    }
}

impl<'n> NoteCount<'n> {
    fn of(entry: FileEntry<'n>, digest: Digest<'n>, filter: &TaskFilter) -> Option<Self> {
        let mut tasks = digest.dated_tasks().filter(|task| filter.accepts(task)).peekable();
        // Most notes have no task that fits, and end here.
        tasks.peek()?;
        if !filter.accepts_note(entry, &digest) {
            return None;
        }
        let (mut count, mut due) = (0, NOT_DUE);
        let mut add = |task: &DatedTask| {
            count += 1;
            due = due.min(task.day(TaskFieldKind::Due).unwrap_or(NOT_DUE));
        };
        // Only then are the texts of the note decoded.
        if filter.reads_text() {
            wanted(&digest, filter).iter().for_each(|(task, _)| add(task));
        } else {
            tasks.for_each(|task| add(&task));
        }
        (count > 0).then_some(Self { entry, count, due })
    }

    fn digest(&self) -> Digest<'n> {
        // It was read a moment ago.
        self.entry.state().digest().and_then(|digest| Digest::read(digest)).unwrap_or_default()
    }
}

/// The tasks of a note that are wanted, with their list items.
fn wanted<'n>(digest: &Digest<'n>, filter: &TaskFilter) -> Vec<(DatedTask, RowItem<'n>)> {
    let items = digest.items();
    let headings = if filter.reads_headings() { digest.structure().headings } else { Vec::new() };
    let mut found = Vec::new();
    for task in digest.dated_tasks().filter(|task| filter.accepts(task)) {
        let Some(item) = items.get(task.item) else { continue };
        // The last heading above the task.
        let heading = headings[..headings.partition_point(|heading| heading.line < task.line)].last();
        if filter.accepts_text(&TaskLine::of(first_line(item)), first_line(item), heading.map(|found| found.text)) {
            found.push((task, item.clone()));
        }
    }
    found
}

fn first_line<'i>(item: &'i RowItem<'_>) -> &'i str {
    item.text.split('\n').next().unwrap_or_default()
}

type ShownTask = (Option<String>, String, TaskOutput);

/// Notes by their earliest task, and the tasks of each in the order of the note.
fn by_note(notes: &[NoteCount<'_>], filter: &TaskFilter, page: PageCursor) -> Vec<ShownTask> {
    let end = page.offset.saturating_add(page.limit);
    // Notes come in path order, so that their numbers are compared instead of their paths.
    let mut order: Vec<(i32, u32)> = notes.iter().zip(0..).map(|(note, number)| (note.due, number)).collect();
    // Each has a task at least, so that no note behind as many as these can be on the page.
    if end < order.len() {
        order.select_nth_unstable(end);
        order.truncate(end);
    }
    order.sort_unstable();
    let notes = order.into_iter().filter_map(|(_, number)| notes.get(number as usize));
    let (mut shown, mut before) = (Vec::new(), 0);
    for note in notes {
        if before >= end {
            break;
        }
        if before + note.count as usize > page.offset {
            let digest = note.digest();
            let tasks = wanted(&digest, filter).into_iter();
            let path = note.entry.path().to_string();
            // The page may begin and end in the middle of a note.
            let tasks = tasks.skip(page.offset.saturating_sub(before)).take(end - before.max(page.offset));
            shown.extend(tasks.map(|(task, item)| (None, path.clone(), output(&task, &item))));
        }
        before += note.count as usize;
    }
    shown
}

fn by_key(
    context: &Context<'_>,
    notes: &[NoteCount<'_>],
    filter: &TaskFilter,
    grouping: TaskGrouping,
    page: PageCursor,
) -> Result<Vec<ShownTask>, Reason> {
    let mut ordered: Vec<OrderedTask> = Vec::new();
    for (number, note) in notes.iter().enumerate() {
        context.check()?;
        // Texts are decoded for the key; the page alone keeps them.
        for (task, item) in wanted(&note.digest(), filter) {
            let due = task.day(TaskFieldKind::Due).unwrap_or(NOT_DUE);
            let key = key(grouping, note.entry, &task, &item);
            ordered.push(OrderedTask { key, due, note: number, task });
        }
    }
    ordered.sort_by(|one, other| {
        let of = |task: &OrderedTask| (task.due, task.note, task.task.line);
        one.key.cmp(&other.key).then_with(|| of(one).cmp(&of(other)))
    });
    let page = ordered.into_iter().skip(page.offset).take(page.limit);
    Ok(page
        .filter_map(|OrderedTask { key: (_, group), note, task, .. }| {
            let note = notes.get(note)?;
            let items = note.digest().items();
            let item = items.get(task.item)?;
            Some((Some(group), note.entry.path().to_string(), output(&task, item)))
        })
        .collect())
}

/// What a task is grouped by, in the order of the groups.
fn key(grouping: TaskGrouping, entry: FileEntry<'_>, task: &DatedTask, item: &RowItem<'_>) -> (i64, String) {
    let line = TaskLine::of(first_line(item));
    match grouping {
        TaskGrouping::Note => (0, entry.path().to_string()),
        TaskGrouping::Due => match (task.day(TaskFieldKind::Due), line.value(TaskFieldKind::Due)) {
            (Some(day), Some(date)) => (i64::from(day), date.to_owned()),
            _ => (i64::MAX, "no date".to_owned()),
        },
        TaskGrouping::Priority => match task.priority {
            Some(priority) => (priority as i64 * 2, priority.name().to_owned()),
            // Between medium and low.
            None => (5, "none".to_owned()),
        },
        TaskGrouping::Status => match TaskState::of(task.status) {
            TaskState::Open => {
                (0, if task.status == ' ' { "open".to_owned() } else { format!("open [{}]", task.status) })
            }
            TaskState::Done => (1, "done".to_owned()),
            TaskState::Cancelled => (2, "cancelled".to_owned()),
        },
        TaskGrouping::Folder => (0, entry.path().folder().map_or_else(|| "/".to_owned(), |folder| folder.to_string())),
        TaskGrouping::Tag => {
            // One group for each set of tags: a task is listed once.
            let tags: BTreeSet<String> = line.tags().map(|tag| format!("#{}", tag.to_lowercase())).collect();
            match tags.is_empty() {
                true => (1, "no tag".to_owned()),
                false => (0, tags.into_iter().collect::<Vec<_>>().join(" ")),
            }
        }
    }
}

fn output(task: &DatedTask, item: &RowItem<'_>) -> TaskOutput {
    let line = TaskLine::of(first_line(item));
    let value = |kind| line.value(kind).map(str::to_owned);
    // Only days that exist.
    // A date that does not exist, as 2026-02-30, has no number in the index.
    let date = |kind| task.day(kind).and(value(kind));
    TaskOutput {
        line: task.line,
        text: clipped(&line.description()).into_owned(),
        status: Some(task.status).filter(|status| *status != ' '),
        due: date(TaskFieldKind::Due),
        scheduled: date(TaskFieldKind::Scheduled),
        start: date(TaskFieldKind::Start),
        done: date(TaskFieldKind::Done),
        priority: task.priority.map(|priority| priority.name()),
        recurrence: value(TaskFieldKind::Recurrence),
        id: line.block_id().map(|id| format!("^{id}")).or_else(|| value(TaskFieldKind::Id)),
    }
}

fn clipped(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_TEXT {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(LONGEST_TEXT)]))
}
