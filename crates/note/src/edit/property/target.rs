use std::ops::Range;

use granit_parser::ScalarStyle;

use super::{
    PropertyEdit, PropertyError,
    path::position,
    render::{Hint, looks_like_date},
    tree::{Content, Node, Tree},
};
use crate::{edit::lines::whole_lines, replace::shared_ends};

/// The part of the YAML text that an edit may change.
pub(super) struct Target {
    /// The value and the name before it. Empty if there is no such property yet.
    pub(super) span: Range<usize>,
    /// What the edit may write to.
    reach: Reach,
    pub(super) hint: Hint,
    /// The value is a block of text and gets another one.
    keeps_blank_lines: bool,
}

enum Reach {
    /// The lines of this span and nothing else.
    Lines(Range<usize>),
    /// Any one place, where something is inserted and nothing is taken away.
    Insertion,
    /// Two places, of which the values and comments are compared.
    Apart,
}

impl Target {
    /// Puts back the blank lines that stand below a block of text and are not part of it, where it was replaced.
    pub(super) fn with_blank_lines(&self, old: &str, mut new: String) -> String {
        let Reach::Lines(span) = &self.reach else { return new };
        let lines = whole_lines(old, span.clone());
        let text = old[lines.clone()].trim_end_matches('\n').len() + 1;
        let blank = lines.len().saturating_sub(text);
        let end = new.len().saturating_sub(old.len() - lines.end);
        let is_lost = new.get(..end).is_some_and(|kept| kept.ends_with('\n') && !kept.ends_with("\n\n"));
        if self.keeps_blank_lines && blank > 0 && is_lost {
            new.insert_str(end, &"\n".repeat(blank));
        }
        new
    }

    /// Whether every other byte of the YAML is as it was.
    pub(super) fn is_all_that_changed(&self, old: &str, new: &str) -> bool {
        match &self.reach {
            Reach::Lines(span) => {
                let lines = whole_lines(old, span.clone());
                let (before, after) = (&old[..lines.start], &old[lines.end..]);
                new.len() >= before.len() + after.len() && new.starts_with(before) && new.ends_with(after)
            }
            Reach::Insertion => {
                let (prefix, suffix) = shared_ends(old, new);
                prefix + suffix >= old.len()
            }
            Reach::Apart => true,
        }
    }
}

/// Finds what an edit addresses and refuses what others depend on.
pub(super) fn addressed(tree: &Tree, edit: &PropertyEdit<'_>) -> Result<Target, PropertyError> {
    let anchored = || PropertyError::Anchored { path: edit.path().to_string() };
    let nothing = |reach: Reach| Target { span: 0..0, hint: Hint::None, reach, keeps_blank_lines: false };
    let Some(root) = tree.root.as_ref() else { return Ok(nothing(Reach::Insertion)) };
    let mut at = root;
    let mut start = at.span.start;
    let mut parent: Option<Range<usize>> = None;
    for segment in edit.path().segments() {
        if tree.is_used(at.anchor()) || matches!(at.content, Content::Alias) {
            return Err(anchored());
        }
        let next = match &at.content {
            Content::Map(entries) => {
                entries.iter().find(|entry| entry.name == segment).map(|entry| (entry.key.start, &entry.value))
            }
            Content::List(items) => position(segment).and_then(|at| items.get(at)).map(|item| (item.span.start, item)),
            // What is empty becomes a map.
            Content::Scalar { .. } => return Ok(nothing(Reach::Lines(start..at.span.end.max(start)))),
            Content::Alias => None,
        };
        let Some((next_start, next)) = next else { return Ok(nothing(Reach::Insertion)) };
        parent = (!std::ptr::eq(at, root)).then(|| start..at.span.end.max(start));
        (start, at) = (next_start, next);
    }
    let end = at.span.end.max(start);
    let reach = match edit {
        // Without its last item a list is written `[]`, and without its first a map may begin on another line.
        PropertyEdit::Delete { .. } => Reach::Lines(parent.unwrap_or(start..end)),
        PropertyEdit::Set { .. } => Reach::Lines(start..end),
        PropertyEdit::Append { .. } if matches!(at.content, Content::List(_)) => Reach::Insertion,
        PropertyEdit::Append { .. } => Reach::Lines(start..end),
        PropertyEdit::Move { from, to } if from.parent() == to.parent() => Reach::Lines(start..start),
        PropertyEdit::Move { .. } => Reach::Apart,
    };
    let is_move = matches!(edit, PropertyEdit::Move { .. });
    let is_rename = is_move && !matches!(reach, Reach::Apart);
    if !is_rename && ((is_move && at.has_anchors()) || tree.is_used_elsewhere(at)) {
        return Err(anchored());
    }
    let is_block = matches!(&at.content, Content::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. });
    let keeps_blank_lines = is_block && matches!(edit, PropertyEdit::Set { .. });
    Ok(Target { span: start..end, hint: hint(at), reach, keeps_blank_lines })
}

fn hint(node: &Node) -> Hint {
    match &node.content {
        Content::Scalar { style: ScalarStyle::SingleQuoted, .. } => Hint::Single,
        Content::Scalar { style: ScalarStyle::DoubleQuoted, .. } => Hint::Double,
        Content::Scalar { text, style: ScalarStyle::Plain } if looks_like_date(text) => Hint::Date,
        _ => Hint::None,
    }
}
