//! What others send to the REST API: requests without an end, paths that lead out, headers within headers, pages of other sites.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
};

use crate::{
    harness::{Vault, patience},
    rest::{RestProcess, SETTINGS},
};

const KEY: &str = "Authorization: Bearer a-key-of-the-plugin-0123456789\r\n";
const OUTSIDE: &str = "a text that is not in the vault";

struct AttackedApi {
    vault: Vault,
    server: RestProcess,
}

impl AttackedApi {
    fn start() -> Self {
        let vault = Vault::new(&[SETTINGS, ("a.md", b"one\n"), ("Private/p.md", b"a hidden text\n")]);
        std::fs::write(vault.path().with_file_name("outside.md"), OUTSIDE).unwrap();
        vault.write(".lapidaryignore", b"/Private/\n");
        let server = RestProcess::of(&vault, &["--rest", "0"]);
        Self { vault, server }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.addresses[0].trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(patience())).unwrap();
        stream
    }

    /// Whatever comes back until the other side ends it.
    fn send(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        // It may be refused before all of it was sent.
        drop(stream.write_all(bytes.as_ref()));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A request that ends before its end.
    fn send_half(&self, bytes: &str) {
        let mut stream = self.connect();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        drop(stream.read_to_end(&mut Vec::new()));
    }

    #[track_caller]
    fn assert_well(&self) {
        let answer = self.send(format!("GET /vault/a.md HTTP/1.1\r\nHost: x\r\n{KEY}Connection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("one\n"), "{answer}");
    }
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

#[test]
fn a_body_without_an_end_is_not_waited_for_by_others_and_not_read_from_strangers() {
    let api = AttackedApi::start();
    // A stranger is refused before anything of the body is there.
    let mut stranger = api.connect();
    stranger.write_all(b"PUT /vault/a.md HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n").unwrap();
    let mut start = [0; 12];
    stranger.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 401");
    // One who knows the key is refused by what he says, and by what he sends.
    let put = |rest: &str| format!("PUT /vault/b.md HTTP/1.1\r\nHost: x\r\n{KEY}Content-Type: text/markdown\r\n{rest}");
    assert_eq!(status(&api.send(put("Connection: close\r\nContent-Length: 99999999999\r\n\r\nx"))), 413);
    // Heads that never end, and bodies of strangers that stop, keep their own connection only.
    let mut held = Vec::new();
    for bytes in
        ["GET /va", "GET /vault/ HTTP/1.1\r\nX: ", "PUT /vault/a.md HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"]
    {
        for _ in 0..8 {
            let mut stream = api.connect();
            stream.write_all(bytes.as_bytes()).unwrap();
            held.push(stream);
        }
        api.assert_well();
    }
    // Those of one who knows the key take his own places, until he has gone.
    for bytes in [put("Content-Length: 100\r\n\r\nx"), put("Transfer-Encoding: chunked\r\n\r\n5\r\nabc")] {
        for _ in 0..8 {
            let mut stream = api.connect();
            stream.write_all(bytes.as_bytes()).unwrap();
            held.push(stream);
        }
    }
    drop(held);
    // An unfinished body changes nothing.
    api.send_half(&put("Content-Length: 100\r\n\r\nhalf of it"));
    api.send_half(&put("Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"));
    assert!(!api.vault.path().join("b.md").exists());
    api.assert_well();
}

#[test]
fn no_spelling_of_a_path_leads_out_or_to_what_is_hidden() {
    let api = AttackedApi::start();
    for target in [
        "/vault/../outside.md",
        "/vault/%2e%2e/outside.md",
        "/vault/..%2foutside.md",
        "/vault/%252e%252e%252foutside.md",
        "/vault/..%5coutside.md",
        "/vault/..\\outside.md",
        "/vault/..%c0%afoutside.md",
        "/vault/a.md/../../outside.md",
        "/vault//../outside.md",
        "/vault/./../outside.md",
        "/vault/%00/../outside.md",
        "/vault/a.md%00.png",
        "/vault/Private/p.md",
        "/vault/private/p.md",
        "/vault/Private%2Fp.md",
        "/vault/Private/./p.md",
        "/vault/x/../Private/p.md",
        "/vault/Private//p.md",
        "//vault/Private/p.md",
        "http://example.com/vault/Private/p.md",
        "/vault/.lapidaryignore",
        "/vault/.obsidian/plugins/obsidian-local-rest-api/data.json",
        "/vault/Private/p.md/heading/x",
        "/active/../vault/Private/p.md",
        "/periodic/../vault/Private/p.md",
    ] {
        for method in ["GET", "DELETE"] {
            let answer = api.send(format!("{method} {target} HTTP/1.1\r\nHost: x\r\n{KEY}Connection: close\r\n\r\n"));
            assert!((400..500).contains(&status(&answer)), "{method} {target}: {answer}");
            for secret in [OUTSIDE, "a hidden text", "a-key-of-the-plugin", "/Private/\n"] {
                assert!(!answer.contains(secret), "{method} {target}: {answer}");
            }
        }
    }
    assert_eq!(api.vault.read("Private/p.md"), b"a hidden text\n");
    assert_eq!(std::fs::read_to_string(api.vault.path().with_file_name("outside.md")).unwrap(), OUTSIDE);
    api.assert_well();
}

#[test]
fn headers_are_not_made_by_those_who_send_them() {
    let api = AttackedApi::start();
    for destination in ["b%0d%0aX-Evil:%201.md", "b%0aX-Evil.md", "%0d%0a%0d%0a<html>.md", "b\tX-Evil: 1.md"] {
        let request = format!(
            "MOVE /vault/a.md HTTP/1.1\r\nHost: x\r\n{KEY}Destination: {destination}\r\nConnection: close\r\n\r\n"
        );
        let answer = api.send(request);
        assert_eq!(status(&answer), 400, "{answer}");
        let head = answer.split("\r\n\r\n").next().unwrap();
        assert!(!head.to_lowercase().contains("x-evil"), "{head}");
    }
    let folded = format!(
        "GET /vault/a.md HTTP/1.1\r\nHost: x\r\n{KEY}Accept: text/html\r\n X-Evil: 1\r\nConnection: close\r\n\r\n"
    );
    assert!((200..500).contains(&status(&api.send(folded))));
    for twice in [
        format!("GET /vault/a.md HTTP/1.1\r\nHost: x\r\n{KEY}Authorization: Bearer other\r\nConnection: close\r\n\r\n"),
        format!(
            "PUT /vault/b.md HTTP/1.1\r\nHost: x\r\n{KEY}Content-Length: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nxx"
        ),
    ] {
        let answer = api.send(&twice);
        assert!(!(200..300).contains(&status(&answer)), "{twice}: {answer}");
    }
    assert!(!api.vault.path().join("b.md").exists());
    api.assert_well();
}

#[test]
fn a_page_of_another_site_gets_nothing_without_the_key() {
    let api = AttackedApi::start();
    // By a name that was made to lead here, and from another origin: the key decides, and nothing else does.
    for headers in [
        "Host: evil.example\r\n",
        "Host: evil.example:27123\r\nOrigin: http://evil.example\r\n",
        "Host: x\r\nOrigin: null\r\n",
    ] {
        for (method, path) in
            [("GET", "/vault/a.md"), ("PUT", "/vault/a.md"), ("DELETE", "/vault/a.md"), ("GET", "/active/")]
        {
            let answer = api.send(format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
            assert_eq!(status(&answer), 401, "{answer}");
            assert!(!answer.contains("one\n"), "{answer}");
        }
        let facts = api.send(format!("GET / HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
        assert!(facts.contains("\"authenticated\": false") && !facts.contains("Notes"), "{facts}");
    }
    // A browser asks first, and is not told to send what it knows of the user.
    let asked = api.send(
        "OPTIONS /vault/a.md HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: PUT\r\n\
         Connection: close\r\n\r\n",
    );
    assert_eq!(status(&asked), 204);
    assert!(!asked.to_lowercase().contains("allow-credentials"), "{asked}");
    assert_eq!(api.vault.read("a.md"), b"one\n");
}
