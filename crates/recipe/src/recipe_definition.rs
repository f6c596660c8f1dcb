//! What a recipe is, read from the YAML that people write.

use std::collections::BTreeSet;

use lapidary_note::{YamlValue, quoted, read_yaml};
use lapidary_query::nearest;
use serde_json::{Map, Value};

use crate::{
    LONGEST_DEFINITION, MOST_STEPS,
    value_template::{TemplateExpression, ValueTemplate},
};

/// A recipe that can be read. Whether its steps fit the tools is not known here.
#[derive(Debug)]
pub struct Recipe {
    pub description: String,
    pub parameters: Vec<RecipeParameter>,
    pub steps: Vec<RecipeStep>,
    /// Without one, a run answers with the result of its last step.
    pub answer: Option<ValueTemplate>,
}

#[derive(Debug)]
pub struct RecipeParameter {
    pub name: String,
    pub kind: ParameterKind,
    pub description: Option<String>,
    /// What it is if a call leaves it out; without one it is required.
    pub default: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    Text,
    Number,
    Boolean,
    Date,
    List,
    Note,
    Folder,
}

/// A call of a tool, once or for each item of a list.
#[derive(Debug)]
pub struct RecipeStep {
    /// By which later steps name its result.
    pub id: String,
    pub tool: String,
    pub arguments: Vec<(String, ValueTemplate)>,
    pub for_each: Option<TemplateExpression>,
    pub condition: Option<TemplateExpression>,
}

/// Something in a definition that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeProblem {
    /// Such as `steps[1].with.path`; empty for the whole.
    pub at: String,
    pub problem: String,
}

/// Names that mean something else in expressions, or in a call.
const TAKEN: [&str; 19] = [
    // Set by `for_each`.
    "item",
    "number",
    // Bound inside of `map`, `filter` and the like, or in summaries of a base.
    "value",
    "values",
    "index",
    "key",
    "acc",
    // Names with a meaning in Bases, whose expressions recipes use.
    "note",
    "file",
    "formula",
    "this",
    "true",
    "false",
    "null",
    // Arguments that every call has.
    "vault",
    "expect",
    "approval",
    "dry_run",
    "idempotency_key",
];
/// Bound by expressions themselves, in `map` and the like.
const LOCAL: [&str; 4] = ["value", "index", "acc", "key"];
const LONGEST_NAME: usize = 40;
const LONGEST_DESCRIPTION: usize = 300;
const MOST_PARAMETERS: usize = 20;
/// The first few are enough to go on.
const MOST_PROBLEMS: usize = 10;

impl ParameterKind {
    const ALL: [(&str, Self); 7] = [
        ("text", Self::Text),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("date", Self::Date),
        ("list", Self::List),
        ("note", Self::Note),
        ("folder", Self::Folder),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("text", |(name, _)| name)
    }
}

/// The definition in a note: the text of its only code block `recipe`, or why there is none.
pub fn recipe_block(note: &str) -> Result<String, &'static str> {
    let mut found: Option<String> = None;
    // The open fence: its mark, and the text of a recipe.
    let mut open: Option<(&str, Option<String>)> = None;
    for line in note.lines() {
        let trimmed = line.trim_start();
        let marks =
            trimmed.bytes().take_while(|byte| matches!(byte, b'`' | b'~') && trimmed.as_bytes()[0] == *byte).count();
        let (mark, info) = trimmed.split_at(marks);
        match &mut open {
            // As in CommonMark: a closing fence has the same sign, is at least as long, and has nothing behind it.
            Some((begun, kept)) if mark.starts_with(*begun) && info.trim().is_empty() => {
                if let Some(text) = kept.take() {
                    // Taking one of them would run steps that a reader of the note may not expect.
                    if found.is_some() {
                        return Err("has more than one `recipe` block");
                    }
                    found = Some(text);
                }
                open = None;
            }
            Some((_, Some(text))) => {
                *text += line;
                text.push('\n');
            }
            // In another code block a fence is text, so a note may show an example of a recipe.
            Some((_, None)) => {}
            None if marks >= 3 => open = Some((mark, (info.trim() == "recipe").then(String::new))),
            None => {}
        }
    }
    match open {
        // In Markdown it ends with the note; as a recipe it is more likely cut off.
        Some((_, Some(_))) => Err("has a `recipe` block without an end"),
        _ => found.ok_or("has no `recipe` block"),
    }
}

impl Recipe {
    /// Reads YAML; JSON is YAML too.
    pub fn parse(definition: &str) -> Result<Self, Vec<RecipeProblem>> {
        let whole = |problem: String| vec![RecipeProblem { at: String::new(), problem }];
        // Before parsing, so that the limit bounds that work, too.
        if definition.len() > LONGEST_DEFINITION {
            return Err(whole(format!("is longer than {LONGEST_DEFINITION} bytes")));
        }
        let yaml = read_yaml(definition).map_err(|(line, problem)| whole(format!("line {line}: {problem}")))?;
        let Value::Object(fields) = json(yaml.to_value()) else {
            return Err(whole("must have `description` and `steps`".to_owned()));
        };
        Self::of_fields(&fields)
    }

