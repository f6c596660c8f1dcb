//! The API as programs see it: requests, answers, and the bytes in the vault.

mod conditions;
mod endpoints;
mod files;
mod patches;
mod searches;
mod with_app;

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, StatusCode},
};
use lapidary_pipeline::Clock;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

use super::{RestApi, RestCallers, VaultKey};
use crate::{
    assemble::{AssembledServer, ExecutorPurpose, assemble},
    cli, commands,
    environment::ProcessEnvironment,
    http::{ClientCheck, KnownClients},
};

const KEY: &str = "d41d8cd98f00b204e9800998ecf8427e-key";
const SETTINGS: &str = r#"{"apiKey": "d41d8cd98f00b204e9800998ecf8427e-key", "port": 27124}"#;
const SETTINGS_FILE: &str = ".obsidian/plugins/obsidian-local-rest-api/data.json";

/// A note with every kind of part.
const NOTE: &str = "---\ntitle: Plan\ntags:\n  - work\ncount: 42\ndone: true\n---\n\n# One\n\nfirst #inline\n\nsecond lantern.\n\n## Sub\n\nsub text\n\n# Two\n\nbody ^b1\n\nmore\n\n# Three\n\n| A | B |\n|---|---|\n| 1 | 2 | ^t1\n\n# Four\n\nlast\n";

/// A vault, and the API on it.
struct RestTrial {
    router: Router,
    assembled: AssembledServer,
    place: TempDir,
}

#[derive(Debug)]
struct RestAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl RestAnswer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    /// The code of an error, or the status of anything else.
    fn code(&self) -> u64 {
        match self.status.is_success() || self.body.is_empty() {
            true => u64::from(self.status.as_u16()),
            false => {
                let body = self.json();
                assert!(body["message"].is_string(), "{body}");
                let code = body["errorCode"].as_u64().unwrap();
                assert_eq!(code / 100, u64::from(self.status.as_u16()), "{body}");
                code
            }
        }
    }
}

impl RestTrial {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, &[], &[])
    }

    #[expect(clippy::disallowed_methods, reason = "makes the vault of a test")]
    fn with(files: &[(&str, &str)], words: &[&str], environment: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (file, text) in [(SETTINGS_FILE, SETTINGS)].iter().chain(files) {
            let file = place.path().join("Notes").join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let within = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        let line = ["lapidary", "serve", "--rest", "0"].map(str::to_owned).into_iter();
        let line =
            line.chain(["--vault".to_owned(), within("Notes")]).chain(words.iter().map(|word| (*word).to_owned()));
        let invocation = cli::parse(line).unwrap();
        let mut variables: BTreeMap<String, String> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.insert("HOME".to_owned(), within(""));
        variables.insert("LAPIDARY_STATE_DIR".to_owned(), within("state"));
        let surroundings = ProcessEnvironment::new(variables, place.path().to_owned());
        let config = commands::configure(&invocation, &surroundings).unwrap().config;
        let assembled = assemble(&config, ExecutorPurpose { every_profile: false, waits_for_index: true }).unwrap();
        let check = ClientCheck::OwnerTokens {
            configured: assembled.configured.clone().into(),
            store: Arc::clone(&assembled.auth),
        };
        let callers = RestCallers {
            keys: VaultKey::of_vaults(&assembled.vaults, &assembled.grants),
            clients: KnownClients {
                check,
                grants: Arc::clone(&assembled.grants),
                clock: Clock::system(),
                owner: Arc::clone(&assembled.auth),
            },
            first_vault: assembled.vaults[0].name.clone(),
            ports: super::PluginPorts::of_vaults(&assembled.vaults),
        };
        let executor = Arc::clone(&assembled.executor);
        let router = RestApi::new(executor, callers, config.rest.clone(), &config.http, None).router();
        Self { router, assembled, place }
    }

    async fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> RestAnswer {
        let mut request = Request::builder().method(method).uri(path).header("Host", "127.0.0.1");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.router.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 1 << 24).await.unwrap().to_vec();
        RestAnswer { status: parts.status, headers: parts.headers, body }
    }

    /// With the key.
    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> RestAnswer {
        let key = format!("Bearer {KEY}");
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain([("Authorization", key.as_str())]).collect();
        self.raw(method, path, &headers, body.to_owned()).await
    }

    async fn get(&self, path: &str) -> RestAnswer {
        self.send("GET", path, &[], "").await
    }

    /// An instruction in the body.
    async fn patch(&self, path: &str, instruction: Value) -> RestAnswer {
        self.send("PATCH", path, &[("Content-Type", "application/json")], &instruction.to_string()).await
    }

    #[expect(clippy::disallowed_methods, reason = "reads the vault of a test")]
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.place.path().join("Notes").join(path)).ok()
    }

    fn text(&self, path: &str) -> Option<String> {
        self.bytes(path).map(|bytes| String::from_utf8(bytes).unwrap())
    }
}

/// The rows of a table: method, path, headers, body, and the code of the answer.
type RequestRow<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, u64);

/// Each request on a fresh vault.
async fn check(files: &[(&str, &str)], rows: &[RequestRow<'_>]) {
    for (method, path, headers, body, code) in rows {
        let trial = RestTrial::new(files);
        let answer = trial.send(method, path, headers, body).await;
        assert_eq!(
            answer.code(),
            *code,
            "{method} {path} {headers:?} {body}: {}",
            String::from_utf8_lossy(&answer.body)
        );
    }
}
