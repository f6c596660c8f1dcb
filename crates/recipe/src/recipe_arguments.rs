//! The arguments that a recipe is called with, against its parameters.

use jiff::tz::TimeZone;
use lapidary_query::{bases_date_text, nearest};
use serde_json::{Map, Value};

use crate::{ParameterKind, Recipe, RecipeParameter, RecipeValues};

/// What is wrong with an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFault {
    pub name: String,
    pub problem: &'static str,
    /// The parameter that was probably meant.
    pub nearest: Option<String>,
}

impl ParameterKind {
    /// What a value has to be, for a sentence that begins with the name of the parameter.
    fn refuses(self, value: &Value) -> Option<&'static str> {
        let fits = match (self, value) {
            // Names of notes and folders are looked up before a run, where the vault is known.
            (Self::Text | Self::Note | Self::Folder, Value::String(_))
            | (Self::Number, Value::Number(_))
            | (Self::Boolean, Value::Bool(_)) => true,
            (Self::Date, Value::String(text)) => bases_date_text(text).is_some(),
            (Self::List, Value::Array(items)) => items.iter().all(|item| !item.is_array() && !item.is_object()),
            _ => false,
        };
        (!fits).then_some(match self {
            Self::Text => "must be a text",
            Self::Number => "must be a number",
            Self::Boolean => "must be true or false",
            Self::Date => "must be a date such as 2026-11-18",
            Self::List => "must be a list of texts and numbers",
            Self::Note => "must be the name or path of a note",
            Self::Folder => "must be the name or path of a folder",
        })
    }
}

impl RecipeParameter {
    pub(crate) fn refuses_default(&self) -> Option<&'static str> {
        // `default: null` makes a parameter optional without giving it a value.
        self.default.as_ref().filter(|value| !value.is_null()).and_then(|value| self.kind.refuses(value))
    }
}

impl Recipe {
    /// The values that a run starts with. Values are taken as they are: nothing in them is read as a template. Dates are of a time
    /// zone.
    pub fn begin(&self, given: &Map<String, Value>, zone: &TimeZone) -> Result<RecipeValues, Vec<ArgumentFault>> {
        let names = || self.parameters.iter().map(|parameter| parameter.name.as_str());
        let unknown = given.keys().filter(|key| !names().any(|name| name == key.as_str()));
        let mut faults: Vec<ArgumentFault> = unknown
            .map(|key| ArgumentFault {
                name: key.clone(),
                problem: "is not a parameter of this recipe",
                nearest: nearest(key, names()).map(str::to_owned),
            })
            .collect();
        let mut values = RecipeValues::default();
        let mut set = |parameter: &RecipeParameter, value: &Value| match (parameter.kind, value) {
            (ParameterKind::Date, Value::String(text)) => {
                values.set_date(&parameter.name, text, zone);
                None
            }
            (_, value) => values.set(&parameter.name, value).err().map(|_| "is too large"),
        };
        for parameter in &self.parameters {
            // Some clients send null for every argument that is left out.
            let value = given.get(&parameter.name).filter(|value| !value.is_null());
            let problem = match (value, &parameter.default) {
                (None, None) => Some("is required"),
                // The default was checked against the type when the recipe was read.
                (None, Some(default)) => set(parameter, default),
                (Some(value), _) => parameter.kind.refuses(value).or_else(|| set(parameter, value)),
            };
            faults.extend(problem.map(|problem| ArgumentFault {
                name: parameter.name.clone(),
                problem,
                nearest: None,
            }));
        }
        if faults.is_empty() { Ok(values) } else { Err(faults) }
    }
}
