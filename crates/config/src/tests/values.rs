//! Tests of the values of settings.

use crate::model::{AppConfig, LimitsConfig, MetricsAccess, ToolsConfig, UpkeepConfig, WebConfig};
use lapidary_pipeline::{RepetitionLimits, RuleDecision};
use std::net::IpAddr;
use std::time::Duration;

use super::*;
use crate::raw::{GivenValue, RawValue, ValueOrigin};
use crate::setting::ShownDefault;

/// The configuration of a machine on which one variable is set.
#[track_caller]
fn with(name: &str, value: &str) -> Config {
    Machine::with_vault().variable(name, value).config()
}

#[track_caller]
fn refusal(name: &str, value: &str) -> String {
    let error = Machine::with_vault().variable(name, value).error();
    assert_holds(&error, &[name]);
    error
}

#[test]
fn the_defaults_are_those_of_the_product() {
    let config = Machine::with_vault().config();
    let expected = Config {
        vaults: VaultsConfig::Chosen(vec![ChosenVault {
            name: "Notes".into(),
            path: "/work/Notes".into(),
            access: VaultAccess::default(),
            remote: None,
        }]),
        transport: Transport::Stdio,
        rest: RestConfig {
            is_served: false,
            plain_address: None,
            is_plain_too: false,
            max_body_bytes: 33_554_432,
            patch_format: PatchFormat::Instruction,
        },
        app: AppConfig {
            is_used: true,
            commands: false,
            key: None,
            url: None,
            verifies_publicly: None,
            timeout: Duration::from_secs(30),
            omnisearch_url: None,
        },
        http: HttpConfig {
            host: IpAddr::from([127, 0, 0, 1]),
            port: 3010,
            max_port_retries: 15,
            endpoint_path: "/mcp".into(),
            allowed_origins: AllowedOrigins::Loopback,
            session_mode: SessionMode::Stateful,
            auth: AuthSettings::default(),
            public_url: None,
            allowed_hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            heartbeat: Duration::from_secs(15),
            sse: false,
            tls: None,
            metrics: MetricsAccess::default(),
            body: BodyLimits { bytes: Some(5_242_880), time: Some(Duration::from_secs(30)) },
            connections: ConnectionLimits {
                head: Some(Duration::from_secs(10)),
                idle: Some(Duration::from_secs(75)),
                all: 1024,
                per_address: 64,
            },
            sessions: SessionLimits { all: 1000, per_client: 32, idle: Duration::from_secs(1800) },
            clients: ClientLimits {
                streams: 16,
                calls: 8,
                calls_in_all: 64,
                calls_per_second: 20,
                writes_per_second: 5,
            },
        },
        access: PathAccess {
            read_only: false,
            read_paths: None,
            write_paths: None,
            deny_paths: None,
            hide_excluded: false,
            source_paths: vec![],
            source_marks: vec![],
            skip_folders: vec!["node_modules".into()],
            follow_links: vec![],
        },
        web: WebConfig {
            hosts: vec![],
            private_hosts: vec![],
            search_url: None,
            timeout: Duration::from_secs(15),
            max_bytes: 2_000_000,
        },
        mcp: McpConfig::default(),
        any_folder: false,
        tools: ToolsConfig { include: None, exclude: Vec::new(), dotted_names: false },
        approval: ApprovalConfig {
            write: RuleDecision::Allow,
            destroy: RuleDecision::Ask,
            rules: vec![],
            pending: true,
        },
        ask_before_deleting: true,
        repetition: RepetitionLimits { noticed: true, window: 15, allowed: 3, max_failures: 8 },
        profile: "curator".into(),
        profiles: std::collections::BTreeMap::new(),
        tokens: vec![],
        skills: None,
        memory: None,
        recipes: None,
        scripts: false,
        guide: GuideChoice::Usual,
        folders: std::collections::BTreeMap::new(),
        sources: "Sources".into(),
        model: "english".into(),
        schemas: None,
        upkeep: UpkeepConfig::default(),
        imports: None,
        authorities: None,
        ocr: Vec::new(),
        state_dir: "/home/me/.local/state/lapidary".into(),
        own_files: Vec::new(),
        trash_home: Some("/home/me/.local/share".into()),
        limits: LimitsConfig {
            max_file_bytes: 16_777_216,
            max_change_bytes: 268_435_456,
            max_reply_bytes: 1_048_576,
            memory_bytes: 402_653_184,
            deadline: Duration::from_millis(60_000),
            ask_timeout: Duration::from_millis(300_000),
            audit_max_bytes: 5_000_000,
            text_memory_bytes: 536_870_912,
            meaning_memory_bytes: 268_435_456,
            document_text_bytes: 67_108_864,
            checkpoint_age: Duration::from_secs(90 * 24 * 60 * 60),
            checkpoint_bytes: 1024 * 1024 * 1024,
            max_files_scanned: 0,
            max_bytes_read: 0,
            max_bulk_ops: 0,
            guide_bytes: 4_096,
        },
        log: LogSettings { level: LogLevel::Info, format: LogFormat::Plain, folder: None, max_bytes: 5_000_000 },
        client_token: None,
        otlp: None,
    };
    assert_eq!(config, expected);
    assert!(Machine::with_vault().warnings().is_empty());
}

