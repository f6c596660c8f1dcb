//! A caller that goes in circles is told so; one with a reason to ask again is not.

use serde_json::json;

use crate::harness::{Era, Vault};

fn vault() -> Vault {
    Vault::new(&[("a.md", b"project plan alpha\n"), ("Work/b.md", b"project plan beta\n")])
}

#[test]
fn the_fourth_same_call_is_refused_however_it_is_written() {
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let vault = vault();
        let mut server = vault.serve().open(era);
        server.done("search_content", json!({ "query": "alpha" }));
        server.done("search_content", json!({ "regex": false, "query": "alpha" }));
        server.done("call_tool", json!({ "name": "search.content", "arguments": { "offset": 0, "query": "alpha" } }));
        let refused = server.call("search_content", json!({ "query": "alpha", "ignore_case": false }));
        assert_eq!(refused["structuredContent"]["error"]["reason"], "repeated_call", "{refused}");
        assert!(
            refused["structuredContent"].to_string().contains("lastAnswered"),
            "it says when it was answered: {refused}"
        );
        server.done("search_content", json!({ "query": "alpha", "offset": 1 }));
        vault.write("c.md", b"alpha\n");
        server.done("search_content", json!({ "query": "alpha" }));
    }
}

#[test]
fn the_fourth_search_of_its_kind_is_refused_until_something_changes() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    let search = |query: &str| json!({ "mode": "text", "query": query });
    for query in ["big project plan gamma", "plan gamma big project", "gamma, project plan big now"] {
        server.done("obsidian_search_notes", search(query));
    }
    let refused = server.call("obsidian_search_notes", search("big project plan delta gamma"));
    assert_eq!(refused["structuredContent"]["error"]["data"]["reason"], "repeated_call", "{refused}");
    assert_eq!(refused["structuredContent"]["error"]["data"]["similar"], true);
    let mut elsewhere = search("big project plan delta gamma");
    elsewhere["pathPrefix"] = json!("Work");
    server.done("obsidian_search_notes", elsewhere);
    server.done("obsidian_search_notes", search("something else"));
    vault.write("Work/new.md", b"big project plan delta gamma\n");
    server.done("obsidian_search_notes", search("big project plan delta gamma"));
}

#[test]
fn a_change_that_a_caller_may_not_see_makes_no_difference() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[("OBSIDIAN_DENY_PATHS", "Hidden")]).open(Era::Modern);
    let search = |query: &str| json!({ "mode": "text", "query": query });
    for query in ["big project plan gamma", "plan gamma big project", "gamma, project plan big now"] {
        server.done("obsidian_search_notes", search(query));
    }
    vault.write("Hidden/x.md", b"big project plan delta gamma\n");
    assert_eq!(server.refused("obsidian_search_notes", search("big project plan delta gamma")), "repeated_call");
}

#[test]
fn distinct_searches_are_answered_however_many_there_are() {
    let vault = vault();
    let mut server = vault.serve().open(Era::Modern);
    for name in ["Anna", "Bert", "Carl", "Dora", "Emil", "Fred"] {
        server.done("search_content", json!({ "query": format!("meeting with {name}") }));
        server.done("obsidian_search_notes", json!({ "query": format!("path:{name} plan") }));
        server.done("obsidian_search_notes", json!({ "query": format!("quarterly report {name}") }));
    }
    // Nearly the same words that find other notes are another search.
    for name in ["alpha", "beta", "alpha", "beta", "alpha", "beta"] {
        server.done("search_content", json!({ "query": format!("project plan {name}"), "offset": name.len() - 4 }));
    }
}

#[test]
fn after_many_failures_in_a_row_a_caller_is_told_to_stop() {
    let vault = vault();
    let mut server = vault.serve_with(&[], &[("LAPIDARY_MAX_FAILURES", "3")]).open(Era::Modern);
    let mut missing = |number: usize| server.call("file_read", json!({ "file": format!("no{number}.md") })).to_string();
    assert!(!missing(1).contains("ask the user"));
    assert!(!missing(2).contains("ask the user"));
    assert!(missing(3).contains("3 calls in a row have failed"));
    assert!(missing(4).contains("4 calls in a row have failed"));
    server.done("file_read", json!({ "file": "a.md" }));
    assert!(!server.call("file_read", json!({ "file": "no5.md" })).to_string().contains("ask the user"));
}

#[test]
fn the_limits_are_the_owners() {
    let vault = vault();
    let environment = [("LAPIDARY_REPETITION_ALLOWED", "1"), ("LAPIDARY_REPETITION_WINDOW", "2")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    let read = |file: &str| json!({ "file": file });
    server.done("file_read", read("a.md"));
    assert_eq!(server.refused("file_read", read("a.md")), "repeated_call");
    server.done("file_read", read("Work/b.md"));
    server.done("vault_info", json!({}));
    server.done("file_read", read("a.md"));
}
