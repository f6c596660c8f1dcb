//! The words of `lapidary skill`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::completing;

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum SkillWord {
    /// Write the skill, or bring it up to date
    Install(SkillInstall),
    /// Print where the skill is installed, and whether it is up to date
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Remove the skill
    Uninstall(SkillUninstall),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct SkillInstall {
    /// Programs to teach, like `claude-code`, `codex` or `cursor`; all that are found if none is named
    #[arg(value_name = "CLIENT", add = completing::clients())]
    pub(crate) clients: Vec<String>,
    /// A folder of skills instead, such as that of a project
    #[arg(long, value_name = "PATH", conflicts_with = "clients")]
    pub(crate) dir: Option<PathBuf>,
    /// Print the skill without writing anything
    #[arg(long)]
    pub(crate) print: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Replace a skill that was edited by hand, or another one of this name; the old file is kept beside it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct SkillUninstall {
    /// Programs to remove it from; all if none is named
    #[arg(value_name = "CLIENT", add = completing::clients())]
    pub(crate) clients: Vec<String>,
    /// A folder of skills instead
    #[arg(long, value_name = "PATH", conflicts_with = "clients")]
    pub(crate) dir: Option<PathBuf>,
    /// Show what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Remove it even if it was edited by hand
    #[arg(long)]
    pub(crate) force: bool,
}
