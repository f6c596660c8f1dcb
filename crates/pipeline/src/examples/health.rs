//! A mended vault has none of the findings left, and nothing else in it has changed.

use std::collections::BTreeSet;

use lapidary_vault::VaultPath;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::testing::TestServer;

/// Lines of notes, and what they are once everything that can be mended is.
const LINES: &[(&str, &str)] = &[
    ("plain words, [[Stone]] and [[Stone|it]]", "plain words, [[Stone]] and [[Stone|it]]"),
    ("wrong folder: [[old/Stone]] and ![[old/stone#Kinds|here]]", "wrong folder: [[Stone]] and ![[Stone#Kinds|here]]"),
    ("[words](old/Stone.md#Kinds \"title\")", "[words](Stone.md#Kinds \"title\")"),
    (
        "an alias: [[pebble]], [[Pebble#Kinds]], [[pebble|p]]",
        "an alias: [[Stone|pebble]], [[Stone#Kinds|Pebble]], [[Stone|p]]",
    ),
    ("| a [[pebble]] | b |\n| --- | --- |", "| a [[Stone\\|pebble]] | b |\n| --- | --- |"),
    ("another spelling: [[quarry_log]]", "another spelling: [[Quarry log]]"),
    ("a picture: ![[img/map.png|200]]", "a picture: ![[map.png|200]]"),
    ("a tag #Work, one below it #Work/plan, `#Work`", "a tag #work, one below it #Work/plan, `#Work`"),
    ("nothing is meant: [[Nowhere]] ![[gone.png]]", "nothing is meant: [[Nowhere]] ![[gone.png]]"),
    ("in code: `[[old/Stone]]` and `![[img/map.png]]`", "in code: `[[old/Stone]]` and `![[img/map.png]]`"),
    ("to a name that changes: [[Why?]]", "to a name that changes: [[Why]]"),
];

/// The properties of notes, in the same way.
const BLOCKS: &[(&str, &str)] = &[
    ("", ""),
    ("---\nrating: 3 # of 5\n---\n", "---\nrating: 3 # of 5\n---\n"),
    ("---\nrating: \"4\" # of 5\n---\n", "---\nrating: 4 # of 5\n---\n"),
    ("---\nup: \"[[old/Stone]]\"\ntags: [Work, x]\n---\n", "---\nup: \"[[Stone]]\"\ntags: [work, x]\n---\n"),
    ("---\nup: \"[[pebble]]\"\n---\n", "---\nup: \"[[Stone|pebble]]\"\n---\n"),
];

/// A file by its path and text, and what it becomes, if not the same.
type MendedFile<T> = (T, T, Option<(T, T)>);

/// What is in every vault, with what it becomes; nothing if it goes to the trash.
const COMMON: &[MendedFile<&str>] = &[
    ("Stone.md", "---\naliases: [Pebble]\n---\n# Kinds\n#work\n", None),
    ("Quarry log.md", "---\nrating: 1\n---\n[[Stone]] #work\n", None),
    ("Log.md", "---\nrating: 2\n---\n[[Stone]] #work\n", None),
    ("More.md", "---\nrating: 2\n---\n[[Stone]] #work\n", None),
    ("map.png", "picture", None),
    ("Board.canvas", "{\"nodes\":[{\"type\":\"text\",\"text\":\"[[old/Stone]]\"}]}", None),
    ("Why?.md", "[[Stone]]\n", Some(("Why.md", "[[Stone]]\n"))),
    ("Log.sync-conflict-20261101-101112-ABCDEFG.md", "---\nrating: 2\n---\n[[Stone]] #work\n", Some(("", ""))),
    ("Blank.md", "\n", Some(("", ""))),
];

fn kinds() -> Vec<&'static str> {
    vec![
        "broken_link",
        "missing_attachment",
        "broken_properties",
        "case_twin",
        "conflict_file",
        "duplicate_name",
        "duplicate_alias",
        "property_types",
        "periodic_settings",
        "unportable_name",
        "tag_case",
        "orphan_note",
        "orphan_attachment",
        "empty_note",
        "huge_note",
        "hub_without_index",
    ]
}

