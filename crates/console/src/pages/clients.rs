//! Who may call over HTTP: tokens, what was granted to OAuth clients, and how clients are connected.

use askama::Template;

use super::page_frame::PageFrame;
use crate::shown_text::ShownText;

#[derive(Template)]
#[template(path = "clients.html")]
pub struct ClientsPage {
    pub frame: PageFrame,
    pub tokens: Vec<TokenRow>,
    pub grants: Vec<GrantRow>,
    /// Whether clients are served beside this page.
    pub is_served: bool,
    pub sessions: Vec<SessionRow>,
    pub has_more_sessions: bool,
    /// Clients whose tokens are in the configuration.
    pub configured: Vec<ShownText>,
    /// What a new token may use.
    pub new_rights: RightsFields,
    pub url: String,
    pub snippets: Vec<SnippetRow>,
    pub events: Vec<EventRow>,
    pub problem: Option<ShownText>,
    pub notice: Option<ShownText>,
}

pub struct TokenRow {
    /// As the form sends it; escaped by the template.
    pub key: String,
    pub name: ShownText,
    pub rights: ShownText,
    /// One of our own words, so it needs no escaping.
    pub state: &'static str,
    pub expires: String,
    pub last_used: String,
    pub is_live: bool,
    pub fields: RightsFields,
}

/// What a token may use, as a form has it; escaped by the template.
pub struct RightsFields {
    /// Distinguishes the fields of one form from those of another on the page.
    pub id: String,
    pub profiles: Vec<String>,
    pub profile: String,
    pub vaults: Vec<TickedVault>,
    /// One path a line.
    pub read_paths: String,
    pub write_paths: String,
    pub read_only: bool,
}

pub struct TickedVault {
    pub name: String,
    pub is_ticked: bool,
}

pub struct GrantRow {
    pub key: String,
    pub client: ShownText,
    pub rights: ShownText,
    pub scope: ShownText,
    pub state: ShownText,
    pub ends: String,
    pub last_used: String,
    pub is_live: bool,
}

/// An open session of a client.
pub struct SessionRow {
    /// As the form sends it.
    pub key: String,
    /// `None` without authentication.
    pub client: Option<ShownText>,
    /// As it calls itself.
    pub program: ShownText,
    /// Of the older HTTP+SSE.
    pub is_stream: bool,
    pub opened: String,
    pub last_used: String,
}

/// How one client is connected.
pub struct SnippetRow {
    pub client: &'static str,
    pub steps: String,
    pub text: Option<String>,
    pub install: Option<String>,
}

/// An entry of the security log.
pub struct EventRow {
    pub time: String,
    pub what: &'static str,
    pub subject: ShownText,
    pub address: ShownText,
    /// Equal events are one row with a count, so that guessing cannot push others off the page.
    pub count: i64,
}

/// A secret, once.
#[derive(Template)]
#[template(path = "token_secret.html")]
pub struct TokenSecretPage {
    pub frame: PageFrame,
    pub name: ShownText,
    pub rights: ShownText,
    /// Only ever on this page: the server keeps a hash of it.
    pub secret: String,
    pub url: String,
}
