//! The real binary, spoken to over its pipes.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use super::report::Failure;

pub(crate) struct Server {
    pub(crate) child: Child,
    /// `None` once it is closed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start(vault: &Path, around: &Path) -> Result<Self, Failure> {
        Self::start_as(&mut Command::new(env!("CARGO_BIN_EXE_lapidary")), vault, around)
    }

    /// The same through another command, such as a profiler, or of another version.
    pub(crate) fn start_as(command: &mut Command, vault: &Path, around: &Path) -> Result<Self, Failure> {
        Self::start_on(command.arg("--vault").arg(vault), around)
    }

    /// The same with a vault that the command names itself.
    pub(crate) fn start_on(command: &mut Command, around: &Path) -> Result<Self, Failure> {
        let mut child = command
            .env("LAPIDARY_STATE_DIR", around.join("state"))
            .env("LAPIDARY_REPETITION", "off")
            .env("MCP_LOG_LEVEL", "error")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = pipes(&mut child)?;
        Ok(Self { child, input: Some(input), output })
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let input = self.input.as_mut().ok_or("the server has ended")?;
        input.write_all(format!("{request}\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Server {
    /// Closes its input and waits until it has ended.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.input = None;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A benchmark that failed has said so already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn pipes(child: &mut Child) -> Result<(ChildStdin, BufReader<ChildStdout>), Failure> {
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok((input, BufReader::new(output))),
        _ => Err("the pipes were asked for".into()),
    }
}
