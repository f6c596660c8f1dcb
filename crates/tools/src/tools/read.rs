pub(super) mod file_read;
pub(super) mod obsidian_get_note;
