//! Refuses what web pages of others could send through a person's browser, and what can be read in two ways. Before
//! anything else, on every route.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use lapidary_config::AllowedOrigins;
use serde_json::json;

use super::{accept_loop::ConnectionEnds, oauth::is_for_every_page, refusal_log::RefusalLog};

/// The longest target of a request.
const TARGET_BYTES: usize = 8 * 1024;

const ALLOWED_METHODS: &str = "GET, POST, DELETE, OPTIONS";
const ALLOWED_HEADERS: &str = "Content-Type, Authorization, Accept, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, \
                               Mcp-Name, Last-Event-ID, traceparent";
const EXPOSED_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate, Retry-After";

/// Which hosts and origins a request may name.
#[derive(Clone)]
pub(super) struct RequestChecks {
    rules: Arc<RequestRules>,
    refusals: Option<Arc<RefusalLog>>,
}

struct RequestRules {
    /// In lower case; without a port, any port is meant.
    hosts: Vec<String>,
    origins: AllowedOrigins,
    /// Only then do pages of this computer count.
    is_loopback: bool,
    /// Of our own pages.
    own_origin: String,
}

impl RequestChecks {
    pub(super) fn new(hosts: Vec<String>, origins: AllowedOrigins, bound: IpAddr, own_origin: String) -> Self {
        let rules = RequestRules { hosts, origins, is_loopback: bound.is_loopback(), own_origin };
        Self { rules: Arc::new(rules), refusals: None }
    }

    /// Refusals go to the owner's log.
    pub(super) fn recording(self, refusals: Option<Arc<RefusalLog>>) -> Self {
        Self { refusals, ..self }
    }

    /// Compared as a whole. A name that only begins or ends like one of ours is another, and a page that had its own name
    /// lead here (DNS rebinding) still says that name.
    fn knows_host(&self, host: &str, local: Option<IpAddr>) -> bool {
        let host = host.to_ascii_lowercase();
        let (name, port) = split_port(&host);
        // `host:x` could be read as another name.
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return false;
        }
        let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        // The address at which the connection arrived is not a name that a page could have pointed here.
        let is_local =
            local.is_some_and(|local| address.parse::<IpAddr>().is_ok_and(|given| given.to_canonical() == local));
        // The host with its port, or a name that any port may follow.
        is_loopback_name(name) || is_local || self.rules.hosts.iter().any(|known| *known == host || known == name)
    }

    fn knows_origin(&self, origin: &str) -> bool {
        if origin == self.rules.own_origin {
            return true;
        }
        match &self.rules.origins {
            AllowedOrigins::Any => true,
            // Both sides without the default port, since either may have it.
            AllowedOrigins::Listed(listed) => listed.iter().any(|known| with_port(known) == with_port(origin)),
            AllowedOrigins::Loopback => {
                let Some((scheme, host)) = origin.split_once("://") else { return false };
                let (name, port) = split_port(host);
                let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
                // Pages of this computer count only if the server is not reachable from elsewhere.
                self.rules.is_loopback && matches!(scheme, "http" | "https") && is_loopback_name(name) && is_port
            }
        }
    }
}

/// Whether a host names this computer, with or without a port.
pub(super) fn is_loopback_host(host: &str) -> bool {
    is_loopback_name(split_port(&host.to_ascii_lowercase()).0)
}

fn is_loopback_name(name: &str) -> bool {
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// `[::1]:80` has its colons before the port too.
fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    }
}

/// An origin without the port that its scheme has anyway.
fn with_port(origin: &str) -> &str {
    // Browsers leave it out, and owners may write it.
    let default = if origin.starts_with("https://") { ":443" } else { ":80" };
    origin.strip_suffix(default).unwrap_or(origin)
}

