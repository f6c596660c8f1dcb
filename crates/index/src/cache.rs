//! The digests of notes on disk, so that the next start need not read unchanged notes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    digest::{Digest, FORMAT},
    file::{DigestOrigin, FileId, FileState, SharedBytes},
    packed::{BytePacker, ByteUnpacker},
    snapshot::Snapshot,
    sorted::SortedMap,
};
use crate::{
    FileStamp, VaultPath,
    posix::{CacheFile, CacheRow},
};

/// A vault of fewer notes is not saved: it is faster to read them again.
pub const SAVED_FROM: usize = 200;
/// How many notes are written together.
const BATCH: usize = 512;
/// How many rows may be added one at a time before all are rewritten.
const CROWDED: usize = 256;
/// How many rows are in memory before their digests are: some megabytes, and enough for all cores.
const ROWS_AT_ONCE: usize = 16;

/// Digests kept for the next start. They are used only for a file that has not changed since, and can be discarded at
/// any time.
#[derive(Debug)]
pub struct IndexCache {
    file: CacheFile,
    unsaved: AtomicBool,
    /// So much has been added that it is time to rewrite all of it.
    crowded: AtomicBool,
}

impl IndexCache {
    pub fn new(file: CacheFile) -> Self {
        Self { file, unsaved: AtomicBool::new(false), crowded: AtomicBool::new(false) }
    }

    /// Gives the notes of a snapshot the digests that are stored for exactly their state.
    pub(super) fn recall(&self, snapshot: &Snapshot, pending: usize) {
        if pending < SAVED_FROM {
            return;
        }
        let recall = |rows: Vec<CacheRow>| {
            tracing::debug!(rows = rows.len(), "rows of the cache of the index were read");
            rows.into_par_iter().for_each(|row| {
                // The cache is not synced, so a power cut can damage any row.
                if xxh3_64(&row.bytes) == row.checksum {
                    recall_batch(snapshot, &row.bytes);
                } else {
                    tracing::debug!("a damaged row of the cache is passed over");
                }
            });
        };
        // No cache, an old one or a damaged one: then the notes are read, and a new one is written.
        if let Err(error) = self.file.load_each(FORMAT, ROWS_AT_ONCE, &recall) {
            tracing::debug!(%error, "the cache of the index cannot be read");
        }
    }

    pub(super) fn changed(&self) {
        self.unsaved.store(true, Ordering::Release);
    }

    pub(super) fn is_unsaved(&self) -> bool {
        self.unsaved.load(Ordering::Acquire)
    }

    /// Writes digests that are not yet among the `saved`. Returns what is written by now, if there was anything new.
    pub(super) fn save(&self, snapshot: &Snapshot, saved: &SavedDigests) -> Option<SavedDigests> {
        let learnt = self.unsaved.swap(false, Ordering::AcqRel);
        learnt.then(|| self.save_digests(snapshot, saved).unwrap_or_else(|| saved.clone()))
    }

