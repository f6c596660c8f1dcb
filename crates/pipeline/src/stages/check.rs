//! Stage 3: which vault, and the arguments against the schema.

use lapidary_tools::{
    ArgumentProblem, CatalogueEntry, CheckedArguments, PathRefusal, PathRole, Reason, VaultChoice, check_arguments,
    clipped, is_bare_name, quote::quoted,
};
use lapidary_vault::{PathDenied, Scope, VaultPath};
use serde_json::{Map, Value, json};

use crate::{
    ApprovalRules, ServedVault,
    call_bounds::CallBounds,
    execution::{Execution, FoundOperation, StageFlow},
};

/// The argument that names the vault. It belongs to the executor: tools know nothing of other vaults.
pub(crate) const VAULT: &str = "vault";

/// Which vault, and do the arguments match the schema? Arguments with one reading are repaired and reported.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    match execution.found()? {
        FoundOperation::Tool(entry) => tool_arguments(execution, entry)?,
        FoundOperation::Read(operation) => {
            let (vaults, grant) = (&execution.setup().vaults, &execution.principal().grant);
            let choice = operation.vaults(&vaults.names(grant))?;
            execution.vault = match &choice {
                VaultChoice::One(name) => Some(vaults.pick(grant, name.as_deref())?),
                // It is recorded in the log of the last of them.
                VaultChoice::Several(names) => names.last().and_then(|name| vaults.called(name)),
                VaultChoice::States => None,
            };
            execution.vault_choice = Some(choice);
        }
    }
    execution.cancel.check()?;
    Ok(StageFlow::Next)
}

fn tool_arguments<'a>(execution: &mut Execution<'a>, entry: &'a CatalogueEntry) -> Result<(), Reason> {
    let mut arguments = execution.given.clone();
    let needs_vault = entry.spec.kind.needs_vault();
    if needs_vault {
        execution.vault = Some(pick_vault(execution, entry, &mut arguments)?);
    }
    if entry.spec.kind.writes() {
        execution.bounds = CallBounds::take(execution, entry, &mut arguments)?;
    }
    // Taken before the check, so that the log names the files of a call whose arguments are refused.
    execution.files = files(entry, &arguments);
    let CheckedArguments { mut arguments, repairs } =
        check_arguments(entry.spec.name(), entry.spec.input(), arguments)?;
    if needs_vault {
        // Tools refuse unknown fields, and this one is not theirs.
        arguments.remove(VAULT);
    }
    if !repairs.is_empty() {
        // A repair may have renamed the argument that holds a path.
        execution.files = files(entry, &arguments);
    }
    execution.repairs.extend(repairs);
    execution.arguments = arguments;
    execution.is_checked = true;
    Ok(())
}

/// The vault that the arguments name. With a single vault the schema does not mention it, but it may be named.
fn pick_vault<'a>(
    execution: &mut Execution<'a>,
    entry: &CatalogueEntry,
    arguments: &mut Map<String, Value>,
) -> Result<&'a ServedVault, Reason> {
    // Picked before the arguments are checked, so this one spelling is corrected here.
    let spelt = arguments.keys().find(|key| key.eq_ignore_ascii_case(VAULT)).cloned();
    if let Some(spelt) = spelt.filter(|spelt| spelt != VAULT && !arguments.contains_key(VAULT)) {
        let name = arguments.remove(&spelt).unwrap_or_default();
        arguments.insert(VAULT.to_owned(), name);
        execution.repairs.push(format!("{} was read as `{VAULT}`", quoted(&spelt)));
    }
    let named = arguments.get(VAULT).cloned();
    if !entry.spec.takes(VAULT) {
        // With a single vault, the schema has no such argument and would refuse it.
        arguments.remove(VAULT);
    }
    let name = match named {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(bad_argument(entry, VAULT, "must be a string")),
    };
    execution.setup().vaults.pick(&execution.principal().grant, name.as_deref())
}

