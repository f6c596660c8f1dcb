//! Plans the calls of a batch on top of each other, each through the same checks as a separate call, and joins them
//! into one change.

use lapidary_recipe::is_recipe_name;
use lapidary_tools::{
    AnswerDraft, BatchOutcome, BatchStep, CallBatch, CatalogueEntry, CheckedArguments, CommitReport, Context, Planned,
    PlannedChange, Reason, StepAnswer, StepRefusal, ToolAnswer, ToolSpec, bug, clipped,
};
use lapidary_vault::{Change, ChangeSet, Scope, View};
use serde_json::{Map, Value, json};

use crate::{
    RuleDecision,
    execution::Execution,
    stages::{active_note, check, find, judge},
};

/// For a batch that is refused throughout, the log need not list every step.
const LOGGED: usize = 20;

/// One step that can be carried out.
pub(crate) struct PlannedStep {
    draft: Box<dyn AnswerDraft>,
    repairs: Vec<String>,
    dry_run: &'static str,
}

/// The answer of a batch until its change is made.
struct BatchDraft {
    batch: CallBatch,
    withdrawn: bool,
    steps: Vec<Result<PlannedStep, StepRefusal>>,
}

/// A batch as one change, with the tools involved.
pub(crate) fn plan<'a>(
    execution: &mut Execution<'a>,
    context: &Context<'_>,
    view: &View,
    scope: &Scope,
    mut batch: CallBatch,
) -> Result<(PlannedChange, Vec<&'a ToolSpec>), Reason> {
    let mut changes = ChangeSet::default();
    let mut overlay: Option<View> = None;
    let (mut steps, mut specs) = (Vec::new(), Vec::new());
    for BatchStep { tool, arguments } in std::mem::take(&mut batch.steps) {
        context.check()?;
        // Each step sees the vault as the steps before it leave it.
        let now = overlay.as_ref().unwrap_or(view);
        let planned = plan_step(execution, context, now, scope, &tool, arguments, batch.dry_run);
        let joined = planned.and_then(|(entry, step, planned)| {
            // Asked of the disk, not of the overlay: a folder that only the batch makes cannot be moved as a whole.
            let joined = changes.join(planned.clone(), |folder| view.had_folder(folder));
            joined.map_err(Reason::NotJoined)?;
            // All steps together. Each alone may be within the limit.
            context.budget.hold_all(&changes)?;
            Ok((entry, step, planned))
        });
        match joined {
            Ok((entry, step, planned)) => {
                overlay = planned_on(view, overlay, &planned);
                specs.push(&entry.spec);
                steps.push(Ok(step));
            }
            // The call itself has to end, not only this step.
            Err(reason @ (Reason::Interrupted(_) | Reason::Internal(_) | Reason::ChangeTooLarge { .. })) => {
                return Err(reason);
            }
            Err(reason) => {
                if execution.refused_steps.len() < LOGGED {
                    execution.refused_steps.push((clipped(&tool), reason.kind()));
                }
                let changed_before = is_stale_by(&reason, &changes);
                steps.push(Err(StepRefusal { tool, reason, changed_before }));
            }
        }
    }
    let withdrawn = batch.atomic && steps.iter().any(Result::is_err);
    // Withdrawn only now, so that the answer has the result of every step, not only of the first refused one.
    if withdrawn {
        changes = ChangeSet::default();
    }
    // With nothing left to show, it is answered like any change that turned out empty.
    let dry_run = batch.dry_run && !withdrawn;
    let draft = Box::new(BatchDraft { batch, withdrawn, steps });
    Ok((PlannedChange { changes, dry_run, shows_diff: true, proposal: None, action: None, draft }, specs))
}

/// The vault as the steps so far leave it, with one more change.
pub(crate) fn planned_on(view: &View, overlay: Option<View>, planned: &ChangeSet) -> Option<View> {
    match overlay {
        overlay if planned.is_empty() => overlay,
        Some(overlay) => Some(overlay.then(planned)),
        None => Some(view.with(planned)),
    }
}

