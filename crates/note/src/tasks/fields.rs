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

/// `📅 2026-04-14` at the end.
fn signed(text: &str, rest: Range<usize>) -> Option<TaskField> {
    let part = &text[rest.clone()];
    // No emoji in it, and most tasks have none.
    if part.is_ascii() {
        return None;
    }
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
        TaskFieldKind::Created
        | TaskFieldKind::Scheduled
        | TaskFieldKind::Start
        | TaskFieldKind::Due
        | TaskFieldKind::Done
        | TaskFieldKind::Cancelled => is_date(value),
        TaskFieldKind::Priority => true,
        TaskFieldKind::Recurrence => all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b',' | b'!' | b' ')),
        TaskFieldKind::OnCompletion => all(|byte| byte.is_ascii_alphabetic()),
        TaskFieldKind::Id => !value.is_empty() && value.bytes().all(identifier),
        TaskFieldKind::DependsOn => {
            value.split(',').map(str::trim).all(|id| !id.is_empty() && id.bytes().all(identifier))
        }
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
