//! The vectors of one note.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

use lapidary_index::FileState;
use lapidary_meaning::{ByteVector, QueryVector, TextModel, VectorTable};
use lapidary_query::RowHeading;
use xxhash_rust::xxh3::Xxh3;

use crate::{DocumentText, FileStamp, VaultPath, chunk::for_each_chunk};

/// One note as vectors, one for each piece of its text.
pub(crate) struct NoteVectors {
    /// The state of the file that was read.
    pub(in crate::meaning) stamp: FileStamp,
    /// 0 if the content that was read may be of another state of the file.
    pub(in crate::meaning) read_at: i64,
    /// Of title and text: a note that was only touched needs no new vectors.
    pub(in crate::meaning) content: u128,
    /// Where the pieces are in the shown text.
    pub(in crate::meaning) spans: Vec<(u32, u32)>,
    pub(in crate::meaning) table: VectorTable,
    /// The end of its text was left out, because it is too long.
    pub(in crate::meaning) cut: bool,
    pub(in crate::meaning) saved: AtomicBool,
}

/// What is made into vectors.
pub(in crate::meaning) struct NoteText<'t> {
    pub(in crate::meaning) path: &'t VaultPath,
    /// As callers see it.
    pub(in crate::meaning) text: &'t str,
    pub(in crate::meaning) headings: &'t [RowHeading<'t>],
}

impl NoteText<'_> {
    fn title(&self) -> &str {
        self.path.name().rsplit_once('.').map_or(self.path.name(), |(stem, _)| stem)
    }

    pub(in crate::meaning) fn content(&self) -> u128 {
        let mut hash = Xxh3::new();
        hash.update(self.title().as_bytes());
        // No title has a line break, so the two cannot run into each other.
        hash.update(b"\n");
        hash.update(self.text.as_bytes());
        hash.digest128()
    }
}

impl NoteVectors {
    /// The vectors of a note; pieces without any token that the model knows have none.
    pub(in crate::meaning) fn of(note: &NoteText<'_>, model: &TextModel, state: &FileState, read_at: i64) -> Self {
        let mut spans = Vec::new();
        let mut table = VectorTable::new(model.dimension());
        let cut = for_each_chunk(note.title(), note.text, note.headings, |chunk| {
            let span = (u32::try_from(chunk.span.start), u32::try_from(chunk.span.end));
            let (Some(embedding), (Ok(start), Ok(end))) = (model.embed(chunk.text), span) else { return };
            table.push(&ByteVector::of(&embedding));
            spans.push((start, end));
        });
        let (stamp, content) = (state.stat.stamp, note.content());
        Self { stamp, read_at, content, spans, table, cut, saved: AtomicBool::new(false) }
    }

    /// The vectors of a document. Its parts start at these places, and spans are counted over all of them.
    pub(crate) fn of_document(
        state: &FileState,
        document: &DocumentText,
        starts: &[usize],
        model: &TextModel,
        is_settled: bool,
    ) -> Self {
        let name = state.path.name().rsplit_once('.').map_or(state.path.name(), |(stem, _)| stem);
        let title = document.title.as_deref().unwrap_or(name);
        let (mut spans, mut cut) = (Vec::new(), document.is_cut);
        let mut table = VectorTable::new(model.dimension());
        let mut hash = Xxh3::new();
        for (part, start) in document.parts.iter().zip(starts) {
            // What a sheet or a chapter is called says what it is about, as a heading does.
            let title = part.label.as_ref().map_or(title.to_owned(), |label| format!("{title}. {label}"));
            cut |= for_each_chunk(&title, &part.text, &[], |chunk| {
                let span = (u32::try_from(start + chunk.span.start), u32::try_from(start + chunk.span.end));
                let (Some(embedding), (Ok(from), Ok(to))) = (model.embed(chunk.text), span) else { return };
                table.push(&ByteVector::of(&embedding));
                spans.push((from, to));
            });
            hash.update(title.as_bytes());
            hash.update(b"\n");
            hash.update(part.text.as_bytes());
        }
        // 0 means that the file may have changed since, and then it is not kept.
        let (stamp, read_at) = (state.stat.stamp, if is_settled { i64::MAX } else { 0 });
        Self { stamp, read_at, content: hash.digest128(), spans, table, cut, saved: AtomicBool::new(false) }
    }

    /// The same for a file in another state with the same content.
    pub(in crate::meaning) fn moved_to(&self, state: &FileState, read_at: i64) -> Self {
        let (spans, table) = (self.spans.clone(), self.table.clone());
        let saved = AtomicBool::new(false);
        Self { stamp: state.stat.stamp, read_at, content: self.content, spans, table, cut: self.cut, saved }
    }

    /// How alike its most similar piece is, and where that is.
    pub(in crate::meaning) fn nearest(&self, query: &QueryVector) -> Option<(f32, Range<usize>)> {
        let (row, cosine) = self.table.nearest(query)?;
        let (start, end) = *self.spans.get(row)?;
        Some((cosine, start as usize..end as usize))
    }

    /// What it takes in memory, roughly.
    pub(in crate::meaning) fn bytes(&self) -> u64 {
        (self.spans.len() * (self.table.dimension() + 12) + 128) as u64
    }

    pub(in crate::meaning) fn is_saved(&self) -> bool {
        self.saved.load(Ordering::Acquire)
    }
}
