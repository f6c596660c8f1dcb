//! `lapidary append`: adds text at the end of a note or of a part of it.

use std::io::{self, IsTerminal, Read, Write};

use lapidary_tools::{Reason, quote::one_line};
use serde_json::json;

use super::{
    CommandFailure, CommandOutcome, SAVING,
    call::{CallRefusal, OwnerCalls},
    report,
    screen::Screen,
    terminal_style::TextPaint,
};
use crate::cli::AppendArguments;

const TOOL: &str = "obsidian_append_to_note";

pub(super) fn run(
    append: &AppendArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let text = match append.text.join(" ") {
        text if text == "-" || append.text.is_empty() => typed()?,
        text => text,
    };
    // What is added is whole lines, also to a new note; only a property and a block go on where they end.
    let goes_on = append.part.property.is_some() || append.part.block.is_some();
    let text = match (goes_on, text.ends_with('\n')) {
        (true, true) => text.trim_end_matches('\n').to_owned(),
        (false, false) => text + "\n",
        _ => text,
    };
    if text.trim().is_empty() {
        return Err(CommandFailure::Input("there is nothing to append".to_owned()));
    }
    let target = json!({ "type": "path", "path": path(&append.note, calls)? });
    let arguments =
        json!({ "target": target, "content": text, "section": append.part.section(), "dryRun": append.dry_run });
    let answer = calls.facts(TOOL, arguments)?;
    // Each command is one process: without this, the next one would index the vault again.
    calls.assembled.executor.save_indexes(SAVING);
    if append.json {
        screen.json(&answer)?;
        return Ok(CommandOutcome::Well);
    }
    let note = screen.style.painted(TextPaint::Name, &one_line(answer["path"].as_str().unwrap_or_default()));
    if append.dry_run {
        screen.diff(answer["diff"].as_str().unwrap_or_default())?;
        return Ok(CommandOutcome::Well);
    }
    let done = if answer["created"] == json!(true) { "Created" } else { "Appended to" };
    writeln!(screen, "{done} {note}")?;
    if let Some(words) = calls.way_back(&answer, "To undo it") {
        let line = screen.style.faint(&words);
        writeln!(screen, "{line}")?;
    }
    Ok(CommandOutcome::Well)
}

/// The text at standard input.
pub(super) fn typed() -> Result<String, CommandFailure> {
    if io::stdin().is_terminal() {
        report::note("type the text, then Ctrl-D on an empty line");
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| CommandFailure::Input(error.to_string()))?;
    Ok(text)
}

/// The path of the note that is meant, which may not exist yet. Tools that create take paths only.
fn path(note: &str, calls: OwnerCalls<'_>) -> Result<String, CommandFailure> {
    // The outline is the cheapest answer that has the path of the note in it.
    let look = json!({ "format": "document-map", "target": { "type": "path", "path": note } });
    match calls.try_facts("obsidian_get_note", look) {
        Ok(found) => Ok(found["result"]["path"].as_str().unwrap_or(note).to_owned()),
        Err(CallRefusal::Reason(reason)) if matches!(*reason, Reason::NoteMissing { .. }) => {
            // Tools create exactly the path that they are given, while people leave the ending out.
            Ok(if has_ending(note) { note.to_owned() } else { format!("{note}.md") })
        }
        Err(refusal) => Err(calls.failure(refusal)),
    }
}

fn has_ending(note: &str) -> bool {
    note.to_lowercase().ends_with(".md")
}
