//! The arguments of a tool in one line, for readers that do not need a JSON schema.

use serde_json::{Map, Value};

/// For example `file: string, occurrence?: unique|all|integer`; required ones come first.
pub(super) fn of(schema: &Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|needed| needed == name));
    let fields = schema.get("properties").and_then(Value::as_object);
    let mut shown: Vec<(bool, String)> = Vec::new();
    for (name, schema) in fields.into_iter().flatten() {
        let needed = is_required(name);
        shown.push((!needed, format!("{name}{}: {}", if needed { "" } else { "?" }, kind(schema))));
    }
    shown.sort_by_key(|(optional, _)| *optional);
    shown.into_iter().map(|(_, argument)| argument).collect::<Vec<_>>().join(", ")
}

// The schemas are the tools' own, so the recursion is only as deep as they are.
fn kind(schema: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let choices = |of: &[Value], shown: &dyn Fn(&Value) -> String| of.iter().map(shown).collect::<Vec<_>>().join("|");
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(value) = schema.get("const") {
        return plain(value);
    }
    if let Some(values) = list("enum") {
        return choices(values, &plain);
    }
    // Both are alternatives to a reader, whatever a validator makes of them.
    if let Some(either) = list("anyOf").or_else(|| list("oneOf")) {
        return choices(either, &kind);
    }
    match (schema.get("type"), schema.as_object(), schema.get("items")) {
        (Some(Value::String(name)), Some(fields), _) if name == "object" && fields.contains_key("properties") => {
            format!("{{ {} }}", of(fields))
        }
        (Some(Value::String(name)), _, Some(items)) if name == "array" => match kind(items) {
            // Without brackets only the last choice would seem to be a list.
            item if item.contains('|') && !item.starts_with('{') => format!("({item})[]"),
            item => format!("{item}[]"),
        },
        (Some(Value::Array(names)), ..) => choices(names, &plain),
        (Some(name), ..) => plain(name),
        (None, ..) => "any".to_owned(),
    }
}
