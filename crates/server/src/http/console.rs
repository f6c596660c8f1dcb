//! The console: what a person sees in a browser. A client of the same executor as every other; nothing here goes around
//! rules, checkpoints or the log.
//!
//! Served beside the endpoint of `lapidary serve --http`, and alone on loopback by `lapidary console`; always to the owner
//! alone. No token of a client opens it.

mod activity;
mod approvals;
mod changed_files;
mod client_choice;
mod clients;
mod console_calls;
mod console_site;
mod graph;
mod health;
mod history;
mod kept_places;
mod layout_cache;
mod live_events;
mod owner_access;
mod queries;
mod restoring;
mod rules;
mod searching;
mod sessions;
mod settings;
mod settings_access;
mod surveying;
mod try_it;
mod vault;
mod versions;

#[cfg(test)]
mod tests;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use askama::Template;
use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use lapidary_auth::{AuthStore, FormParameters, SecretKind};
use lapidary_config::{AllowedOrigins, BodyLimits, HttpConfig};
use lapidary_console::{AnswerPage, ConsoleSection, PageFrame, ShownText, find_asset};
use lapidary_pipeline::{Caller, CallerStanding, Clock, Executor, Principal};
use lapidary_tools::ChangeAuthor;
use tokio::{net::TcpListener, sync::watch};

pub(super) use self::console_site::ConsoleSite;
use self::layout_cache::LayoutCache;
pub(crate) use self::{owner_access::OwnerAccess, settings_access::SettingsAccess};
use super::{
    LAST_ANSWERS, accept_loop,
    owner_sign_in::{OwnerSignIn, StoreTrouble, new_secret},
    posted_message, request_checks,
    request_checks::RequestChecks,
    session_table::SessionTable,
};
use crate::stdio::told_to_stop;

/// Nothing but our own files, no inline code or style, and no way to make markup of text.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; form-action 'self'; \
                              base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
/// A form of the owner may contain the new texts of a change.
const FORM_BYTES: usize = 32 << 20;
/// A form of who has not signed in is a code or a passphrase.
const SIGN_IN_BYTES: usize = 4 << 10;

/// A running console.
#[derive(Clone)]
pub(super) struct Console(Arc<ConsoleParts>);

pub(super) struct ConsoleParts {
    executor: Arc<Executor>,
    owner: OwnerAccess,
    clock: Clock,
    sign_in_page: Arc<OwnerSignIn>,
    site: ConsoleSite,
    layouts: LayoutCache,
    stopping: watch::Receiver<bool>,
    endpoint: Option<ServedEndpoint>,
}

/// The endpoint for clients that is served beside the console.
pub(super) struct ServedEndpoint {
    /// Where clients reach it.
    pub(super) url: String,
    pub(super) sessions: SessionTable,
}

/// Serves the console alone until told to stop. `opened` gets the address that signs in.
pub(crate) async fn serve(
    executor: Arc<Executor>,
    owner: OwnerAccess,
    settings: &HttpConfig,
    port: u16,
    opened: impl FnOnce(&str),
) -> Result<(), String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let (stop, stopping) = watch::channel(false);
    let site = ConsoleSite::on_loopback(address.port());
    let link = link(&owner.auth, site.address(), Clock::system())?;
    // No further host and no origin of another site: there is no public address here.
    let checks =
        RequestChecks::new(Vec::new(), AllowedOrigins::Listed(Vec::new()), address.ip(), site.address().to_owned());
    // On a port that the system chose, the cookie needs a name that no other console on this computer has.
    let sign_in_page = OwnerSignIn::new(Arc::clone(&owner.auth), Clock::system(), Vec::new()).on_port(address.port());
    let console = Console::new(executor, owner, Arc::new(sign_in_page), site, stopping.clone(), None);
    let router = console.routes().route("/", get(to_console)).fallback(nothing_here);
    let router = router.layer(from_fn_with_state(checks, request_checks::guard));
    tokio::spawn(async move {
        told_to_stop().await;
        stop.send_replace(true);
    });
    // After the listener is bound, so that the browser finds it.
    opened(&link);
    accept_loop::serve(listener, None, router, settings.connections, stopping, LAST_ANSWERS).await;
    Ok(())
}

/// A link that signs in once at the console of this origin. The code is in the fragment, which no server and no log sees.
pub(crate) fn link(store: &AuthStore, origin: &str, clock: Clock) -> Result<String, String> {
    let no_random = |StoreTrouble| "the system gives no random numbers".to_owned();
    let code = new_secret(SecretKind::OwnerCode).map_err(no_random)?;
    store.add_owner_code(&code, clock.now().into()).map_err(|error| error.to_string())?;
    Ok(format!("{origin}/console/#{}", code.reveal()))
}

impl Console {
    pub(super) fn new(
        executor: Arc<Executor>,
        owner: OwnerAccess,
        sign_in_page: Arc<OwnerSignIn>,
        site: ConsoleSite,
        stopping: watch::Receiver<bool>,
        endpoint: Option<ServedEndpoint>,
    ) -> Self {
        let layouts = LayoutCache::new(stopping.clone(), owner.place_files());
        let clock = Clock::system();
        Self(Arc::new(ConsoleParts { executor, owner, clock, sign_in_page, site, layouts, stopping, endpoint }))
    }

