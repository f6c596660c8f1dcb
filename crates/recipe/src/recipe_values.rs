//! What the names of a recipe stand for while it runs, and templates filled in with that.

use jiff::tz::TimeZone;
use lapidary_bases::{JsonBindings, JsonFault};
use lapidary_query::{QueryContext, QueryHalt};
use serde_json::{Map, Value};

use crate::{
    MOST_ITEMS, MOST_RESULT_BYTES, RecipeStep, TextLanguage, TextLanguages,
    text_language::below,
    text_writer::TextWriter,
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
    /// `for_each` asks for a field that a result does not have.
    NoField {
        expression: String,
        field: String,
        /// Those that there are.
        fields: Vec<String>,
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
    /// A value cannot be where the recipe puts it: in the middle of a path it has a slash, or it means something in a query.
    Unfit {
        argument: String,
        value: String,
        problem: &'static str,
    },
    /// The limits of expressions, or the end of the call.
    Halt(QueryHalt),
}

impl RecipeValues {
    /// Makes a value known under a name.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), RecipeFault> {
        // What a name stood for before still counts, so a loop that sets it again and again is bounded too.
        self.bytes = self.bytes.saturating_add(value.to_string().len());
        if self.bytes > MOST_RESULT_BYTES {
            return Err(RecipeFault::TooLarge);
        }
        self.bindings.set(name, &plain(value));
        Ok(())
    }

    /// Makes the text of a date known under a name, so that durations can be added to it.
    pub(crate) fn set_date(&mut self, name: &str, text: &str, zone: &TimeZone) {
        self.bytes = self.bytes.saturating_add(text.len());
        self.bindings.set_date(name, text, zone);
    }

    /// The items that a step runs for; none if it runs once. `may_miss` says of a field of a result, with the names that lead to
    /// it, whether its tool leaves it out when there is nothing in it.
    pub fn items(
        &self,
        step: &RecipeStep,
        may_miss: &dyn Fn(&[&str]) -> bool,
        context: &QueryContext<'_>,
    ) -> Result<Option<Vec<Value>>, RecipeFault> {
        let Some(each) = &step.for_each else { return Ok(None) };
        let value = self.evaluated(each, context)?;
        // A field that is misspelt has no items either, and a run that does nothing looks like one with nothing to do.
        if value.is_null() || value.as_array().is_some_and(Vec::is_empty) {
            for path in each.field_paths() {
                let Some((at, fields)) = self.bindings.missing_field(&path) else { continue };
                if !may_miss(&path[..=at]) {
                    let (expression, field) = (each.written.clone(), path[at].to_owned());
                    return Err(RecipeFault::NoField { expression, field, fields });
                }
            }
        }
        match value {
            // Refused and not cut: a run over a part of the list would look like one over all of it.
            Value::Array(items) if items.len() > MOST_ITEMS => Err(RecipeFault::TooManyItems { count: items.len() }),
            Value::Array(items) => Ok(Some(items)),
            // Nothing was found, which is not a mistake.
            Value::Null => Ok(Some(Vec::new())),
            _ => Err(RecipeFault::NotAList { expression: each.written.clone() }),
        }
    }

    /// Turns to one item.
    pub fn turn_to(&mut self, item: &Value, number: usize) {
        // Not counted as results: each item takes the place of the one before.
        self.bindings.set(ITEM, &plain(item));
        self.bindings.set(NUMBER, &number.into());
    }

    /// Whether a step runs, for the item at hand.
    pub fn wants(&self, step: &RecipeStep, context: &QueryContext<'_>) -> Result<bool, RecipeFault> {
        let Some(condition) = &step.condition else { return Ok(true) };
        condition.expression.is_true(&self.bindings, context).map_err(|fault| in_expression(condition, fault))
    }

    /// The arguments of a step, in the form in which its tool reads them. `languages` says what it reads their texts as.
    pub fn arguments(
        &self,
        arguments: &[(String, ValueTemplate)],
        languages: &TextLanguages<'_>,
        context: &QueryContext<'_>,
    ) -> Result<Map<String, Value>, RecipeFault> {
        self.fields(arguments, "", languages, context)
    }

    /// The value of a template that is not an argument.
    pub fn filled_in(&self, template: &ValueTemplate, context: &QueryContext<'_>) -> Result<Value, RecipeFault> {
        self.filled(template, "", TextLanguage::Plain, &|_, _| TextLanguage::Plain, context)
    }

    fn fields(
        &self,
        fields: &[(String, ValueTemplate)],
        pointer: &str,
        languages: &TextLanguages<'_>,
        context: &QueryContext<'_>,
    ) -> Result<Map<String, Value>, RecipeFault> {
        // How an argument is read may depend on one beside it, such as a mode.
        let beside = |name: &str| {
            let (_, template) = fields.iter().find(|(field, _)| field == name)?;
            // If it fails, the call is refused at its own turn, with its own place.
            self.filled_in(template, context).ok()
        };
        let field = |(name, template): &(String, ValueTemplate)| {
            let pointer = below(pointer, name);
            let language = languages(&pointer, &beside);
            Ok((name.clone(), self.filled(template, &pointer, language, languages, context)?))
        };
        fields.iter().map(field).collect()
    }

    fn filled(
        &self,
        template: &ValueTemplate,
        pointer: &str,
        language: TextLanguage,
        languages: &TextLanguages<'_>,
        context: &QueryContext<'_>,
    ) -> Result<Value, RecipeFault> {
        match template {
            ValueTemplate::Literal(value) => Ok(value.clone()),
            ValueTemplate::List(_) | ValueTemplate::Object(_) if language == TextLanguage::Logic => {
                self.rule(template, pointer, TextLanguage::Plain, context)
            }
            // Below an argument the recipe has written what is around it, also where the text itself is nothing else.
            ValueTemplate::Whole(whole) if language.has_syntax() && !is_argument(pointer) => {
                self.text(&[TemplatePart::Inserted(whole.clone())], pointer, language, context).map(Value::String)
            }
            // Nothing of the recipe is around it, so it is checked like an argument that the caller sent.
            ValueTemplate::Whole(whole) => self.evaluated(whole, context),
            ValueTemplate::Mixed(parts) => self.text(parts, pointer, language, context).map(Value::String),
            // Tools declare the language of list items once, with `*` for any index.
            ValueTemplate::List(items) => {
                let pointer = below(pointer, "*");
                let language = languages(&pointer, &|_| None);
                items.iter().map(|item| self.filled(item, &pointer, language, languages, context)).collect()
            }
            ValueTemplate::Object(fields) => self.fields(fields, pointer, languages, context).map(Value::Object),
        }
    }

    /// A part of a rule of JsonLogic. What is inserted is a value there, or a part of a pattern, and never a rule.
    fn rule(
        &self,
        template: &ValueTemplate,
        pointer: &str,
        language: TextLanguage,
        context: &QueryContext<'_>,
    ) -> Result<Value, RecipeFault> {
        let part = |template: &ValueTemplate, language| self.rule(template, pointer, language, context);
        match template {
            ValueTemplate::Literal(value) => Ok(value.clone()),
            ValueTemplate::Mixed(parts) => self.text(parts, pointer, language, context).map(Value::String),
            ValueTemplate::Whole(whole) if language.has_syntax() => {
                self.text(&[TemplatePart::Inserted(whole.clone())], pointer, language, context).map(Value::String)
            }
            ValueTemplate::Whole(whole) => {
                let value = self.evaluated(whole, context)?;
                let is_one = |value: &Value| !value.is_object() && !value.is_array();
                let fits = is_one(&value) || value.as_array().is_some_and(|items| items.iter().all(is_one));
                if fits { Ok(value) } else { Err(unfit(pointer, value.to_string(), "which would be a rule by itself")) }
            }
            ValueTemplate::List(items) => items.iter().map(|item| part(item, language)).collect(),
            ValueTemplate::Object(fields) => {
                let field = |(operator, operands): &(String, ValueTemplate)| {
                    let first = match operator.as_str() {
                        "regexp" => TextLanguage::Pattern,
                        "glob" => TextLanguage::Glob,
                        "var" | "missing" | "missing_some" => TextLanguage::Property,
                        _ => language,
                    };
                    let filled = match operands {
                        // The pattern, and then what it is compared with.
                        ValueTemplate::List(items) if matches!(operator.as_str(), "regexp" | "glob" | "var") => {
                            let languages = std::iter::once(first).chain(std::iter::repeat(language));
                            items.iter().zip(languages).map(|(item, language)| part(item, language)).collect()
                        }
                        operands => part(operands, first),
                    };
                    Ok((operator.clone(), filled?))
                };
                fields.iter().map(field).collect::<Result<_, _>>().map(Value::Object)
            }
        }
    }

    fn text(
        &self,
        parts: &[TemplatePart],
        pointer: &str,
        language: TextLanguage,
        context: &QueryContext<'_>,
    ) -> Result<String, RecipeFault> {
        // How a value is written depends on the language of the whole text, which its end may decide: `….base` is a path.
        let fixed = parts.iter().filter_map(|part| match part {
            TemplatePart::Text(fixed) => Some(fixed.as_str()),
            TemplatePart::Inserted(_) => None,
        });
        let mut writer = TextWriter::new(language, &fixed.collect::<String>());
        let mut last = String::new();
        for part in parts {
            match part {
                TemplatePart::Text(fixed) => writer.write(fixed),
                TemplatePart::Inserted(inserted) => {
                    // Where a query takes any value, a number stays a number and only a text gets quotes.
                    let (value, put) = if writer.wants_value() {
                        let value = self.evaluated(inserted, context)?;
                        let put = writer.insert_value(&value);
                        (value.as_str().map_or_else(|| value.to_string(), str::to_owned), put)
                    } else {
                        let value = inserted.expression.text(&self.bindings, context);
                        let value = value.map_err(|fault| in_expression(inserted, fault))?;
                        let put = writer.insert(&value);
                        (value, put)
                    };
                    put.map_err(|problem| unfit(pointer, value.clone(), problem))?;
                    last = value;
                }
            }
            // Looked at after each part: a text of many expressions would otherwise be built before it is measured.
            if writer.len() > MOST_RESULT_BYTES {
                return Err(RecipeFault::TooLarge);
            }
        }
        writer.finish().map_err(|problem| unfit(pointer, last, problem))
    }

    fn evaluated(&self, template: &TemplateExpression, context: &QueryContext<'_>) -> Result<Value, RecipeFault> {
        template.expression.evaluate(&self.bindings, context).map_err(|fault| in_expression(template, fault))
    }
}

/// Whether a pointer is to an argument itself, and not to a part of one.
fn is_argument(pointer: &str) -> bool {
    pointer.matches('/').count() == 1
}

fn unfit(pointer: &str, value: String, problem: &'static str) -> RecipeFault {
    RecipeFault::Unfit { argument: pointer.trim_start_matches('/').to_owned(), value, problem }
}

/// Results as people name them: a link in the answer of a query is its path, and a date its text.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        // Queries write links, dates and durations as objects with one such key.
        Value::Object(fields) => match fields.iter().next().filter(|_| fields.len() == 1) {
            Some((key, link)) if key == "$link" => link.get("path").cloned().unwrap_or_default(),
            Some((key, written)) if key == "$date" || key == "$duration" => written.clone(),
            _ => Value::Object(fields.iter().map(|(name, field)| (name.clone(), plain(field))).collect()),
        },
        other => other.clone(),
    }
}

fn in_expression(template: &TemplateExpression, fault: JsonFault) -> RecipeFault {
    match fault {
        JsonFault::Error(problem) => RecipeFault::Expression { expression: template.written.clone(), problem },
        JsonFault::Halt(halt) => RecipeFault::Halt(halt),
    }
}