    /// The same from JSON.
    pub fn of_fields(fields: &Map<String, Value>) -> Result<Self, Vec<RecipeProblem>> {
        let mut reader = DefinitionReader::default();
        // Read to the end in spite of problems, so that one answer names several of them.
        let recipe = reader.recipe(fields);
        reader.problems.truncate(MOST_PROBLEMS);
        if reader.problems.is_empty() { Ok(recipe) } else { Err(reader.problems) }
    }
}

#[derive(Default)]
struct DefinitionReader {
    problems: Vec<RecipeProblem>,
    /// Names that expressions may use from here on.
    known: BTreeSet<String>,
}

impl DefinitionReader {
    fn problem(&mut self, at: &str, problem: impl Into<String>) {
        self.problems.push(RecipeProblem { at: at.to_owned(), problem: problem.into() });
    }

    fn recipe(&mut self, fields: &Map<String, Value>) -> Recipe {
        self.only(fields, "", &["description", "parameters", "steps", "answer"]);
        let description = self.text(fields.get("description"), "description").unwrap_or_default();
        if description.chars().count() > LONGEST_DESCRIPTION {
            self.problem("description", format!("must have at most {LONGEST_DESCRIPTION} characters"));
        }
        // Parameters before steps: only then are their names known to expressions.
        let parameters = self.parameters(fields.get("parameters"));
        let steps = self.steps(fields.get("steps"));
        // Last, because the answer may use the results of all steps.
        let answer = fields.get("answer").filter(|answer| !answer.is_null());
        let answer = answer.and_then(|answer| self.template(answer, "answer"));
        if let Some(answer) = &answer {
            self.check_names(answer, "answer", false);
        }
        Recipe { description, parameters, steps, answer }
    }

