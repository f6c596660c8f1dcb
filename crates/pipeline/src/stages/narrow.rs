//! Stage 5: a view of the vault, narrowed to the principal.

use std::sync::Arc;

use lapidary_tools::{AppFacts, CatalogueEntry, OpenedVaults, Reason, VaultChoice, VaultState, VaultView};
use serde_json::Value;

use super::{active_note, check};
use crate::{
    ServedVault,
    execution::{Execution, FoundOperation, StageFlow},
};

/// A view of the vault, reduced to what the principal may read.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    match execution.found()? {
        FoundOperation::Tool(entry) => tool_view(execution, entry)?,
        FoundOperation::Read(_) => execution.opened = Some(open(execution)?),
    }
    Ok(StageFlow::Next)
}

fn tool_view(execution: &mut Execution<'_>, entry: &CatalogueEntry) -> Result<(), Reason> {
    let Some(served) = execution.vault else { return Ok(()) };
    let scope = execution.executor.scope(served, &execution.principal().grant)?;
    // First, because the scope and the rules judge a path.
    if entry.spec.means_active_note(&execution.arguments) {
        let view = execution.executor.view_under(served, Arc::clone(&scope));
        let mut arguments = std::mem::take(&mut execution.arguments);
        let named = active_note::name(execution, &entry.spec, &mut arguments, &view);
        execution.arguments = arguments;
        execution.files.extend(named?.map(|path| path.to_string()));
    }
    // By the arguments alone, before the view exists: see `write_scope`.
    check::write_scope(entry, &execution.arguments, &scope)?;
    // A dry run is reading, and the rules about that hold for it.
    let is_dry = entry.spec.dry_run.is_some_and(|dry| execution.arguments.get(dry) == Some(&Value::Bool(true)));
    if entry.spec.kind.writes() && !is_dry {
        check::write_rules(entry, &execution.arguments, &execution.setup().rules)?;
    }
    let view = execution.executor.view_under(served, Arc::clone(&scope));
    // The first caller that may read the file is told of a late save.
    match view.late_saves() {
        Ok(late_saves) => execution.late_saves.extend(late_saves),
        // The owner is told, the caller is not: the call itself may well succeed.
        Err(error) => tracing::warn!("checkpoints cannot be looked up: {error}"),
    }
    execution.scope = Some(scope);
    execution.view = Some(view);
    Ok(())
}

