//! Why a call was refused. The model reads this, so every reason carries the data needed to go on and names the next
//! step.

#[macro_use]
mod define;

mod advice;
mod app;
mod kind;
mod offered;
mod overtaken;
mod part;
mod remote;
mod server;
mod store;
mod table;
mod web;
mod words;

use std::time::Duration;

use lapidary_note::ContentHash;
use lapidary_vault::PathDenied;
use serde_json::{Map, Value};

use crate::quote::Prose;

pub use kind::WireCode;
pub use offered::OfferedTools;
pub use part::{BlockCandidate, FilePart, HeadingCandidate, NearText, PartCandidates, TaskCandidate};
pub use table::{Reason, ReasonKind};

/// One problem with the arguments, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// Dotted path to the argument; empty for the arguments as a whole.
    pub at: String,
    pub problem: Prose,
    /// The known name that was probably meant.
    pub nearest: Option<String>,
}

/// What a name that is already taken was wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameWanted {
    New,
    /// The note of a recipe.
    Recipe,
    /// A file that its tool writes as a whole.
    Whole,
    /// One of the files of an archive.
    Unpacked,
    Moved,
    /// A file that was moved away and should be put back.
    Back,
}

/// Why a path is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathRefusal {
    ByScope(PathDenied),
    /// A link that points out of the vault.
    LeadsOutside,
    /// A link to a part of the vault that may not be changed.
    LeadsToClosed,
    /// Rules close different parts of the two folders, so the contents cannot be moved without checking each file.
    PartlyClosed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    TakenBack,
    Deadline {
        allowed: Duration,
    },
    /// The disk did not respond, or did not confirm, during a change.
    WriteUnfinished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    NotPermitted,
    ReadOnly,
    Full,
    BadName,
    /// Another operating system would refuse the name.
    NotPortable,
    /// `.trash` in the vault exists but is not a folder.
    NoTrash,
    /// The folder that holds the server's own state.
    NoState,
    VaultGone,
    Failing,
}

/// Why an archive is not extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveProblem {
    /// It is not a zip archive, or its bytes contradict each other.
    Broken,
    Encrypted,
    /// It is compressed in a way that is not supported.
    Method,
    /// A link or a device instead of a file.
    NotAFile,
    /// The name leaves the folder, or no vault can hold it.
    Name,
    /// Two entries have the same name.
    Twice,
    /// Some of its bytes belong to two entries.
    Overlap,
    TooManyEntries {
        limit: usize,
    },
    /// A file that is larger than any may be.
    LargeEntry {
        limit: usize,
    },
    /// A few bytes become so many that it was made to do harm.
    Ratio,
    Empty,
}

impl ArchiveProblem {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Encrypted => "encrypted",
            Self::Method => "method",
            Self::NotAFile => "not_a_file",
            Self::Name => "name",
            Self::Twice => "twice",
            Self::Overlap => "overlap",
            Self::TooManyEntries { .. } => "too_many_entries",
            Self::LargeEntry { .. } => "large_entry",
            Self::Ratio => "ratio",
            Self::Empty => "empty",
        }
    }

    pub(crate) fn words(self) -> String {
        match self {
            Self::Broken => "is damaged, or is not a zip archive".to_owned(),
            Self::Encrypted => "is encrypted".to_owned(),
            Self::Method => "is compressed in a way that is not supported".to_owned(),
            Self::NotAFile => "is a link or a device".to_owned(),
            Self::Name => "has a name that leaves the folder, or that no vault can hold".to_owned(),
            Self::Twice => "has a name that is in it more than once".to_owned(),
            Self::Overlap => "has entries that share their bytes".to_owned(),
            Self::TooManyEntries { limit } => format!("has more than {limit} entries"),
            Self::LargeEntry { limit } => format!("has more than {limit} bytes, the limit LAPIDARY_MAX_FILE_BYTES"),
            Self::Ratio => "unpacks to far more than its size explains".to_owned(),
            Self::Empty => "has no files".to_owned(),
        }
    }
}

/// Enough of a caller's text to recognise it.
pub fn clipped(given: &str) -> String {
    const SHOWN: usize = 200;
    match given.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &given[..end]),
        None => given.to_owned(),
    }
}

impl Reason {
    /// The server's own state folder cannot be used.
    pub fn no_state() -> Self {
        Self::Disk { path: None, problem: DiskFault::NoState }
    }

    /// One argument that cannot be used.
    pub fn bad_argument(tool: &str, at: &str, problem: impl Into<Prose>) -> Self {
        let problem = ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None };
        Self::InvalidArguments { tool: tool.to_owned(), problems: vec![problem] }
    }

    /// The same with what was probably meant.
    pub fn misspelt_argument(tool: &str, at: &str, problem: impl Into<Prose>, nearest: String) -> Self {
        let problem = ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: Some(nearest) };
        Self::InvalidArguments { tool: tool.to_owned(), problems: vec![problem] }
    }

    /// The hash that a retry can expect, if known.
    pub fn current_hash(&self) -> Option<ContentHash> {
        match self {
            Self::Stale { current, .. } => *current,
            Self::Overtaken { current, .. }
            | Self::FileExists { current, .. }
            | Self::DestinationExists { current, .. }
            | Self::StalePart { current, .. }
            | Self::PatchMismatch { current, .. } => Some(*current),
            Self::InStep { reason, .. } => reason.current_hash(),
            _ => None,
        }
    }

    /// All hashes that a retry can expect, named as in the file tools.
    pub fn current_hashes(&self) -> Map<String, Value> {
        if let Self::InStep { reason, .. } = self {
            return reason.current_hashes();
        }
        let part = match self {
            Self::StalePart { part, found: Some(found), .. } => Some((*part, *found)),
            _ => None,
        };
        part::current(self.current_hash(), part)
    }
}
