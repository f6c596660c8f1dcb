//! Instructions about a section.

use std::ops::Range;

use super::{
    DestinationPlace, DocumentEdit, DocumentParts, InstructionError, InstructionOperation, InstructionPayload,
    InstructionScope, PatchInstruction, SectionDestination, document_parts::SectionSpan, relevelled,
};
use crate::edit::TextChange;

pub(super) fn edit(
    parts: &DocumentParts<'_>,
    section: &SectionSpan,
    instruction: &PatchInstruction,
) -> Result<DocumentEdit, InstructionError> {
    if let Some(within) = instruction.within {
        return within_edit(parts, section, within, instruction);
    }
    match (instruction.operation, instruction.scope, &instruction.payload) {
        (_, InstructionScope::Parent, InstructionPayload::Destination(destination)) => {
            moved(parts, section, destination)
        }
        (InstructionOperation::Delete, scope, _) => deleted(parts, section, scope),
        (operation, InstructionScope::Content, InstructionPayload::Text(text)) => {
            content(parts, section, operation, text, instruction.once)
        }
        (operation, InstructionScope::Marker, InstructionPayload::Text(text)) => {
            renamed(parts, section, operation, text)
        }
        (operation, InstructionScope::MarkerAndContent, InstructionPayload::Text(text)) => {
            whole(parts, section, operation, text, instruction.once)
        }
        _ => Err(InstructionError::Impossible("this payload does not fit the operation")),
    }
}

/// New text in its final form: no blank lines around it, one line end at its end.
fn fragment(text: &str, level: usize) -> (String, Vec<(String, usize)>) {
    let (text, too_deep) = relevelled(&crate::text::plain_line_ends(text), isize::try_from(level).unwrap_or_default());
    let is_blank = |line: &&str| line.trim().is_empty();
    let lead: usize = text.split_inclusive('\n').take_while(is_blank).map(str::len).sum();
    let kept = text[lead..].trim_end();
    // One line end, whatever was sent.
    (if kept.is_empty() { String::new() } else { format!("{kept}\n") }, too_deep)
}

/// The line ends that are missing for a blank line above a place.
pub(super) fn gap_above(text: &str, at: usize) -> &'static str {
    match &text[..at] {
        "" => "",
        // A blank line is there already.
        above if above.ends_with("\n\n") => "",
        above if above.ends_with('\n') => "\n",
        _ => "\n\n",
    }
}

/// The line end that is missing for new text to begin a line.
fn line_end_above(text: &str, at: usize) -> &'static str {
    if at == 0 || text[..at].ends_with('\n') { "" } else { "\n" }
}

fn gap_below(text: &str, at: usize) -> &'static str {
    if at == text.len() || text[at..].starts_with('\n') { "" } else { "\n" }
}

fn content(
    parts: &DocumentParts<'_>,
    section: &SectionSpan,
    operation: InstructionOperation,
    new: &str,
    once: bool,
) -> Result<DocumentEdit, InstructionError> {
    let text = parts.text();
    let Range { start, end } = section.content;
    let (new, too_deep) = fragment(new, section.level);
    refuse_twice(&text[start..end], &new, operation, once)?;
    let is_empty = text[start..end].trim().is_empty();
    // The blank lines under the heading stay; an empty text takes them along.
    let is_blank = |line: &&str| line.trim().is_empty();
    let lead: usize = text[start..end].split_inclusive('\n').take_while(is_blank).map(str::len).sum();
    let first = if new.is_empty() { start } else { start + lead };
    let (span, new) = match operation {
        InstructionOperation::Prepend if new.is_empty() => (first..first, new),
        InstructionOperation::Prepend => {
            // An empty section has nothing below that the text could run into.
            let below = if is_empty { "" } else { gap_below(text, first) };
            (first..first, format!("{}{new}{below}", line_end_above(text, first)))
        }
        InstructionOperation::Append if new.is_empty() => (end..end, new),
        InstructionOperation::Append => {
            let above = if is_empty { line_end_above(text, end) } else { gap_above(text, end) };
            (end..end, format!("{above}{new}"))
        }
        // From the first text on, so that the blank line under the heading stays.
        InstructionOperation::Replace | InstructionOperation::Delete => {
            let above = if new.is_empty() { "" } else { line_end_above(text, first) };
            (first..end, format!("{above}{new}"))
        }
    };
    Ok(DocumentEdit { changes: vec![TextChange::new(span, new)], too_deep })
}