/// The arguments of one step of a batch, which concerns one vault.
pub(crate) fn step_arguments(
    entry: &CatalogueEntry,
    vault: &str,
    mut arguments: Map<String, Value>,
) -> Result<CheckedArguments, Reason> {
    match arguments.remove(VAULT) {
        None | Some(Value::Null) => {}
        Some(Value::String(given)) if given == vault => {}
        Some(given) => {
            let given = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
            return Err(Reason::OtherVault { given: clipped(&given), vault: vault.to_owned() });
        }
    }
    // With several vaults the schema requires one.
    if entry.spec.takes(VAULT) {
        arguments.insert(VAULT.to_owned(), json!(vault));
    }
    let mut checked = check_arguments(entry.spec.name(), entry.spec.input(), arguments)?;
    checked.arguments.remove(VAULT);
    Ok(checked)
}

pub(crate) fn bad_argument(entry: &CatalogueEntry, at: &str, problem: &'static str) -> Reason {
    let problem = ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None };
    Reason::InvalidArguments { tool: entry.spec.name().to_owned(), problems: vec![problem] }
}

/// The files that the arguments name, as far as known.
fn files(entry: &CatalogueEntry, arguments: &Map<String, Value>) -> Vec<String> {
    // No longer path can exist, and the log must not grow with what callers send.
    let named = |pointer: &str| argument_at(arguments, pointer)?.as_str().map(|path| path.chars().take(4096).collect());
    entry.spec.declaration.paths.iter().filter_map(|path| named(path.pointer)).collect()
}

/// The files that the call is to change, by its arguments. A name is not a path: its target is judged when it is known.
/// The tool refuses invalid paths.
fn written_paths(entry: &CatalogueEntry, arguments: &Map<String, Value>) -> Vec<VaultPath> {
    if entry.spec.only_looks(arguments) {
        return Vec::new();
    }
    let written = entry.spec.declaration.paths.iter().filter(|path| path.role == PathRole::Write);
    let given = written.filter_map(|path| argument_at(arguments, path.pointer)?.as_str());
    given.filter(|given| !is_bare_name(given)).filter_map(|given| VaultPath::parse(given).ok()).collect()
}

/// Whether the owner's rules let these files be changed, by their names alone: a change that will be denied is not
/// planned, so that its refusal reveals nothing about the files.
pub(crate) fn write_rules(
    entry: &CatalogueEntry,
    arguments: &Map<String, Value>,
    rules: &ApprovalRules,
) -> Result<(), Reason> {
    let is_denied = |path: &VaultPath| rules.deny_path(&entry.spec, path);
    if written_paths(entry, arguments).iter().any(is_denied) { Err(Reason::DeniedByRule) } else { Ok(()) }
}

/// Whether the principal may change the files that the arguments name, by those names alone: before anything is read,
/// so that the answer does not depend on the disk. Ignored files do not exist, and the tool says so.
pub(crate) fn write_scope(entry: &CatalogueEntry, arguments: &Map<String, Value>, scope: &Scope) -> Result<(), Reason> {
    for path in written_paths(entry, arguments) {
        match scope.may_write(&path) {
            Ok(()) | Err(PathDenied::Ignored) => {}
            Err(denied) => {
                return Err(Reason::PathForbidden { path, writing: true, denied: PathRefusal::ByScope(denied) });
            }
        }
    }
    Ok(())
}

/// The value of the arguments at a JSON pointer of a declaration; these need no escapes and lead into no array.
pub(crate) fn argument_at<'v>(arguments: &'v Map<String, Value>, pointer: &str) -> Option<&'v Value> {
    let mut keys = pointer.split('/').skip(1);
    let argument = arguments.get(keys.next()?)?;
    keys.try_fold(argument, |value, key| value.get(key))
}

#[cfg(test)]
mod tests {
    use lapidary_tools::ReasonKind;
    use serde_json::{Value, json};

    use super::{argument_at, run, step_arguments};
    use crate::{
        stages::find::named_tool,
        testing::{StageVerdict, TestServer, arguments, verdict},
    };

    #[test]
    fn arguments_with_one_reading_are_repaired_and_reported() {
        let server = TestServer::new(&[("a.md", "x\n")]);
        let done = server.done("file_read", json!({ "File": "a.md", "VAULT": "test" }));
        assert_eq!(done["notice"], "Arguments repaired: `VAULT` was read as `vault`; `File` was read as `file`.");
        assert_eq!(server.log()[0]["file"], "a.md");
    }

