//! The group `vault`: what exists, where it is and how it is linked.

pub(super) mod file_find;
pub(super) mod file_list;
pub(super) mod frontmatter_get;
pub(super) mod graph_neighbors;
pub(super) mod graph_path;
pub(super) mod links_get;
pub(super) mod links_unresolved;
pub(super) mod metadata_read;
pub(super) mod obsidian_list_notes;
pub(super) mod obsidian_list_tags;
pub(super) mod obsidian_search_notes;
pub(super) mod orphans;
pub(super) mod property_types;
pub(super) mod query;
pub(super) mod query_explain;
pub(super) mod schema_infer;
pub(super) mod search;
pub(super) mod search_content;
pub(super) mod sources_list;
pub(super) mod tags_list;
pub(super) mod tasks_list;
pub(super) mod template_list;
pub(super) mod vault_health_check;
pub(super) mod vault_info;
pub(super) mod vault_list;
