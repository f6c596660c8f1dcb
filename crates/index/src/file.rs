//! One state of one file, and what is known about it.

use std::{
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use crate::{FileStat, VaultPath};

/// Identifies a path as long as something exists at it. A path that reappears later gets another one, and no number is
/// reused, so anything computed for a number stays valid.
pub type FileId = u32;

/// One state of one file: its loaded data belongs to that state and to no other.
#[derive(Debug)]
pub struct FileState {
    pub id: FileId,
    pub path: VaultPath,
    pub stat: FileStat,
    /// Computed at most once, by the first user: two readings of one state give the same.
    digest: OnceLock<KnownDigest>,
}

#[derive(Debug)]
struct KnownDigest {
    bytes: SharedBytes,
    /// By the clock of the files; 0 if the state is only planned.
    read_at: i64,
    origin: DigestOrigin,
}

/// The origin of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DigestOrigin {
    /// Exactly this state of the file.
    Content,
    /// Not exactly this state, because it could not be read; it may be readable later.
    Provisional,
    /// The cache, which has it already.
    Cache,
}

/// Part of a shared buffer: a hundred thousand small texts cost no more than their bytes, and are freed in large
/// pieces.
#[derive(Clone, Debug)]
pub struct SharedBytes {
    buffer: Arc<Vec<u8>>,
    range: Range<u32>,
}

impl SharedBytes {
    pub fn whole(bytes: Vec<u8>) -> Option<Self> {
        let buffer = Arc::new(bytes);
        Self::of(&buffer, 0..buffer.len())
    }

    /// `None` for a part beyond what such a buffer can hold.
    pub(crate) fn of(buffer: &Arc<Vec<u8>>, range: Range<usize>) -> Option<Self> {
        // 32 bits, as there is one for every text and digest.
        let range = u32::try_from(range.start).ok()?..u32::try_from(range.end).ok()?;
        // Also checks that the part lies within the buffer.
        buffer.get(range.start as usize..range.end as usize)?;
        Some(Self { buffer: Arc::clone(buffer), range })
    }
}

#[cfg(test)]
impl SharedBytes {
    /// How many bytes it keeps in memory, together with those that share them.
    pub(crate) fn kept(&self) -> usize {
        self.buffer.capacity()
    }
}

#[cfg(test)]
impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::whole(bytes).unwrap()
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.start as usize..self.range.end as usize]
    }
}

impl FileState {
    pub(crate) fn new(id: FileId, path: VaultPath, stat: FileStat) -> Self {
        Self { id, path, stat, digest: OnceLock::new() }
    }

    pub fn digest(&self) -> Option<&SharedBytes> {
        self.digest.get().map(|known| &known.bytes)
    }

    /// The first one stays.
    pub(crate) fn set_digest(&self, bytes: SharedBytes, read_at: i64, origin: DigestOrigin) {
        self.digest.get_or_init(|| KnownDigest { bytes, read_at, origin });
    }

    /// Whether there is a digest, and where it is from.
    pub(crate) fn digest_origin(&self) -> Option<DigestOrigin> {
        self.digest.get().map(|known| known.origin)
    }

    /// When the content of the digest was read, if it was.
    pub(crate) fn digested_at(&self) -> Option<i64> {
        // A planned state was never read.
        self.digest.get().map(|known| known.read_at).filter(|at| *at != 0)
    }

    /// Whether a file with this stamp surely has this state. Content that was read so soon after a change that a second
    /// change could have the same stamp does not count; it may have been read for its digest or for its text.
    pub(crate) fn still_is(&self, found: &FileStat, text_read_at: Option<i64>) -> bool {
        let mut readings = self.digested_at().into_iter().chain(text_read_at);
        self.stat.stamp == found.stamp && readings.all(|at| self.stat.stamp.is_settled(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileStamp;

    #[test]
    fn a_file_that_was_read_right_after_a_change_may_have_changed_again() {
        const SECOND: i64 = 1_000_000_000;
        let stat =
            FileStat { stamp: FileStamp { size: 1, modified: SECOND, changed: 5 * SECOND, inode: 7 }, created: None };
        let state = |read_at: i64| {
            let state = FileState::new(0, VaultPath::spelt("a.md").unwrap(), stat);
            state.set_digest(SharedBytes::of(&Arc::default(), 0..0).unwrap(), read_at, DigestOrigin::Content);
            state
        };
        assert!(
            FileState::new(0, VaultPath::spelt("a.md").unwrap(), stat).still_is(&stat, None),
            "it has not been read"
        );
        assert!(!state(5 * SECOND + 1).still_is(&stat, None));
        assert!(!state(7 * SECOND).still_is(&stat, None), "the clock may tick every two seconds");
        assert!(state(7 * SECOND + 1).still_is(&stat, None));
        let other = FileStat { stamp: FileStamp { inode: 8, ..stat.stamp }, ..stat };
        assert!(!state(9 * SECOND).still_is(&other, None));
        assert!(!state(9 * SECOND).still_is(&stat, Some(5 * SECOND + 1)), "its text was read before");
    }
}
