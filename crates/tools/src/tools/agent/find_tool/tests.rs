//! Tests of the size and content of answers.

use lapidary_operation::{Catalogue, ProfileRules, ToolSelection};

use super::*;
use crate::TOOL_SET;

fn catalogue() -> Catalogue {
    let selection = ToolSelection { commands: true, ..ToolSelection::default() };
    Catalogue::new(TOOL_SET, &selection, &ProfileRules::curator(), &[]).unwrap()
}

fn phrasings() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("phrasings.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" => ")).map(|(phrase, _)| phrase)
}

#[test]
fn an_answer_is_at_most_a_kilobyte_and_repeats_nothing_that_is_listed() {
    let catalogue = catalogue();
    // A part of them is enough here; the ranking is tested with all.
    for phrase in phrasings().step_by(4) {
        let output = answer(&catalogue, &[], phrase, None);
        let text = FindTool.text(&output).unwrap();
        let structured = serde_json::to_string(&output).unwrap();
        assert!(text.len() <= BYTES && structured.len() <= BYTES + 200, "{phrase}: {} {text}", structured.len());
        for line in text.lines().filter_map(|line| line.strip_prefix("- ")) {
            let (name, _) = line.split_once(": ").unwrap();
            assert_eq!(catalogue.find(name).unwrap().standing, ToolStanding::Deferred, "{phrase}: {text}");
        }
        assert!(output.fits, "{phrase}: {text}");
    }
}

#[test]
fn every_unlisted_tool_is_shown_in_full_within_a_kilobyte() {
    let catalogue = catalogue();
    for entry in catalogue.on().filter(|entry| entry.standing == ToolStanding::Deferred) {
        let text = FindTool.text(&answer(&catalogue, &[], entry.spec.name(), None)).unwrap();
        assert!(text.len() <= BYTES, "{} {text}", text.len());
        for part in
            [&format!("**{}** (", entry.spec.name()), "run it with `call_tool`", "\nArguments: `", "\nExample: `{"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn a_listed_tool_is_only_named() {
    let text = FindTool.text(&answer(&catalogue(), &[], "fix a typo", None)).unwrap();
    assert!(text.starts_with("The best fit, `str_replace`, is in your list: call it directly."), "{text}");
    assert!(!text.contains("Arguments"), "{text}");
}

#[test]
fn a_listed_tool_has_the_example_that_the_request_is_about() {
    let text = FindTool.text(&answer(&catalogue(), &[], "a table in DQL", None)).unwrap();
    assert!(text.starts_with("The best fit, `query`, is in your list: call it directly.\nExample: `{"), "{text}");
    assert!(text.contains("TABLE rating"), "{text}");
}

#[test]
fn the_example_is_about_the_request() {
    for (wish, part) in [
        ("move a section", "\"section\":\"A\",\"to\":\"b.md\""),
        ("split a note", "\"section\":\"Log\",\"to\":\"Log.md\""),
        ("merge two notes", "{\"file\":\"a.md\",\"to\":\"b.md\"}"),
    ] {
        let text = FindTool.text(&answer(&catalogue(), &[], wish, None)).unwrap();
        assert!(text.starts_with("**section_move**") && text.contains(part), "{wish}: {text}");
    }
}

#[test]
fn the_answer_says_when_nothing_fits() {
    for wish in ["book a flight", "send an email", "zzz"] {
        let output = answer(&catalogue(), &[], wish, None);
        let text = FindTool.text(&output).unwrap();
        assert!(!output.fits && text.starts_with("No tool fits"), "{wish}: {text}");
        assert!(text.len() <= BYTES && !text.contains("Arguments"), "{wish}: {text}");
    }
}

#[test]
fn arguments_are_a_line() {
    let schema = json!({
        "properties": {
            "occurrence": { "anyOf": [{ "enum": ["unique", "all"] }, { "type": "integer" }] },
            "file": { "type": "string" },
            "edits": { "type": "array", "items": { "type": "object", "required": ["find"], "properties": {
                "find": { "type": "string" }, "times": { "type": ["integer", "null"] },
            } } },
        },
        "required": ["file", "edits"],
    });
    let shown = arguments::of(schema.as_object().unwrap());
    for part in ["file: string", "edits: { find: string, times?: integer|null }[]", ", occurrence?: unique|all|integer"]
    {
        assert!(shown.contains(part), "{shown}");
    }
}
