//! Asks a server at its public address, as clients elsewhere do, and names what they would stumble over.

use std::{
    net::{IpAddr, ToSocketAddrs},
    time::Duration,
};

use lapidary_auth::SecretText;
use lapidary_telemetry::outgoing;
use serde_json::{Value, json};
use ureq::Agent;

use super::{
    finding::Finding,
    remote_address::{RemoteAddress, private_kind},
    sign_in_checks,
};

/// How long one answer may take; clients wait no longer than ten.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a question is repeated whose connection broke.
const ASK_AGAIN: usize = 2;
/// No answer to these questions is longer.
const ANSWER_BYTES: u64 = 1 << 20;

/// Looks at a server from outside.
pub(super) struct RemoteVisitor {
    pub(super) address: RemoteAddress,
    token: Option<SecretText>,
    agent: Agent,
}

/// What was answered.
pub(super) struct RemoteAnswer {
    pub(super) status: u16,
    pub(super) body: String,
    headers: Vec<(String, String)>,
}

impl RemoteAnswer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        // An answer in a stream has its message in a line of data.
        // Over streamable HTTP a reply may come as an event stream (`text/event-stream`).
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| data.contains('{'));
        serde_json::from_str(data.unwrap_or(&self.body)).unwrap_or_default()
    }
}

/// How the endpoint receives a stranger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reception {
    Open,
    /// It asks for a token; clients can sign in by themselves if it says where.
    AsksForToken {
        says_where: bool,
    },
    /// It does not work.
    Broken,
}

impl RemoteVisitor {
    pub(super) fn new(address: RemoteAddress, token: Option<SecretText>) -> Self {
        Self { address, token, agent: outgoing::agent(ANSWER_TIMEOUT) }
    }

    /// From the outside in; what depends on something that failed is left out.
    pub(super) fn findings(&self) -> Vec<Finding> {
        // Names and ports are looked at without a request, so they are reported even if nothing answers.
        let mut findings = self.names_and_ports();
        // Not the endpoint: this page needs no token and no session, so it tells a proxy that leads elsewhere from a
        // server that refuses.
        let health = self.get(&format!("{}/healthz", self.address.origin), &[]);
        let (finding, is_reached) = self.reached(&health);
        findings.push(finding);
        if !is_reached {
            return findings;
        }
        findings.push(self.own_address());
        let (finding, reception) = self.stranger();
        findings.push(finding);
        if reception == Reception::Broken {
            return findings;
        }
        // Some proxies redirect one of the two forms, and a redirect loses the token.
        findings.push(self.trailing_slash());
        findings.push(self.hosted_client());
        findings.push(self.foreign_page());
        match reception {
            Reception::AsksForToken { says_where: true } => findings.extend(sign_in_checks::findings(self)),
            Reception::AsksForToken { says_where: false } => findings.push(Finding::warning(
                "sign-in",
                "clients need a token in a header; there is no way to sign in",
                "claude.ai, ChatGPT and their apps sign in with OAuth: start the server with MCP_AUTH_MODE=builtin",
            )),
            Reception::Open | Reception::Broken => {}
        }
        findings.extend(self.session(reception));
        findings
    }

