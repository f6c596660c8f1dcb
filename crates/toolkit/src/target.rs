//! The argument that names a note.

use jiff::civil::Date;
use lapidary_operation::{Context, Reason};
use lapidary_query::Period;
use lapidary_vault::{VaultPath, View};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::{
    naming,
    periodic::{self, PeriodicNote},
    reading::{self, parse_path},
};

pub use crate::naming::NamedFile;

/// The note that a call is about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteTarget {
    /// If omitted, a period means a periodic note.
    r#type: Option<TargetType>,
    path: Option<String>,
    period: Option<PeriodName>,
    date: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TargetType {
    Path,
    Active,
    Periodic,
}

// Not a doc comment, because that would be in the schema of a tool.
// A period as callers name it.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PeriodName {
    #[default]
    Daily,
    Weekly,
    Monthly,
    Quarterly,
    Yearly,
}

/// One flat object instead of three: it is in the schema of every note tool, and half as long.
impl JsonSchema for NoteTarget {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let periods = Period::ALL.map(Period::name);
        json_schema!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "type": { "type": "string", "enum": ["path", "active", "periodic"] },
                "path": { "type": "string", "minLength": 1, "description": "Path (`Projects/Plan.md`) or name." },
                "period": { "type": "string", "enum": periods },
                "date": { "type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$" },
            },
            "x-short": {
                "anyOf": [{ "type": "string" }, { "type": "object" }],
                "description": "Path, name or {\"period\":\"daily\"}.",
            },
        })
    }
}

/// The location of a note that a call may create.
pub struct TargetPlace {
    pub path: VaultPath,
    /// Its initial text if it has to be created: the owner's template for periodic notes.
    pub template: Option<String>,
}

impl NoteTarget {
    /// The note of the period that contains a day, or today.
    pub fn of_period(period: PeriodName, date: Option<Date>) -> Self {
        Self { r#type: None, path: None, period: Some(period), date: date.map(|date| date.to_string()) }
    }

    /// The location of the note to write. A note given by its path need not exist; a periodic note is created from the
    /// owner's template.
    pub fn place(&self, tool: &str, context: &Context<'_>, view: &View) -> Result<TargetPlace, Reason> {
        match self.which(tool, context, view)? {
            TargetChoice::Path(given) => {
                let path = parse_path(given)?;
                // A trailing slash is lost when the path is parsed.
                if given.ends_with(['/', '\\']) {
                    return Err(Reason::bad_argument(tool, "target.path", "must name a file, and this is a folder"));
                }
                Ok(TargetPlace { path, template: None })
            }
            TargetChoice::Periodic(note) if note.is_there => Ok(TargetPlace { path: note.path, template: None }),
            TargetChoice::Periodic(note) => {
                let template = note.template(context, view)?;
                Ok(TargetPlace { path: note.path, template: Some(template) })
            }
        }
    }

    /// The exact location of the note, for a call that deletes it.
    pub fn locate(&self, tool: &str, context: &Context<'_>, view: &View) -> Result<VaultPath, Reason> {
        match self.which(tool, context, view)? {
            TargetChoice::Path(given) => parse_path(given),
            TargetChoice::Periodic(note) => note.required(),
        }
    }

    /// The note, under any of its names.
    pub fn find(&self, tool: &str, context: &Context<'_>, view: &View) -> Result<NamedFile, Reason> {
        match self.which(tool, context, view)? {
            TargetChoice::Path(given) => naming::find(context, view, given),
            TargetChoice::Periodic(note) => {
                let path = note.required()?;
                Ok(NamedFile { file: reading::read_exactly(view, &path)?, path, requested: None })
            }
        }
    }

    fn which(&self, tool: &str, context: &Context<'_>, view: &View) -> Result<TargetChoice<'_>, Reason> {
        let required = |at: &str| Reason::bad_argument(tool, at, "is required for this type of target");
        // A period alone says enough, and saves a field in every call.
        let implied = if self.period.is_some() { TargetType::Periodic } else { TargetType::Path };
        match self.r#type.unwrap_or(implied) {
            TargetType::Path => self.path.as_deref().map(TargetChoice::Path).ok_or_else(|| required("target.path")),
            // The executor has put the path of the open note in its place.
            TargetType::Active => Err(Reason::NoActiveFile),
            TargetType::Periodic => {
                let period = self.period.ok_or_else(|| required("target.period"))?;
                periodic::find(tool, context, view, period.into(), self.day(tool)?)
                    .map(|note| TargetChoice::Periodic(Box::new(note)))
            }
        }
    }

    pub(crate) fn is_periodic(&self) -> bool {
        matches!(self.r#type, Some(TargetType::Periodic)) || (self.r#type.is_none() && self.period.is_some())
    }

    fn day(&self, tool: &str) -> Result<Option<Date>, Reason> {
        let Some(given) = &self.date else { return Ok(None) };
        // The parser accepts other formats too, which a client may mean differently.
        let day = Some(given).filter(|given| given.len() == "YYYY-MM-DD".len()).and_then(|given| given.parse().ok());
        day.map(Some).ok_or_else(|| Reason::bad_argument(tool, "target.date", "must be a day, written YYYY-MM-DD"))
    }
}

/// The note that a caller names directly, outside of a target.
pub fn named(context: &Context<'_>, view: &View, given: &str) -> Result<NamedFile, Reason> {
    naming::find(context, view, given)
}

enum TargetChoice<'t> {
    Path(&'t str),
    Periodic(Box<PeriodicNote>),
}

impl From<PeriodName> for Period {
    fn from(name: PeriodName) -> Self {
        match name {
            PeriodName::Daily => Self::Daily,
            PeriodName::Weekly => Self::Weekly,
            PeriodName::Monthly => Self::Monthly,
            PeriodName::Quarterly => Self::Quarterly,
            PeriodName::Yearly => Self::Yearly,
        }
    }
}
