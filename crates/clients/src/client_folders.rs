//! The folders in which clients keep their settings, on each platform.

use std::path::{Path, PathBuf};

/// The system whose conventions clients follow. Systems other than macOS and Windows follow XDG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostPlatform {
    Linux,
    MacOs,
    Windows,
}

/// The folders that the table of clients refers to.
#[derive(Debug, Clone)]
pub struct ClientFolders {
    pub platform: HostPlatform,
    /// The home folder of the user.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, if it is set; command line tools use it on every system.
    pub xdg_config: Option<PathBuf>,
    /// `%APPDATA%`, if it is set.
    pub roaming: Option<PathBuf>,
    /// Folders that clients take from variables of their own, by the name of the variable.
    pub own: Vec<(&'static str, PathBuf)>,
}

impl ClientFolders {
    /// The variables of clients that move their folder.
    pub const OWN_VARIABLES: [&str; 3] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"];

    /// The path for a template: `{home}`, `{config}` (command line tools), `{data}` (desktop programs), or `{VARIABLE:default}`.
    pub(crate) fn path(&self, template: &str) -> PathBuf {
        let Some((place, below)) = template.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
            return PathBuf::from(template);
        };
        let folder = match place.split_once(':') {
            Some((variable, default)) => match self.own.iter().find(|(name, _)| *name == variable) {
                Some((_, folder)) => folder.clone(),
                None => below_folder(&self.home, default),
            },
            None => match place {
                "config" => self.config(),
                "data" => self.data(),
                _ => self.home.clone(),
            },
        };
        below_folder(&folder, below)
    }

    fn config(&self) -> PathBuf {
        self.xdg_config.clone().unwrap_or_else(|| self.home.join(".config"))
    }

    fn data(&self) -> PathBuf {
        match self.platform {
            // Desktop programs follow XDG only here; on the other systems they use the folder of the system, whatever
            // the variable says.
            HostPlatform::Linux => self.config(),
            HostPlatform::MacOs => self.home.join("Library").join("Application Support"),
            HostPlatform::Windows => self.roaming.clone().unwrap_or_else(|| self.home.join("AppData").join("Roaming")),
        }
    }
}

/// Joined part by part, so that Windows shows one kind of separator.
fn below_folder(folder: &Path, below: &str) -> PathBuf {
    below.split('/').filter(|part| !part.is_empty()).fold(folder.to_owned(), |path, part| path.join(part))
}
