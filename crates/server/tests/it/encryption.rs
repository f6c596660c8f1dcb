//! TLS of the server's own.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig},
};

use crate::{
    harness::{Vault, patience},
    http::{HttpServer, modern},
};

const FIRST: (&str, &str) = (include_str!("certificates/first.cert.pem"), include_str!("certificates/first.key.pem"));
const SECOND: (&str, &str) =
    (include_str!("certificates/second.cert.pem"), include_str!("certificates/second.key.pem"));

/// Both files beside the vault.
fn put(vault: &Vault, (certificate, key): (&str, &str)) -> (PathBuf, PathBuf) {
    let (cert_file, key_file) = (vault.path().with_file_name("cert.pem"), vault.path().with_file_name("key.pem"));
    std::fs::write(&cert_file, certificate).unwrap();
    std::fs::write(&key_file, key).unwrap();
    (cert_file, key_file)
}

fn serve(vault: &Vault) -> HttpServer {
    let (certificate, key) = put(vault, FIRST);
    let mut command = vault.command();
    command.arg("--vault").arg(vault.path()).args(["serve", "--http", "127.0.0.1:0"]);
    command.arg("--tls-cert").arg(certificate).arg("--tls-key").arg(key);
    HttpServer::start_command(command)
}

/// A client that accepts this certificate alone.
fn client_of(certificate: &str) -> Agent {
    let known = Certificate::from_pem(certificate.as_bytes()).unwrap().to_owned();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(vec![known])))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .build();
    Agent::config_builder().timeout_global(Some(patience())).tls_config(tls).build().into()
}

#[test]
fn a_client_that_trusts_the_certificate_is_served_and_nothing_is_said_in_clear_text() {
    let vault = Vault::new(&[("a.md", b"one")]);
    let server = serve(&vault);
    assert!(server.said.iter().any(|line| line.contains("serving MCP at https://")), "{:?}", server.said);
    let (headers, body) = modern("tools/call", json!({ "name": "file_read", "arguments": { "file": "a.md" } }));
    let request = client_of(FIRST.0).post(format!("https://{}/mcp", server.address)).header("Mcp-Name", "file_read");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let answer = request.send(body).unwrap().body_mut().read_to_string().unwrap();
    assert!(answer.contains("\"content\":\"one\""), "{answer}");
    assert!(client_of(SECOND.0).get(format!("https://{}/healthz", server.address)).call().is_err());
    let mut plain = TcpStream::connect(&server.address).unwrap();
    plain.set_read_timeout(Some(patience())).unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut said = Vec::new();
    drop(plain.read_to_end(&mut said));
    assert!(!String::from_utf8_lossy(&said).contains("HTTP"), "{said:?}");
}

#[test]
fn a_renewed_certificate_is_used_without_a_restart_and_a_broken_one_is_not() {
    let vault = Vault::new(&[]);
    let server = serve(&vault);
    let url = format!("https://{}/healthz", server.address);
    let answers = |certificate: &str| client_of(certificate).get(&url).call().is_ok();
    assert!(answers(FIRST.0));
    put(&vault, ("no certificate", FIRST.1));
    std::thread::sleep(Duration::from_millis(200));
    assert!(answers(FIRST.0), "the last good one stays in force");
    put(&vault, SECOND);
    let started = Instant::now();
    while !answers(SECOND.0) {
        assert!(started.elapsed() < patience(), "it was not read again");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!answers(FIRST.0));
}

#[test]
fn files_that_are_no_certificate_end_the_start_with_their_name() {
    let vault = Vault::new(&[]);
    for (pair, part) in
        [((FIRST.1, FIRST.1), "cert.pem"), ((FIRST.0, FIRST.0), "key.pem"), ((FIRST.0, SECOND.1), "cannot be used")]
    {
        let (certificate, key) = put(&vault, pair);
        let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
        let output = vault.run(&["serve", "--http", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(part), "{said}");
        assert!(!said.contains("PRIVATE KEY"), "{said}");
    }
    let output = vault.run(&["serve", "--http", "127.0.0.1:0", "--tls-cert", "/tmp/x.pem"]);
    assert_eq!(output.status.code(), Some(2));
}
