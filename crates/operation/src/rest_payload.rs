//! What the REST API learns of a vault, before it is turned into a response.

use std::sync::Arc;

use lapidary_vault::{File, VaultPath};
use serde_json::Value;

/// The answer to a request of the REST API that reads.
pub enum RestPayload {
    Place(RestPlace),
    /// In the form that the API sends.
    Json(Value),
    Periodic(RestPeriodic),
    OpenNote(RestOpenNote),
}

/// The note that is open in the app.
pub enum RestOpenNote {
    Note(VaultPath),
    /// None that the caller may see.
    Nothing,
    /// There is no app to ask.
    Unknown,
}

/// What a path leads to.
pub enum RestPlace {
    /// The names in a folder; those of folders end with a slash.
    Folder(Vec<String>),
    /// A file, and the parts of the path behind it, which address a part of the file.
    File { path: VaultPath, file: Arc<File>, rest: Vec<String> },
    /// Nothing that the caller may see.
    Nothing,
}

/// A periodic note.
pub struct RestPeriodic {
    pub path: VaultPath,
    /// The text that it begins with, if it has to be created.
    pub template: Option<String>,
}

impl RestPayload {
    /// How long the answer is, for the log.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Place(RestPlace::Folder(names)) => names.iter().map(|name| name.len() + 8).sum(),
            Self::Place(RestPlace::File { file, .. }) => file.content.len(),
            Self::Place(RestPlace::Nothing) | Self::Json(_) | Self::Periodic(_) | Self::OpenNote(_) => 0,
        }
    }
}
