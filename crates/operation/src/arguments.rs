//! Checks arguments against a schema: input with only one possible reading is repaired and reported, everything else is
//! refused with its place and the nearest known name.

mod step_form;

use std::collections::HashMap;

use lapidary_note::counted;
use lapidary_query::{nearest, words};
use serde_json::{Map, Value, json};

use crate::{
    ArgumentProblem, Reason, listed,
    quote::{Prose, quoted},
    reason::clipped,
    renamed::successor_of_argument,
};

pub use step_form::{TemplateFault, in_form_of, inserted_in_form_of};

/// Arguments that fit the schema, and the repairs that made them fit.
#[derive(Debug, PartialEq)]
pub struct CheckedArguments {
    pub arguments: Map<String, Value>,
    pub repairs: Vec<String>,
}

pub fn check_arguments(
    tool: &str,
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
) -> Result<CheckedArguments, Reason> {
    let mut check = ArgumentCheck::default();
    let arguments = check.object("", schema, arguments);
    if check.problems.is_empty() {
        return Ok(CheckedArguments { arguments, repairs: check.repairs });
    }
    // The first few are enough to go on, and an answer must not grow with bad input.
    check.problems.truncate(MOST_PROBLEMS);
    Err(Reason::InvalidArguments { tool: tool.to_owned(), problems: check.problems })
}

const MOST_PROBLEMS: usize = 10;

#[derive(Default)]
struct ArgumentCheck {
    problems: Vec<ArgumentProblem>,
    repairs: Vec<String>,
}

