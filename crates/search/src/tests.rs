//! Tests of the ranked search on real folders.

#![expect(clippy::disallowed_methods, reason = "tests play other programs")]

mod dense;
mod documents;
mod judged;
mod kept;
mod meaning;
mod rows;

use std::{collections::BTreeSet, fs, ops::Deref, path::Path, sync::Arc};

use lapidary_index::{IndexCache, VaultIndex};
use lapidary_query::search_words;
use lapidary_store::{
    FolderNames, PathPrefix, Policy, VaultLimits,
    posix::{CacheFile, FolderStore, PosixBackend, StateFolder},
};
use proptest::prelude::*;

use super::*;

const PAGE: RankedPage = RankedPage {
    offset: 0,
    limit: 1000,
    size: PassageSize { context: 40, max_matches: 5, pieces: 0 },
    room: usize::MAX,
    takes: |_| 0,
};

/// An index and its contents, as a vault has them.
struct Searched {
    live: Arc<VaultIndex>,
    search: RankedIndexCache,
}

impl Deref for Searched {
    type Target = Arc<VaultIndex>;

    fn deref(&self) -> &Arc<VaultIndex> {
        &self.live
    }
}

impl Searched {
    fn save(&self) {
        assert!(self.live.save());
        self.search.save();
    }
}

fn live(root: &Path) -> Searched {
    let store = Arc::new(PosixBackend::private(Arc::new(FolderStore::new(root.to_owned()))));
    let live = VaultIndex::new(store, FolderNames::default(), VaultLimits::default(), None);
    Searched { live: Arc::new(live), search: RankedIndexCache::default() }
}

/// The same, with what was kept of it.
fn opened(root: &Path, state: &Path) -> Searched {
    let cache = CacheFile::new(Arc::new(StateFolder::new(state.to_owned(), root.to_owned())));
    let store = Arc::new(PosixBackend::private(Arc::new(FolderStore::new(root.to_owned()))));
    let meaning = VectorIndexCache::new(Some(cache.for_vectors()), u64::MAX);
    let search =
        RankedIndexCache::new(Some(SegmentCache::new(cache.for_segments())), meaning, DocumentIndexCache::default());
    let live = VaultIndex::new(store, FolderNames::default(), VaultLimits::default(), Some(IndexCache::new(cache)));
    Searched { live: Arc::new(live), search }
}

fn open() -> Arc<Scope> {
    Arc::new(Scope::from(Policy::default()))
}

fn asked(live: &Searched, scope: &Arc<Scope>, query: &str) -> RankedNotes {
    let files = index_cache::to_rank(live, scope, &|| true).unwrap();
    live.search.ranked(&files, query, PAGE, &|| true).unwrap()
}

fn found(root: &Path, query: &str) -> Vec<String> {
    asked(&live(root), &open(), query).hits.iter().map(|hit| hit.path.to_string()).collect()
}

fn vault(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| put(folder.path(), path, text));
    folder
}

fn put(root: &Path, path: &str, text: &str) {
    fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
    fs::write(root.join(path), text).unwrap();
}

#[test]
fn changes_of_other_files_are_seen_by_the_next_search() {
    let vault = vault(&[("a.md", "slate"), ("Pictures/roof.png", "")]);
    let (live, scope) = (live(vault.path()), open());
    let found = |query: &str| {
        let paths = asked(&live, &scope, query).hits.into_iter().map(|hit| hit.path.to_string());
        paths.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        (found("path:pictures"), found("path:pictures")),
        ("Pictures/roof.png".into(), "Pictures/roof.png".into())
    );
    put(vault.path(), "Pictures/wall.png", "");
    assert_eq!(found("path:pictures"), "Pictures/roof.png Pictures/wall.png");
    fs::remove_file(vault.path().join("Pictures/roof.png")).unwrap();
    assert_eq!(found("path:pictures"), "Pictures/wall.png");
}

