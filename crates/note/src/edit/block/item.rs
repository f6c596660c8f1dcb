//! Markers and content of list items.

use std::ops::Range;

use super::marker::BlockMarker;
use crate::span::line_start;

/// The prefix of a list item's text.
struct ItemPrefix<'a> {
    /// Marker and the space after it.
    bullet: &'a str,
    /// Task box and the space after it; empty if the item is not a task.
    task: &'a str,
}

/// Parses `- `, `12) ` and `- [x] ` at the start of a text.
fn prefix(text: &str) -> Option<ItemPrefix<'_>> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match text.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        // CommonMark allows at most nine digits.
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let rest = &text[mark..];
    let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    // A mark without a blank behind it is text, unless the item is empty.
    if space == 0 && !rest.is_empty() {
        return None;
    }
    let (bullet, rest) = text.split_at(mark + space);
    Some(ItemPrefix { bullet, task: &rest[..task(rest)] })
}

/// The length of the task box at the start of a text, with the space after it.
fn task(text: &str) -> usize {
    let mut characters = text.char_indices();
    let (Some((_, '[')), Some((_, status)), Some((close, ']'))) =
        (characters.next(), characters.next(), characters.next())
    else {
        return 0;
    };
    let rest = &text[close + 1..];
    let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    // A box is only one with a blank behind it, or at the end.
    if status == '\n' || (space == 0 && !rest.is_empty()) { 0 } else { close + 1 + space }
}

/// The indentation of the item within its span, and the prefix of its text.
fn own_prefix(item: &str) -> (usize, ItemPrefix<'_>) {
    let indent = item.len() - item.trim_start_matches([' ', '\t']).len();
    (indent, prefix(&item[indent..]).unwrap_or(ItemPrefix { bullet: "", task: "" }))
}

/// Where the text of an item starts, after marker and task box.
pub(super) fn text_start(item: &str) -> usize {
    let (indent, own) = own_prefix(item);
    indent + own.bullet.len() + own.task.len()
}

/// The prefix that makes a line belong to the item.
pub(in crate::edit) fn margin(shown: &str, span: &Range<usize>) -> String {
    let (indent, own) = own_prefix(&shown[span.clone()]);
    // Marks of outer items become spaces on the following lines; quote marks and tabs stay.
    let column = |c: char| if matches!(c, '>' | '\t') { c } else { ' ' };
    shown[line_start(shown, span.start)..span.start + indent]
        .chars()
        .map(column)
        .chain(std::iter::repeat_n(' ', own.bullet.chars().count()))
        .collect()
}

/// The item with another content: its lines stay within the item, nested lists are not touched.
pub(super) fn replaced(shown: &str, span: &Range<usize>, content: &str, marker: &BlockMarker<'_>) -> String {
    let old = &shown[span.clone()];
    let (indent, own) = own_prefix(old);
    let margin = margin(shown, span);
    let quoted = margin.contains('>');

    let mut lines = content.split('\n').map(|line| if quoted { unquoted(line) } else { line });
    let first = lines.next().unwrap_or_default();
    // The caller may send the item with its marker, or only what it says.
    let stripped = first.trim_start_matches([' ', '\t']);
    let given = prefix(stripped);
    let (words, given_task, hanging) = match &given {
        Some(given) => {
            let length = given.bullet.len() + given.task.len();
            (&stripped[length..], given.task, first.len() - stripped.len() + given.bullet.len())
        }
        None if !own.task.is_empty() => (&stripped[task(stripped)..], &stripped[..task(stripped)], 0),
        None => (first, "", 0),
    };
    let task = if given_task.is_empty() { own.task } else { given_task };
    let mut new = format!("{}{}{task}{words}", &old[..indent], own.bullet);
    for line in lines {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        // Lines are indented as the caller wrote them, less what its own marker took.
        let line = &line[spaces.min(hanging)..];
        new.push('\n');
        // No trailing blanks on an empty line.
        new += if line.is_empty() { margin.trim_end() } else { &margin };
        new += line;
    }
    new + marker.tail + marker.rest
}

fn unquoted(line: &str) -> &str {
    let rest = line.trim_start_matches(' ');
    rest.strip_prefix('>').map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest))
}
