//! Commands that set up this computer.

use clap::{Args, Subcommand};

use crate::completing;

/// Set up AI programs on this computer to use Lapidary
///
/// Without names, all that are found: Claude Desktop, Claude Code, Cursor, VS Code, Zed, Codex, Gemini CLI, Windsurf and others.
/// Each change is shown and asked for first; everything else in a file stays as it is, and the old file is kept beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary install --vault ~/Notes
  lapidary install claude-desktop cursor --vault ~/Notes --read-only
  lapidary install --print --vault ~/Notes
  lapidary install zed --http http://127.0.0.1:3010/mcp")]
pub(crate) struct InstallArguments {
    /// Programs to set up, like `claude-desktop`, `cursor` or `zed`
    #[arg(value_name = "CLIENT", add = completing::clients())]
    pub(crate) clients: Vec<String>,
    /// Print what to paste, and links, without changing anything
    #[arg(long)]
    pub(crate) print: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Let the programs call a running server at this address instead of starting one
    #[arg(long, value_name = "URL")]
    pub(crate) http: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Replace another server that has the name `obsidian`
    #[arg(long)]
    pub(crate) force: bool,
}

/// Take back what `install` did
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary uninstall
  lapidary uninstall cursor --dry-run
  lapidary uninstall --state")]
pub(crate) struct UninstallArguments {
    /// Programs to remove Lapidary from; all if none is named
    #[arg(value_name = "CLIENT", add = completing::clients())]
    pub(crate) clients: Vec<String>,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Remove the entry `obsidian` even if it is another server
    #[arg(long)]
    pub(crate) force: bool,
    /// Also remove what Lapidary stores about vaults: undo data, logs, indexes and tokens
    #[arg(long)]
    pub(crate) state: bool,
}

/// Print completions for a shell
///
/// They complete commands, options, notes, vaults, tools and reasons, by asking `lapidary` itself.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = "To have them in every new shell:
  bash: add to ~/.bashrc: source <(lapidary completions bash)
  zsh:  add to ~/.zshrc, after compinit: source <(lapidary completions zsh)
  fish: lapidary completions fish > ~/.config/fish/completions/lapidary.fish")]
pub(crate) struct CompletionArguments {
    /// The shell that reads them
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct ListArguments {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show and change the settings
///
/// A value comes from the configuration file, `.env` in the working folder (as far as it is trusted), the environment or an option; later ones win.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary config show
  lapidary config show --all
  lapidary config edit
  cat \"$(lapidary config path)\"")]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) word: Option<ConfigWord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum ConfigWord {
    /// Print the settings, each with where it comes from (the default)
    Show {
        /// Include settings that have their default value
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Open the configuration file in your editor ($VISUAL, $EDITOR), and check it afterwards
    Edit,
    /// Print where the configuration file is, whether or not it exists
    Path,
}
