//! Keeps the text of documents: by content, failures too, so that every file is read once.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, OnceLock},
};

use lapidary_note::ContentHash;
use lapidary_store::{
    FileStamp, VaultPath,
    posix::{DocumentCache, KnownContent},
};
use parking_lot::Mutex;

use crate::{DecodeFault, DocumentKind, DocumentReader, DocumentText, NoDocumentText};

/// How much text is also kept in memory, for the next page of the same document.
const MOST_RECENT_BYTES: usize = 8 << 20;

/// The texts of the documents of a vault.
#[derive(Default)]
pub struct DocumentStore {
    reader: OnceLock<Arc<dyn DocumentReader>>,
    cache: Option<DocumentCache>,
    /// Those that were used last, latest first.
    recent: Mutex<Vec<(DocumentKey, ReadOutcome)>>,
}

/// Content, and what it was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentKey {
    pub kind: DocumentKind,
    pub hash: ContentHash,
}

impl DocumentKey {
    fn written(&self) -> String {
        format!("{:?} {}", self.kind, self.hash)
    }
}

/// What reading gave.
type ReadOutcome = Result<Arc<DocumentText>, DecodeFault>;

fn bytes_of(outcome: &ReadOutcome) -> usize {
    let text =
        outcome.as_ref().map_or(0, |text| text.parts.iter().map(|part| part.text.len() + size_of_val(part)).sum());
    text + size_of::<(DocumentKey, ReadOutcome)>()
}

impl DocumentStore {
    pub fn new(cache: Option<DocumentCache>) -> Self {
        Self { reader: OnceLock::new(), cache, recent: Mutex::default() }
    }

    /// Sets who reads, once and before anything is read.
    pub fn choose(&self, reader: Arc<dyn DocumentReader>) {
        self.reader.get_or_init(|| reader);
    }

    /// Whether documents can be read.
    pub(crate) fn has_reader(&self) -> bool {
        self.reader.get().is_some()
    }

    /// Of what is made of all texts. That of a PDF is read in every way there is.
    pub(crate) fn version(&self) -> Option<u32> {
        self.version_of(DocumentKind::Pdf)
    }

    fn version_of(&self, kind: DocumentKind) -> Option<u32> {
        self.reader.get()?.version(kind)
    }

    /// Whether the text on pictures is read.
    pub fn reads_pictures(&self) -> bool {
        self.version_of(DocumentKind::Picture).is_some()
    }

    /// How many documents are kept with their text, and how many could not be read.
    pub fn kept(&self) -> (usize, usize) {
        let counted =
            |version: u32| self.cache.as_ref().and_then(|cache| cache.count(version).ok()).unwrap_or_default();
        let kinds = [DocumentKind::Plain, DocumentKind::Pdf, DocumentKind::Picture];
        let plain = |kind: DocumentKind| self.reader.get()?.plain_version(kind);
        let versions: BTreeSet<u32> =
            kinds.into_iter().flat_map(|kind| [self.version_of(kind), plain(kind)]).flatten().collect();
        versions
            .into_iter()
            .map(counted)
            .fold((0, 0), |(texts, failures), (more, worse)| (texts + more, failures + worse))
    }

    /// What files held when they were last read, by their paths.
    pub(crate) fn remembered(&self) -> HashMap<String, (FileStamp, ContentHash)> {
        // A cache that cannot be read is none.
        let known = self.cache.as_ref().and_then(|cache| cache.remembered().ok()).unwrap_or_default();
        known.into_iter().map(|KnownContent { path, stamp, hash }| (path, (stamp, hash))).collect()
    }

    /// Remembers what files held, for the next start.
    pub(crate) fn remember(&self, files: &[(VaultPath, FileStamp, ContentHash)]) {
        let known =
            files.iter().map(|(path, stamp, hash)| KnownContent { path: path.to_string(), stamp: *stamp, hash: *hash });
        let known: Vec<KnownContent> = known.collect();
        if let Some(cache) = self.cache.as_ref().filter(|_| !known.is_empty())
            && let Err(error) = cache.remember(&known)
        {
            tracing::debug!(%error, "what documents hold cannot be remembered");
        }
    }

    /// What is known of a document; `None` if it has not been read.
    pub fn known(&self, key: &DocumentKey) -> Option<Result<Arc<DocumentText>, NoDocumentText>> {
        let recent = {
            let mut recent = self.recent.lock();
            let at = recent.iter().position(|(known, _)| known == key);
            at.map(|at| {
                // To the front, since it was used last.
                recent[..=at].rotate_right(1);
                recent[0].1.clone()
            })
        };
        if let Some(kept) = recent {
            return Some(kept.map_err(NoDocumentText::Fault));
        }
        let reader = self.reader.get()?;
        let version = reader.version(key.kind)?;
        let plain = reader.plain_version(key.kind).filter(|plain| *plain != version);
        let kept = self.found(key, version).or_else(|| {
            // A document that has its text in it is read once, whether or not there is a program for scans.
            self.found(key, plain?).filter(|kept| kept.as_ref().map_or(true, |text| reader.reads_no_more(text)))
        });
        let kept = kept?.map(Arc::new);
        self.put(*key, kept.clone());
        Some(kept.map_err(NoDocumentText::Fault))
    }

