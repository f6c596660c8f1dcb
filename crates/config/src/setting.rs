//! The declaration of one setting.

use super::CommonFlags;
use super::draft::ConfigDraft;
use super::raw::{GivenValue, RawValue};
use super::refused::ConfigRefusal;

/// One setting: every layer and the reference use it.
#[derive(Debug)]
pub(super) struct Setting {
    /// Its name in the configuration file.
    pub(super) key: Option<&'static str>,
    pub(super) variable: Option<&'static str>,
    pub(super) flag: Option<SettingFlag>,
    pub(super) default: ShownDefault,
    /// One or two sentences for people.
    pub(super) doc: &'static str,
    /// Puts the value into the draft. It may be called several times, weakest value first, so it overwrites.
    pub(super) apply: fn(&mut ConfigDraft<'_>, &GivenValue) -> Result<(), ConfigRefusal>,
}

/// Settings whose values let a stranger in.
const SECRETS: [&str; 5] =
    ["OBSIDIAN_API_KEY", "LAPIDARY_METRICS_TOKEN", "MCP_AUTH_SECRET_KEY", "LAPIDARY_TOKENS", "LAPIDARY_TOKEN"];

impl Setting {
    /// Its name in the configuration file, or that of its variable or flag if it has no place there.
    pub(super) fn name(&self) -> &'static str {
        let flag = || self.flag.as_ref().map(|flag| flag.name);
        self.key.or(self.variable).or_else(flag).unwrap_or_default()
    }

    pub(super) fn is_secret(&self) -> bool {
        self.variable.is_some_and(|name| SECRETS.contains(&name))
    }
}

#[derive(Debug)]
pub(super) struct SettingFlag {
    pub(super) name: &'static str,
    /// The placeholder after the name in usage texts.
    pub(super) value: &'static str,
    /// `None` if the flag was not used, so that a default never hides a value of a weaker source.
    pub(super) given: fn(&CommonFlags) -> Option<RawValue>,
}

/// A default as shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownDefault {
    /// A literal value.
    Value(&'static str),
    /// Describes what happens if nothing is set.
    Words(&'static str),
}

/// A chapter of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceSection {
    Vaults,
    Access,
    Tools,
    App,
    Approval,
    Limits,
    Http,
    State,
    Telemetry,
}

impl ReferenceSection {
    pub(super) const ALL: [Self; 9] = [
        Self::Vaults,
        Self::Access,
        Self::Tools,
        Self::App,
        Self::Approval,
        Self::Limits,
        Self::Http,
        Self::State,
        Self::Telemetry,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Vaults => "Vaults",
            Self::Access => "What may be read and written",
            Self::Tools => "Tools",
            Self::App => "The Obsidian app",
            Self::Approval => "Approval",
            Self::Limits => "Limits",
            Self::Http => "Transport and HTTP",
            Self::State => "State and log",
            Self::Telemetry => "Telemetry",
        }
    }
}
