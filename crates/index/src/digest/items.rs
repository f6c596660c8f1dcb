//! List items, and the fields that are written into the text.

use lapidary_note::{LineTable, ListItem, Note};
use lapidary_query::{FoundField, RowField, RowItem, item_fields, line_fields};

use crate::packed::{BytePacker, ByteUnpacker};

/// The markers that take no text, by the lowest bits of the flags.
const BULLETS: [&str; 3] = ["-", "*", "+"];
const OTHER_MARKER: u8 = 3;
const IS_TASK: u8 = 4;
const HAS_PARENT: u8 = 8;

pub(super) fn pack(note: &Note<'_>, lines: &LineTable, items: &mut BytePacker<'_>, fields: &mut BytePacker<'_>) {
    let rows: Vec<RowItem<'_>> = note.items.iter().map(|item| row(note, lines, item)).collect();
    rows.iter().enumerate().for_each(|(number, item)| pack_item(number, item, items));
    let mut found = fields_of_items(note, &rows);
    found.extend(fields_of_lines(note));
    found.sort_by_key(|(line, ..)| *line);
    for (line, item, key, value) in found {
        fields.length(line);
        fields.length(item.map_or(0, |item| item + 1));
        fields.text(&key);
        fields.text(&value);
    }
}

fn row<'n>(note: &Note<'n>, lines: &LineTable, item: &ListItem) -> RowItem<'n> {
    // Where a tab stands before the marker, an item begins before it.
    let span = item.marker.start..item.span.end.max(item.marker.end);
    let line = lines.line(span.start);
    RowItem {
        line,
        line_count: lines.line(span.end.max(span.start + 1) - 1) + 1 - line,
        depth: item.depth,
        parent: item.parent,
        marker: &note.text[item.marker.clone()],
        status: item.task.and_then(|task| note.tasks.get(task)).map(|task| task.status),
        span,
    }
}

fn pack_item(number: usize, item: &RowItem<'_>, packer: &mut BytePacker<'_>) {
    let bullet = BULLETS.iter().position(|bullet| *bullet == item.marker);
    let marker = bullet.map_or(OTHER_MARKER, |bullet| bullet as u8);
    let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    packer.byte(marker | flag(IS_TASK, item.status.is_some()) | flag(HAS_PARENT, item.parent.is_some()));
    if bullet.is_none() {
        packer.text(item.marker);
    }
    if let Some(status) = item.status {
        packer.number(u64::from(u32::from(status)));
    }
    if let Some(parent) = item.parent {
        packer.length(number - parent);
    }
    packer.length(item.line);
    packer.length(item.line_count);
    packer.length(item.span.start);
    packer.length(item.span.len());
}

pub(super) fn unpack_items<'a>(mut unpacker: ByteUnpacker<'a>) -> Vec<RowItem<'a>> {
    let mut items: Vec<RowItem<'a>> = Vec::new();
    while let Some(item) = unpack_item(&mut unpacker, &items) {
        items.push(item);
    }
    items
}

fn unpack_item<'a>(unpacker: &mut ByteUnpacker<'a>, before: &[RowItem<'a>]) -> Option<RowItem<'a>> {
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
        _ => Some(before.len().checked_sub(unpacker.length()?)?),
    };
    let depth = match parent {
        Some(parent) => before.get(parent)?.depth + 1,
        None => 0,
    };
    let (line, line_count) = (unpacker.length()?, unpacker.length()?);
    let (start, length) = (unpacker.length()?, unpacker.length()?);
    Some(RowItem { line, line_count, depth, parent, marker, status, span: start..start.checked_add(length)? })
}

pub(super) fn unpack_fields<'a>(mut unpacker: ByteUnpacker<'a>) -> Vec<RowField<'a>> {
    let mut next = || {
        let (line, item) = (unpacker.length()?, unpacker.length()?);
        Some(RowField { key: unpacker.text()?, value: unpacker.text()?, line, item: item.checked_sub(1) })
    };
    std::iter::from_fn(&mut next).collect()
}

/// Line, item, key and value.
type DigestField = (usize, Option<usize>, String, String);

fn found(line: usize, item: Option<usize>, field: &FoundField<'_>) -> DigestField {
    (line, item, field.key.to_owned(), field.value.to_owned())
}

fn fields_of_items(note: &Note<'_>, items: &[RowItem<'_>]) -> Vec<DigestField> {
    let mut fields = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let written = &note.text[item.span.clone()];
        // Fields are seldom, and most items are not worth a copy.
        if !written.contains("::") && written.is_ascii() {
            continue;
        }
        let text = item.text(note.text).unwrap_or_default().replace('\n', " ");
        let of_item = item_fields(&text, item.status.is_some());
        fields.extend(of_item.iter().map(|field| found(item.line, Some(number), field)));
    }
    fields
}

/// Those of all lines outside lists, code and frontmatter included, as Dataview looks at them.
fn fields_of_lines(note: &Note<'_>) -> Vec<DigestField> {
    if !note.text.contains("::") {
        return Vec::new();
    }
    let mut lists = note.items.iter().filter(|item| item.parent.is_none()).map(|item| item.whole.clone()).peekable();
    let (mut fields, mut start) = (Vec::new(), 0);
    for (number, line) in (1..).zip(note.text.split('\n')) {
        let end = start + line.len();
        while lists.next_if(|list| list.end <= start).is_some() {}
        let in_list = lists.peek().is_some_and(|list| list.start < end.max(start + 1));
        if !in_list {
            fields.extend(line_fields(line).iter().map(|field| found(number, None, field)));
        }
        start = end + 1;
    }
    fields
}