    fn found(&self, key: &DocumentKey, version: u32) -> Option<Result<DocumentText, DecodeFault>> {
        // A cache that cannot be read is none.
        let kept = self.cache.as_ref()?.find(&key.written(), version).ok()??;
        serde_json::from_slice(&kept).ok()
    }

    /// The text of a document, read now if it was not before.
    pub fn text(
        &self,
        key: &DocumentKey,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<DocumentText>, NoDocumentText> {
        match self.known(key) {
            // A caller that asks for the whole text may have done something about what was missing.
            Some(Ok(text)) if text.is_provisional => {}
            Some(known) => return known,
            None => {}
        }
        let reader = self.reader.get().ok_or(NoDocumentText::Fault(DecodeFault::Unavailable))?;
        let version = self.version_of(key.kind).ok_or(NoDocumentText::Fault(DecodeFault::Unavailable))?;
        let kept = match reader.read(key.kind, bytes, go_on) {
            Ok(text) => Ok(Arc::new(text)),
            // A computer that is busy now may have time later.
            Err(NoDocumentText::Fault(fault)) if fault.is_final() => Err(fault),
            Err(other) => return Err(other),
        };
        let is_provisional = kept.as_ref().is_ok_and(|text| text.is_provisional);
        let is_plain = kept.as_ref().map_or(true, |text| !text.is_recognised);
        let version = reader.plain_version(key.kind).filter(|_| is_plain).unwrap_or(version);
        if let Some(cache) = self.cache.as_ref().filter(|_| !is_provisional) {
            let written = serde_json::to_vec(&kept.as_deref()).map_err(std::io::Error::other);
            let done = written.and_then(|written| cache.keep(&key.written(), version, &written, kept.is_err()));
            // Then it is read again by the next process.
            if let Err(error) = done {
                tracing::debug!(%error, "the text of a document cannot be kept");
            }
        }
        self.put(*key, kept.clone());
        kept.map_err(NoDocumentText::Fault)
    }

    fn put(&self, key: DocumentKey, kept: ReadOutcome) {
        let mut recent = self.recent.lock();
        recent.retain(|(known, _)| *known != key);
        recent.insert(0, (key, kept));
        let mut taken = 0;
        let fits = recent.iter().take_while(|(_, kept)| {
            taken += bytes_of(kept);
            taken <= MOST_RECENT_BYTES
        });
        // At least the newest, however large it is: its next page may be asked for soon.
        let fits = fits.count().max(1);
        recent.truncate(fits);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use lapidary_store::posix::StateFolder;

    use super::*;
    use crate::DocumentPart;

    /// Counts how often it is asked; empty bytes are broken, a dot means that the computer is busy, and of what ends with a
    /// dot a part is missing.
    #[derive(Default)]
    struct CountingReader {
        asked: AtomicUsize,
        version: u32,
    }

    impl DocumentReader for CountingReader {
        fn read(
            &self,
            kind: DocumentKind,
            bytes: &[u8],
            _: &(dyn Fn() -> bool + Sync),
        ) -> Result<DocumentText, NoDocumentText> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            match bytes {
                b"" => Err(NoDocumentText::Fault(DecodeFault::Broken)),
                b"." => Err(NoDocumentText::Fault(DecodeFault::Clock)),
                bytes => Ok(DocumentText {
                    kind,
                    title: None,
                    author: None,
                    total: 1,
                    parts: vec![DocumentPart {
                        number: 1,
                        label: None,
                        text: String::from_utf8_lossy(bytes).into_owned(),
                    }],
                    is_cut: false,
                    unread: u32::from(bytes.ends_with(b".")),
                    is_provisional: bytes.ends_with(b"."),
                    is_recognised: false,
                }),
            }
        }

        fn version(&self, _: DocumentKind) -> Option<u32> {
            Some(self.version)
        }
    }

    fn key(bytes: &[u8]) -> DocumentKey {
        DocumentKey { kind: DocumentKind::Pdf, hash: ContentHash::of(bytes) }
    }

    #[test]
    fn a_document_is_read_once_and_a_broken_one_is_tried_once() {
        let folder = tempfile::tempdir().unwrap();
        // The state of a vault is kept under the name of its folder, which has to exist.
        let vault = tempfile::tempdir().unwrap();
        let state = Arc::new(StateFolder::new(folder.path().to_owned(), vault.path().to_owned()));
        let store = |reader: &Arc<CountingReader>| {
            let store = DocumentStore::new(Some(DocumentCache::new(Arc::clone(&state))));
            store.choose(Arc::<CountingReader>::clone(reader));
            store
        };
        let reader = Arc::new(CountingReader::default());
        // The second one is another process.
        for _ in 0..2 {
            let store = store(&reader);
            for _ in 0..2 {
                assert_eq!(store.text(&key(b"slate"), b"slate", &|| true).unwrap().parts[0].text, "slate");
                let broken = store.text(&key(b""), b"", &|| true);
                assert_eq!(broken.unwrap_err(), NoDocumentText::Fault(DecodeFault::Broken));
            }
        }
        assert_eq!(reader.asked.load(Ordering::Relaxed), 2);
        // The same bytes under the name of another kind are another document.
        let other = DocumentKey { kind: DocumentKind::Docx, ..key(b"slate") };
        assert_eq!(store(&reader).text(&other, b"slate", &|| true).unwrap().kind, DocumentKind::Docx);
        // A better reader tries again.
        let better = Arc::new(CountingReader { version: 1, ..CountingReader::default() });
        store(&better).text(&key(b""), b"", &|| true).unwrap_err();
        assert_eq!(better.asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_was_read_in_part_is_searched_and_read_again_when_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let vault = tempfile::tempdir().unwrap();
        let state = Arc::new(StateFolder::new(folder.path().to_owned(), vault.path().to_owned()));
        let reader = Arc::new(CountingReader::default());
        let store = || {
            let store = DocumentStore::new(Some(DocumentCache::new(Arc::clone(&state))));
            store.choose(Arc::<CountingReader>::clone(&reader));
            store
        };
        let first = store();
        assert_eq!(first.text(&key(b"slate."), b"slate.", &|| true).unwrap().unread, 1);
        assert_eq!(first.known(&key(b"slate.")).unwrap().unwrap().parts[0].text, "slate.");
        assert!(store().known(&key(b"slate.")).is_none(), "the next start tries again");
        first.text(&key(b"slate."), b"slate.", &|| true).unwrap();
        assert_eq!(reader.asked.load(Ordering::Relaxed), 2);
    }

    /// Adds a word to what has no text, as a program for scans does.
    struct RecognisingReader(Arc<CountingReader>);

    impl DocumentReader for RecognisingReader {
        fn read(
            &self,
            kind: DocumentKind,
            bytes: &[u8],
            go_on: &(dyn Fn() -> bool + Sync),
        ) -> Result<DocumentText, NoDocumentText> {
            let mut text = self.0.read(kind, bytes, go_on)?;
            if !self.reads_no_more(&text) {
                text.parts[0].text = "recognised".to_owned();
                text.is_recognised = true;
            }
            Ok(text)
        }

        fn version(&self, _: DocumentKind) -> Option<u32> {
            Some(77)
        }

        fn plain_version(&self, kind: DocumentKind) -> Option<u32> {
            self.0.version(kind)
        }

        fn reads_no_more(&self, text: &DocumentText) -> bool {
            text.parts[0].text != "scan"
        }
    }

    #[test]
    fn only_what_was_recognised_is_read_again_with_another_program() {
        let folder = tempfile::tempdir().unwrap();
        let vault = tempfile::tempdir().unwrap();
        let state = Arc::new(StateFolder::new(folder.path().to_owned(), vault.path().to_owned()));
        let counter = Arc::new(CountingReader::default());
        let read = |recognises: bool| {
            let store = DocumentStore::new(Some(DocumentCache::new(Arc::clone(&state))));
            let counting = Arc::<CountingReader>::clone(&counter);
            store.choose(if recognises { Arc::new(RecognisingReader(counting)) } else { counting });
            for (bytes, expected) in [("slate", "slate"), ("scan", if recognises { "recognised" } else { "scan" })] {
                let text = store.text(&key(bytes.as_bytes()), bytes.as_bytes(), &|| true).unwrap();
                assert_eq!(text.parts[0].text, expected, "{recognises}");
            }
            store.text(&key(b""), b"", &|| true).unwrap_err();
            (store.kept(), counter.asked.swap(0, Ordering::Relaxed))
        };
        assert_eq!(read(false), ((2, 1), 3));
        assert_eq!(read(true), ((2, 1), 1), "only the scan");
        assert_eq!(read(true), ((2, 1), 0));
        assert_eq!(read(false), ((2, 1), 1), "only the scan");
    }

    #[test]
    fn a_busy_computer_is_no_fault_of_the_document() {
        let reader = Arc::new(CountingReader::default());
        let store = DocumentStore::new(None);
        store.choose(Arc::<CountingReader>::clone(&reader));
        for _ in 0..2 {
            store.text(&key(b"."), b".", &|| true).unwrap_err();
        }
        assert_eq!(reader.asked.load(Ordering::Relaxed), 2);
        assert!(store.known(&key(b".")).is_none());
    }
}
