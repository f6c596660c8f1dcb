//! Links that open a client and ask its user to add the server.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{ClientSpec, SERVER_NAME, ServerLaunch};

/// The link for a client that has such links; `None` for others.
#[must_use]
pub fn install_link(client: &ClientSpec, launch: &ServerLaunch) -> Option<String> {
    let entry = client.entry(launch)?;
    // Base64 has `+`, `/` and `=`, which a query would take apart.
    let packed = || percent(&STANDARD.encode(entry.to_string()));
    match client.name {
        "cursor" => {
            Some(format!("cursor://anysphere.cursor-deeplink/mcp/install?name={SERVER_NAME}&config={}", packed()))
        }
        "lm-studio" => Some(format!("lmstudio://add_mcp?name={SERVER_NAME}&config={}", packed())),
        "vscode" | "vscode-insiders" => {
            let scheme = client.name;
            let mut named = json!({ "name": SERVER_NAME });
            if let (Value::Object(named), Value::Object(entry)) = (&mut named, entry) {
                // After the name: VS Code takes one flat object.
                named.extend(entry);
            }
            Some(format!("{scheme}:mcp/install?{}", percent(&named.to_string())))
        }
        "goose" => {
            // Goose takes a command line in pieces, not an entry.
            let mut link = format!("goose://extension?id={SERVER_NAME}&name=Obsidian&description=Lapidary");
            match launch {
                ServerLaunch::Program { command, arguments } => {
                    link += &format!("&cmd={}", percent(command));
                    link.extend(arguments.iter().map(|argument| format!("&arg={}", percent(argument))));
                }
                ServerLaunch::Address { url } => {
                    link += &format!("&type=streamable_http&url={}", percent(url));
                }
            }
            Some(link)
        }
        _ => None,
    }
}

/// Everything except unreserved characters is encoded, so the result can be any part of a URL.
fn percent(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            // Writing into a string cannot fail.
            _ => write!(encoded, "%{byte:02X}").unwrap_or_default(),
        }
        encoded
    })
}
