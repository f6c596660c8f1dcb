//! Where folders are on each platform, and how a written path becomes absolute.

use std::path::{Component, Path, PathBuf};

use super::refused::ConfigRefusal;
use super::variables::EnvironmentVariables;
use super::{ConfigSources, Platform};

pub(super) struct ConfigPlaces<'a> {
    platform: Platform,
    working: &'a Path,
    home: Option<&'a Path>,
    variables: &'a EnvironmentVariables,
}

impl<'a> ConfigPlaces<'a> {
    pub(super) fn new(sources: &ConfigSources<'a>, variables: &'a EnvironmentVariables) -> Self {
        Self { platform: sources.platform, working: sources.working_folder, home: sources.home, variables }
    }

    /// The absolute path for a written one: `~/` is the home folder, a relative path starts at the working folder.
    pub(super) fn whole(&self, written: &str) -> Result<PathBuf, ConfigRefusal> {
        // Replaced here, because no shell does so for files and variables.
        if let Some(rest) = written.strip_prefix('~') {
            let below = rest.trim_start_matches(|letter| self.is_separator(letter));
            // `~name` is not the home folder of this user, and stays as it is written.
            if rest.is_empty() || below.len() < rest.len() {
                let home = self.home.ok_or_else(|| ConfigRefusal::NoHome { value: written.to_owned() })?;
                return Ok(tidy(&home.join(below)));
            }
        }
        if self.is_absolute(written) { Ok(tidy(Path::new(written))) } else { Ok(tidy(&self.working.join(written))) }
    }

    /// Whether a path means the same wherever the server is started.
    pub(super) fn is_whole(&self, written: &str) -> bool {
        let of_home = written.strip_prefix('~').is_some_and(|rest| rest.starts_with(|c| self.is_separator(c)));
        of_home || self.is_absolute(written)
    }

    /// A variable of the real environment.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.real(name)
    }

    /// The folder of `lapidary.toml`.
    pub(super) fn config_folder(&self) -> Option<PathBuf> {
        Some(match self.platform {
            Platform::Linux => self.xdg_config()?.join("lapidary"),
            Platform::MacOs => self.application_support()?.join("lapidary"),
            Platform::Windows => self.roaming()?.join("lapidary"),
        })
    }

    /// Where an older server, which this one replaces, stored its list of vaults; on every platform.
    pub(super) fn old_vault_list(&self) -> Option<PathBuf> {
        Some(self.home?.join(".config/obsidian-native-mcp/vaults.json"))
    }

    pub(super) fn state_folder(&self) -> Option<PathBuf> {
        Some(match self.platform {
            Platform::Linux => {
                self.folder("XDG_STATE_HOME").or_else(|| Some(self.home?.join(".local/state")))?.join("lapidary")
            }
            Platform::MacOs => self.application_support()?.join("lapidary"),
            Platform::Windows => {
                self.folder("LOCALAPPDATA").or_else(|| Some(self.home?.join("AppData").join("Local")))?.join("lapidary")
            }
        })
    }

    /// Where Linux desktops share a trash. On other systems only their own programs fill it.
    pub(super) fn trash_home(&self) -> Option<PathBuf> {
        match self.platform {
            Platform::Linux => self.folder("XDG_DATA_HOME").or_else(|| Some(self.home?.join(".local/share"))),
            Platform::MacOs | Platform::Windows => None,
        }
    }

    /// The folders where Obsidian may keep `obsidian.json`.
    pub(super) fn obsidian_folders(&self) -> Vec<PathBuf> {
        let folders = match self.platform {
            Platform::Linux => vec![
                self.xdg_config().map(|config| config.join("obsidian")),
                // The second is where Flatpak keeps it, the third where Snap does.
                self.home.map(|home| home.join(".var/app/md.obsidian.Obsidian/config/obsidian")),
                self.home.map(|home| home.join("snap/obsidian/current/.config/obsidian")),
            ],
            Platform::MacOs => vec![self.application_support().map(|folder| folder.join("obsidian"))],
            Platform::Windows => vec![self.roaming().map(|folder| folder.join("obsidian"))],
        };
        folders.into_iter().flatten().collect()
    }

    /// The last component of a path, as Obsidian names a vault.
    pub(super) fn basename(&self, path: &Path) -> String {
        let mut names: Vec<String> = Vec::new();
        for part in path.to_string_lossy().split(|letter| self.is_separator(letter)) {
            match part {
                "" | "." => {}
                // `..` is resolved in the text only: this is a name to show, not a path to open.
                ".." => drop(names.pop()),
                name => names.push(name.to_owned()),
            }
        }
        // The root of a disk has no last component.
        names.pop().unwrap_or_else(|| "vault".to_owned())
    }

    fn is_separator(&self, letter: char) -> bool {
        letter == '/' || (letter == '\\' && self.platform == Platform::Windows)
    }

    // By the platform of the sources, not of this build, so that every platform can be tested anywhere.
    fn is_absolute(&self, written: &str) -> bool {
        match (self.platform, written.as_bytes()) {
            (Platform::Windows, [drive, b':', b'/' | b'\\', ..]) => drive.is_ascii_alphabetic(),
            // A path that begins with two backslashes is on another computer (UNC).
            (Platform::Windows, bytes) => bytes.starts_with(br"\\"),
            (Platform::Linux | Platform::MacOs, bytes) => bytes.first() == Some(&b'/'),
        }
    }

    /// A folder named by a variable; a relative one is ignored, as the XDG specification requires.
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        let written = self.variables.real(variable)?;
        self.is_absolute(written).then(|| PathBuf::from(written))
    }

    fn xdg_config(&self) -> Option<PathBuf> {
        self.folder("XDG_CONFIG_HOME").or_else(|| Some(self.home?.join(".config")))
    }

    fn application_support(&self) -> Option<PathBuf> {
        Some(self.home?.join("Library/Application Support"))
    }

    fn roaming(&self) -> Option<PathBuf> {
        self.folder("APPDATA").or_else(|| Some(self.home?.join("AppData").join("Roaming")))
    }
}

/// The path without `.` and doubled or trailing separators. `..` is kept: only the disk knows what a symlink leads to.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
