//! Which settings are given, and where.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::config_paths::ConfigPlaces;
use super::error::ConfigError;
use super::raw::{GivenValue, ValueOrigin};
use super::setting::Setting;
use super::settings;
use super::variables::EnvironmentVariables;
use super::{ConfigSources, file, from_flag};

/// A setting that a source gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingOrigin {
    /// As in the configuration file, or the flag or variable if it has no place there.
    pub name: &'static str,
    /// In words, for a person who looks for it.
    pub place: String,
    /// The file that it is in, if it is in one.
    pub file: Option<PathBuf>,
    /// Where the same setting is given again, which counts instead.
    pub replaced_by: Option<String>,
    /// The value lets a stranger in.
    pub is_secret: bool,
}

/// All values that any source gives, weakest first, without their text.
pub fn origins(sources: &ConfigSources<'_>) -> Result<Vec<SettingOrigin>, ConfigError> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    Ok(named(&layers(sources, &variables, &places)?))
}

/// The values of all sources, weakest first.
pub(super) fn layers(
    sources: &ConfigSources<'_>,
    variables: &EnvironmentVariables,
    places: &ConfigPlaces<'_>,
) -> Result<Vec<GivenValue>, ConfigError> {
    let mut layers = file::file_values(sources.flags, variables, places, sources.files)?;
    // In the order of strength: `load` applies them one after the other, and the last one wins.
    layers.extend(variables.set_values());
    layers.extend(settings::all().filter_map(|setting| from_flag(setting, sources.flags)));
    // Unset values are dropped here, so that an empty variable does not hide a value in the file.
    layers.retain(|given| !given.raw.is_unset());
    Ok(layers)
}

fn named(layers: &[GivenValue]) -> Vec<SettingOrigin> {
    // The last of each setting counts.
    // By address: each setting is one entry of a static table.
    let last: BTreeMap<*const Setting, &GivenValue> =
        layers.iter().map(|given| (std::ptr::from_ref(given.setting), given)).collect();
    let origin = |given: &GivenValue| {
        // The same place twice is one value that is read again, not a value that is replaced.
        let wins = last.get(&std::ptr::from_ref(given.setting)).filter(|wins| wins.place != given.place);
        SettingOrigin {
            name: given.setting.name(),
            place: given.place.to_string(),
            file: match &given.place {
                ValueOrigin::Flag(_) | ValueOrigin::Found(_) | ValueOrigin::Variable(_) => None,
                ValueOrigin::DotEnv { file, .. } | ValueOrigin::File { file, .. } => Some(file.clone()),
            },
            replaced_by: wins.map(|wins| wins.place.to_string()),
            is_secret: given.setting.is_secret(),
        }
    };
    layers.iter().map(origin).collect()
}
