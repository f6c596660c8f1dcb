//! Who may see the console: the owner, by the passphrase or a one-time code, and from then on by the session of the browser.

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lapidary_auth::{SecretText, is_same_digest};
use lapidary_console::{PageFrame, SignInPage};
use lapidary_note::ContentHash;

use super::{Console, ConsoleState, is_safe, no_answer, page, read_form, refused};
use crate::http::{
    client_limits::TooFast,
    owner_sign_in::{SignInRefusal, StoreTrouble, is_foreign},
};

const WRONG_CODE: &str = "That code is not valid: it works once, for a minute. Run `lapidary console` again.";
const WRONG_PASSPHRASE: &str = "That is not the passphrase.";

/// The session that a request is part of.
#[derive(Clone)]
pub(super) struct OpenSession(SecretText);

impl OpenSession {
    /// Pages of other sites can send a form here, but do not know this.
    pub(super) fn form_token(&self) -> String {
        // Derived from the session and never stored; knowing it does not reveal the session.
        ContentHash::of(format!("form of {}", self.0.reveal()).as_bytes()).to_string()
    }

    /// Whether the owner has not signed out since. Looking does not count as use.
    pub(super) async fn is_open(&self, console: &Console) -> bool {
        let (session, now) = (self.0.clone(), console.0.sign_in_page.now());
        // A database that does not answer for a moment ends no stream.
        console.0.sign_in_page.ask(move |store| store.is_owner_session(&session, now)).await.unwrap_or(true)
    }

    pub(super) fn is_form_token(&self, given: &str) -> bool {
        let digest = |text: &str| ContentHash::of(text.as_bytes());
        // By hashes in constant time, so that answers do not tell how much of a guess is right.
        is_same_digest(&digest(given), &digest(&self.form_token()))
    }
}

impl Console {
    /// Whether a request comes over TLS, as far as its page says.
    fn is_https(&self, headers: &HeaderMap) -> bool {
        // Behind a proxy only the origin of the page shows that it came over TLS.
        let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        origin.unwrap_or(self.0.site.address()).starts_with("https://")
    }

    async fn sign_in_page(&self, status: StatusCode, problem: Option<&'static str>) -> Response {
        // Without an answer the code still works.
        let has_passphrase = self.0.sign_in_page.ask(|store| store.has_passphrase()).await.unwrap_or_default();
        page(status, &SignInPage { frame: PageFrame::signed_out(), has_passphrase, problem })
    }
}

/// Lets requests of an open session through, and shows others where to sign in.
pub(super) async fn require_session(State(console): ConsoleState, mut request: Request, next: Next) -> Response {
    // A page of another site that sends a form.
    // Also checked by the form token; this ends such requests before anything is read.
    if !is_safe(request.method()) && is_foreign(request.headers(), |origin| console.0.site.is_own(origin)) {
        return refused(StatusCode::FORBIDDEN, "This was sent by another site.");
    }
    match console.0.sign_in_page.session(request.headers(), console.0.site.has_plain()).await {
        Ok(Some(session)) => {
            request.extensions_mut().insert(OpenSession(session));
            next.run(request).await
        }
        Ok(None) => {
            // A stranger must not be able to make the server work.
            if let Err(limit) = console.0.sign_in_page.visit(&console.0.sign_in_page.address(&request)) {
                return too_fast(&limit);
            }
            // A script that listens must not get a page.
            match request.uri().path() {
                "/console/events" => StatusCode::UNAUTHORIZED.into_response(),
                _ => console.sign_in_page(StatusCode::UNAUTHORIZED, None).await,
            }
        }
        Err(StoreTrouble) => no_answer(),
    }
}

pub(super) async fn sign_in(State(console): ConsoleState, request: Request) -> Response {
    let address = console.0.sign_in_page.address(&request);
    // Before the form is read, so that a stranger cannot make the server work.
    if let Err(limit) = console.0.sign_in_page.visit(&address) {
        return too_fast(&limit);
    }
    if is_foreign(request.headers(), |origin| console.0.site.is_own(origin)) {
        return refused(StatusCode::FORBIDDEN, "This was sent by another site.");
    }
    let is_https = console.is_https(request.headers());
    let form = match read_form(request).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let secret = |name: &str| form.get(name).map(|text| SecretText::new(text.to_owned()));
    let (signed_in, problem) = match (secret("passphrase"), secret("code")) {
        (Some(passphrase), _) => (console.0.sign_in_page.sign_in(passphrase, &address).await, WRONG_PASSPHRASE),
        (None, code) => {
            let code = code.unwrap_or_else(|| SecretText::new(String::new()));
            (console.0.sign_in_page.exchange(code, &address).await, WRONG_CODE)
        }
    };
    match signed_in {
        // Redirected with 303, so that reloading the page does not send the passphrase again.
        Ok(session) => to_start(console.0.sign_in_page.cookie(Some(&session), is_https)),
        Err(SignInRefusal::Wrong) => console.sign_in_page(StatusCode::FORBIDDEN, Some(problem)).await,
        Err(SignInRefusal::TooFast(limit)) => too_fast(&limit),
        Err(SignInRefusal::Trouble(StoreTrouble)) => no_answer(),
    }
}

/// This browser, or all of them.
pub(super) async fn sign_out(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    request: Request,
) -> Response {
    let is_https = console.is_https(request.headers());
    let form = match console.form(request, &session).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let everywhere = form.get("everywhere").is_some();
    let closed = console.0.sign_in_page.ask(move |store| {
        // A lost computer is why one signs out everywhere.
        if everywhere { store.close_owner_sessions() } else { store.close_owner_session(&session.0) }
    });
    match closed.await {
        Ok(()) => to_start(console.0.sign_in_page.cookie(None, is_https)),
        Err(StoreTrouble) => no_answer(),
    }
}

/// To the first page, with a cookie.
fn to_start(cookie: Result<HeaderValue, StoreTrouble>) -> Response {
    let Ok(cookie) = cookie else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    (StatusCode::SEE_OTHER, [(header::LOCATION, HeaderValue::from_static("/console/")), (header::SET_COOKIE, cookie)])
        .into_response()
}

fn too_fast(limit: &TooFast) -> Response {
    let seconds = limit.retry_after.as_secs_f64().ceil().max(1.0) as u64;
    let mut response = refused(
        StatusCode::TOO_MANY_REQUESTS,
        "Too many tries. Wait a few minutes. A browser that is signed in already is not affected.",
    );
    // Rounded up: a client that waits exactly that long gets through.
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}
