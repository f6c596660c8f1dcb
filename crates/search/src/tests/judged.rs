//! How well notes are found, by judged queries: in scripts without spaces compared with plain BM25 over the same pairs of
//! characters; in all languages by words, by meaning, and by both.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;

/// The first page of results.
const SHOWN: usize = 10;

struct Judged {
    notes: BTreeMap<String, String>,
    queries: Vec<(String, BTreeMap<String, u32>)>,
    /// Other words for each query.
    alternatives: Vec<Vec<String>>,
}

fn judged(json: &str) -> Judged {
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let notes = json["notes"].as_object().unwrap().iter();
    let queries = json["queries"].as_array().unwrap().iter().map(|judged| {
        let wants = judged["wants"].as_object().unwrap().iter();
        let wants = wants.map(|(path, want)| (path.clone(), want.as_u64().unwrap() as u32)).collect();
        (judged["query"].as_str().unwrap().to_owned(), wants)
    });
    let texts = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let all = || json["queries"].as_array().unwrap().iter();
    Judged {
        alternatives: all().map(|judged| texts(&judged["alternatives"])).collect(),
        notes: notes.map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned())).collect(),
        queries: queries.collect(),
    }
}

/// Normalised discounted cumulative gain.
fn gain(found: &[String], wants: &BTreeMap<String, u32>) -> f64 {
    let discounted = |wants: &[u32]| -> f64 {
        wants.iter().enumerate().map(|(at, want)| (2_f64.powi(*want as i32) - 1.0) / (at as f64 + 2.0).log2()).sum()
    };
    let got: Vec<u32> = found.iter().take(SHOWN).map(|path| wants.get(path).copied().unwrap_or_default()).collect();
    let mut best: Vec<u32> = wants.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    discounted(&got) / discounted(&best)
}

/// The name counts as a part of the text, and any pair of the query counts.
fn plain_bm25(notes: &BTreeMap<String, String>, query: &str) -> Vec<String> {
    let terms = |text: &str| -> Vec<String> { search_words(text).into_iter().map(|word| word.term).collect() };
    let texts: Vec<(&String, Vec<String>)> =
        notes.iter().map(|(path, text)| (path, terms(&format!("{path}\n{text}")))).collect();
    let average = texts.iter().map(|(_, terms)| terms.len()).sum::<usize>() as f64 / texts.len() as f64;
    let mut held: HashMap<&str, usize> = HashMap::new();
    for (_, terms) in &texts {
        terms.iter().map(String::as_str).collect::<HashSet<_>>().into_iter().for_each(|term| {
            *held.entry(term).or_default() += 1;
        });
    }
    let wanted: HashSet<String> = terms(query).into_iter().filter(|term| term.chars().count() > 1).collect();
    let score = |terms: &[String]| -> f64 {
        let one = |wanted: &String| {
            let count = terms.iter().filter(|term| *term == wanted).count() as f64;
            let held = held.get(wanted.as_str()).copied().unwrap_or_default() as f64;
            let rarity = (1.0 + (texts.len() as f64 - held + 0.5) / (held + 0.5)).ln();
            rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * terms.len() as f64 / average))
        };
        wanted.iter().map(one).sum()
    };
    let mut found: Vec<(f64, String)> = texts.iter().map(|(path, terms)| (score(terms), (*path).clone())).collect();
    found.retain(|(score, _)| *score > 0.0);
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    found.into_iter().map(|(_, path)| path).collect()
}

#[test]
fn sentences_without_spaces_find_what_plain_bm25_over_their_pairs_finds() {
    for (language, json, floor) in [
        ("Japanese", include_str!("../../../../fixtures/judged/ja.json"), 0.90),
        ("Chinese", include_str!("../../../../fixtures/judged/zh.json"), 0.90),
    ] {
        let Judged { notes, queries, .. } = judged(json);
        assert!(notes.len() >= 60 && queries.len() >= 40);
        let folder = tempfile::tempdir().unwrap();
        notes.iter().for_each(|(path, text)| put(folder.path(), path, text));
        let (live, scope) = (live(folder.path()), open());
        let (mut ours, mut plain) = (0.0, 0.0);
        for (query, wants) in &queries {
            let found: Vec<String> = asked(&live, &scope, query).hits.iter().map(|hit| hit.path.to_string()).collect();
            assert!(!found.is_empty(), "{query}");
            let (one, other) = (gain(&found, wants), gain(&plain_bm25(&notes, query), wants));
            if one + 0.01 < other {
                println!("{query}: {one:.2}, plain {other:.2}, {:?}", &found[..found.len().min(3)]);
            }
            ours += one;
            plain += other;
        }
        let count = queries.len() as f64;
        let (ours, plain) = (ours / count, plain / count);
        println!("{language}: nDCG@10 {ours:.3}, plain BM25 over pairs {plain:.3}");
        assert!(ours >= plain - 0.03 && ours >= floor, "{language}: {ours:.3}, plain {plain:.3}");
    }
}

const SETS: [(&str, &str); 4] = [
    ("English", include_str!("../../../../fixtures/judged/en.json")),
    ("German", include_str!("../../../../fixtures/judged/de.json")),
    ("Japanese", include_str!("../../../../fixtures/judged/ja.json")),
    ("Chinese", include_str!("../../../../fixtures/judged/zh.json")),
];
/// Less of a difference is noise on sets of this size.
const NOISE: f64 = 0.015;

/// The means over a set: by words, by meaning, by both.
fn means(judged: &Judged, with_alternatives: bool) -> [f64; 3] {
    let folder = tempfile::tempdir().unwrap();
    judged.notes.iter().for_each(|(path, text)| put(folder.path(), path, text));
    let live = live(folder.path());
    let files = index_cache::to_rank(&live, &open(), &|| true).unwrap();
    [RankedBy::Words, RankedBy::Meaning, RankedBy::Hybrid].map(|by| {
        let gains = judged.queries.iter().zip(&judged.alternatives).map(|((query, wants), alternatives)| {
            let alternatives: &[String] = if with_alternatives { alternatives } else { &[] };
            let asked = RankedQuery { text: query, alternatives, filter: NoteFilter::default(), documents: false };
            let found = live.search.ranked_by(by, &files, asked, PAGE, &|| true).unwrap();
            let paths: Vec<String> = found.hits.iter().map(|hit| hit.path.to_string()).collect();
            gain(&paths, wants)
        });
        gains.sum::<f64>() / judged.queries.len() as f64
    })
}

#[test]
fn by_both_no_set_is_worse_than_by_the_better_of_words_and_meaning() {
    let mut gained = 0.0;
    for (language, json) in SETS {
        let judged = judged(json);
        assert!(judged.notes.len() >= 60 && judged.queries.len() >= 40, "{language}");
        for with_alternatives in [false, true] {
            let [words, meaning, both] = means(&judged, with_alternatives);
            println!(
                "{language}, alternatives {with_alternatives}: words {words:.3}, meaning {meaning:.3}, both {both:.3}"
            );
            assert!(both >= words.max(meaning) - NOISE, "{language}: {words:.3} {meaning:.3} {both:.3}");
            gained += if with_alternatives { 0.0 } else { both - words };
        }
    }
    assert!(gained / SETS.len() as f64 >= 0.05, "{gained:.3}");
}
