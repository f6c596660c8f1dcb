//! The arguments of a step of a recipe in the form in which its tool reads them: with the names of the schema, and with objects
//! where a caller may send a text for one. Otherwise a value would be guarded at another place than it ends up at.

use lapidary_query::words;
use lapidary_recipe::ValueTemplate;
use serde_json::{Map, Value};

use super::{fits, item_type, join, only_text_field};

/// The place of an argument, and why it cannot be of a step.
pub type TemplateFault = (String, &'static str);

const TEXT_OF_OBJECT: &str = "must be an object, and not a text of one";
const TEXT_OF_LIST: &str = "must be a list, and not a text of one";

/// The arguments of a step as the schema of its tool has them.
pub fn in_form_of(
    schema: &Map<String, Value>,
    arguments: &[(String, ValueTemplate)],
) -> Result<Vec<(String, ValueTemplate)>, TemplateFault> {
    fields(schema, arguments, "")
}

/// The same for values that were inserted: none is read as the text of an object or a list.
pub fn inserted_in_form_of(
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, TemplateFault> {
    filled_fields(schema, arguments, "")
}

fn fields(
    schema: &Map<String, Value>,
    given: &[(String, ValueTemplate)],
    at: &str,
) -> Result<Vec<(String, ValueTemplate)>, TemplateFault> {
    let mut formed: Vec<(String, ValueTemplate)> = Vec::new();
    for (key, template) in given {
        let name = name_of(schema, key);
        let template = match property(schema, name) {
            Some(schema) => in_form(schema, template, &join(at, name))?,
            None => template.clone(),
        };
        // Two spellings of one name: the check of the arguments refuses them, as it does in a call.
        let name = if formed.iter().any(|(known, _)| known == name) { key } else { name };
        formed.push((name.to_owned(), template));
    }
    Ok(formed)
}

/// The name that a spelling stands for.
fn name_of<'n>(schema: &'n Map<String, Value>, key: &'n str) -> &'n str {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return key };
    if properties.contains_key(key) || schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return key;
    }
    let meant = words(key);
    let mut alike = properties.keys().filter(|name| words(name) == meant);
    match (alike.next(), alike.next()) {
        (Some(name), None) => name,
        _ => key,
    }
}

fn property<'s>(schema: &'s Map<String, Value>, name: &str) -> Option<&'s Map<String, Value>> {
    let declared = schema.get("properties").and_then(|properties| properties.get(name));
    declared.or_else(|| schema.get("additionalProperties")).and_then(Value::as_object)
}

fn choices(schema: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let listed = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    let alone = if listed.is_none() { Some(schema) } else { None };
    listed.into_iter().flatten().filter_map(Value::as_object).chain(alone)
}

fn takes(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(found)) => found == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|found| found == kind),
        // Anything.
        _ => true,
    }
}

