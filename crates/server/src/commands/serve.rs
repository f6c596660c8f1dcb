//! `lapidary serve`: over standard input and output, or over HTTP with a check of who calls.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use lapidary_auth::{AuthStore, IssuerVerifier, SecretKind, SecretText, SharedSecretVerifier, UnixSeconds};
use lapidary_config::{AuthMode, AuthSettings, ChosenVault, Config, ForeignIssuer, PublicUrl, Transport};
use lapidary_note::ContentHash;
use lapidary_pipeline::{Clock, Executor};
use lapidary_telemetry::Telemetry;
use lapidary_tools::quote::one_line;
use lapidary_vault::store::{RunningServer, StateFolder, listening_process};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Runtime,
};

use super::{CommandFailure, CommandOutcome, SAVING, command_hint::CommandHint, owner, report};
use crate::{
    assemble::{AssembledServer, state_of},
    http::{
        self, ClientCheck, IssuerKeyCache, KnownClients, OutgoingFetch, OwnerAccess, PluginPorts, PortOwner,
        RestCallers, RestCertificate, ServedApi, SettingsAccess, VaultKey,
    },
    instructions::policy_without_folders,
    stdio,
};

/// How long a change in progress may take to finish when the server ends.
const LAST_CHANGES: Duration = Duration::from_secs(5);

/// How long the last traces and metrics may take to be sent.
const LAST_TELEMETRY: Duration = Duration::from_secs(2);

pub(super) fn run(
    config: &Config,
    assembled: &AssembledServer,
    start: &ServerStart<'_>,
) -> Result<CommandOutcome, CommandFailure> {
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
        Transport::Stdio if !config.rest.is_served => tokio::runtime::Builder::new_current_thread(),
        Transport::Stdio | Transport::Http => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().map_err(|error| CommandFailure::Serving(error.to_string()))?;
    let (executor, dotted) = (Arc::clone(&assembled.executor), config.tools.dotted_names);
    let telemetry = Telemetry::start(config);
    let presence = ServerPresence::default();
    // Before anything listens: a missing key should end the start, not the first request.
    let port = ServerPort { presence: &presence, assembled, start };
    let rest = rest_serving(config, assembled, start.hint, &port)?;
    let ended = match config.transport {
        // Programs reach it by its port; there is no client on standard input.
        Transport::Stdio if config.rest.is_served => runtime.block_on(rest),
        Transport::Stdio => {
            // Nothing is served by it, and it holds what is given up below.
            drop(rest);
            // Announced at once, as there is no port to wait for.
            presence.announce(assembled, start, None, None);
            runtime.block_on(stdio::serve(executor, dotted, telemetry.clone()))
        }
        Transport::Http => {
            let clients = known_clients(config, assembled, start.hint)?;
            let stream_token = stream_token(config, &clients)?;
            let owner = OwnerAccess::new(assembled, config, start.settings.clone(), start.hint);
            let mcp = http::serve(executor, owner, clients, stream_token, telemetry.clone(), &port);
            // If one of the two fails, the server ends with its error.
            runtime.block_on(async { tokio::try_join!(mcp, rest).map(|((), ())| ()) })
        }
    };
    // Before the last changes are waited for: a server that takes no more calls should not be shown as running.
    drop(presence);
    finish(&assembled.executor, LAST_CHANGES, runtime);
    telemetry.finish(LAST_TELEMETRY);
    ended.map(|()| CommandOutcome::Well).map_err(CommandFailure::Serving)
}

/// Serves the REST API, if the owner wants it. What is missing for it is said before anything listens.
fn rest_serving<'a>(
    config: &'a Config,
    assembled: &'a AssembledServer,
    hint: &CommandHint,
    port: &'a ServerPort<'a>,
) -> Result<impl Future<Output = Result<(), String>> + 'a, CommandFailure> {
    let parts = config.rest.is_served.then(|| rest_parts(config, assembled, hint)).transpose()?;
    let executor = Arc::clone(&assembled.executor);
    Ok(async move {
        let Some((callers, certificate)) = parts else { return Ok(()) };
        http::serve_rest(executor, &config.rest, &config.http, callers, certificate, port).await
    })
}