fn refuse_twice(part: &str, new: &str, operation: InstructionOperation, once: bool) -> Result<(), InstructionError> {
    let adds = matches!(operation, InstructionOperation::Prepend | InstructionOperation::Append);
    match once && adds && !new.trim().is_empty() && part.contains(new.trim()) {
        true => Err(InstructionError::Preexists),
        false => Ok(()),
    }
}

fn renamed(
    parts: &DocumentParts<'_>,
    section: &SectionSpan,
    operation: InstructionOperation,
    new: &str,
) -> Result<DocumentEdit, InstructionError> {
    let Some(heading) = section.index.and_then(|index| parts.note.headings.get(index)) else {
        return Err(InstructionError::Impossible("the document itself has no heading"));
    };
    let old = heading.text.trim();
    let name = match operation {
        InstructionOperation::Prepend => format!("{new}{old}"),
        InstructionOperation::Append => format!("{old}{new}"),
        InstructionOperation::Replace | InstructionOperation::Delete => new.to_owned(),
    };
    // A heading at the end of the file may have no line end.
    let end = if parts.text()[section.marker.clone()].ends_with('\n') { "\n" } else { "" };
    Ok(DocumentEdit::one(section.marker.clone(), format!("{} {name}{end}", "#".repeat(section.level))))
}

/// The section with its heading, or a new one beside it.
fn whole(
    parts: &DocumentParts<'_>,
    section: &SectionSpan,
    operation: InstructionOperation,
    new: &str,
    once: bool,
) -> Result<DocumentEdit, InstructionError> {
    let text = parts.text();
    let (new, too_deep) = fragment(new, parts.parent_level(section));
    let old = section.marker.start..section.content.end;
    refuse_twice(&text[old.clone()], &new, operation, once)?;
    let span = match operation {
        InstructionOperation::Replace | InstructionOperation::Delete => old,
        _ if section.index.is_none() => {
            return Err(InstructionError::Impossible("nothing can be put beside the document itself"));
        }
        InstructionOperation::Prepend => old.start..old.start,
        InstructionOperation::Append => section.end..section.end,
    };
    // A heading needs no blank line to be one; other text would continue the paragraph above.
    let begins_with_heading = new.trim_start_matches('#').starts_with(' ') && new.starts_with('#');
    let above = match new.is_empty() {
        true => "",
        false if begins_with_heading && operation != InstructionOperation::Append => line_end_above(text, span.start),
        false => gap_above(text, span.start),
    };
    let below =
        if operation == InstructionOperation::Replace || new.is_empty() { "" } else { gap_below(text, span.end) };
    let new = format!("{above}{new}{below}");
    Ok(DocumentEdit { changes: vec![TextChange::new(span, new)], too_deep })
}

fn deleted(
    parts: &DocumentParts<'_>,
    section: &SectionSpan,
    scope: InstructionScope,
) -> Result<DocumentEdit, InstructionError> {
    match scope {
        InstructionScope::Content => Ok(DocumentEdit::one(section.content.clone(), "")),
        InstructionScope::MarkerAndContent | InstructionScope::Parent => {
            Ok(DocumentEdit::one(section.marker.start..section.end, ""))
        }
        InstructionScope::Marker => dissolved(parts, section),
    }
}

/// Takes a heading away. Sections under it move up a level, unless one before it takes them in.
fn dissolved(parts: &DocumentParts<'_>, section: &SectionSpan) -> Result<DocumentEdit, InstructionError> {
    let Some(index) = section.index else {
        return Err(InstructionError::Impossible("the document itself has no heading"));
    };
    let headings = &parts.note.headings;
    let mut siblings = parts.children(headings[index].parent).take_while(|sibling| *sibling < index);
    // A sibling of the same level before it takes its sections in, so their level stays.
    let is_first = !siblings.any(|sibling| headings[sibling].level == headings[index].level);
    let mut edit = DocumentEdit::one(section.marker.clone(), "");
    let first_child = parts.children(Some(index)).next().filter(|_| is_first);
    if let Some(child) = first_child {
        let span = headings[child].own.start..section.content.end;
        let (text, too_deep) = relevelled(&parts.text()[span.clone()], -1);
        edit.changes.push(TextChange::new(span, text));
        edit.too_deep = too_deep;
    }
    Ok(edit)
}

