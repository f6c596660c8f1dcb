//! Clients whose id is the address of a document that describes them (OAuth Client ID Metadata Documents), and the
//! few that are known without their document.

use serde_json::Value;

use crate::{ClientSource, OAuthClient, RedirectUri, oauth_clients::display_name};

const MAX_URL_BYTES: usize = 512;
const MAX_REDIRECTS: usize = 10;

/// The address of a client's document. Only its form has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientDocumentUrl(String);

/// Why a document does not describe the client at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentRefusal {
    #[error("it is not a JSON object")]
    NotJson,
    #[error("it describes another client")]
    OtherClient,
    #[error("it has no name or no address to return to")]
    Incomplete,
    #[error("it contains a secret, which everyone can read")]
    HasSecret,
    #[error("the client cannot do without a secret")]
    NeedsSecret,
}

impl ClientDocumentUrl {
    /// `None` for what is not the plain address of a file on a named host: addresses of computers, ports, user parts, dot
    /// segments.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("https://")?;
        let is_plain = text.len() <= MAX_URL_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || rest.contains(['#', '@', '\\', '"', '<', '>', '`', '{', '}', '|', '^', '*', '?']) {
            return None;
        }
        let (host, path) = rest.split_once('/')?;
        let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
        let is_file = !path.is_empty() && !path.split('/').any(is_dots);
        let is_label = |label: &str| {
            let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            !label.is_empty() && label.len() <= 63 && label.bytes().all(is_letter)
        };
        let labels: Vec<&str> = host.split('.').collect();
        // A last part that begins with a digit makes it an address, in one of the many ways to write them.
        let is_name = labels.len() >= 2
            && labels.iter().all(|label| is_label(label))
            && labels.last().is_some_and(|last| last.starts_with(|letter: char| letter.is_ascii_lowercase()));
        (is_file && is_name).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn host(&self) -> &str {
        self.0.strip_prefix("https://").and_then(|rest| rest.split_once('/')).map_or("", |(host, _)| host)
    }

