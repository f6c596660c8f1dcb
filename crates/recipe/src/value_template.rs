//! Templates: JSON values whose texts may have expressions in `{{ }}`.

use std::{borrow::Cow, sync::Arc};

use lapidary_bases::JsonExpression;
use lapidary_note::quoted;
use serde_json::{Map, Value};

/// Lists and objects in each other.
const MAX_DEPTH: usize = 16;

/// A value that is filled in when a step runs.
#[derive(Clone, Debug)]
pub enum ValueTemplate {
    /// Without any expression in it.
    Literal(Value),
    /// `"{{ x }}"`: the value of the expression, whatever its type.
    Whole(TemplateExpression),
    /// A text with expressions in it: each is written as text.
    Mixed(Vec<TemplatePart>),
    List(Vec<ValueTemplate>),
    Object(Vec<(String, ValueTemplate)>),
}

/// An expression as it was written.
#[derive(Clone, Debug)]
pub struct TemplateExpression {
    pub(crate) written: String,
    pub(crate) expression: Arc<JsonExpression>,
}

#[derive(Clone, Debug)]
pub enum TemplatePart {
    Text(String),
    Inserted(TemplateExpression),
}

/// What is known of a template's value before it is filled in.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateShape {
    Known(Value),
    Text,
    /// The value of a parameter or step of this name.
    Named(String),
    Unknown,
    List(Vec<TemplateShape>),
    Object(Vec<(String, TemplateShape)>),
}

impl TemplateExpression {
    pub(crate) fn parse(written: &str) -> Result<Self, String> {
        let written = written.trim();
        if written.is_empty() {
            return Err("`{{ }}` is empty".to_owned());
        }
        let expression = JsonExpression::parse(written)
            .map_err(|problem| format!("the expression {}: {problem}", quoted(written)))?;
        Ok(Self { written: written.to_owned(), expression: Arc::new(expression) })
    }

    /// The names in it, each with the fields that are asked for.
    pub fn field_paths(&self) -> Vec<Vec<&str>> {
        self.expression.field_paths()
    }

    /// Whether it is nothing but a name or a field of one.
    pub fn is_field_path(&self) -> bool {
        self.expression.field_paths().first().is_some_and(|path| path.join(".") == self.written)
    }

    /// Whether it gives a value, or a part of one, as it is.
    pub fn takes_as_it_is(&self) -> bool {
        self.expression.takes_as_it_is()
    }

    /// Whether it uses a name.
    pub fn uses(&self, name: &str) -> bool {
        self.expression.names().any(|used| used == name)
    }
}

impl ValueTemplate {
    /// The errors are of the first template that cannot be read, with its place.
    pub(crate) fn parse(value: &Value, at: &str, depth: usize) -> Result<Self, (String, String)> {
        let fault = |problem: String| (at.to_owned(), problem);
        // Templates are walked recursively, here and in every run.
        if depth > MAX_DEPTH {
            return Err(fault(format!("is nested more than {MAX_DEPTH} levels deep")));
        }
        match value {
            Value::String(text) => Self::of_text(text).map_err(fault),
            Value::Array(items) => {
                let item = |(index, item)| Self::parse(item, &format!("{at}[{index}]"), depth + 1);
                let items = items.iter().enumerate().map(item).collect::<Result<Vec<_>, _>>()?;
                Ok(Self::List(items).literal())
            }
            Value::Object(fields) => Ok(Self::Object(Self::fields(fields, at, depth + 1)?).literal()),
            other => Ok(Self::Literal(other.clone())),
        }
    }

    pub(crate) fn fields(
        fields: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<Vec<(String, Self)>, (String, String)> {
        let field =
            |(name, value): (&String, &Value)| Ok((name.clone(), Self::parse(value, &format!("{at}.{name}"), depth)?));
        fields.iter().map(field).collect()
    }

    /// A list or object of literals is one itself.
    pub fn literal(self) -> Self {
        // A literal is checked against the schema of its tool when the recipe is made, and not copied at every step of a loop.
        let is_literal = match &self {
            Self::List(items) => items.iter().all(|item| matches!(item, Self::Literal(_))),
            Self::Object(fields) => fields.iter().all(|(_, field)| matches!(field, Self::Literal(_))),
            _ => false,
        };
        if !is_literal {
            return self;
        }
        let value = |template| match template {
            Self::Literal(value) => value,
            // Not reached, since all of them are literals.
            _ => Value::Null,
        };
        match self {
            Self::List(items) => Self::Literal(items.into_iter().map(value).collect()),
            Self::Object(fields) => {
                Self::Literal(Value::Object(fields.into_iter().map(|(name, field)| (name, value(field))).collect()))
            }
            other => other,
        }
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            if !before.is_empty() {
                parts.push(TemplatePart::Text(before.to_owned()));
            }
            // Not taken as text: a forgotten `}}` would put the expression itself into a note.
            let end = end_of_expression(behind).ok_or("`{{` has no `}}`")?;
            parts.push(TemplatePart::Inserted(TemplateExpression::parse(&behind[..end])?));
            rest = &behind[end + 2..];
        }
        if parts.is_empty() {
            return Ok(Self::Literal(Value::String(text.to_owned())));
        }
        if !rest.is_empty() {
            parts.push(TemplatePart::Text(rest.to_owned()));
        }
        // An expression alone keeps its type: `"{{ 3 }}"` is a number, `" {{ 3 }}"` a text.
        match parts.pop() {
            Some(TemplatePart::Inserted(only)) if parts.is_empty() => Ok(Self::Whole(only)),
            last => Ok(Self::Mixed(parts.into_iter().chain(last).collect())),
        }
    }

