//! Requests that wait: the list, and one of them.

use askama::Template;

use super::{changed_file::ChangedFile, page_frame::PageFrame};
use crate::{diff_rows::DiffRow, shown_text::ShownText};

/// Requests that wait.
#[derive(Template)]
#[template(path = "approvals.html")]
pub struct ApprovalsPage {
    pub frame: PageFrame,
    pub items: Vec<ApprovalItem>,
}

pub struct ApprovalItem {
    /// As the form sends it; escaped by the template.
    pub id: String,
    pub client: ShownText,
    pub tool: ShownText,
    pub vault: ShownText,
    /// What it would do, in a sentence.
    pub summary: ShownText,
    /// In words; the exact time is for programs that read the page.
    pub asked: ShownText,
    pub asked_exactly: ShownText,
    /// When it is forgotten, and how long that is from now.
    pub until: ShownText,
    pub left: ShownText,
    /// It was answered elsewhere, and is being carried out.
    pub is_taken: bool,
}

/// One request, with everything that it would change.
#[derive(Template)]
#[template(path = "approval.html")]
pub struct ApprovalPage {
    pub frame: PageFrame,
    pub item: ApprovalItem,
    pub state: ReviewState,
    /// What happened to an answer that was given on this page.
    pub problem: Option<ShownText>,
    pub is_split: bool,
}

pub enum ReviewState {
    /// It wants to read: there is nothing to compare.
    Reading { question: ShownText, digest: String },
    Changes {
        files: Vec<ChangedFile>,
        /// What the Obsidian app or another server does then, or all there is to it; completes "wants to".
        action: Option<ShownText>,
        /// What it is called with.
        arguments: Option<ShownText>,
        /// What recipes that it makes may do from then on.
        recipes: Vec<ShownText>,
        /// Identifies what is shown: an answer counts only for the change with this digest.
        digest: String,
        /// Whether files can be left out one by one; the tools that planned the change decide that.
        is_separable: bool,
        /// It is another change by now than the one that was requested.
        is_stale: bool,
        /// The owner has amended it.
        is_amended: bool,
    },
    /// It cannot be made any more.
    Impossible { reason: ShownText },
}
