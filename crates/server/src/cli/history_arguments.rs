//! Commands about what happened, and how to take it back.

use clap::{Args, Subcommand};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct Audit {
    /// Keep printing calls as they happen
    #[arg(long)]
    pub(crate) follow: bool,
    /// How many of the latest calls to print
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print JSON lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was changed, and the state before
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Checkpoints {
    #[command(subcommand)]
    pub(crate) word: CheckpointWord,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum CheckpointWord {
    /// Print the latest changes
    List {
        /// Only changes of this file or folder
        path: Option<String>,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Print a file as it was before a change, or the difference since
    Show {
        /// The checkpoint; a unique prefix is enough
        id: String,
        /// The file
        path: Option<String>,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Print what has changed since just before a change
    Diff {
        /// The checkpoint; a unique prefix is enough
        id: String,
        /// Only this file
        path: Option<String>,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Undo a change
    Restore {
        /// The checkpoint; a unique prefix is enough
        id: String,
        /// Only this file
        path: Option<String>,
        /// Print what would change without changing anything
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Write all old versions into a folder
    Export(ExportArguments),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ShowArguments {
    /// Which vault, if several are served
    #[arg(long, value_name = "NAME")]
    of: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ExportArguments {
    /// A folder that is empty or does not exist yet
    pub(crate) folder: std::path::PathBuf,
    /// As a git repository with one commit per checkpoint (needs git)
    #[arg(long)]
    pub(crate) git: bool,
    /// Which vault, if several are served
    #[arg(long, value_name = "NAME")]
    pub(crate) of: Option<String>,
}

impl CheckpointWord {
    fn shown(&self) -> Option<&ShowArguments> {
        match self {
            Self::List { shown, .. }
            | Self::Show { shown, .. }
            | Self::Diff { shown, .. }
            | Self::Restore { shown, .. } => Some(shown),
            Self::Export(_) => None,
        }
    }

    pub(crate) fn vault(&self) -> Option<&str> {
        self.shown()?.of.as_deref()
    }

    pub(crate) fn json(&self) -> bool {
        self.shown().is_some_and(|shown| shown.json)
    }
}

/// Pending approvals
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Approvals {
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
