//! The marks around code, formulas and comments.

use std::ops::Range;

use super::marker::BlockMarker;
use crate::BlockKind;

/// Code and formulas, whose first and last line the content may leave out.
pub(super) fn fenced(old: &str, content: &str, marker: &BlockMarker<'_>) -> String {
    let opening = old.lines().next().filter(|line| frames(line) && old.contains('\n'));
    let (Some(opening), false) = (opening, content.lines().next().is_some_and(frames)) else {
        return format!("{content}{}{}", marker.tail, marker.rest);
    };
    let mut new = format!("{opening}\n{content}");
    if let Some(closing) = old.lines().last().filter(|line| frames(line)) {
        new.push('\n');
        new += closing;
    }
    new
}

fn frames(line: &str) -> bool {
    ["```", "~~~", "$$"].iter().any(|frame| line.trim_start().starts_with(frame))
}

/// The text between the marks of code, a formula or a comment, without the adjacent line endings. `None` if it has no
/// marks, or they are not on their own lines.
pub(super) fn inner(old: &str, kind: BlockKind) -> Option<Range<usize>> {
    if kind == BlockKind::Comment {
        let (open, text, _) = comment_parts(old);
        let start = open.len() + text.len() - text.trim_start().len();
        return (!open.is_empty() && !text.trim().is_empty()).then(|| start..open.len() + text.trim_end().len());
    }
    let start = old.find('\n')? + 1;
    let end = old.rfind('\n')?;
    (frames(old) && frames(&old[end + 1..])).then(|| start..end.max(start))
}

/// A comment, whose marks the content may leave out.
pub(super) fn comment(old: &str, content: &str) -> String {
    let (open, text, close) = comment_parts(old);
    if !comment_parts(content).0.is_empty() {
        return content.to_owned();
    }
    let lead = &text[..text.len() - text.trim_start().len()];
    let trail = &text[text.trim_end().len()..];
    // On one line with its marks it would be a comment within a paragraph.
    let (lead, trail) = if lead.contains('\n') || trail.contains('\n') || content.contains('\n') {
        (lead, trail)
    } else {
        ("\n", "\n")
    };
    format!("{open}{lead}{content}{trail}{close}")
}

/// The opening marks, the text between, and the closing marks. Text without both has neither.
fn comment_parts(text: &str) -> (&str, &str, &str) {
    let length = text.bytes().take_while(|byte| *byte == b'%').count();
    let framed = (2..=3).contains(&length) && text.len() >= 2 * length && text.ends_with(&text[..length]);
    if !framed {
        return ("", text, "");
    }
    let close = text.len() - length;
    (&text[..length], &text[length..close], &text[close..])
}
