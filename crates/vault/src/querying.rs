//! The vault as the query languages read it, with what the owner has set in the app.

use lapidary_index::{GoOn, IndexError, VaultRows};
use lapidary_query::{DataviewSettings, OwnerMarks};

use crate::{VaultPath, View};

const APP: &str = ".obsidian/app.json";
const BOOKMARKS: &str = ".obsidian/bookmarks.json";
const DATAVIEW: &str = ".obsidian/plugins/dataview/data.json";
/// Larger settings are a mistake.
const MAX_BYTES: u64 = 4 << 20;

impl View {
    /// The files that the caller may read, as rows. What the call has planned is among them.
    pub fn query_rows<'v>(&'v self, go_on: GoOn<'v>) -> Result<VaultRows<'v>, IndexError> {
        let marks = OwnerMarks::read(&self.settings(BOOKMARKS), &self.settings(APP));
        Ok(VaultRows::new(self.notes(go_on)?, marks, go_on))
    }

    /// What the owner has set in the Dataview plugin.
    pub fn dataview_settings(&self) -> DataviewSettings {
        DataviewSettings::read(&self.settings(DATAVIEW))
    }

    /// A file of settings, which no caller sees; empty if it is missing or cannot be read.
    fn settings(&self, path: &str) -> Vec<u8> {
        let Ok(path) = VaultPath::parse(path) else { return Vec::new() };
        self.backend.read(&path, MAX_BYTES, &|_| true).map_or_else(|_| Vec::new(), |file| file.bytes)
    }
}
