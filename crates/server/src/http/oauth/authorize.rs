//! `/authorize`: the owner signs in, sees who asks for what, and decides.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lapidary_auth::{
    AuthorizationRequest, AuthorizeRefusal, ClientDocumentUrl, FormParameters, OAuthClient, RedirectUri, SecretKind,
    SecretText, SecurityEventKind, check_authorization,
};

use super::{
    AuthorizationServer, FormTrouble,
    consent_form::{ConsentChoice, ConsentOffer},
    page_markup::{UnprovenRequest, consent_page, error_page, sign_in_page},
    random,
};
use crate::http::{
    client_limits::TooFast,
    owner_sign_in::{SignInRefusal, StoreTrouble, is_foreign},
};

pub(super) async fn show(State(server): State<Arc<AuthorizationServer>>, request: Request) -> Response {
    server.show(request).await.unwrap_or_else(|refused| refused)
}

pub(super) async fn answer(State(server): State<Arc<AuthorizationServer>>, request: Request) -> Response {
    server.answer(request).await.unwrap_or_else(|refused| refused)
}

/// An owner who has signed in.
struct OwnerSession(SecretText);

impl AuthorizationServer {
    async fn show(self: &Arc<Self>, request: Request) -> Result<Response, Response> {
        let address = self.sign_in_page.address(&request);
        // Before anything is parsed or looked up: a stranger must not be able to make the server work.
        self.sign_in_page.visit(&address).map_err(wait_page)?;
        let query = request.uri().query().unwrap_or_default().to_owned();
        // The text is kept as well: after signing in, the browser comes back to exactly this request.
        let parameters = FormParameters::parse(&query).map_err(|error| broken_link(&error.to_string()))?;
        match self.owner(request.headers()).await? {
            Some(session) => self.decide(&parameters, &session).await,
            None => self.ask_to_sign_in(StatusCode::OK, &parameters, &query, None).await,
        }
    }

    async fn answer(self: &Arc<Self>, request: Request) -> Result<Response, Response> {
        let address = self.sign_in_page.address(&request);
        self.sign_in_page.visit(&address).map_err(wait_page)?;
        // Before the session is looked up, because the browser sends its cookie with a forged form too.
        self.check_sender(request.headers())?;
        let session = self.owner(request.headers()).await?;
        let form = self.form(request).await.map_err(|trouble| match trouble {
            FormTrouble::Invalid(reason) => broken_link(reason),
            FormTrouble::Unread(response) => response,
        })?;
        match (form.get("action"), session) {
            // Also within a session: the owner may sign in again after it has expired in another tab.
            (Some("sign-in"), _) => self.sign_in(&form, &address).await,
            (Some("consent"), Some(session)) => self.consent(&form, &session, &address).await,
            // The session ended while the page was open. Signing in again starts from the client, whose request is gone
            // with the ticket.
            (Some("consent"), None) => Err(too_late()),
            _ => Err(broken_link("the form is not one of ours")),
        }
    }

    /// Forms count only from our own pages. Programs that are not browsers name no origin, and have no cookie.
    fn check_sender(&self, headers: &HeaderMap) -> Result<(), Response> {
        if is_foreign(headers, |origin| origin == self.rules.issuer) {
            let title = "This form was sent by another page";
            return Err(error_page(StatusCode::FORBIDDEN, title, "Only the pages of this server can send it."));
        }
        Ok(())
    }

    /// Shows who asks for what. Nothing is sent anywhere before client and address are known to belong together.
    async fn decide(
        self: &Arc<Self>,
        parameters: &FormParameters,
        session: &OwnerSession,
    ) -> Result<Response, Response> {
        let client = match parameters.get("client_id").and_then(ClientDocumentUrl::parse) {
            Some(url) => {
                let title = "This program cannot be identified";
                let explained = |reason| format!("Its description at {} cannot be used: {reason}.", url.as_str());
                let found = self.described(&url).await;
                Some(found.map_err(|reason| error_page(StatusCode::BAD_REQUEST, title, &explained(reason)))?)
            }
            // Not a document, so it has to be registered; an unknown id is refused below.
            None => self.registered(parameters).await?,
        };
        match check_authorization(parameters, client, &self.rules) {
            Ok(request) => {
                let offer = ConsentOffer::new(&self.grants, &request);
                let choice = offer.usual();
                self.show_consent(&request, session, &offer, &choice, None)
            }
            Err(AuthorizeRefusal::OnPage(reason)) => Err(unknown_request(reason)),
            // Only for an address that is known to be the client's: any other would make this page a way to send people
            // anywhere.
            Err(AuthorizeRefusal::Redirect(address)) => Ok(see_other(&address)),
        }
    }

