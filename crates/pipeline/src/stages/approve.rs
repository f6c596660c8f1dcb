//! Stage 8: asks the user, if the rules say so.

use std::collections::BTreeSet;

use lapidary_note::{ContentHash, counted};
use lapidary_tools::{
    AppAction, CatalogueEntry, OutsideAction, Reason, ToolSpec, bug, clip_diff,
    fence::fenced,
    quote::{quoted, quoted_path, visible},
};
use lapidary_vault::{Change, ChangeSet, VaultPath};

use crate::{
    ConsentAnswer, Question, RuleDecision, ServedVault, Verdict, approvals, asked_change,
    confirmation::QuestionSubject,
    document_outline,
    execution::{CallConclusion, Execution, StageFlow},
    linked_places::LinkedPlaces,
    recipe_approval::{ONCE_APPROVED, RecipeReview},
};

/// How much of a diff a client's form shows.
const SHOWN_DIFF: usize = 6_000;
/// And a terminal.
const WHOLE_DIFF: usize = 200_000;

/// If the rules require it, the user is shown the very change that would be made.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    if execution.decision != RuleDecision::Ask {
        return Ok(StageFlow::Next);
    }
    let entry = execution.entry()?;
    // Taken out and put back, because `ask` needs the rest of the execution.
    let Some(plan) = execution.plan.take() else { return Err(bug!("a change is shown before it is planned")) };
    let changes = &plan.change.changes;
    let served = execution.concerned_vault();
    let (digest, places, action) = (plan.digest(&plan.places), &plan.places, plan.change.action.as_ref());
    let subject = AskedSubject { digest, files: asked_change::files_of(changes, places) };
    let name = execution.shown_name().to_owned();
    let reviewed = reviewed(execution, &plan.specs, changes);
    let (setup, cancel) = (execution.setup(), execution.cancel);
    let outline = |change: &Change| document_outline::outline(setup, cancel, change);
    let question = ask(execution, entry, subject, |most| {
        let asked = question(&name, served, changes, places, action, &outline, most)?;
        Ok(format!("{asked}{}", reviews(&reviewed, changes, most)))
    })?;
    execution.plan = Some(plan);
    Ok(question.map_or(StageFlow::Next, |question| StageFlow::End(CallConclusion::Ask(question))))
}

/// What a question is about.
pub(crate) struct AskedSubject {
    pub(crate) digest: ContentHash,
    pub(crate) files: BTreeSet<String>,
}

/// `None` if exactly this change was approved, otherwise the question. What is too long to be shown as a whole is not
/// asked.
pub(super) fn ask(
    execution: &mut Execution<'_>,
    entry: &CatalogueEntry,
    AskedSubject { digest, files }: AskedSubject,
    shown: impl Fn(usize) -> Result<String, Reason>,
) -> Result<Option<Question>, Reason> {
    // Set by `lapidary approvals`, or earlier in this call if it had to be planned again.
    match execution.approved {
        Some(before) if before == digest => return Ok(None),
        Some(_) => return Err(Reason::ChangedMeanwhile),
        None => {}
    }
    let (tokens, setup, principal) = (&execution.executor.tokens, execution.setup(), execution.principal());
    let subject = QuestionSubject {
        caller: &principal.id,
        tool: entry.spec.name(),
        arguments: execution.given_hash,
        changes: digest,
    };
    let now = setup.clock.now();
    match execution.invocation.answer.as_ref().filter(|_| !execution.has_used_answer) {
        Some(ConsentAnswer { state, verdict: Verdict::Agreed }) => {
            tokens.verify_and_consume(state, &subject, now)?;
            // A repeated plan must lead to the same change.
            execution.approved = Some(digest);
            Ok(None)
        }
        Some(ConsentAnswer { state, verdict: Verdict::Declined }) => {
            tokens.revoke(state, &subject, now);
            Err(of_file(execution, Reason::Declined { path: None, words: None }))
        }
        Some(ConsentAnswer { state, verdict: Verdict::Unanswered }) => {
            tokens.revoke(state, &subject, now);
            Err(Reason::ConsentExpired)
        }
        Some(ConsentAnswer { state, verdict: Verdict::NotAsked { limit } }) => {
            tokens.revoke(state, &subject, now);
            Err(Reason::TooMany { what: "questions to the user", limit: *limit })
        }
        None if principal.can_be_asked => {
            let message = shown(SHOWN_DIFF)?;
            let state = tokens.issue(&subject, now, setup.limits.answer_within)?;
            Ok(Some(Question { message, state }))
        }
        None if !setup.waits_for_approval => Err(Reason::NobodyToAsk),
        None => Err(approvals::wait(execution, &shown(WHOLE_DIFF)?, digest, &files, now).unwrap_or_else(|error| {
            tracing::warn!("an approval request cannot be stored for `lapidary approvals`: {error}");
            Reason::NobodyToAsk
        })),
    }
}

