use std::sync::Arc;

use lapidary_tools::{Effect, Spec};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// That an object within the arguments has no other fields is checked here; to say so each time costs a model more than
/// it tells.
fn without_closings(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("additionalProperties") == Some(&Value::Bool(false)) {
                map.shift_remove("additionalProperties");
            }
            map.values_mut().for_each(without_closings);
        }
        Value::Array(items) => items.iter_mut().for_each(without_closings),
        _ => {}
    }
}

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
    let mut input = spec.input.clone();
    input.values_mut().for_each(without_closings);
    let mut tool = Tool::new(name, spec.description.clone(), Arc::new(input));
    tool.title = Some(declaration.title.to_owned());
    tool.output_schema = Some(Arc::new(spec.output.clone()));
    let mut meta = MetaObject::new();
    meta.insert("anthropic/searchHint".to_owned(), json!(declaration.words));
    tool.meta = Some(meta);
    tool.annotate(annotations)
}
