//! `lapidary health`: what may be wrong in a vault, and mending what can be mended safely.

use std::io::Write;

use lapidary_tools::quote::one_line;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, SAVING, call::OwnerCalls, report, screen::Screen, table::TableCell};
use crate::cli::HealthArguments;

const CHECK: &str = "vault_health_check";
const FIX: &str = "vault_health_fix";

pub(super) fn run(
    health: &HealthArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    if !health.fix.is_empty() {
        return mend(health, calls, screen);
    }
    let arguments = json!({ "kind": health.kind, "folder": health.folder, "limit": health.limit });
    let answer = calls.facts(CHECK, arguments)?;
    calls.assembled.executor.save_indexes(SAVING);
    let summary = list(&answer, "summary");
    // Only grave findings change the exit code, so that a script does not fail over a lonely note.
    let outcome = match summary.iter().any(|kind| kind["severity"] == "high") {
        true => CommandOutcome::GraveFindings,
        false => CommandOutcome::Well,
    };
    if health.json {
        screen.json(&answer)?;
        return Ok(outcome);
    }
    if summary.is_empty() {
        report::note("no findings");
        return Ok(outcome);
    }
    // Findings are only in the answer if a kind was asked for; otherwise it is a summary.
    match answer["findings"].as_array() {
        Some(findings) => {
            let rows: Vec<Vec<TableCell>> = findings.iter().map(finding_row).collect();
            screen.table(&["id", "finding", "fix"], &rows)?;
            if !answer["nextCursor"].is_null() {
                writeln!(screen, "… {} of {}; --limit shows more", findings.len(), summary[0]["count"])?;
            }
        }
        None => {
            let rows: Vec<Vec<TableCell>> = summary.iter().map(kind_row).collect();
            screen.table(&["kind", "severity", "findings", "fixable"], &rows)?;
            let kind = text(&summary[0], "kind");
            let line = screen.style.faint(&format!("To see them: {}", calls.hint.command(&format!("health {kind}"))));
            writeln!(screen, "{line}")?;
        }
    }
    Ok(outcome)
}

fn mend(
    health: &HealthArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let answer = calls.facts(FIX, json!({ "findings": health.fix, "dryRun": health.dry_run }))?;
    calls.assembled.executor.save_indexes(SAVING);
    // Nothing mended is like nothing found for a script.
    let outcome = if answer["changed"] == true { CommandOutcome::Well } else { CommandOutcome::NothingFound };
    if health.json {
        screen.json(&answer)?;
        return Ok(outcome);
    }
    if health.dry_run {
        screen.diff(answer["diff"].as_str().unwrap_or_default())?;
    }
    for fixed in list(&answer, "fixed") {
        let path = one_line(fixed["paths"][0].as_str().unwrap_or_default()).into_owned();
        let done = if health.dry_run { "Would mend" } else { "Mended" };
        writeln!(screen, "{done} {path}: {}", one_line(text(fixed, "does")))?;
    }
    for left in list(&answer, "left") {
        report::note(&format!("left {}: {}", text(left, "id"), one_line(text(left, "why"))));
    }
    if let Some(words) = calls.way_back(&answer, "To undo it") {
        let line = screen.style.faint(&words);
        writeln!(screen, "{line}")?;
    }
    Ok(outcome)
}

fn list<'v>(answer: &'v Value, field: &str) -> &'v [Value] {
    answer[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'v>(entry: &'v Value, name: &str) -> &'v str {
    entry[name].as_str().unwrap_or_default()
}

fn kind_row(kind: &Value) -> Vec<TableCell> {
    let severity = TableCell::from(text(kind, "severity"));
    let number = |name: &str| TableCell::from(kind[name].as_u64().unwrap_or_default().to_string()).number();
    vec![
        TableCell::from(text(kind, "kind")).name(),
        if kind["severity"] == "high" { severity.warning() } else { severity.faint() },
        number("count"),
        number("fixable").faint(),
    ]
}

fn finding_row(finding: &Value) -> Vec<TableCell> {
    let fix = match finding["fix"].as_str() {
        Some(fix) => TableCell::from(fix),
        None => TableCell::from(text(finding, "byHand")).faint().giving_way(),
    };
    vec![TableCell::from(text(finding, "id")).faint(), TableCell::from(text(finding, "says")), fix]
}
