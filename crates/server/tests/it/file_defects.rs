//! Defects of the original file tools: each test would fail there.

use std::time::{Duration, SystemTime};

use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, reason};

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&["--tools", "files"], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

fn hash(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string()
}

#[test]
fn of_eight_edits_with_one_hash_one_is_made() {
    let vault = Vault::new(&[("a.md", b"start\n")]);
    let mut server = serve(&vault);
    let ask = |server: &mut Server, number: usize, more: Value| {
        let mut arguments = json!({ "file": "a.md", "line": 1, "content": format!("line {number}") });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.ask("tools/call", json!({ "name": "lines_insert", "arguments": arguments }))
    };
    let expected = json!({ "expected_content_hash": hash("start\n") });
    let ids: Vec<u64> = (0..8).map(|number| ask(&mut server, number, expected.clone())).collect();
    let mut replies = replies(&mut server, &ids);
    let (made, stale): (Vec<Value>, Vec<Value>) = replies.drain(..).partition(|reply| reply["isError"] != true);
    assert_eq!((made.len(), stale.len()), (1, 7));
    assert!(stale.iter().all(|reply| reason(reply) == "stale_precondition"));
    assert_eq!(vault.read("a.md").iter().filter(|byte| **byte == b'\n').count(), 2);
    // Without a hash nothing is expected, and nothing is lost.
    let ids: Vec<u64> = (10..18).map(|number| ask(&mut server, number, json!({}))).collect();
    assert!(self::replies(&mut server, &ids).iter().all(|reply| reply["isError"] != true));
    let text = String::from_utf8(vault.read("a.md")).unwrap();
    assert!((10..18).all(|number| text.contains(&format!("line {number}\n"))), "{text}");
}

/// The answers to concurrent requests, in any order.
fn replies(server: &mut Server, ids: &[u64]) -> Vec<Value> {
    let mut found = Vec::new();
    while found.len() < ids.len() {
        let message = server.message();
        if ids.iter().any(|id| message["id"] == *id) {
            found.push(message["result"].clone());
        }
    }
    found
}

const WINDOWS: &str = "\u{feff}---\r\nid: 007\r\n---\r\n# A\r\n\r\ntext ^t\r\n\r\n## B\r\n- one\r\n- two ^i";

/// Every writer that changes a file, with its effect on the note above: the old text and the new.
fn edits() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let section = "# A\r\n\r\ntext ^t\r\n\r\n## B\r\n- one\r\n- two ^i";
    vec![
        ("str_replace", json!({ "find": "text", "replace": "words" }), "text ^t", "words ^t"),
        (
            "apply_edits",
            json!({ "edits": [{ "find": "one\n- two", "replace": "1\n- 2" }] }),
            "one\r\n- two",
            "1\r\n- 2",
        ),
        (
            "apply_patch",
            json!({ "patch": "@@ -6 +6,2 @@\n-text ^t\n+words\n+more ^t\n" }),
            "text ^t",
            "words\r\nmore ^t",
        ),
        (
            "lines_replace",
            json!({ "from": 6, "to": 7, "content": "x\n", "expected_range_hash": hash("text ^t\r\n\r\n") }),
            "text ^t\r\n\r\n",
            "x\r\n",
        ),
        ("lines_insert", json!({ "line": 5, "content": "new\nlines" }), "# A\r\n", "# A\r\nnew\r\nlines\r\n"),
        (
            "heading_replace_body",
            json!({ "heading": "B", "content": "- x", "expected_section_hash": hash("## B\r\n- one\r\n- two ^i") }),
            "- one\r\n- two ^i",
            "- x",
        ),
        (
            "heading_rename",
            json!({ "heading": "A", "newText": "Z", "expected_section_hash": hash(section) }),
            "# A",
            "# Z",
        ),
        (
            "block_replace",
            json!({ "blockId": "i", "content": "2", "expected_block_hash": hash("- two ^i") }),
            "- two ^i",
            "- 2 ^i",
        ),
        (
            "block_rename",
            json!({ "blockId": "t", "newId": "u", "expected_block_hash": hash("text ^t\r\n") }),
            "text ^t",
            "text ^u",
        ),
        (
            "frontmatter_set",
            json!({ "keyPath": "x", "value": 1, "expected_frontmatter_hash": hash("\u{feff}---\r\nid: 007\r\n---\r\n") }),
            "id: 007\r\n",
            "id: 007\r\nx: 1\r\n",
        ),
        (
            "frontmatter_update",
            json!({ "set": { "x": [1] }, "expected_frontmatter_hash": hash("\u{feff}---\r\nid: 007\r\n---\r\n") }),
            "id: 007\r\n",
            "id: 007\r\nx:\r\n  - 1\r\n",
        ),
        (
            "frontmatter_delete",
            json!({ "keyPath": "id", "expected_frontmatter_hash": hash("\u{feff}---\r\nid: 007\r\n---\r\n") }),
            "---\r\nid: 007\r\n---\r\n",
            "",
        ),
        ("file_append", json!({ "content": "end" }), "- two ^i", "- two ^i\r\n\r\nend\r\n"),
    ]
}