/// Checks that run every second and are not logged cause no warning either.
fn open(execution: &mut Execution<'_>) -> Result<OpenedVaults, Reason> {
    let (executor, grant, warns) = (execution.executor, &execution.principal().grant, execution.is_recorded());
    let scope = |served: &ServedVault| {
        if warns { executor.scope(served, grant) } else { executor.scope_silently(served, grant) }
    };
    let view = |served: &ServedVault| scope(served).map(|scope| executor.view_under(served, scope));
    Ok(match execution.vault_choice.take() {
        None | Some(VaultChoice::One(_)) => OpenedVaults::One(Box::new(view(execution.concerned_vault())?)),
        // One vault that cannot be opened does not keep the others from answering; the tool says which is missing.
        Some(VaultChoice::Several(names)) => {
            let served = names.iter().filter_map(|name| executor.vaults().called(name));
            let opened = served.map(|served| {
                let name = served.vault.name().to_owned();
                let view = view(served);
                if let Err(reason) = &view
                    && warns
                {
                    let reason = reason.kind().wire_code().id;
                    tracing::warn!(reason, "the vault `{name}` cannot be used");
                }
                VaultView { name, view }
            });
            OpenedVaults::Several(opened.collect())
        }
        Some(VaultChoice::States) => {
            let state = |served: &ServedVault| {
                let problem = scope(served).err().map(|reason| reason.kind());
                VaultState {
                    name: served.vault.name().to_owned(),
                    problem,
                    capabilities: problem.is_none().then(|| served.vault.capabilities()),
                    app: served.app.clone().map(|app| app as Arc<dyn AppFacts>),
                }
            };
            OpenedVaults::States(executor.vaults().granted(grant).map(state).collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lapidary_tools::{ListPrompts, ReadPayload, ReadResource, ReasonKind};
    use lapidary_vault::{PathPrefix, Policy};
    use serde_json::{Value, json};

    use super::run;
    use crate::{
        ApprovalRule, Grant, Invocation, RuleDecision,
        testing::{StageVerdict, TestSetup, arguments, granted, verdict},
    };

    #[test]
    fn the_scope_is_the_servers_narrowed_by_the_grant() {
        let server = TestSetup::default().serve(&[("Work/a.md", "x\n"), ("Home/b.md", "x\n")]);
        let work = server.principal_with(granted(&["Work"]));
        let read = |file: &str| server.call_as(&work, "file_read", json!({ "file": file }));
        assert!(!read("Work/a.md").rendered().unwrap().is_error);
        assert!(read("Home/b.md").rendered().unwrap().is_error);
        server.done("file_read", json!({ "file": "Home/b.md" }));
    }

    /// A plan would tell whether the note, the section or the text is there.
    #[test]
    fn what_a_rule_denies_by_its_path_is_not_even_planned() {
        let rules = vec![ApprovalRule {
            effect: None,
            group: None,
            tool: None,
            path: Some(PathPrefix::parse("Journal").unwrap()),
            decision: RuleDecision::Deny,
        }];
        let server = TestSetup { rules, ..TestSetup::default() }.serve(&[("Journal/a.md", "# One\nx\n")]);
        for file in ["Journal/a.md", "Journal/none.md"] {
            let target = json!({ "type": "path", "path": file });
            let nope = json!({ "type": "heading", "target": "Nope" });
            for (tool, arguments) in [
                ("str_replace", json!({ "file": file, "find": "zzz", "replace": "y" })),
                ("file_move", json!({ "from": file, "to": "b.md" })),
                ("file_delete", json!({ "file": file })),
                (
                    "obsidian_patch_note",
                    json!({ "target": target, "operation": "append", "section": nope, "content": "x" }),
                ),
            ] {
                let alone = server.refused(tool, arguments.clone());
                assert_eq!(alone.kind(), ReasonKind::DeniedByRule, "{tool} {file}");
                let batch = json!({ "ops": [{ "tool": tool, "args": arguments }], "atomic": false });
                let step = server.done("bulk_apply", batch)["results"][0].clone();
                let of_batch = !step.to_string().contains("not_in_batch");
                assert!(!of_batch || step.to_string().contains("denied_by_rule"), "{tool} {file}: {step:#}");
            }
        }
        // What only looks is judged as reading.
        let shown = json!({ "file": "Journal/a.md", "find": "x", "replace": "y", "dry_run": true });
        server.done("str_replace", shown);
    }

    /// What the answer would otherwise reveal: whether the note, the section, the text or the key exists.
    #[test]
    fn the_write_scope_is_judged_by_the_path_before_anything_is_revealed() {
        let server = TestSetup::default().serve(&[("README.md", "# One\nx\n")]);
        let policy = Policy { write: Some(vec![PathPrefix::parse("Work").unwrap()]), ..Policy::default() };
        let writer = server.principal_with(Grant { paths: Some(Arc::new(policy)), ..granted(&[]) });
        let reply = |tool: &str, arguments: &Value| {
            let reply = server.call_as(&writer, tool, arguments.clone()).rendered().expect("a reply");
            Value::Object(reply.facts().clone()).to_string()
        };
        let there = json!({ "type": "path", "path": "README.md" });
        let none = json!({ "type": "path", "path": "none.md" });
        for target in [&there, &none] {
            let path = &target["path"];
            let nope = json!({ "type": "heading", "target": "Nope" });
            for (tool, arguments) in [
                (
                    "obsidian_patch_note",
                    json!({ "target": target, "operation": "append", "section": nope, "content": "x" }),
                ),
                ("obsidian_write_note", json!({ "target": target, "content": "x" })),
                ("obsidian_write_note", json!({ "target": target, "content": "x", "section": nope })),
                ("obsidian_append_to_note", json!({ "target": target, "content": "x", "dryRun": true })),
                (
                    "obsidian_replace_in_note",
                    json!({ "target": target, "replacements": [{ "search": "zzz", "replace": "y" }] }),
                ),
                ("obsidian_manage_frontmatter", json!({ "target": target, "operation": "delete", "key": "nokey" })),
                ("obsidian_manage_tags", json!({ "target": target, "operation": "remove", "tags": ["nope"] })),
                ("obsidian_delete_note", json!({ "target": target })),
                ("file_create", json!({ "file": path, "content": "x" })),
                ("file_move", json!({ "from": path, "to": "Work/a.md" })),
                ("file_move", json!({ "from": "Work/a.md", "to": path })),
                ("str_replace", json!({ "file": path, "find": "zzz", "replace": "y" })),
            ] {
                let refused = reply(tool, &arguments);
                assert!(refused.contains("path_forbidden"), "{tool} {arguments}: {refused}");
                let refused = reply("bulk_apply", &json!({ "ops": [{ "tool": tool, "args": arguments }] }));
                assert!(refused.contains("path_forbidden"), "{tool} in a batch: {refused}");
            }
        }
        // A call that only reads may read.
        for (tool, arguments) in [
            ("obsidian_manage_tags", json!({ "target": there, "operation": "list" })),
            ("obsidian_manage_frontmatter", json!({ "target": there, "operation": "get", "key": "nokey" })),
        ] {
            assert!(!reply(tool, &arguments).contains("path_forbidden"), "{tool}");
        }
    }

    #[test]
    fn the_same_grant_gives_the_same_scope_and_another_gives_another() {
        let server = TestSetup::default().serve(&[("Work/a.md", "x\n")]);
        let served = server.executor.vaults().first();
        let scope = |grant: &Grant| server.executor.scope(served, grant).unwrap();
        let (work, home) = (granted(&["Work"]), granted(&["Home"]));
        assert!(Arc::ptr_eq(&scope(&work), &scope(&work)), "caches rely on the same scope");
        assert!(Arc::ptr_eq(&scope(&work), &scope(&work.clone())));
        assert!(!Arc::ptr_eq(&scope(&work), &scope(&home)));
        assert!(!Arc::ptr_eq(&scope(&work), &scope(server.executor.grant())));
    }

    #[test]
    fn a_vault_that_is_not_granted_does_not_exist() {
        let server = TestSetup::default().serve(&[("a.md", "x\n")]);
        let mut grant = granted(&[]);
        grant.paths = None;
        grant.vaults = Some(vec!["other".to_owned()]);
        let stranger = server.principal_with(grant);
        let refused = server.call_as(&stranger, "file_read", json!({ "file": "a.md", "vault": "test" }));
        let crate::Outcome::Refused(refusal) = refused else { panic!("answered") };
        assert_eq!(refusal.reason.kind(), ReasonKind::VaultUnknown);
        assert!(!refusal.reason.to_string().contains("test`,"), "{}", refusal.reason);
        let status = server.read_as(&stranger, ReadResource { uri: "obsidian://status".into() });
        let Ok(ReadPayload::Contents(contents)) = status else { panic!("no status") };
        assert!(!format!("{contents:?}").contains("test"), "{contents:?}");
    }

    #[test]
    fn a_call_gets_a_view_unless_its_paths_are_closed_to_it() {
        let rules = vec![ApprovalRule {
            effect: None,
            group: None,
            tool: None,
            path: Some(PathPrefix::parse("Work/Journal").unwrap()),
            decision: RuleDecision::Deny,
        }];
        let server = TestSetup { rules, ..TestSetup::default() }.serve(&[]);
        let principal = server.principal_with(granted(&["Work"]));
        let edit = |file: &str| json!({ "file": file, "find": "x", "replace": "y" });
        let dry = json!({ "file": "Work/Journal/a.md", "find": "x", "replace": "y", "dry_run": true });
        for (tool, given, expected) in [
            ("str_replace", edit("Work/a.md"), StageVerdict::Next),
            ("str_replace", edit("Home/a.md"), StageVerdict::Refusal(ReasonKind::PathForbidden)),
            ("str_replace", edit("Work/Journal/a.md"), StageVerdict::Refusal(ReasonKind::DeniedByRule)),
            // It changes nothing, so it is judged as reading.
            ("str_replace", dry, StageVerdict::Next),
            // What may be read is decided by the view, file by file.
            ("file_read", json!({ "file": "Home/a.md" }), StageVerdict::Next),
        ] {
            let invocation = Invocation::tool(tool, arguments(given.clone()), principal.clone());
            server.at("narrow", &invocation, |execution| {
                let passes = expected == StageVerdict::Next;
                assert_eq!(verdict(run(execution)), expected, "{tool} {given}");
                assert_eq!((execution.view.is_some(), execution.scope.is_some()), (passes, passes), "{tool} {given}");
            });
        }
    }

    #[test]
    fn only_what_needs_a_vault_gets_one() {
        let server = TestSetup::default().serve(&[]);
        server.at("narrow", &server.invocation("find_tool", json!({ "query": "read" })), |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Next);
            assert!(execution.view.is_none() && execution.opened.is_none());
        });
        server.at("narrow", &Invocation::read(ListPrompts, server.principal()), |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Next);
            assert!(execution.view.is_none() && execution.opened.is_some());
        });
    }
}
