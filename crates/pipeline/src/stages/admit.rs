//! Stage 4: rules about reading, and answers to earlier questions.

use lapidary_tools::{
    CatalogueEntry, Effect, Reason,
    fence::fenced,
    quote::{quoted, visible},
};
use lapidary_vault::ChangeSet;
use serde_json::Value;

use super::approve;
use crate::{
    RuleDecision,
    approvals::{self, ApprovalResult},
    execution::{CallConclusion, Execution, FoundOperation, StageFlow},
};

/// What can be decided before anything is read: has the request that this very call led to been answered, and do the
/// owner's rules let it read?
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    let FoundOperation::Tool(entry) = execution.found()? else { return Ok(StageFlow::Next) };
    let decision = match entry.spec.effect {
        Effect::Read => execution.setup().rules.on_reading(&entry.spec).max(execution.at_least),
        // Judged on its changes.
        Effect::Write | Effect::Destroy => RuleDecision::Allow,
    };
    let denied = entry.spec.kind.writes() && execution.setup().rules.deny_all(&entry.spec);
    if decision == RuleDecision::Deny || denied {
        return Err(Reason::DeniedByRule);
    }
    if decision == RuleDecision::Ask || entry.spec.kind.writes() {
        match take_approval_result(execution) {
            None => {}
            Some(ApprovalResult::Reply(rendered)) => return Ok(StageFlow::answer(rendered)),
            Some(ApprovalResult::Refused(reason)) => return Err(approve::of_file(execution, reason)),
            Some(ApprovalResult::MayRead) => execution.approved = Some(ChangeSet::default().digest()),
        }
    }
    if decision == RuleDecision::Ask { ask_to_read(execution, entry) } else { Ok(StageFlow::Next) }
}

fn take_approval_result(execution: &Execution<'_>) -> Option<ApprovalResult> {
    let setup = execution.setup();
    if execution.approved.is_some() || !setup.waits_for_approval {
        return None;
    }
    let waiting = &execution.concerned_vault().waiting;
    // If nothing can be stored, there are no answers.
    approvals::take_result(waiting, &approvals::question_id(execution)?, setup.clock.now()).unwrap_or_default()
}

/// If the owner requires approval before something is shown.
pub(super) fn ask_to_read(execution: &mut Execution<'_>, entry: &CatalogueEntry) -> Result<StageFlow, Reason> {
    let (tool, vault) = (entry.spec.name(), execution.concerned_vault().vault.name());
    let arguments = Value::Object(execution.given.clone()).to_string();
    let shown = |most: usize| {
        let arguments: String = arguments.chars().take(most).collect();
        format!(
            "`{tool}` wants to read in the vault {}. It is called with:\n\n{}",
            quoted(vault),
            fenced(&visible(&arguments))
        )
    };
    let question = approve::ask(execution, entry, ChangeSet::default().digest(), shown)?;
    Ok(question.map_or(StageFlow::Next, |question| StageFlow::End(CallConclusion::Ask(question))))
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{Effect, ReasonKind};
    use serde_json::json;

    use crate::{
        ApprovalRule, ConsentAnswer, Outcome, RuleDecision, Verdict,
        testing::{TestServer, TestSetup},
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

    #[test]
    fn a_denied_call_reads_nothing() {
        let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Deny)];
        let server = TestSetup { rules, ..TestSetup::default() }.serve(&[("a.md", "x\n")]);
        assert_eq!(server.refused("file_read", json!({ "file": "a.md" })).kind(), ReasonKind::DeniedByRule);
    }
}
