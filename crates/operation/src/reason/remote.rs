//! What is said of a vault that is reached through Obsidian, when Obsidian does not help.

use lapidary_vault::store::RemoteFault;
use serde_json::{Value, json};

use super::ReasonKind;

pub(super) fn kind(fault: RemoteFault) -> ReasonKind {
    match fault {
        RemoteFault::Unreachable => ReasonKind::ObsidianUnreachable,
        RemoteFault::CertificateRejected => ReasonKind::CertificateRejected,
        RemoteFault::KeyRejected => ReasonKind::ApiKeyRejected,
        RemoteFault::TimedOut => ReasonKind::ObsidianTimeout,
        RemoteFault::Failing { .. } | RemoteFault::NoEmptyFolders => ReasonKind::ObsidianFailed,
    }
}

pub(super) fn message(fault: RemoteFault) -> String {
    let why = match fault {
        RemoteFault::Unreachable => "it does not answer",
        RemoteFault::CertificateRejected => "what answers at its address has another certificate than is expected",
        RemoteFault::KeyRejected => "its plugin Local REST API does not accept the key",
        RemoteFault::TimedOut => "it did not answer in time",
        RemoteFault::Failing { status: Some(status) } => return failed(&format!("the error {status}")),
        RemoteFault::Failing { status: None } => return failed("something unreadable"),
        RemoteFault::NoEmptyFolders => {
            return "This vault is reached through Obsidian, whose plugin cannot make an empty folder.".to_owned();
        }
    };
    format!("This vault is reached through Obsidian, and {why}.")
}

fn failed(with: &str) -> String {
    format!("This vault is reached through Obsidian, whose plugin answered with {with}.")
}

pub(super) fn data(fault: RemoteFault) -> Value {
    match fault {
        RemoteFault::Unreachable | RemoteFault::TimedOut => json!({ "retryable": true }),
        RemoteFault::Failing { status } => json!({ "status": status }),
        // Trying again gives the same until the owner changes something.
        RemoteFault::CertificateRejected | RemoteFault::KeyRejected | RemoteFault::NoEmptyFolders => json!({}),
    }
}

pub(super) fn hint(fault: RemoteFault) -> &'static str {
    match fault {
        RemoteFault::Unreachable => {
            "Nothing was changed. Ask the user to open the vault in Obsidian with the plugin Local REST API enabled; the owner \
             checks OBSIDIAN_BASE_URL."
        }
        RemoteFault::CertificateRejected => {
            "Nothing was changed. The owner names the plugin's certificate as `certificate` of the vault in lapidary.toml, or sets \
             OBSIDIAN_VERIFY_SSL=false if Obsidian runs on this computer."
        }
        RemoteFault::KeyRejected => {
            "Nothing was changed. The owner copies the key from the settings of the plugin to OBSIDIAN_API_KEY."
        }
        RemoteFault::TimedOut => "Nothing was changed. Try again when Obsidian is idle.",
        RemoteFault::Failing { .. } => "Nothing was changed. Try again; the owner may have to update the plugin.",
        RemoteFault::NoEmptyFolders => "Write a note into it instead: the folder comes with its first note.",
    }
}
