//! Tests of the configuration file.

use std::time::Duration;

use lapidary_pipeline::RuleDecision;

use super::*;
use crate::AppConfig;

#[test]
fn later_layers_win() {
    let toml = || Machine::with_vault().toml("[http]\nport = 1\n");
    let port = |machine: Machine| machine.config().http.port;
    assert_eq!(port(toml()), 1);
    assert_eq!(port(toml().dotenv("MCP_HTTP_PORT=2")), 2);
    assert_eq!(port(toml().dotenv("MCP_HTTP_PORT=2").variable("MCP_HTTP_PORT", "3")), 3);
    assert_eq!(port(toml().dotenv("MCP_HTTP_PORT=2").variable("MCP_HTTP_PORT", "3").words(&["--http", "4"])), 4);
    assert_eq!(port(toml().dotenv("MCP_HTTP_PORT=2").variable("MCP_HTTP_PORT", "")), 2);
}

#[test]
fn every_key_of_the_file_is_understood() {
    let text = r#"
transport = "http"
ask_before_deleting = false
repetition = "off"
state_dir = "~/state"
profile = "scribe"
skills_folder = "Skills"
memory_folder = "Memory"
recipe_folder = "Recipes"
scripts = true
guide_note = "Meta/Guide"
sources_folder = "Read/"
model = "minilm"
schema_folder = "Schemas"
import_folder = "~/Scans"
ocr = ["tesseract", "stdin", "stdout"]
pending_approvals = false

[upkeep]
index_notes = ["Projects/Index", "Areas/README.md"]
log_note = "Log"

[vaults]
zeta = "/work/Notes"
alpha = "~/Other"

[folders]
"Work, old" = "Finished projects"

[access]
read_only = true
read_paths = ["Notes, old", "Work/"]
write_paths = "a,b"
deny_paths = ["Private"]
source_paths = ["Sources"]
source_marks = ["kind=source", "status=final"]
excluded_files = "hide"
skip_folders = ["target", "build"]
follow_links = ["~/Shared"]

[tools]
include = ["default", "file.read"]
exclude = "bulk_apply"
dotted_names = true

[profiles.scribe]
allow = ["read", "str_replace"]
effect = "write"

[tokens.phone]
token = "a-long-enough-secret"
profile = "reader"

[approval]
write = "deny"
destroy = "allow"

[[approval.rules]]
decision = "ask"
tool = "file_move"
path = "Work"

[limits]
ask_timeout_ms = 1
repetition_window = 20
repetition_allowed = 4
max_failures = 5
deadline_ms = 2
max_file_bytes = 0x10
max_change_bytes = 9
max_reply_bytes = 4_096
memory_bytes = 11
text_memory_bytes = 5
meaning_memory_bytes = 12
document_text_bytes = 13
checkpoint_days = 3
checkpoint_bytes = 8
max_files_scanned = 6
max_bytes_read = 7
max_bulk_ops = 8
guide_bytes = 10

[http]
host = "::1"
port = 8080
max_port_retries = 3
endpoint_path = "/x"
max_body_bytes = 0
allowed_origins = ["https://a.example"]
session_mode = "stateless"
session_timeout_ms = 1000
auth_mode = "none"
auth_secret_key = "a-secret-of-at-least-thirty-two-characters"
jwt_issuer = "https://id.example"
jwt_audience = "notes"
ignore_scopes = true
access_ttl_ms = 300000
allowed_redirects = ["https://claude.ai", "cursor:", "loopback"]
oauth_issuer = "https://id.example"
oauth_audience = "notes"
oauth_keys_url = "http://127.0.0.1:9/keys"
oauth_keys_cooldown_ms = 1
oauth_keys_timeout_ms = 2
resource_identifier = "https://vault.example.com/mcp"
public_url = "https://Vault.example.com/"
allowed_hosts = ["nas.local:3010"]
trusted_proxies = ["10.0.0.0/8"]
heartbeat_ms = 1000
sse = true
head_timeout_ms = 1
body_timeout_ms = 0
idle_timeout_ms = 2
max_connections = 1
max_connections_per_address = 2
max_sessions = 3
max_sessions_per_client = 4
max_streams_per_client = 5
max_calls_per_client = 6
max_calls = 7
calls_per_second = 8
writes_per_second = 9
tls_cert = "~/cert.pem"
tls_key = "/etc/key.pem"
metrics = true
metrics_token = "a-token-of-at-least-thirty-two-characters"

[rest]
serve = true
address = "::1"
http = true
max_body_bytes = 2048
patch_format = 1

[app]
use = false
commands = true
url = "https://127.0.0.1:2/"
verify_certificate = true
timeout_ms = 3
omnisearch_url = "http://localhost:4"

[web]
hosts = ["example.org", "*.example.net:8080"]
private_hosts = ["wiki.lan"]
search_url = "http://127.0.0.1:8888/search"
authorities = "~/proxy.pem"
timeout_ms = 5
max_bytes = 6

[mcp.servers.issues]
url = "https://issues.example/mcp"

[audit]
max_bytes = 2000

[log]
level = "debug"
format = "json"
dir = "~/logs"
max_bytes = 3000

[telemetry]
otlp = true
endpoint = "http://collector:4318/"
traces_endpoint = "https://traces.example/in"
metrics_endpoint = "https://metrics.example/in"
service_name = "notes"
service_version = "7"
sampled = 0.25
"#;
    let machine = Machine::new().folder("/home/me/Other").folder("/home/me/Shared").toml(text);
    let config = machine.config();
    assert_eq!(config.access.follow_links, [Path::new("/home/me/Shared")]);
    assert_eq!(machine.vaults(), ["zeta=/work/Notes", "alpha=/home/me/Other"]);
    assert_eq!((config.transport, config.repetition.noticed), (Transport::Http, false));
    assert_eq!(config.state_dir, Path::new("/home/me/state"));
    assert_eq!(config.schemas.as_deref(), Some("Schemas"));
    assert_eq!(config.model, "minilm");
    assert_eq!(config.upkeep.index_notes, ["Projects/Index.md", "Areas/README.md"]);
    assert_eq!(config.upkeep.log_note.as_deref(), Some("Log.md"));
    assert_eq!((config.access.source_paths, config.access.source_marks.len()), (vec!["Sources".to_owned()], 2));
    assert!(config.access.read_only && config.tools.dotted_names);
    assert_eq!(config.access.read_paths, Some(vec!["Notes, old".into(), "Work".into()]));
    assert_eq!(config.access.write_paths, Some(vec!["a".into(), "b".into()]));
    assert_eq!(
        (config.access.hide_excluded, config.access.skip_folders),
        (true, vec!["target".into(), "build".into()])
    );
    assert_eq!(config.tools.include, Some(vec!["default".into(), "file.read".into()]));
    assert!(!config.ask_before_deleting && !config.approval.pending);
    assert_eq!((config.profile.as_str(), config.skills.as_deref()), ("scribe", Some("Skills")));
    assert_eq!(config.guide, GuideChoice::Note("Meta/Guide.md".into()));
    assert_eq!((config.folders["Work, old"].as_str(), config.sources.as_str()), ("Finished projects", "Read"));
    assert_eq!(config.imports.as_deref(), Some(Path::new("/home/me/Scans")));
    assert_eq!(config.authorities.as_deref(), Some(Path::new("/home/me/proxy.pem")));
    assert_eq!(config.profiles["scribe"].allow, ["read", "str_replace"]);
    assert_eq!((config.tokens[0].name.as_str(), config.tokens[0].profile.as_deref()), ("phone", Some("reader")));
    assert_eq!(config.approval.rules[0].tool.as_deref(), Some("file_move"));
    let tls = config.http.tls.unwrap();
    assert_eq!((tls.certificate, tls.key), ("/home/me/cert.pem".into(), "/etc/key.pem".into()));
    assert!(config.http.metrics.served && config.http.metrics.token.is_some());
    assert!(config.rest.is_served && config.rest.is_plain_too && config.rest.plain_address.is_some());
    let app = AppConfig {
        is_used: false,
        commands: true,
        key: None,
        url: Some("https://127.0.0.1:2".into()),
        verifies_publicly: Some(true),
        timeout: Duration::from_millis(3),
        omnisearch_url: Some("http://localhost:4".into()),
    };
    assert_eq!(config.app, app);
    assert_eq!((config.web.hosts.len(), config.web.private_hosts.len(), config.web.max_bytes), (2, 1, 6));
    assert_eq!(config.web.search_url.as_deref(), Some("http://127.0.0.1:8888/search"));
    assert_eq!(config.web.timeout, Duration::from_millis(5));
    assert_eq!(config.mcp.servers[0].name, "issues");
    let otlp = config.otlp.unwrap();
    assert_eq!((otlp.traces, otlp.metrics), ("https://traces.example/in".into(), "https://metrics.example/in".into()));
    assert_eq!((otlp.service_name, otlp.service_version), ("notes".into(), "7".into()));
    assert_eq!(otlp.sampled_per_million, 250_000);
    let repetition = config.repetition;
    assert_eq!((repetition.window, repetition.allowed, repetition.max_failures), (20, 4, 5));
    assert_eq!((config.approval.write, config.approval.destroy), (RuleDecision::Deny, RuleDecision::Allow));
    assert_eq!((config.limits.max_file_bytes, config.limits.max_reply_bytes), (16, 4096));
    assert_eq!((config.limits.max_files_scanned, config.limits.max_bytes_read), (6, 7));
    assert_eq!(config.limits.max_bulk_ops, 8);
    assert_eq!((config.limits.text_memory_bytes, config.limits.checkpoint_bytes), (5, 8));
    assert_eq!((config.limits.meaning_memory_bytes, config.limits.document_text_bytes), (12, 13));
    assert_eq!(config.limits.checkpoint_age, Duration::from_secs(3 * 24 * 60 * 60));
    assert_eq!((config.http.port, config.http.body.bytes), (8080, None));
    assert_eq!(config.http.session_mode, SessionMode::Stateless);
    assert_eq!(config.limits.audit_max_bytes, 2000);
    let folder = Some(Path::new("/home/me/logs").to_owned());
    let log = LogSettings { level: LogLevel::Debug, format: LogFormat::Json, folder, max_bytes: 3000 };
    assert_eq!(config.log, log);
    for key in settings::all().filter_map(|setting| setting.key) {
        let last = key.rsplit('.').next().unwrap();
        assert!(text.contains(last), "{key} is not in the example");
    }
}

