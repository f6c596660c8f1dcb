//! Authentication over HTTP: the owner's tokens, JSON web tokens, and scopes. There is no server in here, and time and
//! randomness are arguments, so everything can be tested to the second.

mod auth_store;
mod json_web_token;
mod lifetime;
mod scope_set;
mod secret_text;
mod token_rights;

pub use auth_store::{AuthStore, AuthStoreError, NewToken, StoreOpener, TokenRecord};
pub use json_web_token::{BearerClaims, SharedSecretVerifier, TokenRefusal, WeakSecret};
pub use lifetime::{LifetimeError, TokenLifetime, UnixSeconds};
pub use scope_set::{ScopeSet, ToolLevel};
pub use secret_text::{RandomBytes, SecretKind, SecretText};
pub use token_rights::TokenRights;
