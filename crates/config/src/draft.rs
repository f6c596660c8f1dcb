//! A configuration under construction: values from all layers, and the checks that need several of them.

use std::path::{Path, PathBuf};

use lapidary_auth::SecretText;
use lapidary_tools::BUILT_IN_PROFILES;

use super::config_paths::ConfigPlaces;
use super::error::ConfigError;
use super::model::{AppConfig, AuthMode, Config, HttpConfig, TlsFiles, Transport};
use super::raw::ValueOrigin;
use super::refused::ConfigRefusal;
use super::settings::AppAddressParts;
use super::telemetry_draft::TelemetryDraft;
use super::vaults::{self, AskedVault, RequestedVaults};
use super::warning::ConfigWarning;
use super::{ConfigSources, LoadedConfig, VaultsConfig};

// The port of this transport in obsidian-native-mcp, which Lapidary replaces.
const SSE_PORT: u16 = 9789;

pub(super) struct ConfigDraft<'a> {
    pub(super) config: Config,
    pub(super) places: &'a ConfigPlaces<'a>,
    pub(super) asked: Option<RequestedVaults>,
    /// The vaults of the file and the variable, which `--vault` may name.
    pub(super) known: Vec<AskedVault>,
    /// The vaults that any source has rules for, whether or not that source is used.
    pub(super) ruled: Vec<(AskedVault, ValueOrigin)>,
    pub(super) demo: bool,
    /// Never part of a message.
    pub(super) api_key: Option<String>,
    /// Whether a port was chosen.
    pub(super) has_port: bool,
    /// Whether it was chosen how many of the next ports to try.
    pub(super) has_port_retries: bool,
    /// The files of the certificate and of its key.
    pub(super) tls: (Option<PathBuf>, Option<PathBuf>),
    pub(super) telemetry: TelemetryDraft,
    pub(super) profile_place: Option<ValueOrigin>,
    pub(super) tokens_place: Option<ValueOrigin>,
    /// Whether the configuration file was found by a `.env` alone, which may be a stranger's.
    pub(super) is_file_by_dotenv: bool,
    /// The address of the app's plugin as version 1 of another server has it.
    pub(super) app_address: AppAddressParts,
    pub(super) warnings: Vec<ConfigWarning>,
}

