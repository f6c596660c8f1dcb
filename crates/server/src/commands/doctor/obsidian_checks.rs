//! Obsidian as files on this disk: its list of vaults, and its settings.

use std::path::{Path, PathBuf};

use lapidary_config::ChosenVault;
use lapidary_vault::store::{folder_exists, is_same_file, read_settings};
use serde_json::Value;

use super::finding::Finding;

/// Obsidian's settings in one vault. `known` are the vaults in its own list.
pub(super) fn look(vault: &ChosenVault, known: &[PathBuf]) -> Vec<Finding> {
    let settings = vault.path.join(".obsidian");
    if !folder_exists(&settings) {
        let advice = "if this is the right folder, open it once in Obsidian as a vault; otherwise choose the right one";
        return vec![Finding::warning("Obsidian", "has never opened this folder as a vault", advice)];
    }
    let is_listed = known.iter().any(|path| is_same_file(path, &vault.path));
    let listed = if is_listed { "lists this vault" } else { "has opened this vault, but not on this computer" };
    let mut findings = vec![Finding::ok("Obsidian", listed)];
    findings.extend(["app.json", "daily-notes.json", "community-plugins.json"].iter().filter_map(|name| {
        let problem = json(&settings.join(name)).err()?;
        let advice = "Obsidian falls back to its defaults, and so do we; restore the file or delete it";
        Some(Finding::warning("Obsidian", format!(".obsidian/{name}: {problem}"), advice))
    }));
    findings
}

/// A settings file; `None` if there is none. The text is not quoted: it may have keys.
fn json(path: &Path) -> Result<Option<Value>, String> {
    match read_settings(path) {
        Ok(text) => serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map(Some)
            .map_err(|error| format!("not JSON at line {}, column {}", error.line(), error.column())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
