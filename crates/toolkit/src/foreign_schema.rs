//! Arguments for a tool of another server, checked against its schema before anything is sent. The schema is a stranger's, so the
//! check has a limit of steps and of depth, runs none of its patterns and follows no reference out of it. What it does not
//! know it leaves to the server.

use lapidary_operation::{
    ArgumentProblem,
    quote::{Prose, quoted},
};
use serde_json::{Map, Value};

/// A small schema can ask for very many comparisons, by references to itself.
const MOST_STEPS: usize = 20_000;
const DEEPEST: usize = 32;
const MOST_PROBLEMS: usize = 5;
/// Choices that a message names.
const NAMED_CHOICES: usize = 12;

/// What is wrong with the arguments; nothing, as far as this can tell.
pub fn problems(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Vec<ArgumentProblem> {
    let mut check = SchemaCheck { root: schema, left: MOST_STEPS };
    let mut found = Vec::new();
    check.object(schema, arguments, "", 0, &mut found);
    let whole = Value::Object(arguments.clone());
    check.referred(schema, &whole, "", 0, &mut found);
    check.combined(schema, &whole, "", 0, &mut found);
    found.truncate(MOST_PROBLEMS);
    found
}

struct SchemaCheck<'s> {
    root: &'s Map<String, Value>,
    left: usize,
}

impl<'s> SchemaCheck<'s> {
    fn value(&mut self, schema: &'s Value, value: &Value, at: &str, depth: usize, found: &mut Vec<ArgumentProblem>) {
        if self.left == 0 || depth > DEEPEST || found.len() >= MOST_PROBLEMS {
            return;
        }
        self.left -= 1;
        let schema = match schema {
            Value::Bool(false) => return push(found, at, "is not accepted"),
            Value::Object(schema) => schema,
            _ => return,
        };
        self.referred(schema, value, at, depth, found);
        let before = found.len();
        check_type(schema, value, at, found);
        check_choices(schema, value, at, found);
        // What is within a value of the wrong type would only repeat that.
        if found.len() > before {
            return;
        }
        match value {
            Value::Object(object) => self.object(schema, object, at, depth, found),
            Value::Array(items) => {
                check_range(schema, items.len() as f64, ("minItems", "maxItems"), "items", at, found);
                for (index, item) in items.iter().enumerate().filter(|_| schema.contains_key("items")) {
                    self.value(&schema["items"], item, &format!("{at}[{index}]"), depth + 1, found);
                }
            }
            Value::String(text) => {
                let length = text.chars().count() as f64;
                check_range(schema, length, ("minLength", "maxLength"), "characters", at, found);
            }
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                check_range(schema, number, ("minimum", "maximum"), "", at, found);
            }
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(schema, value, at, depth, found);
    }

    fn object(
        &mut self,
        schema: &'s Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
        found: &mut Vec<ArgumentProblem>,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            self.left = self.left.saturating_sub(1);
            if self.left > 0 && !object.contains_key(name) {
                push(found, &joined(at, name), "is required");
            }
        }
        for (name, value) in object {
            match (properties.and_then(|properties| properties.get(name)), schema.get("additionalProperties")) {
                (Some(own), _) => self.value(own, value, &joined(at, name), depth + 1, found),
                // Patterns of names are not looked at, and could allow it.
                (None, Some(Value::Bool(false))) if !schema.contains_key("patternProperties") => {
                    let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                    let nearest = lapidary_query::nearest(name, known).map(str::to_owned);
                    let problem = Prose::from("is not an argument of the tool");
                    found.push(ArgumentProblem { at: joined(at, name), problem, nearest });
                }
                (None, Some(others @ Value::Object(_))) => {
                    self.value(others, value, &joined(at, name), depth + 1, found)
                }
                (None, _) => {}
            }
        }
    }

    /// Only within the schema itself: no other is ever fetched.
    fn referred(
        &mut self,
        schema: &'s Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
        found: &mut Vec<ArgumentProblem>,
    ) {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        if let Some(target) = target.and_then(|pointer| self.at(pointer)) {
            self.value(target, value, at, depth + 1, found);
        }
    }

    /// Schemas of which all, or one, have to fit.
    fn combined(
        &mut self,
        schema: &'s Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
        found: &mut Vec<ArgumentProblem>,
    ) {
        let branches = |key: &str| schema.get(key).and_then(Value::as_array);
        for branch in branches("allOf").into_iter().flatten() {
            self.value(branch, value, at, depth + 1, found);
        }
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(branches) {
            let mut fits = branches.is_empty();
            for branch in branches {
                let mut wrong = Vec::new();
                self.value(branch, value, at, depth + 1, &mut wrong);
                // Without steps left nothing is known, and the server decides.
                fits |= wrong.is_empty() || self.left == 0;
            }
            if !fits {
                push(found, at, "fits none of the forms that the schema allows");
            }
        }
    }

    fn at(&self, pointer: &str) -> Option<&'s Value> {
        let mut parts = pointer.strip_prefix('/')?.split('/').map(|part| part.replace("~1", "/").replace("~0", "~"));
        let mut value = self.root.get(&parts.next()?)?;
        for part in parts {
            value = match value {
                Value::Object(object) => object.get(&part)?,
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

fn joined(at: &str, name: &str) -> String {
    let name: String = name.chars().take(100).collect();
    if at.is_empty() { name } else { format!("{at}.{name}") }
}

fn push(found: &mut Vec<ArgumentProblem>, at: &str, problem: impl Into<Prose>) {
    found.push(ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None });
}

fn check_type(schema: &Map<String, Value>, value: &Value, at: &str, found: &mut Vec<ArgumentProblem>) {
    let wanted: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    const KNOWN: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        // In JSON Schema, `2.0` is an integer as well.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        // A word of a dialect that is not known here.
        _ => true,
    };
    if !wanted.is_empty() && !wanted.iter().any(|name| is(name)) {
        let words: Vec<&str> = KNOWN.into_iter().filter(|name| wanted.contains(name)).collect();
        push(found, at, Prose::ours(format!("must be of the type {}", words.join(" or "))));
    }
}