/// Whether something is decided by the one value of a header. Sent twice, a proxy or the protocol library could go by
/// the one, and we by the other.
fn decides(name: &HeaderName) -> bool {
    const SINGLE: [HeaderName; 6] = [
        header::HOST,
        header::ORIGIN,
        header::AUTHORIZATION,
        header::CONTENT_LENGTH,
        header::CONTENT_TYPE,
        header::TRANSFER_ENCODING,
    ];
    // Session, version, method, name and parameters.
    SINGLE.contains(name) || name.as_str().starts_with("mcp-") || name == "last-event-id" || name == "traceparent"
}

/// A header that must not be there twice, and is.
pub(super) fn repeated(headers: &HeaderMap) -> Option<&HeaderName> {
    // The second value is enough to know.
    headers.keys().find(|name| decides(name) && headers.get_all(*name).iter().nth(1).is_some())
}

/// The value of a header as text, if it is one.
fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    headers.get(name).map(|value| value.to_str().map_err(|_| ())).transpose()
}

/// Looks at host and origin, answers preflights, and marks every answer.
pub(super) async fn guard(State(checks): State<RequestChecks>, request: Request, next: Next) -> Response {
    let looked_at = checks.refusals.as_ref().map(|refusals| (refusals, refusals.look_at(&request)));
    let answered = checked(&checks, request, next).await;
    let is_origin_refused = matches!(&answered, Err(RequestRefusal::Origin));
    let (mut response, origin) = answered.unwrap_or_else(|refused| (refused.into_response(), None));
    if let Some((refusals, request)) = looked_at {
        refusals.answered(request, &response, is_origin_refused);
    }
    // Only if the owner's address is encrypted: a browser would refuse plain HTTP for a year.
    if checks.rules.own_origin.starts_with("https://") {
        let a_year = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, a_year);
    }
    finished(response, origin)
}

/// Why a request is not answered.
enum RequestRefusal {
    Malformed(&'static str),
    Repeated(HeaderName),
    TooLong,
    Host,
    Origin,
}

impl IntoResponse for RequestRefusal {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::Malformed(message) => (StatusCode::BAD_REQUEST, message),
            Self::Repeated(name) => {
                return plain_error(StatusCode::BAD_REQUEST, &format!("Bad Request: more than one {name} header"));
            }
            Self::TooLong => (StatusCode::URI_TOO_LONG, "URI Too Long"),
            Self::Host => (
                StatusCode::FORBIDDEN,
                "Forbidden: this host name is not served here. The owner adds it with LAPIDARY_ALLOWED_HOSTS or MCP_PUBLIC_URL.",
            ),
            Self::Origin => (StatusCode::FORBIDDEN, "Invalid origin. DNS rebinding protection."),
        };
        plain_error(status, message)
    }
}

/// The answer to a request that may be answered, and the page that may read it.
async fn checked(
    checks: &RequestChecks,
    request: Request,
    next: Next,
) -> Result<(Response, Option<HeaderValue>), RequestRefusal> {
    let headers = request.headers();
    if let Some(name) = repeated(headers) {
        return Err(RequestRefusal::Repeated(name.clone()));
    }
    // A request without a host is HTTP/1.0, and no browser or client sends one.
    let (Ok(Some(host)), Ok(origin)) = (text_of(headers, &header::HOST), text_of(headers, &header::ORIGIN)) else {
        return Err(RequestRefusal::Malformed("Bad Request: a Host and an Origin are plain text"));
    };
    // `GET http://host/path` has to name the host that the header names.
    // A proxy may go by the one, and we by the other.
    if request.uri().authority().is_some_and(|authority| host != authority.as_str()) {
        return Err(RequestRefusal::Malformed("Bad Request: the request names two hosts"));
    }
    if request.uri().path_and_query().is_some_and(|target| target.as_str().len() > TARGET_BYTES) {
        return Err(RequestRefusal::TooLong);
    }
    let local = request.extensions().get::<ConnectionEnds>().map(|ends| ends.local);
    if !checks.knows_host(host, local) {
        return Err(RequestRefusal::Host);
    }
    // Documents for programs carry no cookie, so any page may read them.
    let is_for_all = is_for_every_page(request.uri().path());
    if !is_for_all && origin.is_some_and(|origin| !checks.knows_origin(origin)) {
        return Err(RequestRefusal::Origin);
    }
    let origin = match origin {
        // A wildcard never goes with credentials, so no cookie or token is exposed by it.
        Some(_) if is_for_all => Some(HeaderValue::from_static("*")),
        origin => origin.and_then(|origin| HeaderValue::from_str(origin).ok()),
    };
    if request.method() == Method::OPTIONS {
        return Ok((preflight(origin.is_some()), origin));
    }
    Ok((next.run(request).await, origin))
}

