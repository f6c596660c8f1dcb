use lapidary_tools::{Learnt, MemoryBudget, Reason, Refused, Spec, bug, render_dry_run};
use lapidary_vault::{ChangeSet, Receipt, Scope, Vault};

use crate::{
    Decision, Principal, Setup,
    approval_rules::effect_of,
    execution::{Execution, Flow, Plan},
    places::Places,
};

/// May this change happen? Judged on what would really change, never on what a call says of itself. A dry run ends here.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<Flow, Reason> {
    let Some(mut plan) = execution.plan.take() else { return Err(bug!("a change is judged before it is planned")) };
    let scope = execution.scope.as_deref().ok_or_else(|| bug!("a change is judged before its vault is open"))?;
    let changes = &plan.change.changes;
    let vault = &execution.concerned_vault().vault;
    let (decision, places) = judge(changes, &plan.specs, scope, vault, execution.setup(), execution.principal())?;
    execution.decision = if changes.is_empty() { decision } else { decision.max(execution.at_least) };
    if plan.change.dry_run {
        return show(execution, plan);
    }
    // Whatever the rules say in this process: a person agreed to that change and to no other.
    if execution.approved.is_some_and(|approved| approved != places.digest(changes)) {
        return Err(Reason::ChangedMeanwhile);
    }
    if execution.decision == Decision::Deny {
        return Err(Reason::DeniedByRule);
    }
    plan.places = places;
    execution.plan = Some(plan);
    Ok(Flow::Next)
}

/// What would have been answered, and what would have changed.
fn show(execution: &mut Execution<'_>, Plan { change, token, .. }: Plan<'_>) -> Result<Flow, Reason> {
    execution.dry_run = true;
    execution.receipt = Receipt::of(&change.changes);
    let answer = change.draft.finish(&Learnt {
        offered: execution.offered(),
        receipt: None,
        proposal_token: token.as_deref(),
    })?;
    Ok(Flow::answer(render_dry_run(answer, &change.changes.diff().text, &execution.notices())))
}

/// Every file of the change lies in the principal's scope, by its path and by the place where a link leads, and can be
/// read again afterwards, or the reason why not; then what the rules say of both.
///
/// `tools` are all that had a part in the change; the strictest word on any of them holds.
pub(crate) fn judge(
    changes: &ChangeSet,
    tools: &[&Spec],
    scope: &Scope,
    vault: &Vault,
    setup: &Setup,
    principal: &Principal,
) -> Result<(Decision, Places), Reason> {
    for change in &changes.changes {
        for path in change.paths() {
            scope.may_write(path).map_err(|denied| Reason::PathForbidden {
                path: path.clone(),
                writing: true,
                denied: Refused::ByScope(denied),
            })?;
        }
        let (bytes, limit) = (change.bytes().len() as u64, setup.limits.max_file_bytes);
        if bytes > limit {
            return Err(Reason::ResultTooLarge { path: change.path().clone(), bytes, limit });
        }
    }
    MemoryBudget::new(setup.limits.budget()).hold_all(changes)?;
    let places = Places::of(changes, vault, scope)?;
    if changes.is_empty() {
        return Ok((Decision::Allow, places));
    }
    if changes.changes.iter().any(|change| effect_of(change) > principal.profile().most) {
        return Ok((Decision::Deny, places));
    }
    let decision = tools.iter().map(|tool| setup.rules.decide(tool, changes, &places)).max().unwrap_or(Decision::Ask);
    // Where the owner wants no question before a deletion, a general rule about deletions is none either.
    let unasked = |tool: &&Spec| tool.asks_first && !setup.asks_before_deleting;
    let by_effect = |tool: &&Spec| setup.rules.decide_by_effect(tool, changes, &places);
    if decision == Decision::Ask && tools.iter().all(|tool| unasked(tool) && by_effect(tool)) {
        return Ok((Decision::Allow, places));
    }
    let asks_first = tools.iter().any(|tool| tool.asks_first) && setup.asks_before_deleting && principal.can_be_asked;
    Ok((if asks_first { decision.max(Decision::Ask) } else { decision }, places))
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{Effect, Kind, ProfileRules};
    use serde_json::json;

    use crate::{
        Decision, Rule,
        testing::{TestSetup, granted},
    };

    #[test]
    fn a_dry_run_shows_the_change_and_is_judged_like_one() {
        let server = TestSetup::default().serve(&[("a.md", "one\n")]);
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two", "dry_run": true });
        let shown = server.done("str_replace", edit.clone());
        assert!(shown["diff"].as_str().unwrap().contains("+two"), "{shown:#}");
        assert_eq!(server.text("a.md"), "one\n");
        let nobody = server.principal_with(granted(&["Other"]));
        assert!(server.call_as(&nobody, "str_replace", edit).rendered().unwrap().is_error);
    }

    #[test]
    fn what_the_rules_or_the_profile_deny_is_not_done() {
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two" });
        let rules = vec![Rule::effect(Effect::Write, Decision::Deny)];
        let denied = TestSetup { rules, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        assert_eq!(denied.refused("str_replace", edit).kind(), Kind::DeniedByRule);
        let profile = ProfileRules { most: Effect::Write, ..ProfileRules::curator() };
        let rules = vec![Rule::effect(Effect::Destroy, Decision::Allow)];
        let editor = TestSetup { profile, rules, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let hash = lapidary_note::ContentHash::of(b"one\n").to_string();
        let gone = json!({ "file": "a.md", "trash": false, "expected_content_hash": hash });
        assert_eq!(editor.refused("file_delete", gone).kind(), Kind::DeniedByRule);
        assert_eq!(editor.text("a.md"), "one\n");
    }

    #[test]
    fn a_file_must_be_readable_afterwards() {
        let server = TestSetup { max_file_bytes: 20, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let long = json!({ "file": "a.md", "find": "one", "replace": "x".repeat(30) });
        assert_eq!(server.refused("str_replace", long).kind(), Kind::FileTooLarge);
    }
}
