//! The REST API of the real program, over TLS.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
};

use serde_json::{Value, json};
use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig},
};

use crate::harness::{Vault, patience};

const KEY: &str = "Bearer a-key-of-the-plugin-0123456789";
pub(crate) const SETTINGS: (&str, &[u8]) = (
    ".obsidian/plugins/obsidian-local-rest-api/data.json",
    br#"{"apiKey": "a-key-of-the-plugin-0123456789", "port": 0, "insecurePort": 0}"#,
);

/// The program, until it is dropped.
pub(crate) struct RestProcess {
    process: Child,
    pub(crate) addresses: Vec<String>,
}

impl RestProcess {
    fn start(mut command: Command, addresses: usize) -> Self {
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut found = Vec::new();
        let mut said = Vec::new();
        while found.len() < addresses {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {said:?}")).unwrap();
            if let Some((_, address)) = line.split_once("serving the REST API at ") {
                found.push(address.split('/').take(3).collect::<Vec<_>>().join("/"));
            }
            said.push(line);
        }
        // Or the program would wait for a reader of its log.
        thread::spawn(move || lines.for_each(drop));
        Self { process, addresses: found }
    }

    pub(crate) fn of(vault: &Vault, words: &[&str]) -> Self {
        Self::start_with(vault.command(), vault, words)
    }

    /// With other variables than usual.
    pub(crate) fn start_with(mut command: Command, vault: &Vault, words: &[&str]) -> Self {
        command.arg("--vault").arg(vault.path()).arg("serve").args(words);
        Self::start(command, if words.contains(&"--rest-http") { 2 } else { 1 })
    }
}

