//! What must hold for every tool in the list.

mod batches;

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use jiff::{Zoned, civil::date, tz::TimeZone};
use lapidary_vault::{
    Scope, Vault, VaultPath,
    store::{MemoryStore, Origin},
};
use serde_json::{Map, Value, json};

use crate::{
    Cancel, Catalogue, Context, Effect, Example, Gives, Kind, Planned, ProfileRules, Reason, ScanLimits, Selection,
    Spent, TOOLS, check_arguments, context::FreeGate,
};

/// A call as the pipeline makes it, without the stages that need a caller.
fn call(vault: &Vault, tool: &str, arguments: Map<String, Value>) -> Result<Value, Reason> {
    let catalogue = Catalogue::new(&Selection::default(), &ProfileRules::curator(), &[]).unwrap();
    let cancel = Cancel::after(Duration::from_secs(60));
    let context = Context {
        cancel: &cancel,
        catalogue: &catalogue,
        scan: ScanLimits::default(),
        skills: None,
        vaults: &["test".to_owned()],
        now: noon(),
        gate: &FreeGate,
        spent: &Spent::default(),
    };
    let Ok(entry) = catalogue.find(tool) else {
        return Err(Reason::ToolUnknown { name: tool.to_owned(), nearest: None });
    };
    let view = vault.view(Arc::new(Scope::default()), 1 << 20);
    let checked = check_arguments(tool, &entry.spec.input, arguments)?;
    match entry.tool.plan(&context, entry.spec.needs_vault.then_some(&view), checked.arguments)? {
        Planned::Answer { output, .. } => Ok(Value::Object(output)),
        Planned::Change { changes, dry_run, output, .. } => {
            assert!(entry.spec.effect != Effect::Read, "{tool} reads but plans a change");
            let origin = Origin { tool: tool.to_owned(), client: "example".to_owned(), time: UNIX_EPOCH };
            if !dry_run {
                vault.turn(&|| true).unwrap().commit(&changes, &Scope::default(), &origin).unwrap();
            }
            Ok(Value::Object(output))
        }
        Planned::Relay { tool, arguments } => call(vault, &tool, arguments),
    }
}

/// Makes the calls that an example needs, and returns what it gives in the end.
fn made_first(vault: &Vault, gives: Gives) -> Gives {
    match gives {
        Gives::After { tool, input: Value::Object(arguments), gives } => {
            call(vault, tool, arguments).unwrap();
            made_first(vault, *gives)
        }
        gives => gives,
    }
}

/// A Wednesday.
pub(super) fn noon() -> Zoned {
    date(2026, 4, 15).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap()
}

/// Strict clients drop an answer that is not what the schema says.
fn fits(schema: &Map<String, Value>, output: &Value) {
    let Value::Object(output) = output else { panic!("an object") };
    let mut closed = schema.clone();
    if closed.contains_key("properties") {
        closed.insert("required".into(), closed["anyOf"][0]["required"].clone());
        closed.insert("additionalProperties".into(), json!(false));
    }
    let checked = check_arguments("output", &closed, output.clone()).unwrap();
    assert!(checked.repairs.is_empty(), "{:?}", checked.repairs);
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
    for tool in TOOLS {
        let spec = tool.spec();
        let name = spec.name();
        for Example { says, before, input, gives, after } in tool.examples() {
            let file = |(path, text): &(&str, &str)| (VaultPath::parse(path).unwrap(), text.as_bytes().to_vec());
            let store = Arc::new(MemoryStore::new(before.iter().map(file)));
            let Value::Object(arguments) = input else { panic!("{name}, {says}: arguments are an object") };
            let vault = Vault::private("test".into(), Arc::<MemoryStore>::clone(&store));
            let gives = made_first(&vault, gives);
            match (call(&vault, name, arguments), gives) {
                (Ok(output), Gives::Output(expected)) => {
                    fits(&spec.output, &output);
                    assert_eq!(output, expected, "{name}, {says}");
                }
                (Ok(output), Gives::Including(part)) => {
                    fits(&spec.output, &output);
                    assert!(includes(&output, &part), "{name}, {says}: {output:#}");
                }
                (Err(reason), Gives::Refusal(kind)) => {
                    assert_eq!(reason.kind(), kind, "{name}, {says}");
                    assert!(spec.reasons().contains(&kind), "{name} refuses with {kind:?} but does not declare it");
                }
                (outcome, _) => panic!("{name}, {says}: {outcome:?}"),
            }
            for (path, text) in after {
                let bytes = store.bytes(&VaultPath::parse(path).unwrap());
                assert_eq!(bytes.as_deref(), Some(text.as_bytes()), "{name}, {says}");
            }
        }
    }
}

#[test]
fn every_tool_shows_success_and_refusal() {
    for tool in TOOLS {
        let (refusals, successes): (Vec<_>, Vec<_>) =
            tool.examples().into_iter().partition(|example| matches!(example.gives.last(), Gives::Refusal(_)));
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
        assert!(!spec.description.is_empty() && !spec.declaration.title.is_empty(), "{name}");
        assert_eq!(spec.input["additionalProperties"], false, "{name}");
        for combinator in ["oneOf", "anyOf", "allOf", "$ref", "$defs"] {
            assert!(!spec.input.contains_key(combinator), "{name}: `{combinator}` at the top of the input");
        }
        for (field, schema) in spec.input["properties"].as_object().unwrap() {
            assert!(schema.get("description").is_some(), "{name}: `{field}` has no doc comment");
        }
    }
}

#[test]
fn no_schema_has_what_clients_stumble_over() {
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
        walk(&Value::Object(spec.input.clone()), spec.name());
        walk(&Value::Object(spec.output.clone()), spec.name());
    }
}

#[test]
fn path_arguments_exist_in_the_schema() {
    for tool in TOOLS {
        let spec = tool.spec();
        for path in spec.declaration.paths {
            let mut schema = &Value::Object(spec.input.clone());
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
            "description": spec.description,
            "group": spec.declaration.group.name(),
            "effect": spec.effect.name(),
            "listed": spec.declaration.listed,
            "input": spec.input,
            "output": spec.output,
            "reasons": reasons,
        });
        insta::assert_json_snapshot!(spec.name(), shown);
    }
}

#[test]
fn reasons_have_ids_of_their_own() {
    let ids: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.wire_code().id).collect();
    assert_eq!(ids.len(), Kind::ALL.len());
}
