//! Text at the end of a note. A block id counts only at the end of its block, so text right after it would break it.

use lapidary_note::{Document, EditError, EditResult, FileContent};
use lapidary_operation::{Reason, quote::quoted};

use crate::{note_edit::NoteEdit, patching::edit_refusal};

pub struct AppendedText {
    pub document: Document,
    /// The side effect, if any.
    pub notice: Option<String>,
}

/// A note with text appended, and the side effect. Text after an unfinished line starts a new one, and a note that ends
/// with a line ending still does.
pub fn to_note(writing: &NoteEdit, content: &str) -> Result<(FileContent, Option<String>), Reason> {
    let Some(document) = writing.document_if_there()? else { return Ok((content.to_owned().into(), None)) };
    let shown = document.shown();
    // Appending nothing changes nothing, not even an unfinished line.
    let line_end = if shown.is_empty() || shown.ends_with('\n') || content.is_empty() { "" } else { "\n" };
    let last = if shown.ends_with('\n') && !content.is_empty() && !content.ends_with('\n') { "\n" } else { "" };
    let add = |content: &str| document.insert_at(shown.len(), &format!("{line_end}{content}{last}"));
    let AppendedText { document, notice } =
        appended(&document, content, true, add).map_err(|error| edit_refusal(writing.path(), &error))?;
    Ok((document.content().clone(), notice))
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