impl Drop for RestProcess {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn agent(tls: TlsConfig) -> Agent {
    Agent::config_builder().timeout_global(Some(patience())).http_status_as_error(false).tls_config(tls).build().into()
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// A client that trusts only the certificate that the server gives out.
fn trusting(address: &str) -> (Agent, String) {
    let anyone =
        agent(TlsConfig::builder().disable_verification(true).unversioned_rustls_crypto_provider(provider()).build());
    let mut answer = anyone.get(format!("{address}/obsidian-local-rest-api.crt")).call().unwrap();
    let pem = answer.body_mut().read_to_string().unwrap();
    let known = Certificate::from_pem(pem.as_bytes()).unwrap().to_owned();
    let roots = RootCerts::Specific(Arc::new(vec![known]));
    let tls = TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider()).build();
    (agent(tls), pem)
}

#[test]
fn schemas_sources_and_upkeep_hold_for_programs_too() {
    let schema =
        b"---\nschema: {for: {folder: Meetings}, on_mismatch: refuse, properties: {date: {required: true}}}\n---\n";
    let vault = Vault::new(&[SETTINGS, ("Schemas/Meeting.md", schema), ("Sources/a.md", b"one\n")]);
    let mut command = vault.command();
    command.arg("--vault").arg(vault.path()).args(["serve", "--rest"]);
    command.envs([
        ("LAPIDARY_SCHEMA_FOLDER", "Schemas"),
        ("LAPIDARY_SOURCE_PATHS", "Sources"),
        ("LAPIDARY_INDEX_NOTES", "Meetings/Index"),
        ("LAPIDARY_LOG_NOTE", "Log"),
    ]);
    let server = RestProcess::start(command, 1);
    let address = &server.addresses[0];
    let (client, _) = trusting(address);
    let put = |path: &str, text: &str| {
        let put = client.put(format!("{address}/vault/{path}")).header("Authorization", KEY);
        put.header("Content-Type", "text/markdown").send(text).unwrap().status().as_u16()
    };
    assert_eq!(put("Meetings/first.md", "no date\n"), 400);
    assert!(!vault.path().join("Meetings/first.md").exists());
    assert_eq!(put("Sources/a.md", "two\n"), 403);
    assert_eq!(vault.read("Sources/a.md"), b"one\n");
    assert_eq!(put("Sources/b.md", "new\n"), 204);
    assert_eq!(put("Meetings/first.md", "---\ndate: 2026-11-18\n---\n"), 204);
    assert_eq!(vault.read("Meetings/Index.md"), b"%% lapidary:index %%\n- [[first]]\n%% lapidary:end %%\n");
    let log = String::from_utf8(vault.read("Log.md")).unwrap();
    assert!(log.contains("created `Sources/b.md`") && log.contains("created `Meetings/first.md`"), "{log}");
}

#[test]
fn a_program_that_trusts_the_certificate_reads_and_writes_notes() {
    let vault = Vault::new(&[SETTINGS, ("a.md", b"# A\n\none\n")]);
    let server = RestProcess::of(&vault, &["--rest", "--rest-http"]);
    let (secure, plain) = (&server.addresses[0], &server.addresses[1]);
    assert!(secure.starts_with("https://127.0.0.1:") && plain.starts_with("http://127.0.0.1:"));
    let (client, pem) = trusting(secure);
    let mut read = client.get(format!("{secure}/vault/a.md")).header("Authorization", KEY).call().unwrap();
    assert_eq!(read.body_mut().read_to_string().unwrap(), "# A\n\none\n");
    let patched = client
        .patch(format!("{secure}/vault/a.md"))
        .header("Authorization", KEY)
        .header("Content-Type", "application/json")
        .send(json!({ "targetType": "heading", "target": ["A"], "operation": "append", "content": "two" }).to_string())
        .unwrap();
    assert_eq!(patched.status(), 200);
    assert_eq!(vault.read("a.md"), b"# A\n\none\n\ntwo\n");
    let put = client.put(format!("{plain}/vault/new/b.md")).header("Authorization", KEY);
    assert_eq!(put.header("Content-Type", "text/markdown").send("b\n").unwrap().status(), 204);
    assert_eq!(vault.read("new/b.md"), b"b\n");
    let status =
        client.get(format!("{secure}/")).header("Authorization", KEY).call().unwrap().body_mut().read_to_string();
    let status: Value = serde_json::from_str(&status.unwrap()).unwrap();
    assert_eq!(status["certificateInfo"], json!({ "validityDays": 365, "regenerateRecommended": false }));
    drop(server);
    // The next start has the same certificate, and its key is for its owner alone.
    let server = RestProcess::of(&vault, &["--rest"]);
    assert_eq!(trusting(&server.addresses[0]).1, pem);
    let log: Vec<String> = vault.log().iter().map(Value::to_string).collect();
    assert!(log.iter().any(|line| line.contains("rest/patch")), "{log:?}");
    assert!(log.iter().all(|line| !line.contains("a-key-of-the-plugin")), "{log:?}");
}

#[test]
fn changes_of_programs_are_taken_back_like_all_others() {
    let vault = Vault::new(&[SETTINGS, ("a.md", b"one\n")]);
    let server = RestProcess::of(&vault, &["--rest", "0"]);
    let client = agent(TlsConfig::builder().unversioned_rustls_crypto_provider(provider()).build());
    let put = client.put(format!("{}/vault/a.md", server.addresses[0])).header("Authorization", KEY);
    assert_eq!(put.header("Content-Type", "text/markdown").send("two\n").unwrap().status(), 204);
    assert_eq!(vault.read("a.md"), b"two\n");
    let undone = vault.run(&["undo", "--yes"]);
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!(vault.read("a.md"), b"one\n");
}

#[test]
fn without_a_key_nothing_is_served() {
    let vault = Vault::new(&[("a.md", b"one\n")]);
    let output = vault.run(&["serve", "--rest", "0"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("token create rest"), "{said}");
    let output = vault.run(&["serve", "--rest", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_server_whose_settings_lead_to_itself_does_not_ask_itself() {
    let vault = Vault::new(&[SETTINGS, ("a.md", b"one\n")]);
    let server = RestProcess::of(&vault, &["--rest", "0"]);
    let port: u16 = server.addresses[0].rsplit(':').next().unwrap().parse().unwrap();
    // What the plugin's settings say is read when the app is looked for.
    let settings = json!({
        "apiKey": "a-key-of-the-plugin-0123456789", "enableInsecureServer": true, "insecurePort": port, "port": 1,
    });
    vault.write(SETTINGS.0, settings.to_string().as_bytes());
    let client = agent(TlsConfig::builder().unversioned_rustls_crypto_provider(provider()).build());
    let active = || {
        let mut answer =
            client.get(format!("{}/active/", server.addresses[0])).header("Authorization", KEY).call().unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    };
    assert_eq!(active().0, 404);
    let open = client.post(format!("{}/open/a.md", server.addresses[0])).header("Authorization", KEY);
    assert_eq!(open.send_empty().unwrap().status(), 200);
    assert_eq!(active(), (200, "one\n".to_owned()));
}

#[test]
fn its_ports_are_in_the_status_and_plain_text_alone_is_enough() {
    let vault = Vault::new(&[SETTINGS, ("a.md", b"one\n")]);
    // `--rest-http` without `--rest`.
    let server = RestProcess::of(&vault, &["--rest-http"]);
    assert!(server.addresses[0].starts_with("https://") && server.addresses[1].starts_with("http://"));
    let status = || -> Value { serde_json::from_slice(&vault.run(&["status", "--json"]).stdout).unwrap() };
    let began = std::time::Instant::now();
    // It is announced beside serving.
    while status()["vaults"][0]["servers"].as_array().is_none_or(|servers| servers.len() < 2) {
        assert!(began.elapsed() < patience(), "{:#}", status());
        thread::sleep(std::time::Duration::from_millis(50));
    }
    let status = status();
    let servers = status["vaults"][0]["servers"].as_array().unwrap();
    assert!(servers.iter().all(|server| server["transport"] == "REST"), "{servers:#?}");
    for address in &server.addresses {
        let url = format!("{address}/");
        assert!(servers.iter().any(|server| server["url"] == url), "{address} in {servers:#?}");
    }
    let shown = String::from_utf8(vault.run(&["status"]).stdout).unwrap();
    assert!(shown.contains("REST") && shown.contains(&server.addresses[1]) && !shown.contains("stdio"), "{shown}");
    // A second one on the same port names the first.
    let port = server.addresses[1].rsplit(':').next().unwrap();
    let taken = vault.run(&["serve", "--rest", port]);
    let said = String::from_utf8_lossy(&taken.stderr);
    assert!(!taken.status.success() && said.contains("process "), "{said}");
}
