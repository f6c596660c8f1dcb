//! Commands that read and change notes.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::completing;

/// Print a note
///
/// A note is named as people name it: by path, path without `.md`, name or alias. In a pipe, its text is printed as it is; on a
/// terminal, control characters are made visible.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary read Roof
  lapidary read Projects/Roof.md --heading Costs
  lapidary read Roof --property status
  lapidary read Roof --outline
  lapidary read Roof > roof.md")]
pub(crate) struct ReadArguments {
    /// Path, name or alias
    #[arg(add = completing::notes())]
    pub(crate) note: String,
    #[command(flatten)]
    pub(crate) part: NotePart,
    /// Print its headings, blocks and properties instead
    #[arg(long, conflicts_with = "part")]
    pub(crate) outline: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Add text at the end of a note, or of a part of it
///
/// A missing note is created, unless another folder has one of its name. The change is in the log and can be undone like that of any client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary append Inbox 'Call the roofer'
  lapidary append Roof --heading Materials -- '- 4 m of flashing'
  date | lapidary append Log -
  lapidary append Inbox 'Try it' --dry-run")]
pub(crate) struct AppendArguments {
    /// Path, name or alias
    #[arg(add = completing::notes())]
    pub(crate) note: String,
    /// The text, or `-` to read it from standard input (the default)
    #[arg(value_name = "TEXT|-")]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) part: NotePart,
    /// Print the diff without changing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of a note.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[group(id = "part", multiple = false)]
pub(crate) struct NotePart {
    /// Only what is below this heading; `A::B` is B below A
    #[arg(long, visible_alias = "section", value_name = "NAME")]
    pub(crate) heading: Option<String>,
    /// Only this block, like `^b1`
    #[arg(long, value_name = "ID")]
    pub(crate) block: Option<String>,
    /// Only this property
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Option<String>,
}

impl NotePart {
    /// As tools take it.
    pub(crate) fn section(&self) -> Option<Value> {
        let Self { heading, block, property } = self;
        let of = |kind: &str, target: &str| json!({ "type": kind, "target": target });
        let heading = heading.as_deref().map(|name| of("heading", name));
        // People copy `^b1` from a note, while tools take the bare name.
        let block = block.as_deref().map(|id| of("block", id.trim_start_matches('^')));
        heading.or(block).or_else(|| property.as_deref().map(|name| of("frontmatter", name)))
    }
}

/// Print the links of a note, and the links to it
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary links Roof
  lapidary links Roof --to --json")]
pub(crate) struct LinksArguments {
    /// Path, name or alias
    #[arg(add = completing::notes())]
    pub(crate) note: String,
    /// Only what the note links to
    #[arg(long = "from", conflicts_with = "incoming")]
    pub(crate) outgoing: bool,
    /// Only what links to the note
    #[arg(long = "to")]
    pub(crate) incoming: bool,
    /// How many of each
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print tasks: what is open, overdue or due this week
///
/// Exits with 1 if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary tasks
  lapidary tasks overdue
  lapidary tasks this_week --tag house --group due
  lapidary tasks --done 2026-04-01..2026-04-30 --json")]
pub(crate) struct TasksArguments {
    /// When they are due: overdue, today, tomorrow, this_week, none, a date, or FROM..TO
    #[arg(value_name = "DUE")]
    pub(crate) due: Option<String>,
    /// When they were done
    #[arg(long, value_name = "WHEN")]
    pub(crate) done: Option<String>,
    /// open (the default), done, cancelled, all, or the character in the box
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// Only tasks with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// highest, high, medium, low, lowest or none
    #[arg(long, value_name = "PRIORITY")]
    pub(crate) priority: Option<String>,
    /// Only in this folder or note
    #[arg(long = "in", value_name = "PATH", add = completing::notes())]
    pub(crate) path: Option<String>,
    /// Only tasks with these words
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// How they are grouped
    #[arg(long, value_name = "GROUP", default_value = "note", value_parser = ["note", "due", "priority", "status", "folder", "tag"])]
    pub(crate) group: String,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Keep a text or a web page as a source note
///
/// A page becomes Markdown. A source that is known by its address or its text is not added again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary ingest article.html --url https://example.com/article
  lapidary ingest notes.txt --title 'Field notes' --author Ada
  lapidary ingest --html --url https://example.com < page.html")]
pub(crate) struct IngestArguments {
    /// The file, or `-` to read standard input (the default)
    #[arg(value_name = "FILE|-", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Its address
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// The name of the note
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Who wrote it
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// How far it is worked through [default: inbox]
    #[arg(long, value_name = "WORD")]
    pub(crate) status: Option<String>,
    /// Read it as HTML, whatever its name is
    #[arg(long)]
    pub(crate) html: bool,
    /// Print the diff without changing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print today's note, or add text to it
///
/// A missing note is created from the vault's template when text is added to it, or with `--create`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary daily
  lapidary daily 'Called the roofer'
  lapidary daily --heading Log -- '- 4 m of flashing'
  lapidary daily --offset -1
  lapidary daily --period weekly --create")]
pub(crate) struct DailyArguments {
    /// The text to add, or `-` to read it from standard input
    #[arg(value_name = "TEXT|-")]
    pub(crate) text: Vec<String>,
    /// Which note: of the day, week, month, quarter or year
    #[arg(long, value_name = "PERIOD", default_value = "daily", value_parser = ["daily", "weekly", "monthly", "quarterly", "yearly"])]
    pub(crate) period: String,
    /// A day of the period, instead of today
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
    /// How many periods later; -1 is yesterday's
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) offset: i32,
    /// Add the text below this heading
    #[arg(long, value_name = "NAME", requires = "text")]
    pub(crate) heading: Option<String>,
    /// Create the note if it is missing
    #[arg(long)]
    pub(crate) create: bool,
    /// Print the diff without changing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check the vault for broken links, twins, orphans and the like
///
/// Exits with 1 if something grave is found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary health
  lapidary health broken_link
  lapidary health --fix tag_case --dry-run
  lapidary health --json | jq '.summary'")]
pub(crate) struct HealthArguments {
    /// Print the findings of this kind, like `broken_link`
    pub(crate) kind: Option<String>,
    /// Only about files in this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<String>,
    /// Mend this finding, or all of this kind; may be repeated
    #[arg(long, value_name = "ID", conflicts_with_all = ["kind", "folder"])]
    pub(crate) fix: Vec<String>,
    /// Print what would change, and change nothing
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,
    /// How many findings to print
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the best notes for a query
///
/// Exits with 1 if nothing is found.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary search slate roof
  lapidary search '\"slate roof\" -tiles tag:#house'
  lapidary search roof --or 'roofing' --limit 50
  lapidary search roof --json | jq -r '.hits[].filename'")]
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
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the result of a Dataview query or a base
///
/// Exits with 1 if nothing is found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_long_help = "Examples:
  lapidary query 'TABLE status, due FROM #project SORT due'
  lapidary query 'TASK WHERE !completed'
  lapidary query Books.base --view Unread
  lapidary query 'LIST FROM \"Projects\"' --json")]
pub(crate) struct QueryArguments {
    /// Dataview DQL, or the path of a .base file
    #[arg(required = true, value_name = "DQL|FILE.base")]
    pub(crate) query: Vec<String>,
    /// The view of a base, if not its first
    #[arg(long, value_name = "NAME")]
    pub(crate) view: Option<String>,
    /// The note that `this` means
    #[arg(long, value_name = "NOTE", add = completing::notes())]
    pub(crate) note: Option<String>,
    /// How many rows to print
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
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
