//! Everyday calls of people and models work the first time, or the answer says what to do instead.

use lapidary_tools::{Effect, OfferedTools, Reason, ReasonKind};
use lapidary_vault::VaultPath;
use serde_json::{Value, json};

use crate::{
    ApprovalRule, ConsentAnswer, Outcome, RuleDecision, Verdict,
    testing::{TestServer, TestSetup, granted},
};

const NOTES: &[(&str, &str)] = &[
    ("Projekte/Website.md", "---\naliases: [Homepage]\n---\n# Website\n## Tasks\n- [ ] one\n"),
    ("People/Jürgen Müller.md", "# Jürgen\n"),
    ("A/Plan.md", "# Plan\n"),
    ("B/plan.md", "# Plan\n"),
    ("cafe\u{301}.md", "# Café\n"),
];

/// Calls that read or edit an existing file, with the argument that names it left open.
fn on_a_note(name: &str) -> Vec<(&'static str, Value)> {
    let target = json!({ "type": "path", "path": name });
    vec![
        ("obsidian_get_note", json!({ "format": "content", "target": target })),
        ("obsidian_manage_tags", json!({ "operation": "list", "target": target })),
        ("obsidian_manage_frontmatter", json!({ "operation": "set", "key": "k", "value": 1, "target": target })),
        (
            "obsidian_replace_in_note",
            json!({ "target": target, "replacements": [{ "search": "k: 1", "replace": "" }] }),
        ),
        (
            "obsidian_append_to_note",
            json!({ "target": target, "content": "x", "section": { "type": "heading", "target": "New" }, "createTargetIfMissing": true, "dryRun": true }),
        ),
        ("file_read", json!({ "file": name })),
        ("outline", json!({ "file": name })),
        ("str_replace", json!({ "file": name, "find": "# ", "replace": "# ", "occurrence": "all" })),
        ("frontmatter_get", json!({ "file": name })),
        ("links_get", json!({ "file": name })),
        ("obsidian_open_in_ui", json!({ "path": name })),
    ]
}

#[test]
fn a_note_is_found_by_any_of_its_names() {
    let server = TestServer::new(NOTES);
    for (name, path) in [
        ("Projekte/Website.md", "Projekte/Website.md"),
        ("Projekte/Website", "Projekte/Website.md"),
        ("Website", "Projekte/Website.md"),
        ("website.md", "Projekte/Website.md"),
        ("projekte/website.md", "Projekte/Website.md"),
        ("Homepage", "Projekte/Website.md"),
        ("[[homepage]]", "Projekte/Website.md"),
        ("[[Website#Tasks|the site]]", "Projekte/Website.md"),
        ("![[Projekte/Website]]", "Projekte/Website.md"),
        ("Jürgen Müller", "People/Jürgen Müller.md"),
        ("Ju\u{308}rgen mu\u{308}ller", "People/Jürgen Müller.md"),
        ("A/plan", "A/Plan.md"),
        ("caf\u{e9}", "cafe\u{301}.md"),
    ] {
        for (tool, arguments) in on_a_note(name) {
            let done = server.done(tool, arguments);
            let told = done.to_string();
            let names_it = told.contains(&json!(path).to_string());
            assert!(names_it || !told.contains("\"file\"") && !told.contains("\"path\""), "{name} {tool}: {done:#}");
        }
    }
    let told = server.done(
        "obsidian_get_note",
        json!({ "format": "content", "target": { "type": "path", "path": "[[Homepage]]" } }),
    );
    assert_eq!(told["notice"], "`Homepage` was found as `Projekte/Website.md`.");
}

#[test]
fn a_name_of_several_notes_is_answered_with_all_of_them() {
    let server = TestServer::new(NOTES);
    for name in ["Plan", "plan.md", "[[PLAN]]"] {
        for (tool, arguments) in on_a_note(name) {
            let Reason::AmbiguousPath { matches, .. } = server.refused(tool, arguments) else {
                panic!("{name} {tool}")
            };
            assert_eq!(matches.iter().map(VaultPath::as_str).collect::<Vec<_>>(), ["A/Plan.md", "B/plan.md"], "{tool}");
        }
    }
}

