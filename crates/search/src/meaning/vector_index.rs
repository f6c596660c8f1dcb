//! The vectors of all notes of one snapshot.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use lapidary_index::{FileId, FileState, GoOn, Snapshot, SortedMap, TextSource, VisibleFiles, digest};
use lapidary_meaning::{Embedding, QueryVector, TextModel};
use lapidary_note::ChargeAside;
use rayon::prelude::*;

use super::note_vectors::{NoteText, NoteVectors};
use crate::{Digest, IndexError, shown::with_shown};

/// How much text makes one piece, roughly: for an estimate before it is read.
const BYTES_A_PIECE: u64 = 400;

/// How many pieces of a note are compared with all others.
const MOST_COMPARED: usize = 24;

/// The vectors of the notes of a snapshot, or of some of them. Immutable; the next one shares its unchanged parts.
#[derive(Clone, Default)]
pub(crate) struct VectorIndex {
    /// The states of files that are done.
    known: SortedMap<FileId, Arc<FileState>>,
    notes: SortedMap<FileId, Arc<NoteVectors>>,
    /// What the known files would take, as estimated.
    estimated: u64,
    bytes: u64,
    /// Vectors of states that are no longer, by content: a file that was moved or touched may need them again.
    spare: Arc<HashMap<u128, Arc<NoteVectors>>>,
}

/// A note, and how near it is to a query.
#[derive(Clone, Debug)]
pub(crate) struct NearNote {
    pub(crate) id: FileId,
    pub(crate) cosine: f32,
    /// Its nearest piece, in the shown text.
    pub(crate) span: Range<usize>,
}

/// A note that is near to another.
#[derive(Clone, Debug)]
pub(crate) struct NearPair {
    /// How near the notes are, from -1 to 1.
    pub(crate) whole: f32,
    /// The piece of the first note, and the other one with the piece that is nearest to it.
    pub(crate) own: Range<usize>,
    pub(crate) near: NearNote,
}

/// What has to be made for a caller.
pub(in crate::meaning) struct MissingNotes {
    /// Without those that are left out; newest first.
    pub(in crate::meaning) states: Vec<Arc<FileState>>,
    /// Files that are gone, or need no vectors.
    others: Vec<(FileId, Option<Arc<FileState>>)>,
    /// The vectors of files that are gone: they may have been moved.
    gone: Vec<Arc<NoteVectors>>,
    /// Notes that are in the vectors' room, if not all are.
    kept: Option<HashSet<FileId>>,
    /// Notes that the caller sees and that are left out for lack of room.
    pub(in crate::meaning) left_out: usize,
}

impl MissingNotes {
    pub(in crate::meaning) fn is_empty(&self) -> bool {
        self.states.is_empty() && self.others.is_empty()
    }

    /// The files that need no vectors are done.
    pub(in crate::meaning) fn without_others(self) -> Self {
        Self { others: Vec::new(), ..self }
    }

    /// How much text has to be read.
    pub(in crate::meaning) fn text_bytes(&self) -> u64 {
        self.states.iter().map(|state| state.stat.stamp.size).sum()
    }
}

/// How vectors are made.
#[derive(Clone, Copy)]
pub(in crate::meaning) struct VectorWork<'w> {
    pub(in crate::meaning) model: &'w TextModel,
    /// On all threads: a caller waits for it.
    pub(in crate::meaning) hurried: bool,
    pub(in crate::meaning) go_on: GoOn<'w>,
}

/// What a note will take, as far as its size says: the same for every caller.
fn estimate(state: &FileState, dimension: usize) -> u64 {
    if !state.path.is_searched() {
        return 0;
    }
    (state.stat.stamp.size / BYTES_A_PIECE + 1) * (dimension as u64 + 12) + 128
}

