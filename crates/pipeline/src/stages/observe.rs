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
        Ok(CallConclusion::Answer(payload)) => match over_limit(execution, &payload) {
            None => {
                let vault = execution.concerned_vault().vault.name();
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
            if execution.has_changed() {
                execution.executor.history.forget(&execution.principal().id);
            }
            let refusal = execution.refusal(reason);
            let refusal = repeated_refusal(execution, &refusal).map_or(refusal, |reason| execution.refusal(reason));
            count_failure(execution, refusal)
        }
    };
    // Only an answer reports late saves; with a refusal or a question they remain unreported.
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
        execution.executor.history.forget(&execution.principal().id);
        return None;
    }
    match payload {
        ReadPayload::Tool(rendered) => check_repetition(execution, rendered),
        _ => None,
    }
}

/// A refusal counts too, unless it asks the caller to try again.
fn repeated_refusal(execution: &Execution<'_>, outcome: &Outcome) -> Option<Reason> {
    let Outcome::Refused(Refusal { reason, rendered: Some(rendered) }) = outcome else { return None };
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
    use lapidary_tools::{CheckSubscriptions, ReadResource, ReasonKind};
    use serde_json::json;

    use crate::testing::TestSetup;

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
}
