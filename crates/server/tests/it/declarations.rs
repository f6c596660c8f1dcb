//! One declaration per tool, from which everything else follows: the list, the gate, approval, checkpoints, the log and
//! the reference. With separate tables that disagree, tools would be out of reach, write without being asked about, or
//! not be undone.

use lapidary_tools::{AnyTool, Effect, Example, ExampleResult, TOOLS, ToolGroup, ToolKind, ToolSpec};
use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, reason};

/// An example that works on its own.
fn example(tool: &dyn AnyTool) -> Option<Example> {
    let works = |example: &Example| matches!(example.gives, ExampleResult::Output(_) | ExampleResult::Including(_));
    let changes = |example: &Example| example.before != example.after && !example.after.is_empty();
    let examples = || tool.examples().into_iter().filter(works);
    examples().find(changes).or_else(|| examples().next())
}

fn vault_of(example: &Example) -> Vault {
    let vault = Vault::new(&[]);
    for (path, text) in example.before {
        vault.write(path, text.as_bytes());
        vault.approve_recipe(path, text);
    }
    vault
}

fn serve(vault: &Vault, arguments: &[&str], environment: &[(&str, &str)]) -> Server {
    // Groups and tools that need a setting have it.
    let allow = [
        ("LAPIDARY_APPROVAL", "write=allow,destroy=allow"),
        ("LAPIDARY_APPROVAL_RULES", "allow path=Schemas"),
        ("LAPIDARY_MEMORY_FOLDER", "Memory"),
        ("LAPIDARY_WEB_HOSTS", "any"),
        ("LAPIDARY_WEB_SEARCH_URL", "http://127.0.0.1:9/search"),
        ("LAPIDARY_SCHEMA_FOLDER", "Schemas"),
        ("LAPIDARY_RECIPE_FOLDER", "Recipes"),
        ("LAPIDARY_SCRIPTS", "true"),
    ];
    let settings = vault.path().parent().unwrap().join(".config/lapidary");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("lapidary.toml"), "[mcp.servers.a]\ncommand = \"/bin/false\"\n").unwrap();
    vault.serve_with(arguments, &[&allow, environment].concat()).open(Era::Modern)
}

/// A relay runs others and is judged like those.
fn is_relay(spec: &ToolSpec) -> bool {
    spec.kind == ToolKind::Relay
}

#[test]
fn what_a_tool_does_is_what_it_declares() {
    for tool in TOOLS {
        let spec = tool.spec();
        let Some(example) = example(*tool) else { continue };
        let vault = vault_of(&example);
        let before = vault.everything();
        let mut server = serve(&vault, &["--tools", "all"], &[]);
        let result = server.call(spec.name(), example.input.clone());
        assert_ne!(result["isError"], true, "{}: {result}", spec.name());
        let changed = vault.everything() != before;
        assert!(!changed || spec.effect != Effect::Read, "{} reads and changed something", spec.name());
        let checkpoint = result["structuredContent"]["checkpoint"].is_string();
        assert_eq!(checkpoint, changed, "{}: every change can be undone: {result}", spec.name());
        drop(server);
        let log = vault.log();
        let line = log.last().unwrap();
        if !is_relay(&spec) {
            assert_eq!(line["tool"], spec.name(), "{line}");
        }
        for path in spec.declaration.paths {
            if let Some(Value::String(named)) = example.input.pointer(path.pointer) {
                assert!(line.to_string().contains(named.trim_matches('/')), "{}: {line}", spec.name());
            }
        }
    }
}

#[test]
fn every_tool_is_gated_by_its_name_its_group_and_the_rules() {
    for tool in TOOLS {
        let spec = tool.spec();
        let Some(example) = example(*tool) else { continue };
        let vault = vault_of(&example);
        let before = vault.everything();
        for arguments in [["--exclude-tools", spec.name()], ["--exclude-tools", spec.declaration.group.name()]] {
            let mut server = serve(&vault, &arguments, &[]);
            assert_eq!(server.refused(spec.name(), example.input.clone()), "tool_disabled", "{arguments:?}");
        }
        let rule = format!("deny tool={}", spec.name());
        let mut server = serve(&vault, &["--tools", "all"], &[("LAPIDARY_APPROVAL_RULES", &rule)]);
        let result = server.call(spec.name(), example.input.clone());
        // Whatever the example does, and also if it only reads: a rule that names the tool is enough.
        if !is_relay(&spec) {
            assert_eq!(reason(&result), "denied_by_rule", "{rule}: {result}");
        }
        assert_eq!(vault.everything(), before, "{}", spec.name());
    }
}

#[test]
fn the_list_says_what_is_declared() {
    let vault = Vault::new(&[]);
    let mut server = serve(&vault, &["--tools", "all"], &[("OBSIDIAN_ENABLE_COMMANDS", "true")]);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
    assert_eq!(listed.len(), TOOLS.len());
    for (tool, shown) in TOOLS.iter().zip(&listed) {
        let spec = tool.spec();
        let annotations = &shown["annotations"];
        assert_eq!(shown["name"], spec.name());
        let is_action = matches!(spec.kind, ToolKind::Action | ToolKind::Forward);
        assert_eq!(annotations["readOnlyHint"], spec.effect == Effect::Read && !is_action, "{shown}");
        assert_eq!(annotations["destructiveHint"], spec.effect != Effect::Read, "{shown}");
        assert_eq!(
            annotations["openWorldHint"],
            is_action || matches!(spec.declaration.group, ToolGroup::Web | ToolGroup::Mcp)
        );
        assert_eq!(annotations["idempotentHint"], spec.declaration.idempotent);
        assert_eq!(shown["_meta"]["anthropic/searchHint"], spec.declaration.words);
    }
    let always = listed.iter().filter(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true).count();
    assert!((2..=4).contains(&always), "{always}");
}

#[test]
fn the_reference_has_every_tool_with_its_group_and_effect() {
    let reference = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md")).unwrap();
    for tool in TOOLS {
        let spec = tool.spec();
        let standing = if spec.declaration.listed { "listed" } else { "deferred" };
        let (group, effect) = (spec.declaration.group.name(), spec.effect.name());
        let row = format!("| [`{0}`](#{0}) | {group} | {effect} | {standing} |", spec.name());
        assert!(reference.contains(&row), "{row}");
    }
    for group in [ToolGroup::Read, ToolGroup::Vault] {
        let writes = |spec: &ToolSpec| spec.declaration.group == group && spec.effect != Effect::Read;
        assert!(!TOOLS.iter().any(|tool| writes(&tool.spec())), "{group:?} only looks");
    }
}

/// A tool run by name must not answer twice or skip the gate.
#[test]
fn a_tool_run_by_name_gives_the_same_answer_once() {
    for tool in TOOLS.iter().filter(|tool| tool.spec().effect == Effect::Read) {
        let spec = tool.spec();
        let Some(example) = example(*tool) else { continue };
        if spec.name() == "operation_log" {
            continue;
        }
        let vault = vault_of(&example);
        let mut server = serve(&vault, &[], &[]);
        let direct = server.call(spec.name(), example.input.clone());
        let relayed = server.call("call_tool", json!({ "name": spec.name(), "arguments": example.input }));
        assert_eq!(direct, relayed, "{}", spec.name());
    }
}
