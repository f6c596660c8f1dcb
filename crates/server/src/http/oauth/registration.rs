//! `/register`: programs introduce themselves (RFC 7591), and look at their registration or delete it (RFC 7592).

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use lapidary_auth::{OAuthClient, RedirectUri, RegistrationError, SecretText, SecurityEventKind};
use serde_json::{Value, json};

use super::{AuthorizationServer, StoreTrouble, oauth_error, random, secret_json, too_many};
use crate::http::known_clients::bearer;

pub(super) async fn register(State(server): State<Arc<AuthorizationServer>>, request: Request) -> Response {
    registered(&server, request).await.unwrap_or_else(|refused| refused)
}

async fn registered(server: &Arc<AuthorizationServer>, request: Request) -> Result<Response, Response> {
    let address = server.sign_in_page.address(&request);
    // Before the body is read: strangers may register, so this is what bounds them.
    server.counted(|rates, now| rates.registration(&address, now)).map_err(too_many)?;
    let bytes = server.body(request).await?;
    let invalid = |description: &str| oauth_error(StatusCode::BAD_REQUEST, "invalid_client_metadata", description);
    let metadata: Value = serde_json::from_slice(&bytes).map_err(|_| invalid("the request is not JSON"))?;
    let (random, now, rules) =
        (random().map_err(IntoResponse::into_response)?, server.sign_in_page.now(), server.rules.clone());
    let answer = server
        .sign_in_page
        .ask(move |store| match store.register_client(&metadata, &rules, &random, now) {
            // Only a fault of ours is an error of the server; all else is the client's and gets an answer in OAuth's
            // form.
            Err(RegistrationError::Store(error)) => Err(error),
            answer => Ok(answer),
        })
        .await
        .map_err(IntoResponse::into_response)?;
    match answer {
        Ok(answer) => {
            let name = answer["client_name"].as_str().unwrap_or_default();
            // Recorded, since registrations are the one thing that strangers can leave behind.
            server.sign_in_page.record(SecurityEventKind::ClientRegistered, name, &address).await;
            Ok(secret_json(StatusCode::CREATED, &answer))
        }
        Err(RegistrationError::Redirects) => {
            let description =
                "redirect_uris needs 1 to 10 addresses, at least one of them https, on loopback or of a known program";
            Err(oauth_error(StatusCode::BAD_REQUEST, "invalid_redirect_uri", description))
        }
        Err(_) => Err(invalid("the request is not a JSON object")),
    }
}

pub(super) async fn show(State(server): State<Arc<AuthorizationServer>>, request: Request) -> Response {
    match own(&server, request).await {
        Ok(client) => {
            let redirects: Vec<&str> = client.redirects.iter().map(RedirectUri::as_str).collect();
            let answer = json!({
                "client_id": client.id,
                "client_name": client.name,
                "redirect_uris": redirects,
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
            });
            // Without its secret, which was shown once.
            secret_json(StatusCode::OK, &answer)
        }
        Err(refused) => refused,
    }
}

pub(super) async fn delete(State(server): State<Arc<AuthorizationServer>>, request: Request) -> Response {
    let client = match own(&server, request).await {
        Ok(client) => client,
        Err(refused) => return refused,
    };
    let now = server.sign_in_page.now();
    match server.sign_in_page.ask(move |store| store.delete_client(&client.id, now)).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(trouble) => trouble.into_response(),
    }
}

/// The client of an address, if the request has its registration token.
async fn own(server: &Arc<AuthorizationServer>, request: Request) -> Result<OAuthClient, Response> {
    let address = server.sign_in_page.address(&request);
    // Guesses at registration tokens count like guesses at other tokens.
    server.counted(|rates, now| rates.token(&address, now)).map_err(too_many)?;
    let id = request.uri().path().strip_prefix("/register/").unwrap_or_default().to_owned();
    let token = bearer(request.headers()).map(|token| SecretText::new(token.to_owned()));
    let found = match token {
        Some(token) => server.sign_in_page.ask(move |store| store.registration(&id, &token)).await,
        None => Ok(None),
    };
    let unknown =
        // The same answer for an unknown id and a wrong token.
        || oauth_error(StatusCode::UNAUTHORIZED, "invalid_token", "this is not the token of this registration");
    found.map_err(StoreTrouble::into_response)?.ok_or_else(unknown)
}
