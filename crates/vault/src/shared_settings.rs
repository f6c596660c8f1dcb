//! The owner's settings in Obsidian, as far as a vault that is reached over a network needs them: only fields that are read
//! here, and only those that the caller may know.

use lapidary_store::VaultPath;
use serde_json::{Map, Value};

use crate::{View, settings};

/// The files, and the names of their fields at any depth. In a list of names, only these stay.
const FILES: &[(&str, &[&str])] = &[
    (settings::CORE_PLUGINS, &["daily-notes"]),
    (
        settings::COMMUNITY_PLUGINS,
        &["periodic-notes", "calendar", "obsidian-tasks-plugin", "templater-obsidian", "dataview"],
    ),
    (settings::DAILY_NOTES, &["folder", "format", "template"]),
    (
        settings::PERIODIC_NOTES,
        &[
            "daily",
            "weekly",
            "monthly",
            "quarterly",
            "yearly",
            "day",
            "week",
            "month",
            "quarter",
            "year",
            "enabled",
            "folder",
            "format",
            "template",
            "templatePath",
            "activeCalendarSet",
            "calendarSets",
            "id",
            "localeOverride",
            "weekStart",
        ],
    ),
    (
        settings::CALENDAR,
        &["weeklyNoteFolder", "weeklyNoteFormat", "weeklyNoteTemplate", "localeOverride", "weekStart"],
    ),
    (settings::TEMPLATES, &["folder", "dateFormat", "timeFormat"]),
    (
        ".obsidian/plugins/obsidian-tasks-plugin/data.json",
        &["taskFormat", "setDoneDate", "setCancelledDate", "setCreatedDate", "recurrenceOnNextLine"],
    ),
    (".obsidian/plugins/templater-obsidian/data.json", &["templates_folder"]),
    (
        ".obsidian/plugins/dataview/data.json",
        &[
            "renderNullAs",
            "defaultDateFormat",
            "defaultDateTimeFormat",
            "tableIdColumnName",
            "inlineQueryPrefix",
            "inlineJsQueryPrefix",
            "dataviewJsKeyword",
            "allowHtml",
        ],
    ),
    (
        ".obsidian/app.json",
        &[
            "newLinkFormat",
            "useMarkdownLinks",
            "trashOption",
            "attachmentFolderPath",
            "newFileLocation",
            "newFileFolderPath",
        ],
    ),
];

/// Those whose values are paths of the vault.
const PATHS: &[&str] = &[
    "folder",
    "template",
    "templatePath",
    "weeklyNoteFolder",
    "weeklyNoteTemplate",
    "templates_folder",
    "attachmentFolderPath",
    "newFileFolderPath",
];

/// The settings that say where periodic notes are.
const PERIODIC: [&str; 3] = [settings::DAILY_NOTES, settings::PERIODIC_NOTES, settings::CALENDAR];

impl View {
    /// The settings of the owner by their files, for a program that has the vault through us; `null` for a file that cannot be read, or
    /// that names a place that is closed to the caller. `notes_are_open` says whether the notes of all periods are open to it, whose
    /// places a format may name too.
    pub fn shared_settings(&self, notes_are_open: bool) -> Map<String, Value> {
        let mut shared = Map::new();
        for (file, fields) in FILES {
            let is_open = notes_are_open || !PERIODIC.contains(file);
            let found = match settings::read(&*self.backend, file) {
                // Without the file, the defaults of the app apply.
                Ok(None) => continue,
                Ok(Some(found)) => kept(found, fields),
                Err(_) => Value::Null,
            };
            let is_shown = is_open && self.shows_places(&found);
            shared.insert((*file).to_owned(), if is_shown { found } else { Value::Null });
        }
        shared
    }

    /// Whether the caller may see every place that settings name.
    fn shows_places(&self, settings: &Value) -> bool {
        match settings {
            Value::Object(fields) => fields.iter().all(|(name, value)| match value {
                Value::String(place) if PATHS.contains(&name.as_str()) => self.shows_place(place),
                value => self.shows_places(value),
            }),
            Value::Array(values) => values.iter().all(|value| self.shows_places(value)),
            _ => true,
        }
    }

    fn shows_place(&self, place: &str) -> bool {
        // What is not a path names nothing in the vault.
        let Ok(path) = VaultPath::parse(place.trim().trim_start_matches("./").trim_matches('/')) else { return true };
        let below = VaultPath::parse(&format!("{path}/x.md"));
        // It may be a note or a folder, and rules are about either.
        self.shows(&path) && below.is_ok_and(|below| self.shows(&below))
    }
}

fn kept(settings: Value, names: &[&str]) -> Value {
    match settings {
        Value::Object(fields) => {
            let known = fields.into_iter().filter(|(name, _)| names.contains(&name.as_str()));
            known.map(|(name, value)| (name, kept(value, names))).collect()
        }
        Value::Array(values) => {
            let is_known = |value: &Value| value.as_str().is_none_or(|name| names.contains(&name));
            values.into_iter().filter(is_known).map(|value| kept(value, names)).collect()
        }
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_fields_that_are_read_are_shared() {
        let found = json!({
            "daily": { "enabled": true, "folder": "D", "secret": 1 },
            "token": "x",
            "calendarSets": [{ "id": "a", "day": { "format": "YYYY" }, "ctime": "2" }],
        });
        let fields = FILES.iter().find(|(file, _)| *file == settings::PERIODIC_NOTES).unwrap().1;
        assert_eq!(
            kept(found, fields),
            json!({
                "daily": { "enabled": true, "folder": "D" },
                "calendarSets": [{ "id": "a", "day": { "format": "YYYY" } }],
            })
        );
        let plugins = FILES.iter().find(|(file, _)| *file == settings::COMMUNITY_PLUGINS).unwrap().1;
        assert_eq!(kept(json!(["a-bank", "calendar"]), plugins), json!(["calendar"]));
    }
}
