//! The endpoints that the app answers, with the app behind them and without it.

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion, FaultKind, PluginFault};

use super::*;

const MD: &[(&str, &str)] = &[("Content-Type", "text/markdown")];
const ALLOWED: &[(&str, &str)] =
    &[("OBSIDIAN_ENABLE_COMMANDS", "true"), ("LAPIDARY_APPROVAL", "write=allow,destroy=allow")];
const NOTES: &[(&str, &str)] = &[("Plan.md", "# A\n\nx\n"), ("Work/b c.md", "b\n"), ("Private/p.md", "p\n")];

/// The API on a vault whose app runs. The app has other texts than the disk.
struct AppTrial {
    rest: RestTrial,
    plugin: FakePlugin,
}

impl AppTrial {
    fn new(version: FakeVersion, environment: &[(&str, &str)]) -> Self {
        let files: Vec<(&str, &[u8])> = NOTES.iter().map(|(path, _)| (*path, b"of the app\n".as_slice())).collect();
        let setup = FakeSetup { key: KEY.to_owned(), ..FakeSetup::new(version) };
        let plugin = FakePlugin::start(setup.with_files(&files));
        plugin.set_commands(&[("workspace:close", "Close tab")]);
        let port: u16 = plugin.url().rsplit(':').next().unwrap().parse().unwrap();
        let settings = json!({ "apiKey": KEY, "enableInsecureServer": true, "insecurePort": port, "port": 1 });
        let settings = settings.to_string();
        let plugins = (".obsidian/community-plugins.json", r#"["obsidian-local-rest-api"]"#);
        let files: Vec<(&str, &str)> =
            [(SETTINGS_FILE, settings.as_str()), plugins].iter().chain(NOTES).copied().collect();
        Self { rest: RestTrial::with(&files, &[], environment), plugin }
    }

    /// What was asked of the app, without its status.
    fn asked(&self) -> Vec<String> {
        let requests = self.plugin.take_requests().into_iter().filter(|request| request.path != "/");
        requests
            .map(|request| {
                let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
                format!("{} {}{query}", request.method, request.path)
            })
            .collect()
    }
}

#[tokio::test]
async fn every_method_is_for_the_note_that_is_open_in_the_app() {
    for version in FakeVersion::ALL {
        let trial = AppTrial::new(version, &[]);
        let (rest, plugin) = (&trial.rest, &trial.plugin);
        plugin.set_active(Some("Work/b c.md"));
        let read = rest.get("/active/").await;
        // Of the disk, not of the app.
        assert_eq!((read.text(), read.header("content-location")), ("b\n", "Work/b%20c.md"), "{version:?}");
        let head = rest.send("HEAD", "/active/", &[], "").await;
        assert_eq!((head.status.as_u16(), head.header("content-length")), (200, "2"));
        let note = rest.send("GET", "/active/", &[("Accept", "application/vnd.olrapi.note+json")], "").await;
        assert_eq!((&note.json()["path"], &note.json()["content"]), (&json!("Work/b c.md"), &json!("b\n")));
        assert_eq!(rest.send("PUT", "/active/", MD, "# B\n\nnew\n").await.status, 204);
        assert_eq!(rest.send("POST", "/active/", MD, "more\n").await.status, 204);
        let wanted = json!({ "targetType": "heading", "target": ["B"], "operation": "append", "content": "end" });
        let patched = rest.patch("/active/", wanted).await;
        assert_eq!((patched.status.as_u16(), patched.header("content-location")), (200, "Work/b%20c.md"));
        assert_eq!(rest.text("Work/b c.md").as_deref(), Some("# B\n\nnew\nmore\n\nend\n"));
        let (v1, kind, target) = (("Markdown-Patch-Version", "1"), ("Target-Type", "heading"), ("Target", "B"));
        let older = [v1, kind, target, ("Operation", "replace"), MD[0]];
        assert_eq!(rest.send("PATCH", "/active/", &older, "old\n").await.status, 200);
        assert_eq!(rest.send("PUT", "/active/heading/B", MD, "put").await.status, 200);
        assert_eq!(rest.send("POST", "/active/heading/B", MD, "posted").await.status, 200);
        assert_eq!(rest.get("/active/heading/B").await.text(), "\nput\n\nposted\n");
        assert_eq!(rest.send("PUT", "/active/", &[MD[0], ("If-Match", "\"0\"")], "x").await.code(), 41200);
        assert_eq!(rest.send("DELETE", "/active/heading/B", &[], "").await.code(), 40500);
        assert_eq!(rest.send("MOVE", "/active/", &[("Destination", "x.md")], "").await.code(), 40400);
        // The user opens another note.
        plugin.set_active(Some("Plan.md"));
        assert_eq!(rest.get("/active/").await.header("content-location"), "Plan.md");
        assert_eq!(rest.send("DELETE", "/active/", &[], "").await.status, 204);
        assert_eq!(rest.text("Plan.md"), None);
        // It is still open in the app, and not there any more.
        assert_eq!(rest.get("/active/").await.code(), 40400);
        plugin.set_active(None);
        for method in ["GET", "PUT", "POST", "PATCH", "DELETE"] {
            assert_eq!(rest.send(method, "/active/", MD, "x").await.code(), 40400, "{method}");
        }
        assert_eq!(rest.text("Work/b c.md").as_deref(), Some("# B\n\nput\n\nposted\n"));
        assert!(trial.asked().iter().all(|request| request == "GET /active/"), "the app writes nothing");
    }
}

#[tokio::test]
async fn a_note_is_opened_in_the_app() {
    let trial = AppTrial::new(FakeVersion::V5_1, &[]);
    for (path, opened, request) in [
        ("/open/Plan.md", "Plan.md", "POST /open/Plan.md"),
        ("/open/Work/b%20c.md?newLeaf=true", "Work/b c.md", "POST /open/Work/b c.md?newLeaf=true"),
        ("/open/Work%2Fb%20c.md?newLeaf=false", "Work/b c.md", "POST /open/Work/b c.md"),
        ("/open/Plan?newLeaf=1", "Plan.md", "POST /open/Plan.md?newLeaf=true"),
        ("/open/Made", "Made.md", "POST /open/Made.md"),
    ] {
        trial.asked();
        let answer = trial.rest.send("POST", path, &[], "").await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, "\"\""), "{path}");
        assert_eq!(trial.plugin.active().as_deref(), Some(opened), "{path}");
        assert!(trial.asked().iter().any(|asked| asked == request), "{path}");
        assert_eq!(trial.rest.get("/active/").await.header("content-location"), opened.replace(' ', "%20"));
    }
    assert_eq!(trial.rest.text("Made.md").as_deref(), Some(""), "it is made here, with a checkpoint");
}

