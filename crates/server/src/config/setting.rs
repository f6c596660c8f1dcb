//! What there is to say about one setting.

use super::Flags;
use super::draft::Draft;
use super::raw::{Given, Raw};
use super::refused::Refused;

/// One thing that can be set: every layer and the reference go through it.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(super) section: Section,
    /// Its name in the configuration file.
    pub(super) key: Option<&'static str>,
    pub(super) variable: Option<&'static str>,
    pub(super) flag: Option<Flag>,
    pub(super) default: Shown,
    /// One or two sentences for people.
    pub(super) doc: &'static str,
    pub(super) apply: fn(&mut Draft<'_>, &Given) -> Result<(), Refused>,
}

#[derive(Debug)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    /// What follows the name, as the usage writes it.
    pub(super) value: &'static str,
    pub(super) given: fn(&Flags) -> Option<Raw>,
}

/// A default as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Could be written as the value.
    Value(&'static str),
    /// Says what happens when nothing is set.
    Words(&'static str),
}

/// A chapter of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Vaults,
    Access,
    Tools,
    Approval,
    Limits,
    Http,
    State,
}

impl Section {
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
