//! The owner's settings in Obsidian, as far as tools need them. The files themselves are closed to every caller; only
//! the location of notes leaves here, which the app shows to every user of the vault.

use lapidary_query::{Period, WeekRule};
use serde_json::Value;

use lapidary_store::{Backend, StoreError, VaultPath};

/// Where the notes of a period are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodicNotes {
    /// Empty for the vault itself.
    pub folder: String,
    /// In the notation of moment.js.
    pub format: String,
    pub week: WeekRule,
    /// Its template, as the owner names it.
    pub template: Option<String>,
    /// The formats of `{{date}}` and `{{time}}` in it.
    pub date_format: String,
    pub time_format: String,
    /// The plugins insert the name of the note for `{{date}}`, the app the day.
    pub date_is_title: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings in {file} cannot be read")]
    Unreadable { file: &'static str },
    #[error("the vault's folder does not exist")]
    VaultGone,
}

pub(crate) const CORE_PLUGINS: &str = ".obsidian/core-plugins.json";
pub(crate) const COMMUNITY_PLUGINS: &str = ".obsidian/community-plugins.json";
pub(crate) const DAILY_NOTES: &str = ".obsidian/daily-notes.json";
pub(crate) const PERIODIC_NOTES: &str = ".obsidian/plugins/periodic-notes/data.json";
pub(crate) const TEMPLATES: &str = ".obsidian/templates.json";
pub(crate) const CALENDAR: &str = ".obsidian/plugins/calendar/data.json";

/// Larger than any settings of these plugins.
const MAX_SETTINGS_BYTES: u64 = 1_000_000;

/// Where the notes of a period are; `None` if they are not enabled. The plugin Periodic Notes wins over Obsidian's own
/// daily notes and the weekly notes of the plugin Calendar.
pub(crate) fn periodic_notes(store: &dyn Backend, period: Period) -> Result<Option<PeriodicNotes>, SettingsError> {
    let PeriodicPlugins { periodic, calendar } = PeriodicPlugins::read(store)?;
    // Either plugin may define the first day of the week, for the notes of all periods.
    let week = week_rule(periodic.as_ref()).or_else(|| week_rule(calendar.as_ref())).unwrap_or(WeekRule::ENGLISH);
    // It only affects how a template is filled, so it need not be readable.
    let templates = read(store, TEMPLATES).ok().flatten().unwrap_or_default();
    // A blank setting counts as unset.
    let set = |settings: &Value, name: &str| Some(text(settings, name).trim().to_owned()).filter(|set| !set.is_empty());
    let notes = |settings: &Value, [folder, format, template]: [&str; 3]| PeriodicNotes {
        folder: text(settings, folder).trim().trim_matches('/').to_owned(),
        format: set(settings, format).unwrap_or_else(|| period.default_format().to_owned()),
        week,
        // The plugin has used both names.
        template: set(settings, template).or_else(|| set(settings, "templatePath")),
        date_format: set(&templates, "dateFormat").unwrap_or_else(|| "YYYY-MM-DD".to_owned()),
        time_format: set(&templates, "timeFormat").unwrap_or_else(|| "HH:mm".to_owned()),
        date_is_title: true,
    };
    const NAMES: [&str; 3] = ["folder", "format", "template"];
    if let Some(settings) = periodic.as_ref().and_then(|all| of_period(all, period)) {
        return Ok(Some(notes(settings, NAMES)));
    }
    Ok(match (period, calendar) {
        (Period::Daily, _) if daily_notes_are_on(store)? => {
            let daily = notes(&read(store, DAILY_NOTES)?.unwrap_or_default(), NAMES);
            Some(PeriodicNotes { date_is_title: false, ..daily })
        }
        (Period::Weekly, Some(calendar)) => {
            Some(notes(&calendar, ["weeklyNoteFolder", "weeklyNoteFormat", "weeklyNoteTemplate"]))
        }
        _ => None,
    })
}

/// The settings of the plugins that have periodic notes, of those that are on.
struct PeriodicPlugins {
    periodic: Option<Value>,
    calendar: Option<Value>,
}

