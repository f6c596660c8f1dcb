//! The command line: its syntax, and nothing about what it does.

mod access_arguments;
mod history_arguments;
mod model_arguments;
mod note_arguments;
mod recipe_arguments;
mod setup_arguments;
mod skill_arguments;
mod tool_arguments;

#[cfg(test)]
mod tests;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use lapidary_config::{CommonFlags, Listen};

use lapidary_tools::quote::visible;

use crate::completing;

pub(crate) use access_arguments::{NewToken, OwnerWord, TokenWord};
#[cfg(test)]
pub(crate) use history_arguments::TimeSpan;
pub(crate) use history_arguments::{
    ApprovalWord, Approvals, CheckpointWord, Checkpoints, ConsoleArguments, ExportArguments, ListedChanges,
    LogArguments, StatusArguments, UndoArguments,
};
pub(crate) use model_arguments::ModelWord;
pub(crate) use note_arguments::{
    AppendArguments, DailyArguments, HealthArguments, IngestArguments, LinksArguments, QueryArguments, ReadArguments,
    Search, TasksArguments,
};
#[cfg(test)]
pub(crate) use note_arguments::{NotePart, PrintedFormat};
pub(crate) use recipe_arguments::{RecipeWord, Recipes};
pub(crate) use setup_arguments::{
    CompletionArguments, ConfigArguments, ConfigWord, InstallArguments, ListArguments, UninstallArguments,
};
pub(crate) use skill_arguments::{SkillInstall, SkillUninstall, SkillWord};
pub(crate) use tool_arguments::{CallArguments, CallInput, ExplainArguments, ToolsArguments};

/// The parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Invocation {
    pub(crate) flags: CommonFlags,
    pub(crate) command: Command,
    pub(crate) colours: ColorChoice,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    Serve,
    Call(CallArguments),
    Read(ReadArguments),
    Append(AppendArguments),
    Links(LinksArguments),
    Tasks(TasksArguments),
    Daily(DailyArguments),
    Ingest(IngestArguments),
    Health(HealthArguments),
    Recipes(Recipes),
    Search(Search),
    Query(QueryArguments),
    Tools(ToolsArguments),
    Vaults(ListArguments),
    Status(StatusArguments),
    Config(ConfigArguments),
    Log(LogArguments),
    Undo(UndoArguments),
    Console(ConsoleArguments),
    Checkpoints(Checkpoints),
    Approvals(Approvals),
    Token(TokenWord),
    Owner(OwnerWord),
    Doctor(DoctorArguments),
    Model(ModelWord),
    Install(InstallArguments),
    Uninstall(UninstallArguments),
    Skill(SkillWord),
    Explain(ExplainArguments),
    Completions(CompletionArguments),
}

impl Command {
    /// Whether the command needs a vault.
    pub(crate) fn needs_vault(&self) -> bool {
        match self {
            // Each of these must work before there is a vault, or when its settings are broken.
            Self::Token(_)
            | Self::Owner(_)
            | Self::Doctor(_)
            | Self::Config(_)
            | Self::Uninstall(_)
            | Self::Explain(_)
            | Self::Completions(_) => false,
            // Its count of notes is the only word about vaults.
            Self::Model(word) => matches!(word, ModelWord::Status { .. }),
            // With an address, clients call a server that runs already, and its vaults are its own.
            Self::Install(install) => install.http.is_none(),
            // What it says depends on what is served.
            Self::Skill(word) => matches!(word, SkillWord::Install(_)),
            _ => true,
        }
    }
}

/// What is looked at: this computer, unless an option says otherwise
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct DoctorArguments {
    /// Ask the server at its public address, as clients elsewhere do (by default that of MCP_PUBLIC_URL)
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    pub(crate) remote: Option<Option<String>>,
    /// Say whether the server on this computer answers, and nothing else; for containers
    #[arg(long, conflicts_with = "remote")]
    pub(crate) health: bool,
    /// Print JSON instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lapidary gives AI assistants safe, fast and thrifty access to Obsidian vaults
///
/// Without a command it serves MCP, as AI programs start it. Exit codes: 0 done, 1 failed or nothing found, 2 wrong usage or
/// configuration.
#[derive(Debug, Parser)]
#[command(
    name = "lapidary",
    version,
    after_help = "`lapidary COMMAND --help` has examples.",
    after_long_help = "Examples:
  lapidary install --vault ~/Notes       set up the AI programs on this computer
  lapidary search --vault ~/Notes roof   find notes
  lapidary log --follow                  watch what they do
  lapidary undo                          take the last change back
  lapidary --vault ~/Notes --http        serve over HTTP"
)]
struct CommandLine {
    #[command(flatten)]
    listen: Listen,
    /// When to use colours
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", hide_short_help = true)]
    color: ColorChoice,
    #[command(subcommand)]
    word: Option<CommandWord>,
}

