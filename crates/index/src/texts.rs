//! Reads the texts of many files on all cores.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rayon::prelude::*;

use super::{
    digest::digest,
    file::{DigestOrigin, FileState, SharedBytes},
    progress::WorkProgress,
    text_table::{LoadedText, TextTable},
};
use crate::{Backend, StoreError};

/// How many files one thread reads at a time, into one buffer.
const BATCH: usize = 128;

/// Says whether to continue; called by several threads.
pub type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// The result of reading some files.
#[derive(Debug, Default)]
pub struct TextReading {
    /// Those that are no longer in the expected state.
    pub(crate) moved_on: Vec<Arc<FileState>>,
    pub stopped: bool,
    loaded: Vec<LoadedText>,
}

/// Where files are read from, and the size limit.
#[derive(Clone)]
pub struct TextSource<'s> {
    pub(crate) backend: &'s dyn Backend,
    pub(crate) max_file_bytes: u64,
    pub progress: &'s WorkProgress,
    /// Files that need not be read.
    pub(crate) texts: TextTable,
    /// Files that cannot be read, because they do not exist yet.
    pub(crate) planned: TextTable,
}

/// How exact a note has to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextDemand {
    /// In the state in which it was seen.
    ThisState,
    /// In its current state, if it is readable at all.
    AnyState,
}

enum ReadOutcome {
    Content,
    MovedOn,
    /// Another state, or nothing because it is unreadable: good for an answer, but not to be kept.
    Other,
}

