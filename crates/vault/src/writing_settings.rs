//! How the owner's app writes tasks, fills templates and names new notes, as far as tools do the same.

use serde_json::Value;

use crate::{
    settings::{SettingsError, TEMPLATES, of_plugin, read, text},
    store::Backend,
};

const TASKS: &str = ".obsidian/plugins/obsidian-tasks-plugin/data.json";
const APP: &str = ".obsidian/app.json";
const TEMPLATER: &str = ".obsidian/plugins/templater-obsidian/data.json";

/// How the Tasks plugin writes, if it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSettings {
    /// `[due:: 2026-04-14]` instead of `📅 2026-04-14`.
    pub in_dataview_fields: bool,
    pub sets_done_date: bool,
    pub sets_cancelled_date: bool,
    pub sets_created_date: bool,
    /// The next time of a recurring task is written below the last one instead of above it.
    pub next_is_below: bool,
}

/// Where templates are, and the formats of `{{date}}` and `{{time}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSettings {
    /// Those of Obsidian itself and of Templater, each once; empty for the vault itself.
    pub folders: Vec<String>,
    pub date_format: String,
    pub time_format: String,
}

/// Where the app puts a new note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewNotePlace {
    Root,
    /// Next to the note that is open.
    BesideNote,
    Folder(String),
}

/// Without readable settings nothing is known about the plugin, as if it were off.
pub(crate) fn tasks(store: &dyn Backend) -> Option<TaskSettings> {
    let settings = of_plugin(store, "obsidian-tasks-plugin", TASKS).ok().flatten()?;
    let is = |name: &str, default: bool| settings[name].as_bool().unwrap_or(default);
    Some(TaskSettings {
        in_dataview_fields: settings["taskFormat"] == "dataview",
        sets_done_date: is("setDoneDate", true),
        sets_cancelled_date: is("setCancelledDate", true),
        sets_created_date: is("setCreatedDate", false),
        next_is_below: is("recurrenceOnNextLine", false),
    })
}

pub(crate) fn templates(store: &dyn Backend) -> Result<TemplateSettings, SettingsError> {
    let core = read(store, TEMPLATES)?.unwrap_or_default();
    // Templater's folder only adds templates.
    let templater = of_plugin(store, "templater-obsidian", TEMPLATER).ok().flatten().unwrap_or_default();
    let or = |name: &str, default: &str| {
        Some(text(&core, name).trim()).filter(|set| !set.is_empty()).unwrap_or(default).to_owned()
    };
    let mut folders: Vec<String> = Vec::new();
    for (settings, name) in [(&core, "folder"), (&templater, "templates_folder")] {
        let folder = text(settings, name).trim().trim_matches('/').to_owned();
        // A vault whose templates are everywhere has none in particular.
        if !folder.is_empty() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    Ok(TemplateSettings {
        folders,
        date_format: or("dateFormat", "YYYY-MM-DD"),
        time_format: or("timeFormat", "HH:mm"),
    })
}

/// As Obsidian's default if its settings cannot be read.
pub(crate) fn new_note_place(store: &dyn Backend) -> NewNotePlace {
    let settings = read(store, APP).ok().flatten().unwrap_or_default();
    match text(&settings, "newFileLocation") {
        "current" => NewNotePlace::BesideNote,
        "folder" => NewNotePlace::Folder(folder(&settings, "newFileFolderPath")),
        _ => NewNotePlace::Root,
    }
}

fn folder(settings: &Value, name: &str) -> String {
    text(settings, name).trim().trim_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{VaultPath, store::MemoryStore};

    fn vault(files: &[(&str, &str)]) -> MemoryStore {
        let file = |(path, text): &(&str, &str)| (VaultPath::parse(path).unwrap(), text.as_bytes().to_vec());
        MemoryStore::new(files.iter().map(file))
    }

    #[test]
    fn the_tasks_plugin_counts_if_it_is_on() {
        let settings = (TASKS, r#"{"taskFormat": "dataview", "setDoneDate": false, "recurrenceOnNextLine": true}"#);
        assert_eq!(tasks(&vault(&[settings])), None);
        let on = (".obsidian/community-plugins.json", r#"["obsidian-tasks-plugin"]"#);
        let found = tasks(&vault(&[on, settings])).unwrap();
        assert!(found.in_dataview_fields && !found.sets_done_date && found.next_is_below && found.sets_cancelled_date);
        assert_eq!(tasks(&vault(&[on, (TASKS, "{")])), None, "nothing is guessed");
    }

    #[test]
    fn templates_are_where_the_owner_keeps_them() {
        let found = templates(&vault(&[])).unwrap();
        assert_eq!(
            (found.folders, found.date_format, found.time_format),
            (vec![], "YYYY-MM-DD".into(), "HH:mm".into())
        );
        let core = (TEMPLATES, r#"{"folder": "/Templates/", "timeFormat": "HH.mm"}"#);
        let on = (".obsidian/community-plugins.json", r#"["templater-obsidian"]"#);
        let templater = (TEMPLATER, r#"{"templates_folder": "Scripts"}"#);
        let found = templates(&vault(&[core, on, templater])).unwrap();
        assert_eq!(
            (found.folders, found.time_format),
            (vec!["Templates".to_owned(), "Scripts".to_owned()], "HH.mm".into())
        );
    }

    #[test]
    fn a_new_note_goes_where_the_app_would_put_it() {
        for (settings, expected) in [
            ("{}", NewNotePlace::Root),
            (r#"{"newFileLocation": "current"}"#, NewNotePlace::BesideNote),
            (r#"{"newFileLocation": "folder", "newFileFolderPath": "Inbox/"}"#, NewNotePlace::Folder("Inbox".into())),
            ("{", NewNotePlace::Root),
        ] {
            assert_eq!(new_note_place(&vault(&[(APP, settings)])), expected, "{settings}");
        }
    }
}
