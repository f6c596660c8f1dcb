//! Changes that were made, and taking them back.

use askama::Template;

use super::{changed_file::ChangedFile, page_frame::PageFrame};
use crate::{diff_rows::DiffRow, shown_text::ShownText};

/// Changes that can be taken back.
#[derive(Template)]
#[template(path = "history.html")]
pub struct HistoryPage {
    pub frame: PageFrame,
    pub entries: Vec<HistoryEntry>,
    /// As typed.
    pub note: String,
    pub vault: Option<String>,
    pub vaults: Vec<String>,
    /// The address of older ones.
    pub older: Option<String>,
    pub problem: Option<ShownText>,
}

pub struct HistoryEntry {
    pub id: String,
    pub time: ShownText,
    pub exact_time: ShownText,
    pub client: ShownText,
    pub tool: ShownText,
    pub kind: ShownText,
    pub files: Vec<ShownText>,
    pub more_files: usize,
    /// Of the page about it.
    pub address: String,
}

/// A change, what it did, and what taking it back would do.
#[derive(Template)]
#[template(path = "restore.html")]
pub struct RestorePage {
    pub frame: PageFrame,
    pub entry: HistoryEntry,
    pub vault: String,
    /// What taking it back would change.
    pub files: Vec<ChangedFile>,
    /// Identifies that.
    pub digest: String,
    pub is_split: bool,
    pub problem: Option<ShownText>,
}
