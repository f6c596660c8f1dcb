//! Stage 4: rules about reading, and answers to earlier questions.

use std::collections::BTreeSet;

use lapidary_tools::{
    CatalogueEntry, Effect, OutsideAction, Reason, ServerCall, ServerToolStanding, ToolGroup, ToolKind,
    fence::fenced,
    quote::{quoted, quoted_path, visible},
};
use lapidary_vault::ChangeSet;
use serde_json::Value;

use super::approve::{self, AskedSubject};
use crate::{
    RuleDecision, ServedVault,
    approvals::{self, ApprovalResult},
    execution::{CallConclusion, Execution, FoundOperation, StageFlow},
};

/// What can be decided before anything is read: has the request that this very call led to been answered, and do the
/// owner's rules let it read?
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    let FoundOperation::Tool(entry) = execution.found()? else { return Ok(StageFlow::Next) };
    let decision = match entry.spec.effect {
        Effect::Read => execution.setup().rules.on_reading(&entry.spec).decision.max(execution.at_least),
        // Judged on its changes.
        Effect::Write | Effect::Destroy => RuleDecision::Allow,
    };
    let call = named_call(execution, entry);
    let before = before_plan(execution, entry, call.as_ref());
    // Without this, a tool that is denied altogether would still plan, and its refusals would say what is in the
    // files.
    let denied = entry.spec.writes() && execution.setup().rules.deny_all(&entry.spec);
    if decision.max(before) == RuleDecision::Deny || denied {
        return Err(Reason::DeniedByRule);
    }
    // No other call can have led to a request, so the queue need not be read for it.
    if decision == RuleDecision::Ask || entry.spec.writes() {
        match take_approval_result(execution) {
            None => {}
            Some(ApprovalResult::Reply(rendered)) => return Ok(StageFlow::answer(rendered)),
            Some(ApprovalResult::Refused(reason)) => return Err(approve::of_file(execution, reason)),
            // Reading is approved as the change that changes nothing.
            Some(ApprovalResult::MayRead) => execution.approved = Some(ChangeSet::default().digest()),
        }
    }
    match (decision, before) {
        (RuleDecision::Ask, _) => ask_to_read(execution, entry),
        (_, RuleDecision::Ask) => ask_to_reach(execution, entry, call),
        _ => Ok(StageFlow::Next),
    }
}

/// The call of another server that this one stands for.
fn named_call(execution: &Execution<'_>, entry: &CatalogueEntry) -> Option<ServerCall> {
    let named = entry.tool.named_call(&execution.arguments)?;
    let standing = execution.setup().servers.as_deref()?.standing(&named.server, &named.tool)?;
    Some(named.with(standing))
}

/// The decision for a call that asks others while it is planned.
fn before_plan(execution: &Execution<'_>, entry: &CatalogueEntry, call: Option<&ServerCall>) -> RuleDecision {
    let rules = &execution.setup().rules;
    let decision = match (entry.spec.kind, call) {
        (ToolKind::Write, _) if entry.spec.reaches_web() => rules.on_reaching(&entry.spec),
        // Even the list of tools, against which the call is checked, is a request. What the owner says of the server itself
        // is about calls alone, so only a rule decides here.
        (ToolKind::Forward, Some(call)) => {
            let standing = ServerToolStanding { is_asked: false, ..call.standing };
            rules.on_call(&entry.spec, &ServerCall { standing, ..call.clone() })
        }
        _ => return RuleDecision::Allow,
    };
    decision.max(execution.at_least)
}

/// If the owner requires approval before the call asks others.
fn ask_to_reach(
    execution: &mut Execution<'_>,
    entry: &CatalogueEntry,
    call: Option<ServerCall>,
) -> Result<StageFlow, Reason> {
    let (tool, served) = (entry.spec.name(), execution.concerned_vault());
    let question = match call.map(OutsideAction::Call) {
        Some(action) => approve::ask_before(execution, entry, |most| approve::acting(tool, served, &action, most))?,
        None => {
            let sources = execution.setup().owner.sources.as_ref();
            let folder = sources.map_or(String::new(), |folder| format!(" in {}", quoted_path(folder)));
            let wanted = format!("reach the web and keep what it finds{folder}, in");
            let arguments = Value::Object(execution.given.clone()).to_string();
            approve::ask_before(execution, entry, |most| calling(tool, &wanted, served, &arguments, most))?
        }
    };
    Ok(question.map_or(StageFlow::Next, |question| StageFlow::End(CallConclusion::Ask(question))))
}

/// The question about a call whose change is not known yet.
pub(super) fn calling(
    tool: &str,
    wanted: &str,
    served: &ServedVault,
    arguments: &str,
    limit: usize,
) -> Result<String, Reason> {
    // The arguments are all that can be judged, so none of them may be left out.
    let characters = arguments.chars().count();
    if characters > limit {
        return Err(Reason::QuestionTooLong { characters, limit });
    }
    Ok(format!(
        "`{tool}` wants to {wanted} the vault {}.\n\nIt is called with:\n\n{}",
        quoted(served.vault.name()),
        fenced(&visible(arguments))
    ))
}

