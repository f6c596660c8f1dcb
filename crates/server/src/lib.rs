//! How the world reaches Lapidary: command line, configuration, stdio and HTTP. The only room with rmcp and axum.

mod assemble;
mod cli;
mod commands;
mod config;
mod demo;
mod environment;
mod grants;
mod http;
mod instructions;
mod logging;
mod mcp;
mod stdio;

use std::process::ExitCode;

pub use config::{env_example, reference as configuration_reference};

/// Runs the program: 0 done, 1 failed, 2 wrong usage or configuration.
pub fn run() -> ExitCode {
    lapidary_tools::install_panic_hook();
    match cli::parse(environment::arguments()) {
        Ok(invocation) => commands::run(&invocation),
        // Knows whether it is help (stdout, 0) or wrong usage (stderr, 2).
        Err(usage) => usage.exit(),
    }
}
