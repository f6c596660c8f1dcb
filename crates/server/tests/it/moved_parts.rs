//! Parts of notes that move to other notes, and what changed since a time.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::harness::{Era, Vault};

const NOTES: &[(&str, &[u8])] = &[
    (
        "Deep/Plan.md",
        b"---\nup: x\n---\n# Plan\r\n\r\nSee [[#Log]] and [s](Stone.md).\r\n\r\n## Log\r\n\r\n- dry ^d\r\n- [[#End]] [s](./Stone.md) [[Stone]]\r\n\r\n## End\r\n\r\nFin.\r\n",
    ),
    ("Deep/Stone.md", b"# Stone\n"),
    ("Stone.md", b"# Other stone\n"),
    ("Diary.md", b"---\nlog: \"[[Plan#Log]]\"\n---\n# Diary\n\n[[Plan#^d]], [l](Deep/Plan.md#Log) and [[Plan#End]], [[Plan]]\n"),
    ("Board.canvas", br##"{"nodes":[{"type":"file","file":"Deep/Plan.md","subpath":"#Log"},{"type":"file","file":"Deep/Plan.md"},{"type":"text","text":"[[Plan#Log]]"}]}"##),
];

fn text(vault: &Vault, path: &str) -> String {
    String::from_utf8(vault.read(path)).unwrap()
}

#[test]
fn a_section_moves_with_every_link_to_it_and_in_it_and_is_undone_to_the_byte() {
    let vault = Vault::new(NOTES);
    let before = vault.everything();
    let mut server = vault.serve().open(Era::Modern);
    let moved =
        server.done("section_move", json!({ "file": "Plan", "section": "Log", "to": "Log.md", "leave": "embed" }));
    assert_eq!((&moved["created"], &moved["filesUpdated"]), (&json!(true), &json!(2)), "{moved:#}");
    assert_eq!(text(&vault, "Log.md"), "## Log\n\n- dry ^d\n- [[Plan#End]] [s](Deep/Stone.md) [[Stone]]\n");
    assert_eq!(
        text(&vault, "Deep/Plan.md"),
        "---\nup: x\n---\n# Plan\r\n\r\nSee [[Log#Log]] and [s](Stone.md).\r\n\r\n![[Log#Log]]\r\n\r\n## End\r\n\r\nFin.\r\n"
    );
    assert_eq!(
        text(&vault, "Diary.md"),
        "---\nlog: \"[[Log#Log]]\"\n---\n# Diary\n\n[[Log#^d]], [l](Log.md#Log) and [[Plan#End]], [[Plan]]\n"
    );
    assert_eq!(
        text(&vault, "Board.canvas"),
        r##"{"nodes":[{"type":"file","file":"Log.md","subpath":"#Log"},{"type":"file","file":"Deep/Plan.md"},{"type":"text","text":"[[Log#Log]]"}]}"##
    );
    server.done("undo", json!({}));
    let after = vault.everything();
    let kept = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        files
            .iter()
            .filter(|(path, _)| !path.starts_with(".trash"))
            .map(|(p, b)| (p.clone(), b.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(&after), kept(&before));
}

#[test]
fn notes_are_merged_and_links_lead_to_the_one_that_is_left() {
    let vault = Vault::new(&[
        ("a.md", b"# A\n\ntext [[#A]] [[b]]\n"),
        ("b.md", b"# B\n\n[[a]]\n"),
        ("c.md", b"[[a]] [[a#A|x]] [[b]]\n"),
        (".obsidian/app.json", br#"{"trashOption": "local"}"#),
    ]);
    let mut server = vault.serve().open(Era::Modern);
    let merged = server.done("section_move", json!({ "file": "a.md", "to": "b.md" }));
    assert_eq!(merged["trashed"], true, "{merged:#}");
    assert_eq!(text(&vault, "b.md"), "# B\n\n[[b]]\n\n# A\n\ntext [[#A]] [[b]]\n");
    assert_eq!(text(&vault, "c.md"), "[[b]] [[b#A|x]] [[b]]\n");
    assert!(!vault.everything().contains_key("a.md") && vault.everything().contains_key(".trash/a.md"));
}

#[test]
fn what_could_not_follow_or_would_land_in_another_note_is_refused() {
    let vault = Vault::new(&[
        ("a.md", b"# Log\n\nx\n"),
        ("b.md", b"# Log\n\ny\n"),
        ("c.md", b"[[a#Log]]\n"),
        ("Sub/Reading.md", b"# Reading\n"),
    ]);
    let before = vault.everything();
    let mut server = vault.serve().open(Era::Modern);
    // Two headings of one name and level: no link could say which.
    let refused = server.call("section_move", json!({ "file": "a.md", "section": "Log", "to": "b.md" }));
    assert!(refused["isError"] == true && refused.to_string().contains("no link could lead"), "{refused:#}");
    // A bare name means a note that is there, and never makes one.
    let refused = server.call("section_move", json!({ "file": "a.md", "section": "Log", "to": "Nowhere" }));
    assert!(refused.to_string().contains("note_missing"), "{refused:#}");
    let refused = server.call("section_move", json!({ "file": "a.md", "section": "Log", "to": "sub/reading.md" }));
    assert!(refused.to_string().contains("file_exists"), "{refused:#}");
    assert_eq!(vault.everything(), before);
    let named = server.done("section_move", json!({ "file": "a", "section": "Log", "to": "Reading" }));
    assert_eq!(named["to"], "Sub/Reading.md");
}

fn set_age(vault: &Vault, path: &str, hours: u64) {
    let file = std::fs::File::options().write(true).open(vault.path().join(path)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
}

fn what(changes: &Value) -> Vec<(String, String)> {
    let word = |file: &Value, name: &str| file[name].as_str().unwrap_or_default().to_owned();
    changes["files"].as_array().unwrap().iter().map(|file| (word(file, "path"), word(file, "what"))).collect()
}

#[test]
fn what_changed_is_told_whoever_changed_it() {
    let vault = Vault::new(&[
        ("old.md", b"old\n"),
        ("ours.md", b"one\n"),
        ("both.md", b"one\n"),
        ("theirs.md", b"one\n"),
        ("gone.md", b"bye\n"),
        ("back.md", b"same\n"),
        ("Sub/moved.md", b"m\n"),
    ]);
    for path in ["old.md", "ours.md", "both.md", "theirs.md", "gone.md", "back.md", "Sub/moved.md"] {
        set_age(&vault, path, 48);
    }
    let mut server = vault.serve().open(Era::Modern);
    let nothing = server.done("changes", json!({}));
    assert_eq!(nothing["total"], 0, "{nothing:#}");
    for file in ["ours.md", "both.md"] {
        server.done("str_replace", json!({ "file": file, "find": "one", "replace": "two" }));
    }
    server.done("file_move", json!({ "from": "Sub/moved.md", "to": "Sub/there.md" }));
    server.done("file_delete", json!({ "file": "gone.md" }));
    server.done("str_replace", json!({ "file": "back.md", "find": "same", "replace": "other" }));
    server.done("undo", json!({}));
    vault.write("both.md", b"three\n");
    vault.write("theirs.md", b"two\n");
    let changes = server.done("changes", json!({ "since": "2h", "diff": true }));
    let mut found = what(&changes);
    found.sort();
    // No program can set when a file was made, which is just now for all of them, where the disk says it at all.
    let expected = [("Sub/there.md", "moved"), ("both.md", "changed"), ("gone.md", "deleted"), ("ours.md", "changed")];
    assert_eq!(found[..4], expected.map(|(path, what)| (path.to_owned(), what.to_owned())), "{changes:#}");
    assert_eq!((found.len(), found[4].0.as_str()), (5, "theirs.md"), "{changes:#}");
    let file =
        |path: &str| changes["files"].as_array().unwrap().iter().find(|file| file["path"] == path).unwrap().clone();
    assert_eq!((&file("ours.md")["outside"], &file("ours.md")["tools"]), (&Value::Null, &json!(["str_replace"])));
    assert_eq!((&file("both.md")["outside"], &file("theirs.md")["outside"]), (&json!(true), &json!(true)));
    assert_eq!(file("Sub/there.md")["movedFrom"], "Sub/moved.md");
    let diff = changes["unifiedDiff"].as_str().unwrap();
    assert!(diff.contains("-one\n+two\n") && diff.contains("-one\n+three\n") && diff.contains("-bye\n"), "{diff}");
    // The previous content of a file that others changed was not kept.
    assert!(diff.contains("+++ theirs.md") || changes["withoutDiff"] == json!(["theirs.md"]), "{changes:#}");
    // A page at a time, and below a folder.
    let page = server.done("changes", json!({ "since": "2h", "limit": 3 }));
    let rest = server.done("changes", json!({ "since": "2h", "cursor": page["nextCursor"] }));
    let mut pages = what(&page);
    pages.extend(what(&rest));
    pages.sort();
    assert_eq!((pages, &rest["nextCursor"]), (found, &Value::Null));
    let below = server.done("changes", json!({ "since": "2h", "path": "Sub" }));
    assert_eq!(what(&below), [("Sub/there.md".to_owned(), "moved".to_owned())]);
    let tight = server.done("changes", json!({ "since": "2h", "diff": true, "maxBytes": 100 }));
    assert!(tight["unifiedDiff"].as_str().unwrap().len() <= 100, "{tight:#}");
}
