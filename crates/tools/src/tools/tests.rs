//! Requirements for every tool in the list.

use std::collections::BTreeSet;

use lapidary_operation::{ExampleResult, ReasonKind};
use serde_json::{Value, json};

use crate::TOOLS;

#[test]
fn every_tool_shows_success_and_refusal() {
    for tool in TOOLS {
        let (refusals, successes): (Vec<_>, Vec<_>) =
            tool.examples().into_iter().partition(|example| matches!(example.gives.last(), ExampleResult::Refusal(_)));
        assert!(!refusals.is_empty() && !successes.is_empty(), "{}", tool.spec().name());
    }
}

#[test]
fn names_fit_every_client_and_are_unique() {
    let mut seen = BTreeSet::new();
    for tool in TOOLS {
        let name = tool.spec().name();
        assert!(seen.insert(name), "{name} is listed twice");
        assert!(name.len() <= 40 && name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'), "{name}");
        let dotted = tool.spec().declaration.dotted.unwrap_or(name);
        assert_eq!(dotted.replace('.', "_"), name);
    }
}

#[test]
fn the_list_is_ordered_by_group() {
    assert!(TOOLS.iter().map(|tool| tool.spec().declaration.group).is_sorted());
}

#[test]
fn everything_is_described_and_closed() {
    for tool in TOOLS {
        let spec = tool.spec();
        let name = spec.name();
        assert!(!spec.description().is_empty() && !spec.declaration.title.is_empty(), "{name}");
        assert_eq!(spec.input()["additionalProperties"], false, "{name}");
        for combinator in ["oneOf", "anyOf", "allOf", "$ref", "$defs"] {
            assert!(!spec.input().contains_key(combinator), "{name}: `{combinator}` at the top of the input");
        }
        for (field, schema) in spec.input()["properties"].as_object().unwrap() {
            assert!(schema.get("description").is_some(), "{name}: `{field}` has no doc comment");
        }
    }
}

#[test]
fn no_schema_has_constructs_that_clients_fail_on() {
    fn walk(schema: &Value, at: &str) {
        match schema {
            Value::Object(map) => {
                for (key, value) in map {
                    let stumbles =
                        matches!(key.as_str(), "$schema" | "$ref" | "$defs" | "format") && !at.ends_with("properties");
                    assert!(!stumbles, "{at}/{key}");
                    assert!(key != "type" || !value.is_array(), "{at}: a list of types");
                    walk(value, &format!("{at}/{key}"));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, at)),
            _ => {}
        }
    }
    for tool in TOOLS {
        let spec = tool.spec();
        walk(&Value::Object(spec.input().clone()), spec.name());
        walk(&Value::Object(spec.output().clone()), spec.name());
    }
}

#[test]
fn path_arguments_exist_in_the_schema() {
    for tool in TOOLS {
        let spec = tool.spec();
        for path in spec.declaration.paths {
            let mut schema = &Value::Object(spec.input().clone());
            for name in path.pointer.split('/').skip(1) {
                schema = &schema["properties"][name];
            }
            assert_eq!(schema["type"], "string", "{}: {}", spec.name(), path.pointer);
        }
    }
}

#[test]
fn the_definition_of_each_tool_is_as_reviewed() {
    for tool in TOOLS {
        let spec = tool.spec();
        let reasons: Vec<&str> = spec.reasons().iter().map(|kind| kind.wire_code().id).collect();
        let shown = json!({
            "title": spec.declaration.title,
            "description": spec.description(),
            "group": spec.declaration.group.name(),
            "effect": spec.effect.name(),
            "listed": spec.declaration.listed,
            "input": spec.input(),
            "output": spec.output(),
            "reasons": reasons,
        });
        insta::assert_json_snapshot!(spec.name(), shown);
    }
}

#[test]
fn reasons_have_unique_ids() {
    let ids: BTreeSet<&str> = ReasonKind::ALL.iter().map(|kind| kind.wire_code().id).collect();
    assert_eq!(ids.len(), ReasonKind::ALL.len());
}

#[test]
fn arguments_that_the_executor_reads_are_declared_as_in_the_schema() {
    for tool in TOOLS {
        let spec = tool.spec();
        let name = spec.name();
        let has = |argument: Option<&str>| argument.is_some_and(|argument| spec.takes(argument));
        assert_eq!(has(spec.dry_run), spec.kind.writes(), "{name}: the argument for a dry run");
        let input = Value::Object(spec.input().clone()).to_string();
        assert_eq!(spec.deadline.is_some(), input.contains("deadlineMs"), "{name}: the deadline of a budget");
        if let Some(pointer) = spec.deadline {
            let in_schema = pointer.replace('/', "/properties/");
            assert!(Value::Object(spec.input().clone()).pointer(&in_schema).is_some(), "{name}: {pointer}");
        }
        let target = spec.declaration.paths.iter().any(|path| path.pointer.starts_with("/target/"));
        assert_eq!(spec.takes_target, target, "{name}: the target");
        let unchanging = !spec.kind.writes();
        assert_eq!(spec.expected_hash.is_none(), unchanging, "{name}: the expected hash");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how insta is run is in the environment")]
fn built_in_definitions_match_the_types() {
    // While definitions are being accepted, those that are built in are the ones from before.
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        return;
    }
    for tool in TOOLS {
        let derived = tool.spec();
        let mut built_in = tool.spec();
        built_in.take_definition(crate::definitions::definition(tool.spec().name()).expect("a golden file"));
        assert_eq!(built_in.description(), derived.description());
        assert_eq!(built_in.input(), derived.input(), "{}", derived.name());
        assert_eq!(built_in.output(), derived.output(), "{}", derived.name());
    }
}
