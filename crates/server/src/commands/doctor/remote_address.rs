//! The public address of a server, in its parts.

use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RemoteAddress {
    pub(super) is_https: bool,
    /// Without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// Scheme, host and port, as written in addresses.
    pub(super) origin: String,
    /// Starts with `/`.
    pub(super) path: String,
}

impl RemoteAddress {
    /// An address without a path means the endpoint at its usual path.
    pub(super) fn parse(url: &str, usual_path: &str) -> Result<Self, String> {
        let refused = || format!("'{url}' is not an address; write one like https://vault.example.com");
        let url_text = url.trim();
        let (is_https, rest) = match url_text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            Some(_) => return Err(refused()),
            // People type addresses without a scheme, and a public one should be encrypted.
            None => (true, url_text),
        };
        let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
        if authority.is_empty() || authority.contains(['@', '?', '#', ' ']) || path.contains(['?', '#', ' ']) {
            return Err(refused());
        }
        let usual_port = if is_https { 443 } else { 80 };
        let (host, port) = match authority.rsplit_once(':') {
            // The colons of an address of version 6 are inside its brackets.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| refused())?),
            _ => (authority, usual_port),
        };
        let host = host.to_ascii_lowercase();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host).to_owned();
        if bare.is_empty() {
            return Err(refused());
        }
        let scheme = if is_https { "https" } else { "http" };
        let origin =
            if port == usual_port { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{port}") };
        let path = match path.trim_end_matches('/') {
            "" => usual_path.to_owned(),
            path => format!("/{path}"),
        };
        Ok(Self { is_https, host: bare, port, origin, path })
    }

    /// The address of the endpoint.
    pub(super) fn endpoint(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    pub(super) fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// Why an address cannot be reached from the internet, if it cannot.
pub(super) fn private_kind(address: IpAddr) -> Option<&'static str> {
    // An IPv4 address that is mapped into IPv6 is judged as what it is.
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            match () {
                () if address.is_loopback() => Some("this computer"),
                () if address.is_private() => Some("a private network"),
                // 100.64.0.0/10, the shared address space of RFC 6598.
                () if first == 100 && (64..128).contains(&second) => Some("a provider's or Tailscale's network"),
                () if address.is_link_local() => Some("one cable"),
                () if address.is_unspecified() || address.is_broadcast() => Some("no computer"),
                () => None,
            }
        }
        IpAddr::V6(address) => match () {
            () if address.is_loopback() => Some("this computer"),
            () if address.is_unique_local() => Some("a private network"),
            () if address.is_unicast_link_local() => Some("one cable"),
            () if address.is_unspecified() => Some("no computer"),
            () => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_as_people_write_it() {
        let parse = |url: &str| RemoteAddress::parse(url, "/mcp").unwrap();
        for (url, endpoint, host, port) in [
            ("https://vault.example.com", "https://vault.example.com/mcp", "vault.example.com", 443),
            ("vault.example.com", "https://vault.example.com/mcp", "vault.example.com", 443),
            ("https://Vault.example.com:443/", "https://vault.example.com/mcp", "vault.example.com", 443),
            (
                "https://vault.example.com:8443/api/mcp/",
                "https://vault.example.com:8443/api/mcp",
                "vault.example.com",
                8443,
            ),
            ("http://127.0.0.1:3010", "http://127.0.0.1:3010/mcp", "127.0.0.1", 3010),
            ("http://[::1]:3010/x", "http://[::1]:3010/x", "::1", 3010),
            ("http://[::1]", "http://[::1]/mcp", "::1", 80),
        ] {
            let address = parse(url);
            assert_eq!((address.endpoint().as_str(), address.host.as_str(), address.port), (endpoint, host, port));
        }
        for bad in ["", "ftp://a", "https://", "https://a b", "https://user@a", "https://a/?x", "https://a:x"] {
            assert!(RemoteAddress::parse(bad, "/mcp").is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_that_the_internet_does_not_reach_are_told_apart() {
        for (address, is_private) in [
            ("127.0.0.1", true),
            ("10.1.2.3", true),
            ("192.168.1.1", true),
            ("100.64.0.1", true),
            ("100.128.0.1", false),
            ("169.254.1.1", true),
            ("::1", true),
            ("fd00::1", true),
            ("::ffff:10.0.0.1", true),
            ("93.184.215.14", false),
            ("2606:2800:21f:cb07::1", false),
        ] {
            assert_eq!(private_kind(address.parse().unwrap()).is_some(), is_private, "{address}");
        }
    }
}
