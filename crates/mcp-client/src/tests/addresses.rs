//! Addresses of strangers.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use ureq::Agent;

use super::*;

/// A request as it arrived: its head in lower case, and its body.
#[derive(Clone)]
struct Arrived {
    head: String,
    body: String,
}

impl Arrived {
    fn method(&self) -> String {
        let message: Value = serde_json::from_str(&self.body).unwrap_or_default();
        message["method"].as_str().unwrap_or_default().to_owned()
    }

    fn id(&self) -> Value {
        serde_json::from_str::<Value>(&self.body).unwrap_or_default()["id"].clone()
    }

    /// The message that answers it.
    fn answer(&self, result: &Value) -> String {
        json!({ "jsonrpc": "2.0", "id": self.id(), "result": result }).to_string()
    }
}

/// A server on this computer that answers each request by a function, and what it was asked.
struct FakeAddress {
    url: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl FakeAddress {
    fn serve(answer: impl Fn(&Arrived, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let arrived = Arc::<Mutex<Vec<Arrived>>>::default();
        let (seen, answer) = (Arc::clone(&arrived), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let Ok(mut stream) = stream else { return };
                    let Some(request) = read(&stream) else { return };
                    seen.lock().unwrap().push(request.clone());
                    answer(&request, &mut stream);
                });
            }
        });
        Self { url, arrived }
    }

    fn servers(&self) -> ConfiguredServers {
        let headers = vec![("authorization".to_owned(), "Bearer sekret".to_owned())];
        let agent: Agent =
            Agent::config_builder().max_redirects(0).http_status_as_error(false).proxy(None).build().into();
        let mut settings = settings(ServerPlace::Address { url: self.url.clone(), headers, agent });
        settings.max_reply_bytes = 50_000;
        ConfiguredServers::new(vec![settings])
    }
}

fn read(stream: &TcpStream) -> Option<Arrived> {
    let mut input = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if input.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?.trim().parse().ok()?;
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some(Arrived { head, body: String::from_utf8(body).ok()? })
}

fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let reply = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(reply.as_bytes()).unwrap_or_default();
}

const JSON: &str = "content-type: application/json\r\n";
const EVENTS: &str = "content-type: text/event-stream\r\n";

/// Shakes hands and lists a tool; calls are answered by a function.
fn with_calls(answer: impl Fn(&Arrived, &mut TcpStream) + Send + Sync + 'static) -> FakeAddress {
    FakeAddress::serve(move |request, stream| match request.method().as_str() {
        "initialize" => {
            send(stream, "200 OK", &format!("{JSON}mcp-session-id: s-1\r\n"), &request.answer(&welcome()));
        }
        "tools/list" => send(stream, "200 OK", JSON, &request.answer(&listed(&["count"]))),
        "tools/call" => answer(request, stream),
        _ => send(stream, "202 Accepted", "", ""),
    })
}

fn twelve() -> Value {
    json!({ "content": [{ "type": "text", "text": "12" }] })
}

#[test]
fn an_address_answers_with_a_message_or_a_stream() {
    let plain = with_calls(|request, stream| send(stream, "200 OK", JSON, &request.answer(&twelve())));
    let servers = plain.servers();
    assert_eq!(names(&servers), ["count"]);
    assert_eq!(called(&servers).as_ref().map(text), Ok("12"));
    let arrived = plain.arrived.lock().unwrap();
    let call = arrived.last().unwrap();
    for line in [
        "mcp-session-id: s-1",
        "mcp-protocol-version: 2025-06-18",
        "authorization: bearer sekret",
        "accept: application/json, text/event-stream",
    ] {
        assert!(call.head.contains(line), "{line}: {}", call.head);
    }
    let streamed = with_calls(|request, stream| {
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
        let body = format!(": hi\n\ndata: {progress}\n\nevent: message\ndata: {}\n\n", request.answer(&twelve()));
        send(stream, "200 OK", EVENTS, &body);
    });
    assert_eq!(called(&streamed.servers()).as_ref().map(text), Ok("12"));
}