impl<'a> ConfigDraft<'a> {
    pub(super) fn new(places: &'a ConfigPlaces<'a>) -> Self {
        Self {
            config: Config::unset(),
            places,
            asked: None,
            known: Vec::new(),
            ruled: Vec::new(),
            demo: false,
            api_key: None,
            has_port: false,
            has_port_retries: false,
            tls: (None, None),
            telemetry: TelemetryDraft::default(),
            profile_place: None,
            tokens_place: None,
            is_file_by_dotenv: false,
            app_address: AppAddressParts::default(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn finish(mut self, sources: &ConfigSources<'_>) -> Result<LoadedConfig, ConfigError> {
        // First: nothing else is worth a word to an owner whose server would be open.
        self.refuse_unprotected_access()?;
        self.find_profiles()?;
        self.config.http.tls = match std::mem::take(&mut self.tls) {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None) => None,
            // Either half alone would silently serve without TLS.
            (certificate, _) => {
                return Err(ConfigError::HalfOfTls {
                    missing: if certificate.is_some() { "--tls-key" } else { "--tls-cert" },
                });
            }
        };
        self.find_app()?;
        self.config.otlp = std::mem::take(&mut self.telemetry).finish()?;
        if self.config.http.sse && !self.has_port {
            // Where clients of the original look for it.
            // Only if no port was chosen: `--sse` with `--http 3010` stays at 3010.
            self.config.http.port = SSE_PORT;
        }
        let is_chosen = self.has_port && !self.has_port_retries;
        if is_chosen || self.config.http.public_url.is_some() {
            // A proxy or a client looks for the server at this port, and something else may be at the next one.
            self.config.http.max_port_retries = 0;
        }
        // An empty path means that no source gave one.
        if self.config.state_dir.as_os_str().is_empty() {
            self.config.state_dir = self.places.state_folder().ok_or(ConfigError::NoStateFolder)?;
        }
        // Late, because it reads the disk and its errors would hide those of settings that are simply wrong.
        if sources.needs_vault {
            self.config.vaults = vaults::choose(&mut self, sources.files)?;
        }
        // Deletions in a temporary copy lose nothing.
        self.config.trash_home = self.places.trash_home().filter(|_| self.config.vaults != VaultsConfig::Demo);
        // After the vaults are known. Undo data inside of a vault would be synchronised, and could be read as notes.
        self.keep_state_out_of_vaults()?;
        self.keep_servers_out_of_vaults()?;
        self.note_own_files();
        if self.config.access.read_only && self.config.access.write_paths.is_some() {
            self.warnings.push(ConfigWarning::WritePathsReadOnly);
        }
        if self.config.rest.is_plain_too {
            match (self.config.rest.is_served, self.config.rest.plain_address) {
                (false, _) => self.warnings.push(ConfigWarning::RestNotServed),
                (true, Some(_)) => self.warnings.push(ConfigWarning::RestPlainAlready),
                (true, None) => {}
            }
        }
        Ok(LoadedConfig { config: self.config, warnings: self.warnings.iter().map(ConfigWarning::to_string).collect() })
    }

    // Over HTTP, an owner who asks for authentication must not believe that it is on when it is not.
    fn refuse_unprotected_access(&self) -> Result<(), ConfigError> {
        // Over stdio only the program that started us can call, regardless of the HTTP settings.
        if self.config.transport == Transport::Stdio {
            return Ok(());
        }
        let HttpConfig { auth, public_url, host, .. } = &self.config.http;
        let missing = match auth.mode {
            Some(AuthMode::Jwt) if auth.secret.is_none() => return Err(ConfigError::NoSecret),
            Some(AuthMode::Oauth) if auth.foreign.issuer.is_none() => Some("OAUTH_ISSUER_URL"),
            Some(AuthMode::Oauth) if auth.foreign.audience.is_none() => Some("OAUTH_AUDIENCE"),
            _ => None,
        };
        if let Some(missing) = missing {
            return Err(ConfigError::NoIssuer { missing });
        }
        // A passphrase is typed into a page, so the page has to be encrypted or on this computer.
        let exposed = match public_url {
            Some(url) if !url.is_private() => Some(url.origin.clone()),
            None if !host.is_loopback() => Some(format!("http://{host}")),
            _ => None,
        };
        match exposed.filter(|_| auth.mode == Some(AuthMode::Builtin)) {
            Some(url) => Err(ConfigError::ExposedPassphrase { url }),
            None => Ok(()),
        }
    }

    /// Where the app's plugin is, from the parts of the address if it is not given as a whole.
    fn find_app(&mut self) -> Result<(), ConfigError> {
        // The default is compared below, so that a timeout that was given is not replaced by the older variable.
        let usual = AppConfig::default();
        let Config { app, .. } = &mut self.config;
        app.key = self.api_key.as_ref().map(|key| SecretText::new(key.clone()));
        if app.url.is_none()
            && let Some(url) = self.app_address.url()
        {
            app.url = Some(url.map_err(|refused| refused.at(ValueOrigin::Variable("OBSIDIAN_HOST")))?);
        }
        app.verifies_publicly = app.verifies_publicly.or(self.app_address.verifies);
        // A timeout that equals the default counts as not given; the older variable may then say more.
        if app.timeout == usual.timeout {
            app.timeout = self.app_address.timeout.unwrap_or(usual.timeout);
        }
        Ok(())
    }

    /// Every profile that is named has to be one.
    fn find_profiles(&self) -> Result<(), ConfigError> {
        let own = &self.config.profiles;
        // Closures, because the list of names is only needed for a refusal.
        let is_one = |name: &str| own.contains_key(name) || BUILT_IN_PROFILES.contains(&name);
        let known = || BUILT_IN_PROFILES.iter().map(|name| (*name).to_owned()).chain(own.keys().cloned()).collect();
        let Config { profile, tokens, .. } = &self.config;
        // Checked here and not when the setting is applied: a profile may be declared in a layer that comes later.
        if let Some(place) = self.profile_place.as_ref().filter(|_| !is_one(profile)) {
            return Err(ConfigRefusal::NoProfile { name: profile.clone(), known: known() }.at(place.clone()));
        }
        let lost = tokens.iter().find(|token| token.profile.as_deref().is_some_and(|profile| !is_one(profile)));
        match lost.zip(self.tokens_place.as_ref()) {
            Some((token, place)) => {
                Err(ConfigRefusal::NoProfileOfToken { name: token.name.clone(), known: known() }.at(place.clone()))
            }
            None => Ok(()),
        }
    }

    /// Settings inside of a vault are closed to callers, but synchronised and shared with it.
    fn note_own_files(&mut self) {
        let Config { own_files, vaults, http, authorities, .. } = &mut self.config;
        // Added here, because only now both files are known.
        own_files.extend(http.tls.iter().flat_map(|tls| [tls.certificate.clone(), tls.key.clone()]));
        own_files.extend(authorities.clone());
        own_files.sort();
        own_files.dedup();
        let VaultsConfig::Chosen(vaults) = vaults else { return };
        let inside = own_files.iter().filter(|file| vaults.iter().any(|vault| file.starts_with(&vault.path)));
        self.warnings.extend(inside.map(|file| ConfigWarning::OwnFileInVault { file: file.clone() }));
    }

    // A vault that comes by sync must not start programs.
    fn keep_servers_out_of_vaults(&self) -> Result<(), ConfigError> {
        let VaultsConfig::Chosen(vaults) = &self.config.vaults else { return Ok(()) };
        let Some(file) = self.config.mcp.file.as_ref() else { return Ok(()) };
        match vaults.iter().any(|vault| file.starts_with(&vault.path)) {
            true => Err(ConfigError::ServersInVault { file: file.clone() }),
            false => Ok(()),
        }
    }

    fn keep_state_out_of_vaults(&self) -> Result<(), ConfigError> {
        let VaultsConfig::Chosen(vaults) = &self.config.vaults else { return Ok(()) };
        // By the written paths alone: nothing here reads the disk.
        let vault_around = |folder: &Path| vaults.iter().find(|vault| folder.starts_with(&vault.path));
        let state = &self.config.state_dir;
        if let Some(vault) = vault_around(state) {
            return Err(ConfigError::StateInVault { state: state.clone(), vault: vault.path.clone() });
        }
        match self.config.log.folder.as_ref().and_then(|folder| Some((folder, vault_around(folder)?))) {
            Some((logs, vault)) => Err(ConfigError::LogsInVault { logs: logs.clone(), vault: vault.path.clone() }),
            None => Ok(()),
        }
    }
}
