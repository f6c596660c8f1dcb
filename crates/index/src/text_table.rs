//! The texts that are kept in memory.

use std::sync::Arc;

use super::{
    file::{FileState, SharedBytes},
    snapshot::Snapshot,
};

/// Files per chunk: a lookup is two steps, and changing one text copies a few kilobytes.
const CHUNK: usize = 256;

/// The texts in memory, each of one state of one file. A table is immutable; the next one shares its unchanged parts,
/// so a search keeps the one it started with.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextTable {
    /// By the number of the file.
    chunks: Arc<Vec<TextChunk>>,
    bytes: u64,
}

/// Empty, or of [`CHUNK`] files.
type TextChunk = Arc<Vec<Option<LoadedText>>>;

#[derive(Clone, Debug)]
pub(crate) struct LoadedText {
    /// A number identifies a path and not a state of its file.
    pub(crate) state: Arc<FileState>,
    /// `None` if it was released, and only its time of reading still matters.
    pub(crate) text: Option<SharedBytes>,
    /// By the clock of the files; 0 if it was never on disk.
    pub(crate) read_at: i64,
}

impl TextTable {
    pub(crate) fn new(texts: impl IntoIterator<Item = LoadedText>) -> Self {
        let mut table = Self::default();
        table.extend(texts);
        table
    }

    /// How much text it holds.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn get(&self, state: &FileState) -> Option<&LoadedText> {
        let (chunk, at) = place(state);
        let loaded = self.chunks.get(chunk)?.get(at)?.as_ref()?;
        // The same state, not only the same file: a text of an earlier state would answer with what was there before.
        std::ptr::eq(&*loaded.state, state).then_some(loaded)
    }

    pub(crate) fn text(&self, state: &FileState) -> Option<&SharedBytes> {
        self.get(state)?.text.as_ref()
    }

    pub(crate) fn extend(&mut self, texts: impl IntoIterator<Item = LoadedText>) {
        let chunks = Arc::make_mut(&mut self.chunks);
        for loaded in texts {
            let (chunk, at) = place(&loaded.state);
            if chunks.len() <= chunk {
                chunks.resize_with(chunk + 1, TextChunk::default);
            }
            // Copies the chunk only if an older table still has it, as a search that is running does.
            let chunk = Arc::make_mut(&mut chunks[chunk]);
            if chunk.is_empty() {
                chunk.resize_with(CHUNK, || None);
            }
            self.bytes += loaded.bytes();
            self.bytes -= chunk[at].replace(loaded).map_or(0, |old| old.bytes());
        }
    }

    /// With some more texts.
    #[must_use]
    pub(crate) fn with(&self, texts: Vec<LoadedText>) -> Self {
        let mut next = self.clone();
        next.extend(texts);
        next
    }

    /// Only files that are unchanged.
    #[must_use]
    pub(crate) fn current(&self, snapshot: &Snapshot) -> Self {
        let is_current = |loaded: &&LoadedText| {
            snapshot.by_id(loaded.state.id).is_some_and(|state| Arc::ptr_eq(state, &loaded.state))
        };
        // Usually nothing has changed, and the clone shares everything.
        if self.iter().all(|loaded| is_current(&loaded)) {
            return self.clone();
        }
        Self::new(self.iter().filter(is_current).cloned())
    }

    /// Without any text. Texts read so soon after a change that the file may have changed again are remembered.
    #[must_use]
    pub(crate) fn without_texts(&self) -> Self {
        let doubtful = |loaded: &&LoadedText| !loaded.state.stat.stamp.is_settled(loaded.read_at);
        let without_text = |loaded: &LoadedText| LoadedText { text: None, ..loaded.clone() };
        Self::new(self.iter().filter(doubtful).map(without_text))
    }

    fn iter(&self) -> impl Iterator<Item = &LoadedText> {
        self.chunks.iter().flat_map(|chunk| chunk.iter().flatten())
    }
}

fn place(state: &FileState) -> (usize, usize) {
    let id = state.id as usize;
    (id / CHUNK, id % CHUNK)
}

impl LoadedText {
    fn bytes(&self) -> u64 {
        self.text.as_ref().map_or(0, |text| text.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileStat, VaultPath};

    fn loaded(id: u32, text: &str) -> LoadedText {
        let path = VaultPath::spelt(&format!("{id}.md")).unwrap();
        let state = Arc::new(FileState::new(id, path, FileStat::default()));
        LoadedText { state, text: SharedBytes::whole(text.as_bytes().to_vec()), read_at: i64::MAX }
    }

    #[test]
    fn a_text_belongs_to_one_state_and_older_tables_are_unchanged() {
        let (one, far, other) = (loaded(1, "one"), loaded(70_000, "far away"), loaded(1, "another"));
        let first = TextTable::new([one.clone(), far.clone()]);
        let second = first.with(vec![other.clone()]);
        let text = |table: &TextTable, of: &LoadedText| table.text(&of.state).map(|text| text.to_vec());
        assert_eq!(text(&first, &one).as_deref(), Some(&b"one"[..]));
        assert_eq!((text(&first, &other), text(&second, &one)), (None, None));
        assert_eq!(text(&second, &other).as_deref(), Some(&b"another"[..]));
        assert_eq!(text(&second, &far), text(&first, &far));
        assert_eq!((first.bytes(), second.bytes()), (11, 15));
        assert!(first.get(&loaded(2, "").state).is_none());
        assert_eq!(second.without_texts().bytes(), 0);
        assert!(second.without_texts().get(&far.state).is_none(), "it was settled when it was read");
        assert_eq!(second.current(&Snapshot::default()).bytes(), 0);
    }
}