/// Asks about the call itself, before it is planned, because its plan asks others. `None` if that was approved.
pub(super) fn ask_before(
    execution: &mut Execution<'_>,
    entry: &CatalogueEntry,
    shown: impl Fn(usize) -> Result<String, Reason>,
) -> Result<Option<Question>, Reason> {
    // Identified by its arguments, as a call that only reads.
    let digest = ChangeSet::default().digest();
    // A preview, or a change that was shown after this question.
    let is_later = execution.invocation.review.is_some()
        || execution.approved.is_some_and(|approved| approved != digest)
        || answers_later_question(execution, entry, digest);
    if execution.is_let_out || is_later {
        execution.is_let_out = true;
        return Ok(None);
    }
    let has_answer = execution.approved.is_none();
    let question = ask(execution, entry, AskedSubject { digest, files: BTreeSet::new() }, shown)?;
    if question.is_none() {
        execution.is_let_out = true;
        execution.has_used_answer = has_answer;
        // The change that follows was not shown.
        execution.approved = None;
    }
    Ok(question)
}

/// Whether the call comes with an approval of the change that was shown after the call itself had been approved.
fn answers_later_question(execution: &Execution<'_>, entry: &CatalogueEntry, digest: ContentHash) -> bool {
    let Some(ConsentAnswer { state, verdict: Verdict::Agreed }) = &execution.invocation.answer else { return false };
    let subject = QuestionSubject {
        caller: &execution.principal().id,
        tool: entry.spec.name(),
        arguments: execution.given_hash,
        changes: digest,
    };
    // Ours, open and about this very call, but about something else.
    let verified = execution.executor.tokens.verify(state, &subject, execution.setup().clock.now());
    verified == Err(Reason::ChangedMeanwhile)
}

/// A refusal that names the file given by the caller.
pub(super) fn of_file(execution: &Execution<'_>, reason: Reason) -> Reason {
    match reason {
        Reason::Declined { path: None, words } => {
            let path = execution.files.first().and_then(|file| VaultPath::parse(file).ok());
            Reason::Declined { path, words }
        }
        reason => reason,
    }
}

/// The recipes that are to be kept.
fn reviewed(execution: &Execution<'_>, tools: &[&ToolSpec], changes: &ChangeSet) -> Vec<RecipeReview> {
    match tools.iter().any(|tool| tool.keeps_recipes) {
        true => RecipeReview::of(&execution.profile().catalogue, changes),
        false => Vec::new(),
    }
}

/// What they may do, each as a whole: a diff shows only what is different about one that is there, or the beginning of a long one.
fn reviews(reviewed: &[RecipeReview], changes: &ChangeSet, most: usize) -> String {
    let is_new = changes.changes.iter().all(|change| matches!(change, Change::Create { .. }));
    let diff_shows_all = is_new && changes.diff().text.len() <= most;
    let shown = |RecipeReview { words, definition }: &RecipeReview| match diff_shows_all {
        true => format!("\n\n{ONCE_APPROVED} {words}"),
        false => format!("\n\n{ONCE_APPROVED} {words}\n\n{}", fenced(&visible(definition))),
    };
    reviewed.iter().map(shown).collect()
}

/// A path, and where a link takes it.
fn shown_path(path: &VaultPath, places: &LinkedPlaces) -> String {
    match places.of_path(path) {
        place if place == path => quoted_path(path).to_string(),
        place => format!("{} (a link to {})", quoted_path(path), quoted_path(place)),
    }
}

