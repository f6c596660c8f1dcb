//! `lapidary checkpoints`: lists, shows, restores and exports old versions.

use std::{
    collections::BTreeSet,
    io::{self, BufWriter, Write},
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use lapidary_note::counted;
use lapidary_pipeline::Invocation;
use lapidary_tools::{CheckpointHistory, ExportCheckpoints, ReadPayload, quote::one_line};
use lapidary_vault::{
    Checkpoint, CheckpointError, File, VaultPath, View,
    store::{EntryRecord, ExportFolder},
};
use serde_json::{Value, json};

use super::{
    CommandFailure, CommandOutcome,
    call::{CallRefusal, OwnerCalls, complete, owner},
    change_list, progress, report,
    screen::Screen,
    terminal_style::TextPaint,
};
use crate::cli::{CheckpointWord, Checkpoints, ExportArguments, ListedChanges};

/// What was changed and the state before, for people.
pub(super) fn run(
    command: &Checkpoints,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    // Without a word the command lists, so both spellings take the same options.
    let list = CheckpointWord::List(ListedChanges::default());
    let word = command.word.as_ref().unwrap_or(&list);
    let (tool, arguments, json) = match word {
        CheckpointWord::List(listed) => {
            let (limit, json) = (command.limit.unwrap_or(listed.limit), command.json || listed.json);
            return run_list(&ListedChanges { limit, json, ..listed.clone() }, calls, screen);
        }
        CheckpointWord::Export(export) => return run_export(export, calls, screen),
        CheckpointWord::Show { id, path: Some(path), json } => {
            ("checkpoint_read", json!({ "id": id, "path": path }), *json)
        }
        CheckpointWord::Show { id, path: None, json } => ("checkpoint_diff", json!({ "id": id }), *json),
        CheckpointWord::Diff { id, path, json } => ("checkpoint_diff", json!({ "id": id, "path": path }), *json),
        CheckpointWord::Restore { id, path, dry_run, json } => {
            ("checkpoint_restore", json!({ "id": id, "path": path, "dryRun": dry_run }), *json)
        }
    };
    // By the same executor as a client's calls, so paths closed to clients are closed here too.
    let answer = calls.facts(tool, arguments)?;
    if json || command.json {
        screen.json(&answer)?;
        return Ok(CommandOutcome::Well);
    }
    if let Some(content) = answer["content"].as_str() {
        screen.note_text(content, &answer)?;
    } else if let Some(diff) = answer["diff"].as_str().or_else(|| answer["unifiedDiff"].as_str()) {
        if diff.is_empty() {
            report::note("nothing has changed since");
        }
        screen.diff(diff)?;
    } else {
        restored(&answer, calls, screen)?;
    }
    Ok(CommandOutcome::Well)
}

fn run_list(
    listed: &ListedChanges,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    // Through the same tool as a model's call, so that both see one history.
    let answer = calls.facts("checkpoint_list", json!({ "path": listed.path, "limit": listed.limit }))?;
    let changes = answer["checkpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
    let outcome = if changes.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Well };
    if listed.json {
        screen.json(&answer)?;
        return Ok(outcome);
    }
    if changes.is_empty() {
        report::note(match &listed.path {
            Some(_) => "nothing has been changed there",
            None => "nothing has been changed yet",
        });
        return Ok(outcome);
    }
    let rows: Vec<_> = changes.iter().map(|change| change_list::row(change, &screen.time)).collect();
    screen.table(&change_list::COLUMNS, &rows)?;
    if answer.get("nextBefore").is_some() {
        let more = screen.style.faint("… there are older ones; --limit shows more");
        writeln!(screen, "{more}")?;
    }
    Ok(outcome)
}

/// What became of each file, and how to take that back.
pub(super) fn restored(answer: &Value, calls: OwnerCalls<'_>, screen: &mut Screen<'_>) -> Result<(), CommandFailure> {
    for file in answer["files"].as_array().into_iter().flatten() {
        let text = |name: &str| one_line(file[name].as_str().unwrap_or_default()).into_owned();
        let path = screen.style.painted(TextPaint::Name, &text("path"));
        let since = if file["changedSince"] == json!(true) { " (it had been changed since)" } else { "" };
        writeln!(screen, "{} {path}{since}", capitalised(&text("outcome")))?;
    }
    if let Some(words) = calls.way_back(answer, "To take that back") {
        let line = screen.style.faint(&words);
        writeln!(screen, "{line}")?;
    }
    Ok(())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn run_export(
    export: &ExportArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let executor = &calls.assembled.executor;
    let invocation = Invocation::read(ExportCheckpoints { vault: None }, owner(executor, false));
    // Read as an operation and not as a tool: the contents are far larger than any reply may be.
    let CheckpointHistory { checkpoints, view } = match complete(executor, invocation).answer() {
        Ok(ReadPayload::History(history)) => *history,
        Ok(_) => return Ok(CommandOutcome::Refused),
        Err(reason) => return Err(calls.failure(CallRefusal::Reason(Box::new(reason)))),
    };
    let folder = ExportFolder::new(&export.folder)
        .map_err(|error| CommandFailure::Serving(format!("cannot export to {}: {error}", export.folder.display())))?;
    progress::named("exporting", || match export.git {
        true => as_git(&view, &checkpoints, &folder),
        false => as_files(&view, &checkpoints, &folder),
    })?;
    let folder = export.folder.display().to_string();
    writeln!(screen, "{} in {}", counted(checkpoints.len(), "change"), one_line(&folder))?;
    Ok(CommandOutcome::Well)
}

fn failed(error: &CheckpointError) -> CommandFailure {
    CommandFailure::Serving(error.to_string())
}

/// The content of a file before the change.
fn content(view: &View, entry: &EntryRecord) -> Result<Option<Vec<u8>>, CommandFailure> {
    view.old_content(entry).map_err(|error| failed(&CheckpointError::Ledger(error)))
}

/// One folder per checkpoint, named so that they sort by time.
fn as_files(view: &View, checkpoints: &[Checkpoint], folder: &ExportFolder) -> Result<(), CommandFailure> {
    for checkpoint in checkpoints {
        let seconds = checkpoint.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // Seconds first, so that the folders sort by time; the id tells two of the same second apart.
        let name = format!("{seconds}-{}", checkpoint.id);
        for entry in &checkpoint.entries {
            if let Some(content) = content(view, entry)? {
                folder.write(&format!("{name}/{}", entry.path), &content)?;
            }
        }
    }
    Ok(())
}

/// One commit per checkpoint with the files as they were before the change, and one for the current state.
fn as_git(view: &View, checkpoints: &[Checkpoint], folder: &ExportFolder) -> Result<(), CommandFailure> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        // Output of git would mix with ours.
        command.current_dir(folder.path()).args(arguments).stdout(Stdio::null());
        // Set if git itself runs us, for a repository of the user's.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
            command.env_remove(name);
        }
        command
    };
    let unable = |what: &str| CommandFailure::Serving(format!("git could not {what}; is it installed?"));
    // The name of the branch is given, so that the user's git configuration does not matter.
    let done = git(&["init", "--quiet", "--initial-branch=checkpoints"]).status().map_err(|_| unable("run"))?;
    if !done.success() {
        return Err(unable("create a repository"));
    }
    let mut import =
        // One process for all commits; `--force` lets a later export replace the branch.
        git(&["fast-import", "--quiet", "--force"]).stdin(Stdio::piped()).spawn().map_err(|_| unable("run"))?;
    // Taken, so that the stream is closed at its end and git stops waiting.
    let written = import.stdin.take().map_or(Ok(()), |stdin| write_commits(view, checkpoints, BufWriter::new(stdin)));
    let taken = import.wait().map_err(|_| unable("run"))?.success();
    match written {
        // A broken pipe means that git has given up.
        Ok(()) | Err(CommandFailure::Output(_)) if !taken => return Err(unable("import the checkpoints")),
        written => written?,
    }
    let shown = git(&["reset", "--quiet", "--hard", "checkpoints"]).status().map_err(|_| unable("run"))?;
    if shown.success() { Ok(()) } else { Err(unable("show the last commit")) }
}