#[test]
fn the_file_is_found_in_the_configuration_folder_of_the_platform() {
    let text = "[http]\nport = 7\n";
    let mac = Machine::with_vault().platform(Platform::MacOs, "/Users/me");
    let trusted = |text: &str| Machine::with_vault().variable("LAPIDARY_ENV_FILE", ".env").dotenv(text);
    let windows = || {
        let machine = Machine::new().platform(Platform::Windows, r"C:\Users\me").folder("C:/V");
        machine.words(&["--vault", r"C:\V"])
    };
    for machine in [
        Machine::with_vault().file("/home/me/.config/lapidary/lapidary.toml", text),
        Machine::with_vault().variable("XDG_CONFIG_HOME", "/xdg").file("/xdg/lapidary/lapidary.toml", text),
        mac.file("/Users/me/Library/Application Support/lapidary/lapidary.toml", text),
        windows().variable("APPDATA", r"D:\Roaming").file("D:/Roaming/lapidary/lapidary.toml", text),
        windows().file("C:/Users/me/AppData/Roaming/lapidary/lapidary.toml", text),
        Machine::with_vault().words(&["--config", "my.toml"]).file("/work/my.toml", text),
        Machine::with_vault().words(&["--config", "~/my.toml"]).file("/home/me/my.toml", text),
        Machine::with_vault().variable("LAPIDARY_CONFIG", "/etc/lapidary").file("/etc/lapidary", text),
        trusted("LAPIDARY_CONFIG=my.toml").file("/work/my.toml", text),
        trusted("LAPIDARY_CONFIG=no.toml\nLAPIDARY_CONFIG=my.toml").file("/work/my.toml", text),
    ] {
        assert_eq!(machine.config().http.port, 7);
    }
}

