//! The pages that find notes: by words, and by queries.

use askama::Template;

use super::page_frame::PageFrame;
use crate::shown_text::ShownText;

/// The best notes for some words.
#[derive(Template)]
#[template(path = "search.html")]
pub struct SearchPage {
    pub frame: PageFrame,
    /// As typed.
    pub words: String,
    pub vaults: VaultChoices,
    pub hits: Vec<FoundNote>,
    /// Of all that fit.
    pub total: u64,
    pub notice: Option<ShownText>,
    pub problem: Option<ShownText>,
}

pub struct FoundNote {
    pub path: ShownText,
    pub section: Option<ShownText>,
    /// With the found words marked.
    pub passage: ShownText,
    /// Opens it in Obsidian; escaped by the template.
    pub address: String,
}

/// The vaults to choose from; with only one there is no choice.
pub struct VaultChoices {
    pub names: Vec<String>,
    pub chosen: Option<String>,
}

impl VaultChoices {
    pub(crate) fn is_chosen(&self, name: &str) -> bool {
        self.chosen.as_deref() == Some(name)
    }
}

/// A query and its rows.
#[derive(Template)]
#[template(path = "queries.html")]
pub struct QueryPage {
    pub frame: PageFrame,
    /// As typed.
    pub query: String,
    pub view: String,
    pub note: String,
    pub vaults: VaultChoices,
    pub table: Option<ShownTable>,
    pub problem: Option<QueryProblem>,
}

/// What is wrong with a query, and where.
pub struct QueryProblem {
    pub words: ShownText,
    pub place: Option<QueryPlace>,
}

/// Both count from 1, as editors do.
pub struct QueryPlace {
    pub line: usize,
    pub column: usize,
    /// The line with the place marked.
    pub marked: ShownText,
}

pub struct ShownTable {
    pub columns: Vec<ShownColumn>,
    pub rows: Vec<Vec<ShownCell>>,
    /// Of all pages.
    pub total: u64,
    pub notices: Vec<ShownText>,
    /// The query as the end of an address, for exports.
    pub address: String,
}

pub struct ShownColumn {
    pub name: ShownText,
    /// Sorts by it.
    pub address: String,
    /// `ascending` or `descending`, if it is sorted by it.
    pub order: Option<&'static str>,
}

pub struct ShownCell {
    pub text: ShownText,
    pub is_number: bool,
    /// Opens the note in Obsidian.
    pub address: Option<String>,
}
