//! How the owner wants the vaults to look: which notes are schemas of others, and which are kept up to date with every
//! change. And what a note lacks that its schema asks for.

use lapidary_vault::{Change, ChangeSet, PathPrefix, VaultPath};
use serde_json::{Value, json};

use crate::quote::{quoted, quoted_list};

/// The owner's settings. Without any, nothing is checked and nothing is kept up.
#[derive(Clone, Debug, Default)]
pub struct VaultShape {
    schemas: Option<(VaultPath, PathPrefix)>,
    /// Notes with a list of the notes in their folder.
    pub index_notes: Vec<VaultPath>,
    /// The note that gets a line for every change of an assistant.
    pub log_note: Option<VaultPath>,
}

impl VaultShape {
    /// With a folder whose notes are schemas, if there is one.
    pub fn new(schemas: Option<VaultPath>) -> Self {
        let prefixed = |folder: VaultPath| PathPrefix::parse(folder.as_str()).ok().map(|prefix| (folder, prefix));
        Self { schemas: schemas.and_then(prefixed), ..Self::default() }
    }

    /// The folder whose notes are schemas.
    pub fn schema_folder(&self) -> Option<&VaultPath> {
        self.schemas.as_ref().map(|(folder, _)| folder)
    }

    /// Whether a path is in that folder, in any case: some disks make no difference.
    pub fn is_schema(&self, path: &VaultPath) -> bool {
        self.schemas.as_ref().is_some_and(|(_, prefix)| prefix.covers(path))
    }

    /// Whether a change concerns the schemas, or a folder with them in it.
    pub fn changes_schemas(&self, changes: &ChangeSet) -> bool {
        let Some((_, prefix)) = &self.schemas else { return false };
        let takes_along = |change: &Change| matches!(change, Change::MoveFolder { .. } | Change::TrashFolder { .. });
        let touches =
            |change: &Change, path: &VaultPath| prefix.covers(path) || (takes_along(change) && prefix.is_within(path));
        changes.changes.iter().any(|change| change.paths().any(|path| touches(change, path)))
    }

    /// Whether a note is written by the server itself, beside what callers change.
    pub fn is_kept_up(&self, path: &VaultPath) -> bool {
        self.log_note.as_ref() == Some(path) || self.index_notes.contains(path)
    }
}

/// What a note lacks that its schema asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeProblem {
    MissingProperty {
        property: String,
    },
    WrongType {
        property: String,
        expected: &'static str,
        /// The type and the value that were found, if they may be shown.
        found: Option<(&'static str, String)>,
    },
    NotAllowed {
        property: String,
        allowed: Vec<String>,
        found: Option<String>,
    },
    MissingHeading {
        heading: String,
    },
}

/// A longer list of values is not read.
const SHOWN_VALUES: usize = 12;

impl ShapeProblem {
    /// A part of a sentence of ours, with all foreign text quoted.
    pub fn says(&self) -> String {
        match self {
            Self::MissingProperty { property } => format!("{} is missing", quoted(property)),
            Self::WrongType { property, expected, found } => {
                let found = found.as_ref();
                let found = found.map_or(String::new(), |(kind, value)| format!(", not {kind} ({})", quoted(value)));
                format!("{} must be {expected}{found}", quoted(property))
            }
            Self::NotAllowed { property, allowed, found } => {
                let shown = quoted_list(allowed.get(..SHOWN_VALUES).unwrap_or(allowed));
                let more = if allowed.len() > SHOWN_VALUES { ", …" } else { "" };
                let found = found.as_ref().map_or(String::new(), |found| format!(", not {}", quoted(found)));
                format!("{} must be one of {shown}{more}{found}", quoted(property))
            }
            Self::MissingHeading { heading } => format!("the heading {} is missing", quoted(heading)),
        }
    }

    /// The same for programs.
    pub(crate) fn data(&self) -> Value {
        match self {
            Self::MissingProperty { property } => json!({ "property": property, "problem": "missing" }),
            Self::WrongType { property, expected, found } => json!({
                "property": property, "problem": "type", "expected": expected,
                "found": found.as_ref().map(|(_, value)| value),
            }),
            Self::NotAllowed { property, allowed, found } => {
                // All values, as programs may choose from them.
                json!({ "property": property, "problem": "value", "expected": allowed, "found": found })
            }
            Self::MissingHeading { heading } => json!({ "heading": heading, "problem": "missing" }),
        }
    }

    /// Without what the note says, for a caller that may not read it.
    #[must_use]
    pub fn without_content(self) -> Self {
        match self {
            Self::WrongType { property, expected, .. } => Self::WrongType { property, expected, found: None },
            Self::NotAllowed { property, allowed, .. } => Self::NotAllowed { property, allowed, found: None },
            other => other,
        }
    }
}
