//! `lapidary tasks`: the tasks of a vault.

use std::io::Write;

use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, SAVING, call::OwnerCalls, report, screen::Screen, table::TableCell};
use crate::cli::TasksArguments;

const TOOL: &str = "tasks_list";

pub(super) fn run(
    tasks: &TasksArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let TasksArguments { due, done, status, tag, priority, path, text, group, limit, json } = tasks;
    let answer = calls.facts(
        TOOL,
        json!({
            "due": due, "done": done, "status": status, "tag": tag, "priority": priority, "path": path, "text": text,
            "group": group, "limit": limit,
        }),
    )?;
    // The next command starts with what this one has learnt.
    calls.assembled.executor.save_indexes(SAVING);
    let groups = answer["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = if groups.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Well };
    if *json {
        screen.json(&answer)?;
        return Ok(found);
    }
    if groups.is_empty() {
        // Not on the screen: a pipe gets the tasks and nothing else.
        report::note("no tasks");
        return Ok(found);
    }
    let mut shown = 0;
    for (number, group) in groups.iter().enumerate() {
        if number > 0 {
            writeln!(screen)?;
        }
        let name = group["group"].as_str().map_or_else(String::new, |name| format!("{name} · "));
        // The path comes with every group, as a group may have notes of the same name.
        screen.heading(&format!("{name}{}", group["path"].as_str().unwrap_or_default()))?;
        let tasks = group["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
        shown += tasks.len();
        screen.table(&["line", "", "task", "due", ""], &tasks.iter().map(row).collect::<Vec<_>>())?;
    }
    if let Some(total) = answer["total"].as_u64().filter(|total| *total > shown as u64) {
        writeln!(screen, "… {shown} of {total}; --limit shows more")?;
    }
    Ok(found)
}

fn row(task: &Value) -> Vec<TableCell> {
    let text = |name: &str| task[name].as_str().unwrap_or_default().to_owned();
    // An open task has a blank in its box.
    let status = task["status"].as_str().unwrap_or(" ");
    // Only dates that the task has; most have none.
    let dates = ["scheduled", "start", "done"].into_iter().filter(|name| task.get(*name).is_some());
    let mut others: Vec<String> = dates.map(|name| format!("{name} {}", text(name))).collect();
    others.extend(["priority", "recurrence", "id"].into_iter().map(text).filter(|text| !text.is_empty()));
    vec![
        TableCell::from(task["line"].to_string()).number().faint(),
        TableCell::from(format!("[{status}]")).faint(),
        TableCell::from(text("text")),
        TableCell::from(text("due")).strong(),
        TableCell::from(others.join(", ")).faint().giving_way(),
    ]
}
