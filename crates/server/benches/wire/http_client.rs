//! The real binary, spoken to over HTTP on one connection that stays open.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use super::report::Failure;

pub(crate) struct HttpServer {
    child: Child,
    address: String,
    stream: BufReader<TcpStream>,
}

impl HttpServer {
    pub(crate) fn start(vault: &Path, around: &Path) -> Result<Self, Failure> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lapidary"))
            .arg("--vault")
            .arg(vault)
            .args(["--http", "127.0.0.1:0"])
            .env("LAPIDARY_STATE_DIR", around.join("state"))
            .env("LAPIDARY_REPETITION", "off")
            .env("MCP_AUTH_MODE", "none")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let said = child.stderr.take().ok_or("its errors were asked for")?;
        let mut lines = BufReader::new(said).lines();
        let address = loop {
            let line = lines.next().ok_or("it does not say where it is")??;
            if let Some((_, url)) = line.split_once("serving MCP at http://") {
                break url.trim_end_matches("/mcp").to_owned();
            }
        };
        // A full pipe would stop the server.
        std::thread::spawn(move || lines.for_each(drop));
        let stream = TcpStream::connect(&address)?;
        stream.set_nodelay(true)?;
        Ok(Self { child, address, stream: BufReader::new(stream) })
    }

    /// A call of a tool without a session, as clients of the newest version make it.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        self.stream.get_mut().write_all(format!("{head}{body}").as_bytes())?;
        let mut length = None;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(given) = line.strip_prefix("content-length: ") {
                length = Some(given.parse()?);
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length.ok_or("the answer is not plain JSON")?];
        self.stream.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // A benchmark that failed has said so already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
