//! The contents of a vault, as far as a caller may know.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

const SECRET: &str = "xyzzy-marker";

fn paths(entries: &Value) -> Vec<&str> {
    entries.as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect()
}

/// Every listing, of the vault and of a folder.
fn listings(folder: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("obsidian_list_notes", json!({ "depth": 20 })),
        ("obsidian_list_notes", json!({ "depth": 1 })),
        ("obsidian_list_notes", json!({ "path": folder })),
        ("obsidian_list_notes", json!({ "nameRegex": SECRET })),
        ("obsidian_list_tags", json!({})),
        ("obsidian_list_tags", json!({ "nameRegex": SECRET })),
        ("vault_info", json!({})),
        ("vault_info", json!({ "_budget": { "maxFilesScanned": 1 } })),
        ("file_list", json!({})),
        ("file_list", json!({ "recursive": true })),
        ("file_list", json!({ "directory": folder })),
        ("file_list", json!({ "recursive": true, "glob": "**/*xyzzy*" })),
        ("file_find", json!({ "query": "" })),
        ("file_find", json!({ "query": SECRET, "mode": "regex" })),
        ("file_find", json!({ "query": "**", "mode": "glob", "directory": folder })),
        ("tags_list", json!({})),
        ("tags_list", json!({ "prefix": "xyzzy" })),
    ]
}

fn answers(vault: &Vault, folder: &str, environment: &[(&str, &str)]) -> Vec<Value> {
    let mut environment = environment.to_vec();
    environment.push(("LAPIDARY_REPETITION", "off"));
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    listings(folder).into_iter().map(|(tool, arguments)| server.call(tool, arguments)).collect()
}

#[test]
fn unreadable_files_are_neither_listed_nor_counted() {
    let narrow = [("OBSIDIAN_READ_PATHS", "pub")];
    let deep = [("OBSIDIAN_READ_PATHS", "pub/deep")];
    let deny = [("OBSIDIAN_DENY_PATHS", "secret,pub/xyzzy-marker.md")];
    for (ignored, environment, hidden, folder) in [
        ("", &narrow[..], &["secret/xyzzy-marker.md", "xyzzy-marker.md", "secret/deep/x.png"][..], "secret"),
        ("", &deep, &["pub/xyzzy-marker.md", "pub/xyzzy-marker/a.md"], "pub"),
        ("", &deny, &["secret/xyzzy-marker.md", "pub/xyzzy-marker.md"], "secret"),
        ("xyzzy*\nsecret/\n", &[], &["secret/xyzzy-marker.md", "pub/xyzzy-marker.md"], "secret"),
        ("", &[], &[".trash/xyzzy-marker.md", ".obsidian/xyzzy-marker.json"], ".trash"),
    ] {
        let vault = Vault::new(&[
            ("pub/a.md", b"#open"),
            ("pub/deep/b.md", b"#open/more"),
            (".lapidaryignore", ignored.as_bytes()),
        ]);
        let before = answers(&vault, folder, environment);
        for path in hidden {
            vault.write(path, format!("#{SECRET} #open\n").as_bytes());
        }
        let after = answers(&vault, folder, environment);
        for ((before, after), call) in before.iter().zip(&after).zip(listings(folder)) {
            assert_eq!(before, after, "{call:?} with {hidden:?} and {environment:?}");
            let asked = call.1.to_string().contains(SECRET);
            assert!(asked || !after.to_string().contains(SECRET), "{call:?}: {after}");
        }
        let tags = &after[4]["structuredContent"]["tags"];
        let notes = if environment == deep { 1 } else { 2 };
        assert_eq!(tags[0], json!({ "name": "open", "count": notes }), "{hidden:?}");
        assert_eq!(after[6]["structuredContent"]["fileCount"], notes);
    }
}

#[test]
fn a_closed_folder_is_refused_and_an_ignored_one_does_not_exist() {
    let vault = Vault::new(&[("pub/a.md", b""), ("gone/a.md", b""), ("secret/a.md", b"")]);
    vault.write(".lapidaryignore", b"gone/\n");
    let mut server = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "secret")]).open(Era::Modern);
    for folder in ["secret", "Secret/none", ".obsidian"] {
        assert_eq!(server.refused("obsidian_list_notes", json!({ "path": folder })), "path_forbidden", "{folder}");
        assert_eq!(server.refused("file_list", json!({ "directory": folder })), "path_forbidden", "{folder}");
        let find = json!({ "query": "", "directory": folder });
        assert_eq!(server.refused("file_find", find), "path_forbidden", "{folder}");
    }
    for folder in ["gone", "none"] {
        assert_eq!(server.refused("obsidian_list_notes", json!({ "path": folder })), "directory_missing", "{folder}");
        let listed = server.done("file_list", json!({ "directory": folder }));
        let notice = format!("There is no folder `{folder}`.");
        assert_eq!(listed, json!({ "entries": [], "total": 0, "notice": notice }));
    }
    assert_eq!(server.refused("obsidian_list_notes", json!({ "path": "pub/../.." })), "path_traversal");
    let is_file = server.call("obsidian_list_notes", json!({ "path": "pub/a.md" }));
    assert_eq!(is_file["structuredContent"]["error"]["code"], -32007);
    assert_eq!(is_file["structuredContent"]["error"]["data"]["reason"], "path_is_file");
}