#[test]
fn a_named_file_replaces_the_one_in_the_configuration_folder() {
    let machine = Machine::with_vault()
        .toml("[http]\nport = 1\n[log]\nlevel = \"debug\"\n")
        .variable("LAPIDARY_CONFIG", "/b.toml")
        .file("/b.toml", "[http]\nport = 2\n")
        .file("/c.toml", "[http]\nport = 3\n");
    assert_eq!((machine.config().http.port, machine.config().log.level), (2, LogLevel::Info));
    assert_eq!(machine.words(&["--config", "/c.toml"]).config().http.port, 3);
}

#[test]
fn a_missing_default_file_is_fine_and_a_missing_named_one_is_not() {
    assert!(Machine::with_vault().load().is_ok());
    for machine in [
        Machine::with_vault().words(&["--config", "/none.toml"]),
        Machine::with_vault().variable("LAPIDARY_CONFIG", "/none.toml"),
    ] {
        assert_holds(&machine.error(), &["/none.toml", "cannot be read"]);
    }
    let unreadable = Machine::with_vault().unreadable("/home/me/.config/lapidary/lapidary.toml");
    assert_holds(&unreadable.error(), &["lapidary.toml", "cannot be read"]);
}

#[test]
fn a_file_that_cannot_be_parsed_says_where() {
    let error = Machine::with_vault().toml("[http]\nport = = 1\n").error();
    assert_holds(&error, &["lapidary.toml", "not valid TOML", "line 2"]);
    let json = |text: &str| Machine::with_vault().words(&["--config", "/v.json"]).file("/v.json", text).error();
    assert_holds(&json("{\"vaults\": "), &["/v.json", "not valid JSON", "line 1"]);
    assert_holds(&json("[]"), &["/v.json", "must be an object"]);
}

