//! `lapidary ingest`: keeps a file as a source note.

use std::{io::Write, path::Path};

use lapidary_tools::quote::one_line;
use lapidary_vault::{ImportFolder, VaultPath};
use serde_json::json;

use super::{
    CommandFailure, CommandOutcome, SAVING, append::typed, call::OwnerCalls, screen::Screen, terminal_style::TextPaint,
};
use crate::cli::IngestArguments;

const TOOL: &str = "source_ingest";
/// Files with one of these endings are pages.
const PAGES: [&str; 3] = ["html", "htm", "xhtml"];

pub(super) fn run(
    ingest: &IngestArguments,
    calls: OwnerCalls<'_>,
    working_folder: &Path,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let named = ingest.file.as_deref().filter(|file| *file != Path::new("-"));
    let text = match named {
        Some(file) => read(&working_folder.join(file), calls)?,
        None => typed()?,
    };
    let ending = named.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    let is_page = ingest.html || ending.is_some_and(|ending| PAGES.contains(&&*ending));
    let (text, html) = if is_page { (None, Some(text)) } else { (Some(text), None) };
    // A page names itself better than its file does.
    let stem = named.filter(|_| !is_page).and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let mut arguments = json!({ "dryRun": ingest.dry_run });
    for (name, value) in [
        ("text", text),
        ("html", html),
        ("url", ingest.url.clone()),
        ("title", ingest.title.clone().or(stem)),
        ("author", ingest.author.clone()),
        ("status", ingest.status.clone()),
    ] {
        if let Some(value) = value {
            arguments[name] = json!(value);
        }
    }
    let answer = calls.facts(TOOL, arguments)?;
    calls.assembled.executor.save_indexes(SAVING);
    if ingest.json {
        screen.json(&answer)?;
        return Ok(CommandOutcome::Well);
    }
    if ingest.dry_run && answer["created"] == json!(true) {
        screen.diff(answer["diff"].as_str().unwrap_or_default())?;
        return Ok(CommandOutcome::Well);
    }
    let note = screen.style.painted(TextPaint::Name, &one_line(answer["path"].as_str().unwrap_or_default()));
    let done = if answer["created"] == json!(true) { "Created" } else { "Known already:" };
    writeln!(screen, "{done} {note}")?;
    if let Some(words) = calls.way_back(&answer, "To undo it") {
        let line = screen.style.faint(&words);
        writeln!(screen, "{line}")?;
    }
    Ok(CommandOutcome::Well)
}

/// The text of a file anywhere on this computer.
fn read(file: &Path, calls: OwnerCalls<'_>) -> Result<String, CommandFailure> {
    let failure = |problem: &str| CommandFailure::Input(format!("{}: {problem}", file.display()));
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Err(failure("this is not a file"));
    };
    let name = VaultPath::parse(name).map_err(|problem| failure(&problem.to_string()))?;
    let limit = calls.assembled.executor.limits().max_file_bytes;
    let bytes = ImportFolder::new(folder.to_owned()).read(&name, limit).map_err(|error| failure(&error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failure("this is not text in UTF-8"))
}
