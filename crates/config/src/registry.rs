//! Obsidian's own list of vaults, and the keys that its Local REST API plugin stores in them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ConfigFiles;
use super::config_paths::ConfigPlaces;
use super::file::is_absent;
use super::warning::ConfigWarning;

const PLUGIN_SETTINGS: &str = ".obsidian/plugins/obsidian-local-rest-api/data.json";

/// The vaults that Obsidian lists and that exist, sorted by path.
pub(super) struct ObsidianVaults {
    pub(super) vaults: Vec<PathBuf>,
    /// The lists that were searched.
    pub(super) looked_at: Vec<PathBuf>,
}

impl ObsidianVaults {
    pub(super) fn read(places: &ConfigPlaces<'_>, files: &dyn ConfigFiles, warnings: &mut Vec<ConfigWarning>) -> Self {
        let looked_at: Vec<PathBuf> =
            places.obsidian_folders().into_iter().map(|folder| folder.join("obsidian.json")).collect();
        let mut vaults: Vec<PathBuf> = looked_at
            .iter()
            .filter_map(|list| json(list, files, warnings))
            .flat_map(|list| paths(&list))
            // Entries stay in the list after a vault is moved or deleted.
            .filter(|path| files.is_folder(path))
            .collect();
        vaults.sort();
        // Two lists, of the packaged and of the Flatpak app, may have the same vault.
        vaults.dedup();
        Self { vaults, looked_at }
    }

    /// The vaults whose plugin has this key.
    pub(super) fn with_key(
        &self,
        key: &str,
        files: &dyn ConfigFiles,
        warnings: &mut Vec<ConfigWarning>,
    ) -> Vec<PathBuf> {
        // An unreadable file of one vault must not hide the vault that has the key.
        let mut has_key = |vault: &Path| {
            let settings = json(&vault.join(PLUGIN_SETTINGS), files, warnings)?;
            Some(settings.get("apiKey")?.as_str()? == key)
        };
        self.vaults.iter().filter(|vault| has_key(vault) == Some(true)).cloned().collect()
    }
}

fn paths(list: &Value) -> Vec<PathBuf> {
    // Obsidian keys its list by random ids, so only the paths in it mean anything.
    let vaults = list.get("vaults").and_then(Value::as_object);
    let path = |vault: &Value| vault.get("path")?.as_str().map(PathBuf::from);
    vaults.into_iter().flat_map(|vaults| vaults.values()).filter_map(path).collect()
}

/// A file of another program: a missing one is normal, a broken one is worth a warning, neither is fatal.
fn json(file: &Path, files: &dyn ConfigFiles, warnings: &mut Vec<ConfigWarning>) -> Option<Value> {
    let problem = match files.read(file) {
        Ok(text) => match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(value) => return Some(value),
            // The position, not the text: the text has keys.
            Err(error) => format!("not JSON at line {}, column {}", error.line(), error.column()),
        },
        Err(error) if is_absent(&error) => return None,
        Err(error) => error.to_string(),
    };
    warnings.push(ConfigWarning::Unreadable { file: file.to_owned(), problem });
    None
}
