//! Schemas of note types: which properties and headings the notes of a folder, with a tag or with a value of a property
//! should have. Each is the property `schema` of a note in a folder that the owner named, so people can read and edit it.
//!
//! They are rules of the owner, and hold for every caller, whether or not it may read the notes that they are written in.

mod checking;
mod inferring;
mod note_facts;
mod type_input;
mod written;

use lapidary_operation::{Context, Reason, ShapeProblem};
use lapidary_query::{Value, number_text};
use lapidary_vault::{OwnersNote, PathPrefix, VaultPath, View};

use crate::property_kinds::PropertyKind;

pub(crate) use checking::is_checked;
pub use checking::{CheckedShape, check};
pub use inferring::{InferredHeading, InferredProperty, InferredSchema, infer};
pub use note_facts::NoteFacts;
pub use type_input::TypeInput;
pub use written::{SCHEMA, read_schema};

/// More would make every write slow.
const MOST_SCHEMAS: usize = 200;
/// A longer note is not a list of properties.
const LONGEST_SCHEMA: u64 = 65_536;

/// The schema of a note type.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteSchema {
    pub notes: NoteType,
    pub on_mismatch: MismatchResponse,
    pub properties: Vec<PropertyRule>,
    pub headings: Vec<String>,
}

/// Which notes a schema is about: those to which all of this applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteType {
    pub folder: Option<PathPrefix>,
    pub tag: Option<String>,
    /// Values of properties.
    pub properties: Vec<(String, String)>,
}

/// What becomes of a change after which a note does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchResponse {
    /// It is made, and the answer says what does not fit.
    Notice,
    Refuse,
}

/// What a property should be.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyRule {
    pub name: String,
    pub kind: Option<PropertyKind>,
    pub required: bool,
    /// If there are any, no others are allowed; each item of a list counts.
    pub values: Vec<String>,
}

/// A note in the folder of schemas that cannot be used as one.
pub struct BrokenSchema {
    pub path: VaultPath,
    /// A part of a sentence of ours, with all foreign text quoted.
    pub problem: String,
}

/// The schemas in force.
#[derive(Default)]
pub struct SchemasInForce {
    pub schemas: Vec<NoteSchema>,
    pub broken: Vec<BrokenSchema>,
}

/// Reads the schemas as they are on disk; there are none if the owner named no folder.
pub fn in_force(context: &Context<'_>, view: &View) -> Result<SchemasInForce, Reason> {
    let mut found = SchemasInForce::default();
    let Some(folder) = context.shape.schema_folder() else { return Ok(found) };
    let notes = view.owners_notes(folder, MOST_SCHEMAS, LONGEST_SCHEMA);
    for OwnersNote { path, content } in notes.map_err(|error| Reason::from_store(folder, &error, false))? {
        context.check()?;
        let schema = match content {
            Ok(file) => read_schema(&file.content),
            Err(error) => Err(error.to_string()),
        };
        match schema {
            Ok(schema) => found.schemas.extend(schema),
            Err(problem) => found.broken.push(BrokenSchema { path, problem }),
        }
    }
    Ok(found)
}

impl NoteType {
    fn includes(&self, path: &VaultPath, facts: &NoteFacts) -> bool {
        self.folder.as_ref().is_none_or(|folder| folder.covers(path))
            && self.tag.as_ref().is_none_or(|tag| facts.has_tag(tag))
            && self.properties.iter().all(|(name, value)| facts.says(name, value))
    }

    /// Whether it names no notes in particular.
    pub fn is_empty(&self) -> bool {
        self.folder.is_none() && self.tag.is_none() && self.properties.is_empty()
    }
}

impl NoteSchema {
    /// What a note lacks; nothing if it is of another type.
    pub fn problems(&self, path: &VaultPath, facts: &NoteFacts) -> Vec<ShapeProblem> {
        if !self.notes.includes(path, facts) {
            return Vec::new();
        }
        let missing = self.headings.iter().filter(|heading| !facts.has_heading(heading));
        let properties = self.properties.iter().filter_map(|rule| rule.problem(facts));
        properties.chain(missing.map(|heading| ShapeProblem::MissingHeading { heading: clone(heading) })).collect()
    }
}

fn clone(text: &str) -> String {
    text.to_owned()
}

impl PropertyRule {
    pub(crate) fn problem(&self, facts: &NoteFacts) -> Option<ShapeProblem> {
        let property = clone(&self.name);
        let value = facts.value(&self.name);
        let kind = value.map_or(PropertyKind::Empty, PropertyKind::of);
        let Some(value) = value.filter(|_| kind != PropertyKind::Empty) else {
            return self.required.then_some(ShapeProblem::MissingProperty { property });
        };
        if let Some(wanted) = self.kind.filter(|wanted| !accepts(*wanted, kind)) {
            let found = Some((in_a_sentence(kind), shown(value)));
            return Some(ShapeProblem::WrongType { property, expected: in_a_sentence(wanted), found });
        }
        let single = std::slice::from_ref(value);
        let items = if let Value::List(items) = value { &items[..] } else { single };
        // Whole: only what is shown of a value is cut.
        let is_allowed = |item: &&Value| self.values.contains(&whole_text(item));
        let other = items.iter().find(|item| !self.values.is_empty() && !is_allowed(item))?;
        Some(ShapeProblem::NotAllowed { property, allowed: self.values.clone(), found: Some(shown(other)) })
    }
}

/// Dates are texts, and a day agrees with a time, as everywhere in Obsidian.
pub(crate) fn accepts(wanted: PropertyKind, found: PropertyKind) -> bool {
    let is_date = |kind| matches!(kind, PropertyKind::Date | PropertyKind::DateTime);
    wanted == found || (is_date(found) && (is_date(wanted) || wanted == PropertyKind::Text))
}

fn in_a_sentence(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Text => "text",
        PropertyKind::Number => "a number",
        PropertyKind::Checkbox => "a checkbox",
        PropertyKind::Date => "a date",
        PropertyKind::DateTime => "a date and time",
        PropertyKind::List => "a list",
        PropertyKind::Object => "an object",
        PropertyKind::Empty => "empty",
    }
}

/// How much of a value is shown.
const SHOWN_OF_VALUE: usize = 80;

/// A value as people write it, as far as it is shown.
pub(crate) fn shown(value: &Value) -> String {
    let whole = whole_text(value);
    match whole.char_indices().nth(SHOWN_OF_VALUE) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

/// A value as people write it.
pub(crate) fn whole_text(value: &Value) -> String {
    use lapidary_query::Number;
    match value {
        Value::Null => String::new(),
        Value::Boolean(value) => value.to_string(),
        Value::Number(Number::Integer(number)) => number.to_string(),
        Value::Number(Number::Float(number)) => number_text(*number),
        Value::Text(text) => text.trim().to_owned(),
        Value::List(_) => "[…]".to_owned(),
        Value::Object(_) => "{…}".to_owned(),
        // Properties are read as YAML has them, without these.
        Value::Date(_) | Value::Duration(_) | Value::Link(_) => "…".to_owned(),
    }
}

#[cfg(test)]
mod tests;
