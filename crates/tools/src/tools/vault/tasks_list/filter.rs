//! Which tasks are wanted. What the index has as numbers is compared first; texts are read only for what is left.

use lapidary_note::{TaskFieldKind, TaskLine, TaskPriority, TaskState};
use lapidary_operation::{Context, Reason};
use lapidary_toolkit::{folder::FolderTarget, index, naming, task_days::DayRange};
use lapidary_vault::{DatedTask, Digest, FileEntry, VaultPath, View, day_number, links::folded_name};

use super::Input;

pub(super) struct TaskFilter {
    state: StatusFilter,
    /// By kind, as numbers of days.
    days: Vec<(TaskFieldKind, NumberRange)>,
    priority: Option<Option<TaskPriority>>,
    recurring: Option<bool>,
    /// Folded like names, as the other texts, and without `#`.
    tag: Option<String>,
    heading: Option<String>,
    text: Option<String>,
    pub(super) below: Option<VaultPath>,
    /// The only note.
    note: Option<VaultPath>,
}

#[derive(Clone, Copy)]
enum StatusFilter {
    State(TaskState),
    Character(char),
    All,
}

/// The range of a date as day numbers; `None` is a task without that date.
type NumberRange = Option<(i32, i32)>;

impl TaskFilter {
    pub(super) fn of(tool: &str, context: &Context<'_>, view: &View, input: &Input) -> Result<Self, Reason> {
        let given = [
            ("due", TaskFieldKind::Due, &input.due),
            ("scheduled", TaskFieldKind::Scheduled, &input.scheduled),
            ("start", TaskFieldKind::Start, &input.start),
            ("done", TaskFieldKind::Done, &input.done),
        ];
        let mut days = Vec::new();
        for (name, kind, given) in given {
            if let Some(given) = given {
                // The week of the owner's settings is only looked up if a range needs it.
                let range = DayRange::parse(tool, name, given, context.now.date(), || view.owners_week())?;
                days.push((kind, numbered(range)));
            }
        }
        // Who asks when something was done does not ask for open tasks.
        let usual = if input.done.as_deref().is_some_and(|done| done != "none") { "all" } else { "open" };
        let folded = |text: &Option<String>| text.as_ref().map(|text| folded_name(text.trim()).into_owned());
        let (below, note) = match &input.path {
            Some(path) => place(context, view, path)?,
            None => (None, None),
        };
        Ok(Self {
            state: StatusFilter::parse(tool, input.status.as_deref().unwrap_or(usual))?,
            days,
            priority: input.priority.as_deref().map(|given| priority(tool, given)).transpose()?,
            recurring: input.recurring,
            tag: folded(&input.tag).map(|tag| tag.trim_start_matches('#').to_owned()),
            heading: folded(&input.heading).map(|heading| heading.trim_start_matches(['#', ' ']).to_owned()),
            text: folded(&input.text),
            below,
            note,
        })
    }

    pub(super) fn accepts_note(&self, entry: FileEntry<'_>, digest: &Digest<'_>) -> bool {
        // Checked before any text is read: most notes have no such tag.
        // Any tag of a task is one of its note.
        let tagged = |tag: &str| digest.written_tags().any(|found| is_within(found.name, tag));
        self.note.as_ref().is_none_or(|note| note == entry.path()) && self.tag.as_deref().is_none_or(tagged)
    }

    /// As far as the numbers tell.
    pub(super) fn accepts(&self, task: &DatedTask) -> bool {
        let in_range = |(kind, range): &(TaskFieldKind, NumberRange)| match (task.day(*kind), range) {
            (None, None) => true,
            // Both ends are included, as people say `from..to`.
            (Some(day), Some((from, to))) => (*from..=*to).contains(&day),
            _ => false,
        };
        self.state.accepts(task.status)
            && self.days.iter().all(in_range)
            && self.priority.is_none_or(|priority| priority == task.priority)
            && self.recurring.is_none_or(|recurring| recurring == task.recurs)
    }

    /// Whether the text of a task decides, too.
    pub(super) fn reads_text(&self) -> bool {
        self.tag.is_some() || self.text.is_some() || self.heading.is_some()
    }

    pub(super) fn accepts_text(&self, line: &TaskLine<'_>, whole: &str, heading: Option<&str>) -> bool {
        let tagged = |tag: &str| line.tags().any(|found| is_within(found, tag));
        self.tag.as_deref().is_none_or(tagged)
            && self.text.as_deref().is_none_or(|text| folded_name(whole).contains(text))
            && self.heading.as_deref().is_none_or(|wanted| heading.is_some_and(|found| folded_name(found) == wanted))
    }

    pub(super) fn reads_headings(&self) -> bool {
        self.heading.is_some()
    }
}

impl StatusFilter {
    fn parse(tool: &str, given: &str) -> Result<Self, Reason> {
        let mut characters = given.chars();
        Ok(match (given, characters.next(), characters.next()) {
            ("open", ..) => Self::State(TaskState::Open),
            ("done", ..) => Self::State(TaskState::Done),
            ("cancelled", ..) => Self::State(TaskState::Cancelled),
            ("all", ..) => Self::All,
            // Any other status is the character in the box, as themes and plugins use many.
            (_, Some(only), None) => Self::Character(only),
            _ => {
                let problem = "must be `open`, `done`, `cancelled`, `all`, or one character";
                return Err(Reason::bad_argument(tool, "status", problem));
            }
        })
    }

    fn accepts(self, status: char) -> bool {
        match self {
            Self::State(state) => TaskState::of(status) == state,
            Self::Character(wanted) => wanted == status,
            Self::All => true,
        }
    }
}

/// `a/b` is within `a`.
fn is_within(tag: &str, wanted: &str) -> bool {
    let tag = folded_name(tag);
    // The slash, or `#work` would also contain `#workshop`.
    tag.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn numbered(range: DayRange) -> NumberRange {
    match range {
        DayRange::NoDate => None,
        // An open end is the smallest or largest day.
        DayRange::Days { from, to } => Some((from.map_or(i32::MIN, day_number), to.map_or(i32::MAX, day_number))),
    }
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

type FolderOrNote = (Option<VaultPath>, Option<VaultPath>);

/// A folder, or a note by any of its names.
fn place(context: &Context<'_>, view: &View, given: &str) -> Result<FolderOrNote, Reason> {
    // A folder first: names of notes may be those of folders, and a folder is the wider answer.
    let files = index::files(context, view)?;
    match FolderTarget::find(view, files, given)? {
        FolderTarget::There(folder) => Ok((folder, None)),
        FolderTarget::File(_) | FolderTarget::Missing { .. } => {
            let path = naming::find(context, view, given)?.path;
            // As spelt on disk, which is how the index names it.
            let path = files.find(&path).map_or(path, |entry| entry.path().clone());
            Ok((path.folder(), Some(path)))
        }
    }
}
