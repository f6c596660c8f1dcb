use std::{
    ops::{Deref, Range},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use crate::{Stat, VaultPath};

/// Names a path for as long as there is something at it. A path that comes back after a while gets another one, and no
/// number is given twice, so whatever was worked out for a number stays right.
pub type FileId = u32;

/// One state of one file: what is loaded of it belongs to that state and to no other.
#[derive(Debug)]
pub struct FileState {
    pub id: FileId,
    pub path: VaultPath,
    pub stat: Stat,
    digest: OnceLock<Slice>,
    text: Mutex<Option<Slice>>,
    /// When content was first read, by the clock of the files; 0 if it never was.
    read_at: AtomicI64,
    /// Whether the digest is in the cache.
    saved: AtomicBool,
    /// The digest is not that of exactly this state, because it could not be read; another time it may be.
    provisional: AtomicBool,
}

/// A part of a buffer that many share: a hundred thousand small texts cost no more than their bytes, and go back to the
/// system in large pieces.
#[derive(Clone, Debug)]
pub struct Slice {
    buffer: Arc<Vec<u8>>,
    range: Range<u32>,
}

impl Slice {
    pub fn whole(bytes: Vec<u8>) -> Option<Self> {
        let buffer = Arc::new(bytes);
        Self::of(&buffer, 0..buffer.len())
    }

    /// `None` for a part that lies beyond what such a buffer can hold.
    pub(crate) fn of(buffer: &Arc<Vec<u8>>, range: Range<usize>) -> Option<Self> {
        let range = u32::try_from(range.start).ok()?..u32::try_from(range.end).ok()?;
        buffer.get(range.start as usize..range.end as usize)?;
        Some(Self { buffer: Arc::clone(buffer), range })
    }
}

#[cfg(test)]
impl From<Vec<u8>> for Slice {
    fn from(bytes: Vec<u8>) -> Self {
        Self::whole(bytes).unwrap()
    }
}

impl Deref for Slice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.start as usize..self.range.end as usize]
    }
}

impl FileState {
    pub(crate) fn new(id: FileId, path: VaultPath, stat: Stat) -> Self {
        Self {
            id,
            path,
            stat,
            digest: OnceLock::new(),
            text: Mutex::default(),
            read_at: AtomicI64::new(0),
            saved: AtomicBool::new(false),
            provisional: AtomicBool::new(false),
        }
    }

    pub fn digest(&self) -> Option<&Slice> {
        self.digest.get()
    }

    /// The first one stays; two readings of one state give the same.
    pub(crate) fn set_digest(&self, digest: Slice, read_at: i64) {
        self.note_reading(read_at);
        self.digest.get_or_init(|| digest);
    }

    pub fn text(&self) -> Option<Slice> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_text(&self, text: Slice, read_at: i64) {
        self.note_reading(read_at);
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    pub(crate) fn drop_text(&self) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn is_provisional(&self) -> bool {
        self.provisional.load(Ordering::Acquire)
    }

    pub(crate) fn set_provisional(&self) {
        self.provisional.store(true, Ordering::Release);
    }

    pub(crate) fn is_saved(&self) -> bool {
        self.saved.load(Ordering::Acquire)
    }

    pub(crate) fn set_saved(&self) {
        self.saved.store(true, Ordering::Release);
    }

    #[cfg(test)]
    pub(crate) fn set_unsaved(&self) {
        self.saved.store(false, Ordering::Release);
    }

    fn note_reading(&self, read_at: i64) {
        // Of several readings the first counts. That another one was faster is no failure.
        self.read_at.compare_exchange(0, read_at, Ordering::AcqRel, Ordering::Acquire).unwrap_or_default();
    }

    /// When its content was read, if it was.
    pub fn read_at(&self) -> Option<i64> {
        Some(self.read_at.load(Ordering::Acquire)).filter(|at| *at != 0)
    }

    /// Whether a file with this stamp is surely the one that this is a state of. What was read so soon after a change that
    /// a second change could carry the same stamp is not.
    pub(crate) fn still_is(&self, found: &Stat) -> bool {
        self.stat.stamp == found.stamp && self.read_at().is_none_or(|at| self.stat.stamp.is_settled(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stamp;

    #[test]
    fn a_file_that_was_read_right_after_a_change_may_have_changed_again() {
        const SECOND: i64 = 1_000_000_000;
        let stat = Stat { stamp: Stamp { size: 1, modified: SECOND, changed: 5 * SECOND, inode: 7 }, created: None };
        let state = |read_at: i64| {
            let state = FileState::new(0, VaultPath::spelt("a.md").unwrap(), stat);
            state.set_digest(Slice::of(&Arc::default(), 0..0).unwrap(), read_at);
            state
        };
        assert!(FileState::new(0, VaultPath::spelt("a.md").unwrap(), stat).still_is(&stat), "nobody has read it");
        assert!(!state(5 * SECOND + 1).still_is(&stat));
        assert!(!state(7 * SECOND).still_is(&stat), "the clock may tick every two seconds");
        assert!(state(7 * SECOND + 1).still_is(&stat));
        let other = Stat { stamp: Stamp { inode: 8, ..stat.stamp }, ..stat };
        assert!(!state(9 * SECOND).still_is(&other));
    }
}
