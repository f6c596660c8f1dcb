//! List items, and inline fields.

use std::borrow::Cow;

use lapidary_note::{LineTable, Note};
use lapidary_query::{RowField, RowItem, TextPosition, note_fields, note_items};

use super::TaskDigest;
use crate::packed::{BytePacker, ByteUnpacker};

/// The markers without text, in the lowest bits of the flags.
const BULLETS: [&str; 3] = ["-", "*", "+"];
const OTHER_MARKER: u8 = 3;
const IS_TASK: u8 = 4;
const HAS_PARENT: u8 = 8;
/// Its number of UTF-16 units differs from its number of bytes, or something before it does.
const IS_WIDE: u8 = 16;
/// Its list starts with it.
const BEGINS_LIST: u8 = 32;
/// For an outermost item: its list is not a section of the note.
const IN_QUOTE: u8 = 64;
/// It does not end on its first line.
const HAS_END: u8 = 128;

pub(super) fn pack(note: &Note<'_>, lines: &LineTable, items: &mut BytePacker<'_>, fields: &mut BytePacker<'_>) {
    let rows = note_items(note, lines);
    rows.iter().enumerate().for_each(|(number, item)| pack_item(number, item, items));
    for field in note_fields(note, &rows) {
        fields.length(field.line);
        // Zero is "in no item"; odd numbers are those of plain items, even ones those of tasks.
        fields.length(field.item.map_or(0, |item| item * 2 + 1 + usize::from(field.of_task)));
        fields.text(&field.key);
        fields.text(&field.value);
    }
}

fn pack_item(number: usize, item: &RowItem<'_>, packer: &mut BytePacker<'_>) {
    let bullet = BULLETS.iter().position(|bullet| *bullet == item.marker);
    let marker = bullet.map_or(OTHER_MARKER, |bullet| bullet as u8);
    let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    let is_root = item.parent.is_none();
    let units = item.end.offset - item.start.offset;
    // Offsets in bytes and in UTF-16 units agree for plain ASCII, and then one of them is enough.
    let is_wide = item.start.offset != item.span.start || units != item.span.len();
    let has_end = item.line_count != 1 || item.end != end_on_line(item.start, units);
    packer.byte(
        marker
            | flag(IS_TASK, item.status.is_some())
            | flag(HAS_PARENT, !is_root)
            | flag(IS_WIDE, is_wide)
            | flag(BEGINS_LIST, is_root && item.list_line == Some(item.line))
            | flag(IN_QUOTE, is_root && item.list_line.is_none())
            | flag(HAS_END, has_end),
    );
    if bullet.is_none() {
        packer.text(item.marker);
    }
    if let Some(status) = item.status {
        packer.number(u64::from(u32::from(status)));
    }
    if let Some(parent) = item.parent {
        // Relative to the item, which takes one byte where the number would take two.
        packer.length(number - parent);
    }
    packer.length(item.line);
    packer.length(item.span.start);
    packer.length(item.span.len());
    if is_wide {
        packer.length(item.start.offset);
        packer.length(units);
    }
    packer.length(item.start.column);
    if has_end {
        packer.length(item.line_count);
        packer.length(item.end.line - item.line);
        packer.length(item.end.column);
    }
    packer.text(&item.text);
}

/// Where an item with this many units ends, unless it goes on in another line.
fn end_on_line(start: TextPosition, units: usize) -> TextPosition {
    let along = |at: usize| at.saturating_add(units);
    TextPosition { line: start.line, column: along(start.column), offset: along(start.offset) }
}

pub(super) fn unpack_items<'a>(mut unpacker: ByteUnpacker<'a>) -> Vec<RowItem<'a>> {
    let mut items: Vec<RowItem<'a>> = Vec::new();
    let mut list_line = None;
    // Ends at the first item that cannot be read, which is the end of the part.
    while let Some(item) = unpack_item(&mut unpacker, &items, &mut list_line) {
        items.push(item);
    }
    items
}

/// Only tasks, of which less is kept.
pub(super) fn unpack_tasks<'a>(unpacker: ByteUnpacker<'a>) -> Vec<TaskDigest<'a>> {
    let task = |item: RowItem<'a>| {
        // Unpacked texts are always borrowed.
        let Cow::Borrowed(text) = item.text else { return None };
        let first = text.split('\n').next().unwrap_or_default();
        Some(TaskDigest { status: item.status?, line: item.line, depth: item.depth, text: first })
    };
    unpack_items(unpacker).into_iter().filter_map(task).collect()
}

fn unpack_item<'a>(
    unpacker: &mut ByteUnpacker<'a>,
    before: &[RowItem<'a>],
    list_line: &mut Option<usize>,
) -> Option<RowItem<'a>> {
    let flags = unpacker.byte()?;
    let marker = match flags & OTHER_MARKER {
        OTHER_MARKER => unpacker.text()?,
        bullet => BULLETS[usize::from(bullet)],
    };
    let status = match flags & IS_TASK {
        0 => None,
        _ => Some(u32::try_from(unpacker.number()?).ok().and_then(char::from_u32)?),
    };
    let parent = match flags & HAS_PARENT {
        0 => None,
        // Damage must not lead to an index beyond the items before.
        _ => Some(before.len().checked_sub(unpacker.length()?)?),
    };
    let depth = match parent {
        Some(parent) => before.get(parent)?.depth + 1,
        None => 0,
    };
    let (line, start, length) = (unpacker.length()?, unpacker.length()?, unpacker.length()?);
    let (first_unit, units) = match flags & IS_WIDE {
        0 => (start, length),
        _ => (unpacker.length()?, unpacker.length()?),
    };
    if flags & BEGINS_LIST != 0 {
        *list_line = Some(line);
    } else if flags & IN_QUOTE != 0 {
        *list_line = None;
    }
    let span = start..start.checked_add(length)?;
    let start = TextPosition { line, column: unpacker.length()?, offset: first_unit };
    let (line_count, end) = match flags & HAS_END {
        0 => (1, end_on_line(start, units)),
        _ => {
            let line_count = unpacker.length()?;
            let (line, column) = (line.checked_add(unpacker.length()?)?, unpacker.length()?);
            (line_count, TextPosition { line, column, offset: first_unit.checked_add(units)? })
        }
    };
    Some(RowItem {
        line,
        line_count,
        depth,
        parent,
        marker,
        status,
        span,
        start,
        end,
        text: Cow::Borrowed(unpacker.text()?),
        list_line: *list_line,
    })
}

pub(super) fn unpack_fields<'a>(mut unpacker: ByteUnpacker<'a>) -> impl Iterator<Item = RowField<'a>> + use<'a> {
    std::iter::from_fn(move || {
        let (line, item) = (unpacker.length()?, unpacker.length()?);
        let (key, value) = (unpacker.text()?, unpacker.text()?);
        let number = item.checked_sub(1);
        let of_task = number.is_some_and(|number| number % 2 == 1);
        Some(RowField { key, value, line, item: number.map(|number| number / 2), of_task })
    })
}
