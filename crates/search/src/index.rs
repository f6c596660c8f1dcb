//! The ranked index of one snapshot, made of segments.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use rayon::prelude::*;

use super::{
    build::{SegmentBuilder, merge},
    segment::Segment,
    shown::with_shown,
};
use lapidary_index::{FileId, FileState, GoOn, Snapshot, SortedMap, TextSource, digest};
use lapidary_store::give_back_memory;

use crate::{Digest, DocumentText, IndexError, VisibleFiles};

/// A document whose note has changed or is gone.
pub(super) const GONE: FileId = FileId::MAX;
/// How many notes a thread adds to one segment at most. Pieces are cut by their text; joining many small ones takes as much
/// memory again.
const PIECE_NOTES: usize = 16 << 10;
/// How much text all threads may be adding: a segment takes about as much as its text until it is done.
const UNDER_WAY: u64 = 8 << 20;
/// Smaller pieces would have most words of the vault again, each.
const SMALLEST_PIECE: u64 = 1 << 20;
/// A larger segment is not joined with others when a note has changed: that would take too long.
const SMALL: usize = 1024;
/// This many small segments are searched separately.
const MOST_SMALL: usize = 8;
/// Larger segments are not built from others: while one is built or written, there are several copies of it.
const MAX_SEGMENT_BYTES: usize = if cfg!(test) { 16 << 10 } else { 4 << 20 };

/// How much may be released before it is given back; that takes milliseconds.
const GIVEN_BACK: usize = 8 << 20;

/// The words of all notes of one snapshot. Immutable; the next one shares its unchanged parts.
#[derive(Clone, Default)]
pub(crate) struct WordIndex {
    pub(super) parts: Vec<IndexPart>,
    /// What was indexed of each file.
    known: SortedMap<FileId, Arc<FileState>>,
    places: SortedMap<FileId, DocumentPlace>,
}