#[test]
fn no_writer_changes_a_byte_that_nobody_meant() {
    for (tool, mut arguments, old, new) in edits() {
        let vault = Vault::new(&[("n.md", WINDOWS.as_bytes())]);
        let mut server = serve(&vault);
        arguments["file"] = json!("n.md");
        let mut dry = arguments.clone();
        dry["dry_run"] = json!(true);
        let shown = server.done(tool, dry);
        assert!(shown["diff"].as_str().unwrap().starts_with("--- n.md\n+++ n.md\n"), "{tool}: {shown}");
        assert_eq!(vault.read("n.md"), WINDOWS.as_bytes(), "{tool}");
        let done = server.done(tool, arguments);
        let after = WINDOWS.replacen(old, new, 1);
        assert_eq!(String::from_utf8(vault.read("n.md")).unwrap(), after, "{tool}");
        assert_eq!(done["contentHash"], hash(&after), "{tool}");
        assert_eq!(shown["contentHash"], done["contentHash"], "{tool}");
        assert_eq!((&done["sizeBefore"], &done["sizeAfter"]), (&json!(WINDOWS.len()), &json!(after.len())), "{tool}");
    }
}

#[test]
fn a_note_that_is_not_utf8_is_read_and_left_alone() {
    let broken = b"# A\n\xff\xfe text ^t\n";
    let vault = Vault::new(&[("n.md", broken)]);
    let mut server = serve(&vault);
    for (tool, mut arguments, _, _) in edits() {
        arguments["file"] = json!("n.md");
        assert_eq!(server.refused(tool, arguments), "not_text", "{tool}");
    }
    let hash = ContentHash::of(broken).to_string();
    let replaced = json!({ "file": "n.md", "content": "x", "expected_content_hash": hash });
    assert_eq!(server.refused("file_replace", replaced), "not_text");
    assert_eq!(vault.read("n.md"), broken);
    for (tool, arguments) in [
        ("file_read_range", json!({ "file": "n.md", "from": 1, "to": 9 })),
        ("outline", json!({ "file": "n.md" })),
        ("heading_find", json!({ "file": "n.md", "heading": "A" })),
        ("block_find", json!({ "file": "n.md", "blockId": "t" })),
        ("frontmatter_get", json!({ "file": "n.md" })),
    ] {
        let read = server.done(tool, arguments);
        assert!(read["notice"].as_str().unwrap().contains("not valid UTF-8"), "{tool}: {read}");
        assert_eq!(read["contentHash"], hash, "{tool}");
    }
}

#[cfg(unix)]
#[test]
fn mode_and_link_of_a_note_stay() {
    use std::os::unix::fs::PermissionsExt;
    for (tool, mut arguments, old, new) in edits() {
        let vault = Vault::new(&[("real/n.md", WINDOWS.as_bytes())]);
        let (real, link) = (vault.path().join("real/n.md"), vault.path().join("link.md"));
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("real/n.md", &link).unwrap();
        arguments["file"] = json!("link.md");
        serve(&vault).done(tool, arguments);
        assert!(link.symlink_metadata().unwrap().is_symlink(), "{tool}");
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{tool}");
        assert_eq!(vault.read("real/n.md"), WINDOWS.replacen(old, new, 1).as_bytes(), "{tool}");
    }
}

#[test]
fn a_block_id_names_what_it_stands_at() {
    let note = "- a\n- b ^last\n\n- p ^outer\n  - n ^nested\n\n| h |\n| - |\n| r ^row |\n\n> quote\n\n^quote\n\n| t |\n| - |\n| u |\n\n^table\n";
    let vault = Vault::new(&[("n.md", note.as_bytes())]);
    let mut server = serve(&vault);
    for (id, kind, start, end) in [
        ("last", "list-item", 2, 2),
        ("outer", "list-item", 4, 4),
        ("nested", "list-item", 5, 5),
        ("row", "table-row", 9, 9),
        ("quote", "other", 11, 13),
        ("table", "other", 15, 19),
    ] {
        let found = server.done("block_find", json!({ "file": "n.md", "blockId": id }))["matches"][0].clone();
        assert_eq!(
            (&found["structuralType"], &found["startLine"], &found["endLine"]),
            (&json!(kind), &json!(start), &json!(end)),
            "{id}: {found}"
        );
        let lines: String = note.split_inclusive('\n').skip(start - 1).take(end - start + 1).collect();
        assert_eq!(found["blockHash"], hash(&lines), "{id}");
    }
    for (id, content, old, new) in [
        ("last", "B\n", "- b ^last", "- B ^last"),
        ("nested", "- N", "  - n ^nested", "  - N ^nested"),
        ("row", "R", "| r ^row |", "| R ^row |"),
        ("quote", "words", "> quote\n\n^quote", "> words\n\n^quote"),
    ] {
        let before = String::from_utf8(vault.read("n.md")).unwrap();
        let found = server.done("block_find", json!({ "file": "n.md", "blockId": id }))["matches"][0].clone();
        let arguments =
            json!({ "file": "n.md", "blockId": id, "content": content, "expected_block_hash": found["blockHash"] });
        let done = server.done("block_replace", arguments);
        assert_eq!(String::from_utf8(vault.read("n.md")).unwrap(), before.replacen(old, new, 1), "{id}");
        let found = server.done("block_find", json!({ "file": "n.md", "blockId": id }))["matches"][0].clone();
        assert_eq!(done["blockHash"], found["blockHash"], "{id}");
    }
}

