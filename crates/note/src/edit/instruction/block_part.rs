//! Instructions about a named block. Its text is changed exactly as sent: the caller owns the joint.

use super::{
    DocumentEdit, DocumentParts, InstructionError, InstructionOperation, InstructionPayload, InstructionScope,
    PatchInstruction, document_parts::BlockSpan,
};
use crate::{
    edit::{block::row_of, block_id},
    text::plain_line_ends,
};

pub(super) fn edit(
    parts: &DocumentParts<'_>,
    block: BlockSpan,
    instruction: &PatchInstruction,
) -> Result<DocumentEdit, InstructionError> {
    let text = parts.text();
    // An id on the next line belongs to the block.
    let whole = block.content.start..block.content.end.max(block.marker.end);
    let new = match &instruction.payload {
        InstructionPayload::Text(new) => plain_line_ends(new).into_owned(),
        InstructionPayload::Rows(rows) => return rows_edit(parts, &block, instruction.operation, rows),
        _ => String::new(),
    };
    let adds = matches!(instruction.operation, InstructionOperation::Prepend | InstructionOperation::Append);
    // Compared without the blanks around it, which the caller may have added.
    if instruction.once && adds && !new.trim().is_empty() && text[whole.clone()].contains(new.trim()) {
        return Err(InstructionError::Preexists);
    }
    Ok(match (instruction.operation, instruction.scope) {
        (InstructionOperation::Delete, InstructionScope::Marker) => DocumentEdit::one(block.marker, ""),
        (InstructionOperation::Delete, InstructionScope::MarkerAndContent) => {
            let below = &text[whole.end..];
            let lines = below.len() - below.trim_start_matches('\n').len();
            // With the blank line below, but never more than one.
            DocumentEdit::one(whole.start..whole.end + lines.min(2), "")
        }
        (_, InstructionScope::Marker) => {
            let id = block_id::valid(&new)?;
            let marker = &text[block.marker.clone()];
            // The blanks before the id stay.
            let blanks = &marker[..marker.find('^').unwrap_or_default()];
            DocumentEdit::one(block.marker.clone(), format!("{blanks}^{id}"))
        }
        (InstructionOperation::Replace, InstructionScope::MarkerAndContent) => DocumentEdit::one(whole, new),
        (InstructionOperation::Prepend, InstructionScope::MarkerAndContent) => {
            DocumentEdit::one(whole.start..whole.start, format!("{new}\n\n"))
        }
        (InstructionOperation::Append, InstructionScope::MarkerAndContent) => {
            DocumentEdit::one(whole.end..whole.end, format!("\n\n{new}"))
        }
        (InstructionOperation::Replace | InstructionOperation::Delete, _) => DocumentEdit::one(block.content, new),
        (InstructionOperation::Prepend, _) => DocumentEdit::one(block.content.start..block.content.start, new),
        (InstructionOperation::Append, _) => DocumentEdit::one(block.content.end..block.content.end, new),
    })
}

/// Rows of a table below its head.
fn rows_edit(
    parts: &DocumentParts<'_>,
    block: &BlockSpan,
    operation: InstructionOperation,
    rows: &[Vec<String>],
) -> Result<DocumentEdit, InstructionError> {
    let table = &parts.text()[block.content.clone()];
    let mut line_ends = table.match_indices('\n').map(|(at, _)| at);
    let (true, Some(head)) = (block.is_table, line_ends.next()) else {
        return Err(InstructionError::Impossible("rows can only be given to a table"));
    };
    // Behind the line that separates the head from the rows.
    let body = block.content.start + line_ends.next().unwrap_or(table.len());
    let mut new = String::new();
    for cells in rows {
        new += &format!("\n{}", row_of(&table[..head], cells)?);
    }
    let end = block.content.end;
    Ok(match operation {
        InstructionOperation::Prepend => DocumentEdit::one(body..body, new),
        InstructionOperation::Append => DocumentEdit::one(end..end, new),
        InstructionOperation::Replace | InstructionOperation::Delete => DocumentEdit::one(body..end, new),
    })
}