/// One step under its own name: the tool must be on, its arguments valid, and its changes allowed.
pub(crate) fn plan_step<'a>(
    execution: &Execution<'a>,
    context: &Context<'_>,
    view: &View,
    scope: &Scope,
    tool: &str,
    arguments: Map<String, Value>,
    dry_run: bool,
) -> Result<(&'a CatalogueEntry, PlannedStep, ChangeSet), Reason> {
    let entry = find::named_tool(execution.profile(), tool).map_err(|reason| match is_recipe_name(tool) {
        // It may well be there, and is called like a tool.
        true => Reason::NotInBatch { tool: clipped(tool) },
        false => reason,
    })?;
    entry.authorize()?;
    let name = entry.spec.name();
    if !entry.spec.in_batches {
        return Err(Reason::NotInBatch { tool: name.to_owned() });
    }
    // Before it is planned, which asks others.
    match execution.setup().rules.on_reaching(&entry.spec) {
        on if !entry.spec.reaches_web() || on == RuleDecision::Allow => {}
        RuleDecision::Ask if execution.is_let_out => {}
        RuleDecision::Deny => return Err(Reason::DeniedByRule),
        _ => return Err(Reason::AskedAlone { tool: name.to_owned() }),
    }
    let CheckedArguments { mut arguments, repairs } = check::step_arguments(entry, view.vault(), arguments)?;
    active_note::name(execution, &entry.spec, &mut arguments, view)?;
    check::write_scope(entry, &arguments, scope)?;
    check::write_rules(entry, &arguments, &execution.setup().rules)?;
    // Whether anything is written is decided for the whole batch.
    let dry = entry.spec.dry_run.ok_or_else(|| bug!("`{name}` may run in batches and has no dry run"))?;
    if !dry_run && arguments.get(dry) == Some(&json!(true)) {
        return Err(check::bad_argument(
            entry,
            dry,
            "applies to the whole batch: set it next to `ops`, or leave this one out",
        ));
    }
    arguments.insert(dry.to_owned(), json!(dry_run));
    let planned = entry.tool.plan(context, Some(view), arguments);
    let planned = planned.map_err(|reason| judge::as_shown(execution, &[&entry.spec], reason));
    let Planned::Change(PlannedChange { changes, draft, .. }) = planned? else {
        return Err(bug!("`{name}` may run in batches and planned no change"));
    };
    let vault = &execution.concerned_vault().vault;
    // The whole batch is judged again as one change. This refuses the one step that is at fault.
    match judge::judge(&changes, &[&entry.spec], scope, vault, execution.setup(), execution.principal())?.decision {
        RuleDecision::Deny => Err(Reason::DeniedByRule),
        RuleDecision::Allow | RuleDecision::Ask => Ok((entry, PlannedStep { draft, repairs, dry_run: dry }, changes)),
    }
}

/// Whether earlier steps change the file that does not match the expectation of this one.
fn is_stale_by(reason: &Reason, changes: &ChangeSet) -> bool {
    let (Reason::Stale { path, .. } | Reason::Overtaken { path, .. } | Reason::StalePart { path, .. }) = reason else {
        return false;
    };
    changes.changes.iter().flat_map(Change::paths).any(|changed| changed == path)
}

impl AnswerDraft for BatchDraft {
    fn finish(self: Box<Self>, learnt: &CommitReport<'_>) -> Result<ToolAnswer, Reason> {
        let Self { batch: CallBatch { atomic, dry_run, finish, .. }, withdrawn, steps } = *self;
        let finished = |step: Result<PlannedStep, StepRefusal>| match step {
            Ok(step) => step.finish(learnt).map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        };
        let steps = steps.into_iter().map(finished).collect::<Result<Vec<_>, Reason>>()?;
        finish(BatchOutcome { atomic, dry_run, withdrawn, steps }, learnt.offered)
    }
}