/// Finds a heading and calls a tool with its hash.
fn at_heading(server: &mut Server, tool: &str, mut arguments: Value) -> Value {
    let mut find = json!({ "file": arguments["file"], "heading": arguments["heading"] });
    for name in ["occurrence", "line", "delimiter"] {
        if let Some(given) = arguments.get(name) {
            find[name] = given.clone();
        }
    }
    let found = server.done("heading_find", find);
    arguments["expected_section_hash"] = found["matches"][0]["sectionHash"].clone();
    server.call(tool, arguments)
}

#[test]
fn every_kind_of_heading_survives_its_edits() {
    for (before, tool, arguments, after) in [
        ("A\n===\nold\n", "heading_replace_body", json!({ "heading": "A", "content": "new" }), "A\n===\nnew\n"),
        ("A\n---\nold\n", "heading_rename", json!({ "heading": "A", "newText": "B" }), "B\n---\nold\n"),
        ("## S", "heading_replace_body", json!({ "heading": "S", "content": "body" }), "## S\nbody"),
        ("## S ##\nx\n", "heading_rename", json!({ "heading": "S", "newText": "T" }), "## T ##\nx\n"),
        ("## S ##\nx\n", "heading_replace_body", json!({ "heading": "S", "content": "y" }), "## S ##\ny\n"),
    ] {
        let vault = Vault::new(&[("n.md", before.as_bytes())]);
        let mut server = serve(&vault);
        let mut arguments = arguments;
        arguments["file"] = json!("n.md");
        let result = at_heading(&mut server, tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        assert_eq!(String::from_utf8(vault.read("n.md")).unwrap(), after);
    }
    let vault = Vault::new(&[("n.md", b"# A\n")]);
    let mut server = serve(&vault);
    let result =
        at_heading(&mut server, "heading_rename", json!({ "file": "n.md", "heading": "A", "newText": "B\n# C" }));
    assert_eq!(reason(&result), "edit_refused");
    assert_eq!(vault.read("n.md"), b"# A\n");
}

#[test]
fn headings_with_one_path_can_be_told_apart() {
    let note = "# P\n## N\none\n## N\ntwo\n";
    for more in [json!({ "occurrence": 2 }), json!({ "line": 4 })] {
        let vault = Vault::new(&[("n.md", note.as_bytes())]);
        let mut server = serve(&vault);
        let mut arguments = json!({ "file": "n.md", "heading": "P::N", "content": "new" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let result = at_heading(&mut server, "heading_replace_body", arguments);
        assert_ne!(result["isError"], true, "{result}");
        assert_eq!(vault.read("n.md"), b"# P\n## N\none\n## N\nnew\n");
    }
    let vault = Vault::new(&[("n.md", note.as_bytes())]);
    let mut server = serve(&vault);
    let refused = server.call(
        "heading_replace_body",
        json!({ "file": "n.md", "heading": "N", "content": "x", "expected_section_hash": hash(note) }),
    )["structuredContent"]
        .clone();
    assert_eq!(refused["code"], "DUPLICATE_TARGET");
    let matches = refused["details"]["matches"].as_array().unwrap();
    assert_eq!(
        (&matches[0]["path"], &matches[1]["line"], &matches[1]["id"]),
        (&json!("P::N"), &json!(4), &json!("h-3"))
    );
    assert!(refused["hint"].as_str().unwrap().contains("`occurrence: 2` (line 4)"), "{refused}");
    // The refusal has enough information to go on.
    let second = json!({
        "file": "n.md", "heading": "N", "occurrence": matches[1]["occurrence"], "content": "new",
        "expected_section_hash": matches[1]["sectionHash"],
    });
    server.done("heading_replace_body", second);
    let found = server.done("heading_find", json!({ "file": "n.md", "heading": "P > N", "delimiter": " > " }));
    assert_eq!(found["matches"].as_array().unwrap().len(), 2, "{found}");
}

#[test]
fn real_links_follow_a_renamed_block() {
    let vault = Vault::new(&[
        ("sub/T.md", b"see [[#^b]]\n\ntext ^b\n"),
        ("a.md", b"[[T#^b]] ![[sub/T.md#^B|x]] [m](sub/T.md#^b) [[T^b]] `[[T#^b]]`\n"),
        ("b.md", b"---\nup: \"[[t#^b]]\"\n---\n[r]\n\n[r]: sub/T.md#^b\n"),
        ("T.txt", b"[[T#^b]]\n"),
    ]);
    let mut server = serve(&vault);
    let arguments =
        json!({ "file": "sub/T.md", "blockId": "b", "newId": "c-1", "expected_block_hash": hash("text ^b\n") });
    let done = server.done("block_rename", arguments);
    assert_eq!((&done["referencesUpdated"], &done["filesUpdated"]), (&json!(6), &json!(2)), "{done}");
    for (path, after) in [
        ("sub/T.md", "see [[#^c-1]]\n\ntext ^c-1\n"),
        ("a.md", "[[T#^c-1]] ![[sub/T.md#^c-1|x]] [m](sub/T.md#^c-1) [[T^b]] `[[T#^b]]`\n"),
        ("b.md", "---\nup: \"[[t#^c-1]]\"\n---\n[r]\n\n[r]: sub/T.md#^c-1\n"),
        ("T.txt", "[[T#^b]]\n"),
    ] {
        assert_eq!(String::from_utf8(vault.read(path)).unwrap(), after, "{path}");
    }
}

#[test]
fn properties_that_nobody_set_stay_as_they_are_written() {
    let long = "word ".repeat(40);
    let block = format!(
        "---\nid: 007\nlong: {long}end\nlist:\n- a\n-   b\nmap: {{ x: 1,y: 2 }}\ntext: |\n  one\n  two\nn: ~\n---\n"
    );
    let vault = Vault::new(&[("n.md", format!("{block}body\n").as_bytes()), ("bad.md", b"---\na: b: c\n---\nbody\n")]);
    let mut server = serve(&vault);
    let set = json!({ "file": "n.md", "keyPath": "map.x", "value": 9, "expected_frontmatter_hash": hash(&block) });
    let done = server.done("frontmatter_set", set);
    let after = block.replace("x: 1,y", "x: 9,y");
    assert_eq!(String::from_utf8(vault.read("n.md")).unwrap(), format!("{after}body\n"));
    assert_eq!(done["frontmatterHash"], hash(&after));

    let read = server.done("frontmatter_get", json!({ "file": "bad.md" }));
    assert_eq!(read["data"], json!({}));
    assert!(read["notice"].as_str().unwrap().contains("line 2"), "{read}");
    let set =
        json!({ "file": "bad.md", "keyPath": "x", "value": 1, "expected_frontmatter_hash": read["frontmatterHash"] });
    let refused = server.call("frontmatter_set", set)["structuredContent"].clone();
    assert_eq!((&refused["code"], &refused["error"]["reason"]), (&json!("PARSE_ERROR"), &json!("frontmatter_invalid")));
    assert_eq!(vault.read("bad.md"), b"---\na: b: c\n---\nbody\n");
}

#[test]
fn a_deleted_property_leaves_nothing_behind() {
    for (before, path, after) in [
        ("---\na: 1\nb:\n  c:\n    d: 1\n---\nx\n", "b.c.d", "---\na: 1\n---\nx\n"),
        ("---\na: [x]\nb: 1\n---\nx\n", "a.0", "---\nb: 1\n---\nx\n"),
        ("---\na: 1\n---\nx\n", "a", "x\n"),
    ] {
        let vault = Vault::new(&[("n.md", before.as_bytes())]);
        let mut server = serve(&vault);
        let read = server.done("frontmatter_get", json!({ "file": "n.md" }));
        let delete = json!({ "file": "n.md", "keyPath": path, "expected_frontmatter_hash": read["frontmatterHash"] });
        server.done("frontmatter_delete", delete);
        assert_eq!(String::from_utf8(vault.read("n.md")).unwrap(), after);
    }
}

#[test]
fn a_patch_is_taken_at_its_word() {
    for (before, patch, after) in [
        ("a\nb\n", "@@ -1,0 +2 @@\n+x\n", Ok("a\nx\nb\n")),
        ("", "@@ -0,0 +1 @@\n+x\n", Ok("x\n")),
        ("a\r\n\r\nb\r\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", Ok("a\r\n\r\nc\r\n")),
        ("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", Ok("a\n")),
        ("a\n", "@@ -9,0 +10 @@\n+x\n", Err("patch_mismatch")),
        ("a\n", "@@ -1,2 +1,2 @@\n-a\n+b\n", Err("patch_invalid")),
        ("a\n", "no patch", Err("patch_invalid")),
        ("b\na\n", "@@ -1 +1 @@\n-a\n+x\n", Err("patch_mismatch")),
    ] {
        let vault = Vault::new(&[("n.md", before.as_bytes())]);
        let result = serve(&vault).call("apply_patch", json!({ "file": "n.md", "patch": patch }));
        let outcome = if result["isError"] == true { Err(reason(&result)) } else { Ok(()) };
        assert_eq!(outcome, after.map(|_| ()).map_err(str::to_owned), "{patch}");
        assert_eq!(String::from_utf8(vault.read("n.md")).unwrap(), after.unwrap_or(before), "{patch}");
        if outcome == Err("patch_mismatch".to_owned()) {
            let content = &result["structuredContent"];
            assert_eq!(content["code"], "STALE_PRECONDITION");
            assert_eq!(content["error"]["current_content_hash"], hash(before));
        }
    }
}

#[test]
fn a_change_that_leaves_size_and_time_as_they_were_is_seen() {
    let vault = Vault::new(&[("n.md", b"# A\none\n")]);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let age = || {
        let file = std::fs::File::options().write(true).open(vault.path().join("n.md")).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    age();
    let mut server = serve(&vault);
    let read = server.done("outline", json!({ "file": "n.md" }));
    vault.write("n.md", b"# A\ntwo\n");
    age();
    let stale = json!({
        "file": "n.md", "heading": "A", "content": "new", "expected_section_hash": read["headings"][0]["sectionHash"],
    });
    assert_eq!(server.refused("heading_replace_body", stale), "stale_precondition");
    server.done("lines_insert", json!({ "file": "n.md", "line": 3, "content": "three" }));
    assert_eq!(vault.read("n.md"), b"# A\ntwo\nthree\n");
}

#[test]
fn tags_are_renamed_where_obsidian_reads_them() {
    let vault = Vault::new(&[
        ("a.md", "---\ntags: [größe, x]\n---\n#Größe/klein `#größe`\n".as_bytes()),
        ("fixed/b.md", "#größe\n".as_bytes()),
        ("c.md", b"\xff #gr\xc3\xb6\xc3\x9fe\n"),
        (".lapidaryprotect", b"fixed/\n"),
    ]);
    let mut server = serve(&vault);
    let arguments = json!({ "from": "#GRÖSSE", "to": "maß" });
    assert_eq!(server.done("tag_rename", arguments)["changed"], false, "`ß` is not `SS`");
    let arguments = json!({ "from": "GRÖßE", "to": "maß" });
    let dry = server.done("tag_rename", json!({ "from": "größe", "to": "maß", "dry_run": true }));
    assert!(dry["diff"].as_str().unwrap().contains("+#maß/klein"), "{dry}");
    let done = server.done("tag_rename", arguments);
    assert_eq!((&done["filesChanged"], &done["replacedCount"], &done["filesLeft"]), (&json!(1), &json!(2), &json!(2)));
    assert_eq!(done["left"][1]["file"], "fixed/b.md", "{done}");
    assert_eq!(vault.read("a.md"), "---\ntags: [maß, x]\n---\n#maß/klein `#größe`\n".as_bytes());
    assert_eq!(vault.read("fixed/b.md"), "#größe\n".as_bytes());
}

#[test]
fn links_in_notes_that_may_not_be_changed_are_counted() {
    let files: &[(&str, &[u8])] = &[
        ("open/T.md", b"# Old\n"),
        ("open/a.md", b"[[T#Old]]\n"),
        ("read/b.md", b"[[T#Old]] [[T#Old|x]]\n"),
        ("hidden/c.md", b"[[T#Old]]\n"),
    ];
    let vault = Vault::new(files);
    let environment =
        [("OBSIDIAN_READ_PATHS", "open,read"), ("OBSIDIAN_WRITE_PATHS", "open"), ("LAPIDARY_REPETITION", "off")];
    let mut server = vault.serve_with(&["--tools", "files"], &environment).open(Era::Modern);
    let rename =
        json!({ "file": "open/T.md", "heading": "Old", "newText": "New", "expected_section_hash": hash("# Old\n") });
    let done = server.done("heading_rename", rename);
    assert_eq!((&done["referencesUpdated"], &done["referencesLeft"]), (&json!(1), &json!(2)), "{done}");
    assert_eq!((vault.read("open/a.md"), vault.read("read/b.md")), (b"[[T#New]]\n".to_vec(), files[2].1.to_vec()));
    assert_eq!(vault.read("hidden/c.md"), files[3].1);
}

#[test]
fn every_writer_takes_the_hash_of_the_file() {
    for (tool, mut arguments, _, _) in edits() {
        let vault = Vault::new(&[("n.md", WINDOWS.as_bytes())]);
        let mut server = serve(&vault);
        arguments["file"] = json!("n.md");
        arguments["expected_content_hash"] = json!("sha256:000000000000");
        let refused = server.call(tool, arguments.clone())["structuredContent"].clone();
        assert_eq!(refused["code"], "STALE_PRECONDITION", "{tool}");
        assert_eq!(refused["error"]["current_content_hash"], hash(WINDOWS), "{tool}");
        assert_eq!(refused["details"]["actual"], hash(WINDOWS), "{tool}");
        assert_eq!(vault.read("n.md"), WINDOWS.as_bytes());
        arguments["expected_content_hash"] = refused["error"]["current_content_hash"].clone();
        server.done(tool, arguments);
    }
    let vault = Vault::new(&[]);
    let mut server = serve(&vault);
    for tool in ["file_create", "file_append"] {
        let arguments = json!({ "file": "n.md", "content": "x", "expected_content_hash": hash("gone") });
        assert_eq!(server.refused(tool, arguments), "stale_precondition", "{tool}");
    }
    assert!(vault.everything().is_empty());
}

#[test]
fn what_is_missing_is_not_found_and_names_nothing_of_the_machine() {
    let vault = Vault::new(&[("folder/a.md", b"x")]);
    let around = vault.path().parent().unwrap().to_str().unwrap().to_owned();
    let mut server = serve(&vault);
    let mut calls: Vec<(&str, Value)> = edits()
        .into_iter()
        .filter(|(tool, ..)| *tool != "file_append")
        .map(|(tool, arguments, ..)| (tool, arguments))
        .collect();
    calls.extend([
        ("file_read_range", json!({ "from": 1, "to": 1 })),
        ("outline", json!({})),
        ("heading_find", json!({ "heading": "A" })),
        ("block_find", json!({ "blockId": "t" })),
        ("frontmatter_get", json!({})),
        ("file_replace", json!({ "content": "x" })),
    ]);
    for (tool, mut arguments) in calls {
        for (file, code, id) in
            [("none.md", "NOT_FOUND", "note_missing"), ("folder", "INVALID_ARGS", "path_is_directory")]
        {
            arguments["file"] = json!(file);
            let refused = server.call(tool, arguments.clone());
            assert_eq!(
                (&refused["structuredContent"]["code"], &*reason(&refused)),
                (&json!(code), id),
                "{tool} {file}"
            );
            assert!(!refused.to_string().contains(&around), "{refused}");
        }
    }
    for path in ["a..b", "."] {
        let arguments = json!({ "file": "folder/a.md", "keyPath": path });
        assert_eq!(server.refused("frontmatter_get", arguments), "invalid_arguments", "{path}");
    }
}

#[test]
fn a_batch_that_fails_loses_nothing() {
    let image = b"\x89PNG\xff\xfe";
    let vault = Vault::new(&[
        ("a.md", b"a\n"),
        ("b.md", b"b\n"),
        ("i.png", image),
        ("fixed.md", b"f\n"),
        (".obsidian/app.json", br#"{"trashOption":"local"}"#),
    ]);
    let before = vault.everything();
    let mut server = serve(&vault);
    let ops = |last: Value| {
        json!({ "ops": [
            { "tool": "file.move", "args": { "from": "a.md", "to": "b.md", "on_conflict": "overwrite" } },
            { "tool": "file.move", "args": { "from": "i.png", "to": "new/deep/i.png" } },
            { "tool": "file.delete", "args": { "file": "fixed.md" } },
            last,
        ] })
    };
    let refused = server.done(
        "bulk_apply",
        ops(json!({ "tool": "str_replace", "args": { "file": "b.md", "find": "zzz", "replace": "" } })),
    );
    assert_eq!(refused["validated"], false);
    assert_eq!(vault.everything(), before);
    assert!(!vault.path().join("new").exists(), "no folder is left behind");
    // A batch that works loses nothing either: a file in the way is in the trash, byte for byte.
    let done = server.done(
        "bulk_apply",
        ops(json!({ "tool": "str_replace", "args": { "file": "b.md", "find": "a", "replace": "A" } })),
    );
    assert_eq!(
        (vault.read("b.md"), vault.read(".trash/b.md"), vault.read("new/deep/i.png")),
        (b"A\n".into(), b"b\n".into(), image.into())
    );
    drop(server);
    let mut server = vault.serve_with(&["--tools", "all"], &[]).open(Era::Modern);
    server.done("checkpoint_restore", json!({ "id": done["checkpoint"] }));
    let mut after = vault.everything();
    after.retain(|path, _| !path.starts_with(".trash/"));
    assert_eq!(after, before);
}

#[test]
fn operations_on_one_file_follow_each_other() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let mut server = serve(&vault);
    let edit = |file: &str, find: &str, replace: &str, expected: &str| json!({ "tool": "str_replace", "args": { "file": file, "find": find, "replace": replace, "expected_content_hash": hash(expected) } });
    let create = json!({ "tool": "file_create", "args": { "file": "b.md", "content": "x\n" } });
    let ops = json!([
        create,
        edit("b.md", "x", "y", "x\n"),
        edit("a.md", "one", "two", "one\n"),
        edit("a.md", "two", "three", "two\n")
    ]);
    assert_eq!(server.done("bulk_apply", json!({ "ops": ops }))["rolled_back"], false);
    assert_eq!((vault.read("a.md"), vault.read("b.md")), (b"three\n".into(), b"y\n".into()));
    // Two that expect the same content cannot both be right, and that is known before anything is written.
    let both = json!([edit("a.md", "three", "3", "three\n"), edit("a.md", "t", "T", "three\n")]);
    let refused = server.done("bulk_apply", json!({ "ops": both }));
    assert_eq!(refused["results"][1]["error"]["code"], "STALE_PRECONDITION");
    assert_eq!(refused["results"][1]["error"]["current_content_hash"], hash("3\n"));
    assert_eq!(vault.read("a.md"), b"three\n");
}

#[test]
fn a_search_that_is_cut_short_says_so_each_time() {
    let vault = Vault::new(&[]);
    for note in 0..400 {
        vault.write(&format!("{note:03}.md"), "needle and some more hay\n".repeat(200).as_bytes());
    }
    let mut server = serve(&vault);
    for deadline in 1..=25 {
        let found = server
            .done("search_content", json!({ "query": "needle", "limit": 1, "_budget": { "deadlineMs": deadline } }));
        let whole = found["total"] == 400 * 200;
        assert_eq!(found.get("truncated").is_some(), !whole, "{deadline}: {found}");
        // It can be resumed exactly where it stopped.
        let rest = found["resumeFrom"].as_str().map(|from| {
            server.done("search_content", json!({ "query": "needle", "limit": 1, "resume_from": from }))["total"]
                .as_u64()
                .unwrap()
        });
        let seen = match rest {
            Some(rest) => found["hits"].as_array().unwrap().len() as u64 + rest,
            None => found["total"].as_u64().unwrap(),
        };
        assert_eq!(seen, 400 * 200);
    }
    let info = server.done("vault_info", json!({ "_budget": { "maxFilesScanned": 400 } }));
    assert!(info.get("truncated").is_none(), "all were counted: {info}");
    server.done("search_content", json!({ "query": "needle", "limit": 1, "_budget": { "maxFilesScanned": 7 } }));
    server.stop();
    let log = vault.log();
    let last = log.last().unwrap();
    assert_eq!(
        (&last["files_scanned"], &last["abort_reason"], &last["truncated"]),
        (&json!(7), &json!("budget"), &json!(true))
    );
    assert!(last["duration_ms"].is_number() && last["bytes_read"] == 7 * 200 * 25, "{last}");
    assert!(log.iter().all(|line| line["tool"] != "search_content" || line["files_scanned"].is_number()));
}

#[test]
fn a_search_that_is_taken_back_is_logged_as_such() {
    let vault = Vault::new(&[]);
    for note in 0..300 {
        vault.write(&format!("{note:03}.md"), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n".repeat(300).as_bytes());
    }
    let mut server = vault.serve_with(&["--tools", "files"], &[]).open(Era::Legacy("2025-11-25"));
    let slow = json!({ "query": "(?=(a|aa)+$)x|^(a|aa)+(?!b)c", "regex": true });
    // Whether it is under way when the notification comes depends on the machine, so it is tried until it was.
    for round in 1..=50 {
        let id = server.ask("tools/call", json!({ "name": "search_content", "arguments": slow }));
        std::thread::sleep(Duration::from_millis(round % 10));
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        server.done("vault_info", json!({}));
        // A search that had ended before is answered, and its line says so.
        let is_search = |line: &&Value| line["tool"] == "search_content";
        if let Some(line) = vault.log().iter().filter(is_search).find(|line| line["ok"] == json!(false)) {
            assert_eq!(line["abort_reason"], "cancelled", "{line}");
            return;
        }
    }
    panic!("never logged as cancelled");
}

#[test]
fn no_name_of_a_prompt_leads_out_of_its_folder() {
    let tagged = b"---\ntags: [mcp-tools-prompt]\n---\nsecret\n";
    let vault = Vault::new(&[
        ("Prompts/a.md", tagged),
        ("Prompts/untagged.md", b"secret\n"),
        ("Prompts/Closed/c.md", tagged),
        ("private.md", tagged),
        (".obsidian/p.md", tagged),
    ]);
    std::fs::write(vault.path().with_file_name("out.md"), tagged).unwrap();
    let mut server = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "prompts/closed")]).open(Era::Modern);
    let list = server.request("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(list.as_array().unwrap().iter().map(|prompt| &prompt["name"]).collect::<Vec<_>>(), ["Notes/a"]);
    for name in [
        "Notes/../../out",
        "Notes/../private",
        "Notes/../Prompts/a",
        "Notes/./a",
        "Notes//a",
        "Notes/untagged",
        "Notes/Closed/c",
        "Notes/closed/c",
        "Notes/../.obsidian/p",
        "Notes/a.md",
        "Notes/",
        "Notes/..\\private",
    ] {
        let error = server.request("prompts/get", json!({ "name": name }))["error"].clone();
        assert_eq!(error["code"], -32602, "{name}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn what_is_off_stays_off_in_a_batch() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    let delete = json!({ "tool": "file.delete", "args": { "file": "a.md" } });
    let edit = json!({ "tool": "str_replace", "args": { "file": "a.md", "find": "x", "replace": "y" } });
    let mut server = vault.serve_with(&["--exclude-tools", "file.delete"], &[]).open(Era::Modern);
    let refused = server.done("bulk_apply", json!({ "ops": [edit, delete] }));
    let error = &refused["results"][1]["error"];
    assert_eq!((&error["code"], &error["reason"]), (&json!("PERMISSION_DENIED"), &json!("tool_disabled")), "{refused}");
    let mut server = vault.serve_with(&["--tools", "bulk_apply,str_replace"], &[]).open(Era::Modern);
    let refused = server.done("bulk_apply", json!({ "atomic": false, "ops": [delete] }));
    assert_eq!(refused["results"][0]["error"]["reason"], "tool_disabled");
    let mut server = vault.serve_with(&["--read-only"], &[]).open(Era::Modern);
    assert_eq!(server.refused("bulk_apply", json!({ "ops": [edit] })), "tool_disabled");
    assert_eq!(vault.read("a.md"), b"x\n");
}

#[test]
fn no_spelling_of_a_path_opens_what_is_closed() {
    let vault = Vault::new(&[("secret/x.md", b"s\n"), ("open.md", b"o\n")]);
    let mut server = vault.serve_with(&["--tools", "files"], &[("OBSIDIAN_DENY_PATHS", "secret")]).open(Era::Modern);
    for spelling in ["secret/x.md", "./secret/x.md", "/secret/x.md", "secret\\x.md", "SECRET/x.md", "secret//x.md"] {
        let ops = json!([
            { "tool": "str_replace", "args": { "file": spelling, "find": "s", "replace": "t" } },
            { "tool": "file.move", "args": { "from": spelling, "to": "stolen.md" } },
            { "tool": "file.move", "args": { "from": "open.md", "to": spelling } },
        ]);
        let refused = server.done("bulk_apply", json!({ "atomic": false, "ops": ops }));
        for result in refused["results"].as_array().unwrap() {
            assert_eq!(result["error"]["code"], "PERMISSION_DENIED", "{spelling}: {result}");
        }
        let replace = json!({ "file": spelling, "pattern": "s", "replacement": "t" });
        assert_eq!(server.refused("regex_replace", replace), "path_forbidden");
    }
    let many = server.done("regex_replace", json!({ "glob": "**", "pattern": "[so]", "replacement": "t" }));
    assert_eq!(many["files"].as_array().unwrap().len(), 1, "{many}");
    assert_eq!((vault.read("secret/x.md"), vault.read("open.md")), (b"s\n".into(), b"o\n".into()));
}

#[cfg(unix)]
#[test]
fn links_out_of_the_vault_lead_nowhere() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    let outside = vault.path().with_file_name("outside.md");
    std::fs::write(&outside, b"x\n").unwrap();
    std::os::unix::fs::symlink(&outside, vault.path().join("door.md")).unwrap();
    let mut server = serve(&vault);
    let refused = server.done(
        "bulk_apply",
        json!({ "atomic": false, "ops": [
        { "tool": "str_replace", "args": { "file": "door.md", "find": "x", "replace": "y" } },
        { "tool": "file_append", "args": { "file": ".obsidian/plugins/p/data.json", "content": "y" } },
    ] }),
    );
    assert!(
        refused["results"].as_array().unwrap().iter().all(|result| result["error"]["code"] == "PERMISSION_DENIED"),
        "{refused}"
    );
    assert_eq!(
        server.refused("regex_replace", json!({ "file": "door.md", "pattern": "x", "replacement": "y" })),
        "path_forbidden"
    );
    assert_eq!(std::fs::read(&outside).unwrap(), b"x\n");
}

#[test]
fn a_read_only_server_writes_nothing_into_the_vault() {
    let vault = Vault::new(&[("a.md", b"needle\n")]);
    let before = vault.everything();
    let mut server = vault.serve_with(&["--read-only", "--tools", "files"], &[]).open(Era::Modern);
    server.done("search_content", json!({ "query": "needle" }));
    server.done("vault_info", json!({}));
    server.stop();
    assert_eq!(vault.everything(), before);
    assert_eq!(vault.log().len(), 2);
}

#[test]
fn an_expression_is_bounded_and_a_token_is_for_one_change() {
    let vault = Vault::new(&[("a.md", format!("{}c\n", "a".repeat(5_000)).as_bytes()), ("b.md", b"x\n")]);
    let mut server = serve(&vault);
    let slow = json!({ "file": "a.md", "pattern": "^(?:a|aa)+(?!c)c$", "replacement": "" });
    assert_eq!(server.refused("regex_replace", slow), "regex_unsafe");
    let nested = json!({ "file": "a.md", "pattern": "(a+)+$", "replacement": "" });
    assert_eq!(server.done("regex_replace", nested)["replaced_preview_count"], 0);
    let proposal = server.done("regex_replace", json!({ "file": "b.md", "pattern": "x", "replacement": "y" }));
    let other = json!({ "file": "b.md", "pattern": ".", "replacement": "z", "proposal_token": proposal["proposal_token"], "expected_content_hash": proposal["currentHash"] });
    assert_eq!(server.refused("regex_replace", other), "proposal_expired");
    assert_eq!(vault.read("b.md"), b"x\n");
}

#[test]
fn what_is_deleted_is_where_obsidian_looks_for_it() {
    let local = (".obsidian/app.json", &br#"{"trashOption":"local"}"#[..]);
    let vault = Vault::new(&[("d/a.md", b"x\n"), ("b.md", b"y\n"), local]);
    let mut server = serve(&vault);
    let done = server.done(
        "bulk_apply",
        json!({ "ops": [
        { "tool": "file.delete", "args": { "file": "d/a.md" } },
        { "tool": "file.move", "args": { "from": "b.md", "to": "c.md" } },
        { "tool": "file.delete", "args": { "file": "c.md" } },
    ] }),
    );
    assert!(done["results"].as_array().unwrap().iter().all(|result| result["ok"] == true), "{done}");
    assert_eq!((vault.read(".trash/a.md"), vault.read(".trash/c.md")), (b"x\n".into(), b"y\n".into()));
    assert!(!vault.path().join(".obsidian/trash").exists());
}
