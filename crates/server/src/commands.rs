//! The implementations of the subcommands.

mod append;
mod approvals;
mod call;
mod change_list;
mod checkpoints;
mod command_hint;
mod console;
mod daily;
mod doctor;
mod explain;
mod found_vaults;
mod greeting;
mod health;
mod ingest;
mod install;
mod links;
pub(crate) mod local_time;
mod log;
mod model;
mod owner;
mod progress;
mod query;
mod read_note;
mod recipes;
mod refusal_words;
mod report;
mod screen;
mod search;
mod serve;
mod settings;
mod skill;
mod status;
mod table;
mod tasks;
mod terminal_style;
mod token;
mod tool_page;
mod tools;
mod undo;
mod vaults;

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use lapidary_auth::{AuthStoreError, PassphraseError};
use lapidary_config::{
    ChosenVault, CommonFlags, Config, ConfigError, ConfigFiles, ConfigSources, LoadedConfig, Platform, VaultsConfig,
};
use lapidary_tools::{
    CompletePath, ReadPayload,
    quote::{visible, visible_json},
};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    assemble::{AssembledServer, ExecutorPurpose, assemble},
    cli::{Command, CompletionArguments, ConfigWord, Invocation, SkillWord, ToolsArguments},
    completing,
    environment::{ProcessEnvironment, RealDisk},
    http::SettingsAccess,
    logging,
};

use call::OwnerCalls;
pub(crate) use change_list::client_name;
pub(crate) use command_hint::{CommandHint, quoted_word};
use greeting::GreetedVaults;
pub(crate) use report::on_terminal;
use screen::Screen;
use terminal_style::TerminalStyle;

/// How long the exit may wait for the index to be saved. Without it, only the next start is slower.
const SAVING: Duration = Duration::from_secs(2);

const EXIT_FAILED: u8 = 1;
const EXIT_MISCONFIGURED: u8 = 2;

/// A person started the program on a terminal without a word.
pub(crate) fn greet() -> ExitCode {
    let surroundings = ProcessEnvironment::of_process();
    let flags = CommonFlags::default();
    let style = TerminalStyle::of_output(&surroundings.environment);
    let sources = sources(&flags, &surroundings, true);
    // Whatever is wrong with the configuration is said by the command that needs it.
    let origins = lapidary_config::origins(&sources).unwrap_or_default();
    // The last one counts, as for every setting.
    let place = origins.into_iter().rfind(|origin| origin.name == "vaults").map(|origin| origin.place);
    let configured = lapidary_config::load(&sources).ok().map(|loaded| loaded.config.vaults);
    let vaults = match (place, configured) {
        (Some(place), Some(VaultsConfig::Chosen(vaults))) => GreetedVaults {
            vaults: vaults.into_iter().map(|vault| (vault.name, vault.path)).collect(),
            configured_in: Some(place),
        },
        _ => GreetedVaults::of_obsidian(&lapidary_config::known_vaults(&sources)),
    };
    let text = greeting::greeting(&vaults, style);
    // A terminal that accepts no output has no reader.
    io::stdout().lock().write_all(text.as_bytes()).unwrap_or_default();
    ExitCode::SUCCESS
}

/// Says what is wrong with the usage.
pub(crate) fn misused(usage: &clap::Error) -> ExitCode {
    let surroundings = ProcessEnvironment::of_process();
    report::usage(usage, TerminalStyle::of_errors(&surroundings.environment));
    ExitCode::from(EXIT_MISCONFIGURED)
}

/// The commands that need no configuration: those that say what is built in, and those that show and change it.
fn without_configuration(
    invocation: &Invocation,
    surroundings: &ProcessEnvironment,
) -> Option<Result<CommandOutcome, CommandFailure>> {
    let mut out = io::stdout().lock();
    let mut screen = Screen::new(&mut out, surroundings);
    match &invocation.command {
        Command::Explain(explain) => Some(explain::run(explain.reason.as_deref(), explain.json, &mut screen)),
        Command::Tools(ToolsArguments { name: Some(name), json }) => Some(tool_page::run(name, *json, &mut screen)),
        Command::Completions(CompletionArguments { shell }) => {
            let written = screen.write_all(&completing::registration(*shell));
            Some(written.map(|()| CommandOutcome::Well).map_err(CommandFailure::Output))
        }
        Command::Config(config) => {
            let word = config.word.unwrap_or(ConfigWord::Show { all: false, json: false });
            Some(settings::run(word, &invocation.flags, surroundings, &mut screen))
        }
        _ => None,
    }
}