fn preflight(is_cross_origin: bool) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
    if is_cross_origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(ALLOWED_METHODS));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
    response
}

/// What every answer says to browsers and caches. The origin is that of a page that may read it.
fn finished(mut response: Response, origin: Option<HeaderValue>) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // Pages of the console set their own, which must not be replaced.
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    let policy =
        HeaderValue::from_static("default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'");
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    // What one client is told must never be kept for another.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // Caches must not give the answer for one origin to another.
    headers.insert(header::VARY, HeaderValue::from_static("Authorization, Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    }
    response
}

/// A refusal of something that is not yet known to be a message.
pub(super) fn plain_error(status: StatusCode, message: &str) -> Response {
    (status, axum::Json(json!({ "error": message }))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(origins: AllowedOrigins, bound: &str) -> RequestChecks {
        let hosts = vec!["vault.example.com".into(), "nas:8443".into()];
        RequestChecks::new(hosts, origins, bound.parse().unwrap(), "https://vault.example.com".into())
    }

    #[test]
    fn hosts_are_compared_as_a_whole() {
        let checks = checks(AllowedOrigins::Loopback, "127.0.0.1");
        let local = Some(IpAddr::from([192, 0, 2, 7]));
        for host in [
            "localhost",
            "localhost:3010",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:80",
            "LOCALHOST",
            "vault.example.com",
            "Vault.Example.com:443",
            "nas:8443",
            "192.0.2.7",
            "192.0.2.7:3010",
        ] {
            assert!(checks.knows_host(host, local), "{host}");
        }
        for host in [
            "",
            "localhost.",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "evil.com",
            "nas",
            "nas:1",
            "vault.example.com.evil.com",
            "xvault.example.com",
            "localhost:x",
            "localhost:99999",
            "192.0.2.8",
            "user@localhost",
            "[::1",
            "0x7f.1",
            "2130706433",
        ] {
            assert!(!checks.knows_host(host, local), "{host}");
        }
    }

    #[test]
    fn origins_are_compared_as_a_whole() {
        let here = checks(AllowedOrigins::Loopback, "127.0.0.1");
        for origin in ["http://localhost:5173", "https://127.0.0.1", "http://[::1]:9"] {
            assert!(here.knows_origin(origin), "{origin}");
            assert!(
                !checks(AllowedOrigins::Loopback, "0.0.0.0").knows_origin(origin),
                "{origin}: other computers have pages too"
            );
        }
        for origin in [
            "null",
            "",
            "http://localhost.evil.com",
            "http://127.0.0.1.evil.com",
            "HTTP://LOCALHOST",
            "http://localhost.",
            "http://localhost:x",
            "ftp://localhost",
            "http://localhost/",
            "http://evil@localhost",
            "localhost",
        ] {
            assert!(!here.knows_origin(origin), "{origin}");
        }
        let listed = checks(
            AllowedOrigins::Listed(vec!["https://app.example".into(), "http://tool.example:8080".into()]),
            "0.0.0.0",
        );
        assert!(listed.knows_origin("https://app.example") && listed.knows_origin("https://app.example:443"));
        assert!(listed.knows_origin("http://tool.example:8080"));
        assert!(listed.knows_origin("https://vault.example.com"), "our own pages");
        for origin in [
            "http://vault.example.com",
            "https://vault.example.com.evil.com",
            "http://app.example",
            "https://app.example:444",
            "http://tool.example",
            "https://app.example.evil.com",
            "null",
        ] {
            assert!(!listed.knows_origin(origin), "{origin}");
        }
    }
}
