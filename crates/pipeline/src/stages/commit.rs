//! Stage 9: takes the turn and commits.

use std::sync::atomic::Ordering;

use lapidary_tools::{
    CommitReport, DiskFault, Interruption, PlannedChange, Reason, RenderedReply, ToolSpec, bug, render_answer,
    render_change,
};
use lapidary_vault::{
    ChangeSet, CommitError, ContentGuard, Receipt, Scope, Turn, TurnError,
    store::{ChangeOrigin, StoreError},
};

use crate::{
    CallProgress,
    execute::broken,
    execution::{ChangePlan, Execution, StageFlow},
    linked_places::LinkedPlaces,
};

/// How often a change is planned again because another program changed the file meanwhile.
const PLANS: usize = 16;

/// Takes the turn, and commits the change completely or not at all.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    let Some(plan) = execution.plan.take() else { return Err(bug!("a change is made before it is planned")) };
    let ChangePlan { change: PlannedChange { changes, draft, .. }, places, token, redeemed, .. } = plan;
    let unmade = CommitReport { offered: execution.offered(), receipt: None, proposal_token: token.as_deref() };
    if changes.is_empty() {
        return Ok(StageFlow::answer(render_answer(draft.finish(&unmade)?, &execution.notices())));
    }
    let scope = execution.scope.clone().ok_or_else(|| bug!("a change is made before its vault is open"))?;
    execution.attempts += 1;
    let turn = take_turn(execution)?;
    if let Some(verified) = redeemed {
        // The token is consumed now.
        let consumed = execution.executor.tokens.consume(&verified, execution.setup().clock.now());
        consumed.map_err(|_| Reason::ProposalExpired).inspect_err(|_| execution.cancel.end_change())?;
    }
    match commit(execution, &turn, &scope, &changes, &places) {
        Ok(receipt) => {
            let vault = execution.concerned_vault().vault.name();
            execution.executor.history.wrote(&execution.principal().id, vault, &changes, execution.time);
            execution.receipt = receipt;
            execution.report(CallProgress::Done);
            let answer = draft.finish(&CommitReport { receipt: Some(&execution.receipt), ..unmade });
            let answer = answer.map_err(|reason| broken(execution.cancel, reason))?;
            Ok(StageFlow::answer(told(execution, answer)))
        }
        Err(error) if execution.attempts < PLANS && moved_on(&error) => {
            execution.cancel.end_change();
            // The first plan is made without the turn. If another caller was faster, the next ones are made in turn.
            execution.turn = Some(turn);
            Ok(StageFlow::Replan)
        }
        Err(error) => {
            // It may be on disk, so the log must mention it.
            if error.error == StoreError::Unsure {
                execution.receipt = Receipt::of(&changes);
            }
            Err(refusal(&execution.entry()?.spec, error))
        }
    }
}

fn told(execution: &Execution<'_>, answer: lapidary_tools::ToolAnswer) -> RenderedReply {
    render_change(answer, execution.receipt.checkpoint.as_deref(), &execution.notices())
}

/// The right to change the vault, and the point of no return: waiting can be cancelled, the change cannot.
fn take_turn<'a>(execution: &mut Execution<'a>) -> Result<Turn<'a>, Reason> {
    let (served, cancel) = (execution.concerned_vault(), execution.cancel);
    let turn = match execution.turn.take() {
        Some(turn) => turn,
        None => served.vault.turn(&|| cancel.check().is_ok()).map_err(|error| match error {
            TurnError::VaultGone => Reason::Disk { path: None, problem: DiskFault::VaultGone },
            TurnError::NoState => Reason::Disk { path: None, problem: DiskFault::NoState },
            TurnError::Unfinished => Reason::Disk { path: None, problem: DiskFault::Failing },
            // The wait ended because the deadline passed or the caller cancelled.
            TurnError::GivenUp => cancel
                .check()
                .err()
                .unwrap_or_else(|| bug!("the wait for the turn ended and the call was not cancelled")),
        })?,
    };
    if execution.executor.is_closing.load(Ordering::SeqCst) {
        return Err(Reason::Interrupted(Interruption::TakenBack));
    }
    // Asked at the last moment: a plan, a person or the wait for the turn may take long.
    if !execution.principal().standing.holds() {
        return Err(Reason::TokenRevoked);
    }
    cancel.begin_change()?;
    Ok(turn)
}

fn commit(
    execution: &Execution<'_>,
    turn: &Turn<'_>,
    scope: &Scope,
    changes: &ChangeSet,
    places: &LinkedPlaces,
) -> Result<Receipt, CommitError> {
    let origin = ChangeOrigin {
        tool: execution.operation_name.clone(),
        client: execution.principal().author.signature(),
        time: execution.setup().clock.now(),
    };
    turn.commit_judged(changes, scope, &origin, &|path, place| places.of_path(path) == place)
}

/// Another program was faster, and the caller did not insist on the previous content.
fn moved_on(error: &CommitError) -> bool {
    error.guard != ContentGuard::Caller
        && matches!(error.error, StoreError::Changed { .. } | StoreError::Exists | StoreError::Missing)
}

fn refusal(spec: &ToolSpec, CommitError { path, error, guard, before }: CommitError) -> Reason {
    let current = match error {
        StoreError::Changed { found } => Some(found),
        _ => None,
    };
    match (guard, before, error, spec.expected_hash) {
        // The hash matched when the plan was made and no longer does.
        (ContentGuard::Caller, Some(before), StoreError::Changed { .. } | StoreError::Missing, Some(argument)) => {
            Reason::Stale { path, argument, expected: before.into(), current }
        }
        (_, _, error, _) => Reason::from_store(&path, &error, true),
    }
}

#[cfg(test)]
mod tests {
    use lapidary_note::ContentHash;
    use lapidary_tools::ReasonKind;
    use serde_json::json;

    use crate::{CallerStanding, testing::TestServer};

    #[test]
    fn the_answer_has_the_results_of_the_commit() {
        let server = TestServer::new(&[("f/a.md", "one\n")]);
        let done = server.done("file_delete", json!({ "file": "f/a.md" }));
        assert_eq!((&done["trashed"], &done["trashedTo"]), (&json!(true), &json!(".trash")));
        assert!(done["checkpoint"].is_string());
    }

    #[test]
    fn a_caller_that_is_no_longer_known_changes_nothing() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let mut invocation =
            server.invocation("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" }));
        invocation.principal.standing = CallerStanding::asked_of(|| false);
        let cancel = server.executor.cancel(&invocation);
        let refused = server.executor.run(&invocation, &cancel).answer();
        assert_eq!(refused.err().map(|reason| reason.kind()), Some(ReasonKind::TokenRevoked));
        assert_eq!(server.done("file_read", json!({ "file": "a.md" }))["content"], "one\n");
    }

    #[test]
    fn a_call_that_changes_nothing_has_no_checkpoint() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let done = server.done(
            "file_replace",
            json!({
                "file": "a.md", "content": "one\n", "expected_content_hash": ContentHash::of(b"one\n").to_string(),
            }),
        );
        assert_eq!(done.get("checkpoint"), None, "{done:#}");
    }

    #[test]
    fn a_stale_hash_is_refused_in_the_words_of_the_tool() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let edit = json!({
            "file": "a.md", "find": "one", "replace": "two", "expected_content_hash": "sha256:000000000000",
        });
        assert_eq!(server.refused("str_replace", edit).kind(), ReasonKind::StalePrecondition);
    }
}
