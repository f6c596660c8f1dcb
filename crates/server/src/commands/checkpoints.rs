//! `lapidary checkpoints`: lists, shows, restores and exports old versions.

use std::{
    collections::BTreeSet,
    io::{self, BufWriter, Write},
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use lapidary_note::counted;
use lapidary_pipeline::Invocation;
use lapidary_tools::{CheckpointHistory, ExportCheckpoints, OfferedTools, ReadPayload, Reason};
use lapidary_vault::{
    Checkpoint, CheckpointError, File, VaultPath, View,
    store::{EntryRecord, ExportFolder},
};
use serde_json::{Map, Value, json};

use super::{
    CommandFailure, CommandOutcome,
    call::{can_be_asked, complete, owner},
    print_json, printable, report,
};
use crate::{
    assemble::AssembledServer,
    cli::{CheckpointWord, Checkpoints, ExportArguments},
};

/// What was changed and the state before, for people.
pub(super) fn run(
    command: &Checkpoints,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let word = &command.word;
    let (tool, mut arguments) = match word {
        CheckpointWord::List { path, limit, .. } => ("checkpoint_list", json!({ "path": path, "limit": limit })),
        CheckpointWord::Show { id, path, .. } => match path {
            Some(path) => ("checkpoint_read", json!({ "id": id, "path": path })),
            None => ("checkpoint_diff", json!({ "id": id })),
        },
        CheckpointWord::Diff { id, path, .. } => ("checkpoint_diff", json!({ "id": id, "path": path })),
        CheckpointWord::Restore { id, path, dry_run, .. } => {
            ("checkpoint_restore", json!({ "id": id, "path": path, "dryRun": dry_run }))
        }
        CheckpointWord::Export(export) => return run_export(export, assembled, out),
    };
    if let (Some(of), Value::Object(arguments)) = (word.vault(), &mut arguments) {
        arguments.insert("vault".to_owned(), json!(of));
    }
    call(tool, arguments, word.json(), assembled, out)
}

/// Uses the same executor as a client's calls, so paths closed to clients are closed here too.
fn call(
    tool: &str,
    arguments: Value,
    as_json: bool,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let arguments: Map<String, Value> = match arguments {
        // Options that were not given are null here, which the schemas of the tools do not allow.
        Value::Object(arguments) => arguments.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    };
    let principal = owner(&assembled.executor, can_be_asked());
    let invocation = Invocation::tool(tool, arguments, principal);
    let Some(rendered) = complete(&assembled.executor, invocation).rendered() else {
        return Ok(CommandOutcome::Refused);
    };
    if rendered.is_error {
        report::error(&rendered.text().concat());
        return Ok(CommandOutcome::Refused);
    }
    if as_json {
        print_json(out, &Value::Object(rendered.facts()))?;
    } else {
        writeln!(out, "{}", printable(&rendered.text().concat()))?;
    }
    Ok(CommandOutcome::Well)
}

fn run_export(
    export: &ExportArguments,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let operation = ExportCheckpoints { vault: export.of.clone() };
    let invocation = Invocation::read(operation, owner(&assembled.executor, false));
    let CheckpointHistory { checkpoints, view } = match complete(&assembled.executor, invocation).answer() {
        Ok(ReadPayload::History(history)) => *history,
        Ok(_) => return Ok(CommandOutcome::Refused),
        Err(reason) => return refused(&reason, assembled),
    };
    let folder = ExportFolder::new(&export.folder)
        .map_err(|error| CommandFailure::Serving(format!("cannot export to {}: {error}", export.folder.display())))?;
    if export.git {
        as_git(&view, &checkpoints, &folder)?;
    } else {
        as_files(&view, &checkpoints, &folder)?;
    }
    writeln!(out, "{} in {}", counted(checkpoints.len(), "checkpoint"), export.folder.display())?;
    Ok(CommandOutcome::Well)
}

fn refused(reason: &Reason, assembled: &AssembledServer) -> Result<CommandOutcome, CommandFailure> {
    let offered = OfferedTools::of(&assembled.executor.grant().profile.catalogue);
    report::error(&format!("{reason} {}", reason.hint(&offered)));
    Ok(CommandOutcome::Refused)
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
        command.current_dir(folder.path()).args(arguments).stdout(Stdio::null());
        // Set if git itself runs us, for a repository of the user's.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
            command.env_remove(name);
        }
        command
    };
    let unable = |what: &str| CommandFailure::Serving(format!("git could not {what}; is it installed?"));
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
