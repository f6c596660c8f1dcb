//! What may be wrong in a vault, and what mending some of it would change.

use askama::Template;

use super::{changed_file::ChangedFile, page_frame::PageFrame};
use crate::{diff_rows::DiffRow, shown_text::ShownText};

/// The findings of a health check.
#[derive(Template)]
#[template(path = "health.html")]
pub struct HealthPage {
    pub frame: PageFrame,
    pub kinds: Vec<KindRow>,
    /// The kind whose findings are shown; empty if none is.
    pub kind: String,
    pub findings: Vec<FindingRow>,
    /// The address of more findings.
    pub more: Option<String>,
    /// What mending the chosen ones would change.
    pub offer: Option<FixOffer>,
    pub vault: Option<String>,
    pub vaults: Vec<String>,
    pub problem: Option<ShownText>,
}

impl HealthPage {
    /// Whether any of the shown findings can be mended here.
    fn has_fixable(&self) -> bool {
        self.findings.iter().any(|finding| finding.is_fixable)
    }
}

/// How many findings of a kind there are.
pub struct KindRow {
    pub name: ShownText,
    pub severity: ShownText,
    pub count: u64,
    pub fixable: u64,
    pub address: String,
    pub is_current: bool,
}

pub struct FindingRow {
    pub id: String,
    pub says: ShownText,
    /// What mending does, or why it is left to a person.
    pub fix: ShownText,
    pub is_fixable: bool,
    pub is_chosen: bool,
}

/// A planned change, with the button that makes it.
pub struct FixOffer {
    pub files: Vec<ChangedFile>,
    /// Identifies what is shown.
    pub digest: String,
    /// The findings that it mends, as the form sends them back.
    pub chosen: Vec<String>,
    pub is_split: bool,
}
