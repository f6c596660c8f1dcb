//! Where an authorization may be sent back to.

use std::net::Ipv6Addr;

/// Schemes of programs that are not web pages and are known to us.
const PRIVATE_SCHEMES: [&str; 7] = ["cursor", "vscode", "vscode-insiders", "windsurf", "zed", "jetbrains", "claude"];
const MAX_URI_BYTES: usize = 2_000;

/// An address that a client may name. It is compared as text, except that the port of a loopback address is free: a
/// program takes whichever is free when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectUri {
    text: String,
    loopback: Option<LoopbackParts>,
}

/// A loopback address without its port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LoopbackParts {
    host: String,
    rest: String,
}

impl RedirectUri {
    /// `None` for everything that could run as a script, lead into a file, or be read in two ways.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = text.len() <= MAX_URI_BYTES && text.chars().all(|letter| letter.is_ascii_graphic());
        // Browsers and servers read these differently, or they end the address early.
        if !is_plain || text.contains(['#', '*', '\\', '"', '<', '>', '`', '{', '}', '|', '^']) {
            return None;
        }
        let (scheme, rest) = text.split_once(':')?;
        match scheme {
            "https" => host_of(rest).map(|_| Self { text: text.to_owned(), loopback: None }),
            "http" => {
                let (authority, path) = host_of(rest)?;
                let (host, port) = split_port(authority);
                // Port 0 is not an address.
                let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
                let is_loopback = matches!(host, "127.0.0.1" | "[::1]" | "localhost");
                let loopback = LoopbackParts { host: host.to_owned(), rest: path.to_owned() };
                (is_loopback && is_port).then(|| Self { text: text.to_owned(), loopback: Some(loopback) })
            }
            scheme => {
                let is_scheme = scheme.bytes().all(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'+')
                });
                // Reverse-domain names belong to the holder of the domain.
                // At least three parts, as in `com.example.app`; two could be any word with an ending.
                let is_owned = scheme.split('.').count() >= 3 && scheme.split('.').all(|part| !part.is_empty());
                let is_known = PRIVATE_SCHEMES.contains(&scheme) || is_owned;
                (is_scheme && is_known && !rest.is_empty()).then(|| Self { text: text.to_owned(), loopback: None })
            }
        }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a request may name this address, if the client has registered the other.
    pub fn matches(&self, registered: &Self) -> bool {
        match (&self.loopback, &registered.loopback) {
            (Some(one), Some(other)) => one == other,
            (None, None) => self.text == registered.text,
            _ => false,
        }
    }

    /// Whether it leads to a program on the person's own computer, whose identity cannot be proven.
    pub fn is_loopback(&self) -> bool {
        self.loopback.is_some()
    }

    /// Scheme, host and port, or the scheme alone: where a form may lead in the end.
    pub fn origin(&self) -> String {
        let Some((scheme, rest)) = self.text.split_once(':') else { return String::new() };
        match host_of(rest).filter(|_| matches!(scheme, "http" | "https")) {
            Some((authority, _)) => format!("{scheme}://{authority}"),
            None => format!("{scheme}:"),
        }
    }

    /// What a person should recognise: the host, or the scheme of a program.
    pub fn shown_place(&self) -> String {
        let origin = self.origin();
        origin.split_once("://").map_or(origin.clone(), |(_, host)| host.to_owned())
    }

    /// Whether it is in a list of origins (`https://claude.ai`), schemes (`cursor:`) or `loopback`.
    pub fn is_among(&self, list: &[String]) -> bool {
        let origin = self.origin();
        list.iter().any(|entry| *entry == origin || (entry == "loopback" && self.is_loopback()))
    }

    /// The same address with parameters added; what it had stays.
    pub fn with_parameters(&self, parameters: &[(&str, &str)]) -> String {
        let mut text = self.text.clone();
        for (name, value) in parameters {
            text.push(if text.contains('?') { '&' } else { '?' });
            text += &format!("{name}={}", percent_encoded(value));
        }
        text
    }
}

/// The authority behind `//`, and the rest; none with a user part or without a host.
fn host_of(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.strip_prefix("//")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (host, port) = split_port(authority);
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    // Parsed, because a policy in a header names it: `[a;b]` would begin another rule there.
    let version_6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_host = version_6.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
        || !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
    (is_host && is_port).then_some((authority, path))
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        // The colons of an IPv6 address are within brackets.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Everything but letters, digits and `-._~` as `%XX`, so that no value can end a header or begin another parameter.
pub fn percent_encoded(value: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> RedirectUri {
        RedirectUri::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn addresses_of_clients_that_there_are_can_be_registered() {
        for text in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://chatgpt.com/connector/oauth/abc",
            "http://localhost:33418/callback",
            "http://127.0.0.1/callback",
            "http://[::1]:9/",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "com.example.app:/callback",
        ] {
            parsed(text);
        }
    }

    #[test]
    fn what_is_dangerous_or_unclear_cannot() {
        for text in [
            "",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:https://a/x",
            "about:blank",
            "http://example.com/cb",
            "http://localhost.evil.com/",
            "http://127.0.0.1.evil.com/",
            "http://127.1/",
            "http://2130706433/",
            "https://user@example.com/",
            "https://example.com/#x",
            "https://*.example.com/",
            "https://",
            "https:///x",
            "https://a b/",
            "https://[a;sandbox]/",
            "https://[a,default-src]/",
            "https://[]/",
            "https://example.com/\r\nx: y",
            "https://example.com/\u{202e}",
            "myapp:/cb",
            "a.b:/cb",
            "..x:/cb",
            "http://localhost:99999/",
            "http://localhost:0/",
            "https://exa\"mple.com/",
        ] {
            assert_eq!(RedirectUri::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_address_is_free() {
        let registered = parsed("http://localhost:33418/callback");
        for (text, same) in [
            ("http://localhost:5/callback", true),
            ("http://localhost/callback", true),
            ("http://localhost:33418/callback/x", false),
            ("http://localhost:33418/callback?x=1", false),
            ("http://127.0.0.1:33418/callback", false),
            ("https://localhost/callback", false),
        ] {
            assert_eq!(parsed(text).matches(&registered), same, "{text}");
        }
        let page = parsed("https://claude.ai/cb");
        assert!(parsed("https://claude.ai/cb").matches(&page));
        for text in
            ["https://claude.ai/cb/", "https://claude.ai:443/cb", "https://CLAUDE.ai/cb", "https://claude.ai/cb?x"]
        {
            assert!(!RedirectUri::parse(text).is_some_and(|uri| uri.matches(&page)), "{text}");
        }
    }

    #[test]
    fn parameters_are_added_behind_those_that_are_there() {
        let uri = parsed("https://a.example/cb?x=1");
        let state = "a&b=c\r\nSet-Cookie: x é";
        let text = uri.with_parameters(&[("code", "abc"), ("state", state)]);
        assert_eq!(text, "https://a.example/cb?x=1&code=abc&state=a%26b%3Dc%0D%0ASet-Cookie%3A%20x%20%C3%A9");
        assert_eq!(
            parsed("cursor://x/cb").with_parameters(&[("error", "access_denied")]),
            "cursor://x/cb?error=access_denied"
        );
        assert_eq!(
            (uri.origin().as_str(), parsed("cursor://x/cb").origin().as_str()),
            ("https://a.example", "cursor:")
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(https?|[a-z.]{0,6}):?/{0,2}\\PC{0,30}") {
            if let Some(uri) = RedirectUri::parse(&text) {
                prop_assert!(uri.matches(&uri));
                prop_assert!(uri.with_parameters(&[("state", &text)]).is_ascii());
            }
        }
    }
}
