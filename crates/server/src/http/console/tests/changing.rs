//! Clients, rules and settings, changed by their owner.

use axum::http::StatusCode;
use lapidary_auth::{SecretText, UnixSeconds};

use super::{ConsoleTrial, PageAnswer, encoded};

const FILE: &str = "home/.config/lapidary/lapidary.toml";
const TEXT: &str = "# Mine.\r\n[limits] # all of them\r\n  deadline_ms = 1000   # short\r\n\r\n# the end";

impl ConsoleTrial {
    /// With this text in the configuration file.
    async fn configured(text: &str, environment: &[(&str, &str)]) -> Self {
        let trial = Self::start(&[("a.md", "one\n")], &[], environment).await;
        trial.write_settings(text);
        trial
    }

    #[expect(clippy::disallowed_methods, reason = "makes the settings of a test")]
    fn write_settings(&self, text: &str) {
        let file = self.place.path().join(FILE);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "looks at the settings of a test")]
    fn settings(&self) -> String {
        std::fs::read_to_string(self.place.path().join(FILE)).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "looks for the copy of a file")]
    fn copies(&self) -> Vec<String> {
        let folder = self.place.path().join(FILE);
        let entries = std::fs::read_dir(folder.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        let copies = entries.filter(|path| path.extension().is_some_and(|ending| ending == "bak"));
        copies.map(|path| std::fs::read_to_string(path).unwrap()).collect()
    }

    /// Looks at a change, and writes what is shown.
    async fn set(&self, pairs: &[(&str, &str)]) -> PageAnswer {
        let shown = self.post("/console/settings", pairs).await;
        assert_eq!(shown.status, StatusCode::OK, "{}", shown.body);
        let digest = shown.field("digest");
        let mut pairs = pairs.to_vec();
        pairs.extend([("decision", "write"), ("digest", digest.as_str())]);
        self.post("/console/settings", &pairs).await
    }

    fn is_live(&self, secret: &str) -> bool {
        let digest = SecretText::new(secret.to_owned()).digest();
        let now = UnixSeconds::from(self.assembled.executor.now());
        self.assembled.auth.find_token(&digest, now).unwrap().is_some()
    }
}

#[tokio::test]
async fn every_setting_is_shown_with_its_value_and_origin() {
    let trial = ConsoleTrial::configured(
        TEXT,
        &[("OBSIDIAN_READ_ONLY", "true"), ("MCP_AUTH_SECRET_KEY", "s3cret".repeat(9).as_str())],
    )
    .await;
    let page = trial.get("/console/settings").await;
    page.has("<code>limits.deadline_ms</code> = <span class=\"value\">1000</span> <span class=\"soft\">limits.deadline_ms in ");
    page.has("environment variable OBSIDIAN_READ_ONLY decides it");
    page.has("<code>http.port</code> = <span class=\"value\">3010</span> <span class=\"soft\">default</span>");
    page.lacks("s3cret");
    page.has("http://127.0.0.1:3010/mcp");
}

#[tokio::test]
async fn a_setting_is_shown_as_a_diff_and_then_written_with_every_other_byte_kept() {
    let trial = ConsoleTrial::configured(TEXT, &[]).await;
    let change = [("change", "set"), ("name", "limits.deadline_ms"), ("value", "2000")];
    let shown = trial.post("/console/settings", &change).await;
    shown.has("<ins>2000</ins>");
    assert_eq!(trial.settings(), TEXT, "nothing is written before it was shown");
    trial.set(&change).await.has("restart");
    assert_eq!(trial.settings(), TEXT.replace("1000", "2000"));
    assert_eq!(trial.copies(), [TEXT]);
    trial.set(&[("change", "unset"), ("name", "limits.deadline_ms")]).await.has("Written");
    assert_eq!(trial.settings(), TEXT.replace("  deadline_ms = 1000   # short\r\n", ""));
    trial.set(&[("change", "set"), ("name", "approval.write"), ("value", "ask")]).await.has("Written");
    assert!(trial.settings().ends_with("# the end\r\n\r\n[approval]\r\nwrite = \"ask\"\r\n"), "{:?}", trial.settings());
}

#[tokio::test]
async fn a_tool_is_switched_off_and_a_vault_added_in_a_new_file() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &[]).await;
    trial.set(&[("change", "tool"), ("name", "file_delete"), ("value", "off")]).await.has("Written");
    assert_eq!(trial.settings(), "[tools]\nexclude = [\"file_delete\"]\n");
    trial.set(&[("change", "tool"), ("name", "outline"), ("value", "off")]).await.has("Written");
    trial.set(&[("change", "tool"), ("name", "file_delete"), ("value", "on")]).await.has("Written");
    assert_eq!(trial.settings(), "[tools]\nexclude = [\"outline\"]\n");
    let text = trial.settings() + "\n[access]\nread_only = true\n";
    trial.set(&[("change", "text"), ("value", &text)]).await.has("Written");
    assert_eq!(trial.settings(), text);
}

