//! What a person sees of the commands that set up, explain, ask for approval and help.

use serde_json::json;

use super::{Desk, NOTES, both};
use crate::harness::Era;

/// A home with one AI program that has settings already.
fn desk_with_cursor() -> Desk {
    let mut desk = Desk::new(NOTES);
    let settings = desk.vault.path().parent().unwrap().join(".cursor/mcp.json");
    std::fs::create_dir(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }\n  }\n}\n").unwrap();
    desk.replaced.push((env!("CARGO_BIN_EXE_lapidary").to_owned(), "/usr/bin/lapidary".to_owned()));
    desk
}

#[test]
fn commands_for_setting_up_as_people_see_them() {
    let desk = desk_with_cursor();
    for (name, arguments, typed) in [
        ("greeting", &[][..], ""),
        ("install_dry_run", &["install", "--dry-run"], ""),
        ("install_no", &["install"], "n\n"),
        ("install_print", &["install", "--print", "zed"], ""),
        ("uninstall_none", &["uninstall"], ""),
        ("token_none", &["token", "list"], ""),
        ("config_path", &["config", "path"], ""),
        ("tool_page", &["tools", "vault_list"], ""),
        ("help_short", &["undo", "-h"], ""),
        ("help_long", &["undo", "--help"], ""),
    ] {
        insta::assert_snapshot!(name, both(&desk, arguments, typed));
    }
}

#[test]
fn what_install_did_is_said_and_taken_back() {
    let desk = desk_with_cursor();
    let done = desk.see(80, &["install"], "y\n").text;
    let dated = |text: &str| {
        // The copy of the old file has the time in its name.
        let line = |line: &str| line.split(".lapidary-").next().unwrap().to_owned() + "\n";
        text.lines().map(line).collect::<String>()
    };
    let undone = desk.see(80, &["uninstall"], "y\n").text;
    insta::assert_snapshot!("install_and_uninstall", format!("{}──\n{}", dated(&done), dated(&undone)));
}

#[test]
fn long_lists_fit_every_terminal() {
    let desk = Desk::new(NOTES);
    for arguments in [&["tools"][..], &["explain"], &["-h"], &["--help"], &["config", "show", "--all"]] {
        for columns in [80, 120] {
            let text = desk.see(columns, arguments, "").text;
            let is_narrow = |line: &str| line.chars().count() <= usize::from(columns);
            let wide: Vec<&str> = text.lines().filter(|line| !is_narrow(line)).collect();
            assert!(wide.is_empty() && text.lines().count() > 20, "{arguments:?}, {columns} columns: {wide:#?}");
        }
    }
}

/// The lines about this computer, which differ from one to the next, are left out.
#[test]
fn the_doctor_as_people_see_it() {
    let desk = desk_with_cursor();
    let differs = ["file names:", "changes by others:", "port:"];
    for (name, arguments) in [("doctor", &["doctor"][..]), ("doctor_missing", &["doctor", "--vault", "Nowhere"])] {
        let seen = both(&desk, arguments, "");
        let mut shown = String::new();
        let mut is_left_out = false;
        for line in seen.lines() {
            let is_continued = line.starts_with("     ");
            is_left_out = differs.iter().any(|word| line.contains(word)) || (is_left_out && is_continued);
            if !is_left_out {
                shown += &format!("{line}\n");
            }
        }
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn approvals_as_people_see_them() {
    let mut desk = Desk::new(NOTES);
    let ask = [("LAPIDARY_APPROVAL", "write=ask")];
    let mut server = desk.vault.serve_with(&[], &ask).open(Era::Legacy("2025-11-25"));
    server.call("str_replace", json!({ "file": "Projects/Roof.md", "find": "open", "replace": "done" }));
    let id = desk.json(&["approvals", "--json"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    desk.replaced.push((id.clone(), format!("{:c<width$}", "id", width = id.len())));
    for (name, arguments, typed) in [
        ("approvals", &["approvals"][..], ""),
        ("approvals_show", &["approvals", "show", &id], ""),
        ("approvals_accept_no", &["approvals", "accept", &id], "n\n"),
    ] {
        insta::assert_snapshot!(name, both(&desk, arguments, typed));
    }
    assert_eq!(desk.vault.read("Projects/Roof.md"), NOTES[0].1, "nothing was accepted");
    let accepted = desk.see(80, &["approvals", "accept", &id], "y\n");
    assert_eq!(accepted.code, Some(0), "{}", accepted.text);
    assert_ne!(desk.vault.read("Projects/Roof.md"), NOTES[0].1);
}
