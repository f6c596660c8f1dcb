//! Schemas as the tool list shows them. Every byte of it is read with every prompt, and calls are checked against the
//! full schema anyway, so anything a model can do without is left out.

use serde_json::{Map, Value, json};

/// Marks, in a schema, the form that the list shows instead.
pub(crate) const SHORT: &str = "x-short";
/// Marks an argument that few calls need.
pub(crate) const RARE: &str = "x-rare";

/// Arguments that mean the same in all tools and are explained in the server's instructions.
const KNOWN: [&str; 4] = ["expectedHash", "dryRun", "expected_content_hash", "dry_run"];

/// Keywords about validation, which a refusal explains too.
const CHECKS: [&str; 6] = ["minimum", "maximum", "minItems", "minLength", "pattern", "additionalProperties"];

/// A description of one or two words only repeats the name of the argument.
const NOTHING_NEW: usize = 12;

/// An input schema as the list shows it. If the owner chose the tools, it is shown `whole`: a client may know them and
/// compare.
pub(crate) fn input(schema: &Map<String, Value>, whole: bool) -> Map<String, Value> {
    object(schema, whole)
}

/// An output schema as the list shows it: programs validate answers with it, models do not read it. What a part
/// of an answer must have, and the fields of what it lists, are left to the whole schema in the reference.
pub(crate) fn output(schema: &Map<String, Value>) -> Map<String, Value> {
    output_part(schema, true)
}

fn output_part(schema: &Map<String, Value>, is_top: bool) -> Map<String, Value> {
    let part = |value: &Value, is_top: bool| match value {
        Value::Object(schema) => Value::Object(output_part(schema, is_top)),
        other => other.clone(),
    };
    let one = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                fields.iter().map(|(name, field)| (name.clone(), part(field, false))).collect()
            }
            ("items", items) => row(items),
            // At the top these are an answer and an error, which differ only in what they require.
            ("anyOf" | "oneOf", Value::Array(choices)) => choices.iter().map(|choice| part(choice, is_top)).collect(),
            (_, value) => value.clone(),
        };
        (key.clone(), value)
    };
    let says_something = |(key, _): &(&String, &Value)| match key.as_str() {
        "description" | "minimum" => false,
        // At the top it says what every answer has; deeper it only repeats the types.
        "required" => is_top,
        _ => true,
    };
    schema.iter().filter(says_something).map(one).collect()
}

/// An element of a list in an answer: its kind alone. Its fields are half of all output schemas, and in the reference.
fn row(items: &Value) -> Value {
    let of_object = items.get("properties").is_some();
    let kind = Map::from_iter(items.get("type").map(|kind| ("type".to_owned(), kind.clone())));
    if of_object { Value::Object(kind) } else { items.clone() }
}

fn object(schema: &Map<String, Value>, whole: bool) -> Map<String, Value> {
    let mut listed = Map::new();
    for (key, value) in schema {
        let value = match (key.as_str(), value) {
            // Markers for this function, which are not JSON Schema.
            (RARE | SHORT, _) | ("default", Value::Bool(false)) => continue,
            // Every required text is expected not to be empty.
            ("minLength", length) if *length == json!(1) => continue,
            (key, _) if !whole && CHECKS.contains(&key) => continue,
            ("description", Value::String(text)) if !whole && text.len() <= NOTHING_NEW => continue,
            ("default", default) if !whole && is_nothing(default) => continue,
            ("properties", Value::Object(fields)) => fields
                .iter()
                .filter(|(_, field)| whole || field.get(RARE).is_none())
                .map(|(name, field)| (name.clone(), argument(name, field, whole)))
                .collect(),
            ("items", items) => any(items, whole),
            ("anyOf" | "oneOf", Value::Array(choices)) => choices.iter().map(|choice| any(choice, whole)).collect(),
            (_, value) => value.clone(),
        };
        listed.insert(key.clone(), value);
    }
    listed
}

/// A default that every reader expects.
fn is_nothing(default: &Value) -> bool {
    matches!(default, Value::Object(_)) || *default == json!([]) || *default == json!(0)
}

fn any(schema: &Value, whole: bool) -> Value {
    match schema {
        Value::Object(schema) => Value::Object(object(schema, whole)),
        other => other.clone(),
    }
}

fn argument(name: &str, schema: &Value, whole: bool) -> Value {
    let short = schema.get(SHORT).filter(|_| !whole);
    let mut listed = any(short.unwrap_or(schema), whole);
    // Their description is in the instructions, which a client has read once.
    if KNOWN.contains(&name)
        && let Value::Object(listed) = &mut listed
    {
        listed.remove("description");
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_leaves_out_what_a_model_can_do_without() {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "target": { "type": "object", "properties": { "path": { "type": "string" } }, "x-short": { "type": "string" } },
                "limit": { "type": "integer", "minimum": 1, "maximum": 9, "default": 5, "description": "How many of them." },
                "deep": { "type": "boolean", "default": false, "x-rare": true },
                "content": { "type": "string", "description": "What to add." },
                "dryRun": { "type": "boolean", "description": "Only show the diff." },
            },
            "required": ["target"],
        });
        let Value::Object(schema) = schema else { unreachable!() };
        let common = json!({
            "type": "object",
            "properties": {
                "target": { "type": "string" },
                "limit": { "type": "integer", "default": 5, "description": "How many of them." },
                "content": { "type": "string" },
                "dryRun": { "type": "boolean" },
            },
            "required": ["target"],
        });
        assert_eq!(Value::Object(input(&schema, false)), common);
        let whole = input(&schema, true);
        assert!(whole["properties"]["deep"].is_object() && whole["properties"]["target"]["type"] == "object");
        assert_eq!(whole["properties"]["limit"]["maximum"], 9);
    }
}
