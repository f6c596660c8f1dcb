//! The only place that reads the process environment; everything else gets it as an argument.

#![expect(clippy::disallowed_methods, reason = "the one door to the environment")]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::mpsc::channel,
    time::Duration,
};

use lapidary_config::{ConfigFiles, is_unset};
use lapidary_vault::store;

#[derive(Clone)]
pub(crate) struct ProcessEnvironment {
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) working_folder: PathBuf,
    pub(crate) home: Option<PathBuf>,
}

impl ProcessEnvironment {
    pub(crate) fn of_process() -> Self {
        // A variable that is not UTF-8 cannot contain any of our settings.
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        // The folder may have been deleted under the shell; relative paths then fail one by one with their own message.
        let working_folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        Self::new(std::env::vars_os().filter_map(text).collect(), working_folder)
    }

    pub(crate) fn new(environment: BTreeMap<String, String>, working_folder: PathBuf) -> Self {
        let set = |name: &str| environment.get(name).filter(|value| !is_unset(value)).map(PathBuf::from);
        let home = set(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        Self { environment, working_folder, home }
    }
}

impl ProcessEnvironment {
    /// As if the variables said what the option says: it wins over them.
    pub(crate) fn with_colours(mut self, choice: clap::ColorChoice) -> Self {
        // `insert` gives the old value back, which is of no interest.
        let mut set = |name: &str| self.environment.insert(name.to_owned(), "1".to_owned());
        match choice {
            clap::ColorChoice::Auto => {}
            clap::ColorChoice::Never => drop(set("NO_COLOR")),
            clap::ColorChoice::Always => {
                set("CLICOLOR_FORCE");
                self.environment.remove("NO_COLOR");
            }
        }
        self
    }
}

/// The file of this program.
pub(crate) fn program_path() -> io::Result<PathBuf> {
    std::env::current_exe()
}

pub(crate) fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os()
}

/// How long a disk may take to respond before startup continues without its answer. Clients give up on servers that do
/// not start; a slow vault is better reported by the call that needs it.
const DISK_TIMEOUT: Duration = Duration::from_secs(1);

/// The answer, or a default if it does not come in time.
fn patiently<T: Send + 'static>(ask: impl FnOnce() -> T + Send + 'static, otherwise: T) -> T {
    let (sender, answer) = channel();
    // The thread is left behind if the disk never answers. It holds nothing that others wait for.
    std::thread::spawn(move || sender.send(ask()).unwrap_or_default());
    answer.recv_timeout(DISK_TIMEOUT).unwrap_or(otherwise)
}

/// The real disk, for the configuration.
pub(crate) struct RealDisk;

impl RealDisk {
    /// Whether a folder is another one, or around it.
    pub(crate) fn is_around(outer: &Path, inner: &Path) -> bool {
        let (outer, inner) = (outer.to_owned(), inner.to_owned());
        // In doubt not: refusing a vault because its disk is slow would be worse.
        patiently(move || store::is_around(&outer, &inner), false)
    }
}

impl ConfigFiles for RealDisk {
    fn read(&self, path: &Path) -> io::Result<String> {
        store::read_settings(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        let path = path.to_owned();
        // In doubt yes: the call that opens the vault reports a folder that is not there.
        patiently(move || store::folder_exists(&path), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_does_not_come_is_not_waited_for() {
        assert_eq!(patiently(|| 1, 2), 1);
        assert_eq!(
            patiently(
                || loop {
                    std::thread::park()
                },
                2
            ),
            2
        );
    }
}