    fn show_consent(
        &self,
        request: &AuthorizationRequest,
        session: &OwnerSession,
        offer: &ConsentOffer,
        choice: &ConsentChoice,
        problem: Option<&str>,
    ) -> Result<Response, Response> {
        let [random] = random().map_err(trouble_page)?;
        let ticket = SecretText::mint(SecretKind::ConsentTicket, &random);
        // The request is kept here and not in the form, so what is approved cannot be changed in between. The ticket
        // belongs to one session: a form made for another owner's browser does not count in this one.
        self.memory.lock().tickets.issue(&ticket, &session.0, request.clone(), self.started.elapsed());
        Ok(consent_page(request, offer, choice, ticket.reveal(), problem))
    }

    /// A client that has registered itself.
    async fn registered(self: &Arc<Self>, parameters: &FormParameters) -> Result<Option<OAuthClient>, Response> {
        let Some(id) = parameters.get("client_id").map(str::to_owned) else { return Ok(None) };
        // Off the async threads, like every look into the database.
        self.sign_in_page.ask(move |store| store.find_client(&id)).await.map_err(trouble_page)
    }

    /// Names the client as it names itself. Its document is not fetched: a stranger must not make us send requests.
    async fn ask_to_sign_in(
        self: &Arc<Self>,
        status: StatusCode,
        parameters: &FormParameters,
        query: &str,
        problem: Option<&str>,
    ) -> Result<Response, Response> {
        let described = parameters.get("client_id").and_then(ClientDocumentUrl::parse);
        let name = match described {
            // The name in a document is unproven until it has been fetched, so its host is shown instead.
            Some(_) => None,
            None => match self.registered(parameters).await? {
                Some(client) => Some(client.name),
                None => return Err(unknown_request("This program is not registered here.")),
            },
        };
        let returns_to = parameters.get("redirect_uri").map(RedirectUri::parse);
        // Shown before it is proven, so at least it has to be an address that could be shown.
        let returns_to = match returns_to {
            Some(None) => return Err(unknown_request("The address to return to cannot be used.")),
            Some(Some(address)) if address.is_loopback() => "a program on this computer".to_owned(),
            Some(Some(address)) => address.shown_place(),
            None => "the address that it registered".to_owned(),
        };
        let host = described.as_ref().map_or(returns_to.as_str(), ClientDocumentUrl::host);
        let shown = UnprovenRequest { host, name: name.as_deref(), returns_to: &returns_to, query };
        Ok(sign_in_page(status, &shown, problem))
    }

    async fn sign_in(self: &Arc<Self>, form: &FormParameters, address: &str) -> Result<Response, Response> {
        let query = form.get("query").unwrap_or_default().to_owned();
        let parameters = FormParameters::parse(&query).map_err(|error| broken_link(&error.to_string()))?;
        let given = SecretText::new(form.get("passphrase").unwrap_or_default().to_owned());
        let session = match self.sign_in_page.sign_in(given, address).await {
            Ok(session) => session,
            Err(SignInRefusal::Wrong) => {
                let problem = Some("That is not the passphrase.");
                return self.ask_to_sign_in(StatusCode::FORBIDDEN, &parameters, &query, problem).await;
            }
            Err(SignInRefusal::TooFast(limit)) => return Err(wait_page(limit)),
            Err(SignInRefusal::Trouble(trouble)) => return Err(trouble_page(trouble)),
        };
        // The cookie is for TLS only where the server has it; a browser would drop it otherwise.
        let cookie = self.sign_in_page.cookie(Some(&session), self.is_https());
        // Back to the request, which is now shown in full.
        let mut response = see_other(&format!("/authorize?{query}"));
        response.headers_mut().insert(header::SET_COOKIE, cookie.map_err(trouble_page)?);
        Ok(response)
    }

