//! Schemas as they are written in the properties of a note.

use lapidary_note::{Document, FileContent, YamlValue, block_yaml};
use lapidary_operation::quote::quoted;
use lapidary_query::nearest;
use lapidary_vault::PathPrefix;

use super::{MismatchResponse, NoteSchema, NoteType, PropertyRule};
use crate::property_kinds::PropertyKind;

/// The property that holds a schema. All of it is below one name, so that it adds nothing to the properties of the vault.
pub const SCHEMA: &str = "schema";

const SCHEMA_KEYS: [&str; 4] = ["for", "on_mismatch", "properties", "headings"];
const TYPE_KEYS: [&str; 3] = ["folder", "tag", "property"];
const RULE_KEYS: [&str; 3] = ["type", "required", "values"];
const KINDS: [PropertyKind; 7] = [
    PropertyKind::Text,
    PropertyKind::Number,
    PropertyKind::Checkbox,
    PropertyKind::Date,
    PropertyKind::DateTime,
    PropertyKind::List,
    PropertyKind::Object,
];

/// A part of a sentence that says what is wrong, with all foreign text quoted.
type SchemaProblem = String;

/// The schema in a note; none if it has no such property.
pub fn read_schema(content: &FileContent) -> Result<Option<NoteSchema>, SchemaProblem> {
    let document = Document::open(content.clone()).map_err(|_| "it is not text".to_owned())?;
    let properties = document.properties().map_err(|error| error.to_string())?;
    // Names that differ only in case are one property, as in Obsidian.
    let schema = properties.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(SCHEMA));
    schema.map(|(_, value)| of_value(&value)).transpose()
}

fn of_value(value: &YamlValue) -> Result<NoteSchema, SchemaProblem> {
    let parts = map(value, SCHEMA)?;
    // A misspelt part would have no effect, and that would go unnoticed.
    known(parts, SCHEMA, &SCHEMA_KEYS)?;
    let notes = note_type(get(parts, "for").ok_or("`for` is missing: it says which notes the schema is about")?)?;
    let on_mismatch = match get(parts, "on_mismatch") {
        None | Some(YamlValue::Null) => MismatchResponse::Notice,
        Some(YamlValue::Text(text)) if text == "notice" => MismatchResponse::Notice,
        Some(YamlValue::Text(text)) if text == "refuse" => MismatchResponse::Refuse,
        Some(_) => return Err("`on_mismatch` must be `notice` or `refuse`".to_owned()),
    };
    let properties = match get(parts, "properties") {
        None | Some(YamlValue::Null) => Vec::new(),
        Some(rules) => map(rules, "properties")?.iter().map(rule).collect::<Result<_, _>>()?,
    };
    let headings = match get(parts, "headings") {
        None | Some(YamlValue::Null) => Vec::new(),
        Some(headings) => texts(headings, "headings")?,
    };
    Ok(NoteSchema { notes, on_mismatch, properties, headings })
}

fn note_type(value: &YamlValue) -> Result<NoteType, SchemaProblem> {
    let parts = map(value, "for")?;
    known(parts, "for", &TYPE_KEYS)?;
    let text = |name: &str| match get(parts, name) {
        None | Some(YamlValue::Null) => Ok(None),
        Some(YamlValue::Text(text)) if !text.trim().is_empty() => Ok(Some(text.trim())),
        Some(_) => Err(format!("`{name}` of `for` must be a text")),
    };
    let folder = text("folder")?.map(|folder| folder.trim_matches('/'));
    let folder = folder.map(PathPrefix::parse).transpose().map_err(|error| error.to_string())?;
    let tag = text("tag")?.map(|tag| tag.trim_start_matches('#').to_owned()).filter(|tag| !tag.is_empty());
    let properties = match get(parts, "property") {
        None | Some(YamlValue::Null) => Vec::new(),
        Some(values) => {
            let pair = |(name, value): &(String, YamlValue)| Ok((name.clone(), single(value, name)?));
            map(values, "property")?.iter().map(pair).collect::<Result<_, SchemaProblem>>()?
        }
    };
    let found = NoteType { folder, tag, properties };
    if found.is_empty() {
        return Err("`for` must have a `folder`, a `tag` or a `property` with its value".to_owned());
    }
    Ok(found)
}