fn ids(server: &TestServer) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for kind in kinds() {
        let answer = server.done("vault_health_check", json!({ "kind": kind, "limit": 200 }));
        found.extend(
            answer["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap().to_owned()),
        );
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_mended_is_gone_and_nothing_else_has_changed(
        notes in prop::collection::vec((0..BLOCKS.len(), prop::collection::vec(0..LINES.len(), 0..6), any::<bool>()), 1..4),
    ) {
        let mut files: Vec<MendedFile<String>> = COMMON.iter()
            .map(|(path, text, after)| {
                let after = match after {
                    None => Some(((*path).to_owned(), (*text).to_owned())),
                    Some(("", _)) => None,
                    Some((path, text)) => Some(((*path).to_owned(), (*text).to_owned())),
                };
                ((*path).to_owned(), (*text).to_owned(), after)
            })
            .collect();
        for (number, (block, lines, crlf)) in notes.iter().enumerate() {
            let path = format!("Sub/Note {number}.md");
            let written = |which: fn(&(&'static str, &'static str)) -> &'static str| {
                let lines: Vec<&str> = lines.iter().map(|at| which(&LINES[*at])).collect();
                let text = format!("{}Text.\n\n{}\n", which(&BLOCKS[*block]), lines.join("\n\n"));
                if *crlf { text.replace('\n', "\r\n") } else { text }
            };
            files.push((path.clone(), written(|pair| pair.0), Some((path, written(|pair| pair.1)))));
        }
        let before: Vec<(&str, &str)> = files.iter().map(|(path, text, _)| (path.as_str(), text.as_str())).collect();
        let server = TestServer::new(&before);
        let bytes = |path: &str| server.store.bytes(&VaultPath::parse(path).unwrap()).map(|bytes| String::from_utf8(bytes).unwrap());
        let found = ids(&server);
        prop_assert_eq!(&found, &ids(&server), "the ids stay");
        let answer = server.done("vault_health_fix", json!({ "findings": kinds() }));
        let fixed: BTreeSet<String> =
            answer["fixed"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect();
        prop_assert!(fixed.len() >= 3 && fixed.is_subset(&found), "{}", answer);
        for (path, text, after) in &files {
            match after {
                Some((place, expected)) => prop_assert_eq!(bytes(place), Some(expected.clone()), "{} was {:?}: {}", path, text, answer),
                None => prop_assert_eq!(bytes(path), None, "{}", path),
            }
        }
        let left = ids(&server);
        prop_assert!(left.is_disjoint(&fixed), "{:?}", left.intersection(&fixed).collect::<Vec<_>>());
        prop_assert!(left.is_subset(&found), "no new finding: {:?}", left.difference(&found).collect::<Vec<_>>());
        let again = server.done("vault_health_fix", json!({ "findings": kinds() }));
        prop_assert_eq!(&again["changed"], &json!(false), "{}", again);
        // One change, taken back as one.
        server.done("undo", json!({}));
        for (path, text, _) in &files {
            prop_assert_eq!(bytes(path), Some(text.clone()), "{}", path);
        }
    }
}

#[test]
fn every_kind_of_finding_is_found() {
    let links = |count: usize| (0..count).map(|at| (format!("Hub/Spoke {at}.md"), "[[Centre]]\n".to_owned()));
    let mut files: Vec<(String, String)> = links(51).collect();
    let more = [
        ("Centre.md", "x\n"),
        ("Broken.md", "[[Nowhere]] ![[gone.png]] [[Stone]] #Work\n"),
        ("Stone.md", "---\naliases: [Rock, Broken]\nrating: [1]\n---\n[[Broken]] #work\n"),
        ("Other.md", "---\naliases: rock\nrating: 1\n---\n[[Broken]] #work\n"),
        ("Rated.md", "---\nrating: 2\n---\n[[Broken]]\n"),
        ("a/Same.md", "[[Broken]]\n"),
        ("b/same.md", "[[Broken]]\n"),
        ("Twin.md", "[[Broken]]\n"),
        ("twin.md", "[[Broken]]\n"),
        ("Yaml.md", "---\na: [\n---\n[[Broken]]\n"),
        ("Why?.md", "[[Broken]]\n"),
        ("Alone.md", "No note knows me.\n"),
        ("spare.png", "x"),
        ("Plan (Ana's conflicted copy 2026-11-01).md", "[[Broken]]\n"),
        ("Blank.md", ""),
        (".obsidian/daily-notes.json", "{\"folder\": \"Days\", \"template\": \"Templates/Day\"}"),
    ];
    files.extend(more.map(|(path, text)| (path.to_owned(), text.to_owned())));
    files.push(("Huge.md".to_owned(), "[[Broken]] word ".repeat(20_000)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let server = TestServer::new(&files);
    let answer = server.done("vault_health_check", json!({}));
    let found: Vec<&str> =
        answer["summary"].as_array().unwrap().iter().map(|kind| kind["kind"].as_str().unwrap()).collect();
    assert_eq!(found, kinds(), "{answer:#}");
    for kind in kinds() {
        let page = server.done("vault_health_check", json!({ "kind": kind, "limit": 1 }));
        let finding = &page["findings"][0];
        let is_advised = finding["fix"].is_string() != finding["byHand"].is_string();
        assert!(is_advised && finding["id"].as_str().unwrap().starts_with(kind), "{finding}");
    }
    let all: Value = server.done("vault_health_check", json!({ "kind": "duplicate_alias" }));
    let says: Vec<&str> =
        all["findings"].as_array().unwrap().iter().map(|finding| finding["says"].as_str().unwrap()).collect();
    assert_eq!(says, ["the alias `Broken` is the name of another note", "2 notes have the alias `rock`"]);
}

#[test]
fn findings_come_in_pages() {
    let files: Vec<(String, String)> = (0..25).map(|at| (format!("{at:02}.md"), "Alone.\n".to_owned())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let server = TestServer::new(&files);
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut arguments = json!({ "kind": "orphan_note", "limit": 10 });
        if cursor.is_string() {
            arguments["cursor"] = cursor;
        }
        let page = server.done("vault_health_check", arguments);
        seen.extend(
            page["findings"].as_array().unwrap().iter().map(|finding| finding["paths"][0].as_str().unwrap().to_owned()),
        );
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, files.iter().map(|(path, _)| (*path).to_owned()).collect::<Vec<_>>());
}

#[test]
fn a_tie_of_kinds_is_a_choice() {
    let number = "---\nrating: 1\n---\n";
    let text = "---\nrating: \"2\"\n---\n";
    let server = TestServer::new(&[("a.md", number), ("b.md", number), ("c.md", text), ("d.md", text)]);
    let finding = server.done("vault_health_check", json!({ "kind": "property_types" }))["findings"][0].clone();
    assert_eq!(finding.get("fix"), None, "{finding:#}");
    assert_eq!(finding["byHand"], "no kind has a majority: choose one");
}

#[test]
fn the_text_of_a_finding_names_its_notes() {
    let rated = |value: &str| format!("---\nrating: {value}\naliases: [Stone]\n---\n");
    let (number, text) = (rated("1"), rated("x"));
    let server = TestServer::new(&[("Deep/a.md", &number), ("a.md", &number), ("b.md", &number), ("c.md", &text)]);
    for (kind, named) in [
        ("duplicate_name", "(`Deep/a.md`, `a.md`)"),
        ("duplicate_alias", "(`Deep/a.md`, `a.md`, `b.md`, `c.md`)"),
        ("property_types", "(`c.md`)"),
    ] {
        let principal = server.principal();
        let call = server.call_as(&principal, "vault_health_check", json!({ "kind": kind }));
        let rendered = call.rendered().unwrap();
        let text = rendered.text().join("\n");
        assert!(text.contains(named), "{kind}: {text}");
    }
}
