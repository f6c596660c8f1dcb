//! The Obsidian app of a vault, through its plugin Local REST API. It is looked for when a call needs it, with the plugin's
//! own settings in the vault, which are read anew each time: the app may start, stop and change its key.

mod app_texts;

use std::{path::PathBuf, time::Duration};

use jiff::civil::Date;
use lapidary_auth::SecretText;
use lapidary_config::{AppConfig, ChosenVault, RemoteVault};
use lapidary_plugin::{
    ApiKey, CertificateTrust, ConnectionSettings, Omnisearch, PluginConnection, PluginError, PluginStatus, PluginUrl,
};
use lapidary_query::Period;
use lapidary_tools::{
    AppAction, AppBridge, AppCommand, AppFacts, AppFault, AppPeriodic, AppStatus, OmnisearchHit, PluginManifest,
};
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;

use self::app_texts::{command, hit};
use crate::{
    plugin_settings::{InstalledPlugin, PluginSettings},
    remote_vault,
};

/// For so long an app that did not answer is not asked again.
const REMEMBERED: Duration = Duration::from_secs(3);
/// The open note is sent with its text.
const MOST_NOTE_BYTES: u64 = 64 << 20;
/// Of a list that another program sends.
const MOST_COMMANDS: usize = 5_000;
const MOST_HITS: usize = 50;

/// The app of one vault.
pub(crate) struct PluginApp {
    folder: PathBuf,
    /// If the vault itself is behind the app.
    remote: Option<RemoteVault>,
    settings: AppConfig,
    /// Whether an address in the configuration is meant for this vault: it is the only one.
    is_only: bool,
    known: Mutex<KnownState>,
}

/// What the last requests said.
#[derive(Default)]
struct KnownState {
    plugin: Option<KeptConnection>,
    /// When Omnisearch did not answer.
    omnisearch_failed: Option<(ElapsedTime, AppFault)>,
}

struct KeptConnection {
    settings: ConnectionSettings,
    connection: PluginConnection,
    /// Whether it has ever answered.
    was_reached: bool,
    failed: Option<(ElapsedTime, AppFault)>,
}

impl PluginApp {
    pub(crate) fn of_vault(vault: &ChosenVault, settings: &AppConfig, is_only: bool) -> Self {
        let (folder, remote) = (vault.path.clone(), vault.remote.clone());
        Self { folder, remote, settings: settings.clone(), is_only, known: Mutex::default() }
    }

    /// How to reach the plugin now, by the configuration and by its own settings in the vault.
    pub(crate) fn connection_settings(&self) -> Result<ConnectionSettings, AppFault> {
        if !self.settings.is_used {
            return Err(AppFault::SwitchedOff);
        }
        // The vault itself is behind the app then, so address and key are those of the vault and not of the settings.
        if let Some(remote) = &self.remote {
            return remote_vault::settings(remote, &self.settings).map_err(|_| AppFault::NotSetUp);
        }
        let found = PluginSettings::of_vault(&self.folder).unwrap_or_else(|problem| {
            tracing::warn!("the settings of the plugin Local REST API are not used: {problem}");
            None
        });
        let given = self.settings.key.as_ref().map(SecretText::reveal);
        let found_key = found.as_ref().and_then(|found| found.key.as_deref());
        // Of several vaults, an address is for the one whose key is given with it.
        let is_meant = self.is_only || (given.is_some() && given == found_key);
        let (url, key) = match (&self.settings.url, &found) {
            (Some(url), _) if is_meant => {
                let url = PluginUrl::parse(url).map_err(|_| AppFault::NotSetUp)?;
                // The key in the vault's settings is for this computer; elsewhere the owner has to give it.
                let own = found_key.filter(|_| is_loopback(url.host()));
                let key = given.or(own).ok_or(AppFault::KeyMissing)?.to_owned();
                (url, key)
            }
            (_, Some(found)) => {
                let key = found.key.clone().ok_or(AppFault::PluginUnready)?;
                let host = found.host();
                // An IPv6 address is written in brackets in a URL.
                let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
                let url = match (&found.certificate, found.is_plain && is_loopback(found.host())) {
                    (Some(_), _) => format!("https://{host}:{}", found.port),
                    (None, true) => format!("http://{host}:{}", found.plain_port),
                    // An unknown certificate is not believed.
                    (None, false) => return Err(AppFault::PluginUnready),
                };
                (PluginUrl::parse(&url).map_err(|_| AppFault::NotSetUp)?, key)
            }
            (None, None) if self.is_only => {
                let key = given.ok_or_else(|| self.without_settings())?.to_owned();
                (PluginUrl::parse(PluginUrl::DEFAULT).map_err(|_| AppFault::NotSetUp)?, key)
            }
            (_, None) => return Err(self.without_settings()),
        };
        // Found in the vault, and only there: it is what tells the app of this vault from another program on its port.
        let pinned = found.as_ref().and_then(|found| found.certificate.as_deref());
        let trust = match pinned.and_then(|pem| CertificateTrust::pinned(pem.as_bytes()).ok()) {
            _ if self.settings.verifies_publicly == Some(true) => CertificateTrust::Public,
            Some(pinned) => pinned,
            // Only if the owner said so, and only on this computer.
            None if self.settings.verifies_publicly == Some(false) && is_loopback(url.host()) => {
                CertificateTrust::AnyOnThisComputer
            }
            None => CertificateTrust::Public,
        };
        let key_header = found.and_then(|found| found.key_header);
        let timeout = self.settings.timeout;
        Ok(ConnectionSettings { url, key: ApiKey::new(key), key_header, trust, timeout })
    }