impl ArgumentCheck {
    fn problem(&mut self, at: &str, problem: impl Into<Prose>) {
        self.problems.push(ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None });
    }

    fn object(&mut self, at: &str, schema: &Map<String, Value>, given: Map<String, Value>) -> Map<String, Value> {
        let no_properties = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_properties);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let mut checked = Map::new();
        // Only an unknown key is compared with the known names.
        let has_unknown = closed && given.keys().any(|key| !properties.contains_key(key));
        // By words rather than letters, so `maxResults`, `max_results` and `max-results` are one spelling.
        let mut spellings: HashMap<Vec<String>, usize> = HashMap::new();
        for key in given.keys().filter(|_| has_unknown) {
            *spellings.entry(words(key)).or_default() += 1;
        }
        for (key, value) in given {
            let Some(name) = self.name(at, &key, properties, &spellings, closed) else { continue };
            // `null` for an optional argument means that it is omitted.
            let known = properties.get(&name);
            if value.is_null() && known.is_some() && !is_required(schema, &name) && !allows_null(known) {
                continue;
            }
            // So does an empty string, which many clients send for every field that a model left empty. An expected
            // hash has to be given.
            if value == "" && is_optional_text(known) && !is_required(schema, &name) && !name.starts_with("expected") {
                continue;
            }
            let place = join(at, &name);
            let value = match properties.get(&name) {
                Some(Value::Object(schema)) => self.value(&place, schema, value),
                _ => value,
            };
            checked.insert(name, value);
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            // A repaired or refused spelling has been dealt with above.
            if !checked.contains_key(name)
                // `nearest` says that this argument was sent under a wrong name; "is required" on top would mislead.
                && !self.problems.iter().any(|problem| problem.nearest.as_deref() == Some(name))
            {
                self.problem(&join(at, name), "is required");
            }
        }
        checked
    }

    /// The name of the argument that a key refers to.
    fn name(
        &mut self,
        at: &str,
        key: &str,
        properties: &Map<String, Value>,
        spellings: &HashMap<Vec<String>, usize>,
        closed: bool,
    ) -> Option<String> {
        // An open object takes any key, so nothing in it is misspelt.
        if properties.contains_key(key) || !closed {
            return Some(key.to_owned());
        }
        let meant = words(key);
        let mut folded = properties.keys().filter(|name| words(name) == meant);
        // Two spellings of one name are ambiguous: which of them counts?
        if let (Some(name), None, Some(1)) = (folded.next(), folded.next(), spellings.get(&meant)) {
            self.repairs.push(format!("{} was read as `{name}`", quoted(&join(at, key))));
            return Some(name.clone());
        }
        // Looking for the nearest name is the expensive part, and arguments may have thousands of unknown keys.
        if self.problems.len() >= MOST_PROBLEMS {
            return None;
        }
        // Before the nearest name, which for an argument of an older server may be a different one.
        let renamed = successor_of_argument(key).filter(|name| properties.contains_key(*name));
        let nearest = renamed.or_else(|| nearest(key, properties.keys().map(String::as_str))).map(str::to_owned);
        // Keys come from the caller, and may be of any length.
        let key: &str = &clipped(key);
        self.problems.push(ArgumentProblem {
            at: join(at, key),
            problem: "is not an argument of this tool".into(),
            nearest,
        });
        None
    }

    fn value(&mut self, at: &str, schema: &Map<String, Value>, given: Value) -> Value {
        if let Some(choices) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
            return self.choice(at, choices, given);
        }
        let Some(wanted) = schema.get("type").and_then(Value::as_str) else {
            self.constant(at, schema, &given);
            return given;
        };
        // Repaired first and checked afterwards, so that a repair cannot let through what the schema forbids.
        let given = if fits(wanted, &given) { given } else { self.repair(at, wanted, schema, given) };
        let given = if wanted == "integer" { whole(given) } else { given };
        if !fits(wanted, &given) {
            let article = if matches!(wanted, "object" | "integer" | "array") { "an" } else { "a" };
            self.problem(at, Prose::ours(format_args!("must be {article} {wanted}")));
            return given;
        }
        self.constant(at, schema, &given);
        match given {
            Value::Object(map) => Value::Object(self.object(at, schema, map)),
            Value::Array(items) => self.items(at, schema, items),
            Value::String(text) => self.text(at, schema, text),
            Value::Number(_) => self.number(at, schema, given),
            other => other,
        }
    }

    /// The first alternative that fits; otherwise the problems of the one that was most likely meant.
    fn choice(&mut self, at: &str, choices: &[Value], given: Value) -> Value {
        let mut best: Option<((bool, usize), Self)> = None;
        for choice in choices.iter().filter_map(Value::as_object) {
            // Repairs of an alternative that does not fit must not be reported.
            let mut attempt = Self::default();
            let value = attempt.value(at, choice, given.clone());
            if attempt.problems.is_empty() {
                self.repairs.extend(attempt.repairs);
                return value;
            }
            // An alternative of the right type was more likely meant than one of another.
            let right_type = choice.get("type").and_then(Value::as_str).is_none_or(|wanted| fits(wanted, &given));
            let rank = (!right_type, attempt.problems.len());
            if best.as_ref().is_none_or(|(best, _)| rank < *best) {
                best = Some((rank, attempt));
            }
        }
        self.problems.extend(best.map(|(_, attempt)| attempt.problems).unwrap_or_default());
        given
    }

    fn constant(&mut self, at: &str, schema: &Map<String, Value>, given: &Value) {
        let allowed = match (schema.get("enum"), schema.get("const")) {
            (Some(Value::Array(values)), _) => &values[..],
            (_, Some(value)) => std::slice::from_ref(value),
            _ => return,
        };
        if !allowed.contains(given) {
            let names: Vec<&str> = allowed.iter().filter_map(|value| value.as_str()).collect();
            let nearest = given.as_str().and_then(|text| nearest(text, names.iter().copied())).map(str::to_owned);
            let names: Vec<String> = names.iter().map(|name| quoted(name).to_string()).collect();
            let problem = Prose::ours(format_args!("must be {}", names.join(" or ")));
            self.problems.push(ArgumentProblem { at: at.to_owned(), problem, nearest });
        }
    }

    fn items(&mut self, at: &str, schema: &Map<String, Value>, items: Vec<Value>) -> Value {
        if let Some(fewest) =
            schema.get("minItems").and_then(Value::as_u64).and_then(|fewest| usize::try_from(fewest).ok())
            && items.len() < fewest
        {
            self.problem(at, Prose::ours(format_args!("must have at least {}", counted(fewest, "entry"))));
        }
        let Some(Value::Object(each)) = schema.get("items") else { return Value::Array(items) };
        items.into_iter().enumerate().map(|(index, item)| self.value(&format!("{at}[{index}]"), each, item)).collect()
    }

    fn text(&mut self, at: &str, schema: &Map<String, Value>, text: String) -> Value {
        // A file with one is no longer text and could not be edited afterwards.
        if text.contains('\0') {
            self.problem(at, "must not contain a NUL character");
        }
        if let Some(fewest) = schema.get("minLength").and_then(Value::as_u64)
            && (text.chars().count() as u64) < fewest
        {
            self.problem(at, "must not be empty");
        }
        Value::String(text)
    }

    fn number(&mut self, at: &str, schema: &Map<String, Value>, given: Value) -> Value {
        // Numbers beyond 2^53 are rounded here, which no limit in a schema comes near.
        let value = given.as_f64().unwrap_or_default();
        if let Some(least) = schema.get("minimum").and_then(Value::as_f64)
            && value < least
        {
            self.problem(at, Prose::ours(format_args!("must be >= {least}")));
        }
        if let Some(most) = schema.get("maximum").and_then(Value::as_f64)
            && value > most
        {
            self.problem(at, Prose::ours(format_args!("must be <= {most}")));
        }
        given
    }

    /// Clients send structured values as text, and one value where a list is expected. If only one reading is possible,
    /// it is used.
    fn repair(&mut self, at: &str, wanted: &str, schema: &Map<String, Value>, given: Value) -> Value {
        let Value::String(text) = &given else { return given };
        // Not for text: `"12"` is a valid string and stays one.
        let parsed = serde_json::from_str::<Value>(text).ok().filter(|value| wanted != "string" && fits(wanted, value));
        if let Some(value) = parsed {
            self.repairs.push(format!("{} came as text and was read as {wanted}", quoted(at)));
            return value;
        }
        match wanted {
            "array" if item_type(schema) == Some("string") => {
                self.repairs.push(format!("{} was read as a list of one", quoted(at)));
                json!([text])
            }
            "object" => match only_text_field(schema) {
                Some((name, mut object)) => {
                    // Values shown in a short form in the list need no notice.
                    if !schema.contains_key(listed::SHORT) {
                        self.repairs.push(format!("{} was read as its {}", quoted(at), quoted(&name)));
                    }
                    object.insert(name, json!(text));
                    Value::Object(object)
                }
                None => given,
            },
            _ => given,
        }
    }
}