#[test]
fn names_and_headings_count_more_than_text_and_everything_is_searched() {
    let vault = vault(&[
        ("Slate.md", "Something about roofs."),
        ("body.md", "One slate among many other words that make this a longer text than the others are."),
        ("heading.md", "# Slate\n\nSomething else."),
        ("alias.md", "---\naliases: [Slate]\n---\nSomething."),
        ("Slate/folder.md", "Something."),
        ("tag.md", "Something #slate/blue"),
        ("property.md", "---\nmaterial: slate\n---\nSomething."),
        ("other.md", "Nothing of the sort."),
    ]);
    let names = found(vault.path(), "slate");
    assert_eq!(names.len(), 7, "{names:?}");
    assert_eq!(names[0], "Slate.md");
    assert_eq!(names[1], "alias.md");
    let place = |name: &str| names.iter().position(|found| found == name).unwrap();
    assert!(place("heading.md") < place("body.md"));
}

#[test]
fn every_operator_does_what_it_says() {
    let vault = vault(&[
        (
            "Garden/Plan.md",
            "---\nstatus: open\nrating: 4\n---\n# Beds\n\nCafé by the wall.\nSlate path, Moss.\n\n## Tools\n\n- [ ] buy a spade\n- [x] sell the rake\n",
        ),
        ("Garden/Log.md", "---\nstatus: done\n---\nThe slate roof leaks.\n\nThe path is wet. #garden/log\n"),
        ("Work/全文検索.md", "索引を作る。検索は速い。\n"),
        ("Work/Notes.md", "Running costs, stones and a lapidary. C++ → Rust 💎\n"),
    ]);
    for (query, expected) in [
        ("slate", &["Garden/Log.md", "Garden/Plan.md"][..]),
        ("slate roof", &["Garden/Log.md"]),
        ("\"slate path\"", &["Garden/Plan.md"]),
        ("\"slate roof leaks\"", &["Garden/Log.md"]),
        ("slate -roof", &["Garden/Plan.md"]),
        ("slate -\"slate path\"", &["Garden/Log.md"]),
        ("roof OR moss", &["Garden/Log.md", "Garden/Plan.md"]),
        ("(roof OR moss) wall", &["Garden/Plan.md"]),
        ("path:garden/l", &["Garden/Log.md"]),
        ("file:notes", &["Work/Notes.md"]),
        ("ext:md spade", &["Garden/Plan.md"]),
        ("tag:garden", &["Garden/Log.md"]),
        ("#garden/log", &["Garden/Log.md"]),
        ("tag:gard", &[]),
        ("[status]", &["Garden/Log.md", "Garden/Plan.md"]),
        ("[status:open]", &["Garden/Plan.md"]),
        ("[rating:>3] slate", &["Garden/Plan.md"]),
        ("content:garden", &["Garden/Log.md"]),
        ("line:(slate moss)", &["Garden/Plan.md"]),
        ("line:(cafe moss)", &[]),
        ("block:(cafe moss)", &["Garden/Plan.md"]),
        ("block:(roof wet)", &[]),
        ("section:(cafe spade)", &[]),
        ("section:(tools spade)", &["Garden/Plan.md"]),
        ("task:spade", &["Garden/Plan.md"]),
        ("task-todo:rake", &[]),
        ("task-done:rake", &["Garden/Plan.md"]),
        ("task:\"\"", &["Garden/Plan.md"]),
        ("match-case:Moss", &["Garden/Plan.md"]),
        ("match-case:moss", &[]),
        ("/sl.te\\s+r/", &["Garden/Log.md"]),
        ("/SLATE/ -wet", &["Garden/Plan.md"]),
        ("cafe", &["Garden/Plan.md"]),
        ("检索", &[]),
        ("検索", &["Work/全文検索.md"]),
        ("文検", &["Work/全文検索.md"]),
        ("速", &["Work/全文検索.md"]),
        ("を作る", &["Work/全文検索.md"]),
        ("検速", &[]),
        ("stone", &["Work/Notes.md"]),
        ("run cost", &["Work/Notes.md"]),
        ("lapi", &["Work/Notes.md"]),
        ("lapidray", &["Work/Notes.md"]),
        ("\"lapidray\"", &[]),
        ("💎", &["Work/Notes.md"]),
        ("\"C++\" rust", &["Work/Notes.md"]),
        ("", &[]),
        ("???", &[]),
        ("line:(#garden/log wet)", &["Garden/Log.md"]),
        ("line:(#garden roof)", &[]),
        ("task-todo:#garden", &[]),
        ("line:(path:log slate)", &["Garden/Log.md"]),
        ("line:([status:open] slate)", &["Garden/Plan.md"]),
        ("line:(-path:log slate)", &["Garden/Plan.md"]),
        ("block:(tools spade)", &[]),
        ("match-case:Plan", &["Garden/Plan.md"]),
        ("match-case:plan", &[]),
        ("/^garden.l/", &["Garden/Log.md"]),
        ("content:/^garden.l/", &[]),
        ("content:Notes", &[]),
        ("file:検索", &["Work/全文検索.md"]),
        ("[[Notes]]", &["Work/Notes.md"]),
        ("[rating:0]", &[]),
    ] {
        let mut names = found(vault.path(), query);
        names.sort_unstable();
        assert_eq!(names, expected, "{query}");
    }
}