    /// Why a vault without settings of the plugin has no app to be asked.
    fn without_settings(&self) -> AppFault {
        match InstalledPlugin::of_vault(&self.folder) {
            InstalledPlugin::Absent => AppFault::NotSetUp,
            InstalledPlugin::Off => AppFault::PluginOff,
            InstalledPlugin::On => AppFault::PluginUnready,
        }
    }

    /// What is known beyond that the app does not answer: its files say whether its plugin could.
    fn explained(&self, fault: AppFault) -> AppFault {
        let is_here = self.remote.is_none() && self.settings.url.is_none();
        match fault {
            AppFault::Unreachable | AppFault::PluginUnready
                if is_here && InstalledPlugin::of_vault(&self.folder) == InstalledPlugin::Off =>
            {
                AppFault::PluginOff
            }
            fault => fault,
        }
    }

    /// The connection of now; one that failed a moment ago with the same settings is not tried again.
    fn connection(&self) -> Result<PluginConnection, AppFault> {
        let settings = self.connection_settings()?;
        let mut known = self.known.lock();
        // Compared as a whole, so a new key or port in the plugin's settings counts at the next call.
        match &known.plugin {
            Some(kept) if kept.settings == settings => match kept.failed {
                Some((since, fault)) if since.elapsed() < REMEMBERED => Err(fault),
                _ => Ok(kept.connection.clone()),
            },
            _ => {
                let connection = PluginConnection::new(&settings).map_err(|_| AppFault::CertificateRejected)?;
                known.plugin =
                    Some(KeptConnection { settings, connection: connection.clone(), was_reached: false, failed: None });
                Ok(connection)
            }
        }
    }

    /// Makes a request that may be repeated.
    fn ask<T>(
        &self,
        within: Duration,
        request: impl Fn(&PluginConnection) -> Result<T, PluginError>,
    ) -> Result<T, PluginFailure> {
        let began = ElapsedTime::start();
        let whole = within.min(self.settings.timeout);
        let connection = self.connection()?.with_timeout(whole);
        // First without repetitions: the retries below are only for an app that has answered before.
        let answered = match request(&connection.without_retries()) {
            // A closed port stays closed for a while, which a caller should hear at once.
            // Obsidian that is not running is the usual case, and calls that could use it must not wait for it.
            Err(PluginError::Unreachable) if !self.was_reached() => Err(PluginError::Unreachable),
            Err(error) if is_worth_retrying(error) => {
                // With what is left of the time, so that the second try does not double the wait.
                request(&connection.with_timeout(whole.saturating_sub(began.elapsed())))
            }
            answered => answered,
        };
        // Also after success, which ends a remembered failure.
        self.learn(answered.as_ref().err().copied());
        answered.map_err(PluginFailure::Answered)
    }

