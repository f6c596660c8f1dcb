//! Messages and data that depend on more than the fields of a reason.

use lapidary_vault::{PathDenied, PathPrefix, SHORTEST_ID, VaultPath};
use serde_json::{Map, Value, json};

use super::{ArgumentProblem, DiskFault, Interruption, PathRefusal, TaskCandidate};
use crate::{
    catalogue::OffReason,
    quote::{Quoted, quoted},
    vault_shape::ShapeProblem,
};

pub(super) fn summary(problems: &[&ArgumentProblem]) -> String {
    let one = |problem: &&ArgumentProblem| match &problem.at[..] {
        // A problem of the arguments as a whole has no place.
        "" => problem.problem.to_string(),
        at => format!("{} {}", quoted(at), problem.problem),
    };
    format!("Invalid arguments: {}.", problems.iter().map(one).collect::<Vec<_>>().join("; "))
}

pub(super) fn recipe_problems(name: Option<Quoted<'_>>, problems: &[&ArgumentProblem]) -> String {
    let one = |problem: &&ArgumentProblem| match &problem.at[..] {
        "" => problem.problem.to_string(),
        at => format!("{}: {}", quoted(at), problem.problem),
    };
    let said: Vec<String> = problems.iter().take(NAMED_PROBLEMS).map(one).collect();
    let which = name.map_or("The script cannot be run".to_owned(), |name| format!("The recipe {name} cannot be used"));
    ended(format!("{which}: {}", said.join("; ")))
}

/// With a full stop, unless it ends with a question already.
fn ended(sentence: String) -> String {
    if sentence.ends_with(['.', '?', '!']) { sentence } else { sentence + "." }
}

pub(super) fn no_checkpoint(given: Quoted<'_>) -> String {
    // Fewer characters are never looked up, so nothing is said about whether such a checkpoint exists.
    match given.raw().len() < SHORTEST_ID {
        true => format!("{given} is too short: send {SHORTEST_ID} or more characters of the id."),
        false => format!("There is no checkpoint {given}."),
    }
}

/// How many problems a sentence names; the data has all of them.
const NAMED_PROBLEMS: usize = 5;

pub(super) fn shape_problems(problems: &[&ShapeProblem]) -> String {
    let mut said: Vec<String> = problems.iter().take(NAMED_PROBLEMS).map(|problem| problem.says()).collect();
    let more = problems.len().saturating_sub(NAMED_PROBLEMS);
    said.extend((more > 0).then(|| format!("{more} more")));
    said.join("; ")
}

/// How many files a sentence names; the data has more of them.
const NAMED_FILES: usize = 10;

/// The first files of a change, after a number of them; nothing if none may be shown.
pub(super) fn first_paths(paths: &[Quoted<'_>], count: usize) -> String {
    let shown: Vec<String> = paths.iter().take(NAMED_FILES).map(Quoted::to_string).collect();
    let more = count.saturating_sub(shown.len());
    match (shown.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(": {}", shown.join(", ")),
        (false, more) => format!(": {} and {more} more", shown.join(", ")),
    }
}

pub(super) fn why_off(off: &OffReason) -> &'static str {
    match off {
        OffReason::ReadOnly => ": the server is in read-only mode",
        OffReason::Excluded => " by the owner",
        OffReason::NotChosen => ": it is not among the tools that the owner chose",
        OffReason::Profile => ": it is not in this client's profile",
        OffReason::Scope => ": it is not covered by this client's token",
        OffReason::NotSetUp(_) => ": the owner has not set it up",
        OffReason::Commands => ": the owner has not opened Obsidian's commands to this server",
        OffReason::OwnFolders => ": it knows no folders, and this client may use only some",
    }
}

pub(super) fn why_closed(refused: &PathRefusal) -> &'static str {
    match refused {
        PathRefusal::ByScope(PathDenied::OutsideReadPaths { .. }) => "outside OBSIDIAN_READ_PATHS",
        PathRefusal::ByScope(PathDenied::OutsideWritePaths { .. }) => "outside OBSIDIAN_WRITE_PATHS",
        PathRefusal::ByScope(PathDenied::InDenyPaths) => "closed by OBSIDIAN_DENY_PATHS",
        PathRefusal::ByScope(PathDenied::NotAllowed { .. }) => "not covered by `allow` for this vault",
        PathRefusal::ByScope(PathDenied::Forbidden) => "closed by `deny` for this vault",
        PathRefusal::ByScope(PathDenied::Hidden) => "names that start with a dot are closed",
        PathRefusal::ByScope(PathDenied::Ignored) => "it is ignored, so it is not part of the vault",
        PathRefusal::ByScope(PathDenied::Protected) => "it is protected by a rule file of the vault",
        PathRefusal::ByScope(PathDenied::ReadOnly) => "server is in read-only mode (OBSIDIAN_READ_ONLY=true)",
        PathRefusal::LeadsOutside => "it is a link that leaves the vault",
        PathRefusal::LeadsToClosed => "it is a link to a part of the vault that may not be changed",
        PathRefusal::PartlyClosed => "the server's rules cover paths below it, so it cannot be moved as a whole",
    }
}