/// Streamed while reading: all old contents together may exceed memory.
fn write_commits(view: &View, checkpoints: &[Checkpoint], mut stream: impl Write) -> Result<(), CommandFailure> {
    let mut paths = BTreeSet::new();
    for checkpoint in checkpoints {
        let message = format!("Before {} ({})", checkpoint.tool, checkpoint.id);
        begin_commit(&mut stream, checkpoint.time, &message)?;
        // Nothing is kept for a folder or a file that was moved unread; its content has not changed.
        for entry in checkpoint.entries.iter().filter(|entry| entry.before.is_some() || entry.moved_to.is_none()) {
            paths.insert(&entry.path);
            write_file(&mut stream, &entry.path, content(view, entry)?.as_deref())?;
        }
    }
    // Not the time of the export, so that exporting twice gives the same commits.
    let newest = checkpoints.last().map_or(UNIX_EPOCH, |checkpoint| checkpoint.time);
    begin_commit(&mut stream, newest, "Current state")?;
    for path in paths {
        // A note that may not be read now is exported as deleted, like one that is gone.
        let now = view.read(path).ok();
        write_file(&mut stream, path, now.as_deref().map(File::bytes))?;
    }
    Ok(stream.flush()?)
}

fn begin_commit(stream: &mut impl Write, time: SystemTime, message: &str) -> io::Result<()> {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    writeln!(
        stream,
        "commit refs/heads/checkpoints\ncommitter Lapidary <lapidary@localhost> {seconds} +0000\ndata {}\n{message}",
        message.len()
    )
}

/// `None` is a file that did not exist, or whose content was not kept.
fn write_file(stream: &mut impl Write, path: &VaultPath, content: Option<&[u8]>) -> io::Result<()> {
    // fast-import reads quoted paths as C strings.
    let quoted = format!("\"{}\"", path.as_str().replace('\\', "\\\\").replace('"', "\\\""));
    match content {
        Some(content) => {
            writeln!(stream, "M 100644 inline {quoted}\ndata {}", content.len())?;
            stream.write_all(content)?;
            writeln!(stream)
        }
        None => writeln!(stream, "D {quoted}"),
    }
}
