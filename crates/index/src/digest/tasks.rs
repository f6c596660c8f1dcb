//! Tasks with their dates, so that those of a whole vault are found without their texts.

use jiff::civil::Date;
use lapidary_note::{Note, TaskFieldKind, TaskLine, TaskPriority};

use crate::packed::{BytePacker, ByteUnpacker};

/// A task, as far as it can be filtered by numbers. Its text is that of its list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatedTask {
    /// Which of the list items of its note it is.
    pub item: usize,
    /// From 1.
    pub line: usize,
    pub status: char,
    pub priority: Option<TaskPriority>,
    pub recurs: bool,
    dates: [Option<i32>; DATES.len()],
}

/// The dates that are kept, in the order of their flags.
const DATES: [TaskFieldKind; 6] = [
    TaskFieldKind::Due,
    TaskFieldKind::Scheduled,
    TaskFieldKind::Start,
    TaskFieldKind::Done,
    TaskFieldKind::Cancelled,
    TaskFieldKind::Created,
];
const RECURS: u64 = 1 << DATES.len();
const PRIORITY_SHIFT: usize = DATES.len() + 1;

impl DatedTask {
    /// A date, as the number of days since 2000.
    pub fn day(&self, kind: TaskFieldKind) -> Option<i32> {
        let at = DATES.iter().position(|known| *known == kind)?;
        self.dates.get(at).copied().flatten()
    }
}

/// The number of a day, which is compared faster than a date.
pub fn day_number(date: Date) -> i32 {
    // The calendar has fewer days than this type has numbers.
    i32::try_from(date.duration_since(EPOCH).as_hours() / 24).unwrap_or(i32::MAX)
}

const EPOCH: Date = jiff::civil::date(2000, 1, 1);

pub(super) fn pack(note: &Note<'_>, line_of: impl Fn(usize) -> usize, packer: &mut BytePacker<'_>) {
    let (mut last_item, mut last_line) = (0, 0);
    for task in &note.tasks {
        let text = TaskLine::of(&note.text[task.text.clone()]);
        let dates = DATES.map(|kind| text.value(kind).and_then(|date| date.parse::<Date>().ok()).map(day_number));
        let priority = text.value(TaskFieldKind::Priority).and_then(TaskPriority::read);
        let mut flags = priority.map_or(0, |priority| 1 + priority as u64) << PRIORITY_SHIFT;
        flags |= if text.value(TaskFieldKind::Recurrence).is_some() { RECURS } else { 0 };
        for (bit, _) in dates.iter().enumerate().filter(|(_, date)| date.is_some()) {
            flags |= 1 << bit;
        }
        let line = line_of(task.checkbox.start);
        // Relative to the task before, which takes one byte where the number would take two.
        packer.length(task.item.saturating_sub(last_item));
        packer.length(line.saturating_sub(last_line));
        (last_item, last_line) = (task.item, line);
        packer.number(u64::from(u32::from(task.status)));
        packer.number(flags);
        dates.into_iter().flatten().for_each(|day| packer.number(folded(day)));
    }
}

/// Numbers around zero take few bytes, negative ones too.
fn folded(day: i32) -> u64 {
    u64::from(((day << 1) ^ (day >> 31)).cast_unsigned())
}

fn unfolded(number: u64) -> Option<i32> {
    let number = u32::try_from(number).ok()?;
    Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
}

pub(super) fn unpack(mut unpacker: ByteUnpacker<'_>) -> impl Iterator<Item = DatedTask> + use<'_> {
    let (mut item, mut line) = (0_usize, 0_usize);
    std::iter::from_fn(move || {
        item = item.checked_add(unpacker.length()?)?;
        line = line.checked_add(unpacker.length()?)?;
        let status = u32::try_from(unpacker.number()?).ok().and_then(char::from_u32)?;
        let flags = unpacker.number()?;
        let mut dates = [None; DATES.len()];
        for (_, date) in dates.iter_mut().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1) {
            *date = Some(unfolded(unpacker.number()?)?);
        }
        let priority = usize::try_from(flags >> PRIORITY_SHIFT).ok()?.checked_sub(1);
        let priority = priority.and_then(|at| TaskPriority::ALL.get(at).copied());
        Some(DatedTask { item, line, status, priority, recurs: flags & RECURS != 0, dates })
    })
}
