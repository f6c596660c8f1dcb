//! Results that are skipped, read in bulk or derived from positions are the same as one at a time.

use std::collections::BTreeMap;

use super::*;
use crate::{
    blocks::{DocumentField, FIELDS, FieldCounts, put_varint},
    postings::{Postings, PostingsWriter},
};

/// Documents of a term with its counts: runs, gaps, and counts that do not fit a byte.
fn documents() -> impl Strategy<Value = Vec<(u32, FieldCounts)>> {
    let gap = prop_oneof![12 => Just(0_u32), 3 => 1_u32..4, 1 => 100_u32..1000];
    let body = prop_oneof![1 => Just(0_u32), 12 => 1_u32..6, 1 => 250_u32..260];
    let extra = prop::option::weighted(0.2, (0..FIELDS - 1, 1_u32..200));
    prop::collection::vec((gap, body, extra), 1..700).prop_map(|documents| {
        let mut next = 0;
        let one = |(gap, body, extra): (u32, u32, Option<(usize, u32)>)| {
            let document = next + gap;
            next = document + 1;
            let mut counts = [0; FIELDS];
            extra.into_iter().for_each(|(field, count)| counts[field] = count);
            // A document without the term is not written.
            counts[DocumentField::Body as usize] = if extra.is_none() { body.max(1) } else { body };
            (document, counts)
        };
        documents.into_iter().map(one).collect()
    })
}

/// Some positions for this many occurrences of a term.
fn positions(document: u32, counts: &FieldCounts) -> Vec<u32> {
    let mut position = document % 300;
    let step = |at: u32| {
        position += 1 + (at * 7 + document) % 150;
        position
    };
    (0..counts.iter().sum::<u32>()).map(step).collect()
}

fn written(documents: &[(u32, FieldCounts)]) -> (Vec<u8>, Vec<u8>) {
    let (mut writer, mut found) = (PostingsWriter::default(), (Vec::new(), Vec::new()));
    for (document, counts) in documents {
        let (mut before, mut steps) = (0, Vec::new());
        for position in positions(*document, counts) {
            put_varint(&mut steps, position - before);
            before = position;
        }
        writer.raw_positions(&steps);
        writer.document(*document, counts);
    }
    writer.write(&mut found.0, &mut found.1);
    found
}

fn read_positions(postings: &mut Postings<'_>) -> Vec<u32> {
    let mut read = Vec::new();
    postings.positions(|position| read.push(position));
    read
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 16 } else { 480 }))]

    #[test]
    fn postings_are_what_was_written(documents in documents(), wanted in prop::collection::vec(0_u32..30_000, 0..20)) {
        let (blocks, found) = written(&documents);
        let mut postings = Postings::new(&blocks, &found);
        let mut in_blocks: BTreeMap<u32, FieldCounts> = BTreeMap::new();
        let mut whole = postings.clone();
        while let Some(block) = whole.block() {
            for (at, body) in block.bodies.iter().enumerate().filter(|(_, body)| **body > 0) {
                in_blocks.entry(block.document(at)).or_default()[DocumentField::Body as usize] = u32::from(*body);
            }
            in_blocks.extend(block.extras().map(|(at, counts)| (block.document(at), counts)));
        }
        prop_assert_eq!(&in_blocks.into_iter().collect::<Vec<_>>(), &documents);
        for (at, (document, counts)) in documents.iter().enumerate() {
            prop_assert_eq!(postings.next(), Some(*document));
            prop_assert_eq!(&postings.counts(), counts);
            // Not requested for all of them.
            if at % 3 != 1 {
                prop_assert_eq!(read_positions(&mut postings), positions(*document, counts));
            }
        }
        prop_assert_eq!(postings.next(), None);
        let mut wanted = wanted;
        wanted.sort_unstable();
        wanted.dedup();
        let (mut postings, mut from) = (Postings::new(&blocks, &found), 0);
        for (at, wanted) in wanted.into_iter().enumerate() {
            from = from.max(wanted);
            let next = documents.iter().find(|(document, _)| *document >= from);
            prop_assert_eq!(postings.seek(wanted), next.map(|(document, _)| *document));
            let Some((document, counts)) = next else { break };
            prop_assert_eq!(&postings.counts(), counts);
            if at % 2 == 1 {
                prop_assert_eq!(read_positions(&mut postings), positions(*document, counts));
            }
            from = document + 1;
        }
    }

    #[test]
    fn pieces_are_found_by_positions_as_by_their_texts(
        texts in prop::collection::vec(text(), NAMES.len()),
        properties in prop::collection::vec(any::<bool>(), NAMES.len()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for ((name, text), properties) in NAMES.iter().zip(&texts).zip(properties) {
            let properties = if properties { "---\nroof: slate\nmoss: [garden]\n---\n" } else { "" };
            put(folder.path(), &format!("{name}.md"), &format!("{properties}{text}"));
        }
        let live = live(folder.path());
        for piece in ["line", "block", "section"] {
            for inside in [
                "slate roof", "slate -roof", "\"slate roof\"", "\"roof slate moss\"", "moss OR \"to roof\"", "sla gard",
                "lapidray", "検索 cafe", "content:slate roof", "(roof OR moss) -slate -garden",
            ] {
                // Every note with a word matches the expression, which has to be read.
                let by_text = asked(&live, &open(), &format!("{piece}:({inside} /./)"));
                let by_positions = asked(&live, &open(), &format!("{piece}:({inside})"));
                let shown = |found: &RankedNotes| -> Vec<(String, f64)> {
                    found.hits.iter().map(|hit| (hit.path.to_string(), hit.score)).collect()
                };
                prop_assert_eq!(shown(&by_positions), shown(&by_text), "{}:({})", piece, inside);
            }
        }
    }
}

