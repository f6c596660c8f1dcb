//! `lapidary doctor` looks at servers that are well, and at addresses that are not.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    process::Output,
};

use serde_json::Value;

use crate::{harness::Vault, http::HttpServer};

const TOKENS: &str = "phone:reader:0123456789abcdef0123456789abcdef";

fn doctor(vault: &Vault, words: &[&str], environment: &[(&str, &str)]) -> Output {
    vault.command().arg("doctor").args(words).envs(environment.iter().copied()).output().unwrap()
}

/// The findings of a look, by what was looked at.
fn findings(vault: &Vault, url: &str, environment: &[(&str, &str)]) -> (bool, Vec<(String, String, String)>) {
    let output = doctor(vault, &["--remote", url, "--json"], environment);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let report: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said} {output:?}"));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let list = report["findings"].as_array().unwrap();
    assert_eq!(output.status.success(), report["well"] == true, "{said}");
    let all = list
        .iter()
        .map(|it| (text(it, "level"), text(it, "what"), format!("{} {}", text(it, "found"), text(it, "advice"))));
    (report["well"] == true, all.collect())
}

fn wrong(findings: &[(String, String, String)]) -> Vec<(&str, &str)> {
    findings
        .iter()
        .filter(|(kind, ..)| kind == "failure")
        .map(|(_, what, said)| (what.as_str(), said.as_str()))
        .collect()
}

/// A server that gives the same answer to everything.
fn answering(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
            drop(stream.write_all(answer(&head).as_bytes()));
        }
    });
    address
}

fn plain(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn a_server_that_is_well_is_called_well_with_and_without_a_token() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let open = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let (well, found) = findings(&vault, &format!("http://{}", open.address), &[]);
    assert!(well, "{found:?}");
    assert!(
        found.iter().any(|(kind, what, said)| kind == "ok" && what == "tools" && said.contains("listed")),
        "{found:?}"
    );
    let guarded = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", TOKENS)]);
    let url = format!("http://{}/mcp", guarded.address);
    let (well, found) = findings(&vault, &url, &[]);
    assert!(well, "{found:?}");
    assert!(found.iter().any(|(kind, what, said)| kind == "warning" && what == "sign-in" && said.contains("builtin")));
    let (well, found) = findings(&vault, &url, &[("LAPIDARY_TOKEN", "0123456789abcdef0123456789abcdef")]);
    assert!(well && found.iter().any(|(kind, what, _)| kind == "ok" && what == "tools"), "{found:?}");
    let (well, found) = findings(&vault, &url, &[("LAPIDARY_TOKEN", "fedcba9876543210fedcba9876543210")]);
    assert!(!well && wrong(&found)[0].1.contains("the token is refused"), "{found:?}");
    assert!(!format!("{found:?}").contains("fedcba"), "{found:?}");
    let shown = doctor(&vault, &["--remote", &url], &[]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("✓") && shown.contains("nothing is wrong"), "{shown}");
}

#[test]
fn a_server_that_does_not_know_its_own_name_is_told_to_the_owner() {
    let vault = Vault::new(&[]);
    let environment = [("MCP_PUBLIC_URL", "https://vault.example.com"), ("MCP_AUTH_MODE", "none")];
    let server = HttpServer::start(&vault, "127.0.0.1:0", &environment);
    let (well, found) = findings(&vault, &format!("http://{}", server.address), &[]);
    assert!(!well);
    let (what, said) = wrong(&found)[0];
    assert_eq!(what, "own address");
    assert!(said.contains("https://vault.example.com/mcp") && said.contains("--public-url"), "{said}");
}

#[test]
fn what_stands_between_is_named() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let url = |address: &str| findings(&vault, address, &[]);
    let elsewhere = answering(|_| plain("200 OK", "", "<h1>Welcome to nginx</h1>"));
    let (well, found) = url(&elsewhere);
    assert!(!well && wrong(&found)[0].1.contains("not by Lapidary"), "{found:?}");
    // In front of the real server: passes on what it does not spoil.
    let spoiling = |spoil: fn(&str) -> Option<String>| {
        let (own, real) = (server.address.clone(), server.address.clone());
        answering(move |head| {
            spoil(head).unwrap_or_else(|| {
                let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
                match path.as_str() {
                    "/healthz" => plain("200 OK", "", "{\"status\":\"ok\"}"),
                    "/.well-known/mcp.json" => {
                        let host = head
                            .lines()
                            .find_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned));
                        let url = format!("http://{}/mcp", host.unwrap_or_else(|| own.clone()));
                        plain("200 OK", "", &format!("{{\"endpoints\":{{\"streamable_http\":\"{url}\"}}}}"))
                    }
                    _ => plain("401 Unauthorized", "WWW-Authenticate: Bearer realm=\"x\"\r\n", &real),
                }
            })
        })
    };
    for (spoil, what, part) in [
        (
            (|head: &str| head.contains("/mcp ").then(|| plain("308 Permanent Redirect", "Location: /x\r\n", "")))
                as fn(&str) -> Option<String>,
            "strangers",
            "redirected",
        ),
        (|head| head.contains("Claude-User").then(|| plain("403 Forbidden", "", "")), "Claude-User", "Block AI bots"),
        (|head| head.contains(" /mcp/ ").then(|| plain("404 Not Found", "", "")), "slash at the end", "both forms"),
        (
            |head| head.contains(" /mcp").then(|| plain("401 Unauthorized", "WWW-Authenticate: Basic\r\n", "")),
            "strangers",
            "without a challenge",
        ),
        (|head| head.contains(" /mcp").then(|| plain("404 Not Found", "", "")), "strangers", "nothing at /mcp"),
    ] {
        let (well, found) = url(&spoiling(spoil));
        assert!(!well);
        assert!(wrong(&found).iter().any(|(named, said)| *named == what && said.contains(part)), "{what}: {found:?}");
    }
}

#[test]
fn an_address_where_nothing_is_fails_with_what_to_look_at() {
    let vault = Vault::new(&[]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (well, found) = findings(&vault, &format!("http://{free}"), &[]);
    assert!(!well && wrong(&found)[0].1.contains("is the server running"), "{found:?}");
    let (well, found) = findings(&vault, "https://no-such-host.invalid", &[]);
    assert!(!well && wrong(&found)[0].0 == "name", "{found:?}");
    assert_eq!(doctor(&vault, &["--remote", "ftp://x"], &[]).status.code(), Some(2));
    assert_eq!(doctor(&vault, &["--remote"], &[]).status.code(), Some(2));
}

#[test]
fn health_is_a_word_and_an_exit_code() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let healthy = doctor(&vault, &["--health"], &[("MCP_HTTP_PORT", &port)]);
    assert_eq!((healthy.status.code(), healthy.stdout.as_slice()), (Some(0), &b"ok\n"[..]));
    drop(server);
    assert_eq!(doctor(&vault, &["--health"], &[("MCP_HTTP_PORT", &port)]).status.code(), Some(1));
}
