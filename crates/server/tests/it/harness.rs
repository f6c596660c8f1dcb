//! A vault in a temporary folder, and a server on the other end of a pipe.
//!
//! Most tests have the server in their own process, on a pipe in memory. The real binary is started by those that look at
//! what only a process has: its start and end, signals, standard error, its memory, HTTP.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::JoinHandle,
    time::Duration,
};

use futures::executor::block_on;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, DuplexStream};

/// How long a test waits for what has to happen. Generous, because a loaded machine is slow; nothing asserts that it is used
/// up. `LAPIDARY_TEST_PATIENCE=4` makes it four times as long.
pub(crate) fn patience() -> Duration {
    let factor = std::env::var("LAPIDARY_TEST_PATIENCE").ok().and_then(|factor| factor.parse().ok());
    Duration::from_secs(120) * factor.unwrap_or(1)
}

/// How much a pipe in memory holds, like those of Linux.
const PIPE_BYTES: usize = 64 << 10;

/// A vault, and a state folder next to it.
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

    /// Lets a recipe run, as the owner does at a terminal; nothing for other notes.
    pub(crate) fn approve_recipe(&self, path: &str, text: &str) {
        use lapidary_tools::recipes::{RecipeName, approved_hash, definition_in};
        use lapidary_vault::store::{ApprovedRecipes, StateFolder};
        let name = path.rsplit('/').next().and_then(|name| name.strip_suffix(".md")).and_then(RecipeName::parse);
        if let (Some(name), Some(definition)) = (name, definition_in(text.as_bytes())) {
            let state = StateFolder::new(self.around.path().join("state"), self.path());
            let approved = ApprovedRecipes::new(std::sync::Arc::new(state));
            approved.approve(name.as_str(), approved_hash(&name, &definition)).unwrap();
        }
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path().join(path)).unwrap()
    }

    /// Every file with its bytes, including hidden ones and leftovers.
    pub(crate) fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = files_below(&self.path());
        // An old file stays while a process can write to it. One that another test starts at this moment has all our
        // files open until its program begins, so a leftover is one that is still there after a while.
        for _ in 0..600 {
            if !files.keys().any(|path| path.contains(".lapidary-")) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            files = files_below(&self.path());
        }
        files
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
        Server::start(&self.command_with(arguments, environment))
    }

    /// The real binary, for tests that look at what only a process has.
    pub(crate) fn spawn(&self) -> Server {
        self.spawn_with(&[], &[])
    }

    pub(crate) fn spawn_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Server {
        Server::spawn(self.command_with(arguments, environment))
    }

    fn command_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
        let mut command = self.command();
        command.arg("--vault").arg(self.path()).args(arguments).envs(environment.iter().copied());
        command
    }

    /// The lines of the log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let output = self.run(&["audit", "--json", "--limit", "1000"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A copy of a program that can be run at once. Another process makes it: what this one writes to is open in every process that
/// another test starts at that moment, and the system does not run a file that is open for writing.
pub(crate) fn copy_program(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// Every file below a folder. A server that runs may take one away meanwhile, as it does with the journals of its databases.
pub(crate) fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn unless_gone<T>(found: std::io::Result<T>) -> Option<T> {
        match found {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            found => Some(found.unwrap()),
        }
    }
    assert!(root.is_dir(), "{}", root.display());
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = unless_gone(std::fs::read_dir(&folder)) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let Some(kind) = unless_gone(path.symlink_metadata()).map(|metadata| metadata.file_type()) else {
                continue;
            };
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.extend(unless_gone(std::fs::read(&path)).map(|bytes| (name, bytes)));
            } else {
                files.insert(name, format!("{kind:?}").into_bytes());
            }
        }
    }
    files
}

/// How a client connects: with a handshake, or with metadata on every request.
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
    host: ServerHost,
    input: Option<Box<dyn ServerInput>>,
    lines: Receiver<String>,
    next_id: u64,
    era: Era,
    elicitation: bool,
    /// What the program that calls is called.
    client: &'static str,
    /// Messages that came before the awaited reply.
    pub(crate) aside: Vec<Value>,
}

/// Where a server runs.
enum ServerHost {
    Process {
        child: Child,
        /// Standard error, read all the time: a full pipe would stop the server.
        said: Option<JoinHandle<String>>,
    },
    /// In this process. `None` once it was waited for.
    Thread(Option<JoinHandle<Result<(), String>>>),
}

