//! The best notes first, on the wire: mode `omnisearch` and `lapidary search`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, patience};

const SEARCH: &str = "obsidian_search_notes";

fn ask(server: &mut Server, query: &str) -> Value {
    server.done(SEARCH, json!({ "mode": "omnisearch", "query": query }))
}

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["hits"].as_array().unwrap().iter().map(|hit| hit["filename"].as_str().unwrap()).collect()
}

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

/// More notes than are added while a caller waits.
fn large() -> Vault {
    let files: Vec<(String, String)> =
        (0..1200).map(|number| (format!("n{number}.md"), format!("word{number} stone\n"))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    Vault::new(&files)
}

/// Until there is an index, which is built while calls are answered.
fn settled(server: &mut Server, query: &str) -> Value {
    let started = Instant::now();
    loop {
        let answer = ask(server, query);
        if !answer["notice"].as_str().unwrap_or_default().contains("plain scan") {
            return answer;
        }
        assert!(started.elapsed() < patience(), "{answer}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_hit_has_the_shape_of_the_contract_and_the_section_to_read() {
    let vault = Vault::new(&[
        ("Home/Slate roof.md", "\u{feff}💎\r\n# Repairs\r\n\r\n## Gutter\r\n\r\nThe Slate leaks.\r\n".as_bytes()),
        ("other.md", b"a slate roof, once"),
        ("none.md", b"moss"),
    ]);
    let mut server = serve(&vault);
    let answer = server.done(SEARCH, json!({ "mode": "omnisearch", "query": " slate leaks ", "contextLength": 20 }));
    let hit = &answer["result"]["hits"][0];
    let keys: Vec<&String> = hit.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["filename", "basename", "score", "foundWords", "matches", "excerpt", "section"]);
    assert_eq!((&hit["filename"], &hit["basename"]), (&json!("Home/Slate roof.md"), &json!("Slate roof")));
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    assert_eq!(hit["foundWords"], json!(["slate", "leaks"]));
    let text = "💎\n# Repairs\n\n## Gutter\n\nThe Slate leaks.\n";
    let units: Vec<u16> = text.encode_utf16().collect();
    let place = hit["matches"][0]["offset"].as_u64().unwrap() as usize;
    assert_eq!(hit["matches"][0]["match"], "Slate");
    assert_eq!(String::from_utf16(&units[place..place + 5]).unwrap(), "Slate");
    assert!(hit["excerpt"].as_str().unwrap().contains("The Slate leaks."), "{hit}");
    let result = &answer["result"];
    assert_eq!(
        (&result["mode"], &result["totalCount"], &result["truncated"]),
        (&json!("omnisearch"), &json!(1), &json!(false))
    );
    assert_eq!(answer["effectiveQuery"], "slate leaks");
    let section = json!({ "type": "heading", "target": hit["section"] });
    let target = json!({ "type": "path", "path": "Home/Slate roof.md" });
    let part = server.done("obsidian_get_note", json!({ "format": "section", "target": target, "section": section }));
    assert!(part.to_string().contains("leaks") && !part.to_string().contains("# Repairs"), "{part}");

    assert_eq!(names(&ask(&mut server, "slate roof")), ["Home/Slate roof.md", "other.md"]);
    let meant = ask(&mut server, "gutetr");
    assert_eq!(
        (names(&meant), &meant["notice"]),
        (vec!["Home/Slate roof.md"], &json!("No note contains `gutetr`; searched for `gutter`."))
    );
    let some = ask(&mut server, "slate once zebra");
    assert_eq!(names(&some)[0], "other.md");
    assert!(some["notice"].as_str().unwrap().contains("some of them"), "{some}");
    let none = ask(&mut server, "zebra");
    assert_eq!((names(&none).len(), none["notice"].is_string()), (0, true));
    let shown = server.call(SEARCH, json!({ "mode": "omnisearch", "query": "leaks" }));
    let shown = shown["content"][0]["text"].as_str().unwrap();
    assert!(shown.starts_with("**Search (omnisearch) — 1 on this page · 1 total**\n```\n"), "{shown}");
    assert!(
        shown.contains("\nHome/Slate roof.md § Repairs::Gutter · ")
            && shown.contains("## Gutter The Slate leaks.\n```"),
        "{shown}"
    );
}

#[test]
fn an_edit_of_any_program_is_found_by_the_next_search() {
    let vault = Vault::new(&[("a.md", b"first"), ("b.md", b"moss")]);
    let mut server = serve(&vault);
    assert_eq!(names(&ask(&mut server, "first")), ["a.md"]);
    for round in 0..40 {
        let (word, gone) = (format!("word{round}x"), format!("word{}x", round - 1));
        if round % 2 == 0 {
            vault.write("a.md", word.as_bytes());
        } else {
            server.done("str_replace", json!({ "file": "a.md", "find": gone, "replace": word }));
        }
        assert_eq!(names(&ask(&mut server, &format!("\"{word}\""))), ["a.md"], "{round}");
        assert!(names(&ask(&mut server, &format!("\"{gone}\""))).is_empty(), "{round}");
    }
    std::fs::rename(vault.path().join("a.md"), vault.path().join("granite.md")).unwrap();
    assert_eq!(names(&ask(&mut server, "granite")), ["granite.md"]);
    std::fs::remove_file(vault.path().join("granite.md")).unwrap();
    assert!(names(&ask(&mut server, "\"granite\"")).is_empty());
}

#[test]
fn no_answer_depends_on_notes_that_may_not_be_read() {
    let open: &[(&str, &[u8])] = &[
        ("a.md", b"slate roof and moss"),
        ("b.md", b"# Slate\n\nshort"),
        ("c.md", b"garden wall with a long text about nothing in particular, and a slate"),
        ("Gutter.md", b"rain"),
    ];
    let (full, bare) = (Vault::new(open), Vault::new(open));
    for number in 0..30 {
        let text = format!("slate slates gutetr mossy lapidary secret{number} roof roof roof #hidden");
        full.write(&format!("closed/slate {number}.md"), text.as_bytes());
    }
    let narrow = [("OBSIDIAN_DENY_PATHS", "closed"), ("LAPIDARY_REPETITION", "off")];
    let (mut with, mut without) =
        (full.serve_with(&[], &narrow).open(Era::Modern), bare.serve_with(&[], &narrow).open(Era::Modern));
    for query in [
        "slate",
        "slate roof",
        "roof moss garden",
        "gutetr",
        "mos",
        "lapidary",
        "lapidray",
        "secret1",
        "sec",
        "hidden",
        "tag:hidden",
        "\"slate slates\"",
        "path:closed",
        "file:slate",
        "/secret/",
        "-slate",
        "line:(slate roof)",
        "[x]",
        "zebra slate",
    ] {
        let (with, without) = (ask(&mut with, query), ask(&mut without, query));
        assert_eq!(with, without, "{query}");
        assert!(!with["result"].to_string().contains("closed/"), "{query}: {with}");
    }
}

#[test]
fn only_the_index_reports_that_nothing_matches() {
    let vault = large();
    // Without a saved index.
    let mut server = serve(&vault);
    let mistyped = ask(&mut server, "wrod77");
    assert_eq!(
        (names(&mistyped), &mistyped["notice"]),
        (vec!["n77.md"], &json!("No note contains `wrod77`; searched for `word77`."))
    );
}

#[test]
fn a_search_before_there_is_an_index_is_answered() {
    let vault = large();
    let mut server = serve(&vault);
    let first = ask(&mut server, "word77 stone");
    assert_eq!(names(&first)[0], "n77.md");
    let later = settled(&mut server, "word77 stone");
    assert_eq!((names(&later), &later["notice"]), (vec!["n77.md"], &Value::Null));
    assert_eq!(settled(&mut server, "stone")["result"]["totalCount"], 1200);
}

#[test]
fn the_first_answer_covers_accents_and_canvases() {
    let vault = large();
    vault.write("Café.md", "Die Straße zum Café".as_bytes());
    let text = b"---\nkind: gem\n---\na stone that says more\n\n- [ ] look\n\n#deep/down\n";
    vault.write("tagged.md", text);
    vault.write("board.canvas", br#"{"nodes":[{"type":"text","text":"a \u00e9clair"}]}"#);
    for (query, expected) in [
        ("cafe", "Café.md"),
        ("strasse", "Café.md"),
        ("eclair", "board.canvas"),
        ("ext:canvas", "board.canvas"),
        ("tag:deep", "tagged.md"),
        ("stone tag:deep", "tagged.md"),
        ("stone [kind:gem]", "tagged.md"),
        ("[kind:gem] -zebra", "tagged.md"),
        ("task-todo:\"\"", "tagged.md"),
        ("stone path:tagged", "tagged.md"),
        ("/st[o]ne that/", "tagged.md"),
        ("line:/st[o]ne that/ [kind]", "tagged.md"),
        ("task-done:\"\"", ""),
        ("???", ""),
        ("zebra", ""),
    ] {
        // Without a saved index.
        let state = tempfile::tempdir().unwrap();
        let state = [("LAPIDARY_REPETITION", "off"), ("LAPIDARY_STATE_DIR", state.path().to_str().unwrap())];
        let mut server = vault.serve_with(&[], &state).open(Era::Modern);
        let answer = ask(&mut server, query);
        assert_eq!(names(&answer).first().copied().unwrap_or_default(), expected, "{answer}");
        let by_scan = answer["notice"].as_str().unwrap_or_default().contains("plain scan");
        assert!(!(expected.is_empty() && by_scan), "{query}: {answer}");
    }
}

#[test]
fn reinterpreted_queries_are_reported() {
    let hard = format!("{}c", "a".repeat(2_000));
    let files: Vec<(String, &[u8])> = ["ston", "stony", "stork", "stole", "stove", "store"]
        .map(|word| (format!("{word}.md"), hard.as_bytes()))
        .into();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    for (query, expected) in [
        ("/ston(/", "`/ston(/` is not a regular expression and was searched as words."),
        ("/(?:(?=a)a*)*(?=[bx])[bc]/", "too many steps on some notes"),
        ("stoxe", "searched for `stole`, `store`, `stove`."),
        ("ztony zzzz", "No note contains `ztony`; searched for `stony`."),
    ] {
        let notice = ask(&mut server, query)["notice"].as_str().unwrap_or_default().to_owned();
        assert!(notice.contains(expected), "{query}: {notice}");
    }
    let words = (0..65).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ");
    let notice = ask(&mut server, &words)["notice"].to_string();
    assert!(notice.contains("only the first were used"), "{notice}");
    let files: Vec<(String, Vec<u8>)> = ('a'..='h').map(|c| (format!("sto{c}e.md"), Vec::new())).collect();
    files.iter().for_each(|(path, text)| vault.write(path, text));
    let notice = ask(&mut server, "stoxe")["notice"].to_string();
    assert!(notice.contains("searched for `stoae`, `stobe`, `stoce`, `stode`, `stoee` and others."), "{notice}");
    let shown = server.call(SEARCH, json!({ "mode": "omnisearch", "query": "stoae" }));
    let shown = shown["content"][0]["text"].as_str().unwrap();
    assert!(!shown.contains("```"), "nothing to show needs no frame: {shown}");
}

#[test]
fn a_canvas_is_found_by_its_texts() {
    let canvas = br##"{"nodes":[
        {"id":"a","type":"text","text":"# Quartz\n\nA vein of \"pyrite\". #stone","x":0,"y":0},
        {"id":"b","type":"file","file":"Mines/Deep shaft.md","subpath":"#Ore"},
        {"id":"c","type":"group","label":"Quarry"},
        {"id":"d","type":"link","url":"https://example.com/gems"}],
        "edges":[{"id":"e","fromNode":"a","toNode":"b","label":"leads down"}]}"##;
    let vault = Vault::new(&[
        ("Boards/Survey.canvas", canvas),
        ("broken.canvas", b"{\"nodes\": pyrite"),
        ("note.md", b"pyrite, mentioned once in a note that says much else about nothing"),
    ]);
    let mut server = serve(&vault);
    for query in [
        "pyrite",
        "survey",
        "quarry",
        "\"deep shaft\"",
        "\"leads down\"",
        "gems",
        "line:(vein pyrite)",
        "ext:canvas vein",
        "pyrtie -note",
        "content:quartz",
        "/vein of .pyrite/",
    ] {
        assert!(names(&ask(&mut server, query)).contains(&"Boards/Survey.canvas"), "{query}");
    }
    let hit = &ask(&mut server, "vein")["result"]["hits"][0];
    assert_eq!(hit["matches"], json!([]), "a position among its cards is not a position in the file");
    assert_eq!((&hit["foundWords"], &hit["basename"]), (&json!(["vein"]), &json!("Survey")));
    assert!(hit["excerpt"].as_str().unwrap().contains("A vein of \"pyrite\"."), "{hit}");
    assert_eq!(names(&ask(&mut server, "file:broken")), ["broken.canvas"]);
    for query in ["\"nodes\"", "\"fromNode\"", "tag:stone", "section:(quartz nodes)"] {
        assert!(names(&ask(&mut server, query)).is_empty(), "{query}");
    }
    vault.write("Boards/Survey.canvas", br#"{"nodes":[{"type":"text","text":"jasper"}]}"#);
    assert_eq!(names(&ask(&mut server, "jasper")), ["Boards/Survey.canvas"]);
    assert_eq!(names(&ask(&mut server, "pyrite")), ["note.md"]);
}

#[test]
fn other_files_are_found_by_path_queries() {
    let vault = Vault::new(&[
        ("Roof.md", b"slate"),
        ("img/roof plan.png", b"\x89PNG slate"),
        ("img/wall.png", b"\x89PNG"),
        ("closed/roof.pdf", b"%PDF"),
    ]);
    let mut server =
        vault.serve_with(&[], &[("LAPIDARY_REPETITION", "off"), ("OBSIDIAN_DENY_PATHS", "closed")]).open(Era::Modern);
    for (query, expected) in [
        ("roof", &["Roof.md"][..]),
        ("file:roof", &["Roof.md", "img/roof plan.png"]),
        ("path:\"roof plan\"", &["img/roof plan.png"]),
        ("ext:png roof", &["img/roof plan.png"]),
        ("ext:png -roof", &["img/wall.png"]),
        ("file:.pdf", &[]),
        ("ext:png slate", &[]),
        ("ext:png [x]", &[]),
        ("-path:x", &["Roof.md"]),
    ] {
        let answer = ask(&mut server, query);
        assert_eq!(names(&answer), expected, "{query}");
        assert_eq!(answer["result"]["totalCount"], json!(names(&answer).len()), "{query}");
    }
    // One hit a page, and one page too many.
    let pages = ["eyJvZmZzZXQiOjAsImxpbWl0IjoxfQ", "eyJvZmZzZXQiOjEsImxpbWl0IjoxfQ", "eyJvZmZzZXQiOjIsImxpbWl0IjoxfQ"]
        .map(|cursor| server.done(SEARCH, json!({ "mode": "omnisearch", "query": "file:roof", "cursor": cursor })));
    assert_eq!(pages.iter().flat_map(names).collect::<Vec<_>>(), ["Roof.md", "img/roof plan.png"]);
}

#[test]
fn the_index_outlives_the_server_and_serves_others() {
    let vault = large();
    // A file that was changed a moment ago may change again without a trace, so it is not cached.
    std::thread::sleep(Duration::from_millis(2500));
    let mut first = serve(&vault);
    settled(&mut first, "stone");
    first.stop();
    let mut second = serve(&vault);
    let answer = ask(&mut second, "word5 stone");
    assert_eq!((names(&answer), &answer["notice"]), (vec!["n5.md"], &Value::Null), "known from before");
    vault.write("n5.md", b"changed\n");
    let mut third = serve(&vault);
    for server in [&mut second, &mut third] {
        assert_eq!(names(&ask(server, "changed")), ["n5.md"]);
        assert!(names(&ask(server, "\"word5\"")).is_empty());
    }
    // A killed server loses nothing.
    drop(second);
    vault.write("n6.md", b"other\n");
    assert_eq!(names(&ask(&mut third, "other")), ["n6.md"]);
    assert_eq!(ask(&mut third, "stone")["result"]["totalCount"], 1198);
}

#[test]
fn people_get_a_table() {
    let vault =
        Vault::new(&[("Roof.md", b"# Slates\n\nThe slates leak.\n"), ("b.md", b"a slate\x1b[2J"), ("c.md", b"slate")]);
    let table = vault.run(&["search", "slate"]);
    let out = String::from_utf8(table.stdout).unwrap();
    assert_eq!(table.status.code(), Some(0));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 6, "a passage below each: {out}");
    assert!(out.contains("Roof.md § Slates") && out.contains("The slates leak.") && !out.contains('\u{1b}'), "{out}");
    let some = vault.run(&["search", "--limit", "1", "slate"]);
    assert!(String::from_utf8(some.stdout).unwrap().ends_with("… 1 of 3; --limit shows more\n"));
    let json = vault.run(&["search", "slate", "-leak", "--json"]);
    assert_eq!(json.status.code(), Some(2), "an exclusion goes into the quotes of the query");
    let json = vault.run(&["search", "slate -leak", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((json["hits"].as_array().unwrap().len(), &json["totalCount"]), (2, &json!(2)));
    let missed = vault.run(&["search", "slaet"]);
    assert!(String::from_utf8(missed.stderr).unwrap().contains("No note contains `slaet`; searched for `slate`"));
    assert_eq!(vault.run(&["search"]).status.code(), Some(2));
    let empty = vault.run(&["search", " "]);
    let said = String::from_utf8(empty.stderr).unwrap();
    assert_eq!(empty.status.code(), Some(1));
    assert!(said.contains("error: Mode `hybrid` needs a `query`") && !said.contains("Error:"), "{said}");
    // A search on the command line leaves an index for the next time.
    let large = large();
    std::thread::sleep(Duration::from_millis(2500));
    for _ in 0..2 {
        let ranked = large.run(&["search", "word7 stone"]);
        assert_eq!(String::from_utf8(ranked.stderr).unwrap(), "", "it waits for the index");
    }
    let others = large.run(&["search", "masonry", "--or", "word7 word8", "--explain"]);
    let others = String::from_utf8(others.stdout).unwrap();
    assert!(others.contains("n7.md") && others.contains("n8.md") && others.contains("word7 "), "{others}");
    let off = vault.run(&["--exclude-tools", "obsidian_search_notes", "search", "x"]);
    assert_eq!(off.status.code(), Some(1));
}