#[tokio::test]
async fn what_is_hidden_is_not_open_and_is_not_opened() {
    let replies = async |has_hidden: bool| -> Vec<(u16, String)> {
        let trial = AppTrial::new(FakeVersion::V5_1, &[("OBSIDIAN_DENY_PATHS", "Private")]);
        if !has_hidden {
            #[expect(clippy::disallowed_methods, reason = "makes the vault of a test")]
            std::fs::remove_dir_all(trial.rest.place.path().join("Notes/Private")).unwrap();
            trial.plugin.remove("Private/p.md");
        }
        trial.plugin.set_active(has_hidden.then_some("Private/p.md"));
        let mut replies = Vec::new();
        for (method, path) in [
            ("GET", "/active/"),
            ("HEAD", "/active/"),
            ("PUT", "/active/"),
            ("POST", "/active/"),
            ("PATCH", "/active/"),
            ("DELETE", "/active/"),
            ("GET", "/active/heading/A"),
            ("POST", "/open/Private/p.md"),
            ("POST", "/open/Private/none.md"),
        ] {
            let answer = trial.rest.send(method, path, MD, "x").await;
            let text = answer.text().replace("none.md", "p.md");
            replies.push((answer.status.as_u16(), text));
        }
        assert!(!trial.asked().iter().any(|request| request.starts_with("POST /open")));
        if has_hidden {
            assert_eq!(trial.rest.text("Private/p.md").as_deref(), Some("p\n"));
        }
        replies
    };
    let (with, without) = (replies(true).await, replies(false).await);
    assert_eq!(with, without);
    assert_eq!(with[7], with[8], "there or not");
}