#[derive(Clone)]
pub(super) struct IndexPart {
    pub(super) segment: Arc<Segment>,
    /// The file of each document, or [`GONE`].
    pub(super) files: Arc<Vec<FileId>>,
    /// Whether its documents are in the cache.
    pub(super) saved: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
struct DocumentPlace {
    part: usize,
    document: usize,
    /// How many documents of the index it is: a note is one, and each page of a document.
    count: usize,
}

/// What is at a number now, if anything.
type IndexChange<'s> = (&'s FileId, Option<&'s Arc<FileState>>);

fn applied(
    mut known: SortedMap<FileId, Arc<FileState>>,
    changes: &[IndexChange<'_>],
) -> SortedMap<FileId, Arc<FileState>> {
    for (id, state) in changes {
        match state {
            Some(state) => known.insert(**id, Arc::clone(state)),
            None => known.remove(*id),
        };
    }
    known
}

impl IndexPart {
    fn new(segment: Segment, files: Vec<FileId>, saved: bool) -> Self {
        Self { segment: Arc::new(segment), files: Arc::new(files), saved: Arc::new(AtomicBool::new(saved)) }
    }

    pub(super) fn alive(&self) -> usize {
        self.files.iter().filter(|file| **file != GONE).count()
    }

    pub(super) fn is_saved(&self) -> bool {
        self.saved.load(Ordering::Acquire)
    }
}

impl WordIndex {
    /// The cached segments for the unchanged notes of a snapshot; the first one that has a note counts.
    pub(super) fn recalled(segments: Vec<Segment>, snapshot: &Snapshot) -> Self {
        let mut index = Self::default();
        let mut known: Vec<(FileId, (Arc<FileState>, DocumentPlace))> = Vec::new();
        let mut taken = vec![false; snapshot.next_id() as usize];
        for segment in segments {
            let found: Vec<Option<&Arc<FileState>>> = (0..segment.documents())
                .into_par_iter()
                .map(|number| {
                    let document = segment.document(number);
                    let state = snapshot.file(segment.path(number))?;
                    // Only an unchanged file, read long enough after its last change, is trusted.
                    let same = state.stat.stamp == document.stamp && document.stamp.is_settled(document.read_at);
                    same.then_some(state)
                })
                .collect();
            let mut files = vec![GONE; segment.documents()];
            for (document, state) in found.into_iter().enumerate() {
                // A note may be in several segments; the first one is the newest.
                let Some(state) = state.filter(|state| !taken[state.id as usize]) else { continue };
                taken[state.id as usize] = true;
                files[document] = state.id;
                known.push((
                    state.id,
                    (Arc::clone(state), DocumentPlace { part: index.parts.len(), document, count: 1 }),
                ));
            }
            if files.iter().any(|file| *file != GONE) {
                index.parts.push(IndexPart::new(segment, files, true));
            }
        }
        known.sort_unstable_by_key(|(id, _)| *id);
        index.places = SortedMap::from_sorted(known.iter().map(|(id, (_, place))| (*id, *place)));
        index.known = SortedMap::from_sorted(known.into_iter().map(|(id, (state, _))| (id, state)));
        index
    }

    /// Of only some notes.
    pub(super) fn of(states: &[Arc<FileState>], source: &TextSource<'_>, go_on: GoOn<'_>) -> Result<Self, IndexError> {
        let mut known: Vec<(FileId, Arc<FileState>)> =
            states.iter().map(|state| (state.id, Arc::clone(state))).collect();
        known.sort_unstable_by_key(|(id, _)| *id);
        let known = SortedMap::from_sorted(known);
        let none = SortedMap::default();
        // Compared with nothing, everything is new.
        Self::default().with(none.changes(&known, Arc::ptr_eq), known.clone(), source, go_on)
    }

    /// Whether it belongs to exactly this snapshot.
    pub(super) fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.known.is_same(snapshot.files_by_id())
    }

    /// How many of the notes that a caller may see have to be added first.
    pub(super) fn missing(&self, files: &VisibleFiles) -> usize {
        let changes = self.known.changes(files.snapshot().files_by_id(), Arc::ptr_eq);
        let new = changes.iter().filter_map(|(_, state)| *state);
        new.filter(|state| state.path.is_searched() && files.shows(state.id)).count()
    }

    /// The index of another snapshot, as far as the caller sees it; only changed notes are read. Parts that it does not
    /// see are unchanged. `None` if nothing differs.
    pub(super) fn advanced(&self, files: &VisibleFiles, go_on: GoOn<'_>) -> Result<Option<Self>, IndexError> {
        let now = files.snapshot().files_by_id();
        let changes = self.known.changes(now, Arc::ptr_eq);
        let all = changes.len();
        let shown: Vec<IndexChange<'_>> = changes.into_iter().filter(|(id, _)| files.shows(**id)).collect();
        if shown.is_empty() && all > 0 {
            return Ok(None);
        }
        // If all changes are visible, the snapshot's own map is shared, and the next comparison is immediate.
        let known = if shown.len() == all { now.clone() } else { applied(self.known.clone(), &shown) };
        self.with(shown, known, &files.source(), go_on).map(Some)
    }

    /// With these changes, after which it covers these files.
    fn with(
        &self,
        changes: Vec<IndexChange<'_>>,
        known: SortedMap<FileId, Arc<FileState>>,
        source: &TextSource<'_>,
        go_on: GoOn<'_>,
    ) -> Result<Self, IndexError> {
        let mut next = self.clone();
        let mut new: Vec<&Arc<FileState>> = Vec::new();
        for (id, state) in changes {
            // The old document stays in its segment, marked as gone, until the segment is rebuilt.
            next.forget(id);
            new.extend(state.filter(|state| state.path.is_searched()));
        }
        next.known = known;
        let _under_way = source.progress.begin(new.len());
        let first = next.parts.len();
        next.parts.extend(pieces_of(&new, source, go_on)?);
        next.locate(first);
        // Pieces of one change are joined at once; small segments of many changes only now and then.
        if next.parts.len() - first > 1 {
            next.join(|number, _| number >= first);
        }
        if next.parts.iter().filter(|part| part.files.len() < SMALL).count() > MOST_SMALL {
            next.join(|_, part| part.files.len() < SMALL);
        }
        Ok(next)
    }

    /// Marks the documents of a file as gone.
    fn forget(&mut self, id: &FileId) {
        if let Some(DocumentPlace { part, document, count }) = self.places.remove(id) {
            // Copied only if another index still uses the same list.
            Arc::make_mut(&mut self.parts[part].files)[document..document + count].fill(GONE);
        }
    }

    /// With these documents, a page each, and without those of some files. `None` if a segment cannot hold them.
    pub(super) fn with_pages(&self, removed: &[FileId], added: &[(Arc<FileState>, Arc<DocumentText>)]) -> Option<Self> {
        let mut next = self.clone();
        // Added files too: a document that is read again replaces its pages.
        for id in removed.iter().chain(added.iter().map(|(state, _)| &state.id)) {
            next.forget(id);
            next.known.remove(id);
        }
        let (mut builder, mut files) = (SegmentBuilder::default(), Vec::new());
        for (state, text) in added {
            next.known.insert(state.id, Arc::clone(state));
            for part in &text.parts {
                builder.add_page(&state.path, state.stat.stamp, text.title.as_deref(), part);
                files.push(state.id);
            }
        }
        if !files.is_empty() {
            let first = next.parts.len();
            next.parts.push(IndexPart::new(builder.finish()?, files, false));
            next.locate(first);
        }
        if next.parts.iter().filter(|part| part.files.len() < SMALL).count() > MOST_SMALL {
            next.join(|_, part| part.files.len() < SMALL);
        }
        Some(next)
    }

    /// Records where the documents of the parts from this one on are.
    fn locate(&mut self, first: usize) {
        let documents = |part: usize, files: &Arc<Vec<FileId>>| {
            let mut found: Vec<(FileId, DocumentPlace)> = Vec::new();
            for (document, file) in files.iter().copied().enumerate().filter(|(_, file)| *file != GONE) {
                match found.last_mut() {
                    // The pages of a document follow each other, also after segments were joined.
                    Some((last, place)) if *last == file => place.count += 1,
                    _ => found.push((file, DocumentPlace { part, document, count: 1 })),
                }
            }
            found
        };
        let parts = self.parts.iter().enumerate().skip(first);
        let mut found: Vec<(FileId, DocumentPlace)> =
            parts.flat_map(|(number, part)| documents(number, &part.files)).collect();
        // Building a map from sorted entries is much faster than inserting all of them.
        if first == 0 {
            found.sort_unstable_by_key(|(id, _)| *id);
            self.places = SortedMap::from_sorted(found);
        } else {
            found.into_iter().for_each(|(id, place)| {
                self.places.insert(id, place);
            });
        }
    }

    /// Merges some parts into larger ones. Each is built before the next, and its sources are released.
    pub(super) fn join(&mut self, chosen: impl Fn(usize, &IndexPart) -> bool) {
        let parts = std::mem::take(&mut self.parts).into_iter().enumerate();
        let (joined, rest): (Vec<_>, Vec<_>) = parts.partition(|(number, part)| chosen(*number, part));
        // The parts before it keep their numbers.
        let first = joined.first().map(|(number, _)| *number);
        self.parts = rest.into_iter().map(|(_, part)| part).collect();
        let mut released = 0;
        for group in grouped(joined.into_iter().map(|(_, part)| part)) {
            released += if group.len() > 1 { group.iter().map(|part| part.segment.bytes().len()).sum() } else { 0 };
            self.parts.extend(merged(group));
            // The sources were too small to go back to the system by themselves, and the next ones need as much again.
            if released >= GIVEN_BACK {
                give_back_memory();
                released = 0;
            }
        }
        if let Some(first) = first {
            self.locate(first);
        }
    }

    pub(super) fn alive(&self) -> usize {
        self.places.len()
    }

    /// The part that has a file, and its number there.
    pub(super) fn place(&self, id: FileId) -> Option<(usize, usize)> {
        self.places.get(&id).map(|place| (place.part, place.document))
    }

    pub(super) fn state(&self, id: FileId) -> Option<&Arc<FileState>> {
        self.known.get(&id)
    }
}

/// Parts that fit into one.
fn grouped(parts: impl Iterator<Item = IndexPart>) -> Vec<Vec<IndexPart>> {
    let mut groups: Vec<Vec<IndexPart>> = Vec::new();
    let mut room = 0;
    for part in parts {
        let bytes = part.segment.bytes().len();
        match groups.last_mut().filter(|_| bytes <= room) {
            Some(group) => {
                room -= bytes;
                group.push(part);
            }
            None => {
                room = MAX_SEGMENT_BYTES.saturating_sub(bytes);
                groups.push(vec![part]);
            }
        }
    }
    groups
}

/// One part from several, without removed documents; `None` if nothing is left. They are unchanged if one is too large,
/// or if there is nothing to do.
fn merged(parts: Vec<IndexPart>) -> Vec<IndexPart> {
    if let [part] = &parts[..]
        && part.alive() == part.files.len()
    {
        return parts;
    }
    let segments: Vec<&Segment> = parts.iter().map(|part| &*part.segment).collect();
    match merge(&segments, |number, document| parts[number].files[document] != GONE) {
        Some((segment, _)) if segment.documents() == 0 => Vec::new(),
        Some((segment, origin)) => {
            let files = origin.into_iter().map(|(number, document)| parts[number].files[document]).collect();
            vec![IndexPart::new(segment, files, parts.iter().all(IndexPart::is_saved))]
        }
        None => parts,
    }
}

/// Segments of new notes, in their order, built by as many threads as [`UNDER_WAY`] allows.
fn pieces_of(new: &[&Arc<FileState>], source: &TextSource<'_>, go_on: GoOn<'_>) -> Result<Vec<IndexPart>, IndexError> {
    let threads = rayon::current_num_threads().min((UNDER_WAY / SMALLEST_PIECE) as usize);
    let pieces = cut(new, UNDER_WAY / threads as u64);
    let next = AtomicUsize::new(0);
    // Each thread takes another piece when it is done with one.
    let work = |_| {
        let take = || {
            let number = next.fetch_add(1, Ordering::Relaxed);
            pieces.get(number).map(|piece| piece_of(piece, source, go_on).map(|part| (number, part)))
        };
        std::iter::from_fn(take).collect::<Result<Vec<_>, IndexError>>()
    };
    let made: Vec<Vec<(usize, IndexPart)>> =
        (0..threads.min(pieces.len())).into_par_iter().map(work).collect::<Result<_, _>>()?;
    let mut made: Vec<(usize, IndexPart)> = made.into_iter().flatten().collect();
    // Words were collected in many small pieces. Few notes need too little for it to matter.
    if made.len() > threads {
        give_back_memory();
    }
    made.sort_unstable_by_key(|(number, _)| *number);
    Ok(made.into_iter().map(|(_, part)| part).collect())
}

/// Pieces of at most this much text; a larger note is one by itself.
fn cut<'n, 's>(new: &'n [&'s Arc<FileState>], most: u64) -> Vec<&'n [&'s Arc<FileState>]> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, state) in new.iter().enumerate() {
        let size = state.stat.stamp.size;
        if at > start && (at - start == PIECE_NOTES || bytes + size > most) {
            pieces.push(&new[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += size;
    }
    if start < new.len() {
        pieces.push(&new[start..]);
    }
    pieces
}

fn piece_of(states: &[&Arc<FileState>], source: &TextSource<'_>, go_on: GoOn<'_>) -> Result<IndexPart, IndexError> {
    let mut builder = SegmentBuilder::default();
    let (mut buffer, mut made) = (Vec::new(), Vec::new());
    for state in states {
        if !go_on() {
            return Err(IndexError::Stopped);
        }
        let read_at = source.read_at(state);
        buffer.clear();
        // Content that may be of another state is good for an answer, but not kept.
        let read_at = if source.content(state, &mut buffer) { read_at } else { 0 };
        let stamp = state.stat.stamp;
        made.clear();
        let known = match state.digest() {
            Some(known) => &**known,
            // It is not Markdown; only its cards are.
            None if state.path.is_canvas() => &[],
            None => {
                digest(&buffer, &mut made);
                made.as_slice()
            }
        };
        with_shown(&state.path, &buffer, |text| match Digest::read(known) {
            Some(digest) => builder.add(&state.path, stamp, read_at, &digest, text),
            None => builder.add(&state.path, stamp, read_at, &Digest::default(), text),
        });
        source.progress.step(1);
    }
    let files = states.iter().map(|state| state.id).collect();
    // A piece stays far below the limits, so this does not occur; the search is then answered by a scan.
    let segment = builder.finish().ok_or(IndexError::Stopped)?;
    Ok(IndexPart::new(segment, files, false))
}
