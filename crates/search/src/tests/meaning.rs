//! Tests of the search by meaning, with the bundled model.

use std::time::{Duration, SystemTime};

use lapidary_meaning::{ModelChoice, ModelFolder, TextModel};

use super::*;
use crate::{NoMeaning, RankedBy, index_cache::to_rank};

const NOTES: [(&str, &str); 6] = [
    ("Car.md", "The automobile would not start. The mechanic changed the battery of the vehicle."),
    ("Bread.md", "# Dough\nFlour, water and yeast.\n\n# Oven\nBake the loaf until the crust is brown.\n"),
    ("Garden/Beds.md", "Plant tomatoes and carrots in spring. Water the vegetables in the evening. #plants"),
    ("Garden/Tools.md", "Spade, rake and hoe are in the shed."),
    ("Work/Pay.md", "---\nstatus: open\n---\nThe salary is paid at the end of the month."),
    ("Secret/Illness.md", "The doctor gave me pills against the fever."),
];

fn asked_by(live: &Searched, scope: &Arc<Scope>, by: RankedBy, query: &str, page: RankedPage) -> RankedNotes {
    let files = to_rank(live, scope, &|| true).unwrap();
    live.search.ranked_by(by, &files, query, page, &|| true).unwrap()
}

fn paths(found: &RankedNotes) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.path.as_str()).collect()
}

fn by_meaning(live: &Searched, query: &str) -> RankedNotes {
    asked_by(live, &open(), RankedBy::Meaning, query, PAGE)
}

fn hybrid(live: &Searched, query: &str) -> RankedNotes {
    asked_by(live, &open(), RankedBy::Hybrid, query, PAGE)
}

#[test]
fn a_note_is_found_in_other_words_with_its_passage_section_and_hash() {
    let vault = vault(&NOTES);
    let live = live(vault.path());
    for (query, wanted) in [
        ("car repair", "Car.md"),
        ("growing food plants", "Garden/Beds.md"),
        ("medicine from a physician", "Secret/Illness.md"),
        ("wages", "Work/Pay.md"),
    ] {
        assert_eq!(paths(&by_meaning(&live, query)).first(), Some(&wanted), "{query}");
        assert_eq!(paths(&hybrid(&live, query)).first(), Some(&wanted), "{query}");
    }
    let found = hybrid(&live, "crisp from the stove");
    let hit = &found.hits[0];
    assert_eq!(
        (hit.path.as_str(), hit.section.clone(), hit.line),
        ("Bread.md", Some(vec!["Oven".to_owned()]), Some(5))
    );
    assert_eq!(hit.excerpt, "Bake the loaf until the crust is brown.");
    let near = hit.near.as_ref().unwrap();
    assert_eq!(&NOTES[1].1[near.span.clone()], hit.excerpt);
    assert_eq!(near.hash, lapidary_note::ContentHash::of(NOTES[1].1.as_bytes()));
    assert!(near.alone && found.by == RankedBy::Hybrid && found.no_meaning.is_none());
}

