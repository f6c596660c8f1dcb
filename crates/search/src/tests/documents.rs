//! Documents among the notes.

use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::{Duration, SystemTime},
};

use lapidary_store::posix::DocumentCache;
use parking_lot::Mutex;

use super::*;
use crate::documents::{DocumentIndexCache, DocumentsState, ReadingPace};

/// Pages are between form feeds; a file that starts with `!` is broken, and one that starts with `~` is only read the second time.
#[derive(Default)]
struct PageReader {
    asked: AtomicUsize,
    begun: Mutex<Vec<String>>,
    reads_pictures: bool,
    /// What is read the second time says that it is, and waits.
    second: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

impl DocumentReader for PageReader {
    fn read(
        &self,
        kind: DocumentKind,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<DocumentText, NoDocumentText> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if bytes.starts_with(b"!") {
            return Err(NoDocumentText::Fault(DecodeFault::Broken));
        }
        let text = String::from_utf8_lossy(bytes);
        let is_first = {
            let mut begun = self.begun.lock();
            begun.push(text.clone().into_owned());
            begun.iter().filter(|known| **known == text).count() == 1
        };
        if is_first && text.starts_with('~') {
            while go_on() {
                std::thread::yield_now();
            }
            return Err(NoDocumentText::Stopped);
        }
        if !is_first && let Some((begun, end)) = self.second.lock().take() {
            begun.send(()).unwrap();
            end.recv().unwrap();
        }
        let pages: Vec<&str> = text.split('\u{c}').collect();
        let part = |(number, text): (u32, &&str)| DocumentPart { number, label: None, text: (*text).to_owned() };
        let parts = (1..).zip(&pages).filter(|(_, text)| !text.trim().is_empty()).map(part).collect();
        Ok(DocumentText::of_parts(kind, pages.len() as u32, parts))
    }

    fn version(&self, kind: DocumentKind) -> Option<u32> {
        (kind != DocumentKind::Picture || self.reads_pictures).then_some(1)
    }
}

/// A vault with a reader, whose texts are kept in a state folder.
struct ReadVault {
    searched: Searched,
    reader: Arc<PageReader>,
}

fn reading(root: &Path, state: Option<&Path>, room: u64) -> ReadVault {
    reading_with(root, state, room, PageReader::default())
}

fn reading_with(root: &Path, state: Option<&Path>, room: u64, reader: PageReader) -> ReadVault {
    let Searched { live, .. } = live(root);
    let folder = state.map(|state| Arc::new(StateFolder::new(state.to_owned(), root.to_owned())));
    let store = Arc::new(DocumentStore::new(folder.map(DocumentCache::new)));
    let reader = Arc::new(reader);
    store.choose(Arc::<PageReader>::clone(&reader));
    let documents = DocumentIndexCache::new(store, None, room);
    let search = RankedIndexCache::new(None, VectorIndexCache::new(None, u64::MAX), documents);
    ReadVault { searched: Searched { live, search }, reader }
}

impl ReadVault {
    fn read(&self, scope: &Arc<Scope>) {
        let files = index_cache::to_rank(&self.searched, scope, &|| true).unwrap();
        self.searched.search.read_documents(&files, Duration::from_secs(600), &|| true).unwrap();
    }

    fn state(&self, scope: &Arc<Scope>) -> DocumentsState {
        let files = index_cache::to_rank(&self.searched, scope, &|| true).unwrap();
        self.searched.search.documents().state(&files).unwrap()
    }

    fn asked(&self, by: RankedBy, scope: &Arc<Scope>, query: &str, documents: bool) -> RankedNotes {
        let files = index_cache::to_rank(&self.searched, scope, &|| true).unwrap();
        let query = RankedQuery { documents, ..RankedQuery::from(query) };
        let page = RankedPage { size: PassageSize { pieces: 2, ..PAGE.size }, ..PAGE };
        self.searched.search.ranked_by(by, &files, query, page, &|| true).unwrap()
    }

