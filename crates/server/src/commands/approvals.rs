//! `lapidary approvals`: lists, shows and answers pending approvals.

use std::io::{IsTerminal, Write, stderr, stdin};

use lapidary_pipeline::{ApprovalOutcome, Executor, PendingChange};
use lapidary_tools::quote::{one_line, quoted};
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, print_json, printable, report, table};
use crate::{
    assemble::AssembledServer,
    cli::{ApprovalWord, Approvals},
};

/// Pending approvals, and the owner's answers to them.
pub(super) fn run(
    command: &Approvals,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let executor = &assembled.executor;
    let Some(word) = &command.word else { return list(executor, false, out) };
    match word {
        ApprovalWord::List { json } => list(executor, *json, out),
        ApprovalWord::Show { id } => match find(executor, id)? {
            Some(pending) => {
                writeln!(out, "{}", printable(&pending.question))?;
                Ok(CommandOutcome::Well)
            }
            None => Ok(CommandOutcome::Refused),
        },
        ApprovalWord::Accept { id } => match find(executor, id)? {
            Some(pending) => accept(executor, &pending, out),
            None => Ok(CommandOutcome::Refused),
        },
        ApprovalWord::Reject { id } => match find(executor, id)? {
            Some(pending) => told(executor.decide(&pending, false)?, out),
            None => Ok(CommandOutcome::Refused),
        },
    }
}

fn list(executor: &Executor, as_json: bool, out: &mut dyn Write) -> Result<CommandOutcome, CommandFailure> {
    let pending = executor.pending()?;
    if as_json {
        let all: Vec<Value> = pending.iter().map(one_as_json).collect();
        print_json(out, &json!({ "approvals": all }))?;
        return Ok(CommandOutcome::Well);
    }
    if pending.is_empty() {
        writeln!(out, "No pending approvals.")?;
        return Ok(CommandOutcome::Well);
    }
    let row = |pending: &PendingChange| {
        let question = pending.question.lines().next().unwrap_or_default();
        // Another process has accepted it; a second answer would come too late.
        let said = if pending.taken { "being carried out" } else { question };
        [pending.id.clone(), pending.asked_at(), one_line(&pending.caller).into_owned(), one_line(said).into_owned()]
    };
    table::print(out, &pending.iter().map(row).collect::<Vec<_>>())?;
    writeln!(out, "\nShow one with `lapidary approvals show ID`, then `accept ID` or `reject ID`.")?;
    Ok(CommandOutcome::Well)
}

fn one_as_json(pending: &PendingChange) -> Value {
    json!({
        "id": pending.id, "asked": pending.asked_at(), "vault": pending.vault, "client": pending.caller,
        "profile": pending.profile, "tool": pending.tool, "question": pending.question, "taken": pending.taken,
    })
}

/// The pending approval whose id starts like this.
fn find(executor: &Executor, id: &str) -> Result<Option<PendingChange>, CommandFailure> {
    // A prefix is enough, as people type what the list shows.
    let mut found: Vec<PendingChange> =
        executor.pending()?.into_iter().filter(|pending| pending.id.starts_with(id)).collect();
    match found.len() {
        1 => Ok(found.pop()),
        0 => {
            report::error(&format!("there is no pending approval {}; `lapidary approvals` lists them", quoted(id)));
            Ok(None)
        }
        _ => {
            report::error(&format!("several start with {}; give more characters", quoted(id)));
            Ok(None)
        }
    }
}

/// Programs can start programs, so consent has to be typed.
fn accept(executor: &Executor, pending: &PendingChange, out: &mut dyn Write) -> Result<CommandOutcome, CommandFailure> {
    // A program that runs this command must not be able to approve its own change.
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        report::error("a change can only be accepted at a terminal; run this command there");
        return Ok(CommandOutcome::Refused);
    }
    // The list shows only its first line.
    eprint!("{}\nApply this change? [y/N] ", printable(&pending.question));
    let mut line = String::new();
    stdin().read_line(&mut line).map_err(|error| CommandFailure::Input(error.to_string()))?;
    if !matches!(line.trim(), "y" | "Y" | "yes") {
        writeln!(
            out,
            "Nothing was changed; it is still pending. `lapidary approvals reject {}` refuses it.",
            pending.id
        )?;
        return Ok(CommandOutcome::Refused);
    }
    told(executor.decide(pending, true)?, out)
}

fn told(decided: ApprovalOutcome, out: &mut dyn Write) -> Result<CommandOutcome, CommandFailure> {
    match decided {
        ApprovalOutcome::Tried(rendered) => {
            writeln!(out, "{}", printable(&rendered.text().concat()))?;
            Ok(if rendered.is_error { CommandOutcome::Refused } else { CommandOutcome::Well })
        }
        ApprovalOutcome::MayRead => {
            writeln!(out, "Accepted. The client gets the result when it makes the call again.")?;
            Ok(CommandOutcome::Well)
        }
        // A change is carried out under the rights it was requested with, and never under others.
        ApprovalOutcome::NoSuchProfile(name) => {
            report::error(&format!(
                "it was requested under the profile {}, which is not configured here; use the server's configuration",
                quoted(&name)
            ));
            Ok(CommandOutcome::Refused)
        }
        ApprovalOutcome::NoSuchPrincipal(name) => {
            report::error(&format!(
                "it was requested by {}, which is not configured here; use the server's configuration, or reject it",
                quoted(&name)
            ));
            Ok(CommandOutcome::Refused)
        }
        ApprovalOutcome::ProfileChanged { principal, profile } => {
            report::error(&format!(
                "it was requested by {} under the profile {}, but its profile differs here; use the server's configuration, or reject it",
                quoted(&principal),
                quoted(&profile)
            ));
            Ok(CommandOutcome::Refused)
        }
        ApprovalOutcome::Rejected => {
            writeln!(out, "Rejected. Nothing was changed.")?;
            Ok(CommandOutcome::Well)
        }
        ApprovalOutcome::Gone => {
            report::error("it has already been answered, or it has expired");
            Ok(CommandOutcome::Refused)
        }
    }
}
