//! Tests of environment variables and `.env`.

use super::*;
use crate::{dotenv, inert};

#[test]
fn dotenv_lines_are_read_in_every_usual_form() {
    for (line, name, value) in [
        ("A=b", "A", "b"),
        ("A = b ", "A", "b"),
        ("export A=b", "A", "b"),
        ("export\tA=b", "A", "b"),
        ("exported=b", "exported", "b"),
        ("A=", "A", ""),
        ("A=b=c", "A", "b=c"),
        ("A=\"b c\"", "A", "b c"),
        ("A='b # c' # d", "A", "b # c"),
        ("A=\"it's\"", "A", "it's"),
        (r#"A="C:\new\""#, "A", r"C:\new\"),
        ("A=b # c", "A", "b"),
        ("A=b#c", "A", "b#c"),
        ("A= # c", "A", ""),
        ("A=größe", "A", "größe"),
    ] {
        let parsed = dotenv::parse(line);
        let found: Vec<_> = parsed.lines.iter().map(|line| (line.name.as_str(), line.value.as_str())).collect();
        assert_eq!((found, parsed.broken), (vec![(name, value)], vec![]), "{line}");
    }
}

#[test]
fn dotenv_files_may_have_comments_blank_lines_a_bom_and_any_line_ends() {
    let parsed = dotenv::parse("\u{feff}# head\r\n\r\nA=1\r\n  # more\r\nB=\"2\"\r\n");
    let found: Vec<_> =
        parsed.lines.iter().map(|line| (line.number, line.name.as_str(), line.value.as_str())).collect();
    assert_eq!(found, [(3, "A", "1"), (5, "B", "2")]);
    assert!(parsed.broken.is_empty());
}

#[test]
fn a_broken_line_is_a_warning_with_its_number_and_without_its_text() {
    for line in ["secret", "=secret", "1A=secret", "A B=secret", "A=\"secret", "A='secret' x", "export =secret"] {
        let machine = Machine::with_vault().dotenv(&format!("# head\n{line}\nMCP_HTTP_PORT=5\n"));
        assert_eq!(machine.warnings(), ["/work/.env, line 2, is not NAME=VALUE and was skipped"], "{line}");
        assert_eq!(machine.config().http.port, 5);
    }
}

#[test]
fn the_last_line_of_a_name_wins_and_a_wrong_value_names_its_line() {
    let machine = Machine::with_vault().dotenv("MCP_HTTP_PORT=5\nMCP_HTTP_PORT=6\n");
    assert_eq!(machine.config().http.port, 6);
    let error = Machine::with_vault().dotenv("\nMCP_HTTP_PORT=x\n").error();
    assert_holds(&error, &["MCP_HTTP_PORT in /work/.env, line 2", "'x'"]);
}

#[test]
fn a_dotenv_that_cannot_be_read_is_a_warning() {
    let warnings = Machine::with_vault().unreadable("/work/.env").warnings();
    assert_eq!(warnings.len(), 1);
    assert_holds(&warnings[0], &["/work/.env", "could not be read"]);
}

#[test]
fn an_unknown_variable_of_ours_is_named_with_the_nearest_known_one() {
    for (name, meant) in [
        ("OBSIDIAN_VAULT_PATH", Some("OBSIDIAN_VAULT_PATHS")),
        ("OBSIDIAN_READONLY", Some("OBSIDIAN_READ_ONLY")),
        ("MCP_PORT", Some("MCP_HTTP_PORT")),
        ("MCP_LOGLEVEL", Some("MCP_LOG_LEVEL")),
        ("LAPIDARY_TOOL", Some("LAPIDARY_TOOLS")),
        ("LAPIDARY_CONFIGURATION", Some("LAPIDARY_CONFIG")),
        ("MCP_QQQQQQQQQQQQQQ", None),
    ] {
        let expected = match meant {
            Some(meant) => format!("{name} is not a Lapidary variable; did you mean {meant}?"),
            None => format!("{name} is not a Lapidary variable"),
        };
        assert_eq!(Machine::with_vault().variable(name, "secret").warnings(), [expected.as_str()]);
        assert_eq!(Machine::with_vault().dotenv(&format!("{name}=secret")).warnings(), [expected.as_str()]);
        assert!(Machine::with_vault().variable(name, "").warnings().is_empty());
    }
}

#[test]
fn a_variable_in_both_places_is_named_once() {
    let machine = Machine::with_vault().variable("MCP_RESPONSE_VERBOSITY", "x").dotenv("MCP_RESPONSE_VERBOSITY=y");
    assert_eq!(machine.warnings().len(), 1);
}

#[test]
fn variables_of_other_programs_are_ignored() {
    let machine = Machine::with_vault()
        .variable("PATH", "/bin")
        .variable("DATABASE_URL", "x")
        .variable("NODE_ENV", "production")
        .variable("MCP_TIMEOUT", "5000")
        .variable("OTEL_SERVICE_NAME", "y")
        .dotenv("SECRET=1\nOBSIDIAN=2\n");
    assert!(machine.warnings().is_empty(), "{:?}", machine.warnings());
}

#[test]
fn variables_without_effect_are_reported_when_set() {
    for (name, part) in [
        ("MCP_HEARTBEAT_MISS_THRESHOLD", "heartbeat"),
        ("DEV_MCP_AUTH_BYPASS", "bypassed"),
        ("TOOL_TIMEOUT_MS", "use MCP_DEADLINE_MS"),
        ("OBSIDIAN_ENABLE_CACHE", "version 2"),
    ] {
        let warnings = Machine::with_vault().variable(name, "secret").warnings();
        assert_eq!(warnings.len(), 1, "{name}");
        assert_holds(&warnings[0], &[name, "is set, but", part]);
        assert!(!warnings[0].contains("secret"));
    }
}

#[test]
fn no_variable_is_in_two_tables() {
    let mut names: Vec<_> = settings::all().filter_map(|setting| setting.variable).chain(inert::names()).collect();
    names.push("LAPIDARY_CONFIG");
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn every_variable_of_the_contracts_is_known() {
    let contract = "OBSIDIAN_API_KEY OBSIDIAN_BASE_URL OBSIDIAN_VERIFY_SSL OBSIDIAN_REQUEST_TIMEOUT_MS \
        OBSIDIAN_ENABLE_COMMANDS OBSIDIAN_READ_PATHS OBSIDIAN_WRITE_PATHS OBSIDIAN_DENY_PATHS OBSIDIAN_READ_ONLY \
        OBSIDIAN_OMNISEARCH_URL OBSIDIAN_DELETE_ELICITATION MCP_TRANSPORT_TYPE MCP_HTTP_HOST MCP_HTTP_PORT \
        MCP_HTTP_ENDPOINT_PATH MCP_HTTP_MAX_PORT_RETRIES MCP_HTTP_PORT_RETRY_DELAY_MS MCP_HTTP_MAX_BODY_BYTES \
        MCP_PUBLIC_URL MCP_ALLOWED_ORIGINS MCP_SESSION_MODE MCP_STATEFUL_SESSION_STALE_TIMEOUT_MS \
        MCP_HEARTBEAT_INTERVAL_MS MCP_HEARTBEAT_MISS_THRESHOLD MCP_GC_PRESSURE_INTERVAL_MS MCP_RESPONSE_VERBOSITY \
        MCP_AUTH_MODE MCP_AUTH_SECRET_KEY MCP_JWT_EXPECTED_ISSUER MCP_JWT_EXPECTED_AUDIENCE \
        MCP_AUTH_DISABLE_SCOPE_CHECKS OAUTH_ISSUER_URL OAUTH_AUDIENCE OAUTH_JWKS_URI OAUTH_JWKS_COOLDOWN_MS \
        OAUTH_JWKS_TIMEOUT_MS MCP_SERVER_RESOURCE_IDENTIFIER DEV_MCP_AUTH_BYPASS DEV_MCP_CLIENT_ID DEV_MCP_SCOPES \
        MCP_LOG_LEVEL LOGS_DIR LOG_LLM_INTERACTIONS MCP_LOG_RATE_LIMIT_THRESHOLD MCP_LOG_RATE_LIMIT_WINDOW_MS NODE_ENV \
        MCP_SERVER_NAME MCP_SERVER_VERSION MCP_SERVER_DESCRIPTION MCP_SERVER_HOMEPAGE OTEL_ENABLED \
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_METRICS_ENDPOINT OTEL_SERVICE_NAME OTEL_SERVICE_VERSION \
        OTEL_TRACES_SAMPLER_ARG OTEL_LOG_LEVEL OTEL_EXPORTER_OTLP_ENDPOINT STORAGE_PROVIDER_TYPE \
        STORAGE_FILESYSTEM_PATH OBSIDIAN_VAULT_PATHS MCP_MAX_FILES_SCANNED MCP_MAX_BYTES_READ MCP_MAX_BULK_OPS \
        MCP_DEADLINE_MS VERIFY_SSL OBSIDIAN_PROTOCOL OBSIDIAN_HOST OBSIDIAN_PORT REQUEST_TIMEOUT MAX_CONTENT_LENGTH \
        MAX_BODY_LENGTH RATE_LIMIT_WINDOW_MS RATE_LIMIT_MAX_REQUESTS TOOL_TIMEOUT_MS";
    let known: Vec<_> = settings::all().filter_map(|setting| setting.variable).chain(inert::names()).collect();
    for name in contract.split_whitespace() {
        assert!(known.contains(&name), "{name}");
    }
}

#[test]
fn variable_names_have_no_case_on_windows() {
    let machine = Machine::new().platform(Platform::Windows, r"C:\Users\me").words(&["--demo"]);
    assert_eq!(machine.variable("mcp_http_port", "5").config().http.port, 5);
    let linux = Machine::with_vault().variable("mcp_http_port", "5");
    assert_eq!(linux.config().http.port, 3010);
}

const WIDENING: &str =
    "OBSIDIAN_DENY_PATHS=x\nLAPIDARY_APPROVAL=destroy=allow\nLAPIDARY_STATE_DIR=/work/.state\nMCP_HTTP_PORT=5\n";

/// Clients start a server in the folder of the project that is open.
#[test]
fn a_dotenv_of_a_project_decides_nothing_about_access() {
    let vault = "[vaults]\nNotes = \"/work/Notes\"\n";
    let machines = [
        Machine::with_vault(),
        Machine::new().toml(vault),
        Machine::new().file("/own.toml", vault).words(&["--config", "/own.toml"]),
        Machine::new().variable("OBSIDIAN_VAULT_PATHS", "/work/Notes"),
        Machine::new()
            .file("/home/me/.config/obsidian-native-mcp/vaults.json", r#"{"vaults": {"Notes": "/work/Notes"}}"#),
        // Nothing chooses a vault but Obsidian's own list.
        Machine::new().file("/home/me/.config/obsidian/obsidian.json", r#"{"vaults": {"a": {"path": "/work/Notes"}}}"#),
    ];
    for machine in machines {
        let before = machine.config();
        let machine = machine.dotenv(WIDENING);
        let config = machine.config();
        assert_eq!(config.http.port, 5, "what opens nothing counts");
        assert_eq!(
            (config.access, config.approval, config.state_dir),
            (before.access, before.approval, before.state_dir)
        );
        let warnings = machine.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_holds(
            &warnings[0],
            &["OBSIDIAN_DENY_PATHS, LAPIDARY_APPROVAL, LAPIDARY_STATE_DIR", "/work/.env", "LAPIDARY_ENV_FILE"],
        );
    }
}

#[test]
fn a_dotenv_that_cannot_choose_the_vault_cannot_choose_the_file_either() {
    let machine =
        Machine::with_vault().file("/evil.toml", "profile = \"curator\"\n").dotenv("LAPIDARY_CONFIG=/evil.toml\n");
    assert_eq!(machine.config().profile, Machine::with_vault().config().profile);
}

#[test]
fn a_dotenv_that_is_the_whole_setup_or_is_named_counts() {
    let whole = Machine::new().dotenv("OBSIDIAN_VAULT_PATHS=/work/Notes\nOBSIDIAN_DENY_PATHS=x\n");
    assert_eq!((whole.config().access.deny_paths.map_or(0, |paths| paths.len()), whole.warnings()), (1, vec![]));
    for name in [".env", "/work/.env"] {
        let named = Machine::with_vault().dotenv(WIDENING).variable("LAPIDARY_ENV_FILE", name);
        assert_eq!((named.config().access.deny_paths.map_or(0, |paths| paths.len()), named.warnings()), (1, vec![]));
    }
    // A file cannot vouch for itself.
    let own = Machine::with_vault().dotenv("LAPIDARY_ENV_FILE=.env\nOBSIDIAN_DENY_PATHS=x\n");
    assert_eq!(own.config().access.deny_paths, None);
    let missing = Machine::with_vault().variable("LAPIDARY_ENV_FILE", "other.env").warnings();
    assert_holds(&missing[0], &["/work/other.env", "could not be read"]);
}

#[test]
fn a_dotenv_can_make_the_server_read_only_and_not_the_opposite() {
    assert!(Machine::with_vault().dotenv("OBSIDIAN_READ_ONLY=true\n").config().access.read_only);
    let machine = Machine::new().toml("[vaults]\nNotes = \"/work/Notes\"\n[access]\nread_only = true\n");
    assert!(machine.dotenv("OBSIDIAN_READ_ONLY=false\n").config().access.read_only);
}
