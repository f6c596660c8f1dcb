//! The implementations of the subcommands.

mod approvals;
mod audit;
mod call;
mod checkpoints;
mod doctor;
mod explain;
mod greeting;
mod install;
mod owner;
mod progress;
mod query;
mod report;
mod search;
mod serve;
mod table;
mod terminal_style;
mod token;
mod tool_page;
mod tools;
mod vaults;

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use lapidary_auth::{AuthStoreError, PassphraseError};
use lapidary_tools::quote::{visible, visible_json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    assemble::{AssembledServer, ExecutorPurpose, assemble},
    cli::{self, Command, CommonFlags, CompletionArguments, Invocation, ToolsArguments},
    config::{self, Config, ConfigError, ConfigFiles, ConfigSources, LoadedConfig, Platform, VaultsConfig},
    environment::{ProcessEnvironment, RealDisk},
    logging,
};

use terminal_style::TerminalStyle;

/// How long the exit may wait for the index to be saved. Without it, only the next start is slower.
const SAVING: Duration = Duration::from_secs(2);

const EXIT_FAILED: u8 = 1;
const EXIT_MISCONFIGURED: u8 = 2;

/// A person started the program on a terminal without a word.
pub(crate) fn greet() -> ExitCode {
    let surroundings = ProcessEnvironment::of_process();
    let flags = CommonFlags::default();
    let vaults = config::known_vaults(&sources(&flags, &surroundings, false));
    let text = greeting::greeting(&vaults, TerminalStyle::of_output(&surroundings.environment));
    // A terminal that accepts no output has no reader.
    io::stdout().lock().write_all(text.as_bytes()).unwrap_or_default();
    ExitCode::SUCCESS
}

/// The commands that say what is built in, whatever the configuration.
fn built_in(command: &Command, surroundings: &ProcessEnvironment) -> Option<Result<CommandOutcome, CommandFailure>> {
    let style = TerminalStyle::of_output(&surroundings.environment);
    let mut out = io::stdout().lock();
    match command {
        Command::Explain(explain) => Some(explain::run(explain.reason.as_deref(), style, &mut out)),
        Command::Tools(ToolsArguments { name: Some(name), json }) => Some(tool_page::run(name, *json, style, &mut out)),
        Command::Completions(CompletionArguments { shell }) => {
            // Into memory first: the generator panics when a pipe is closed.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut cli::declaration(), "lapidary", &mut script);
            Some(out.write_all(&script).map(|()| CommandOutcome::Well).map_err(CommandFailure::Output))
        }
        _ => None,
    }
}

pub(crate) fn run(invocation: &Invocation) -> ExitCode {
    let surroundings = ProcessEnvironment::of_process();
    if let Some(result) = built_in(&invocation.command, &surroundings) {
        return ended(invocation, result);
    }
    // A configuration that cannot be used is what it is asked about.
    if let Command::Doctor(arguments) = &invocation.command
        && arguments.is_local()
    {
        let out = &mut io::stdout().lock();
        return ended(invocation, doctor::run_local(arguments, invocation, &surroundings, out));
    }
    let config = match configure(invocation, &surroundings) {
        Ok(LoadedConfig { config, warnings }) => {
            // Before the warnings, which go to the log.
            logging::start(&config.log);
            for warning in &warnings {
                tracing::warn!("{warning}");
            }
            config
        }
        Err(problem) => {
            report::error(&problem);
            return ExitCode::from(EXIT_MISCONFIGURED);
        }
    };
    // These need no open vault, and must work before there is one.
    match &invocation.command {
        Command::Token(word) => return ended(invocation, token::run(word, &config, &mut io::stdout().lock())),
        Command::Owner(word) => return ended(invocation, owner::run(word, &config)),
        Command::Doctor(arguments) => {
            let style = TerminalStyle::of_output(&surroundings.environment);
            return ended(invocation, doctor::run(arguments, &config, style, &mut io::stdout().lock()));
        }
        Command::Install(arguments) => {
            let out = &mut io::stdout().lock();
            return ended(invocation, install::install(arguments, &invocation.flags, &config, &surroundings, out));
        }
        Command::Uninstall(arguments) => {
            return ended(invocation, install::uninstall(arguments, &config, &surroundings, &mut io::stdout().lock()));
        }
        Command::Serve => warn_of_plain_folders(&config),
        _ => {}
    }
    // A pending request may have been made under any of them.
    let every_profile = matches!(invocation.command, Command::Approvals(_));
    // A command answers once and should be exact; a server answers at once and improves.
    let waits_for_index = !matches!(invocation.command, Command::Serve);
    let assembled = match assemble(&config, ExecutorPurpose { every_profile, waits_for_index }) {
        Ok(assembled) => assembled,
        Err(problem) => {
            report::error(&problem.to_string());
            return ExitCode::from(EXIT_MISCONFIGURED);
        }
    };
    ended(invocation, execute(&invocation.command, &config, &assembled))
}

