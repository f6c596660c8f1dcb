//! The settings as they are, each with where its value comes from.

use std::path::PathBuf;

use super::config_paths::ConfigPlaces;
use super::error::ConfigError;
use super::raw::{GivenValue, RawValue};
use super::setting::{Setting, ShownDefault};
use super::settings::SETTINGS;
use super::variables::EnvironmentVariables;
use super::{ConfigSources, file, layers};

/// A setting for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownSetting {
    pub(crate) section: &'static str,
    /// Its key in the file, or its variable or option if it has none.
    pub(crate) name: &'static str,
    pub(crate) variable: Option<&'static str>,
    pub(crate) flag: Option<&'static str>,
    /// As it is written, or its default. Secrets are hidden.
    pub(crate) value: String,
    /// Where it is written; nowhere, if it is the default.
    pub(crate) origin: Option<String>,
    pub(crate) about: &'static str,
}

/// The settings whose values are secrets.
const SECRET: [&str; 5] =
    ["OBSIDIAN_API_KEY", "LAPIDARY_METRICS_TOKEN", "MCP_AUTH_SECRET_KEY", "LAPIDARY_TOKENS", "LAPIDARY_TOKEN"];

/// All settings in the order of the reference.
pub(crate) fn shown(sources: &ConfigSources<'_>) -> Result<Vec<ShownSetting>, ConfigError> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    let given = layers(sources, &variables, &places)?;
    let last = |setting: &Setting| {
        given.iter().rev().find(|given| std::ptr::eq(given.setting, setting) && !given.raw.is_unset())
    };
    Ok(SETTINGS.iter().map(|setting| one(setting, last(setting))).collect())
}

/// The configuration file: the one that is named, or the usual one, which may not exist.
pub(crate) fn file_path(sources: &ConfigSources<'_>) -> Result<Option<PathBuf>, ConfigError> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    let named = file::named(sources.flags, &variables, &places)?;
    Ok(named.or_else(|| places.config_folder().map(|folder| folder.join(file::NAME))))
}

fn one(setting: &'static Setting, given: Option<&GivenValue>) -> ShownSetting {
    let flag = setting.flag.as_ref().map(|flag| flag.name);
    let is_secret = setting.variable.is_some_and(|variable| SECRET.contains(&variable));
    let value = match (given, setting.default) {
        (Some(_), _) if is_secret => "(hidden)".to_owned(),
        (Some(given), _) => written(&given.raw),
        (None, ShownDefault::Value(value) | ShownDefault::Words(value)) => value.to_owned(),
    };
    ShownSetting {
        section: setting.section.title(),
        name: setting.key.or(setting.variable).or(flag).unwrap_or_default(),
        variable: setting.variable,
        flag,
        value,
        origin: given.map(|given| given.place.to_string().replace('`', "")),
        about: setting.doc,
    }
}

fn written(raw: &RawValue) -> String {
    match raw {
        RawValue::Text(text) => text.trim().to_owned(),
        RawValue::List(items) => items.iter().map(written).collect::<Vec<_>>().join(", "),
        RawValue::Table(pairs) => {
            let pairs = pairs.iter().map(|(name, value)| match value {
                RawValue::Table(_) => format!("{name} = {{ {} }}", written(value)),
                _ => format!("{name} = {}", written(value)),
            });
            pairs.collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_that_sounds_like_a_secret_is_one() {
        // A path to a key is no secret.
        let harmless = ["LAPIDARY_TLS_KEY"];
        for variable in SETTINGS.iter().filter_map(|setting| setting.variable) {
            let sounds = ["KEY", "TOKEN", "SECRET", "PASS"].iter().any(|word| variable.contains(word));
            assert_eq!(sounds && !harmless.contains(&variable), SECRET.contains(&variable), "{variable}");
        }
    }
}
