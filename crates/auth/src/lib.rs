//! Authentication over HTTP: the owner's tokens, JSON web tokens, and scopes. There is no server in here, and time and
//! randomness are arguments, so everything can be tested to the second.

mod auth_store;
mod authorization;
mod form_parameters;
mod json_web_token;
mod lifetime;
mod oauth_clients;
mod owner_passphrase;
mod redirect_uri;
mod scope_set;
mod secret_text;
mod token_rights;

pub use auth_store::{AuthStore, AuthStoreError, NewToken, StoreOpener, TokenRecord};
pub use authorization::{
    AccessRecord, AuthorizationRequest, AuthorizationRules, AuthorizeRefusal, ConsentGiven, GrantRefusal, IssuedTokens,
};
pub use form_parameters::{FormError, FormParameters};
pub use json_web_token::{BearerClaims, SharedSecretVerifier, TokenRefusal, WeakSecret};
pub use lifetime::{LifetimeError, TokenLifetime, UnixSeconds};
pub use oauth_clients::{OAuthClient, RegistrationError};
pub use owner_passphrase::PassphraseError;
pub use redirect_uri::{RedirectUri, percent_encoded};
pub use scope_set::{ScopeSet, ToolLevel};
pub use secret_text::{RandomBytes, SecretKind, SecretText};
pub use token_rights::TokenRights;
