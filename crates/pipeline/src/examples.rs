//! Every example of every tool, through all stages.

mod archives;
mod attachments;
mod batches;
mod canvases;
mod documents;
mod everyday;
mod graph;
mod hashes;
mod health;
mod ingesting;
mod memories;
mod owner_guide;
mod query_texts;
mod recipe_attacks;
mod recipe_bounds;
mod recipe_guard;
mod recipes;
mod schemas;
mod servers;
mod sources;
mod upkeep;
mod web;

use std::{collections::BTreeSet, sync::Arc};

use lapidary_tools::{Example, ExampleResult, TOOLS, VaultShape};
use lapidary_vault::VaultPath;
use serde_json::{Map, Value, json};

use crate::{
    ApprovalRule, Outcome, RuleDecision,
    fake_app::FakeApp,
    fake_servers::FakeServers,
    fake_web::FakeWeb,
    testing::{TestServer, TestSetup},
};

/// What a commit and a dry run add to the answer of a tool.
const ADDED: [&str; 3] = ["checkpoint", "diff", "trashedTo"];

/// Makes the calls that an example needs, and returns the final result.
fn made_first(server: &TestServer, gives: ExampleResult) -> ExampleResult {
    match gives {
        ExampleResult::After { tool, input, gives } => {
            server.done(tool, input);
            made_first(server, *gives)
        }
        ExampleResult::WithApp(gives) | ExampleResult::WithWeb(gives) | ExampleResult::WithServers(gives) => {
            made_first(server, *gives)
        }
        gives => gives,
    }
}

/// Strict clients drop an answer that does not match its schema, also because of a field that the schema lacks.
fn fits(schema: &Map<String, Value>, output: &Value) {
    let mut closed = schema.clone();
    // An answer is either what the tool says or an error; examples that succeed are the first.
    if closed.contains_key("properties") {
        closed.insert("required".into(), closed["anyOf"][0]["required"].clone());
        // Open only where the tool says so: the fields of a query's answer depend on its type.
        closed.entry("additionalProperties").or_insert(json!(false));
    }
    let validator = jsonschema::validator_for(&Value::Object(closed)).expect("a valid schema");
    let problems: Vec<String> =
        validator.iter_errors(output).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{problems:?}");
}

fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|there| includes(there, value)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(there, value)| includes(there, value))
        }
        _ => whole == part,
    }
}

#[test]
fn examples_do_what_they_say() {
    let mut wrong: Vec<String> = Vec::new();
    for tool in TOOLS {
        let spec = tool.spec();
        let name = spec.name();
        for Example { says, before, input, gives, after } in tool.examples() {
            let open = before.first().map(|(path, _)| Arc::new(FakeApp::showing(path)));
            let app = gives.needs_app().then(|| open.unwrap_or_default());
            // A change of a schema is asked for, unless a rule says otherwise.
            let rules =
                vec![ApprovalRule { tool: Some("schema_save".into()), ..ApprovalRule::any(RuleDecision::Allow) }];
            let web = gives.needs_web().then(Arc::<FakeWeb>::default);
            let servers = gives.needs_servers().then(Arc::<FakeServers>::default);
            let shape = VaultShape::new(VaultPath::parse("Schemas").ok());
            let server = TestSetup { app, web, servers, rules, shape, approves_recipes: true, ..TestSetup::default() }
                .serve(before);
            let is_alone = !matches!(gives, ExampleResult::After { .. });
            let gives = made_first(&server, gives);
            let mut changed = false;
            match (server.call(name, input), gives) {
                (Outcome::Refused(refusal), ExampleResult::Refusal(kind)) => {
                    assert_eq!(refusal.reason.kind(), kind, "{name}, {says}");
                    assert!(spec.reasons().contains(&kind), "{name} refuses with {kind:?} but does not declare it");
                }
                (Outcome::Refused(refusal), _) => panic!("{name}, {says}: {}", refusal.reason),
                (outcome, gives) => {
                    let rendered = outcome.rendered().expect("a reply");
                    let mut output = Value::Object(rendered.facts());
                    changed = output.get("checkpoint").is_some();
                    assert_eq!(rendered.structured().len(), output.to_string().len(), "{name}, {says}: a key twice");
                    fits(spec.output(), &output);
                    match gives {
                        ExampleResult::Output(expected) => {
                            if let Value::Object(output) = &mut output {
                                output.retain(|key, _| !ADDED.contains(&key.as_str()) || expected.get(key).is_some());
                            }
                            assert_eq!(output, expected, "{name}, {says}");
                        }
                        ExampleResult::Including(part) => {
                            let says_something = part.as_object().is_some_and(|part| !part.is_empty());
                            assert!(says_something, "{name}, {says}: every answer includes nothing");
                            assert!(includes(&output, &part), "{name}, {says}: {output:#}");
                        }
                        _ => panic!("{name}, {says}: {output:#}"),
                    }
                }
            }
            // All that is left, so that an example can also say that a file is gone. Without a change, that is what there
            // was before, unless another call came first.
            let left = if changed || !after.is_empty() || !is_alone { after } else { before };
            let known = if is_alone { before } else { &[] };
            for (path, _) in known.iter().chain(left) {
                let expected = left.iter().find(|(other, _)| other == path).map(|(_, text)| text.as_bytes());
                let bytes = server.store.bytes(&VaultPath::parse(path).unwrap());
                if bytes.as_deref() != expected {
                    let found = bytes.as_deref().map(String::from_utf8_lossy);
                    wrong.push(format!("{name}, {says}: {path} holds {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "not as said afterwards:\n{}", wrong.join("\n"));
}

/// A caller that names a note as people do may name several, or none. Each tool has to declare what it answers then.
#[test]
fn what_a_tool_answers_to_an_unclear_name_is_declared() {
    const TWINS: [(&str, &str); 2] = [("Here/Twin.md", "One.\n"), ("There/Twin.md", "Two.\n")];
    let mut undeclared = BTreeSet::new();
    for tool in TOOLS {
        let spec = tool.spec();
        for example in tool.examples() {
            if example.gives.needs_app()
                || example.gives.needs_web()
                || example.gives.needs_servers()
                || matches!(example.gives, ExampleResult::Refusal(_))
            {
                continue;
            }
            for path in spec.declaration.paths {
                for name in ["Twin", "Nowhere"] {
                    let mut input = example.input.clone();
                    // Lists of paths have one pointer for all of their elements, which examples of single files cover too.
                    let Some(given) = input.pointer_mut(path.pointer).filter(|given| given.is_string()) else {
                        continue;
                    };
                    *given = json!(name);
                    let files: Vec<_> = example.before.iter().copied().chain(TWINS).collect();
                    let server = TestSetup::default().serve(&files);
                    if let Outcome::Refused(refusal) = server.call(spec.name(), input)
                        && !spec.reasons().contains(&refusal.reason.kind())
                    {
                        undeclared.insert(format!("{}: {:?}", spec.name(), refusal.reason.kind()));
                    }
                }
            }
        }
    }
    assert!(undeclared.is_empty(), "not declared: {undeclared:#?}");
}
