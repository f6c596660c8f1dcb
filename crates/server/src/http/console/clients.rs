//! Clients over HTTP: their tokens, what was granted to those that use OAuth, and how each is connected.

use std::time::Duration;

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::{
    FormParameters, GrantRecord, NewToken, SecretKind, SecretText, TokenChange, TokenLifetime, TokenRecord,
    TokenRights, UnixSeconds,
};
use lapidary_console::{
    ClientsPage, ConsoleSection, EventRow, GrantRow, RightsFields, SessionRow, ShownText, SnippetRow, TickedVault,
    TokenRow, TokenSecretPage,
};
use lapidary_note::{ContentHash, counted};

use super::{Console, ConsoleState, no_answer, page, sessions::OpenSession};
use crate::{
    access_words::{
        check_rights, checked_name, client_in_words, day, event_in_words, grant_state, rights_in_words, token_state,
    },
    commands::client_name,
    http::{
        connection_snippets::{ConnectionStyle, snippets},
        session_table::ListedSession,
    },
};

/// Sessions that are shown, the newest ones.
const SHOWN_SESSIONS: usize = 200;
/// Events around access that are shown.
const SHOWN_EVENTS: usize = 50;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/clients", get(show).post(change))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>) -> Response {
    draw(&console, &session, StatusCode::OK, Ok(None)).await
}

async fn change(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    request: Request,
) -> Response {
    let form = match console.form(request, &session).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    // Sessions live in the server, not in the store, so ending one is not a change of a token.
    if form.get("do") == Some("end-session") {
        let said = console.end_session(form.get("name").unwrap_or_default()).await;
        let status = if said.is_ok() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        return draw(&console, &session, status, said.map(|()| Some("The session has ended.".to_owned()))).await;
    }
    let own = console.clone();
    match tokio::task::spawn_blocking(move || own.changed(&form)).await {
        Err(_) => no_answer(),
        Ok(Err(problem)) => draw(&console, &session, StatusCode::BAD_REQUEST, Err(problem)).await,
        Ok(Ok(ClientChange::Said(words))) => draw(&console, &session, StatusCode::OK, Ok(Some(words))).await,
        Ok(Ok(ClientChange::Secret(token, secret))) => {
            let drawn = TokenSecretPage {
                frame: console.frame(ConsoleSection::CLIENTS, &session).await,
                name: ShownText::line(&token.name),
                rights: ShownText::line(&rights_in_words(&token.rights)),
                // On this page alone; only its hash is stored.
                secret: secret.reveal().to_owned(),
                url: console.endpoint_address(),
            };
            page(StatusCode::OK, &drawn)
        }
    }
}

/// What a form led to.
enum ClientChange {
    Said(String),
    /// A secret to show once.
    Secret(Box<TokenRecord>, SecretText),
}

impl Console {
    fn changed(&self, form: &FormParameters) -> Result<ClientChange, String> {
        let (auth, config) = (&self.0.owner.auth, &self.0.owner.config);
        let now = UnixSeconds::from(self.0.clock.now());
        let name = form.get("name").unwrap_or_default();
        let none = || format!("There is no valid token called '{name}'.");
        let refused = |problem: String| format!("Nothing was changed: {problem}.");
        let stored = |error: lapidary_auth::AuthStoreError| refused(error.to_string());
        match form.get("do") {
            Some("create") => {
                let rights = self.rights_in(form);
                // The name first: a token that cannot be made must not cost randomness or a row.
                let name = checked_name(name, &rights, config).map_err(refused)?;
                let lifetime: TokenLifetime = form
                    .get("expires")
                    .unwrap_or_default()
                    .parse()
                    .map_err(|error: lapidary_auth::LifetimeError| refused(format!("the lifetime: {error}")))?;
                let secret = new_token_secret()?;
                let new = NewToken { name: &name, rights: &rights, expires: lifetime.end(now) };
                let record = auth.create_token(&new, &secret, now).map_err(stored)?;
                Ok(ClientChange::Secret(Box::new(record), secret))
            }
            Some("rotate") => {
                let secret = new_token_secret()?;
                let changed = auth.change_token(name, TokenChange::Secret(&secret), now).map_err(stored)?;
                // The old secret is refused from this moment on.
                changed.map(|record| ClientChange::Secret(Box::new(record), secret)).ok_or_else(none)
            }
            Some("change") => {
                let rights = self.rights_in(form);
                check_rights(&rights, config).map_err(refused)?;
                let changed = auth.change_token(name, TokenChange::Rights(&rights), now).map_err(stored)?;
                let said = |record: TokenRecord| {
                    ClientChange::Said(format!("'{name}' may now use: {}.", rights_in_words(&record.rights)))
                };
                changed.map(said).ok_or_else(none)
            }
            Some("revoke") => {
                // Grants are told from tokens by the form of their name.
                let revoked = match GrantRecord::number_in(name) {
                    Some(grant) => auth.revoke_grant(grant, now),
                    None => auth.revoke_token(name, now),
                };
                let said = || ClientChange::Said(format!("'{name}' is revoked, and refused from now on."));
                revoked.map_err(stored)?.then(said).ok_or_else(none)
            }
            _ => Err("The form has no action.".to_owned()),
        }
    }

