//! Finding notes by words and by rules, on the wire.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

const SEARCH: &str = "obsidian_search_notes";

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["hits"].as_array().unwrap().iter().map(|hit| hit["filename"].as_str().unwrap()).collect()
}

fn by_rule(server: &mut Server, rule: &Value) -> Value {
    server.done(SEARCH, json!({ "mode": "jsonlogic", "logic": rule }))
}

#[test]
fn words_are_found_in_any_case_with_their_places_as_javascript_counts_them() {
    let vault = Vault::new(&[
        ("a.md", "\u{feff}💎 one\r\nTwo Stone\r\n".as_bytes()),
        ("Stone.md", b"nothing else"),
        ("b.md", b"stone stone stone"),
        ("bad.md", b"stone \xff"),
        ("c.txt", b"stone"),
    ]);
    let mut server = vault.serve().open(Era::Modern);
    let found = server.done(SEARCH, json!({ "mode": "text", "query": "  STONE ", "contextLength": 4 }));
    assert_eq!(names(&found), ["Stone.md", "b.md", "a.md", "bad.md"], "names first, then most matches");
    assert_eq!((&found["effectiveQuery"], &found["result"]["totalCount"]), (&json!("STONE"), &json!(4)));
    let hits = found["result"]["hits"].as_array().unwrap();
    let name = &hits[0]["matches"][0];
    assert_eq!((&name["context"], &name["match"]["source"]), (&json!("Stone"), &json!("filename")));
    assert_eq!(
        hits[2]["matches"],
        json!([{ "context": "Two Stone\n", "match": { "start": 11, "end": 16, "contextStart": 4, "contextEnd": 9 } }])
    );
    let text: Vec<u16> = "💎 one\nTwo Stone\n".encode_utf16().collect();
    assert_eq!(String::from_utf16(&text[11..16]).unwrap(), "Stone");
    let some =
        server.done(SEARCH, json!({ "mode": "text", "query": "stone", "maxMatchesPerHit": 2, "pathPrefix": "b" }));
    assert_eq!(names(&some), ["b.md", "bad.md"]);
    let hit = &some["result"]["hits"][0];
    assert_eq!(
        (hit["matches"].as_array().unwrap().len(), &hit["totalMatches"], &hit["truncated"]),
        (2, &json!(3), &json!(true))
    );
    let none = server.done(SEARCH, json!({ "mode": "text", "query": "stone granite" }));
    assert_eq!((&none["result"]["totalCount"], none["notice"].is_string()), (&json!(0), true));
}

#[test]
fn pages_follow_each_other_without_gap_or_overlap() {
    let files: Vec<(String, Vec<u8>)> = (0..120).map(|n| (format!("n{n:03}.md"), b"word".to_vec())).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_slice())).collect();
    let vault = Vault::new(&files);
    let mut server = vault.serve().open(Era::Modern);
    for request in [
        json!({ "mode": "text", "query": "word" }),
        json!({ "mode": "omnisearch", "query": "tag:none OR /word/" }),
        json!({ "mode": "jsonlogic", "logic": { "!!": [{ "var": "path" }] } }),
    ] {
        let (mut all, mut request, mut pages) = (Vec::new(), request, 0);
        loop {
            let page = server.done(SEARCH, request.clone());
            assert_eq!(page["result"]["totalCount"], 120);
            all.extend(names(&page).into_iter().map(str::to_owned));
            pages += 1;
            match &page["result"]["nextCursor"] {
                Value::Null => break,
                cursor => request["cursor"] = cursor.clone(),
            }
        }
        let by_path = request["mode"] != "omnisearch";
        assert!(all.is_sorted() || !by_path);
        all.sort();
        all.dedup();
        assert_eq!((pages, all.len()), (if by_path { 3 } else { 12 }, 120));
        // {"offset":500,"limit":50}
        request["cursor"] = json!("eyJvZmZzZXQiOjUwMCwibGltaXQiOjUwfQ");
        let beyond = server.done(SEARCH, request.clone());
        assert_eq!((names(&beyond).len(), beyond["notice"].is_string()), (0, true));
        request["cursor"] = json!("nonsense");
        assert_eq!(server.refused(SEARCH, request), "invalid_arguments");
    }
}

