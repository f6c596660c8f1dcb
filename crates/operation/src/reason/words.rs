//! Messages and data that depend on more than the fields of a reason.

use lapidary_vault::{Denied, PathPrefix, VaultPath};
use serde_json::{Map, Value, json};

use super::{ArgumentProblem, Disk, Interruption, Refused};
use crate::{
    catalogue::Off,
    quote::{Quoted, quoted},
};

pub(super) fn summary(problems: &[&ArgumentProblem]) -> String {
    let one = |problem: &&ArgumentProblem| match &problem.at[..] {
        "" => problem.problem.to_string(),
        at => format!("{} {}", quoted(at), problem.problem),
    };
    format!("Invalid arguments: {}.", problems.iter().map(one).collect::<Vec<_>>().join("; "))
}

pub(super) fn why_off(off: &Off) -> &'static str {
    match off {
        Off::ReadOnly => ": the server is in read-only mode",
        Off::Excluded => " by the owner",
        Off::NotChosen => ": it is not among the tools the owner chose",
        Off::Profile => ": the profile of this client does not have it",
        Off::Scope => ": the token of this client does not cover it",
    }
}

pub(super) fn why_closed(refused: &Refused) -> &'static str {
    match refused {
        Refused::ByScope(Denied::OutsideReadPaths { .. }) => "outside OBSIDIAN_READ_PATHS",
        Refused::ByScope(Denied::OutsideWritePaths { .. }) => "outside OBSIDIAN_WRITE_PATHS",
        Refused::ByScope(Denied::InDenyPaths) => "closed by OBSIDIAN_DENY_PATHS",
        Refused::ByScope(Denied::NotAllowed { .. }) => "outside what `allow` opens of this vault",
        Refused::ByScope(Denied::Forbidden) => "closed by `deny` of this vault",
        Refused::ByScope(Denied::Hidden) => "names that begin with a dot are closed",
        Refused::ByScope(Denied::Ignored) => "it is ignored, so it is no part of the vault",
        Refused::ByScope(Denied::Protected) => "it is protected by a rule file of the vault",
        Refused::ByScope(Denied::ReadOnly) => "server is in read-only mode (OBSIDIAN_READ_ONLY=true)",
        Refused::LeadsOutside => "it is a link that leaves the vault",
        Refused::LeadsToClosed => "it is a link to a part of the vault that may not be changed",
        Refused::PartlyClosed => "rules of this server are about paths below it, so it stays where it is as a whole",
    }
}

pub(super) fn section_missing(section_type: &str, target: Quoted<'_>, path: Quoted<'_>) -> String {
    match section_type {
        "heading" => format!("Heading {target} not found."),
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
        Some(file) => format!("Where {period} notes are cannot be told: {file} cannot be read."),
        None => format!("This vault has no {period} notes: they are not enabled in Obsidian."),
    }
}

pub(super) fn repeated(times: usize, last: &str, similar: bool) -> String {
    if similar {
        format!("{times} searches for nearly the same words have just been answered, the last at {last}.")
    } else {
        format!("The same call has just been answered {times} times with the same result, the last at {last}.")
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

pub(super) fn disk(problem: &Disk, path: Option<Quoted<'_>>) -> String {
    let what = match problem {
        Disk::NotPermitted => "the system does not permit access",
        Disk::ReadOnly => "the disk is read-only",
        Disk::Full => "the disk is full",
        Disk::BadName => "the system does not accept this name",
        Disk::NotPortable => "not every system accepts this name",
        Disk::NoTrash => "`.trash` in the vault is not a folder",
        Disk::NoState => "the server's state folder cannot be written",
        Disk::VaultGone => "the vault's folder is not there",
        Disk::Failing => "the disk reported an error",
    };
    path.map_or_else(|| format!("Not done: {what}."), |path| format!("{path}: {what}."))
}

/// One wrong argument, in `data`.
pub(super) fn problem(problem: &ArgumentProblem) -> Value {
    let mut shown = Map::from_iter([
        ("path".to_owned(), json!(problem.at)),
        ("message".to_owned(), json!(problem.problem.to_string())),
    ]);
    if let Some(nearest) = &problem.nearest {
        shown.insert("nearest".to_owned(), json!(nearest));
    }
    Value::Object(shown)
}

/// The sub-reason, and the folders that would be open.
pub(super) fn forbidden(refused: &Refused) -> (&'static str, Vec<String>) {
    let listed = |allowed: &[PathPrefix]| allowed.iter().map(ToString::to_string).collect();
    match refused {
        Refused::ByScope(Denied::OutsideReadPaths { allowed }) => ("outside_read_paths", listed(allowed)),
        Refused::ByScope(Denied::OutsideWritePaths { allowed }) => ("outside_write_paths", listed(allowed)),
        Refused::ByScope(Denied::InDenyPaths) => ("in_deny_paths", Vec::new()),
        Refused::ByScope(Denied::NotAllowed { allowed }) => ("outside_allow", allowed.clone()),
        Refused::ByScope(Denied::Forbidden) => ("in_deny", Vec::new()),
        Refused::ByScope(Denied::Hidden) => ("hidden_path", Vec::new()),
        Refused::ByScope(Denied::Ignored) => ("ignored_path", Vec::new()),
        Refused::ByScope(Denied::Protected) => ("protected_path", Vec::new()),
        Refused::ByScope(Denied::ReadOnly) => ("read_only_mode", Vec::new()),
        Refused::LeadsOutside => ("leads_outside", Vec::new()),
        Refused::LeadsToClosed => ("leads_to_closed", Vec::new()),
        Refused::PartlyClosed => ("partly_closed", Vec::new()),
    }
}

/// The lines of places, of which there may be more.
pub(super) fn lines(lines: &[&usize], places: usize) -> String {
    let mut numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
    numbers.dedup();
    let more = if places > lines.len() { " and further on" } else { "" };
    match &numbers[..] {
        [one] => format!("line {one}{more}"),
        _ => format!("lines {}{more}", numbers.join(", ")),
    }
}

pub(super) fn strings(paths: &[VaultPath]) -> Vec<String> {
    paths.iter().map(VaultPath::to_string).collect()
}
