//! `lapidary owner`: the passphrase of the person whose vaults are served.

use std::io::{self, BufRead, IsTerminal};

use lapidary_auth::{AuthStore, SecretText, UnixSeconds};
use lapidary_config::Config;
use lapidary_pipeline::Clock;

use super::{CommandFailure, CommandOutcome, report};
use crate::{assemble::auth_store, cli::OwnerWord};

/// Five letters or digits each, about 5 bits a letter: 100 bits in all.
const GROUPS: usize = 4;
const GROUP_LETTERS: usize = 5;
/// Without those that look alike.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

pub(super) fn run(word: &OwnerWord, config: &Config) -> Result<CommandOutcome, CommandFailure> {
    let OwnerWord::SetPassphrase { .. } = word;
    let store = auth_store(config.state_dir.clone());
    let passphrase = if io::stdin().is_terminal() { typed()? } else { line(&mut io::stdin().lock())? };
    set(&store, &passphrase, UnixSeconds::from(Clock::system().now()))?;
    report::note("the passphrase is set; browsers that were signed in have to sign in again");
    Ok(CommandOutcome::Well)
}

pub(super) fn set(store: &AuthStore, passphrase: &SecretText, now: UnixSeconds) -> Result<(), CommandFailure> {
    Ok(store.set_passphrase(passphrase, &random()?, now)?)
}

/// One that cannot be guessed, and that a person can type.
pub(super) fn new_passphrase() -> Result<SecretText, CommandFailure> {
    let random = random()?;
    // 256 is a multiple of 32, so every letter is equally likely.
    let letters = random.iter().take(GROUPS * GROUP_LETTERS).map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    let letters: Vec<char> = letters.collect();
    let groups: Vec<String> = letters.chunks(GROUP_LETTERS).map(|group| group.iter().collect()).collect();
    Ok(SecretText::new(groups.join("-")))
}

fn random() -> Result<[u8; 32], CommandFailure> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| CommandFailure::Misconfigured(format!("the system gives no random numbers: {error}")))?;
    Ok(random)
}

/// Twice, because what is typed is not shown.
fn typed() -> Result<SecretText, CommandFailure> {
    let hidden = HiddenInput::begin()?;
    let ask = |prompt: &str| {
        eprint!("{prompt}");
        let given = line(&mut io::stdin().lock());
        eprintln!();
        given
    };
    let first = ask("New passphrase (12 characters or more): ");
    let second = ask("Once more: ");
    // Before anything can fail, so that the terminal shows again what is typed.
    drop(hidden);
    let (first, second) = (first?, second?);
    if first == second {
        Ok(first)
    } else {
        Err(CommandFailure::Input("the two are not the same; nothing is changed".to_owned()))
    }
}

fn line(input: &mut dyn BufRead) -> Result<SecretText, CommandFailure> {
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| CommandFailure::Input(error.to_string()))?;
    // Only the line end: a passphrase may begin or end with blanks.
    Ok(SecretText::new(line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// A terminal that does not show what is typed, until this is dropped.
#[cfg(unix)]
struct HiddenInput(rustix::termios::Termios);

#[cfg(unix)]
impl HiddenInput {
    fn begin() -> Result<Self, CommandFailure> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let failed = |error: rustix::io::Errno| CommandFailure::Input(error.to_string());
        let before = tcgetattr(io::stdin()).map_err(failed)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        // What was typed ahead is thrown away; it would have been visible.
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent).map_err(failed)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for HiddenInput {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Err(error) = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0) {
            report::error(&format!("the terminal still hides what is typed ({error}); `stty echo` shows it again"));
        }
    }
}

#[cfg(not(unix))]
struct HiddenInput;

#[cfg(not(unix))]
impl HiddenInput {
    /// A passphrase that is shown while it is typed stays in the window.
    fn begin() -> Result<Self, CommandFailure> {
        let way = "type it into a file and run `lapidary owner set-passphrase < FILE`; this terminal would show it";
        Err(CommandFailure::Input(way.to_owned()))
    }
}
