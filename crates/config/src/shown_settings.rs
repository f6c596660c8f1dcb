//! The settings as they are, each with where its value comes from.

use std::path::PathBuf;

use super::config_paths::ConfigPlaces;
use super::error::ConfigError;
use super::raw::{GivenValue, RawValue, ValueOrigin};
use super::setting::{ReferenceSection, Setting, ShownDefault};
use super::setting_form::SettingForm;
use super::settings;
use super::variables::EnvironmentVariables;
use super::{ConfigSources, file, origins};

/// A setting for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSetting {
    pub section: &'static str,
    /// Its key in the file, or its variable or option if it has none.
    pub name: &'static str,
    pub variable: Option<&'static str>,
    pub flag: Option<&'static str>,
    /// As it is written, or its default. Secrets are hidden.
    pub value: String,
    /// Where it is written; nowhere, if it is the default.
    pub origin: Option<String>,
    pub about: &'static str,
    /// Its path in the file, if it has a place there.
    pub key: Option<&'static str>,
    pub form: SettingForm,
    pub source: SettingSource,
    /// As a form shows it, one entry a line; nothing for a default and for secrets.
    pub typed: String,
    pub is_secret: bool,
}

/// The kind of place that a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    Default,
    File,
    /// A line of `.env`.
    DotEnv,
    Variable,
    Flag,
}

impl SettingSource {
    /// Whether a value in the file would have no effect.
    pub fn wins_over_file(self) -> bool {
        matches!(self, Self::DotEnv | Self::Variable | Self::Flag)
    }
}

/// All settings in the order of the reference.
pub fn shown(sources: &ConfigSources<'_>) -> Result<Vec<ShownSetting>, ConfigError> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    let given = origins::layers(sources, &variables, &places)?;
    // From the end, because the last value counts; by address, as the tables are static.
    let last = |setting: &Setting| given.iter().rev().find(|given| std::ptr::eq(given.setting, setting));
    let of_section = |section: ReferenceSection| settings::in_section(section).map(move |setting| (section, setting));
    let all = ReferenceSection::ALL.into_iter().flat_map(of_section);
    Ok(all.map(|(section, setting)| one(section, setting, last(setting), &places)).collect())
}

/// The configuration file: the one that is named, or the usual one, which may not exist.
pub fn file_path(sources: &ConfigSources<'_>) -> Result<Option<PathBuf>, ConfigError> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    let named = file::named(sources.flags, &variables, &places)?;
    Ok(named.or_else(|| places.config_folder().map(|folder| folder.join(file::NAME))))
}

fn one(
    section: ReferenceSection,
    setting: &'static Setting,
    given: Option<&GivenValue>,
    places: &ConfigPlaces<'_>,
) -> ShownSetting {
    let value = match (given, setting.default) {
        // Before everything else: no form of a secret reaches a page, not even its length.
        (Some(_), _) if setting.is_secret() => "(hidden)".to_owned(),
        (Some(given), _) => written(&given.raw),
        (None, ShownDefault::Value(value) | ShownDefault::Words(value)) => value.to_owned(),
    };
    ShownSetting {
        section: section.title(),
        name: setting.name(),
        variable: setting.variable,
        flag: setting.flag.as_ref().map(|flag| flag.name),
        value,
        // Backticks are for Markdown; here it is plain text.
        origin: given.map(|given| given.place.to_string().replace('`', "")),
        about: setting.doc,
        key: setting.key,
        form: SettingForm::of(setting, places),
        source: match given.map(|given| &given.place) {
            None => SettingSource::Default,
            Some(ValueOrigin::File { .. }) => SettingSource::File,
            Some(ValueOrigin::DotEnv { .. }) => SettingSource::DotEnv,
            Some(ValueOrigin::Variable(_)) => SettingSource::Variable,
            // What was found on this computer is passed like a flag, and wins over the file just the same.
            Some(ValueOrigin::Flag(_) | ValueOrigin::Found(_)) => SettingSource::Flag,
        },
        typed: given.filter(|_| !setting.is_secret()).map(|given| typed(&given.raw)).unwrap_or_default(),
        is_secret: setting.is_secret(),
    }
}

fn typed(raw: &RawValue) -> String {
    match raw {
        RawValue::List(items) => items.iter().map(written).collect::<Vec<_>>().join("\n"),
        other => written(other),
    }
}

fn written(raw: &RawValue) -> String {
    match raw {
        RawValue::Text(text) => text.trim().to_owned(),
        RawValue::List(items) => items.iter().map(written).collect::<Vec<_>>().join(", "),
        RawValue::Table(pairs) => {
            let pairs = pairs.iter().map(|(name, value)| match value {
                // Of a vault behind Obsidian, and of another server.
                // By the name inside the table: the setting `vaults` itself is not a secret.
                _ if matches!(name.as_str(), "key" | "args" | "env" | "headers") => format!("{name} = (hidden)"),
                RawValue::Table(_) => format!("{name} = {{ {} }}", written(value)),
                _ => format!("{name} = {}", written(value)),
            });
            pairs.collect::<Vec<_>>().join(", ")
        }
    }
}
