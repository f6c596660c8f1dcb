//! Finds our own files that were moved.

use std::{collections::BTreeSet, io};

use super::{OpenedFolder, walk::passed_over};
use crate::{VaultPath, posix::StoreError};

/// The one hidden folder that people move things into, by deleting them.
const TRASH: &str = ".trash";

impl OpenedFolder {
    /// Where in the vault files with these names are, without following links.
    pub(super) fn seek(&self, names: &BTreeSet<&str>) -> Result<Vec<VaultPath>, StoreError> {
        let (mut found, mut ahead) = (Vec::new(), vec![None]);
        while let Some(folder) = ahead.pop() {
            match self.seek_in(folder.as_ref(), names, &mut found) {
                Ok(folders) => ahead.extend(folders.into_iter().map(Some)),
                Err(error) => passed_over(error)?,
            }
            // Names are random, so there is no second file of the same name to look for.
            if found.len() == names.len() {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the folders that are in it.
    fn seek_in(
        &self,
        folder: Option<&VaultPath>,
        names: &BTreeSet<&str>,
        found: &mut Vec<VaultPath>,
    ) -> Result<Vec<VaultPath>, StoreError> {
        let mut folders = Vec::new();
        for entry in self.folder_at(folder)?.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_ours = names.contains(name);
            // The trash is searched too: a person may have deleted the folder that contains our file.
            if name.starts_with('.') && name != TRASH && !is_ours {
                continue;
            }
            let kind = match entry.file_type() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                kind => kind?,
            };
            let Some(path) = VaultPath::spelt_in(folder, name) else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if is_ours && kind.is_file() {
                found.push(path);
            }
        }
        Ok(folders)
    }
}