    fn names_and_ports(&self) -> Vec<Finding> {
        let RemoteAddress { is_https, host, port, .. } = &self.address;
        let mut findings = Vec::new();
        let addresses: Vec<IpAddr> = match (host.as_str(), *port).to_socket_addrs() {
            Ok(found) => found.map(|address| address.ip()).collect(),
            Err(_) => {
                findings.push(Finding::failure(
                    "name",
                    format!("{host} has no address"),
                    "create a DNS record for it, or correct the address; a new record can take a while to be known",
                ));
                return findings;
            }
        };
        // Checked after the name and before the rest: a trial on one computer has no public address to find fault with.
        // A name such as `localhost` has to resolve first, so the order matters.
        if self.address.is_loopback() {
            let found = "this computer only";
            findings.push(Finding::warning("name", found, "clients elsewhere need the public address"));
            return findings;
        }
        let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        match addresses.iter().find_map(|address| Some((address, private_kind(*address)?))) {
            Some((address, kind)) => findings.push(Finding::failure(
                "name",
                format!("{host} leads to {address}, which is in {kind}"),
                "hosted clients refuse a name with such an address: use a public one, or a tunnel",
            )),
            // A server with both kinds works everywhere, so only a missing IPv4 address is worth a word.
            None if !addresses.iter().any(IpAddr::is_ipv4) => findings.push(Finding::warning(
                "name",
                format!("{host} has only addresses of IPv6 ({})", shown.join(", ")),
                "claude.ai connects by IPv4: add an A record",
            )),
            None => findings.push(Finding::ok("name", format!("{host} leads to {}", shown.join(", ")))),
        }
        if !is_https {
            findings.push(Finding::failure(
                "TLS",
                "the address is http: tokens and notes are sent in clear text",
                "put a proxy or a tunnel with TLS in front, or give --tls-cert and --tls-key",
            ));
        }
        if *port != 443 {
            findings.push(Finding::warning(
                "port",
                format!("{port}"),
                "hosted clients reach port 443 alone; forward it",
            ));
        }
        findings
    }

    fn reached(&self, health: &Result<RemoteAnswer, String>) -> (Finding, bool) {
        const WHAT: &str = "answer";
        match health {
            Err(problem) => {
                // Told apart because the cure is another: a certificate, or a process and a port.
                let advice = if problem.starts_with("TLS") {
                    "the certificate is not one that clients accept: it may be expired, for another name, or self-signed"
                } else {
                    "nothing answers: is the server running, does the proxy lead to it, is the port open?"
                };
                (Finding::failure(WHAT, problem.clone(), advice), false)
            }
            Ok(answer) if answer.status == 200 && answer.json()["status"] == "ok" => {
                let secured = if self.address.is_https { " over TLS" } else { "" };
                (Finding::ok(WHAT, format!("the server answers{secured}")), true)
            }
            Ok(answer) if answer.status == 403 && answer.body.contains("host name is not served here") => {
                let advice =
                    format!("start the server with --public-url {}, so that it knows its name", self.address.origin);
                (Finding::failure(WHAT, "the server does not know this host name", advice), false)
            }
            Ok(answer) => {
                let found = format!("/healthz is answered with {}, not by Lapidary", answer.status);
                (Finding::failure(WHAT, found, "the proxy leads elsewhere: forward all paths to the server"), false)
            }
        }
    }

    /// Which address the server believes to have. A request must not be able to change that.
    fn own_address(&self) -> Finding {
        const WHAT: &str = "own address";
        let card = format!("{}/.well-known/mcp.json", self.address.origin);
        // Asked with a forged header at once: whether the address is right and whether it can be forged is one answer.
        let spoofed = self.get(&card, &[("X-Forwarded-Host", "evil.example")]);
        let Ok(answer) = spoofed else {
            return Finding::failure(WHAT, "no server card", "forward /.well-known too");
        };
        let card = answer.json();
        let said = card["endpoints"]["streamable_http"].as_str().unwrap_or_default();
        let wanted = self.address.endpoint();
        if answer.status != 200 || said.is_empty() {
            let found = format!("/.well-known/mcp.json is answered with {}", answer.status);
            return Finding::failure(WHAT, found, "forward /.well-known to the server too");
        }
        if said != wanted {
            let advice = format!("start the server with --public-url {}", self.address.origin);
            return Finding::failure(WHAT, format!("the server says {said}, clients use {wanted}"), advice);
        }
        Finding::ok(WHAT, wanted)
    }

