//! Lapidary's own data, in the state folder and never in the vault.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use lapidary_note::ContentHash;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use super::{StepObserver, StoreError};
use crate::ElapsedTime;

/// The folder that holds the state of one vault. It is named after the real place of the vault, so that servers that
/// reach it by different names share it; resolving that place may wait for the disk, so it is done on first use and not
/// at startup.
pub struct StateFolder {
    base: PathBuf,
    vault: PathBuf,
    resolved: OnceLock<PathBuf>,
    observer: Option<StepObserver>,
}

impl StateFolder {
    pub fn new(base: PathBuf, vault: PathBuf) -> Self {
        Self { base, vault, resolved: OnceLock::new(), observer: None }
    }

    /// The same folder, with its writes observed step by step, like a vault's changes.
    #[must_use]
    pub fn observed(self, observer: StepObserver) -> Self {
        Self { observer: Some(observer), ..self }
    }

    pub(super) fn about_to(&self, call: &'static str) -> Result<(), StoreError> {
        self.observer.as_ref().map_or(Ok(()), |observer| observer(call))
    }

    pub(super) fn file(&self, name: &str) -> io::Result<PathBuf> {
        let folder = match self.resolved.get() {
            Some(folder) => folder,
            None => {
                let real = self.vault.canonicalize()?;
                let hash = ContentHash::of(real.as_os_str().as_encoded_bytes()).to_string();
                // 64 bits are enough to tell the vaults of one machine apart, and keep the path short.
                let id: String = hash.trim_start_matches("sha256:").chars().take(16).collect();
                let folder = self.base.join(id);
                // A link on the way to the state folder is the owner's; none is followed inside it.
                for (place, problem) in [(&self.base, is_ours_alone(&self.base)), (&folder, is_own_folder(&folder))] {
                    if let Err(problem) = problem {
                        tracing::warn!("the state folder {} is not used: {problem}", place.display());
                        return Err(io::ErrorKind::PermissionDenied.into());
                    }
                }
                self.resolved.get_or_init(|| folder)
            }
        };
        Ok(folder.join(name))
    }

    /// A folder in it, which may not be there yet. It is looked at each time: a link in its place is not followed.
    pub(super) fn subfolder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.file(name)?;
        is_own_folder(&folder).map_err(|problem| {
            tracing::warn!("the state folder {} is not used: {problem}", folder.display());
            io::Error::from(io::ErrorKind::PermissionDenied)
        })?;
        Ok(folder)
    }

    /// The same, in an existing folder that other users cannot read.
    pub(super) fn file_in_place(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.file(name)?;
        if let Some(folder) = path.parent() {
            private_folder(folder)?;
        }
        Ok(path)
    }
}

/// Why a state folder is not used. A user who can write there can forge the history and the log, and redirect our
/// files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateProblem {
    #[error("other users can write to it; `chmod go-w` prevents that")]
    OthersWrite,
    #[error("it belongs to another user")]
    NotOurs,
    #[error("it is a link or a file")]
    NoFolder,
}

/// Whether other users cannot write to a state folder. A missing one will be created that way.
#[cfg(unix)]
pub fn is_ours_alone(folder: &Path) -> Result<(), StateProblem> {
    use std::os::unix::fs::MetadataExt;
    let Ok(found) = std::fs::metadata(folder) else { return Ok(()) };
    let us = rustix::process::geteuid().as_raw();
    match () {
        () if !found.is_dir() => Err(StateProblem::NoFolder),
        // Root is often given another user's folder.
        () if found.uid() != us && us != 0 => Err(StateProblem::NotOurs),
        () if found.mode() & 0o022 != 0 => Err(StateProblem::OthersWrite),
        () => Ok(()),
    }
}

/// The same of a folder inside the state folder, which is never a link.
pub(super) fn is_own_folder(folder: &Path) -> Result<(), StateProblem> {
    if std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
        return Err(StateProblem::NoFolder);
    }
    is_ours_alone(folder)
}

/// On other systems a user's folders are protected by default.
#[cfg(not(unix))]
pub fn is_ours_alone(_: &Path) -> Result<(), StateProblem> {
    Ok(())
}

/// Only shown in logs; replies never name a place on the machine.
impl std::fmt::Debug for StateFolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateFolder").field("base", &self.base).field("vault", &self.vault).finish_non_exhaustive()
    }
}

/// A log of lines that several processes append to; older files are kept as `.1` to `.5`.
#[derive(Clone, Debug)]
pub struct LogFile {
    folder: Arc<StateFolder>,
    name: &'static str,
    max_bytes: u64,
    /// Stays open from one line to the next: opening it costs more than the line.
    kept: Arc<Mutex<Option<File>>>,
}

