//! `/token` and `/revoke`: for programs, with forms.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lapidary_auth::{GrantRecord, GrantRefusal, TokenSender};

use super::{AuthorizationServer, FormTrouble, basic, oauth_error, random, secret_json, too_many};

impl FormTrouble {
    fn for_program(self) -> Response {
        match self {
            Self::Invalid(description) => oauth_error(StatusCode::BAD_REQUEST, "invalid_request", description),
            Self::Unread(response) => response,
        }
    }
}

pub(super) async fn issue(State(server): State<Arc<AuthorizationServer>>, request: Request) -> Response {
    issued(&server, request).await.unwrap_or_else(|refused| refused)
}

async fn issued(server: &Arc<AuthorizationServer>, request: Request) -> Result<Response, Response> {
    let address = server.sign_in_page.address(&request);
    server.counted(|rates, now| rates.token(&address, now)).map_err(too_many)?;
    let basic = basic(request.headers());
    let by_header = basic.is_some();
    let form = server.form(request).await.map_err(FormTrouble::for_program)?;
    let (random, now, rules) =
        (random().map_err(IntoResponse::into_response)?, server.sign_in_page.now(), server.rules.clone());
    let issued = server
        .sign_in_page
        .ask(move |store| {
            let basic = basic.as_ref().map(|(id, secret)| (id.as_str(), secret.as_str()));
            store.issue_tokens(&form, TokenSender { basic, address: &address }, &rules, &random, now)
        })
        .await
        .map_err(IntoResponse::into_response)?;
    match issued {
        Ok(tokens) => Ok(secret_json(StatusCode::OK, &tokens.to_json())),
        Err(refusal) => Err(refused(refusal, by_header)),
    }
}

fn refused(refusal: GrantRefusal, by_header: bool) -> Response {
    let (status, description) = match refusal {
        GrantRefusal::InvalidClient => {
            (StatusCode::UNAUTHORIZED, "the client is not known here, or its secret is wrong")
        }
        GrantRefusal::InvalidRequest => (StatusCode::BAD_REQUEST, "a parameter is missing"),
        GrantRefusal::InvalidGrant => {
            (StatusCode::BAD_REQUEST, "the code or the refresh token is not valid (any more)")
        }
        GrantRefusal::UsedAgain { grant } => {
            let name = GrantRecord::name_of(grant);
            // In the log as well as in the security events: a copied token is what an owner has to know about.
            tracing::warn!("a code or a refresh token of {name} was used again, as a thief would: {name} is revoked");
            (StatusCode::BAD_REQUEST, "it was used before; what it gave is revoked, so ask the owner again")
        }
        GrantRefusal::UnsupportedGrantType => (StatusCode::BAD_REQUEST, "use authorization_code or refresh_token"),
        GrantRefusal::InvalidTarget => (StatusCode::BAD_REQUEST, "the resource is not this server"),
        GrantRefusal::InvalidScope => (StatusCode::BAD_REQUEST, "this is more than was granted"),
    };
    let mut response = oauth_error(status, refusal.code(), description);
    // RFC 6749 wants a challenge only for clients that sent their secret in the header.
    if by_header && status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Basic realm=\"lapidary\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

pub(super) async fn revoke(State(server): State<Arc<AuthorizationServer>>, request: Request) -> Response {
    revoked(&server, request).await.unwrap_or_else(|refused| refused)
}

async fn revoked(server: &Arc<AuthorizationServer>, request: Request) -> Result<Response, Response> {
    let address = server.sign_in_page.address(&request);
    server.counted(|rates, now| rates.token(&address, now)).map_err(too_many)?;
    let basic = basic(request.headers());
    let form = server.form(request).await.map_err(FormTrouble::for_program)?;
    let Some(token) = form.get("token").map(str::to_owned) else {
        return Err(FormTrouble::Invalid("the parameter `token` is missing").for_program());
    };
    let (client, secret) = match basic {
        Some((client, secret)) => (client, Some(secret)),
        None => (form.get("client_id").unwrap_or_default().to_owned(), form.get("client_secret").map(str::to_owned)),
    };
    let now = server.sign_in_page.now();
    server
        .sign_in_page
        .ask(move |store| store.revoke_issued(&token, &client, secret.as_deref(), now))
        .await
        .map_err(IntoResponse::into_response)?;
    // RFC 7009: the answer is the same whether or not there was such a token.
    Ok(StatusCode::OK.into_response())
}