impl VectorIndex {
    /// The kept vectors of the unchanged notes of a snapshot. The others are good for notes with the same content.
    pub(in crate::meaning) fn recalled(
        found: Vec<(String, NoteVectors)>,
        snapshot: &Snapshot,
        dimension: usize,
    ) -> Self {
        let mut index = Self::default();
        let mut spare = HashMap::new();
        let mut known: Vec<(Arc<FileState>, Arc<NoteVectors>)> = Vec::new();
        let mut taken = HashSet::new();
        for (path, vectors) in found {
            let state = snapshot.file(path.as_str());
            // Only an unchanged file, read long enough after its last change, is trusted. The first row is the newest.
            let trusted = state.filter(|state| {
                state.stat.stamp == vectors.stamp && vectors.stamp.is_settled(vectors.read_at) && taken.insert(state.id)
            });
            let vectors = Arc::new(vectors);
            match trusted {
                Some(state) => known.push((Arc::clone(state), vectors)),
                None => {
                    spare.insert(vectors.content, vectors);
                }
            }
        }
        known.sort_unstable_by_key(|(state, _)| state.id);
        index.estimated = known.iter().map(|(state, _)| estimate(state, dimension)).sum();
        index.bytes = known.iter().map(|(_, vectors)| vectors.bytes()).sum();
        index.known = SortedMap::from_sorted(known.iter().map(|(state, _)| (state.id, Arc::clone(state))));
        index.notes = SortedMap::from_sorted(known.into_iter().map(|(state, vectors)| (state.id, vectors)));
        index.spare = Arc::new(spare);
        index
    }

    /// What a caller that sees these files lacks. Hidden files do not count, or the answer would reveal them.
    pub(in crate::meaning) fn missing(&self, files: &VisibleFiles, dimension: usize, room: u64) -> MissingNotes {
        let now = files.snapshot().files_by_id();
        let (mut states, mut others) = (Vec::new(), Vec::new());
        let mut estimated = self.estimated;
        for (id, state) in self.known.changes(now, Arc::ptr_eq) {
            match state {
                _ if !files.shows(*id) => {}
                Some(state) if state.path.is_searched() => {
                    estimated += estimate(state, dimension);
                    states.push(Arc::clone(state));
                }
                other => others.push((*id, other.cloned())),
            }
        }
        // Estimated for all known files, so this holds for what the caller sees, too.
        let mut kept = None;
        let mut left_out = 0;
        if estimated > room {
            let shown: Vec<&Arc<FileState>> =
                files.iter().filter(|entry| entry.is_searched()).map(|entry| entry.state()).collect();
            let all = shown.len();
            let within = newest_within(shown, dimension, room);
            left_out = all - within.len();
            let ids: HashSet<FileId> = within.iter().map(|state| state.id).collect();
            let (wanted, unwanted): (Vec<_>, Vec<_>) = states.into_iter().partition(|state| ids.contains(&state.id));
            // Known from now on, so that they are not looked at with every search.
            others.extend(unwanted.into_iter().map(|state| (state.id, Some(state))));
            // Those that another caller has no room for are known, but have no vectors.
            let lacking = within.into_iter().filter(|state| {
                self.notes.get(&state.id).is_none()
                    && self.known.get(&state.id).is_some_and(|known| Arc::ptr_eq(known, state))
            });
            states = lacking.cloned().chain(wanted).collect();
            kept = Some(ids);
        }
        states.sort_by_key(|state| Reverse(state.stat.stamp.modified));
        let gone = others.iter().filter_map(|(id, _)| self.notes.get(id)).cloned().collect();
        MissingNotes { states, others, gone, kept, left_out }
    }

    /// The vectors of some notes, in their order.
    pub(in crate::meaning) fn made(
        &self,
        missing: &MissingNotes,
        states: &[Arc<FileState>],
        source: &TextSource<'_>,
        work: VectorWork<'_>,
    ) -> Result<Vec<Arc<NoteVectors>>, IndexError> {
        // Those of the state before may do; a note that was moved has another number.
        let before: HashMap<u128, &Arc<NoteVectors>> = states
            .iter()
            .filter_map(|state| self.notes.get(&state.id))
            .chain(&missing.gone)
            .map(|vectors| (vectors.content, vectors))
            .collect();
        let known = |content: &u128| before.get(content).copied().or_else(|| self.spare.get(content));
        let aside = ChargeAside::of_this_thread();
        let one = |state: &Arc<FileState>| {
            if !(work.go_on)() {
                return Err(IndexError::Stopped);
            }
            let vectors = aside.charge(|| vectors_of(state, source, work.model, known));
            source.progress.step(1);
            Ok(Arc::new(vectors))
        };
        match work.hurried && states.len() > 1 {
            true => states.par_iter().map(one).collect(),
            false => states.iter().map(one).collect(),
        }
    }

