//! Who may see the console: a browser that has the one-time code, and from then on the cookie that it was exchanged for.

use std::time::Duration;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lapidary_auth::{SecretKind, SecretText, is_same_digest};
use lapidary_console::{PageFrame, SignInPage};
use lapidary_note::ContentHash;
use lapidary_vault::ElapsedTime;

use super::{Console, ConsoleState, is_safe, page, read_form, refused};

/// How long a code can be used, once.
const CODE_LIFE: Duration = Duration::from_secs(60);
/// How long a session lives without being used.
const SESSION_IDLE: Duration = Duration::from_secs(12 * 60 * 60);

/// Codes and sessions, as hashes. They end with the server.
pub(super) struct ConsoleSessions {
    started: ElapsedTime,
    codes: Vec<(ContentHash, Duration)>,
    open: Vec<(ContentHash, Duration)>,
}

impl Default for ConsoleSessions {
    fn default() -> Self {
        Self { started: ElapsedTime::start(), codes: Vec::new(), open: Vec::new() }
    }
}

impl ConsoleSessions {
    fn add_code(&mut self, code: &SecretText) {
        let until = self.started.elapsed() + CODE_LIFE;
        self.codes.push((code.digest(), until));
    }

    /// Exchanges a code for a session.
    fn open(&mut self, code: &SecretText, session: &SecretText) -> bool {
        let now = self.started.elapsed();
        self.codes.retain(|(_, until)| *until > now);
        let given = code.digest();
        let Some(at) = self.codes.iter().position(|(known, _)| is_same_digest(known, &given)) else { return false };
        self.codes.swap_remove(at);
        self.open.push((session.digest(), now));
        true
    }

    /// Whether a session is open, and notes that it is used.
    fn uses(&mut self, session: &SecretText) -> bool {
        let now = self.started.elapsed();
        self.open.retain(|(_, used)| now.saturating_sub(*used) < SESSION_IDLE);
        let given = session.digest();
        match self.open.iter_mut().find(|(known, _)| is_same_digest(known, &given)) {
            Some((_, used)) => {
                *used = now;
                true
            }
            None => false,
        }
    }

    fn close(&mut self, session: &SecretText) {
        let given = session.digest();
        self.open.retain(|(known, _)| !is_same_digest(known, &given));
    }
}

/// The session that a request is part of.
#[derive(Clone)]
pub(super) struct OpenSession(SecretText);

impl OpenSession {
    /// Pages of other sites can send a form here, but do not know this.
    pub(super) fn form_token(&self) -> String {
        ContentHash::of(format!("form of {}", self.0.reveal()).as_bytes()).to_string()
    }

    pub(super) fn is_form_token(&self, given: &str) -> bool {
        let digest = |text: &str| ContentHash::of(text.as_bytes());
        is_same_digest(&digest(given), &digest(&self.form_token()))
    }
}

impl Console {
    /// A code that signs in once.
    pub(super) fn new_code(&self) -> Result<String, String> {
        let code = new_secret().map_err(|error| format!("the system gives no random numbers: {error}"))?;
        self.0.sessions.lock().add_code(&code);
        Ok(code.reveal().to_owned())
    }

    fn session(&self, headers: &HeaderMap) -> Option<OpenSession> {
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, session) = cookies.find(|(name, _)| *name == self.0.cookie)?;
        let session = SecretText::new(session.to_owned());
        self.0.sessions.lock().uses(&session).then_some(OpenSession(session))
    }

    fn cookie(&self, value: &str, life: &str) -> Option<HeaderValue> {
        let cookie = format!("{}={value}; HttpOnly; SameSite=Strict; Path=/console{life}", self.0.cookie);
        let mut cookie = HeaderValue::from_str(&cookie).ok()?;
        cookie.set_sensitive(true);
        Some(cookie)
    }
}

fn new_secret() -> Result<SecretText, getrandom::Error> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)?;
    Ok(SecretText::mint(SecretKind::OwnerSession, &random))
}

fn sign_in_page(status: StatusCode, problem: Option<&'static str>) -> Response {
    let frame = PageFrame::signed_out();
    page(status, &SignInPage { frame, has_passphrase: false, problem })
}

/// Lets requests of an open session through, and shows others where to sign in.
pub(super) async fn require_session(
    axum::extract::State(console): ConsoleState,
    mut request: Request,
    next: Next,
) -> Response {
    // A page of another site that sends a form, or looks at one of ours.
    let site = request.headers().get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if !is_safe(request.method()) && site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return refused(StatusCode::FORBIDDEN, "This was sent by another site.");
    }
    let Some(session) = console.session(request.headers()) else {
        // A script that listens must not get a page.
        return match request.uri().path() {
            "/console/events" => StatusCode::UNAUTHORIZED.into_response(),
            _ => sign_in_page(StatusCode::UNAUTHORIZED, None),
        };
    };
    request.extensions_mut().insert(session);
    next.run(request).await
}

pub(super) async fn sign_in(axum::extract::State(console): ConsoleState, request: Request) -> Response {
    let form = match read_form(request).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let Ok(session) = new_secret() else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "The system gives no random numbers.");
    };
    let code = SecretText::new(form.get("code").unwrap_or_default().to_owned());
    if !console.0.sessions.lock().open(&code, &session) {
        tracing::warn!("a wrong code was given to the console");
        let problem = "That code is not valid: it works once, for a minute. Run `lapidary console` again.";
        return sign_in_page(StatusCode::FORBIDDEN, Some(problem));
    }
    let Some(cookie) = console.cookie(session.reveal(), "") else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, "/console/")]).into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

pub(super) async fn sign_out(
    axum::extract::State(console): ConsoleState,
    axum::Extension(session): axum::Extension<OpenSession>,
    request: Request,
) -> Response {
    if let Err(response) = console.form(request, &session).await {
        return response;
    }
    console.0.sessions.lock().close(&session.0);
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, "/console/")]).into_response();
    if let Some(cookie) = console.cookie("", "; Max-Age=0") {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