#[tokio::test]
async fn commands_are_listed_and_run_only_if_the_owner_opens_them() {
    let trial = AppTrial::new(FakeVersion::V5_1, ALLOWED);
    let listed = trial.rest.get("/commands/").await;
    assert_eq!(listed.json(), json!({ "commands": [{ "id": "workspace:close", "name": "Close tab" }] }));
    trial.asked();
    assert_eq!(trial.rest.send("POST", "/commands/workspace:close/", &[], "").await.status, 204);
    assert_eq!(trial.asked(), ["GET /commands/", "POST /commands/workspace:close/"]);
    assert_eq!(trial.rest.send("POST", "/commands/workspace%3Aclose", &[], "").await.status, 204);
    trial.asked();
    assert_eq!(trial.rest.send("POST", "/commands/none/", &[], "").await.code(), 40400);
    assert!(!trial.asked().iter().any(|request| request.starts_with("POST")));
    // Switched on and to be asked about: it waits for the owner.
    let asking = AppTrial::new(FakeVersion::V5_1, &[("OBSIDIAN_ENABLE_COMMANDS", "true")]);
    assert_eq!(asking.rest.send("POST", "/commands/workspace:close/", &[], "").await.code(), 40300);
    assert!(!asking.asked().iter().any(|request| request.starts_with("POST")));
    assert_eq!(asking.rest.assembled.executor.pending().unwrap().len(), 1);
    for environment in [&[][..], &[("OBSIDIAN_ENABLE_COMMANDS", "true"), ("OBSIDIAN_READ_ONLY", "true")]] {
        let off = AppTrial::new(FakeVersion::V5_1, environment);
        assert_eq!(off.rest.get("/commands/").await.json(), json!({ "commands": [] }));
        assert_eq!(off.rest.send("POST", "/commands/workspace:close/", &[], "").await.code(), 40400);
        assert_eq!(off.asked(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_app_that_does_not_run_is_as_if_there_were_none() {
    let mut trial = AppTrial::new(FakeVersion::V5_1, ALLOWED);
    trial.plugin.set_active(Some("Plan.md"));
    trial.plugin.stop();
    assert_eq!(trial.rest.get("/active/").await.code(), 40400);
    assert_eq!(trial.rest.send("PUT", "/active/", MD, "x").await.code(), 40400);
    assert_eq!(trial.rest.get("/commands/").await.json(), json!({ "commands": [] }));
    assert_eq!(trial.rest.send("POST", "/commands/workspace:close/", &[], "").await.code(), 40400);
    // The note last opened through us is the active one.
    let opened = trial.rest.send("POST", "/open/Work/b%20c.md", &[], "").await;
    assert_eq!((opened.status.as_u16(), opened.text()), (200, "\"\""));
    assert_eq!(opened.header("lapidary-app"), "absent", "a program that knows it learns that nothing was shown");
    assert_eq!(trial.rest.get("/active/").await.header("content-location"), "Work/b%20c.md");
    assert_eq!(trial.rest.text("Plan.md").as_deref(), Some("# A\n\nx\n"));
}

#[tokio::test]
async fn without_commands_it_is_said_why_and_what_to_do() {
    let answers = async |environment: &[(&str, &str)], runs: bool| {
        let mut trial = AppTrial::new(FakeVersion::V5_1, environment);
        if !runs {
            trial.plugin.stop();
        }
        let listed = trial.rest.get("/commands/").await;
        assert_eq!((listed.status.as_u16(), listed.json()), (200, json!({ "commands": [] })));
        let run = trial.rest.send("POST", "/commands/workspace:close/", &[], "").await;
        assert_eq!((run.code(), run.header("lapidary-app")), (40400, listed.header("lapidary-app")));
        (listed.header("lapidary-app").to_owned(), run.json()["message"].as_str().unwrap().to_owned())
    };
    let (state, said) = answers(ALLOWED, false).await;
    assert_eq!(state, "absent");
    assert!(
        said.starts_with("Not Found\n") && said.contains("not running") && said.contains("Start Obsidian"),
        "{said}"
    );
    let (state, said) = answers(&[], true).await;
    assert_eq!(state, "commands-off");
    assert!(said.contains("OBSIDIAN_ENABLE_COMMANDS=true"), "{said}");
    let read_only = [("OBSIDIAN_ENABLE_COMMANDS", "true"), ("OBSIDIAN_READ_ONLY", "true")];
    let (state, said) = answers(&read_only, true).await;
    assert_eq!(state, "commands-off");
    assert!(said.contains("read-only"), "{said}");
    // With the app, its answers have no such header.
    let trial = AppTrial::new(FakeVersion::V5_1, ALLOWED);
    assert_eq!(trial.rest.get("/commands/").await.header("lapidary-app"), "");
    assert_eq!(trial.rest.send("POST", "/open/Plan.md", &[], "").await.header("lapidary-app"), "");
}

#[tokio::test]
async fn an_app_that_fails_is_not_guessed_about_and_its_words_stay_there() {
    let environment = [ALLOWED, &[("OBSIDIAN_REQUEST_TIMEOUT_MS", "1500")]].concat();
    let trial = AppTrial::new(FakeVersion::V5_1, &environment);
    assert_eq!(trial.rest.send("POST", "/open/Work/b%20c.md", &[], "").await.status, 200);
    trial.plugin.set_active(Some("Plan.md"));
    let failing = |path: &str| {
        let kind = FaultKind::Status { status: 500, retry_after: None };
        trial.plugin.fail(PluginFault { path: Some(path.to_owned()), times: usize::MAX, ..PluginFault::new(kind) });
    };
    failing("/active/");
    for method in ["GET", "PUT", "DELETE"] {
        let answer = trial.rest.send(method, "/active/", MD, "lost\n").await;
        assert_eq!(answer.code(), 50300, "{method}: the note last opened here is another");
        assert!(!answer.text().contains("Secret"), "{}", answer.text());
    }
    assert_eq!(trial.rest.text("Work/b c.md").as_deref(), Some("b\n"));
    trial.plugin.forget_faults();
    failing("/commands/");
    for method in ["GET", "POST"] {
        let path = if method == "GET" { "/commands/" } else { "/commands/workspace:close/" };
        let answer = trial.rest.send(method, path, &[], "").await;
        assert_eq!(answer.code(), 50300, "{method}");
        assert!(!answer.text().contains("Secret"), "{}", answer.text());
    }
}
