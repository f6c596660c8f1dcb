use std::sync::Arc;

use lapidary_vault::{File, VaultPath, View};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Reason,
    shared::reading::{files_beside, parse_path, read},
};

/// Which note.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum Target {
    Path {
        /// Path in the vault with its extension, e.g. `Projects/Plan.md`.
        #[schemars(length(min = 1))]
        path: String,
    },
}

/// A note that was asked for.
pub(crate) struct Found {
    pub(crate) path: VaultPath,
    pub(crate) file: Arc<File>,
    /// What was asked for, where it differs in case from what is there.
    pub(crate) requested: Option<VaultPath>,
}

impl Target {
    /// Where the note is, or would be.
    pub(crate) fn locate(&self) -> Result<VaultPath, Reason> {
        let Self::Path { path } = self;
        parse_path(path)
    }

    /// The note, also when only the case of its name is wrong and nothing else could be meant.
    pub(crate) fn find(&self, view: &View) -> Result<Found, Reason> {
        let path = self.locate()?;
        let missing = match read(view, &path) {
            Ok(file) => return Ok(Found { path, file, requested: None }),
            Err(reason @ Reason::NoteMissing { .. }) => reason,
            Err(reason) => return Err(reason),
        };
        let wanted = path.name().to_lowercase();
        let mut matches = files_beside(view, &path);
        matches.retain(|file| file.name().to_lowercase() == wanted);
        match &matches[..] {
            [] => Err(missing),
            [only] => Ok(Found { file: read(view, only)?, path: only.clone(), requested: Some(path) }),
            _ => Err(Reason::AmbiguousPath { path, matches }),
        }
    }
}