    /// Ends a session of a client, which may open another unless its token is revoked.
    async fn end_session(&self, mark: &str) -> Result<(), String> {
        let gone = || "Nothing was changed: there is no such session any more.".to_owned();
        // The page has only a hash of the session id: the id itself would let its reader in.
        let mark: ContentHash = mark.parse().map_err(|_| gone())?;
        let served = self.0.endpoint.as_ref().ok_or_else(gone)?;
        served.sessions.end_marked(&mark).await.then_some(()).ok_or_else(gone)
    }

    /// What a form grants.
    fn rights_in(&self, form: &FormParameters) -> TokenRights {
        let lines = |name: &str| {
            let lines = form.get(name).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
            let lines: Vec<String> = lines.map(str::to_owned).collect();
            (!lines.is_empty()).then_some(lines)
        };
        let all = self.0.owner.grants.vaults();
        let ticked: Vec<String> =
            form.named("vault-").filter_map(|at| form.get(&format!("vault-{at}"))).map(str::to_owned).collect();
        // With none ticked there is no restriction, as with a single vault.
        // All ticked means no restriction either, so that a vault added later is included.
        let is_choice = !ticked.is_empty() && ticked.len() < all.len();
        TokenRights {
            profile: form.get("profile").map(str::to_owned),
            vaults: is_choice.then_some(ticked),
            read_paths: lines("read-paths"),
            write_paths: lines("write-paths"),
            read_only: form.get("read-only").is_some(),
            scopes: None,
        }
    }

    fn rights_fields(&self, id: String, rights: &TokenRights) -> RightsFields {
        let grants = &self.0.owner.grants;
        let lines = |paths: &Option<Vec<String>>| paths.as_deref().unwrap_or_default().join("\n");
        let vault = |name: &String| TickedVault {
            name: name.clone(),
            // A token without a list may use every vault, so all are ticked.
            is_ticked: rights.vaults.as_ref().is_none_or(|vaults| vaults.contains(name)),
        };
        RightsFields {
            id,
            profiles: grants.profiles().into_iter().map(|(name, _)| name).collect(),
            profile: rights.profile.clone().unwrap_or_default(),
            vaults: grants.vaults().iter().map(vault).collect(),
            read_paths: lines(&rights.read_paths),
            write_paths: lines(&rights.write_paths),
            read_only: rights.read_only,
        }
    }
}

fn new_token_secret() -> Result<SecretText, String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| format!("The system gives no random numbers: {error}"))?;
    Ok(SecretText::mint(SecretKind::Personal, &random))
}

/// `just now`, `5 minutes ago`.
fn ago(time: Duration) -> String {
    match time.as_secs() {
        0..60 => "just now".to_owned(),
        seconds @ 60..3_600 => format!("{} ago", counted(seconds as usize / 60, "minute")),
        seconds => format!("{} ago", counted(seconds as usize / 3_600, "hour")),
    }
}

