//! Files of the vault, one at a time: bytes and stamps.

use std::{
    num::NonZeroI64,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use lapidary_note::ContentHash;
use lapidary_store::{FileStamp, FileStat, StoreError, VaultPath};

use super::store_error;
use crate::{FileAnswer, FileTimes, FileVersion, NoteAnswer, PluginConnection, PluginError};

/// JSON around a text, and what it needs for quotes and line ends.
const JSON_OVERHEAD: u64 = 1 << 20;
/// A person waits to be told what the vault can do.
const LEARNING_TIME: Duration = Duration::from_secs(2);

/// The files behind a connection.
pub(super) struct RemoteFiles {
    pub(super) connection: PluginConnection,
    max_file_bytes: u64,
    /// Whether the last answer named a version, and whether there was one: the plugin may be updated meanwhile.
    names_versions: AtomicBool,
    has_answered: AtomicBool,
}

impl RemoteFiles {
    pub(super) fn new(connection: PluginConnection, max_file_bytes: u64) -> Self {
        Self {
            connection,
            max_file_bytes,
            names_versions: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
        }
    }

    /// Whether versions of files are named, so that changes are conditional. Asked for if no file was read yet; what does not answer
    /// has not promised it.
    pub(super) fn names_versions(&self) -> bool {
        if !self.has_answered.load(Ordering::Acquire)
            && let Ok(Some(found)) = self.connection.with_timeout(LEARNING_TIME).without_retries().names_versions()
        {
            self.learn(found);
        }
        self.names_versions.load(Ordering::Relaxed)
    }

    fn learn(&self, names_versions: bool) {
        self.names_versions.store(names_versions, Ordering::Relaxed);
        self.has_answered.store(true, Ordering::Release);
    }

    pub(super) fn max_file_bytes(&self) -> u64 {
        self.max_file_bytes
    }

    /// The bytes as they are on the other side's disk, not as the app remembers them.
    pub(super) fn read(&self, path: &VaultPath, max_bytes: u64) -> Result<FileAnswer, StoreError> {
        let answer = match self.connection.read_file(path, max_bytes) {
            Err(PluginError::TooLarge { limit }) => {
                // Asked for once more, because the refusal should name the real size.
                let size = self.connection.find_file(path).map_or(limit.saturating_add(1), |found| found.size);
                return Err(StoreError::TooLarge { bytes: size, limit });
            }
            answer => answer.map_err(store_error)?,
        };
        self.learn(answer.version.is_some());
        Ok(answer)
    }

    fn note(&self, path: &VaultPath, max_bytes: u64) -> Result<NoteAnswer, PluginError> {
        // Escaped text can be longer than the note itself.
        self.connection.read_note(path, max_bytes.saturating_mul(2).saturating_add(JSON_OVERHEAD))
    }

    /// The times of a note.
    pub(super) fn note_stat(&self, path: &VaultPath, max_bytes: u64) -> Result<FileStat, StoreError> {
        match self.note(path, max_bytes) {
            Ok(note) => Ok(stat_of(&note.stat)),
            // It cannot be shown, so its times do not matter.
            Err(PluginError::TooLarge { .. }) => self.sized_stat(path),
            Err(error) => Err(store_error(error)),
        }
    }

    /// What tells states of a file apart: the times of a note, the content of a small file with structure or rules, and
    /// of other files their size.
    pub(super) fn stat(&self, path: &VaultPath) -> Result<FileStat, StoreError> {
        if path.is_note() {
            return self.note_stat(path, self.max_file_bytes);
        }
        if !is_compared(path) {
            return self.sized_stat(path);
        }
        match self.read(path, self.max_file_bytes) {
            Ok(answer) => Ok(content_stat(&answer.bytes)),
            // Too large to be compared: its size has to do.
            Err(StoreError::TooLarge { bytes, .. }) => Ok(sized(bytes, None)),
            Err(error) => Err(error),
        }
    }

    fn sized_stat(&self, path: &VaultPath) -> Result<FileStat, StoreError> {
        let found = self.connection.find_file(path).map_err(store_error)?;
        Ok(sized(found.size, found.version.as_ref()))
    }

    /// Appends the content of a file, which is not older than the returned state.
    pub(super) fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        if !path.is_note() {
            let answer = self.read(path, max_bytes)?;
            into.extend_from_slice(&answer.bytes);
            return Ok(match is_compared(path) {
                true => content_stat(&answer.bytes),
                false => sized(answer.bytes.len() as u64, answer.version.as_ref()),
            });
        }
        let note = match self.note(path, max_bytes) {
            Err(PluginError::TooLarge { .. }) => {
                let bytes = self.sized_stat(path)?.stamp.size;
                return Err(StoreError::TooLarge { bytes, limit: max_bytes });
            }
            note => note.map_err(store_error)?,
        };
        let stat = stat_of(&note.stat);
        // The app says the size of the file, which may be more than the text in the answer.
        if stat.stamp.size > max_bytes {
            return Err(StoreError::TooLarge { bytes: stat.stamp.size, limit: max_bytes });
        }
        // A text that lost a byte order mark, or bytes that are not text, is read again as it is.
        let is_exact =
            note.content.len() as u64 == stat.stamp.size && !note.content.contains(char::REPLACEMENT_CHARACTER);
        match is_exact {
            true => into.extend_from_slice(note.content.as_bytes()),
            false => into.extend_from_slice(&self.read(path, max_bytes)?.bytes),
        }
        Ok(stat)
    }
}

/// Whether the size alone does not show a change: boards and saved queries are read for the index, and rules for the scope.
fn is_compared(path: &VaultPath) -> bool {
    path.is_canvas() || path.is_base() || path.is_hidden()
}

pub(super) fn stat_of(times: &FileTimes) -> FileStat {
    // Times with fractions of milliseconds; a cast clamps what does not fit.
    let nanoseconds = |milliseconds: f64| (milliseconds * 1_000_000.0) as i64;
    let stamp = FileStamp {
        size: times.size as u64,
        modified: nanoseconds(times.modified),
        // The app has one time only; both fields are compared, so both get it.
        changed: nanoseconds(times.modified),
        inode: 0,
    };
    FileStat { stamp, created: NonZeroI64::new(nanoseconds(times.created)) }
}

fn content_stat(bytes: &[u8]) -> FileStat {
    // A number from the content in place of an inode: a new content is a new stamp.
    let inode = number_of(&ContentHash::of(bytes));
    FileStat { stamp: FileStamp { size: bytes.len() as u64, inode, ..FileStamp::default() }, created: None }
}

fn sized(size: u64, version: Option<&FileVersion>) -> FileStat {
    let inode = version.map_or(0, |version| number_of(&ContentHash::of(version.tag().as_bytes())));
    FileStat { stamp: FileStamp { size, inode, ..FileStamp::default() }, created: None }
}

fn number_of(hash: &ContentHash) -> u64 {
    // Eight bytes of a hash are enough to tell versions apart.
    hash.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
