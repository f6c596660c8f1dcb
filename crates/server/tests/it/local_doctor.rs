//! `lapidary doctor` on a computer with one planted problem at a time.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    net::TcpListener,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{copy_program, files_below};

/// A note that no report may quote.
const PRIVATE: &str = "the-words-of-a-note";

/// A home in which nothing is wrong.
struct WellHome(TempDir);

impl WellHome {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.write("Notes/.obsidian/app.json", "{}");
        home.write("Notes/Plan.md", PRIVATE);
        home.write("Notes/Folder/Über.md", PRIVATE);
        let vault = home.path("Notes");
        home.write(".config/obsidian/obsidian.json", &json!({ "vaults": { "a": { "path": vault } } }).to_string());
        let entry = json!({ "command": env!("CARGO_BIN_EXE_lapidary"), "args": ["--vault", vault] });
        home.write(".cursor/mcp.json", &json!({ "mcpServers": { "obsidian": entry } }).to_string());
        home
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lapidary"));
        command.env_clear().env("HOME", self.0.path()).env("MCP_HTTP_PORT", "0");
        command.current_dir(self.0.path()).stdin(Stdio::null()).arg("doctor").args(words);
        command
    }

    fn doctor(&self) -> DoctorSaid {
        DoctorSaid::of(&self.command(&["--json"]).output().unwrap())
    }

    fn doctor_with(&self, words: &[&str], environment: &[(&str, &str)]) -> DoctorSaid {
        DoctorSaid::of(&self.command(words).arg("--json").envs(environment.iter().copied()).output().unwrap())
    }
}

/// The lines of a report.
#[derive(Debug)]
struct DoctorSaid {
    code: Option<i32>,
    /// Level, what, found with advice.
    lines: Vec<(String, String, String)>,
    whole: Value,
}

impl DoctorSaid {
    fn of(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let whole: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text} {output:?}"));
        assert!(!text.contains(PRIVATE), "no text of a note: {text}");
        assert!(output.stderr.is_empty(), "{output:?}");
        let part = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let sections = whole["sections"].as_array().unwrap().iter();
        let lines = sections
            .flat_map(|section| section["findings"].as_array().unwrap())
            .map(|it| (part(it, "level"), part(it, "what"), format!("{} → {}", part(it, "found"), part(it, "advice"))))
            .collect();
        Self { code: output.status.code(), lines, whole }
    }

    fn with(&self, level: &str) -> Vec<&(String, String, String)> {
        self.lines.iter().filter(|(found, ..)| found == level).collect()
    }

    /// Exactly one line is not ok, and says all of this.
    #[track_caller]
    fn only(&self, level: &str, what: &str, parts: &[&str]) {
        let bad: Vec<_> = self.lines.iter().filter(|(found, ..)| found != "ok").collect();
        let [(found, about, said)] = bad.as_slice() else { panic!("one line: {bad:#?}") };
        assert_eq!((found.as_str(), about.as_str()), (level, what), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{parts:?}: {said}");
        let (_, advice) = said.split_once(" → ").unwrap();
        assert!(!advice.is_empty(), "{said}");
        assert_eq!(self.code, Some(i32::from(level == "failure")));
        assert_eq!(self.whole["well"], level != "failure");
    }

    #[track_caller]
    fn says(&self, level: &str, what: &str, part: &str) {
        let is_it =
            |(found, about, said): &&(String, String, String)| found == level && about == what && said.contains(part);
        assert!(self.lines.iter().any(|line| is_it(&line)), "{part}: {:#?}", self.lines);
    }
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    files_below(folder)
}

