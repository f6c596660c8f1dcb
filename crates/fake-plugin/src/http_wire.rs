//! HTTP as far as a client of the plugin speaks it.

use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::{Value, json};

/// The limits of a test.
const MOST_HEADERS: usize = 100;
const MOST_BODY: u64 = 64 << 20;

/// A request as it arrived. The path is decoded, without the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    pub method: String,
    pub path: String,
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl RecordedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct WireReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl WireReply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn json(value: &Value) -> Self {
        let body = serde_json::to_vec_pretty(value).unwrap_or_default();
        Self::new(200).header("Content-Type", "application/json; charset=utf-8").body(body)
    }

    /// As the plugin reports an error, with words that a client must not pass on.
    pub(crate) fn error(code: u32) -> Self {
        let status = u16::try_from(code / 100).unwrap_or(500);
        let body = json!({ "message": "Upstream words about Secret/hidden.md", "errorCode": code });
        Self { status, ..Self::json(&body) }
    }

    pub(crate) fn failure(status: u16, retry_after: Option<u64>) -> Self {
        let reply = Self::error(u32::from(status) * 100);
        match retry_after {
            Some(seconds) => reply.header("Retry-After", seconds.to_string()),
            None => reply,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }
}

/// The next request; `None` if the connection has ended.
pub(crate) fn read_request(stream: &mut BufReader<impl Read>) -> Option<RecordedRequest> {
    let line = read_line(stream)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // The query stays encoded: its values are decoded one by one.
    let (path, query) = (decoded(path)?, query.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        // A test that sends this many is broken and must not hang.
        if headers.len() > MOST_HEADERS {
            return None;
        }
    }
    let mut request = RecordedRequest { method, path, query, headers, body: Vec::new() };
    let length: u64 = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    stream.take(length.min(MOST_BODY)).read_to_end(&mut body).ok()?;
    request.body = body;
    Some(request)
}

fn read_line(stream: &mut BufReader<impl Read>) -> Option<String> {
    let mut line = String::new();
    let read = stream.take(64 << 10).read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}

pub(crate) fn send_reply(stream: &mut impl Write, reply: &WireReply, head_only: bool) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Answer\r\nContent-Length: {}\r\n", reply.status, reply.body.len());
    // Such an answer has no body, and clients reject a length with it.
    if reply.status == 204 {
        head = format!("HTTP/1.1 {} Answer\r\n", reply.status);
    }
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    stream.write_all(head.as_bytes())?;
    if !head_only && reply.status != 204 {
        stream.write_all(&reply.body)?;
    }
    stream.flush()
}

pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        // A cut escape makes the whole request unreadable.
        let [high, low, tail @ ..] = rest else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit(*high)? << 4 | digit(*low)?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}