#[test]
fn shown_defaults_are_the_real_defaults() {
    let flags = CommonFlags::default();
    let environment = BTreeMap::new();
    let files = Disk::default();
    let sources = ConfigSources {
        flags: &flags,
        environment: &environment,
        working_folder: Path::new("/work"),
        home: None,
        platform: Platform::Linux,
        files: &files,
        needs_vault: true,
    };
    let variables = EnvironmentVariables::gather(&sources);
    let places = ConfigPlaces::new(&sources, &variables);
    for setting in settings::all() {
        let ShownDefault::Value(value) = setting.default else { continue };
        let mut draft = ConfigDraft::new(&places);
        let given = GivenValue { setting, raw: RawValue::Text(value.to_owned()), place: ValueOrigin::Flag("test") };
        (setting.apply)(&mut draft, &given).unwrap();
        assert_eq!(draft.config, Config::unset(), "{setting:?}");
        assert!(draft.warnings.is_empty() && !draft.demo, "{setting:?}");
    }
}

#[test]
fn switches_take_the_usual_words_in_any_case_and_no_others() {
    for value in ["true", "1", "yes", "on", "y", "enabled", "TRUE", "Yes", " on "] {
        assert!(with("OBSIDIAN_READ_ONLY", value).access.read_only, "{value}");
    }
    for value in ["false", "0", "no", "off", "n", "disabled", "False", "OFF"] {
        assert!(!with("OBSIDIAN_READ_ONLY", value).access.read_only, "{value}");
    }
    for value in ["t", "f", "maybe", "2", "ja", "true false"] {
        assert_holds(&refusal("OBSIDIAN_READ_ONLY", value), &[value, "true or false"]);
    }
    assert!(with("LAPIDARY_DOTTED_NAMES", "1").tools.dotted_names);
    assert!(!with("LAPIDARY_REPETITION", "off").repetition.noticed);
    assert!(with("LAPIDARY_REPETITION", "on").repetition.noticed);
}

#[test]
fn empty_values_and_unfilled_templates_are_not_set() {
    let unset = Machine::with_vault().config();
    let variables = settings::all().filter_map(|setting| setting.variable).chain(["LAPIDARY_CONFIG"]);
    for name in variables {
        for value in ["", "   ", "${user_config.value}", "${}"] {
            let machine = Machine::with_vault().variable(name, value);
            assert_eq!(machine.config(), unset, "{name}={value}");
            assert!(machine.warnings().is_empty(), "{name}={value}");
        }
    }
    for (value, expected) in
        [("", true), ("${A}", true), (" ${A} ", true), ("${A}/${B}", false), ("${A}/b", false), ("$A", false)]
    {
        assert_eq!(is_unset(value), expected, "{value}");
    }
}