impl PlannedStep {
    pub(crate) fn finish(self, learnt: &CommitReport<'_>) -> Result<StepAnswer, Reason> {
        let mut output = self.draft.finish(learnt)?.output.to_map();
        if !self.repairs.is_empty() {
            output.insert("notice".to_owned(), json!(format!("Arguments repaired: {}.", self.repairs.join("; "))));
        }
        Ok(StepAnswer { output, dry_run: self.dry_run })
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::ReasonKind;
    use serde_json::json;

    use crate::testing::{TestServer, TestSetup};

    #[test]
    fn steps_are_planned_one_on_another_and_are_one_change() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let done = server.done(
            "bulk_apply",
            json!({ "ops": [
            { "tool": "str_replace", "args": { "file": "a.md", "find": "one", "replace": "two" } },
            { "tool": "file_move", "args": { "from": "a.md", "to": "b.md" } },
            { "tool": "str_replace", "args": { "file": "b.md", "find": "two", "replace": "three" } },
        ] }),
        );
        assert_eq!(done["results"].as_array().unwrap().len(), 3);
        assert_eq!(server.text("b.md"), "three\n");
        assert_eq!(server.log().len(), 1, "one line for all of them");
        assert!(done["checkpoint"].is_string(), "{done:#}");
    }

    #[test]
    fn a_dry_run_of_one_step_alone_changes_nothing() {
        let edit = |file: &str| json!({ "file": file, "find": "one", "replace": "two" });
        let mut dry = edit("a.md");
        dry["dry_run"] = json!(true);
        for atomic in [true, false] {
            let server = TestServer::new(&[("a.md", "one\n"), ("b.md", "one\n")]);
            let ops = json!([{ "tool": "str_replace", "args": dry }, { "tool": "str_replace", "args": edit("b.md") }]);
            let done = server.done("bulk_apply", json!({ "ops": ops, "atomic": atomic }));
            assert_eq!(done["results"][0]["ok"], false, "{done:#}");
            assert!(done["results"][0].to_string().contains("whole batch"), "{done:#}");
            assert_eq!(server.text("a.md"), "one\n");
            assert_eq!(server.text("b.md"), if atomic { "one\n" } else { "two\n" });
            let whole = server.done("bulk_apply", json!({ "ops": ops, "atomic": atomic, "dry_run": true }));
            assert_eq!(whole["results"][0]["ok"], true, "{whole:#}");
        }
    }

    #[test]
    fn a_batch_holds_no_more_than_a_change_may_have() {
        let setup = TestSetup { max_change_bytes: 10_000, ..TestSetup::default() };
        let server = setup.serve(&[("a.md", "x")]);
        let grow =
            json!({ "tool": "str_replace", "args": { "file": "a.md", "find": "x", "replace": "x".repeat(3000) } });
        let make = |number: usize| json!({ "tool": "file_create", "args": { "file": format!("{number}.md"), "content": "y".repeat(3000) } });
        // A file that is changed twice is held once.
        let again = json!({ "tool": "str_replace", "args": { "file": "a.md", "find": "xx", "replace": "yx", "occurrence": 1 } });
        let ops = |more: usize| {
            let steps = [grow.clone()].into_iter().chain(vec![again.clone(); 20]).chain((0..more).map(make));
            json!({ "ops": steps.collect::<Vec<_>>(), "atomic": false })
        };
        assert_eq!(server.refused("bulk_apply", ops(3)).kind(), ReasonKind::BudgetExceeded);
        assert_eq!(server.text("a.md"), "x");
        server.done("bulk_apply", ops(2));
    }

    #[test]
    fn a_step_that_is_refused_withdraws_all_and_is_in_the_log() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let done = server.done(
            "bulk_apply",
            json!({ "ops": [
            { "tool": "str_replace", "args": { "file": "a.md", "find": "one", "replace": "two" } },
            { "tool": "bulk_apply", "args": { "ops": [] } },
            { "tool": "no_such_tool", "args": {} },
        ] }),
        );
        assert_eq!((&done["dry_run"], &done["validated"]), (&json!(true), &json!(false)));
        assert_eq!(done["results"][0]["result"]["dry_run"], true, "what would have been done");
        assert_eq!(server.text("a.md"), "one\n");
        let refused = &server.log()[0]["refused"];
        assert_eq!(
            refused,
            &json!([
                { "tool": "bulk_apply", "reason": "not_in_batch" }, { "tool": "no_such_tool", "reason": "tool_unknown" },
            ])
        );
    }
}
