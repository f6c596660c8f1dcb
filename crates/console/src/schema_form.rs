//! A form for the arguments of a tool, made from its input schema, and the arguments in a form that comes back.

use serde_json::{Map, Value};

use crate::shown_text::ShownText;

/// The fields of a tool, required ones first.
pub struct ArgumentForm {
    pub fields: Vec<ArgumentField>,
}

pub struct ArgumentField {
    /// The argument; escaped by the template.
    pub name: String,
    pub about: ShownText,
    pub kind: FieldKind,
    pub is_required: bool,
    /// Whether an empty field is a mistake: an empty text may well be meant.
    pub must_be_filled: bool,
    /// As typed; escaped by the template.
    pub value: String,
    /// What is wrong with what was typed.
    pub problem: Option<&'static str>,
}

/// How an argument is typed.
pub enum FieldKind {
    /// A path, a name, a hash.
    Line,
    /// Text of any length.
    Text,
    Number {
        is_whole: bool,
        least: Option<String>,
        most: Option<String>,
    },
    /// One of several values.
    Choice(Vec<ArgumentChoice>),
    /// Objects, lists, and what may have several types.
    Json,
}

/// A value to choose.
pub struct ArgumentChoice {
    pub shown: String,
    /// What is sent: the text alone does not tell `1` from `"1"`.
    value: Value,
}

impl ArgumentForm {
    /// `lines` are the arguments whose texts have one line.
    pub fn new(schema: &Map<String, Value>, lines: &[&str]) -> Self {
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let field = |(name, schema): (&String, &Value)| {
            let is_required = required.iter().any(|known| known == name.as_str());
            let kind = kind_of(schema, lines.contains(&name.as_str()));
            // An empty text can be meant where the schema does not forbid it, as in a replacement that deletes.
            let may_be_empty = matches!(kind, FieldKind::Text) && schema["minLength"].as_u64().unwrap_or_default() == 0;
            ArgumentField {
                name: name.clone(),
                about: ShownText::line(&about(schema)),
                kind,
                is_required,
                must_be_filled: is_required && !may_be_empty,
                value: String::new(),
                problem: None,
            }
        };
        let mut fields: Vec<ArgumentField> = properties.map(field).collect();
        // The sort is stable, so that the order of the schema stays within both parts.
        fields.sort_by_key(|field| !field.is_required);
        Self { fields }
    }

    /// Puts arguments into the fields. What is not a text is written as JSON.
    #[must_use]
    pub fn filled(mut self, arguments: &Map<String, Value>) -> Self {
        for field in &mut self.fields {
            let Some(value) = arguments.get(&field.name) else { continue };
            field.value = match (&field.kind, value) {
                // A text that would be read as JSON is shown with its quotes, so that it comes back as a text.
                (FieldKind::Json, Value::String(text)) if !reads_as_text(text) => value.to_string(),
                (_, Value::String(text)) => text.clone(),
                (FieldKind::Json, _) => format!("{value:#}"),
                _ => value.to_string(),
            };
        }
        self
    }

    /// Whether the fields can express these arguments, and no others.
    pub fn fits(&self, arguments: &Map<String, Value>) -> bool {
        // A form that cannot express an argument would drop it silently; such a call is shown as JSON instead.
        let field = |name: &str| self.fields.iter().find(|field| field.name == name);
        arguments.iter().all(|(name, value)| {
            field(name).is_some_and(|field| match &field.kind {
                // A field of one line loses line breaks, and every form turns a lone `\r` into `\r\n`.
                FieldKind::Line => value.as_str().is_some_and(|text| !text.contains(['\n', '\r'])),
                FieldKind::Text => value.as_str().is_some_and(|text| !text.contains('\r')),
                FieldKind::Number { .. } => value.is_number(),
                FieldKind::Choice(choices) => choices.iter().any(|choice| choice.value == *value),
                FieldKind::Json => true,
            })
        })
    }