#[test]
fn a_redirect_is_not_followed_and_nothing_is_sent_there() {
    let other = with_calls(|request, stream| send(stream, "200 OK", JSON, &request.answer(&twelve())));
    let target = other.url.clone();
    let redirects = FakeAddress::serve(move |_, stream| {
        send(stream, "307 Temporary Redirect", &format!("location: {target}\r\n"), "");
    });
    assert_eq!(failed(&redirects.servers()).0, ServerFault::Redirected);
    assert!(other.arrived.lock().unwrap().is_empty());
}

#[test]
fn what_is_wrong_with_an_address_is_said() {
    let refuses = FakeAddress::serve(|_, stream| send(stream, "401 Unauthorized", "", "sekret"));
    assert_eq!(failed(&refuses.servers()), (ServerFault::Status { status: 401 }, false));
    let page = FakeAddress::serve(|_, stream| send(stream, "200 OK", "content-type: text/html\r\n", "<html>"));
    assert_eq!(failed(&page.servers()), (ServerFault::NotMcp, false));
    let other_id = with_calls(|_, stream| send(stream, "200 OK", JSON, r#"{"jsonrpc":"2.0","id":999,"result":{}}"#));
    assert_eq!(failed(&other_id.servers()), (ServerFault::NotMcp, true));
    let hangs_up = with_calls(|_, _| {});
    assert_eq!(failed(&hangs_up.servers()), (ServerFault::Unreachable, true));
    let nowhere = FakeAddress { url: "http://127.0.0.1:9/".to_owned(), arrived: Arc::default() };
    assert_eq!(failed(&nowhere.servers()), (ServerFault::Unreachable, false));
}

#[test]
fn a_stream_without_end_ends() {
    let floods = with_calls(|_, stream| {
        stream.write_all(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n").as_bytes()).unwrap_or_default();
        while stream.write_all(b": x\n\ndata: {\"method\":\"notifications/message\"}\n\n").is_ok() {}
    });
    assert!(matches!(failed(&floods.servers()), (ServerFault::TooMuch { .. }, true)));
    let drips = with_calls(|_, stream| {
        stream.write_all(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n").as_bytes()).unwrap_or_default();
        while stream.write_all(b": x\n\n").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let servers = drips.servers();
    assert_eq!(names(&servers), ["count"]);
    let slow = servers.call(&call_of("count"), Duration::from_millis(700), &|| true).expect_err("a fault");
    assert_eq!((slow.fault, slow.is_sent), (ServerFault::TimedOut, true));
}

#[test]
fn the_version_that_the_server_chose_is_named_also_without_a_session() {
    let strict = FakeAddress::serve(|request, stream| {
        let is_named = request.head.contains("mcp-protocol-version: 2025-06-18\r\n");
        match request.method().as_str() {
            "initialize" if !request.head.contains("mcp-protocol-version") => {
                send(stream, "200 OK", JSON, &request.answer(&welcome()));
            }
            "tools/call" if is_named => send(stream, "200 OK", JSON, &request.answer(&twelve())),
            "notifications/initialized" if is_named => send(stream, "202 Accepted", "", ""),
            _ => send(stream, "400 Bad Request", "", ""),
        }
    });
    assert_eq!(called(&strict.servers()).as_ref().map(text), Ok("12"));
}

#[test]
fn a_session_that_is_gone_is_begun_anew() {
    let calls = Mutex::new(0);
    let forgets = with_calls(move |request, stream| {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        match *calls {
            1 => send(stream, "404 Not Found", "", ""),
            _ => send(stream, "200 OK", JSON, &request.answer(&twelve())),
        }
    });
    let servers = forgets.servers();
    assert_eq!(failed(&servers), (ServerFault::Ended, false));
    let begun = |forgets: &FakeAddress| {
        forgets.arrived.lock().unwrap().iter().filter(|request| request.method() == "initialize").count()
    };
    assert_eq!(begun(&forgets), 1);
    assert_eq!(called(&servers).as_ref().map(text), Ok("12"));
    assert_eq!(begun(&forgets), 2);
}
