//! The clients, one row each.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::{
    ClientFileError, ClientFolders, EntryOwner, FileFormat, HostPlatform, SERVER_NAME, ServerLaunch, config_text,
    server_entry::{self, AddressShape, EntryShape, ProgramShape},
};

/// A client: where its settings are and what it expects there.
#[derive(Debug)]
pub struct ClientSpec {
    /// As written on the command line.
    pub name: &'static str,
    pub title: &'static str,
    pub aliases: &'static [&'static str],
    /// Possible files; the first one that exists is used, or else the first.
    files: &'static [ClientFile],
    /// A file or folder that exists if the client is installed.
    sign: ClientFile,
    pub format: FileFormat,
    /// The keys that lead to the table of servers.
    keys: &'static [&'static str],
    shape: EntryShape,
    /// A program of the client that edits its settings. It is preferred where it exists, because the client may overwrite a file
    /// that it did not write.
    pub own_program: Option<&'static str>,
    /// The form of the file is not certain enough to write it.
    pub print_only: bool,
    /// The folder in which it looks for the user's skills, if it does.
    skills: Option<ClientFile>,
}

/// The templates of a path: on Unix and on Windows.
#[derive(Debug)]
struct ClientFile {
    unix: &'static str,
    windows: &'static str,
}

const fn same(template: &'static str) -> ClientFile {
    ClientFile { unix: template, windows: template }
}

const fn shape(program: ProgramShape, address: Option<AddressShape>) -> EntryShape {
    EntryShape { program, address, names_tools: false }
}

const fn address(key: &'static str, kind: Option<&'static str>) -> Option<AddressShape> {
    Some(AddressShape { key, kind })
}

const PLAIN_COMMAND: ProgramShape = ProgramShape::Command { kind: None };
const TYPED_COMMAND: ProgramShape = ProgramShape::Command { kind: Some("stdio") };
const VS_CODE_SHAPE: EntryShape = shape(TYPED_COMMAND, address("url", Some("http")));

