//! `lapidary log`: prints the log of calls.

use std::{io::Write, thread, time::Duration};

use lapidary_tools::quote::one_line;
use serde_json::Value;

use super::{
    CommandFailure, CommandOutcome, change_list::client_name, local_time::LocalTime, report, screen::Screen,
    table::TableCell, terminal_style::TextPaint,
};
use crate::{assemble::AssembledServer, cli::LogArguments};

/// How often a followed log is polled.
const POLL_EVERY: Duration = Duration::from_millis(200);

/// The log of each vault: the latest calls, and with `--follow` new ones.
pub(super) fn run(
    log: &LogArguments,
    assembled: &AssembledServer,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let filter = LogFilter { log, time: &screen.time.clone() };
    let mut lines = Vec::new();
    let mut tails = Vec::new();
    for served in assembled.executor.vaults().iter() {
        // Each vault has its own log, and any of them may have the latest lines. A filter has to see all of them.
        let wanted = if filter.is_open() { log.limit } else { usize::MAX };
        let (latest, tail) = served.log.tail(wanted)?;
        lines.extend(latest.into_iter().filter(|line| filter.lets(line)));
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
            let more: Vec<String> = tail.more()?.into_iter().filter(|line| filter.lets(line)).collect();
            print(screen, &more, log, several, false)?;
        }
    }
}

/// Which calls are wanted.
struct LogFilter<'a> {
    log: &'a LogArguments,
    time: &'a LocalTime,
}

impl LogFilter<'_> {
    fn is_open(&self) -> bool {
        let LogArguments { tool, client, note, reason, since, failed, changes, .. } = self.log;
        [tool, client, note, reason].iter().all(|given| given.is_none()) && since.is_none() && !failed && !changes
    }

    fn lets(&self, line: &str) -> bool {
        if self.is_open() {
            return true;
        }
        // A line that was cut off by a crash says nothing that could be asked for.
        let Ok(call) = serde_json::from_str::<Value>(line) else { return false };
        let text = |key: &str| call[key].as_str().unwrap_or_default();
        let LogArguments { tool, client, note, reason, since, failed, changes, .. } = self.log;
        let has = |given: &Option<String>, found: &str| {
            given.as_ref().is_none_or(|given| found.to_lowercase().contains(&given.to_lowercase()))
        };
        let names = std::iter::once(text("file"))
            .chain(call["files"].as_array().into_iter().flatten().filter_map(Value::as_str));
        let is_of_note = note.is_none() || names.into_iter().any(|name| has(note, name));
        tool.as_ref().is_none_or(|tool| text("tool") == tool.replace('.', "_"))
            && has(client, text("client_id"))
            && is_of_note
            && reason.as_ref().is_none_or(|reason| text("reason") == reason)
            && since.is_none_or(|since| self.time.is_within(text("ts"), since.0))
            && (!failed || call["ok"] == Value::Bool(false))
            && (!changes || call.get("checkpoint").is_some())
    }
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
    let Ok(call) = serde_json::from_str::<Value>(line) else { return vec![TableCell::from(line)] };
    let text = |key: &str| call[key].as_str().unwrap_or_default();
    let when = TableCell::from(format!("{:<10}", time.ago(text("ts")))).faint();
    if call.get("event").is_some() {
        let left = call["left"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let left: Vec<String> = left.map(|path| one_line(path).into_owned()).collect();
        let about = [text("checkpoint"), text("why"), text("file"), &left.join(", ")];
        let about: Vec<&str> = about.into_iter().filter(|text| !text.is_empty()).collect();
        let event = TableCell::from(text("event").replace('_', " ")).warning();
        let mut row = vec![when, TableCell::default(), event, TableCell::default(), TableCell::default()];
        row.extend(several.then(TableCell::default));
        row.push(TableCell::from(about.join("  ")));
        return row;
    }
    let (outcome, paint) = match (call["ok"].as_bool(), call.get("asked")) {
        (Some(true), _) if call.get("dry_run").is_some() => ("dry run", TextPaint::Plain),
        (Some(true), _) if call.get("checkpoint").is_some() => ("changed", TextPaint::Good),
        (Some(true), _) => ("ok", TextPaint::Plain),
        (_, Some(_)) => ("asked", TextPaint::Warning),
        _ => (text("reason"), TextPaint::Bad),
    };
    let duration = call["duration_ms"].as_f64().unwrap_or_default();
    let mut row = vec![
        when,
        TableCell::from(client_name(text("client_id"))),
        TableCell::from(text("tool")),
        TableCell::from(outcome).painted(paint),
        TableCell::from(format!("{duration:.0}")).number().faint(),
    ];
    row.extend(several.then(|| TableCell::from(text("vault"))));
    row.push(TableCell::from(text("file")).path());
    row
}
