//! The configuration file: where it is, and its settings.

use std::io;
use std::path::{Path, PathBuf};

use lapidary_query::nearest;
use toml::de::{DeTable, DeValue};

use super::config_paths::ConfigPlaces;
use super::error::ConfigError;
use super::raw::{GivenValue, RawValue, ValueOrigin, is_unset};
use super::refused::ConfigRefusal;
use super::settings;
use super::variables::EnvironmentVariables;
use super::{CommonFlags, ConfigFiles, dotenv_trust};

/// The variable and the flag that name the file. They are not settings: a file cannot say where it is.
pub(super) const VARIABLE: &str = "LAPIDARY_CONFIG";
pub(super) const FLAG: &str = "--config";
/// Its usual name.
pub(super) const NAME: &str = "lapidary.toml";

/// The contents of the configuration files, weakest first.
pub(super) fn file_values(
    flags: &CommonFlags,
    variables: &EnvironmentVariables,
    places: &ConfigPlaces<'_>,
    files: &dyn ConfigFiles,
) -> Result<Vec<GivenValue>, ConfigError> {
    if let Some(path) = named(flags, variables, places)? {
        // A file that was named has to exist: a typo must not start a server with other settings.
        let text = files.read(&path).map_err(|source| ConfigError::Unreadable { file: path.clone(), source })?;
        // A file that was named replaces the usual ones.
        return settings_in(&path, pairs(&path, &text)?);
    }
    let mut given = Vec::new();
    // The older list is pushed first, so that `lapidary.toml` wins over it.
    if let Some(path) = places.old_vault_list()
        && let Some(text) = read_if_present(&path, files)?
    {
        // It belongs to another program, which may store more in it.
        let vaults = pairs(&path, &text)?.into_iter().filter(|(name, _)| name == "vaults").collect();
        given.extend(settings_in(&path, vaults)?);
    }
    if let Some(path) = places.config_folder().map(|folder| folder.join(NAME))
        && let Some(text) = read_if_present(&path, files)?
    {
        given.extend(settings_in(&path, pairs(&path, &text)?)?);
    }
    Ok(given)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The requested file.
pub(super) fn named(
    flags: &CommonFlags,
    variables: &EnvironmentVariables,
    places: &ConfigPlaces<'_>,
) -> Result<Option<PathBuf>, ConfigError> {
    let flag = flags.config.as_deref().map(str::trim).filter(|written| !is_unset(written));
    let found = flag.map(|written| (written, ValueOrigin::Flag(FLAG))).or_else(|| variables.find(VARIABLE));
    let Some((written, place)) = found else { return Ok(None) };
    places.whole(written).map(Some).map_err(|refused| refused.at(place))
}

/// Whether only a `.env` that the owner has not named says where the file is.
pub(super) fn is_named_by_dotenv(flags: &CommonFlags, variables: &EnvironmentVariables) -> bool {
    let by_flag = flags.config.as_deref().is_some_and(|written| !is_unset(written));
    let is_trusted = by_flag || variables.real(dotenv_trust::VARIABLE).is_some();
    !is_trusted && matches!(variables.find(VARIABLE), Some((_, ValueOrigin::DotEnv { .. })))
}

// Only absence is normal. A file without the right to read it must not count as no settings.
fn read_if_present(path: &Path, files: &dyn ConfigFiles) -> Result<Option<String>, ConfigError> {
    match files.read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(ConfigError::Unreadable { file: path.to_owned(), source }),
    }
}

/// The top level of a file: JSON if its name or content looks like it, otherwise TOML.
fn pairs(file: &Path, text: &str) -> Result<Vec<(String, RawValue)>, ConfigError> {
    // Windows editors write it.
    let text = text.trim_start_matches('\u{feff}');
    let named_json = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    // A JSON file may have any name when a variable points to it, so the content decides too.
    if named_json || text.trim_start().starts_with('{') {
        let value = serde_json::from_str(text).map_err(|source| ConfigError::Json { file: file.to_owned(), source })?;
        return match from_json(value) {
            RawValue::Table(pairs) => Ok(pairs),
            RawValue::Text(_) | RawValue::List(_) => Err(ConfigError::NotAnObject { file: file.to_owned() }),
        };
    }
    let table =
        DeTable::parse(text).map_err(|source| ConfigError::Toml { file: file.to_owned(), source: Box::new(source) })?;
    Ok(from_table(table.get_ref()))
}

