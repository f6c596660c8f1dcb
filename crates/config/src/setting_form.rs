//! How a setting is typed. A setting says that itself: its refusal of a value that cannot be right names what would be.

use super::config_paths::ConfigPlaces;
use super::draft::ConfigDraft;
use super::raw::{GivenValue, RawValue, ValueOrigin};
use super::refused::ConfigRefusal;
use super::setting::Setting;
use super::settings_text::SettingValue;

/// What a field for a setting takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingForm {
    Toggle,
    Number {
        least: String,
        most: String,
    },
    Choice(Vec<&'static str>),
    Line,
    /// Texts, one a line.
    List,
    /// Tables; edited in the file.
    Table,
}

/// No setting takes this.
const NONSENSE: &str = "\u{1}";

impl SettingForm {
    pub(super) fn of(setting: &'static Setting, places: &ConfigPlaces<'_>) -> Self {
        // A fresh draft for each try: applying a value changes it.
        let refusal = |raw: RawValue| {
            let mut draft = ConfigDraft::new(places);
            let given = GivenValue { setting, raw, place: ValueOrigin::Flag("") };
            (setting.apply)(&mut draft, &given).err()
        };
        let text = |text: &str| RawValue::Text(text.to_owned());
        match refusal(text(NONSENSE)) {
            Some(ConfigRefusal::NotBoolean { .. }) => return Self::Toggle,
            Some(ConfigRefusal::NotNumber { least, most, .. }) => return Self::Number { least, most },
            Some(ConfigRefusal::NotOneOf { allowed, .. }) => return Self::Choice(allowed),
            _ => {}
        }
        // Any refusal other than that of the shape means that the shape itself was accepted.
        let takes = |raw: RawValue| !matches!(refusal(raw), Some(ConfigRefusal::Shape { .. }));
        match () {
            // A table before a list: settings that take both, such as `vaults`, are edited as text.
            () if takes(RawValue::Table(Vec::new())) => Self::Table,
            () if takes(RawValue::List(vec![text(NONSENSE)])) => Self::List,
            () => Self::Line,
        }
    }

    /// The value that was typed. The parser of the configuration decides whether it is valid.
    pub fn value(&self, typed: &str) -> Option<SettingValue> {
        let text = || SettingValue::Text(typed.trim().to_owned());
        match self {
            // What does not parse is passed on as text, so that the refusal is that of the parser, with its words.
            Self::Toggle => Some(typed.trim().parse().map_or_else(|_| text(), SettingValue::Toggle)),
            Self::Number { .. } => Some(typed.trim().parse().map_or_else(|_| text(), SettingValue::Number)),
            Self::Choice(_) | Self::Line => Some(text()),
            Self::List => {
                let entries = typed.lines().map(str::trim).filter(|entry| !entry.is_empty());
                Some(SettingValue::List(entries.map(str::to_owned).collect()))
            }
            // Tables have no field; the console shows the whole file for them.
            Self::Table => None,
        }
    }
}
