//! The group `skill`: what only the Obsidian app can do.

pub(crate) mod obsidian_execute_command;
pub(crate) mod obsidian_list_commands;
pub(crate) mod obsidian_open_in_ui;