fn from_json(value: serde_json::Value) -> RawValue {
    use serde_json::Value;
    match value {
        // `null` is how JSON says that something is unset, and an empty text means the same everywhere here.
        Value::Null => RawValue::Text(String::new()),
        Value::String(text) => RawValue::Text(text),
        Value::Array(items) => RawValue::List(items.into_iter().map(from_json).collect()),
        Value::Object(pairs) => {
            RawValue::Table(pairs.into_iter().map(|(name, value)| (name, from_json(value))).collect())
        }
        // Numbers and switches become text: variables have no other form, so every setting parses text anyway.
        scalar @ (Value::Bool(_) | Value::Number(_)) => RawValue::Text(scalar.to_string()),
    }
}

fn from_toml(value: &DeValue<'_>) -> RawValue {
    match value {
        DeValue::String(text) => RawValue::Text(text.clone().into_owned()),
        DeValue::Integer(number) => {
            // Only TOML has 0x10; the settings accept decimal numbers.
            let decimal = i128::from_str_radix(number.as_str(), number.radix());
            RawValue::Text(decimal.map_or_else(|_| number.to_string(), |number| number.to_string()))
        }
        DeValue::Float(number) => RawValue::Text(number.to_string()),
        DeValue::Boolean(toggle) => RawValue::Text(toggle.to_string()),
        DeValue::Datetime(moment) => RawValue::Text(moment.to_string()),
        DeValue::Array(items) => RawValue::List(items.iter().map(|item| from_toml(item.get_ref())).collect()),
        DeValue::Table(table) => RawValue::Table(from_table(table)),
    }
}

/// The pairs in file order: the order in which the owner lists vaults is kept.
fn from_table(table: &DeTable<'_>) -> Vec<(String, RawValue)> {
    let mut pairs: Vec<_> = table.iter().collect();
    // In the order of the file, which the table itself does not keep.
    pairs.sort_by_key(|(name, _)| name.span().start);
    pairs.into_iter().map(|(name, value)| (name.get_ref().clone().into_owned(), from_toml(value.get_ref()))).collect()
}

fn settings_in(file: &Path, pairs: Vec<(String, RawValue)>) -> Result<Vec<GivenValue>, ConfigError> {
    let mut given = Vec::new();
    for (key, raw) in pairs {
        match raw {
            // A key that is not a section may still be a table: `vaults` and `tokens` are settings whose values are
            // tables.
            raw if !sections().any(|section| section == key) => given.push(value_of(file, key, raw)?),
            RawValue::Table(inner) => {
                for (name, raw) in inner {
                    given.push(value_of(file, format!("{key}.{name}"), raw)?);
                }
            }
            // `log = "debug"` instead of `[log]`: the message names the shape, since the key itself is right.
            other => {
                let refused = ConfigRefusal::Shape { expected: "a table", found: other.shape() };
                return Err(refused.at(ValueOrigin::File { file: file.to_owned(), key }));
            }
        }
    }
    Ok(given)
}

fn keys() -> impl Iterator<Item = &'static str> {
    settings::all().filter_map(|setting| setting.key)
}

fn sections() -> impl Iterator<Item = &'static str> {
    keys().filter_map(|key| Some(key.split_once('.')?.0))
}

fn value_of(file: &Path, key: String, raw: RawValue) -> Result<GivenValue, ConfigError> {
    match settings::all().find(|setting| setting.key == Some(&key)) {
        Some(setting) => Ok(GivenValue { setting, raw, place: ValueOrigin::File { file: file.to_owned(), key } }),
        None => Err(ConfigError::UnknownKey { file: file.to_owned(), nearest: nearest_key(&key), key }),
    }
}

/// The key that was probably meant; the name of the variable may have been used instead.
fn nearest_key(key: &str) -> Option<&'static str> {
    // The name of the variable is the usual mistake in the file.
    let by_variable = settings::all().find(|setting| setting.variable.is_some_and(|name| name == key));
    match by_variable.and_then(|setting| setting.key) {
        Some(key) => Some(key),
        None => nearest(key, keys().chain(sections())),
    }
}
