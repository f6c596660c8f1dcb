//! Obsidian's own settings of a vault, as far as they affect files. Callers never see the file.

use serde_json::Value;

use crate::{VaultPath, View, links::LinkFormat};

const APP: &str = ".obsidian/app.json";
/// Larger settings are a mistake.
const MAX_BYTES: u64 = 1 << 20;

/// From `app.json`; missing values are Obsidian's defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppSettings {
    /// `newLinkFormat`
    pub new_links: LinkFormat,
    /// `trashOption`
    pub deleted_files: DeletedFiles,
}

/// Where deleted files go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeletedFiles {
    #[default]
    SystemTrash,
    /// `.trash` in the vault.
    VaultTrash,
    Gone,
}

impl AppSettings {
    fn parse(app_json: &[u8]) -> Self {
        let Ok(Value::Object(settings)) = serde_json::from_slice(app_json) else { return Self::default() };
        let word = |key: &str| settings.get(key).and_then(Value::as_str).unwrap_or_default();
        Self {
            new_links: LinkFormat::parse(word("newLinkFormat")).unwrap_or_default(),
            deleted_files: match word("trashOption") {
                "local" => DeletedFiles::VaultTrash,
                "none" => DeletedFiles::Gone,
                // Obsidian's own default, also for values of a later version.
                _ => DeletedFiles::SystemTrash,
            },
        }
    }
}

impl View {
    /// Missing or unreadable settings are the defaults, as in Obsidian.
    pub fn app_settings(&self) -> AppSettings {
        let Ok(path) = VaultPath::parse(APP) else { return AppSettings::default() };
        // Regardless of the rules: callers see the effect of the settings, never the file.
        let read = self.backend.read(&path, MAX_BYTES, &|_| true);
        read.map_or_else(|_| AppSettings::default(), |file| AppSettings::parse(&file.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_or_invalid_settings_are_the_defaults() {
        let relative = AppSettings { new_links: LinkFormat::Relative, ..AppSettings::default() };
        let trash = |deleted_files| AppSettings { deleted_files, ..AppSettings::default() };
        for (json, expected) in [
            ("", AppSettings::default()),
            ("[]", AppSettings::default()),
            (r#"{"newLinkFormat": "relative"}"#, relative),
            (r#"{"newLinkFormat": 3, "trashOption": "bin"}"#, AppSettings::default()),
            (r#"{"trashOption": "local"}"#, trash(DeletedFiles::VaultTrash)),
            (r#"{"trashOption": "none"}"#, trash(DeletedFiles::Gone)),
            (r#"{"trashOption": "system"}"#, trash(DeletedFiles::SystemTrash)),
        ] {
            assert_eq!(AppSettings::parse(json.as_bytes()), expected, "{json}");
        }
    }
}