fn fits(wanted: &str, value: &Value) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        _ => true,
    }
}

/// `2.0` means 2.
fn whole(value: Value) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
    match value.as_f64() {
        // Below 2^53 every whole `f64` is exact; above, it may not be the number that was sent.
        Some(number) if value.is_f64() && number.fract() == 0.0 && number.abs() < 9e15 => Value::from(number as i64),
        _ => value,
    }
}

fn item_type(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("items")?.get("type")?.as_str()
}

/// The one field of an object that a bare string can stand for, and the object's constant fields. If nothing is
/// required, it is the only field that takes any text.
fn only_text_field(schema: &Map<String, Value>) -> Option<(String, Map<String, Value>)> {
    let properties = schema.get("properties")?.as_object()?;
    let mut constants = Map::new();
    let mut texts = Vec::new();
    // Nothing is required, so the one free text field is the only thing that a bare string can mean.
    let Some(required) = schema.get("required").and_then(Value::as_array) else {
        let free = |field: &Value| field["type"] == "string" && field.get("enum").or(field.get("pattern")).is_none();
        let mut free = properties.iter().filter(|(_, field)| free(field)).map(|(name, _)| name.clone());
        return free.next().filter(|_| free.next().is_none()).map(|name| (name, constants));
    };
    for name in required.iter().filter_map(Value::as_str) {
        let field = properties.get(name)?;
        match field.get("const") {
            Some(value) => {
                constants.insert(name.to_owned(), value.clone());
            }
            None if field.get("type") == Some(&json!("string")) && field.get("enum").is_none() => texts.push(name),
            None => return None,
        }
    }
    match texts[..] {
        [name] => Some((name.to_owned(), constants)),
        _ => None,
    }
}

fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|required| required.contains(&json!(name)))
}

/// A field that takes only text, or text and `null`, and has no meaning when omitted.
fn is_optional_text(schema: Option<&Value>) -> bool {
    // With a default, an empty text and an omitted one do not mean the same.
    let Some(schema) = schema.filter(|schema| schema.get("default").is_none_or(Value::is_null)) else { return false };
    let is_text = |schema: &Value| schema["type"] == "string";
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let text_or_null = |choice: &Value| is_text(choice) || choice["type"] == "null";
    is_text(schema) || choices.is_some_and(|choices| choices.iter().all(text_or_null))
}

/// A field without a type takes any JSON, including `null`, and so does one that lists it.
fn allows_null(schema: Option<&Value>) -> bool {
    let says_nothing =
        |schema: &Value| ["type", "anyOf", "oneOf", "enum", "const"].iter().all(|key| schema.get(key).is_none());
    let lists_null =
        |schema: &Value| schema["anyOf"].as_array().is_some_and(|choices| choices.contains(&json!({ "type": "null" })));
    schema.is_some_and(|schema| says_nothing(schema) || lists_null(schema))
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

#[cfg(test)]
mod tests;
