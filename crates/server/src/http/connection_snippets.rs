//! What a person pastes into each client to connect it to this server.

use base64::{Engine, engine::general_purpose::STANDARD};
use lapidary_tools::uri::encoded;
use serde_json::{Value, json};

/// How clients show who they are, as far as their configuration is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionStyle {
    /// They do not.
    Open,
    /// They send a token of the owner in a header.
    Token,
    /// They send the user to a page to sign in.
    SignIn,
}

impl ConnectionStyle {
    /// By the name of the mode of authentication.
    pub(super) fn of_mode(mode: &str) -> Self {
        match mode {
            "none" => Self::Open,
            "oauth" | "builtin" => Self::SignIn,
            _ => Self::Token,
        }
    }
}

/// How one client is connected.
pub(super) struct ConnectionSnippet {
    pub(super) client: &'static str,
    /// Where the text goes, or what to do if there is none.
    pub(super) steps: String,
    pub(super) text: Option<String>,
    /// A link that a click on does the same.
    pub(super) install: Option<String>,
}

/// The name that the server gets in a client.
const SERVER_NAME: &str = "obsidian";
/// The variable in which clients that can read one find the token.
const TOKEN_VARIABLE: &str = "LAPIDARY_TOKEN";

/// For every client that we know, in the order of the page.
pub(super) fn snippets(url: &str, style: ConnectionStyle) -> Vec<ConnectionSnippet> {
    let has_token = style == ConnectionStyle::Token;
    let is_public = url.starts_with("https://");
    // Only clients that send tokens need the header; others would send an empty one.
    let shell = |command: String, header: &str| if has_token { format!("{command} {header}") } else { command };
    let pasted = |client, place: &str, text: &Value| ConnectionSnippet {
        client,
        steps: place.to_owned(),
        text: Some(format!("{text:#}")),
        install: None,
    };
    let command = |client, text: String| ConnectionSnippet {
        client,
        steps: if has_token { format!("With the token in the variable {TOKEN_VARIABLE}:") } else { "Run:".to_owned() },
        text: Some(text),
        install: None,
    };
    // Each client has its own syntax for a variable in its settings.
    let cursor = remote(json!({ "url": url }), has_token, &format!("${{env:{TOKEN_VARIABLE}}}"));
    let code = remote(json!({ "type": "http", "url": url }), has_token, "${input:lapidary-token}");
    let mut for_code = json!({ "servers": { SERVER_NAME: code } });
    if has_token {
        for_code["inputs"] = json!([{
            "type": "promptString", "id": "lapidary-token", "description": "Token of Lapidary", "password": true,
        }]);
    }
    // A link cannot carry a question for the token, so it has the address alone.
    // VS Code asks for inputs only when it reads the file.
    let code_link = json!({ "name": SERVER_NAME, "type": "http", "url": url });
    vec![
        hosted("Claude (claude.ai, Desktop, mobile)", "Settings → Connectors → Add custom connector", url, style),
        hosted("ChatGPT", "Settings → Connectors → Create (developer mode)", url, style),
        command(
            "Claude Code",
            shell(
                format!("claude mcp add --transport http {SERVER_NAME} {url}"),
                &format!("--header \"Authorization: Bearer ${TOKEN_VARIABLE}\""),
            ),
        ),
        command(
            "Codex",
            shell(format!("codex mcp add {SERVER_NAME} --url {url}"), &format!("--bearer-token-env-var {TOKEN_VARIABLE}")),
        ),
        ConnectionSnippet {
            install: Some(format!(
                "cursor://anysphere.cursor-deeplink/mcp/install?name={SERVER_NAME}&config={}",
                encoded(&STANDARD.encode(cursor.to_string()))
            )),
            ..pasted("Cursor", "In ~/.cursor/mcp.json:", &json!({ "mcpServers": { SERVER_NAME: cursor } }))
        },
        ConnectionSnippet {
            install: (!has_token).then(|| format!("vscode:mcp/install?{}", encoded(&code_link.to_string()))),
            ..pasted("VS Code", "In .vscode/mcp.json:", &for_code)
        },
        pasted(
            "Gemini CLI",
            "In ~/.gemini/settings.json:",
            &json!({ "mcpServers": { SERVER_NAME: remote(json!({ "httpUrl": url }), has_token, &format!("${TOKEN_VARIABLE}")) } }),
        ),
        pasted(
            "Zed",
            "In settings.json:",
            &json!({ "context_servers": { SERVER_NAME: remote(json!({ "url": url }), has_token, "YOUR_TOKEN") } }),
        ),
        pasted(
            "opencode",
            "In opencode.json:",
            &json!({ "mcp": { SERVER_NAME: remote(json!({ "type": "remote", "url": url }), has_token, &format!("{{env:{TOKEN_VARIABLE}}}")) } }),
        ),
        pasted(
            "Windsurf",
            "In ~/.codeium/windsurf/mcp_config.json:",
            &json!({ "mcpServers": { SERVER_NAME: remote(json!({ "serverUrl": url }), has_token, &format!("${{env:{TOKEN_VARIABLE}}}")) } }),
        ),
        pasted(
            "Other clients over HTTP",
            "Most take this form:",
            &json!({ "mcpServers": { SERVER_NAME: remote(json!({ "type": "http", "url": url }), has_token, "YOUR_TOKEN") } }),
        ),
        pasted(
            "On the computer of the vault (stdio)",
            "Without this server; any client that starts programs:",
            // With the plain name, since the page cannot know where the program is on another computer.
            &json!({ "mcpServers": { SERVER_NAME: { "command": "lapidary", "args": ["--vault", "/path/to/vault"] } } }),
        ),
        ConnectionSnippet {
            client: "curl",
            steps: "To see whether it answers:".to_owned(),
            text: Some(curl(url, style)),
            install: None,
        },
    ]
    .into_iter()
    // Nothing else than a public address is reached from their computers.
    .map(|snippet| if is_public { snippet } else { unreachable_from_outside(snippet) })
    .collect()
}

