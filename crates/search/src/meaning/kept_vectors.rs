//! Vectors on disk, for the next start.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
};

use lapidary_index::{FileState, Snapshot};
use lapidary_meaning::{ByteVector, ModelKind, TextModel, VectorTable};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::{note_vectors::NoteVectors, vector_index::VectorIndex};
use crate::{
    FileStamp,
    posix::{CacheFile, CacheRow},
};

/// Changes whenever the pieces of a note would differ, or their form here.
const FORMAT: u32 = 1;
/// How much goes into one row.
const ROW_BYTES: usize = 1 << 20;
/// How many rows may be added before all are rewritten.
const MAX_ADDED_ROWS: usize = 64;
/// Fewer notes are made sooner than a file is opened.
const WORTH_KEEPING: usize = 200;

/// What a transformer made is always kept: each piece takes it a tenth of a second.
fn worth_keeping(model: &TextModel) -> usize {
    match model.kind() {
        ModelKind::Static => WORTH_KEEPING,
        ModelKind::Transformer => 1,
    }
}

/// What is kept of a vault, for its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptVectors {
    /// The name of the model that made them.
    pub model: String,
    pub notes: usize,
    pub pieces: usize,
    /// Notes of which only the beginning is in, because they are too long.
    pub cut: usize,
}

/// Vectors of earlier processes. Used only for the model that made them, and for files that have not changed since or
/// have the same content.
#[derive(Debug)]
pub(crate) struct VectorCache {
    file: CacheFile,
    /// Of the texts: spans in those of another version are others.
    version: u32,
}

impl VectorCache {
    pub(crate) fn new(file: CacheFile) -> Self {
        Self { file, version: 0 }
    }

    /// For texts that are made in versions.
    pub(crate) fn of_version(file: CacheFile, version: u32) -> Self {
        Self { file, version }
    }

    fn format(&self) -> u32 {
        FORMAT | self.version << 8
    }

    pub(crate) fn recall(&self, snapshot: &Snapshot, model: &TextModel) -> VectorIndex {
        if snapshot.len() < worth_keeping(model) {
            return VectorIndex::default();
        }
        // No cache, an old one or a damaged one: then everything is computed.
        let rows = self.file.load(self.format()).unwrap_or_else(|error| {
            tracing::debug!(%error, "the cache of the vectors cannot be read");
            Vec::new()
        });
        let found: Vec<Vec<(String, NoteVectors)>> =
            rows.into_par_iter().filter_map(|row| unpacked(&row, model)).collect();
        let index = VectorIndex::recalled(found.into_iter().flatten().collect(), snapshot, model.dimension());
        tracing::debug!(notes = index.len(), "vectors come from their cache");
        index
    }

    /// What is kept, for the owner.
    pub(super) fn kept(&self, model: &TextModel) -> KeptVectors {
        let mut kept = KeptVectors { model: model.name().to_owned(), notes: 0, pieces: 0, cut: 0 };
        let rows = if self.file.is_there() { self.file.load(self.format()).unwrap_or_default() } else { Vec::new() };
        let mut seen = HashSet::new();
        // The newest row comes first; a note may be in several.
        for (path, vectors) in rows.iter().filter_map(|row| unpacked(row, model)).flatten() {
            if seen.insert(path) {
                kept.notes += 1;
                kept.pieces += vectors.spans.len();
                kept.cut += usize::from(vectors.cut);
            }
        }
        kept
    }

    pub(crate) fn save(&self, index: &VectorIndex, model: &TextModel) {
        // What was read of another state is not for keeps.
        let notes: Vec<(&Arc<FileState>, &Arc<NoteVectors>)> =
            index.notes().filter(|(_, vectors)| vectors.read_at != 0).collect();
        let unsaved: Vec<_> = notes.iter().filter(|(_, vectors)| !vectors.is_saved()).copied().collect();
        if notes.len() < worth_keeping(model) || unsaved.is_empty() {
            return;
        }
        // If much is new, adding rows would only have to be rewritten soon.
        let much = unsaved.len() > WORTH_KEEPING.max(notes.len() / 8);
        let mut written =
            if much { Ok(MAX_ADDED_ROWS) } else { self.file.add(self.format(), || packed(&unsaved, model)) };
        if written.as_ref().is_ok_and(|rows| *rows >= MAX_ADDED_ROWS + notes.len() / 64) || much {
            written = self.file.replace(self.format(), || packed(&notes, model));
        }
        if let Err(error) = written {
            tracing::debug!(%error, "the cache of the vectors cannot be written");
        }
        // Also if it failed: trying again with every save would cost more than it gains.
        unsaved.iter().for_each(|(_, vectors)| vectors.saved.store(true, Ordering::Release));
    }
}

