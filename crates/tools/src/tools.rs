//! The list of tools. A new one is a file, a `mod` line in its group, and a line here.

mod agent;
mod edit;
mod read;

use crate::spec::{Agent, AnyTool, Read, Relay, Write};

/// All tools, by group, in the order in which clients and the reference list them.
pub const TOOLS: &[&dyn AnyTool] = &[
    &Read(read::obsidian_get_note::ObsidianGetNote),
    &Read(read::obsidian_list_notes::ObsidianListNotes),
    &Read(read::obsidian_list_tags::ObsidianListTags),
    &Read(read::obsidian_search_notes::ObsidianSearchNotes),
    &Read(read::obsidian_open_in_ui::ObsidianOpenInUi),
    &Agent(read::vault_list::VaultList),
    &Read(read::vault_info::VaultInfo),
    &Read(read::file_list::FileList),
    &Read(read::file_find::FileFind),
    &Read(read::file_read::FileRead),
    &Read(read::metadata_read::MetadataRead),
    &Read(read::tags_list::TagsList),
    &Read(read::links_get::LinksGet),
    &Read(read::search_content::SearchContent),
    &Write(edit::obsidian_write_note::ObsidianWriteNote),
    &Write(edit::obsidian_append_to_note::ObsidianAppendToNote),
    &Write(edit::obsidian_patch_note::ObsidianPatchNote),
    &Write(edit::obsidian_replace_in_note::ObsidianReplaceInNote),
    &Write(edit::obsidian_manage_frontmatter::ObsidianManageFrontmatter),
    &Write(edit::obsidian_manage_tags::ObsidianManageTags),
    &Write(edit::str_replace::StrReplace),
    &Agent(agent::find_tool::FindTool),
    &Relay(agent::call_tool::CallTool),
];

#[cfg(test)]
mod tests;