pub(super) fn section_missing(section_type: &str, target: Quoted<'_>, path: Quoted<'_>) -> String {
    match section_type {
        "heading" => format!("Heading {target} not found."),
        // As a link writes it.
        "block" => format!("Block reference {} not found.", target.after("^")),
        _ => format!("Frontmatter key {target} not found in {path}."),
    }
}

pub(super) fn section_data(section_type: &str, target: &str, path: &VaultPath, available: &[String]) -> Value {
    json!({
        "path": path.as_str(),
        "section": { "type": section_type, "target": target },
        "available": available,
    })
}

pub(super) fn periodic_disabled(period: &str, unreadable: Option<&str>) -> String {
    match unreadable {
        Some(file) => format!("Cannot locate {period} notes: {file} cannot be read."),
        None => format!("This vault has no {period} notes: they are not enabled in Obsidian."),
    }
}

pub(super) fn repeated(times: usize, last: &str, similar: bool) -> String {
    if similar {
        format!("{times} searches for nearly the same words were just answered, the last at {last}.")
    } else {
        format!("The same call was just answered {times} times with the same result, the last at {last}.")
    }
}

pub(super) fn interrupted(interruption: &Interruption) -> String {
    match interruption {
        Interruption::TakenBack => "The call was cancelled.".to_owned(),
        Interruption::Deadline { allowed } => format!("The call took longer than {} ms.", allowed.as_millis()),
        Interruption::WriteUnfinished => {
            "The disk did not confirm the change; it may or may not have happened.".to_owned()
        }
    }
}

pub(super) fn disk(problem: &DiskFault, path: Option<Quoted<'_>>) -> String {
    let what = match problem {
        DiskFault::NotPermitted => "the system does not permit access",
        DiskFault::ReadOnly => "the disk is read-only",
        DiskFault::Full => "the disk is full",
        DiskFault::BadName => "the system does not accept this name",
        DiskFault::NotPortable => "some systems do not accept this name",
        DiskFault::NoTrash => "`.trash` in the vault is not a folder",
        DiskFault::NoState => "the server's state folder cannot be written",
        DiskFault::VaultGone => "the vault's folder does not exist",
        DiskFault::Failing => "the disk reported an error",
    };
    path.map_or_else(|| format!("Not done: {what}."), |path| format!("{path}: {what}."))
}

/// One wrong argument, in `data`.
pub(super) fn problem(problem: &ArgumentProblem) -> Value {
    let mut shown = Map::from_iter([
        ("path".to_owned(), json!(problem.at)),
        ("message".to_owned(), json!(problem.problem.to_string())),
    ]);
    // Absent rather than `null`: a program only has to test for the field.
    if let Some(nearest) = &problem.nearest {
        shown.insert("nearest".to_owned(), json!(nearest));
    }
    Value::Object(shown)
}

/// The sub-reason, and the folders that are open.
pub(super) fn forbidden(refused: &PathRefusal) -> (&'static str, Vec<String>) {
    let listed = |allowed: &[PathPrefix]| allowed.iter().map(ToString::to_string).collect();
    match refused {
        PathRefusal::ByScope(PathDenied::OutsideReadPaths { allowed }) => ("outside_read_paths", listed(allowed)),
        PathRefusal::ByScope(PathDenied::OutsideWritePaths { allowed }) => ("outside_write_paths", listed(allowed)),
        // Only open folders are listed: the names of closed ones may be what is hidden.
        PathRefusal::ByScope(PathDenied::InDenyPaths) => ("in_deny_paths", Vec::new()),
        PathRefusal::ByScope(PathDenied::NotAllowed { allowed }) => ("outside_allow", allowed.clone()),
        PathRefusal::ByScope(PathDenied::Forbidden) => ("in_deny", Vec::new()),
        PathRefusal::ByScope(PathDenied::Hidden) => ("hidden_path", Vec::new()),
        PathRefusal::ByScope(PathDenied::Ignored) => ("ignored_path", Vec::new()),
        PathRefusal::ByScope(PathDenied::Protected) => ("protected_path", Vec::new()),
        PathRefusal::ByScope(PathDenied::ReadOnly) => ("read_only_mode", Vec::new()),
        PathRefusal::LeadsOutside => ("leads_outside", Vec::new()),
        PathRefusal::LeadsToClosed => ("leads_to_closed", Vec::new()),
        PathRefusal::PartlyClosed => ("partly_closed", Vec::new()),
    }
}

/// The lines of several places, possibly shortened.
pub(super) fn lines(lines: &[&usize], places: usize) -> String {
    let mut numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
    // Several places may be on one line.
    numbers.dedup();
    let more = if places > lines.len() { " and more" } else { "" };
    match &numbers[..] {
        [one] => format!("line {one}{more}"),
        _ => format!("lines {}{more}", numbers.join(", ")),
    }
}

pub(super) fn strings(paths: &[VaultPath]) -> Vec<String> {
    paths.iter().map(VaultPath::to_string).collect()
}

/// Tasks of a note, for programs.
pub(super) fn tasks(tasks: &[TaskCandidate]) -> Vec<Value> {
    tasks.iter().map(|task| json!({ "line": task.line, "text": task.text })).collect()
}
