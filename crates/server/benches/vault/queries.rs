//! What Dataview queries and bases cost over many notes, and how much memory their rows take.

use std::{fmt::Write, fs, path::Path, time::Duration};

use serde_json::{Value, json};

use super::{asked, both, calls, megabytes, memory, size};
use crate::{
    client::Server,
    report::{Failure, Report},
};

/// Three tasks in each note; one note of ten has the tag, one of a hundred each rating.
fn write_vault(root: &Path, notes: usize) -> Result<(), Failure> {
    for number in 0..notes {
        let folder = root.join(format!("Area {:03}", number / 500));
        if number % 500 == 0 {
            fs::create_dir_all(&folder)?;
        }
        let mut text = format!(
            "---\nrating: {}\nstatus: {}\ndue: 2026-{:02}-{:02}\nup: \"[[Note {}]]\"\n---\n# Note {number}\n",
            number % 100,
            ["open", "done", "waiting"][number % 3],
            number % 12 + 1,
            number % 28 + 1,
            number / 10,
        );
        if number % 10 == 0 {
            text += "#project/stone ";
        }
        writeln!(text, "See [[Note {}]] about slates, lime and the long wall.\n", number * 7 % notes)?;
        for task in 0..3 {
            let mark = if (number + task) % 2 == 0 { ' ' } else { 'x' };
            writeln!(text, "- [{mark}] Task {task} of note {number} [due:: 2026-{:02}-03]", task + 1)?;
        }
        writeln!(text, "\nPages:: {}", number % 700)?;
        fs::write(folder.join(format!("Note {number}.md")), text)?;
    }
    Ok(())
}

const TABLE: &str =
    "TABLE rating, status, due FROM #project WHERE rating > 50 AND status != \"done\" SORT rating DESC, file.name";
const WHOLE: &str = "TABLE rating, pages WHERE rating > 50 AND pages < 300 SORT pages";
const TASK: &str = "TASK WHERE !completed AND due < date(2026-03-01)";
const BASE: &str = "filters:\n  and:\n    - file.ext == \"md\"\n    - rating > 20\nformulas:\n  left: 700 - rating * 3\n  label: status.title() + \" \" + rating.toString()\n  soon: due < date(\"2026-06-01\")\nviews:\n  - type: table\n    name: All\n    order: [file.name, rating, formula.left, formula.label, formula.soon]\n    sort:\n      - property: formula.left\n        direction: DESC\n    groupBy:\n      property: status\n      direction: ASC\n";

pub(super) fn measure(report: &mut Report, around: &Path, notes: usize) -> Result<(), Failure> {
    let root = around.join(format!("queries-{notes}"));
    eprintln!("writing {notes} notes for queries …");
    fs::create_dir_all(&root)?;
    write_vault(&root, notes)?;
    // Files that have just been written are not believed to be the same at the next start.
    std::thread::sleep(Duration::from_secs(3));
    let text = size(&root)?;
    let mut say = |what: &str, found: String, aim: &str| report.say(format!("| {what} | {found} | {aim} |"));
    say(&format!("**queries over {notes} notes**"), format!("{:.1} MB", megabytes(text)), "");
    let arguments = |query: &str| json!({ "query": query });
    let mut server = asked(&root, around, "query", &arguments("LIST LIMIT 1"))?;
    let rows = memory(&server, "VmRSS")?;
    let large = notes == 100_000;
    let cases: [(&str, Value, &str); 4] = [
        ("`TABLE … FROM #tag WHERE … SORT …`", arguments(TABLE), if large { "p50 100 ms" } else { "p50 10 ms" }),
        ("`TABLE … WHERE … SORT …` over all", arguments(WHOLE), ""),
        ("`TASK WHERE …`, three tasks a note", arguments(TASK), if large { "p50 300 ms" } else { "" }),
        ("a base with three formulas, sort and group", arguments(BASE), if large { "p50 300 ms" } else { "" }),
    ];
    for (what, arguments, aim) in cases {
        let times = calls(&mut server, "query", &arguments, if large { 15 } else { 50 })?;
        say(what, both(times), aim);
    }
    overdue(&mut say, &mut server, large)?;
    let aim = format!("{:.0} MB and the program", 1.5 * megabytes(text));
    say("memory with the index of all rows", format!("{:.0} MB", megabytes(rows)), &aim);
    drop(server);
    fs::remove_dir_all(&root)?;
    Ok(())
}

/// The tasks alone.
pub(super) fn tasks(report: &mut Report, around: &Path, notes: usize) -> Result<(), Failure> {
    let root = around.join(format!("tasks-{notes}"));
    fs::create_dir_all(&root)?;
    write_vault(&root, notes)?;
    std::thread::sleep(Duration::from_secs(3));
    let mut server = asked(&root, around, "tasks_list", &json!({ "due": "overdue" }))?;
    let mut say = |what: &str, found: String, aim: &str| report.say(format!("| {what} | {found} | {aim} |"));
    overdue(&mut say, &mut server, notes == 100_000)?;
    drop(server);
    fs::remove_dir_all(&root)?;
    Ok(())
}

/// Half of the tasks are open, and all of them are overdue.
fn overdue(say: &mut dyn FnMut(&str, String, &str), server: &mut Server, large: bool) -> Result<(), Failure> {
    let aim = if large { "p50 20 ms" } else { "" };
    for (what, arguments) in [
        ("`tasks_list` overdue, three tasks a note", json!({ "due": "overdue" })),
        ("the same with a tag", json!({ "due": "overdue", "tag": "project" })),
    ] {
        say(what, both(calls(server, "tasks_list", &arguments, if large { 15 } else { 50 })?), aim);
    }
    Ok(())
}
