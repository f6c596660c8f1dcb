//! Fields of the Tasks plugin.

use std::ops::Range;

use crate::{
    blocks::{TrailingMarker, trailing_id},
    span::{trim, trim_end},
    tags::{is_space, tag_length},
};

/// A field of a task, in the notation of the Tasks plugin: `📅 2026-04-14` or `[due:: 2026-04-14]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskField {
    pub kind: TaskFieldKind,
    pub span: Range<usize>,
    /// The date, rule or ids. A priority sign is its own value.
    pub value: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskFieldKind {
    Created,
    Scheduled,
    Start,
    Due,
    Done,
    Cancelled,
    Priority,
    Recurrence,
    OnCompletion,
    Id,
    DependsOn,
}

impl TaskFieldKind {
    pub fn is_date(self) -> bool {
        matches!(self, Self::Created | Self::Scheduled | Self::Start | Self::Due | Self::Done | Self::Cancelled)
    }
}

/// Emoji may be followed by this, and mean the same without it.
const VARIATION: char = '\u{fe0f}';

/// The fields at the end of a line. They are parsed backwards until something is not a field; tags may be between them
/// and a block id after them.
pub(super) fn task_fields(text: &str, line: Range<usize>) -> Vec<TaskField> {
    let mut found = Vec::new();
    let mut rest = match trailing_id(text, line.clone(), &[], &[]) {
        // An id comes after the fields.
        Some(TrailingMarker::Behind(marker)) => line.start..marker.start,
        _ => line,
    };
    loop {
        // From the end, because the plugin reads fields backwards and stops at the first word.
        rest = trim_end(text, rest);
        let part = &text[rest.clone()];
        if let Some(field) = bracketed(text, rest.clone()).or_else(|| signed(text, rest.clone())) {
            rest.end = field.span.start;
            found.push(field);
        } else if let Some(tag) = trailing_tag(part) {
            rest.end = rest.start + tag;
        } else {
            break;
        }
    }
    found.reverse();
    found
}

fn trailing_tag(part: &str) -> Option<usize> {
    let start = part.rfind(is_space).map_or(0, |at| at + part[at..].chars().next().map_or(1, char::len_utf8));
    let name = part[start..].strip_prefix('#')?;
    (!name.is_empty() && tag_length(name) == name.len()).then_some(start)
}

/// How far a field in the middle of a text is looked for behind its bracket.
const LONGEST_FIELD: usize = 200;

/// Fields anywhere in a text, as Dataview finds them: dates behind an emoji, and what is in brackets. The first of each
/// kind counts.
pub(super) fn loose_fields(text: &str, span: Range<usize>) -> Vec<TaskField> {
    let mut found: Vec<TaskField> = Vec::new();
    let mut end = span.start;
    for (at, c) in text[span.clone()].char_indices() {
        let start = span.start + at;
        // Inside a field that was found already.
        if start < end {
            continue;
        }
        let field = match c {
            '[' => enclosed(text, start..span.end, ']'),
            '(' => enclosed(text, start..span.end, ')'),
            c if c.is_ascii() => None,
            c => dated(text, start, c, span.end),
        };
        // Of each kind the first counts, as for Dataview.
        if let Some(field) = field.filter(|field| found.iter().all(|known| known.kind != field.kind)) {
            end = field.span.end;
            found.push(field);
        }
    }
    found
}

/// `[due:: 2026-04-14]` at the start.
fn enclosed(text: &str, rest: Range<usize>, close: char) -> Option<TaskField> {
    let end = text.floor_char_boundary(rest.end.min(rest.start + LONGEST_FIELD));
    let inner = &text[rest.start + 1..end.max(rest.start + 1)];
    // The first bracket behind it has to be the closing one: fields are not nested.
    let length = inner.find(['[', ']', '(', ')']).filter(|at| inner[*at..].starts_with(close))?;
    bracketed(text, rest.start..rest.start + length + 2)
}

