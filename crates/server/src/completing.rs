//! What shells complete: notes, vaults, tools, reasons and clients. The shell asks `lapidary` itself at each press of Tab.

use std::ffi::{OsStr, OsString};

use clap_complete::{
    CompleteEnv, Shell,
    engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate},
    env::Shells,
};
use lapidary_clients::CLIENTS;
use lapidary_config::CommonFlags;
use lapidary_tools::{ReasonKind, TOOLS, quote::one_line};

use crate::{
    cli::{self},
    commands,
    environment::{self, ProcessEnvironment},
};

/// Tells the program that a shell asks. Not one of our settings: it is not set by hand.
const VARIABLE: &str = "_LAPIDARY_COMPLETE";

/// Answers a shell, if one asks; then there is nothing else to do.
pub(crate) fn answered() -> Result<bool, clap::Error> {
    // Relative paths are completed from where the shell is.
    let folder = ProcessEnvironment::of_process().working_folder;
    CompleteEnv::with_factory(cli::declaration).var(VARIABLE).try_complete(environment::arguments(), Some(&folder))
}

/// What a shell has to read to ask us.
pub(crate) fn registration(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    if let Some(completer) = shells.completer(&shell.to_string()) {
        // Writing into memory cannot fail.
        completer.write_registration(VARIABLE, "lapidary", "lapidary", "lapidary", &mut script).unwrap_or_default();
    }
    // Two shells need more than what clap writes; each file says why.
    match shell {
        Shell::Bash => script.extend_from_slice(include_bytes!("completing/words.bash")),
        Shell::Zsh => script.extend_from_slice(include_bytes!("completing/first.zsh")),
        _ => {}
    }
    script
}

/// Paths of notes in the vault that the command line names so far.
pub(crate) fn notes() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        // Bash hands on what is typed with its quotes.
        let typed = typed.to_string_lossy().replace(['\\', '"', '\''], "");
        candidates(commands::completed_notes(&flags(environment::arguments()), &typed))
    })
}

/// Vaults that the configuration or Obsidian knows, and folders.
pub(crate) fn vaults() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let start = typed.to_string_lossy().into_owned();
        let known = commands::known_vault_names(&flags(environment::arguments()));
        // Names before folders: a known vault is the likelier answer.
        let mut found = candidates(known.into_iter().filter(|name| name.starts_with(&start)).collect());
        found.extend(clap_complete::engine::ValueCompleter::complete(
            &clap_complete::engine::PathCompleter::dir(),
            typed,
        ));
        found
    })
}

/// Names of recipes in the vault that the command line names so far.
pub(crate) fn recipes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(commands::completed_recipes(&flags(environment::arguments()))))
}

pub(crate) fn tools() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(TOOLS.iter().map(|tool| tool.spec().name().to_owned()).collect()))
}

pub(crate) fn reasons() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(ReasonKind::ALL.iter().map(|kind| kind.wire_code().id.to_owned()).collect()))
}

pub(crate) fn clients() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(CLIENTS.iter().map(|client| client.name.to_owned()).collect()))
}

/// A name with control characters cannot be completed: a shell would print it.
fn candidates(names: Vec<String>) -> Vec<CompletionCandidate> {
    names.into_iter().filter(|name| one_line(name) == *name).map(CompletionCandidate::new).collect()
}

/// The vault as far as it is named in what is typed so far, which need not be a whole command.
fn flags(arguments: impl Iterator<Item = OsString>) -> CommonFlags {
    let mut flags = CommonFlags::default();
    // Before `--` is the question of the shell, behind it what is typed.
    let mut words = arguments.skip_while(|word| word != "--").skip(1).filter_map(|word| word.into_string().ok());
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            // `--vault=x` and `--vault x` are both typed.
            None => (word, None),
        };
        match name.as_str() {
            "--demo" => flags.demo = true,
            "--vault" => flags.vaults.extend(value.or_else(|| words.next())),
            "--config" => flags.config = value.or_else(|| words.next()),
            _ => {}
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vault_is_known_from_what_is_typed_so_far() {
        let line = "lapidary -- lapidary --vault=a read --config c.toml --vault b Ro";
        let flags = flags(line.split(' ').map(OsString::from));
        assert_eq!((flags.vaults, flags.config), (vec!["a".to_owned(), "b".to_owned()], Some("c.toml".to_owned())));
    }

    #[test]
    fn every_shell_has_a_script_and_hostile_names_are_left_out() {
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            assert!(String::from_utf8(registration(shell)).unwrap().contains(VARIABLE), "{shell}");
        }
        let kept = candidates(vec!["a b.md".to_owned(), "a\u{1b}[2J.md".to_owned(), "a\nb".to_owned()]);
        assert_eq!(kept.iter().map(CompletionCandidate::get_value).collect::<Vec<_>>(), ["a b.md"]);
    }
}
