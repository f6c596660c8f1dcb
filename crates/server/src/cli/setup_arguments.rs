//! Commands that set up this computer.

use clap::Args;

/// Set up AI programs on this computer to use Lapidary
///
/// Without names, all that are found: Claude Desktop, Claude Code, Cursor, VS Code, Zed, Codex, Gemini CLI, Windsurf and others.
/// Each change is shown and asked for first; everything else in a file stays as it is, and the old file is kept beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct InstallArguments {
    /// Programs to set up, like `claude-desktop`, `cursor` or `zed`
    #[arg(value_name = "CLIENT")]
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
pub(crate) struct UninstallArguments {
    /// Programs to remove Lapidary from; all if none is named
    #[arg(value_name = "CLIENT")]
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

#[derive(Debug, Clone, PartialEq, Eq, Args)]
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