/// `📅 2026-04-14` at the start.
fn dated(text: &str, start: usize, emoji: char, end: usize) -> Option<TaskField> {
    let kind = sign(emoji).filter(|kind| kind.is_date())?;
    let behind = text[start + emoji.len_utf8()..end].trim_start_matches(VARIATION).trim_start();
    let value = behind.get(..10).filter(|date| is_date(date))?;
    let value = end - behind.len()..end - behind.len() + value.len();
    Some(TaskField { kind, span: start..value.end, value })
}

/// `📅 2026-04-14` at the end.
fn signed(text: &str, rest: Range<usize>) -> Option<TaskField> {
    let part = &text[rest.clone()];
    // No emoji in it, and most tasks have none.
    if part.is_ascii() {
        return None;
    }
    // The last emoji in it, so that everything behind it is its value.
    let at = part.rfind(|c| sign(c).is_some())?;
    let emoji = part[at..].chars().next()?;
    let kind = sign(emoji)?;
    let behind = part[at + emoji.len_utf8()..].trim_start_matches(VARIATION);
    let value = trim(text, rest.end - behind.len()..rest.end);
    let start = rest.start + at;
    let value = if kind == TaskFieldKind::Priority {
        // A priority has no value, so text after the sign means that it is not at the end.
        behind.is_empty().then(|| start..start + emoji.len_utf8())?
    } else {
        value
    };
    accepts(kind, &text[value.clone()]).then_some(TaskField { kind, span: start..rest.end, value })
}

/// `[due:: 2026-04-14]` or `(due:: 2026-04-14)` at the end.
fn bracketed(text: &str, rest: Range<usize>) -> Option<TaskField> {
    let part = &text[rest.clone()];
    let open = match part.chars().next_back()? {
        ']' => '[',
        ')' => '(',
        _ => return None,
    };
    let start = rest.start + part.rfind(open)?;
    let separator = start + text[start..rest.end].find("::")?;
    let kind = key(text[start + 1..separator].trim())?;
    let value = trim(text, separator + 2..rest.end - 1);
    // A priority in brackets may have any word; whether it is known is decided later.
    let fits = kind == TaskFieldKind::Priority || accepts(kind, &text[value.clone()]);
    fits.then_some(TaskField { kind, span: start..rest.end, value })
}

fn sign(emoji: char) -> Option<TaskFieldKind> {
    Some(match emoji {
        '➕' => TaskFieldKind::Created,
        '⏳' | '⌛' => TaskFieldKind::Scheduled,
        '🛫' => TaskFieldKind::Start,
        '📅' | '📆' | '🗓' => TaskFieldKind::Due,
        '✅' => TaskFieldKind::Done,
        '❌' => TaskFieldKind::Cancelled,
        '🔺' | '⏫' | '🔼' | '🔽' | '⏬' => TaskFieldKind::Priority,
        '🔁' => TaskFieldKind::Recurrence,
        '🏁' => TaskFieldKind::OnCompletion,
        '🆔' => TaskFieldKind::Id,
        '⛔' => TaskFieldKind::DependsOn,
        _ => return None,
    })
}

/// The emoji that the Tasks plugin writes. That of a priority is its value.
pub(super) fn sign_of(kind: TaskFieldKind) -> &'static str {
    match kind {
        TaskFieldKind::Created => "➕",
        TaskFieldKind::Scheduled => "⏳",
        TaskFieldKind::Start => "🛫",
        TaskFieldKind::Due => "📅",
        TaskFieldKind::Done => "✅",
        TaskFieldKind::Cancelled => "❌",
        TaskFieldKind::Priority => "🔼",
        TaskFieldKind::Recurrence => "🔁",
        TaskFieldKind::OnCompletion => "🏁",
        TaskFieldKind::Id => "🆔",
        TaskFieldKind::DependsOn => "⛔",
    }
}

