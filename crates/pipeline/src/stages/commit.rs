//! Stage 9: takes the turn and commits.

use std::{sync::atomic::Ordering, time::Duration};

use lapidary_tools::{
    AppAction, AppFault, CallResult, CommitReport, DiskFault, FailedCall, Interruption, OutsideAction, PlannedChange,
    Reason, RenderedReply, RestoreReach, ServerCall, ServerFault, ToolSpec, bug, render_answer, render_change,
};
use lapidary_vault::{
    ChangeSet, CommitError, ContentGuard, Receipt, Scope, Turn, TurnError, VaultPath,
    store::{ChangeOrigin, StoreError},
};

use super::judge;
use crate::{
    CallProgress, RuleDecision,
    call_bounds::{earlier_answer, keep_answer},
    execute::broken,
    execution::{ChangePlan, Execution, StageFlow},
    linked_places::LinkedPlaces,
};

/// What the app gets to act, even if a change took nearly all of the time.
const LEAST_TO_ACT: Duration = Duration::from_secs(2);

/// How often a change is planned again because another program changed the file meanwhile.
const PLANS: usize = 16;

/// Takes the turn, and commits the change completely or not at all.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    let Some(plan) = execution.plan.take() else { return Err(bug!("a change is made before it is planned")) };
    let shows_content = judge::on_showing(execution, &plan.specs) == RuleDecision::Allow;
    let keeps_recipes = plan.specs.iter().any(|spec| spec.keeps_recipes);
    let ChangePlan { change, places, token, redeemed, rewritten, upkeep, .. } = plan;
    let PlannedChange { mut changes, action, draft, .. } = change;
    let (offered, proposal_token) = (execution.offered(), token.as_deref());
    let unmade = CommitReport { offered, receipt: None, proposal_token, acted: None, called: None, shows_content };
    // Nothing to write: it does not wait for the turn, takes no checkpoint and consumes no token.
    if changes.is_empty() {
        if action.is_some() {
            begin_acting(execution)?;
        }
        let ActionResult { acted, called } = happen(execution, action);
        let answer = draft.finish(&CommitReport { acted, called: called.as_ref(), ..unmade })?;
        return Ok(StageFlow::answer(render_answer(answer, &execution.notices())));
    }
    let scope = execution.scope.clone().ok_or_else(|| bug!("a change is made before its vault is open"))?;
    let kept: Vec<VaultPath> = upkeep.changes.iter().map(|change| change.path().clone()).collect();
    // It moves no folder, so there is none to ask for.
    match changes.join(upkeep, |_| true) {
        Ok(()) => execution.kept_up = kept,
        Err(error) => tracing::warn!("the notes of `upkeep` are not kept up with a change: {error}"),
    }
    execution.attempts += 1;
    let turn = take_turn(execution)?;
    // The same call may have been made while this one waited.
    match earlier_answer(execution) {
        Ok(None) => {}
        earlier => {
            execution.cancel.end_change();
            return earlier?.ok_or_else(|| bug!("an earlier call has no answer"));
        }
    }
    if let Some(verified) = redeemed {
        // The token is consumed now.
        let consumed = execution.executor.tokens.consume(&verified, execution.setup().clock.now());
        // The turn began a change that does not happen; the caller may cancel again.
        consumed.map_err(|_| Reason::ProposalExpired).inspect_err(|_| execution.cancel.end_change())?;
    }
    match commit(execution, &turn, &scope, &changes, &places) {
        Ok(receipt) => {
            // From now on the change is on disk. Whatever fails below, the log and the history must know of it.
            let vault = execution.concerned_vault().vault.name();
            execution.executor.history.wrote(&execution.principal().id, vault, &changes, execution.time);
            execution.receipt = receipt;
            // A person has seen exactly these recipes.
            if keeps_recipes && execution.approved.is_some() {
                let (served, folder) = (execution.concerned_vault(), execution.setup().recipes.as_ref());
                let (executor, by) = (execution.executor, execution.principal());
                execution.recipe_notice = executor.keep_approvals(served, by, folder, &changes);
            }
            execution.report(CallProgress::Done);
            // A change that is made stays made, whatever the app says.
            let ActionResult { acted, called } = happen(execution, action);
            let receipt = Some(&execution.receipt);
            let answer = draft.finish(&CommitReport { receipt, acted, called: called.as_ref(), ..unmade });
            let mut answer = answer.map_err(|reason| broken(execution.cancel, reason))?;
            // The tool planned another text than the owner wanted.
            answer.replace_hashes(&rewritten);
            let reply = told(execution, answer);
            // Still in turn: a caller that sends the call again finds it.
            keep_answer(execution, &reply);
            Ok(StageFlow::answer(reply))
        }
        Err(error) if execution.attempts < PLANS && moved_on(&error) => {
            // Nothing was written, so the call can be cancelled while it is planned again.
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

/// The point of no return for an action without a change, like [`take_turn`] for one with.
fn begin_acting(execution: &mut Execution<'_>) -> Result<(), Reason> {
    if execution.executor.is_closing.load(Ordering::SeqCst) {
        return Err(Reason::Interrupted(Interruption::TakenBack));
    }
    if !execution.principal().standing.holds() {
        return Err(Reason::TokenRevoked);
    }
    execution.cancel.begin_change()
}

/// What became of an effect outside of the vault.
#[derive(Default)]
struct ActionResult {
    acted: Option<Result<(), AppFault>>,
    called: Option<CallResult>,
}

fn happen(execution: &mut Execution<'_>, action: Option<OutsideAction>) -> ActionResult {
    match action {
        None => ActionResult::default(),
        Some(OutsideAction::App(action)) => {
            ActionResult { acted: Some(act(execution, action)), ..ActionResult::default() }
        }
        Some(OutsideAction::Call(call)) => {
            ActionResult { called: Some(forward(execution, call)), ..ActionResult::default() }
        }
    }
}

/// Calls another server, once. From here on the log has it.
fn forward(execution: &mut Execution<'_>, call: ServerCall) -> CallResult {
    let cancel = execution.cancel;
    let unconfigured = || FailedCall::unsent(ServerFault::Unknown { known: Vec::new() });
    let servers = execution.setup().servers.as_deref().ok_or_else(unconfigured)?;
    let result = servers.call(&call, cancel.left().max(LEAST_TO_ACT), &|| !cancel.is_unwanted());
    match &result {
        Ok(_) | Err(FailedCall { is_sent: true, .. }) => execution.acted = Some(OutsideAction::Call(call)),
        Err(FailedCall { is_sent: false, .. }) => {}
    }
    if result.is_ok() {
        execution.report(CallProgress::Done);
    }
    result
}

/// Makes the app do it, once. From here on the log has it.
fn act(execution: &mut Execution<'_>, action: AppAction) -> Result<(), AppFault> {
    let app = execution.concerned_vault().app.as_deref();
    let acted = app.map_or(Err(AppFault::NotSetUp), |app| app.act(&action, execution.cancel.left().max(LEAST_TO_ACT)));
    // Whether an action without an answer has happened is not known, and counts as if it had.
    if matches!(acted, Ok(()) | Err(AppFault::TimedOut | AppFault::Failing { .. })) {
        execution.acted = Some(OutsideAction::App(action));
    }
    if acted.is_ok() {
        execution.report(CallProgress::Done);
    }
    acted
}

/// The right to change the vault, and the point of no return: waiting can be cancelled, the change cannot.
fn take_turn<'a>(execution: &mut Execution<'a>) -> Result<Turn<'a>, Reason> {
    let (served, cancel) = (execution.concerned_vault(), execution.cancel);
    let turn = match execution.turn.take() {
        Some(turn) => turn,
        None => served.vault.turn(&|| cancel.check().is_ok()).map_err(|error| match error {
            TurnError::VaultGone => Reason::Disk { path: None, problem: DiskFault::VaultGone },
            TurnError::Remote(fault) => Reason::RemoteVault { fault },
            TurnError::NoState => Reason::Disk { path: None, problem: DiskFault::NoState },
            TurnError::Unfinished => Reason::Disk { path: None, problem: DiskFault::Failing },
            // The wait ended because the deadline passed or the caller cancelled.
            TurnError::GivenUp => cancel
                .check()
                .err()
                .unwrap_or_else(|| bug!("the wait for the turn ended and the call was not cancelled")),
        })?,
    };
    // Others wait for the turn, perhaps with the memory that the next plan would wait for.
    execution.account.stop_waiting();
    // Checked after the turn was taken, not before: see `Executor::stop_changes`.
    if execution.executor.is_closing.load(Ordering::SeqCst) {
        return Err(Reason::Interrupted(Interruption::TakenBack));
    }
    // Asked at the last moment: a plan, a person or the wait for the turn may take long.
    if !execution.principal().standing.holds() {
        return Err(Reason::TokenRevoked);
    }
    // Last, because nothing may fail between this and the commit without `end_change`.
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
        tool: execution.shown_name().to_owned(),
        client: execution.principal().author.signature(),
        time: execution.setup().clock.now(),
        approval: execution.invocation.asked.as_ref().map(|asked| asked.request),
        call: execution.bounds.key(),
        restores: execution.entry().is_ok_and(|entry| entry.spec.restores != RestoreReach::Nothing),
    };
    // The commit follows links again. If one leads elsewhere than when the rules were asked, nothing is written.
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
    use std::sync::atomic::Ordering;

    use lapidary_note::ContentHash;
    use lapidary_tools::ReasonKind;
    use serde_json::{Value, json};

    use super::{PLANS, run};
    use crate::{
        CallerStanding,
        execution::Execution,
        testing::{StageVerdict, TestServer, verdict},
    };

    fn edit() -> Value {
        json!({ "file": "a.md", "find": "one", "replace": "two" })
    }

    /// Another program changes the file between the plan and the commit.
    fn overtake(server: &TestServer) {
        server.done("str_replace", json!({ "file": "a.md", "find": "text", "replace": "TEXT" }));
    }

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
    fn a_call_with_nothing_to_write_needs_no_turn() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let same = json!({ "file": "a.md", "find": "one", "replace": "one" });
        server.at("commit", &server.invocation("str_replace", same), |execution| {
            // From here on, no change may begin.
            server.executor.is_closing.store(true, Ordering::SeqCst);
            assert_eq!(verdict(run(execution)), StageVerdict::Answer);
            assert_eq!(execution.receipt.checkpoint, None);
        });
    }

    #[test]
    fn a_stale_hash_is_refused_in_the_words_of_the_tool() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let edit = json!({
            "file": "a.md", "find": "one", "replace": "two", "expected_content_hash": "sha256:000000000000",
        });
        assert_eq!(server.refused("str_replace", edit).kind(), ReasonKind::StalePrecondition);
    }

    #[test]
    fn a_change_is_made_unless_something_ends_the_call_at_the_last_moment() {
        type Before = fn(&TestServer, &mut Execution<'_>);
        let untouched: Before = |_, _| {};
        let cancelled: Before = |_, execution| assert!(execution.cancel.take_back());
        let closing: Before = |server, _| server.executor.is_closing.store(true, Ordering::SeqCst);
        for (before, is_made) in [(untouched, true), (cancelled, false), (closing, false)] {
            let server = TestServer::new(&[("a.md", "one text\n")]);
            server.at("commit", &server.invocation("str_replace", edit()), |execution| {
                before(&server, execution);
                let decided = verdict(run(execution));
                assert_eq!(decided == StageVerdict::Answer, is_made, "{decided:?}");
                assert_eq!(execution.receipt.checkpoint.is_some(), is_made);
            });
            assert_eq!(server.text("a.md"), if is_made { "two text\n" } else { "one text\n" });
        }
    }

    #[test]
    fn a_change_that_was_overtaken_is_planned_again_in_turn_and_not_forever() {
        for (attempts, expected) in
            [(0, StageVerdict::Replan), (PLANS - 1, StageVerdict::Refusal(ReasonKind::KeepsChanging))]
        {
            let server = TestServer::new(&[("a.md", "one text\n")]);
            server.at("commit", &server.invocation("str_replace", edit()), |execution| {
                overtake(&server);
                execution.attempts = attempts;
                let again = expected == StageVerdict::Replan;
                assert_eq!(verdict(run(execution)), expected);
                assert_eq!(execution.turn.is_some(), again, "the next plan is made in turn");
                assert!(!again || execution.cancel.take_back(), "nothing was written, so it can be cancelled");
            });
            assert_eq!(server.text("a.md"), "one TEXT\n");
        }
    }

    #[test]
    fn a_change_of_content_that_the_caller_named_is_not_planned_again() {
        let server = TestServer::new(&[("a.md", "one text\n")]);
        let mut given = edit();
        given["expected_content_hash"] = json!(ContentHash::of(b"one text\n").to_string());
        server.at("commit", &server.invocation("str_replace", given), |execution| {
            overtake(&server);
            assert_eq!(verdict(run(execution)), StageVerdict::Refusal(ReasonKind::StalePrecondition));
        });
    }
}
