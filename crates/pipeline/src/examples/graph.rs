//! Walks along links find what a search through all links finds.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::testing::{TestServer, granted};

const NOTES: usize = 9;

fn path(note: usize) -> String {
    match note % 3 {
        0 => format!("Note {note}.md"),
        1 => format!("Deep/er/Note {note}.md"),
        _ => format!("Other/Note {note}.md"),
    }
}

/// A link in one of the forms that count.
fn written(to: usize, form: usize) -> String {
    match form {
        0 => format!("[[Note {to}]]"),
        1 => format!("![[note {to}#Heading|words]]"),
        2 => format!("[words](</{}>)", path(to)),
        3 => format!("[words][{to}]\n\n[{to}]: </{}>", path(to)),
        // Not links.
        4 => format!("`[[Note {to}]]`"),
        _ => format!("[[Note {to}0]]"),
    }
}

type Links = Vec<(usize, usize, usize)>;

/// Which notes are linked with which.
type Linked = BTreeMap<String, BTreeSet<String>>;

/// The vault, and its links.
fn vault(links: &Links, cards: &[usize]) -> (Vec<(String, String)>, Linked) {
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for note in 0..NOTES {
        let own = || links.iter().filter(|(from, ..)| *from == note);
        let up: Vec<String> =
            own().filter(|(.., form)| *form == 6).map(|(_, to, _)| format!("  - \"[[Note {to}]]\"\n")).collect();
        let block = if up.is_empty() { String::new() } else { format!("---\nup:\n{}---\n", up.concat()) };
        let body: Vec<String> =
            own().filter(|(.., form)| *form != 6).map(|(_, to, form)| written(*to, *form) + "\n\n").collect();
        texts.push((path(note), format!("{block}# Heading\n\n{}", body.concat())));
        let targets = own().filter(|(_, to, form)| !matches!(form, 4 | 5) && *to != note).map(|(_, to, _)| path(*to));
        out.insert(path(note), targets.collect());
    }
    let nodes: Vec<Value> = cards.iter().map(|to| json!({ "id": "c", "type": "file", "file": path(*to) })).collect();
    texts.push(("Board.canvas".to_owned(), json!({ "nodes": nodes }).to_string()));
    out.insert("Board.canvas".to_owned(), cards.iter().map(|to| path(*to)).collect());
    (texts, out)
}

/// How far each note is from one, by looking at all links again and again.
fn distances(
    out: &BTreeMap<String, BTreeSet<String>>,
    start: &str,
    hops: usize,
    direction: &str,
) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::from([(start.to_owned(), 0)]);
    for hop in 1..=hops {
        let before = found.clone();
        for (from, targets) in out {
            for to in targets {
                for (one, other, follows) in [(from, to, "out"), (to, from, "in")] {
                    if (direction == "both" || direction == follows) && before.contains_key(one) {
                        found.entry(other.clone()).or_insert(hop);
                    }
                }
            }
        }
    }
    found.remove(start);
    found
}

