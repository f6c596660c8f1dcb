//! What a caller may do to a path, and the rules that decide it.

use askama::Template;

use super::{page_frame::PageFrame, search::VaultChoices, try_it::CallerChoice};
use crate::shown_text::ShownText;

#[derive(Template)]
#[template(path = "rules.html")]
pub struct RulesPage {
    pub frame: PageFrame,
    pub callers: Vec<CallerChoice>,
    pub tools: Vec<&'static str>,
    /// As chosen and typed; escaped by the template.
    pub tool: String,
    pub path: String,
    pub vaults: VaultChoices,
    pub verdicts: Vec<VerdictRow>,
    pub problem: Option<ShownText>,
    pub rules: Vec<RuleRow>,
    pub profiles: Vec<ProfileRow>,
}

pub struct VerdictRow {
    /// What the tool would do.
    pub action: &'static str,
    /// `allowed`, `asked`, `denied`.
    pub verdict: &'static str,
    /// The style of that word.
    pub tone: &'static str,
    pub because: ShownText,
}

pub struct RuleRow {
    /// Its place in the configuration, from 1: the first rule that matches decides.
    pub number: usize,
    pub decision: &'static str,
    pub about: ShownText,
    /// It decided the question.
    pub decides: bool,
}

/// What a profile allows, for comparison with the verdict.
pub struct ProfileRow {
    pub name: ShownText,
    pub most: &'static str,
    pub tools: usize,
}