#[derive(Debug, Subcommand)]
enum CommandWord {
    Search(Search),
    Query(QueryArguments),
    Read(ReadArguments),
    Append(AppendArguments),
    Links(LinksArguments),
    Tasks(TasksArguments),
    Daily(DailyArguments),
    Ingest(IngestArguments),
    Health(HealthArguments),
    Recipes(Recipes),
    Undo(UndoArguments),
    Console(ConsoleArguments),
    #[command(name = "log", visible_alias = "audit")]
    Log(LogArguments),
    Checkpoints(Checkpoints),
    Approvals(Approvals),
    Status(StatusArguments),
    Install(InstallArguments),
    Uninstall(UninstallArguments),
    /// Teach AI programs to work with this server: install a skill where they look for skills
    ///
    /// It says which tool is for what and how to stay cheap, for the tools as this server is configured. Run it again after
    /// an update or a change of settings; `lapidary doctor` says if it is out of step.
    #[command(
        subcommand,
        after_long_help = "Examples:
  lapidary skill install --vault ~/Notes
  lapidary skill install claude-code codex --vault ~/Notes --read-only
  lapidary skill install --dir .claude/skills --vault ~/Notes
  lapidary skill install --print --vault ~/Notes
  lapidary skill list
  lapidary skill uninstall"
    )]
    Skill(SkillWord),
    /// Find out what is wrong with vaults, settings and clients, and what to do
    #[command(after_long_help = "Examples:
  lapidary doctor
  lapidary doctor --vault ~/Notes --json
  lapidary doctor --remote https://vault.example.com")]
    Doctor(DoctorArguments),
    Config(ConfigArguments),
    /// Print the vaults that are served
    #[command(after_long_help = "Examples:
  lapidary vaults
  lapidary vaults --vault Work=~/Notes --json")]
    Vaults(ListArguments),
    Serve(Listen),
    Call(CallArguments),
    Tools(ToolsArguments),
    Explain(ExplainArguments),
    /// Create, list and revoke the tokens of HTTP clients, and what OAuth clients were granted
    #[command(
        subcommand,
        after_long_help = "Examples:
  lapidary token create phone --profile reader --expires 30d
  lapidary token create laptop --paths Projects,Inbox --write-paths Inbox
  lapidary token list
  lapidary token revoke phone
  lapidary token log --limit 10"
    )]
    Token(TokenWord),
    /// Set the passphrase with which you sign in to consent to OAuth clients
    #[command(
        subcommand,
        after_long_help = "Examples:
  lapidary owner set-passphrase
  pass show lapidary | lapidary owner set-passphrase"
    )]
    Owner(OwnerWord),
    /// Add, choose and remove the models that find notes by meaning
    #[command(
        subcommand,
        after_long_help = "Examples:
  lapidary model list
  lapidary model add all-minilm-l6-v2
  lapidary model add ~/Downloads/potion-base-8M
  lapidary model use all-minilm-l6-v2
  lapidary model status
  lapidary model use english
  lapidary model remove all-minilm-l6-v2"
    )]
    Model(ModelWord),
    Completions(CompletionArguments),
}

/// Commands that use no vault, or where `--vault` has another meaning: behind them the common options are not accepted.
const WITHOUT_FLAGS: [&str; 4] = ["token", "owner", "explain", "completions"];

/// The declaration of the command line, also for completions and the man page.
pub(crate) fn declaration() -> clap::Command {
    with_flags(CommandLine::command())
}

/// The common options before and after every word of a command.
///
/// Not clap's `global = true`: with it, `lapidary --vault a tools --vault b` would silently forget `a`.
fn with_flags(command: clap::Command) -> clap::Command {
    if WITHOUT_FLAGS.contains(&command.get_name()) {
        return command;
    }
    // Added here rather than in `config`, which knows nothing of completion.
    let completed = |arg: clap::Arg| if arg.get_id() == "vaults" { arg.add(completing::vaults()) } else { arg };
    CommonFlags::augment_args(command).mut_args(completed).mut_subcommands(with_flags)
}

/// The common options at each word of a command, merged.
fn flags_of(matches: &ArgMatches) -> Result<CommonFlags, clap::Error> {
    let flags = CommonFlags::from_arg_matches(matches)?;
    match matches.subcommand() {
        // Recursive, as each word of a command may have the options: `lapidary --vault a checkpoints --json list`.
        Some((word, inner)) if !WITHOUT_FLAGS.contains(&word) => both(flags, flags_of(inner)?),
        _ => Ok(flags),
    }
}

