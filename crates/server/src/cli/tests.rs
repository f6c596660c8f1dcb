//! Tests of the command line syntax.

use super::*;

use std::collections::BTreeSet;

fn line(words: &str) -> Result<Invocation, clap::Error> {
    parse(std::iter::once("lapidary").chain(words.split_whitespace()))
}

fn flags(words: &str) -> CommonFlags {
    line(words).unwrap().flags
}

#[test]
fn serve_is_the_default_command() {
    for words in ["", "serve", "--vault a", "serve --vault a", "--http", "--vault a serve"] {
        assert_eq!(line(words).unwrap().command, Command::Serve, "{words}");
    }
}

#[test]
fn every_subcommand_takes_the_same_options_before_and_after_its_name() {
    let options = "--vault a --vault n=b --config c.toml --read-only --tools x,y --tools z --exclude-tools w \
                   --dotted-names --any-folder --demo --profile reader";
    let expected = CommonFlags {
        vaults: vec!["a".into(), "n=b".into()],
        demo: true,
        config: Some("c.toml".into()),
        read_only: true,
        tools: vec!["x".into(), "y".into(), "z".into()],
        exclude_tools: vec!["w".into()],
        profile: Some("reader".into()),
        dotted_names: true,
        any_folder: true,
        vaults_found_in: None,
        http: None,
        insecure_no_auth: false,
        public_url: None,
        sse: false,
        tls_cert: None,
        tls_key: None,
        rest: None,
        rest_http: false,
    };
    for word in [
        "",
        "serve",
        "call some_tool",
        "tools",
        "vaults",
        "audit",
        "install",
        "uninstall cursor",
        "checkpoints list",
        "checkpoints",
        "read a",
        "append a b",
        "links a",
        "health",
        "undo",
        "log",
        "status",
        "config show",
        "search x",
        "query x",
        "doctor --health",
        "approvals",
        "approvals show 1",
    ] {
        assert_eq!(flags(&format!("{word} {options}")), expected, "{word}");
        assert_eq!(flags(&format!("{options} {word}")), expected, "{word}");
    }
}

#[test]
fn options_on_both_sides_of_a_subcommand_add_up() {
    let flags = flags("--vault a --tools x --read-only tools --vault b --tools y --dotted-names");
    assert_eq!(flags.vaults, ["a", "b"]);
    assert_eq!(flags.tools, ["x", "y"]);
    assert!(flags.read_only && flags.dotted_names);
}

#[test]
fn http_takes_an_address_in_every_usual_form() {
    let address = |host: &str, port| lapidary_config::HttpAddress { host: host.parse().ok(), port };
    for (words, expected) in [
        ("--http", address("", None)),
        ("serve --http", address("", None)),
        ("--http 3010", address("", Some(3010))),
        ("serve --http 3010", address("", Some(3010))),
        ("serve --http=:3010", address("", Some(3010))),
        ("serve --http 127.0.0.1:3010", address("127.0.0.1", Some(3010))),
        ("serve --http [::1]:3010", address("::1", Some(3010))),
        ("serve --http 127.0.0.1", address("127.0.0.1", None)),
        ("serve --http ::1", address("::1", None)),
        ("serve --http [::1]", address("::1", None)),
        ("serve --http localhost:0", address("127.0.0.1", Some(0))),
        ("serve --http ${user_config.port}", address("", None)),
        // Parsed here, refused by the configuration, which knows why.
        ("serve --http 0.0.0.0:80", address("0.0.0.0", Some(80))),
        ("--http --vault a", address("", None)),
    ] {
        assert_eq!(flags(words).http, Some(expected), "{words}");
    }
    assert_eq!(flags("serve").http, None);
}