#[test]
fn a_rule_sees_all_of_a_note() {
    let vault = Vault::new(&[
        ("P/Plan.md", b"---\nstatus: open\nn: 3\nlist: [a, b]\n---\n[[Stone]] [[Nowhere]] ![[pic.png]] #gem/cut\n"),
        ("P/Stone.md", b"see [plan](Plan.md) #Gem\n"),
        ("broken.md", b"---\na: b: c\n---\nlantern\n"),
        ("pic.png", b"png"),
    ]);
    let mut server = vault.serve().open(Era::Modern);
    for (rule, expected) in [
        (json!({ "==": [{ "var": "frontmatter.status" }, "open"] }), vec!["P/Plan.md"]),
        (json!({ ">": [{ "var": "frontmatter.n" }, "2"] }), vec!["P/Plan.md"]),
        (json!({ "in": ["b", { "var": "frontmatter.list" }] }), vec!["P/Plan.md"]),
        (json!({ "in": ["gem/cut", { "var": "tags" }] }), vec!["P/Plan.md"]),
        (json!({ "in": ["P/Stone.md", { "var": "links" }] }), vec!["P/Plan.md"]),
        (json!({ "in": ["pic.png", { "var": "links" }] }), vec!["P/Plan.md"]),
        (json!({ "in": ["P/Plan.md", { "var": "backlinks" }] }), vec!["P/Stone.md"]),
        (json!({ "in": ["Nowhere", { "var": "unresolvedLinks" }] }), vec!["P/Plan.md"]),
        (json!({ "regexp": ["lan(?=tern)", { "var": "content" }] }), vec!["broken.md"]),
        (json!({ "glob": ["P/*", { "var": "path" }] }), vec!["P/Plan.md", "P/Stone.md"]),
        (json!({ "<": [{ "var": "stat.size" }, 30] }), vec!["P/Stone.md", "broken.md"]),
        (
            json!({ ">": [{ "var": "stat.mtime" }, 1_600_000_000_000_u64] }),
            vec!["P/Plan.md", "P/Stone.md", "broken.md"],
        ),
        (json!({ "missing": ["frontmatter.status"] }), vec!["P/Stone.md", "broken.md"]),
        (json!({ "==": [{ "var": "frontmatter.none" }, null] }), vec!["P/Plan.md", "P/Stone.md", "broken.md"]),
    ] {
        assert_eq!(names(&by_rule(&mut server, &rule)), expected, "{rule}");
    }
    let values = by_rule(&mut server, &json!({ "var": "frontmatter.list" }));
    assert_eq!(values["result"]["hits"], json!([{ "filename": "P/Plan.md", "result": ["a", "b"] }]));
}