#[test]
fn numbers_are_read_and_their_limits_are_named() {
    assert_eq!(with("MCP_HTTP_PORT", "0").http.port, 0);
    assert_eq!(with("MCP_HTTP_PORT", "65535").http.port, 65535);
    assert_eq!(with("MCP_HTTP_MAX_PORT_RETRIES", "0").http.max_port_retries, 0);
    assert_eq!(with("MCP_HTTP_MAX_BODY_BYTES", "10").http.body.bytes, Some(10));
    assert_eq!(with("MCP_HTTP_MAX_BODY_BYTES", "0").http.body.bytes, None);
    assert_eq!(with("MCP_STATEFUL_SESSION_STALE_TIMEOUT_MS", "1800000").http.sessions.idle, Duration::from_secs(1800));
    assert_eq!(with("LAPIDARY_MAX_FILE_BYTES", "7").limits.max_file_bytes, 7);
    assert_eq!(with("LAPIDARY_MAX_CHANGE_BYTES", "9").limits.max_change_bytes, 9);
    assert_eq!(with("LAPIDARY_MEMORY_BYTES", "11").limits.memory_bytes, 11);
    assert_eq!(with("LAPIDARY_TEXT_MEMORY_BYTES", "0").limits.text_memory_bytes, 0);
    assert_eq!(with("LAPIDARY_MEANING_MEMORY_BYTES", "0").limits.meaning_memory_bytes, 0);
    assert_eq!(with("LAPIDARY_DOCUMENT_TEXT_BYTES", "0").limits.document_text_bytes, 0);
    assert!(!with("OBSIDIAN_DELETE_ELICITATION", "false").ask_before_deleting);
    assert_eq!(with("LAPIDARY_CHECKPOINT_DAYS", "2").limits.checkpoint_age, Duration::from_secs(2 * 24 * 60 * 60));
    assert_eq!(with("LAPIDARY_CHECKPOINT_BYTES", "7").limits.checkpoint_bytes, 7);
    assert_eq!(with("MCP_MAX_FILES_SCANNED", "9").limits.max_files_scanned, 9);
    assert_eq!(with("MCP_MAX_BYTES_READ", "9").limits.max_bytes_read, 9);
    assert_eq!(with("MCP_MAX_BULK_OPS", "9").limits.max_bulk_ops, 9);
    assert_eq!(with("LAPIDARY_MAX_REPLY_BYTES", "2048").limits.max_reply_bytes, 2048);
    assert_eq!(with("LAPIDARY_ASK_TIMEOUT_MS", "1500").limits.ask_timeout, Duration::from_millis(1500));
    assert_eq!(with("LAPIDARY_AUDIT_MAX_BYTES", "9999").limits.audit_max_bytes, 9999);
    for (name, value, limit) in [
        ("MCP_HTTP_PORT", "65536", "from 0 to 65535"),
        ("MCP_HTTP_PORT", "-1", "from 0 to 65535"),
        ("MCP_HTTP_PORT", "http", "from 0 to 65535"),
        ("MCP_HTTP_PORT", "30.5", "from 0 to 65535"),
        ("MCP_HTTP_MAX_PORT_RETRIES", "1001", "from 0 to 1000"),
        ("MCP_HTTP_MAX_BODY_BYTES", "4 MB", "from 0"),
        ("MCP_STATEFUL_SESSION_STALE_TIMEOUT_MS", "0", "from 1000"),
        ("LAPIDARY_MAX_FILE_BYTES", "0", "from 1 "),
        ("LAPIDARY_MAX_REPLY_BYTES", "1023", "from 1024"),
        ("LAPIDARY_ASK_TIMEOUT_MS", "0", "from 1 to 86400000"),
        ("LAPIDARY_AUDIT_MAX_BYTES", "0", "from 1024"),
        ("MCP_DEADLINE_MS", "soon", "from 0"),
    ] {
        assert_holds(&refusal(name, value), &[value, limit]);
    }
}

#[test]
fn every_call_has_a_deadline() {
    for (value, deadline) in [("1", 1), ("60000", 60_000), ("600000", 600_000), ("0", 600_000), ("600001", 600_000)] {
        assert_eq!(with("MCP_DEADLINE_MS", value).limits.deadline, Duration::from_millis(deadline), "{value}");
    }
    assert!(Machine::with_vault().variable("MCP_DEADLINE_MS", "0").warnings().is_empty());
    let warnings = Machine::with_vault().variable("MCP_DEADLINE_MS", "900000").warnings();
    assert_eq!(warnings, ["environment variable MCP_DEADLINE_MS: 900000 is above the limit; 600000 is used"]);
}

#[test]
fn words_are_taken_in_any_case_and_others_are_answered_with_the_list() {
    assert_eq!(with("MCP_TRANSPORT_TYPE", "HTTP").transport, Transport::Http);
    assert_eq!(with("MCP_TRANSPORT_TYPE", "stdio").transport, Transport::Stdio);
    assert_eq!(with("MCP_SESSION_MODE", "stateless").http.session_mode, SessionMode::Stateless);
    assert_eq!(with("MCP_SESSION_MODE", "stateful").http.session_mode, SessionMode::Stateful);
    assert_eq!(with("MCP_SESSION_MODE", "auto").http.session_mode, SessionMode::Stateful);
    assert_holds(&refusal("MCP_TRANSPORT_TYPE", "sse"), &["'sse'", "stdio, http"]);
    assert_holds(&refusal("MCP_SESSION_MODE", "sticky"), &["'sticky'", "auto, stateful, stateless"]);
}

#[test]
fn log_levels_of_the_contract_and_their_other_names_are_understood() {
    for (level, names) in [
        (LogLevel::Off, vec!["off", "silent"]),
        (LogLevel::Error, vec!["error", "err", "crit", "alert", "emerg", "fatal"]),
        (LogLevel::Warn, vec!["warning", "warn", "WARN"]),
        (LogLevel::Info, vec!["info", "notice", "Info"]),
        (LogLevel::Debug, vec!["debug"]),
        (LogLevel::Trace, vec!["trace"]),
    ] {
        for name in names {
            assert_eq!(with("MCP_LOG_LEVEL", name).log.level, level, "{name}");
        }
    }
    assert_holds(&refusal("MCP_LOG_LEVEL", "loud"), &["'loud'", "off, error, warning, info, debug, trace"]);
}

