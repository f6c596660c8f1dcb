//! No log line contains text of a note, a path in the vault or a token, at any level, for any call.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};

use super::{
    offers::{self, Offer},
    twins::{Client, Closing, MARK, Twin},
};
use crate::harness::{Vault, files_below};

/// A readable note, none of which may be logged. Every word of it starts with the mark.
const PLANTED: [(&str, &str); 2] = [
    (
        "Open/zqseen.md",
        "---\nzqkey: zqvalue\naliases: [zqalias]\ntags: [zqtag]\n---\n# zqheading\n\nzqtext [[zqlink]] #zqinline ^zqblock\n",
    ),
    ("Open/zqbroken.md", "---\nzqkey: [zqvalue\n---\nzqtext\n"),
];
const TOKEN: &str = "zqtoken0123456789abcdef0123456789";

/// As many requests as there is time for.
const MOST: usize = 1_500;

/// Every line that was logged, on standard error and in files.
fn logged(level: &str, format: &str, wanted: fn(&Offer) -> bool) -> Vec<String> {
    let logs = tempfile::tempdir().unwrap();
    let folder = logs.path().join("logs");
    let tokens = format!("someone:curator:{TOKEN}");
    let environment = [
        ("LAPIDARY_APPROVAL", "write=allow,destroy=allow"),
        ("MCP_LOG_LEVEL", level),
        ("LAPIDARY_LOG_FORMAT", format),
        ("LOGS_DIR", folder.to_str().unwrap()),
        ("LAPIDARY_TOKENS", &tokens),
    ];
    let mut needs = BTreeMap::from(PLANTED);
    let mut twin = Twin::new(true, Closing::Rules, &needs, &environment);
    let mut offers = offers::all(&mut twin.client);
    let place_of = |vault: &Vault| vault.path().parent().unwrap().to_str().unwrap().to_owned();
    let first_place = place_of(&twin.vault);
    offers.retain(wanted);
    for offer in &offers {
        needs.extend(&offer.needs);
    }
    let Twin { vault, client, .. } = Twin::new(true, Closing::Rules, &needs, &environment);
    let Client::Stdio(mut server) = client else { panic!("rules are tried over stdio") };
    let thinning = offers.iter().map(|offer| offer.requests.len()).sum::<usize>().div_ceil(MOST);
    for offer in &offers {
        for request in offer.requests.iter().step_by(thinning) {
            server.request(request.method, request.params.clone());
        }
    }
    for (path, _) in PLANTED {
        for tool in ["file_read", "outline", "frontmatter_get", "tags_list"] {
            server.call(tool, json!({ "file": path }));
        }
        server.call("str_replace", json!({ "file": path, "find": "zqtext", "replace": "zqtext zqmore" }));
        server.call("str_replace", json!({ "file": path, "find": "zqnone", "replace": "x" }));
    }
    // Invalid messages, with text in them.
    server.send_bytes(b"{\"zqbroken\": \n");
    server.send(&json!({ "zqother": "zqtext" }));
    server.request("zq/unknown", json!({ "zqkey": "zqtext" }));
    let places = [first_place, place_of(&vault)];
    let (status, said) = server.end();
    assert!(status.success());
    let files = in_files(&folder);
    assert!(!files.is_empty() && !said.is_empty(), "something is logged");
    // The places of both vaults are logged at startup; the name of a temporary folder is random.
    let placeless = |line: String| places.iter().fold(line, |line, place| line.replace(place, ""));
    said.lines().map(str::to_owned).chain(files).map(placeless).collect()
}

fn in_files(folder: &Path) -> Vec<String> {
    let texts = files_below(folder).into_values().map(|bytes| String::from_utf8(bytes).unwrap());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[track_caller]
fn assert_discreet(lines: &[String]) {
    for line in lines {
        let small = line.to_lowercase();
        for planted in [MARK, "lantern", "open/", ".md", "shadow-private"] {
            assert!(!small.contains(planted), "{planted} is in the log: {line}");
        }
    }
}

#[test]
fn no_json_line_reveals_notes_hidden_paths_or_tokens() {
    let lines = logged("trace", "json", |_| true);
    for line in &lines {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["target"].as_str().unwrap().starts_with("lapidary"), "{line}");
    }
    assert_discreet(&lines);
}

#[test]
fn no_plain_line_reveals_notes_hidden_paths_or_tokens() {
    assert_discreet(&logged("trace", "plain", |offer| offer.writes));
}
