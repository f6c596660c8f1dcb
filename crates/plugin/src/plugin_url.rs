//! Where the plugin is: the base URL, and the URLs of its endpoints.

use std::fmt;

use ureq::http::Uri;

/// A base URL: `http` or `https`, a host, and a path only if a proxy has one in front.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PluginUrl(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("it does not begin with http:// or https://")]
    Scheme,
    #[error("it has no host")]
    Host,
    #[error("it has a user name or password; the key is given on its own")]
    Credentials,
    #[error("it has a query or fragment")]
    Query,
}

impl PluginUrl {
    /// Where the plugin serves plain HTTP, if that is switched on.
    pub const DEFAULT: &'static str = "http://127.0.0.1:27123";

    pub fn parse(given: &str) -> Result<Self, UrlError> {
        let given = given.trim();
        // Looked for in the text, because the parser drops a fragment.
        if given.contains(['?', '#']) {
            return Err(UrlError::Query);
        }
        let uri: Uri = given.parse().map_err(|_| UrlError::Host)?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(UrlError::Scheme);
        }
        let authority = uri.authority().ok_or(UrlError::Host)?;
        // Credentials in an address end up in logs.
        if authority.as_str().contains('@') {
            return Err(UrlError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(UrlError::Host);
        }
        let scheme = uri.scheme_str().unwrap_or_default();
        // A slash at the end would be doubled by every endpoint.
        let path = uri.path().trim_end_matches('/');
        // Hosts are compared as text elsewhere.
        Ok(Self(format!("{scheme}://{}{path}", authority.as_str().to_ascii_lowercase())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The host without its port; an address of version 6 without brackets.
    pub fn host(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split('/').next().unwrap_or_default();
        // The colons of IPv6 are inside the brackets.
        match authority.strip_prefix('[') {
            Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        }
    }

    /// The address of an endpoint: each part is one segment, whatever characters it has.
    pub(crate) fn endpoint<'a>(&self, parts: impl IntoIterator<Item = &'a str>, is_folder: bool) -> String {
        let mut url = self.0.clone();
        for part in parts {
            url.push('/');
            put_encoded(part, &mut url);
        }
        if is_folder {
            url.push('/');
        }
        url
    }
}

impl fmt::Display for PluginUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As `encodeURIComponent` does it.
pub(crate) fn put_encoded(text: &str, into: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push('%');
            into.push(char::from(HEX[usize::from(byte >> 4)]));
            into.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    put_encoded(text, &mut encoded);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_written_in_one_way() {
        for (given, kept) in [
            ("http://127.0.0.1:27123", "http://127.0.0.1:27123"),
            (" https://LocalHost:27124// ", "https://localhost:27124"),
            ("https://notes.example/obsidian/", "https://notes.example/obsidian"),
        ] {
            assert_eq!(PluginUrl::parse(given).map(|url| url.to_string()), Ok(kept.to_owned()), "{given}");
        }
        for (given, error) in [
            ("127.0.0.1:27123", UrlError::Scheme),
            ("ftp://host", UrlError::Scheme),
            ("", UrlError::Host),
            ("http://", UrlError::Host),
            ("http://me:secret@host", UrlError::Credentials),
            ("http://host/?key=1", UrlError::Query),
        ] {
            assert_eq!(PluginUrl::parse(given), Err(error), "{given}");
        }
    }

    #[test]
    fn the_host_has_neither_port_nor_brackets() {
        let host = |url: &str| PluginUrl::parse(url).unwrap().host().to_owned();
        assert_eq!(host("http://127.0.0.1:27123"), "127.0.0.1");
        assert_eq!(host("http://[::1]:27123/x"), "::1");
        assert_eq!(host("https://notes.example"), "notes.example");
    }

    #[test]
    fn names_are_encoded_as_one_segment_each() {
        let url = PluginUrl::parse("http://h").unwrap();
        let path = "Ärger/a b#1?.md";
        assert_eq!(
            url.endpoint(["vault"].into_iter().chain(path.split('/')), false),
            "http://h/vault/%C3%84rger/a%20b%231%3F.md"
        );
    }
}
