//! The pages as a browser gets them, in this process.

mod drawing;

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use lapidary_auth::percent_encoded;
use tempfile::TempDir;
use tokio::sync::watch;
use tower::ServiceExt;

use super::Console;
use crate::{
    assemble::{AssembledServer, ExecutorPurpose, assemble},
    cli, commands,
    environment::ProcessEnvironment,
};

const ADDRESS: &str = "127.0.0.1:7";

/// A console on its own vaults, and the browser of its owner.
struct ConsoleTrial {
    router: Router,
    cookie: String,
    place: TempDir,
    _assembled: AssembledServer,
    _stop: watch::Sender<bool>,
}

/// An answer, as far as tests look at it.
#[derive(Debug)]
struct PageAnswer {
    status: StatusCode,
    body: String,
}

impl PageAnswer {
    #[track_caller]
    fn has(&self, text: &str) {
        assert!(self.body.contains(text), "no {text:?} in {}", self.body);
    }

    #[track_caller]
    fn lacks(&self, text: &str) {
        assert!(!self.body.contains(text), "{text:?} in {}", self.body);
    }
}

fn encoded(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{}={}", percent_encoded(name), percent_encoded(value));
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

impl ConsoleTrial {
    /// With these files in the first vault, and these words and variables.
    #[expect(clippy::disallowed_methods, reason = "makes the vault of a test")]
    async fn start(files: &[(&str, &str)], words: &[&str], environment: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = place.path().join("Notes").join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Self::open(place, words, environment).await
    }

    /// On a folder that has the vault already.
    async fn open(place: TempDir, words: &[&str], environment: &[(&str, &str)]) -> Self {
        let within = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        let mut line = vec!["lapidary".to_owned(), "console".to_owned(), "--vault".to_owned(), within("Notes")];
        line.extend(words.iter().map(|word| (*word).to_owned()));
        let invocation = cli::parse(line).unwrap();
        let mut variables: BTreeMap<String, String> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.insert("HOME".to_owned(), within("home"));
        variables.insert("LAPIDARY_STATE_DIR".to_owned(), within("state"));
        let surroundings = ProcessEnvironment::new(variables, place.path().to_owned());
        let config = commands::configure(&invocation, &surroundings).unwrap().config;
        let assembled = assemble(&config, ExecutorPurpose { every_profile: true, waits_for_index: true }).unwrap();
        let (stop, stopping) = watch::channel(false);
        let console = Console::new(Arc::clone(&assembled.executor), ADDRESS.parse().unwrap(), stopping);
        let code = console.new_code().unwrap();
        let mut trial =
            Self { router: console.routes(), cookie: String::new(), place, _assembled: assembled, _stop: stop };
        let request = Request::builder().method(Method::POST).uri("/console/sign-in");
        let request = request.body(Body::from(encoded(&[("code", &code)]))).unwrap();
        let response = trial.router.clone().oneshot(request).await.unwrap();
        let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap();
        trial.cookie = cookie.split(';').next().unwrap().to_owned();
        trial
    }

    /// An answer that need not be text, and the mark of its content.
    async fn bytes(&self, path: &str, known: &str) -> (StatusCode, String, Vec<u8>) {
        let request = Request::builder().uri(path).header(header::COOKIE, &self.cookie);
        let request = request.header(header::IF_NONE_MATCH, known).body(Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, mark) = (response.status(), response.headers().get(header::ETAG));
        let mark = mark.map(|mark| mark.to_str().unwrap().to_owned()).unwrap_or_default();
        let body = axum::body::to_bytes(response.into_body(), 1 << 24).await.unwrap();
        (status, mark, body.to_vec())
    }

    async fn get(&self, path: &str) -> PageAnswer {
        let (status, _, body) = self.bytes(path, "").await;
        PageAnswer { status, body: String::from_utf8(body).unwrap() }
    }
}
