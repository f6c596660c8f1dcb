//! The pages as a browser gets them, in this process.

mod acting;
mod changing;
mod drawing;
mod finding;
mod mending;
mod trying;

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use lapidary_auth::percent_encoded;
use lapidary_pipeline::Clock;
use tempfile::TempDir;
use tokio::sync::watch;
use tower::ServiceExt;

use super::{Console, ConsoleSite, OwnerAccess, SettingsAccess, link};
use crate::{
    assemble::{AssembledServer, ExecutorPurpose, assemble},
    cli, commands,
    commands::CommandHint,
    environment::ProcessEnvironment,
    http::owner_sign_in::OwnerSignIn,
};

const PORT: u16 = 7;

/// A console on its own vault, and the browser of its owner.
struct ConsoleTrial {
    router: Router,
    cookie: String,
    place: TempDir,
    assembled: AssembledServer,
    _stop: watch::Sender<bool>,
}

/// An answer, as far as tests look at it.
#[derive(Debug)]
struct PageAnswer {
    status: StatusCode,
    body: String,
}

impl PageAnswer {
    /// The value of a hidden field.
    fn field(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let (_, rest) = self.body.split_once(&start).unwrap_or_else(|| panic!("no {name} in {}", self.body));
        unescaped(rest.split('"').next().unwrap())
    }

    #[track_caller]
    fn has(&self, text: &str) {
        assert!(self.body.contains(text), "no {text:?} in {}", self.body);
    }

    #[track_caller]
    fn lacks(&self, text: &str) {
        assert!(!self.body.contains(text), "{text:?} in {}", self.body);
    }
}

fn unescaped(html: &str) -> String {
    let named = [
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&lt;", "<"),
        ("&#60;", "<"),
        ("&gt;", ">"),
        ("&#62;", ">"),
    ];
    let text = named.iter().fold(html.to_owned(), |text, (from, to)| text.replace(from, to));
    text.replace("&#38;", "&").replace("&amp;", "&")
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
        let settings = SettingsAccess::new(&invocation.flags, &surroundings);
        let owner = OwnerAccess::new(&assembled, &config, settings, &CommandHint::of(&invocation.flags));
        let (site, clock) = (ConsoleSite::on_loopback(PORT), Clock::system());
        let link = link(&owner.auth, site.address(), clock).unwrap();
        let code = link.rsplit_once('#').unwrap().1.to_owned();
        let sign_in_page = OwnerSignIn::new(Arc::clone(&owner.auth), clock, Vec::new()).on_port(PORT);
        let console =
            Console::new(Arc::clone(&assembled.executor), owner, Arc::new(sign_in_page), site, stopping, None);
        let mut trial = Self { router: console.routes(), cookie: String::new(), place, assembled, _stop: stop };
        let request = Request::builder().method(Method::POST).uri("/console/sign-in");
        let request = request.body(Body::from(encoded(&[("code", &code)]))).unwrap();
        let response = trial.router.clone().oneshot(request).await.unwrap();
        let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap();
        trial.cookie = cookie.split(';').next().unwrap().to_owned();
        trial
    }

    async fn send(&self, method: Method, path: &str, body: String) -> PageAnswer {
        let request = Request::builder().method(method).uri(path).header(header::COOKIE, &self.cookie);
        let response = self.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 1 << 24).await.unwrap();
        PageAnswer { status, body: String::from_utf8(body.to_vec()).unwrap() }
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
        self.send(Method::GET, path, String::new()).await
    }

    /// Sends a form, with the token of the session.
    async fn post(&self, path: &str, pairs: &[(&str, &str)]) -> PageAnswer {
        let token = self.get("/console/").await.field("form");
        let form = format!("{}&{}", encoded(&[("form", &token)]), encoded(pairs));
        self.send(Method::POST, path, form).await
    }

    #[expect(clippy::disallowed_methods, reason = "looks at the vault of a test")]
    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.place.path().join("Notes").join(file)).unwrap()
    }
}

#[tokio::test]
async fn no_page_is_shown_and_no_form_is_taken_without_a_session() {
    let mut trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &[]).await;
    let call = [("argument-file", "a.md"), ("argument-find", "one"), ("argument-replace", "two"), ("do", "call")];
    // A form of another session.
    let form = format!("form=sha256%3A0&{}", encoded(&call));
    let refused = trial.send(Method::POST, "/console/try/str_replace", form).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    trial.cookie.push('x');
    let pages = ["try", "try/str_replace", "search", "search.json", "queries.csv", "clients", "rules", "settings"];
    for path in pages.map(|page| format!("/console/{page}")) {
        assert_eq!(trial.get(&path).await.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert_eq!(
        trial.send(Method::POST, "/console/try/str_replace", encoded(&call)).await.status,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(trial.read("a.md"), "one\n");
}
