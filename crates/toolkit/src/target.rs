use std::sync::Arc;

use jiff::civil::Date;
use lapidary_operation::{Context, Reason};
use lapidary_query::Period;
use lapidary_vault::{File, VaultPath, View};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::{
    periodic,
    reading::{parse_path, read},
};

/// Which note.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Where it is left out, a period means a periodic note.
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

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PeriodName {
    Daily,
    Weekly,
    Monthly,
    Quarterly,
    Yearly,
}

/// One flat object instead of three: it stands in the schema of every note tool, and it is half as long.
impl JsonSchema for Target {
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

/// A note that was asked for.
pub struct Found {
    pub path: VaultPath,
    pub file: Arc<File>,
    /// What was asked for, where it differs in case from what is there.
    pub requested: Option<VaultPath>,
}

impl Target {
    /// Where the note is. What is named by its path need not be there.
    pub fn locate(&self, tool: &str, context: &Context<'_>, view: &View) -> Result<VaultPath, Reason> {
        let required = |at: &str| Reason::bad_argument(tool, at, "is required for this type of target");
        let implied = if self.period.is_some() { TargetType::Periodic } else { TargetType::Path };
        match self.r#type.unwrap_or(implied) {
            TargetType::Path => parse_path(self.path.as_deref().ok_or_else(|| required("target.path"))?),
            TargetType::Active => Err(Reason::NoActiveFile),
            TargetType::Periodic => {
                let period = self.period.ok_or_else(|| required("target.period"))?;
                periodic::locate(context, view, period.into(), self.day(tool)?)
            }
        }
    }

    fn day(&self, tool: &str) -> Result<Option<Date>, Reason> {
        let Some(given) = &self.date else { return Ok(None) };
        // The parser takes other forms too, in which a client may mean something else.
        let day = Some(given).filter(|given| given.len() == "YYYY-MM-DD".len()).and_then(|given| given.parse().ok());
        day.map(Some).ok_or_else(|| Reason::bad_argument(tool, "target.date", "must be a day, written YYYY-MM-DD"))
    }

    /// The note, also when only the case of its name is wrong and nothing else could be meant.
    pub fn find(&self, tool: &str, context: &Context<'_>, view: &View) -> Result<Found, Reason> {
        find(view, self.locate(tool, context, view)?)
    }
}

/// The note that a caller names by itself, outside of a target.
pub fn named(_: &Context<'_>, view: &View, given: &str) -> Result<Found, Reason> {
    find(view, parse_path(given)?)
}

/// The note at a path, also when only the case of its name is wrong and nothing else could be meant.
pub fn find(view: &View, path: VaultPath) -> Result<Found, Reason> {
    let missing = match read(view, &path) {
        Ok(file) => return Ok(Found { path, file, requested: None }),
        Err(reason @ Reason::NoteMissing { .. }) => reason,
        Err(reason) => return Err(reason),
    };
    let wanted = path.name().to_lowercase();
    let mut matches = view.similar(&path);
    matches.retain(|file| file.name().to_lowercase() == wanted);
    match &matches[..] {
        [] => Err(missing),
        [only] => Ok(Found { file: read(view, only)?, path: only.clone(), requested: Some(path) }),
        _ => Err(Reason::AmbiguousPath { path, matches }),
    }
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
