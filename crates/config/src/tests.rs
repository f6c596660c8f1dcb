//! Tests of the configuration, on simulated machines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;

use super::*;

mod file;
mod reference;
mod servers;
mod values;
mod variables;
mod vaults;

/// The part of a command line that decides settings.
#[derive(clap::Parser)]
struct SettingsLine {
    #[command(flatten)]
    flags: CommonFlags,
    #[command(flatten)]
    listen: Listen,
}

/// A computer: its disk, its environment, and the command line.
struct Machine {
    platform: Platform,
    home: Option<PathBuf>,
    words: Vec<String>,
    environment: BTreeMap<String, String>,
    disk: Disk,
}

#[derive(Default)]
struct Disk {
    files: BTreeMap<String, Result<String, io::ErrorKind>>,
    folders: Vec<String>,
}

impl Machine {
    /// Linux, in `/work`, with one vault there.
    fn new() -> Self {
        let machine = Self {
            platform: Platform::Linux,
            home: Some("/home/me".into()),
            words: Vec::new(),
            environment: BTreeMap::new(),
            disk: Disk::default(),
        };
        machine.folder("/work/Notes")
    }

    /// A machine that chose its vault, for tests of everything else.
    fn with_vault() -> Self {
        Self::new().words(&["--vault", "/work/Notes"])
    }

    fn platform(mut self, platform: Platform, home: &str) -> Self {
        self.platform = platform;
        self.home = Some(home.into());
        self
    }

    fn words(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn file(mut self, path: &str, text: &str) -> Self {
        self.disk.files.insert(path.to_owned(), Ok(text.to_owned()));
        self
    }

    fn unreadable(mut self, path: &str) -> Self {
        self.disk.files.insert(path.to_owned(), Err(io::ErrorKind::PermissionDenied));
        self
    }

    fn folder(mut self, path: &str) -> Self {
        self.disk.folders.push(path.to_owned());
        self
    }

    fn toml(self, text: &str) -> Self {
        self.file("/home/me/.config/lapidary/lapidary.toml", text)
    }

    fn dotenv(self, text: &str) -> Self {
        self.file("/work/.env", text)
    }

    fn load(&self) -> Result<LoadedConfig, ConfigError> {
        self.with_sources(load)
    }

    fn shown(&self) -> Vec<ShownSetting> {
        self.with_sources(shown).unwrap()
    }

    fn with_sources<T>(&self, ask: impl FnOnce(&ConfigSources<'_>) -> T) -> T {
        let words = std::iter::once("lapidary").chain(self.words.iter().map(String::as_str));
        let SettingsLine { flags, listen } = SettingsLine::try_parse_from(words).unwrap();
        let flags = listen.within(flags);
        ask(&ConfigSources {
            flags: &flags,
            environment: &self.environment,
            working_folder: Path::new("/work"),
            home: self.home.as_deref(),
            platform: self.platform,
            files: &self.disk,
            needs_vault: true,
        })
    }

    #[track_caller]
    fn config(&self) -> Config {
        self.load().unwrap().config
    }

    #[track_caller]
    fn warnings(&self) -> Vec<String> {
        self.load().unwrap().warnings
    }

    #[track_caller]
    fn error(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    /// The vaults as `name=path`.
    #[track_caller]
    fn vaults(&self) -> Vec<String> {
        match self.config().vaults {
            VaultsConfig::Demo => vec!["demo".to_owned()],
            VaultsConfig::Chosen(vaults) => {
                vaults.iter().map(|vault| format!("{}={}", vault.name, slashed(&vault.path))).collect()
            }
        }
    }
}

impl ConfigFiles for Disk {
    fn read(&self, path: &Path) -> io::Result<String> {
        match self.files.get(&slashed(path)) {
            Some(Ok(text)) => Ok(text.clone()),
            Some(Err(kind)) => Err((*kind).into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains(&slashed(path))
    }
}

/// A path as these disks write it, on any platform.
fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

#[track_caller]
fn assert_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}