fn rest_parts(
    config: &Config,
    assembled: &AssembledServer,
    hint: &CommandHint,
) -> Result<(RestCallers, Option<RestCertificate>), CommandFailure> {
    let keys = VaultKey::of_vaults(&assembled.vaults, &assembled.grants);
    let has_tokens = !assembled.configured.is_empty() || !assembled.auth.tokens()?.is_empty();
    if keys.is_empty() && !has_tokens {
        return Err(CommandFailure::Misconfigured(format!(
            "the REST API needs a key: the one of the plugin Local REST API, if the vault has it, or a token, made with `{}`",
            hint.command_without_vault("token create rest")
        )));
    }
    let check = ClientCheck::OwnerTokens {
        configured: assembled.configured.clone().into(),
        store: Arc::clone(&assembled.auth),
    };
    let (grants, owner) = (Arc::clone(&assembled.grants), Arc::clone(&assembled.auth));
    let clients = KnownClients { check, grants, clock: Clock::system(), owner };
    let first_vault = assembled.vaults.first().map(|vault| vault.name.clone()).unwrap_or_default();
    // Plain HTTP is only on this computer, so it needs no certificate.
    let certificate = match config.rest.plain_address {
        Some(_) => None,
        None => Some(RestCertificate::keep(&assembled.state, today()).map_err(CommandFailure::Serving)?),
    };
    let ports = PluginPorts::of_vaults(&assembled.vaults);
    Ok((RestCallers { keys, clients, first_vault, ports }, certificate))
}

/// In the time zone of certificates.
fn today() -> jiff::civil::Date {
    let now = jiff::Timestamp::try_from(Clock::system().now()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    now.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// How the server was started.
pub(super) struct ServerStart<'a> {
    /// The configuration file that it was given.
    pub(super) config_file: Option<PathBuf>,
    pub(super) hint: &'a CommandHint,
    /// For the console, which shows and changes them.
    pub(super) settings: SettingsAccess,
}

/// What other commands know of this server, until it ends.
struct ServerPresence {
    sender: Sender<RunningServer>,
    announced: Receiver<RunningServer>,
}

impl Default for ServerPresence {
    fn default() -> Self {
        let (sender, announced) = channel();
        Self { sender, announced }
    }
}

impl ServerPresence {
    /// On a separate thread: finding the place of a vault may wait for a disk, and serving need not.
    fn announce(
        &self,
        assembled: &AssembledServer,
        start: &ServerStart<'_>,
        port: Option<(ServedApi, SocketAddr)>,
        console: Option<&str>,
    ) {
        // One announcement for each port: a server may serve MCP at one and the REST API at two others.
        let (transport, url) = match port {
            None => ("stdio", None),
            Some((ServedApi::Mcp, _)) => ("HTTP", None),
            Some((ServedApi::Rest { is_encrypted: true }, address)) => ("REST", Some(format!("https://{address}/"))),
            Some((ServedApi::Rest { is_encrypted: false }, address)) => ("REST", Some(format!("http://{address}/"))),
        };
        let facts = json!({
            "pid": std::process::id(),
            "config": start.config_file,
            "transport": transport,
            "address": port.map(|(_, address)| address),
            "url": url,
            "console": console,
            "version": env!("CARGO_PKG_VERSION"),
            "started": Clock::system().timestamp(),
        });
        let state = |vault: &ChosenVault| {
            let mut facts = facts.clone();
            facts["vault"] = json!(vault.path);
            facts["name"] = json!(vault.name);
            (state_of(&assembled.state, vault), facts.to_string())
        };
        let folders: Vec<(StateFolder, String)> = assembled.vaults.iter().map(state).collect();
        let sender = self.sender.clone();
        // Not joined, for the same reason: the disk may never answer.
        std::thread::spawn(move || {
            for (folder, facts) in folders {
                match RunningServer::announce(&folder, &facts) {
                    // If the server has ended meanwhile, there is no reader.
                    Ok(server) => sender.send(server).unwrap_or_default(),
                    // A server on a disk that cannot be written to serves all the same.
                    Err(error) => tracing::debug!("`lapidary status` does not show this server: {error}"),
                }
            }
        });
    }
}

/// The port of this server.
struct ServerPort<'a> {
    presence: &'a ServerPresence,
    assembled: &'a AssembledServer,
    start: &'a ServerStart<'a>,
}