/// What a text means where a schema wants something else.
enum TextMeaning {
    /// Itself, or a number or a switch.
    Text,
    /// This field of an object, which also has these fields.
    Field(String, Map<String, Value>),
    /// The only item of a list.
    Item,
    Nothing(&'static str),
}

fn meaning_of_text(schema: &Map<String, Value>) -> TextMeaning {
    if choices(schema).any(|choice| ["string", "number", "integer", "boolean"].iter().any(|kind| takes(choice, kind))) {
        return TextMeaning::Text;
    }
    let of_object = choices(schema).find(|choice| takes(choice, "object"));
    if let Some(object) = of_object {
        return match only_text_field(object) {
            Some((name, beside)) => TextMeaning::Field(name, beside),
            None => TextMeaning::Nothing(TEXT_OF_OBJECT),
        };
    }
    match choices(schema).find(|choice| takes(choice, "array")) {
        Some(list) if item_type(list) == Some("string") => TextMeaning::Item,
        Some(_) => TextMeaning::Nothing(TEXT_OF_LIST),
        None => TextMeaning::Text,
    }
}

fn in_form(schema: &Map<String, Value>, template: &ValueTemplate, at: &str) -> Result<ValueTemplate, TemplateFault> {
    match template {
        // The recipe says all of it, so that it may be the text of an object as in a call.
        ValueTemplate::Literal(Value::String(text)) => match (meaning_of_text(schema), parsed(schema, text)) {
            (TextMeaning::Text, _) => Ok(template.clone()),
            (_, Some(value)) => in_form(schema, &ValueTemplate::Literal(value), at),
            // What it cannot be is left to the check of the arguments.
            (_, None) => Ok(filled(schema, Value::from(text.as_str()), at)
                .map_or_else(|_| template.clone(), ValueTemplate::Literal)),
        },
        ValueTemplate::Literal(Value::Object(given)) => {
            let Some(object) = object_of(schema, &given.keys().map(String::as_str).collect::<Vec<_>>()) else {
                return Ok(template.clone());
            };
            let given: Vec<_> =
                given.iter().map(|(name, value)| (name.clone(), ValueTemplate::Literal(value.clone()))).collect();
            Ok(ValueTemplate::Object(fields(object, &given, at)?).literal())
        }
        ValueTemplate::Literal(Value::Array(given)) => {
            let given: Vec<_> = given.iter().map(|value| ValueTemplate::Literal(value.clone())).collect();
            items(schema, &given, at).map(ValueTemplate::literal)
        }
        ValueTemplate::Mixed(_) => match meaning_of_text(schema) {
            TextMeaning::Text => Ok(template.clone()),
            // The text of an object with a value in it, which would be read as a name.
            TextMeaning::Field(..) | TextMeaning::Item
                if template.fixed_start().is_some_and(|start| start.trim_start().starts_with(['{', '[']))
                    && !is_link(template) =>
            {
                Err((at.to_owned(), TEXT_OF_OBJECT))
            }
            TextMeaning::Field(name, beside) => {
                let beside = beside.into_iter().map(|(name, value)| (name, ValueTemplate::Literal(value)));
                Ok(ValueTemplate::Object(beside.chain([(name, template.clone())]).collect()))
            }
            TextMeaning::Item => Ok(ValueTemplate::List(vec![template.clone()])),
            TextMeaning::Nothing(problem) => Err((at.to_owned(), problem)),
        },
        ValueTemplate::Object(given) => {
            let Some(object) = object_of(schema, &given.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
            else {
                return Ok(template.clone());
            };
            fields(object, given, at).map(ValueTemplate::Object)
        }
        ValueTemplate::List(given) => items(schema, given, at),
        // Its value is known when it runs.
        ValueTemplate::Literal(_) | ValueTemplate::Whole(_) => Ok(template.clone()),
    }
}

/// `[[…` is how notes name a note.
fn is_link(template: &ValueTemplate) -> bool {
    template.fixed_start().is_some_and(|start| start.trim_start().starts_with("[["))
}

/// The alternative that has all of these fields, or else one that is an object.
fn object_of<'s>(schema: &'s Map<String, Value>, names: &[&str]) -> Option<&'s Map<String, Value>> {
    let objects = || choices(schema).filter(|choice| choice.get("type").is_some() && takes(choice, "object"));
    let has_all =
        |object: &&Map<String, Value>| names.iter().all(|name| property(object, name_of(object, name)).is_some());
    objects().find(has_all).or_else(|| objects().next())
}

fn items(schema: &Map<String, Value>, given: &[ValueTemplate], at: &str) -> Result<ValueTemplate, TemplateFault> {
    let each = choices(schema).find_map(|choice| choice.get("items").and_then(Value::as_object));
    let item = |(index, item): (usize, &ValueTemplate)| match each {
        Some(each) => in_form(each, item, &format!("{at}[{index}]")),
        None => Ok(item.clone()),
    };
    given.iter().enumerate().map(item).collect::<Result<_, _>>().map(ValueTemplate::List)
}

/// The object or list that a text is, where one of them is wanted.
fn parsed(schema: &Map<String, Value>, text: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(text).ok()?;
    let wanted = |kind: &str| choices(schema).any(|choice| choice.get("type").is_some() && takes(choice, kind));
    let fits = ["object", "array"].iter().any(|kind| wanted(kind) && fits(kind, &value));
    fits.then_some(value)
}

fn filled_fields(
    schema: &Map<String, Value>,
    given: Map<String, Value>,
    at: &str,
) -> Result<Map<String, Value>, TemplateFault> {
    let field = |(name, value): (String, Value)| {
        let value = match property(schema, &name) {
            Some(schema) => filled(schema, value, &join(at, &name))?,
            None => value,
        };
        Ok((name, value))
    };
    given.into_iter().map(field).collect()
}

fn filled(schema: &Map<String, Value>, value: Value, at: &str) -> Result<Value, TemplateFault> {
    match value {
        Value::String(text) => match meaning_of_text(schema) {
            TextMeaning::Text => Ok(Value::String(text)),
            TextMeaning::Field(name, mut beside) => {
                beside.insert(name, Value::String(text));
                Ok(Value::Object(beside))
            }
            TextMeaning::Item => Ok(Value::Array(vec![Value::String(text)])),
            TextMeaning::Nothing(problem) => Err((at.to_owned(), problem)),
        },
        Value::Object(given) => match object_of(schema, &given.keys().map(String::as_str).collect::<Vec<_>>()) {
            Some(object) => filled_fields(object, given.clone(), at).map(Value::Object),
            None => Ok(Value::Object(given)),
        },
        Value::Array(given) => {
            let each = choices(schema).find_map(|choice| choice.get("items").and_then(Value::as_object));
            let item = |(index, item)| match each {
                Some(each) => filled(each, item, &format!("{at}[{index}]")),
                None => Ok(item),
            };
            given.into_iter().enumerate().map(item).collect()
        }
        other => Ok(other),
    }
}
