//! The group `read`: file contents, present and past.

pub(super) mod attachment_read;
pub(super) mod block_find;
pub(super) mod canvas_read;
pub(super) mod changes;
pub(super) mod checkpoint_diff;
pub(super) mod checkpoint_list;
pub(super) mod checkpoint_read;
pub(super) mod fetch;
pub(super) mod file_diff;
pub(super) mod file_read;
pub(super) mod file_read_range;
pub(super) mod heading_find;
pub(super) mod note_context;
pub(super) mod notes_read;
pub(super) mod obsidian_get_note;
pub(super) mod outline;
pub(super) mod vault_guide;