impl PortOwner for ServerPort<'_> {
    fn listening(&self, service: ServedApi, address: SocketAddr, console: Option<&str>) {
        self.presence.announce(self.assembled, self.start, Some((service, address)), console);
    }

    fn holder(&self, port: u16) -> Option<String> {
        // A state folder that cannot be read knows of no server.
        let running = RunningServer::on_every_vault(&self.assembled.state).unwrap_or_default();
        let is_it = |server: &Value| {
            // Of servers on stdio there is no address.
            let address = server["address"].as_str().and_then(|address| address.parse::<SocketAddr>().ok());
            address.is_some_and(|address| address.port() == port)
        };
        let ours = running.iter().filter_map(|facts| serde_json::from_str::<Value>(facts).ok()).find(is_it);
        let of_vault = |server: Value| Some(format!("process {}, vault {}", server["pid"], server["vault"].as_str()?));
        let other = || listening_process(port).map(|found| format!("{}, process {}", one_line(&found.name), found.id));
        // Our own announcement first, because it names the vault; the system only knows a process.
        ours.and_then(of_vault).or_else(other)
    }
}

impl Drop for ServerPresence {
    fn drop(&mut self) {
        // Each removes its announcement when it is dropped. One that is sent later finds no receiver, and is dropped by
        // its thread.
        self.announced.try_iter().for_each(drop);
    }
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
    let telemetry = Telemetry::start(config);
    let serving = stdio::serve_streams(executor, config.tools.dotted_names, telemetry.clone(), input, output);
    let ended = runtime.block_on(serving);
    finish(&assembled.executor, LAST_CHANGES, runtime);
    telemetry.finish(LAST_TELEMETRY);
    ended
}

/// Lets the last change be written and keeps the indexes.
fn finish(executor: &Arc<Executor>, patience: Duration, runtime: Runtime) {
    // First, so that no change is cut off in the middle.
    executor.stop_changes(patience);
    executor.stop_servers();
    executor.save_indexes(SAVING);
    // Not joined: a thread that reads a terminal or a dead disk never ends.
    runtime.shutdown_background();
}

/// The hash of a token for the older transport, if there is no other authentication. It is printed, and never logged.
fn stream_token(config: &Config, clients: &KnownClients) -> Result<Option<ContentHash>, CommandFailure> {
    // Clients that have tokens need no other one.
    if !config.http.sse || !matches!(clients.check, ClientCheck::TokenOptional { .. }) {
        return Ok(None);
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| CommandFailure::Serving(format!("the system gives no random numbers: {error}")))?;
    let token = SecretText::mint(SecretKind::EventStream, &random);
    report::note(&format!("the token of /sse, until the server ends: {}", token.reveal()));
    Ok(Some(token.digest()))
}