    /// The first request of a client that has no token yet.
    fn stranger(&self) -> (Finding, Reception) {
        const WHAT: &str = "strangers";
        let endpoint = self.address.endpoint();
        // Both, because clients differ in which they send first, and some proxies let through only one.
        let (got, posted) = (self.get(&endpoint, &[("Accept", "*/*")]), self.hello(&endpoint, &[]));
        let (Ok(got), Ok(posted)) = (got, posted) else {
            let advice = "the proxy closes requests to the endpoint: let it forward GET and POST without a time limit";
            return (Finding::failure(WHAT, "the endpoint does not answer", advice), Reception::Broken);
        };
        let broken = |found: String, advice: &str| (Finding::failure(WHAT, found, advice), Reception::Broken);
        match (got.status, posted.status) {
            // Before the other answers: what a redirect leads to says nothing about what clients get.
            (300..=399, _) | (_, 300..=399) => broken(
                "the endpoint is redirected, and clients do not send their token to another address".to_owned(),
                "let the proxy forward instead of redirecting",
            ),
            (404, _) | (_, 404) => broken(
                format!("there is nothing at {}", self.address.path),
                "forward this path to the server, or give the address with the path of MCP_HTTP_ENDPOINT_PATH",
            ),
            (401, 401) => {
                let challenges = [&got, &posted].map(|answer| answer.header("www-authenticate").unwrap_or_default());
                if !challenges.iter().all(|challenge| challenge.starts_with("Bearer")) {
                    let advice =
                        "the proxy asks for a separate password, or drops the header WWW-Authenticate; clients need it";
                    return broken("401 without a challenge for a token".to_owned(), advice);
                }
                // Without this address, a hosted client cannot begin a sign-in.
                let says_where = challenges.iter().all(|challenge| challenge.contains("resource_metadata=\"http"));
                let found = "401, as it should be without a token";
                (Finding::ok(WHAT, found), Reception::AsksForToken { says_where })
            }
            // Without a token is the default on one computer, and a disaster everywhere else.
            (200, 200) if self.address.is_loopback() => (Finding::ok(WHAT, "served without a token"), Reception::Open),
            (200, 200) => (
                Finding::failure(
                    WHAT,
                    "everyone who knows the address can read and change the vaults",
                    "create a token (lapidary token create NAME), or set MCP_AUTH_MODE=builtin",
                ),
                Reception::Open,
            ),
            (got, posted) => broken(
                format!("GET is answered with {got} and POST with {posted}"),
                "something in front of the server answers: a firewall, a bot rule or a log-in page of the proxy",
            ),
        }
    }

    fn trailing_slash(&self) -> Finding {
        const WHAT: &str = "slash at the end";
        let endpoint = self.address.endpoint();
        // Compared with each other, not with an expected status: what is right depends on the authentication.
        let (without, with) = (self.hello(&endpoint, &[]), self.hello(&format!("{endpoint}/"), &[]));
        match (without, with) {
            (Ok(without), Ok(with)) if without.status == with.status => Finding::ok(WHAT, "makes no difference"),
            (_, with) => {
                let found = with.map_or_else(|problem| problem, |with| format!("is answered with {}", with.status));
                Finding::failure(WHAT, found, "let the proxy forward both forms of the path, without a redirect")
            }
        }
    }

    /// Some proxies refuse what calls itself a program of an AI company.
    fn hosted_client(&self) -> Finding {
        const WHAT: &str = "Claude-User";
        let endpoint = self.address.endpoint();
        // The same request twice, with nothing but the name changed: a difference is made by a rule about names.
        let (plain, hosted) = (self.hello(&endpoint, &[]), self.hello(&endpoint, &[("User-Agent", "Claude-User")]));
        match (plain, hosted) {
            (Ok(plain), Ok(hosted)) if plain.status == hosted.status => Finding::ok(WHAT, "is let through"),
            (_, hosted) => {
                let found =
                    hosted.map_or_else(|problem| problem, |hosted| format!("is answered with {}", hosted.status));
                let advice =
                    "a rule against bots blocks it (Cloudflare: \"Block AI bots\"): allow requests to the endpoint";
                Finding::failure(WHAT, found, advice)
            }
        }
    }

    fn foreign_page(&self) -> Finding {
        const WHAT: &str = "pages of others";
        match self.hello(&self.address.endpoint(), &[("Origin", "https://evil.example")]) {
            Ok(answer) if answer.status == 403 => Finding::ok(WHAT, "are refused"),
            Ok(_) => Finding::warning(
                WHAT,
                "any web page may send requests",
                "list the pages that you use in MCP_ALLOWED_ORIGINS instead of *",
            ),
            Err(problem) => Finding::failure(WHAT, problem, "a request with an Origin is not answered"),
        }
    }