    /// Makes a request once: what it does may have happened even if it fails.
    fn ask_once<T>(
        &self,
        within: Duration,
        request: impl Fn(&PluginConnection) -> Result<T, PluginError>,
    ) -> Result<T, PluginFailure> {
        let connection = self.connection()?.with_timeout(within.min(self.settings.timeout)).without_retries();
        let answered = request(&connection);
        self.learn(answered.as_ref().err().copied());
        answered.map_err(PluginFailure::Answered)
    }

    fn was_reached(&self) -> bool {
        self.known.lock().plugin.as_ref().is_some_and(|kept| kept.was_reached)
    }

    fn learn(&self, error: Option<PluginError>) {
        let mut known = self.known.lock();
        let Some(kept) = &mut known.plugin else { return };
        // The others are answers of a plugin that works, so they do not keep the next call from asking.
        let fault = error.map(fault).filter(|fault| {
            use AppFault::{CertificateRejected, KeyRejected, TimedOut, Unreachable};
            matches!(fault, Unreachable | CertificateRejected | KeyRejected | TimedOut)
        });
        // A timeout says nothing new about whether the app was ever there.
        kept.was_reached = match fault {
            None => true,
            Some(AppFault::Unreachable | AppFault::CertificateRejected) => false,
            Some(_) => kept.was_reached,
        };
        kept.failed = fault.map(|fault| (ElapsedTime::start(), fault));
    }

    fn omnisearch_url(&self) -> Result<PluginUrl, AppFault> {
        if !self.settings.is_used {
            return Err(AppFault::SwitchedOff);
        }
        let url = match &self.settings.omnisearch_url {
            Some(url) => url.clone(),
            None => {
                let plugin = self.connection_settings().map(|settings| settings.url);
                // It needs no key, so it may be there without the other plugin.
                let plugin = plugin.or_else(|_| PluginUrl::parse(PluginUrl::DEFAULT));
                Omnisearch::beside(&plugin.map_err(|_| AppFault::NotSetUp)?)
            }
        };
        PluginUrl::parse(&url).map_err(|_| AppFault::NotSetUp)
    }
}

/// Why a request has no answer.
#[derive(Clone, Copy)]
enum PluginFailure {
    /// It was not made.
    Unasked(AppFault),
    Answered(PluginError),
}

impl From<AppFault> for PluginFailure {
    fn from(fault: AppFault) -> Self {
        Self::Unasked(fault)
    }
}