#[test]
fn words_that_are_in_a_note_still_count() {
    let vault = vault(&NOTES);
    let live = live(vault.path());
    let found = hybrid(&live, "spade");
    let hit = &found.hits[0];
    assert_eq!((hit.path.as_str(), hit.words.as_slice()), ("Garden/Tools.md", ["spade".to_owned()].as_slice()));
    assert!(hit.near.as_ref().is_some_and(|near| !near.alone) && !hit.matches.is_empty());
    assert!(hit.score <= 1.0 && found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

#[test]
fn operators_phrases_and_exclusions_hold_for_what_is_found_by_meaning() {
    let vault = vault(&NOTES);
    let live = live(vault.path());
    assert_eq!(paths(&hybrid(&live, "vegetable path:Garden")).first(), Some(&"Garden/Beds.md"));
    for by in [RankedBy::Meaning, RankedBy::Hybrid] {
        let found = |query: &str| {
            let found = asked_by(&live, &open(), by, query, PAGE);
            found.hits.iter().map(|hit| hit.path.to_string()).collect::<Vec<_>>()
        };
        assert!(found("automobile path:Garden").iter().all(|path| path.starts_with("Garden/")));
        assert!(found("growing food -tomatoes").iter().all(|path| path != "Garden/Beds.md"));
        assert_eq!(found("wages [status:open]"), ["Work/Pay.md"]);
        assert_eq!(found("food tag:plants"), ["Garden/Beds.md"]);
        assert_eq!(found("physician \"the fever\""), ["Secret/Illness.md"]);
        assert_eq!(found("physician \"no such phrase\""), Vec::<String>::new());
    }
}

#[test]
fn what_has_no_meaning_is_searched_by_words_and_says_so() {
    let vault = vault(&NOTES);
    let live = live(vault.path());
    for (query, why) in [
        ("path:Garden", NoMeaning::NoFreeWords),
        ("\"the doctor\"", NoMeaning::NoFreeWords),
        ("", NoMeaning::NoFreeWords),
    ] {
        let found = hybrid(&live, query);
        assert_eq!((found.by, found.no_meaning), (RankedBy::Words, Some(why)), "{query}");
        let words = asked(&live, &open(), query);
        assert_eq!(found.hits, words.hits);
    }
    let off = Searched {
        search: RankedIndexCache::new(None, VectorIndexCache::new(None, 0), DocumentIndexCache::default()),
        live: Arc::clone(&live.live),
    };
    assert_eq!(hybrid(&off, "wages").no_meaning, Some(NoMeaning::Off));
}

#[test]
fn an_edit_is_found_by_the_next_search() {
    let vault = vault(&NOTES);
    let live = live(vault.path());
    assert_eq!(paths(&by_meaning(&live, "wages")).first(), Some(&"Work/Pay.md"));
    put(vault.path(), "Work/Pay.md", "The violin concerto was played by an orchestra, with a long changed text.");
    put(vault.path(), "Work/New.md", "My employer pays me a salary.");
    assert_eq!(paths(&by_meaning(&live, "wages")).first(), Some(&"Work/New.md"));
    assert_eq!(paths(&by_meaning(&live, "classical music")).first(), Some(&"Work/Pay.md"));
    fs::remove_file(vault.path().join("Work/New.md")).unwrap();
    assert!(!paths(&by_meaning(&live, "wages")).contains(&"Work/New.md"));
}

#[test]
fn pages_are_parts_of_the_whole() {
    let notes: Vec<(String, String)> = (0..150)
        .map(|number| {
            let text = if number % 3 == 0 { "slates on a roof" } else { "tiles cover the house" };
            (format!("{number}.md"), format!("{text} {number}"))
        })
        .collect();
    let vault = vault(&notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let live = live(vault.path());
    let whole = hybrid(&live, "slates roof");
    assert!(whole.total >= 50 && whole.hits.len() == whole.total);
    let mut joined = Vec::new();
    for offset in (0..whole.total).step_by(7) {
        let page = asked_by(&live, &open(), RankedBy::Hybrid, "slates roof", RankedPage { offset, limit: 7, ..PAGE });
        assert_eq!(page.total, whole.total);
        joined.extend(page.hits);
    }
    assert_eq!(joined, whole.hits);
    let mut paths = paths(&whole);
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), whole.total, "no note is there twice");
}

#[test]
fn hidden_notes_change_no_score() {
    let policy = || Policy { deny: vec![PathPrefix::parse("Secret").unwrap()], ..Policy::default() };
    let scope = || Arc::new(Scope::from(policy()));
    let (with, without) = (vault(&NOTES), vault(&NOTES[..5]));
    let age = SystemTime::now() - Duration::from_secs(100);
    for root in [with.path(), without.path()] {
        for (path, _) in &NOTES[..5] {
            fs::File::options().write(true).open(root.join(path)).unwrap().set_modified(age).unwrap();
        }
    }
    let (with, without) = (live(with.path()), live(without.path()));
    for query in ["medicine from a physician", "fever", "garden", "wages -salary", "car repair"] {
        for by in [RankedBy::Meaning, RankedBy::Hybrid] {
            // Another caller, who sees everything, has been there before.
            asked_by(&with, &open(), by, query, PAGE);
            let (one, other) =
                (asked_by(&with, &scope(), by, query, PAGE), asked_by(&without, &scope(), by, query, PAGE));
            assert_eq!(one, other, "{query}");
        }
    }
}

#[test]
fn with_little_room_the_newest_notes_are_in_and_hidden_ones_take_none() {
    let vault = vault(&NOTES);
    for (number, (path, _)) in NOTES.iter().enumerate() {
        // The hidden one is the newest.
        let age = SystemTime::now() - Duration::from_secs(1000 - number as u64);
        fs::File::options().write(true).open(vault.path().join(path)).unwrap().set_modified(age).unwrap();
    }
    let live = live(vault.path());
    let room = |room: u64| Searched {
        search: RankedIndexCache::new(None, VectorIndexCache::new(None, room), DocumentIndexCache::default()),
        live: Arc::clone(&live.live),
    };
    let one = 396 + 1;
    let closed =
        Arc::new(Scope::from(Policy { deny: vec![PathPrefix::parse("Secret").unwrap()], ..Policy::default() }));
    let small = room(one * 2);
    let found = asked_by(&small, &open(), RankedBy::Meaning, "doctor", PAGE);
    assert_eq!(paths(&found), ["Secret/Illness.md"]);
    let files = to_rank(&small, &open(), &|| true).unwrap();
    let state = small.search.meaning().state(&files).unwrap();
    assert_eq!((state.notes, state.waiting, state.no_room), (2, 0, 4));
    for (query, wanted) in [("salary", "Work/Pay.md"), ("rake and spade", "Garden/Tools.md")] {
        assert_eq!(paths(&asked_by(&small, &closed, RankedBy::Meaning, query, PAGE)).first(), Some(&wanted));
    }
    let files = to_rank(&small, &closed, &|| true).unwrap();
    let state = small.search.meaning().state(&files).unwrap();
    assert_eq!((state.notes, state.waiting, state.no_room), (2, 0, 3));
}

#[test]
fn vectors_of_unchanged_notes_are_kept_for_the_next_start() {
    let (vault, state) = (vault(&NOTES), tempfile::tempdir().unwrap());
    for number in 0..300 {
        put(vault.path(), &format!("n/{number}.md"), &format!("All about the number {number}."));
    }
    let past = SystemTime::now() - Duration::from_secs(60);
    for number in 0..300 {
        let file = fs::File::options().write(true).open(vault.path().join(format!("n/{number}.md"))).unwrap();
        file.set_modified(past).unwrap();
    }
    std::thread::sleep(Duration::from_millis(2100));
    let opened = || super::opened(vault.path(), state.path());
    let waiting = |live: &Searched| {
        let files = to_rank(live, &open(), &|| true).unwrap();
        live.search.meaning().is_near(&files);
        live.search.meaning().state(&files).unwrap().waiting
    };
    let first = opened();
    assert_eq!(waiting(&first), 306);
    let before = by_meaning(&first, "a count of three hundred");
    first.save();
    assert_eq!(waiting(&opened()), 0, "nothing is made again");
    assert_eq!(by_meaning(&opened(), "a count of three hundred"), before);
    put(vault.path(), "n/7.md", "Wages and salaries.");
    fs::rename(vault.path().join("n/8.md"), vault.path().join("n/8b.md")).unwrap();
    let second = opened();
    assert_eq!(waiting(&second), 2);
    assert_eq!(paths(&by_meaning(&second, "wages"))[..2].iter().filter(|path| **path == "n/7.md").count(), 1);
    second.save();
    fs::write(find(state.path(), "vectors.db"), b"no database").unwrap();
    let third = opened();
    assert_eq!(waiting(&third), 306, "a damaged file is as good as none");
    assert_eq!(by_meaning(&third, "wages"), by_meaning(&second, "wages"));
}

#[test]
fn vectors_are_made_in_the_background() {
    let notes: Vec<(String, String)> =
        (0..400).map(|number| (format!("{number}.md"), format!("Note {number}."))).collect();
    let vault = vault(&notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let Searched { live, search } = live(vault.path());
    let search = Arc::new(search);
    let files = to_rank(&live, &open(), &|| true).unwrap();
    let before = search.meaning().state(&files).map_or(0, |state| state.notes);
    assert_eq!(before, 0, "nothing is made before it is needed");
    embed_aside(&search, &files);
    while search.is_building() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let state = search.meaning().state(&files).unwrap();
    assert_eq!((state.notes, state.waiting, search.meaning().share(&files)), (400, 0, 100));
}

/// A transformer of a few kilobytes, which knows a handful of words.
fn slow_model() -> TextModel {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../meaning/tests/reference/tiny-bert");
    let file = |name: &str| fs::read(folder.join(name)).unwrap();
    let (tensors, tokenizer, config) = (file("model.safetensors"), file("tokenizer.json"), file("config.json"));
    let folder = ModelFolder {
        name: "tiny-bert",
        tensors: &tensors,
        tokenizer: &tokenizer,
        config: &config,
        pooling: None,
        sentence: None,
    };
    folder.read().unwrap()
}

#[test]
fn what_a_slow_model_has_made_is_kept_before_it_is_done() {
    let (vault, state) = (vault(&[]), tempfile::tempdir().unwrap());
    for number in 0..400 {
        put(vault.path(), &format!("n/{number}.md"), &format!("About the garden and the tree number {number}."));
    }
    // Files that changed just now are not kept.
    let past = SystemTime::now() - Duration::from_secs(60);
    for number in 0..400 {
        let file = fs::File::options().write(true).open(vault.path().join(format!("n/{number}.md"))).unwrap();
        file.set_modified(past).unwrap();
    }
    std::thread::sleep(Duration::from_millis(2100));
    let first = super::opened(vault.path(), state.path());
    first.search.meaning().choose(ModelChoice::new(|| Some(slow_model())));
    // It ends as soon as something is kept, as if the process were killed there.
    let is_kept =
        || fs::read_dir(state.path()).unwrap().flatten().any(|entry| entry.path().join("vectors.db").exists());
    let files = to_rank(&first, &open(), &|| true).unwrap();
    let ended = first.search.meaning().build(&files, &|| !is_kept());
    assert!(ended.is_err(), "it was kept while there was more to do");
    let next = super::opened(vault.path(), state.path());
    next.search.meaning().choose(ModelChoice::new(|| Some(slow_model())));
    let files = to_rank(&next, &open(), &|| true).unwrap();
    let left = next.search.meaning().state(&files).unwrap();
    assert!(left.notes > 0 && left.waiting > 0 && left.notes + left.waiting == 400, "{left:?}");
}

#[test]
fn the_bundled_model_answers_until_a_slow_one_has_read_the_notes() {
    let vault = vault(&NOTES);
    // More than a caller waits for.
    fs::write(vault.path().join("Long.md"), "Something else altogether. ".repeat(200)).unwrap();
    let live = live(vault.path());
    live.search.meaning().choose(ModelChoice::new(|| Some(slow_model())));
    let found = hybrid(&live, "growing plants in a garden");
    assert_eq!((paths(&found).first(), found.by, found.stood_in), (Some(&"Garden/Beds.md"), RankedBy::Hybrid, Some(0)));
    assert_eq!(found.no_meaning, None);
    // A query that only the chosen one may know is ranked by words meanwhile, and that is said.
    assert_eq!(hybrid(&live, "知识").no_meaning, Some(NoMeaning::NotReady(0)));

    let files = to_rank(&live, &open(), &|| true).unwrap();
    live.search.meaning().index(&files, &|| true).unwrap();
    let found = hybrid(&live, "growing plants in a garden");
    assert_eq!((found.by, found.stood_in), (RankedBy::Hybrid, None));
    assert_eq!(hybrid(&live, "知识").no_meaning, None);
}
