//! `lapidary log`: prints the log of calls.

use std::{io::Write, thread, time::Duration};

use lapidary_tools::quote::one_line;
use serde_json::Value;

use super::{
    CommandFailure, CommandOutcome, local_time::LocalTime, report, screen::Screen, table::TableCell,
    terminal_style::TextPaint,
};
use crate::{
    assemble::AssembledServer,
    cli::LogArguments,
    logged_call::{CallFilter, CallTone, LoggedCall, WantedOutcome},
};

/// How often a followed log is polled.
const POLL_EVERY: Duration = Duration::from_millis(200);

/// The log of each vault: the latest calls, and with `--follow` new ones.
pub(super) fn run(
    log: &LogArguments,
    assembled: &AssembledServer,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let (filter, time) = (filter(log), screen.time.clone());
    let mut lines = Vec::new();
    let mut tails = Vec::new();
    for served in assembled.executor.vaults().iter() {
        // Each vault has its own log, and any of them may have the latest lines. A filter has to see all of them.
        // With a filter the number of lines is not known before they are read.
        let wanted = if filter.is_open() { log.limit } else { usize::MAX };
        let (latest, tail) = served.log.tail(wanted)?;
        lines.extend(latest.into_iter().filter(|line| lets(&filter, line, &time)));
        tails.push(tail);
    }
    // Every line starts with its time. The sort is stable: lines that a vault wrote in the same millisecond stay in
    // order.
    lines.sort_by(|a, b| a.split(',').next().cmp(&b.split(',').next()));
    let surplus = lines.len().saturating_sub(log.limit);
    let shown = &lines[surplus..];
    let several = assembled.vaults.len() > 1;
    if shown.is_empty() && !log.follow {
        report::note(if filter.is_open() { "no calls yet" } else { "no such calls" });
        return Ok(CommandOutcome::NothingFound);
    }
    print(screen, shown, log, several, true)?;
    if !log.follow {
        return Ok(CommandOutcome::Well);
    }
    loop {
        thread::sleep(POLL_EVERY);
        for tail in &mut tails {
            // Vault by vault: while following, lines are shown as they come, not sorted.
            let more: Vec<String> = tail.more()?.into_iter().filter(|line| lets(&filter, line, &time)).collect();
            print(screen, &more, log, several, false)?;
        }
    }
}

/// Which calls are wanted.
fn filter(log: &LogArguments) -> CallFilter {
    let outcome = match (log.failed, log.changes) {
        (true, _) => Some(WantedOutcome::Refused),
        (_, true) => Some(WantedOutcome::Changed),
        _ => None,
    };
    CallFilter {
        client: log.client.clone(),
        tool: log.tool.clone(),
        note: log.note.clone(),
        reason: log.reason.clone(),
        in_full: true,
        outcome,
        since: log.since.map(|since| since.0),
    }
}

/// A line that was cut off by a crash is shown if everything is, and says nothing that could be asked for.
fn lets(filter: &CallFilter, line: &str, time: &LocalTime) -> bool {
    filter.is_open() || LoggedCall::parse(line).is_some_and(|call| filter.lets(&call, time))
}

fn print(
    screen: &mut Screen<'_>,
    lines: &[String],
    log: &LogArguments,
    several: bool,
    with_header: bool,
) -> Result<(), CommandFailure> {
    if log.json {
        lines.iter().try_for_each(|line| screen.json_line(line))?;
    } else if !lines.is_empty() {
        let rows: Vec<Vec<TableCell>> = lines.iter().map(|line| row(line, several, &screen.time)).collect();
        match (with_header, several) {
            (false, _) => screen.more_rows(&rows)?,
            (true, false) => screen.table(&["when", "client", "tool", "outcome", "ms", "note"], &rows)?,
            (true, true) => screen.table(&["when", "client", "tool", "outcome", "ms", "vault", "note"], &rows)?,
        }
    }
    screen.flush()?;
    Ok(())
}

/// One call per line for people; a foreign line is shown unchanged. Text from a caller must not look like a line of the
/// log: cells are single lines.
pub(super) fn row(line: &str, several: bool, time: &LocalTime) -> Vec<TableCell> {
    // A line that was cut off by a crash is shown as it is.
    let Some(call) = LoggedCall::parse(line) else { return vec![TableCell::from(line)] };
    let text = |name: &str| call.text(name);
    let when = TableCell::from(format!("{:<10}", time.ago(text("ts")))).faint();
    // Lines about the store itself, such as a recovery, have no caller and no tool; a decision of the owner has a caller.
    if call.facts().get("event").is_some() {
        let left = call.facts()["left"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let left: Vec<String> = left.map(|path| one_line(path).into_owned()).collect();
        let about = [text("checkpoint"), text("why"), text("recipe"), text("file"), &left.join(", ")];
        let about: Vec<&str> = about.into_iter().filter(|text| !text.is_empty()).collect();
        let event = TableCell::from(text("event").replace('_', " ")).warning();
        let mut row = vec![when, TableCell::from(call.client()), event, TableCell::default(), TableCell::default()];
        row.extend(several.then(TableCell::default));
        row.push(TableCell::from(about.join("  ")));
        return row;
    }
    let (outcome, tone) = call.outcome();
    let paint = match tone {
        CallTone::Plain => TextPaint::Plain,
        CallTone::Changed => TextPaint::Good,
        CallTone::Waiting => TextPaint::Warning,
        CallTone::Refused => TextPaint::Bad,
    };
    let mut row = vec![
        when,
        TableCell::from(call.client()),
        TableCell::from(text("tool")),
        TableCell::from(outcome).painted(paint),
        TableCell::from(call.number("duration_ms")).number().faint(),
    ];
    row.extend(several.then(|| TableCell::from(text("vault"))));
    row.push(TableCell::from(text("file")).path());
    row
}
