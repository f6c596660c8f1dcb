//! Hosts of the web, as the owner writes them.

use std::fmt;

/// `any`, a host like `example.org`, or `*.example.org` for it and everything below it; perhaps with a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPattern {
    Any,
    Host {
        /// In small letters.
        name: String,
        /// Whether hosts below it are meant, too.
        with_subdomains: bool,
        /// Without one, the usual ports.
        port: Option<u16>,
    },
}

/// The ports of http and https.
const USUAL_PORTS: [u16; 2] = [80, 443];

impl HostPattern {
    /// `None` if it is not a host.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text == "any" || text == "*" {
            return Some(Self::Any);
        }
        // An IPv6 address itself has colons, so it is written in brackets.
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port.parse().ok()?)),
            _ => (&*text, None),
        };
        let (name, with_subdomains) = name.strip_prefix("*.").map_or((name, false), |name| (name, true));
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        let is_host = !bare.is_empty() && bare.chars().all(is_name) && !bare.starts_with('.') && !bare.contains("..");
        is_host.then(|| Self::Host { name: bare.to_owned(), with_subdomains, port })
    }

    /// Whether it means this host at this port. An IPv6 address is given without brackets.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        // `any` means hosts, not ports: other services are opened one by one.
        let Self::Host { name, with_subdomains, port: wanted } = self else { return USUAL_PORTS.contains(&port) };
        // A dot at the end means the same host to DNS.
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        // Only whole labels: `badexample.org` is not below `example.org`.
        let is_below = || host.strip_suffix(name.as_str()).is_some_and(|before| before.ends_with('.'));
        let is_port = wanted.map_or(USUAL_PORTS.contains(&port), |wanted| wanted == port);
        is_port && (host == *name || (*with_subdomains && is_below()))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Host { name, with_subdomains, port } = self else { return f.write_str("any") };
        let (before, port) = (if *with_subdomains { "*." } else { "" }, port.map(|port| format!(":{port}")));
        write!(f, "{before}{name}{}", port.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_its_host_its_ports_and_whole_labels() {
        for (pattern, host, port, expected) in [
            ("any", "a.example", 443, true),
            ("any", "a.example", 8080, false),
            ("Example.org", "example.org", 80, true),
            ("example.org", "EXAMPLE.ORG.", 443, true),
            ("example.org", "www.example.org", 443, false),
            ("example.org", "example.org", 8443, false),
            ("example.org:8443", "example.org", 8443, true),
            ("example.org:8443", "example.org", 443, false),
            ("*.example.org", "example.org", 443, true),
            ("*.example.org", "www.example.org", 443, true),
            ("*.example.org", "badexample.org", 443, false),
            ("*.example.org", "example.org.evil.example", 443, false),
            ("[::1]:8080", "::1", 8080, true),
            ("127.0.0.1:80", "127.0.0.1", 80, true),
        ] {
            assert_eq!(HostPattern::parse(pattern).unwrap().matches(host, port), expected, "{pattern} {host}:{port}");
        }
        for bad in ["", "https://a.example", "a.example/x", "a b", "*.", "a.example:x", "..", "user@a.example", "a..b"]
        {
            assert_eq!(HostPattern::parse(bad), None, "{bad}");
        }
    }
}