#[test]
fn each_vault_is_listed_by_itself() {
    let (one, two) = (Vault::new(&[("a.md", b"#one")]), Vault::new(&[("b.md", b"#two"), ("c.md", b"")]));
    let mut command = one.command();
    command.arg("--vault").arg(one.path()).arg("--vault").arg(format!("two={}", two.path().display()));
    let mut server = Server::start(&command).open(Era::Modern);
    let vaults = json!({ "vaults": [{ "name": "Notes" }, { "name": "two" }] });
    assert_eq!(server.done("vault_list", json!({})), vaults);
    assert_eq!(server.done("vault.list", json!({ "vault": "two" })), vaults, "as callers had to ask before");
    assert_eq!(server.refused("vault_info", json!({})), "vault_required");
    assert_eq!(
        server.done("vault_info", json!({ "vault": "two" })),
        json!({ "name": "two", "fileCount": 2, "sizeBytes": 4 })
    );
    assert_eq!(paths(&server.done("obsidian_list_notes", json!({ "vault": "Notes" }))["entries"]), ["a.md"]);
    assert_eq!(server.done("tags_list", json!({ "vault": "two" }))["tags"], json!([{ "tag": "two", "count": 1 }]));
}

#[test]
fn the_tree_is_drawn_as_it_is() {
    let vault = Vault::new(&[
        ("a/b/c.md", b""),
        ("a/d.png", b""),
        ("a.md", b""),
        ("a b/```.md", b""),
        ("z/\u{2028}> said.md", b""),
        ("z/Gr\u{fc}\u{df}e \u{77f3}.MD", b""),
    ]);
    std::fs::create_dir(vault.path().join("empty")).unwrap();
    let mut server = vault.serve().open(Era::Modern);
    let text = |server: &mut Server, arguments: Value| {
        server.call("obsidian_list_notes", arguments)["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        text(&mut server, json!({})),
        "(vault root): 5 files, 5 folders, depth 2\n\
         ````\n\
         ├── a b/\n\
         │   └── ```.md\n\
         ├── a.md\n\
         ├── a/\n\
         │   ├── b/ …\n\
         │   └── d.png\n\
         ├── empty/\n\
         └── z/\n\
         \u{20}   ├── Grüße 石.MD\n\
         \u{20}   └── \\u2028> said.md\n\
         ````"
    );
    assert_eq!(
        text(&mut server, json!({ "path": "/z/", "extension": ".md", "nameRegex": "^Gr" })),
        "`/z/`: 1 file, 0 folders, depth 2 · filters: extension=`.md`, nameRegex=`^Gr`\n```\n└── Grüße 石.MD\n```"
    );
    let empty = server.call("obsidian_list_notes", json!({ "path": "empty" }));
    assert_eq!(empty["content"][1]["text"], "\n\n> The directory is empty.", "{empty}");
}

#[test]
fn the_number_of_entries_is_limited_and_the_rest_is_reported() {
    let vault = Vault::new(&[]);
    (0..1203).for_each(|number| vault.write(&format!("many/{number:04}.md"), b""));
    let mut server = vault.serve().open(Era::Modern);
    let listed = server.done("obsidian_list_notes", json!({}));
    assert_eq!(listed["totals"], json!({ "entries": 1000, "files": 999, "directories": 1 }));
    assert_eq!((&listed["excluded"]["reason"], &listed["excluded"]["cap"]), (&json!("entry_cap"), &json!(1000)));
    assert!(
        listed["excluded"]["hint"].as_str().unwrap().starts_with("Not shown: 204 more entries"),
        "{}",
        listed["excluded"]
    );

    let (mut seen, mut offset) = (Vec::new(), Some(json!(0)));
    while let Some(from) = offset {
        let page = server.done("file_list", json!({ "directory": "many", "limit": 500, "offset": from }));
        assert_eq!(page["total"], 1203);
        seen.extend(paths(&page["entries"]).into_iter().map(str::to_owned));
        offset = page.get("nextOffset").cloned();
    }
    assert_eq!(seen, (0..1203).map(|number| format!("many/{number:04}.md")).collect::<Vec<_>>());
}

#[test]
fn folders_have_the_time_of_the_newest_file_in_them_and_no_size() {
    let vault = Vault::new(&[("a/old.md", b"old"), ("a/b/new.md", b"newer")]);
    std::fs::create_dir(vault.path().join("empty")).unwrap();
    let at = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let set = |path: &str, seconds| {
        let file = std::fs::File::options().write(true).open(vault.path().join(path)).unwrap();
        file.set_modified(at(seconds)).unwrap();
    };
    set("a/old.md", 1000);
    set("a/b/new.md", 2000);
    let mut server = vault.serve().open(Era::Modern);
    let entry = |path: &str, kind: &str, bytes: u64, time: u64| json!({ "path": path, "type": kind, "sizeBytes": bytes, "mtimeMs": time });
    let folders = [entry("a", "directory", 0, 2_000_000), entry("empty", "directory", 0, 0)];
    assert_eq!(server.done("file_list", json!({}))["entries"], json!(folders));
    let below = [entry("a/b", "directory", 0, 2_000_000), entry("a/old.md", "file", 3, 1_000_000)];
    assert_eq!(server.done("file_list", json!({ "directory": "a" }))["entries"], json!(below));
}

#[test]
fn odd_names_and_bytes_count_like_others() {
    let vault = Vault::new(&[
        ("Cafe\u{301}.md", b"\xef\xbb\xbf---\r\ntags: [Caf\xc3\xa9]\r\n---\r\n#work/plan\r\n"),
        (" x '\"&.MD", b"#WORK \xff #caf\xc3\xa9"),
        ("12:30.txt", b"#none"),
        ("[a].md", b"`#none`"),
    ]);
    let mut server = vault.serve().open(Era::Modern);
    let tags = server.done("obsidian_list_tags", json!({}));
    let counts: Vec<(&str, u64)> = tags["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (tag["name"].as_str().unwrap(), tag["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("café", 2), ("WORK", 2), ("work/plan", 1)]);
    assert_eq!(
        server.done("tags_list", json!({ "file": "Cafe\u{301}.md" }))["tags"],
        json!([{ "tag": "Café", "count": 1 }, { "tag": "work/plan", "count": 1 }])
    );
    for (mode, query) in
        [("exact", "Caf\u{e9}.md"), ("substring", "f\u{e9}"), ("glob", "Caf\u{e9}*"), ("regex", "\u{e9}")]
    {
        let found = server.done("file_find", json!({ "query": query, "mode": mode }));
        assert_eq!(paths(&found["matches"]), ["Cafe\u{301}.md"], "{mode}");
    }
    assert_eq!(paths(&server.done("file_find", json!({ "query": "[[]a].md", "mode": "glob" }))["matches"]), ["[a].md"]);
    assert_eq!(server.done("vault_info", json!({}))["fileCount"], 3);
    let found = server.done("file_find", json!({ "query": "", "mode": "substring" }));
    assert_eq!(paths(&found["matches"]), [" x '\"&.MD", "12:30.txt", "Cafe\u{301}.md", "[a].md"]);
}

