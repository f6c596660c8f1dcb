//! What is written into a client's file: how it starts or reaches Lapidary.

use serde_json::{Map, Value, json};

use crate::SERVER_NAME;

/// How a client gets to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerLaunch {
    /// It starts a program and talks over its standard input and output.
    Program { command: String, arguments: Vec<String> },
    /// It calls an address over HTTP.
    Address { url: String },
}

/// Whose entry is found under our name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryOwner {
    Ours,
    /// Another server; this is what it starts or calls.
    Other(String),
}

/// The form of an entry in one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryShape {
    pub(crate) program: ProgramShape,
    /// `None`: the client reaches no server by address.
    pub(crate) address: Option<AddressShape>,
    /// Whether the entry says which tools may be used.
    pub(crate) names_tools: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramShape {
    /// `command` and `args`, perhaps with a `type`.
    Command { kind: Option<&'static str> },
    /// `type: local` and the whole command line as one list.
    CommandList,
    /// `cmd`, and the fields without which Goose ignores an extension.
    Extension,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressShape {
    pub(crate) key: &'static str,
    pub(crate) kind: Option<&'static str>,
}

/// The fields that belong to one way of reaching a server and are wrong beside the other.
const PROGRAM_FIELDS: [&str; 8] = ["command", "args", "env", "environment", "cmd", "envs", "cwd", "envFile"];
const ADDRESS_FIELDS: [&str; 6] = ["url", "httpUrl", "serverUrl", "uri", "headers", "bearer_token_env_var"];

impl EntryShape {
    /// The entry, or `None` if the client cannot reach a server in this way.
    pub(crate) fn entry(&self, launch: &ServerLaunch) -> Option<Map<String, Value>> {
        let mut entry = Map::new();
        let mut put = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
        let extension = self.program == ProgramShape::Extension;
        if extension {
            put("enabled", json!(true));
            put("name", json!(SERVER_NAME));
        }
        match launch {
            ServerLaunch::Program { command, arguments } => match self.program {
                ProgramShape::Command { kind } => {
                    if let Some(kind) = kind {
                        put("type", json!(kind));
                    }
                    put("command", json!(command));
                    put("args", json!(arguments));
                }
                ProgramShape::CommandList => {
                    put("type", json!("local"));
                    put("command", std::iter::once(command).chain(arguments).cloned().collect());
                }
                ProgramShape::Extension => {
                    put("type", json!("stdio"));
                    put("cmd", json!(command));
                    put("args", json!(arguments));
                }
            },
            ServerLaunch::Address { url } => {
                let AddressShape { key, kind } = self.address?;
                if let Some(kind) = kind {
                    put("type", json!(kind));
                }
                put(key, json!(url));
            }
        }
        if extension {
            put("timeout", json!(300));
        }
        if self.names_tools {
            put("tools", json!(["*"]));
        }
        Some(entry)
    }
}

/// The fields of an existing entry that must not remain beside the new ones.
pub(crate) fn stale_fields(launch: &ServerLaunch) -> &'static [&'static str] {
    match launch {
        ServerLaunch::Program { .. } => &ADDRESS_FIELDS,
        ServerLaunch::Address { .. } => &PROGRAM_FIELDS,
    }
}

/// Whose entry this is: ours starts a program called `lapidary`, or has the address that the caller names.
pub(crate) fn owner(entry: &Value, address: Option<&str>) -> EntryOwner {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let listed = || entry.get("command").and_then(|command| command.get(0)).and_then(Value::as_str);
    if let Some(program) = text("command").or_else(|| text("cmd")).or_else(listed) {
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        let stem = name.strip_suffix(".exe").unwrap_or(name);
        return if stem == "lapidary" { EntryOwner::Ours } else { EntryOwner::Other(program.to_owned()) };
    }
    match ADDRESS_FIELDS.iter().find_map(|key| text(key)) {
        Some(url) if address == Some(url) => EntryOwner::Ours,
        Some(url) => EntryOwner::Other(url.to_owned()),
        None => EntryOwner::Other("an entry without a command".to_owned()),
    }
}
