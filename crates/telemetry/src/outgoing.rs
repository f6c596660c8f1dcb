//! Requests that the server makes itself: to a collector of telemetry, and to its own public address when it is asked
//! whether that works. Those for OAuth (`http::oauth::outgoing_fetch`) are stricter and start from the same settings.

use std::{sync::Arc, time::Duration};

use rustls::crypto::aws_lc_rs;
use ureq::{
    Agent, Error,
    config::ConfigBuilder,
    tls::{RootCerts, TlsConfig},
    typestate::AgentScope,
};

/// Follows no redirect and takes every status as an answer.
pub fn agent(patience: Duration) -> Agent {
    settings(patience, RootCerts::WebPki, false).build().into()
}

/// The same without a look at the certificate, for this computer's own server.
pub fn unverified_agent(patience: Duration) -> Agent {
    settings(patience, RootCerts::WebPki, true).build().into()
}

/// What all requests have in common.
pub fn settings(patience: Duration, roots: RootCerts, trusts_all: bool) -> ConfigBuilder<AgentScope> {
    let tls = TlsConfig::builder()
        .root_certs(roots)
        .disable_verification(trusts_all)
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build();
    Agent::config_builder()
        .timeout_global(Some(patience))
        // A redirect could send what is in the headers, such as a token, to another host.
        .max_redirects(0)
        // Callers report the status and what the answer says, which an error would not have.
        .http_status_as_error(false)
        .user_agent(concat!("lapidary/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
}

/// Why a request failed, without the address, which may contain a secret.
pub fn in_words(error: &Error) -> String {
    match error {
        Error::ConnectionFailed => "no connection is taken".to_owned(),
        Error::HostNotFound => "the host name is not known".to_owned(),
        Error::Timeout(_) => "there is no answer in time".to_owned(),
        Error::Io(error) => error.to_string(),
        Error::Rustls(error) => format!("TLS: {error}"),
        Error::Tls(problem) => format!("TLS: {problem}"),
        Error::Protocol(error) => format!("it does not speak HTTP: {error}"),
        _ => "the request failed".to_owned(),
    }
}