    /// Paths with pages, best first.
    fn places(&self, by: RankedBy, query: &str) -> Vec<String> {
        let place = |hit: &RankedNote| match &hit.page {
            Some(page) => format!("{}#{}", hit.path, page.number),
            None => hit.path.to_string(),
        };
        self.asked(by, &open(), query, true).hits.iter().map(place).collect()
    }
}

const FILES: &[(&str, &str)] = &[
    ("Roof.md", "# Roof\nSlates for the roof, from the quarry.\n"),
    ("Log.md", "Rain. The quarry was closed.\n"),
    (
        "Files/Handbook.pdf",
        "Contents\u{c}Slates are split by hand.\nThe quarry delivers slates in crates.\u{c}\u{c}Copper gutters for roofs.",
    ),
    ("Files/Prices.csv", "slate;12\ncopper;40\n"),
    ("Files/Broken.docx", "!"),
    ("Files/Scan.pdf", "\u{c}"),
    ("Files/picture.png", "no text"),
];

#[test]
fn a_document_that_takes_long_is_read_after_the_others() {
    // Newest first, and by name where two are as new.
    let folder = vault(&[("b.txt", "copper"), ("a.pdf", "~slate")]);
    let reader = PageReader { reads_pictures: true, ..PageReader::default() };
    let vault = reading_with(folder.path(), None, u64::MAX, reader);
    vault.read(&open());
    assert_eq!(*vault.reader.begun.lock(), ["~slate", "copper", "~slate"]);
    assert_eq!(vault.places(RankedBy::Words, "slate"), ["a.pdf#1"]);
}

#[test]
fn meaning_does_not_wait_for_a_document_that_takes_long() {
    let mice = "Droppings in the attic. Traps with peanut butter worked, poison did not.";
    let folder = vault(&[("House.txt", mice), ("Scan.pdf", "~slate")]);
    let ((begun, is_begun), (end, is_ended)) = (channel(), channel());
    let second = Mutex::new(Some((begun, is_ended)));
    let reader = PageReader { reads_pictures: true, second, ..PageReader::default() };
    let vault = reading_with(folder.path(), None, u64::MAX, reader);
    std::thread::scope(|scope| {
        scope.spawn(|| vault.read(&open()));
        is_begun.recv().unwrap();
        let found = vault.asked(RankedBy::Meaning, &open(), "rodents under the roof", true);
        assert_eq!((found.unread_documents, found.documents_without_meaning), (1, 0));
        assert_eq!(found.hits[0].path.as_str(), "House.txt");
        end.send(()).unwrap();
    });
}

#[test]
fn a_typing_error_that_documents_mend_is_named() {
    let folder = vault(&[("Roof.md", "Rain.\n"), ("Handbook.pdf", "Copper gutters for roofs.")]);
    let vault = reading(folder.path(), None, u64::MAX);
    vault.read(&open());
    for by in [RankedBy::Words, RankedBy::Hybrid] {
        let found = vault.asked(by, &open(), "guttrs", true);
        assert_eq!(found.meant, [("guttrs".to_owned(), vec!["gutters".to_owned()])], "{by:?}");
    }
}

#[test]
fn pages_are_found_with_their_passage_and_every_operator_holds() {
    let folder = vault(FILES);
    let vault = reading(folder.path(), None, u64::MAX);
    let words = RankedBy::Words;
    let before = vault.asked(words, &open(), "copper", true);
    assert_eq!((before.total, before.unread_documents), (0, 4), "nothing is read yet");
    vault.read(&open());
    let state = DocumentsState { read: 3, empty: 1, failed: 1, ..DocumentsState::default() };
    assert_eq!(vault.state(&open()), state);
    let found = vault.asked(words, &open(), "copper gutters", true);
    assert_eq!((found.total, found.unread_documents), (1, 0));
    let hit = &found.hits[0];
    assert_eq!(hit.excerpt, "Copper gutters for roofs.");
    let page = hit.page.as_ref().unwrap();
    assert_eq!((page.number, page.kind), (4, DocumentKind::Pdf));
    assert_eq!(page.hash, lapidary_note::ContentHash::of(FILES[2].1.as_bytes()));
    for (query, expected) in [
        ("slates quarry", "Roof.md Files/Handbook.pdf#2"),
        ("slates quarry ext:pdf", "Files/Handbook.pdf#2"),
        ("copper path:files", "Files/Prices.csv#1 Files/Handbook.pdf#4"),
        ("copper file:handbook", "Files/Handbook.pdf#4"),
        ("copper page:4", "Files/Handbook.pdf#4"),
        ("copper page:1-3", "Files/Prices.csv#1"),
        ("quarry -page:2-", "Log.md Roof.md"),
        ("\"split by hand\"", "Files/Handbook.pdf#2"),
        ("/deliv\\w+/", "Files/Handbook.pdf#2"),
        ("line:(slates hand)", "Files/Handbook.pdf#2"),
        ("slates hand tag:x", ""),
        ("content:handbook", ""),
        ("handbook", "Files/Handbook.pdf#1"),
        ("ext:pdf page:4", "Files/Handbook.pdf#4"),
        // Those without text, and other files, by their paths.
        ("ext:pdf", "Files/Handbook.pdf#1 Files/Scan.pdf"),
        ("path:files ext:docx", "Files/Broken.docx"),
        // Other forms, and a typing error that only documents can mend.
        ("crate", "Files/Handbook.pdf#2"),
        ("guttrs", "Files/Handbook.pdf#4"),
        // A word of the notes is not misspelt, however close one of the documents is.
        ("rain", "Log.md"),
    ] {
        assert_eq!(vault.places(words, query).join(" "), expected, "{query}");
    }
}

#[test]
fn a_document_is_read_once_and_what_changes_is_read_again() {
    let folder = vault(FILES);
    let state = tempfile::tempdir().unwrap();
    // Old enough that a later change must show.
    for (path, _) in FILES {
        let file = fs::File::options().write(true).open(folder.path().join(path)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    let vault = reading(folder.path(), Some(state.path()), u64::MAX);
    vault.read(&open());
    vault.read(&open());
    let asked = vault.reader.asked.load(Ordering::Relaxed);
    assert!(asked <= 8, "the time of change is new for all, so that each may be read again once: {asked}");
    // Another process.
    let vault = reading(folder.path(), Some(state.path()), u64::MAX);
    vault.read(&open());
    assert_eq!(vault.reader.asked.load(Ordering::Relaxed), 0, "texts and failures are kept by content");
    assert_eq!(vault.places(RankedBy::Words, "gutters"), ["Files/Handbook.pdf#4"]);
    put(folder.path(), "Files/Handbook.pdf", "Now about marble.");
    fs::remove_file(folder.path().join("Files/Prices.csv")).unwrap();
    fs::rename(folder.path().join("Files/Scan.pdf"), folder.path().join("Files/Empty.pdf")).unwrap();
    let found = vault.asked(RankedBy::Words, &open(), "copper", true);
    assert_eq!((found.total, found.unread_documents), (0, 2), "what is gone is not found, nor what has changed");
    vault.read(&open());
    assert_eq!(vault.reader.asked.load(Ordering::Relaxed), 1, "the moved one is known by its content");
    assert_eq!(vault.places(RankedBy::Words, "marble"), ["Files/Handbook.pdf#1"]);
    assert_eq!(vault.places(RankedBy::Words, "gutters"), [] as [&str; 0]);
}

#[test]
fn notes_have_the_order_and_the_scores_that_they_have_without_documents() {
    let mut files: Vec<(String, String)> = Vec::new();
    for number in 0..30 {
        let text = format!("Slates {} roof quarry {}", "word ".repeat(number * 3), "slate ".repeat(number % 4));
        files.push((format!("n/{number}.md"), text.clone()));
        files.push((format!("d/{number}.pdf"), format!("{text}\u{c}The quarry and copper\u{c}roof slates roof")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = vault(&files);
    let vault = reading(folder.path(), None, u64::MAX);
    vault.read(&open());
    for by in [RankedBy::Words, RankedBy::Meaning, RankedBy::Hybrid] {
        for query in
            ["slates", "roof quarry slate", "copper roof", "tiles on a house", "slaets quarry", "path:n slates"]
        {
            let (with, without) = (vault.asked(by, &open(), query, true), vault.asked(by, &open(), query, false));
            let notes: Vec<&RankedNote> = with.hits.iter().filter(|hit| hit.page.is_none()).collect();
            assert_eq!(notes, without.hits.iter().collect::<Vec<_>>(), "{by:?} {query}");
            assert_eq!(with.total, with.hits.len());
            // One list in order.
            assert!(with.hits.is_sorted_by(|one, other| one.score >= other.score), "{by:?} {query}");
            // Pages of the list are parts of it.
            let files = index_cache::to_rank(&vault.searched, &open(), &|| true).unwrap();
            let asked = RankedQuery { documents: true, ..RankedQuery::from(query) };
            let mut seen = Vec::new();
            for offset in (0..with.total).step_by(7) {
                let page = RankedPage { offset, limit: 7, ..PAGE };
                let found = vault.searched.search.ranked_by(by, &files, asked, page, &|| true).unwrap();
                seen.extend(found.hits.into_iter().map(|hit| hit.path));
            }
            assert_eq!(seen, with.hits.iter().map(|hit| hit.path.clone()).collect::<Vec<_>>(), "{by:?} {query}");
        }
    }
}

#[test]
fn hidden_documents_change_nothing() {
    let folder = vault(FILES);
    let closed = || {
        let deny = vec![PathPrefix::parse("Secret").unwrap()];
        Arc::new(Scope::from(Policy { deny, ..Policy::default() }))
    };
    let bare = reading(folder.path(), None, 60);
    let other = vault(FILES);
    put(other.path(), "Secret/a.pdf", "slates copper gutters marble\u{c}quarry roof roofs roof");
    put(other.path(), "Secret/b.pdf", "!");
    put(other.path(), "Secret/c.txt", "guttrs guttrs");
    let full = reading(other.path(), None, 60);
    // The same moment for both, as newer ones come first.
    for root in [folder.path(), other.path()] {
        for (path, _) in FILES {
            let file = fs::File::options().write(true).open(root.join(path)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
        }
    }
    let (open, closed) = (open(), closed());
    let check = || {
        assert_eq!(full.state(&closed), bare.state(&closed));
        for by in [RankedBy::Words, RankedBy::Meaning, RankedBy::Hybrid] {
            for query in
                ["slates", "copper gutters", "guttrs", "marble", "roof quarry", "ext:pdf", "tiles of stone", "page:2"]
            {
                let (with, without) = (full.asked(by, &closed, query, true), bare.asked(by, &closed, query, true));
                assert_eq!(with, without, "{by:?} {query}");
            }
        }
    };
    check();
    // The owner's own searches have hidden documents read, too.
    full.read(&open);
    full.read(&closed);
    bare.read(&closed);
    check();
}

#[test]
fn a_page_is_found_by_what_it_says_and_its_pieces_have_pages() {
    let folder = vault(&[
        ("Bread.md", "Flour, water and yeast make a dough.\n"),
        (
            "House.pdf",
            "Contents of this handbook.\u{c}Droppings in the attic. Traps with peanut butter worked, poison did not.\u{c}The salary arrives at the end of the month.",
        ),
    ]);
    let vault = reading(folder.path(), None, u64::MAX);
    vault.read(&open());
    for by in [RankedBy::Meaning, RankedBy::Hybrid] {
        let found = vault.asked(by, &open(), "rodents under the roof", true);
        let hit = &found.hits[0];
        assert_eq!(hit.page.as_ref().map(|page| page.number), Some(2), "{by:?} {hit:?}");
        assert!(hit.excerpt.starts_with("Droppings in the attic."), "{}", hit.excerpt);
        let piece = &hit.pieces[0];
        assert_eq!(piece.page.as_ref().map(|page| page.number), Some(2));
        assert!(piece.text.starts_with("Droppings"), "{piece:?}");
        assert_eq!(found.unread_documents, 0);
        let found = vault.asked(by, &open(), "wages page:3", true);
        assert_eq!(found.hits[0].page.as_ref().map(|page| page.number), Some(3), "{by:?}");
        assert!(
            vault
                .asked(by, &open(), "rodents under the roof page:3", true)
                .hits
                .iter()
                .all(|hit| { hit.page.as_ref().is_some_and(|page| page.number == 3) })
        );
    }
}

#[test]
fn a_changed_document_is_not_found_by_what_it_meant() {
    let folder = vault(&[("House.pdf", "Droppings in the attic. Traps with peanut butter worked, poison did not.")]);
    let vault = reading(folder.path(), None, u64::MAX);
    vault.read(&open());
    let rodents = || vault.asked(RankedBy::Meaning, &open(), "rodents under the roof", true);
    assert_eq!(rodents().hits.len(), 1);
    put(folder.path(), "House.pdf", "The salary arrives at the end of the month, with a slip.");
    // Its words are there before its vectors are.
    let files = index_cache::to_rank(&vault.searched, &open(), &|| true).unwrap();
    let pace = ReadingPace { at_most: None, gives_way: false };
    let off = VectorIndexCache::new(None, 0);
    vault.searched.search.documents().read(&off, &files, pace, &|| true).unwrap();
    assert_eq!(vault.places(RankedBy::Words, "salary"), ["House.pdf#1"]);
    assert_eq!(rodents().hits.len(), 0, "{:?}", rodents().hits);
    vault.read(&open());
    assert_eq!(vault.places(RankedBy::Meaning, "wages"), ["House.pdf#1"]);
}

#[test]
fn the_newest_documents_have_room_and_the_others_are_left_out() {
    let folder = vault(&[("a.pdf", "slate slate slate"), ("b.pdf", "slate slate slate"), ("c.pdf", "slate")]);
    for (name, seconds) in [("a.pdf", 3), ("b.pdf", 2), ("c.pdf", 1)] {
        let file = fs::File::options().write(true).open(folder.path().join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds)).unwrap();
    }
    let vault = reading(folder.path(), None, 20);
    vault.read(&open());
    vault.read(&open());
    assert_eq!(vault.state(&open()), DocumentsState { read: 2, left_out: 1, ..DocumentsState::default() });
    assert_eq!(vault.places(RankedBy::Words, "slate"), ["a.pdf#1", "b.pdf#1"]);
    let none = reading(folder.path(), None, 0);
    assert!(!none.searched.search.documents().is_on());
    assert_eq!(none.asked(RankedBy::Words, &open(), "slate", true).unread_documents, 0, "they are not searched at all");
}