    pub fn shape(&self) -> TemplateShape {
        match self {
            Self::Literal(value) => TemplateShape::Known(value.clone()),
            Self::Mixed(_) => TemplateShape::Text,
            Self::Whole(whole) => {
                // Only a parameter or a step has a type that is known before the run.
                whole.expression.single_name().map_or(TemplateShape::Unknown, |name| TemplateShape::Named(name.into()))
            }
            Self::List(items) => TemplateShape::List(items.iter().map(Self::shape).collect()),
            Self::Object(fields) => {
                TemplateShape::Object(fields.iter().map(|(name, field)| (name.clone(), field.shape())).collect())
            }
        }
    }

    /// The text that a text begins with, whatever is inserted behind it.
    pub fn fixed_start(&self) -> Option<&str> {
        match self {
            Self::Literal(Value::String(text)) => Some(text),
            Self::Mixed(parts) => match parts.first() {
                Some(TemplatePart::Text(text)) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value at a pointer such as `/target/path`.
    pub fn at<'t>(fields: &'t [(String, Self)], pointer: &str) -> Option<Cow<'t, Self>> {
        let (name, rest) = match pointer.trim_start_matches('/').split_once('/') {
            Some((name, rest)) => (name, Some(rest)),
            None => (pointer.trim_start_matches('/'), None),
        };
        let (_, field) = fields.iter().find(|(key, _)| key == name)?;
        match (rest, field) {
            (None, field) => Some(Cow::Borrowed(field)),
            (Some(rest), Self::Object(inner)) => Self::at(inner, rest),
            // An object without expressions is one literal, whose fields count all the same.
            (Some(rest), Self::Literal(value)) => {
                value.pointer(&format!("/{rest}")).map(|value| Cow::Owned(Self::Literal(value.clone())))
            }
            (Some(_), _) => None,
        }
    }

    /// Every expression in it.
    pub fn visit(&self, visit: &mut dyn FnMut(&TemplateExpression)) {
        match self {
            Self::Literal(_) => {}
            Self::Whole(whole) => visit(whole),
            Self::Mixed(parts) => {
                for part in parts {
                    if let TemplatePart::Inserted(inserted) = part {
                        visit(inserted);
                    }
                }
            }
            Self::List(items) => items.iter().for_each(|item| item.visit(visit)),
            Self::Object(fields) => fields.iter().for_each(|(_, field)| field.visit(visit)),
        }
    }
}

/// Where `}}` ends an expression; those in quotes belong to it.
fn end_of_expression(text: &str) -> Option<usize> {
    let mut quote = None;
    // Bytes are enough, because all signs that matter are ASCII.
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            // An escaped quote does not end the text.
            (Some(_), b'\\') => drop(bytes.next()),
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'}') if text.as_bytes().get(at + 1) == Some(&b'}') => return Some(at),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_literal_whole_or_mixed() {
        let shape = |text: &str| ValueTemplate::of_text(text).map(|template| template.shape());
        assert_eq!(shape("plain } { text"), Ok(TemplateShape::Known(json!("plain } { text"))));
        assert_eq!(shape("{{ title }}"), Ok(TemplateShape::Named("title".into())));
        assert_eq!(shape("{{ title + 1 }}"), Ok(TemplateShape::Unknown));
        assert_eq!(shape("A/{{ title }}.md"), Ok(TemplateShape::Text));
        assert_eq!(shape("{{ \"}}\" }}"), Ok(TemplateShape::Unknown));
        for broken in ["{{ title", "{{ }}", "a {{ title + }}", "{{ \"}} }}"] {
            assert!(shape(broken).is_err(), "{broken}");
        }
    }
}