fn question(
    tool: &str,
    served: &ServedVault,
    changes: &ChangeSet,
    places: &LinkedPlaces,
    action: Option<&OutsideAction>,
    outline: &dyn Fn(&Change) -> Vec<String>,
    most: usize,
) -> Result<String, Reason> {
    if let Some(action) = action.filter(|_| changes.is_empty()) {
        return acting(tool, served, action, most);
    }
    if let Some(deletion) = deletion(served, changes, places) {
        return Ok(deletion);
    }
    let diff = changes.diff_with(outline);
    let files: Vec<String> =
        changes.changes.iter().flat_map(Change::paths).map(|path| shown_path(path, places)).collect();
    let shown = clip_diff(&diff.text, most);
    let then = action.map_or(String::new(), |action| format!(", and then to {}", action.in_words()));
    let lines = match (diff.lines_added, diff.lines_removed) {
        // What is not text has none.
        (0, 0) => String::new(),
        (added, removed) => format!(" (lines added: {added}, removed: {removed})"),
    };
    Ok(format!(
        "`{tool}` wants to change {} in the vault {}{then}{lines}.\n\n{}",
        files.join(", "),
        quoted(served.vault.name()),
        fenced(&visible(&shown)),
    ))
}

/// What the app or another server is about to do.
pub(super) fn acting(tool: &str, served: &ServedVault, action: &OutsideAction, most: usize) -> Result<String, Reason> {
    let (vault, words) = (quoted(served.vault.name()), action.in_words());
    Ok(match action {
        OutsideAction::App(AppAction::Open { .. }) => format!("`{tool}` wants to {words}, in the vault {vault}."),
        OutsideAction::App(AppAction::RunCommand(_)) => format!(
            "`{tool}` wants to {words}, in the vault {vault}.\n\nWhat a command does is not known here, and cannot be undone here."
        ),
        OutsideAction::Call(call) => {
            let arguments = call.shown_arguments();
            // They are all that can be judged, so none of them may be left out.
            let characters = arguments.chars().count();
            if characters > most {
                return Err(Reason::QuestionTooLong { characters, limit: most });
            }
            format!(
                "`{tool}` wants to {words}.\n\nWhat that does cannot be undone here. It is called with:\n\n{}",
                fenced(&visible(&arguments))
            )
        }
    })
}

/// What a pure deletion is about to delete, and how much that is.
fn deletion(served: &ServedVault, changes: &ChangeSet, places: &LinkedPlaces) -> Option<String> {
    let mut for_good = false;
    let mut files = Vec::with_capacity(changes.changes.len());
    for change in &changes.changes {
        let (path, before) = match change {
            Change::Trash { path, before, .. } => (path, before.as_ref()),
            Change::Delete { path, before, .. } => {
                for_good = true;
                (path, Some(before))
            }
            Change::TrashFolder { path } => (path, None),
            // With any other change among them, the diff of all is shown instead.
            _ => return None,
        };
        files.push(before.map_or_else(
            || shown_path(path, places),
            |file| {
                let lines = file.bytes().split_inclusive(|byte| *byte == b'\n').count();
                format!("{} ({} bytes, {})", shown_path(path, places), file.content.len(), counted(lines, "line"))
            },
        ));
    }
    let (files, vault) = (files.join(", "), served.vault.name());
    (!files.is_empty()).then(|| match for_good {
        true => format!(
            "Delete {files} in the vault `{vault}`? It has no trash: only a checkpoint of this server keeps it."
        ),
        false => format!("Move {files} in the vault `{vault}` to the trash?"),
    })
}

#[cfg(test)]
mod tests {
    use lapidary_note::ContentHash;
    use lapidary_tools::{Effect, Reason, ReasonKind};
    use serde_json::json;

    use super::run;
    use crate::{
        ApprovalOutcome, ApprovalRule, ConsentAnswer, Outcome, RuleDecision, Verdict,
        testing::{StageVerdict, TestServer, TestSetup, verdict},
    };

