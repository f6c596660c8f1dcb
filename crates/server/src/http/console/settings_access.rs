//! The configuration file as the console reads, checks and writes it: with the same sources and the same parser as the
//! start of a server.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use lapidary_config::{CommonFlags, SettingsTextError, ShownSetting, VaultsConfig};
use lapidary_vault::store::SettingsFile;

use crate::{
    assemble::{ExecutorPurpose, assemble},
    commands::{configure_edited, sources},
    environment::ProcessEnvironment,
};

/// Where the settings of this process come from.
#[derive(Clone)]
pub(crate) struct SettingsAccess {
    flags: CommonFlags,
    surroundings: Arc<ProcessEnvironment>,
}

/// The settings as they are now on the disk.
pub(super) struct ReadSettings {
    pub(super) file: PathBuf,
    /// Nothing, if there is no file yet.
    pub(super) text: Option<String>,
    pub(super) shown: Vec<ShownSetting>,
}

impl ReadSettings {
    pub(super) fn is_json(&self) -> bool {
        let text = self.text.as_deref().unwrap_or_default();
        let is_named = self.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        is_named || text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
    }
}

impl SettingsAccess {
    pub(crate) fn new(flags: &CommonFlags, surroundings: &ProcessEnvironment) -> Self {
        Self { flags: flags.clone(), surroundings: Arc::new(surroundings.clone()) }
    }

    pub(super) fn read(&self) -> Result<ReadSettings, String> {
        // Without a vault: the page must open even if the configured vault is gone.
        let sources = sources(&self.flags, &self.surroundings, false);
        let file = lapidary_config::file_path(&sources).map_err(|error| error.to_string())?;
        let file = file.ok_or("there is no home folder; name a file with --config")?;
        let text = SettingsFile::new(&file).and_then(|settings| settings.read());
        let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
        let shown = lapidary_config::shown(&sources).map_err(|error| error.to_string())?;
        Ok(ReadSettings { file, text, shown })
    }

    /// Whether a server would start with this text: what it would warn of, or why not.
    pub(super) fn check(&self, file: &Path, text: &str) -> Result<Vec<String>, String> {
        // The same function as for the start of a server, with one file replaced in memory.
        let loaded = configure_edited(&self.flags, &self.surroundings, file, text)?;
        // The copy of the demo vault is not made for a check.
        if loaded.config.vaults != VaultsConfig::Demo {
            let purpose = ExecutorPurpose { every_profile: false, waits_for_index: false };
            // Assembled and dropped: profiles, rules and paths are only checked by that.
            assemble(&loaded.config, purpose).map_err(|error| error.to_string())?;
        }
        Ok(loaded.warnings)
    }

    /// Changes the text of the file, if a server would start with the result; for commands.
    pub(crate) fn change(
        &self,
        date: &str,
        edit: impl FnOnce(&str) -> Result<String, SettingsTextError>,
    ) -> Result<(), String> {
        let read = self.read()?;
        if read.is_json() {
            return Err(format!("{} is JSON, which is only edited by hand", read.file.display()));
        }
        let old = read.text.as_deref().unwrap_or_default();
        let text = edit(old).map_err(|error| format!("{}: {error}", read.file.display()))?;
        if text == old {
            return Ok(());
        }
        // Without a vault: a setting may be changed before there is one.
        let sources = sources(&self.flags, &self.surroundings, false);
        lapidary_config::load_edited(&sources, &read.file, &text).map_err(|error| error.to_string())?;
        self.write(&read, &text, date).map(drop)
    }

    /// Replaces the file if it is still as it was read; the result is where the old one is kept.
    pub(super) fn write(&self, read: &ReadSettings, text: &str, date: &str) -> Result<Option<PathBuf>, String> {
        let written =
            // Given the text that was read, so that a file that changed meanwhile is left alone.
            SettingsFile::new(&read.file).and_then(|settings| settings.replace(read.text.as_deref(), text, date));
        written.map_err(|error| format!("{}: {error}", read.file.display()))
    }
}
