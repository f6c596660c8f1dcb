//! What the names of a recipe stand for while it runs, and templates filled in with that.

use lapidary_bases::{JsonBindings, JsonFault};
use lapidary_query::{QueryContext, QueryHalt};
use serde_json::{Map, Value};

use crate::{
    MOST_ITEMS, MOST_RESULT_BYTES, RecipeStep,
    value_template::{TemplateExpression, TemplatePart, ValueTemplate},
};

/// The item that a step runs for, and its number from 1.
const ITEM: &str = "item";
const NUMBER: &str = "number";

/// Parameters and results of the steps so far.
#[derive(Debug, Default)]
pub struct RecipeValues {
    bindings: JsonBindings,
    /// What all of them take as JSON.
    bytes: usize,
}

/// Why a recipe cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub enum RecipeFault {
    /// An expression fails on these values; its text, and why.
    Expression {
        expression: String,
        problem: String,
    },
    /// `for_each` gives something else than a list.
    NotAList {
        expression: String,
    },
    TooManyItems {
        count: usize,
    },
    /// All results together.
    TooLarge,
    /// A value in the middle of a path has a slash in it, or is `..`: the recipe decides about folders, not the value.
    LeavesFolder {
        argument: String,
        value: String,
    },
    /// The limits of expressions, or the end of the call.
    Halt(QueryHalt),
}

impl RecipeValues {
    /// Makes a value known under a name.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), RecipeFault> {
        self.bytes = self.bytes.saturating_add(value.to_string().len());
        if self.bytes > MOST_RESULT_BYTES {
            return Err(RecipeFault::TooLarge);
        }
        self.bindings.set(name, &plain(value));
        Ok(())
    }

    /// The items that a step runs for; none if it runs once.
    pub fn items(&self, step: &RecipeStep, context: &QueryContext<'_>) -> Result<Option<Vec<Value>>, RecipeFault> {
        let Some(each) = &step.for_each else { return Ok(None) };
        match self.evaluated(each, context)? {
            Value::Array(items) if items.len() > MOST_ITEMS => Err(RecipeFault::TooManyItems { count: items.len() }),
            Value::Array(items) => Ok(Some(items)),
            // Nothing was found, which is not a mistake.
            Value::Null => Ok(Some(Vec::new())),
            _ => Err(RecipeFault::NotAList { expression: each.written.clone() }),
        }
    }

    /// Turns to one item.
    pub fn turn_to(&mut self, item: &Value, number: usize) {
        self.bindings.set(ITEM, &plain(item));
        self.bindings.set(NUMBER, &number.into());
    }

    /// Whether a step runs, for the item at hand.
    pub fn wants(&self, step: &RecipeStep, context: &QueryContext<'_>) -> Result<bool, RecipeFault> {
        let Some(condition) = &step.condition else { return Ok(true) };
        condition.expression.is_true(&self.bindings, context).map_err(|fault| in_expression(condition, fault))
    }

    /// The arguments of a step. `is_path` says which of them are paths, by pointer.
    pub fn arguments(
        &self,
        step: &RecipeStep,
        is_path: &dyn Fn(&str) -> bool,
        context: &QueryContext<'_>,
    ) -> Result<Map<String, Value>, RecipeFault> {
        let field = |(name, template): &(String, ValueTemplate)| {
            Ok((name.clone(), self.filled(template, &format!("/{name}"), is_path, context)?))
        };
        step.arguments.iter().map(field).collect()
    }

    /// The value of a template that is not an argument.
    pub fn filled_in(&self, template: &ValueTemplate, context: &QueryContext<'_>) -> Result<Value, RecipeFault> {
        self.filled(template, "", &|_| false, context)
    }

    fn filled(
        &self,
        template: &ValueTemplate,
        pointer: &str,
        is_path: &dyn Fn(&str) -> bool,
        context: &QueryContext<'_>,
    ) -> Result<Value, RecipeFault> {
        match template {
            ValueTemplate::Literal(value) => Ok(value.clone()),
            ValueTemplate::Whole(whole) => self.evaluated(whole, context),
            ValueTemplate::Mixed(parts) => self.text(parts, pointer, is_path(pointer), context).map(Value::String),
            ValueTemplate::List(items) => {
                // Declarations have no pointers into lists.
                items.iter().map(|item| self.filled(item, "", is_path, context)).collect()
            }
            ValueTemplate::Object(fields) => {
                let field = |(name, field): &(String, ValueTemplate)| {
                    Ok((name.clone(), self.filled(field, &format!("{pointer}/{name}"), is_path, context)?))
                };
                fields.iter().map(field).collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
        }
    }

    fn text(
        &self,
        parts: &[TemplatePart],
        pointer: &str,
        is_path: bool,
        context: &QueryContext<'_>,
    ) -> Result<String, RecipeFault> {
        let mut text = String::new();
        for (at, part) in parts.iter().enumerate() {
            match part {
                TemplatePart::Text(fixed) => text += fixed,
                TemplatePart::Inserted(inserted) => {
                    let value = inserted.expression.text(&self.bindings, context);
                    let value = value.map_err(|fault| in_expression(inserted, fault))?;
                    // What a path begins with may be a folder; whatever comes later is one name, or a part of one.
                    if is_path && at > 0 && leaves_folder(&value) {
                        let argument = pointer.trim_start_matches('/').to_owned();
                        return Err(RecipeFault::LeavesFolder { argument, value });
                    }
                    text += &value;
                }
            }
            if text.len() > MOST_RESULT_BYTES {
                return Err(RecipeFault::TooLarge);
            }
        }
        Ok(text)
    }

    fn evaluated(&self, template: &TemplateExpression, context: &QueryContext<'_>) -> Result<Value, RecipeFault> {
        template.expression.evaluate(&self.bindings, context).map_err(|fault| in_expression(template, fault))
    }
}

/// Results as people name them: a link in the answer of a query is its path, and a date its text.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(fields) => match fields.iter().next().filter(|_| fields.len() == 1) {
            Some((key, link)) if key == "$link" => link.get("path").cloned().unwrap_or_default(),
            Some((key, written)) if key == "$date" || key == "$duration" => written.clone(),
            _ => Value::Object(fields.iter().map(|(name, field)| (name.clone(), plain(field))).collect()),
        },
        other => other.clone(),
    }
}

fn leaves_folder(value: &str) -> bool {
    value.contains(['/', '\\', '\0']) || matches!(value.trim(), "." | "..")
}

fn in_expression(template: &TemplateExpression, fault: JsonFault) -> RecipeFault {
    match fault {
        JsonFault::Error(problem) => RecipeFault::Expression { expression: template.written.clone(), problem },
        JsonFault::Halt(halt) => RecipeFault::Halt(halt),
    }
}
