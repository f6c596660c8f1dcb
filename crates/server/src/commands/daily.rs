//! `lapidary daily`: prints, creates and extends periodic notes.

use std::io::Write;

use lapidary_tools::quote::one_line;
use serde_json::json;

use super::{
    CommandFailure, CommandOutcome, SAVING, append::typed, call::OwnerCalls, report, screen::Screen,
    terminal_style::TextPaint,
};
use crate::cli::DailyArguments;

const TOOL: &str = "daily_note";

pub(super) fn run(
    daily: &DailyArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let text = match daily.text.join(" ") {
        _ if daily.text.is_empty() => None,
        text if text == "-" => Some(typed()?),
        text => Some(text),
    };
    if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(CommandFailure::Input("there is nothing to append".to_owned()));
    }
    // What is added is whole lines.
    let text = text.map(|text| if text.ends_with('\n') { text } else { text + "\n" });
    let section = daily.heading.as_ref().map(|name| json!({ "type": "heading", "target": name }));
    let answer = calls.facts(
        TOOL,
        json!({
            "period": daily.period, "date": daily.date, "offset": daily.offset, "content": text, "section": section,
            "create": daily.create, "dryRun": daily.dry_run,
        }),
    )?;
    calls.assembled.executor.save_indexes(SAVING);
    if daily.json {
        screen.json(&answer)?;
        return Ok(CommandOutcome::Well);
    }
    // In a pipe only the note itself is printed.
    if let Some(notice) = answer["notice"].as_str().filter(|_| screen.style.is_terminal) {
        report::note(notice);
    }
    if let Some(content) = answer["content"].as_str() {
        screen.note_text(content, &answer)?;
        return Ok(CommandOutcome::Well);
    }
    if daily.dry_run {
        screen.diff(answer["diff"].as_str().unwrap_or_default())?;
        return Ok(CommandOutcome::Well);
    }
    let note = screen.style.painted(TextPaint::Name, &one_line(answer["path"].as_str().unwrap_or_default()));
    let done = match (answer["created"] == json!(true), text.is_some()) {
        (true, _) => "Created",
        (false, true) => "Appended to",
        (false, false) => "Already there:",
    };
    writeln!(screen, "{done} {note}")?;
    if let Some(words) = calls.way_back(&answer, "To undo it") {
        let line = screen.style.faint(&words);
        writeln!(screen, "{line}")?;
    }
    Ok(CommandOutcome::Well)
}