impl PluginApp {
    fn fault_of(&self, failure: PluginFailure) -> AppFault {
        self.explained(match failure {
            PluginFailure::Unasked(fault) => fault,
            PluginFailure::Answered(error) => fault(error),
        })
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_worth_retrying(error: PluginError) -> bool {
    matches!(error, PluginError::Unreachable | PluginError::TooManyRequests | PluginError::Upstream { .. })
}

/// What is said about an error. Its text stays where it is.
fn fault(error: PluginError) -> AppFault {
    match error {
        PluginError::Unreachable => AppFault::Unreachable,
        PluginError::CertificateRejected => AppFault::CertificateRejected,
        PluginError::KeyRejected => AppFault::KeyRejected,
        PluginError::Timeout => AppFault::TimedOut,
        PluginError::NoApp => AppFault::NoAppThere,
        PluginError::CommandsOff => AppFault::CommandsOffThere,
        PluginError::NotFound
        | PluginError::MethodNotAllowed
        | PluginError::PeriodDisabled
        | PluginError::PeriodUnsupported => AppFault::NotOffered,
        PluginError::Forbidden => AppFault::Failing { status: Some(403) },
        PluginError::TooManyRequests => AppFault::Failing { status: Some(429) },
        PluginError::Rejected { status, .. } | PluginError::Upstream { status } => {
            AppFault::Failing { status: Some(status) }
        }
        PluginError::IsFolder
        | PluginError::Exists
        | PluginError::Changed
        | PluginError::TooLarge { .. }
        | PluginError::Unexpected => AppFault::Failing { status: None },
    }
}

fn status(status: PluginStatus) -> AppStatus {
    let manifest = status.manifest.map(|manifest| PluginManifest {
        id: manifest.id,
        name: manifest.name,
        version: manifest.version,
    });
    AppStatus {
        obsidian: status.obsidian,
        plugin: Some(status.version.to_string()),
        is_authenticated: status.is_authenticated,
        manifest,
        extensions: status.extensions.into_iter().map(|extension| extension.id).collect(),
    }
}

impl AppFacts for PluginApp {
    fn status(&self, within: Duration) -> Result<AppStatus, AppFault> {
        let asked = self.ask(within, PluginConnection::status);
        asked.map(status).map_err(|failure| self.fault_of(failure))
    }

    fn active_note(&self, within: Duration) -> Result<Option<String>, AppFault> {
        match self.ask(within, |plugin| plugin.active_note(MOST_NOTE_BYTES)) {
            Ok(note) => Ok(Some(note.path)),
            Err(PluginFailure::Answered(PluginError::NotFound)) => Ok(None),
            Err(failure) => Err(self.fault_of(failure)),
        }
    }

    fn commands(&self, within: Duration) -> Result<Vec<AppCommand>, AppFault> {
        // Cut before names are checked: the list is of another program, and its length is not ours to trust.
        let commands = self.ask(within, PluginConnection::commands).map_err(|failure| self.fault_of(failure))?;
        Ok(commands.into_iter().take(MOST_COMMANDS).filter_map(command).collect())
    }

    fn periodic_note(&self, period: Period, day: Option<Date>, within: Duration) -> Result<AppPeriodic, AppFault> {
        match self.ask(within, |plugin| plugin.periodic_note(period, day, MOST_NOTE_BYTES)) {
            Ok(note) => Ok(AppPeriodic::Note(note.path)),
            Err(PluginFailure::Answered(PluginError::NotFound)) => Ok(AppPeriodic::Missing),
            Err(PluginFailure::Answered(PluginError::PeriodDisabled | PluginError::PeriodUnsupported)) => {
                Ok(AppPeriodic::Unknown)
            }
            Err(failure) => Err(self.fault_of(failure)),
        }
    }

    fn omnisearch(&self, query: &str, within: Duration) -> Result<Vec<OmnisearchHit>, AppFault> {
        if let Some((since, fault)) = self.known.lock().omnisearch_failed
            && since.elapsed() < REMEMBERED
        {
            return Err(fault);
        }
        let timeout = within.min(self.settings.timeout);
        let engine = Omnisearch::new(self.omnisearch_url()?, timeout).map_err(|_| AppFault::CertificateRejected)?;
        // Once only: a search can be repeated by the caller, who would otherwise wait twice.
        let found = engine.without_retries().search(query).map_err(fault);
        self.known.lock().omnisearch_failed = found.as_ref().err().map(|fault| (ElapsedTime::start(), *fault));
        let vault = self.folder.file_name().unwrap_or_default().to_string_lossy();
        // Its port is one for all vaults of this computer; what another vault has is not looked at.
        let is_here = |vault_of_hit: Option<&str>| vault_of_hit.is_none_or(|name| name == vault);
        let here = found?.into_iter().take(MOST_HITS).filter(|found| is_here(found.vault.as_deref()));
        Ok(here.filter_map(hit).collect())
    }
}

impl AppBridge for PluginApp {
    fn act(&self, action: &AppAction, within: Duration) -> Result<(), AppFault> {
        // Not repeated: opening a note twice is harmless, but a command may have run although its answer was lost.
        let acted = self.ask_once(within, |plugin| match action {
            AppAction::Open { path, new_leaf } => plugin.open_note(path, *new_leaf),
            AppAction::RunCommand(command) => plugin.run_command(&command.id),
        });
        acted.map_err(|failure| self.fault_of(failure))
    }
}