    /// With these notes, and without those that are gone.
    pub(in crate::meaning) fn with(
        &self,
        missing: &MissingNotes,
        states: &[Arc<FileState>],
        made: Vec<Arc<NoteVectors>>,
        dimension: usize,
        room: u64,
    ) -> Self {
        let mut next = self.clone();
        for id in missing.others.iter().map(|(id, _)| id).chain(states.iter().map(|state| &state.id)) {
            if let Some(before) = next.known.remove(id) {
                next.estimated = next.estimated.saturating_sub(estimate(&before, dimension));
            }
            if let Some(vectors) = next.notes.remove(id) {
                next.bytes = next.bytes.saturating_sub(vectors.bytes());
            }
        }
        for (state, vectors) in states.iter().zip(made) {
            next.bytes += vectors.bytes();
            next.notes.insert(state.id, vectors);
        }
        let others = missing.others.iter().filter_map(|(_, state)| state.as_ref());
        for state in others.chain(states) {
            next.estimated += estimate(state, dimension);
            next.known.insert(state.id, Arc::clone(state));
        }
        next.evict(missing.kept.as_ref(), room);
        next
    }

    /// Nothing is left to be made, so what was good for it is dropped.
    pub(in crate::meaning) fn without_spare(self) -> Self {
        Self { spare: Arc::default(), ..self }
    }

    /// Drops vectors that the caller has no use for, if there is no room for all.
    fn evict(&mut self, kept: Option<&HashSet<FileId>>, room: u64) {
        let Some(kept) = kept.filter(|_| self.bytes > room) else { return };
        let dropped: Vec<FileId> = self.notes.iter().map(|(id, _)| *id).filter(|id| !kept.contains(id)).collect();
        for id in dropped {
            if let Some(vectors) = self.notes.remove(&id) {
                self.bytes = self.bytes.saturating_sub(vectors.bytes());
            }
        }
    }

    /// Of all notes that are to be kept, how near each is. Notes without a vector are not among them.
    pub(crate) fn near(&self, query: &Embedding, keep: impl Fn(FileId) -> bool + Sync) -> Vec<NearNote> {
        let query = QueryVector::of(query);
        let notes: Vec<(FileId, &Arc<NoteVectors>)> = self.notes.iter().map(|(id, vectors)| (*id, vectors)).collect();
        let near = |(id, vectors): &(FileId, &Arc<NoteVectors>)| {
            let (cosine, span) = keep(*id).then(|| vectors.nearest(&query)).flatten()?;
            Some(NearNote { id: *id, cosine, span })
        };
        // A single comparison takes less than handing it to another thread.
        notes.par_iter().with_min_len(512).filter_map(near).collect()
    }

    /// The notes that are near to a note, unsorted: each with how near it is as a whole and by which two pieces. Only
    /// some pieces of a long note are compared.
    pub(crate) fn near_note(&self, id: FileId, keep: impl Fn(FileId) -> bool + Sync) -> Vec<NearPair> {
        let Some(own) = self.notes.get(&id) else { return Vec::new() };
        // Spread over the whole note, and not only its beginning.
        let step = own.spans.len().div_ceil(MOST_COMPARED).max(1);
        let rows: Vec<(QueryVector, Range<usize>)> = (0..own.spans.len())
            .step_by(step)
            .filter_map(|row| {
                let (start, end) = *own.spans.get(row)?;
                Some((QueryVector::of_bytes(&own.table.row(row)?), start as usize..end as usize))
            })
            .collect();
        let notes: Vec<(FileId, &Arc<NoteVectors>)> = self.notes.iter().map(|(id, vectors)| (*id, vectors)).collect();
        let near = |(other, vectors): &(FileId, &Arc<NoteVectors>)| {
            if *other == id || !keep(*other) {
                return None;
            }
            let nearest =
                rows.iter().filter_map(|(row, own)| vectors.nearest(row).map(|(cosine, span)| (cosine, own, span)));
            let (mut sum, mut best) = (0.0, None::<(f32, &Range<usize>, Range<usize>)>);
            for (cosine, own, span) in nearest {
                sum += cosine;
                if best.as_ref().is_none_or(|(known, ..)| cosine > *known) {
                    best = Some((cosine, own, span));
                }
            }
            let (cosine, own, span) = best?;
            // As a whole, and not by one sentence alone.
            let whole = (cosine + sum / rows.len() as f32) / 2.0;
            Some(NearPair { whole, own: own.clone(), near: NearNote { id: *other, cosine, span } })
        };
        notes.par_iter().with_min_len(64).filter_map(near).collect()
    }

    /// The pieces of one note that are nearest, best first.
    pub(crate) fn near_pieces(&self, id: FileId, query: &Embedding, most: usize) -> Vec<NearNote> {
        let Some(vectors) = self.notes.get(&id) else { return Vec::new() };
        let rows = vectors.table.best(query, most, |_| true).into_iter();
        rows.filter_map(|(row, cosine)| {
            let (start, end) = *vectors.spans.get(row)?;
            Some(NearNote { id, cosine, span: start as usize..end as usize })
        })
        .collect()
    }