    /// Takes what was typed, which the form then shows again. `None` if a field cannot be read; the field says why.
    pub fn read<'f>(&mut self, typed: impl Fn(&str) -> Option<&'f str>) -> Option<Map<String, Value>> {
        let mut arguments = Map::new();
        for field in &mut self.fields {
            // Forms send line ends as `\r\n`, whatever was typed.
            field.value = typed(&field.name).unwrap_or_default().replace("\r\n", "\n");
            match field.argument() {
                Ok(value) => arguments.extend(value.map(|value| (field.name.clone(), value))),
                Err(problem) => field.problem = Some(problem),
            }
        }
        self.fields.iter().all(|field| field.problem.is_none()).then_some(arguments)
    }
}

impl ArgumentField {
    /// The name of its field in the form.
    pub fn field_name(&self) -> String {
        format!("argument-{}", self.name)
    }

    /// How many lines a text is shown in.
    pub(crate) fn rows(&self) -> usize {
        const MOST: usize = 16;
        let least = if matches!(self.kind, FieldKind::Json) { 3 } else { 2 };
        self.value.lines().count().clamp(least, MOST)
    }

    fn argument(&self) -> Result<Option<Value>, &'static str> {
        let typed = self.value.trim();
        match &self.kind {
            // An empty text is one, where there has to be one.
            FieldKind::Line | FieldKind::Text if !self.value.is_empty() || self.is_required => {
                Ok(Some(Value::String(self.value.clone())))
            }
            // An empty field is an argument left out, not an empty value.
            _ if typed.is_empty() => Ok(None),
            // Read as JSON, so that `1e3` and `-0.5` are what a client would send.
            FieldKind::Number { .. } => match serde_json::from_str(typed) {
                Ok(number @ Value::Number(_)) => Ok(Some(number)),
                _ => Err("This is not a number."),
            },
            FieldKind::Choice(choices) => {
                let chosen = choices.iter().find(|choice| choice.shown == typed);
                chosen.map(|choice| Some(choice.value.clone())).ok_or("This is not one of the values.")
            }
            FieldKind::Json => match serde_json::from_str(typed) {
                Ok(value) => Ok(Some(value)),
                // Forgotten quotes are the usual mistake in a field that also takes text.
                Err(_) if reads_as_text(typed) => Ok(Some(Value::String(self.value.clone()))),
                Err(_) => Err("This is not JSON."),
            },
            FieldKind::Line | FieldKind::Text => Ok(None),
        }
    }
}

/// Whether a text in a field for JSON is meant as a text: it does not even begin like JSON.
fn reads_as_text(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !text.starts_with(['{', '[', '"']) && serde_json::from_str::<Value>(text).is_err()
}

fn about(schema: &Value) -> String {
    let mut about = schema["description"].as_str().unwrap_or_default().replace('`', "");
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        about = format!("{about} By default {default}.").trim_start().to_owned();
    }
    about
}

fn kind_of(schema: &Value, is_line: bool) -> FieldKind {
    if let Some(values) = schema["enum"].as_array() {
        // `null` means that the argument may be left out, which an empty field says already.
        return choice(values.iter().filter(|value| !value.is_null()));
    }
    let bound = |name: &str| schema.get(name).filter(|bound| bound.is_number()).map(Value::to_string);
    match schema["type"].as_str() {
        // A pattern describes a name, a hash or a date, and each of these is one line.
        Some("string") if is_line || schema.get("pattern").is_some() => FieldKind::Line,
        Some("string") => FieldKind::Text,
        Some("boolean") => choice([Value::Bool(true), Value::Bool(false)].iter()),
        Some(number @ ("integer" | "number")) => {
            FieldKind::Number { is_whole: number == "integer", least: bound("minimum"), most: bound("maximum") }
        }
        // Also `anyOf`, a list of types and a missing type: no field of a form fits those.
        _ => FieldKind::Json,
    }
}

