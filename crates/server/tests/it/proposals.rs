//! Replacing by regular expression, in two steps.

use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

fn serve(vault: &Vault) -> Server {
    vault.serve_with(&["--tools", "all"], &[("LAPIDARY_REPETITION", "off")]).open(Era::Modern)
}

fn with(mut arguments: Value, name: &str, value: &Value) -> Value {
    arguments[name] = value.clone();
    arguments
}

#[test]
fn a_proposal_is_carried_out_once_and_exactly() {
    let vault = Vault::new(&[("a.md", b"2026-04-13\r\nx 2026-05-01\r\n"), ("b.md", b"2026-04-13\r\nx 2026-05-01\r\n")]);
    let mut server = serve(&vault);
    let wanted = json!({ "file": "a.md", "pattern": "(\\d+)-(\\d+)-(?<day>\\d+)$", "replacement": "$<day>.$2.$1", "flags": "gm" });
    let proposal = server.done("regex.replace", wanted.clone());
    assert_eq!((&proposal["dry_run"], &proposal["replaced_preview_count"]), (&json!(true), &json!(2)));
    assert_eq!(proposal["example"], json!({ "line": 1, "before": "2026-04-13", "after": "13.04.2026" }));
    let shown = server.done("regex.replace", with(wanted.clone(), "dry_run", &json!(true)));
    assert!(shown["diff"].as_str().unwrap().contains("+13.04.2026"), "{shown}");
    assert_eq!(vault.read("a.md"), b"2026-04-13\r\nx 2026-05-01\r\n");
    let token = &proposal["proposal_token"];
    // A model has to copy it.
    assert!(token.as_str().unwrap().len() <= 110, "{token}");
    let carried = with(wanted.clone(), "proposal_token", token);
    // Not for another file, pattern or text, and not if it was tampered with.
    for (name, other) in [
        ("file", json!("b.md")),
        ("pattern", json!("x")),
        ("replacement", json!("y")),
        ("flags", json!("g")),
        ("count", json!(1)),
        ("proposal_token", json!(token.as_str().unwrap().replacen(['0', '1', '2'], "f", 2))),
        ("proposal_token", json!("nonsense")),
        ("proposal_token", json!("1-")),
    ] {
        assert_eq!(server.refused("regex_replace", with(carried.clone(), name, &other)), "proposal_expired", "{name}");
    }
    let done = server.done("regex_replace", carried.clone());
    assert_eq!(vault.read("a.md"), b"13.04.2026\r\nx 01.05.2026\r\n");
    assert_eq!((&done["changed"], &done["replacedCount"], &done["dry_run"]), (&json!(true), &json!(2), &json!(false)));
    assert_eq!(
        (&done["contentHash"], &done["contentHash"]),
        (&proposal["wouldBeHash"], &json!(ContentHash::of(b"13.04.2026\r\nx 01.05.2026\r\n").to_string()))
    );
    // The same state of the file comes back, and the token stays used.
    vault.write("a.md", b"2026-04-13\r\nx 2026-05-01\r\n");
    assert_eq!(server.refused("regex_replace", carried), "proposal_expired");
    // One token, one server.
    let proposal = server.done("regex_replace", wanted.clone());
    let carried = with(wanted, "proposal_token", &proposal["proposal_token"]);
    assert_eq!(serve(&vault).refused("regex_replace", carried.clone()), "proposal_expired");
    vault.write("a.md", b"2026-04-13 2026-05-01\n");
    assert_eq!(server.refused("regex_replace", carried), "proposal_changed");
}