#[test]
fn a_hit_shows_its_best_passage_and_its_section() {
    let far = "Other words are here. ".repeat(20);
    let text =
        format!("---\na: b\n---\n# Roof\n\nA slate. {far}\n\n## Büro 💎\n\nThe slate tiles of the shed.\n\n# End\n");
    let vault = vault(&[("n.md", &text)]);
    let hit = asked(&live(vault.path()), &open(), "slate tile").hits.remove(0);
    assert!(hit.excerpt.contains("The slate tiles of the shed."), "{}", hit.excerpt);
    assert_eq!(hit.section, Some(vec!["Roof".to_owned(), "Büro 💎".to_owned()]));
    assert_eq!(hit.words, ["slate", "tiles"]);
    assert_eq!(hit.line, Some(text[..text.find("The slate").unwrap()].matches('\n').count() + 1));
    let units: Vec<u16> = text.encode_utf16().collect();
    for found in &hit.matches {
        let length = found.text.encode_utf16().count();
        assert_eq!(String::from_utf16(&units[found.offset..found.offset + length]).unwrap(), found.text);
    }
    assert_eq!(hit.matches[0].text, "slate");
    assert_eq!(hit.matches.len(), 3);
}

#[test]
fn the_named_section_contains_the_passage() {
    let text = "# A\n## B\none\n## C\ntwo\n## B\nthree\n### D\nfour\n# \nfive\n# E\nsix\n";
    let vault = vault(&[("n.md", text)]);
    for (word, expected) in [
        ("one", Some("A::B")),
        ("two", Some("A::C")),
        ("three", Some("A")),
        ("four", Some("A::B::D")),
        ("five", None),
        ("six", Some("E")),
    ] {
        let hit = asked(&live(vault.path()), &open(), word).hits.remove(0);
        assert_eq!(hit.section.map(|section| section.join("::")).as_deref(), expected, "{word}");
    }
}

#[test]
fn an_excerpt_is_long_where_there_are_no_spaces() {
    let text = format!("{} いいい検索 {}", "あ".repeat(200), "う".repeat(200));
    let vault = vault(&[("n.md", &text)]);
    let hit = asked(&live(vault.path()), &open(), "検索").hits.remove(0);
    assert_eq!(hit.excerpt, format!("{} いいい検索 {}", "あ".repeat(36), "う".repeat(39)));
}

#[test]
fn a_segment_is_what_it_was() {
    let vault =
        vault(&[("Sub/Größe.md", "---\naliases: [Other]\n---\n# A *b*\n全文検索 #work/x\n"), ("b.md", "a a a")]);
    let live = live(vault.path());
    let (index, _) = live.search.index(&index_cache::to_rank(&live, &open(), &|| true).unwrap(), &|| true).unwrap();
    let segment = &index.parts[0].segment;
    let mut words: Vec<String> = (0..segment.terms())
        .map(|term| {
            let (mut postings, mut said) = (segment.postings(term), segment.term(term).to_owned());
            while let Some(document) = postings.next() {
                let (counts, mut positions) = (postings.counts(), Vec::new());
                postings.positions(|position| positions.push(position));
                said += &format!(" {document}:{counts:?}{positions:?}");
            }
            said
        })
        .collect();
    words.extend((0..segment.documents()).map(|document| format!("{document}:{:?}", segment.lines(document))));
    let hash = lapidary_note::ContentHash::of(words.join("\n").as_bytes()).to_string();
    assert_eq!(
        (segment::FORMAT, &hash[..19]),
        (4, "sha256:6376ff024a84"),
        "what the index keeps has changed: raise FORMAT\n{words:#?}"
    );
}