pub(super) fn key_of(kind: TaskFieldKind) -> &'static str {
    match kind {
        TaskFieldKind::Created => "created",
        TaskFieldKind::Scheduled => "scheduled",
        TaskFieldKind::Start => "start",
        TaskFieldKind::Due => "due",
        TaskFieldKind::Done => "completion",
        TaskFieldKind::Cancelled => "cancelled",
        TaskFieldKind::Priority => "priority",
        TaskFieldKind::Recurrence => "repeat",
        TaskFieldKind::OnCompletion => "onCompletion",
        TaskFieldKind::Id => "id",
        TaskFieldKind::DependsOn => "dependsOn",
    }
}

fn key(name: &str) -> Option<TaskFieldKind> {
    Some(match name {
        "created" => TaskFieldKind::Created,
        "scheduled" => TaskFieldKind::Scheduled,
        "start" => TaskFieldKind::Start,
        "due" => TaskFieldKind::Due,
        "completion" => TaskFieldKind::Done,
        "cancelled" => TaskFieldKind::Cancelled,
        "priority" => TaskFieldKind::Priority,
        "repeat" => TaskFieldKind::Recurrence,
        "onCompletion" => TaskFieldKind::OnCompletion,
        "id" => TaskFieldKind::Id,
        "dependsOn" => TaskFieldKind::DependsOn,
        _ => return None,
    })
}

fn accepts(kind: TaskFieldKind, value: &str) -> bool {
    let all = |allowed: fn(u8) -> bool| !value.is_empty() && value.bytes().all(allowed);
    let identifier = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match kind {
        kind if kind.is_date() => is_date(value),
        TaskFieldKind::Recurrence => all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b',' | b'!' | b' ')),
        TaskFieldKind::OnCompletion => all(|byte| byte.is_ascii_alphabetic()),
        TaskFieldKind::Id => !value.is_empty() && value.bytes().all(identifier),
        TaskFieldKind::DependsOn => {
            value.split(',').map(str::trim).all(|id| !id.is_empty() && id.bytes().all(identifier))
        }
        // A priority has nothing but its sign.
        _ => true,
    }
}

fn is_date(value: &str) -> bool {
    value.len() == 10
        && value
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_parsed_from_the_end_until_other_text() {
        use TaskFieldKind::{Created, DependsOn, Done, Due, Id, OnCompletion, Priority, Recurrence, Scheduled, Start};
        for (line, expected) in [
            ("x 📅 2026-04-14", vec![(Due, "2026-04-14")]),
            ("x 📅\u{fe0f} 2026-04-14 ^id", vec![(Due, "2026-04-14")]),
            ("x ⏫ 📅 2026-04-14 ✅ 2026-04-15", vec![(Priority, "⏫"), (Due, "2026-04-14"), (Done, "2026-04-15")]),
            (
                "x 🔁 every week, when done! ⏳2026-01-01",
                vec![(Recurrence, "every week, when done!"), (Scheduled, "2026-01-01")],
            ),
            ("x 📅 2026-04-14 #tag", vec![(Due, "2026-04-14")]),
            ("x 📅 2026-04-14 more", vec![]),
            ("📅 2026-04-14 more 🛫 2026-01-02", vec![(Start, "2026-01-02")]),
            ("x 🆔 abc_1 ⛔ a,b-2 🏁 delete", vec![(Id, "abc_1"), (DependsOn, "a,b-2"), (OnCompletion, "delete")]),
            ("x [due:: 2026-04-14]  (created:: 2026-01-02)", vec![(Due, "2026-04-14"), (Created, "2026-01-02")]),
            ("x [priority:: high]", vec![(Priority, "high")]),
            ("x [other:: y] 📅 2026-04-14", vec![(Due, "2026-04-14")]),
            ("x 📅 14.4.2026", vec![]),
            ("x 🔺", vec![(Priority, "🔺")]),
            ("", vec![]),
        ] {
            let found: Vec<(TaskFieldKind, &str)> =
                task_fields(line, 0..line.len()).into_iter().map(|field| (field.kind, &line[field.value])).collect();
            assert_eq!(found, expected, "{line:?}");
        }
    }
}