const KEPT: usize = 5;
/// How long a line waits for other writers. A log is not worth more of a caller's time.
const LOG_PATIENCE: Duration = Duration::from_millis(250);
/// How long a server waits for another that is writing to a database. They take turns, so this is short.
pub(super) const DATABASE_PATIENCE: Duration = Duration::from_secs(10);
/// Between two attempts to switch a new database to its log.
const SWITCH_PAUSE: Duration = Duration::from_millis(5);
/// How often a waiter checks a lock again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

impl LogFile {
    pub fn new(folder: Arc<StateFolder>, name: &'static str, max_bytes: u64) -> Self {
        Self { folder, name, max_bytes, kept: Arc::default() }
    }

    pub fn append(&self, line: &str) -> io::Result<()> {
        // Another call that is writing has it, perhaps waiting for another process: this one opens its own.
        let mut kept = self.kept.try_lock();
        let kept = kept.as_deref_mut();
        let mut own = None;
        let file = kept.unwrap_or(&mut own);
        match append_line(file, &self.folder.file(self.name)?, self.max_bytes, line) {
            // The folder does not exist yet or was removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                append_line(file, &self.folder.file_in_place(self.name)?, self.max_bytes, line)
            }
            written => written,
        }
    }

    /// The last lines, oldest first, and where to continue.
    pub fn tail(&self, limit: usize) -> io::Result<(Vec<String>, LogTail)> {
        let path = self.folder.file(self.name)?;
        let mut tail = LogTail { path: path.clone(), read: None };
        let mut lines = tail.more()?;
        // The current file first: rotated ones are only read if it has too few lines.
        for number in 1..=KEPT {
            if lines.len() >= limit {
                break;
            }
            let older = match opened(&older(&path, number)).and_then(io::read_to_string) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            };
            lines.splice(0..0, older.lines().map(str::to_owned));
        }
        lines.drain(..lines.len().saturating_sub(limit));
        Ok((lines, tail))
    }
}

/// A log of lines in a folder that the owner chose; otherwise like [`LogFile`].
#[derive(Clone, Debug)]
pub struct RotatedFile {
    path: PathBuf,
    max_bytes: u64,
}

impl RotatedFile {
    pub fn new(path: PathBuf, max_bytes: u64) -> Self {
        Self { path, max_bytes }
    }

    pub fn append(&self, line: &str) -> io::Result<()> {
        match append_line(&mut None, &self.path, self.max_bytes, line) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.path.parent().map_or(Ok(()), private_folder)?;
                append_line(&mut None, &self.path, self.max_bytes, line)
            }
            written => written,
        }
    }
}

/// `kept` is the file as opened for an earlier line, if there was one, and afterwards for the next.
fn append_line(kept: &mut Option<File>, path: &Path, max_bytes: u64, line: &str) -> io::Result<()> {
    let started = ElapsedTime::start();
    loop {
        let mut file = match kept.take() {
            Some(file) => file,
            None => private_file().append(true).create(true).open(path)?,
        };
        lock(&file, &|| started.elapsed() < LOG_PATIENCE)?;
        // The file may have been removed, or rotated away before it was locked.
        if !same_file(&file, path) {
            continue;
        }
        let length = file.metadata()?.len();
        // A line longer than the limit gets a file to itself; without the first condition it would rotate forever.
        if length > 0 && length + line.len() as u64 >= max_bytes {
            rotate(path)?;
            continue;
        }
        file.write_all(format!("{line}\n").as_bytes())?;
        if cfg!(unix) {
            // Elsewhere a file that is open cannot be renamed, which would be in the way of other servers.
            file.unlock()?;
            *kept = Some(file);
        }
        return Ok(());
    }
}

/// A reader that stays at the end of a log.
#[derive(Debug)]
pub struct LogTail {
    path: PathBuf,
    read: Option<(File, u64)>,
}