    /// The client that the document at this address describes.
    pub fn read(&self, document: &[u8]) -> Result<OAuthClient, DocumentRefusal> {
        let Ok(Value::Object(document)) = serde_json::from_slice(document) else {
            return Err(DocumentRefusal::NotJson);
        };
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        if text("client_id") != Some(self.as_str()) {
            return Err(DocumentRefusal::OtherClient);
        }
        if document.contains_key("client_secret") || document.contains_key("client_secret_expires_at") {
            return Err(DocumentRefusal::HasSecret);
        }
        let listed = document.get("token_endpoint_auth_methods_supported").and_then(Value::as_array);
        let lists_none = listed.is_some_and(|all| all.iter().any(|method| method == "none"));
        // Some prefer a signature of their own and can do without.
        // A public client is enough: codes are bound to it by PKCE.
        if text("token_endpoint_auth_method").is_some_and(|method| method != "none") && !lists_none {
            return Err(DocumentRefusal::NeedsSecret);
        }
        let redirects = document.get("redirect_uris").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let redirects: Vec<RedirectUri> =
            // Cut before they are parsed, because the document is of a stranger.
            redirects.iter().take(MAX_REDIRECTS).filter_map(Value::as_str).filter_map(RedirectUri::parse).collect();
        match text("client_name").map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) if !redirects.is_empty() => Ok(self.client(name, redirects, ClientSource::Document)),
            _ => Err(DocumentRefusal::Incomplete),
        }
    }

    /// What is known of a client whose document cannot be had: some are behind a challenge to bots, and a home server may
    /// have no way out.
    pub fn built_in(&self) -> Option<OAuthClient> {
        let known: (&str, Vec<String>) = match self.as_str() {
            "https://claude.ai/oauth/mcp-oauth-client-metadata" => (
                "Claude",
                ["claude.ai", "claude.com"].map(|host| format!("https://{host}/api/mcp/auth_callback")).to_vec(),
            ),
            "https://claude.ai/oauth/claude-code-client-metadata" => {
                ("Claude Code", ["localhost", "127.0.0.1"].map(|host| format!("http://{host}/callback")).to_vec())
            }
            "https://chatgpt.com/oauth/codex/client.json" => {
                ("Codex", ["127.0.0.1", "localhost"].map(|host| format!("http://{host}/callback")).to_vec())
            }
            "https://vscode.dev/oauth/client-metadata.json" => {
                let own = ["https://vscode.dev/redirect", "https://insiders.vscode.dev/redirect"];
                ("Visual Studio Code", own.into_iter().chain(["http://127.0.0.1/"]).map(str::to_owned).collect())
            }
            other => {
                let id = other.strip_prefix("https://chatgpt.com/oauth/")?.strip_suffix("/client.json")?;
                let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                // The id becomes part of an address that receives codes, so nothing in it may end its path.
                if id.is_empty() || !id.bytes().all(is_letter) {
                    return None;
                }
                ("ChatGPT", vec![format!("https://chatgpt.com/connector/oauth/{id}")])
            }
        };
        let redirects = known.1.iter().filter_map(|uri| RedirectUri::parse(uri)).collect();
        Some(self.client(known.0, redirects, ClientSource::BuiltIn))
    }

    fn client(&self, name: &str, redirects: Vec<RedirectUri>, source: ClientSource) -> OAuthClient {
        OAuthClient { id: self.0.clone(), name: display_name(name), redirects, has_secret: false, source }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const URL: &str = "https://app.example/oauth/client.json";

    fn url() -> ClientDocumentUrl {
        ClientDocumentUrl::parse(URL).unwrap()
    }

    #[test]
    fn a_client_id_is_the_plain_address_of_a_file_on_a_named_host() {
        for text in [URL, "https://claude.ai/oauth/mcp-oauth-client-metadata", "https://a-b.example.org/x"] {
            let parsed = ClientDocumentUrl::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(parsed.as_str(), text);
        }
        for text in [
            "http://app.example/client.json",
            "HTTPS://app.example/client.json",
            "https://app.example",
            "https://app.example/",
            "https://app.example:8443/client.json",
            "https://app.example:443/client.json",
            "https://user@app.example/client.json",
            "https://app.example/client.json#x",
            "https://app.example/client.json?x=1",
            "https://app.example/../client.json",
            "https://app.example/a/%2e%2E/client.json",
            "https://localhost/client.json",
            "https://127.0.0.1/client.json",
            "https://169.254.169.254/latest/meta-data",
            "https://2130706433/client.json",
            "https://0177.0.0.1/client.json",
            "https://0x7f.1/client.json",
            "https://[::1]/client.json",
            "https://[::ffff:127.0.0.1]/client.json",
            "https://APP.example/client.json",
            "https://app..example/client.json",
            "https://app.example./client.json",
            "https://exämple.org/client.json",
            "https://app.example/a b",
            "https://app.example\\@evil.example/x",
        ] {
            assert_eq!(ClientDocumentUrl::parse(text), None, "{text}");
        }
        assert_eq!(ClientDocumentUrl::parse(&format!("https://app.example/{}", "x".repeat(500))), None);
    }

    #[test]
    fn a_document_describes_the_client_at_its_own_address() {
        let good = json!({
            "client_id": URL, "client_name": "App\u{202e}\n", "redirect_uris": ["https://app.example/cb", "javascript:x"],
            "logo_uri": "http://169.254.169.254/", "jwks_uri": "http://127.0.0.1/",
        });
        let client = url().read(good.to_string().as_bytes()).unwrap();
        assert_eq!((client.id.as_str(), client.name.as_str(), client.source), (URL, "App", ClientSource::Document));
        assert_eq!(client.redirects.iter().map(RedirectUri::as_str).collect::<Vec<_>>(), ["https://app.example/cb"]);
        let with = |name: &str, value: Value| {
            let mut document = good.clone();
            document[name] = value;
            url().read(document.to_string().as_bytes())
        };
        for (name, value, refusal) in [
            ("client_id", json!("https://app.example/oauth/client.json/"), DocumentRefusal::OtherClient),
            ("client_id", json!("https://claude.ai/x"), DocumentRefusal::OtherClient),
            ("client_id", json!(7), DocumentRefusal::OtherClient),
            ("client_secret", json!("x"), DocumentRefusal::HasSecret),
            ("client_name", json!(" "), DocumentRefusal::Incomplete),
            ("client_name", Value::Null, DocumentRefusal::Incomplete),
            ("redirect_uris", json!([]), DocumentRefusal::Incomplete),
            ("redirect_uris", json!(["data:text/html,x"]), DocumentRefusal::Incomplete),
            ("redirect_uris", json!("https://app.example/cb"), DocumentRefusal::Incomplete),
            ("token_endpoint_auth_method", json!("private_key_jwt"), DocumentRefusal::NeedsSecret),
        ] {
            assert_eq!(with(name, value.clone()), Err(refusal), "{name}: {value}");
        }
        for document in ["", "[]", "<!doctype html>", "null"] {
            assert_eq!(url().read(document.as_bytes()), Err(DocumentRefusal::NotJson), "{document}");
        }
    }

    #[test]
    fn a_document_that_prefers_signatures_and_can_do_without_is_accepted() {
        let document = json!({
            "client_id": URL, "client_name": "ChatGPT", "redirect_uris": ["https://chatgpt.com/connector/oauth/abc"],
            "token_endpoint_auth_method": "private_key_jwt",
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
        });
        assert!(url().read(document.to_string().as_bytes()).is_ok());
    }

    #[test]
    fn well_known_clients_are_known_without_their_document() {
        for (id, name, redirect) in [
            ("https://claude.ai/oauth/mcp-oauth-client-metadata", "Claude", "https://claude.com/api/mcp/auth_callback"),
            ("https://claude.ai/oauth/claude-code-client-metadata", "Claude Code", "http://localhost:54545/callback"),
            ("https://chatgpt.com/oauth/codex/client.json", "Codex", "http://127.0.0.1:1455/callback"),
            ("https://vscode.dev/oauth/client-metadata.json", "Visual Studio Code", "http://127.0.0.1:33418/"),
            ("https://chatgpt.com/oauth/ab-C_1/client.json", "ChatGPT", "https://chatgpt.com/connector/oauth/ab-C_1"),
        ] {
            let client = ClientDocumentUrl::parse(id).unwrap().built_in().unwrap_or_else(|| panic!("{id}"));
            let redirect = RedirectUri::parse(redirect).unwrap();
            assert_eq!((client.name.as_str(), client.source), (name, ClientSource::BuiltIn));
            assert!(client.redirects.iter().any(|known| redirect.matches(known)), "{id}: {redirect:?}");
        }
        for id in [
            "https://claude.ai/oauth/other",
            "https://claude.ai.evil.example/oauth/mcp-oauth-client-metadata",
            "https://chatgpt.com/oauth/a/b/client.json",
        ] {
            assert_eq!(ClientDocumentUrl::parse(id).and_then(|id| id.built_in()), None, "{id}");
        }
    }

    proptest! {
        #[test]
        fn no_document_makes_it_panic(text in "https://\\PC{0,30}", document in "\\PC{0,60}") {
            if let Some(url) = ClientDocumentUrl::parse(&text) {
                prop_assert!(!url.host().is_empty());
                prop_assert!(url.read(document.as_bytes()).is_err());
            }
        }
    }
}
