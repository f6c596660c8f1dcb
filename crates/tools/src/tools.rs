//! The list of tools. A new one is a file, a `mod` line in its group, and a line here.

mod agent;
mod edit;
mod read;
mod skill;
mod vault;

use lapidary_operation::{Agent, AnyTool, Batched, Read, Relay, ToolSet, Write};

use crate::definitions::definition;

/// All tools, by group, in the order in which clients and the reference list them.
pub const TOOLS: &[&dyn AnyTool] = &[
    &Read(read::obsidian_get_note::ObsidianGetNote),
    &Read(read::notes_read::NotesRead),
    &Read(read::file_read::FileRead),
    &Read(read::file_read_range::FileReadRange),
    &Read(read::outline::Outline),
    &Read(read::heading_find::HeadingFind),
    &Read(read::block_find::BlockFind),
    &Read(read::file_diff::FileDiff),
    &Read(read::checkpoint_list::CheckpointList),
    &Read(read::checkpoint_read::CheckpointRead),
    &Read(read::checkpoint_diff::CheckpointDiff),
    &Read(vault::obsidian_list_notes::ObsidianListNotes),
    &Read(vault::obsidian_list_tags::ObsidianListTags),
    &Read(vault::obsidian_search_notes::ObsidianSearchNotes),
    &Agent(vault::vault_list::VaultList),
    &Read(vault::vault_info::VaultInfo),
    &Read(vault::file_list::FileList),
    &Read(vault::file_find::FileFind),
    &Read(vault::frontmatter_get::FrontmatterGet),
    &Read(vault::metadata_read::MetadataRead),
    &Read(vault::tags_list::TagsList),
    &Read(vault::links_get::LinksGet),
    &Read(vault::search_content::SearchContent),
    &Write(edit::obsidian_write_note::ObsidianWriteNote),
    &Write(edit::obsidian_delete_note::ObsidianDeleteNote),
    &Write(edit::obsidian_append_to_note::ObsidianAppendToNote),
    &Write(edit::obsidian_patch_note::ObsidianPatchNote),
    &Write(edit::obsidian_replace_in_note::ObsidianReplaceInNote),
    &Write(edit::obsidian_manage_frontmatter::ObsidianManageFrontmatter),
    &Write(edit::obsidian_manage_tags::ObsidianManageTags),
    &Write(edit::str_replace::StrReplace),
    &Write(edit::apply_edits::ApplyEdits),
    &Write(edit::apply_patch::ApplyPatch),
    &Write(edit::lines_replace::LinesReplace),
    &Write(edit::lines_insert::LinesInsert),
    &Write(edit::heading_replace_body::HeadingReplaceBody),
    &Write(edit::heading_rename::HeadingRename),
    &Write(edit::block_replace::BlockReplace),
    &Write(edit::block_rename::BlockRename),
    &Write(edit::frontmatter_set::FrontmatterSet),
    &Write(edit::frontmatter_delete::FrontmatterDelete),
    &Write(edit::frontmatter_update::FrontmatterUpdate),
    &Write(edit::file_create::FileCreate),
    &Write(edit::file_replace::FileReplace),
    &Write(edit::file_append::FileAppend),
    &Write(edit::file_move::FileMove),
    &Write(edit::file_delete::FileDelete),
    &Write(edit::undo::Undo),
    &Write(edit::checkpoint_restore::CheckpointRestore),
    &Write(edit::tag_rename::TagRename),
    &Write(edit::regex_replace::RegexReplace),
    &Batched(edit::bulk_apply::BulkApply),
    &Agent(agent::find_tool::FindTool),
    &Relay(agent::call_tool::CallTool),
    &Read(agent::operation_log::OperationLog),
    &Read(skill::obsidian_open_in_ui::ObsidianOpenInUi),
];

/// The same with their definitions, as a catalogue takes them.
pub const TOOL_SET: ToolSet = ToolSet { tools: TOOLS, definition };

#[cfg(test)]
mod tests;