impl LogTail {
    /// The complete lines that were added since.
    pub fn more(&mut self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        if let Some((file, position)) = &mut self.read {
            lines = whole_lines(file, position)?;
            // The rest of a rotated file was read above. The lines that follow are in the file that took its name.
            if same_file(file, &self.path) {
                return Ok(lines);
            }
        }
        match opened(&self.path) {
            Ok(mut file) => {
                let mut position = 0;
                lines.extend(whole_lines(&mut file, &mut position)?);
                self.read = Some((file, position));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(lines)
    }
}

fn rotate(path: &Path) -> io::Result<()> {
    for number in (1..KEPT).rev() {
        match std::fs::rename(older(path, number), older(path, number + 1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(path, older(path, 1))
}

fn older(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// The file by which servers on one vault take turns changing it.
#[derive(Clone, Debug)]
pub(super) struct TurnFile(Arc<StateFolder>);

impl TurnFile {
    pub(super) fn new(folder: Arc<StateFolder>) -> Self {
        Self(folder)
    }

    /// Waits for the turn while allowed; the turn is over when the file is closed.
    ///
    /// Waiters queue at a second lock that every server has to pass: so a server that makes one change after another
    /// lets the others in between.
    ///
    /// Only a missing vault is reported as not found.
    pub(crate) fn take(&self, go_on: &dyn Fn() -> bool) -> io::Result<File> {
        let queue = self.hold("turn.queue", go_on)?;
        let turn = self.hold("turn.lock", go_on);
        drop(queue);
        turn
    }

    fn hold(&self, name: &str, go_on: &dyn Fn() -> bool) -> io::Result<File> {
        let path = self.0.file(name)?;
        self.hold_at(name, &path, go_on).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::ErrorKind::NotADirectory.into(),
            _ => error,
        })
    }

    fn hold_at(&self, name: &str, path: &Path, go_on: &dyn Fn() -> bool) -> io::Result<File> {
        loop {
            let open = || private_file().write(true).create(true).truncate(false).open(path);
            let file = match open() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.0.file_in_place(name)?;
                    open()?
                }
                opened => opened?,
            };
            lock(&file, go_on)?;
            // A lock on a file that was deleted meanwhile excludes no other server.
            if same_file(&file, path) {
                return Ok(file);
            }
        }
    }
}

/// Waits for a lock that may be held forever.
fn lock(file: &File, go_on: &dyn Fn() -> bool) -> io::Result<()> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            // Polled, because a blocking lock cannot be given up when the call is cancelled.
            Err(TryLockError::WouldBlock) if go_on() => std::thread::sleep(LOOK_AGAIN),
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn whole_lines(file: &mut File, position: &mut u64) -> io::Result<Vec<String>> {
    file.seek(SeekFrom::Start(*position))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // The end of the file may be a line that another process is writing.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    *position += whole as u64;
    // One damaged line must not hide all the others.
    Ok(String::from_utf8_lossy(&bytes[..whole]).lines().map(str::to_owned).collect())
}

pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Links are not followed: none of ours is one, and a foreign one leads to where an attacker wants us to write.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options
}

/// One of our files, for reading.
pub(super) fn opened(path: &Path) -> io::Result<File> {
    private_file().read(true).open(path)
}

/// The bytes of a file of ours.
pub(super) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As much of one file as is read at once. Larger ones are not ours.
const MOST_READ: u64 = 64 << 20;

/// The text of a file of ours. What is not text, too large or a link is damage: `InvalidData`.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    if std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(damaged());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, to tell a file of exactly this size from a larger one.
    opened(path)?.take(MOST_READ + 1).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= MOST_READ).ok_or_else(damaged)
}

/// One of our databases. Links on the way to the state folder are the owner's; one inside it is not followed.
pub(super) fn open_database(path: &Path) -> Result<Connection, rusqlite::Error> {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let real = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
    let real = real.ok_or_else(|| rusqlite::Error::InvalidPath(PathBuf::new()))?;
    // SQLite follows links in place of the files beside a database.
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = real.as_os_str().to_owned();
        beside.push(ending);
        if std::fs::symlink_metadata(&beside).is_ok_and(|found| found.is_symlink()) {
            return Err(rusqlite::Error::InvalidPath(beside.into()));
        }
    }
    Connection::open_with_flags(real, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)
}

/// Lets several servers use a database at once: readers do not wait for a writer, and a writer waits for another for at
/// most `patience`.
pub(super) fn share_database(database: &Connection, patience: Duration) -> Result<(), rusqlite::Error> {
    database.busy_timeout(patience)?;
    let started = ElapsedTime::start();
    loop {
        let switched = database.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
        // SQLite refuses at once if another server is switching the same new file: both hold a read lock, so neither
        // could get its turn by waiting.
        let is_busy =
            switched.as_ref().is_err_and(|error| error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy));
        if !is_busy || started.elapsed() >= patience {
            return switched;
        }
        std::thread::sleep(SWITCH_PAUSE);
    }
}

/// A database in the state folder itself, which belongs to no vault; `make` creates it if it is missing. Other users
/// cannot read it.
pub fn open_state_database(base: &Path, name: &str, make: bool) -> io::Result<Option<Connection>> {
    is_ours_alone(base).map_err(|problem| io::Error::new(io::ErrorKind::PermissionDenied, problem))?;
    let path = base.join(name);
    if make {
        private_folder(base)?;
        // Made before SQLite would, which leaves the mode to the system.
        drop(private_file().write(true).create(true).truncate(false).open(&path)?);
    } else if !path.try_exists()? {
        return Ok(None);
    }
    let database = open_database(&path).map_err(io::Error::other)?;
    share_database(&database, DATABASE_PATIENCE).map_err(io::Error::other)?;
    Ok(Some(database))
}

#[cfg(unix)]
pub(super) fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere an open file cannot be renamed away, so the path still names it.
#[cfg(not(unix))]
pub(super) fn same_file(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests;