#[test]
fn the_arguments_of_a_call_are_an_object_or_come_from_standard_input() {
    let input = |words: &[&str]| match parse(["lapidary", "call", "file.read"].iter().chain(words)).unwrap().command {
        Command::Call(CallArguments { tool, input }) => (tool, input),
        other => panic!("{other:?}"),
    };
    let tool = || "file.read".to_owned();
    assert_eq!(input(&[]), (tool(), CallInput::Json(serde_json::Map::new())));
    assert_eq!(input(&["-"]), (tool(), CallInput::Stdin));
    let Some(expected) = serde_json::json!({"path": "A note.md"}).as_object().cloned() else { unreachable!() };
    assert_eq!(input(&[r#"{"path": "A note.md"}"#]), (tool(), CallInput::Json(expected)));
}

#[test]
fn listings_and_the_log_have_their_own_options() {
    for (words, command) in [
        ("tools", Command::Tools(ToolsArguments { name: None, json: false })),
        ("tools --json", Command::Tools(ToolsArguments { name: None, json: true })),
        ("tools outline", Command::Tools(ToolsArguments { name: Some("outline".into()), json: false })),
        (
            "install zed cursor --http http://x/mcp --dry-run",
            Command::Install(InstallArguments {
                clients: vec!["zed".into(), "cursor".into()],
                http: Some("http://x/mcp".into()),
                dry_run: true,
                ..InstallArguments::default()
            }),
        ),
        ("vaults --json", Command::Vaults(ListArguments { json: true })),
        (
            "search slate roof --json --limit 3 --or tiles",
            Command::Search(Search {
                query: vec!["slate".into(), "roof".into()],
                alternatives: vec!["tiles".into()],
                explain: false,
                limit: 3,
                json: true,
            }),
        ),
        (
            "query Books.base --view Open --csv --limit 5",
            Command::Query(QueryArguments {
                query: vec!["Books.base".into()],
                view: Some("Open".into()),
                limit: Some(5),
                printed: PrintedFormat { csv: true, ..PrintedFormat::default() },
                ..QueryArguments::default()
            }),
        ),
        ("log", Command::Log(LogArguments { limit: 50, ..LogArguments::default() })),
        ("audit", Command::Log(LogArguments { limit: 50, ..LogArguments::default() })),
        (
            "audit --follow --limit 3 --json --since 2h --failed",
            Command::Log(LogArguments {
                follow: true,
                limit: 3,
                json: true,
                failed: true,
                since: Some(TimeSpan(7200)),
                ..LogArguments::default()
            }),
        ),
        ("undo --count 3 -y", Command::Undo(UndoArguments { count: Some(3), yes: true, ..UndoArguments::default() })),
        (
            "append Roof --heading Plan -- - [ ] pay",
            Command::Append(AppendArguments {
                note: "Roof".into(),
                text: ["-", "[", "]", "pay"].map(Into::into).to_vec(),
                part: NotePart { heading: Some("Plan".into()), ..NotePart::default() },
                ..AppendArguments::default()
            }),
        ),
        ("config", Command::Config(ConfigArguments { word: None })),
        ("checkpoints", Command::Checkpoints(Checkpoints::default())),
    ] {
        assert_eq!(line(words).unwrap().command, command, "{words}");
    }
}

#[test]
fn a_list_item_is_text_and_no_option() {
    let text = |words: &[&str]| match parse(words.iter().map(ToString::to_string)).unwrap().command {
        Command::Append(AppendArguments { text, part, dry_run, .. }) => (text.join("|"), part.heading, dry_run),
        other => panic!("{other:?}"),
    };
    let plan = Some("Plan".to_owned());
    assert_eq!(text(&["lapidary", "append", "Roof", "- [ ] pay"]), ("- [ ] pay".to_owned(), None, false));
    assert_eq!(
        text(&["lapidary", "append", "Roof", "- a", "b", "- c", "--heading", "Plan", "--dry-run"]),
        ("- a|b|- c".to_owned(), plan.clone(), true)
    );
    assert_eq!(
        text(&["lapidary", "append", "Roof", "--heading", "Plan", "--", "- a", "--b"]),
        ("- a|--b".to_owned(), plan, false)
    );
}

#[test]
fn wrong_usage_ends_with_code_two_and_says_what_is_wrong() {
    for (words, part) in [
        ("--bogus", "--bogus"),
        ("bogus", "bogus"),
        ("--vault", "--vault"),
        ("--config a --config b", "--config"),
        ("--config a tools --config b", "--config is given twice"),
        ("--profile a checkpoints --profile b list", "--profile is given twice"),
        ("--http 1 serve --http 2", "--http is given twice"),
        ("--rest 1 serve --rest 2", "--rest is given twice"),
        ("--http 3010 tools", "does not listen"),
        ("tools --http", "--http"),
        ("--http serve", "expected a port"),
        ("--http 99999", "expected a port"),
        ("--http example.org:80", "expected a port"),
        ("--http ::1:3010:x", "expected a port"),
        ("query", "DQL|FILE.base"),
        ("query x --csv --json", "--json"),
        ("log --since soon", "30m"),
        ("undo --count 0", "--count"),
        ("undo --id a --count 2", "--count"),
        ("read a --heading b --block c", "--block"),
        ("append a b --heding c", "--heding"),
        ("call", "TOOL"),
        ("call t {", "not JSON"),
        ("call t [1]", "JSON object"),
        ("audit --limit many", "--limit"),
        ("doctor --health --remote", "--remote"),
    ] {
        let error = line(words).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{words}");
        assert!(error.to_string().contains(part), "{words}: {error}");
    }
}

#[test]
fn help_and_version_are_not_failures() {
    for words in ["--help", "--version", "serve --help", "call --help"] {
        assert_eq!(line(words).unwrap_err().exit_code(), 0, "{words}");
    }
    assert!(line("--version").unwrap_err().to_string().contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_table_of_settings_and_the_command_line_know_the_same_flags() {
    let mut known: BTreeSet<String> = lapidary_config::flag_names().map(str::to_owned).collect();
    known.insert("--config".into());
    known.insert("--color".into());
    let declared: BTreeSet<String> = declaration()
        .get_arguments()
        .filter_map(|argument| argument.get_long())
        .map(|long| format!("--{long}"))
        .collect();
    assert_eq!(known, declared);
}

#[test]
fn the_declaration_is_consistent() {
    declaration().debug_assert();
}

#[test]
fn help_is_short_with_h_and_has_examples_with_help() {
    for command in declaration().get_subcommands() {
        let name = command.get_name();
        let [short, long] = ["-h", "--help"].map(|option| line(&format!("{name} {option}")).unwrap_err().to_string());
        assert!(short.lines().count() < 45, "{name}: {short}");
        assert!(!short.contains("--dotted-names"), "{name}: {short}");
        assert_eq!(short.lines().next(), command.get_about().map(ToString::to_string).as_deref(), "{name}: {short}");
        let has_examples = match name {
            // It says for each shell where the line goes.
            "completions" => long.contains("source <(lapidary completions bash)"),
            name => {
                long.split_once("Examples:").is_some_and(|(_, examples)| examples.contains(&format!("lapidary {name}")))
            }
        };
        assert!(has_examples, "{name}: {long}");
    }
}
