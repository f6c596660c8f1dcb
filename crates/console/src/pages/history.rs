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
    pub files: Vec<HistoryFile>,
    pub more_files: usize,
    /// Of the page about it.
    pub address: String,
}

/// A file of a change, and its versions.
pub struct HistoryFile {
    pub text: ShownText,
    pub address: String,
}

/// A change, what it did, and what taking it back would do.
#[derive(Template)]
#[template(path = "restore.html")]
pub struct RestorePage {
    pub frame: PageFrame,
    pub entry: HistoryEntry,
    /// How much can be taken back.
    pub choices: Vec<RestoreChoice>,
    pub offer: Option<RestoreOffer>,
    pub problem: Option<ShownText>,
}

pub struct RestoreChoice {
    pub text: ShownText,
    pub address: String,
    pub is_current: bool,
}

/// What taking something back would change, with the button that does it.
pub struct RestoreOffer {
    /// Where the form goes.
    pub address: String,
    pub vault: String,
    /// Of the only file that is taken back; empty for all.
    pub path: String,
    /// Later changes are taken back too.
    pub and_later: bool,
    pub files: Vec<ChangedFile>,
    /// Identifies what is shown.
    pub digest: String,
    pub is_split: bool,
}

/// The versions of a note, and one of them.
#[derive(Template)]
#[template(path = "versions.html")]
pub struct VersionsPage {
    pub frame: PageFrame,
    pub shown_path: ShownText,
    /// As forms send them; escaped by the template.
    pub path: String,
    pub vault: String,
    /// Oldest first; the last one is the note as it is now.
    pub versions: Vec<NoteVersion>,
    /// The one that is shown.
    pub at: usize,
    /// Its text; nothing if there was no note.
    pub text: Option<ShownText>,
    pub is_text_cut: bool,
    /// Compared with the version before, or with the present.
    pub files: Vec<ChangedFile>,
    pub with_now: bool,
    /// The addresses of the two.
    pub against_before: String,
    pub against_now: String,
    /// Of the page that brings it back.
    pub restore: Option<String>,
    pub has_more: bool,
    pub is_split: bool,
    pub problem: Option<ShownText>,
}

impl VersionsPage {
    fn last(&self) -> usize {
        self.versions.len().saturating_sub(1)
    }
}

pub struct NoteVersion {
    /// When it came about, and by whom.
    pub label: ShownText,
    pub address: String,
    pub is_current: bool,
}
