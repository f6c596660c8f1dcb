//! The list of tools. A new one is a file, a `mod` line in its group, and a line here.

mod agent;
pub(crate) mod edit;
mod mcp;
mod memory;
mod read;
mod recipe;
mod script;
pub(crate) mod skill;
mod vault;
mod web;

use lapidary_operation::{
    ActionEntry, AgentEntry, AnyTool, BatchedEntry, ForwardEntry, MissingSetting, ReadEntry, RelayEntry, StepsEntry,
    ToolSet, WriteEntry,
};

use crate::{definitions::definition, operations::INTERNAL};

/// The settings that some tools cannot do without.
pub const NO_MEMORY: MissingSetting = MissingSetting { key: "memory_folder", needed_by: "memory" };
pub const NO_SCHEMAS: MissingSetting = MissingSetting { key: "schema_folder", needed_by: "schema_save" };
pub const NO_RECIPES: MissingSetting = MissingSetting { key: "recipe_folder", needed_by: "recipe" };
pub const NO_SCRIPTS: MissingSetting = MissingSetting { key: "scripts", needed_by: "script" };
pub const NO_WEB_PAGES: [MissingSetting; 2] = [
    MissingSetting { key: "web.hosts", needed_by: "web_fetch" },
    MissingSetting { key: "web.hosts", needed_by: "web_clip" },
];
pub const NO_SERVERS: MissingSetting = MissingSetting { key: "mcp.servers", needed_by: "mcp" };
pub const NO_WEB_SEARCH: MissingSetting = MissingSetting { key: "web.search_url", needed_by: "web_search" };