pub(crate) fn run(invocation: &Invocation) -> ExitCode {
    let surroundings = ProcessEnvironment::of_process().with_colours(invocation.colours);
    report::start(TerminalStyle::of_errors(&surroundings.environment));
    if let Some(result) = without_configuration(invocation, &surroundings) {
        return ended(invocation, result);
    }
    let flags = found_vaults::completed(invocation, &surroundings);
    // Of several vaults, a hint names none, as they are found again.
    // Otherwise each hint would be a line of options.
    let hint = CommandHint::of(if flags.vaults.len() > 1 { &invocation.flags } else { &flags });
    let invocation = &Invocation { flags, ..invocation.clone() };
    // A configuration that cannot be used is what it is asked about.
    if let Command::Doctor(arguments) = &invocation.command
        && arguments.is_local()
    {
        let out = &mut io::stdout().lock();
        return ended(invocation, doctor::run_local(arguments, invocation, &hint, &surroundings, out));
    }
    let config = match configure(invocation, &surroundings) {
        Ok(LoadedConfig { config, warnings }) => {
            // A warning before the log is started would be lost.
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
        Command::Token(word) => {
            let out = &mut io::stdout().lock();
            let vaults = vaults_of_tokens(&invocation.flags, &surroundings);
            return ended(invocation, token::run(word, &config, &vaults, &mut Screen::new(out, &surroundings)));
        }
        Command::Owner(word) => return ended(invocation, owner::run(word, &config)),
        Command::Model(word) if !invocation.command.needs_vault() => {
            let out = &mut io::stdout().lock();
            let settings = SettingsAccess::new(&invocation.flags, &surroundings);
            let working_folder = &surroundings.working_folder;
            return ended(
                invocation,
                model::run(word, &config, &settings, working_folder, &mut Screen::new(out, &surroundings)),
            );
        }
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
        Command::Skill(word) if !invocation.command.needs_vault() => {
            let out = &mut io::stdout().lock();
            return ended(
                invocation,
                skill::run_without_vault(word, &surroundings, &mut Screen::new(out, &surroundings)),
            );
        }
        Command::Serve => warn_of_plain_folders(&config),
        _ => {}
    }
    // A pending request may have been made under any of them.
    // All profiles are built only for commands that act for other callers.
    let every_profile = matches!(invocation.command, Command::Approvals(_) | Command::Console(_));
    // A command answers once and should be exact; a server answers at once and improves.
    let waits_for_index = !matches!(invocation.command, Command::Serve);
    let assembled = match assemble(&config, ExecutorPurpose { every_profile, waits_for_index }) {
        Ok(assembled) => assembled,
        Err(problem) => {
            report::error(&problem.to_string());
            return ExitCode::from(EXIT_MISCONFIGURED);
        }
    };
    ended(invocation, execute(invocation, &surroundings, &config, &assembled, &hint))
}

fn ended(invocation: &Invocation, result: Result<CommandOutcome, CommandFailure>) -> ExitCode {
    match result {
        Ok(CommandOutcome::Well) => ExitCode::SUCCESS,
        Ok(CommandOutcome::Refused | CommandOutcome::NothingFound | CommandOutcome::GraveFindings) => {
            ExitCode::from(EXIT_FAILED)
        }
        // The reader of our output has closed the pipe.
        Err(CommandFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            match invocation.command {
                // The log may be a file, where a service's owner looks for it.
                // A service has no terminal to report to.
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
    /// It did not happen, and the user knows why.
    Refused,
    /// A search, a query or a list is empty.
    NothingFound,
    /// A check found something grave.
    GraveFindings,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandFailure {
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    #[error("{0}")]
    Serving(String),
    /// A call was refused, in words for the user.
    #[error("{0}")]
    Refused(String),
    #[error("standard input: {0}")]
    Input(String),
    #[error("{0}")]
    Misconfigured(String),
    #[error("{0}")]
    Tokens(#[from] AuthStoreError),
    #[error("the passphrase: {0}")]
    Passphrase(#[from] PassphraseError),
}

fn execute(
    invocation: &Invocation,
    surroundings: &ProcessEnvironment,
    config: &Config,
    assembled: &AssembledServer,
    hint: &CommandHint,
) -> Result<CommandOutcome, CommandFailure> {
    let mut out = io::stdout().lock();
    if invocation.command == Command::Serve {
        // Standard output is locked above for all other commands.
        // Stdout belongs to the protocol now.
        drop(out);
        let config_file = invocation.flags.config.as_ref().map(|file| surroundings.working_folder.join(file));
        let settings = SettingsAccess::new(&invocation.flags, surroundings);
        return serve::run(config, assembled, &serve::ServerStart { config_file, hint, settings });
    }
    let screen = &mut Screen::new(&mut out, surroundings);
    let calls = OwnerCalls { assembled, hint };
    match &invocation.command {
        Command::Call(call) => call::run(call, assembled, screen),
        Command::Read(read) => read_note::run(read, calls, screen),
        Command::Append(append) => append::run(append, calls, screen),
        Command::Links(links) => links::run(links, calls, screen),
        Command::Tasks(tasks) => tasks::run(tasks, calls, screen),
        Command::Daily(daily) => daily::run(daily, calls, screen),
        Command::Ingest(ingest) => ingest::run(ingest, calls, &surroundings.working_folder, screen),
        Command::Health(health) => health::run(health, calls, screen),
        Command::Recipes(recipes) => recipes::run(recipes, calls, screen),
        Command::Search(search) => search::run(search, calls, screen),
        Command::Query(query) => query::run(query, calls, screen),
        Command::Tools(listing) => tools::run(listing.json, assembled, screen),
        Command::Vaults(listing) => vaults::run(*listing, assembled, screen),
        Command::Status(status) => status::run(status, calls, screen),
        Command::Log(log) => log::run(log, assembled, screen),
        Command::Undo(undo) => undo::run(undo, calls, screen),
        Command::Console(arguments) => {
            let settings = SettingsAccess::new(&invocation.flags, surroundings);
            console::run(arguments, config, settings, calls, screen)
        }
        Command::Checkpoints(checkpoints) => checkpoints::run(checkpoints, calls, screen),
        Command::Approvals(approvals) => approvals::run(approvals, calls, screen),
        Command::Model(word) => model::status(word, config, assembled, screen),
        Command::Skill(SkillWord::Install(arguments)) => skill::install(arguments, assembled, surroundings, screen),
        // They need no executor and have returned before there is one.
        Command::Serve
        | Command::Token(_)
        | Command::Owner(_)
        | Command::Doctor(_)
        | Command::Config(_)
        | Command::Install(_)
        | Command::Uninstall(_)
        | Command::Skill(_)
        | Command::Explain(_)
        | Command::Completions(_) => Ok(CommandOutcome::Well),
    }
}

/// The names of the vaults that a server may have: configured, listed by Obsidian, or in use.
fn vaults_of_tokens(flags: &CommonFlags, surroundings: &ProcessEnvironment) -> Vec<String> {
    let mut names = lapidary_config::vault_names(&sources(flags, surroundings, false));
    names.extend(found_vaults::names_in_use(flags, surroundings));
    names.sort();
    names.dedup();
    names
}

/// The names of vaults for a shell that completes.
pub(crate) fn known_vault_names(flags: &CommonFlags) -> Vec<String> {
    lapidary_config::vault_names(&sources(flags, &ProcessEnvironment::of_process(), false))
}

/// The paths of notes for a shell that completes: by the owner, through the executor. Whatever is wrong, there are none.
pub(crate) fn completed_notes(flags: &CommonFlags, typed: &str) -> Vec<String> {
    let surroundings = ProcessEnvironment::of_process();
    let flags = &found_vaults::with_found(flags, &surroundings, false);
    // A shell that completes must never print an error into the line that is typed.
    let Ok(loaded) = lapidary_config::load(&sources(flags, &surroundings, true)) else { return Vec::new() };
    let purpose = ExecutorPurpose { every_profile: false, waits_for_index: true };
    let Ok(assembled) = assemble(&loaded.config, purpose) else { return Vec::new() };
    let executor = &assembled.executor;
    let operation = CompletePath { typed: typed.to_owned(), vault: None };
    let asked = lapidary_pipeline::Invocation::read(operation, call::owner(executor, false));
    let answer = executor.run(&asked, &executor.cancel(&asked)).answer();
    // Completing is often the first thing done in a vault, and the index should not be built for each press of a key.
    executor.save_indexes(SAVING);
    match answer {
        Ok(ReadPayload::Completed(completed)) => nearest_to(typed, completed.values),
        _ => Vec::new(),
    }
}

/// Names of recipes, by their notes.
pub(crate) fn completed_recipes(flags: &CommonFlags) -> Vec<String> {
    let name = |path: String| {
        let file = path.rsplit('/').next().unwrap_or(&path);
        lapidary_tools::recipes::RecipeName::parse(file.strip_suffix(".md")?).map(|name| name.to_string())
    };
    completed_notes(flags, "custom_").into_iter().filter_map(name).collect()
}

/// A shell replaces what is typed: with paths that start with it, or else with those whose name does, or else with the only
/// one that contains it.
fn nearest_to(typed: &str, found: Vec<String>) -> Vec<String> {
    let typed = typed.to_lowercase();
    let starts = |text: &str| text.to_lowercase().starts_with(&typed);
    // Paths first: who types a folder wants what is in it.
    let by_path: Vec<String> = found.iter().filter(|path| starts(path)).cloned().collect();
    let by_name = || found.iter().filter(|path| starts(path.rsplit('/').next().unwrap_or(path)));
    match (by_path.is_empty(), found.len()) {
        (false, _) => by_path,
        (true, 1) => found,
        (true, _) => by_name().cloned().collect(),
    }
}

pub(crate) fn sources<'a>(
    flags: &'a CommonFlags,
    surroundings: &'a ProcessEnvironment,
    needs_vault: bool,
) -> ConfigSources<'a> {
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
    without_home(lapidary_config::load(&sources), &invocation.flags, surroundings)
}

/// The configuration as it would be if its file had this text.
pub(crate) fn configure_edited(
    flags: &CommonFlags,
    surroundings: &ProcessEnvironment,
    file: &Path,
    text: &str,
) -> Result<LoadedConfig, String> {
    let loaded = lapidary_config::load_edited(&sources(flags, surroundings, true), file, text);
    without_home(loaded, flags, surroundings)
}

/// Refuses to serve the home folder, unless the owner insists.
fn without_home(
    loaded: Result<LoadedConfig, ConfigError>,
    flags: &CommonFlags,
    surroundings: &ProcessEnvironment,
) -> Result<LoadedConfig, String> {
    let is_home = |folder: &Path| {
        let home = surroundings.home.as_deref().filter(|_| !flags.any_folder);
        // The disk decides what is around what, since a link may lead to the home folder.
        home.is_some_and(|home| RealDisk::is_around(folder, home))
    };
    let loaded = loaded.map_err(|error| match &error {
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
    let is_plain =
        |vault: &&ChosenVault| vault.folder().is_some_and(|folder| !RealDisk.is_folder(&folder.join(".obsidian")));
    for vault in vaults.iter().filter(is_plain) {
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

/// A program gets the JSON unchanged; at a terminal all its characters are made visible, with the same value.
fn print_json(out: &mut dyn Write, value: &serde_json::Value) -> io::Result<()> {
    let json = format!("{value:#}");
    if io::stdout().is_terminal() { writeln!(out, "{}", visible_json(&json)) } else { writeln!(out, "{json}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_offered_what_starts_like_the_typed_text() {
        let found = || ["Plan B.md", "Areas/Plan.md", "Archive/replan.md"].map(str::to_owned).to_vec();
        assert_eq!(nearest_to("plan", found()), ["Plan B.md"]);
        assert_eq!(nearest_to("PLAN", found()[1..].to_vec()), ["Areas/Plan.md"]);
        assert_eq!(nearest_to("epla", found()[2..].to_vec()), ["Archive/replan.md"]);
        assert_eq!(nearest_to("la", found()), Vec::<String>::new());
        assert_eq!(nearest_to("", found()).len(), 3);
    }
}