#[test]
fn names_lead_only_to_files_that_the_caller_may_read() {
    let server = TestServer::new(NOTES);
    let reader = server.principal_with(granted(&["A"]));
    let answer = |tool: &str, arguments: Value| {
        Value::Object(server.call_as(&reader, tool, arguments).rendered().unwrap().facts().clone()).to_string()
    };
    assert!(answer("file_read", json!({ "file": "plan" })).contains("\"A/Plan.md\""), "the other is not there");
    for name in ["Website", "Homepage", "[[Website]]", "Websit"] {
        let told = answer("file_read", json!({ "file": name }));
        assert!(!told.contains("Projekte"), "{told}");
    }
    assert!(answer("file_read", json!({ "file": "Projekte/Website.md" })).contains("PERMISSION_DENIED"));
}

#[test]
fn a_deletion_counts_the_links_that_the_caller_may_read() {
    for (folders, counted) in [(&["A"][..], json!(1)), (&["A", "B"], json!(3))] {
        let server = TestServer::new(&[("A/x.md", "x\n"), ("A/y.md", "[[x]]\n"), ("B/z.md", "[[x]] ![[x]]\n")]);
        let caller = server.principal_with(granted(folders));
        let answer = server.call_as(&caller, "obsidian_delete_note", json!({ "target": "A/x.md" }));
        let rendered = answer.rendered().unwrap();
        assert_eq!(rendered.facts()["brokenLinks"], counted);
        let said = if counted == json!(1) { ", 1 link to it" } else { ", 3 links to it" };
        assert!(rendered.text()[0].contains(said), "{:?}", rendered.text());
    }
}

#[test]
fn a_batch_says_how_many_files_a_vault_wide_operation_changed() {
    let server = TestServer::new(&[("a.md", "#gem\n"), ("b.md", "#gem #gem\n")]);
    let ops = json!([{ "tool": "tag_rename", "args": { "from": "gem", "to": "stone" } }]);
    let rendered = server.call("bulk_apply", json!({ "ops": ops })).rendered().unwrap();
    assert!(rendered.text()[0].contains("\n1: 3 replaced, 2 files"), "{:?}", rendered.text());
}

#[test]
fn similar_names_are_suggested_by_every_tool_that_takes_a_note() {
    let server = TestServer::new(NOTES);
    // A link to a note that is missing may be wanted, so that tool has its own refusal.
    for (tool, arguments) in on_a_note("Websiet").into_iter().filter(|(tool, _)| *tool != "obsidian_open_in_ui") {
        let reason = server.refused(tool, arguments);
        let Reason::NoteMissing { suggestions, .. } = reason else { panic!("{tool}: {reason}") };
        assert_eq!(suggestions.first().map(VaultPath::as_str), Some("Projekte/Website.md"), "{tool}");
    }
}

#[test]
fn similar_names_are_suggested() {
    let server = TestServer::new(NOTES);
    for (given, suggested) in [
        ("Projekte/Websit.md", "Projekte/Website.md"),
        ("Wrong/Website.md", "Projekte/Website.md"),
        ("Jurgen Muller", "People/Jürgen Müller.md"),
        ("Projekte/Webiste.md", "Projekte/Website.md"),
    ] {
        let Reason::NoteMissing { suggestions, .. } = server.refused("file_read", json!({ "file": given })) else {
            panic!("{given}")
        };
        assert_eq!(suggestions.first().map(VaultPath::as_str), Some(suggested), "{given}");
    }
    let deleted = server.refused("obsidian_delete_note", json!({ "target": "Website.md" }));
    assert!(deleted.to_string().contains("Not found"), "a name does not delete");
    let Reason::NoteMissing { suggestions, .. } = deleted else { panic!() };
    assert_eq!(suggestions[0].as_str(), "Projekte/Website.md");
    for (tool, arguments) in
        [("file_delete", json!({ "file": "Website" })), ("file_move", json!({ "from": "Website.md", "to": "x.md" }))]
    {
        assert_eq!(server.refused(tool, arguments).kind(), ReasonKind::NoteMissing, "{tool}");
    }
}