#[test]
fn a_computer_that_is_well_is_called_well_and_the_vault_is_not_touched() {
    let home = WellHome::new();
    let before = contents(&home.path("Notes"));
    let said = home.doctor();
    assert!(said.with("warning").is_empty() && said.with("failure").is_empty(), "{:#?}", said.lines);
    assert_eq!(said.code, Some(0));
    said.says("ok", "folder", "2 notes, 2 files, 2 folders");
    said.says("ok", "permissions", "read and changed");
    said.says("ok", "Obsidian", "lists this vault");
    said.says("ok", "Cursor", "set up, for ");
    said.says("ok", "history", "nothing has been changed");
    said.says("ok", "port", "the system chooses one");
    said.says("ok", "http.port", "environment variable MCP_HTTP_PORT");
    said.says("ok", "file names", "case makes a difference");
    assert_eq!(contents(&home.path("Notes")), before);
    let lines = home.command(&[]).output().unwrap();
    let text = String::from_utf8(lines.stdout).unwrap();
    assert!(text.contains("Vault Notes\n  ✓  folder: ") && text.ends_with("nothing is wrong\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80 || !line.contains(' ')), "{text}");
}

#[test]
fn a_vault_that_is_not_there_or_not_opened_by_obsidian() {
    let home = WellHome::new();
    let said = home.doctor_with(&["--vault", "Missing"], &[]);
    assert_eq!(said.code, Some(1));
    said.says("failure", "configuration", "Missing");
    said.says("ok", "Cursor", "set up");
    fs::remove_dir_all(home.path("Notes/.obsidian")).unwrap();
    home.doctor().only("warning", "Obsidian", &["never opened"]);
}

#[test]
fn conflict_copies_markers_and_placeholders_are_counted_by_name() {
    let home = WellHome::new();
    home.write("Notes/Plan.sync-conflict-20261101-101112-ABCDEFG.md", "x");
    home.write("Notes/Plan (Ana's conflicted copy 2026-11-01).md", "x");
    home.doctor().only("warning", "conflict copies", &["2 files (Plan (Ana's", "sync-conflict"]);
    let home = WellHome::new();
    home.write("Notes/Folder/Merged.md", &format!("{PRIVATE}\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n"));
    home.doctor().only("warning", "merge", &["1 file (Folder/Merged.md)", "finish the merge"]);
    let home = WellHome::new();
    home.write("Notes/.Away.md.icloud", "");
    home.doctor().only("warning", "sync", &["1 file (.Away.md.icloud)", "Keep Downloaded"]);
}

#[test]
fn sync_tools_are_named_and_two_of_them_are_one_too_many() {
    let home = WellHome::new();
    fs::create_dir(home.path("Notes/.stfolder")).unwrap();
    fs::create_dir(home.path("Notes/.git")).unwrap();
    let said = home.doctor();
    said.says("ok", "sync", "Syncthing, git");
    assert!(said.with("warning").is_empty(), "{said:?}");
    fs::create_dir(home.path(".dropbox")).unwrap();
    home.doctor().only("warning", "sync", &["2 tools"]);
    // Copies that only a number marks count where such a tool is at work.
    let home = WellHome::new();
    home.write("Notes/Plan 2.md", "x");
    assert!(home.doctor().with("warning").is_empty());
    fs::rename(home.path("Notes"), home.path("iCloud Drive")).unwrap();
    let said = home.doctor_with(&["--vault", "iCloud Drive"], &[]);
    said.says("warning", "conflict copies", "Plan 2.md");
}

#[test]
fn names_that_other_systems_refuse_or_confuse() {
    let home = WellHome::new();
    home.write("Notes/why?.md", "x");
    home.doctor().only("warning", "file names", &["why?.md", "Windows"]);
    let home = WellHome::new();
    home.write("Notes/plan.md", "x");
    home.doctor().only("warning", "file names", &["only in case or accents"]);
    let home = WellHome::new();
    fs::write(home.path("Notes").join(OsStr::from_bytes(b"latin\xe9.md")), "x").unwrap();
    home.doctor().only("warning", "file names", &["not text"]);
    let home = WellHome::new();
    home.write("Notes/U\u{308}ber.md", "x");
    let said = home.doctor();
    assert!(said.with("warning").is_empty(), "{said:?}");
    said.says("ok", "file names", "accents apart");
    said.says("ok", "file names", "the spelling of accents makes a difference");
}

#[test]
fn links_out_of_the_vault_and_large_notes() {
    let home = WellHome::new();
    home.write("Elsewhere/a.md", "x");
    symlink(home.path("Elsewhere"), home.path("Notes/Linked")).unwrap();
    symlink(home.path("Notes/Plan.md"), home.path("Notes/Inside.md")).unwrap();
    home.doctor().only("warning", "links", &["1 file (Linked)", "follow_links"]);
    let followed = home.path("Elsewhere");
    let said = home.doctor_with(&[], &[("LAPIDARY_FOLLOW_LINKS", followed.to_str().unwrap())]);
    assert!(said.with("warning").is_empty(), "{said:?}");
    let home = WellHome::new();
    home.write("Notes/Long.md", &"x".repeat(2000));
    let said = home.doctor_with(&[], &[("LAPIDARY_MAX_FILE_BYTES", "1000")]);
    said.only("warning", "size", &["Long.md", "limits.max_file_bytes"]);
}

#[test]
fn what_this_user_may_not_read_or_change() {
    let home = WellHome::new();
    home.write("Notes/Closed.md", "x");
    home.write("Notes/Fixed.md", "x");
    fs::set_permissions(home.path("Notes/Closed.md"), PermissionsExt::from_mode(0o000)).unwrap();
    fs::set_permissions(home.path("Notes/Fixed.md"), PermissionsExt::from_mode(0o444)).unwrap();
    let mut command = home.command(&["--json"]);
    // The superuser may do everything, so another user has to look.
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if is_root {
        let all = Command::new("chown").args(["-R", "65534"]).arg(home.0.path()).status().unwrap();
        assert!(all.success());
        let program = home.path("lapidary");
        copy_program(Path::new(env!("CARGO_BIN_EXE_lapidary")), &program);
        let words = ["doctor", "--json"];
        command = Command::new(program);
        command.env_clear().env("HOME", home.0.path()).env("MCP_HTTP_PORT", "0");
        command.current_dir(home.0.path()).args(words).uid(65534);
    }
    let said = DoctorSaid::of(&command.output().unwrap());
    said.says("failure", "permissions", "read 1 file (Closed.md)");
    said.says("warning", "permissions", "change 1 file (Fixed.md)");
    assert_eq!(said.code, Some(1));
}

#[test]
fn rules_that_match_nothing_and_rules_that_cannot_be_read() {
    let home = WellHome::new();
    home.doctor_with(&[], &[("OBSIDIAN_DENY_PATHS", "Foldr")]).only("warning", "rules", &["`Foldr`", "`Folder`"]);
    // A note is named by its whole path, which its name alone does not match.
    let said = home.doctor_with(&[], &[("OBSIDIAN_DENY_PATHS", "Über")]);
    said.only("warning", "rules", &["`Über`", "did you mean `Folder/Über.md`?"]);
    let home = WellHome::new();
    home.write("Notes/.lapidaryignore", "Personn/\n");
    home.doctor().only("warning", "rules", &["Personn"]);
    home.write("Notes/.lapidaryignore", "Folder/\n");
    let said = home.doctor();
    assert!(said.with("warning").is_empty(), "{said:?}");
    said.says("ok", "rules", "every rule matches");
    fs::write(home.path("Notes/.lapidaryignore"), b"\xff\xfe[").unwrap();
    home.doctor().only("failure", "rules", &["cannot be read"]);
}

#[test]
fn each_value_has_its_origin_and_unknown_variables_are_named() {
    let home = WellHome::new();
    home.write(".config/lapidary/lapidary.toml", "[access]\nread_only = true\n");
    let said = home.doctor();
    said.says("ok", "access.read_only", "`access.read_only` in ");
    said.says("ok", "permissions", "everything can be read");
    let said = home.doctor_with(&[], &[("OBSIDIAN_READ_ONLY", "false")]);
    said.says("ok", "access.read_only", "but environment variable OBSIDIAN_READ_ONLY counts instead");
    let home = WellHome::new();
    home.doctor_with(&[], &[("OBSIDIAN_READ_ONLI", "true")]).only("warning", "settings", &["OBSIDIAN_READ_ONLY"]);
    let home = WellHome::new();
    home.write(".config/lapidary/lapidary.toml", "[access]\nread_onli = true\n");
    let said = home.doctor();
    assert_eq!(said.code, Some(1));
    said.says("failure", "configuration", "read_onli");
    said.says("ok", "Cursor", "set up");
}

#[test]
fn secrets_are_never_printed_and_files_with_them_are_for_their_owner_alone() {
    let secret = "0123456789abcdef0123456789abcdef";
    let home = WellHome::new();
    home.write(".env", &format!("LAPIDARY_TOKENS=phone:reader:{secret}\n"));
    fs::set_permissions(home.path(".env"), PermissionsExt::from_mode(0o644)).unwrap();
    let doctor = || home.doctor_with(&[], &[("LAPIDARY_ENV_FILE", ".env")]);
    let said = doctor();
    said.only("failure", "secrets", &[".env", "chmod 600"]);
    assert!(!said.whole.to_string().contains(secret));
    fs::set_permissions(home.path(".env"), PermissionsExt::from_mode(0o600)).unwrap();
    assert!(doctor().with("failure").is_empty());
    // Of a project, it decides nothing, and that is said.
    home.doctor().says("warning", "settings", "LAPIDARY_TOKENS");
}

#[test]
fn the_state_folder_and_its_files() {
    let home = WellHome::new();
    let state = home.path(".local/state/lapidary");
    let made = home.command(&[]).args(["--vault", "Notes"]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let append = ["--vault", "Notes", "call", "obsidian_append_to_note"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapidary"));
    command.env_clear().env("HOME", home.0.path()).current_dir(home.0.path()).args(append);
    let done = command.arg(r#"{"target": {"path": "Plan.md"}, "content": "more"}"#).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    home.doctor().says("ok", "history", "1 change can be undone");
    fs::write(state.join("auth.db"), "").unwrap();
    fs::set_permissions(state.join("auth.db"), PermissionsExt::from_mode(0o644)).unwrap();
    home.doctor().only("failure", "tokens", &["auth.db", "chmod 600"]);
    fs::remove_file(state.join("auth.db")).unwrap();
    let mut ledgers = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path().join("checkpoints.db"));
    let ledger = ledgers.find(|path| path.exists()).unwrap();
    for beside in ["checkpoints.db-wal", "checkpoints.db-shm"] {
        drop(fs::remove_file(ledger.with_file_name(beside)));
    }
    fs::write(&ledger, "this is not a database, and has never been one, as anyone can see").unwrap();
    let before = contents(&state);
    home.doctor().only("failure", "history", &["damaged", "sets it aside"]);
    assert_eq!(contents(&state).get("checkpoints.db"), before.get("checkpoints.db"));
    fs::rename(&ledger, ledger.with_file_name("checkpoints.db.damaged-1")).unwrap();
    home.doctor().only("warning", "history", &["set aside", "checkpoints.db.damaged-1"]);
    fs::set_permissions(&state, PermissionsExt::from_mode(0o777)).unwrap();
    let said = home.doctor();
    said.says("failure", "state folder", "other users can write");
}

#[test]
fn clients_that_start_something_else() {
    let home = WellHome::new();
    let cursor = |entry: &Value| {
        home.write(".cursor/mcp.json", &json!({ "mcpServers": { "obsidian": entry } }).to_string());
        home.doctor()
    };
    let (program, vault) = (env!("CARGO_BIN_EXE_lapidary"), home.path("Notes"));
    cursor(&json!({ "command": "/gone/lapidary", "args": ["--vault", vault] })).only(
        "failure",
        "Cursor",
        &["/gone/lapidary", "does not exist", "lapidary install cursor"],
    );
    cursor(&json!({ "command": program, "args": ["--vault", "/gone/vault"] })).only(
        "failure",
        "Cursor",
        &["/gone/vault"],
    );
    home.write("Other/a.md", "x");
    cursor(&json!({ "command": program, "args": ["--vault", home.path("Other")] })).only(
        "warning",
        "Cursor",
        &["another vault"],
    );
    cursor(&json!({ "command": "lapidary", "args": ["--vault", vault] })).only("warning", "Cursor", &["whole path"]);
    home.write("bin/lapidary", "");
    cursor(&json!({ "command": home.path("bin/lapidary"), "args": ["--vault", vault] })).only(
        "warning",
        "Cursor",
        &["not this program"],
    );
    for entry in [
        json!({ "command": "npx", "args": ["-y", "lapidary-mcp", "--vault", vault] }),
        json!({ "command": "other-server" }),
    ] {
        let said = cursor(&entry);
        assert!(said.with("warning").is_empty() && said.with("failure").is_empty(), "{entry}: {said:?}");
    }
    home.write(".cursor/mcp.json", "{ broken");
    home.doctor().only("failure", "Cursor", &["mcp.json"]);
    fs::remove_dir_all(home.path(".cursor")).unwrap();
    home.doctor().only("warning", "clients", &["no known client"]);
}

#[test]
fn a_port_that_another_program_has() {
    let home = WellHome::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    home.doctor_with(&[], &[("MCP_HTTP_PORT", &port)]).only("warning", "port", &["another program", "--http PORT"]);
}

#[test]
fn obsidian_and_its_plugin_as_files() {
    let key = "f".repeat(64);
    let home = WellHome::new();
    home.write(
        "Notes/.obsidian/plugins/obsidian-local-rest-api/data.json",
        &json!({ "apiKey": key, "port": 27124, "crypto": { "cert": "a certificate" } }).to_string(),
    );
    home.doctor().says("ok", "Local REST API plugin", "switched off");
    home.write("Notes/.obsidian/community-plugins.json", r#"["obsidian-local-rest-api"]"#);
    let said = home.doctor();
    said.says("ok", "Local REST API plugin", "HTTPS on port 27124");
    assert!(!said.whole.to_string().contains(&key));
    home.write("Notes/.obsidian/plugins/obsidian-local-rest-api/data.json", "{}");
    home.doctor().only("warning", "Local REST API plugin", &["no key"]);
    let home = WellHome::new();
    home.write("Notes/.obsidian/app.json", "{ broken");
    home.doctor().only("warning", "Obsidian", &["app.json", "line 1"]);
}

#[test]
fn a_server_that_a_client_calls_has_to_answer() {
    let home = WellHome::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    home.write(".cursor/mcp.json", &json!({ "mcpServers": { "obsidian": { "url": url } } }).to_string());
    let answering = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    });
    home.doctor().says("ok", "Cursor", "calls a server at ");
    answering.join().unwrap();
    // No server listens there any more.
    home.doctor().only("failure", "Cursor", &["does not answer", "lapidary serve --http", "lapidary install cursor"]);
}

#[test]
fn a_saved_index_is_reported_and_a_small_vault_needs_none() {
    let home = WellHome::new();
    home.doctor().says("ok", "index", "not saved; a search saves that of a vault with at least 200 notes");
    for number in 0..200 {
        home.write(&format!("Notes/Many/{number}.md"), "x");
    }
    let searched = Command::new(env!("CARGO_BIN_EXE_lapidary"))
        .args(["search", "x"])
        .env_clear()
        .env("HOME", home.0.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(searched.status.success(), "{searched:?}");
    home.doctor().says("ok", "index", "saved, ");
}

#[test]
fn advice_names_commands_and_no_files_of_the_project() {
    let home = WellHome::new();
    fs::remove_dir_all(home.path(".cursor")).unwrap();
    home.doctor().only("warning", "clients", &["cursor", "`lapidary install`"]);
    let said = home.doctor_with(&["--vault", "Notes"], &[]);
    said.says("warning", "clients", "`lapidary install --vault Notes`");
    assert!(!said.whole.to_string().contains("docs/"), "{}", said.whole);
}

#[test]
fn a_skill_of_another_version_is_out_of_step() {
    let home = WellHome::new();
    let install = ["skill", "install", "cursor", "--yes", "--vault", "Notes"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapidary"));
    command.env_clear().env("HOME", home.0.path()).current_dir(home.0.path()).stdin(Stdio::null()).args(install);
    assert!(command.output().unwrap().status.success());
    home.doctor().says("ok", "Cursor", "skill of this version");
    // As an earlier version has written it, with its own digest.
    let file = home.path(".cursor/skills/lapidary/SKILL.md");
    let text = fs::read_to_string(&file).unwrap().replace(env!("CARGO_PKG_VERSION"), "0.0.1");
    let marked = text.lines().find(|line| line.starts_with("  digest: ")).unwrap().to_owned() + "\n";
    let digest = lapidary_note::ContentHash::of(text.replace(&marked, "").as_bytes()).to_string();
    let older = text.replace(&marked, &format!("  digest: \"{}\"\n", &digest["sha256:".len()..][..16]));
    fs::write(&file, &older).unwrap();
    home.doctor().only("warning", "Cursor", &["skill of version 0.0.1", "skill install cursor"]);
    fs::write(&file, format!("{older}mine\n")).unwrap();
    home.doctor().says("ok", "Cursor", "edited by hand");
}
