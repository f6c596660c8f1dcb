//! Stage 10: limits and repetition, judged on the result.

use lapidary_tools::{ReadPayload, Reason, RenderedReply};

use crate::{
    Operation, Outcome, Refusal,
    clock::iso,
    execution::{CallConclusion, Execution},
};

/// Checks the result: is the answer too large, or the same too often? Judged on the outcome, so that a file which
/// another program changed is never taken for a repetition.
pub(crate) fn run(execution: &mut Execution<'_>, ended: Result<CallConclusion, Reason>) -> Outcome {
    let outcome = match ended {
        Ok(CallConclusion::UnknownTool { nearest }) => Outcome::UnknownTool { nearest },
        Ok(CallConclusion::Ask(question)) => Outcome::Asked(question),
        Ok(CallConclusion::Preview(preview)) => Outcome::Previewed(preview),
        Ok(CallConclusion::Answer(payload)) => match over_limit(execution, &payload) {
            None => {
                let vault = execution.concerned_vault().vault.name();
                // Only here: an answer that is refused for its size has shown nothing.
                execution.executor.history.saw(&execution.principal().id, vault, &execution.read, execution.time);
                // Other operations, some of which the client did not request, say nothing about its progress.
                if let ReadPayload::Tool(_) = payload {
                    execution.executor.history.succeeded(&execution.principal().id);
                }
                Outcome::Answered(payload)
            }
            Some(reason) => count_failure(execution, execution.refusal(reason)),
        },
        Err(reason) => {
            // A failed commit whose outcome is unknown may have changed the vault.
            if execution.has_changed() {
                execution.executor.history.forget(&execution.principal().id);
            }
            let refusal = execution.refusal(reason);
            let refusal = repeated_refusal(execution, &refusal).map_or(refusal, |reason| execution.refusal(reason));
            count_failure(execution, refusal)
        }
    };
    // Only an answer reports late saves; with a refusal or a question they remain unreported.
    // The client of a cancelled call no longer listens, so it was not told either.
    if !matches!(outcome, Outcome::Answered(_)) || execution.cancel.check().is_err() {
        announce_late_saves_again(execution);
    }
    outcome
}

/// An answer that is too large to send, or that was already given too often.
fn over_limit(execution: &Execution<'_>, payload: &ReadPayload) -> Option<Reason> {
    let limit = execution.setup().limits.max_reply_bytes;
    let bytes = payload.limited_bytes() as u64;
    // A change has to be reported.
    if bytes > limit && !execution.has_changed() {
        return Some(Reason::ReplyTooLarge { bytes, limit });
    }
    if execution.has_changed() {
        // After its own change, a caller has a reason to look again, even if the answer is the same.
        execution.executor.history.forget(&execution.principal().id);
        return None;
    }
    match payload {
        ReadPayload::Tool(rendered) => check_repetition(execution, rendered),
        // Clients repeat other requests by themselves, for example when a list has changed.
        _ => None,
    }
}

/// A refusal counts too, unless it asks the caller to try again.
fn repeated_refusal(execution: &Execution<'_>, outcome: &Outcome) -> Option<Reason> {
    let Outcome::Refused(Refusal { reason, rendered: Some(rendered) }) = outcome else { return None };
    // A retry is what these ask for, so it must not be refused.
    let is_passing = matches!(
        reason,
        Reason::Interrupted(_)
            | Reason::Disk { .. }
            | Reason::KeepsChanging { .. }
            | Reason::ApprovalPending { .. }
            | Reason::TooMany { .. }
            | Reason::Internal(_)
    );
    if is_passing { None } else { check_repetition(execution, rendered) }
}

fn check_repetition(execution: &Execution<'_>, rendered: &RenderedReply) -> Option<Reason> {
    let (setup, principal) = (execution.setup(), execution.principal());
    // Without sessions, several clients share an id, and one would pay for the calls of another.
    if !setup.limits.repetition.noticed || !principal.is_single_client {
        return None;
    }
    let asked = execution.fingerprint();
    let (outcome, limits) = (asked.outcome(rendered), &setup.limits.repetition);
    let repeated = execution.executor.history.record(&principal.id, &asked, outcome, execution.time, limits)?;
    Some(Reason::Repeated { times: repeated.times, last: iso(repeated.last), similar: repeated.similar })
}

/// After many consecutive refusals, the last one says so.
fn count_failure(execution: &Execution<'_>, mut outcome: Outcome) -> Outcome {
    let (setup, principal) = (execution.setup(), execution.principal());
    let limits = &setup.limits.repetition;
    let is_counted = limits.noticed && principal.is_single_client;
    if let (Operation::Tool { .. }, Outcome::Refused(refusal), true) =
        (&execution.invocation.operation, &mut outcome, is_counted)
    {
        let failures = execution.executor.history.failed(&principal.id, execution.time);
        if limits.max_failures > 0 && failures >= limits.max_failures {
            let notice = format!("{failures} calls in a row have failed. Stop trying, and ask the user what to do.");
            refusal.rendered.iter_mut().for_each(|rendered| rendered.add_notice(&notice));
        }
    }
    outcome
}

