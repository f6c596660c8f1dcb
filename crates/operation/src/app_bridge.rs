//! What only the Obsidian app can do, where it runs with its plugin Local REST API. Here is what tools and the executor need
//! of it; who makes the requests is not known here.

use std::time::Duration;

use jiff::civil::Date;
use lapidary_note::ContentHash;
use lapidary_query::Period;
use lapidary_vault::VaultPath;

use crate::{
    Effect,
    quote::{quoted, quoted_path},
};

/// What the app of one vault knows. Each method may make a request, and none waits longer than it is given.
///
/// The app knows no scope: a path that it names is shown to a caller only after the view has been asked about it.
pub trait AppFacts: Send + Sync {
    /// What the app and its plugin say of themselves.
    fn status(&self, within: Duration) -> Result<AppStatus, AppFault>;
    /// The path of the open note as the app writes it; `None` if no note is open.
    fn active_note(&self, within: Duration) -> Result<Option<String>, AppFault>;
    /// The commands of its palette.
    fn commands(&self, within: Duration) -> Result<Vec<AppCommand>, AppFault>;
    /// The note of a period that contains a day, or today.
    fn periodic_note(&self, period: Period, day: Option<Date>, within: Duration) -> Result<AppPeriodic, AppFault>;
    /// The best notes by the plugin Omnisearch, best first.
    fn omnisearch(&self, query: &str, within: Duration) -> Result<Vec<OmnisearchHit>, AppFault>;
}

/// The app of one vault. Tools only see its facts; acting is up to the executor.
pub trait AppBridge: AppFacts {
    /// Does it once: an action that may have happened is not tried again.
    fn act(&self, action: &AppAction, within: Duration) -> Result<(), AppFault>;
}

/// What the app and its plugin say of themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppStatus {
    /// The version of Obsidian, and of the plugin.
    pub obsidian: Option<String>,
    pub plugin: Option<String>,
    /// Whether it accepts the key.
    pub is_authenticated: bool,
    pub manifest: Option<PluginManifest>,
    /// The ids of plugins that extend its API.
    pub extensions: Vec<String>,
    /// It is `lapidary serve --rest` in place of the app.
    pub is_lapidary: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginManifest {
    pub id: String,
    pub name: String,
    pub version: String,
}

/// A command of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppCommand {
    pub id: String,
    pub name: String,
}

/// What the app knows of a periodic note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppPeriodic {
    /// The path of the existing note, as the app writes it.
    Note(String),
    Missing,
    /// Notes of this period are off, or its plugin no longer knows periods.
    Unknown,
}

/// A note that the plugin Omnisearch found.
#[derive(Clone, Debug, PartialEq)]
pub struct OmnisearchHit {
    pub path: String,
    pub score: f64,
    pub found_words: Vec<String>,
    pub matches: Vec<OmnisearchMatch>,
    /// As text, with line breaks.
    pub excerpt: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmnisearchMatch {
    pub text: String,
    pub offset: u64,
}

/// Why the app did not do it. Nothing of what it said is kept: its texts name files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppFault {
    /// The vault has no such plugin, and no setting says where one is.
    NotSetUp,
    /// The vault has the plugin, and it is switched off in Obsidian.
    PluginOff,
    /// The plugin is on and cannot be recognised: it has no key or no certificate.
    PluginUnready,
    /// The owner gave an address without its key.
    KeyMissing,
    /// The owner does not want it to be used.
    SwitchedOff,
    Unreachable,
    /// Something with another certificate answers.
    CertificateRejected,
    KeyRejected,
    TimedOut,
    /// The vault is behind a server that has no app.
    NoAppThere,
    /// The same, whose owner has not opened the commands of its app.
    CommandsOffThere,
    /// This version of the plugin cannot do that, or does not know what was named.
    NotOffered,
    /// It answered with an error, or with something else than was asked for.
    Failing {
        status: Option<u16>,
    },
}

impl AppFault {
    /// Whether there is no app of this vault to be asked. Otherwise there is one, and what it would have said is not known.
    pub fn is_absence(self) -> bool {
        match self {
            Self::NotSetUp
            | Self::PluginOff
            | Self::PluginUnready
            | Self::KeyMissing
            | Self::SwitchedOff
            | Self::Unreachable
            | Self::CertificateRejected
            | Self::NoAppThere
            | Self::CommandsOffThere
            | Self::NotOffered => true,
            Self::KeyRejected | Self::TimedOut | Self::Failing { .. } => false,
        }
    }
}

/// What the app was needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppNeed {
    ActiveNote,
    ListCommands,
    RunCommand,
    Omnisearch,
}

/// What the app is told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppAction {
    Open {
        path: VaultPath,
        /// In a new tab.
        new_leaf: bool,
    },
    RunCommand(AppCommand),
}

impl AppAction {
    /// A command may do anything; what is opened can be closed.
    pub fn effect(&self) -> Effect {
        match self {
            Self::Open { .. } => Effect::Read,
            Self::RunCommand(_) => Effect::Destroy,
        }
    }

    pub(crate) fn digest(&self, changes: ContentHash) -> ContentHash {
        let identity = match self {
            // What was shown for approval is the path and where it opens; of a command the id, because that is what the
            // app runs.
            Self::Open { path, new_leaf } => format!("open {new_leaf} {path}"),
            Self::RunCommand(AppCommand { id, .. }) => format!("run {id}"),
        };
        ContentHash::of(format!("{changes}\n{identity}").as_bytes())
    }

    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Open { path, .. } => format!("open {} in Obsidian", quoted_path(path)),
            Self::RunCommand(AppCommand { id, name }) => {
                format!("run the command {} ({}) in Obsidian", quoted(name), quoted(id))
            }
        }
    }

    /// For the log.
    pub fn logged(&self) -> String {
        match self {
            // The line has the path already, as the file of the call.
            Self::Open { .. } => "open".to_owned(),
            Self::RunCommand(AppCommand { id, .. }) => format!("command {id}"),
        }
    }
}