#[test]
fn many_files_are_changed_together_or_not_at_all() {
    let notes: Vec<(String, Vec<u8>)> =
        (0..30).map(|at| (format!("n/{at:02}.md"), format!("a{at} b\n").into_bytes())).collect();
    let mut files: Vec<(&str, &[u8])> = notes.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    files.extend([
        ("n/x.png", &b"a1\0"[..]),
        ("n/broken.md", b"a1 \xff\n"),
        ("n/fixed.md", b"a1\n"),
        (".lapidaryprotect", b"n/fixed.md\n"),
    ]);
    let vault = Vault::new(&files);
    let before = vault.everything();
    let mut server = serve(&vault);
    let wanted = json!({ "glob": "n/**", "pattern": "a(\\d+)", "replacement": "$1a" });
    let proposal = server.done("regex_replace", wanted.clone());
    assert_eq!(proposal["files"].as_array().unwrap().len(), 30);
    let short = |text: &str| json!(ContentHash::of(text.as_bytes()).to_string()[..15]);
    assert_eq!(
        proposal["files"][3],
        json!({
            "file": "n/03.md", "replacedCount": 1, "currentHash": short("a3 b\n"), "wouldBeHash": short("3a b\n"),
            "example": { "line": 1, "before": "a3 b", "after": "3a b" },
        })
    );
    let left: Vec<&Value> = proposal["left"].as_array().unwrap().iter().map(|left| &left["file"]).collect();
    assert_eq!(left, ["n/broken.md", "n/fixed.md"]);
    let carried = with(wanted.clone(), "proposal_token", &proposal["proposal_token"]);
    vault.write("n/07.md", b"a7 changed\n");
    assert_eq!(server.refused("regex_replace", carried.clone()), "proposal_changed");
    vault.write("n/07.md", b"a7 b\n");
    let hashes = json!({ "n/07.md": "sha256:000000000000" });
    assert_eq!(
        server.refused("regex_replace", with(carried.clone(), "expected_hashes", &hashes)),
        "stale_precondition"
    );
    assert_eq!(vault.everything(), before);
    let done = server.done("regex_replace", carried);
    assert_eq!((&done["replacedCount"], vault.read("n/29.md")), (&json!(30), b"29a b\n".into()));
    assert_eq!(
        done["files"][3],
        json!({ "file": "n/03.md", "replacedCount": 1, "contentHash": short("3a b\n") }),
        "{done}"
    );
    server.done("checkpoint_restore", json!({ "id": done["checkpoint"] }));
    assert_eq!(vault.everything(), before);
}

#[test]
fn a_change_of_any_size_is_shown_in_part_and_made_whole() {
    let line = "alpha beta gamma delta\n";
    let mut notes: Vec<(String, Vec<u8>)> =
        (0..150).map(|at| (format!("n/{at:03}.md"), line.repeat(10).into_bytes())).collect();
    notes.push(("n/long.md".to_owned(), line.repeat(60_000).into_bytes()));
    let files: Vec<(&str, &[u8])> = notes.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    let wanted = json!({ "glob": "n/*", "pattern": "beta", "replacement": "b" });
    let result = server.call("regex_replace", wanted.clone());
    assert!(result.to_string().len() < 100_000, "{} bytes", result.to_string().len());
    let proposal = &result["structuredContent"];
    assert_eq!((&proposal["filesChanged"], &proposal["replaced_preview_count"]), (&json!(151), &json!(61_500)));
    assert_eq!(proposal["files"].as_array().unwrap().len(), 100);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() < 3_000 && text.contains("`n/000.md`: 10") && text.contains("131 more files"), "{text}");
    let shown = server.done("regex_replace", with(wanted.clone(), "dry_run", &json!(true)));
    assert!(shown["diff"].as_str().unwrap().ends_with(" lines)\n"), "{shown}");
    let done = server.call("regex_replace", with(wanted, "proposal_token", &proposal["proposal_token"]));
    assert_eq!(done["structuredContent"]["filesChanged"], 151, "{done}");
    assert!(notes.iter().all(|(path, _)| !String::from_utf8(vault.read(path)).unwrap().contains("beta")));
    // Lookaround is tried place by place, which takes too long for a text of this size.
    let wanted = json!({ "file": "n/long.md", "pattern": "(?<=alpha )b", "replacement": "x" });
    let refused = server.call("regex_replace", wanted);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("too long for an expression with lookaround"));
}