/// All tools, by group, in the order in which clients and the reference list them.
pub const TOOLS: &[&dyn AnyTool] = &[
    &ReadEntry(read::obsidian_get_note::ObsidianGetNote),
    &ReadEntry(read::notes_read::NotesRead),
    &ReadEntry(read::note_context::NoteContext),
    &ReadEntry(read::file_read::FileRead),
    &ReadEntry(read::file_read_range::FileReadRange),
    &ReadEntry(read::outline::Outline),
    &ReadEntry(read::vault_guide::VaultGuide),
    &ReadEntry(read::heading_find::HeadingFind),
    &ReadEntry(read::block_find::BlockFind),
    &ReadEntry(read::file_diff::FileDiff),
    &ReadEntry(read::changes::Changes),
    &ReadEntry(read::checkpoint_list::CheckpointList),
    &ReadEntry(read::checkpoint_read::CheckpointRead),
    &ReadEntry(read::checkpoint_diff::CheckpointDiff),
    &ReadEntry(read::canvas_read::CanvasRead),
    &ReadEntry(read::attachment_read::AttachmentRead),
    &ReadEntry(read::fetch::FetchTool),
    &ReadEntry(vault::obsidian_list_notes::ObsidianListNotes),
    &ReadEntry(vault::obsidian_list_tags::ObsidianListTags),
    &ReadEntry(vault::obsidian_search_notes::ObsidianSearchNotes),
    &ReadEntry(vault::query::QueryTool),
    &ReadEntry(vault::query_explain::QueryExplain),
    &ReadEntry(vault::tasks_list::TasksList),
    &ReadEntry(vault::template_list::TemplateList),
    &ReadEntry(vault::sources_list::SourcesList),
    &AgentEntry(vault::vault_list::VaultList),
    &ReadEntry(vault::vault_info::VaultInfo),
    &ReadEntry(vault::file_list::FileList),
    &ReadEntry(vault::file_find::FileFind),
    &ReadEntry(vault::frontmatter_get::FrontmatterGet),
    &ReadEntry(vault::metadata_read::MetadataRead),
    &ReadEntry(vault::tags_list::TagsList),
    &ReadEntry(vault::property_types::PropertyTypes),
    &ReadEntry(vault::schema_infer::SchemaInfer),
    &ReadEntry(vault::links_get::LinksGet),
    &ReadEntry(vault::links_unresolved::LinksUnresolved),
    &ReadEntry(vault::orphans::Orphans),
    &ReadEntry(vault::graph_neighbors::GraphNeighbors),
    &ReadEntry(vault::graph_path::GraphPath),
    &ReadEntry(vault::vault_health_check::VaultHealthCheck),
    &ReadEntry(vault::semantic_search::SemanticSearch),
    &ReadEntry(vault::answer_context::AnswerContext),
    &ReadEntry(vault::related_notes::RelatedNotes),
    &ReadEntry(vault::duplicates_find::DuplicatesFind),
    &ReadEntry(vault::search_content::SearchContent),
    &ReadEntry(vault::search::SearchTool),
    &WriteEntry(edit::obsidian_write_note::ObsidianWriteNote),
    &WriteEntry(edit::obsidian_delete_note::ObsidianDeleteNote),
    &WriteEntry(edit::obsidian_append_to_note::ObsidianAppendToNote),
    &WriteEntry(edit::daily_note::DailyNote),
    &WriteEntry(edit::obsidian_patch_note::ObsidianPatchNote),
    &WriteEntry(edit::obsidian_replace_in_note::ObsidianReplaceInNote),
    &WriteEntry(edit::obsidian_manage_frontmatter::ObsidianManageFrontmatter),
    &WriteEntry(edit::obsidian_manage_tags::ObsidianManageTags),
    &WriteEntry(edit::str_replace::StrReplace),
    &WriteEntry(edit::apply_edits::ApplyEdits),
    &WriteEntry(edit::apply_patch::ApplyPatch),
    &WriteEntry(edit::lines_replace::LinesReplace),
    &WriteEntry(edit::lines_insert::LinesInsert),
    &WriteEntry(edit::heading_replace_body::HeadingReplaceBody),
    &WriteEntry(edit::heading_rename::HeadingRename),
    &WriteEntry(edit::section_move::SectionMove),
    &WriteEntry(edit::block_replace::BlockReplace),
    &WriteEntry(edit::block_rename::BlockRename),
    &WriteEntry(edit::frontmatter_set::FrontmatterSet),
    &WriteEntry(edit::frontmatter_delete::FrontmatterDelete),
    &WriteEntry(edit::frontmatter_update::FrontmatterUpdate),
    &WriteEntry(edit::file_create::FileCreate),
    &WriteEntry(edit::file_replace::FileReplace),
    &WriteEntry(edit::file_append::FileAppend),
    &WriteEntry(edit::file_move::FileMove),
    &WriteEntry(edit::file_delete::FileDelete),
    &WriteEntry(edit::undo::Undo),
    &WriteEntry(edit::checkpoint_restore::CheckpointRestore),
    &WriteEntry(edit::base_create::BaseCreate),
    &WriteEntry(edit::base_update::BaseUpdate),
    &WriteEntry(edit::task_update::TaskUpdate),
    &WriteEntry(edit::note_create::NoteCreate),
    &WriteEntry(edit::template_apply::TemplateApply),
    &WriteEntry(edit::canvas_edit::CanvasEdit),
    &WriteEntry(edit::canvas_generate::CanvasGenerate),
    &WriteEntry(edit::drawing_create::DrawingCreate),
    &WriteEntry(edit::document_create::DocumentCreate),
    &WriteEntry(edit::attachment_add::AttachmentAdd),
    &WriteEntry(edit::zip_extract::ZipExtract),
    &WriteEntry(edit::source_ingest::SourceIngest),
    &WriteEntry(edit::link_suggest::LinkSuggest),
    &WriteEntry(edit::tag_rename::TagRename),
    &WriteEntry(edit::regex_replace::RegexReplace),
    &WriteEntry(edit::vault_health_fix::VaultHealthFix),
    &WriteEntry(edit::schema_save::SchemaSave),
    &BatchedEntry(edit::bulk_apply::BulkApply),
    &AgentEntry(agent::find_tool::FindTool),
    &RelayEntry(agent::call_tool::CallTool),
    &ReadEntry(agent::operation_log::OperationLog),
    &ActionEntry(skill::obsidian_open_in_ui::ObsidianOpenInUi),
    &ReadEntry(skill::obsidian_list_commands::ObsidianListCommands),
    &ActionEntry(skill::obsidian_execute_command::ObsidianExecuteCommand),
    &ReadEntry(memory::memory_recall::MemoryRecall),
    &WriteEntry(memory::memory_save::MemorySave),
    &ReadEntry(recipe::recipe_list::RecipeList),
    &ReadEntry(recipe::recipe_show::RecipeShow),
    &WriteEntry(recipe::recipe_create::RecipeCreate),
    &WriteEntry(recipe::recipe_update::RecipeUpdate),
    &WriteEntry(recipe::recipe_delete::RecipeDelete),
    &StepsEntry(recipe::recipe_run::RecipeRun),
    &StepsEntry(script::tools_script::ToolsScript),
    &ReadEntry(web::web_fetch::WebFetch),
    &WriteEntry(web::web_clip::WebClip),
    &ReadEntry(web::web_search::WebSearch),
    &AgentEntry(mcp::mcp_tools::McpTools),
    &ForwardEntry(mcp::mcp_call::McpCall),
];

/// The same with their definitions, for the catalogue.
pub const TOOL_SET: ToolSet = ToolSet { tools: TOOLS, internal: INTERNAL, definition };

#[cfg(test)]
mod tests;
