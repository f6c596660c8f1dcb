//! The files of one vault in the state folder.

use std::path::{Path, PathBuf};

use crate::posix::StateFolder;

use super::disk_facts::open_to_others;

/// What is saved about a vault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedState {
    /// Of the saved index; `None` if there is none yet.
    pub index_bytes: Option<u64>,
    /// Our files that other users of this computer may read.
    pub exposed: Vec<PathBuf>,
}

impl StateFolder {
    /// Looks at the files of this vault; no folder is made.
    pub fn saved(&self) -> std::io::Result<SavedState> {
        let index = self.file("index.db")?;
        let folder = index.parent().unwrap_or(&index);
        let exposed = match std::fs::read_dir(folder) {
            Ok(entries) => entries.filter_map(|entry| exposed(&entry.ok()?.path())).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(SavedState { index_bytes: std::fs::metadata(&index).ok().map(|found| found.len()), exposed })
    }
}

fn exposed(path: &Path) -> Option<PathBuf> {
    (open_to_others(path) == Some(true)).then(|| path.to_owned())
}
