//! What kinds of values the properties of a vault have.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    ops::ControlFlow,
};

use lapidary_note::{YamlValue, count_steps};
use lapidary_operation::{Context, Reason};
use lapidary_query::{Number, Row, Value, bases_date_text, number_text};
use lapidary_vault::{FileRow, VaultPath, VisibleNotes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// The kinds of values that Obsidian tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PropertyKind {
    Text,
    Number,
    Checkbox,
    Date,
    DateTime,
    List,
    Object,
    Empty,
}

impl PropertyKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Checkbox => "checkbox",
            Self::Date => "date",
            Self::DateTime => "datetime",
            Self::List => "list",
            Self::Object => "object",
            Self::Empty => "empty",
        }
    }

    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Empty,
            Value::Boolean(_) => Self::Checkbox,
            Value::Number(_) => Self::Number,
            // Obsidian writes an empty property without a value or as an empty text.
            Value::Text(text) if text.trim().is_empty() => Self::Empty,
            Value::Text(text) => Self::of_text(text),
            // Values of the vault are YAML, in which dates are texts; this one came from elsewhere.
            Value::Date(_) => Self::DateTime,
            Value::Duration(_) | Value::Link(_) => Self::Text,
            Value::List(_) => Self::List,
            Value::Object(_) => Self::Object,
        }
    }

    fn of_text(text: &str) -> Self {
        match bases_date_text(text.trim()) {
            Some(date) if date.has_time => Self::DateTime,
            Some(_) => Self::Date,
            None => Self::Text,
        }
    }
}

impl fmt::Display for PropertyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A property of the vault: names that differ only in case are one, in the spelling that came first, as in Obsidian.
pub struct VaultProperty<'n> {
    pub name: String,
    /// The notes with a value of each kind, in path order.
    pub notes: BTreeMap<PropertyKind, Vec<&'n VaultPath>>,
    /// How many notes have a value; items of a list count each. Only if they were asked for.
    pub values: HashMap<String, usize>,
    /// There are more values than were counted.
    pub is_cut: bool,
}

/// More different values are not a set to choose from.
const MOST_VALUES: usize = 10_000;
/// A longer value is not counted as one.
const LONGEST_VALUE: usize = 200;

impl<'n> VaultProperty<'n> {
    pub fn note_count(&self) -> usize {
        self.notes.values().map(Vec::len).sum()
    }

    /// The kinds with their numbers of notes, the most frequent first.
    pub fn kinds(&self) -> Vec<(PropertyKind, usize)> {
        let mut kinds: Vec<(PropertyKind, usize)> =
            self.notes.iter().map(|(kind, notes)| (*kind, notes.len())).collect();
        // Stable, so that equal counts are in the order of the kinds.
        kinds.sort_by_key(|(_, notes)| std::cmp::Reverse(*notes));
        kinds
    }

    /// The kind that the others should have, and the notes that differ; none if all agree. An empty value agrees with
    /// everything, and a day with a time.
    pub fn disagreement(&self) -> Option<(PropertyKind, Vec<(PropertyKind, &'n VaultPath)>)> {
        let kinds = self.kinds();
        let mut filled = kinds.iter().map(|(kind, _)| *kind).filter(|kind| *kind != PropertyKind::Empty);
        // Without any filled value there is nothing to disagree with.
        let usual = filled.next()?;
        let agrees = |kind: PropertyKind| {
            let is_date = |kind| matches!(kind, PropertyKind::Date | PropertyKind::DateTime);
            kind == usual || kind == PropertyKind::Empty || (is_date(kind) && is_date(usual))
        };
        let others = self.notes.iter().filter(|(kind, _)| !agrees(**kind));
        let mut differing: Vec<(PropertyKind, &VaultPath)> =
            others.flat_map(|(kind, notes)| notes.iter().map(|path| (*kind, *path))).collect();
        differing.sort_by_key(|(_, path)| *path);
        (!differing.is_empty()).then_some((usual, differing))
    }

    fn add(&mut self, path: &'n VaultPath, value: &Value, counts_values: bool) {
        // A note counts once for each property, whatever its values are.
        self.notes.entry(PropertyKind::of(value)).or_default().push(path);
        if !counts_values {
            return;
        }
        let single = std::slice::from_ref(value);
        let items = if let Value::List(items) = value { items } else { single };
        for text in items.iter().filter_map(value_text) {
            // A value that is known already is counted further, so that counts stay right.
            if self.values.len() < MOST_VALUES || self.values.contains_key(&text) {
                *self.values.entry(text).or_default() += 1;
            } else {
                self.is_cut = true;
            }
        }
    }
}

/// A value as people read it; none for values within values.
fn value_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Text(text) => text.trim().to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Number(Number::Integer(number)) => number.to_string(),
        Value::Number(Number::Float(number)) => number_text(*number),
        // Properties are read as YAML has them, without dates and links.
        Value::Null | Value::Date(_) | Value::Duration(_) | Value::Link(_) | Value::List(_) | Value::Object(_) => {
            return None;
        }
    };
    (!text.is_empty() && text.len() <= LONGEST_VALUE).then_some(text)
}

