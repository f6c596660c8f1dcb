//! Where browsers may reach a console: over TLS, or on this computer. A passphrase is never asked for in clear text over a
//! network.

use std::net::SocketAddr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) struct ConsoleSite {
    /// The first is the one that links lead to.
    origins: Vec<String>,
}

impl ConsoleSite {
    /// Beside an endpoint whose clients reach it at `origin`. `None` if no browser could be served safely.
    pub(in crate::http) fn new(origin: &str, bound: SocketAddr, has_tls: bool) -> Option<Self> {
        let mut origins = Vec::new();
        if origin.starts_with("https://") {
            origins.push(origin.to_owned());
        }
        // What arrives there comes from this computer, or through a proxy that adds TLS.
        // Unspecified means every address, so loopback is among them. Over other addresses the origin does not match.
        if !has_tls && (bound.ip().is_loopback() || bound.ip().is_unspecified()) {
            origins.extend(loopback(bound.port()));
        }
        (!origins.is_empty()).then_some(Self { origins })
    }

    pub(super) fn on_loopback(port: u16) -> Self {
        Self { origins: loopback(port).into() }
    }

    /// Without a slash at the end.
    pub(in crate::http) fn address(&self) -> &str {
        self.origins.first().map_or("", String::as_str)
    }

    /// Whether a page of this origin is one of ours.
    pub(super) fn is_own(&self, origin: &str) -> bool {
        self.origins.iter().any(|own| own == origin)
    }

    /// Whether browsers may come without TLS.
    pub(super) fn has_plain(&self) -> bool {
        self.origins.iter().any(|own| own.starts_with("http://"))
    }
}

fn loopback(port: u16) -> [String; 3] {
    // All three spellings: a browser sends the one that was typed, and origins are compared as text.
    ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("http://{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_served_over_tls_or_on_this_computer() {
        let bound = |address: &str| address.parse::<SocketAddr>().unwrap();
        let site = |origin: &str, at: &str, tls: bool| ConsoleSite::new(origin, bound(at), tls);
        let public = site("https://vault.example", "127.0.0.1:80", false).unwrap();
        assert!(public.is_own("https://vault.example") && public.is_own("http://127.0.0.1:80"));
        assert_eq!(public.address(), "https://vault.example");
        for foreign in ["http://vault.example", "https://vault.example.evil", "http://127.0.0.1:81", "null", ""] {
            assert!(!public.is_own(foreign), "{foreign}");
        }
        let local = site("http://127.0.0.1:80", "127.0.0.1:80", false).unwrap();
        assert!(local.is_own("http://localhost:80") && local.has_plain());
        assert_eq!(site("http://192.0.2.1:80", "192.0.2.1:80", false), None, "in clear text over a network");
        let everywhere = site("http://THIS-COMPUTER:80", "0.0.0.0:80", false).unwrap();
        assert_eq!(everywhere.address(), "http://127.0.0.1:80");
        let own_tls = site("https://192.0.2.1:443", "192.0.2.1:443", true).unwrap();
        assert!(!own_tls.has_plain());
    }
}
