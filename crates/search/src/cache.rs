//! The ranked index on disk.

use std::sync::atomic::Ordering;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    index::{IndexPart, WordIndex},
    segment::{FORMAT, Segment},
};
use lapidary_index::{SharedBytes, Snapshot};

use crate::posix::CacheFile;

/// Fewer notes are read sooner than a file is opened.
const WORTH_KEEPING: usize = 200;
/// How many rows may be added one at a time before all are rewritten.
const MAX_ADDED_ROWS: usize = 48;

/// Segments from before, kept for the next start. A document in one is used only for a file that has not changed since.
/// All servers of a vault share it: each adds what it has indexed, and duplicates are harmless. A writer holds the
/// database's own lock, which is released with the process.
#[derive(Debug)]
pub struct SegmentCache {
    file: CacheFile,
}

impl SegmentCache {
    pub fn new(file: CacheFile) -> Self {
        Self { file }
    }

    pub(super) fn is_there(&self) -> bool {
        self.file.is_there()
    }

    pub(super) fn recall(&self, snapshot: &Snapshot) -> WordIndex {
        if snapshot.len() < WORTH_KEEPING {
            return WordIndex::default();
        }
        // No cache, an old one or a damaged one: then the notes are read, and a new one is written.
        let rows = self.file.load(FORMAT).unwrap_or_else(|error| {
            tracing::debug!(%error, "the cache of the search index cannot be read");
            Vec::new()
        });
        let intact = |row: crate::posix::CacheRow| {
            (xxh3_64(&row.bytes) == row.checksum).then(|| Segment::open(SharedBytes::whole(row.bytes)?)).flatten()
        };
        let segments: Vec<Segment> = rows.into_par_iter().filter_map(intact).collect();
        let index = WordIndex::recalled(segments, snapshot);
        tracing::debug!(notes = index.alive(), "the search index comes from its cache");
        index
    }

    /// Writes new segments. Returns another index of the same notes if that is better to continue with.
    pub(super) fn save(&self, index: &WordIndex) -> Option<WordIndex> {
        let unsaved: Vec<&IndexPart> = index.parts.iter().filter(|part| !part.is_saved()).collect();
        let new: usize = unsaved.iter().map(|part| part.alive()).sum();
        if index.alive() < WORTH_KEEPING || new == 0 {
            return None;
        }
        // If much is new, adding rows would only have to be rewritten soon.
        let much = new > WORTH_KEEPING.max(index.alive() / 8);
        let rows = || unsaved.iter().copied().map(row);
        let added = if much { MAX_ADDED_ROWS } else { self.file.add(FORMAT, rows).unwrap_or_default() };
        // A cache that cannot be written only makes the next start slower.
        // Also if it failed: trying again with every save would cost more than it gains.
        unsaved.iter().for_each(|part| part.saved.store(true, Ordering::Release));
        if added < MAX_ADDED_ROWS {
            return None;
        }
        let mut whole = index.clone();
        whole.join(|_, _| true);
        if let Err(error) = self.file.replace(FORMAT, || whole.parts.iter().map(row)) {
            // The joined index is good to go on with, even if it could not be written.
            tracing::debug!(%error, "the cache of the search index cannot be written");
        }
        whole.parts.iter().for_each(|part| part.saved.store(true, Ordering::Release));
        Some(whole)
    }
}

fn row(part: &IndexPart) -> (u64, &[u8]) {
    let bytes = part.segment.bytes();
    (xxh3_64(bytes), bytes)
}