    pub(super) fn routes(self) -> Router {
        let pages = Router::new()
            .merge(approvals::routes())
            .merge(activity::routes())
            .merge(history::routes())
            .merge(vault::routes())
            .merge(graph::routes())
            .merge(health::routes())
            .merge(restoring::routes())
            .merge(versions::routes())
            .merge(searching::routes())
            .merge(queries::routes())
            .merge(try_it::routes())
            .merge(clients::routes())
            .merge(rules::routes())
            .merge(settings::routes())
            .route("/console/events", get(live_events::stream))
            .route("/console/sign-out", post(sessions::sign_out))
            .layer(from_fn_with_state(self.clone(), sessions::require_session));
        Router::new()
            .route("/console", get(to_console))
            .route("/console/sign-in", post(sessions::sign_in))
            .route("/console/static/{hash}/{name}", get(asset))
            .route("/console/{*other}", any(nothing_here))
            .merge(pages)
            .layer(axum::middleware::from_fn(secured))
            .with_state(self)
    }

    /// The owner in a browser, whose calls go the way of all others.
    fn principal(&self) -> Principal {
        let name = || Principal::CONSOLE.to_owned();
        Principal {
            id: name(),
            name: name(),
            grant: Arc::clone(self.0.executor.grant()),
            can_be_asked: false,
            caller: Caller::of(Principal::CONSOLE),
            is_single_client: false,
            author: ChangeAuthor::owner(name()),
            standing: CallerStanding::default(),
        }
    }

    /// What is around a page of this session.
    async fn frame(&self, section: ConsoleSection, session: &sessions::OpenSession) -> PageFrame {
        let pending = self.ask(Executor::pending_count).await;
        PageFrame {
            section: Some(section),
            // The page about them says what is wrong.
            pending: pending.and_then(Result::ok).unwrap_or_default(),
            form_token: session.form_token(),
        }
    }

    /// Asks the executor where waiting for a disk does no harm. `None` if the answer never came; the log says why.
    async fn ask<T: Send + 'static>(&self, ask: impl FnOnce(&Executor) -> T + Send + 'static) -> Option<T> {
        let executor = Arc::clone(&self.0.executor);
        // A page that panics ends its own task, and the log has the reason.
        tokio::task::spawn_blocking(move || ask(&executor)).await.ok()
    }

    /// The form of a request, which must be of a page of this session.
    async fn form(&self, request: Request, session: &sessions::OpenSession) -> Result<FormParameters, Response> {
        // With a time limit as well, so that a form that never ends does not stay open.
        let form = read_within(request, FORM_BYTES).await?;
        if form.get("form").is_some_and(|token| session.is_form_token(token)) {
            return Ok(form);
        }
        Err(refused(StatusCode::FORBIDDEN, "This form is not of this session. Open the page again."))
    }
}

/// A form, without knowing whose it is.
async fn read_form(request: Request) -> Result<FormParameters, Response> {
    read_within(request, SIGN_IN_BYTES).await
}

async fn read_within(request: Request, most: usize) -> Result<FormParameters, Response> {
    let limits = BodyLimits { bytes: Some(most), time: Some(std::time::Duration::from_secs(60)) };
    posted_message::check_size(request.headers(), limits)?;
    let bytes = posted_message::read(request.into_body(), limits).await?;
    let form = std::str::from_utf8(&bytes).ok().and_then(|text| FormParameters::parse_within(text, most).ok());
    form.ok_or_else(|| refused(StatusCode::BAD_REQUEST, "The form cannot be read."))
}

/// The parameters of an address. Broken ones count as none.
fn query(request: &Request) -> FormParameters {
    request.uri().query().and_then(|query| FormParameters::parse(query).ok()).unwrap_or_default()
}

async fn to_console() -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, "/console/")]).into_response()
}

async fn nothing_here() -> Response {
    refused(StatusCode::NOT_FOUND, "There is no such page.")
}

async fn asset(request: Request) -> Response {
    let Some(asset) = find_asset(request.uri().path()) else { return nothing_here().await };
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        // Another version has another address.
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, asset.bytes.as_ref()).into_response()
}

/// Headers of every answer, unless it has its own.
async fn secured(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer` browsers send forms of our own pages with the origin `null`, like those of strangers.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// A page as an answer.
fn page(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => {
            tracing::error!("a page of the console cannot be drawn: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Something that did not work, outside of any page.
fn refused(status: StatusCode, text: &'static str) -> Response {
    let frame = PageFrame::signed_out();
    let text = ShownText::line(text);
    page(status, &AnswerPage { frame, heading: "That did not work", text, is_done: false, address: None })
}

/// The server could not find out.
fn no_answer() -> Response {
    refused(StatusCode::SERVICE_UNAVAILABLE, "The vault does not answer at the moment. Try again soon.")
}

/// Whether a request may change something.
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

type ConsoleState = State<Console>;
