//! Text at the end of a note. A block id counts only at the end of its block, so text right after it would break it.

use lapidary_note::{Document, EditError, EditResult};
use lapidary_operation::quote::quoted;

pub struct AppendedText {
    pub document: Document,
    /// The side effect, if any.
    pub notice: Option<String>,
}

/// Appends text with `add`, after a blank line if the last block would otherwise lose its id. Text that is not added as
/// whole lines is added unchanged.
pub fn appended(
    document: &Document,
    content: &str,
    whole_lines: bool,
    add: impl Fn(&str) -> Result<EditResult, EditError>,
) -> Result<AppendedText, EditError> {
    let edited = add(content)?.document;
    let Some(id) = lost_id(document, &edited) else { return Ok(AppendedText { document: edited, notice: None }) };
    let shown = quoted(&format!("^{id}")).to_string();
    if whole_lines {
        let apart = add(&format!("\n{content}"))?.document;
        if lost_id(document, &apart).is_none() {
            let notice = format!("A blank line was added before the text so that {shown} remains the id of its block.");
            return Ok(AppendedText { document: apart, notice: Some(notice) });
        }
    }
    // The answer to every change says which ids it loses.
    Ok(AppendedText { document: edited, notice: None })
}

/// The id at the end of a text that no longer names a block.
fn lost_id(before: &Document, after: &Document) -> Option<String> {
    let note = before.note();
    // Only an id at the very end can be affected: everything before it stays as it is.
    let last = note.blocks.iter().find(|block| block.marker.end == before.shown().trim_end().len())?;
    let stays = after.note().blocks.iter().any(|block| block.marker == last.marker && block.kind == last.kind);
    (!stays).then(|| last.id.clone())
}
