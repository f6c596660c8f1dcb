//! The Obsidian app of a vault: whether its plugin is installed, switched on and answers, and whether key and certificate fit.

use std::{path::Path, time::Duration};

use lapidary_config::{ChosenVault, Config};
use lapidary_tools::{AppFacts, AppFault};

use super::finding::Finding;
use crate::{
    app_bridge::PluginApp,
    plugin_settings::{InstalledPlugin, PluginSettings},
};

const APP: &str = "Obsidian app";
const WHAT: &str = "Local REST API plugin";
/// A person waits for the answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Looks at the plugin's files, and then for the app itself.
pub(super) fn look(vault: &ChosenVault, config: &Config, is_only: bool) -> Vec<Finding> {
    // The files first: they say why the app cannot answer better than a failed connection does.
    let (plugin, may_run) = plugin(&vault.path);
    let mut findings = vec![plugin];
    if !config.app.is_used {
        findings.push(Finding::ok(APP, "is not used: LAPIDARY_APP is off"));
    } else if may_run || config.app.url.is_some() {
        findings.push(app(&PluginApp::of_vault(vault, &config.app, is_only)));
    }
    findings
}

/// The plugin as files, and whether it could answer.
fn plugin(vault: &Path) -> (Finding, bool) {
    match InstalledPlugin::of_vault(vault) {
        // Not a warning. Almost everything works without the app.
        InstalledPlugin::Absent => {
            let unneeded = "is not installed; it is only needed for what Obsidian itself has to do";
            return (Finding::ok(WHAT, unneeded), false);
        }
        InstalledPlugin::Off => return (Finding::ok(WHAT, "is installed, but switched off in Obsidian"), false),
        InstalledPlugin::On => {}
    }
    match PluginSettings::of_vault(vault) {
        Ok(Some(PluginSettings { key: None, .. })) => {
            let advice = "switch the plugin off and on in Obsidian; it makes one then";
            (Finding::warning(WHAT, "has no key", advice), false)
        }
        Ok(Some(PluginSettings { certificate: None, is_plain: false, .. })) => {
            let advice = "reset the certificate in the plugin's settings; without one it cannot be recognised";
            (Finding::warning(WHAT, "has no certificate", advice), false)
        }
        Ok(Some(found)) => {
            let plain = if found.is_plain { format!(" and HTTP on port {}", found.plain_port) } else { String::new() };
            (Finding::ok(WHAT, format!("HTTPS on port {}{plain}", found.port)), true)
        }
        Ok(None) => {
            let advice = "start Obsidian once; the plugin makes its key then";
            (Finding::warning(WHAT, "has no settings yet", advice), false)
        }
        Err(problem) => {
            let advice = "reset the plugin's settings in Obsidian";
            (Finding::warning(WHAT, format!("data.json: {problem}"), advice), false)
        }
    }
}

/// What the app itself says. It need not run: everything but the few things it is needed for works.
fn app(app: &PluginApp) -> Finding {
    let status = match app.status(PATIENCE) {
        Ok(status) => status,
        Err(fault) => return unanswered(app, fault),
    };
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "of an unknown version".to_owned());
    let found = format!("answers: Obsidian {}, plugin {}", version(&status.obsidian), version(&status.plugin));
    if !status.is_authenticated {
        let advice = "remove OBSIDIAN_API_KEY, so that the key in the vault is used, or set it to the key in the plugin's settings";
        return Finding::warning(APP, format!("{found}, but the key does not fit"), advice);
    }
    Finding::ok(APP, found)
}

fn unanswered(app: &PluginApp, fault: AppFault) -> Finding {
    let at = app.connection_settings().map(|settings| format!(" at {}", settings.url)).unwrap_or_default();
    match fault {
        AppFault::NotSetUp => {
            let advice = "set OBSIDIAN_API_KEY and OBSIDIAN_BASE_URL, or install the plugin in this vault";
            Finding::warning(APP, "cannot be looked for: address and key are not both known", advice)
        }
        AppFault::PluginOff => Finding::ok(APP, "is not looked for: the plugin is switched off"),
        AppFault::PluginUnready => {
            let advice = "start Obsidian once with the plugin switched on; it makes them then";
            Finding::warning(APP, "cannot be looked for: the plugin has no key or certificate", advice)
        }
        AppFault::KeyMissing => {
            let advice = "set OBSIDIAN_API_KEY to the key in the settings of the plugin";
            Finding::warning(APP, "cannot be asked: OBSIDIAN_BASE_URL is set without a key", advice)
        }
        AppFault::SwitchedOff => Finding::ok(APP, "is not used: LAPIDARY_APP is off"),
        // Not running is normal, so it is not a fault.
        AppFault::Unreachable => {
            Finding::ok(APP, format!("does not answer{at}; start it for the open note, opening notes and commands"))
        }
        AppFault::CertificateRejected => {
            let advice = "another vault of Obsidian may have this port: give each its own in the plugin's settings, or \
                          restart Obsidian if the certificate was renewed";
            Finding::warning(APP, format!("has another certificate{at} than this vault's plugin"), advice)
        }
        AppFault::KeyRejected => {
            let advice = "remove OBSIDIAN_API_KEY, so that the key in the vault is used, or correct it";
            Finding::warning(APP, format!("does not accept the key{at}"), advice)
        }
        AppFault::TimedOut => Finding::warning(
            APP,
            format!("does not answer in time{at}"),
            "wait until Obsidian has loaded the vault, or restart it",
        ),
        AppFault::NoAppThere | AppFault::CommandsOffThere => Finding::ok(APP, format!("is not behind the server{at}")),
        AppFault::NotOffered | AppFault::Failing { .. } => {
            let advice = "check in the plugin's settings that this port is its own, and update the plugin";
            Finding::warning(APP, format!("what answers{at} is not the Local REST API"), advice)
        }
    }
}