fn check_choices(schema: &Map<String, Value>, value: &Value, at: &str, found: &mut Vec<ArgumentProblem>) {
    let choices: &[Value] = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(choices)), _) => choices,
        (_, Some(only)) => std::slice::from_ref(only),
        _ => return,
    };
    // `1` and `1.0` are one number.
    let is_same = |choice: &Value| choice == value || (choice.is_number() && choice.as_f64() == value.as_f64());
    if !choices.iter().any(is_same) {
        let named = choices.iter().take(NAMED_CHOICES).map(|choice| match choice {
            Value::String(text) => quoted(text).to_string(),
            other => quoted(&other.to_string()).to_string(),
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if choices.len() > NAMED_CHOICES { " and others" } else { "" };
        push(found, at, Prose::ours(format!("must be one of {named}{more}")));
    }
}

fn check_range(
    schema: &Map<String, Value>,
    measured: f64,
    (least, most): (&str, &str),
    unit: &str,
    at: &str,
    found: &mut Vec<ArgumentProblem>,
) {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    if let Some(least) = bound(least).filter(|least| measured < *least) {
        push(found, at, Prose::ours(format!("must be at least {least}{unit}")));
    }
    if let Some(most) = bound(most).filter(|most| measured > *most) {
        push(found, at, Prose::ours(format!("must be at most {most}{unit}")));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn wrong(schema: Value, arguments: Value) -> Vec<String> {
        let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else { panic!("not objects") };
        let said = |problem: ArgumentProblem| format!("{} {}", problem.at, problem.problem);
        problems(&schema, &arguments).into_iter().map(said).collect()
    }

    #[test]
    fn arguments_that_cannot_be_right_are_named_with_their_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1 },
                "depth": { "type": ["integer", "null"], "minimum": 0, "maximum": 3 },
                "mode": { "enum": ["fast", "`slow`"] },
                "parts": { "type": "array", "items": { "$ref": "#/$defs/part" }, "maxItems": 2 },
                "either": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
            },
            "required": ["path"],
            "additionalProperties": false,
            "$defs": { "part": { "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } } },
        });
        let fine = json!({ "path": "a", "depth": 3.0, "mode": "fast", "parts": [{ "id": 1 }], "either": 2 });
        assert_eq!(wrong(schema.clone(), fine), Vec::<String>::new());
        for (arguments, expected) in [
            (json!({}), "path is required"),
            (json!({ "path": "" }), "path must be at least 1 characters"),
            (json!({ "path": 1 }), "path must be of the type string"),
            (json!({ "path": "a", "depth": 1.5 }), "depth must be of the type null or integer"),
            (json!({ "path": "a", "depth": 4 }), "depth must be at most 3"),
            (json!({ "path": "a", "mode": "slow" }), "mode must be one of `fast`, "),
            (json!({ "path": "a", "parts": [{ "id": "x" }] }), "parts[0].id must be of the type integer"),
            (json!({ "path": "a", "parts": [{}, {}, {}] }), "parts must be at most 2 items"),
            (json!({ "path": "a", "either": [] }), "either fits none of the forms"),
            (json!({ "path": "a", "paht": 1 }), "paht is not an argument"),
        ] {
            let said = wrong(schema.clone(), arguments.clone());
            assert!(said.iter().any(|said| said.starts_with(expected)), "{arguments}: {said:?}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let branches: Vec<Value> = (0..50).map(|_| json!({ "$ref": "#/$defs/a" })).collect();
        let bomb = json!({
            "properties": { "x": { "$ref": "#/$defs/a" } },
            "$defs": { "a": { "allOf": branches, "anyOf": branches, "$ref": "#/$defs/a" } },
        });
        assert_eq!(wrong(bomb, json!({ "x": [[1]] })), Vec::<String>::new());
        let loops = json!({ "properties": { "x": { "$ref": "#" } }, "required": [1, null], "items": 5, "enum": [] });
        assert_eq!(wrong(loops, json!({ "x": {} })), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn no_schema_breaks_the_check(schema in "[a-z{}\\[\\]\":,0-9$#/]{0,80}", value in 0u8..200) {
            if let Ok(Value::Object(schema)) = serde_json::from_str(&format!("{{\"properties\":{{\"x\":{schema}}}}}")) {
                let arguments = Map::from_iter([("x".to_owned(), json!(value))]);
                prop_assert!(problems(&schema, &arguments).len() <= MOST_PROBLEMS);
            }
        }
    }
}