fn choice<'v>(values: impl Iterator<Item = &'v Value>) -> FieldKind {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    FieldKind::Choice(values.map(|value| ArgumentChoice { shown: shown(value), value: value.clone() }).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn form() -> ArgumentForm {
        let schema = json!({
            "properties": {
                "note": { "type": "string", "description": "Which `note`." },
                "text": { "type": "string" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 20 },
                "mode": { "enum": ["all", "one", null] },
                "dry": { "type": "boolean" },
                "target": { "type": "object" },
                "tags": { "type": "array" },
            },
            "required": ["text", "target"],
        });
        ArgumentForm::new(schema.as_object().unwrap(), &["note"])
    }

    fn read(typed: &[(&str, &str)]) -> (ArgumentForm, Option<Value>) {
        let typed: BTreeMap<&str, &str> = typed.iter().copied().collect();
        let mut form = form();
        let read = form.read(|name| typed.get(name).copied());
        (form, read.map(Value::Object))
    }

    #[test]
    fn required_fields_come_first_and_every_type_has_its_field() {
        let form = form();
        let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["text", "target", "note", "limit", "mode", "dry", "tags"]);
        let of = |name: &str| form.fields.iter().find(|field| field.name == name).unwrap();
        assert!(matches!(of("note").kind, FieldKind::Line));
        assert!(matches!(&of("mode").kind, FieldKind::Choice(choices) if choices.len() == 2));
        assert!(matches!(&of("limit").kind, FieldKind::Number { most: Some(most), .. } if most == "50"));
        assert_eq!(of("limit").about.to_string(), "By default 20.");
        assert_eq!(of("note").about.to_string(), "Which note.");
        assert!(!of("text").must_be_filled && of("target").must_be_filled);
    }

    #[test]
    fn what_is_typed_becomes_arguments_of_the_right_types() {
        let (_, read) = read(&[
            ("text", "a\r\nb "),
            ("limit", " 3 "),
            ("mode", "one"),
            ("dry", "false"),
            ("target", "Plan.md"),
            ("tags", "[\"a\", 1]"),
        ]);
        let expected = json!({
            "text": "a\nb ", "target": "Plan.md", "limit": 3, "mode": "one", "dry": false, "tags": ["a", 1],
        });
        assert_eq!(read, Some(expected));
    }

    #[test]
    fn an_empty_field_is_left_out_unless_a_text_is_required() {
        assert_eq!(read(&[("target", "{}")]).1, Some(json!({ "text": "", "target": {} })));
    }

    #[test]
    fn a_field_says_what_is_wrong_with_it() {
        for (name, typed) in
            [("limit", "three"), ("limit", "\"3\""), ("mode", "other"), ("target", "{\"a\":"), ("tags", "[")]
        {
            let (form, read) = read(&[(name, typed)]);
            assert_eq!(read, None, "{name} {typed}");
            let field = form.fields.iter().find(|field| field.name == name).unwrap();
            assert!(field.problem.is_some() && field.value == typed, "{name} {typed}");
        }
    }

    #[test]
    fn arguments_come_back_from_the_form_that_shows_them() {
        let arguments = json!({
            "note": "Plan.md", "text": "\n two\n", "limit": 7, "mode": "all", "dry": true,
            "target": { "type": "path", "path": "ä\"b" }, "tags": ["x"],
        });
        let texts = ["5", "true", "{", "\"quoted\"", "plain", ""];
        for target in texts.iter().map(|text| json!(text)).chain([arguments["target"].clone()]) {
            let mut arguments = arguments.as_object().unwrap().clone();
            arguments.insert("target".to_owned(), target);
            assert!(form().fits(&arguments));
            let shown: BTreeMap<String, String> =
                form().filled(&arguments).fields.into_iter().map(|field| (field.name, field.value)).collect();
            let read = form().read(|name| shown.get(name).map(String::as_str));
            assert_eq!(read, Some(arguments));
        }
        for other in
            [json!({ "unknown": 1 }), json!({ "note": "a\nb" }), json!({ "mode": "none" }), json!({ "limit": "3" })]
        {
            assert!(!form().fits(other.as_object().unwrap()), "{other}");
        }
    }
}
