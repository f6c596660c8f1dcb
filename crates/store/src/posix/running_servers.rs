//! Which servers are running, for the person who asks.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use super::state::{StateFolder, is_own_folder, private_file, private_folder, read_text};

const FOLDER: &str = "servers";
const LOCK: &str = "lock";
const FACTS: &str = "json";

/// A server that is running on a vault. Its mark is a lock, so that it ends with the process, however that ends.
#[derive(Debug)]
pub struct RunningServer {
    name: String,
    folder: PathBuf,
    #[expect(dead_code, reason = "held, not read")]
    lock: File,
}

impl RunningServer {
    /// Announces this process with some facts about it.
    pub fn announce(state: &StateFolder, facts: &str) -> io::Result<Self> {
        let folder = state.subfolder(FOLDER)?;
        private_folder(&folder)?;
        let name = format!("{:016x}", getrandom::u64().map_err(io::Error::other)?);
        let lock = private_file().write(true).create_new(true).open(file(&folder, &name, LOCK))?;
        // Before there are facts, without which no server looks at the lock.
        lock.try_lock()?;
        let server = Self { name, folder, lock };
        // Beside the lock: on Windows, a locked file cannot be read.
        let mut written =
            private_file().write(true).create_new(true).open(file(&server.folder, &server.name, FACTS))?;
        io::Write::write_all(&mut written, facts.as_bytes())?;
        Ok(server)
    }

    /// The facts of the servers that are running on a vault now. What others left behind is removed.
    pub fn all(state: &StateFolder) -> io::Result<Vec<String>> {
        running_in(&state.subfolder(FOLDER)?)
    }

    /// The same of every vault, whichever they are: `base` has the states of all of them.
    pub fn on_every_vault(base: &Path) -> io::Result<Vec<String>> {
        let mut running = Vec::new();
        for state in entries_of(base)? {
            let folder = state.join(FOLDER);
            // As for a single vault: what others can write to says nothing, and no link is followed.
            if [base, &state, &folder].iter().all(|folder| is_own_folder(folder).is_ok()) {
                running.extend(running_in(&folder)?);
            }
        }
        Ok(running)
    }
}

/// What is in a folder; nothing if there is none.
fn entries_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn running_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut running = Vec::new();
    for path in entries_of(folder)? {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        // A server that has ended meanwhile has taken its facts away.
        let Some(facts) = path.extension().filter(|ending| *ending == FACTS).and_then(|_| read_text(&path).ok()) else {
            continue;
        };
        if is_held(&file(folder, name, LOCK))? {
            running.push(facts);
        } else {
            remove(folder, name);
        }
    }
    Ok(running)
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        remove(&self.folder, &self.name);
    }
}

fn file(folder: &Path, name: &str, ending: &str) -> PathBuf {
    folder.join(format!("{name}.{ending}"))
}

/// Whatever cannot be removed now is removed by the next who looks.
fn remove(folder: &Path, name: &str) {
    fs::remove_file(file(folder, name, FACTS)).unwrap_or_default();
    fs::remove_file(file(folder, name, LOCK)).unwrap_or_default();
}

fn is_held(path: &Path) -> io::Result<bool> {
    let opened = match private_file().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    match opened.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_running_until_it_ends() {
        let home = tempfile::tempdir().unwrap();
        let vault = home.path().join("vault");
        fs::create_dir(&vault).unwrap();
        let state = StateFolder::new(home.path().join("state"), vault);
        assert_eq!(RunningServer::all(&state).unwrap(), Vec::<String>::new());
        let first = RunningServer::announce(&state, "one").unwrap();
        let second = RunningServer::announce(&state, "two").unwrap();
        let mut running = RunningServer::all(&state).unwrap();
        running.sort();
        assert_eq!(running, ["one", "two"]);
        drop(second);
        assert_eq!(RunningServer::all(&state).unwrap(), ["one"]);
        let base = home.path().join("state");
        assert_eq!(RunningServer::on_every_vault(&base).unwrap(), ["one"]);
        fs::write(base.join("auth.db"), "").unwrap();
        assert_eq!(RunningServer::on_every_vault(&base).unwrap(), ["one"]);
        assert_eq!(RunningServer::on_every_vault(&base.join("none")).unwrap(), Vec::<String>::new());
        let folder = first.folder.clone();
        // As after a crash: the files are there, the lock is not.
        fs::write(file(&folder, "crashed", LOCK), "").unwrap();
        fs::write(file(&folder, "crashed", FACTS), "three").unwrap();
        assert_eq!(RunningServer::all(&state).unwrap(), ["one"]);
        assert!(!file(&folder, "crashed", FACTS).exists());
        drop(first);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}
