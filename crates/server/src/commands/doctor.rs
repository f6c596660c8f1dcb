//! `lapidary doctor`: finds out what is wrong, and says what to do about it.

mod app_checks;
mod client_checks;
mod configuration_checks;
mod distant_vault;
mod finding;
mod health_check;
mod local_report;
mod obsidian_checks;
mod port_check;
mod remote_address;
mod remote_checks;
mod server_checks;
mod sign_in_checks;
mod state_checks;
mod vault_checks;

use std::io::Write;

use lapidary_config::{ChosenVault, Config, LoadedConfig, VaultsConfig};
use serde_json::json;

use self::{
    finding::{Finding, FindingLevel},
    local_report::{LocalReport, print_findings},
    remote_address::RemoteAddress,
    remote_checks::RemoteVisitor,
};
use super::{
    CommandFailure, CommandOutcome, command_hint::CommandHint, install::ClientSetup, print_json, progress, sources,
    status, terminal_style::TerminalStyle,
};
use crate::{
    assemble::{ExecutorPurpose, assemble},
    cli::{DoctorArguments, Invocation},
    environment::ProcessEnvironment,
    remote_vault::is_there,
};

impl DoctorArguments {
    /// Whether this computer is looked at, and not a server.
    pub(super) fn is_local(&self) -> bool {
        self.remote.is_none() && !self.health
    }
}

/// Looks at a server.
pub(super) fn run(
    arguments: &DoctorArguments,
    config: &Config,
    style: TerminalStyle,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    if arguments.health {
        return health_check::run(config, out);
    }
    let given = arguments.remote.clone().flatten();
    // The address that was typed wins over the configured one: another server may be asked about.
    let url = given.or_else(|| config.http.public_url.as_ref().map(|url| url.origin.clone()));
    let Some(url) = url else {
        let problem = "say which address to ask: lapidary doctor --remote https://vault.example.com";
        return Err(CommandFailure::Misconfigured(problem.to_owned()));
    };
    let address = RemoteAddress::parse(&url, &config.http.endpoint_path).map_err(CommandFailure::Misconfigured)?;
    let visitor = RemoteVisitor::new(address, config.client_token.clone());
    let findings = progress::named("looking", || visitor.findings());
    let is_well = !findings.iter().any(|finding| finding.level == FindingLevel::Failure);
    if arguments.json {
        let findings: Vec<_> = findings.iter().map(Finding::json).collect();
        print_json(out, &json!({ "address": url, "well": is_well, "findings": findings }))?;
    } else {
        print_findings(&findings, style, out)?;
        let said = if is_well { "nothing is wrong" } else { "something is wrong: see the lines with ✗" };
        writeln!(out, "\n{said}")?;
    }
    Ok(if is_well { CommandOutcome::Well } else { CommandOutcome::Refused })
}

/// Looks at this computer. A configuration that cannot be used is a finding, and the rest is looked at all the same.
pub(super) fn run_local(
    arguments: &DoctorArguments,
    invocation: &Invocation,
    hint: &CommandHint,
    surroundings: &ProcessEnvironment,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let style = TerminalStyle::of_output(&surroundings.environment);
    // A large vault takes seconds to look at.
    let report = progress::named("looking", || look(invocation, hint, surroundings));
    report.print(arguments.json, style, out)?;
    Ok(if report.is_well() { CommandOutcome::Well } else { CommandOutcome::Refused })
}