#[test]
fn an_unknown_key_is_an_error_with_the_nearest_known_one() {
    for (text, key, meant) in [
        ("[http]\nprot = 1\n", "`http.prot`", "`http.port`"),
        ("port = 1\n", "`port`", "`http.port`"),
        ("[acess]\nread_only = true\n", "`acess`", "`access`"),
        ("read_only = true\n", "`read_only`", "`access.read_only`"),
        ("MCP_HTTP_PORT = 1\n", "`MCP_HTTP_PORT`", "`http.port`"),
        ("[vault]\na = \"/b\"\n", "`vault`", "`vaults`"),
        ("[http.port]\nx = 1\n", "`http.port`", "expected one value, found a table"),
        ("http = 1\n", "`http`", "expected a table, found one value"),
        ("zzzzzzzz = 1\n", "`zzzzzzzz`", "`lapidary config show --all` lists them"),
    ] {
        assert_holds(&Machine::with_vault().toml(text).error(), &["lapidary.toml", key, meant]);
    }
}

#[test]
fn a_wrong_value_names_its_file_and_key() {
    for (text, parts) in [
        ("[http]\nport = \"http\"\n", ["`http.port`", "'http'"]),
        ("[http]\nport = [1]\n", ["`http.port`", "found a list"]),
        ("[access]\nread_only = \"maybe\"\n", ["`access.read_only`", "'maybe'"]),
        ("[access]\nread_paths = []\n", ["`access.read_paths`", "empty list"]),
        ("[access]\nread_paths = [\"../x\"]\n", ["`access.read_paths`", "'../x'"]),
        ("[access.read_paths]\na = 1\n", ["`access.read_paths`", "expected a list, found a table"]),
        ("[approval]\nwrite = \"perhaps\"\n", ["`approval`", "'perhaps'"]),
        ("[approval]\nread = \"ask\"\n", ["`approval`", "'read'"]),
        ("[vaults]\na = [\"/b\"]\n", ["`vaults`", "found a list"]),
        ("[vaults]\na = \"\"\n", ["`vaults`", "has no path"]),
        ("[vaults]\n\"\" = \"/b\"\n", ["`vaults`", "empty name"]),
    ] {
        assert_holds(&Machine::new().toml(text).error(), &["lapidary.toml", parts[0], parts[1]]);
    }
}

#[test]
fn the_json_of_the_old_server_is_understood_where_it_is_named() {
    let text = r#"{"vaults": {"b": "/work/Notes", "a": "Other"}}"#;
    for name in ["/old.json", "/old.conf"] {
        let machine = Machine::new().folder("/work/Other").words(&["--config", name]).file(name, text);
        assert_eq!(machine.vaults(), ["b=/work/Notes", "a=/work/Other"]);
    }
    let more = Machine::new().words(&["--config", "/o.json"]).file("/o.json", r#"{"vault": {"a": "/work/Notes"}}"#);
    assert_holds(&more.error(), &["/o.json", "`vault`", "`vaults`"]);
}

#[test]
fn the_old_default_place_is_read_too_and_is_the_weakest() {
    let old = "/home/me/.config/obsidian-native-mcp/vaults.json";
    let machine = || {
        let text = r#"{"vaults": {"old": "/work/Notes"}, "version": 1, "vaults_note": null}"#;
        Machine::new().folder("/work/B").file(old, text)
    };
    assert_eq!(machine().vaults(), ["old=/work/Notes"]);
    assert_eq!(machine().toml("[vaults]\nnew = \"B\"\n").vaults(), ["new=/work/B"]);
    assert_eq!(machine().toml("[http]\nport = 1\n").vaults(), ["old=/work/Notes"]);
    assert_eq!(machine().variable("OBSIDIAN_VAULT_PATHS", "/work/B").vaults(), ["B=/work/B"]);
    let named = machine().words(&["--config", "/c.toml"]).file("/c.toml", "[vaults]\nc = \"B\"\n");
    assert_eq!(named.vaults(), ["c=/work/B"]);
    assert_holds(&Machine::new().file(old, "{").error(), &[old, "not valid JSON"]);
}

/// A client could otherwise open everything with the next start.
#[test]
fn a_file_that_decides_about_the_server_is_named_and_reported_in_a_vault() {
    let inside = Machine::with_vault().words(&["--config", "Notes/l.toml"]).file("/work/Notes/l.toml", "");
    assert_eq!(inside.config().own_files, [std::path::PathBuf::from("/work/Notes/l.toml")]);
    assert_holds(&inside.warnings()[0], &["/work/Notes/l.toml", "is in a vault"]);
    let outside = Machine::with_vault().words(&["--config", "l.toml"]).file("/work/l.toml", "");
    assert_eq!((outside.config().own_files.len(), outside.warnings()), (1, vec![]));
}
