//! From text to structure: what a Markdown parser finds, and Obsidian's syntax that it does not know.

mod brackets;
mod leaf;
mod mask;
mod reading;
#[cfg(test)]
mod tests;
mod walk;

use pulldown_cmark::Options;

pub(crate) use walk::walk;

/// Wikilinks, tasks and formulas are parsed here: the parser's rules for them are not Obsidian's.
fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH
}
