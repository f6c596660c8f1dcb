//! The log of calls.

use askama::Template;

use super::{history::RestoreOffer, page_frame::PageFrame};
use crate::{diff_rows::DiffRow, shown_text::ShownText};

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
    /// Of the calls that fit, with the most first.
    pub shares: Vec<ClientShare>,
    /// How many of the latest calls are counted in them.
    pub counted: usize,
}

/// How much of what is counted is of one client.
pub struct ClientShare {
    pub name: ShownText,
    pub calls: usize,
    pub bytes: String,
    /// Of 100, for the bars.
    pub calls_width: usize,
    pub bytes_width: usize,
    /// Of the page with its calls alone.
    pub address: String,
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
    /// For the table; the exact one is its tooltip.
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
    /// Of the page about the call.
    pub open: String,
}

/// One call, with everything that the log knows of it.
#[derive(Template)]
#[template(path = "call.html")]
pub struct CallPage {
    pub frame: PageFrame,
    pub tool: ShownText,
    pub outcome: ShownText,
    pub tone: OutcomeTone,
    /// What a refusal means.
    pub why: Option<&'static str>,
    pub facts: Vec<CallFact>,
    /// Of the change that it made.
    pub address: Option<String>,
    pub offer: Option<RestoreOffer>,
}

pub struct CallFact {
    pub name: ShownText,
    pub value: ShownText,
}

/// The style of an outcome; the words beside it say the same.
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