/// The line with list items such as `- [ ] pay` behind a `--`, where they are text. No option has a blank after its dash, and people
/// append list items more often than anything else.
fn with_list_items(line: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut words, mut text, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    let mut line = line;
    let mut in_text = false;
    for word in line.by_ref() {
        if word == "--" {
            ended.push(word);
            break;
        }
        let starts = |mark: &str| word.as_encoded_bytes().starts_with(mark.as_bytes());
        // A dash with a blank behind it begins an item.
        // Words right after an item follow it, so that the text keeps its order.
        in_text = starts("- ") || (in_text && !starts("-"));
        if in_text { text.push(word) } else { words.push(word) }
    }
    if !text.is_empty() && ended.is_empty() {
        ended.push("--".into());
    }
    words.into_iter().chain(ended).chain(text).chain(line).collect()
}

/// Parses a command line, program name first. Wrong usage is an error with its message and exit code (2).
pub(crate) fn parse<T>(line: impl IntoIterator<Item = T>) -> Result<Invocation, clap::Error>
where
    T: Into<OsString> + Clone,
{
    // Kept for errors: clap formats them with the usage of the command that was typed.
    let mut declared = declaration();
    let matches = declared.try_get_matches_from_mut(with_list_items(line.into_iter().map(Into::into)))?;
    let flags = flags_of(&matches)?;
    let CommandLine { listen, color: colours, word } =
        CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut declared))?;
    let (inner, command) = match word.unwrap_or(CommandWord::Serve(Listen::default())) {
        CommandWord::Serve(inner) => {
            let listen = listen.joined(inner).map_err(twice)?;
            return Ok(Invocation { flags: listen.within(flags), command: Command::Serve, colours });
        }
        CommandWord::Token(word) => (word.flags(), Command::Token(word)),
        CommandWord::Owner(word) => (word.flags(), Command::Owner(word)),
        word => (CommonFlags::default(), word.command()),
    };
    // Declared at the top level, since `serve` is the default, so they are refused here for all other words.
    if listen.http.is_some() {
        return Err(conflict("--http is for `lapidary serve`; this subcommand does not listen"));
    }
    if listen.rest.is_some() || listen.rest_http {
        return Err(conflict("--rest is for `lapidary serve`; this subcommand does not listen"));
    }
    Ok(Invocation { flags: listen.within(both(flags, inner)?), command, colours })
}

/// The same error, quoting arguments so that a terminal does not act on them.
pub(crate) fn visibly(usage: &clap::Error, line: impl Iterator<Item = OsString>) -> clap::Error {
    // Parsed once more with visible words: clap quotes what was typed, and the quote has to be harmless.
    let shown = |word: OsString| visible(&word.to_string_lossy()).into_owned();
    match parse(line.map(shown)) {
        Err(usage) => usage,
        // Making the words visible changed their meaning, so the message is cleaned instead.
        Ok(_) => declaration().error(usage.kind(), visible(&usage.render().to_string())),
    }
}

impl CommandWord {
    fn command(self) -> Command {
        match self {
            Self::Serve(_) => Command::Serve,
            Self::Call(own) => Command::Call(own),
            Self::Search(own) => Command::Search(own),
            Self::Query(own) => Command::Query(own),
            Self::Tools(own) => Command::Tools(own),
            Self::Vaults(own) => Command::Vaults(own),
            Self::Log(own) => Command::Log(own),
            Self::Undo(own) => Command::Undo(own),
            Self::Console(own) => Command::Console(own),
            Self::Status(own) => Command::Status(own),
            Self::Config(own) => Command::Config(own),
            Self::Read(own) => Command::Read(own),
            Self::Append(own) => Command::Append(own),
            Self::Links(own) => Command::Links(own),
            Self::Tasks(own) => Command::Tasks(own),
            Self::Daily(own) => Command::Daily(own),
            Self::Ingest(own) => Command::Ingest(own),
            Self::Health(own) => Command::Health(own),
            Self::Recipes(own) => Command::Recipes(own),
            Self::Checkpoints(own) => Command::Checkpoints(own),
            Self::Approvals(own) => Command::Approvals(own),
            Self::Token(word) => Command::Token(word),
            Self::Owner(word) => Command::Owner(word),
            Self::Doctor(own) => Command::Doctor(own),
            Self::Model(word) => Command::Model(word),
            Self::Install(own) => Command::Install(own),
            Self::Uninstall(own) => Command::Uninstall(own),
            Self::Skill(word) => Command::Skill(word),
            Self::Explain(own) => Command::Explain(own),
            Self::Completions(own) => Command::Completions(own),
        }
    }
}

fn both(outer: CommonFlags, inner: CommonFlags) -> Result<CommonFlags, clap::Error> {
    outer.joined(inner).map_err(twice)
}

fn twice(flag: &str) -> clap::Error {
    conflict(&format!("{flag} is given twice"))
}

fn conflict(message: &str) -> clap::Error {
    declaration().error(ErrorKind::ArgumentConflict, message)
}
