//! The pages on which the owner calls tools by hand.

use askama::Template;

use super::{activity::OutcomeTone, changed_file::ChangedFile, page_frame::PageFrame};
use crate::{
    diff_rows::DiffRow,
    schema_form::{ArgumentForm, FieldKind},
    shown_text::ShownText,
};

/// All tools, by group.
#[derive(Template)]
#[template(path = "try_list.html")]
pub struct ToolListPage {
    pub frame: PageFrame,
    /// As typed.
    pub filter: String,
    pub groups: Vec<ListedGroup>,
}

pub struct ListedGroup {
    pub name: &'static str,
    pub tools: Vec<ListedTool>,
}

pub struct ListedTool {
    pub name: &'static str,
    pub title: &'static str,
    pub effect: &'static str,
    pub about: ShownText,
    /// Why it cannot be called, with what to do about it.
    pub off: Option<&'static str>,
}

/// One tool, its arguments, and what became of a call.
#[derive(Template)]
#[template(path = "try.html")]
pub struct TryPage {
    pub frame: PageFrame,
    pub tool: ListedTool,
    pub callers: Vec<CallerChoice>,
    pub arguments: TypedArguments,
    pub examples: Vec<ShownText>,
    /// Whether a change can be shown without being made.
    pub has_dry_run: bool,
    pub writes: bool,
    pub notice: Option<&'static str>,
    pub tried: Option<TriedCall>,
}

/// In whose place a call is made.
pub struct CallerChoice {
    /// As the form sends it; escaped by the template.
    pub key: String,
    pub label: ShownText,
    pub is_chosen: bool,
}

pub enum TypedArguments {
    Form(ArgumentForm),
    /// As typed, and what is wrong with it.
    Json {
        text: String,
        problem: Option<ShownText>,
    },
}

/// A call that was made.
pub struct TriedCall {
    pub heading: &'static str,
    pub tone: OutcomeTone,
    /// A sentence about what happened, and where to go on.
    pub notice: Option<ShownText>,
    pub link: Option<(String, &'static str)>,
    /// What a client sends.
    pub request: ShownText,
    /// The same on the command line; escaped by the template.
    pub command: String,
    pub text: Option<ReplyPart>,
    pub structured: Option<ReplyPart>,
    /// What it would change, if it was only looked at.
    pub files: Vec<ChangedFile>,
    pub is_split: bool,
}

/// A part of a reply, as far as a page has room for it.
pub struct ReplyPart {
    pub shown: ShownText,
    pub bytes: usize,
    pub is_cut: bool,
}

impl ReplyPart {
    /// As many models count, roughly.
    const BYTES_PER_TOKEN: usize = 4;

    fn tokens(&self) -> usize {
        self.bytes.div_ceil(Self::BYTES_PER_TOKEN)
    }
}

impl TryPage {
    fn has_optional(&self) -> bool {
        matches!(&self.arguments, TypedArguments::Form(form) if form.fields.iter().any(|field| !field.is_required))
    }

    /// Whether an argument that may be left out has something in it.
    fn uses_optional(&self) -> bool {
        // The page folds optional arguments away unless this holds: what was typed must stay visible.
        let used = |form: &ArgumentForm| {
            let mut optional = form.fields.iter().filter(|field| !field.is_required);
            optional.any(|field| !field.value.is_empty() || field.problem.is_some())
        };
        matches!(&self.arguments, TypedArguments::Form(form) if used(form))
    }
}
