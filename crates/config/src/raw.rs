//! A value before its meaning is known, and where it was found.

use std::fmt;
use std::path::PathBuf;

use super::refused::ConfigRefusal;
use super::setting::Setting;

/// A value as written. Files can contain all three shapes; numbers and booleans are text here, because variables have
/// no other form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RawValue {
    Text(String),
    List(Vec<RawValue>),
    Table(Vec<(String, RawValue)>),
}

/// A value for a setting, and its source.
#[derive(Debug, Clone)]
pub(super) struct GivenValue {
    pub(super) setting: &'static Setting,
    pub(super) raw: RawValue,
    pub(super) place: ValueOrigin,
}

/// Where a value was written, so that a person can find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueOrigin {
    Flag(&'static str),
    /// Not given by the person, but found elsewhere on this computer; in words.
    Found(String),
    Variable(&'static str),
    DotEnv {
        file: PathBuf,
        line: usize,
        name: &'static str,
    },
    File {
        file: PathBuf,
        key: String,
    },
}

/// Whether a text counts as unset: clients pass blanks and unfilled `${…}` templates for empty fields.
pub fn is_unset(text: &str) -> bool {
    let text = text.trim();
    // `${a}${b}` is not one template, and may well be a value.
    let template = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    text.is_empty() || template.is_some_and(|name| !name.contains('}'))
}

impl RawValue {
    pub(super) fn is_unset(&self) -> bool {
        matches!(self, Self::Text(text) if is_unset(text))
    }

    /// The text, trimmed.
    pub(super) fn text(&self) -> Result<&str, ConfigRefusal> {
        match self {
            Self::Text(text) => Ok(text.trim()),
            other => Err(ConfigRefusal::Shape { expected: "one value", found: other.shape() }),
        }
    }

    /// The entries of a list, or of a text with separators; blank and unset ones are skipped.
    pub(super) fn entries(&self, separator: char) -> Result<Vec<&str>, ConfigRefusal> {
        let entries = match self {
            // Trimmed, since people write blanks after commas.
            Self::Text(text) => text.split(separator).map(str::trim).collect(),
            Self::List(items) => items.iter().map(Self::text).collect::<Result<Vec<_>, _>>()?,
            Self::Table(_) => return Err(ConfigRefusal::Shape { expected: "a list", found: self.shape() }),
        };
        // An empty list is not an unset one: it is left to each setting whether it means nothing or is refused.
        Ok(entries.into_iter().filter(|entry| !is_unset(entry)).collect())
    }

    pub(super) fn shape(&self) -> &'static str {
        match self {
            Self::Text(_) => "one value",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Found(place) => write!(f, "{place}"),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::DotEnv { file, line, name } => write!(f, "{name} in {}, line {line}", file.display()),
            Self::File { file, key } => write!(f, "`{key}` in {}", file.display()),
        }
    }
}
