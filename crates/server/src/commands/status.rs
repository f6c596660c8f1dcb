//! `lapidary status`: which servers are running, what waits for an answer, and the last calls.

use std::{io::Write, time::Duration};

use lapidary_config::ChosenVault;
use lapidary_note::counted;
use lapidary_tools::{AppFault, AppNeed, AppStatus, Reason, quote::one_line, shown_capabilities};
use lapidary_vault::{
    KeptVectors,
    store::{Capabilities, RunningServer},
};
use serde_json::{Value, json};

use super::{
    CommandFailure, CommandOutcome, call::OwnerCalls, log, screen::Screen, table::TableCell, terminal_style::TextPaint,
};
use crate::{
    assemble::state_of,
    cli::StatusArguments,
    remote_vault::{is_there, unpromised},
};

pub(super) fn run(
    status: &StatusArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let assembled = calls.assembled;
    let pending = assembled.executor.pending()?;
    let mut shown = Vec::new();
    // Both lists are in the order of the configuration.
    for (vault, served) in assembled.vaults.iter().zip(assembled.executor.vaults().iter()) {
        let state = state_of(&assembled.state, vault);
        // The state of a vault is found by its folder, so a folder that is gone has none.
        let mut servers: Vec<Value> = if is_there(vault) {
            RunningServer::all(&state)?.iter().filter_map(|facts| serde_json::from_str(facts).ok()).collect()
        } else {
            Vec::new()
        };
        // The oldest first, so that the list does not jump when a server is added.
        servers.sort_by_key(|server| server["started"].as_str().map(str::to_owned));
        let (lines, _) = served.log.tail(status.limit)?;
        let app = served.app.as_ref().map_or(Err(AppFault::SwitchedOff), |app| app.status(PATIENCE));
        // What a remote vault promises is known only from its answers.
        let is_known = is_there(vault) && (vault.remote.is_none() || app.is_ok());
        let capabilities = is_known.then(|| served.vault.capabilities());
        let meaning = if is_there(vault) { served.vault.kept_vectors() } else { None };
        let documents = if is_there(vault) { served.vault.kept_documents() } else { None };
        shown.push(ShownVault { vault, servers, lines, app, capabilities, meaning, documents });
    }
    if status.json {
        let vaults: Vec<Value> = shown
            .iter()
            .map(|ShownVault { vault, servers, lines, app, capabilities, meaning, documents }| {
                let calls: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
                // By name, since requests of all vaults are in one list.
                let waiting = pending.iter().filter(|pending| pending.vault == vault.name).count();
                json!({
                    "name": vault.name, "path": vault.path, "there": is_there(vault),
                    "servers": servers, "pendingApprovals": waiting, "lastCalls": calls, "app": app_facts(app),
                    "capabilities": capabilities.as_ref().map(shown_capabilities),
                    "meaning": meaning.as_ref().map(|kept| json!({
                        "model": kept.model, "notes": kept.notes, "pieces": kept.pieces, "notesCut": kept.cut,
                    })),
                    "documents": documents.map(|(read, failed)| json!({ "read": read, "failed": failed })),
                })
            })
            .collect();
        screen.json(&json!({ "vaults": vaults }))?;
        return Ok(CommandOutcome::Well);
    }
    for (number, ShownVault { vault, servers, lines, app, capabilities, meaning, documents }) in
        shown.iter().enumerate()
    {
        if number > 0 {
            writeln!(screen)?;
        }
        let (name, path) = (screen.style.strong(&one_line(&vault.name)), vault.path.display().to_string());
        let path = screen.style.faint(&one_line(&path));
        writeln!(screen, "{name}  {path}")?;
        if !is_there(vault) {
            let gone = screen.style.painted(TextPaint::Bad, "The folder is not there.");
            writeln!(screen, "  {gone}")?;
            continue;
        }
        print_servers(servers, screen)?;
        match (app_line(app), app) {
            (_, Err(AppFault::Unreachable)) if vault.remote.is_some() => {
                let line = "It does not answer, so every call is refused: lapidary doctor";
                writeln!(screen, "{}", screen.style.painted(TextPaint::Bad, line))?;
            }
            (Some(line), _) => writeln!(screen, "{line}")?,
            (None, _) => {}
        }
        if let Some(words) = capabilities.as_ref().and_then(unpromised) {
            writeln!(screen, "Not promised here: {words}.")?;
        }
        writeln!(screen, "Search by meaning: {}.", meaning_words(meaning.as_ref()))?;
        writeln!(screen, "Documents in the search: {}.", document_words(*documents))?;
        let waiting = pending.iter().filter(|pending| pending.vault == vault.name).count();
        if waiting > 0 {
            let words = format!("{waiting} pending approvals: {}", calls.command_in(&vault.name, "approvals"));
            let words = screen.style.painted(TextPaint::Warning, &words);
            writeln!(screen, "{words}")?;
        }
        if lines.is_empty() {
            writeln!(screen, "No calls yet.")?;
        } else {
            writeln!(screen)?;
            screen.heading("Last calls")?;
            let rows: Vec<Vec<TableCell>> = lines.iter().map(|line| log::row(line, false, &screen.time)).collect();
            screen.more_rows(&rows)?;
        }
    }
    Ok(CommandOutcome::Well)
}

