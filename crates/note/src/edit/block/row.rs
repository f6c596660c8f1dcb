//! Cells and outer pipes of a table row.

use super::{EditError, marker::BlockMarker};

/// The table row with other cells, keeping its outer pipes.
pub(super) fn replaced(old: &str, content: &str, marker: &BlockMarker<'_>) -> Result<String, EditError> {
    if content.contains('\n') {
        return Err(EditError::SeveralLines);
    }
    let (old_cells, new_cells) = (inner(old), inner(content));
    let (expected, found) = (columns(old_cells), columns(new_cells));
    if expected != found {
        return Err(EditError::Columns { expected, found });
    }
    let lead = &old[..lead(old)];
    if marker.is_inside() {
        return Ok(format!("{lead}{new_cells}{}{}", marker.tail, marker.rest));
    }
    let body = &old[lead.len()..];
    let trail = &body[old_cells.len().min(body.len())..];
    Ok(format!("{lead}{new_cells}{trail}"))
}

/// The length of the outer pipe at the start of a row, with the blanks around it.
pub(super) fn lead(row: &str) -> usize {
    let unpadded = row.trim_start();
    // Only one outer pipe: a second one is an empty cell.
    row.len() - unpadded.strip_prefix('|').unwrap_or(unpadded).trim_start().len()
}

/// The cells of a row without its outer pipes.
pub(super) fn inner(row: &str) -> &str {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row).trim_start();
    match row.strip_suffix('|') {
        Some(rest) if !rest.ends_with('\\') => rest.trim_end(),
        _ => row,
    }
}

/// A pipe after a backslash is text.
pub(super) fn columns(cells: &str) -> usize {
    let mut escaped = false;
    let separates = |byte: u8| {
        let is_pipe = byte == b'|' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_pipe
    };
    1 + cells.bytes().map(separates).filter(|separates| *separates).count()
}