/// The properties of the notes below a folder, by name. With the values of one of them, if asked for.
pub fn of_vault<'n>(
    context: &Context<'_>,
    notes: &'n VisibleNotes,
    below: Option<&VaultPath>,
    with_values_of: Option<&str>,
) -> Result<BTreeMap<String, VaultProperty<'n>>, Reason> {
    let wanted = with_values_of.map(str::to_lowercase);
    let mut found: BTreeMap<String, VaultProperty<'n>> = BTreeMap::new();
    for entry in notes.below(below).filter(|entry| entry.is_note()) {
        context.check()?;
        FileRow::new(notes, entry.state()).visit_properties(&mut |name, read| {
            count_steps(16);
            // Obsidian takes names that differ only in case for one property.
            let key = name.to_lowercase();
            let is_wanted = wanted.as_ref().is_none_or(|wanted| *wanted == key);
            if is_wanted {
                let new = || VaultProperty {
                    name: name.to_owned(),
                    notes: BTreeMap::new(),
                    values: HashMap::new(),
                    is_cut: false,
                };
                // The value is made only for a wanted property: others are passed over unread.
                found.entry(key).or_insert_with(new).add(entry.path(), &read(), wanted.is_some());
            }
            ControlFlow::Continue(())
        });
    }
    Ok(found)
}

/// A value as another kind, if nothing of it is lost: a text that is written like a number becomes one, and a single value
/// the only item of a list.
pub fn converted(value: &YamlValue, to: PropertyKind) -> Option<YamlValue> {
    match (value, to) {
        // These would lose their structure as any other kind.
        (YamlValue::List(_) | YamlValue::Map(_) | YamlValue::Null, _) => None,
        (value, PropertyKind::List) => Some(YamlValue::List(vec![value.clone()])),
        (YamlValue::Text(text), PropertyKind::Number) => {
            // Digits only: `1e3`, `007` and `0x1f` may be names.
            let digits = text.strip_prefix('-').unwrap_or(text);
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && (digits == "0" || digits.starts_with("0.") || !digits.starts_with('0'));
            if !is_plain {
                return None;
            }
            let whole = text.parse().ok().map(YamlValue::Integer);
            whole.or_else(|| {
                // Written back as it was, or not at all.
                let number: f64 = text.parse().ok()?;
                (number_text(number) == *text).then_some(YamlValue::Float(number))
            })
        }
        // Only the words that YAML itself takes for a checkbox.
        (YamlValue::Text(text), PropertyKind::Checkbox) => match text.as_str() {
            "true" => Some(YamlValue::Bool(true)),
            "false" => Some(YamlValue::Bool(false)),
            _ => None,
        },
        (YamlValue::Integer(number), PropertyKind::Text) => Some(YamlValue::Text(number.to_string())),
        (YamlValue::Bool(value), PropertyKind::Text) => Some(YamlValue::Text(value.to_string())),
        _ => None,
    }
}

/// Whether a value can surely become this kind, as a query sees it.
pub(crate) fn is_convertible(value: &Value, to: PropertyKind) -> bool {
    yaml_of(value).is_some_and(|value| converted(&value, to).is_some())
}

/// A value as YAML; none for those that are never converted.
fn yaml_of(value: &Value) -> Option<YamlValue> {
    Some(match value {
        Value::Boolean(value) => YamlValue::Bool(*value),
        Value::Number(Number::Integer(number)) => YamlValue::Integer(*number),
        Value::Number(Number::Float(number)) => YamlValue::Float(*number),
        Value::Text(text) => YamlValue::Text(text.clone()),
        Value::Null | Value::Date(_) | Value::Duration(_) | Value::Link(_) | Value::List(_) | Value::Object(_) => {
            return None;
        }
    })
}