/// A person waits for the answer.
const PATIENCE: Duration = Duration::from_secs(2);

struct ShownVault<'a> {
    vault: &'a ChosenVault,
    servers: Vec<Value>,
    lines: Vec<String>,
    app: Result<AppStatus, AppFault>,
    capabilities: Option<Capabilities>,
    meaning: Option<KeptVectors>,
    documents: Option<(usize, usize)>,
}

/// What is kept of documents, for people.
pub(super) fn document_words(kept: Option<(usize, usize)>) -> String {
    match kept {
        None => "off".to_owned(),
        Some((0, 0)) => "none is read yet; that begins with the first search".to_owned(),
        Some((read, 0)) => format!("{} read", counted(read, "document")),
        Some((read, failed)) => format!("{} read, {failed} that cannot be", counted(read, "document")),
    }
}

/// The search by meaning, for people.
pub(super) fn meaning_words(kept: Option<&KeptVectors>) -> String {
    match kept {
        None => "off".to_owned(),
        // A small vault keeps nothing: its vectors are made sooner than a file is opened.
        Some(kept) if kept.notes == 0 => {
            format!("model {}, vectors are made when needed", kept.model)
        }
        Some(kept) => {
            let cut = if kept.cut == 0 {
                String::new()
            } else {
                format!(", {} of them in part, as they are too long", kept.cut)
            };
            format!("model {}, vectors of {} are kept{cut}", kept.model, counted(kept.notes, "note"))
        }
    }
}

/// The Obsidian app, for programs.
fn app_facts(app: &Result<AppStatus, AppFault>) -> Value {
    match app {
        Ok(app) => json!({
            "status": if app.is_authenticated { "OK" } else { "api_key_rejected" },
            "obsidian": app.obsidian, "plugin": app.plugin,
        }),
        Err(AppFault::SwitchedOff) => json!({ "status": "off" }),
        Err(AppFault::NotSetUp | AppFault::PluginUnready | AppFault::KeyMissing) => json!({ "status": "not_set_up" }),
        Err(AppFault::PluginOff) => json!({ "status": "plugin_off" }),
        Err(fault) => {
            let kind = Reason::AppUnavailable { fault: *fault, need: AppNeed::ActiveNote }.kind();
            json!({ "status": kind.wire_code().id })
        }
    }
}

/// The same for people; nothing where no app is expected.
fn app_line(app: &Result<AppStatus, AppFault>) -> Option<String> {
    let version =
        |version: &Option<String>| version.as_deref().map_or(String::new(), |it| format!(" {}", one_line(it)));
    match app {
        Ok(app) if app.is_authenticated && app.is_lapidary => {
            Some("`lapidary serve --rest` answers in place of Obsidian.".to_owned())
        }
        Ok(app) if app.is_authenticated => {
            Some(format!("Obsidian{} answers, plugin{}.", version(&app.obsidian), version(&app.plugin)))
        }
        Ok(_) | Err(AppFault::KeyRejected) => {
            Some("Obsidian answers, but its plugin does not accept the key: lapidary doctor".to_owned())
        }
        Err(AppFault::SwitchedOff | AppFault::NotSetUp) => None,
        Err(AppFault::PluginOff) => Some(
            "The plugin Local REST API is switched off in Obsidian; it is needed for the open note and commands."
                .to_owned(),
        ),
        Err(AppFault::Unreachable) => Some("Obsidian is not running with this vault.".to_owned()),
        Err(_) => Some("Obsidian's plugin cannot be used: lapidary doctor".to_owned()),
    }
}

fn print_servers(servers: &[Value], screen: &mut Screen<'_>) -> Result<(), CommandFailure> {
    if servers.is_empty() {
        writeln!(screen, "No server is running on it.")?;
        return Ok(());
    }
    let row = |server: &Value| {
        let text = |name: &str| server[name].as_str().unwrap_or_default();
        vec![
            TableCell::from(server["pid"].as_u64().map(|pid| pid.to_string()).unwrap_or_default()).number(),
            TableCell::from(text("transport")),
            TableCell::from(format!("{:<10}", screen.time.ago(text("started")))),
            TableCell::from(text("version")),
            // A REST server may be encrypted or not, which its URL says.
            TableCell::from(server["url"].as_str().unwrap_or(text("address"))).name(),
        ]
    };
    let rows: Vec<Vec<TableCell>> = servers.iter().map(row).collect();
    screen.table(&["server", "over", "since", "version", "address"], &rows)?;
    Ok(())
}