#[test]
fn a_listing_is_current() {
    let vault = Vault::new(&[("a.md", b"#one")]);
    let mut server = vault.serve().open(Era::Modern);
    let tags = |server: &mut Server| server.done("tags_list", json!({}))["tags"].as_array().unwrap().len();
    assert_eq!(tags(&mut server), 1);
    vault.write("b/c.md", b"#two");
    assert_eq!(tags(&mut server), 2);
    server.done("str_replace", json!({ "file": "a.md", "find": "#one", "replace": "one" }));
    assert_eq!(tags(&mut server), 1);
    std::fs::remove_dir_all(vault.path().join("b")).unwrap();
    assert_eq!(paths(&server.done("obsidian_list_notes", json!({}))["entries"]), ["a.md"]);
}

#[test]
fn expressions_that_cannot_be_used_say_why() {
    let vault = Vault::new(&[("a.md", b"#a")]);
    let mut server = vault.serve().open(Era::Modern);
    for tool in ["obsidian_list_notes", "obsidian_list_tags"] {
        for (regex, expected) in
            [("(", "regex_invalid"), ("(?!b)(a+)+$", "regex_unsafe"), (&"a".repeat(257), "regex_unsafe")]
        {
            let refused = server.call(tool, json!({ "nameRegex": regex }));
            let error = &refused["structuredContent"]["error"];
            assert_eq!(
                (&error["code"], &error["data"]["reason"]),
                (&json!(-32007), &json!(expected)),
                "{tool} {regex}"
            );
            assert!(error["data"]["nameRegex"].is_string(), "{error}");
        }
    }
    let refused = server.call("file_find", json!({ "query": "(", "mode": "regex" }));
    assert_eq!(refused["structuredContent"]["code"], "INVALID_ARGS", "{refused}");
}

#[test]
fn the_owner_sets_a_budget_and_a_call_its_own() {
    let vault = Vault::new(&[("a.md", b"a"), ("b.md", b"b"), ("c.png", b"c")]);
    let mut server = vault.serve_with(&[], &[("MCP_MAX_FILES_SCANNED", "1")]).open(Era::Modern);
    let budget = |most: u64| json!({ "_budget": { "maxFilesScanned": most } });
    for (arguments, count, truncated) in
        [(json!({}), 1, true), (budget(0), 2, false), (budget(2), 2, false), (budget(1), 1, true)]
    {
        let info = server.done("vault_info", arguments.clone());
        assert_eq!((&info["fileCount"], info["truncated"] == true), (&json!(count), truncated), "{arguments}");
        assert_eq!(info.get("hint").is_some(), truncated, "{info}");
    }
}
