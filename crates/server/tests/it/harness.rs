//! A vault in a temporary folder, and the binary on the other end of a pipe.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Output, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::JoinHandle,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Generous, because a loaded machine is slow; nothing asserts that it is used up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A vault, and a state folder beside it.
pub(crate) struct Vault {
    around: TempDir,
}

impl Vault {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let vault = Self { around: tempfile::tempdir().unwrap() };
        std::fs::create_dir(vault.path()).unwrap();
        for (path, bytes) in files {
            vault.write(path, bytes);
        }
        vault
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.around.path().join("Notes")
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path().join(path)).unwrap()
    }

    /// Every file with its bytes, hidden ones and leftovers included.
    pub(crate) fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.path())
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lapidary"));
        command
            .env_clear()
            .env("HOME", self.around.path())
            .env("LAPIDARY_STATE_DIR", self.around.path().join("state"))
            .current_dir(self.around.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(["--vault"]).arg(self.path()).args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[], &[])
    }

    pub(crate) fn serve_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Server {
        let mut command = self.command();
        command.arg("--vault").arg(self.path()).args(arguments).envs(environment.iter().copied());
        Server::start(command)
    }

    /// The lines of the log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let output = self.run(&["audit", "--json", "--limit", "1000"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap().file_type();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.insert(name, std::fs::read(&path).unwrap());
            } else {
                files.insert(name, format!("{kind:?}").into_bytes());
            }
        }
    }
    files
}

/// How a client opens: with a handshake, or with metadata on every request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Era {
    Legacy(&'static str),
    Modern,
}

pub(crate) const ERAS: [Era; 5] = [
    Era::Legacy("2024-11-05"),
    Era::Legacy("2025-03-26"),
    Era::Legacy("2025-06-18"),
    Era::Legacy("2025-11-25"),
    Era::Modern,
];

/// A server on stdio.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What is said on stderr, read all the time: a pipe that is full would stop the server.
    said: Option<JoinHandle<String>>,
    next_id: u64,
    era: Era,
    elicitation: bool,
    /// What the program that calls is called.
    client: &'static str,
    /// Messages that came before the reply that was waited for.
    pub(crate) aside: Vec<Value>,
}

impl Server {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut errors = child.stderr.take().unwrap();
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            errors.read_to_string(&mut said).unwrap();
            said
        });
        let input = child.stdin.take();
        Self {
            child,
            input,
            lines,
            said: Some(said),
            next_id: 0,
            era: Era::Modern,
            elicitation: false,
            client: "test",
            aside: Vec::new(),
        }
    }

    pub(crate) fn open(mut self, era: Era) -> Self {
        self.era = era;
        if let Era::Legacy(version) = era {
            let capabilities = self.capabilities();
            let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": self.client, "version": "1" } });
            let reply = self.request("initialize", params);
            assert_eq!(reply["result"]["protocolVersion"], version);
            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        self
    }

    /// Another program than the usual one.
    pub(crate) fn called_by(mut self, client: &'static str) -> Self {
        self.client = client;
        self
    }

    /// A client that can ask its user.
    pub(crate) fn with_elicitation(mut self) -> Self {
        self.elicitation = true;
        self
    }

    fn capabilities(&self) -> Value {
        if self.elicitation { json!({ "elicitation": {} }) } else { json!({}) }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("an answer in time")
    }

    pub(crate) fn message(&self) -> Value {
        serde_json::from_str(&self.line()).expect("a JSON message a line")
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if self.era == Era::Modern {
            let meta = params["_meta"].take();
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
                "io.modelcontextprotocol/clientInfo": { "name": self.client, "version": "1" },
            });
            if let (Value::Object(all), Value::Object(more)) = (&mut params["_meta"], meta) {
                all.extend(more);
            }
        }
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer_to(id)
    }

    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.message();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.aside.push(message);
        }
    }

    /// The answer, if it comes in time.
    pub(crate) fn answer_within(&mut self, patience: Duration, id: u64) -> Option<Value> {
        loop {
            let line = self.lines.recv_timeout(patience).ok()?;
            let message: Value = serde_json::from_str(&line).expect("a JSON message a line");
            if message["id"] == id && message.get("method").is_none() {
                return Some(message);
            }
            self.aside.push(message);
        }
    }

    /// How it ended, if it has.
    pub(crate) fn exited(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// The result of a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: impl Into<Value>) -> Value {
        let reply = self.request("tools/call", json!({ "name": tool, "arguments": arguments.into() }));
        assert!(reply.get("result").is_some(), "{reply}");
        reply["result"].clone()
    }

    /// What a tool answers; it must not refuse.
    pub(crate) fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// The reason with which a tool refuses, whichever form its family has.
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        reason(&result)
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end; what was said on stderr.
    pub(crate) fn end(mut self) -> (std::process::ExitStatus, String) {
        self.close_input();
        let status = self.wait();
        let said = self.said.take().unwrap().join().unwrap();
        (status, said)
    }

    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        let started = std::time::Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server does not end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn reason(result: &Value) -> String {
    let content = &result["structuredContent"];
    let reason = content.pointer("/error/data/reason").or_else(|| content.pointer("/error/reason"));
    reason.and_then(Value::as_str).unwrap_or_else(|| panic!("no reason in {result}")).to_owned()
}

pub(crate) fn path(path: &str) -> Value {
    json!({ "type": "path", "path": path })
}