/// Notes of a few words, the same each time.
fn notes(count: u32) -> Vec<(String, String)> {
    let mut number = 7_u32;
    let mut below = |limit: u32| {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (number >> 8) % limit
    };
    let mut note = |at: u32| {
        let folder = if below(3) == 0 { "secret" } else { "open" };
        // One word is in nearly all notes, one in half of them, and one in few.
        let mut text = if below(40) > 0 { "slate ".repeat(1 + below(9) as usize) } else { String::new() };
        text += if below(2) > 0 { "roof " } else { "" };
        text += if below(90) == 0 { "# moss\n" } else { "" };
        text += &"garden path\n".repeat(below(30) as usize);
        text += &"stone ".repeat(if below(50) == 0 { 300 } else { 0 });
        (format!("{folder}/{at}.md"), text)
    };
    (0..count).map(&mut note).collect()
}

#[test]
fn in_many_notes_hidden_ones_change_nothing_and_pages_are_parts_of_the_whole() {
    let (all, some) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for (number, (path, text)) in (0..).zip(notes(900)) {
        for root in [&all, &some].iter().filter(|root| root.path() == all.path() || path.starts_with("open")) {
            put(root.path(), &path, &text);
            // Of those with the same score, some are as old, and some are newer and come later.
            let file = fs::File::options().write(true).open(root.path().join(&path)).unwrap();
            file.set_modified(past + std::time::Duration::from_secs(number * 7 % 5)).unwrap();
        }
    }
    let deny = vec![PathPrefix::parse("secret").unwrap()];
    let narrow = Arc::new(Scope::from(Policy { deny, ..Policy::default() }));
    let (all, some) = (live(all.path()), live(some.path()));
    for query in ["slate", "slate roof", "slate moss", "\"slate roof\"", "sla", "stone", "slaet", "path:open", "-slate"]
    {
        let expected = asked(&some, &open(), query);
        assert!(expected.total > 0 && expected.total == expected.hits.len(), "{query}");
        assert_eq!(asked(&all, &narrow, query), expected, "{query}");
        let notes = index_cache::to_rank(&all, &narrow, &|| true).unwrap();
        for (offset, limit) in [(0, 1), (0, 10), (3, 7), (100, 50), (590, 50)] {
            let page = all.search.ranked(&notes, query, RankedPage { offset, limit, ..PAGE }, &|| true).unwrap();
            assert_eq!(page.total, expected.total, "{query}");
            let part = expected.hits.iter().skip(offset).take(limit);
            assert!(page.hits.iter().eq(part), "{query} {offset} {limit}");
        }
    }
}

#[test]
fn notes_that_do_not_fit_are_counted_and_not_read() {
    let vault = vault(&[]);
    (0..50).for_each(|number| put(vault.path(), &format!("{number:02}.md"), "slate roof"));
    let live = live(vault.path());
    let notes = index_cache::to_rank(&live, &open(), &|| true).unwrap();
    let all = live.search.ranked(&notes, "slate", PAGE, &|| true).unwrap();
    let page = RankedPage { room: 20, takes: |found| found.excerpt.len(), ..PAGE };
    let some = live.search.ranked(&notes, "slate", page, &|| true).unwrap();
    assert_eq!(some.total, 50);
    // Three no longer fit, so a caller that shows two knows it.
    assert!((3..50).contains(&some.hits.len()), "{}", some.hits.len());
    assert!(all.hits.starts_with(&some.hits));
}
