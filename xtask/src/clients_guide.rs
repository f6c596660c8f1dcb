//! The guide for each client, made from the table that `lapidary install` uses.

use std::path::PathBuf;

use lapidary_clients::{
    CLIENTS, ClientFolders, ClientSpec, FileFormat, HostPlatform, SERVER_NAME, ServerLaunch, install_link,
};

/// What the table does not say, by the name of the client.
const REMARKS: &[(&str, &str)] = &[
    (
        "claude-desktop",
        "Instead of the file, you can open `lapidary-mcp-VERSION-PLATFORM.mcpb` of a release with Claude Desktop: it asks for \
         the vault folder. Afterwards quit Claude Desktop and start it again. A server with an address is added under \
         *Settings, Connectors* ([how](oauth.md)).",
    ),
    (
        "claude-code",
        "If `claude` is on the path, its own command makes the change. `/mcp` in a session shows whether it is connected.",
    ),
    ("cursor", "*Settings, MCP* shows the server and its tools; switch it on there if it is off."),
    (
        "vscode",
        "The tools appear in agent mode. A profile of VS Code has its own file, which is not changed; *MCP: Open User \
         Configuration* opens it.",
    ),
    ("zed", "The server is listed in the settings of the agent panel."),
    ("codex", "One file for the command line, the IDE extension and the app."),
    ("gemini", "`/mcp` lists the server and its tools."),
    ("windsurf", "Press *Refresh* in Cascade's list of plugins afterwards."),
    (
        "opencode",
        "Version 2 has servers under `mcp.servers`; a file that has them directly under `mcp`, as version 1 did, gets the \
         entry there.",
    ),
    ("goose", "Goose calls servers extensions; `goose configure` switches them on and off."),
    ("cline", "The file belongs to the extension in VS Code."),
    ("roo", "The file belongs to the extension in VS Code."),
];

const HEAD: &str = "# Each client

<!-- Written by `cargo xtask docs` from the table of clients. -->

`lapidary install NAME --vault ~/Notes` makes the entry for you, and `lapidary doctor` says whether it is right. This page shows
what it looks like, if you would rather write it yourself. `/usr/local/bin/lapidary` is the program; write the whole path, because
desktop programs often lack your PATH. `~/Notes` is the vault.

Through a package runner, nothing has to be installed: write `\"command\": \"npx\"` with `\"args\": [\"-y\", \"lapidary-mcp\", \"--vault\",
\"/home/me/Notes\"]`, or `uvx` with `lapidary-mcp`.

";

/// The whole page.
pub(crate) fn clients_guide() -> String {
    let mut page = HEAD.to_owned();
    for client in CLIENTS {
        page += &format!("## {}\n\n", client.title);
        page += &section(client);
    }
    page + "## Any other client

Most clients take the entry that is shown for Cursor. One that cannot start programs calls a server
[over HTTP](http.md).
"
}

fn section(client: &ClientSpec) -> String {
    let launch = ServerLaunch::Program {
        command: "/usr/local/bin/lapidary".to_owned(),
        arguments: vec!["--vault".to_owned(), "/home/me/Notes".to_owned()],
    };
    let http = ServerLaunch::Address { url: "http://127.0.0.1:3010/mcp".to_owned() };
    let mut text = files(client);
    let language = match client.format {
        FileFormat::Json | FileFormat::JsonWithComments => "json",
        FileFormat::Toml => "toml",
        FileFormat::Yaml => "yaml",
    };
    if let Some(snippet) = client.snippet(&launch) {
        text += &format!("```{language}\n{}\n```\n\n", snippet.trim_end());
    }
    if client.name == "claude-code" {
        text += "By its own command:\n\n<!-- not run: needs Claude Code -->\n```sh\nclaude mcp add --scope user obsidian -- \
                 /usr/local/bin/lapidary --vault ~/Notes\n```\n\n";
    }
    match client.entry(&http) {
        // Not every format can be written in one line.
        Some(_) if language != "json" && client.snippet(&http).is_some() => {
            let snippet = client.snippet(&http).unwrap_or_default();
            text += &format!("A server with an address:\n\n```{language}\n{}\n```\n\n", snippet.trim_end());
        }
        Some(entry) => text += &format!("A server with an address: `\"{SERVER_NAME}\": {entry}`.\n\n"),
        None => text += "It cannot call a server with an address from this file.\n\n",
    }
    if let Some(link) = install_link(client, &npx()) {
        text += &format!(
            "A link that asks {} to add the server through npx, for the only vault that Obsidian knows:\n\n```text\n{link}\n```\n\n",
            client.title
        );
    }
    if let Some((_, remark)) = REMARKS.iter().find(|(name, _)| *name == client.name) {
        text += &format!("{remark}\n\n");
    }
    text
}

fn npx() -> ServerLaunch {
    ServerLaunch::Program { command: "npx".to_owned(), arguments: vec!["-y".to_owned(), "lapidary-mcp".to_owned()] }
}

/// Where the file is, on each system.
fn files(client: &ClientSpec) -> String {
    let shown = |platform| {
        let folders = ClientFolders {
            platform,
            home: PathBuf::from("~"),
            xdg_config: None,
            roaming: Some(PathBuf::from("%APPDATA%")),
            own: Vec::new(),
        };
        let paths: Vec<String> = client
            .files(&folders)
            .iter()
            .map(|path| {
                let path = path.display().to_string();
                let path = if platform == HostPlatform::Windows { path.replace('/', "\\") } else { path };
                format!("`{path}`")
            })
            .collect();
        paths.join(" or ")
    };
    let (linux, mac, windows) = (shown(HostPlatform::Linux), shown(HostPlatform::MacOs), shown(HostPlatform::Windows));
    let by_hand = if client.print_only { ", which is only printed, not changed" } else { "" };
    let names = format!("Name for `install`: `{}`{by_hand}. ", client.name);
    let is_same = linux == mac && windows == linux.replace('/', "\\");
    let place = match is_same {
        true => format!("File: {linux}."),
        false if linux == mac => format!("File: {linux}; Windows: {windows}."),
        false => format!("File: Linux {linux}; macOS {mac}; Windows {windows}."),
    };
    names + &place + "\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_section_with_its_file_and_an_entry_that_starts_the_program() {
        let page = clients_guide();
        for client in CLIENTS {
            let (_, section) = page.split_once(&format!("\n## {}\n", client.title)).expect(client.name);
            let section = section.split("\n## ").next().unwrap_or_default();
            assert!(section.contains(&format!("`{}`", client.name)), "{section}");
            assert!(section.contains("/usr/local/bin/lapidary") && section.contains("/home/me/Notes"), "{section}");
        }
        for (name, _) in REMARKS {
            assert!(CLIENTS.iter().any(|client| client.name == *name), "{name}");
        }
    }
}
