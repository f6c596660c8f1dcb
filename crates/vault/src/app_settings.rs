//! Obsidian's own settings of a vault, as far as they affect files. Callers never see the file.

use serde_json::Value;

use crate::{VaultPath, View, links::LinkFormat};

const APP: &str = ".obsidian/app.json";
/// Larger settings are a mistake.
const MAX_BYTES: u64 = 1 << 20;

/// From `app.json`; missing values are Obsidian's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppSettings {
    /// `newLinkFormat`
    pub new_links: LinkFormat,
    /// `trashOption`
    pub deleted_files: DeletedFiles,
    /// `useMarkdownLinks`
    pub markdown_links: bool,
    /// `attachmentFolderPath`
    pub attachments: AttachmentPlace,
}

/// Where attachments go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AttachmentPlace {
    #[default]
    Root,
    Folder(VaultPath),
    /// The folder of the note, or one in it.
    BesideNote(Option<VaultPath>),
}

impl AttachmentPlace {
    fn parse(setting: &str) -> Self {
        let (is_beside, folder) = match setting.trim() {
            "." => (true, ""),
            setting => setting.strip_prefix("./").map_or((false, setting), |folder| (true, folder)),
        };
        let folder = VaultPath::parse(folder.trim_matches('/')).ok();
        match (is_beside, folder) {
            (true, folder) => Self::BesideNote(folder),
            (false, Some(folder)) => Self::Folder(folder),
            // Also for a setting that is not a path, as in the app.
            (false, None) => Self::Root,
        }
    }

    /// The folder for the attachments of a note; `None` is the vault itself.
    pub fn folder(&self, note: Option<&VaultPath>) -> Option<VaultPath> {
        match self {
            Self::Root => None,
            Self::Folder(folder) => Some(folder.clone()),
            Self::BesideNote(below) => match (note.and_then(VaultPath::folder), below) {
                (beside, None) => beside,
                (None, Some(below)) => Some(below.clone()),
                (Some(beside), Some(below)) => VaultPath::parse(&format!("{beside}/{below}")).ok(),
            },
        }
    }
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
            markdown_links: settings.get("useMarkdownLinks").and_then(Value::as_bool).unwrap_or_default(),
            attachments: AttachmentPlace::parse(word("attachmentFolderPath")),
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
            (r#"{"useMarkdownLinks": true}"#, AppSettings { markdown_links: true, ..AppSettings::default() }),
        ] {
            assert_eq!(AppSettings::parse(json.as_bytes()), expected, "{json}");
        }
    }

    #[test]
    fn attachments_go_where_each_form_of_the_setting_says() {
        let note = VaultPath::parse("a/b/Note.md").unwrap();
        for (setting, with_note, without) in [
            ("/", None, None),
            ("", None, None),
            ("Files/in", Some("Files/in"), Some("Files/in")),
            ("/Files/", Some("Files"), Some("Files")),
            ("./", Some("a/b"), None),
            (".", Some("a/b"), None),
            ("./sub", Some("a/b/sub"), Some("sub")),
            ("../up", None, None),
            ("./../up", Some("a/b"), None),
        ] {
            let place = AttachmentPlace::parse(setting);
            let folder = |note| place.folder(note).map(|folder| folder.to_string());
            assert_eq!((folder(Some(&note)).as_deref(), folder(None).as_deref()), (with_note, without), "{setting}");
        }
    }
}