    /// Among the pieces of each file that are to be kept, by where they start, the nearest one.
    pub(crate) fn near_within(&self, query: &Embedding, keep: impl Fn(FileId, usize) -> bool + Sync) -> Vec<NearNote> {
        let notes: Vec<(FileId, &Arc<NoteVectors>)> = self.notes.iter().map(|(id, vectors)| (*id, vectors)).collect();
        let near = |(id, vectors): &(FileId, &Arc<NoteVectors>)| {
            let is_kept = |row: usize| vectors.spans.get(row).is_some_and(|(start, _)| keep(*id, *start as usize));
            let (row, cosine) = vectors.table.best(query, 1, is_kept).into_iter().next()?;
            let (start, end) = *vectors.spans.get(row)?;
            Some(NearNote { id: *id, cosine, span: start as usize..end as usize })
        };
        notes.par_iter().with_min_len(16).filter_map(near).collect()
    }

    /// Whether a state of a file has vectors.
    pub(crate) fn has(&self, state: &FileState) -> bool {
        self.notes.get(&state.id).is_some_and(|vectors| vectors.stamp == state.stat.stamp)
    }

    /// Whether nothing was ever put in.
    pub(crate) fn is_new(&self) -> bool {
        self.notes.is_empty() && self.known.is_empty()
    }

    pub(crate) fn put(&mut self, state: &Arc<FileState>, vectors: Arc<NoteVectors>) {
        self.known.insert(state.id, Arc::clone(state));
        self.notes.insert(state.id, vectors);
    }

    pub(crate) fn drop_file(&mut self, id: FileId) {
        self.known.remove(&id);
        self.notes.remove(&id);
    }

    pub(in crate::meaning) fn notes(&self) -> impl Iterator<Item = (&Arc<FileState>, &Arc<NoteVectors>)> {
        self.notes.iter().filter_map(|(id, vectors)| Some((self.known.get(id)?, vectors)))
    }

    pub(in crate::meaning) fn len(&self) -> usize {
        self.notes.len()
    }

    /// How many of the notes that a caller sees are cut.
    pub(in crate::meaning) fn cut(&self, files: &VisibleFiles) -> usize {
        self.notes.iter().filter(|(id, vectors)| vectors.cut && files.shows(**id)).count()
    }

    /// How many of the notes that a caller sees are in it, and how many pieces they have.
    pub(in crate::meaning) fn counts(&self, files: &VisibleFiles) -> (usize, usize) {
        let shown = self.notes.iter().filter(|(id, _)| files.shows(**id));
        shown.fold((0, 0), |(notes, pieces), (_, vectors)| (notes + 1, pieces + vectors.spans.len()))
    }
}

/// The last changed that fit together.
fn newest_within(mut states: Vec<&Arc<FileState>>, dimension: usize, room: u64) -> Vec<&Arc<FileState>> {
    states.sort_by(|one, other| {
        let changed = |state: &FileState| Reverse(state.stat.stamp.modified);
        changed(one).cmp(&changed(other)).then_with(|| one.path.cmp(&other.path))
    });
    let mut left = room;
    let fits = |state: &&Arc<FileState>| match left.checked_sub(estimate(state, dimension)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    states.into_iter().take_while(fits).collect()
}

fn vectors_of<'k>(
    state: &FileState,
    source: &TextSource<'_>,
    model: &TextModel,
    known: impl Fn(&u128) -> Option<&'k Arc<NoteVectors>>,
) -> NoteVectors {
    let read_at = source.read_at(state);
    let mut buffer = Vec::new();
    // Content that may be of another state is good for an answer, but not kept.
    let read_at = if source.content(state, &mut buffer) { read_at } else { 0 };
    let mut made = Vec::new();
    let bytes = match state.digest() {
        Some(known) => &**known,
        None if state.path.is_canvas() => &[],
        None => {
            digest(&buffer, &mut made);
            made.as_slice()
        }
    };
    let structure = Digest::read(bytes).unwrap_or_default().structure();
    with_shown(&state.path, &buffer, |text| {
        let note = NoteText { path: &state.path, text, headings: &structure.headings };
        match known(&note.content()) {
            Some(known) => known.moved_to(state, read_at),
            None => NoteVectors::of(&note, model, state, read_at),
        }
    })
}
