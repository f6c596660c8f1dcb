//! Authentication over HTTP: the owner's tokens, JSON web tokens, scopes, and the logic of an authorization server. There is
//! no network in here, and time and randomness are arguments, so everything can be tested to the second.

mod auth_store;
mod authorization;
mod client_document;
mod form_parameters;
mod issuer_keys;
mod json_web_token;
mod lifetime;
mod oauth_clients;
mod owner_passphrase;
mod owner_sessions;
mod redirect_uri;
mod scope_set;
mod secret_text;
mod security_events;
mod token_changes;
mod token_rights;

pub use auth_store::{AuthStore, AuthStoreError, NewToken, StoreOpener, TokenRecord};
pub use authorization::{
    AccessRecord, AuthorizationRequest, AuthorizationRules, AuthorizeRefusal, ConsentGiven, GrantRecord, GrantRefusal,
    IssuedTokens, TokenSender, check_authorization,
};
pub use client_document::{ClientDocumentUrl, DocumentRefusal};
pub use form_parameters::{FormError, FormParameters, form_decoded};
pub use issuer_keys::{IssuerKeys, IssuerRefusal, IssuerVerifier};
pub use json_web_token::{BearerClaims, SharedSecretVerifier, TokenRefusal, WeakSecret};
pub use lifetime::{LifetimeError, TokenLifetime, UnixSeconds};
pub use oauth_clients::{ClientSource, OAuthClient, RegistrationError};
pub use owner_passphrase::PassphraseError;
pub use redirect_uri::{RedirectUri, percent_encoded};
pub use scope_set::{ScopeSet, ToolLevel};
pub use secret_text::{RandomBytes, SecretKind, SecretText, is_same_digest};
pub use security_events::{NewEvent, SecurityEvent, SecurityEventKind};
pub use token_changes::TokenChange;
pub use token_rights::TokenRights;
