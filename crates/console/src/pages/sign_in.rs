//! The page that is shown to a browser that has not signed in.

use askama::Template;

use super::page_frame::PageFrame;

/// Who is asking, if anyone.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    pub frame: PageFrame,
    /// Whether the owner has a passphrase to sign in with.
    pub has_passphrase: bool,
    pub problem: Option<&'static str>,
}