fn look(invocation: &Invocation, hint: &CommandHint, surroundings: &ProcessEnvironment) -> LocalReport {
    let mut report = LocalReport::default();
    let loaded = super::configure_with(invocation, surroundings, true);
    let mut settings = Vec::new();
    let LoadedConfig { config, warnings } = match loaded {
        Ok(loaded) => loaded,
        Err(problem) => {
            settings.push(Finding::failure("configuration", problem, "correct it; no command works with it as it is"));
            // Without vaults, as far as the rest can be loaded.
            // Everything except the vaults is still worth a look, such as the state folder and the clients.
            let rest = super::configure_with(invocation, surroundings, false);
            rest.unwrap_or_else(|_| LoadedConfig::defaults())
        }
    };
    // Looked at even if they cannot be loaded: where each value comes from helps most when one of them is wrong.
    let all = sources(&invocation.flags, surroundings, false);
    settings.extend(configuration_checks::look(&all, &warnings));
    settings.extend(configuration_checks::unusable_authorities(config.authorities.as_deref()));
    let vaults: &[ChosenVault] = match &config.vaults {
        VaultsConfig::Chosen(vaults) => vaults,
        VaultsConfig::Demo => &[],
    };
    let known = lapidary_config::known_vaults(&all);
    for vault in vaults {
        let mut findings = match &vault.remote {
            Some(remote) => distant_vault::look(vault, remote, &config),
            None => {
                let mut findings = vault_checks::look(vault, &config);
                findings.extend(obsidian_checks::look(vault, &known));
                findings.extend(app_checks::look(vault, &config, vaults.len() == 1));
                findings
            }
        };
        findings.extend(state_checks::look_at_vault(vault, &config.state_dir, hint));
        report.add(format!("Vault {}", vault.name), findings);
    }
    let (rules, search) = served(&config, vaults);
    report.add("Rules", rules);
    report.add("Search", search);
    report.add("Other servers", server_checks::look(&config, vaults));
    report.add("Configuration", settings);
    // Empty if even the place of the state could not be found out.
    if !config.state_dir.as_os_str().is_empty() {
        report.add("State", state_checks::look(&config));
    }
    if let Ok(setup) = ClientSetup::new(surroundings) {
        report.add("Clients", client_checks::look(&setup, vaults, hint));
    }
    report.add("HTTP", vec![port_check::look(&config)]);
    report
}

/// Whether a server would start, and which rules match nothing; and what its search has.
fn served(config: &Config, vaults: &[ChosenVault]) -> (Vec<Finding>, Vec<Finding>) {
    if vaults.is_empty() {
        return (Vec::new(), Vec::new());
    }
    // As the server does it, and not a second reading of the rules that could be of another opinion.
    let assembled = match assemble(config, ExecutorPurpose { every_profile: false, waits_for_index: true }) {
        Ok(assembled) => assembled,
        Err(problem) => {
            let advice = "correct it; the server does not start with it";
            return (vec![Finding::failure("rules", problem.to_string(), advice)], Vec::new());
        }
    };
    let executor = &assembled.executor;
    // Rule files are on the vault's disk, which may hang.
    let in_force = executor.rules_in_force(executor.grant(), std::time::Duration::from_secs(5));
    let mut findings: Vec<Finding> = in_force
        .closed
        .iter()
        .map(|vault| {
            let advice = "correct .lapidaryignore and .lapidaryprotect; until then the vault is closed";
            Finding::failure("rules", format!("the rule files of {vault} cannot be read"), advice)
        })
        .collect();
    findings.extend(
        executor
            .rules_without_effect()
            .into_iter()
            .map(|said| Finding::warning("rules", said, "correct it: a closed path that is misspelt is open")),
    );
    if findings.is_empty() {
        let access = &config.access;
        let has_paths = access.read_paths.is_some() || access.write_paths.is_some() || access.deny_paths.is_some();
        let any = has_paths || in_force.ignore || in_force.protect || !config.approval.rules.is_empty();
        let found = if any { "every rule matches something" } else { "none are set" };
        findings.push(Finding::ok("rules", found));
    }
    let search = executor.vaults().iter().zip(vaults).filter(|(_, vault)| is_there(vault)).flat_map(|(served, _)| {
        let name = served.vault.name();
        let kept = served.vault.kept_vectors();
        [
            Finding::ok("meaning", format!("{name}: {}", status::meaning_words(kept.as_ref()))),
            Finding::ok("documents", format!("{name}: {}", status::document_words(served.vault.kept_documents()))),
        ]
    });
    let search = search.collect();
    (findings, search)
}
