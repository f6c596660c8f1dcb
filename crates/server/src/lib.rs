//! The interfaces of Lapidary: command line, stdio and HTTP. The only crate with rmcp and axum.

mod access_words;
mod app_bridge;
mod assemble;
mod cli;
mod commands;
mod completing;
mod demo;
mod environment;
mod found_words;
mod grants;
mod http;
mod instructions;
mod logged_call;
mod logging;
mod mcp;
mod message_price;
mod models;
mod other_servers;
mod plugin_settings;
mod public_addresses;
mod query_answer;
mod remote_vault;
mod stdio;
mod tool_standing;
mod trusted_roots;
mod web_fetcher;

use std::{collections::BTreeMap, ffi::OsString, io::IsTerminal, path::PathBuf, process::ExitCode};

use tokio::io::{AsyncRead, AsyncWrite};

pub use lapidary_config::{env_example, reference as configuration_reference};

/// Runs the program: 0 done, 1 failed, 2 wrong usage or configuration.
pub fn run() -> ExitCode {
    // The process that decodes attachments does nothing else, and knows nothing.
    if environment::arguments().nth(1).is_some_and(|argument| argument == lapidary_media::CHILD_COMMAND) {
        return lapidary_media::run_child();
    }
    assemble::can_start_itself();
    // Before there are other threads.
    lapidary_vault::store::bound_kept_memory();
    lapidary_tools::install_panic_hook();
    match completing::answered() {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(usage) => usage.exit(),
    }
    if environment::arguments().count() <= 1 && std::io::stdin().is_terminal() {
        return commands::greet();
    }
    match cli::parse(environment::arguments()) {
        Ok(invocation) => commands::run(&invocation),
        // Help, for standard output.
        Err(usage) if !usage.use_stderr() => usage.exit(),
        Err(usage) => commands::misused(&cli::visibly(&usage, environment::arguments())),
    }
}

/// The declaration of the command line, for the man page.
#[must_use]
pub fn command_declaration() -> clap::Command {
    cli::declaration()
}

/// Serves one client on a pair of byte streams, with the arguments and the environment of a process that is not there:
/// for tests and for programs that hold the server in themselves. Returns when the input has ended.
///
/// # Errors
///
/// Wrong usage or configuration, in the words of the command line.
pub fn serve_streams<R, W>(
    arguments: impl IntoIterator<Item = OsString>,
    environment: BTreeMap<String, String>,
    working_folder: PathBuf,
    input: R,
    output: W,
) -> Result<(), String>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let name = OsString::from("lapidary");
    let invocation = cli::parse(std::iter::once(name).chain(arguments)).map_err(|usage| usage.to_string())?;
    let surroundings = environment::ProcessEnvironment::new(environment, working_folder);
    commands::serve_streams(&invocation, &surroundings, input, output)
}
