//! Everyday searches: nothing is lost between pages, links are the same from both ends, and answers are short.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

/// Sixty notes with up to nine lines each that contain a word.
fn lines() -> (Vault, usize) {
    let text = |number: usize| format!("# {number}\n{}", "a needle here\nand hay\n".repeat(number % 10));
    let files: Vec<(String, String)> = (0..60).map(|number| (format!("n/{number:02}.md"), text(number))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    (Vault::new(&files), (0..60).map(|number| number % 10).sum())
}

fn hits(answer: &Value) -> Vec<String> {
    answer["hits"].as_array().unwrap().iter().map(|hit| format!("{}:{}", hit["file"], hit["line"])).collect()
}

#[test]
fn either_way_of_continuing_shows_every_hit_once() {
    let (vault, all) = lines();
    let mut server = serve(&vault);
    for (request, follow, by) in [
        (json!({ "limit": 10, "_budget": { "maxFilesScanned": 7 } }), "nextOffset", "offset"),
        (json!({ "limit": 10, "_budget": { "maxFilesScanned": 7 } }), "resumeFrom", "resume_from"),
        (json!({ "_budget": { "maxFilesScanned": 11 } }), "nextOffset", "offset"),
        (json!({ "_budget": { "maxFilesScanned": 1 } }), "resumeFrom", "resume_from"),
        (json!({ "limit": 7 }), "nextOffset", "offset"),
        (json!({}), "nextOffset", "offset"),
    ] {
        let (mut request, mut seen) = (request, Vec::new());
        request["query"] = json!("needle");
        for _ in 0..=all {
            let answer = server.done("search_content", request.clone());
            seen.extend(hits(&answer));
            match &answer[follow] {
                Value::Null => break,
                next => request[by] = next.clone(),
            }
        }
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!((seen.len(), distinct.len()), (all, all), "{follow}: {request}");
    }
    let whole = server.done("search_content", json!({ "query": "needle" }));
    assert_eq!(whole["total"], all, "omitted hits are counted");
}

#[test]
fn lines_take_8_kilobytes_by_default() {
    let (vault, all) = lines();
    let mut server = serve(&vault);
    let bytes = |answer: &Value| answer["content"][0]["text"].as_str().unwrap().len();
    let usual = server.call("search_content", json!({ "query": "needle" }));
    assert!(bytes(&usual) < 8_000 && usual["structuredContent"].to_string().len() < 8_000, "{}", bytes(&usual));
    let more = server.done("search_content", json!({ "query": "needle", "limit": 1000, "contextLines": 1 }));
    assert_eq!(hits(&more).len(), all);
    assert_eq!(more["hits"][0]["before"].as_array().unwrap().len(), 1);
}

#[test]
fn links_are_the_same_from_both_ends_before_and_after_everything_is_indexed() {
    let mut files: Vec<(String, String)> = vec![
        ("Stone.md".into(), "[Plan](Areas/Plan%202.md)\n".into()),
        ("Areas/Plan 2.md".into(), "see [the stone][s] and [[stone|it]]. Then rest.\n\n[s]: ../Stone.md\n[unused]: ../Other.md\n".into()),
        ("Other.md".into(), "---\nup: \"[[STONE]]\"\n---\n".into()),
        ("board.canvas".into(), r##"{"nodes":[{"type":"file","file":"Stone.md"},{"type":"text","text":"More on [[Stone]] and [[Plan 2]]"}]}"##.into()),
    ];
    files.extend((0..40).map(|number| (format!("n{number}.md"), "nothing of it\n".to_owned())));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let vault = Vault::new(&files);
    let paths = ["Stone.md", "Areas/Plan 2.md", "Other.md", "board.canvas"];
    let mut answers: Vec<Value> = Vec::new();
    for warm in [false, true] {
        let mut found = Vec::new();
        for path in paths {
            // Each of them is the first call of this server.
            let mut server = serve(&vault);
            if warm {
                server.done("obsidian_list_tags", json!({}));
                server.done("obsidian_search_notes", json!({ "mode": "jsonlogic", "logic": { "var": "links" } }));
            }
            found.push(server.done("links_get", json!({ "file": path })));
        }
        answers.push(json!(found));
    }
    assert_eq!(answers[0], answers[1], "the first answer is that of the index");
    let found = &answers[0];
    let backlinks = |number: usize| -> Vec<String> {
        let links = found[number]["backlinks"].as_array().unwrap().iter();
        links.map(|link| format!("{}:{}", link["file"].as_str().unwrap(), link["kind"].as_str().unwrap())).collect()
    };
    assert_eq!(
        backlinks(0),
        [
            "Areas/Plan 2.md:markdown",
            "Areas/Plan 2.md:wiki",
            "Other.md:wiki",
            "board.canvas:embed",
            "board.canvas:wiki"
        ]
    );
    assert_eq!(backlinks(1), ["Stone.md:markdown", "board.canvas:wiki"]);
    assert!(backlinks(2).is_empty(), "an unused definition is not a link");
    assert_eq!(found[3]["outlinks"].as_array().unwrap().len(), 3, "{found}");
    // Every link that leads to a file is a backlink there.
    for (number, path) in paths.iter().enumerate() {
        for link in found[number]["outlinks"].as_array().unwrap() {
            let Some(target) = paths.iter().position(|path| link["path"] == **path) else { continue };
            let back = found[target]["backlinks"].as_array().unwrap().iter();
            assert!(back.clone().any(|back| back["file"] == **path && back["line"] == link["line"]), "{link}");
        }
    }
    let context = &found[0]["backlinks"][0]["context"];
    assert_eq!(context, "see [the stone][s] and [[stone|it]].");
}

#[test]
fn backlinks_and_ranked_hits_are_short() {
    let long = "It was said long ago that the roof of the old house by the river would need new slates, ".repeat(6);
    let mut files: Vec<(String, String)> = (0..30)
        .map(|number| {
            (format!("Projects/House/Log {number}.md"), format!("# Day {number}\n\n{long} see [[Roof]]. {long}\n"))
        })
        .collect();
    files.push(("Projects/House/Roof.md".into(), "# Roof\nslates\n".into()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    let links = server.call("links_get", json!({ "file": "Projects/House/Roof.md", "direction": "backlinks" }));
    let text = links["content"][0]["text"].as_str().unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('←')).collect();
    assert_eq!(lines.len(), 30);
    assert!(lines.iter().all(|line| line.len() < 120 && line.contains("[[Roof]]")), "{text}");
    let ranked = server.call("obsidian_search_notes", json!({ "query": "slates for the old house by the river" }));
    let text = ranked["content"][0]["text"].as_str().unwrap();
    let five: usize = text.lines().filter(|line| !line.contains("Log") || line.starts_with(' ')).map(str::len).sum();
    assert!(text.len() < 1_200 && five < 1_100, "{} {text}", text.len());
    assert_eq!(ranked["structuredContent"]["result"]["hits"].as_array().unwrap().len(), 10);
}

#[test]
fn a_given_number_of_matches_is_respected_and_fewer_are_reported() {
    let files: Vec<(String, String)> =
        (0..61).map(|number| (format!("n{number}.md"), "a needle in some hay\n".repeat(12))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    for given in [1, 2, 5, 10, 12] {
        let request = json!({ "mode": "text", "query": "needle", "maxMatchesPerHit": given });
        let answer = server.done("obsidian_search_notes", request);
        assert_eq!(answer["result"]["hits"][0]["matches"].as_array().unwrap().len(), given);
        assert!(answer.get("notice").is_none(), "{answer}");
    }
    let usual = server.done("obsidian_search_notes", json!({ "mode": "text", "query": "needle" }));
    assert!(usual["notice"].as_str().unwrap().contains("`maxMatchesPerHit` shows more"), "{usual}");
}

#[test]
fn alternatives_find_more_and_the_ranking_is_explained() {
    let vault = Vault::new(&[
        ("Insulation.md", b"Draughts come through the window frames."),
        ("Garden.md", b"The cold frame keeps the seedlings."),
        ("How to.md", b"How to write about what is in the house."),
    ]);
    let mut server = serve(&vault);
    let answer = server.done(
        "obsidian_search_notes",
        json!({ "mode": "omnisearch", "query": "what to do about chilly rooms", "alternatives": ["draughts", "insulation of windows"], "explain": true }),
    );
    let hits = answer["result"]["hits"].as_array().unwrap();
    assert_eq!(
        (hits.len(), &hits[0]["filename"]),
        (1, &json!("Insulation.md")),
        "function words alone are not a hit: {answer}"
    );
    let ranking = hits[0]["ranking"].as_str().unwrap();
    assert!(ranking.contains("draughts ") && ranking.contains(" + ") && ranking.contains("× "), "{ranking}");
    let only = server.done("obsidian_search_notes", json!({ "query": "how to" }));
    assert_eq!(only["result"]["hits"][0]["filename"], "How to.md");
}
