//! The owner's settings in Obsidian where their files are closed: `lapidary serve --rest` shares the fields that are needed. One answer
//! counts for a moment, as a call may read several files.

use lapidary_store::{ElapsedTime, StoreError, StoredFile, VaultPath};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::{file_listing::FRESH, store_error};
use crate::{PluginConnection, PluginError};

/// What the other side last shared.
#[derive(Default)]
pub(super) struct FarSettings {
    newest: Mutex<Option<SharedAnswer>>,
}

#[derive(Clone)]
struct SharedAnswer {
    /// `None` from a plugin, which shares nothing.
    files: Option<Map<String, Value>>,
    asked: ElapsedTime,
}

impl FarSettings {
    /// Whether a file is one of Obsidian's settings.
    pub(super) fn has(path: &VaultPath) -> bool {
        path.as_str().starts_with(".obsidian/")
    }

    /// A file of settings, with the fields that are shared.
    pub(super) fn read(&self, connection: &PluginConnection, path: &VaultPath) -> Result<StoredFile, StoreError> {
        let files = self.files(connection)?.ok_or(StoreError::NotPermitted)?;
        match files.get(path.as_str()) {
            None => Err(StoreError::Missing),
            // It is there, and what it says is not for us.
            Some(Value::Null) => Err(StoreError::NotPermitted),
            Some(settings) => {
                Ok(StoredFile { bytes: settings.to_string().into_bytes(), modified: None, created: None })
            }
        }
    }

    fn files(&self, connection: &PluginConnection) -> Result<Option<Map<String, Value>>, StoreError> {
        if let Some(known) = self.newest.lock().as_ref().filter(|known| known.asked.elapsed() < FRESH) {
            return Ok(known.files.clone());
        }
        // Before the request: what changes during it is older than the answer.
        let asked = ElapsedTime::start();
        let files = match connection.shared_settings() {
            Ok(files) => Some(files),
            // The plugin, or an earlier Lapidary.
            Err(
                PluginError::NotFound
                | PluginError::MethodNotAllowed
                | PluginError::Forbidden
                | PluginError::Unexpected,
            ) => None,
            Err(error) => return Err(store_error(error)),
        };
        *self.newest.lock() = Some(SharedAnswer { files: files.clone(), asked });
        Ok(files)
    }
}