    fn save_digests(&self, snapshot: &Snapshot, saved: &SavedDigests) -> Option<SavedDigests> {
        let worth_it =
            // A provisional digest is of some other content, and would be wrong for a file that has not changed
            // since.
            |state: &&Arc<FileState>| state.digest_origin().is_some_and(|origin| origin != DigestOrigin::Provisional);
        let notes: Vec<&Arc<FileState>> = snapshot.files().filter(worth_it).collect();
        if notes.len() < SAVED_FROM {
            return None;
        }
        let is_saved = |state: &Arc<FileState>| {
            state.digest_origin() == Some(DigestOrigin::Cache)
                || saved.get(&state.id).is_some_and(|saved| Arc::ptr_eq(saved, state))
        };
        let unsaved: Vec<&Arc<FileState>> = notes.iter().filter(|state| !is_saved(state)).copied().collect();
        if unsaved.is_empty() {
            return None;
        }
        // Rewriting everything is worth it if much is new, or if too many outdated rows have gathered.
        let anew = unsaved.len() > SAVED_FROM.max(notes.len() / 8) || self.crowded.load(Ordering::Acquire);
        let chosen = if anew { &notes } else { &unsaved };
        let row = |batch: &[&Arc<FileState>]| {
            let mut bytes = Vec::new();
            batch.iter().for_each(|state| pack(state, &mut bytes));
            (xxh3_64(&bytes), bytes)
        };
        let rows = || chosen.chunks(BATCH).map(row);
        let written = if anew { self.file.replace(FORMAT, rows) } else { self.file.add(FORMAT, rows) };
        // A cache that cannot be written only makes the next start slower.
        let rows = match written {
            Ok(rows) => rows,
            Err(error) => {
                tracing::debug!(%error, "the cache of the index cannot be written");
                return None;
            }
        };
        tracing::debug!(notes = chosen.len(), anew, "the index is in its cache");
        // Rows of notes that have changed since are still among them.
        self.crowded.store(rows > CROWDED + notes.len() / BATCH, Ordering::Release);
        if anew {
            // Those from the cache are marked as such.
            let mut fresh: Vec<&Arc<FileState>> =
                notes.into_iter().filter(|state| state.digest_origin() != Some(DigestOrigin::Cache)).collect();
            fresh.sort_unstable_by_key(|state| state.id);
            return Some(SavedDigests::from_sorted(fresh.into_iter().map(|state| (state.id, Arc::clone(state)))));
        }
        let mut saved = saved.clone();
        for state in unsaved {
            saved.insert(state.id, Arc::clone(state));
        }
        Some(saved)
    }
}

/// States whose digests were written since the start, except those that came from the cache.
pub(super) type SavedDigests = SortedMap<FileId, Arc<FileState>>;

fn pack(state: &FileState, into: &mut Vec<u8>) {
    let (Some(digest), Some(read_at)) = (state.digest(), state.digested_at()) else { return };
    let FileStamp { size, modified, changed, inode } = state.stat.stamp;
    let mut packer = BytePacker { bytes: into };
    packer.text(state.path.as_str());
    [size, modified.cast_unsigned(), changed.cast_unsigned(), inode, read_at.cast_unsigned()]
        .into_iter()
        .for_each(|number| packer.fixed(number));
    packer.length(digest.len());
    packer.bytes.extend_from_slice(digest);
}

/// Only the digests that are used are kept: the rest of a row is as large as they are if its notes have changed since.
fn recall_batch(snapshot: &Snapshot, bytes: &[u8]) {
    let mut unpacker = ByteUnpacker::new(bytes);
    let (mut kept, mut found) = (Vec::new(), Vec::new());
    while let Some(record) = unpack(&mut unpacker) {
        let Some(state) = VaultPath::spelt(record.path).and_then(|path| snapshot.file(&path)) else { continue };
        // A file that was read right after it was changed may have changed again with the same stamp.
        let known = state.stat.stamp == record.stamp && record.stamp.is_settled(record.read_at);
        // Checked once here, so that readers can rely on it.
        if !known || state.digest().is_some() || Digest::read(record.digest).is_none() {
            continue;
        }
        let start = kept.len();
        kept.extend_from_slice(record.digest);
        found.push((state, record.read_at, start..kept.len()));
    }
    kept.shrink_to_fit();
    let kept = Arc::new(kept);
    for (state, read_at, range) in found {
        if let Some(digest) = SharedBytes::of(&kept, range) {
            state.set_digest(digest, read_at, DigestOrigin::Cache);
        }
    }
}

struct CacheRecord<'b> {
    path: &'b str,
    stamp: FileStamp,
    read_at: i64,
    digest: &'b [u8],
}

fn unpack<'b>(unpacker: &mut ByteUnpacker<'b>) -> Option<CacheRecord<'b>> {
    let path = unpacker.text()?;
    let mut number = || unpacker.fixed();
    let stamp = FileStamp {
        size: number()?,
        modified: number()?.cast_signed(),
        changed: number()?.cast_signed(),
        inode: number()?,
    };
    let read_at = number()?.cast_signed();
    let length = unpacker.length()?;
    let digest = unpacker.bytes(length)?;
    Some(CacheRecord { path, stamp, read_at, digest })
}
