//! `lapidary links`: what a note links to, and what links to it.

use std::io::Write;

use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, SAVING, call::OwnerCalls, report, screen::Screen, table::TableCell};
use crate::cli::LinksArguments;

const TOOL: &str = "links_get";

pub(super) fn run(
    links: &LinksArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let direction = match (links.outgoing, links.incoming) {
        (true, _) => "outlinks",
        (_, true) => "backlinks",
        _ => "both",
    };
    let arguments = json!({ "file": links.note, "direction": direction, "limit": links.limit });
    let answer = calls.facts(TOOL, arguments)?;
    // The next command starts with what this one has learnt.
    calls.assembled.executor.save_indexes(SAVING);
    let list = |field: &str| answer[field].as_array().map(Vec::as_slice).unwrap_or_default();
    let (outgoing, incoming) = (list("outlinks"), list("backlinks"));
    let found =
        if outgoing.is_empty() && incoming.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Well };
    // The result for programs is the same whether anything was found; the exit code tells.
    if links.json {
        screen.json(&answer)?;
        return Ok(found);
    }
    if outgoing.is_empty() && incoming.is_empty() {
        // Not on the screen: a pipe gets the links and nothing else.
        report::note("no links");
        return Ok(found);
    }
    if !outgoing.is_empty() {
        screen.heading("Links to")?;
        screen.table(&["note", "line", ""], &outgoing.iter().map(outgoing_row).collect::<Vec<_>>())?;
        more(outgoing.len(), &answer["totalOutlinks"], screen)?;
    }
    if !incoming.is_empty() {
        if !outgoing.is_empty() {
            writeln!(screen)?;
        }
        screen.heading("Linked from")?;
        screen.table(&["note", "line", ""], &incoming.iter().map(incoming_row).collect::<Vec<_>>())?;
        more(incoming.len(), &answer["totalBacklinks"], screen)?;
    }
    Ok(found)
}

fn more(shown: usize, total: &Value, screen: &mut Screen<'_>) -> Result<(), CommandFailure> {
    if let Some(total) = total.as_u64().filter(|total| *total > shown as u64) {
        writeln!(screen, "… {shown} of {total}; --limit shows more")?;
    }
    Ok(())
}

fn text<'v>(link: &'v Value, name: &str) -> &'v str {
    link[name].as_str().unwrap_or_default()
}

fn line(link: &Value) -> TableCell {
    TableCell::from(link["line"].as_u64().map(|line| line.to_string()).unwrap_or_default()).number().faint()
}

/// Where it leads, and what is written if that says more.
fn outgoing_row(link: &Value) -> Vec<TableCell> {
    let written = text(link, "target");
    match link["path"].as_str() {
        Some(path) => {
            let name = path.strip_suffix(".md").unwrap_or(path);
            // `[[Roof]]` for `Projects/Roof.md` says nothing more; an alias or another path does.
            let says_more = !name.ends_with(written);
            vec![
                TableCell::from(path).path().name(),
                line(link),
                TableCell::from(if says_more { written } else { "" }).faint(),
            ]
        }
        None => vec![TableCell::from(written).path(), line(link), TableCell::from("leads nowhere").warning()],
    }
}

/// The note, and the words around the link.
fn incoming_row(link: &Value) -> Vec<TableCell> {
    let words = match link["property"].as_str() {
        Some(property) => format!("property {property}"),
        // A context may have line breaks, and each row is one line.
        None => text(link, "context").split_whitespace().collect::<Vec<_>>().join(" "),
    };
    vec![TableCell::from(text(link, "file")).path().name(), line(link), TableCell::from(words)]
}
