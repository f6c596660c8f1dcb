//! Obsidian as files on this disk: its list of vaults, and its Local REST API plugin.

use std::path::{Path, PathBuf};

use lapidary_config::ChosenVault;
use lapidary_vault::store::{folder_exists, is_same_file, is_there, read_settings};
use serde_json::Value;

use super::finding::Finding;

const PLUGIN: &str = "obsidian-local-rest-api";

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
    findings.push(plugin(&settings));
    findings
}

fn plugin(settings: &Path) -> Finding {
    const WHAT: &str = "Local REST API plugin";
    let folder = settings.join("plugins").join(PLUGIN);
    if !is_there(&folder) {
        return Finding::ok(WHAT, "is not installed; it is only needed for what Obsidian itself has to do");
    }
    let enabled = json(&settings.join("community-plugins.json")).ok().flatten().unwrap_or_default();
    let is_enabled = enabled.as_array().is_some_and(|names| names.iter().any(|name| name == PLUGIN));
    if !is_enabled {
        return Finding::ok(WHAT, "is installed, but switched off in Obsidian");
    }
    match json(&folder.join("data.json")) {
        Ok(Some(data)) => {
            let port = |key: &str, otherwise: u64| data.get(key).and_then(Value::as_u64).unwrap_or(otherwise);
            let is_plain = data.get("enableInsecureServer").and_then(Value::as_bool).unwrap_or(false);
            let plain =
                if is_plain { format!(" and HTTP on port {}", port("insecurePort", 27123)) } else { String::new() };
            // The key itself is a secret.
            let has_key = data.get("apiKey").and_then(Value::as_str).is_some_and(|key| !key.is_empty());
            if has_key {
                Finding::ok(WHAT, format!("HTTPS on port {}{plain}", port("port", 27124)))
            } else {
                Finding::warning(WHAT, "has no key", "switch the plugin off and on in Obsidian; it makes one then")
            }
        }
        Ok(None) => Finding::warning(WHAT, "has no settings yet", "start Obsidian once; the plugin makes its key then"),
        Err(problem) => {
            Finding::warning(WHAT, format!("data.json: {problem}"), "reset the plugin's settings in Obsidian")
        }
    }
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
