//! What there is to say about one setting.

use super::CommonFlags;
use super::draft::ConfigDraft;
use super::raw::{GivenValue, RawValue};
use super::refused::ConfigRefusal;

/// One thing that can be set: every layer and the reference go through it.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(super) section: ReferenceSection,
    /// Its name in the configuration file.
    pub(super) key: Option<&'static str>,
    pub(super) variable: Option<&'static str>,
    pub(super) flag: Option<SettingFlag>,
    pub(super) default: ShownDefault,
    /// One or two sentences for people.
    pub(super) doc: &'static str,
    pub(super) apply: fn(&mut ConfigDraft<'_>, &GivenValue) -> Result<(), ConfigRefusal>,
}

#[derive(Debug)]
pub(super) struct SettingFlag {
    pub(super) name: &'static str,
    /// What follows the name, as the usage writes it.
    pub(super) value: &'static str,
    pub(super) given: fn(&CommonFlags) -> Option<RawValue>,
}

/// A default as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownDefault {
    /// Could be written as the value.
    Value(&'static str),
    /// Says what happens when nothing is set.
    Words(&'static str),
}

/// A chapter of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceSection {
    Vaults,
    Access,
    Tools,
    Approval,
    Limits,
    Http,
    State,
}

impl ReferenceSection {
    pub(super) const ALL: [Self; 7] =
        [Self::Vaults, Self::Access, Self::Tools, Self::Approval, Self::Limits, Self::Http, Self::State];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Vaults => "Vaults",
            Self::Access => "What may be read and written",
            Self::Tools => "Tools",
            Self::Approval => "Approval",
            Self::Limits => "Limits",
            Self::Http => "Transport and HTTP",
            Self::State => "State and log",
        }
    }
}