impl PeriodicPlugins {
    fn read(store: &dyn Backend) -> Result<Self, SettingsError> {
        Ok(Self {
            periodic: of_plugin(store, "periodic-notes", PERIODIC_NOTES)?,
            calendar: of_plugin(store, "calendar", CALENDAR)?,
        })
    }
}

/// The settings of a community plugin; `None` if it is off or has none.
pub(crate) fn of_plugin(store: &dyn Backend, id: &str, file: &'static str) -> Result<Option<Value>, SettingsError> {
    let plugins = read(store, COMMUNITY_PLUGINS)?;
    let ids = plugins.as_ref().and_then(Value::as_array);
    if ids.is_some_and(|ids| ids.iter().any(|one| one == id)) { read(store, file) } else { Ok(None) }
}

/// How the owner counts weeks. Where no plugin says it, they begin on Monday, as in Dataview. Unreadable settings say
/// nothing.
pub(crate) fn owners_week(store: &dyn Backend) -> WeekRule {
    let Ok(PeriodicPlugins { periodic, calendar }) = PeriodicPlugins::read(store) else { return WeekRule::ISO };
    week_rule(periodic.as_ref()).or_else(|| week_rule(calendar.as_ref())).unwrap_or(WeekRule::ISO)
}

/// The settings of Periodic Notes for a period, if enabled: under the name of the period, or since 1.0 in the active
/// set of calendars.
fn of_period(all: &Value, period: Period) -> Option<&Value> {
    let new_name = match period {
        Period::Daily => "day",
        Period::Weekly => "week",
        Period::Monthly => "month",
        Period::Quarterly => "quarter",
        Period::Yearly => "year",
    };
    let active = &all["activeCalendarSet"];
    let set = all["calendarSets"].as_array().and_then(|sets| sets.iter().find(|set| set["id"] == *active));
    let settings = set.map_or_else(|| &all[period.name()], |set| &set[new_name]);
    // A period that is off keeps its settings.
    (settings["enabled"] == true).then_some(settings)
}

/// How a plugin counts weeks, if configured.
fn week_rule(settings: Option<&Value>) -> Option<WeekRule> {
    let settings = settings?;
    let set = |name: &str, unset: &str| Some(text(settings, name)).filter(|set| !set.is_empty() && *set != unset);
    let (locale, start) = (set("localeOverride", "system-default"), set("weekStart", "locale"));
    if locale.is_none() && start.is_none() {
        return None;
    }
    let rule = locale.map_or(WeekRule::ENGLISH, WeekRule::of_locale);
    Some(start.map_or(rule, |day| rule.starting_on(day)))
}

/// Obsidian's own plugins are in a list of enabled ones, or, now, each with a flag. These notes are enabled by default.
fn daily_notes_are_on(store: &dyn Backend) -> Result<bool, SettingsError> {
    const ID: &str = "daily-notes";
    Ok(match read(store, CORE_PLUGINS)? {
        Some(Value::Array(ids)) => ids.iter().any(|id| id == ID),
        Some(plugins) => plugins[ID] != false,
        None => true,
    })
}

pub(crate) fn text<'v>(settings: &'v Value, name: &str) -> &'v str {
    settings[name].as_str().unwrap_or_default()
}