fn rule((name, value): &(String, YamlValue)) -> Result<PropertyRule, SchemaProblem> {
    let mut rule = PropertyRule { name: name.clone(), kind: None, required: false, values: Vec::new() };
    match value {
        YamlValue::Null => return Ok(rule),
        // A type alone.
        YamlValue::Text(_) => {
            rule.kind = Some(kind(value, name)?);
            return Ok(rule);
        }
        _ => {}
    }
    let parts = map(value, name)?;
    known(parts, name, &RULE_KEYS)?;
    rule.kind = get(parts, "type").map(|value| kind(value, name)).transpose()?;
    rule.required = match get(parts, "required") {
        None | Some(YamlValue::Null) => false,
        Some(YamlValue::Bool(required)) => *required,
        Some(_) => return Err(format!("`required` of {} must be true or false", quoted(name))),
    };
    if let Some(values) = get(parts, "values") {
        rule.values = texts(values, "values")?;
        if rule.values.is_empty() {
            return Err(format!("`values` of {} is an empty list, which allows nothing", quoted(name)));
        }
    }
    Ok(rule)
}

fn kind(value: &YamlValue, of: &str) -> Result<PropertyKind, SchemaProblem> {
    let found = match value {
        YamlValue::Text(text) => KINDS.into_iter().find(|kind| kind.name() == text.trim()),
        _ => None,
    };
    found.ok_or_else(|| {
        format!("the type of {} must be one of {}", quoted(of), KINDS.map(PropertyKind::name).join(", "))
    })
}

fn map<'v>(value: &'v YamlValue, what: &str) -> Result<&'v [(String, YamlValue)], SchemaProblem> {
    match value {
        YamlValue::Map(entries) => Ok(entries),
        _ => Err(format!("{} must have names and values below it", quoted(what))),
    }
}

fn get<'v>(parts: &'v [(String, YamlValue)], name: &str) -> Option<&'v YamlValue> {
    parts.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

fn known(parts: &[(String, YamlValue)], of: &str, names: &[&'static str]) -> Result<(), SchemaProblem> {
    let Some((unknown, _)) = parts.iter().find(|(key, _)| !names.contains(&key.as_str())) else { return Ok(()) };
    let meant =
        nearest(unknown, names.iter().copied()).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    Err(format!("{} has no part {}{meant}", quoted(of), quoted(unknown)))
}

fn texts(value: &YamlValue, what: &str) -> Result<Vec<String>, SchemaProblem> {
    match value {
        YamlValue::List(items) => items.iter().map(|item| single(item, what)).collect(),
        value => Ok(vec![single(value, what)?]),
    }
}

fn single(value: &YamlValue, what: &str) -> Result<String, SchemaProblem> {
    match value {
        YamlValue::Text(text) => Ok(text.trim().to_owned()),
        YamlValue::Bool(value) => Ok(value.to_string()),
        YamlValue::Integer(number) => Ok(number.to_string()),
        YamlValue::Float(number) => Ok(lapidary_query::number_text(*number)),
        _ => Err(format!("{} must have single values", quoted(what))),
    }
}

impl NoteSchema {
    /// The properties of a note that holds it, as YAML.
    pub fn to_yaml(&self) -> String {
        let text = |text: &str| YamlValue::Text(text.to_owned());
        let list = |texts: &[String]| YamlValue::List(texts.iter().map(|item| text(item)).collect());
        let NoteType { folder, tag, properties } = &self.notes;
        let mut notes = Vec::new();
        notes.extend(folder.as_ref().map(|folder| ("folder".to_owned(), text(&folder.to_string()))));
        notes.extend(tag.as_ref().map(|tag| ("tag".to_owned(), text(tag))));
        let values = properties.iter().map(|(name, value)| (name.clone(), text(value))).collect::<Vec<_>>();
        notes.extend((!values.is_empty()).then(|| ("property".to_owned(), YamlValue::Map(values))));
        let rule = |rule: &PropertyRule| {
            let mut parts = Vec::new();
            parts.extend(rule.kind.map(|kind| ("type".to_owned(), text(kind.name()))));
            parts.extend(rule.required.then(|| ("required".to_owned(), YamlValue::Bool(true))));
            parts.extend((!rule.values.is_empty()).then(|| ("values".to_owned(), list(&rule.values))));
            (rule.name.clone(), if parts.is_empty() { YamlValue::Null } else { YamlValue::Map(parts) })
        };
        let response = match self.on_mismatch {
            MismatchResponse::Notice => "notice",
            MismatchResponse::Refuse => "refuse",
        };
        let mut parts = vec![("for".to_owned(), YamlValue::Map(notes)), ("on_mismatch".to_owned(), text(response))];
        let rules: Vec<(String, YamlValue)> = self.properties.iter().map(rule).collect();
        parts.extend((!rules.is_empty()).then(|| ("properties".to_owned(), YamlValue::Map(rules))));
        parts.extend((!self.headings.is_empty()).then(|| ("headings".to_owned(), list(&self.headings))));
        block_yaml(&[(SCHEMA.to_owned(), YamlValue::Map(parts))], 0)
    }
}
