//! The group `skill`: what only the Obsidian app can do.

pub(super) mod obsidian_execute_command;
pub(super) mod obsidian_list_commands;
pub(super) mod obsidian_open_in_ui;