    async fn consent(
        self: &Arc<Self>,
        form: &FormParameters,
        session: &OwnerSession,
        address: &str,
    ) -> Result<Response, Response> {
        let ticket = form.get("ticket").unwrap_or_default();
        // Taken, not read: a second click or a form sent again finds nothing.
        let request = self.memory.lock().tickets.take(ticket, &session.0, self.started.elapsed());
        let request = request.ok_or_else(too_late)?;
        match form.get("decision") {
            Some("deny") => {
                // Without the name of the client, which a stranger chose.
                tracing::info!("the owner denied a request for access");
                self.sign_in_page.record(SecurityEventKind::Denied, &request.client.name, address).await;
                return Ok(see_other(&request.denied(&self.rules)));
            }
            Some("allow") => {}
            _ => return Err(broken_link("the form has no decision")),
        }
        let offer = ConsentOffer::new(&self.grants, &request);
        let choice = offer.chosen(form);
        let given = match offer.given(&choice, &request, self.sign_in_page.now()) {
            Ok(given) => given,
            // With a new ticket, since the old one is used up, and with the owner's choices as they were.
            Err(problem) => return self.show_consent(&request, session, &offer, &choice, Some(&problem)),
        };
        let [random] = random().map_err(trouble_page)?;
        let (rules, at) = (self.rules.clone(), self.sign_in_page.now());
        let approved = self.sign_in_page.ask(move |store| store.approve(&request, &given, &rules, &random, at)).await;
        match approved.map_err(trouble_page)? {
            Some(address) => {
                tracing::info!("the owner granted access");
                Ok(see_other(&address))
            }
            // It may have deleted its registration while the page was open.
            None => Err(unknown_request("This program is no longer registered here. Connect it again.")),
        }
    }

    /// The session of the owner, if the request is part of one.
    async fn owner(self: &Arc<Self>, headers: &HeaderMap) -> Result<Option<OwnerSession>, Response> {
        // Behind TLS, a cookie without it is not of this server.
        let session = self.sign_in_page.session(headers, !self.is_https()).await.map_err(trouble_page)?;
        Ok(session.map(OwnerSession))
    }

    fn is_https(&self) -> bool {
        self.rules.issuer.starts_with("https://")
    }
}

/// 303: the browser does not send the form again.
fn see_other(address: &str) -> Response {
    match HeaderValue::from_str(address) {
        Ok(address) => (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response(),
        Err(_) => broken_link("the address has letters that no address has"),
    }
}

fn broken_link(reason: &str) -> Response {
    error_page(StatusCode::BAD_REQUEST, "This link is broken", &format!("It cannot be read: {reason}."))
}

fn unknown_request(reason: &str) -> Response {
    error_page(StatusCode::BAD_REQUEST, "This request cannot be answered", reason)
}

fn too_late() -> Response {
    let explanation = "It was open for too long, or was answered already. Go back to the program and connect it again.";
    error_page(StatusCode::BAD_REQUEST, "This page is no longer valid", explanation)
}

fn wait_page(limit: TooFast) -> Response {
    let seconds = limit.retry_after.as_secs_f64().ceil().max(1.0) as u64;
    let minutes = seconds.div_ceil(60);
    let wait = if seconds < 60 { format!("{seconds} seconds") } else { format!("{minutes} minutes") };
    let mut response = error_page(
        StatusCode::TOO_MANY_REQUESTS,
        "Too many tries",
        &format!("Try again in {wait}. A browser that is signed in already is not affected."),
    );
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

fn trouble_page(_: StoreTrouble) -> Response {
    let explanation = "The server cannot look this up at the moment; its log says why. Try again soon.";
    error_page(StatusCode::SERVICE_UNAVAILABLE, "Something went wrong", explanation)
}
