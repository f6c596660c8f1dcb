//! The clients of this computer: whether our entry is there, starts this program and serves the right vault.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use lapidary_clients::{CLIENTS, ClientSpec, EntryOwner, SERVER_NAME, StartedServer};
use lapidary_config::ChosenVault;
use lapidary_telemetry::outgoing;
use lapidary_tools::skill_origin;
use lapidary_vault::store::{SettingsFile, folder_exists, is_same_file, is_there};

use super::{
    super::{command_hint::CommandHint, install::ClientSetup, skill::InstalledSkill},
    finding::Finding,
};

/// A server on this computer answers at once, and one elsewhere soon.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn look(setup: &ClientSetup<'_>, vaults: &[ChosenVault], hint: &CommandHint) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        CLIENTS.iter().filter_map(|client| ClientLook { setup, client, vaults, hint }.look()).collect();
    if findings.is_empty() {
        let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        let advice = format!("install one of {}, then run `{}`", known.join(", "), hint.command("install"));
        findings.push(Finding::warning("clients", "no known client is on this computer", advice));
    }
    findings.extend(CLIENTS.iter().filter_map(|client| skill(setup, client, hint)));
    findings
}

/// Whether our skill there is of this version; `None` if it is not there.
fn skill(setup: &ClientSetup<'_>, client: &ClientSpec, hint: &CommandHint) -> Option<Finding> {
    let text = SettingsFile::new(&setup.skill_file(client)?).and_then(|file| file.read()).ok().flatten();
    match InstalledSkill::of(text.as_deref()) {
        InstalledSkill::Absent | InstalledSkill::Foreign => None,
        InstalledSkill::Ours { is_current: true } => Some(Finding::ok(client.title, "has the skill of this version")),
        InstalledSkill::Edited => Some(Finding::ok(client.title, "has the skill, edited by hand")),
        InstalledSkill::Ours { is_current: false } => {
            let version = text.as_deref().and_then(skill_origin).map(|origin| origin.version).unwrap_or_default();
            let found = format!("has the skill of version {version}, and this is {}", env!("CARGO_PKG_VERSION"));
            let again = hint.command(&format!("skill install {}", client.name));
            Some(Finding::warning(client.title, found, again))
        }
    }
}

struct ClientLook<'a> {
    setup: &'a ClientSetup<'a>,
    client: &'static ClientSpec,
    vaults: &'a [ChosenVault],
    hint: &'a CommandHint,
}

impl ClientLook<'_> {
    /// `None` if the client is not on this computer.
    fn look(&self) -> Option<Finding> {
        let path = self.setup.file(self.client);
        let text = SettingsFile::new(&path).and_then(|file| file.read());
        match text {
            Ok(None) if !self.setup.is_installed(self.client) => None,
            Ok(None) => Some(self.missing()),
            Ok(Some(text)) => Some(match self.client.found(&text) {
                Ok(None) => self.missing(),
                Ok(Some(entry)) => match self.client.owner(&entry, None) {
                    EntryOwner::Ours => self.started(&StartedServer::of(&entry)),
                    // An entry without a program is an address, which may be a server of ours that runs elsewhere.
                    EntryOwner::Other(other) if StartedServer::of(&entry).program.is_none() => self.reached(&other),
                    EntryOwner::Other(other) => self.ok(format!("`{SERVER_NAME}` is another server ({other})")),
                },
                Err(error) => {
                    let advice = "correct the file; the client cannot read it either";
                    self.failure(format!("{}: {error}", path.display()), advice)
                }
            }),
            Err(error) => Some(self.failure(format!("{}: {error}", path.display()), "correct the file")),
        }
    }

    /// Whether anything answers at an address.
    fn reached(&self, url: &str) -> Finding {
        let said = format!("calls a server at {url}");
        let Some((scheme, rest)) = url.split_once("://") else { return self.ok(said) };
        let host = rest.split('/').next().unwrap_or(rest);
        // Every answer will do: the server may be another one, or want a token. The owner's certificate may be for another name.
        match outgoing::unverified_agent(PATIENCE).get(&format!("{scheme}://{host}/healthz")).call() {
            Ok(_) => self.ok(said),
            Err(error) => {
                let start = self.hint.command("serve --http");
                let advice =
                    format!("start it, as with `{start}`, or let the client start its own: `{}`", self.install());
                self.failure(format!("{said}, which does not answer: {}", outgoing::in_words(&error)), advice)
            }
        }
    }

    fn missing(&self) -> Finding {
        // Not a warning: few owners want it in every program.
        let found = format!("is not set up; `{}` does it", self.install());
        self.ok(found)
    }

    fn started(&self, server: &StartedServer) -> Finding {
        let again = self.install();
        let program = server.program.as_deref().unwrap_or_default();
        let place = Path::new(program);
        // A package runner finds the program itself, and newest versions with it.
        let is_run_by_other = server.is_package;
        // Only an absolute path can be checked: others depend on where the client starts.
        if !is_run_by_other && place.is_absolute() && !is_there(place) {
            return self.failure(format!("starts {program}, which does not exist"), again);
        }
        if let Some(missing) =
            server.vaults.iter().map(Path::new).find(|vault| vault.is_absolute() && !folder_exists(vault))
        {
            let said = format!("its vault {} does not exist", missing.display());
            let words = format!("install {} --vault /path/to/vault", self.client.name);
            return self.failure(said, self.hint.command_without_vault(&words));
        }
        // Compared as files: the entry may spell the folder in another way, or lead to it through a link.
        let served: Vec<PathBuf> = server.vaults.iter().map(PathBuf::from).collect();
        let is_ours = |path: &PathBuf| self.vaults.iter().any(|vault| is_same_file(&vault.path, path));
        if !self.vaults.is_empty() && !served.is_empty() && !served.iter().any(is_ours) {
            let said =
                format!("serves {}, which is another vault than the one looked at here", server.vaults.join(", "));
            return self.warning(said, format!("{again}, if that is not what you want"));
        }
        if !is_run_by_other && !place.is_absolute() {
            let said = format!("starts `{program}`, which many programs do not find");
            return self.warning(said, format!("{again} writes the whole path"));
        }
        if !is_run_by_other && self.setup.program().is_ok_and(|ours| !is_same_file(Path::new(&ours), place)) {
            return self.warning(format!("starts {program}, which is not this program"), again);
        }
        let vaults = if served.is_empty() { "the usual vault".to_owned() } else { server.vaults.join(", ") };
        self.ok(format!("set up, for {vaults}"))
    }

    fn install(&self) -> String {
        self.hint.command(&format!("install {}", self.client.name))
    }

    fn ok(&self, found: String) -> Finding {
        Finding::ok(self.client.title, found)
    }

    fn warning(&self, found: String, advice: impl Into<String>) -> Finding {
        Finding::warning(self.client.title, found, advice)
    }

    fn failure(&self, found: String, advice: impl Into<String>) -> Finding {
        Finding::failure(self.client.title, found, advice)
    }
}