/// Every client that is known.
pub static CLIENTS: &[ClientSpec] = &[
    ClientSpec {
        name: "claude-desktop",
        title: "Claude Desktop",
        aliases: &["claude"],
        files: &[same("{data}/Claude/claude_desktop_config.json")],
        sign: same("{data}/Claude"),
        format: FileFormat::Json,
        keys: &["mcpServers"],
        // Servers with an address are added as connectors in the app, not in this file.
        shape: shape(PLAIN_COMMAND, None),
        own_program: None,
        print_only: false,
        skills: None,
    },
    ClientSpec {
        name: "claude-code",
        title: "Claude Code",
        aliases: &["claudecode"],
        files: &[same("{CLAUDE_CONFIG_DIR:}/.claude.json")],
        sign: same("{CLAUDE_CONFIG_DIR:}/.claude.json"),
        format: FileFormat::Json,
        keys: &["mcpServers"],
        shape: shape(TYPED_COMMAND, address("url", Some("http"))),
        own_program: Some("claude"),
        print_only: false,
        skills: Some(same("{CLAUDE_CONFIG_DIR:.claude}/skills")),
    },
    ClientSpec {
        name: "cursor",
        title: "Cursor",
        aliases: &[],
        files: &[same("{home}/.cursor/mcp.json")],
        sign: same("{home}/.cursor"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("url", None)),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.cursor/skills")),
    },
    ClientSpec {
        name: "vscode",
        title: "VS Code",
        aliases: &["code", "vs-code"],
        files: &[same("{data}/Code/User/mcp.json")],
        sign: same("{data}/Code/User"),
        format: FileFormat::JsonWithComments,
        keys: &["servers"],
        shape: VS_CODE_SHAPE,
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.copilot/skills")),
    },
    ClientSpec {
        name: "vscode-insiders",
        title: "VS Code Insiders",
        aliases: &["code-insiders"],
        files: &[same("{data}/Code - Insiders/User/mcp.json")],
        sign: same("{data}/Code - Insiders/User"),
        format: FileFormat::JsonWithComments,
        keys: &["servers"],
        shape: VS_CODE_SHAPE,
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.copilot/skills")),
    },
    ClientSpec {
        name: "vscodium",
        title: "VSCodium",
        aliases: &["codium"],
        files: &[same("{data}/VSCodium/User/mcp.json")],
        sign: same("{data}/VSCodium/User"),
        format: FileFormat::JsonWithComments,
        keys: &["servers"],
        shape: VS_CODE_SHAPE,
        own_program: None,
        print_only: false,
        skills: None,
    },
    ClientSpec {
        name: "copilot",
        title: "Copilot CLI",
        aliases: &["copilot-cli"],
        files: &[same("{COPILOT_HOME:.copilot}/mcp-config.json")],
        sign: same("{COPILOT_HOME:.copilot}"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: EntryShape {
            program: ProgramShape::Command { kind: Some("local") },
            address: address("url", Some("http")),
            names_tools: true,
        },
        own_program: None,
        print_only: false,
        skills: Some(same("{COPILOT_HOME:.copilot}/skills")),
    },
    ClientSpec {
        name: "zed",
        title: "Zed",
        aliases: &[],
        files: &[ClientFile { unix: "{config}/zed/settings.json", windows: "{data}/Zed/settings.json" }],
        sign: ClientFile { unix: "{config}/zed", windows: "{data}/Zed" },
        format: FileFormat::JsonWithComments,
        keys: &["context_servers"],
        shape: shape(PLAIN_COMMAND, address("url", None)),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.agents/skills")),
    },
    ClientSpec {
        name: "codex",
        title: "Codex",
        aliases: &["codex-cli"],
        files: &[same("{CODEX_HOME:.codex}/config.toml")],
        sign: same("{CODEX_HOME:.codex}"),
        format: FileFormat::Toml,
        keys: &["mcp_servers"],
        shape: shape(PLAIN_COMMAND, address("url", None)),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.agents/skills")),
    },
    ClientSpec {
        name: "gemini",
        title: "Gemini CLI",
        aliases: &["gemini-cli"],
        files: &[same("{home}/.gemini/settings.json")],
        sign: same("{home}/.gemini"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        // `url` is the older SSE transport there.
        shape: shape(PLAIN_COMMAND, address("httpUrl", None)),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.gemini/skills")),
    },
    ClientSpec {
        name: "antigravity",
        title: "Antigravity",
        aliases: &[],
        files: &[same("{home}/.gemini/antigravity/mcp_config.json")],
        sign: same("{home}/.gemini/antigravity"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("serverUrl", None)),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.gemini/antigravity/skills")),
    },
    ClientSpec {
        name: "windsurf",
        title: "Windsurf",
        aliases: &[],
        files: &[same("{home}/.codeium/windsurf/mcp_config.json")],
        sign: same("{home}/.codeium/windsurf"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("serverUrl", None)),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.codeium/windsurf/skills")),
    },
    ClientSpec {
        name: "opencode",
        title: "opencode",
        aliases: &["open-code"],
        files: &[same("{config}/opencode/opencode.jsonc"), same("{config}/opencode/opencode.json")],
        sign: same("{config}/opencode"),
        format: FileFormat::JsonWithComments,
        keys: &["mcp", "servers"],
        shape: shape(ProgramShape::CommandList, address("url", Some("remote"))),
        own_program: None,
        print_only: false,
        skills: Some(same("{config}/opencode/skills")),
    },
    ClientSpec {
        name: "goose",
        title: "Goose",
        aliases: &[],
        files: &[ClientFile { unix: "{config}/goose/config.yaml", windows: "{data}/Block/goose/config/config.yaml" }],
        sign: ClientFile { unix: "{config}/goose", windows: "{data}/Block/goose" },
        format: FileFormat::Yaml,
        keys: &["extensions"],
        shape: shape(ProgramShape::Extension, address("uri", Some("streamable_http"))),
        own_program: None,
        print_only: false,
        skills: Some(same("{config}/goose/skills")),
    },
    ClientSpec {
        name: "lm-studio",
        title: "LM Studio",
        aliases: &["lmstudio"],
        files: &[same("{home}/.lmstudio/mcp.json")],
        sign: same("{home}/.lmstudio"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("url", None)),
        own_program: None,
        print_only: false,
        skills: None,
    },
    ClientSpec {
        name: "cline",
        title: "Cline",
        aliases: &[],
        files: &[same("{data}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")],
        sign: same("{data}/Code/User/globalStorage/saoudrizwan.claude-dev"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("url", Some("streamableHttp"))),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.agents/skills")),
    },
    ClientSpec {
        name: "roo",
        title: "Roo Code",
        aliases: &["roo-code", "roo-cline"],
        files: &[same("{data}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json")],
        sign: same("{data}/Code/User/globalStorage/rooveterinaryinc.roo-cline"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("url", Some("streamable-http"))),
        own_program: None,
        print_only: false,
        skills: Some(same("{home}/.roo/skills")),
    },
    ClientSpec {
        name: "kiro",
        title: "Kiro",
        aliases: &[],
        files: &[same("{home}/.kiro/settings/mcp.json")],
        sign: same("{home}/.kiro"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("url", None)),
        own_program: None,
        print_only: true,
        skills: Some(same("{home}/.kiro/skills")),
    },
    ClientSpec {
        name: "junie",
        title: "Junie",
        aliases: &[],
        files: &[same("{home}/.junie/mcp/mcp.json")],
        sign: same("{home}/.junie"),
        format: FileFormat::JsonWithComments,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("url", None)),
        own_program: None,
        print_only: true,
        skills: Some(same("{home}/.junie/skills")),
    },
    ClientSpec {
        name: "continue",
        title: "Continue",
        aliases: &[],
        files: &[same("{home}/.continue/config.yaml")],
        sign: same("{home}/.continue"),
        format: FileFormat::Yaml,
        keys: &["mcpServers"],
        shape: shape(PLAIN_COMMAND, address("url", Some("streamable-http"))),
        own_program: None,
        print_only: true,
        skills: Some(same("{home}/.continue/skills")),
    },
];

/// The client with this name or alias, in any case; or the nearest name, for a message.
///
/// # Errors
///
/// There is no such client; perhaps one with a similar name.
pub fn find_client(name: &str) -> Result<&'static ClientSpec, Option<&'static str>> {
    let wanted: String = name.trim().to_lowercase().replace([' ', '_'], "-");
    let answers = |spec: &&ClientSpec| spec.name == wanted || spec.aliases.contains(&wanted.as_str());
    CLIENTS.iter().find(answers).ok_or_else(|| {
        let near = |spec: &&ClientSpec| {
            let squeezed = |text: &str| text.replace('-', "");
            let (known, asked) = (squeezed(spec.name), squeezed(&wanted));
            !asked.is_empty() && (known.starts_with(&asked) || asked.starts_with(&known))
        };
        CLIENTS.iter().find(near).map(|spec| spec.name)
    })
}

impl ClientSpec {
    /// Possible files of the user's settings; the first that exists is used, or else the first.
    #[must_use]
    pub fn files(&self, folders: &ClientFolders) -> Vec<PathBuf> {
        self.files.iter().map(|file| file.path(folders)).collect()
    }

    /// The folder in which it looks for the user's skills; `None` if it has no such folder.
    #[must_use]
    pub fn skills_folder(&self, folders: &ClientFolders) -> Option<PathBuf> {
        self.skills.as_ref().map(|folder| folder.path(folders))
    }

    /// What exists if the client is installed: a file or a folder.
    #[must_use]
    pub fn sign(&self, folders: &ClientFolders) -> PathBuf {
        self.sign.path(folders)
    }

    /// Our entry as this client expects it, or `None` if it cannot reach the server in this way.
    #[must_use]
    pub fn entry(&self, launch: &ServerLaunch) -> Option<Value> {
        self.shape.entry(launch).map(Value::Object)
    }

    /// A whole file with our entry alone, to be copied by hand; `None` if the client cannot reach the server in this way.
    #[must_use]
    pub fn snippet(&self, launch: &ServerLaunch) -> Option<String> {
        let entry = self.shape.entry(launch)?;
        if self.name == "continue" {
            return Some(continue_snippet(entry));
        }
        config_text::with_entry(self.format, "", self.keys, &entry, &[]).ok()
    }

    /// The text of the file with our entry. The same text if it has it already; other fields of the entry stay.
    ///
    /// # Errors
    ///
    /// The file cannot be parsed, or cannot be changed without touching something else.
    pub fn installed(&self, text: &str, launch: &ServerLaunch) -> Result<String, ClientFileError> {
        let entry = self.shape.entry(launch).ok_or(ClientFileError::NoAddress)?;
        let stale = server_entry::stale_fields(launch);
        config_text::with_entry(self.format, text, self.keys_in(text)?, &entry, stale)
    }

    /// The text of the file without our entry.
    ///
    /// # Errors
    ///
    /// The file cannot be parsed, or cannot be changed without touching something else.
    pub fn uninstalled(&self, text: &str) -> Result<String, ClientFileError> {
        config_text::without_entry(self.format, text, self.keys_in(text)?)
    }

    /// Our entry in this text, if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be parsed.
    pub fn found(&self, text: &str) -> Result<Option<Value>, ClientFileError> {
        config_text::entry(self.format, text, self.keys_in(text)?)
    }

    /// Whose entry this is. `address` is the one that the caller is known to have installed.
    #[must_use]
    pub fn owner(&self, entry: &Value, address: Option<&str>) -> EntryOwner {
        server_entry::owner(entry, address)
    }

    /// Whether this text is the earlier one with the given entry added by us, and nothing else: then the earlier one may be put
    /// back as it was.
    #[must_use]
    pub fn is_only_change(&self, earlier: &str, text: &str, entry: &Value) -> bool {
        let (Some(entry), Ok(keys)) = (entry.as_object(), self.keys_in(earlier)) else { return false };
        config_text::with_entry(self.format, earlier, keys, entry, &[]).is_ok_and(|made| made == text)
    }

    /// The keys that lead to the table of servers in this file. opencode 1 has the servers directly under `mcp`.
    fn keys_in(&self, text: &str) -> Result<&'static [&'static str], ClientFileError> {
        if self.keys != ["mcp", "servers"] {
            return Ok(self.keys);
        }
        let whole = config_text::parse(self.format, text)?;
        let direct = whole
            .get("mcp")
            .and_then(Value::as_object)
            .is_some_and(|mcp| mcp.iter().any(|(name, server)| name != "servers" && server.get("type").is_some()));
        Ok(if direct { &["mcp"] } else { self.keys })
    }
}

impl ClientFile {
    fn path(&self, folders: &ClientFolders) -> PathBuf {
        folders.path(if folders.platform == HostPlatform::Windows { self.windows } else { self.unix })
    }
}

/// Continue has a list instead of a table.
fn continue_snippet(entry: Map<String, Value>) -> String {
    let named = std::iter::once(("name".to_owned(), Value::from(SERVER_NAME))).chain(entry);
    let lines = named.enumerate().map(|(at, (key, value))| {
        let lead = if at == 0 { "  - " } else { "    " };
        format!("{lead}{key}: {value}\n")
    });
    std::iter::once("mcpServers:\n".to_owned()).chain(lines).collect()
}