/// A client's entry for a server, with the header that it has to send.
fn remote(mut entry: Value, has_token: bool, token: &str) -> Value {
    if has_token {
        entry["headers"] = json!({ "Authorization": format!("Bearer {token}") });
    }
    entry
}

/// A client that runs elsewhere and is configured on a page.
fn hosted(client: &'static str, page: &str, url: &str, style: ConnectionStyle) -> ConnectionSnippet {
    let (steps, text) = match style {
        ConnectionStyle::SignIn => (format!("{page}, with this address. It sends you here to sign in."), Some(url)),
        ConnectionStyle::Open => (format!("{page}, with this address and without authentication."), Some(url)),
        ConnectionStyle::Token => (
            format!(
                "It asks you to sign in and cannot send a token. Start the server with MCP_AUTH_MODE=builtin, then: {page}."
            ),
            None,
        ),
    };
    ConnectionSnippet { client, steps, text: text.map(str::to_owned), install: None }
}

/// What to say of the clients that run elsewhere if this address is not public.
fn unreachable_from_outside(snippet: ConnectionSnippet) -> ConnectionSnippet {
    // By name: these two are the only ones whose requests come from the computers of a company.
    let runs_elsewhere = snippet.client.starts_with("Claude (") || snippet.client == "ChatGPT";
    if !runs_elsewhere {
        return snippet;
    }
    let steps = "It runs elsewhere and needs a public https address: put a tunnel or a proxy in front, and start with \
                 --public-url https://….";
    ConnectionSnippet { steps: steps.to_owned(), text: None, ..snippet }
}

fn curl(url: &str, style: ConnectionStyle) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "curl", "version": "1" },
    } });
    let token = match style {
        ConnectionStyle::Open => String::new(),
        ConnectionStyle::Token | ConnectionStyle::SignIn => {
            format!(" \\\n  -H \"Authorization: Bearer ${TOKEN_VARIABLE}\"")
        }
    };
    format!(
        "curl -s {url}{token} \\\n  -H 'Content-Type: application/json' \\\n  \
         -H 'Accept: application/json, text/event-stream' \\\n  -d '{hello}'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://vault.example.com/mcp";
    const STYLES: [ConnectionStyle; 3] = [ConnectionStyle::Open, ConnectionStyle::Token, ConnectionStyle::SignIn];

    #[test]
    fn a_token_is_in_every_snippet_of_a_server_that_wants_one_and_in_no_other() {
        for style in STYLES {
            for ConnectionSnippet { client, text, .. } in snippets(URL, style) {
                let Some(text) = text else { continue };
                let over_http = text.contains(URL);
                let shows = text.contains("Bearer ") || text.contains("bearer-token-env-var");
                let wanted = match style {
                    ConnectionStyle::Open => false,
                    ConnectionStyle::Token => over_http,
                    ConnectionStyle::SignIn => client == "curl",
                };
                assert_eq!(shows, wanted, "{style:?}, {client}: {text}");
                if text.starts_with('{') {
                    serde_json::from_str::<Value>(&text).unwrap();
                }
            }
        }
    }

    #[test]
    fn an_install_link_carries_the_address_and_never_a_token_that_it_cannot_ask_for() {
        for style in STYLES {
            for ConnectionSnippet { client, install, .. } in snippets(URL, style) {
                let Some(link) = install else { continue };
                let config = match client {
                    "Cursor" => {
                        let config = link.split("config=").nth(1).unwrap();
                        String::from_utf8(STANDARD.decode(lapidary_tools::uri::decoded(config)).unwrap()).unwrap()
                    }
                    _ => lapidary_tools::uri::decoded(link.split_once('?').unwrap().1),
                };
                let config: Value = serde_json::from_str(&config).unwrap();
                assert_eq!(config["url"], URL, "{client}");
                assert_eq!(config.get("headers").is_some(), style == ConnectionStyle::Token, "{client}");
            }
        }
    }

    #[test]
    fn hosted_clients_are_told_what_they_need() {
        let steps = |url: &str, style| snippets(url, style).remove(0).steps;
        assert!(steps("http://127.0.0.1:3010/mcp", ConnectionStyle::Open).contains("public https address"));
        assert!(steps(URL, ConnectionStyle::Token).contains("MCP_AUTH_MODE=builtin"));
        assert!(steps(URL, ConnectionStyle::SignIn).contains("sign in"));
    }
}