fn take_approval_result(execution: &Execution<'_>) -> Option<ApprovalResult> {
    let setup = execution.setup();
    if execution.invocation.review.is_some() || execution.approved.is_some() || !setup.waits_for_approval {
        return None;
    }
    // If nothing can be stored, there are no answers.
    approvals::take_result(execution.concerned_vault(), &approvals::request_key(execution)?, setup.clock.now())
        .unwrap_or_default()
}

/// If the owner requires approval before something is shown.
pub(super) fn ask_to_read(execution: &mut Execution<'_>, entry: &CatalogueEntry) -> Result<StageFlow, Reason> {
    let (tool, served) = (entry.spec.name(), execution.concerned_vault());
    // As sent, before repairs: the token of the question is bound to these.
    let arguments = Value::Object(execution.given.clone()).to_string();
    let wanted = match entry.spec.declaration.group {
        ToolGroup::Web => "reach the web from",
        ToolGroup::Mcp => "ask another MCP server from",
        _ => "read in",
    };
    let shown = |limit: usize| calling(tool, wanted, served, &arguments, limit);
    let subject = AskedSubject { digest: ChangeSet::default().digest(), files: BTreeSet::new() };
    let question = approve::ask(execution, entry, subject, shown)?;
    Ok(question.map_or(StageFlow::Next, |question| StageFlow::End(CallConclusion::Ask(question))))
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{Effect, ReasonKind};
    use serde_json::json;

    use super::run;
    use crate::{
        ApprovalRule, ConsentAnswer, Outcome, RuleDecision, Verdict,
        testing::{StageVerdict, TestServer, TestSetup, verdict},
    };

    fn asks_before_reading() -> TestServer {
        let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Ask)];
        TestSetup { rules, can_be_asked: true, ..TestSetup::default() }.serve(&[("a.md", "x\n")])
    }

    #[test]
    fn a_person_is_asked_before_anything_is_read() {
        let server = asks_before_reading();
        let Outcome::Asked(question) = server.call("file_read", json!({ "file": "a.md" })) else {
            panic!("no question")
        };
        assert!(question.message.contains("`file_read` wants to read in the vault `test`"), "{}", question.message);
        let mut again = server.invocation("file_read", json!({ "file": "a.md" }));
        again.answer = Some(ConsentAnswer { state: question.state, verdict: Verdict::Agreed });
        assert!(!server.run(&again).rendered().unwrap().is_error);
        assert_eq!(server.log()[0]["asked"], true);
    }

    /// The end of the arguments may be what matters.
    #[test]
    fn what_cannot_be_shown_whole_is_not_asked() {
        let rules = || vec![ApprovalRule::effect(Effect::Read, RuleDecision::Ask)];
        for (can_be_asked, characters) in [(true, 7_000), (false, 201_000)] {
            let setup = TestSetup { rules: rules(), can_be_asked, waits_for_approval: true, ..TestSetup::default() };
            let server = setup.serve(&[("a.md", "x\n")]);
            let call = json!({ "notes": [format!("a.md#{}", "b".repeat(characters)), "a.md"] });
            assert_eq!(server.refused("notes_read", call).kind(), ReasonKind::BudgetExceeded);
            assert_eq!(server.executor.pending_count().unwrap(), 0);
        }
    }

    #[test]
    fn a_denied_call_reads_nothing() {
        let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Deny)];
        let server = TestSetup { rules, ..TestSetup::default() }.serve(&[("a.md", "x\n")]);
        assert_eq!(server.refused("file_read", json!({ "file": "a.md" })).kind(), ReasonKind::DeniedByRule);
    }

    #[test]
    fn only_rules_that_need_no_plan_decide_here() {
        let read = json!({ "file": "a.md" });
        let edit = json!({ "file": "a.md", "find": "x", "replace": "y" });
        let on = |effect, decision| ApprovalRule::effect(effect, decision);
        let named = |decision| ApprovalRule {
            effect: None,
            group: None,
            tool: Some("str_replace".to_owned()),
            path: None,
            decision,
        };
        let denied = StageVerdict::Refusal(ReasonKind::DeniedByRule);
        for (rule, tool, given, expected) in [
            (on(Effect::Read, RuleDecision::Allow), "file_read", &read, StageVerdict::Next),
            (on(Effect::Read, RuleDecision::Deny), "file_read", &read, denied),
            (on(Effect::Read, RuleDecision::Ask), "file_read", &read, StageVerdict::Question),
            // What they change is only known once it is planned.
            (on(Effect::Write, RuleDecision::Deny), "str_replace", &edit, StageVerdict::Next),
            (on(Effect::Write, RuleDecision::Ask), "str_replace", &edit, StageVerdict::Next),
            (named(RuleDecision::Deny), "str_replace", &edit, StageVerdict::Refusal(ReasonKind::DeniedByRule)),
        ] {
            let setup = TestSetup { rules: vec![rule.clone()], can_be_asked: true, ..TestSetup::default() };
            let server = setup.serve(&[("a.md", "x\n")]);
            server.at("admit", &server.invocation(tool, given.clone()), |execution| {
                assert_eq!(verdict(run(execution)), expected, "{tool} under {rule:?}");
                assert!(execution.view.is_none(), "nothing is read yet");
            });
        }
    }
}