#[test]
fn path_lists_are_tidied_and_keep_the_spelling_of_the_owner() {
    for (value, expected) in [
        ("Notes", vec!["Notes"]),
        (" Notes , Work/Plans/ ", vec!["Notes", "Work/Plans"]),
        (r"Work\Plans\", vec!["Work/Plans"]),
        ("a,,b,", vec!["a", "b"]),
        ("A,a,b,a/", vec!["A", "b"]),
        ("./Private//Diary.md", vec!["Private/Diary.md"]),
        ("ÄRGER", vec!["ÄRGER"]),
        ("a..b", vec!["a..b"]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(with("OBSIDIAN_READ_PATHS", value).access.read_paths, Some(expected.clone()), "{value}");
        assert_eq!(with("OBSIDIAN_WRITE_PATHS", value).access.write_paths, Some(expected.clone()), "{value}");
        assert_eq!(with("OBSIDIAN_DENY_PATHS", value).access.deny_paths, Some(expected), "{value}");
    }
}

#[test]
fn invalid_path_lists_are_refused_in_the_words_of_the_contract() {
    for name in ["OBSIDIAN_READ_PATHS", "OBSIDIAN_WRITE_PATHS", "OBSIDIAN_DENY_PATHS"] {
        for (value, message) in [
            (",", "contained separators but no valid paths after trimming"),
            (" , ,", "contained separators but no valid paths after trimming"),
            ("a,/etc", "must be vault-relative; got absolute path '/etc'"),
            (r"\\server\share", r"must be vault-relative; got absolute path '\\server\share'"),
            (r"C:\Vault", r"must be vault-relative; got absolute path 'C:\Vault'"),
            ("a/../b", "must not contain '..' traversal; got 'a/../b'"),
            (r"a\..", r"must not contain '..' traversal; got 'a\..'"),
            ("Private/**", "without '*'"),
            (".", "must name a folder or a note in the vault; got '.'"),
        ] {
            assert_holds(&refusal(name, value), &[message]);
        }
    }
}

#[test]
fn write_paths_on_a_read_only_server_are_worth_a_warning() {
    let machine = Machine::with_vault().variable("OBSIDIAN_READ_ONLY", "true").variable("OBSIDIAN_WRITE_PATHS", "a");
    assert_holds(&machine.warnings().concat(), &["read-only", "OBSIDIAN_WRITE_PATHS"]);
}

#[test]
fn tool_names_are_kept_as_they_were_written() {
    let config = Machine::with_vault()
        .words(&["--tools", "obsidian, file.read", "--tools", "", "--exclude-tools", "Bulk_Apply,,x"])
        .config();
    assert_eq!(config.tools.include, Some(vec!["obsidian".into(), "file.read".into()]));
    assert_eq!(config.tools.exclude, ["Bulk_Apply", "x"]);
    assert_eq!(with("LAPIDARY_TOOLS", "all").tools.include, Some(vec!["all".into()]));
    assert_eq!(with("LAPIDARY_EXCLUDE_TOOLS", "a,b").tools.exclude, ["a", "b"]);
    assert_eq!(with("LAPIDARY_TOOLS", " , ").tools.include, None);
}

#[test]
fn approval_is_set_for_each_effect_separately() {
    for (value, write, destroy) in [
        ("write=ask", RuleDecision::Ask, RuleDecision::Ask),
        ("write=ask,destroy=deny", RuleDecision::Ask, RuleDecision::Deny),
        (" destroy = ALLOW , ", RuleDecision::Allow, RuleDecision::Allow),
    ] {
        let approval = with("LAPIDARY_APPROVAL", value).approval;
        assert_eq!((approval.write, approval.destroy), (write, destroy), "{value}");
    }
    for (value, part) in [
        ("ask", "effect=decision"),
        ("write=maybe", "allow, ask, deny"),
        ("read=ask", "write, destroy"),
        ("write", "effect=decision"),
    ] {
        assert_holds(&refusal("LAPIDARY_APPROVAL", value), &[part]);
    }
}

#[test]
fn approval_of_a_weaker_layer_is_kept_unless_a_stronger_one_sets_it() {
    let machine =
        Machine::with_vault().toml("[approval]\ndestroy = \"deny\"\n").variable("LAPIDARY_APPROVAL", "write=ask");
    let approval = machine.config().approval;
    assert_eq!((approval.write, approval.destroy), (RuleDecision::Ask, RuleDecision::Deny));
}

#[test]
fn an_address_is_written_in_every_usual_way() {
    for (value, host) in [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "127.0.0.1"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("0.0.0.0", "0.0.0.0"),
    ] {
        assert_eq!(with("MCP_HTTP_HOST", value).http.host, host.parse::<IpAddr>().unwrap(), "{value}");
    }
    assert_holds(&refusal("MCP_HTTP_HOST", "nas.local"), &["'nas.local'", "localhost"]);
}

#[test]
fn an_overridden_host_is_harmless() {
    let machine = Machine::with_vault().variable("MCP_HTTP_HOST", "0.0.0.0").words(&["--http", "127.0.0.1:1"]);
    assert_eq!(machine.config().http.host, IpAddr::from([127, 0, 0, 1]));
}

#[test]
fn a_server_that_asks_for_authentication_does_not_start_without_it() {
    let machine = Machine::with_vault().variable("MCP_AUTH_MODE", "OAuth");
    assert!(machine.load().is_ok(), "over stdio there is no client to authenticate");
    assert_holds(
        &machine.variable("MCP_TRANSPORT_TYPE", "http").error(),
        &["MCP_AUTH_MODE", "oauth", "OAUTH_ISSUER_URL"],
    );
    assert_holds(&refusal("MCP_AUTH_MODE", "basic"), &["none, bearer, builtin, jwt, oauth"]);
    let machine = || {
        let toml = "transport = \"http\"\n[http]\nauth_mode = \"oauth\"\noauth_issuer = \"https://id.example\"\n";
        Machine::with_vault().toml(toml)
    };
    assert_holds(&machine().error(), &["OAUTH_AUDIENCE"]);
    assert!(machine().variable("OAUTH_AUDIENCE", "notes").load().is_ok());
    assert!(machine().variable("MCP_AUTH_MODE", "none").load().is_ok());
}

#[test]
fn an_issuer_is_reached_over_tls_or_on_this_computer() {
    for value in
        ["https://id.example", "https://id.example:8443/realms/home", "http://localhost:9000/x", "http://[::1]:9"]
    {
        assert_eq!(with("OAUTH_ISSUER_URL", value).http.auth.foreign.issuer.as_deref(), Some(value));
    }
    for value in [
        "http://id.example",
        "id.example",
        "https://",
        "https:///x",
        "http://localhost.evil.com",
        "ftp://x",
        "https://a@b",
    ] {
        assert_holds(&refusal("OAUTH_JWKS_URI", value), &[value, "https://"]);
    }
}

#[test]
fn a_passphrase_is_typed_over_tls_or_on_this_computer() {
    let machine = |url: &str| {
        let machine = Machine::with_vault().variable("MCP_TRANSPORT_TYPE", "http").variable("MCP_AUTH_MODE", "builtin");
        if url.is_empty() { machine } else { machine.variable("MCP_PUBLIC_URL", url) }
    };
    for url in ["", "https://vault.example", "http://localhost:3010", "http://127.0.0.1", "http://[::1]:80"] {
        assert!(machine(url).load().is_ok(), "{url}");
    }
    for url in ["http://vault.example", "http://192.168.1.7:3010", "http://localhost.evil.com"] {
        assert_holds(&machine(url).error(), &[url, "not encrypted", "https"]);
    }
    assert_holds(&machine("").variable("MCP_HTTP_HOST", "0.0.0.0").error(), &["http://0.0.0.0", "https"]);
}

#[test]
fn places_to_return_to_are_origins_schemes_or_this_computer() {
    let config = with("LAPIDARY_ALLOWED_REDIRECTS", "https://Claude.ai/, cursor:, loopback");
    let places = ["https://claude.ai", "cursor:", "loopback"].map(str::to_owned).to_vec();
    assert_eq!(config.http.auth.redirects, Some(places));
    for value in ["claude.ai", "http://claude.ai", "https://claude.ai/cb", "https://*.example", "cursor"] {
        assert_holds(&refusal("LAPIDARY_ALLOWED_REDIRECTS", value), &["loopback"]);
    }
}

#[test]
fn web_tokens_need_a_secret_that_cannot_be_guessed() {
    let machine = || Machine::with_vault().variable("MCP_AUTH_MODE", "jwt").variable("MCP_TRANSPORT_TYPE", "http");
    assert_holds(&machine().error(), &["MCP_AUTH_SECRET_KEY", "32"]);
    let error = machine().variable("MCP_AUTH_SECRET_KEY", "short-secret").error();
    assert!(error.contains("32") && !error.contains("short-secret"), "{error}");
    let config = machine().variable("MCP_AUTH_SECRET_KEY", &"s".repeat(32)).config();
    assert_eq!(config.http.auth.mode, Some(AuthMode::Jwt));
    assert!(!format!("{config:?}").contains("ssss"), "no secret is printed");
}

#[test]
fn an_endpoint_must_be_a_path_that_can_be_served() {
    for (value, path) in [("/mcp/", "/mcp"), ("/api/v1.0/mcp_x-y", "/api/v1.0/mcp_x-y")] {
        assert_eq!(with("MCP_HTTP_ENDPOINT_PATH", value).http.endpoint_path, path);
    }
    for value in ["mcp", "/", "//", "/a//b", "/{id}", "/*rest", "/a b", "/a?b", "/../x", "/healthz", "/healthz/"] {
        assert_holds(&refusal("MCP_HTTP_ENDPOINT_PATH", value), &[value, "/mcp"]);
    }
}

#[test]
fn origins_are_compared_as_browsers_send_them() {
    let listed = |origins: &[&str]| AllowedOrigins::Listed(origins.iter().map(|origin| (*origin).to_owned()).collect());
    for (value, origins) in [
        ("https://App.Example/", listed(&["https://app.example"])),
        ("http://localhost:8080, app://obsidian.md", listed(&["http://localhost:8080", "app://obsidian.md"])),
        ("*", AllowedOrigins::Any),
        ("https://a.example,*", AllowedOrigins::Any),
        (",", AllowedOrigins::Loopback),
    ] {
        assert_eq!(with("MCP_ALLOWED_ORIGINS", value).http.allowed_origins, origins, "{value}");
    }
    for value in ["app.example", "https://", "https://*.example", "https://a.example/path"] {
        assert_holds(&refusal("MCP_ALLOWED_ORIGINS", value), &[value, "scheme://host"]);
    }
}

#[test]
fn http_on_the_command_line_sets_transport_host_and_port() {
    let http = |words: &[&str]| {
        let config = Machine::with_vault().variable("MCP_HTTP_PORT", "4000").words(words).config();
        (config.transport, config.http.host.to_string(), config.http.port)
    };
    assert_eq!(http(&["--http"]), (Transport::Http, "127.0.0.1".into(), 4000));
    assert_eq!(http(&["--http", "5000"]), (Transport::Http, "127.0.0.1".into(), 5000));
    assert_eq!(http(&["--http", "[::1]:5000"]), (Transport::Http, "::1".into(), 5000));
    assert_eq!(http(&[]).0, Transport::Stdio);
}

#[test]
fn the_state_folder_is_where_the_platform_keeps_state() {
    let state = |machine: Machine| slashed(&machine.words(&["--demo"]).config().state_dir);
    let mac = || Machine::new().platform(Platform::MacOs, "/Users/me");
    let windows = || Machine::new().platform(Platform::Windows, r"C:\Users\me");
    for (machine, expected) in [
        (Machine::new(), "/home/me/.local/state/lapidary"),
        (Machine::new().variable("XDG_STATE_HOME", "/state"), "/state/lapidary"),
        (Machine::new().variable("XDG_STATE_HOME", "relative"), "/home/me/.local/state/lapidary"),
        (Machine::new().variable("XDG_STATE_HOME", ""), "/home/me/.local/state/lapidary"),
        (mac(), "/Users/me/Library/Application Support/lapidary"),
        (windows().variable("LocalAppData", r"D:\Local"), "D:/Local/lapidary"),
        (windows(), "C:/Users/me/AppData/Local/lapidary"),
        (Machine::new().variable("LAPIDARY_STATE_DIR", "/srv/state"), "/srv/state"),
        (Machine::new().variable("LAPIDARY_STATE_DIR", "~/state/"), "/home/me/state"),
        (Machine::new().variable("LAPIDARY_STATE_DIR", "state"), "/work/state"),
        (windows().variable("LAPIDARY_STATE_DIR", r"~\state"), "C:/Users/me/state"),
        (windows().variable("LAPIDARY_STATE_DIR", r"\\server\state"), "//server/state"),
    ] {
        assert_eq!(state(machine), expected);
    }
}

#[test]
fn without_a_home_folder_the_state_folder_must_be_named() {
    let mut machine = Machine::with_vault();
    machine.home = None;
    assert_holds(&machine.error(), &["HOME", "LAPIDARY_STATE_DIR"]);
    assert_holds(&machine.variable("LAPIDARY_STATE_DIR", "~/x").error(), &["'~/x'", "HOME"]);
    let mut machine = Machine::with_vault().variable("LAPIDARY_STATE_DIR", "/state");
    machine.home = None;
    assert_eq!(machine.config().state_dir, Path::new("/state"));
}

#[test]
fn state_never_goes_into_a_vault() {
    for state in ["/work/Notes", "/work/Notes/.lapidary", "Notes/state"] {
        let error = Machine::with_vault().variable("LAPIDARY_STATE_DIR", state).error();
        assert_holds(&error, &["inside the vault /work/Notes", "LAPIDARY_STATE_DIR"]);
    }
    let beside = Machine::with_vault().variable("LAPIDARY_STATE_DIR", "/work/Notes-state");
    assert!(beside.load().is_ok());
    let error = Machine::with_vault().variable("LOGS_DIR", "/work/Notes/logs").error();
    assert_holds(&error, &["inside the vault /work/Notes", "LOGS_DIR"]);
    assert!(Machine::with_vault().variable("LOGS_DIR", "/work/logs").load().is_ok());
}

#[test]
fn folders_to_skip_are_names() {
    let skipped = |value: &str| Machine::with_vault().variable("LAPIDARY_SKIP_FOLDERS", value);
    assert_eq!(skipped("a, b").config().access.skip_folders, ["a", "b"]);
    assert_eq!(skipped("").config().access.skip_folders, ["node_modules"]);
    let none = Machine::with_vault().toml("[access]\nskip_folders = []\n");
    assert!(none.config().access.skip_folders.is_empty());
    for wrong in ["a/b", "a\\b", "*"] {
        assert_holds(&skipped(wrong).error(), &["LAPIDARY_SKIP_FOLDERS", wrong, "name of a folder"]);
    }
    let hide = Machine::with_vault().variable("LAPIDARY_EXCLUDED_FILES", "yes");
    assert_holds(&hide.error(), &["'yes'", "show, hide"]);
}

#[test]
fn telemetry_counts_only_if_it_is_switched_on() {
    // Other programs read the same variables.
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:/run/otel"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "x"),
        ("OTEL_TRACES_SAMPLER_ARG", "parentbased"),
    ] {
        assert_eq!(with(name, value).otlp, None);
        let error = Machine::with_vault().variable(name, value).variable("OTEL_ENABLED", "true").error();
        assert_holds(&error, &[name, value]);
    }
    let on = with("OTEL_ENABLED", "true").otlp.unwrap();
    assert_eq!(on.traces, "http://localhost:4318/v1/traces");
    assert_eq!(on.metrics, "http://localhost:4318/v1/metrics");
    assert_eq!((on.service_name.as_str(), on.sampled_per_million), ("lapidary", 1_000_000));
    for (share, parts) in [("0", 0), ("1", 1_000_000), ("0.5", 500_000)] {
        let machine = Machine::with_vault().variable("OTEL_ENABLED", "1").variable("OTEL_TRACES_SAMPLER_ARG", share);
        assert_eq!(machine.config().otlp.unwrap().sampled_per_million, parts);
    }
    for share in ["NaN", "-0.1", "1.1", "inf"] {
        let machine = Machine::with_vault().variable("OTEL_ENABLED", "1").variable("OTEL_TRACES_SAMPLER_ARG", share);
        assert_holds(&machine.error(), &["from 0 to 1"]);
    }
}

#[test]
fn a_certificate_needs_its_key() {
    for (name, missing) in [("LAPIDARY_TLS_CERT", "--tls-key"), ("LAPIDARY_TLS_KEY", "--tls-cert")] {
        let error = Machine::with_vault().variable(name, "/etc/file.pem").error();
        assert_holds(&error, &[missing]);
    }
}

#[test]
fn the_token_of_metrics_is_long_and_only_its_hash_is_kept() {
    assert_holds(&refusal("LAPIDARY_METRICS_TOKEN", "short"), &["32 characters"]);
    let token = "0123456789abcdef0123456789abcdef";
    let config = with("LAPIDARY_METRICS_TOKEN", token);
    assert!(!format!("{config:?}").contains(token));
}

#[test]
fn the_rest_api_is_served_in_plain_text_only_on_this_computer() {
    let rest = |words: &[&str]| Machine::with_vault().words(words).config().rest;
    assert!(!rest(&[]).is_served);
    let served = rest(&["--rest", "--rest-http"]);
    assert_eq!((served.is_served, served.plain_address, served.is_plain_too), (true, None, true));
    assert_eq!(rest(&["--rest-http"]), served, "who asks for the API in plain text asks for the API");
    let warned = |machine: Machine| machine.warnings().join("\n");
    assert_eq!(warned(Machine::with_vault().words(&["--rest-http"])), "");
    assert_holds(
        &warned(Machine::with_vault().variable("LAPIDARY_REST_HTTP", "true")),
        &["no effect", "LAPIDARY_REST"],
    );
    assert_holds(
        &warned(Machine::with_vault().words(&["--rest", "5000", "--rest-http"])),
        &["--rest-http has no effect"],
    );
    for (given, address) in [("5000", "127.0.0.1:5000"), ("[::1]:5000", "[::1]:5000"), ("127.0.0.1", "127.0.0.1:27123")]
    {
        assert_eq!(rest(&["--rest", given]).plain_address, Some(address.parse().unwrap()), "{given}");
    }
    assert_holds(&refusal("LAPIDARY_REST_ADDRESS", "0.0.0.0:5000"), &["0.0.0.0:5000", "127.0.0.1"]);
    assert_eq!(with("LAPIDARY_REST_PATCH_FORMAT", "1").rest.patch_format, PatchFormat::Headers);
    assert_holds(&refusal("LAPIDARY_REST_PATCH_FORMAT", "3"), &["3"]);
    assert_eq!(with("LAPIDARY_REST_MAX_BODY_BYTES", "1024").rest.max_body_bytes, 1024);
    assert_holds(&refusal("LAPIDARY_REST_MAX_BODY_BYTES", "1023"), &["1023"]);
}

#[test]
fn the_address_of_the_app_is_a_base_address() {
    let url = |value: &str| with("OBSIDIAN_BASE_URL", value).app.url;
    assert_eq!(url("https://127.0.0.1:27124/"), Some("https://127.0.0.1:27124".to_owned()));
    assert_eq!(url("http://notes.example/obsidian"), Some("http://notes.example/obsidian".to_owned()));
    for wrong in ["127.0.0.1:27124", "ftp://127.0.0.1", "https://", "https://me@host", "https://host?x", "https://:1"] {
        assert_holds(&refusal("OBSIDIAN_BASE_URL", wrong), &["OBSIDIAN_BASE_URL", "https://127.0.0.1:27124"]);
    }
}

#[test]
fn the_names_of_version_1_give_the_address_of_the_app() {
    let app = |variables: &[(&'static str, &str)]| {
        let machine =
            variables.iter().fold(Machine::with_vault(), |machine, (name, value)| machine.variable(name, value));
        assert!(machine.warnings().is_empty(), "{:?}", machine.warnings());
        machine.config().app
    };
    assert_eq!(app(&[("OBSIDIAN_HOST", "localhost")]).url.as_deref(), Some("https://localhost:27124"));
    assert_eq!(app(&[("OBSIDIAN_PROTOCOL", "http")]).url.as_deref(), Some("http://127.0.0.1:27123"));
    assert_eq!(app(&[("OBSIDIAN_PORT", "9")]).url.as_deref(), Some("https://127.0.0.1:9"));
    let both = app(&[("OBSIDIAN_PORT", "9"), ("OBSIDIAN_BASE_URL", "http://127.0.0.1:8")]);
    assert_eq!(both.url.as_deref(), Some("http://127.0.0.1:8"));
    let old = app(&[("VERIFY_SSL", "true"), ("REQUEST_TIMEOUT", "5000")]);
    assert_eq!((old.verifies_publicly, old.timeout), (Some(true), Duration::from_secs(5)));
    // Other programs have variables of these names.
    let other = app(&[("VERIFY_SSL", "strict"), ("REQUEST_TIMEOUT", "30s")]);
    assert_eq!((other.verifies_publicly, other.timeout), (None, Duration::from_secs(30)));
}

#[test]
fn the_guide_is_a_note_or_off() {
    let guide = |value: &str| with("LAPIDARY_GUIDE_NOTE", value).guide;
    assert_eq!(guide("Off"), GuideChoice::Off);
    assert_eq!(guide("x"), GuideChoice::Note("x.md".to_owned()));
    assert_eq!(guide("Meta/Guide, mine.MD"), GuideChoice::Note("Meta/Guide, mine.MD".to_owned()));
    assert_holds(&refusal("LAPIDARY_GUIDE_NOTE", "../x.md"), &["LAPIDARY_GUIDE_NOTE", "../x.md"]);
    assert_holds(&refusal("LAPIDARY_GUIDE_NOTE", "/etc/x.md"), &["/etc/x.md"]);
    assert_eq!(with("LAPIDARY_GUIDE_BYTES", "65536").limits.guide_bytes, 65_536);
    assert_holds(&refusal("LAPIDARY_GUIDE_BYTES", "65537"), &["65537", "65536"]);
}

#[test]
fn marks_of_sources_are_tags_or_values() {
    assert_eq!(with("LAPIDARY_SOURCE_MARKS", "#source, status=final").access.source_marks.len(), 2);
    assert_holds(&refusal("LAPIDARY_SOURCE_MARKS", "source"), &["'source'", "#source"]);
    assert_holds(&refusal("LAPIDARY_LOG_NOTE", "a, b"), &["one note", "several"]);
}

#[test]
fn hosts_of_the_web_are_hosts() {
    let web = with("LAPIDARY_WEB_HOSTS", "example.org, *.example.net").web;
    assert_eq!(web.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["example.org", "*.example.net"]);
    assert_holds(&refusal("LAPIDARY_WEB_HOSTS", "https://example.org/x"), &["https://example.org/x", "*.example.org"]);
    assert_holds(&refusal("LAPIDARY_WEB_PRIVATE_HOSTS", "any"), &["any"]);
    assert_eq!(with("LAPIDARY_WEB_TIMEOUT_MS", "120000").web.timeout, Duration::from_secs(120));
    assert_holds(&refusal("LAPIDARY_WEB_TIMEOUT_MS", "120001"), &["120001"]);
    assert_holds(&refusal("LAPIDARY_WEB_MAX_BYTES", "20000001"), &["20000001"]);
    for bad in ["searx", "ftp://a", "http://a/?q=", "https://u@a/"] {
        assert_holds(&refusal("LAPIDARY_WEB_SEARCH_URL", bad), &[bad]);
    }
}

#[test]
fn a_model_has_the_name_of_a_folder() {
    assert_eq!(with("LAPIDARY_MODEL", "all-minilm-l6-v2").model, "all-minilm-l6-v2");
    for wrong in ["../secrets", ".hidden", "Two Words", "a/b"] {
        assert_holds(&refusal("LAPIDARY_MODEL", wrong), &[wrong, "lapidary model list"]);
    }
}
