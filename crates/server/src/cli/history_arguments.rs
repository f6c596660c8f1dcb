//! Commands about what happened, and how to take it back.

use std::str::FromStr;

use clap::{Args, Subcommand};

use crate::completing;

/// Take the last change back
///
/// No matter who made it: you, or any client. On a terminal the change is shown first; `l` lists earlier ones to choose from. An undo is
/// itself a change that can be undone. A change is not undone if one of its files has been changed since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary undo
  lapidary undo --list
  lapidary undo --count 3 --dry-run
  lapidary undo --id 4f2a --yes")]
pub(crate) struct UndoArguments {
    /// This change; 4 or more characters of its id are enough if no other begins with them
    #[arg(long, value_name = "ID", conflicts_with_all = ["count", "list"])]
    pub(crate) id: Option<String>,
    /// The last N changes, in one step
    #[arg(long, value_name = "N", conflicts_with = "list", value_parser = clap::value_parser!(u64).range(1..=50))]
    pub(crate) count: Option<u64>,
    /// Choose from a list
    #[arg(long)]
    pub(crate) list: bool,
    /// Print what would change without changing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Open the console in a browser: approve changes, see what happened, take it back
///
/// If a server with HTTP is running on the vault, it is the console of that server; otherwise it is served on this computer only, until
/// Ctrl+C. The link that it prints signs in once, within a minute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary console
  lapidary console --no-browser --port 4000")]
pub(crate) struct ConsoleArguments {
    /// Only print the link
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Serve one on this port, whatever is running (by default any that is free)
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}

/// Print the log of calls, latest last
///
/// Exits with 1 if there is no such call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary log
  lapidary log --failed --since 2h
  lapidary log --changes --client claude
  lapidary log --note Roof --json
  lapidary log --follow")]
pub(crate) struct LogArguments {
    /// Keep printing calls as they happen
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// How many of the latest calls to print
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME", add = completing::tools())]
    pub(crate) tool: Option<String>,
    /// Only calls of clients whose name contains this
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// Only calls about notes whose path contains this
    #[arg(long, value_name = "PATH", add = completing::notes())]
    pub(crate) note: Option<String>,
    /// Only calls that were refused with this reason
    #[arg(long, value_name = "REASON", add = completing::reasons())]
    pub(crate) reason: Option<String>,
    /// Only calls that were refused
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only calls that changed something
    #[arg(long, conflicts_with = "failed")]
    pub(crate) changes: bool,
    /// Only calls of the last while: 30m, 2h, 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<TimeSpan>,
    /// Print JSON lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// A span of time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeSpan(pub(crate) i64);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number and a unit, like 45s, 30m, 2h, 7d or 4w")]
pub(crate) struct TimeSpanError;

impl FromStr for TimeSpan {
    type Err = TimeSpanError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The last byte: every unit is one ASCII letter, and any other last character is refused below.
        let (number, unit) = text.trim().split_at(text.trim().len().saturating_sub(1));
        let seconds: i64 = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            _ => return Err(TimeSpanError),
        };
        let number: u32 = number.parse().map_err(|_| TimeSpanError)?;
        // A span beyond the range of a clock is "always", not an error.
        Ok(Self(i64::from(number).saturating_mul(seconds)))
    }
}

/// Show what was changed, and the state before
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary checkpoints
  lapidary checkpoints list Projects
  lapidary checkpoints diff 4f2a
  lapidary checkpoints show 4f2a Roof.md > roof-before.md
  lapidary checkpoints restore 4f2a Roof.md
  lapidary checkpoints --limit 5 --json
  lapidary checkpoints export ~/history --git")]
pub(crate) struct Checkpoints {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// How many changes to list
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    #[command(subcommand)]
    pub(crate) word: Option<CheckpointWord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum CheckpointWord {
    /// Print the latest changes (the default)
    List(ListedChanges),
    /// Print a file as it was before a change, or the difference since
    Show {
        /// The change; 4 or more characters of its id are enough if no other begins with them
        id: String,
        /// The file
        #[arg(add = completing::notes())]
        path: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what has changed since just before a change
    Diff {
        /// The change; 4 or more characters of its id are enough if no other begins with them
        id: String,
        /// Only this file
        #[arg(add = completing::notes())]
        path: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring files back to their state before a change, also if they have been changed since
    Restore {
        /// The change; 4 or more characters of its id are enough if no other begins with them
        id: String,
        /// Only this file
        #[arg(add = completing::notes())]
        path: Option<String>,
        /// Print what would change without changing anything
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write all old versions into a folder
    Export(ExportArguments),
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ListedChanges {
    /// Only changes of this file or folder
    #[arg(add = completing::notes())]
    pub(crate) path: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = SHOWN_CHANGES)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const SHOWN_CHANGES: usize = 20;

impl Default for ListedChanges {
    fn default() -> Self {
        Self { path: None, limit: SHOWN_CHANGES, json: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ExportArguments {
    /// A folder that is empty or does not exist yet
    #[arg(value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: std::path::PathBuf,
    /// As a git repository with one commit per change (needs git)
    #[arg(long)]
    pub(crate) git: bool,
}

/// Review changes that wait for your approval
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary approvals
  lapidary approvals --json
  lapidary approvals accept 7c
  lapidary approvals reject 7c")]
pub(crate) struct Approvals {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) word: Option<ApprovalWord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ApprovalWord {
    /// Print pending approvals (the default)
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print what would change
    Show {
        /// Its id in the list; a unique prefix is enough
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Review it once more and make the change
    Accept {
        /// Its id in the list; a unique prefix is enough
        id: String,
    },
    /// Refuse it; nothing changes
    Reject {
        /// Its id in the list; a unique prefix is enough
        id: String,
    },
}

/// Print which servers are running on a vault, what waits for approval, and the last calls
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary status
  lapidary status --limit 20
  lapidary status --json")]
pub(crate) struct StatusArguments {
    /// How many of the last calls to print
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