    /// Whatever else is there is misspelt.
    fn only(&mut self, fields: &Map<String, Value>, at: &str, known: &[&str]) {
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            let meant = nearest(name, known.iter().copied());
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            self.problem(&joined(at, name), format!("is not a part of a recipe{meant}"));
        }
    }

    fn text(&mut self, value: Option<&Value>, at: &str) -> Option<String> {
        match value {
            Some(Value::String(text)) if !text.trim().is_empty() => return Some(text.trim().to_owned()),
            None | Some(Value::Null) => self.problem(at, "is required"),
            Some(_) => self.problem(at, "must be a text"),
        }
        None
    }

    fn name(&mut self, name: &str, at: &str) {
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        let fits = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !begins || !fits || name.len() > LONGEST_NAME {
            self.problem(at, "must be a name of lower-case letters, digits and `_`");
        } else if TAKEN.contains(&name) {
            self.problem(at, format!("{} has a meaning in expressions; choose another name", quoted(name)));
        } else if !self.known.insert(name.to_owned()) {
            self.problem(at, format!("the name {} is used twice", quoted(name)));
        }
    }

    fn parameters(&mut self, value: Option<&Value>) -> Vec<RecipeParameter> {
        let declared = match value {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Object(declared)) => declared,
            Some(_) => {
                self.problem("parameters", "must have the name of each parameter, with its `type`");
                return Vec::new();
            }
        };
        if declared.len() > MOST_PARAMETERS {
            self.problem("parameters", format!("has more than {MOST_PARAMETERS}"));
        }
        let mut parameters = Vec::new();
        // Too many are a problem already, so the rest is not checked.
        for (name, value) in declared.iter().take(MOST_PARAMETERS) {
            let at = format!("parameters.{name}");
            self.name(name, &at);
            // `title: text` is short for the type alone.
            let short = Map::from_iter([("type".to_owned(), value.clone())]);
            let fields = value.as_object().unwrap_or(&short);
            self.only(fields, &at, &["type", "description", "default"]);
            let named = fields.get("type").and_then(Value::as_str).unwrap_or_default();
            let kind = ParameterKind::ALL.iter().find(|(name, _)| *name == named);
            if kind.is_none() {
                let names: Vec<String> = ParameterKind::ALL.iter().map(|(name, _)| format!("`{name}`")).collect();
                self.problem(&joined(&at, "type"), format!("must be {}", names.join(" or ")));
            }
            // A key without a value is null in YAML, which is not worth a problem here.
            let described = fields.get("description").filter(|text| !text.is_null());
            let description = described.and_then(|text| self.text(Some(text), &joined(&at, "description")));
            // An unknown type is a problem already; with any type the rest can still be checked.
            let kind = kind.map_or(ParameterKind::Text, |(_, kind)| *kind);
            let parameter =
                RecipeParameter { name: name.clone(), kind, description, default: fields.get("default").cloned() };
            if let Some(problem) = parameter.refuses_default() {
                self.problem(&joined(&at, "default"), problem);
            }
            parameters.push(parameter);
        }
        parameters
    }

    fn steps(&mut self, value: Option<&Value>) -> Vec<RecipeStep> {
        let Some(Value::Array(listed)) = value else {
            self.problem("steps", "must be a list of calls, each with its `tool`");
            return Vec::new();
        };
        if listed.is_empty() || listed.len() > MOST_STEPS {
            self.problem("steps", format!("must have 1 to {MOST_STEPS} steps"));
        }
        listed.iter().take(MOST_STEPS).enumerate().filter_map(|(index, step)| self.step(step, index)).collect()
    }

    fn step(&mut self, value: &Value, index: usize) -> Option<RecipeStep> {
        let at = format!("steps[{index}]");
        let Value::Object(fields) = value else {
            self.problem(&at, "must be a call: `tool`, and its arguments in `with`");
            return None;
        };
        self.only(fields, &at, &["id", "tool", "with", "for_each", "if"]);
        let tool = self.text(fields.get("tool"), &joined(&at, "tool")).unwrap_or_default();
        // Without `item`: this expression is what gives the items.
        let for_each = self.expression(fields.get("for_each"), &joined(&at, "for_each"));
        if let Some(each) = &for_each {
            self.check_expression(each, &joined(&at, "for_each"), false);
        }
        let has_item = for_each.is_some();
        let condition = self.expression(fields.get("if"), &joined(&at, "if"));
        if let Some(condition) = &condition {
            self.check_expression(condition, &joined(&at, "if"), has_item);
        }
        let arguments = match fields.get("with") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(given)) => match ValueTemplate::fields(given, &joined(&at, "with"), 0) {
                Ok(arguments) => arguments,
                Err((at, problem)) => {
                    self.problem(&at, problem);
                    Vec::new()
                }
            },
            Some(_) => {
                self.problem(&joined(&at, "with"), "must have the arguments of the tool by their names");
                Vec::new()
            }
        };
        // Arguments that could not be read are left out here: their problem is known.
        for (name, template) in &arguments {
            self.check_names(template, &format!("{at}.with.{name}"), has_item);
        }
        // Last: a step does not know its own result.
        let id = match fields.get("id") {
            Some(Value::String(id)) => id.clone(),
            // By its place, so that later steps can use the result of a step without an id.
            None | Some(Value::Null) => format!("step_{}", index + 1),
            Some(_) => {
                self.problem(&joined(&at, "id"), "must be a text");
                return None;
            }
        };
        self.name(&id, &joined(&at, "id"));
        Some(RecipeStep { id, tool, arguments, for_each, condition })
    }

    /// An expression without `{{ }}`, which are accepted around it.
    fn expression(&mut self, value: Option<&Value>, at: &str) -> Option<TemplateExpression> {
        let text = match value {
            None | Some(Value::Null) => return None,
            Some(Value::String(text)) => text.trim(),
            // `if: true` is YAML's word, and an expression as well.
            Some(Value::Bool(value)) => {
                if *value {
                    "true"
                } else {
                    "false"
                }
            }
            Some(_) => {
                self.problem(at, "must be an expression");
                return None;
            }
        };
        let inner = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text);
        TemplateExpression::parse(inner).map_err(|problem| self.problem(at, problem)).ok()
    }

    fn template(&mut self, value: &Value, at: &str) -> Option<ValueTemplate> {
        ValueTemplate::parse(value, at, 0).map_err(|(at, problem)| self.problem(&at, problem)).ok()
    }

    fn check_names(&mut self, template: &ValueTemplate, at: &str, has_item: bool) {
        let mut unknown = Vec::new();
        template.visit(&mut |expression| unknown.extend(self.unknown_name(expression, has_item)));
        for problem in unknown {
            self.problem(at, problem);
        }
    }

    fn check_expression(&mut self, expression: &TemplateExpression, at: &str, has_item: bool) {
        if let Some(problem) = self.unknown_name(expression, has_item) {
            self.problem(at, problem);
        }
    }

    fn unknown_name(&self, expression: &TemplateExpression, has_item: bool) -> Option<String> {
        let is_item = |name: &str| matches!(name, "item" | "number");
        let is_known = |name: &str| self.known.contains(name) || LOCAL.contains(&name) || (has_item && is_item(name));
        let unknown = expression.expression.names().find(|name| !is_known(name))?;
        // A guess at a similar name would hide the reason.
        if is_item(unknown) {
            return Some(format!("{} is only known in a step with `for_each`", quoted(unknown)));
        }
        let meant = nearest(unknown, self.known.iter().map(String::as_str));
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        Some(format!("{} is neither a parameter nor an earlier step{meant}", quoted(unknown)))
    }
}

fn joined(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn json(value: YamlValue) -> Value {
    match value {
        YamlValue::Null => Value::Null,
        YamlValue::Bool(value) => value.into(),
        YamlValue::Integer(number) => number.into(),
        YamlValue::Float(number) => number.into(),
        YamlValue::Text(text) => text.into(),
        YamlValue::List(items) => items.into_iter().map(json).collect(),
        YamlValue::Map(entries) => {
            Value::Object(entries.into_iter().map(|(name, value)| (name, json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests;
