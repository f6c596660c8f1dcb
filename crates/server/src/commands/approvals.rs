//! `lapidary approvals`: lists, shows and answers pending approvals.

use std::io::Write;

use lapidary_pipeline::{ApprovalDecision, ApprovalOutcome, PendingChange};
use lapidary_tools::quote::quoted;
use serde_json::{Value, json};

use super::{
    CommandFailure, CommandOutcome,
    call::{OwnerCalls, can_be_asked},
    change_list::client_name,
    progress, report,
    screen::Screen,
    table::TableCell,
};
use crate::cli::{ApprovalWord, Approvals};

/// Pending approvals, and the owner's answers to them.
pub(super) fn run(
    command: &Approvals,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let executor = &calls.assembled.executor;
    match command.word.as_ref().unwrap_or(&ApprovalWord::List { json: false }) {
        ApprovalWord::List { json } => list(calls, *json || command.json, screen),
        // Both ask a person or change something; their answer is a sentence.
        ApprovalWord::Accept { .. } | ApprovalWord::Reject { .. } if command.json => {
            Err(CommandFailure::Misconfigured("--json is for the list and for `show`".to_owned()))
        }
        ApprovalWord::Show { id, json } => {
            let pending = find(calls, id)?;
            match *json || command.json {
                true => screen.json(&one_as_json(&pending))?,
                false => screen.question(&pending.question)?,
            }
            Ok(CommandOutcome::Well)
        }
        ApprovalWord::Accept { id } => accept(calls, &find(calls, id)?, screen),
        ApprovalWord::Reject { id } => {
            let pending = find(calls, id)?;
            told(executor.decide(&pending, ApprovalDecision::reject())?, &pending, calls, screen)
        }
    }
}

fn list(calls: OwnerCalls<'_>, as_json: bool, screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    let pending = calls.assembled.executor.pending()?;
    if as_json {
        let all: Vec<Value> = pending.iter().map(one_as_json).collect();
        screen.json(&json!({ "approvals": all }))?;
        return Ok(CommandOutcome::Well);
    }
    if pending.is_empty() {
        writeln!(screen, "No pending approvals.")?;
        return Ok(CommandOutcome::Well);
    }
    let row = |pending: &PendingChange| {
        // Another process has accepted it; a second answer would come too late.
        // A request that was accepted stays in the list until its change is done.
        let said = if pending.taken { "being carried out" } else { pending.subject() };
        vec![
            TableCell::from(&pending.id).name(),
            TableCell::from(format!("{:<10}", screen.time.ago(&pending.asked_at()))),
            TableCell::from(client_name(&pending.caller)).giving_way(),
            TableCell::from(&pending.tool).giving_way(),
            TableCell::from(report::plain(said, screen.style)),
        ]
    };
    let rows: Vec<_> = pending.iter().map(row).collect();
    screen.table(&["approval", "asked", "by", "tool", "wants to"], &rows)?;
    if let Some(first) = pending.first() {
        let command = calls.command_in(&first.vault, &format!("approvals accept {}", first.id));
        let line = screen.style.faint(&format!("To review one: {command}"));
        writeln!(screen, "\n{line}")?;
    }
    Ok(CommandOutcome::Well)
}

fn one_as_json(pending: &PendingChange) -> Value {
    json!({
        "id": pending.id, "asked": pending.asked_at(), "vault": pending.vault, "client": pending.caller,
        "profile": pending.profile, "tool": pending.tool, "question": pending.question, "taken": pending.taken,
    })
}

/// The pending approval whose id starts like this.
fn find(calls: OwnerCalls<'_>, id: &str) -> Result<PendingChange, CommandFailure> {
    // A prefix is enough, as people type what the list shows.
    let pending = calls.assembled.executor.pending()?;
    let mut found: Vec<PendingChange> = pending.into_iter().filter(|pending| pending.id.starts_with(id)).collect();
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(CommandFailure::Refused(format!(
            "there is no pending approval {}; {} lists them",
            quoted(id),
            calls.hint.command("approvals")
        ))),
        _ => Err(CommandFailure::Refused(format!("several start with {}; give more characters", quoted(id)))),
    }
}