/// What a client writes into.
trait ServerInput: Send {
    fn send_bytes(&mut self, bytes: &[u8]);
}

impl ServerInput for ChildStdin {
    fn send_bytes(&mut self, bytes: &[u8]) {
        self.write_all(bytes).unwrap();
    }
}

impl ServerInput for DuplexStream {
    fn send_bytes(&mut self, bytes: &[u8]) {
        block_on(self.write_all(bytes)).unwrap();
    }
}

impl Server {
    /// Starts the real binary.
    pub(crate) fn spawn(mut command: Command) -> Self {
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
        let input = child.stdin.take().unwrap();
        Self::new(ServerHost::Process { child, said: Some(said) }, Box::new(input), lines)
    }

    /// Runs in this process what the command would start.
    pub(crate) fn start(command: &Command) -> Self {
        assert_eq!(
            command.get_program(),
            env!("CARGO_BIN_EXE_lapidary"),
            "only the binary itself runs in this process"
        );
        let text = |text: &OsStr| text.to_str().unwrap().to_owned();
        let arguments: Vec<OsString> = command.get_args().map(OsStr::to_owned).collect();
        let environment = command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?)))).collect();
        let working_folder = command.get_current_dir().unwrap().to_owned();
        let (input, server_input) = tokio::io::duplex(PIPE_BYTES);
        let (server_output, output) = tokio::io::duplex(PIPE_BYTES);
        let serving = std::thread::spawn(move || {
            lapidary_server::serve_streams(arguments, environment, working_folder, server_input, server_output)
        });
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut output = tokio::io::BufReader::new(output).lines();
            while let Ok(Some(line)) = block_on(output.next_line()) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self::new(ServerHost::Thread(Some(serving)), Box::new(input), lines)
    }

    fn new(host: ServerHost, input: Box<dyn ServerInput>, lines: Receiver<String>) -> Self {
        let (era, input) = (Era::Modern, Some(input));
        Self { host, input, lines, next_id: 0, era, elicitation: false, client: "test", aside: Vec::new() }
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
        self.input.as_mut().unwrap().send_bytes(bytes);
    }

    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(patience()).expect("an answer in time")
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

    /// The result of a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: impl Into<Value>) -> Value {
        let reply = self.request("tools/call", json!({ "name": tool, "arguments": arguments.into() }));
        assert!(reply.get("result").is_some(), "{reply}");
        reply["result"].clone()
    }

    /// The answer of a tool; it must not refuse.
    pub(crate) fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// The reason of a tool's refusal, in either form.
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        reason(&result)
    }

    /// Ends the process as a power cut would: it gets to know nothing of it.
    pub(crate) fn kill(mut self) {
        self.child().kill().unwrap();
        self.child().wait().unwrap();
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        match &self.host {
            ServerHost::Process { child, .. } => child.id(),
            ServerHost::Thread(_) => panic!("this test needs the real binary: Vault::spawn"),
        }
    }

    /// How it ended, if it has.
    pub(crate) fn exited(&mut self) -> Option<ExitStatus> {
        self.child().try_wait().unwrap()
    }

    /// Ends the input and waits for the end.
    pub(crate) fn stop(mut self) {
        self.close_input();
        match &mut self.host {
            ServerHost::Process { .. } => drop(self.wait()),
            ServerHost::Thread(serving) => serving.take().unwrap().join().unwrap().unwrap(),
        }
    }

    /// Waits for the end; how the process ended and what it said on standard error.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        self.close_input();
        let status = self.wait();
        let ServerHost::Process { said, .. } = &mut self.host else { unreachable!("it was waited for") };
        (status, said.take().unwrap().join().unwrap())
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let started = std::time::Instant::now();
        while started.elapsed() < patience() {
            if let Some(status) = self.child().try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server does not end");
    }

    fn child(&mut self) -> &mut Child {
        match &mut self.host {
            ServerHost::Process { child, .. } => child,
            ServerHost::Thread(_) => panic!("this test needs the real binary: Vault::spawn"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close_input();
        match &mut self.host {
            // It may have ended already.
            ServerHost::Process { child, .. } => {
                drop(child.kill());
                drop(child.wait());
            }
            // Its folders are removed next.
            ServerHost::Thread(serving) => drop(serving.take().map(JoinHandle::join)),
        }
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
