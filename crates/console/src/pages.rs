//! One type for each page, with its template.

use askama::Template;

use crate::{
    assets::address_of,
    diff_rows::{DiffRow, FileDiff},
    shown_text::ShownText,
};

/// A part of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleSection {
    Approvals,
    Activity,
    History,
    Search,
    TryIt,
}

impl ConsoleSection {
    const ALL: [Self; 5] = [Self::Approvals, Self::Activity, Self::History, Self::Search, Self::TryIt];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Approvals => "Approvals",
            Self::Activity => "Activity",
            Self::History => "History",
            Self::Search => "Search",
            Self::TryIt => "Try it",
        }
    }

    pub(crate) fn address(self) -> &'static str {
        match self {
            Self::Approvals => "/console/",
            Self::Activity => "/console/activity",
            Self::History => "/console/history",
            Self::Search => "/console/search",
            Self::TryIt => "/console/try",
        }
    }
}

/// What is around every page.
#[derive(Clone, Debug)]
pub struct PageFrame {
    pub section: Option<ConsoleSection>,
    /// Requests that wait for the owner.
    pub pending: usize,
    /// Shows that a form is of a page of this session.
    pub form_token: String,
}

impl PageFrame {
    pub(crate) fn sections(&self) -> [ConsoleSection; 5] {
        ConsoleSection::ALL
    }

    pub(crate) fn is_at(&self, section: &ConsoleSection) -> bool {
        self.section == Some(*section)
    }

    pub(crate) fn style(&self) -> &'static str {
        address_of("console.css")
    }

    pub(crate) fn script(&self) -> &'static str {
        address_of("console.js")
    }

    pub(crate) fn icon(&self) -> &'static str {
        address_of("icon.svg")
    }
}

/// Who is asking, if anyone.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    pub frame: PageFrame,
    /// Whether the owner has a passphrase to sign in with.
    pub has_passphrase: bool,
    pub problem: Option<&'static str>,
}

/// Requests that wait.
#[derive(Template)]
#[template(path = "approvals.html")]
pub struct ApprovalsPage {
    pub frame: PageFrame,
    pub items: Vec<ApprovalItem>,
}

pub struct ApprovalItem {
    pub id: String,
    pub client: ShownText,
    pub tool: ShownText,
    pub vault: ShownText,
    /// What it would do, in a sentence.
    pub summary: ShownText,
    pub asked: ShownText,
    pub asked_exactly: ShownText,
    pub until: ShownText,
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
    Reading { question: ShownText },
    Changes {
        files: Vec<ChangedFile>,
        digest: String,
        is_separable: bool,
        /// It is another change by now than the one that was requested.
        is_stale: bool,
        /// The owner has amended it.
        is_amended: bool,
    },
    /// It cannot be made any more.
    Impossible { reason: ShownText },
}

/// A file of a change.
pub struct ChangedFile {
    /// As forms send it; escaped by the template.
    pub path: String,
    pub shown_path: ShownText,
    /// `changed`, `created`, `moved to …`, `deleted`.
    pub action: ShownText,
    pub diff: FileDiff,
    /// A file that is not text is described instead.
    pub instead: Option<String>,
    /// The new text, if it can be edited.
    pub text: Option<String>,
    /// Identifies the text that the client wants, so that a form tells whether the owner wants another.
    pub planned: String,
    pub is_left_out: bool,
    pub is_edited: bool,
}

/// What became of an answer.
#[derive(Template)]
#[template(path = "answer.html")]
pub struct AnswerPage {
    pub frame: PageFrame,
    pub heading: &'static str,
    pub text: ShownText,
    pub is_done: bool,
    /// The page that takes it back.
    pub address: Option<String>,
}

/// Calls, newest first.
#[derive(Template)]
#[template(path = "activity.html")]
pub struct ActivityPage {
    pub frame: PageFrame,
    pub rows: Vec<ActivityRow>,
    pub filter: ActivityFilter,
    /// There are older ones that fit.
    pub has_more: bool,
    pub has_several_vaults: bool,
    /// The filter as the end of an address, for the export.
    pub query: String,
}

/// As typed; escaped by the template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    pub client: String,
    pub tool: String,
    pub note: String,
    pub reason: String,
    /// Nothing, `changed`, `refused`.
    pub outcome: String,
    /// Nothing, `1h`, `1d`, `7d`.
    pub since: String,
}

impl ActivityFilter {
    fn is(&self, value: &str, expected: &str) -> bool {
        value == expected
    }
}

pub struct ActivityRow {
    pub time: ShownText,
    pub exact_time: ShownText,
    pub client: ShownText,
    pub tool: ShownText,
    pub note: ShownText,
    pub vault: ShownText,
    pub outcome: ShownText,
    pub tone: OutcomeTone,
    pub milliseconds: String,
    pub bytes: String,
    /// Of the change that it made.
    pub address: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeTone {
    Plain,
    Changed,
    Refused,
    Waiting,
}

impl OutcomeTone {
    pub fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Changed => "changed",
            Self::Refused => "refused",
            Self::Waiting => "waiting",
        }
    }
}

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