    /// What a client does once it has a token.
    fn session(&self, reception: Reception) -> Vec<Finding> {
        // A warning and not a failure: who has signed in through a client has no token to give.
        if reception != Reception::Open && self.token.is_none() {
            let advice = "set LAPIDARY_TOKEN to a token, and this is tried too";
            return vec![Finding::warning("a session", "was not tried without a token", advice)];
        }
        let endpoint = self.address.endpoint();
        let bearer = self.token.as_ref().map(|token| format!("Bearer {}", token.reveal()));
        let token: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
        let opened = match self.hello(&endpoint, &token) {
            Ok(answer) if answer.status == 401 => {
                let advice =
                    "it may be revoked or expired (lapidary token list), or the proxy drops the header Authorization";
                return vec![Finding::failure("a session", "the token is refused", advice)];
            }
            Ok(answer) if answer.json()["result"]["serverInfo"]["name"] == "lapidary" => answer,
            Ok(answer) => {
                let found = format!("initialize is answered with {}", answer.status);
                return vec![Finding::failure("a session", found, "the proxy changes answers: switch that off")];
            }
            Err(problem) => {
                let advice = "the proxy may hold back answers: switch off its buffering";
                return vec![Finding::failure("a session", problem, advice)];
            }
        };
        // What was negotiated, which later requests have to repeat in a header.
        let version = opened.json()["result"]["protocolVersion"].as_str().unwrap_or_default().to_owned();
        let mut findings = vec![Finding::ok("a session", format!("opened, version {version}"))];
        let session = opened.header("mcp-session-id").map(str::to_owned);
        let mut headers = token;
        headers.push(("MCP-Protocol-Version", &version));
        headers.extend(session.as_deref().map(|session| ("Mcp-Session-Id", session)));
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
        findings.push(match self.post(&endpoint, &headers, &list) {
            Ok(answer) => match answer.json()["result"]["tools"].as_array() {
                Some(tools) if !tools.is_empty() => Finding::ok("tools", format!("{} listed", tools.len())),
                _ => Finding::failure("tools", "none are listed", "look at the profile and the scopes of the token"),
            },
            Err(problem) => {
                Finding::failure("tools", problem, "the proxy may hold back answers: switch off its buffering")
            }
        });
        if session.is_some() {
            // Not left behind; whether it succeeds says nothing about the address.
            let ended = headers
                .iter()
                .fold(self.agent.delete(&endpoint), |request, (name, value)| request.header(*name, *value));
            drop(ended.call());
        }
        findings
    }

    fn hello(&self, url: &str, headers: &[(&str, &str)]) -> Result<RemoteAnswer, String> {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "lapidary doctor", "version": env!("CARGO_PKG_VERSION") },
        } });
        self.post(url, headers, &hello)
    }

    fn post(&self, url: &str, headers: &[(&str, &str)], message: &Value) -> Result<RemoteAnswer, String> {
        patiently(|| {
            let request = self
                .agent
                .post(url)
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream");
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            request.send(message.to_string())
        })
    }

    pub(super) fn get(&self, url: &str, headers: &[(&str, &str)]) -> Result<RemoteAnswer, String> {
        patiently(|| {
            let request = self.agent.get(url);
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).call()
        })
    }
}

/// Asks again if a connection broke: a server that refuses closes it, sometimes before the next request on it is sent.
fn patiently(ask: impl Fn() -> Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<RemoteAnswer, String> {
    let broke = |error: &ureq::Error| match error {
        // A refused connection is an answer: nothing listens there, and asking again changes nothing.
        ureq::Error::Io(error) => error.kind() != std::io::ErrorKind::ConnectionRefused,
        ureq::Error::Protocol(_) => true,
        _ => false,
    };
    let mut answered = ask();
    for _ in 0..ASK_AGAIN {
        if !answered.as_ref().is_err_and(broke) {
            break;
        }
        answered = ask();
    }
    answer(answered)
}

fn answer(answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<RemoteAnswer, String> {
    let mut response = answered.map_err(|error| outgoing::in_words(&error))?;
    let headers = response
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_string();
    Ok(RemoteAnswer { status, headers, body: body.map_err(|error| outgoing::in_words(&error))? })
}
