//! Sources may be created and then stay as they are.

use lapidary_tools::ReasonKind;
use lapidary_vault::{PathPrefix, Policy, SourceMark, SourceRules};
use serde_json::{Value, json};

use crate::{
    Principal,
    testing::{TestServer, TestSetup},
};

const NOTES: &[(&str, &str)] = &[
    ("Sources/a.md", "about [[Plan]]\n"),
    ("Final/report.md", "---\nstatus: final\n---\nsee [[Plan]]\n"),
    ("tagged.md", "#source [[Plan]]\n"),
    ("slip.md", "---\nstatus: final\nby: Ada: Byron\n---\nsee [[Plan]]\n"),
    ("Plan.md", "[[Sources/a]] [[tagged]] #gem\n"),
    ("gem.md", "#gem\n"),
];
const STAYS: [&str; 4] = ["Sources/a.md", "Final/report.md", "tagged.md", "slip.md"];

fn serve() -> TestServer {
    let sources = SourceRules {
        paths: vec![PathPrefix::parse("Sources").unwrap()],
        marks: ["#source", "status=final"].map(|mark| SourceMark::parse(mark).unwrap()).to_vec(),
    };
    TestSetup { policy: Policy { sources, ..Policy::default() }, ..TestSetup::default() }.serve(NOTES)
}

fn assert_unchanged(server: &TestServer) {
    for path in STAYS {
        let before = NOTES.iter().find(|(known, _)| *known == path).unwrap().1;
        assert_eq!(server.text(path), before, "{path}");
    }
}

#[test]
fn a_source_is_neither_changed_nor_moved_nor_deleted() {
    let server = serve();
    for path in STAYS {
        let target = json!({ "type": "path", "path": path });
        for (tool, given) in [
            ("str_replace", json!({ "file": path, "find": "Plan", "replace": "Other" })),
            ("file_append", json!({ "file": path, "content": "more\n" })),
            ("obsidian_write_note", json!({ "target": target, "content": "x\n", "overwrite": true })),
            ("obsidian_manage_frontmatter", json!({ "target": target, "operation": "set", "key": "k", "value": 1 })),
            ("file_move", json!({ "from": path, "to": "Elsewhere.md" })),
            ("file_delete", json!({ "file": path })),
            ("obsidian_delete_note", json!({ "target": target })),
            ("regex_replace", json!({ "file": path, "pattern": "Plan", "replacement": "x", "dry_run": true })),
        ] {
            let refused = server.refused(tool, given.clone()).kind();
            // Properties that cannot be read cannot be set either.
            let is_slip = path == "slip.md" && refused == ReasonKind::FrontmatterInvalid;
            assert!(is_slip || refused == ReasonKind::SourceFixed, "{tool} {given}: {refused:?}");
        }
        let read = server.done("file_read", json!({ "file": path }));
        assert!(read["content"].is_string());
    }
    assert_eq!(server.refused("file_move", json!({ "from": "Sources", "to": "S" })).kind(), ReasonKind::SourceFixed);
    // By what a note in it says.
    assert_eq!(server.refused("file_move", json!({ "from": "Final", "to": "F" })).kind(), ReasonKind::SourceFixed);
    let batch = json!({ "atomic": false, "ops": [
        { "tool": "str_replace", "args": { "file": "Sources/a.md", "find": "about", "replace": "of" } },
        { "tool": "str_replace", "args": { "file": "gem.md", "find": "gem", "replace": "jem" } },
    ] });
    let done = server.done("bulk_apply", batch);
    assert_eq!((&done["results"][0]["ok"], &done["results"][1]["ok"]), (&json!(false), &json!(true)), "{done:#}");
    assert_unchanged(&server);
}

#[test]
fn links_in_sources_stay_and_are_counted() {
    let server = serve();
    let moved = server.done("file_move", json!({ "from": "Plan.md", "to": "Quarry.md" }));
    assert_eq!(moved["linksLeft"], 4, "{moved:#}");
    let tags = server.done("tag_rename", json!({ "from": "source", "to": "origin" }));
    assert_eq!(tags["filesLeft"], 1, "{tags:#}");
    assert_unchanged(&server);
    assert_eq!(server.text("Quarry.md"), "[[Sources/a]] [[tagged]] #gem\n");
}

#[test]
fn a_source_may_be_added_and_taken_back_by_its_author() {
    let server = serve();
    let made = |path: &str| json!({ "file": path, "content": "new\n" });
    server.done("file_create", made("Sources/new.md"));
    let again = json!({ "file": "Sources/new.md", "find": "new", "replace": "newer" });
    assert_eq!(server.refused("str_replace", again).kind(), ReasonKind::SourceFixed);
    let checkpoint = |done: &Value| json!({ "id": done["checkpoint"] });
    let done = server.done("file_create", made("Sources/other.md"));
    // Neither by another caller nor by a tool that restores anything.
    let other = Principal { author: lapidary_tools::ChangeAuthor::single("other".to_owned()), ..server.principal() };
    let refused = server.call_as(&other, "undo", checkpoint(&done)).rendered().unwrap();
    assert!(refused.is_error, "{}", refused.structured());
    assert_eq!(server.refused("checkpoint_restore", checkpoint(&done)).kind(), ReasonKind::SourceFixed);
    server.done("undo", json!({ "count": 2 }));
    for gone in ["Sources/new.md", "Sources/other.md"] {
        assert_eq!(server.refused("file_read", json!({ "file": gone })).kind(), ReasonKind::NoteMissing);
    }
    assert_unchanged(&server);
}

#[test]
fn findings_in_sources_are_left() {
    let sources = SourceRules { paths: vec![PathPrefix::parse("Sources").unwrap()], marks: Vec::new() };
    let policy = Policy { sources, ..Policy::default() };
    let notes = &[("Sources/a.md", "[[old/Plan]]\n"), ("b.md", "[[old/Plan]]\n"), ("Plan.md", "x\n")];
    let server = TestSetup { policy, ..TestSetup::default() }.serve(notes);
    let done = server.done("vault_health_fix", json!({ "findings": ["broken_link"] }));
    assert_eq!((&done["fixedCount"], &done["leftCount"]), (&json!(1), &json!(1)), "{done:#}");
    assert_eq!((server.text("Sources/a.md"), server.text("b.md")), ("[[old/Plan]]\n".into(), "[[Plan]]\n".into()));
}