#[test]
fn no_search_waits_for_hidden_notes() {
    let vault = vault(&[("a.md", "slate #x"), ("secret/b.md", "slate"), ("secret/c.md", "slate")]);
    let deny = vec![PathPrefix::parse("secret").unwrap()];
    let narrow = Arc::new(Scope::from(Policy { deny, ..Policy::default() }));
    let kept = live(vault.path());
    let taken_in = || {
        let files = kept.files(&|| true).unwrap();
        let digests = files.files().filter(|state| state.digest().is_some()).count();
        (kept.search.taken_in(), digests)
    };
    assert_eq!(asked(&kept, &narrow, "slate tag:x").total, 1);
    assert_eq!(taken_in(), (1, 1));
    put(vault.path(), "secret/d.md", "slate");
    assert_eq!(asked(&kept, &narrow, "slate").total, 1);
    assert_eq!(taken_in(), (1, 1));
    assert_eq!(asked(&kept, &open(), "slate").total, 4);
    assert_eq!(asked(&kept, &narrow, "slate").total, 1);
    assert_eq!(taken_in(), (4, 4));
}

#[test]
fn if_no_note_has_all_words_those_with_most_come_first() {
    let vault = vault(&[("a.md", "slate roof"), ("b.md", "slate roof gutter"), ("c.md", "slate"), ("d.md", "moss")]);
    let answer = asked(&live(vault.path()), &open(), "how to fix slate roof gutter");
    let names: Vec<&str> = answer.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!((names, answer.some_words), (vec!["b.md", "a.md", "c.md"], true));
    let answer = asked(&live(vault.path()), &open(), "slate guter");
    assert_eq!(answer.meant, [("guter".to_owned(), vec!["gutter".to_owned()])]);
    assert_eq!(answer.hits[0].path.as_str(), "b.md");
}

#[test]
fn a_correction_is_searched_in_all_its_forms() {
    let vault = vault(&[("a.md", "slate"), ("b.md", "slates"), ("c.md", "moss")]);
    let answer = asked(&live(vault.path()), &open(), "slaet");
    let names: Vec<&str> = answer.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(names, ["a.md", "b.md"]);
    assert_eq!(answer.meant, [("slaet".to_owned(), vec!["slate".to_owned()])]);
}

#[test]
fn a_word_that_occurs_elsewhere_is_not_a_misspelling() {
    let vault = vault(&[("Gutter.md", "the guter leaks"), ("a.md", "rain 2026")]);
    let answer = asked(&live(vault.path()), &open(), "content:gutter");
    assert_eq!((answer.total, answer.meant), (0, vec![]));
    assert_eq!(asked(&live(vault.path()), &open(), "gutters").total, 1, "a form of it");
    assert_eq!(asked(&live(vault.path()), &open(), "content:gutetr").total, 1, "no note has this");
    assert_eq!(asked(&live(vault.path()), &open(), "2027").total, 0, "another year is not a misspelling");
}

#[test]
fn ties_go_to_the_latest_change() {
    let vault = vault(&[("a.md", "slate"), ("b.md", "slate"), ("c.md", "slate")]);
    for (name, ago) in [("a.md", 30), ("b.md", 10), ("c.md", 20)] {
        let file = fs::File::options().write(true).open(vault.path().join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(ago)).unwrap();
    }
    assert_eq!(found(vault.path(), "slate"), ["b.md", "c.md", "a.md"]);
}