#[test]
fn a_call_that_makes_a_note_never_lands_in_another() {
    let server = TestServer::new(NOTES);
    let target = json!({ "type": "path", "path": "Website.md" });
    let missing = server.refused("obsidian_append_to_note", json!({ "target": target, "content": "x\n" }));
    let Reason::NoteMissing { suggestions, .. } = missing else { panic!("{missing}") };
    assert_eq!(suggestions.first().map(VaultPath::as_str), Some("Projekte/Website.md"), "it would take over its links");
    let made = json!({ "target": target, "content": "x\n", "createTargetIfMissing": true });
    let made = server.done("obsidian_append_to_note", made);
    assert_eq!((&made["path"], &made["created"]), (&json!("Website.md"), &json!(true)));
    assert_eq!(made["notice"], "There was no note at this path, but there is `Projekte/Website.md`.");
    assert!(!server.text("Projekte/Website.md").contains('x'));
    for (tool, arguments) in [
        ("obsidian_write_note", json!({ "target": "Homepage", "content": "x" })),
        ("obsidian_append_to_note", json!({ "target": "Website", "content": "x" })),
        ("obsidian_write_note", json!({ "target": "NewFolder/", "content": "x" })),
        ("file_create", json!({ "file": "NewFolder/", "content": "x" })),
        ("file_move", json!({ "from": "A/Plan.md", "to": "Done" })),
    ] {
        assert_eq!(server.refused(tool, arguments.clone()).kind(), ReasonKind::InvalidArguments, "{tool} {arguments}");
    }
    server.done("file_create", json!({ "file": "LICENSE", "content": "x" }));
}

#[test]
fn no_name_is_made_that_differs_from_another_only_in_case() {
    let server = TestServer::new(&[("Projects/README.md", "x\n"), ("cafe\u{301}/a.md", "x\n"), ("b.md", "x\n")]);
    for (path, instead) in [
        ("Projects/readme.md", "Projects/README.md"),
        ("projects/new.md", "Projects/new.md"),
        ("PROJECTS/Deep/new.md", "Projects/Deep/new.md"),
        ("caf\u{e9}/new.md", "cafe\u{301}/new.md"),
    ] {
        for (tool, arguments) in [
            ("obsidian_write_note", json!({ "target": path, "content": "x" })),
            ("obsidian_append_to_note", json!({ "target": path, "content": "x" })),
            ("file_create", json!({ "file": path, "content": "x" })),
            ("file_append", json!({ "file": path, "content": "x" })),
            ("file_move", json!({ "from": "b.md", "to": path })),
        ] {
            let Reason::NameTaken { existing, .. } = server.refused(tool, arguments) else { panic!("{tool} {path}") };
            assert_eq!(existing.as_str(), instead, "{tool}");
        }
    }
    // Changing only the case of a name is another matter.
    server.done("file_move", json!({ "from": "Projects/README.md", "to": "Projects/readme.md" }));
    server.done("file_move", json!({ "from": "b.md", "to": "B.md" }));
    server.done("file_move", json!({ "from": "Projects", "to": "projects" }));
    assert_eq!(server.text("projects/readme.md"), "x\n");
}

#[test]
fn a_name_that_not_every_system_takes_is_refused_as_a_name() {
    let server = TestServer::new(&[]);
    for name in ["a:b.md", "a: b.md", "Why?.md", "CON.md", "a*b.md"] {
        let refused = server.refused("obsidian_write_note", json!({ "target": name, "content": "x" }));
        assert_eq!(refused.kind(), ReasonKind::NameInvalid, "{name}");
    }
    assert_eq!(server.refused("file_read", json!({ "file": "a: b.md" })).kind(), ReasonKind::NoteMissing);
    for name in ["C:/x.md", "C:\\x.md"] {
        assert_eq!(server.refused("file_read", json!({ "file": name })).kind(), ReasonKind::PathTraversal, "{name}");
    }
}

#[test]
fn missing_text_is_answered_with_the_most_similar_text() {
    let server = TestServer::new(&[("a.md", "# Plan\nIt’s  Fine\nx\nx\n")]);
    let refused = |find: &str| server.refused("str_replace", json!({ "file": "a.md", "find": find, "replace": "y" }));
    let Reason::TextMissing { near: Some(near), .. } = refused("it's fine") else { panic!() };
    assert_eq!((near.line, &*near.text), (2, "It’s  Fine"));
    assert!(matches!(refused("nowhere"), Reason::TextMissing { near: None, .. }));
    let Reason::TextNotUnique { lines, .. } = refused("x") else { panic!() };
    assert_eq!(lines, [3, 4]);
}