fn announce_late_saves_again(execution: &Execution<'_>) {
    if execution.late_saves.is_empty() {
        return;
    }
    if let Err(error) = execution.concerned_vault().vault.tell_again(&execution.late_saves) {
        tracing::warn!("checkpoints cannot be looked up: {error}");
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{
        CheckSubscriptions, Interruption, ReadPayload, ReadResource, Reason, ReasonKind, RenderedReply,
    };
    use lapidary_vault::{FileChange, Receipt, VaultPath};
    use serde_json::json;

    use super::run;
    use crate::{
        Outcome, Question,
        execution::CallConclusion,
        testing::{TestServer, TestSetup},
    };

    fn answer(text: &str) -> CallConclusion {
        let reply = json!({ "structured": { "text": text }, "text": [text], "isError": false });
        CallConclusion::Answer(ReadPayload::Tool(RenderedReply::from_json(reply).unwrap()))
    }

    /// The outcome of a call that ended like this: a reason if it is refused.
    fn observed(server: &TestServer, ended: Result<CallConclusion, Reason>) -> Option<ReasonKind> {
        let invocation = server.invocation("file_read", json!({ "file": "a.md" }));
        match server.at("find", &invocation, |execution| run(execution, ended)) {
            Outcome::Refused(refusal) => Some(refusal.reason.kind()),
            _ => None,
        }
    }

    #[test]
    fn an_answer_that_is_too_large_is_refused_unless_it_tells_of_a_change() {
        let server = TestSetup { max_reply_bytes: 300, ..TestSetup::default() }.serve(&[("a.txt", &"x".repeat(400))]);
        assert_eq!(server.refused("file_read", json!({ "file": "a.txt" })).kind(), ReasonKind::ReplyTooLarge);
        let read = server.read(ReadResource { uri: "obsidian://vault/a.txt".into() });
        assert_eq!(read.err().unwrap().kind(), ReasonKind::ReplyTooLarge);
        let long = "y".repeat(200);
        server.done("file_create", json!({ "file": format!("{long}.md"), "content": "z" }));
    }

    #[test]
    fn a_repeated_answer_is_refused_in_the_end_and_a_change_resets_the_count() {
        let server = TestSetup { notices_repetition: true, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let read = json!({ "file": "a.md" });
        for _ in 0..3 {
            server.done("file_read", read.clone());
        }
        assert_eq!(server.refused("file_read", read.clone()).kind(), ReasonKind::RepeatedCall);
        server.done("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" }));
        server.done("file_read", read);
    }

    #[test]
    fn many_consecutive_failures_are_reported() {
        let server = TestSetup { notices_repetition: true, ..TestSetup::default() }.serve(&[]);
        let fail = |number: usize| {
            let outcome = server.call("file_read", json!({ "file": format!("{number}.md") }));
            outcome.rendered().unwrap().structured().contains("in a row")
        };
        assert_eq!((0..3).map(fail).collect::<Vec<_>>(), [false, false, false]);
        assert!(server.read(CheckSubscriptions { subscriptions: Vec::new() }).is_ok());
        assert!(fail(3), "the server's own checks are not a success of the caller");
    }

    #[test]
    fn a_conclusion_becomes_the_outcome_of_the_same_kind() {
        let server = TestServer::new(&[]);
        let invocation = server.invocation("file_read", json!({ "file": "a.md" }));
        let observe = |ended| server.at("find", &invocation, |execution| run(execution, ended));
        assert!(matches!(observe(Ok(answer("x"))), Outcome::Answered(ReadPayload::Tool(_))));
        let question = Question { message: "May I?".to_owned(), state: "s".to_owned() };
        assert!(
            matches!(observe(Ok(CallConclusion::Ask(question.clone()))), Outcome::Asked(asked) if asked == question)
        );
        let unknown = CallConclusion::UnknownTool { nearest: Some("file_read") };
        assert!(matches!(observe(Ok(unknown)), Outcome::UnknownTool { nearest: Some("file_read") }));
        assert!(matches!(observe(Err(Reason::DeniedByRule)), Outcome::Refused(refusal) if refusal.rendered.is_some()));
    }

    #[test]
    fn the_size_of_an_answer_matters_unless_it_reports_a_change() {
        let server = TestSetup { max_reply_bytes: 100, ..TestSetup::default() }.serve(&[]);
        let invocation = server.invocation("file_read", json!({ "file": "a.md" }));
        for (length, changed, dry_run, is_answered) in
            [(10, false, false, true), (200, false, false, false), (200, true, false, true), (200, true, true, false)]
        {
            let outcome = server.at("find", &invocation, |execution| {
                let path = VaultPath::parse("a.md").unwrap();
                let change =
                    FileChange { path, before: None, after: None, moved_to: None, bytes_before: 0, bytes_after: 1 };
                execution.receipt =
                    Receipt { changed: changed.then_some(change).into_iter().collect(), ..Receipt::default() };
                execution.dry_run = dry_run;
                run(execution, Ok(answer(&"x".repeat(length))))
            });
            assert_eq!(matches!(outcome, Outcome::Answered(_)), is_answered, "{length} {changed} {dry_run}");
        }
    }

    #[test]
    fn what_invites_a_retry_is_never_a_repetition() {
        let server = TestSetup { notices_repetition: true, ..TestSetup::default() }.serve(&[]);
        let path = VaultPath::parse("a.md").unwrap();
        for _ in 0..6 {
            let busy = Reason::Interrupted(Interruption::TakenBack);
            assert_ne!(observed(&server, Err(busy)), Some(ReasonKind::RepeatedCall));
            let changing = Reason::KeepsChanging { path: path.clone() };
            assert_eq!(observed(&server, Err(changing)), Some(ReasonKind::KeepsChanging));
        }
        let missing = || Reason::NoteMissing { path: path.clone(), suggestions: Vec::new() };
        for _ in 0..3 {
            assert_eq!(observed(&server, Err(missing())), Some(ReasonKind::NoteMissing));
        }
        assert_eq!(observed(&server, Err(missing())), Some(ReasonKind::RepeatedCall));
    }
}
