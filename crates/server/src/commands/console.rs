//! `lapidary console`: serves the console to the person at this computer.

use std::{
    io::{IsTerminal, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use lapidary_config::{ChosenVault, Config};
use lapidary_pipeline::Clock;
use lapidary_vault::store::{RunningServer, write_private_page};
use serde_json::Value;

use super::{CommandFailure, CommandOutcome, SAVING, call::OwnerCalls, report, screen::Screen};
use crate::{
    assemble::{AssembledServer, state_of},
    cli::ConsoleArguments,
    http::{self, OwnerAccess, SettingsAccess},
};

/// Opens the console of a server that runs already, or serves one until Ctrl+C.
pub(super) fn run(
    arguments: &ConsoleArguments,
    config: &Config,
    settings: SettingsAccess,
    OwnerCalls { assembled, hint }: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    // A port is asked for by who wants one of their own.
    if arguments.port == 0
        && let Some(origin) = running_console(assembled)
    {
        let link = http::console_link(&assembled.auth, &origin, Clock::system()).map_err(CommandFailure::Serving)?;
        writeln!(screen, "{link}")?;
        report::note(
            "this is the console of the server that runs already; open the link within a minute, it works once.",
        );
        // A browser is opened only for a person at a terminal, never for a script that reads the link.
        if !arguments.no_browser && std::io::stdout().is_terminal() {
            open_browser(&assembled.state, &link);
        }
        return Ok(CommandOutcome::Well);
    }
    // Several threads, because a page may wait for an approval while another one is loaded.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandFailure::Serving(error.to_string()))?;
    let executor = Arc::clone(&assembled.executor);
    let owner = OwnerAccess::new(assembled, config, settings, hint);
    let opened = |address: &str| {
        // Also for a program that reads it from a pipe, so it is written at once.
        // A reader that has gone away does not end the console: the browser may be open already.
        let written = writeln!(screen, "{address}").and_then(|()| screen.flush());
        if written.is_err() {
            report::note("the link could not be printed");
        }
        report::note("open this link in a browser within a minute; it works once. Ctrl+C ends the console.");
        if !arguments.no_browser && std::io::stdout().is_terminal() {
            open_browser(&assembled.state, address);
        }
    };
    let served = runtime.block_on(http::serve_console(executor, owner, &config.http, arguments.port, opened));
    assembled.executor.save_indexes(SAVING);
    // Not joined: a thread that waits for a dead disk never ends.
    runtime.shutdown_background();
    served.map(|()| CommandOutcome::Well).map_err(CommandFailure::Serving)
}

/// The console of a server of this user that serves every vault that was asked for. Facts are only read from folders that
/// no other user can write to.
fn running_console(assembled: &AssembledServer) -> Option<String> {
    let consoles = |vault: &ChosenVault| -> Vec<String> {
        let state = state_of(&assembled.state, vault);
        // A state folder that cannot be read knows of no server.
        let running = RunningServer::all(&state).unwrap_or_default();
        let facts = running.iter().filter_map(|facts| serde_json::from_str::<Value>(facts).ok());
        facts.filter_map(|facts| Some(facts["console"].as_str()?.to_owned())).collect()
    };
    let mut vaults = assembled.vaults.iter().map(consoles);
    let first = vaults.next()?;
    let rest: Vec<Vec<String>> = vaults.collect();
    // One console has to serve all of them, or a page would lack a vault that was asked for.
    first.into_iter().find(|console| rest.iter().all(|others| others.contains(console)))
}

/// By the program that the system has for it. The link is printed as well, so nothing is lost if there is none.
///
/// Every user of the computer can read the command lines of programs, so the browser gets a page that leads to the link, and
/// that only its owner can read.
fn open_browser(state: &Path, link: &str) {
    let page =
        format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={link}\"><title>Lapidary</title>\n");
    let page = match write_private_page(state, &page) {
        Ok(page) => page,
        Err(error) => {
            report::note(&format!("no browser was opened: {error}"));
            return;
        }
    };
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started =
        Command::new(program).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if started.is_err() {
        report::note("no browser could be opened");
    }
}
