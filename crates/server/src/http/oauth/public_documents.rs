//! What everyone may read about how to get access: the metadata of the resource (RFC 9728) and of the authorization server
//! (RFC 8414). Every address in it comes from the configuration, none from a request.

use axum::{
    Router,
    body::Bytes,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::http::site_pages::is_card;

const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";
const SERVER_METADATA: &str = "/.well-known/oauth-authorization-server";
/// Some clients look only here.
const OPENID_METADATA: &str = "/.well-known/openid-configuration";
/// Clients ask for everything that is listed, so what deletes is not.
const ADVERTISED_SCOPES: [&str; 2] = ["vault:read", "vault:write"];

/// Paths that pages of any origin may use: they are for programs, and no cookie counts there.
pub(in crate::http) fn is_for_every_page(path: &str) -> bool {
    let is_document =
        [RESOURCE_METADATA, SERVER_METADATA, OPENID_METADATA].iter().any(|document| path.starts_with(document));
    let is_form = matches!(path, "/token" | "/register" | "/revoke") || path.starts_with("/register/");
    is_document || is_form || is_card(path)
}

/// Who issues the tokens that this server accepts.
pub(in crate::http) enum TokenIssuer {
    /// The built-in authorization server.
    Own,
    /// Another one.
    Foreign(String),
    /// Any program that has the shared secret.
    Unnamed,
}

/// The documents of one server.
pub(in crate::http) struct PublicDocuments {
    /// Without a slash at the end.
    pub(in crate::http) origin: String,
    pub(in crate::http) endpoint: String,
    /// What tokens are for, if not the address of the endpoint.
    pub(in crate::http) resource: Option<String>,
    pub(in crate::http) issuer: TokenIssuer,
}

impl PublicDocuments {
    /// Where the metadata of the resource is.
    pub(in crate::http) fn resource_url(&self) -> String {
        format!("{}{RESOURCE_METADATA}{}", self.origin, self.endpoint)
    }

    /// `scope` of a challenge.
    pub(in crate::http) fn scope() -> String {
        ADVERTISED_SCOPES.join(" ")
    }

    pub(in crate::http) fn routes(&self) -> Router {
        let mut router = Router::new();
        let resource = Bytes::from(self.of_resource().to_string());
        // At the root and behind the path: RFC 9728 has the second, and many clients ask for the first.
        for path in [RESOURCE_METADATA.to_owned(), format!("{RESOURCE_METADATA}{}", self.endpoint)] {
            let resource = resource.clone();
            router = router.route(&path, get(|| async { document(resource) }));
        }
        if let TokenIssuer::Own = self.issuer {
            let server = Bytes::from(self.of_server().to_string());
            for path in
                [SERVER_METADATA.to_owned(), format!("{SERVER_METADATA}{}", self.endpoint), OPENID_METADATA.to_owned()]
            {
                let server = server.clone();
                router = router.route(&path, get(|| async { document(server) }));
            }
        }
        router
    }

    fn of_resource(&self) -> Value {
        // The address as clients know it, letter by letter: they compare it with what they asked for.
        let address = format!("{}{}", self.origin, self.endpoint);
        let mut document = json!({
            "resource": self.resource.as_ref().unwrap_or(&address),
            "scopes_supported": ADVERTISED_SCOPES,
            "bearer_methods_supported": ["header"],
            "resource_name": "Lapidary",
            "resource_documentation": format!("{}/", self.origin),
        });
        match &self.issuer {
            TokenIssuer::Own => document["authorization_servers"] = json!([self.origin]),
            TokenIssuer::Foreign(issuer) => document["authorization_servers"] = json!([issuer]),
            TokenIssuer::Unnamed => {}
        }
        document
    }

    fn of_server(&self) -> Value {
        let at = |path: &str| format!("{}{path}", self.origin);
        // ChatGPT signs its requests where that is offered, and needs nothing where it is not.
        let methods = ["none", "client_secret_post", "client_secret_basic"];
        json!({
            "issuer": self.origin,
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"),
            "registration_endpoint": at("/register"),
            "revocation_endpoint": at("/revoke"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_methods_supported": methods,
            "code_challenge_methods_supported": ["S256"],
            // `offline_access` is how clients ask for a refresh token; it is not a right.
            "scopes_supported": [ADVERTISED_SCOPES[0], ADVERTISED_SCOPES[1], "offline_access"],
            "client_id_metadata_document_supported": true,
            "authorization_response_iss_parameter_supported": true,
            "service_documentation": at("/"),
        })
    }
}

fn document(bytes: Bytes) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
    ];
    (headers, bytes).into_response()
}
