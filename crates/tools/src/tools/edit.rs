pub(super) mod obsidian_append_to_note;
pub(super) mod obsidian_manage_frontmatter;
pub(super) mod obsidian_manage_tags;
pub(super) mod obsidian_patch_note;
pub(super) mod obsidian_replace_in_note;
pub(super) mod obsidian_write_note;
pub(super) mod str_replace;
