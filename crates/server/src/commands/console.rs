//! `lapidary console`: serves the console to the person at this computer.

use std::{
    io::{IsTerminal, Write},
    process::{Command, Stdio},
    sync::Arc,
};

use lapidary_config::Config;

use super::{CommandFailure, CommandOutcome, SAVING, call::OwnerCalls, report, screen::Screen};
use crate::{
    cli::ConsoleArguments,
    http::{self, OwnerAccess, SettingsAccess},
};

/// Serves until Ctrl+C.
pub(super) fn run(
    arguments: &ConsoleArguments,
    config: &Config,
    settings: SettingsAccess,
    OwnerCalls { assembled, hint }: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandFailure::Serving(error.to_string()))?;
    let executor = Arc::clone(&assembled.executor);
    let owner = OwnerAccess::new(assembled, config, settings, hint);
    let opened = |address: &str| {
        // Also for a program that reads it from a pipe, so it is written at once.
        let written = writeln!(screen, "{address}").and_then(|()| screen.flush());
        if written.is_err() {
            report::note("the link could not be printed");
        }
        report::note("open this link in a browser within a minute; it works once. Ctrl+C ends the console.");
        if !arguments.no_browser && std::io::stdout().is_terminal() {
            open_browser(address);
        }
    };
    let served = runtime.block_on(http::serve_console(executor, owner, &config.http, arguments.port, opened));
    assembled.executor.save_indexes(SAVING);
    // Not joined: a thread that waits for a dead disk never ends.
    runtime.shutdown_background();
    served.map(|()| CommandOutcome::Well).map_err(CommandFailure::Serving)
}

/// By the program that the system has for it. The link is printed as well, so nothing is lost if there is none.
fn open_browser(address: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started =
        Command::new(program).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if started.is_err() {
        report::note("no browser could be opened");
    }
}
