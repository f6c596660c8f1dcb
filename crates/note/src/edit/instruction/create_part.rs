//! Parts that an instruction creates.

use super::{
    DocumentEdit, DocumentParts, InstructionError, InstructionOperation, InstructionPayload, InstructionScope,
    PatchInstruction, heading_part::gap_above, relevelled,
};
use crate::{
    edit::{TextChange, block_id},
    text::plain_line_ends,
};

/// The missing headings of a path below the last that exists, and the text under the last of them.
pub(super) fn heading(
    parts: &DocumentParts<'_>,
    path: &[String],
    instruction: &PatchInstruction,
) -> Result<DocumentEdit, InstructionError> {
    let new = new_text(instruction)?;
    // The control character numbers equal names in the document map, so such a name can only refer to a part.
    if path.iter().any(|name| name.trim().is_empty() || name.contains(['\n', '\r', '\u{1f}'])) {
        return Err(InstructionError::TargetMissing);
    }
    // The whole document is the parent of last resort: an empty path always exists.
    let known = (0..path.len()).rev().find_map(|known| Some((known, parts.section(&path[..known])?)));
    let (known, parent) = known.ok_or(InstructionError::TargetMissing)?;
    let text = parts.text();
    let mut added = gap_above(text, parent.end).to_owned();
    let mut too_deep = Vec::new();
    let mut level = parent.level;
    for name in &path[known..] {
        level += 1;
        // Written all the same: the answer says which headings are text now.
        if level > 6 {
            too_deep.push((name.clone(), level));
        }
        added += &format!("{} {}\n", "#".repeat(level), name.trim());
    }
    let (body, deeper) = relevelled(&plain_line_ends(new), isize::try_from(level).unwrap_or_default());
    too_deep.extend(deeper);
    let body = body.trim_matches('\n').trim_end();
    if !body.is_empty() {
        added += &format!("\n{body}\n");
    }
    if parent.end < text.len() {
        added.push('\n');
    }
    Ok(DocumentEdit { changes: vec![TextChange::new(parent.end..parent.end, added)], too_deep })
}

/// A named paragraph at the end of the document.
pub(super) fn block(
    parts: &DocumentParts<'_>,
    id: &str,
    instruction: &PatchInstruction,
) -> Result<DocumentEdit, InstructionError> {
    let new = new_text(instruction)?;
    let id = block_id::valid(id)?;
    let text = parts.text();
    let new = plain_line_ends(new);
    let new = format!("{}{} ^{id}\n", gap_above(text, text.len()), new.trim_matches('\n').trim_end());
    Ok(DocumentEdit::one(text.len()..text.len(), new))
}

fn new_text(instruction: &PatchInstruction) -> Result<&str, InstructionError> {
    match (instruction.operation, instruction.scope, &instruction.payload) {
        (InstructionOperation::Delete, ..) | (_, InstructionScope::Parent, _) => Err(InstructionError::TargetMissing),
        (_, InstructionScope::Content, InstructionPayload::Text(text)) => Ok(text),
        _ => Err(InstructionError::Impossible("only text can be put into a part that is created")),
    }
}
