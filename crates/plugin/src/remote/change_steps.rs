//! One request that changes a file. Its fate is known afterwards, or it is known that it is not.

use std::time::Duration;

use lapidary_note::ContentHash;
use lapidary_store::{StoreError, VaultPath};

use super::{
    change_plan::{FileRemoval, RemoteState},
    remote_files::RemoteFiles,
    store_error,
};
use crate::{PluginError, WriteCondition};

/// A request without an answer is sent again, once it is known that it was not carried out.
const ATTEMPTS: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// A file that has become larger than this is not one of ours.
pub(super) const MOST_COMPARED: u64 = 256 << 20;

/// Why a file was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StepFailure {
    /// It is as it was, or another program has changed it.
    NotDone(StoreError),
    /// The connection ended, and nothing says on which side of the change.
    Undecided(StoreError),
}

/// What a file is to hold.
pub(super) struct FileStep<'s> {
    pub(super) path: &'s VaultPath,
    pub(super) before: &'s RemoteState,
    /// `None` removes it.
    pub(super) after: Option<&'s [u8]>,
    pub(super) removal: FileRemoval,
}

impl FileStep<'_> {
    /// Changes the file if it still holds what it did.
    pub(super) fn take(&self, files: &RemoteFiles) -> Result<(), StepFailure> {
        let before = self.before.hash();
        let after = self.after.map(ContentHash::of);
        // Without a version the request has no condition, so the file is compared as late as possible.
        if self.before.version.is_none() {
            let found = hash_of(files, self.path).map_err(StepFailure::NotDone)?;
            if found != before {
                return Err(StepFailure::NotDone(changed(found, before)));
            }
        }
        let mut pause = FIRST_PAUSE;
        for attempt in 1..=ATTEMPTS {
            let error = match self.request(files) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            if error != PluginError::Changed && !error.is_undecided() && error != PluginError::NotFound {
                return Err(StepFailure::NotDone(store_error(error)));
            }
            // The answer may be about an attempt of ours that was carried out and not answered.
            let found = hash_of(files, self.path).map_err(StepFailure::Undecided)?;
            if found == after {
                return Ok(());
            }
            if found != before {
                return Err(StepFailure::NotDone(changed(found, before)));
            }
            if !error.is_undecided() || attempt == ATTEMPTS {
                return Err(StepFailure::NotDone(store_error(error)));
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        Ok(())
    }

    fn request(&self, files: &RemoteFiles) -> Result<(), PluginError> {
        // Sent once: a repetition could replace what another program wrote in between.
        let connection = files.connection.without_retries();
        let condition = match (&self.before.content, &self.before.version) {
            (Some(_), Some(version)) => WriteCondition::Version(version),
            (Some(_), None) => WriteCondition::Nothing,
            (None, _) => WriteCondition::NewFile,
        };
        let Some(bytes) = self.after else {
            return connection.delete_file(self.path, self.removal == FileRemoval::Gone, condition);
        };
        connection.put_file(self.path, bytes, condition).map(drop)
    }
}

/// What a file holds now.
pub(super) fn hash_of(files: &RemoteFiles, path: &VaultPath) -> Result<Option<ContentHash>, StoreError> {
    match files.read(path, MOST_COMPARED) {
        Ok(answer) => Ok(Some(ContentHash::of(&answer.bytes))),
        Err(StoreError::Missing) => Ok(None),
        Err(error) => Err(error),
    }
}

fn changed(found: Option<ContentHash>, before: Option<ContentHash>) -> StoreError {
    match (found, before) {
        (None, _) => StoreError::Missing,
        (Some(_), None) => StoreError::Exists,
        (Some(found), Some(_)) => StoreError::Changed { found },
    }
}
