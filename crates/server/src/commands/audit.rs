//! `lapidary audit`: prints the log of calls.

use std::{
    io::{IsTerminal, Write, stdout},
    thread,
    time::Duration,
};

use lapidary_tools::quote::one_line;
use serde_json::Value;

use super::{CommandFailure, CommandOutcome, json_for};
use crate::{assemble::AssembledServer, cli::Audit};

/// How often a followed log is polled.
const POLL_EVERY: Duration = Duration::from_millis(200);

/// The log of each vault: the latest calls, and with `--follow` new ones.
pub(super) fn run(
    audit: Audit,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let mut lines = Vec::new();
    let mut tails = Vec::new();
    for served in assembled.executor.vaults().iter() {
        // Each vault has its own log, and any of them may have the latest lines.
        let (latest, tail) = served.log.tail(audit.limit)?;
        lines.extend(latest);
        tails.push(tail);
    }
    // Every line starts with its time. The sort is stable: lines that a vault wrote in the same millisecond stay in
    // order.
    lines.sort_by(|a, b| a.split(',').next().cmp(&b.split(',').next()));
    let surplus = lines.len().saturating_sub(audit.limit);
    print(out, &lines[surplus..], audit.json)?;
    if !audit.follow {
        return Ok(CommandOutcome::Well);
    }
    loop {
        thread::sleep(POLL_EVERY);
        for tail in &mut tails {
            print(out, &tail.more()?, audit.json)?;
        }
    }
}

fn print(out: &mut dyn Write, lines: &[String], json: bool) -> Result<(), CommandFailure> {
    for line in lines {
        if json {
            writeln!(out, "{}", json_for(line, stdout().is_terminal()))?;
        } else {
            writeln!(out, "{}", readable(line))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// One call per line for people; a foreign line is shown unchanged.
fn readable(line: &str) -> String {
    // A line that was cut off by a crash is shown as it is.
    let Ok(call) = serde_json::from_str::<Value>(line) else { return one_line(line).into_owned() };
    // Text from a caller must not look like a line of the log.
    let text = |key: &str| one_line(call.get(key).and_then(Value::as_str).unwrap_or_default()).into_owned();
    if call.get("event").is_some() {
        let left = call.get("left").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let left: Vec<String> = left.map(|path| one_line(path).into_owned()).collect();
        let about = [text("checkpoint"), text("why"), text("file"), left.join(", ")];
        let about: Vec<String> = about.into_iter().filter(|text| !text.is_empty()).collect();
        return format!("{}  {:<22} {}", text("ts"), text("event"), about.join("  ")).trim_end().to_owned();
    }
    let outcome = match (call.get("ok").and_then(Value::as_bool), call.get("asked")) {
        (Some(true), _) if call.get("dry_run").is_some() => "dry run".to_owned(),
        (Some(true), _) if call.get("checkpoint").is_some() => "changed".to_owned(),
        (Some(true), _) => "ok".to_owned(),
        (_, Some(_)) => "asked".to_owned(),
        _ => text("reason"),
    };
    let duration = call.get("duration_ms").and_then(Value::as_f64).unwrap_or_default();
    format!(
        "{}  {:<22} {:<18} {:>7.1} ms  {}  {}",
        text("ts"),
        text("tool"),
        outcome,
        duration,
        text("vault"),
        text("file")
    )
    .trim_end()
    .to_owned()
}