async fn draw(
    console: &Console,
    session: &OpenSession,
    status: StatusCode,
    said: Result<Option<String>, String>,
) -> Response {
    let auth = std::sync::Arc::clone(&console.0.owner.auth);
    // All three in one go, so that the page shows one state of the store.
    let stored = tokio::task::spawn_blocking(move || -> Result<_, lapidary_auth::AuthStoreError> {
        Ok((auth.tokens()?, auth.grants()?, auth.events(SHOWN_EVENTS)?))
    });
    let Ok(stored) = stored.await else { return no_answer() };
    let (said, problem) = match said {
        Ok(said) => (said, None),
        Err(problem) => (None, Some(problem)),
    };
    let (tokens, grants, events, problem) = match stored {
        Ok((tokens, grants, events)) => (tokens, grants, events, problem),
        // The page still shows sessions and how to connect.
        Err(error) => (Vec::new(), Vec::new(), Vec::new(), Some(error.to_string())),
    };
    let now = UnixSeconds::from(console.0.clock.now());
    let used = |last: Option<UnixSeconds>| last.map_or_else(|| "not yet".to_owned(), day);
    let token = |token: &TokenRecord| TokenRow {
        key: token.name.clone(),
        name: ShownText::line(&token.name),
        rights: ShownText::line(&rights_in_words(&token.rights)),
        state: token_state(token, now),
        expires: token.expires.map_or_else(|| "never".to_owned(), day),
        last_used: used(token.last_used),
        is_live: token.is_live(now),
        fields: console.rights_fields(token.id.to_string(), &token.rights),
    };
    let grant = |grant: &GrantRecord| GrantRow {
        key: GrantRecord::name_of(grant.id),
        client: ShownText::line(&client_in_words(grant)),
        rights: ShownText::line(&rights_in_words(&grant.rights)),
        scope: ShownText::line(&grant.scope),
        state: ShownText::line(&grant_state(grant, now)),
        ends: day(grant.ends),
        last_used: used(grant.last_used),
        is_live: grant.is_live(now),
    };
    let event = |event: &lapidary_auth::SecurityEvent| EventRow {
        time: day(event.last),
        what: event_in_words(event.kind),
        subject: ShownText::line(&event.subject),
        address: ShownText::line(event.address.as_deref().unwrap_or_default()),
        count: event.count,
    };
    let sessions = console.0.endpoint.as_ref().map(|served| served.sessions.list());
    let has_more_sessions = sessions.as_ref().is_some_and(|sessions| sessions.len() > SHOWN_SESSIONS);
    let open_session = |session: ListedSession| SessionRow {
        key: session.mark.to_string(),
        client: session.client.as_deref().map(|client| ShownText::line(client_name(client))),
        program: ShownText::line(&session.program),
        is_stream: session.is_stream,
        opened: ago(session.age),
        last_used: session.idle.map_or_else(|| "in use now".to_owned(), ago),
    };
    // Those that are valid first, the newest of them on top.
    let (live, ended): (Vec<_>, Vec<_>) = tokens.iter().rev().partition(|token| token.is_live(now));
    let url = console.endpoint_address();
    // As the server would decide without a setting: any token makes tokens required.
    let style = if tokens.is_empty() { ConnectionStyle::Open } else { ConnectionStyle::Token };
    let style = console.0.owner.style().unwrap_or(style);
    let drawn = ClientsPage {
        frame: console.frame(ConsoleSection::CLIENTS, session).await,
        tokens: live.into_iter().chain(ended).map(token).collect(),
        grants: grants.iter().rev().map(grant).collect(),
        is_served: sessions.is_some(),
        sessions: sessions.unwrap_or_default().into_iter().take(SHOWN_SESSIONS).map(open_session).collect(),
        has_more_sessions,
        configured: console.0.owner.configured.iter().map(|known| ShownText::line(&known.client.name)).collect(),
        new_rights: console.rights_fields("new".to_owned(), &TokenRights::default()),
        snippets: snippets(&url, style)
            .into_iter()
            .map(|snippet| SnippetRow {
                client: snippet.client,
                steps: snippet.steps,
                text: snippet.text,
                install: snippet.install,
            })
            .collect(),
        url,
        events: events.iter().rev().map(event).collect(),
        problem: problem.as_deref().map(ShownText::line),
        notice: said.as_deref().map(ShownText::line),
    };
    page(status, &drawn)
}
