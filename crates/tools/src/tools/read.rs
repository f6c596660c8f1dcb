pub(super) mod file_read;
pub(super) mod links_get;
pub(super) mod metadata_read;
pub(super) mod obsidian_get_note;
