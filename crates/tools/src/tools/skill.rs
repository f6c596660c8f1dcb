pub(super) mod obsidian_open_in_ui;