/// How clients are authenticated. An address that others can reach is not served without authentication, unless the owner
/// explicitly allows it.
fn known_clients(
    config: &Config,
    assembled: &AssembledServer,
    hint: &CommandHint,
) -> Result<KnownClients, CommandFailure> {
    let AuthSettings { mode, secret, issuer, audience, ignores_scopes, insecure, foreign, .. } = &config.http.auth;
    let public = config.http.public_url.as_ref();
    let has_configured = !assembled.configured.is_empty();
    let mode = match mode {
        // Tokens in the configuration say that clients must have one; `none` must not open the server.
        Some(AuthMode::None) if has_configured => AuthMode::Bearer,
        Some(mode) => *mode,
        // Strangers reach it there, so they have to be able to sign in, and nothing is served to those who do not.
        // `builtin` only where a passphrase may be typed; without encryption there is no safe default.
        None if public.is_some_and(PublicUrl::is_private) => AuthMode::Builtin,
        // Revoked ones count too: revoking the last token must not open the server.
        None if has_configured || !assembled.auth.tokens()?.is_empty() => AuthMode::Bearer,
        None => AuthMode::None,
    };
    let check = match (mode, secret) {
        (AuthMode::Jwt, Some(secret)) => {
            warn_of_web_tokens(*ignores_scopes, has_configured, "jwt");
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
        (AuthMode::Builtin, _) => {
            make_passphrase(&assembled.auth, hint)?;
            ClientCheck::BuiltIn { configured: assembled.configured.clone().into(), store: Arc::clone(&assembled.auth) }
        }
        (AuthMode::Oauth, _) => {
            warn_of_web_tokens(*ignores_scopes, has_configured, "oauth");
            foreign_issuer(foreign, !ignores_scopes)?
        }
        (AuthMode::None, _) => ClientCheck::TokenOptional { store: Arc::clone(&assembled.auth) },
    };
    // Behind a proxy the server listens on this computer alone, so the check below would not see that it is public.
    if let Some(public) =
        public.filter(|public| matches!(check, ClientCheck::TokenOptional { .. }) && !public.is_loopback())
    {
        tracing::warn!(
            "clients are not authenticated: every program that reaches {} can read and change the vaults",
            public.origin
        );
    }
    let host = config.http.host;
    if !host.is_loopback() {
        if matches!(check, ClientCheck::TokenOptional { .. }) && !insecure {
            return Err(CommandFailure::Misconfigured(format!(
                "{host} can be reached from other computers, and clients would not be authenticated. Create a token with \
                 `{}`, or listen on 127.0.0.1. If every client that reaches the port may read and change the vaults, say \
                 --insecure-no-auth.",
                hint.command_without_vault("token create NAME")
            )));
        }
        if config.http.tls.is_none() {
            tracing::warn!(
                "{host} can be reached from other computers and there is no TLS: tokens and notes are sent in clear text unless a proxy encrypts them"
            );
        }
    }
    let (grants, owner) = (Arc::clone(&assembled.grants), Arc::clone(&assembled.auth));
    Ok(KnownClients { check, grants, clock: Clock::system(), owner })
}

fn warn_of_web_tokens(ignores_scopes: bool, has_configured: bool, mode: &str) {
    if ignores_scopes {
        tracing::warn!("MCP_AUTH_DISABLE_SCOPE_CHECKS is set: every valid token may use every tool");
    }
    if has_configured {
        tracing::warn!("the tokens of the configuration have no effect: MCP_AUTH_MODE is {mode}");
    }
}

/// Without a passphrase, signing in would be impossible: one is made and shown this once. It is printed, never logged.
fn make_passphrase(store: &AuthStore, hint: &CommandHint) -> Result<(), CommandFailure> {
    if store.has_passphrase()? {
        return Ok(());
    }
    // Stored first and shown then: one that is shown has to work.
    let passphrase = owner::new_passphrase()?;
    owner::set(store, &passphrase, UnixSeconds::from(Clock::system().now()))?;
    report::note(&format!(
        "your passphrase, which the sign-in page asks for, is shown only now: {}",
        passphrase.reveal()
    ));
    report::note(&format!("to choose another: {}", hint.command_without_vault("owner set-passphrase")));
    Ok(())
}

fn foreign_issuer(foreign: &ForeignIssuer, checks_scopes: bool) -> Result<ClientCheck, CommandFailure> {
    let ForeignIssuer { issuer: Some(issuer), audience: Some(audience), resource, keys, cooldown, timeout } = foreign
    else {
        // Refused when the configuration was loaded.
        return Err(CommandFailure::Misconfigured("OAUTH_ISSUER_URL or OAUTH_AUDIENCE is not set".to_owned()));
    };
    // The issuer's metadata is not asked: an owner whose issuer has its keys elsewhere names the place.
    let usual = || format!("{}/.well-known/jwks.json", issuer.trim_end_matches('/'));
    let keys = IssuerKeyCache::new(OutgoingFetch::for_owner(*timeout), keys.clone().unwrap_or_else(usual), *cooldown);
    let (issuer, audience, resource) = (issuer.clone(), audience.clone(), resource.clone());
    let verifier = Arc::new(IssuerVerifier { issuer, audience, resource });
    Ok(ClientCheck::Issuer { verifier, keys: Arc::new(keys), checks_scopes })
}

/// Runs in the background: scanning a large vault takes a while.
fn warn_of_rules_without_effect(executor: &Arc<Executor>) {
    let executor = Arc::clone(executor);
    // Reading the rule files of a large vault takes a while, and serving need not wait for it.
    std::thread::spawn(move || {
        for rule in executor.rules_without_effect() {
            report::note(&format!("warning: {rule}"));
        }
    });
}
