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
        // A person chose the vault for a client, and need not name it again. Of several, one still has to be chosen.
        Command::Serve if listens(flags) => {
            let found = with_found(flags, surroundings, false);
            if found.vaults.len() > 1 && flags.vaults.is_empty() { flags.clone() } else { found }
        }
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

/// Whether a person starts a server for others. One on standard input is started by a client, which says what it serves.
fn listens(flags: &CommonFlags) -> bool {
    flags.http.is_some() || flags.sse || flags.rest.is_some() || flags.rest_http
}

/// The names of vaults that are in use on this computer.
pub(super) fn names_in_use(flags: &CommonFlags, surroundings: &ProcessEnvironment) -> Vec<String> {
    FoundVaults::look(flags, surroundings).vaults.into_iter().map(|vault| vault.name).collect()
}

/// The same of options alone. With `also`, vaults that were found are added to those that are configured.
pub(super) fn with_found(flags: &CommonFlags, surroundings: &ProcessEnvironment, also: bool) -> CommonFlags {
    // The demo is a vault that was chosen.
    if flags.demo {
        return flags.clone();
    }
    // Loaded once here just to see whether anything is missing; what is wrong is reported by the command itself.
    match lapidary_config::load(&sources(flags, surroundings, true)) {
        Ok(loaded) if also && flags.vaults.is_empty() => {
            let VaultsConfig::Chosen(chosen) = &loaded.config.vaults else { return flags.clone() };
            let known = |path: &Path| chosen.iter().any(|vault| is_same_file(&vault.path, path));
            let mut found = FoundVaults::look(flags, surroundings);
            found.vaults.retain(|vault| !known(&vault.path));
            if found.vaults.is_empty() {
                return flags.clone();
            }
            // Named, so that the configured names stay, which the folders alone would not give.
            let named = chosen.iter().map(|vault| format!("{}={}", vault.name, vault.path.display()));
            let vaults = named.chain(found.paths()).collect();
            let place = format!("the configuration, {}", found.places());
            CommonFlags { vaults, vaults_found_in: Some(place), ..flags.clone() }
        }
        Err(ConfigError::NoVault { .. } | ConfigError::SeveralVaults { .. }) => {
            let found = FoundVaults::look(flags, surroundings);
            let config = flags.config.clone().or_else(|| found.config.clone());
            let vaults_found_in = (!found.vaults.is_empty()).then(|| found.places());
            CommonFlags { vaults: found.paths().collect(), vaults_found_in, config, ..flags.clone() }
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

struct FoundVault {
    name: String,
    path: PathBuf,
    /// Who uses it, for a person who wonders where it comes from.
    place: String,
}

/// Vaults that are in use on this computer.
#[derive(Default)]
struct FoundVaults {
    vaults: Vec<FoundVault>,
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
            let place = format!("a running server (process {})", facts["pid"]);
            found.add(PathBuf::from(vault), facts["name"].as_str(), place);
            configs.push(facts["config"].as_str().map(str::to_owned));
        }
        // Equal ones that follow each other: several servers of one service have the same file.
        configs.dedup();
        // Of several different files none is chosen, as their settings may contradict each other.
        if let [Some(only)] = configs.as_slice() {
            found.config = Some(only.clone());
        }
        if let Ok(setup) = ClientSetup::new(surroundings) {
            for (client, vault) in served_by_clients(&setup) {
                found.add(vault, None, format!("the settings of {client}"));
            }
        }
        found
    }

    fn add(&mut self, path: PathBuf, name: Option<&str>, place: String) {
        let is_known = |path: &Path| self.vaults.iter().any(|known| is_same_file(&known.path, path));
        // Entries of clients may be stale, so only folders that exist count.
        if path.is_absolute() && folder_exists(&path) && !is_known(&path) {
            let folder = || path.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = name.map(str::to_owned).or_else(folder).unwrap_or_default();
            self.vaults.push(FoundVault { name, path, place });
        }
    }

    fn paths(&self) -> impl Iterator<Item = String> {
        self.vaults.iter().map(|vault| vault.path.display().to_string())
    }

    fn places(&self) -> String {
        let mut places: Vec<&str> = self.vaults.iter().map(|vault| vault.place.as_str()).collect();
        places.dedup();
        places.join(", ")
    }

    /// The only one with this name, in this case or else in any.
    fn named(&self, name: &str) -> Option<String> {
        let called = |is_it: &dyn Fn(&str) -> bool| {
            let mut named = self.vaults.iter().filter(|vault| is_it(&vault.name));
            named.next().filter(|_| named.next().is_none())
        };
        let typed = name.to_lowercase();
        let found = called(&|known| known == name).or_else(|| called(&|known| known.to_lowercase() == typed));
        found.map(|vault| vault.path.display().to_string())
    }
}

/// The vaults in the entries that start this program, each with its client. Settings that cannot be read are reported by
/// `doctor`.
fn served_by_clients(setup: &ClientSetup<'_>) -> Vec<(&'static str, PathBuf)> {
    let served = |client: &'static lapidary_clients::ClientSpec| {
        let text = SettingsFile::new(&setup.file(client)).and_then(|file| file.read()).ok()??;
        let entry = client.found(&text).ok()??;
        let is_ours = matches!(client.owner(&entry, None), EntryOwner::Ours);
        is_ours.then(|| StartedServer::of(&entry).vaults.into_iter().map(|vault| (client.title, PathBuf::from(vault))))
    };
    CLIENTS.iter().filter_map(served).flatten().collect()
}