fn served(texts: &[(String, String)]) -> TestServer {
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    TestServer::new(&files)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn neighbours_and_ways_are_those_of_a_search_through_all_links(
        links in prop::collection::vec((0..NOTES, 0..NOTES, 0_usize..7), 0..16),
        cards in prop::collection::vec(0..NOTES, 0..3),
        start in 0..NOTES,
        hops in 1_usize..5,
        direction in prop::sample::select(vec!["out", "in", "both"]),
    ) {
        let (texts, out) = vault(&links, &cards);
        let server = served(&texts);
        let (start, expected) = (path(start), distances(&out, &path(start), hops, direction));
        let answer = server.done("graph_neighbors", json!({ "file": start, "hops": hops, "direction": direction, "limit": 200 }));
        let found: BTreeMap<String, usize> = answer["neighbors"].as_array().unwrap().iter()
            .map(|note| (note["path"].as_str().unwrap().to_owned(), usize::try_from(note["hops"].as_u64().unwrap()).unwrap()))
            .collect();
        prop_assert_eq!(&found, &expected, "{:?}", texts);
        let order: Vec<u64> = answer["neighbors"].as_array().unwrap().iter().map(|note| note["hops"].as_u64().unwrap()).collect();
        prop_assert!(order.is_sorted(), "nearest first");
        for to in (0..NOTES).map(path).filter(|to| *to != start) {
            let answer = server.done("graph_path", json!({ "from": start, "to": to, "maxHops": hops, "direction": direction, "ways": 10 }));
            prop_assert_eq!(answer["hops"].as_u64(), expected.get(&to).map(|hops| *hops as u64), "{} {:?}", to, texts);
            for way in answer["ways"].as_array().unwrap() {
                let steps = way.as_array().unwrap();
                prop_assert_eq!(steps.last().unwrap()["path"].as_str(), Some(to.as_str()));
                prop_assert!(steps.iter().all(|step| step["link"]["file"].is_string()), "each step has its link: {}", way);
            }
        }
        let orphans = server.done("orphans", json!({ "limit": 500 }));
        let alone = |note: &String| distances(&out, note, 1, "both").is_empty();
        let mut expected: Vec<String> = (0..NOTES).map(path).filter(alone).collect();
        expected.sort();
        let found: Vec<String> = orphans["orphans"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn hidden_notes_lead_nowhere_and_change_no_rank() {
    let files: &[(&str, &str)] = &[
        ("open/a.md", "[[b]] [[hidden]] [[hiden]]\n"),
        ("open/b.md", "[[c]] #x\n"),
        ("open/c.md", "#x\n"),
        ("closed/hidden.md", "[[a]] [[c]] [[c]] #X #x\n"),
        ("closed/b.md", "twin\n"),
    ];
    let (full, bare) = (TestServer::new(files), TestServer::new(&files[..3]));
    let calls = [
        ("graph_neighbors", json!({ "file": "a", "hops": 3 })),
        ("graph_path", json!({ "from": "a", "to": "c" })),
        ("links_unresolved", json!({})),
        ("orphans", json!({ "kind": "no_backlinks" })),
        ("note_context", json!({ "file": "open/a.md" })),
        ("links_get", json!({ "file": "open/c.md", "unlinked": true })),
        ("vault_health_check", json!({})),
        ("vault_health_check", json!({ "kind": "broken_link" })),
        ("vault_health_fix", json!({ "findings": ["broken_link", "tag_case"], "dryRun": true })),
        ("property_types", json!({})),
    ];
    for (tool, arguments) in calls {
        let answer = |server: &TestServer| {
            let principal = server.principal_with(granted(&["open"]));
            Value::Object(server.call_as(&principal, tool, arguments.clone()).rendered().unwrap().facts())
        };
        let (with, without) = (answer(&full), answer(&bare));
        assert_eq!(with, without, "{tool}");
        assert!(!with.to_string().contains("closed"), "{tool}: {with}");
    }
}

#[test]
fn the_context_of_a_note_stays_within_its_budget() {
    let mut files: Vec<(String, String)> = vec![("Hub.md".to_owned(), "# Hub\n\nA line about the hub.\n".repeat(400))];
    for number in 0..60 {
        files.push((
            format!("Notes/Note {number}.md"),
            format!("A sentence that names [[Hub]] in its middle, {number}. #hub\n"),
        ));
    }
    let server = served(&files);
    for tokens in [200, 500, 1_500, 6_000] {
        let answer = server.done("note_context", json!({ "file": "Hub", "maxTokens": tokens }));
        let bytes = answer.to_string().len();
        // About four bytes a token.
        assert!(bytes <= tokens * 4 + 400, "{tokens}: {bytes}");
        assert!(bytes >= tokens * 2, "{tokens}: {bytes} of the budget is used");
        assert!(answer["nextLine"].is_number() && !answer["backlinks"].as_array().unwrap().is_empty(), "{tokens}");
        let shown = answer["backlinks"].as_array().unwrap().len();
        assert_eq!(answer["left"]["backlinks"].as_u64().unwrap_or(0) + shown as u64, 60);
    }
}
