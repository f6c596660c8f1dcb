//! Configuration: from flags, variables and files to one typed [`Config`].
//!
//! Everything here is a pure function of [`ConfigSources`]; the real environment and disk are read elsewhere.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

mod address_range;
mod common_flags;
mod config_paths;
mod dotenv;
mod dotenv_trust;
mod draft;
mod error;
mod file;
mod host_pattern;
mod inert;
mod link_folders;
mod model;
mod origins;
mod prefixes;
mod profiles;
mod raw;
mod reference;
mod refused;
mod registry;
mod rules;
mod server_table;
mod setting;
mod setting_form;
mod settings;
mod settings_text;
mod shown_settings;
mod telemetry_draft;
mod value;
mod variables;
mod vault_table;
mod vaults;
mod warning;

#[cfg(test)]
mod tests;

pub use address_range::AddressRange;
pub use common_flags::{CommonFlags, HttpAddress, Listen};
pub use error::ConfigError;
pub use host_pattern::HostPattern;
#[cfg(feature = "otlp")]
pub use model::OtlpSettings;
pub use model::{
    AllowedOrigins, AppConfig, ApprovalConfig, AuthMode, AuthSettings, BodyLimits, ChosenVault, ClientLimits, Config,
    ConnectionLimits, ForeignIssuer, GuideChoice, HttpConfig, LogFormat, LogLevel, LogSettings, McpConfig, PatchFormat,
    PathAccess, PublicUrl, RemoteVault, RestConfig, RuleConfig, ServerApproval, ServerConfig, ServerReach,
    SessionLimits, SessionMode, TlsFiles, TokenConfig, Transport, VaultAccess, VaultsConfig, WebConfig,
};
pub use origins::{SettingOrigin, origins};
pub use profiles::plain_name;
pub use raw::is_unset;
pub use reference::{env_example, reference};
pub use setting_form::SettingForm;
pub use settings_text::{SettingValue, SettingsTextError, with_setting, without_setting};
pub use shown_settings::{SettingSource, ShownSetting, file_path, shown};
pub use value::host;

use config_paths::ConfigPlaces;
use draft::ConfigDraft;
use raw::GivenValue;
use setting::Setting;
use variables::EnvironmentVariables;

/// All inputs of the configuration.
pub struct ConfigSources<'a> {
    pub flags: &'a CommonFlags,
    pub environment: &'a BTreeMap<String, String>,
    pub working_folder: &'a Path,
    /// Services and containers may have none.
    pub home: Option<&'a Path>,
    pub platform: Platform,
    pub files: &'a dyn ConfigFiles,
    /// Whether there is nothing to do without a vault.
    pub needs_vault: bool,
}

/// The few disk operations that configuration needs.
pub trait ConfigFiles {
    fn read(&self, path: &Path) -> io::Result<String>;
    fn is_folder(&self, path: &Path) -> bool;
}

/// Determines where folders are and how paths are written. Systems other than macOS and Windows follow XDG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    pub const fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

#[derive(Debug)]
pub struct LoadedConfig {
    pub config: Config,
    /// For people; shown at startup, in this order.
    pub warnings: Vec<String>,
}

impl LoadedConfig {
    /// Without any source, for what is looked at when a source cannot be read.
    pub fn defaults() -> Self {
        Self { config: Config::unset(), warnings: Vec::new() }
    }
}

/// Builds the configuration: defaults, then file, `.env`, environment and flags; later ones win.
pub fn load(sources: &ConfigSources<'_>) -> Result<LoadedConfig, ConfigError> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    let mut draft = ConfigDraft::new(&places);
    variables.warn(&mut draft.warnings);

    // The named file is closed to callers even if it gives nothing and no layer mentions it.
    draft.config.own_files.extend(file::named(sources.flags, &variables, &places)?);
    draft.is_file_by_dotenv = file::is_named_by_dotenv(sources.flags, &variables);
    draft.config.mcp.environment = server_environment(&variables);
    // One after the other over the same draft: a later layer replaces single settings, not whole sections.
    for given in origins::layers(sources, &variables, &places)? {
        // Collected as they are read: a file that decides about the server must not be changed through a vault.
        if let raw::ValueOrigin::DotEnv { file, .. } | raw::ValueOrigin::File { file, .. } = &given.place {
            draft.config.own_files.push(file.clone());
        }
        (given.setting.apply)(&mut draft, &given).map_err(|refused| refused.at(given.place.clone()))?;
    }
    draft.finish(sources)
}

/// What every program of another server needs to run at all. Nothing else of the environment is passed on: it may have secrets.
fn server_environment(variables: &EnvironmentVariables) -> BTreeMap<String, String> {
    const PASSED: [&str; 17] = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "XDG_CACHE_HOME",
        // On Windows.
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "SYSTEMROOT",
        "TEMP",
        "PATHEXT",
    ];
    PASSED.iter().filter_map(|name| Some(((*name).to_owned(), variables.real(name)?.to_owned()))).collect()
}

/// The configuration as it would be if a file had this text.
pub fn load_edited(sources: &ConfigSources<'_>, file: &Path, text: &str) -> Result<LoadedConfig, ConfigError> {
    let edited = EditedFiles { files: sources.files, file, text };
    load(&ConfigSources { files: &edited, ..*sources })
}

/// A disk on which one file has another text.
struct EditedFiles<'a> {
    files: &'a dyn ConfigFiles,
    file: &'a Path,
    text: &'a str,
}

impl ConfigFiles for EditedFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<String> {
        // Only this file: a change of `lapidary.toml` is judged together with every other source as it is.
        if path == self.file { Ok(self.text.to_owned()) } else { self.files.read(path) }
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.files.is_folder(path)
    }
}

/// The names under which `--vault` finds vaults. Wrong settings give none.
pub fn vault_names(sources: &ConfigSources<'_>) -> Vec<String> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    let mut draft = ConfigDraft::new(&places);
    let given = origins::layers(sources, &variables, &places).unwrap_or_default();
    // Only this one: completion on the command line must work beside a mistake in any other setting.
    for given in given.iter().filter(|given| given.setting.key == Some("vaults")) {
        // What is wrong with it is said when the command runs.
        (given.setting.apply)(&mut draft, given).unwrap_or_default();
    }
    vaults::NamedVaults::gather(&draft, sources.files).names()
}

/// The vaults that Obsidian lists and that exist.
pub fn known_vaults(sources: &ConfigSources<'_>) -> Vec<std::path::PathBuf> {
    let variables = EnvironmentVariables::gather(sources);
    let places = ConfigPlaces::new(sources, &variables);
    registry::ObsidianVaults::read(&places, sources.files, &mut Vec::new()).vaults
}

/// The flags known to the settings, for the test that the command line has the same.
pub fn flag_names() -> impl Iterator<Item = &'static str> {
    settings::all().filter_map(|setting| setting.flag.as_ref()).map(|flag| flag.name)
}

fn from_flag(setting: &'static Setting, flags: &CommonFlags) -> Option<GivenValue> {
    let flag = setting.flag.as_ref()?;
    // An option that was not typed cannot be looked for.
    let place = match &flags.vaults_found_in {
        Some(place) if setting.key == Some("vaults") => raw::ValueOrigin::Found(place.clone()),
        _ => raw::ValueOrigin::Flag(flag.name),
    };
    Some(GivenValue { setting, raw: (flag.given)(flags)?, place })
}