    #[test]
    fn the_vault_is_picked_before_the_rest_is_checked() {
        let server = TestServer::new(&[]);
        assert_eq!(server.refused("file_read", json!({ "vault": "other" })).kind(), ReasonKind::VaultUnknown);
        assert_eq!(server.refused("file_read", json!({ "vault": 1 })).kind(), ReasonKind::InvalidArguments);
        assert_eq!(
            server.refused("file_read", json!({ "vault": null })).kind(),
            ReasonKind::InvalidArguments,
            "no file"
        );
    }

    #[test]
    fn files_are_in_the_log_even_if_the_call_is_refused() {
        let server = TestServer::new(&[]);
        server.refused("file_read", json!({ "file": "a.md", "limit": [] }));
        assert_eq!(server.log()[0]["file"], "a.md");
    }

    #[test]
    fn valid_arguments_pass_without_the_executors_own() {
        let server = TestServer::new(&[]);
        let invocation = server.invocation("file_read", json!({ "file": "a.md", "vault": "test" }));
        server.at("check", &invocation, |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Next);
            assert_eq!(Value::Object(execution.arguments.clone()), json!({ "file": "a.md" }));
            assert_eq!(execution.vault.map(|served| served.vault.name()), Some("test"));
            assert!(execution.is_checked && execution.repairs.is_empty());
        });
    }

    #[test]
    fn wrong_arguments_are_refused_and_their_files_are_known() {
        let server = TestServer::new(&[]);
        for (given, kind) in [
            (json!({}), ReasonKind::InvalidArguments),
            (json!({ "file": "a.md", "limit": [] }), ReasonKind::InvalidArguments),
            (json!({ "file": "a.md", "vault": "other" }), ReasonKind::VaultUnknown),
            (json!({ "file": "a.md", "vault": 1 }), ReasonKind::InvalidArguments),
        ] {
            server.at("check", &server.invocation("file_read", given.clone()), |execution| {
                assert_eq!(verdict(run(execution)), StageVerdict::Refusal(kind), "{given}");
                assert!(!execution.is_checked, "{given}");
                let picked = execution.vault.is_some();
                assert_eq!(execution.files.len(), usize::from(picked && given.get("file").is_some()), "{given}");
            });
        }
    }

    #[test]
    fn a_cancelled_call_ends_here() {
        let server = TestServer::new(&[]);
        server.at("check", &server.invocation("file_read", json!({ "file": "a.md" })), |execution| {
            assert!(execution.cancel.take_back());
            assert!(matches!(verdict(run(execution)), StageVerdict::Refusal(_)));
        });
    }

    #[test]
    fn a_step_of_a_batch_may_name_only_the_vault_of_the_batch() {
        let server = TestServer::new(&[]);
        let entry = named_tool(&server.executor.grant().profile, "str_replace").unwrap();
        let step = |vault: Value| {
            let given = json!({ "file": "a.md", "find": "x", "replace": "y", "vault": vault });
            step_arguments(entry, "test", arguments(given)).map_err(|reason| reason.kind())
        };
        for vault in [json!("test"), Value::Null] {
            let checked = step(vault.clone()).unwrap();
            assert_eq!(checked.arguments.get("vault"), None, "{vault}");
        }
        for vault in [json!("other"), json!(1)] {
            assert_eq!(step(vault.clone()).err(), Some(ReasonKind::VaultDiffers), "{vault}");
        }
    }

    #[test]
    fn a_pointer_leads_to_an_argument_or_to_nothing() {
        let given = arguments(json!({ "file": "a.md", "target": { "path": "b.md" } }));
        for (pointer, expected) in [
            ("/file", Some("a.md")),
            ("/target/path", Some("b.md")),
            ("/target/x", None),
            ("/file/x", None),
            ("", None),
        ] {
            assert_eq!(argument_at(&given, pointer).and_then(Value::as_str), expected, "{pointer}");
        }
    }
}