fn ended(invocation: &Invocation, result: Result<CommandOutcome, CommandFailure>) -> ExitCode {
    match result {
        Ok(CommandOutcome::Well) => ExitCode::SUCCESS,
        Ok(CommandOutcome::Refused) => ExitCode::from(EXIT_FAILED),
        // The reader of our output has closed the pipe.
        Err(CommandFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            match invocation.command {
                // The log may be a file, where a service's owner looks for it.
                Command::Serve => tracing::error!("{failure}"),
                _ => report::error(&failure.to_string()),
            }
            ExitCode::from(if matches!(failure, CommandFailure::Misconfigured(_)) {
                EXIT_MISCONFIGURED
            } else {
                EXIT_FAILED
            })
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
    #[error("the passphrase: {0}")]
    Passphrase(#[from] PassphraseError),
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
        Command::Query(query) => query::run(query, assembled, &mut out),
        Command::Tools(listing) => tools::run(listing.json, assembled, &mut out),
        Command::Vaults(listing) => vaults::run(*listing, assembled, &mut out),
        Command::Audit(audit) => audit::run(*audit, assembled, &mut out),
        Command::Checkpoints(checkpoints) => checkpoints::run(checkpoints, assembled, &mut out),
        Command::Approvals(approvals) => approvals::run(approvals, assembled, &mut out),
        Command::Token(word) => token::run(word, config, &mut out),
        Command::Owner(word) => owner::run(word, config),
        // They need no executor and have returned before there is one.
        Command::Doctor(_)
        | Command::Install(_)
        | Command::Uninstall(_)
        | Command::Explain(_)
        | Command::Completions(_) => Ok(CommandOutcome::Well),
    }
}

fn sources<'a>(flags: &'a CommonFlags, surroundings: &'a ProcessEnvironment, needs_vault: bool) -> ConfigSources<'a> {
    ConfigSources {
        flags,
        environment: &surroundings.environment,
        working_folder: &surroundings.working_folder,
        home: surroundings.home.as_deref(),
        platform: Platform::current(),
        files: &RealDisk,
        needs_vault,
    }
}

pub(crate) fn configure(invocation: &Invocation, surroundings: &ProcessEnvironment) -> Result<LoadedConfig, String> {
    configure_with(invocation, surroundings, invocation.command.needs_vault())
}

fn configure_with(
    invocation: &Invocation,
    surroundings: &ProcessEnvironment,
    needs_vault: bool,
) -> Result<LoadedConfig, String> {
    let sources = sources(&invocation.flags, surroundings, needs_vault);
    let is_home = |folder: &Path| {
        let home = surroundings.home.as_deref().filter(|_| !invocation.flags.any_folder);
        home.is_some_and(|home| RealDisk::is_around(folder, home))
    };
    let loaded = config::load(&sources).map_err(|error| match &error {
        // The state is usually in the home folder, but to move it would be the wrong advice.
        ConfigError::StateInVault { vault, .. } if is_home(vault) => home_refused(vault),
        _ => error.to_string(),
    })?;
    match &loaded.config.vaults {
        VaultsConfig::Chosen(vaults) if !loaded.config.any_folder => {
            vaults.iter().find(|vault| is_home(&vault.path)).map_or(Ok(()), |vault| Err(home_refused(&vault.path)))?;
        }
        _ => {}
    }
    Ok(loaded)
}

/// A home folder or a disk is not a vault: keys, mail and the settings of every program would be open to the client.
fn home_refused(folder: &Path) -> String {
    format!(
        "{} contains your home folder, with keys, mail and the settings of every program; choose the folder of your notes, \
         or add --any-folder if a client may really read and change all of it",
        folder.display()
    )
}

/// Perhaps a wrong folder was chosen: Obsidian makes `.obsidian` in every vault that it opens.
fn warn_of_plain_folders(config: &Config) {
    let VaultsConfig::Chosen(vaults) = &config.vaults else { return };
    for vault in vaults.iter().filter(|vault| !RealDisk.is_folder(&vault.path.join(".obsidian"))) {
        tracing::warn!(
            "{} has no .obsidian, so Obsidian has never opened it as a vault; it is served all the same, with everything in it",
            vault.path.display()
        );
    }
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