impl TextSource<'_> {
    /// Appends the content of a file if it is in the expected state.
    fn read(&self, state: &FileState, wanted: TextDemand, into: &mut Vec<u8>) -> ReadOutcome {
        let start = into.len();
        let read = match self.backend.load(&state.path, self.max_file_bytes, into) {
            // Compared after reading: the content belongs to this state only if the file did not change meanwhile.
            Ok(stat) if stat.stamp == state.stat.stamp => return ReadOutcome::Content,
            Ok(_) if wanted == TextDemand::AnyState => return ReadOutcome::Other,
            // Reading again would not help.
            Err(StoreError::TooLarge { .. } | StoreError::NotPermitted) => ReadOutcome::Other,
            Err(_) if wanted == TextDemand::AnyState => ReadOutcome::Other,
            // Another state of it, or a temporary error: it is checked again.
            Ok(_) | Err(_) => ReadOutcome::MovedOn,
        };
        into.truncate(start);
        read
    }

    /// The content of one file, from memory or as it is now, for a caller that does not keep it.
    pub fn text(&self, state: &FileState) -> Option<SharedBytes> {
        if let Some(text) = self.known(state) {
            return Some(text.clone());
        }
        let mut buffer = Vec::new();
        // A newer state is equally good: it existed before the call, or appeared meanwhile.
        self.backend.load(&state.path, self.max_file_bytes, &mut buffer).ok()?;
        SharedBytes::whole(buffer)
    }

    fn known(&self, state: &FileState) -> Option<&SharedBytes> {
        self.planned.text(state).or_else(|| self.texts.text(state))
    }

    /// When the content of a file was first read, by the clock of the files, or will be in a moment.
    pub fn read_at(&self, state: &FileState) -> i64 {
        let text = self.texts.get(state).map(|loaded| loaded.read_at).filter(|at| *at != 0);
        // The earliest: content is only as trustworthy as its first reading.
        state.digested_at().into_iter().chain(text).min().unwrap_or_else(|| self.backend.now())
    }

    /// Appends the current content of one file, nothing if it is unreadable. Returns whether it is exactly this state.
    pub fn content(&self, state: &FileState, into: &mut Vec<u8>) -> bool {
        match self.known(state) {
            Some(text) => {
                into.extend_from_slice(text);
                true
            }
            None => matches!(self.read(state, TextDemand::AnyState, into), ReadOutcome::Content),
        }
    }

    /// Makes the digests of these notes.
    pub fn digest(&self, states: &[Arc<FileState>], wanted: TextDemand, go_on: GoOn<'_>) -> TextReading {
        in_batches(states, go_on, |batch, reading| {
            let (mut digests, mut scratch) = (Vec::new(), Vec::new());
            let mut made = Vec::with_capacity(batch.len());
            for state in batch.iter().filter(|state| state.digest().is_none()) {
                // Before it is read, see `FileStamp::is_settled`.
                let read_at = self.read_at(state);
                scratch.clear();
                let read = match self.known(state) {
                    Some(text) => {
                        scratch.extend_from_slice(text);
                        ReadOutcome::Content
                    }
                    None => self.read(state, wanted, &mut scratch),
                };
                match read {
                    ReadOutcome::MovedOn => reading.moved_on.push(Arc::clone(state)),
                    // An unreadable note has an empty digest.
                    ReadOutcome::Content | ReadOutcome::Other => {
                        let start = digests.len();
                        digest(&scratch, &mut digests);
                        let exact = matches!(read, ReadOutcome::Content);
                        let origin = if exact { DigestOrigin::Content } else { DigestOrigin::Provisional };
                        made.push((state, read_at, origin, start..digests.len()));
                    }
                }
            }
            // Digests stay in memory for as long as the note does.
            digests.shrink_to_fit();
            let digests = Arc::new(digests);
            for (state, read_at, origin, range) in made {
                // More than 4 GB of digests in one batch do not occur; then the note is read again.
                match SharedBytes::of(&digests, range) {
                    Some(digest) => state.set_digest(digest, read_at, origin),
                    None => reading.moved_on.push(Arc::clone(state)),
                }
            }
            self.progress.step(batch.len());
        })
    }

    /// The texts of these files, while allowed to continue. Files that have changed meanwhile are left out.
    pub(crate) fn load(&self, states: &[Arc<FileState>], go_on: GoOn<'_>) -> Vec<LoadedText> {
        let reading = in_batches(states, go_on, |batch, reading| {
            let size: u64 = batch.iter().map(|state| state.stat.stamp.size).sum();
            // Room for all texts of the batch, so that the buffer is not moved while it grows.
            let mut texts = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
            let mut made = Vec::with_capacity(batch.len());
            for state in batch {
                let (read_at, start) = (self.backend.now(), texts.len());
                if matches!(self.read(state, TextDemand::ThisState, &mut texts), ReadOutcome::Content) {
                    made.push((state, read_at, start..texts.len()));
                }
            }
            texts.shrink_to_fit();
            let texts = Arc::new(texts);
            for (state, read_at, range) in made {
                if let Some(text) = SharedBytes::of(&texts, range) {
                    reading.loaded.push(LoadedText { state: Arc::clone(state), text: Some(text), read_at });
                }
            }
        });
        reading.loaded
    }
}

fn in_batches(
    states: &[Arc<FileState>],
    go_on: GoOn<'_>,
    work: impl Fn(&[Arc<FileState>], &mut TextReading) + Sync,
) -> TextReading {
    let stopped = AtomicBool::new(false);
    let batch = |batch: &[Arc<FileState>]| {
        let mut reading = TextReading::default();
        // One thread that notices it stops all.
        if stopped.load(Ordering::Relaxed) || !go_on() {
            stopped.store(true, Ordering::Relaxed);
            reading.stopped = true;
        } else {
            work(batch, &mut reading);
        }
        reading
    };
    let join = |mut all: TextReading, one: TextReading| {
        all.moved_on.extend(one.moved_on);
        all.loaded.extend(one.loaded);
        all.stopped |= one.stopped;
        all
    };
    // A handful is done sooner than another thread wakes up.
    if states.len() <= BATCH {
        return states.chunks(BATCH).map(batch).fold(TextReading::default(), join);
    }
    states.par_chunks(BATCH).map(batch).reduce(TextReading::default, join)
}
