//! `lapidary serve`: over standard input and output, or over HTTP with a check of who calls.

use std::{sync::Arc, time::Duration};

use lapidary_auth::SharedSecretVerifier;
use lapidary_pipeline::{Clock, Executor};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Runtime,
};

use super::{CommandFailure, CommandOutcome, SAVING, report};
use crate::{
    assemble::AssembledServer,
    config::{AuthMode, AuthSettings, Config, Transport},
    http::{self, ClientCheck, KnownClients},
    instructions::policy_without_folders,
    stdio,
};

/// How long a change in progress may take to finish when the server ends.
const LAST_CHANGES: Duration = Duration::from_secs(5);

pub(super) fn run(config: &Config, assembled: &AssembledServer) -> Result<CommandOutcome, CommandFailure> {
    let names: Vec<String> =
        assembled.vaults.iter().map(|vault| format!("{} ({})", vault.name, vault.path.display())).collect();
    // Describing the policy reads the rule files, so it is done only if it is logged.
    if tracing::enabled!(tracing::Level::INFO) {
        let policy = policy_without_folders(&assembled.executor, assembled.executor.grant());
        tracing::info!("{} · {policy}", names.join(", "));
    }
    warn_of_rules_without_effect(&assembled.executor);
    // One connection needs one thread; HTTP gets one per core.
    let mut builder = match config.transport {
        Transport::Stdio => tokio::runtime::Builder::new_current_thread(),
        Transport::Http => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().map_err(|error| CommandFailure::Serving(error.to_string()))?;
    let (executor, dotted) = (Arc::clone(&assembled.executor), config.tools.dotted_names);
    let ended = match config.transport {
        Transport::Stdio => runtime.block_on(stdio::serve(executor, dotted)),
        Transport::Http => {
            runtime.block_on(http::serve(executor, dotted, &config.http, known_clients(config, assembled)?))
        }
    };
    finish(&assembled.executor, LAST_CHANGES, runtime);
    ended.map(|()| CommandOutcome::Well).map_err(CommandFailure::Serving)
}

/// Serves one client on a pair of streams instead of standard input and output.
pub(super) fn run_streams<R, W>(config: &Config, assembled: &AssembledServer, input: R, output: W) -> Result<(), String>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let executor = Arc::clone(&assembled.executor);
    let ended = runtime.block_on(stdio::serve_streams(executor, config.tools.dotted_names, input, output));
    finish(&assembled.executor, LAST_CHANGES, runtime);
    ended
}

/// Lets the last change be written and keeps the indexes.
fn finish(executor: &Arc<Executor>, patience: Duration, runtime: Runtime) {
    executor.stop_changes(patience);
    executor.save_indexes(SAVING);
    // Not joined: a thread that reads a terminal or a dead disk never ends.
    runtime.shutdown_background();
}

/// How clients are authenticated. An address that others can reach is not served without authentication, unless the owner
/// explicitly allows it.
fn known_clients(config: &Config, assembled: &AssembledServer) -> Result<KnownClients, CommandFailure> {
    let AuthSettings { mode, secret, issuer, audience, ignores_scopes, insecure } = &config.http.auth;
    let has_configured = !assembled.configured.is_empty();
    let mode = match mode {
        Some(AuthMode::None) if has_configured => AuthMode::Bearer,
        Some(mode) => *mode,
        // Revoked ones count too: revoking the last token must not open the server.
        None if has_configured || !assembled.auth.tokens()?.is_empty() => AuthMode::Bearer,
        None => AuthMode::None,
    };
    let check = match (mode, secret) {
        (AuthMode::Jwt, Some(secret)) => {
            if *ignores_scopes {
                tracing::warn!("MCP_AUTH_DISABLE_SCOPE_CHECKS is set: every valid token may use every tool");
            }
            if has_configured {
                tracing::warn!("the tokens of the configuration have no effect: MCP_AUTH_MODE is jwt");
            }
            let verifier = SharedSecretVerifier::new(secret.reveal(), issuer.clone(), audience.clone());
            let verifier =
                verifier.map_err(|error| CommandFailure::Misconfigured(format!("MCP_AUTH_SECRET_KEY: {error}")))?;
            ClientCheck::SharedSecret { verifier: Arc::new(verifier), checks_scopes: !ignores_scopes }
        }
        // Refused when the configuration was loaded.
        (AuthMode::Jwt, None) => {
            return Err(CommandFailure::Misconfigured("MCP_AUTH_SECRET_KEY is not set".to_owned()));
        }
        (AuthMode::Bearer, _) => ClientCheck::OwnerTokens {
            configured: assembled.configured.clone().into(),
            store: Arc::clone(&assembled.auth),
        },
        (AuthMode::None, _) => ClientCheck::Open,
    };
    let host = config.http.host;
    if !host.is_loopback() {
        if matches!(check, ClientCheck::Open) && !insecure {
            return Err(CommandFailure::Misconfigured(format!(
                "{host} can be reached from other computers, and clients would not be authenticated. Create a token with \
                 `lapidary token create NAME`, or listen on 127.0.0.1. If every client that reaches the port may read and change \
                 the vaults, say --insecure-no-auth."
            )));
        }
        tracing::warn!(
            "{host} can be reached from other computers and there is no TLS: tokens and notes are sent in clear text unless a proxy encrypts them"
        );
    }
    Ok(KnownClients { check, grants: Arc::clone(&assembled.grants), clock: Clock::system() })
}

/// Runs in the background: scanning a large vault takes a while.
fn warn_of_rules_without_effect(executor: &Arc<Executor>) {
    let executor = Arc::clone(executor);
    std::thread::spawn(move || {
        for rule in executor.rules_without_effect() {
            report::note(&format!("warning: {rule}"));
        }
    });
}