#[test]
fn the_index_of_unchanged_notes_is_kept_for_the_next_start() {
    let (vault, state) = (vault(&[]), tempfile::tempdir().unwrap());
    for number in 0..600 {
        put(vault.path(), &format!("{number}.md"), &format!("word{number} all"));
    }
    let opened = || opened(vault.path(), state.path());
    let recalled = |live: &Searched| live.search.recalled(&live.notes(&|| true).unwrap());
    // Files that have just been written are not trusted to be the same.
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for number in 0..600 {
        let file = fs::File::options().write(true).open(vault.path().join(format!("{number}.md"))).unwrap();
        file.set_modified(past).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let first = opened();
    assert_eq!(asked(&first, &open(), "all").total, 600);
    first.save();
    let second = opened();
    assert_eq!(recalled(&second), 600);
    put(vault.path(), "7.md", "other all");
    fs::remove_file(vault.path().join("8.md")).unwrap();
    put(vault.path(), "new.md", "all");
    let third = opened();
    assert_eq!(recalled(&third), 598);
    let fresh = live(vault.path());
    for query in ["all", "word7", "word9", "other"] {
        assert_eq!(asked(&third, &open(), query), asked(&fresh, &open(), query), "{query}");
    }
    third.save();
    // A damaged cache is treated as missing.
    let bytes = fs::read_dir(state.path()).unwrap().count();
    assert!(bytes > 0);
    let damaged = find(state.path(), "search.db");
    fs::write(&damaged, b"no database").unwrap();
    let fourth = opened();
    assert_eq!(recalled(&fourth), 0);
    assert_eq!(asked(&fourth, &open(), "all"), asked(&fresh, &open(), "all"));
}

fn find(folder: &Path, name: &str) -> std::path::PathBuf {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.filter_map(|path| match path.is_dir() {
        true => Some(find(&path, name)).filter(|found| found.exists()),
        false => path.ends_with(name).then_some(path),
    });
    found.next().unwrap_or_default()
}

const WORDS: [&str; 10] = ["slate", "slates", "roof", "garden", "moss", "検索", "全文検索", "café", "lapidary", "to"];
const NAMES: [&str; 8] = ["a", "b", "slate", "x/c", "x/Roof note", "secret/a", "secret/slate", "secret/d"];
const QUERIES: [&str; 14] = [
    "slate",
    "roof slate",
    "\"slate roof\"",
    "lapidray",
    "sla",
    "検索",
    "cafe",
    "garden -moss",
    "moss OR roof",
    "slate garden roof moss",
    "line:(slate roof)",
    "tag:moss",
    "/s.ate r/",
    "content:slate",
];

/// Without word forms, which a scan does not have.
const SCANNED: [&str; 16] = [
    "\"slate\"",
    "\"roof\" \"slate\"",
    "\"slate roof\"",
    "検索",
    "\"cafe\"",
    "\"garden\" -moss",
    "\"moss\" OR path:x",
    "line:(\"slate\" \"roof\")",
    "-line:(\"slate\" \"roof\") -moss",
    "tag:moss",
    "-tag:moss path:secret",
    "tag:moss OR \"garden\"",
    "/s.ate r/",
    "content:\"slate\"",
    "file:roof",
    "match-case:slate",
];

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(&WORDS[..]);
    let between = prop::sample::select(&[" ", " ", "\n", "\n\n# ", ", ", " #"][..]);
    prop::collection::vec((word, between), 0..25)
        .prop_map(|words| words.into_iter().map(|(word, between)| format!("{word}{between}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 12 } else { 240 }))]

    #[test]
    fn after_any_edits_the_index_says_what_a_new_one_would(
        steps in prop::collection::vec((0..NAMES.len(), prop::option::weighted(0.8, text())), 1..25),
        ask_after in prop::collection::vec(any::<bool>(), 25),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let kept = live(folder.path());
        for ((name, text), ask) in steps.into_iter().zip(ask_after) {
            let path = format!("{}.md", NAMES[name]);
            match text {
                Some(text) => put(folder.path(), &path, &text),
                None => drop(fs::remove_file(folder.path().join(path))),
            }
            if ask {
                asked(&kept, &open(), "slate");
            }
        }
        let fresh = live(folder.path());
        for query in QUERIES {
            prop_assert_eq!(asked(&kept, &open(), query), asked(&fresh, &open(), query), "{}", query);
        }
    }

    #[test]
    fn whoever_asks_in_between_the_answers_are_those_of_a_new_index(
        steps in prop::collection::vec((0..NAMES.len(), prop::option::weighted(0.8, text())), 1..25),
        askers in prop::collection::vec(0..4_usize, 25),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let closed = |prefix: &str| {
            let deny = vec![PathPrefix::parse(prefix).unwrap()];
            Arc::new(Scope::from(Policy { deny, ..Policy::default() }))
        };
        let scopes = [open(), closed("secret"), closed("x")];
        let kept = live(folder.path());
        for ((name, text), asker) in steps.into_iter().zip(askers) {
            let path = format!("{}.md", NAMES[name]);
            match text {
                Some(text) => put(folder.path(), &path, &text),
                None => drop(fs::remove_file(folder.path().join(path))),
            }
            if let Some(scope) = scopes.get(asker) {
                let fresh = live(folder.path());
                prop_assert_eq!(asked(&kept, scope, "slate roof"), asked(&fresh, scope, "slate roof"));
            }
        }
        for scope in &scopes {
            let fresh = live(folder.path());
            for query in QUERIES {
                prop_assert_eq!(asked(&kept, scope, query), asked(&fresh, scope, query), "{}", query);
            }
        }
    }

    #[test]
    fn a_single_word_is_found_where_a_plain_scan_finds_it(
        texts in prop::collection::vec(text(), NAMES.len()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in NAMES.iter().zip(&texts) {
            put(folder.path(), &format!("{name}.md"), text);
        }
        let kept = live(folder.path());
        for word in ["slate", "slates", "roof", "moss", "検索", "to", "none"] {
            let plain: BTreeSet<String> = NAMES.iter().zip(&texts)
                .filter(|(name, text)| {
                    search_words(&format!("{name}\n{text}")).iter().any(|found| found.term == word)
                })
                .map(|(name, _)| format!("{name}.md"))
                .collect();
            let answer = asked(&kept, &open(), &format!("\"{word}\""));
            let ranked: BTreeSet<String> = answer.hits.iter().map(|hit| hit.path.to_string()).collect();
            prop_assert_eq!(ranked, plain, "{}", word);
        }
    }

    #[test]
    fn a_scan_finds_what_the_index_finds(texts in prop::collection::vec(text(), NAMES.len())) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in NAMES.iter().zip(&texts) {
            put(folder.path(), &format!("{name}.md"), text);
        }
        put(folder.path(), "roof.png", "");
        for query in SCANNED {
            let (kept, other) = (live(folder.path()), live(folder.path()));
            let files = VisibleFiles::new(Arc::clone(&other), open(), other.files(&|| true).unwrap());
            let scanned = scan::search_by_scan(&other.search, &files, query, PAGE, &|| true).unwrap();
            let paths = |found: &RankedNotes| found.hits.iter().map(|hit| hit.path.to_string()).collect::<BTreeSet<_>>();
            let ranked = asked(&kept, &open(), query);
            prop_assert_eq!((paths(&scanned), scanned.total), (paths(&ranked), ranked.total), "{}", query);
        }
    }

    #[test]
    fn hidden_notes_change_nothing(texts in prop::collection::vec(text(), NAMES.len())) {
        let (all, some) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, text) in NAMES.iter().zip(&texts) {
            put(all.path(), &format!("{name}.md"), text);
            if !name.starts_with("secret") {
                put(some.path(), &format!("{name}.md"), text);
                let copied = fs::File::open(all.path().join(format!("{name}.md"))).unwrap().metadata().unwrap();
                let copy = fs::File::options().write(true).open(some.path().join(format!("{name}.md"))).unwrap();
                copy.set_modified(copied.modified().unwrap()).unwrap();
            }
        }
        let deny = vec![PathPrefix::parse("secret").unwrap()];
        let narrow = Arc::new(Scope::from(Policy { deny, ..Policy::default() }));
        let (all, some) = (live(all.path()), live(some.path()));
        for query in QUERIES {
            prop_assert_eq!(asked(&all, &narrow, query), asked(&some, &open(), query), "{}", query);
        }
    }
}
