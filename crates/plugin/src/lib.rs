//! A client of Obsidian's plugin Local REST API: one connection with typed calls and a closed list of failures. Nothing that the
//! other side says gets into an error, and nothing is sent before the first call. [`RemoteBackend`] is a vault behind it.

mod answers;
mod app_calls;
mod certificate_trust;
mod connection;
mod file_calls;
mod omnisearch;
mod plugin_error;
mod plugin_url;
mod remote;
mod request_retry;
mod version;

pub use answers::{
    AppCommand, FileAnswer, FileTimes, FoundFile, ListedName, NoteAnswer, PluginExtension, PluginManifest,
    PluginStatus, SearchAnswer,
};
pub use app_calls::{AppState, SETTINGS_ENDPOINT};
pub use certificate_trust::{CertificateTrust, TrustError};
pub use connection::{ApiKey, ConnectionSettings, PluginConnection, SENDER, process_mark};
pub use file_calls::WriteCondition;
pub use omnisearch::{Omnisearch, OmnisearchHit, OmnisearchMatch};
pub use plugin_error::PluginError;
pub use plugin_url::{PluginUrl, UrlError};
pub use remote::RemoteBackend;
pub use version::{FileVersion, PluginVersion};
