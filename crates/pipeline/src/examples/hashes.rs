//! New bytes are hashed once, from the edit to the receipt, and old ones once; a backend on disk also hashes the
//! content it finds in their place.

use lapidary_note::{ContentHash, hashed_during};
use serde_json::{Value, json};

use crate::testing::TestServer;

/// How often texts of these lengths are hashed for a call.
fn hashes<const N: usize>(tool: &str, input: Value, before: &'static str, lengths: [usize; N]) -> [usize; N] {
    let server = TestServer::new(&[("Plan.md", before)]);
    let (_, hashed) = hashed_during(|| server.done(tool, input));
    lengths.map(|length| hashed.iter().filter(|hashed| **hashed == length).count())
}

#[test]
fn an_edit_hashes_the_old_and_the_new_text_once() {
    const OLD: &str = "---\ntags: [a]\n---\n# Plan\nold words and more\n";
    let target = json!({ "type": "path", "path": "Plan.md" });
    for (tool, input, change) in [
        ("str_replace", json!({ "file": "Plan.md", "find": "old", "replace": "older" }), 2),
        ("file_append", json!({ "file": "Plan.md", "content": "end" }), 4),
        (
            "frontmatter_set",
            json!({ "file": "Plan.md", "keyPath": "k", "value": "v",
            "expected_content_hash": ContentHash::of(OLD.as_bytes()).to_string() }),
            5,
        ),
        ("obsidian_manage_tags", json!({ "target": target, "operation": "add", "tags": ["b"], "location": "both" }), 6),
        ("obsidian_append_to_note", json!({ "target": target, "content": "end" }), 4),
    ] {
        let [old, new] = hashes(tool, input, OLD, [OLD.len(), OLD.len() + change]);
        assert_eq!((old, new), (1, 1), "{tool}");
    }
}

#[test]
fn a_new_file_is_hashed_once_and_a_read_one_too() {
    let create = json!({ "file": "New.md", "content": "quite new\n" });
    assert_eq!(hashes("file_create", create, "x", [10]), [1]);
    let read = json!({ "file": "Plan.md" });
    assert_eq!(hashes("file_read", read, "# read\n", [7]), [1]);
}