/// Programs can start programs, so consent has to be typed.
fn accept(
    calls: OwnerCalls<'_>,
    pending: &PendingChange,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    // A program that runs this command must not be able to approve its own change.
    if !can_be_asked() {
        let problem = "a change can only be accepted at a terminal; run this command there";
        return Err(CommandFailure::Refused(problem.to_owned()));
    }
    // The list shows only its first line.
    report::question(&pending.question);
    if !report::confirmed("Allow this?") {
        let reject = calls.command_in(&pending.vault, &format!("approvals reject {}", pending.id));
        writeln!(screen, "Nothing was changed; it is still pending. To refuse it: {reject}")?;
        return Ok(CommandOutcome::Refused);
    }
    let executor = &calls.assembled.executor;
    // With the digest of what was just shown: if the plan has changed since, nothing is made.
    let decided = progress::shown(executor, || executor.decide(pending, ApprovalDecision::approve(pending)))?;
    told(decided, pending, calls, screen)
}

fn told(
    decided: ApprovalOutcome,
    pending: &PendingChange,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let refused = |words: String| Err(CommandFailure::Refused(words));
    match decided {
        ApprovalOutcome::Tried(rendered) if rendered.is_error => {
            // A code is for programs.
            let words = rendered.text().concat();
            // `Error` and codes in capitals come from the two wire forms of refusals.
            let is_code = |word: &str| word == "Error" || word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let said =
                words.split_once(": ").filter(|(code, _)| is_code(code)).map_or(words.as_str(), |(_, said)| said);
            refused(said.to_owned())
        }
        ApprovalOutcome::Tried(rendered) => {
            writeln!(screen, "Done.")?;
            let facts = rendered.facts();
            if let Some(id) = facts.get("checkpoint").and_then(Value::as_str) {
                let command = calls.command_in(&pending.vault, &format!("undo --id {id}"));
                let line = screen.style.faint(&format!("To undo it: {command}"));
                writeln!(screen, "{line}")?;
            }
            Ok(CommandOutcome::Well)
        }
        ApprovalOutcome::MayRead => {
            writeln!(screen, "Accepted. The client gets the result when it makes the call again.")?;
            Ok(CommandOutcome::Well)
        }
        // A change is carried out under the rights it was requested with, and never under others.
        ApprovalOutcome::NoSuchProfile(name) => refused(format!(
            "it was requested under the profile {}, which is not configured here; use the server's configuration",
            quoted(&name)
        )),
        ApprovalOutcome::NoSuchPrincipal(name) => refused(format!(
            "it was requested by {}, which is not configured here; use the server's configuration, or reject it",
            quoted(&name)
        )),
        ApprovalOutcome::ProfileChanged { principal, profile } => refused(format!(
            "it was requested by {} under the profile {}, but its profile differs here; use the server's configuration, or reject it",
            quoted(&principal),
            quoted(&profile)
        )),
        ApprovalOutcome::AlreadyMade { checkpoint } => {
            writeln!(screen, "It was approved before, and the change was made.")?;
            let command = calls.command_in(&pending.vault, &format!("undo --id {checkpoint}"));
            let line = screen.style.faint(&format!("To undo it: {command}"));
            writeln!(screen, "{line}")?;
            Ok(CommandOutcome::Well)
        }
        ApprovalOutcome::HidesMore => refused(
            "the server that was asked hides the files that Obsidian excludes, and this command does not; use the server's \
             configuration, or reject it"
                .to_owned(),
        ),
        ApprovalOutcome::Rejected => {
            writeln!(screen, "Rejected. Nothing was changed.")?;
            Ok(CommandOutcome::Well)
        }
        ApprovalOutcome::Gone => refused("it has already been answered, or it has expired".to_owned()),
    }
}