#[test]
fn the_note_of_a_day_is_made_from_its_template() {
    let files: &[(&str, &str)] = &[
        (".obsidian/daily-notes.json", r#"{"folder": "Daily", "template": "Templates/Day"}"#),
        ("Templates/Day.md", "# {{title}}\n{{date:dddd}} at {{time}}\n\n## Log\n\n- [ ] wake up\n"),
    ];
    let target = json!({ "type": "periodic", "period": "daily", "date": "2026-04-14" });
    const BEGIN: &str = "# 2026-04-14\nTuesday at ";
    for (tool, arguments, end) in [
        ("obsidian_append_to_note", json!({ "content": "last\n" }), "\n\n## Log\n\n- [ ] wake up\nlast\n"),
        (
            "obsidian_append_to_note",
            json!({ "content": "- [ ] eat", "section": { "type": "heading", "target": "## Log" } }),
            "\n\n## Log\n\n- [ ] wake up\n- [ ] eat\n",
        ),
        (
            "obsidian_write_note",
            json!({ "content": "slept", "section": { "type": "heading", "target": "Log" } }),
            "\n\n## Log\n\nslept\n",
        ),
    ] {
        let server = TestServer::new(files);
        let mut arguments = arguments;
        arguments["target"] = target.clone();
        let done = server.done(tool, arguments);
        assert_eq!((&done["path"], &done["created"]), (&json!("Daily/2026-04-14.md"), &json!(true)), "{tool}");
        let text = server.text("Daily/2026-04-14.md");
        assert!(text.starts_with(BEGIN) && text.ends_with(end), "{tool}: {text}");
    }
    let server = TestServer::new(files);
    server.done("obsidian_write_note", json!({ "target": target, "content": "all of it\n" }));
    assert_eq!(server.text("Daily/2026-04-14.md"), "all of it\n");
    let read =
        json!({ "format": "content", "target": { "type": "periodic", "period": "daily", "date": "2026-04-15" } });
    assert_eq!(server.refused("obsidian_get_note", read).kind(), ReasonKind::PeriodicNotFound, "reading makes nothing");
    let late =
        json!({ "format": "content", "target": { "type": "periodic", "period": "daily", "date": "9999-12-31" } });
    assert_eq!(server.refused("obsidian_get_note", late).kind(), ReasonKind::InvalidArguments);
}

#[test]
fn a_question_about_a_deletion_says_how_much_is_deleted() {
    let text = "line of text\n".repeat(50);
    let files = [("A.md", &*text)];
    let server = TestSetup { can_be_asked: true, ..TestSetup::default() }.serve(&files);
    let Outcome::Asked(question) = server.call("obsidian_delete_note", json!({ "target": "A.md" })) else { panic!() };
    assert_eq!(question.message, "Move `A.md` (650 bytes, 50 lines) in the vault `test` to the trash?");
    let files = [("A.md", &*text), (".obsidian/app.json", r#"{"trashOption": "none"}"#)];
    let rules = || vec![ApprovalRule::effect(Effect::Destroy, RuleDecision::Ask)];
    let server = TestSetup { can_be_asked: true, rules: rules(), ..TestSetup::default() }.serve(&files);
    let Outcome::Asked(question) = server.call("obsidian_delete_note", json!({ "target": "A.md" })) else { panic!() };
    assert!(question.message.starts_with("Delete `A.md` (650 bytes, 50 lines)"), "{}", question.message);
    let server = TestSetup { rules: rules(), ..TestSetup::default() }.serve(&files);
    let refused = server.refused("obsidian_delete_note", json!({ "target": "A.md" }));
    assert_eq!(refused.kind(), ReasonKind::ApprovalUnavailable);
    let unasked = TestSetup { rules: rules(), asks_before_deleting: false, ..TestSetup::default() };
    unasked.serve(&files).done("obsidian_delete_note", json!({ "target": "A.md" }));
    let rule = ApprovalRule {
        tool: Some("obsidian_delete_note".to_owned()),
        ..ApprovalRule::effect(Effect::Destroy, RuleDecision::Ask)
    };
    let asked = TestSetup { rules: vec![rule], asks_before_deleting: false, ..TestSetup::default() };
    let refused = asked.serve(&files).refused("obsidian_delete_note", json!({ "target": "A.md" }));
    assert_eq!(refused.kind(), ReasonKind::ApprovalUnavailable, "the owner's own rule about it holds");
}

#[test]
fn a_link_that_would_make_a_note_needs_the_right_to() {
    let server = TestServer::new(NOTES);
    let missing = json!({ "path": "New.md", "failIfMissing": false });
    assert!(server.done("obsidian_open_in_ui", missing.clone())["uri"].as_str().unwrap().contains("obsidian://new?"));
    let policy = lapidary_vault::Policy { read_only: true, ..lapidary_vault::Policy::default() };
    let grant = crate::Grant { paths: Some(std::sync::Arc::new(policy)), ..granted(&[]) };
    let reader = server.principal_with(grant);
    let refused = server.call_as(&reader, "obsidian_open_in_ui", missing).rendered().unwrap();
    assert!(Value::Object(refused.facts().clone()).to_string().contains("path_forbidden"));
}

#[test]
fn an_empty_text_for_an_optional_argument_is_none() {
    let server = TestServer::new(NOTES);
    let all = server.done("obsidian_list_notes", json!({}));
    let empty = json!({ "path": "", "extension": "", "nameRegex": "" });
    assert_eq!(server.done("obsidian_list_notes", empty)["entries"], all["entries"]);
    let edit = json!({ "file": "A/Plan.md", "find": "# Plan", "replace": "" });
    server.done("str_replace", edit);
    assert_eq!(server.text("A/Plan.md"), "\n", "a required argument may be empty");
    let edit = json!({ "file": "B/plan.md", "find": "#", "replace": "##", "expected_content_hash": "" });
    assert_eq!(server.refused("str_replace", edit).kind(), ReasonKind::InvalidArguments);
}

#[test]
fn no_text_is_written_that_could_not_be_edited() {
    let server = TestServer::new(NOTES);
    for (tool, arguments) in [
        ("file_create", json!({ "file": "n.md", "content": "a\0b" })),
        ("str_replace", json!({ "file": "A/Plan.md", "find": "Plan", "replace": "\0" })),
        ("apply_edits", json!({ "file": "A/Plan.md", "edits": [{ "find": "Plan", "replace": "\0" }] })),
    ] {
        assert_eq!(server.refused(tool, arguments).kind(), ReasonKind::InvalidArguments, "{tool}");
    }
}

#[test]
fn a_property_is_the_same_in_any_case() {
    let server = TestServer::new(&[("a.md", "---\nTags: [a]\ndotted.key: 1\n---\n")]);
    let set = json!({ "operation": "set", "target": "a.md", "key": "tags", "value": ["b"] });
    assert_eq!(server.done("obsidian_manage_frontmatter", set)["result"]["key"], "Tags");
    assert_eq!(server.text("a.md"), "---\nTags: [b]\ndotted.key: 1\n---\n");
    let hash = server.done("frontmatter_get", json!({ "file": "a.md" }))["frontmatterHash"].clone();
    assert_eq!(server.done("frontmatter_get", json!({ "file": "a.md", "keyPath": "dotted.key" }))["data"], 1);
    let set = json!({ "file": "a.md", "keyPath": "dotted.key", "value": 2, "expected_frontmatter_hash": hash });
    server.done("frontmatter_set", set);
    assert_eq!(server.text("a.md"), "---\nTags: [b]\ndotted.key: 2\n---\n");
}

/// The advice to a caller after a refusal.
fn advice(server: &TestServer, tool: &str, arguments: Value) -> String {
    server.refused(tool, arguments).hint(&OfferedTools::of(&server.executor.grant().profile.catalogue))
}

#[test]
fn a_scope_is_shown_in_the_owners_spelling() {
    let server = TestServer::new(NOTES);
    let caller = server.principal_with(granted(&["Projekte/"]));
    let refused = server.call_as(&caller, "file_create", json!({ "file": "new.md", "content": "" }));
    let told = Value::Object(refused.rendered().unwrap().facts()).to_string();
    assert!(told.contains("Allowed prefixes: `Projekte`.") && told.contains("[\"Projekte\"]"), "{told}");
    let made = server.call_as(&caller, "file_create", json!({ "file": "Projekte/new.md", "content": "" }));
    assert!(!made.rendered().unwrap().is_error);
}

#[test]
fn a_refusal_of_a_note_tool_leads_to_note_tools() {
    let server = TestServer::new(&[("a.md", "# A\n## B\none\n# A\n## B\ntwo\n")]);
    let told = advice(&server, "obsidian_write_note", json!({ "target": "a.md", "content": "x" }));
    let edit =
        "To change part of it, use `obsidian_patch_note` or `obsidian_append_to_note` or `obsidian_replace_in_note`;";
    assert!(told.starts_with(edit), "{told}");
    let section = json!({ "type": "heading", "target": "A::B" });
    let patch = json!({ "target": "a.md", "section": section, "operation": "append", "content": "x" });
    let told = advice(&server, "obsidian_patch_note", patch.clone());
    assert!(told.contains("`A::B` occurs several times: say which in the section"), "{told}");
    // As it says.
    let mut second = patch;
    second["section"] = json!({ "target": "A::B", "occurrence": 2 });
    let made = server.call("obsidian_patch_note", second);
    assert!(!made.rendered().unwrap().is_error);
    assert_eq!(server.text("a.md"), "# A\n## B\none\n# A\n## B\ntwo\nx\n");
    let read = json!({ "format": "section", "target": "a.md", "section": { "target": "B", "occurrence": 2 } });
    let told = Value::Object(server.call("obsidian_get_note", read).rendered().unwrap().facts()).to_string();
    assert!(told.contains("two") && !told.contains("one"), "{told}");
}

#[test]
fn a_refusal_names_its_subject() {
    let cursor = json!({ "mode": "text", "query": "x", "cursor": "zzz" });
    let refused = TestServer::new(NOTES).refused("obsidian_search_notes", cursor);
    assert_eq!((refused.kind(), &refused.data()["cursor"]), (ReasonKind::InvalidArguments, &json!("zzz")));
    let server = TestSetup {
        can_be_asked: true,
        rules: vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)],
        ..TestSetup::default()
    }
    .serve(NOTES);
    let edit = json!({ "file": "A/Plan.md", "find": "Plan", "replace": "x" });
    let Outcome::Asked(question) = server.call("str_replace", edit.clone()) else { panic!() };
    let mut again = server.invocation("str_replace", edit);
    again.answer = Some(ConsentAnswer { state: question.state, verdict: Verdict::Declined });
    let Outcome::Refused(refusal) = server.run(&again) else { panic!() };
    assert_eq!((refusal.reason.kind(), &refusal.reason.data()["path"]), (ReasonKind::Cancelled, &json!("A/Plan.md")));
}

#[test]
fn hints_about_arguments_lead_to_a_call_that_works() {
    let server = TestServer::new(NOTES);
    for (tool, arguments, expected) in [
        ("obsidian_write_note", json!({ "target": "New", "content": "x" }), "Did you mean `New.md`?"),
        (
            "obsidian_manage_tags",
            json!({ "target": "A/Plan.md", "operation": "add", "tags": ["two words"] }),
            "Did you mean `two-words`?",
        ),
        (
            "heading_rename",
            json!({ "file": "A/Plan.md" }),
            "`find_tool` with the query `heading_rename` shows its arguments.",
        ),
        ("outline", json!({}), "Compare the call with the input schema of `outline`."),
    ] {
        assert_eq!(advice(&server, tool, arguments), expected);
    }
}

#[test]
fn a_batch_with_a_forbidden_operation_says_to_leave_it_out() {
    let rule = ApprovalRule {
        tool: Some("file_delete".to_owned()),
        ..ApprovalRule::effect(Effect::Write, RuleDecision::Deny)
    };
    let rules = vec![ApprovalRule { effect: None, ..rule }];
    let server = TestSetup { rules, ..TestSetup::default() }.serve(NOTES);
    let denied = json!({ "tool": "file_delete", "args": { "file": "A/Plan.md" } });
    let missed = json!({ "tool": "str_replace", "args": { "file": "A/Plan.md", "find": "nothing", "replace": "x" } });
    for (ops, next) in [
        (json!([denied]), "operation 1 of 1. Leave it out and send"),
        (json!([missed]), "operation 1 of 1. Correct it and send"),
        (json!([missed, denied]), "operation 1, 2 of 2. Fix it or, if it is not allowed, leave it out, and send"),
    ] {
        let done = server.done("bulk_apply", json!({ "ops": ops }));
        assert!(done["hint"].as_str().unwrap().contains(next), "{done:#}");
    }
}

#[test]
fn an_unknown_tool_is_answered_alike_however_it_is_called() {
    let server = TestServer::new(NOTES);
    for (name, meant) in [("nope", None), ("file_raed", Some("file_read"))] {
        assert!(matches!(server.call(name, json!({})), Outcome::UnknownTool { nearest } if nearest == meant), "{name}");
        let done = server.done("bulk_apply", json!({ "ops": [{ "tool": name, "args": {} }] }));
        assert_eq!(done["results"][0]["error"]["details"]["nearest"].as_str(), meant, "{name}");
    }
}

#[test]
fn a_heading_that_would_take_links_from_another_is_refused_with_the_cause() {
    let server = TestServer::new(&[("a.md", "# A\n# B\n"), ("l.md", "[[a#B]]\n")]);
    let hash =
        server.done("heading_find", json!({ "file": "a.md", "heading": "B" }))["matches"][0]["sectionHash"].clone();
    let mut rename = json!({ "file": "a.md", "heading": "B", "newText": "A", "expected_section_hash": hash });
    let refused = server.refused("heading_rename", rename.clone());
    assert_eq!((&refused.data()["path"], &refused.data()["source"]), (&json!("a.md"), &json!("l.md")));
    assert!(refused.to_string().contains("another part of the note has the new name"), "{refused}");
    let told = advice(&server, "heading_rename", rename.clone());
    assert!(told.contains("`update_references: false`"), "{told}");
    rename["update_references"] = json!(false);
    server.done("heading_rename", rename);
    assert_eq!((server.text("a.md"), server.text("l.md")), ("# A\n# A\n".into(), "[[a#B]]\n".into()));
}

#[test]
fn a_missing_heading_is_answered_with_a_few_existing_ones() {
    let text: String = (0..100).map(|number| format!("# Heading {number}\n")).collect();
    let server = TestServer::new(&[("a.md", &*text), ("b.md", "# Tasks\n# Log\n")]);
    let section = |file: &str, target: &str| json!({ "format": "section", "target": file, "section": { "type": "heading", "target": target } });
    let refused = server.refused("obsidian_get_note", section("a.md", "zzzzz"));
    assert_eq!(refused.data()["available"].as_array().unwrap().len(), 20);
    assert!(advice(&server, "obsidian_get_note", section("a.md", "zzzzz")).ends_with("`Heading 4`, …."));
    assert_eq!(advice(&server, "obsidian_get_note", section("b.md", "Taks")), "Did you mean `Tasks`?");
}

#[test]
fn a_missing_folder_is_answered_with_the_nearest() {
    let server = TestServer::new(&[("Work/Projekte/a.md", "x\n"), ("Archive/b.md", "x\n")]);
    for (given, meant) in [("Archiv", "Archive"), ("Projekte", "Work/Projekte"), ("Home/Projekte", "Work/Projekte")] {
        let Reason::DirectoryMissing { nearest, .. } = server.refused("obsidian_list_notes", json!({ "path": given }))
        else {
            panic!("{given}")
        };
        assert_eq!(nearest.unwrap().as_str(), meant);
        let notice = server.done("file_list", json!({ "directory": given }))["notice"].to_string();
        assert!(notice.contains(&format!("Did you mean `{meant}`?")), "{given}: {notice}");
    }
}

#[test]
fn tasks_are_found_however_accents_are_stored() {
    // Decomposed, as macOS stores names.
    let server = TestServer::new(&[("e\u{301}te\u{301}.md", "- [ ] Acheter du cafe\u{301}\n")]);
    let listed = server.done("tasks_list", json!({ "path": "\u{e9}t\u{e9}.md", "text": "caf\u{e9}" }));
    assert_eq!(listed["total"], 1, "{listed:#}");
    let ticked = json!({ "file": "\u{e9}t\u{e9}.md", "text": "Acheter du caf\u{e9}", "status": "-" });
    assert_eq!(server.done("task_update", ticked)["task"]["line"], 1);
}

#[test]
fn a_box_holds_no_bracket_and_no_end_of_line() {
    let server = TestServer::new(&[("a.md", "- [ ] x\n")]);
    for status in ["]", "[", "\u{2028}", "\n", "\u{7}"] {
        let refused = server.refused("task_update", json!({ "file": "a.md", "line": 1, "status": status }));
        assert_eq!(refused.kind(), ReasonKind::InvalidArguments, "{status:?}");
    }
    assert_eq!(server.text("a.md"), "- [ ] x\n");
}

#[test]
fn hints_name_what_the_called_tool_takes() {
    let server = TestServer::new(&[
        (".obsidian/daily-notes.json", "{}"),
        ("Roof.md", "x\n"),
        ("House.md", "x\n"),
        ("House.canvas", "{}"),
        ("Projects/House/a.md", "x\n"),
    ]);
    for (tool, call, hint) in [
        ("daily_note", json!({}), "With `content` or `create: true` it is made"),
        ("canvas_read", json!({ "path": "House.md" }), "Did you mean `House.canvas`?"),
        ("canvas_generate", json!({ "path": "x.md", "notes": ["Roof"] }), "Did you mean `x.canvas`?"),
        ("canvas_generate", json!({ "path": "House.canvas", "notes": ["Roof"] }), "`overwrite: true`"),
        (
            "drawing_create",
            json!({ "path": "d2.md", "elements": [{ "id": "a", "label": "A" }] }),
            "Did you mean `d2.excalidraw.md`?",
        ),
        ("attachment_read", json!({ "path": "Roof.md" }), "It is a note: use `obsidian_get_note`."),
        ("attachment_read", json!({ "path": "House.canvas" }), "It is a canvas: use `canvas_read`."),
        ("obsidian_list_notes", json!({ "path": "projects/house" }), "Did you mean `Projects/House`?"),
    ] {
        let call_text = format!("{tool} {call}");
        let principal = server.principal();
        let answer = server.call_as(&principal, tool, call);
        let rendered = answer.rendered().unwrap();
        let text = rendered.text().join("\n");
        assert!(text.contains(hint), "{call_text}: {text}");
    }
    let unknown = server.refused("canvas_read", json!({ "path": "Roof.md" })).to_string();
    assert!(!unknown.contains("Roof.canvas"), "{unknown}");
}

#[test]
fn what_is_named_twice_is_removed_once() {
    let server = TestServer::new(&[
        ("x.base", "views:\n  - type: table\n    name: A\n  - type: table\n    name: B\n"),
        ("a.md", "---\na: [1, 2, 3]\nb: [4, 5, 6]\nc: [[7], [8], [9, 10]]\n---\n"),
    ]);
    server.done("base_update", json!({ "file": "x.base", "remove": ["views.A", "views.A"] }));
    assert_eq!(server.text("x.base"), "views:\n  - type: table\n    name: B\n");
    let hash = server.done("frontmatter_get", json!({ "file": "a.md" }))["frontmatterHash"].clone();
    let remove = ["a.0", "b.0", "a.0", "c.0", "c.2.0", "b.2"];
    server.done("frontmatter_update", json!({ "file": "a.md", "remove": remove, "expected_frontmatter_hash": hash }));
    let left = server.done("frontmatter_get", json!({ "file": "a.md" }))["data"].clone();
    assert_eq!(left, json!({ "a": [2, 3], "b": [5], "c": [[8], [10]] }));
}

#[test]
fn the_least_number_is_a_number_like_any_other() {
    let server = TestServer::new(&[]);
    let far = json!([{ "id": "a", "label": "A", "x": i64::MIN, "y": 0 }]);
    let refused = server.refused("drawing_create", json!({ "path": "a.excalidraw.md", "elements": far }));
    assert_eq!(refused.kind(), ReasonKind::InvalidArguments);
    let rows = json!([{ "n": i64::MIN }]);
    let made = server.done("document_create", json!({ "path": "a.xlsx", "rows": rows, "dryRun": true }));
    assert_eq!(made["sheets"][0]["rows"], 1, "{made}");
}

#[test]
fn a_file_that_makes_way_takes_no_name_that_differs_in_case_alone() {
    let server = TestServer::new(&[("a.md", "a\n"), ("b.md", "b\n"), ("A (1).md", "other\n")]);
    let moved = server.done("file_move", json!({ "from": "b.md", "to": "a.md", "on_conflict": "rename" }));
    assert_eq!(moved["to"], "a (2).md", "{moved}");
    assert_eq!(server.text("A (1).md"), "other\n");
}

#[test]
fn a_base_that_names_a_tag_in_any_way_is_told() {
    let server = TestServer::new(&[
        ("a.md", "#gem\n"),
        ("List.base", "filters: file.tags.contains(\"gem\")\n"),
        ("Property.base", "filters: note.tags.contains('#gem/red')\n"),
        ("Other.base", "filters: file.name == \"gem\"\n"),
    ]);
    let renamed = server.done("tag_rename", json!({ "from": "gem", "to": "stone" }));
    let left: Vec<&str> = renamed["left"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!(left, ["List.base", "Property.base"], "{renamed}");
}
