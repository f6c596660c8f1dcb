//! Commands that read and change notes.

use clap::Args;

/// The best notes for a query, as a table
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Search {
    /// Words, "phrases", -not, OR, path:, tag:, [property:value] and so on, as in Obsidian
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Alternative wordings, any of which may match; may be repeated
    #[arg(long = "or", value_name = "WORDS")]
    pub(crate) alternatives: Vec<String>,
    /// Explain the ranking of each note
    #[arg(long)]
    pub(crate) explain: bool,
    /// How many notes to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Notes, properties and tasks as a table
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct QueryArguments {
    /// Dataview DQL, or the path of a .base file
    #[arg(required = true, value_name = "DQL|FILE.base")]
    pub(crate) query: Vec<String>,
    /// The view of a base, if not its first
    #[arg(long, value_name = "NAME")]
    pub(crate) view: Option<String>,
    /// The note that `this` means
    #[arg(long, value_name = "NOTE")]
    pub(crate) note: Option<String>,
    /// How many rows to print
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Which vault, if several are served
    #[arg(long, value_name = "NAME")]
    pub(crate) of: Option<String>,
    #[command(flatten)]
    pub(crate) printed: PrintedFormat,
}

/// What is printed instead of a table that fits the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
#[group(multiple = false)]
pub(crate) struct PrintedFormat {
    /// Print comma-separated values
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print JSON with typed values
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) md: bool,
}