#[tokio::test]
async fn what_is_wrong_or_fixed_elsewhere_is_refused_before_anything_is_written() {
    let trial = ConsoleTrial::configured(TEXT, &[("OBSIDIAN_READ_ONLY", "true")]).await;
    for (pairs, words) in [
        ([("change", "set"), ("name", "limits.deadline_ms"), ("value", "soon")], "is not a whole number"),
        ([("change", "set"), ("name", "access.read_only"), ("value", "false")], "OBSIDIAN_READ_ONLY decides it"),
        ([("change", "set"), ("name", "http.auth_secret_key"), ("value", "x")], "is a secret"),
        ([("change", "set"), ("name", "nothing.like_it"), ("value", "x")], "There is no setting"),
        ([("change", "set"), ("name", "tools.exclude"), ("value", "no_such_tool")], "no_such_tool"),
        ([("change", "set"), ("name", "profile"), ("value", "nothing")], "there is no profile"),
        ([("change", "set"), ("name", "profiles"), ("value", "x")], "in the text of the file"),
        ([("change", "text"), ("name", ""), ("value", "limits = 1")], "expected a table"),
        ([("change", "set"), ("name", "limits.deadline_ms"), ("value", "1000")], "says already"),
    ] {
        let refused = trial.post("/console/settings", &pairs).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{pairs:?}");
        refused.has(words);
        assert_eq!(trial.settings(), TEXT);
    }
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_is_shown_again() {
    let trial = ConsoleTrial::configured(TEXT, &[]).await;
    let change = [("change", "set"), ("name", "limits.deadline_ms"), ("value", "2000")];
    let digest = trial.post("/console/settings", &change).await.field("digest");
    let other = TEXT.replace("short", "long");
    trial.write_settings(&other);
    let mut write = change.to_vec();
    write.extend([("decision", "write"), ("digest", digest.as_str())]);
    let again = trial.post("/console/settings", &write).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    again.has("the file has changed meanwhile");
    assert_eq!(trial.settings(), other);
}

#[tokio::test]
async fn a_token_is_made_narrowed_rotated_and_revoked() {
    let trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &[]).await;
    let secret_in = |page: &PageAnswer| {
        let (_, rest) = page.body.split_once("<pre id=\"secret\">").unwrap_or_else(|| panic!("{}", page.body));
        rest.split('<').next().unwrap().to_owned()
    };
    let made = trial
        .post("/console/clients", &[("do", "create"), ("name", "phone"), ("profile", "editor"), ("expires", "30d")])
        .await;
    let first = secret_in(&made);
    assert!(trial.is_live(&first));
    trial.get("/console/clients").await.lacks(&first);
    let narrowed = [
        ("do", "change"),
        ("name", "phone"),
        ("profile", "reader"),
        ("read-paths", "Open\r\nDaily"),
        ("read-only", "on"),
    ];
    trial.post("/console/clients", &narrowed).await.has("reader; read-only; in Open Daily");
    assert!(trial.is_live(&first));
    let second = secret_in(&trial.post("/console/clients", &[("do", "rotate"), ("name", "phone")]).await);
    assert!(!trial.is_live(&first) && trial.is_live(&second));
    trial.get("/console/clients").await.has("reader; read-only; in Open Daily");
    trial.post("/console/clients", &[("do", "revoke"), ("name", "phone")]).await.has("is revoked");
    assert!(!trial.is_live(&second));
    for (pairs, words) in [
        ([("do", "create"), ("name", "no name!"), ("expires", "30d")], "Nothing was changed"),
        ([("do", "create"), ("name", "x"), ("expires", "soon")], "the lifetime"),
        ([("do", "revoke"), ("name", "phone"), ("expires", "")], "There is no valid token"),
        ([("do", "rotate"), ("name", "phone"), ("expires", "")], "There is no valid token"),
    ] {
        let refused = trial.post("/console/clients", &pairs).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{pairs:?}");
        refused.has(words);
    }
}

#[tokio::test]
async fn the_rule_that_decides_is_named() {
    let rules = [("LAPIDARY_APPROVAL_RULES", "ask path=Work; deny tool=file_append")];
    let trial = ConsoleTrial::start(&[("a.md", "one\n")], &[], &rules).await;
    let ask = async |caller: &str, tool: &str, path: &str| {
        trial.get(&format!("/console/rules?{}", encoded(&[("caller", caller), ("tool", tool), ("path", path)]))).await
    };
    ask("owner", "str_replace", "Work/a.md")
        .await
        .has("<strong class=\"waiting\">asked</strong>. Rule 1 decides: ask in Work");
    ask("owner", "str_replace", "a.md")
        .await
        .has("<strong class=\"changed\">allowed</strong>. Rule 3 decides: allow changes");
    ask("owner", "file_append", "a.md")
        .await
        .has("<strong class=\"refused\">denied</strong>. Rule 2 decides: deny with file_append");
    ask("profile:reader", "str_replace", "a.md").await.has("<strong class=\"refused\">denied</strong>");
    ask("owner", "file_read", "a.md").await.has("reading is allowed");
    ask("owner", "file_read", ".obsidian/app.json").await.has("denied");
    ask("owner", "file_read", "../x").await.has("This is not a path in a vault");
}
