//! What became of a form that was sent.

use askama::Template;

use super::page_frame::PageFrame;
use crate::shown_text::ShownText;

/// What became of an answer.
#[derive(Template)]
#[template(path = "answer.html")]
pub struct AnswerPage {
    pub frame: PageFrame,
    pub heading: &'static str,
    pub text: ShownText,
    /// A refusal is shown on the same page, in another colour.
    pub is_done: bool,
    /// The page that takes it back.
    pub address: Option<String>,
}
