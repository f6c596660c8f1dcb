//! The vaults that are used if none is named and none is configured: those of running servers, and those that clients are set up
//! to serve. Often only the settings of a client name the vault; a command in a server's hint works at any terminal all the same.

use std::path::{Path, PathBuf};

use lapidary_clients::{CLIENTS, EntryOwner, StartedServer};
use lapidary_config::{CommonFlags, ConfigError, VaultsConfig};
use lapidary_vault::store::{RunningServer, SettingsFile, folder_exists, is_same_file};
use serde_json::Value;

use super::{install::ClientSetup, sources};
use crate::{
    cli::{Command, Invocation},
    environment::ProcessEnvironment,
};

/// The options with the vaults that they leave out.
pub(super) fn completed(invocation: &Invocation, surroundings: &ProcessEnvironment) -> CommonFlags {
    let flags = &invocation.flags;
    match &invocation.command {
        // What is served or written into settings is chosen by a person.
        Command::Serve | Command::Install(_) => flags.clone(),
        Command::Doctor(doctor) if !doctor.is_local() => flags.clone(),
        // A server may wait for an answer about another vault than the configured one.
        Command::Approvals(_) | Command::Status(_) => with_found(flags, surroundings, true),
        command if command.needs_vault() || matches!(command, Command::Doctor(_)) => {
            with_found(flags, surroundings, false)
        }
        _ => flags.clone(),
    }
}

/// The same of options alone. With `also`, vaults that were found are added to those that are configured.
pub(super) fn with_found(flags: &CommonFlags, surroundings: &ProcessEnvironment, also: bool) -> CommonFlags {
    if flags.demo {
        return flags.clone();
    }
    match lapidary_config::load(&sources(flags, surroundings, true)) {
        Ok(loaded) if also && flags.vaults.is_empty() => {
            let VaultsConfig::Chosen(chosen) = &loaded.config.vaults else { return flags.clone() };
            let known = |path: &Path| chosen.iter().any(|vault| is_same_file(&vault.path, path));
            let mut found = FoundVaults::look(flags, surroundings);
            found.vaults.retain(|path| !known(path));
            if found.vaults.is_empty() {
                return flags.clone();
            }
            let named = chosen.iter().map(|vault| format!("{}={}", vault.name, vault.path.display()));
            let vaults = named.chain(found.paths()).collect();
            CommonFlags { vaults, ..flags.clone() }
        }
        Err(ConfigError::NoVault { .. } | ConfigError::SeveralVaults { .. }) => {
            let found = FoundVaults::look(flags, surroundings);
            let config = flags.config.clone().or_else(|| found.config.clone());
            CommonFlags { vaults: found.paths().collect(), config, ..flags.clone() }
        }
        // Perhaps the name of one of them.
        Err(ConfigError::VaultMissing { given, .. }) if !given.contains(['/', '\\']) => {
            let found = FoundVaults::look(flags, surroundings);
            let vaults = flags.vaults.iter().map(|vault| found.named(vault).unwrap_or_else(|| vault.clone())).collect();
            CommonFlags { vaults, ..flags.clone() }
        }
        _ => flags.clone(),
    }
}

/// Vaults that are in use on this computer.
#[derive(Default)]
struct FoundVaults {
    vaults: Vec<PathBuf>,
    /// The configuration file that all running servers were given.
    config: Option<String>,
}

impl FoundVaults {
    fn look(flags: &CommonFlags, surroundings: &ProcessEnvironment) -> Self {
        let mut found = Self::default();
        // What is wrong with the configuration is said when the command loads it.
        let Ok(loaded) = lapidary_config::load(&sources(flags, surroundings, false)) else { return found };
        // A state folder that cannot be read knows of no server.
        let running = RunningServer::on_every_vault(&loaded.config.state_dir).unwrap_or_default();
        let mut configs = Vec::new();
        for facts in running.iter().filter_map(|facts| serde_json::from_str::<Value>(facts).ok()) {
            // Servers of earlier versions do not say which vault it is.
            let Some(vault) = facts["vault"].as_str() else { continue };
            found.add(PathBuf::from(vault));
            configs.push(facts["config"].as_str().map(str::to_owned));
        }
        configs.dedup();
        if let [Some(only)] = configs.as_slice() {
            found.config = Some(only.clone());
        }
        if let Ok(setup) = ClientSetup::new(surroundings) {
            served_by_clients(&setup).into_iter().for_each(|vault| found.add(vault));
        }
        found
    }

    fn add(&mut self, vault: PathBuf) {
        if vault.is_absolute() && folder_exists(&vault) && !self.vaults.iter().any(|known| is_same_file(known, &vault))
        {
            self.vaults.push(vault);
        }
    }

    fn paths(&self) -> impl Iterator<Item = String> {
        self.vaults.iter().map(|path| path.display().to_string())
    }

    /// The only one whose folder has this name.
    fn named(&self, name: &str) -> Option<String> {
        let mut named = self.vaults.iter().filter(|path| path.file_name().is_some_and(|found| found == name));
        match (named.next(), named.next()) {
            (Some(only), None) => Some(only.display().to_string()),
            _ => None,
        }
    }
}

/// The vaults in the entries that start this program. Settings that cannot be read are reported by `doctor`.
fn served_by_clients(setup: &ClientSetup<'_>) -> Vec<PathBuf> {
    let entry = |client: &&'static lapidary_clients::ClientSpec| {
        let text = SettingsFile::new(&setup.file(client)).and_then(|file| file.read()).ok()??;
        let entry = client.found(&text).ok()??;
        matches!(client.owner(&entry, None), EntryOwner::Ours).then(|| StartedServer::of(&entry).vaults)
    };
    CLIENTS.iter().filter_map(|client| entry(&client)).flatten().map(PathBuf::from).collect()
}
