//! What is said when the Obsidian app is needed and does not help.

use serde_json::{Value, json};

use super::{OfferedTools, ReasonKind};
use crate::{
    app_bridge::{AppFault, AppNeed},
    quote::Quoted,
};

pub(super) fn kind(fault: AppFault, need: AppNeed) -> ReasonKind {
    match (fault, need) {
        // The engine has a separate HTTP server, so a fault there says nothing about the app.
        (_, AppNeed::Omnisearch) => ReasonKind::OmnisearchUnreachable,
        (
            AppFault::NotSetUp
            | AppFault::PluginOff
            | AppFault::PluginUnready
            | AppFault::KeyMissing
            | AppFault::SwitchedOff
            | AppFault::Unreachable
            | AppFault::NoAppThere,
            _,
        ) => ReasonKind::ObsidianUnreachable,
        (AppFault::CertificateRejected, _) => ReasonKind::CertificateRejected,
        (AppFault::KeyRejected, _) => ReasonKind::ApiKeyRejected,
        (AppFault::TimedOut, _) => ReasonKind::ObsidianTimeout,
        (AppFault::CommandsOffThere | AppFault::NotOffered | AppFault::Failing { .. }, _) => ReasonKind::ObsidianFailed,
    }
}

pub(super) fn message(fault: AppFault, need: AppNeed) -> String {
    let needed = match need {
        AppNeed::ActiveNote => "Only the Obsidian app knows which note is open",
        AppNeed::ListCommands => "Only the Obsidian app knows its commands",
        AppNeed::RunCommand => "Only the Obsidian app can run its commands",
        AppNeed::Omnisearch => "The engine of the plugin Omnisearch is part of the Obsidian app",
    };
    format!("{needed}, and {}.", why(fault, need))
}

fn why(fault: AppFault, need: AppNeed) -> String {
    match (fault, need) {
        // Omnisearch has its own HTTP server and does not need the plugin Local REST API.
        (AppFault::Unreachable | AppFault::NotSetUp, AppNeed::Omnisearch) => {
            "its HTTP server does not answer".to_owned()
        }
        (AppFault::TimedOut, AppNeed::RunCommand) => "it did not answer in time; the command may have run".to_owned(),
        (AppFault::NotSetUp, _) => "this vault has no plugin Local REST API to reach it by".to_owned(),
        (AppFault::PluginOff, _) => "the plugin Local REST API is switched off in this vault".to_owned(),
        (AppFault::PluginUnready, _) => {
            "the plugin Local REST API has no key or certificate in this vault yet".to_owned()
        }
        (AppFault::KeyMissing, _) => "OBSIDIAN_BASE_URL is set without OBSIDIAN_API_KEY".to_owned(),
        (AppFault::SwitchedOff, _) => "the owner has switched the connection to it off".to_owned(),
        (AppFault::Unreachable, _) => "it does not answer; it is not running, or not with this vault".to_owned(),
        (AppFault::CertificateRejected, _) => {
            "what answers at its address has another certificate than the plugin of this vault".to_owned()
        }
        (AppFault::KeyRejected, _) => "its plugin does not accept the key".to_owned(),
        (AppFault::TimedOut, _) => "it did not answer in time".to_owned(),
        (AppFault::NoAppThere, _) => "the server that has this vault runs without it".to_owned(),
        (AppFault::CommandsOffThere, _) => "the server that has this vault keeps them off".to_owned(),
        (AppFault::NotOffered, _) => "the version of its plugin cannot do this".to_owned(),
        (AppFault::Failing { status: Some(status) }, _) => format!("its plugin answered with the error {status}"),
        (AppFault::Failing { status: None }, _) => "its plugin answered with something unreadable".to_owned(),
    }
}

pub(super) fn data(fault: AppFault) -> Value {
    match fault {
        AppFault::Failing { status } => json!({ "status": status }),
        // Both may pass without anything being set up.
        AppFault::Unreachable | AppFault::TimedOut => json!({ "retryable": true }),
        _ => json!({}),
    }
}

pub(super) fn hint(fault: AppFault, need: AppNeed, offered: &OfferedTools<'_>) -> String {
    let instead = match need {
        AppNeed::ActiveNote => "Ask the user which note they mean and give its path",
        AppNeed::ListCommands | AppNeed::RunCommand => "Tell the user what you wanted to do in Obsidian",
        AppNeed::Omnisearch => "Leave out `engine` to search without the app",
    };
    let remedy = match (fault, need) {
        (AppFault::NotSetUp | AppFault::Unreachable, AppNeed::Omnisearch) => {
            "the user can start Obsidian and switch on the HTTP server in the settings of Omnisearch"
        }
        (AppFault::NotSetUp, _) => "the user can install and enable the plugin Local REST API in Obsidian",
        (AppFault::PluginOff, _) => {
            "the user can switch the plugin on in Obsidian: Settings, Community plugins, Local REST API"
        }
        (AppFault::PluginUnready, _) => "the user can start Obsidian once, in which the plugin makes them",
        (AppFault::KeyMissing, _) => "the owner can set OBSIDIAN_API_KEY to the key in the settings of the plugin",
        (AppFault::SwitchedOff, _) => "the owner can remove LAPIDARY_APP=off",
        (AppFault::Unreachable, _) => "the user can start Obsidian with this vault and the plugin Local REST API",
        (AppFault::CertificateRejected, _) => {
            "the owner can run `lapidary doctor`; another vault of Obsidian may have the port of this one"
        }
        (AppFault::KeyRejected, _) => "the owner can run `lapidary doctor`, or correct OBSIDIAN_API_KEY",
        (AppFault::TimedOut | AppFault::Failing { .. }, _) => "try again when Obsidian is idle",
        (AppFault::NoAppThere, _) => "the user can start Obsidian there with the plugin Local REST API",
        (AppFault::CommandsOffThere, _) => "the owner can set OBSIDIAN_ENABLE_COMMANDS=true there",
        (AppFault::NotOffered, _) => "the user can update the plugin Local REST API",
    };
    // A command that may have run must not be repeated without a look.
    if fault == AppFault::TimedOut && need == AppNeed::RunCommand {
        return "Ask the user whether it has run before you try again.".to_owned();
    }
    // Only a note that was to be named can be found by a search instead.
    let search = offered.first(&["obsidian_search_notes"]).filter(|_| need == AppNeed::ActiveNote);
    match search {
        Some(search) => format!("{instead} (`{search}` finds notes), or {remedy}."),
        None => format!("{instead}, or {remedy}."),
    }
}

pub(super) fn nearest_commands(nearest: &[Quoted<'_>], offered: &OfferedTools<'_>) -> String {
    let list = offered.first(&["obsidian_list_commands"]);
    let near: Vec<String> = nearest.iter().map(ToString::to_string).collect();
    match (near.is_empty(), list) {
        (false, _) => format!("Did you mean {}?", near.join(" or ")),
        (true, Some(list)) => format!("`{list}` shows the ids; `nameRegex` narrows them down."),
        (true, None) => "Ask the user for the id of the command.".to_owned(),
    }
}
