//! The names of blocks.

use super::{EditError, EditResult, TextChange};
use crate::{Block, Document, Note, blocks::is_block_id};

impl Document {
    /// Gives a block another id. Only the id changes.
    pub fn rename_block_id(&self, block: &Block, new_id: &str) -> Result<EditResult, EditError> {
        let new_id = valid(new_id)?;
        if !block.id.eq_ignore_ascii_case(new_id) {
            free(&self.note(), new_id)?;
        }
        self.write_block(block, TextChange::new(block.marker.clone(), format!("^{new_id}")), new_id)
    }
}

pub(super) fn valid(id: &str) -> Result<&str, EditError> {
    let id = id.strip_prefix('^').unwrap_or(id);
    if is_block_id(id) { Ok(id) } else { Err(EditError::BadBlockId { id: id.to_owned() }) }
}

pub(super) fn free(note: &Note<'_>, id: &str) -> Result<(), EditError> {
    let taken = note.blocks.iter().any(|block| block.id.eq_ignore_ascii_case(id));
    if taken { Err(EditError::BlockIdTaken { id: id.to_owned() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
