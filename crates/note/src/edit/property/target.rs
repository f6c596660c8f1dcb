//! The part of the YAML that an edit may change.

use std::ops::Range;

use super::{PropertyEdit, PropertyError, path::position, render::ScalarStyle};
use crate::{
    NodeContent, YamlNode,
    edit::{lines::whole_lines, shared_ends},
    span::{is_blank_line, line_end},
    yaml::YamlDocument,
};

/// The part of the YAML text that an edit may change.
pub(super) struct YamlTarget {
    /// The value and the name before it. Empty if there is no such property yet.
    pub(super) span: Range<usize>,
    /// What the edit may write to.
    reach: EditReach,
    pub(super) hint: ScalarStyle,
    /// The value is a block of text and gets another one.
    keeps_blank_lines: bool,
}

enum EditReach {
    /// The lines of this span and nothing else.
    Lines(Range<usize>),
    /// Any single place, where something is inserted and nothing is removed.
    Insertion,
    /// Two places, whose values and comments are compared.
    Apart,
}

impl YamlTarget {
    /// Restores the blank lines below a replaced block of text that are not part of it.
    pub(super) fn with_blank_lines(&self, old: &str, mut new: String) -> String {
        let EditReach::Lines(span) = &self.reach else { return new };
        let lines = whole_lines(old, span.clone());
        let text = old[lines.clone()].trim_end_matches('\n').len() + 1;
        let blank = lines.len().saturating_sub(text);
        let end = new.len().saturating_sub(old.len() - lines.end);
        // The next property would otherwise move up to the new text.
        let is_lost = new.get(..end).is_some_and(|kept| kept.ends_with('\n') && !kept.ends_with("\n\n"));
        if self.keeps_blank_lines && blank > 0 && is_lost {
            new.insert_str(end, &"\n".repeat(blank));
        }
        new
    }

    /// Whether every other byte of the YAML is unchanged.
    pub(super) fn is_all_that_changed(&self, old: &str, new: &str) -> bool {
        match &self.reach {
            EditReach::Lines(span) => {
                let lines = whole_lines(old, span.clone());
                let (before, after) = (&old[..lines.start], &old[lines.end..]);
                new.len() >= before.len() + after.len() && new.starts_with(before) && new.ends_with(after)
            }
            EditReach::Insertion => {
                let (prefix, suffix) = shared_ends(old, new);
                // What both share at the start and at the end together is all of the old text, so nothing of it is
                // gone.
                prefix + suffix >= old.len()
            }
            EditReach::Apart => true,
        }
    }
}

/// Finds what an edit addresses and refuses values that others depend on.
pub(super) fn addressed(
    yaml: &str,
    document: &YamlDocument,
    edit: &PropertyEdit<'_>,
) -> Result<YamlTarget, PropertyError> {
    let anchored = || PropertyError::Anchored { path: edit.path().to_string() };
    let nothing =
        |reach: EditReach| YamlTarget { span: 0..0, hint: ScalarStyle::None, reach, keeps_blank_lines: false };
    let Some(root) = document.root.as_ref() else { return Ok(nothing(EditReach::Insertion)) };
    let mut at = root;
    let mut start = at.span.start;
    let mut parent: Option<Range<usize>> = None;
    for segment in edit.path().segments() {
        // Whatever is below an anchor that is used changes in two places.
        if document.is_used(at) || matches!(at.content, NodeContent::Alias(_)) {
            return Err(anchored());
        }
        let next = match &at.content {
            NodeContent::Map(entries) => {
                entries.iter().find(|entry| entry.key == segment).map(|entry| (entry.key_span.start, &entry.value))
            }
            NodeContent::List(items) => {
                position(segment).and_then(|at| items.get(at)).map(|item| (item.span.start, item))
            }
            // An empty value becomes a map.
            NodeContent::Scalar(_) => return Ok(nothing(EditReach::Lines(start..at.span.end.max(start)))),
            NodeContent::Alias(_) => None,
        };
        let Some((next_start, next)) = next else { return Ok(nothing(EditReach::Insertion)) };
        parent = (!std::ptr::eq(at, root)).then(|| start..end(yaml, at).max(start));
        (start, at) = (next_start, next);
    }
    let end = end(yaml, at).max(start);
    let reach = match edit {
        // Without its last item a list is written `[]`, and without its first a map may start on another line.
        PropertyEdit::Delete { .. } => EditReach::Lines(parent.unwrap_or(start..end)),
        PropertyEdit::Set { .. } => EditReach::Lines(start..end),
        PropertyEdit::Append { .. } if matches!(at.content, NodeContent::List(_)) => EditReach::Insertion,
        PropertyEdit::Append { .. } => EditReach::Lines(start..end),
        // Only the name changes, so only its own line may.
        PropertyEdit::Move { from, to } if from.parent() == to.parent() => EditReach::Lines(start..start),
        PropertyEdit::Move { .. } => EditReach::Apart,
    };
    let is_move = matches!(edit, PropertyEdit::Move { .. });
    let is_rename = is_move && !matches!(reach, EditReach::Apart);
    if !is_rename && ((is_move && document.has_anchors(at)) || document.is_used_elsewhere(at)) {
        return Err(anchored());
    }
    let keeps_blank_lines = is_block_text(yaml, at) && matches!(edit, PropertyEdit::Set { .. });
    Ok(YamlTarget { span: start..end, hint: hint(yaml, at), reach, keeps_blank_lines })
}

/// Where a value ends. yaml-edit counts blank lines below a block of text as part of it, which they may be.
fn end(yaml: &str, node: &YamlNode) -> usize {
    match &node.content {
        NodeContent::List(items) if !yaml[..node.span.end].ends_with(']') => {
            items.last().map_or(node.span.end, |item| end(yaml, item).max(node.span.end))
        }
        NodeContent::Map(entries) if !yaml[..node.span.end].ends_with('}') => {
            entries.last().map_or(node.span.end, |entry| end(yaml, &entry.value).max(node.span.end))
        }
        _ if is_block_text(yaml, node) => {
            let below = |at: usize| (line_end(yaml, at) + 1).min(yaml.len());
            let mut end = below(node.span.end);
            while end < yaml.len() && is_blank_line(yaml, end) {
                end = below(end);
            }
            end
        }
        _ => node.span.end,
    }
}

/// `|` or `>` and the lines below it.
fn is_block_text(yaml: &str, node: &YamlNode) -> bool {
    matches!(node.content, NodeContent::Scalar(_)) && yaml[node.span.clone()].starts_with(['|', '>'])
}

fn hint(yaml: &str, node: &YamlNode) -> ScalarStyle {
    match (&node.content, yaml[node.span.clone()].chars().next()) {
        (NodeContent::Scalar(_), Some('\'')) => ScalarStyle::Single,
        (NodeContent::Scalar(_), Some('"')) => ScalarStyle::Double,
        _ => ScalarStyle::None,
    }
}
