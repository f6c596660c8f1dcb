//! The words of `lapidary recipes`.

use clap::{Args, Subcommand};

use crate::completing;

/// List, review and run recipes: tools made of other tools
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary recipes
  lapidary recipes show custom_weekly_review
  lapidary recipes approve custom_weekly_review
  lapidary recipes run custom_meeting_note title=Roof --dry-run")]
pub(crate) struct Recipes {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) word: Option<RecipeWord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum RecipeWord {
    /// Print the recipes of the vault (the default)
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print a recipe, and what it may do
    Show {
        /// E.g. custom_weekly_review
        #[arg(add = completing::recipes())]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what is wrong with recipes; all of them, or one
    Check {
        /// E.g. custom_weekly_review
        #[arg(add = completing::recipes())]
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a recipe
    Run {
        /// E.g. custom_meeting_note
        #[arg(add = completing::recipes())]
        name: String,
        /// Its parameters, e.g. title=Roof
        #[arg(value_name = "PARAMETER=VALUE")]
        arguments: Vec<String>,
        /// Only show the diff
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Review a recipe and let it run on this computer
    Approve {
        /// E.g. custom_weekly_review
        #[arg(add = completing::recipes())]
        name: String,
    },
    /// Take the approval of a recipe back
    Disable {
        /// E.g. custom_weekly_review
        #[arg(add = completing::recipes())]
        name: String,
    },
}
