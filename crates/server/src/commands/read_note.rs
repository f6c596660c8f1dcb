//! `lapidary read`: prints a note or a part of it.

use std::io::Write;

use lapidary_vault::DocumentKind;
use serde_json::{Value, json};

use super::{
    CommandFailure, CommandOutcome, SAVING, call::OwnerCalls, report, screen::Screen, terminal_style::TextPaint,
};
use crate::cli::ReadArguments;

const TOOL: &str = "obsidian_get_note";

/// By the same tool as for a client.
pub(super) fn run(
    read: &ReadArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    if DocumentKind::named(&read.note).is_some_and(|kind| !kind.is_text()) {
        return document(read, calls, screen);
    }
    let part = read.part.section();
    let format = match (&part, read.outline) {
        (_, true) => "document-map",
        (Some(_), _) => "section",
        (None, _) => "content",
    };
    let target = json!({ "type": "path", "path": read.note });
    let answer = calls.facts(TOOL, json!({ "format": format, "target": target, "section": part }))?;
    calls.assembled.executor.save_indexes(SAVING);
    if read.json {
        screen.json(&answer)?;
        return Ok(CommandOutcome::Well);
    }
    // A program that reads the text does not want to hear how the note was found.
    if let Some(notice) = answer["notice"].as_str().filter(|_| screen.style.is_terminal) {
        report::note(notice);
    }
    let result = &answer["result"];
    if read.outline {
        return outline(result, screen);
    }
    // A property may be of any type; its text is what a person wants to see.
    let text = result["content"].as_str().or_else(|| result["valueText"].as_str());
    match (text, result.get("valueJson")) {
        (Some(text), _) => screen.note_text(text, result)?,
        // Quotes are for programs, which ask for JSON.
        (None, Some(Value::String(text))) => writeln!(screen, "{}", screen.style.shown(text))?,
        (None, Some(value)) => screen.json(value)?,
        (None, None) => {}
    }
    Ok(CommandOutcome::Well)
}

/// A document by its pages.
fn document(
    read: &ReadArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    if read.outline || read.part.section().is_some() {
        return Err(CommandFailure::Input("a document has pages, and no headings, blocks or properties".to_owned()));
    }
    let (mut parts, mut next) = (Vec::new(), json!({}));
    let mut answer = loop {
        let arguments = json!({ "path": read.note, "pages": next["pages"], "from": next["from"] });
        let mut answer = calls.facts("attachment_read", arguments)?;
        if let Some(Value::Array(more)) = answer["document"].get_mut("parts").map(Value::take) {
            parts.extend(more);
        }
        next = answer["document"].get_mut("next").map_or(Value::Null, Value::take);
        if next.is_null() {
            break answer;
        }
    };
    if read.json {
        answer["document"]["parts"] = Value::Array(parts);
        screen.json(&answer)?;
        return Ok(CommandOutcome::Well);
    }
    if let Some(notice) = answer["notice"].as_str() {
        report::note(notice);
    }
    let unit = answer["document"]["unit"].as_str().unwrap_or("page");
    let mut last = Value::Null;
    for part in &parts {
        // A long page comes in several pieces.
        if part["number"] != last {
            let label = part["label"].as_str().map_or(String::new(), |label| format!(" {label}"));
            let head = format!("[{unit} {}{label}]", part["number"]);
            let head = screen.style.painted(TextPaint::Name, &lapidary_tools::quote::one_line(&head));
            writeln!(screen, "{head}")?;
            last = part["number"].clone();
        }
        let text = screen.style.shown(part["text"].as_str().unwrap_or_default());
        writeln!(screen, "{text}")?;
    }
    Ok(if parts.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Well })
}

/// Headings by their depth, then blocks and properties.
fn outline(result: &Value, screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    let names = |field: &str| result[field].as_array().into_iter().flatten().filter_map(Value::as_str);
    let style = screen.style;
    let mut lines = Vec::new();
    for heading in names("headings") {
        // Tools write the way to a heading as `A::B`.
        let (depth, name) =
            heading.rsplit_once("::").map_or((0, heading), |(above, name)| (above.matches("::").count() + 1, name));
        lines.push(format!("{}{}", "  ".repeat(depth), style.strong(&lapidary_tools::quote::one_line(name))));
    }
    let marked = |mark: &str, name: &str| {
        style.painted(TextPaint::Name, &format!("{mark}{}", lapidary_tools::quote::one_line(name)))
    };
    lines.extend(names("blocks").map(|block| marked("^", block.trim_start_matches('^'))));
    lines.extend(names("frontmatterFields").map(|name| format!("{}:", marked("", name))));
    if lines.is_empty() {
        report::note("it has no headings, blocks or properties");
        return Ok(CommandOutcome::NothingFound);
    }
    writeln!(screen, "{}", lines.join("\n"))?;
    Ok(CommandOutcome::Well)
}
