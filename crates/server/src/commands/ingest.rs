//! `lapidary ingest`: keeps a file as a source note.

use std::{io::Write, path::Path};

use lapidary_tools::quote::one_line;
use lapidary_vault::{
    DecodeFault, DocumentKind, DocumentText, ImportFolder, NoDocumentText, VaultPath, store::place_within,
};
use serde_json::{Value, json};

use super::{
    CommandFailure, CommandOutcome, SAVING, append::typed, call::OwnerCalls, screen::Screen, terminal_style::TextPaint,
};
use crate::{assemble::document_reader, cli::IngestArguments};

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
    let kind = named.and_then(|file| DocumentKind::named(&file.to_string_lossy())).filter(|kind| !kind.is_text());
    let mut arguments = json!({ "dryRun": ingest.dry_run });
    let (mut title, mut author) = (ingest.title.clone(), ingest.author.clone());
    if let (Some(kind), Some(file)) = (kind, named) {
        let file = working_folder.join(file);
        match calls.assembled.vaults.iter().find_map(|vault| place_within(vault.folder()?, &file)) {
            // Its note links to it.
            Some(path) => arguments["file"] = json!(path.to_string()),
            None => {
                let document = document(&file, kind, calls)?;
                let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                title = title.or(stem);
                author = author.or_else(|| document.author.clone());
                arguments["text"] = json!(markdown(&document));
            }
        }
        return keep(ingest, arguments, title, author, calls, screen);
    }
    let text = match named {
        Some(file) => read(&working_folder.join(file), calls)?,
        None => typed()?,
    };
    let ending = named.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    let is_page = ingest.html || ending.is_some_and(|ending| PAGES.contains(&&*ending));
    let (text, html) = if is_page { (None, Some(text)) } else { (Some(text), None) };
    // A page names itself better than its file does.
    let stem = named.filter(|_| !is_page).and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    for (name, value) in [("text", text), ("html", html)] {
        if let Some(value) = value {
            arguments[name] = json!(value);
        }
    }
    title = title.or(stem);
    keep(ingest, arguments, title, author, calls, screen)
}

fn keep(
    ingest: &IngestArguments,
    mut arguments: Value,
    title: Option<String>,
    author: Option<String>,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    for (name, value) in
        [("url", ingest.url.clone()), ("title", title), ("author", author), ("status", ingest.status.clone())]
    {
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

/// A document anywhere on this computer, read by the process with limits.
fn document(file: &Path, kind: DocumentKind, calls: OwnerCalls<'_>) -> Result<DocumentText, CommandFailure> {
    let failure = |problem: &str| CommandFailure::Input(format!("{}: {problem}", file.display()));
    let bytes = bytes_of(file, calls)?;
    let reader = document_reader(&[]).ok_or_else(|| failure(DecodeFault::Unavailable.words()))?;
    let document = reader.read(kind, &bytes, &|| true).map_err(|problem| match problem {
        NoDocumentText::Fault(fault) => failure(fault.words()),
        NoDocumentText::Stopped => failure("reading it was stopped"),
    })?;
    if document.has_text() { Ok(document) } else { Err(failure("it has no text; its pages may be pictures")) }
}

/// A heading for each page.
fn markdown(document: &DocumentText) -> String {
    let mut text = String::new();
    for part in &document.parts {
        let unit = document.kind.part_name();
        let (first, rest) = unit.split_at(1);
        let label = part.label.as_ref().map_or(String::new(), |label| format!(": {label}"));
        text += &format!("## {}{rest} {}{label}\n\n{}\n\n", first.to_uppercase(), part.number, part.text);
    }
    text
}

/// The text of a file anywhere on this computer.
fn read(file: &Path, calls: OwnerCalls<'_>) -> Result<String, CommandFailure> {
    String::from_utf8(bytes_of(file, calls)?)
        .map_err(|_| CommandFailure::Input(format!("{}: this is not text in UTF-8", file.display())))
}

fn bytes_of(file: &Path, calls: OwnerCalls<'_>) -> Result<Vec<u8>, CommandFailure> {
    let failure = |problem: &str| CommandFailure::Input(format!("{}: {problem}", file.display()));
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Err(failure("this is not a file"));
    };
    let name = VaultPath::parse(name).map_err(|problem| failure(&problem.to_string()))?;
    let limit = calls.assembled.executor.limits().max_file_bytes;
    ImportFolder::new(folder.to_owned()).read(&name, limit).map_err(|error| failure(&error.to_string()))
}
