//! Schemas as clients want them: plain, inlined, without constructs that some clients fail on.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::Effect;

pub(crate) fn input<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = generate::<T>(SchemaSettings::for_deserialize);
    // An empty list of arguments is still an object, and closed.
    schema.entry("properties").or_insert_with(|| json!({}));
    // Types made of other types cannot declare it themselves.
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// The schema of a tool's answer: its output, or the error of either family, which strict clients validate too.
pub(crate) fn output<T: JsonSchema>(effect: Effect) -> Map<String, Value> {
    // Fields that are omitted when empty are not required.
    let mut schema = generate::<T>(SchemaSettings::for_serialize);
    // The doc comment of an output type is for us.
    schema.remove("description");
    // Moved into `anyOf` below: an answer has all of these, an error has none.
    let required = schema.remove("required").unwrap_or_else(|| json!([]));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // The executor adds these to the answer of any tool.
        properties.insert("notice".to_owned(), json!({ "type": "string" }));
        properties.insert("error".to_owned(), json!({ "type": "object" }));
        if effect != Effect::Read {
            properties.insert("diff".to_owned(), json!({ "type": "string" }));
            properties.insert("checkpoint".to_owned(), json!({ "type": "string" }));
        }
    }
    schema.insert("anyOf".to_owned(), json!([{ "required": required }, { "required": ["error"] }]));
    schema
}

pub(crate) fn any_object() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), json!("object"))])
}

/// Adds a required argument that takes one of the given words.
pub(crate) fn require_choice(schema: &mut Map<String, Value>, name: &str, description: &str, words: &[String]) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), json!({ "type": "string", "enum": words, "description": description }));
    }
    if let Value::Array(required) = schema.entry("required").or_insert_with(|| json!([])) {
        required.push(json!(name));
    }
}

fn generate<T: JsonSchema>(direction: fn(SchemaSettings) -> SchemaSettings) -> Map<String, Value> {
    // Inlined, without `$ref`: several clients do not follow references.
    let settings = direction(SchemaSettings::draft2020_12()).with(|settings| {
        settings.inline_subschemas = true;
        // MCP assumes this dialect where a schema names none.
        settings.meta_schema = None;
    });
    match clean(SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value()) {
        Value::Object(schema) => schema,
        _ => any_object(),
    }
}

/// Removes titles and number formats (checkers warn about them), turns "or null" into "may be omitted", and lists of
/// constants into enumerations.
fn clean(schema: Value) -> Value {
    let Value::Object(schema) = schema else { return json!({ "anyOf": any_type() }) };
    let mut cleaned = Map::new();
    for (key, value) in schema {
        let value = match (key.as_str(), value) {
            // Omitted booleans are expected to be off.
            // Some validators refuse formats that they do not know, such as `uint`.
            ("title" | "$schema" | "format", _) | ("default", Value::Null | Value::Bool(false)) => continue,
            ("description", Value::String(text)) => json!(unwrap_lines(&text)),
            ("properties", Value::Object(properties)) => {
                properties.into_iter().map(|(name, schema)| (name, clean(schema))).collect()
            }
            ("type", Value::Array(types)) => without_null(types),
            ("anyOf" | "oneOf", Value::Array(choices)) => {
                let choices: Vec<Value> =
                    choices.into_iter().filter(|choice| *choice != json!({ "type": "null" })).map(clean).collect();
                cleaned.extend(one_of(&key, choices));
                continue;
            }
            ("items", schema) => clean(schema),
            (_, value) => value,
        };
        cleaned.insert(key, value);
    }
    // Only a description is left: any JSON is meant.
    if cleaned.keys().all(|key| key == "description") {
        cleaned.insert("anyOf".to_owned(), any_type());
    }
    Value::Object(cleaned)
}

/// Spells out "anything": checkers treat an empty schema as a mistake.
fn any_type() -> Value {
    ["string", "number", "boolean", "object", "array", "null"].map(|name| json!({ "type": name })).into_iter().collect()
}

fn without_null(types: Vec<Value>) -> Value {
    let mut types: Vec<Value> = types.into_iter().filter(|name| *name != json!("null")).collect();
    if types.len() == 1 { types.remove(0) } else { Value::Array(types) }
}

fn one_of(key: &str, mut choices: Vec<Value>) -> Map<String, Value> {
    // "This or null" became one choice, which is then not a choice.
    if let (1, Some(Value::Object(only))) = (choices.len(), choices.first_mut()) {
        return std::mem::take(only);
    }
    Map::from_iter([(key.to_owned(), Value::Array(choices))])
}

/// Line breaks in a doc comment are the editor's; only an empty line is meant.
fn unwrap_lines(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}
