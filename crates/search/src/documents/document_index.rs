//! The index of the documents that were read.

use std::{collections::HashSet, sync::Arc};

use lapidary_index::{FileId, FileState, GoOn, SortedMap, VisibleFiles};
use lapidary_note::ContentHash;

use crate::{
    DocumentKey, DocumentPart, DocumentStore, DocumentText,
    corpus::ReadableCorpus,
    index::WordIndex,
    meaning::{NoteVectors, VectorIndex},
};

/// Between two parts of a document, where spans are counted over all of them.
const BETWEEN_PARTS: usize = 2;

/// What was read of the documents of a vault. Immutable; the next one shares its unchanged parts.
#[derive(Clone, Default)]
pub(crate) struct DocumentIndex {
    /// Each page is a document of it.
    pub(crate) words: WordIndex,
    known: SortedMap<FileId, Arc<KnownDocument>>,
    pub(crate) vectors: VectorIndex,
    /// How much text it holds.
    bytes: u64,
}

/// A document that was read, or cannot be.
pub(crate) struct KnownDocument {
    pub(crate) state: Arc<FileState>,
    pub(crate) reading: DocumentReading,
    /// Whether it was read long enough after its last change that there cannot have been another one.
    pub(crate) is_settled: bool,
}

pub(crate) enum DocumentReading {
    Text { key: DocumentKey, parts: Vec<PartPlace>, bytes: u64 },
    Failed,
}

/// A part with text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartPlace {
    /// Of the page, from 1.
    pub(crate) number: u32,
    /// Where its text starts, if all parts are written one after another.
    pub(crate) start: usize,
}

/// Where the parts of a document are.
pub(crate) fn part_places(text: &DocumentText) -> Vec<PartPlace> {
    let mut start = 0;
    let place = |part: &DocumentPart| {
        let place = PartPlace { number: part.number, start };
        start += part.text.len() + BETWEEN_PARTS;
        place
    };
    text.parts.iter().map(place).collect()
}

impl KnownDocument {
    pub(crate) fn bytes(&self) -> u64 {
        match &self.reading {
            DocumentReading::Text { bytes, .. } => *bytes,
            DocumentReading::Failed => 0,
        }
    }

    pub(crate) fn key(&self) -> Option<&DocumentKey> {
        match &self.reading {
            DocumentReading::Text { key, .. } => Some(key),
            DocumentReading::Failed => None,
        }
    }

    fn parts(&self) -> &[PartPlace] {
        match &self.reading {
            DocumentReading::Text { parts, .. } => parts,
            DocumentReading::Failed => &[],
        }
    }

    /// The part that has a place in the text of all parts, by its number among them.
    fn part_at(&self, at: usize) -> Option<usize> {
        self.parts().partition_point(|part| part.start <= at).checked_sub(1)
    }
}

impl DocumentIndex {
    /// What is known of a state of a file.
    pub(crate) fn get(&self, state: &FileState) -> Option<&Arc<KnownDocument>> {
        self.known.get(&state.id).filter(|known| known.state.stat.stamp == state.stat.stamp)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = &Arc<KnownDocument>> {
        self.known.iter().map(|(_, known)| known)
    }

    /// Which part of its file a document of the index is.
    pub(crate) fn part_of(&self, document: usize, corpus: &ReadableCorpus<'_>) -> Option<PartPlace> {
        let known = self.known.get(&corpus.file(document)?)?;
        known.parts().get(corpus.ordinal(document)?).copied()
    }

    /// The document of the index for a place in a file.
    pub(crate) fn document_at(&self, id: FileId, at: usize, corpus: &ReadableCorpus<'_>) -> Option<usize> {
        Some(corpus.number(id)? + self.known.get(&id)?.part_at(at)?)
    }

    /// With these documents and their texts, and without those of some files.
    pub(crate) fn with(
        &self,
        removed: &[FileId],
        added: Vec<(KnownDocument, Option<Arc<DocumentText>>)>,
    ) -> Option<Self> {
        let mut next = self.clone();
        for (known, _) in &added {
            let id = known.state.id;
            // Those of another text would find the document by what it no longer says, at places that are now other words. Without
            // a known text they are those that were kept on disk.
            let is_other = next.known.get(&id).is_some_and(|before| before.key() != known.key());
            if is_other || !next.vectors.has(&known.state) {
                next.vectors.drop_file(id);
            }
        }
        for id in removed.iter().chain(added.iter().map(|(known, _)| &known.state.id)) {
            if let Some(before) = next.known.remove(id) {
                next.bytes = next.bytes.saturating_sub(before.bytes());
            }
        }
        removed.iter().for_each(|id| next.vectors.drop_file(*id));
        let texts: Vec<(Arc<FileState>, Arc<DocumentText>)> = added
            .iter()
            .filter_map(|(known, text)| Some((Arc::clone(&known.state), Arc::clone(text.as_ref()?))))
            .collect();
        // Those that failed now may have had a text before.
        let failed = added.iter().filter(|(_, text)| text.is_none()).map(|(known, _)| known.state.id);
        let removed: Vec<FileId> = removed.iter().copied().chain(failed).collect();
        next.words = next.words.with_pages(&removed, &texts)?;
        for (known, _) in added {
            next.bytes += known.bytes();
            next.known.insert(known.state.id, Arc::new(known));
        }
        Some(next)
    }

    /// With the vectors of a document.
    pub(crate) fn put_vectors(&mut self, state: &Arc<FileState>, vectors: Arc<NoteVectors>) {
        self.vectors.put(state, vectors);
    }
}

/// The documents that a caller may read, as far as they were read.
pub(crate) struct ReadableDocuments<'s> {
    pub(crate) index: Arc<DocumentIndex>,
    pub(crate) files: &'s VisibleFiles,
    pub(crate) store: &'s DocumentStore,
    /// Those that are as they were when they were read.
    pub(crate) shown: HashSet<FileId>,
    /// How many are not in the index of words, and in that of meanings.
    pub(crate) unread: usize,
    pub(crate) without_vectors: usize,
}

impl ReadableDocuments<'_> {
    /// Looks at a part of a document, by its number among those with text.
    pub(crate) fn with_page<T>(
        &self,
        ordinal: usize,
        state: &Arc<FileState>,
        go_on: GoOn<'_>,
        look: impl FnOnce(&DocumentPart) -> T,
    ) -> Option<T> {
        let text = self.text(state, go_on)?;
        text.parts.get(ordinal).map(look)
    }

    /// The text of a document that is shown.
    pub(crate) fn text(&self, state: &Arc<FileState>, go_on: GoOn<'_>) -> Option<Arc<DocumentText>> {
        kept_text(self.store, self.files, state, &self.key(state)?, go_on)
    }

    pub(crate) fn key(&self, state: &FileState) -> Option<DocumentKey> {
        self.index.get(state)?.key().copied()
    }
}

/// The text of a document that was read.
pub(crate) fn kept_text(
    store: &DocumentStore,
    files: &VisibleFiles,
    state: &FileState,
    key: &DocumentKey,
    go_on: GoOn<'_>,
) -> Option<Arc<DocumentText>> {
    match store.known(key) {
        Some(known) => known.ok(),
        // Nothing is kept of it any more. It is read again, if it is still the same.
        None => {
            let bytes = files.source().text(state)?;
            let is_same = ContentHash::of(&bytes) == key.hash;
            is_same.then(|| store.text(key, &bytes, go_on).ok()).flatten()
        }
    }
}