/// Rows of about the same size, each of which says which model made it.
fn packed<'n>(
    notes: &'n [(&'n Arc<FileState>, &'n Arc<NoteVectors>)],
    model: &TextModel,
) -> impl Iterator<Item = (u64, Vec<u8>)> + use<'n> {
    let head = head(model);
    let mut rest = notes.iter();
    std::iter::from_fn(move || {
        let mut bytes = head.clone();
        while bytes.len() < ROW_BYTES {
            let Some((state, vectors)) = rest.next() else { break };
            put(&mut bytes, state, vectors);
        }
        (bytes.len() > head.len()).then(|| (xxh3_64(&bytes), bytes))
    })
}

/// How a row begins.
fn head(model: &TextModel) -> Vec<u8> {
    let id = model.id().to_string();
    let mut bytes = Vec::with_capacity(ROW_BYTES);
    bytes.extend_from_slice(&(id.len() as u32).to_le_bytes());
    bytes.extend_from_slice(id.as_bytes());
    bytes
}

fn put(bytes: &mut Vec<u8>, state: &FileState, vectors: &NoteVectors) {
    let path = state.path.as_str();
    bytes.extend_from_slice(&(path.len() as u32).to_le_bytes());
    bytes.extend_from_slice(path.as_bytes());
    let FileStamp { size, modified, changed, inode } = vectors.stamp;
    for number in [size, modified.cast_unsigned(), changed.cast_unsigned(), inode, vectors.read_at.cast_unsigned()] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&vectors.content.to_le_bytes());
    bytes.push(u8::from(vectors.cut));
    bytes.extend_from_slice(&(vectors.spans.len() as u32).to_le_bytes());
    for (row, (start, end)) in vectors.spans.iter().enumerate() {
        bytes.extend_from_slice(&start.to_le_bytes());
        bytes.extend_from_slice(&end.to_le_bytes());
        bytes.extend_from_slice(&vectors.table.row(row).map(|vector| vector.to_bytes()).unwrap_or_default());
    }
}

/// `None` if the row is damaged, or another model made it.
fn unpacked(row: &CacheRow, model: &TextModel) -> Option<Vec<(String, NoteVectors)>> {
    if xxh3_64(&row.bytes) != row.checksum {
        return None;
    }
    let mut rest = row.bytes.strip_prefix(head(model).as_slice())?;
    let mut found = Vec::new();
    while !rest.is_empty() {
        found.push(taken(&mut rest, model.dimension())?);
    }
    Some(found)
}

fn taken(rest: &mut &[u8], dimension: usize) -> Option<(String, NoteVectors)> {
    let length = short(rest)? as usize;
    let path = str::from_utf8(split(rest, length)?).ok()?.to_owned();
    let (size, modified, changed, inode) =
        (long(rest)?, long(rest)?.cast_signed(), long(rest)?.cast_signed(), long(rest)?);
    let read_at = long(rest)?.cast_signed();
    let content = u128::from_le_bytes(split(rest, 16)?.try_into().ok()?);
    let cut = split(rest, 1)? == [1];
    let count = short(rest)? as usize;
    // A number that the row cannot hold reserves nothing.
    let mut spans = Vec::with_capacity(count.min(rest.len() / dimension.max(1)));
    let mut table = VectorTable::new(dimension);
    for _ in 0..count {
        spans.push((short(rest)?, short(rest)?));
        table.push(&ByteVector::from_bytes(split(rest, dimension)?, dimension)?);
    }
    let stamp = FileStamp { size, modified, changed, inode };
    Some((path, NoteVectors { stamp, read_at, content, spans, table, cut, saved: AtomicBool::new(true) }))
}

fn split<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (found, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(found)
}

fn short(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(split(rest, 4)?.try_into().ok()?))
}

fn long(rest: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(split(rest, 8)?.try_into().ok()?))
}