fn moved(
    parts: &DocumentParts<'_>,
    section: &SectionSpan,
    destination: &SectionDestination,
) -> Result<DocumentEdit, InstructionError> {
    let Some(index) = section.index else {
        return Err(InstructionError::Impossible("the document itself cannot be moved"));
    };
    let parent = parts.section(&destination.parent).ok_or(InstructionError::TargetMissing)?;
    let mut above = parent.index;
    // Up from the new parent: if the section itself is above it, the move would be a circle.
    while let Some(ancestor) = above {
        if ancestor == index {
            return Err(InstructionError::Impossible("a section cannot be moved below itself"));
        }
        above = parts.note.headings[ancestor].parent;
    }
    let at = place(parts, &parent, &destination.place)?;
    let text = parts.text();
    let deeper =
        isize::try_from(parent.level + 1).unwrap_or_default() - isize::try_from(section.level).unwrap_or_default();
    let (new, too_deep) = relevelled(&text[section.marker.start..section.content.end], deeper);
    // With its blank lines, which would otherwise pile up in the old place.
    let gone = section.marker.start..section.end;
    let new = format!("{}\n", new.trim_end_matches('\n'));
    // Where it is already, only its level can change.
    if (gone.start..=gone.end).contains(&at) {
        let below = &text[section.content.end..section.end];
        return Ok(DocumentEdit { changes: vec![TextChange::new(gone, format!("{new}{below}"))], too_deep });
    }
    let new = format!("{}{new}{}", gap_above(text, at), gap_below(text, at));
    // Both are positions in the old text, so their order does not matter.
    Ok(DocumentEdit { changes: vec![TextChange::new(gone, ""), TextChange::new(at..at, new)], too_deep })
}

/// Where a section is put among those under a parent.
fn place(parts: &DocumentParts<'_>, parent: &SectionSpan, place: &DestinationPlace) -> Result<usize, InstructionError> {
    let headings = &parts.note.headings;
    let mut children = parts.children(parent.index);
    match place {
        DestinationPlace::First => Ok(children.next().map_or(parent.own_end, |first| headings[first].own.start)),
        DestinationPlace::Last => Ok(children.last().map_or(parent.own_end, |last| headings[last].section.end)),
        DestinationPlace::Before(path) | DestinationPlace::After(path) => {
            let beside = parts.section(path).ok_or(InstructionError::PlaceMissing)?;
            let is_child = beside.index.is_some() && parts.parent(&beside) == parent.index;
            match (is_child, place) {
                (false, _) => Err(InstructionError::PlaceMissing),
                (true, DestinationPlace::Before(_)) => Ok(beside.marker.start),
                (true, _) => Ok(beside.end),
            }
        }
    }
}

/// One block of the section's own text. Its text is changed exactly as sent: the caller owns the joint.
fn within_edit(
    parts: &DocumentParts<'_>,
    section: &SectionSpan,
    within: i64,
    instruction: &PatchInstruction,
) -> Result<DocumentEdit, InstructionError> {
    let text = parts.text();
    let blocks = parts.own_blocks(section);
    let count = i64::try_from(blocks.len()).unwrap_or(i64::MAX);
    // Negative numbers count from the end.
    let index = if within < 0 { count + within } else { within };
    let block = usize::try_from(index).ok().and_then(|index| blocks.get(index).cloned());
    let block = block.ok_or(InstructionError::BlockMissing { blocks: blocks.len() })?;
    let new = match &instruction.payload {
        InstructionPayload::Text(new) => crate::text::plain_line_ends(new).into_owned(),
        _ => String::new(),
    };
    refuse_twice(&text[block.clone()], &new, instruction.operation, instruction.once)?;
    Ok(match (instruction.operation, instruction.scope) {
        (InstructionOperation::Delete, InstructionScope::MarkerAndContent) => {
            let below = &text[block.end..];
            let lines = below.len() - below.trim_start_matches('\n').len();
            DocumentEdit::one(block.start..block.end + lines.min(2), "")
        }
        (InstructionOperation::Replace | InstructionOperation::Delete, _) => DocumentEdit::one(block, new),
        (InstructionOperation::Prepend, InstructionScope::MarkerAndContent) => {
            DocumentEdit::one(block.start..block.start, format!("{}\n\n", new.trim_end_matches('\n')))
        }
        (InstructionOperation::Append, InstructionScope::MarkerAndContent) => {
            DocumentEdit::one(block.end..block.end, format!("\n\n{}", new.trim_matches('\n')))
        }
        (InstructionOperation::Prepend, _) => DocumentEdit::one(block.start..block.start, new),
        (InstructionOperation::Append, _) => DocumentEdit::one(block.end..block.end, new),
    })
}
