//! Daily, weekly, monthly, quarterly and yearly notes, found without Obsidian by its own settings.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault};

const PLUGINS: (&str, &[u8]) = (".obsidian/community-plugins.json", b"[\"periodic-notes\"]");

fn periodic(period: &str, date: &str) -> Value {
    json!({ "type": "periodic", "period": period, "date": date })
}

fn read(server: &mut Server, target: &Value) -> Value {
    server.call("obsidian_get_note", json!({ "format": "content", "target": target }))["structuredContent"].clone()
}

#[test]
fn each_period_is_found_where_the_settings_say() {
    let settings = br#"{
        "daily": { "enabled": true, "folder": "Journal", "format": "YYYY/MM-MMMM/YYYY-MM-DD" },
        "weekly": { "enabled": true, "folder": "", "format": "GGGG-[W]WW" },
        "monthly": { "enabled": true, "folder": "M", "format": "" },
        "quarterly": { "enabled": true, "folder": "Q", "format": "YYYY-[Q]Q [made] DD" },
        "yearly": { "enabled": false, "folder": "Y" } }"#;
    let vault = Vault::new(&[
        PLUGINS,
        (".obsidian/plugins/periodic-notes/data.json", settings),
        (".obsidian/daily-notes.json", b"{\"folder\": \"Elsewhere\"}"),
        ("Journal/2026/04-April/2026-04-13.md", b"day"),
        ("2026-W01.md", b"week"),
        ("M/2026-04.md", b"month"),
        ("Q/2026-Q2 made 17.md", b"quarter"),
        ("Elsewhere/2026-04-13.md", b"the core plugin's"),
    ]);
    let mut server = vault.serve().open(Era::Modern);
    for (period, date, path, content) in [
        ("daily", "2026-04-13", "Journal/2026/04-April/2026-04-13.md", "day"),
        ("weekly", "2025-12-29", "2026-W01.md", "week"),
        ("weekly", "2026-01-03", "2026-W01.md", "week"),
        ("monthly", "2026-04-30", "M/2026-04.md", "month"),
        ("quarterly", "2026-06-30", "Q/2026-Q2 made 17.md", "quarter"),
    ] {
        let found = read(&mut server, &periodic(period, date));
        assert_eq!((&found["result"]["path"], &found["result"]["content"]), (&json!(path), &json!(content)), "{found}");
    }
    let missing = read(&mut server, &periodic("weekly", "2026-04-13"));
    let data = &missing["error"]["data"];
    assert_eq!((&missing["error"]["code"], &data["reason"]), (&json!(-32001), &json!("periodic_not_found")));
    assert_eq!((&data["path"], &data["date"]), (&json!("2026-W16.md"), &json!("2026-04-13")), "{missing}");
    assert_eq!(missing["error"]["message"], "No weekly note found for `2026-04-13`.");
    let off = read(&mut server, &periodic("yearly", "2026-04-13"));
    assert_eq!((&off["error"]["code"], &off["error"]["data"]["reason"]), (&json!(-32007), &json!("periodic_disabled")));
}

#[test]
fn today_is_the_day_in_the_owners_time_zone() {
    let vault = Vault::new(&[]);
    // No time zone is further ahead.
    let mut server = vault.serve_with(&[], &[("TZ", "Pacific/Kiritimati")]).open(Era::Modern);
    let target = json!({ "type": "periodic", "period": "daily" });
    let missing = read(&mut server, &target);
    let path = missing["error"]["data"]["path"].as_str().unwrap().to_owned();
    let zone = jiff::tz::TimeZone::get("Pacific/Kiritimati").unwrap();
    let today = jiff::Timestamp::now().to_zoned(zone).date();
    // Midnight may have passed meanwhile.
    assert!([today, today.yesterday().unwrap()].iter().any(|day| path == format!("{day}.md")), "{path}");
}

#[test]
fn every_tool_with_a_target_takes_them() {
    let vault = Vault::new(&[(".obsidian/daily-notes.json", b"{\"folder\": \"D\"}"), ("D/2026-04-13.md", b"# Log\n")]);
    let mut server = vault.serve().open(Era::Modern);
    let heading = json!({ "type": "heading", "target": "Log" });
    for (tool, arguments) in [
        ("obsidian_append_to_note", json!({ "content": "- a\n" })),
        ("obsidian_patch_note", json!({ "section": heading, "operation": "append", "content": "- b\n" })),
        ("obsidian_replace_in_note", json!({ "replacements": [{ "search": "a", "replace": "c" }] })),
        ("obsidian_manage_frontmatter", json!({ "operation": "set", "key": "k", "value": 1 })),
        ("obsidian_manage_tags", json!({ "operation": "add", "tags": ["t"] })),
        ("obsidian_write_note", json!({ "section": heading, "content": "- d\n" })),
        ("obsidian_write_note", json!({ "content": "all\n", "overwrite": true })),
    ] {
        let with = |target: Value| {
            let mut arguments = arguments.clone();
            arguments["target"] = target;
            arguments
        };
        let done = server.done(tool, with(periodic("daily", "2026-04-13")));
        assert!(done.to_string().contains("\"path\":\"D/2026-04-13.md\""), "{tool}: {done}");
        let makes_it = matches!(tool, "obsidian_append_to_note" | "obsidian_write_note");
        for (target, reason) in [
            (periodic("daily", "2026-04-14"), if makes_it { "" } else { "periodic_not_found" }),
            (periodic("weekly", "2026-04-13"), "periodic_disabled"),
            (json!({ "type": "active" }), "obsidian_unreachable"),
            (json!({ "type": "periodic" }), "invalid_arguments"),
            (json!({ "type": "path" }), "invalid_arguments"),
            (periodic("daily", "2026-02-30"), "invalid_arguments"),
            (periodic("daily", "20260413"), "invalid_arguments"),
        ]
        .into_iter()
        .filter(|(_, reason)| !reason.is_empty())
        {
            assert_eq!(server.refused(tool, with(target.clone())), reason, "{tool} {target}");
        }
    }
    assert_eq!(vault.read("D/2026-04-13.md"), b"all\n");
}

#[test]
fn a_hidden_note_is_not_found_by_its_day_either() {
    let vault = Vault::new(&[
        (".obsidian/daily-notes.json", b"{\"folder\": \"Secret\"}"),
        ("Secret/2026-04-13.md", b"secret"),
        (".lapidaryignore", b"Hidden/\n"),
    ]);
    let mut server = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "Secret")]).open(Era::Modern);
    for date in ["2026-04-13", "2026-04-14"] {
        assert_eq!(read(&mut server, &periodic("daily", date))["error"]["data"]["reason"], "path_forbidden");
    }
    vault.write(".obsidian/daily-notes.json", b"{\"folder\": \"Hidden\"}");
    vault.write("Hidden/2026-04-13.md", b"secret");
    assert_eq!(read(&mut server, &periodic("daily", "2026-04-13"))["error"]["data"]["reason"], "periodic_not_found");
    vault.write(".obsidian/daily-notes.json", b"{");
    assert_eq!(read(&mut server, &periodic("daily", "2026-04-13"))["error"]["data"]["reason"], "periodic_disabled");
}