    fn server(can_be_asked: bool, waits_for_approval: bool) -> TestServer {
        let rules = vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)];
        TestSetup { rules, can_be_asked, waits_for_approval, ..TestSetup::default() }.serve(&[("a.md", "one\n")])
    }

    fn edit() -> serde_json::Value {
        json!({ "file": "a.md", "find": "one", "replace": "two" })
    }

    fn answered(server: &TestServer, state: &str, verdict: Verdict) -> Outcome {
        let mut again = server.invocation("str_replace", edit());
        again.answer = Some(ConsentAnswer { state: state.to_owned(), verdict });
        server.run(&again)
    }

    #[test]
    fn an_approval_makes_the_change_that_was_shown_once() {
        let server = server(true, false);
        let Outcome::Asked(question) = server.call("str_replace", edit()) else { panic!("no question") };
        assert!(question.message.contains("+two"), "{}", question.message);
        assert_eq!(server.text("a.md"), "one\n");
        assert!(!answered(&server, &question.state, Verdict::Agreed).rendered().unwrap().is_error);
        assert_eq!(server.text("a.md"), "two\n");
    }

    #[test]
    fn a_refusal_or_no_answer_changes_nothing_and_a_later_approval_comes_too_late() {
        for (verdict, kind) in
            [(Verdict::Declined, ReasonKind::Cancelled), (Verdict::Unanswered, ReasonKind::ApprovalExpired)]
        {
            let server = server(true, false);
            let Outcome::Asked(question) = server.call("str_replace", edit()) else { panic!("no question") };
            let refused = |outcome| match outcome {
                Outcome::Refused(refusal) => refusal.reason.kind(),
                _ => panic!("not refused"),
            };
            assert_eq!(refused(answered(&server, &question.state, verdict)), kind);
            assert_eq!(refused(answered(&server, &question.state, Verdict::Agreed)), ReasonKind::ApprovalExpired);
            assert_eq!(server.text("a.md"), "one\n");
        }
    }

    #[test]
    fn without_a_way_to_ask_a_change_is_refused_or_waits() {
        assert_eq!(server(false, false).refused("str_replace", edit()), Reason::NobodyToAsk);
        let server = server(false, true);
        let Reason::ApprovalPending { id, .. } = server.refused("str_replace", edit()) else { panic!("does not wait") };
        let pending = server.executor.pending().unwrap().remove(0);
        assert_eq!(pending.id, id);
        let decided = server.executor.decide(&pending, crate::ApprovalDecision::approve(&pending)).unwrap();
        assert!(matches!(decided, ApprovalOutcome::Tried(reply) if !reply.is_error));
        assert_eq!(server.text("a.md"), "two\n");
        assert_eq!(server.log()[1]["via"], "approvals");
        let told = server.done("str_replace", edit());
        assert!(told["notice"].as_str().unwrap().contains("The owner approved it"), "{told:#}");
    }

    #[test]
    fn the_user_is_asked_only_if_the_decision_says_so_and_there_is_a_way() {
        let refusal = StageVerdict::Refusal;
        for (decision, can_be_asked, waits, expected) in [
            (RuleDecision::Allow, false, false, StageVerdict::Next),
            (RuleDecision::Ask, true, false, StageVerdict::Question),
            (RuleDecision::Ask, true, true, StageVerdict::Question),
            (RuleDecision::Ask, false, true, refusal(ReasonKind::ApprovalPending)),
            (RuleDecision::Ask, false, false, refusal(ReasonKind::ApprovalUnavailable)),
        ] {
            let server = server(can_be_asked, waits);
            server.at("approve", &server.invocation("str_replace", edit()), |execution| {
                execution.decision = decision;
                assert_eq!(verdict(run(execution)), expected);
                assert_eq!(execution.approved, None);
            });
        }
    }

    #[test]
    fn only_the_change_that_was_approved_passes() {
        let server = server(true, false);
        for is_same in [true, false] {
            server.at("approve", &server.invocation("str_replace", edit()), |execution| {
                let planned = execution.plan.as_ref().unwrap().change.changes.digest();
                execution.approved = Some(if is_same { planned } else { ContentHash::of(b"another change") });
                let expected =
                    if is_same { StageVerdict::Next } else { StageVerdict::Refusal(ReasonKind::ChangedMeanwhile) };
                assert_eq!(verdict(run(execution)), expected);
            });
        }
    }

    #[test]
    fn an_answer_counts_by_its_verdict_and_only_with_the_state_of_the_question() {
        for (verdict_given, is_ours, expected) in [
            (Verdict::Agreed, true, StageVerdict::Next),
            (Verdict::Agreed, false, StageVerdict::Refusal(ReasonKind::ApprovalExpired)),
            (Verdict::Declined, true, StageVerdict::Refusal(ReasonKind::Cancelled)),
            (Verdict::Unanswered, true, StageVerdict::Refusal(ReasonKind::ApprovalExpired)),
        ] {
            let server = server(true, false);
            let Outcome::Asked(question) = server.call("str_replace", edit()) else { panic!("no question") };
            let state = if is_ours { question.state } else { "00".repeat(52) };
            let mut again = server.invocation("str_replace", edit());
            again.answer = Some(ConsentAnswer { state, verdict: verdict_given });
            server.at("approve", &again, |execution| {
                let passes = expected == StageVerdict::Next;
                assert_eq!(verdict(run(execution)), expected, "{verdict_given:?}");
                assert_eq!((execution.approved.is_some(), execution.plan.is_some()), (passes, passes));
            });
        }
    }
}
