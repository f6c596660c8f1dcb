//! What a person sees: each command on a terminal of 80 and of 120 columns, in colours and without, with hostile names and notes.

mod setting_up;

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    process::{Command, Stdio},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize},
};
use serde_json::{Value, json};

use crate::harness::Vault;

const NOTES: &[(&str, &[u8])] = &[
    (
        "Projects/Roof.md",
        "---\nstatus: open\ndue: 2026-05-01\n---\n# Roof\n\nThe slate roof leaks near the chimney, and the roofer says that the slate on the \
         north side has to be replaced before the winter. See [[Costs]] and [[Nowhere]].\n\n## Plan\n\n- [ ] call the roofer\n"
            .as_bytes(),
    ),
    ("Projects/Costs.md", b"---\nstatus: done\n---\n# Costs\n\n| what | price |\n|---|---|\n| slate | 900 |\n\nFor the [[Roof]].\n"),
    ("日記/二〇二六年の屋根の修理についての長い題名のノート.md", "# 屋根\n\nslate は石です。[[Roof]]\n".as_bytes()),
];

/// What a terminal shows, and the exit code.
struct Seen {
    text: String,
    code: Option<i32>,
    /// With everything that was drawn over.
    raw: String,
}

/// Runs a command on its own terminal, with everything that will be typed there.
fn on_terminal(mut command: Command, columns: u16, typed: &str) -> Seen {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    tcsetwinsize(&master, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let no_controlling = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
    let place = std::ffi::OsStr::from_bytes(name.as_bytes());
    let slave: File = OpenOptions::new().read(true).write(true).custom_flags(no_controlling).open(place).unwrap();
    // Typed text is there before it is asked for; its echo would be anywhere in the output.
    let mut modes = tcgetattr(&slave).unwrap();
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    let stdio = || Stdio::from(slave.try_clone().unwrap());
    let mut child = command.env("TZ", "UTC").stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
    drop((command, slave));
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    // Linux reports the end of a terminal as an error.
    while let Ok(read @ 1..) = master.read(&mut part) {
        bytes.extend_from_slice(&part[..read]);
    }
    let code = child.wait().unwrap().code();
    let raw = String::from_utf8(bytes).unwrap();
    Seen { text: without_progress(&raw), code, raw }
}

/// Whether a progress bar is drawn depends on how busy the machine is; nothing of it stays on the screen.
fn without_progress(output: &str) -> String {
    let line = |line: &str| line.rsplit("\r\u{1b}[K").next().unwrap_or_default().to_owned() + "\n";
    output.replace("\r\n", "\n").lines().map(line).collect()
}

struct Desk {
    vault: Vault,
    /// Texts that differ from run to run, and what stands for them, as wide.
    replaced: Vec<(String, String)>,
}

impl Desk {
    fn new(notes: &[(&str, &[u8])]) -> Self {
        let vault = Vault::new(notes);
        std::fs::create_dir(vault.path().join(".obsidian")).unwrap();
        // The newer of two equal hits is first, and how far apart these are written depends on the machine.
        let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        for (path, _) in notes {
            let file = std::fs::File::options().write(true).open(vault.path().join(path)).unwrap();
            file.set_modified(written).unwrap();
        }
        let around = vault.path().parent().unwrap().to_str().unwrap().to_owned();
        let replaced = vec![(around, "/home/ana".to_owned())];
        Self { vault, replaced }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.vault.command();
        command.args(arguments).env("OBSIDIAN_VAULT_PATHS", self.vault.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// Makes two changes, and gives their ids names.
    fn changed() -> Self {
        let mut desk = Self::new(NOTES);
        for (tool, arguments) in [
            ("str_replace", json!({ "file": "Projects/Roof.md", "find": "open", "replace": "done" })),
            ("file_move", json!({ "from": "Projects/Costs.md", "to": "Archive/Costs.md" })),
        ] {
            assert!(desk.run(&["call", tool, &arguments.to_string()]).status.success());
        }
        let list = desk.json(&["checkpoints", "list", "--json"]);
        for (index, change) in list["checkpoints"].as_array().unwrap().iter().enumerate() {
            let id = change["id"].as_str().unwrap().to_owned();
            let name = format!("{:c<width$}", format!("{index}id"), width = id.len());
            desk.replaced.push((id, name));
        }
        desk
    }

    /// Writes a separate log, whose times and durations are known.
    fn with_log(self) -> Self {
        assert!(self.run(&["vaults"]).status.success());
        assert_eq!(self.run(&["read", "Roof"]).status.code(), Some(0));
        let state = self.vault.path().parent().unwrap().join("state");
        let folder = std::fs::read_dir(state)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.join("audit.jsonl").exists());
        let call = |ts: &str, client: &str, tool: &str, more: Value| {
            let mut call = json!({ "ts": ts, "client_id": client, "tool": tool, "vault": "Notes" });
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            call.to_string() + "\n"
        };
        let log = [
            call(
                "2026-01-02T10:00:00.000Z",
                "stdio:~Claude",
                "obsidian_get_note",
                json!({ "ok": true, "file": "Projects/Roof.md", "duration_ms": 3.2 }),
            ),
            call(
                "2026-01-02T10:00:09.000Z",
                "stdio:~Claude",
                "str_replace",
                json!({ "ok": true, "file": "Projects/Roof.md", "checkpoint": "a1", "duration_ms": 12.0 }),
            ),
            call(
                "2026-01-03T08:00:00.000Z",
                "http:~x\u{1b}[2J\u{202e}",
                "obsidian_patch_note",
                json!({ "ok": false, "reason": "section_target_missing", "file": "日記/二〇二六年の屋根の修理についての長い題名のノート.md", "duration_ms": 1.0 }),
            ),
            "{\"ts\":\"2026-01-03T09:00:00.000Z\",\"event\":\"late_save\",\"file\":\"a.md\"}\n".to_owned(),
        ];
        std::fs::write(folder.unwrap().join("audit.jsonl"), log.concat()).unwrap();
        self
    }

    fn see(&self, columns: u16, arguments: &[&str], typed: &str) -> Seen {
        let mut command = self.command(arguments);
        command.env("NO_COLOR", "1");
        self.known(on_terminal(command, columns, typed))
    }

    fn see_colours(&self, arguments: &[&str], typed: &str) -> Seen {
        let seen = self.known(on_terminal(self.command(arguments), 80, typed));
        Seen { text: seen.text.replace('\u{1b}', "␛"), ..seen }
    }

    fn known(&self, seen: Seen) -> Seen {
        let mut text = seen.text;
        for (found, stands) in &self.replaced {
            text = text.replace(found, stands);
        }
        // A busy machine may need minutes for a test.
        for minutes in 1..60 {
            text = text.replace(&format!("{:<10}", format!("{minutes} min ago")), "just now  ");
            text = text.replace(&format!("({minutes} min ago)"), "(just now)");
        }
        Seen { text: text.lines().map(|line| without_times(line) + "\n").collect(), ..seen }
    }
}

/// `2026-11-02 14:02:31` at any place becomes `<time>`.
fn without_times(line: &str) -> String {
    let pattern = b"0000-00-00 00:00:00";
    let is_time = |part: &[u8]| {
        part.iter()
            .zip(pattern)
            .all(|(found, wanted)| if *wanted == b'0' { found.is_ascii_digit() } else { found == wanted })
    };
    match line.as_bytes().windows(pattern.len()).position(is_time) {
        Some(at) => format!("{}<time>{}", &line[..at], &line[at + pattern.len()..]),
        None => line.to_owned(),
    }
}

/// Both widths, one below the other. No line is wider than its terminal, except those that are to be copied.
#[track_caller]
fn both(desk: &Desk, arguments: &[&str], typed: &str) -> String {
    let mut shown = String::new();
    for columns in [80, 120] {
        let Seen { text, code, .. } = desk.see(columns, arguments, typed);
        assert!(!text.contains('\u{1b}'), "{text:?}");
        shown += &format!("── {columns} columns, exit code {} ──\n{text}\n", code.unwrap());
    }
    shown
}

#[test]
fn commands_about_notes_as_people_see_them() {
    let desk = Desk::new(NOTES);
    for (name, arguments) in [
        ("search", &["search", "slate"][..]),
        ("search_nothing", &["search", "xyzzy"]),
        ("read", &["read", "Roof"]),
        ("read_heading", &["read", "Projects/Roof.md", "--heading", "Plan"]),
        ("read_outline", &["read", "Projects/Roof.md", "--outline"]),
        ("read_missing", &["read", "Rof"]),
        ("links", &["links", "Roof"]),
        ("tasks", &["tasks"]),
        ("query", &["query", "TABLE status, due FROM \"Projects\" SORT file.name"]),
        ("query_wrong", &["query", "TABLE WHERE )"]),
        ("append_dry_run", &["append", "Roof", "--heading", "Plan", "--dry-run", "--", "- [ ] pay"]),
        ("vaults", &["vaults"]),
        ("explain", &["explain", "note_missing"]),
        ("config", &["config", "show", "--read-only"]),
        ("tool_unknown", &["tools", "file_reed"]),
    ] {
        insta::assert_snapshot!(format!("terminal_{name}"), both(&desk, arguments, ""));
    }
}

#[test]
fn commands_about_changes_as_people_see_them() {
    let desk = Desk::changed();
    for (name, arguments, typed) in [
        ("checkpoints", &["checkpoints"][..], ""),
        ("undo_dry_run", &["undo", "--dry-run"], ""),
        ("undo_no", &["undo"], "n\n"),
        ("undo_list_none", &["undo"], "l\n\n"),
        ("checkpoints_missing", &["checkpoints", "diff", "zzzz"], ""),
        ("approvals_none", &["approvals"], ""),
    ] {
        insta::assert_snapshot!(format!("terminal_{name}"), both(&desk, arguments, typed));
    }
    assert_eq!(desk.vault.read("Archive/Costs.md"), NOTES[1].1, "nothing was undone");
}

#[test]
fn the_log_and_the_status_as_people_see_them() {
    let desk = Desk::new(NOTES).with_log();
    for (name, arguments) in [
        ("log", &["log"][..]),
        ("log_failed", &["log", "--failed"]),
        ("log_nothing", &["log", "--tool", "undo"]),
        ("status", &["status"]),
    ] {
        insta::assert_snapshot!(format!("terminal_{name}"), both(&desk, arguments, ""));
    }
}

#[test]
fn a_terminal_gets_colours_and_a_pipe_or_no_color_does_not() {
    let desk = Desk::changed();
    for (name, arguments) in
        [("search", &["search", "slate"][..]), ("undo", &["undo", "--dry-run"]), ("error", &["read", "Rof"])]
    {
        let seen = desk.see_colours(arguments, "");
        insta::assert_snapshot!(format!("colours_{name}"), seen.text);
        let piped = desk.run(arguments);
        assert!(!piped.stdout.contains(&0x1b) && !piped.stderr.contains(&0x1b), "{piped:?}");
        let forced: Vec<&str> = arguments.iter().copied().chain(["--color", "always"]).collect();
        let forced = desk.run(&forced);
        assert!(forced.stdout.contains(&0x1b) || forced.stderr.contains(&0x1b), "{forced:?}");
        let never: Vec<&str> = arguments.iter().copied().chain(["--color", "never"]).collect();
        assert!(!desk.see_colours(&never, "").text.contains('␛'));
    }
}

#[test]
fn the_last_change_of_any_client_is_undone_after_a_yes() {
    let desk = Desk::changed();
    let seen = desk.see(80, &["undo"], "y\n");
    assert_eq!(seen.code, Some(0), "{}", seen.text);
    assert_eq!(desk.vault.read("Projects/Costs.md"), NOTES[1].1, "{}", seen.text);
    // The one before it, chosen by its number: the undo itself is now the first.
    let seen = desk.see(80, &["undo", "--list"], "3\ny\n");
    assert_eq!(seen.code, Some(0), "{}", seen.text);
    assert_eq!(desk.vault.read("Projects/Roof.md"), NOTES[0].1, "{}", seen.text);
}

#[test]
fn a_program_has_to_say_yes_beforehand() {
    let desk = Desk::changed();
    let refused = desk.run(&["undo"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(!desk.vault.path().join("Projects/Costs.md").exists());
    let dry = desk.json(&["undo", "--dry-run", "--json", "--count", "2"]);
    assert_eq!(dry["undone"].as_array().unwrap().len(), 2, "{dry}");
    let done = desk.json(&["undo", "--yes", "--json", "--count", "2"]);
    assert_eq!(done["undone"], dry["undone"]);
    assert_eq!(
        (desk.vault.read("Projects/Costs.md"), desk.vault.read("Projects/Roof.md")),
        (NOTES[1].1.to_vec(), NOTES[0].1.to_vec())
    );
    let nothing = desk.run(&["undo", "--yes"]);
    assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");
}

#[test]
fn nothing_found_is_exit_code_one_and_every_listing_has_json() {
    let desk = Desk::new(NOTES);
    for (arguments, code) in [
        (&["search", "slate", "--json"][..], 0),
        (&["search", "xyzzy", "--json"], 1),
        (&["links", "Roof", "--json"], 0),
        (&["links", "Nowhere", "--json"], 1),
        (&["tasks", "--json"], 0),
        (&["tasks", "overdue", "--json"], 1),
        (&["daily", "--json"], 1),
        (&["query", "LIST FROM #none", "--json"], 1),
        (&["checkpoints", "list", "--json"], 1),
        (&["approvals", "list", "--json"], 0),
        (&["vaults", "--json"], 0),
        (&["tools", "--json"], 0),
        (&["tools", "outline", "--json"], 0),
        (&["status", "--json"], 0),
        (&["config", "show", "--all", "--json"], 0),
        (&["explain", "--json"], 0),
        (&["read", "Roof", "--outline", "--json"], 0),
        (&["token", "list", "--json"], 0),
    ] {
        let output = desk.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        let is_json = serde_json::from_slice::<Value>(&output.stdout).is_ok();
        // A refusal is said on standard error.
        assert!(
            is_json || (code == 1 && output.stdout.is_empty() && !output.stderr.is_empty()),
            "{arguments:?}: {output:?}"
        );
    }
}

#[test]
fn hostile_names_and_notes_do_not_reach_the_terminal() {
    let name = "a\u{1b}]0;x\u{7}\u{202e}b.md";
    let text = "# slate \u{1b}[2J\u{1b}[31m\u{202e}x\n[[Roof]] \u{9b}31m\n";
    let desk = Desk::new(&[(name, text.as_bytes()), ("Roof.md", b"[[a]] slate\n")]);
    assert!(desk.run(&["append", "Roof.md", "x\u{1b}[2J"]).status.success());
    for arguments in [
        &["search", "slate"][..],
        &["read", name],
        &["read", name, "--outline"],
        &["links", "Roof"],
        &["tasks"],
        &["checkpoints"],
        &["log"],
        &["undo", "--dry-run"],
        &["status"],
        &["query", "LIST"],
        &["query", "TABLE file.path"],
        &["read", "no\u{1b}[2J"],
        &["log", "--json"],
        &["search", "slate", "--json"],
    ] {
        let Seen { text, .. } = desk.see(80, arguments, "");
        let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202e}' | '\u{9b}');
        assert!(!text.chars().any(bad), "{arguments:?}: {text:?}");
    }
    // A program gets the note as it is.
    assert_eq!(desk.run(&["read", "Roof.md"]).stdout, b"[[a]] slate\nx\x1b[2J\n");
}

#[test]
fn text_is_appended_from_the_command_line_and_from_standard_input() {
    let desk = Desk::new(NOTES);
    let done = desk.run(&["append", "Roof", "--heading", "Plan", "--", "- [ ] pay"]);
    assert!(done.status.success(), "{done:?}");
    let roof = desk.vault.read("Projects/Roof.md");
    assert!(roof.ends_with(b"- [ ] call the roofer\n- [ ] pay\n"), "{}", String::from_utf8_lossy(&roof));
    let created = desk.run(&["append", "Inbox", "one"]);
    assert!(created.status.success() && created.stdout.starts_with(b"Created Inbox.md\n"), "{created:?}");
    let mut child = desk.command(&["append", "Inbox"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"two\nthree\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(String::from_utf8(desk.vault.read("Inbox.md")).unwrap(), "one\ntwo\nthree\n");
    let refused = desk.run(&["append", "Inbox", "four", "--read-only"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
}

#[test]
fn a_vault_is_named_by_its_name_before_and_after_every_word() {
    let desk = Desk::new(NOTES);
    for arguments in [
        &["--vault", "Notes", "checkpoints", "list"][..],
        &["checkpoints", "list", "--vault", "Notes"],
        &["vaults", "--vault", "Notes"],
    ] {
        let output = desk.run(arguments);
        assert_ne!(output.status.code(), Some(2), "{output:?}");
    }
    let unknown = desk.run(&["vaults", "--vault", "Nots"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    // A folder of the same name here: it is not known which is meant.
    let other = desk.vault.path().parent().unwrap().join("elsewhere");
    std::fs::create_dir_all(other.join("Notes")).unwrap();
    let output = desk.command(&["vaults", "--vault", "Notes"]).current_dir(&other).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("could be any of these"), "{said}");
    let chosen = desk.command(&["vaults", "--json", "--vault", "./Notes"]).current_dir(&other).output().unwrap();
    let chosen: Value = serde_json::from_slice(&chosen.stdout).unwrap();
    assert_eq!(chosen["vaults"][0]["path"], other.join("Notes").to_str().unwrap());
}

#[test]
fn settings_are_shown_with_their_origin_and_without_secrets() {
    let desk = Desk::new(NOTES);
    let mut command = desk.command(&["config", "show", "--json", "--read-only"]);
    let output = command.env("MCP_AUTH_SECRET_KEY", "s3cret-s3cret-s3cret-s3cret-s3cret").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    let shown: Value = serde_json::from_str(&text).unwrap();
    let find = |name: &str| {
        let mut settings = shown["settings"].as_array().unwrap().iter();
        settings.find(|setting| setting["setting"] == name).unwrap_or_else(|| panic!("{shown}")).clone()
    };
    assert_eq!(find("access.read_only")["origin"], "--read-only");
    assert_eq!(find("http.auth_secret_key")["value"], "(hidden)");
    assert_eq!(find("vaults")["origin"], "environment variable OBSIDIAN_VAULT_PATHS");
    let path = desk.run(&["config", "path"]);
    let path = String::from_utf8(path.stdout).unwrap();
    assert!(path.trim().ends_with("lapidary.toml"), "{path}");
    // The editor gets the new file, and what it leaves there is checked.
    let edit =
        |editor: &str| desk.command(&["config", "edit"]).env("EDITOR", editor).stdin(Stdio::null()).output().unwrap();
    assert!(edit("true").status.success());
    assert!(std::fs::read_to_string(path.trim()).unwrap().contains("# [vaults]"));
    std::fs::write(path.trim(), "bogus = 1\n").unwrap();
    assert_eq!(edit("true").status.code(), Some(2));
    assert_eq!(edit("false").status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(path.trim()).unwrap(), "bogus = 1\n");
}

#[test]
fn a_running_server_is_shown_by_status() {
    let desk = Desk::new(NOTES);
    let _server = desk.vault.spawn();
    let is_shown = || {
        let status = desk.json(&["status", "--json"]);
        status["vaults"][0]["servers"].as_array().is_some_and(|servers| !servers.is_empty())
    };
    // It announces itself on the side, soon after its start.
    let started = std::time::Instant::now();
    while !is_shown() {
        assert!(started.elapsed() < crate::harness::patience(), "the server never announced itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn long_work_is_announced_until_it_is_done() {
    // It takes connections and never answers.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let desk = Desk::new(NOTES);
    let url = format!("http://{}/mcp", mute.local_addr().unwrap());
    let settings = desk.vault.path().parent().unwrap().join(".cursor/mcp.json");
    std::fs::create_dir(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, json!({ "mcpServers": { "obsidian": { "url": url } } }).to_string()).unwrap();
    let seen = desk.see(80, &["doctor"], "");
    assert!(seen.raw.contains("\r\u{1b}[Klooking …") && seen.raw.contains("\r\u{1b}[KVault"), "{:?}", seen.raw);
    assert!(!seen.text.contains("looking") && seen.text.contains("there is no answer in time"), "{}", seen.text);
    assert_eq!(seen.code, Some(1), "a client cannot reach its server");
    let piped = desk.run(&["doctor"]);
    assert!(piped.stderr.is_empty(), "{piped:?}");
}

#[test]
fn errors_have_one_form_and_fit_the_terminal() {
    let desk = Desk::new(NOTES);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for arguments in [
        &["read", "A note with a long name that is nowhere in this vault, and whose name is longer than a line"][..],
        &["serve", "--http", "x.example.com:1"],
        &["reed\u{1b}[2J"],
        &["log", "--since", "yesterday\u{1b}]0;x\u{7}"],
        &["install", "curser"],
        &["serve", "--http", &port],
        &["search", "roof", "--vault", "/a/vault/that/is/not/there/and/whose/path/is/longer/than/the/terminal/is/wide"],
    ] {
        let seen = desk.see(80, arguments, "");
        let first = seen.text.lines().find(|line| !line.starts_with("lapidary: ")).unwrap_or_default();
        assert!(first.starts_with("error: "), "{arguments:?}: {}", seen.text);
        assert!(!seen.text.contains('\u{1b}') && !seen.text.contains('\u{7}'), "{arguments:?}: {:?}", seen.text);
        assert_ne!(seen.code, Some(0), "{arguments:?}");
        let is_narrow = |line: &str| line.chars().count() <= 80 || !line.trim_start().contains(' ');
        let narrow = seen.text.lines().filter(|line| !line.starts_with("lapidary: ")).all(is_narrow);
        assert!(narrow || arguments[0] == "serve" && arguments[2] == port, "{arguments:?}: {}", seen.text);
    }
    let near = desk.run(&["install", "curser"]);
    assert!(String::from_utf8_lossy(&near.stderr).contains("did you mean `cursor`?"), "{near:?}");
    let help = desk.see(80, &["install", "--help"], "");
    assert!(help.text.lines().all(|line| line.chars().count() <= 80), "{}", help.text);
}

#[test]
fn values_are_printed_as_people_read_them() {
    let desk = Desk::new(NOTES);
    let property = desk.run(&["read", "Roof", "--property", "status"]);
    assert_eq!(property.stdout, b"open\n", "{property:?}");
    let csv = &["query", "TABLE status FROM \"Projects\" SORT file.name", "--csv"];
    assert_eq!(
        desk.run(csv).stdout,
        b"File,status\r\n[[Projects/Costs.md|Costs]],done\r\n[[Projects/Roof.md|Roof]],open\r\n"
    );
    let seen = desk.see(80, csv, "");
    assert_eq!(seen.text, "File,status\n[[Projects/Costs.md|Costs]],done\n[[Projects/Roof.md|Roof]],open\n");
    for words in [&["query", "LIST", "--limit", "2"][..], &["query", "TABLE status", "--limit", "2"]] {
        let seen = desk.see(80, words, "");
        assert!(seen.text.ends_with("lapidary: 2 of 3 rows; --limit shows more\n"), "{}", seen.text);
    }
}

#[test]
fn the_note_of_the_day_is_made_extended_and_printed() {
    let desk = Desk::new(NOTES);
    let missing = desk.run(&["daily", "--date", "2026-04-14"]);
    assert_eq!((missing.status.code(), missing.stdout.len()), (Some(1), 0));
    let made = desk.run(&["daily", "--date", "2026-04-14", "Called", "the roofer"]);
    assert!(String::from_utf8_lossy(&made.stdout).starts_with("Created 2026-04-14.md\n"), "{made:?}");
    let more = desk.run(&["daily", "--date", "2026-04-13", "--offset", "1", "--", "- [ ] pay 📅 2026-04-20"]);
    assert!(String::from_utf8_lossy(&more.stdout).starts_with("Appended to 2026-04-14.md\n"), "{more:?}");
    let printed = desk.run(&["daily", "--date", "2026-04-14"]);
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "Called the roofer\n- [ ] pay 📅 2026-04-20\n");
    let tasks = desk.run(&["tasks", "overdue", "--in", "2026-04-14"]);
    assert_eq!(
        String::from_utf8_lossy(&tasks.stdout),
        "2026-04-14.md\nline       task  due\n   2  [ ]  pay   2026-04-20\n"
    );
    let none = desk.run(&["tasks", "--tag", "nothing"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0));
}
