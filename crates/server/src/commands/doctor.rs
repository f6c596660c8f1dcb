//! `lapidary doctor`: finds out what is wrong, and says what to do about it.

mod health_check;
mod remote_address;
mod remote_checks;
mod remote_finding;
mod sign_in_checks;

use std::io::Write;

use serde_json::json;

use self::{
    remote_address::RemoteAddress,
    remote_checks::RemoteVisitor,
    remote_finding::{FindingKind, RemoteFinding},
};
use super::{CommandFailure, CommandOutcome, print_json, printable};
use crate::{cli::DoctorArguments, config::Config};

pub(super) fn run(
    arguments: &DoctorArguments,
    config: &Config,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    if arguments.health {
        return health_check::run(config, out);
    }
    let given = arguments.remote.clone().flatten();
    let url = given.or_else(|| config.http.public_url.as_ref().map(|url| url.origin.clone()));
    let Some(url) = url else {
        let problem = "say which address to ask: lapidary doctor --remote https://vault.example.com";
        return Err(CommandFailure::Misconfigured(problem.to_owned()));
    };
    let address = RemoteAddress::parse(&url, &config.http.endpoint_path).map_err(CommandFailure::Misconfigured)?;
    let findings = RemoteVisitor::new(address, config.client_token.clone()).look();
    let is_well = !findings.iter().any(|finding| finding.kind == FindingKind::Wrong);
    if arguments.json {
        let findings: Vec<_> = findings.iter().map(RemoteFinding::json).collect();
        print_json(out, &json!({ "address": url, "well": is_well, "findings": findings }))?;
    } else {
        for finding in &findings {
            writeln!(out, "{}", printable(&finding.line()))?;
            if let Some(advice) = &finding.advice {
                writeln!(out, "        → {}", printable(advice))?;
            }
        }
        let said = if is_well { "nothing is wrong" } else { "something is wrong: see the lines with ✗" };
        writeln!(out, "\n{said}")?;
    }
    Ok(if is_well { CommandOutcome::Well } else { CommandOutcome::Refused })
}
