//! The implementations of the subcommands.

mod approvals;
mod audit;
mod call;
mod checkpoints;
mod progress;
mod report;
mod search;
mod serve;
mod table;
mod token;
mod tools;
mod vaults;

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::Duration,
};

use lapidary_auth::AuthStoreError;
use lapidary_tools::quote::{visible, visible_json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    assemble::{AssembledServer, ExecutorPurpose, assemble},
    cli::{Command, Invocation},
    config::{self, Config, ConfigSources, LoadedConfig, Platform},
    environment::{ProcessEnvironment, RealDisk},
    logging,
};

/// How long the exit may wait for the index to be saved. Without it, only the next start is slower.
const SAVING: Duration = Duration::from_secs(2);

const FAILED: u8 = 1;
const MISCONFIGURED: u8 = 2;

pub(crate) fn run(invocation: &Invocation) -> ExitCode {
    let config = match configure(invocation, &ProcessEnvironment::look()) {
        Ok(LoadedConfig { config, warnings }) => {
            logging::start(&config.log);
            for warning in &warnings {
                tracing::warn!("{warning}");
            }
            config
        }
        Err(problem) => {
            report::error(&problem);
            return ExitCode::from(MISCONFIGURED);
        }
    };
    if let Command::Token(word) = &invocation.command {
        return ended(invocation, token::run(word, &config, &mut io::stdout().lock()));
    }
    // A pending request may have been made under any of them.
    let every_profile = matches!(invocation.command, Command::Approvals(_));
    let waits_for_index = !matches!(invocation.command, Command::Serve);
    let assembled = match assemble(&config, ExecutorPurpose { every_profile, waits_for_index }) {
        Ok(assembled) => assembled,
        Err(problem) => {
            report::error(&problem.to_string());
            return ExitCode::from(MISCONFIGURED);
        }
    };
    ended(invocation, execute(&invocation.command, &config, &assembled))
}

fn ended(invocation: &Invocation, result: Result<CommandOutcome, CommandFailure>) -> ExitCode {
    match result {
        Ok(CommandOutcome::Well) => ExitCode::SUCCESS,
        Ok(CommandOutcome::Refused) => ExitCode::from(FAILED),
        // The reader of our output has closed the pipe.
        Err(CommandFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            match invocation.command {
                Command::Serve => tracing::error!("{failure}"),
                _ => report::error(&failure.to_string()),
            }
            ExitCode::from(if matches!(failure, CommandFailure::Misconfigured(_)) { MISCONFIGURED } else { FAILED })
        }
    }
}

/// Serves one client on a pair of streams, in a process that has other things to do: no log is started, no signal is
/// caught and the process does not end with it.
pub(crate) fn serve_streams<R, W>(
    invocation: &Invocation,
    surroundings: &ProcessEnvironment,
    input: R,
    output: W,
) -> Result<(), String>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let LoadedConfig { config, .. } = configure(invocation, surroundings)?;
    let purpose = ExecutorPurpose { every_profile: false, waits_for_index: false };
    let assembled = assemble(&config, purpose).map_err(|problem| problem.to_string())?;
    serve::run_streams(&config, &assembled, input, output)
}

/// The outcome of a command that did its work.
pub(crate) enum CommandOutcome {
    Well,
    /// The tool refused; its answer is on stdout.
    Refused,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandFailure {
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    #[error("{0}")]
    Serving(String),
    #[error("standard input: {0}")]
    Input(String),
    #[error("{0}")]
    Misconfigured(String),
    #[error("{0}")]
    Tokens(#[from] AuthStoreError),
}

fn execute(command: &Command, config: &Config, assembled: &AssembledServer) -> Result<CommandOutcome, CommandFailure> {
    let mut out = io::stdout().lock();
    match command {
        // The lock is released: stdout belongs to the protocol now.
        Command::Serve => {
            drop(out);
            serve::run(config, assembled)
        }
        Command::Call(call) => call::run(call, assembled, &mut out),
        Command::Search(search) => search::run(search, assembled, &mut out),
        Command::Tools(listing) => tools::run(*listing, assembled, &mut out),
        Command::Vaults(listing) => vaults::run(*listing, assembled, &mut out),
        Command::Audit(audit) => audit::run(*audit, assembled, &mut out),
        Command::Checkpoints(checkpoints) => checkpoints::run(checkpoints, assembled, &mut out),
        Command::Approvals(approvals) => approvals::run(approvals, assembled, &mut out),
        Command::Token(word) => token::run(word, config, &mut out),
    }
}

fn configure(invocation: &Invocation, surroundings: &ProcessEnvironment) -> Result<LoadedConfig, String> {
    let sources = ConfigSources {
        flags: &invocation.flags,
        environment: &surroundings.environment,
        working_folder: &surroundings.working_folder,
        home: surroundings.home.as_deref(),
        platform: Platform::current(),
        files: &RealDisk,
        needs_vault: invocation.command.needs_vault(),
    };
    config::load(&sources).map_err(|error| error.to_string())
}

/// Text from notes and callers in a form that is safe for a terminal: codes that move the cursor or hide text are made
/// visible.
fn printable(text: &str) -> String {
    visible(text).into_owned()
}

fn print_json(out: &mut dyn Write, value: &serde_json::Value) -> io::Result<()> {
    writeln!(out, "{}", json_for(&format!("{value:#}"), io::stdout().is_terminal()))
}

/// A program gets the JSON unchanged; at a terminal all its characters are made visible, with the same value.
fn json_for(json: &str, is_terminal: bool) -> Cow<'_, str> {
    if is_terminal { visible_json(json) } else { Cow::Borrowed(json) }
}