#[test]
fn expectations_are_never_ignored() {
    let vault = Vault::new(&[("n/a.md", b"x\n"), ("b.md", b"x\n")]);
    let mut server = serve(&vault);
    let (right, wrong) = (ContentHash::of(b"x\n").to_string(), "sha256:000000000000");
    let common = json!({ "pattern": "x", "replacement": "y" });
    for (which, name, expected, reason, says) in [
        (("glob", "n/*"), "expected_content_hash", json!(right), "invalid_arguments", "send `expected_hashes`"),
        (("file", "b.md"), "expected_hashes", json!({ "b.md": right }), "invalid_arguments", "`expected_content_hash`"),
        (
            ("glob", "n/*"),
            "expected_hashes",
            json!({ "b.md": right }),
            "invalid_arguments",
            "`b.md`, which `glob` does not match",
        ),
        (("glob", "n/*"), "expected_hashes", json!({ "n/gone.md": right }), "invalid_arguments", "`n/gone.md`"),
        (
            ("glob", "n/*"),
            "expected_hashes",
            json!({ "n/a.md": wrong }),
            "stale_precondition",
            "with `expected_hashes` 73cb3858",
        ),
    ] {
        let wanted = with(with(common.clone(), which.0, &json!(which.1)), name, &expected);
        let refused = server.call("regex_replace", wanted.clone());
        assert_eq!(crate::harness::reason(&refused), reason, "{wanted}");
        assert!(refused["content"][0]["text"].as_str().unwrap().contains(says), "{refused}");
    }
    let hashes = json!({ "n/a.md": right });
    let wanted = with(with(common, "glob", &json!("n/*")), "expected_hashes", &hashes);
    assert_eq!(server.done("regex_replace", wanted)["replaced_preview_count"], 1);
}

#[test]
fn a_budget_cuts_a_proposal_short_and_the_next_goes_on_there() {
    let notes: Vec<(String, Vec<u8>)> = (0..10).map(|at| (format!("{at}.md"), b"x\n".to_vec())).collect();
    let files: Vec<(&str, &[u8])> = notes.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let vault = Vault::new(&files);
    let mut server = serve(&vault);
    let mut offset = json!(0);
    let mut rounds = 0;
    while !offset.is_null() {
        let wanted = json!({ "glob": "*.md", "pattern": "x", "replacement": "y", "offset": offset, "_budget": { "maxFilesScanned": 4 } });
        let proposal = server.done("regex_replace", wanted.clone());
        assert_eq!(proposal.get("truncated").is_some(), proposal["nextOffset"].is_number(), "{proposal}");
        offset = proposal["nextOffset"].clone();
        // With any other budget the same files are changed.
        let wanted = with(with(wanted, "proposal_token", &proposal["proposal_token"]), "_budget", &json!({}));
        server.done("regex_replace", wanted);
        rounds += 1;
    }
    assert_eq!(rounds, 3);
    assert!((0..10).all(|at| vault.read(&format!("{at}.md")) == b"y\n"));
    let log = {
        drop(server);
        vault.log()
    };
    assert_eq!((&log[0]["files_scanned"], &log[0]["abort_reason"]), (&json!(4), &json!("budget")));
}

#[test]
fn a_person_can_be_asked_between_the_two_steps() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_APPROVAL", "write=ask")]).with_elicitation().open(Era::Modern);
    let wanted = json!({ "file": "a.md", "pattern": "x", "replacement": "y" });
    let proposal = server.done("regex_replace", wanted.clone());
    let call =
        json!({ "name": "regex_replace", "arguments": with(wanted, "proposal_token", &proposal["proposal_token"]) });
    let asked = server.request("tools/call", call.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let mut again = call;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({ "consent": { "action": "accept", "content": { "confirm": true } } });
    let done = server.request("tools/call", again);
    assert_eq!(done["result"]["structuredContent"]["changed"], true, "{done}");
    assert_eq!(vault.read("a.md"), b"y\n");
}