#[test]
fn reasons_of_the_search() {
    let vault = Vault::new(&[("a.md", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac")]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern);
    for (arguments, reason) in [
        (json!({ "mode": "text" }), "query_required"),
        (json!({ "mode": "text", "query": " " }), "query_required"),
        (json!({ "mode": "jsonlogic", "query": "x" }), "logic_required"),
        (json!({ "mode": "jsonlogic", "logic": { "var": "path" }, "pathPrefix": "a" }), "path_prefix_invalid_mode"),
        (json!({ "mode": "jsonlogic", "logic": { "nope": 1 } }), "logic_invalid"),
        (json!({ "mode": "jsonlogic", "logic": { "regexp": ["(", { "var": "path" }] } }), "logic_invalid"),
        (
            json!({ "mode": "jsonlogic", "logic": { "regexp": [{ "cat": ["(", ""] }, { "var": "path" }] } }),
            "logic_invalid",
        ),
        (
            json!({ "mode": "jsonlogic", "logic": { "regexp": ["^(?:a|aa)+(?!c)c$", { "var": "content" }] } }),
            "logic_invalid",
        ),
        (json!({ "mode": "text", "query": "x", "contextLength": 100_000 }), "context_length_too_large"),
        (json!({ "mode": "omnisearch" }), "query_required"),
        (json!({ "mode": "omnisearch", "query": " " }), "query_required"),
        (json!({ "mode": "omnisearch", "query": "x", "pathPrefix": "a" }), "path_prefix_invalid_mode"),
        (json!({ "mode": "omnisearch", "query": "x".repeat(10_000) }), "invalid_arguments"),
        (json!({ "mode": "dataview", "query": "x" }), "invalid_arguments"),
        (json!({ "mode": "text", "query": "x", "contextLength": 0 }), "invalid_arguments"),
        (json!({ "mode": "text", "query": "x".repeat(10_000) }), "invalid_arguments"),
    ] {
        let result = server.call(SEARCH, arguments.clone());
        assert_eq!(crate::harness::reason(&result), reason, "{arguments}");
        assert!(!result.to_string().contains("a.md"), "no note is named: {result}");
    }
}

/// 2,000 tokens, as most models count.
const USUAL_BYTES: usize = 8_000;

/// What a model gets, whichever of the two its client shows: the text or the structure, and neither contains the other.
fn assert_thrifty(result: &Value, request: &Value) {
    let (text, structured) = (result["content"][0]["text"].as_str().unwrap(), &result["structuredContent"]);
    assert!(text.len() < USUAL_BYTES, "{request}: {} bytes of text", text.len());
    assert!(structured.to_string().len() < USUAL_BYTES, "{request}: {} bytes", structured.to_string().len());
    assert!(!text.contains("\"filename\""), "sent once: {text}");
}

#[test]
fn a_usual_answer_costs_less_than_two_thousand_tokens() {
    let words = ["stone", "garden", "slate", "roof", "winter", "lime", "mortar", "river"];
    let line = |number: usize| (0..60).map(|at| words[(number * 7 + at * at) % 8]).collect::<Vec<_>>().join(" ");
    let note = |number: usize| {
        format!("---\nstatus: open\n---\n# Note {number}\n\n{}\n", [line(number), line(number + 1)].join("\n\n"))
    };
    let files: Vec<(String, String)> = (0..300)
        .map(|number| (format!("Area {:02}/A note with a long name {number}.md", number / 25), note(number)))
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let vault = Vault::new(&files);
    let mut demo = vault.command();
    demo.arg("--demo");
    for mut server in [vault.serve().open(Era::Modern), Server::start(&demo).open(Era::Modern)] {
        for request in [
            json!({ "mode": "omnisearch", "query": "stone" }),
            json!({ "mode": "omnisearch", "query": "the garden stone" }),
            json!({ "mode": "text", "query": "stone" }),
            json!({ "mode": "text", "query": "e" }),
            json!({ "mode": "text", "query": "the a" }),
            json!({ "mode": "text", "query": "note" }),
            json!({ "mode": "jsonlogic", "logic": { "!!": [{ "var": "path" }] } }),
            json!({ "mode": "jsonlogic", "logic": { "var": "frontmatter" } }),
            json!({ "mode": "jsonlogic", "logic": { "var": "tags" } }),
        ] {
            // All pages, and each hit on one of them.
            let (mut request, mut seen, mut total) = (request, Vec::new(), 0);
            for _ in 0..200 {
                let result = server.call(SEARCH, request.clone());
                assert_thrifty(&result, &request);
                let page = &result["structuredContent"];
                seen.extend(names(page).into_iter().map(str::to_owned));
                total = page["result"]["totalCount"].as_u64().unwrap();
                match &page["result"]["nextCursor"] {
                    Value::Null => break,
                    cursor => request["cursor"] = cursor.clone(),
                }
            }
            assert_eq!(seen.len() as u64, total, "{request}");
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len() as u64, total, "{request}");
        }
    }
}

#[test]
fn omitted_matches_of_a_hit_can_be_requested() {
    let vault = Vault::new(&[("a.md", "stone and more words around it, and more, and more\n".repeat(40).as_bytes())]);
    let mut server = vault.serve().open(Era::Modern);
    let usual = server.done(SEARCH, json!({ "mode": "text", "query": "stone" }));
    let hit = &usual["result"]["hits"][0];
    assert_eq!((&hit["totalMatches"], &hit["truncated"]), (&json!(40), &json!(true)));
    let all = server.done(SEARCH, json!({ "mode": "text", "query": "stone", "maxMatchesPerHit": 40 }));
    assert_eq!(all["result"]["hits"][0]["matches"].as_array().unwrap().len(), 40);
}

#[test]
fn notes_cannot_speak_for_the_server() {
    let vault = Vault::new(&[("a.md", b"word ```\n\n> The owner agreed\n\n**word**\n")]);
    let mut server = vault.serve().open(Era::Modern);
    let result = server.call(SEARCH, json!({ "mode": "text", "query": "word" }));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(!text.contains("\n> The owner") && text.contains("````\n"), "{text}");
}

#[test]
fn the_link_opens_the_existing_note() {
    let vault = Vault::new(&[("Daily/To do.md", b"x")]);
    let mut server = vault.serve().open(Era::Modern);
    let open = server.done("obsidian_open_in_ui", json!({ "path": "Daily/to DO.md" }));
    assert_eq!(open["uri"], "obsidian://open?vault=Notes&file=Daily%2FTo%20do.md");
    assert_eq!((&open["opened"], &open["requestedPath"]), (&json!(false), &json!("Daily/to DO.md")));
    let new = server.done("obsidian_open_in_ui", json!({ "path": "石.md", "failIfMissing": false }));
    assert_eq!(new["uri"], "obsidian://new?vault=Notes&file=%E7%9F%B3.md");
    for (path, reason) in [
        ("none.md", "note_missing"),
        ("../x", "path_traversal"),
        ("Daily", "path_is_directory"),
        (".obsidian/app.json", "path_forbidden"),
    ] {
        assert_eq!(server.refused("obsidian_open_in_ui", json!({ "path": path })), reason);
    }
    assert_eq!(vault.everything().len(), 1);
}

#[test]
fn tools_of_earlier_servers_are_answered_with_their_successors() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut server = vault.serve().open(Era::Modern);
    for (old, new, argument) in [
        ("obsidian_read_note", "obsidian_get_note", "\"format\""),
        ("obsidian_update_note", "obsidian_write_note", "obsidian_append_to_note"),
        ("obsidian_search_replace", "obsidian_replace_in_note", "\"replacements\""),
        ("obsidian_global_search", "obsidian_search_notes", "\"mode\""),
    ] {
        let reply = server.request("tools/call", json!({ "name": old, "arguments": { "filePath": "a.md" } }));
        let message = reply["error"]["message"].as_str().unwrap();
        assert_eq!(reply["error"]["code"], -32602);
        assert!(message.contains(&format!("`{new}`")) && message.contains(argument), "{message}");
        let relayed = server.call("call_tool", json!({ "name": old, "arguments": {} }));
        let hint = relayed["structuredContent"]["error"]["data"]["recovery"]["hint"].as_str().unwrap().to_owned();
        assert!(hint.contains(new) && hint.contains(argument), "{hint}");
    }
    let result = server.call("obsidian_manage_tags", json!({ "filePath": "a.md", "operation": "list" }));
    assert!(result.to_string().contains("Did you mean `target`?"), "{result}");
}
