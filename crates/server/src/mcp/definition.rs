use std::sync::Arc;

use lapidary_tools::{CORE_TOOLS, Effect, Spec};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// A tool as clients see it, derived from its declaration.
pub(super) fn tool(spec: &Spec, dotted_names: bool) -> Tool {
    let declaration = &spec.declaration;
    let name = declaration.dotted.filter(|_| dotted_names).unwrap_or(declaration.name);
    let annotations = ToolAnnotations::with_title(declaration.title)
        .read_only(spec.effect == Effect::Read)
        // Replacing what is there destroys it as far as the protocol is concerned; that it can be undone is our affair.
        .destructive(spec.effect != Effect::Read)
        .idempotent(declaration.idempotent)
        .open_world(false);
    let mut tool = Tool::new(name, spec.description().to_owned(), Arc::new(slim(spec.input())));
    tool.title = Some(declaration.title.to_owned());
    tool.output_schema = Some(Arc::new(spec.output().clone()));
    let mut meta = MetaObject::new();
    meta.insert("anthropic/searchHint".to_owned(), json!(declaration.words));
    if CORE_TOOLS.contains(&declaration.name) {
        meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    }
    tool.meta = Some(meta);
    tool.annotate(annotations)
}

/// The schema without what a model can do without: every byte of it is read with every question, and calls are checked
/// against the whole schema anyway.
fn slim(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut slim = inner(schema);
    if let Some(closed) = schema.get("additionalProperties") {
        slim.insert("additionalProperties".to_owned(), closed.clone());
    }
    slim
}

fn inner(schema: &Map<String, Value>) -> Map<String, Value> {
    let slimmed = |value: &Value| match value {
        Value::Object(schema) => Value::Object(inner(schema)),
        other => other.clone(),
    };
    let kept = |(key, value): &(&String, &Value)| match (key.as_str(), *value) {
        ("additionalProperties", Value::Bool(_)) | ("default", Value::Bool(false)) => false,
        ("minLength", length) => *length != json!(1),
        _ => true,
    };
    let one = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                fields.iter().map(|(name, field)| (name.clone(), slimmed(field))).collect()
            }
            ("items", items) => slimmed(items),
            ("anyOf" | "oneOf", Value::Array(choices)) => choices.iter().map(slimmed).collect(),
            (_, value) => value.clone(),
        };
        (key.clone(), value)
    };
    schema.iter().filter(kept).map(one).collect()
}
