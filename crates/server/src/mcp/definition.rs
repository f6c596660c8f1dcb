//! Tool definitions of the protocol.

use std::sync::Arc;

use lapidary_tools::{CORE_TOOLS, Catalogue, Effect, ToolGroup, ToolKind, ToolSpec};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::json;

/// A tool as clients see it, derived from its declaration.
pub(super) fn tool(spec: &ToolSpec, catalogue: &Catalogue, dotted_names: bool) -> Tool {
    let declaration = &spec.declaration;
    let name = declaration.dotted.filter(|_| dotted_names).unwrap_or(declaration.name);
    // What the app does is outside of the vault, even if it only shows something.
    let is_action = matches!(spec.kind, ToolKind::Action | ToolKind::Forward);
    let annotations = ToolAnnotations::with_title(declaration.title)
        .read_only(spec.effect == Effect::Read && !is_action)
        // Replacing content is destructive as far as the protocol is concerned; that it can be undone is up to us.
        .destructive(spec.effect != Effect::Read)
        .idempotent(declaration.idempotent)
        // So are the web and other servers.
        .open_world(is_action || matches!(declaration.group, ToolGroup::Web | ToolGroup::Mcp));
    let mut tool =
        Tool::new(name, spec.description().to_owned(), Arc::new(spec.listed_input(catalogue.lists_whole_schemas)));
    tool.title = Some(declaration.title.to_owned());
    tool.output_schema = Some(Arc::new(spec.listed_output()));
    let mut meta = MetaObject::new();
    meta.insert("anthropic/searchHint".to_owned(), json!(declaration.words));
    if CORE_TOOLS.contains(&declaration.name) {
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    }
    tool.meta = Some(meta);
    tool.annotate(annotations)
}
