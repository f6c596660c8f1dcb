pub(super) mod obsidian_write_note;
pub(super) mod str_replace;