pub(crate) fn read(store: &dyn Backend, file: &'static str) -> Result<Option<Value>, SettingsError> {
    let unreadable = SettingsError::Unreadable { file };
    let path = VaultPath::parse(file).map_err(|_| unreadable)?;
    // Past every rule: the settings are closed to callers, but the server needs them.
    match store.read(&path, MAX_SETTINGS_BYTES, &|_| true) {
        Ok(found) => {
            // Settings that were edited by hand on Windows may begin with a byte order mark.
            let bytes = found.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&found.bytes);
            serde_json::from_slice(bytes).map(Some).map_err(|_| unreadable)
        }
        // A file in place of a folder is not a setting either.
        Err(StoreError::Missing | StoreError::IsFolder | StoreError::NotAFile) => Ok(None),
        Err(StoreError::VaultGone) => Err(SettingsError::VaultGone),
        Err(_) => Err(unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    fn found(files: &[(&str, &str)], period: Period) -> Result<Option<(String, String, WeekRule)>, SettingsError> {
        let file = |(path, text): &(&str, &str)| (VaultPath::parse(path).unwrap(), text.as_bytes().to_vec());
        let notes = periodic_notes(&MemoryStore::new(files.iter().map(file)), period)?;
        Ok(notes.map(|notes| (notes.folder, notes.format, notes.week)))
    }

    fn notes(folder: &str, format: &str, week: WeekRule) -> Result<Option<(String, String, WeekRule)>, SettingsError> {
        Ok(Some((folder.to_owned(), format.to_owned(), week)))
    }

    const BOTH: (&str, &str) = (COMMUNITY_PLUGINS, r#"["calendar", "periodic-notes"]"#);

    #[test]
    fn daily_notes_are_where_obsidian_keeps_them() {
        let plain = notes("", "YYYY-MM-DD", WeekRule::ENGLISH);
        assert_eq!(found(&[], Period::Daily), plain);
        assert_eq!(found(&[(CORE_PLUGINS, r#"{"daily-notes": true}"#)], Period::Daily), plain);
        assert_eq!(found(&[(CORE_PLUGINS, r#"["daily-notes"]"#), (DAILY_NOTES, "{}")], Period::Daily), plain);
        let set = (DAILY_NOTES, "\u{feff}{\"folder\": \"/Daily/\", \"format\": \"YYYY/MM/DD\"}");
        assert_eq!(found(&[set], Period::Daily), notes("Daily", "YYYY/MM/DD", WeekRule::ENGLISH));
        for off in [r#"{"daily-notes": false}"#, r#"["templates"]"#] {
            assert_eq!(found(&[(CORE_PLUGINS, off), set], Period::Daily), Ok(None), "{off}");
        }
        for period in [Period::Weekly, Period::Monthly, Period::Quarterly, Period::Yearly] {
            assert_eq!(found(&[], period), Ok(None));
        }
    }

    #[test]
    fn plugins_count_if_they_are_on() {
        let periodic = (
            PERIODIC_NOTES,
            r#"{"daily": {"format": "", "folder": "P", "enabled": true}, "weekly": {"folder": "W", "format": "GGGG-[W]WW", "enabled": true}, "monthly": {"folder": "M"}}"#,
        );
        let calendar = (CALENDAR, r#"{"weeklyNoteFolder": "C", "weekStart": "monday"}"#);
        let english_from_monday = WeekRule::ENGLISH.starting_on("monday");
        assert_eq!(found(&[BOTH, periodic], Period::Daily), notes("P", "YYYY-MM-DD", WeekRule::ENGLISH));
        assert_eq!(found(&[BOTH, periodic, calendar], Period::Weekly), notes("W", "GGGG-[W]WW", english_from_monday));
        assert_eq!(found(&[BOTH, calendar], Period::Weekly), notes("C", "gggg-[W]ww", english_from_monday));
        assert_eq!(found(&[BOTH, periodic], Period::Monthly), Ok(None), "set, and not on");
        assert_eq!(found(&[periodic, calendar], Period::Weekly), Ok(None), "neither is on");
    }

    #[test]
    fn newer_settings_have_sets_of_calendars() {
        let periodic = (
            PERIODIC_NOTES,
            r#"{"activeCalendarSet": "b", "localeOverride": "de", "weekStart": "locale", "calendarSets": [
                {"id": "a", "year": {"enabled": true, "folder": "A"}},
                {"id": "b", "year": {"enabled": true, "folder": "B", "format": "[y]YYYY"}, "week": {"enabled": false}}]}"#,
        );
        assert_eq!(found(&[BOTH, periodic], Period::Yearly), notes("B", "[y]YYYY", WeekRule::ISO));
        assert_eq!(found(&[BOTH, periodic], Period::Weekly), Ok(None));
    }

    #[test]
    fn settings_that_cannot_be_read_are_not_guessed() {
        for (file, period) in
            [(DAILY_NOTES, Period::Daily), (CORE_PLUGINS, Period::Daily), (COMMUNITY_PLUGINS, Period::Weekly)]
        {
            assert_eq!(found(&[(file, "{")], period), Err(SettingsError::Unreadable { file }));
        }
        assert_eq!(found(&[(DAILY_NOTES, "[1]")], Period::Daily), notes("", "YYYY-MM-DD", WeekRule::ENGLISH));
    }
}
