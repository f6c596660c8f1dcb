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
                // A client that reaches no address gets no entry at all.
                let AddressShape { key, kind } = self.address?;
                if let Some(kind) = kind {
                    put("type", json!(kind));
                }
                put(key, json!(url));
            }
        }
        if extension {
            // In seconds. Long, because a person may be asked for approval during a call.
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

/// The package runner that keeps a program at this path, with what it needs to start it again. Its folder may be emptied at
/// any time, so the path itself would not last.
#[must_use]
pub fn package_runner(program: &str) -> Option<(&'static str, &'static [&'static str])> {
    let parts: Vec<&str> = program.split(['/', '\\']).collect();
    let has = |name: &str| parts.contains(&name);
    if has("_npx") {
        Some(("npx", &["-y", "lapidary-mcp"]))
    } else if has("uv") && parts.iter().any(|part| part.starts_with("archive-v") || part.starts_with("environments-v"))
    {
        // `uv tool install` has a separate folder, which lasts; only caches and temporary environments have these names.
        Some(("uvx", &["lapidary-mcp"]))
    } else {
        None
    }
}

/// What an entry starts, as far as it can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartedServer {
    /// `None` if it has an address instead.
    pub program: Option<String>,
    /// A package runner such as `npx` gets the program itself.
    pub is_package: bool,
    /// The folders that it is told to serve, without their names.
    pub vaults: Vec<String>,
}

impl StartedServer {
    #[must_use]
    pub fn of(entry: &Value) -> Self {
        let words = words(entry);
        let mut vaults = Vec::new();
        // The first word is the program.
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            let given = if word == "--vault" { rest.next().map(String::as_str) } else { word.strip_prefix("--vault=") };
            vaults.extend(given.map(unnamed));
        }
        let variables = ["env", "environment", "envs"].iter().find_map(|key| entry.get(key));
        let listed = variables.and_then(|them| them.get("OBSIDIAN_VAULT_PATHS")).and_then(Value::as_str);
        // A flag wins over the variable, here as in the server.
        if vaults.is_empty() {
            vaults.extend(listed.into_iter().flat_map(|list| list.split(';')).map(str::trim).map(str::to_owned));
        }
        Self { program: words.first().cloned(), is_package: is_package(&words), vaults }
    }
}

/// The folder in `[NAME=]PATH`.
fn unnamed(given: &str) -> String {
    match given.split_once('=') {
        // A name has no slash, so in `/a=b` the sign belongs to the path.
        Some((name, path)) if !name.contains(['/', '\\']) => path.to_owned(),
        _ => given.to_owned(),
    }
}

/// The command line of an entry, program first.
fn words(entry: &Value) -> Vec<String> {
    let list = |key: &str| entry.get(key).and_then(Value::as_array).into_iter().flatten();
    let program = ["command", "cmd"].iter().find_map(|key| entry.get(key).and_then(Value::as_str));
    let texts = program.into_iter().chain(list("command").chain(list("args")).filter_map(Value::as_str));
    texts.map(str::to_owned).collect()
}

/// Whether a package runner starts our package.
fn is_package(words: &[String]) -> bool {
    const RUNNERS: [&str; 6] = ["npx", "bunx", "pnpx", "uvx", "pipx", "docker"];
    let is_ours = |word: &String| {
        // `lapidary-mcp@0.2.0`, `ghcr.io/x/lapidary-mcp:latest` and `lapidary-mcp==0.2.0` are one package.
        word.split(['@', ':', '=']).next().is_some_and(|name| name.rsplit('/').next() == Some("lapidary-mcp"))
    };
    words.first().is_some_and(|program| RUNNERS.contains(&stem(program))) && words.iter().skip(1).any(is_ours)
}

fn stem(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    // Windows adds an ending that says nothing.
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
}

/// Whose entry this is: ours starts a program called `lapidary`, or has the address that the caller names.
pub(crate) fn owner(entry: &Value, address: Option<&str>) -> EntryOwner {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let words = words(entry);
    if let Some(program) = words.first() {
        let is_ours = stem(program) == "lapidary" || is_package(&words);
        return if is_ours { EntryOwner::Ours } else { EntryOwner::Other(program.to_owned()) };
    }
    match ADDRESS_FIELDS.iter().find_map(|key| text(key)) {
        // An address names no program, so ours is known only by being the one that would be written.
        Some(url) if address == Some(url) => EntryOwner::Ours,
        Some(url) => EntryOwner::Other(url.to_owned()),
        None => EntryOwner::Other("an entry without a command".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_caches_of_runners_are_taken_for_packages() {
        let runner = |path: &str| package_runner(path).map(|(runner, _)| runner);
        assert_eq!(runner("/home/a/.npm/_npx/0a1b/node_modules/lapidary-mcp-linux-x64/bin/lapidary"), Some("npx"));
        assert_eq!(runner("/home/a/.cache/uv/archive-v0/x1/bin/lapidary"), Some("uvx"));
        assert_eq!(runner(r"C:\Users\a\AppData\Local\uv\cache\archive-v0\x1\Scripts\lapidary.exe"), Some("uvx"));
        for lasting in [
            "/usr/local/bin/lapidary",
            "/home/a/.local/share/uv/tools/lapidary-mcp/bin/lapidary",
            "/usr/lib/node_modules/lapidary-mcp/node_modules/lapidary-mcp-linux-x64/bin/lapidary",
        ] {
            assert_eq!(runner(lasting), None, "{lasting}");
        }
    }

    #[test]
    fn what_an_entry_starts_is_read_in_every_form() {
        let started = |entry: Value| StartedServer::of(&entry);
        let npx = started(json!({ "command": "npx.cmd", "args": ["-y", "lapidary-mcp@0.2.0", "--vault=Work=/n"] }));
        assert!(npx.is_package && npx.vaults == ["/n"], "{npx:?}");
        let list = started(json!({ "command": ["/bin/lapidary", "--vault", "/a", "--vault", "/b=c"] }));
        assert_eq!((list.program.as_deref(), list.vaults.len()), (Some("/bin/lapidary"), 2), "{list:?}");
        assert_eq!(list.vaults[1], "/b=c");
        let by_variable = started(json!({ "cmd": "lapidary", "envs": { "OBSIDIAN_VAULT_PATHS": "/a; /b" } }));
        assert_eq!(by_variable.vaults, ["/a", "/b"]);
        let other = started(json!({ "command": "npx", "args": ["-y", "not-lapidary"] }));
        assert!(!other.is_package && started(json!({ "url": "http://x" })).program.is_none());
    }
}
