//! `install` and `uninstall` in a home folder of their own, with the real binary.

use std::{
    collections::BTreeMap,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::{copy_program, files_below},
    http::HttpServer,
};

const CURSOR: &str =
    "{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }, // first\n  },\n  \"x\": 1\n}\n";
const CLAUDE: &str = "{\r\n\t\"mcpServers\": {},\r\n\t\"theme\": \"dark\"\r\n}";
const CODEX: &str = "model = \"x\" # newest\n\n[mcp_servers.a]\ncommand = \"a\"";
const GOOSE: &str = "extensions:\n  # built in\n  developer:\n    type: builtin\nGOOSE_MODEL: x\n";

/// A home with some clients and one vault.
struct ClientHome(TempDir);

impl ClientHome {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.write("Notes/.obsidian/app.json", "{}");
        home.write("Notes/a.md", "one\n");
        home
    }

    fn with_clients() -> Self {
        let home = Self::new();
        home.write(".cursor/mcp.json", CURSOR);
        home.write(".config/Claude/claude_desktop_config.json", CLAUDE);
        home.write(".codex/config.toml", CODEX);
        home.write(".config/goose/config.yaml", GOOSE);
        // Zed is installed, but has no settings yet.
        std::fs::create_dir_all(home.path(".config/zed")).unwrap();
        home
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, below: &str) -> String {
        std::fs::read_to_string(self.path(below)).unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lapidary"));
        command.env_clear().env("HOME", self.0.path()).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command().args(words).output().unwrap()
    }

    /// What it printed, if it went well.
    #[track_caller]
    fn well(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}{}", printed(&output), complaint(&output));
        printed(&output)
    }

    fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(self.0.path())
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn complaint(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const INSTALL: [&str; 4] = ["install", "--yes", "--vault", "Notes"];

#[test]
fn the_clients_that_are_there_get_the_entry_and_uninstall_restores_every_byte() {
    let home = ClientHome::with_clients();
    let before = home.everything();
    let said = home.well(&INSTALL);
    for title in ["Cursor", "Claude Desktop", "Codex", "Goose", "Zed"] {
        assert!(said.contains(&format!("{title}: done")), "{said}");
    }
    let claude: Value = serde_json::from_str(&home.read(".config/Claude/claude_desktop_config.json")).unwrap();
    let entry = &claude["mcpServers"]["obsidian"];
    assert!(Path::new(entry["command"].as_str().unwrap()).is_absolute(), "{entry}");
    assert_eq!(entry["args"], json!(["--vault", home.path("Notes").to_str().unwrap()]));
    assert!(
        home.read(".cursor/mcp.json")
            .starts_with("{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }, // first\n")
    );
    assert!(home.read(".config/zed/settings.json").contains("context_servers"));
    assert!(said.contains("+    \"obsidian\": {"), "the diff is shown: {said}");

    let installed = home.everything();
    let again = home.well(&INSTALL);
    assert!(again.contains("is set up already") && !again.contains("done"), "{again}");
    assert_eq!(home.everything(), installed, "a second run changes nothing");

    home.well(&["uninstall", "--yes"]);
    assert_eq!(home.everything(), before);
    assert!(home.well(&["uninstall", "--yes"]).contains("No client has an entry"));
}

#[test]
fn what_was_written_starts_a_server() {
    let home = ClientHome::with_clients();
    home.well(&INSTALL);
    let claude: Value = serde_json::from_str(&home.read(".config/Claude/claude_desktop_config.json")).unwrap();
    let entry = &claude["mcpServers"]["obsidian"];
    let words: Vec<&str> = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.env_clear().env("HOME", home.0.path()).current_dir("/").stdin(Stdio::null());
    let output = command.args(words).args(["call", "file_read", r#"{"file": "a.md"}"#]).output().unwrap();
    assert!(printed(&output).contains("one"), "{}", complaint(&output));
}

#[test]
fn a_vault_that_only_a_client_names_is_found_and_its_origin_is_told() {
    let home = ClientHome::with_clients();
    home.well(&["install", "cursor", "--yes", "--vault", "Notes"]);
    let report = home.well(&["doctor", "--json"]);
    assert!(report.contains("from the settings of Cursor") && !report.contains("from --vault"), "{report}");
    let mut command = home.command();
    command.args(["serve", "--http", "127.0.0.1:0"]);
    let server = HttpServer::start_command(command);
    let call = json!({ "name": "file_read", "arguments": { "file": "a.md" } });
    let (status, body) = server.post(&[], "tools/call", Some("file_read"), call);
    assert!(status == 200 && body.contains("one"), "{body}");
    drop(server);

    // Of two, one still has to be chosen.
    home.write("Other/.obsidian/app.json", "{}");
    home.well(&["install", "zed", "--yes", "--vault", "Other"]);
    let refused = home.run(&["serve", "--http", "127.0.0.1:0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(complaint(&refused).contains("no vault is given"), "{}", complaint(&refused));
}

#[test]
fn a_file_that_changed_since_loses_only_the_entry() {
    let home = ClientHome::with_clients();
    home.well(&INSTALL);
    let changed = home.read(".codex/config.toml").replace("\"x\"", "\"y\"");
    home.write(".codex/config.toml", &changed);
    let said = home.well(&["uninstall", "codex", "--yes"]);
    assert!(said.contains("the entry is removed; the old file is kept as"), "{said}");
    assert_eq!(home.read(".codex/config.toml"), CODEX.replace("\"x\"", "\"y\""));
}

#[test]
fn uninstall_goes_back_to_before_the_first_of_several_runs() {
    let home = ClientHome::new();
    home.write(".cursor/mcp.json", CURSOR);
    home.well(&INSTALL);
    home.well(&["install", "--yes", "--vault", "Notes", "--read-only"]);
    assert!(home.read(".cursor/mcp.json").contains("--read-only"));
    home.well(&["uninstall", "--yes"]);
    assert_eq!(home.read(".cursor/mcp.json"), CURSOR);
}

#[test]
fn nothing_is_written_without_an_answer_and_a_dry_run_only_shows() {
    let home = ClientHome::with_clients();
    let before = home.everything();
    let refused = home.run(&["install", "--vault", "Notes", "cursor"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(complaint(&refused).contains("--yes"), "{}", complaint(&refused));
    let shown = home.well(&["install", "--vault", "Notes", "cursor", "--dry-run"]);
    assert!(shown.contains("+    \"obsidian\": {"), "{shown}");
    let pasted = home.well(&["install", "--vault", "Notes", "cursor", "kiro", "--print"]);
    assert!(pasted.contains("\"mcpServers\": {") && pasted.contains("cursor://anysphere"), "{pasted}");
    assert_eq!(home.everything(), before);
}

#[test]
fn a_broken_file_is_left_alone_and_the_others_are_set_up() {
    let home = ClientHome::with_clients();
    home.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n");
    let output = home.run(&INSTALL);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("Cursor: ") && complaint(&output).contains("line "), "{}", complaint(&output));
    assert_eq!(home.read(".cursor/mcp.json"), "{\n  \"mcpServers\": {\n");
    assert!(home.read(".codex/config.toml").contains("[mcp_servers.obsidian]"));
}

#[test]
fn another_server_of_our_name_is_replaced_only_by_force() {
    let home = ClientHome::new();
    let other = "{\"mcpServers\": {\"obsidian\": {\"command\": \"npx\", \"args\": [\"obsidian-mcp-server\"]}}}\n";
    home.write(".cursor/mcp.json", other);
    let output = home.run(&INSTALL);
    assert!(complaint(&output).contains("another server (npx)"), "{}", complaint(&output));
    let said = home.well(&["uninstall", "--yes"]);
    assert!(
        said.contains("another server (npx), and stays; to remove it:\n  lapidary uninstall cursor --force"),
        "{said}"
    );
    assert_eq!(home.read(".cursor/mcp.json"), other);
    home.well(&["install", "--vault", "Notes", "--yes", "--force"]);
    assert!(home.read(".cursor/mcp.json").contains("lapidary"));
}

#[test]
fn an_address_is_installed_where_the_client_takes_one() {
    let home = ClientHome::with_clients();
    let before = home.everything();
    let output = home.run(&["install", "--yes", "--http", "http://127.0.0.1:3010/mcp"]);
    assert_eq!(output.status.code(), Some(1), "Claude Desktop takes none");
    assert!(complaint(&output).contains("Claude Desktop"), "{}", complaint(&output));
    assert!(home.read(".codex/config.toml").ends_with("[mcp_servers.obsidian]\nurl = \"http://127.0.0.1:3010/mcp\""));
    home.well(&["uninstall", "--yes"]);
    let mut after = home.everything();
    // It had no settings before, so there is no copy that shows whose address it is.
    after.remove(".config/zed/settings.json");
    assert_eq!(after, before);
    assert_eq!(home.run(&["install", "--yes", "--http", "3010"]).status.code(), Some(2));
}

#[test]
fn mode_and_links_stay() {
    let home = ClientHome::new();
    home.write("dotfiles/mcp.json", CURSOR);
    std::fs::set_permissions(home.path("dotfiles/mcp.json"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir_all(home.path(".cursor")).unwrap();
    symlink(home.path("dotfiles/mcp.json"), home.path(".cursor/mcp.json")).unwrap();
    home.well(&INSTALL);
    assert!(home.path(".cursor/mcp.json").is_symlink());
    assert!(home.read("dotfiles/mcp.json").contains("lapidary"));
    let mode = home.path("dotfiles/mcp.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    home.well(&["uninstall", "--yes"]);
    assert_eq!(home.read("dotfiles/mcp.json"), CURSOR);
    assert!(home.path(".cursor/mcp.json").is_symlink());
}

#[test]
fn claude_code_is_set_up_by_its_own_command() {
    let home = ClientHome::new();
    home.write("claude.sh", "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$HOME/asked\"\n");
    std::fs::set_permissions(home.path("claude.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    copy_program(&home.path("claude.sh"), &home.path("bin/claude"));
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let output = home.command().env("PATH", &path).args(INSTALL).output().unwrap();
    assert!(output.status.success(), "{}", complaint(&output));
    let asked = home.read("asked");
    assert!(asked.starts_with("mcp add-json --scope user obsidian {\"type\":\"stdio\",\"command\":\"/"), "{asked}");
    assert!(!home.path(".claude.json").exists());
}

#[test]
fn state_is_removed_only_on_request_and_only_ours() {
    let home = ClientHome::new();
    home.well(&["--vault", "Notes", "call", "str_replace", r#"{"file": "a.md", "find": "one", "replace": "two"}"#]);
    let state = home.path(".local/state/lapidary");
    std::fs::write(state.join("mine.txt"), "keep").unwrap();
    // The key of the REST API, which a server leaves there.
    std::fs::write(state.join("rest-key.pem"), "key").unwrap();
    home.well(&["uninstall", "--yes"]);
    assert!(std::fs::read_dir(&state).unwrap().count() > 1);
    home.well(&["uninstall", "--dry-run", "--state"]);
    assert!(std::fs::read_dir(&state).unwrap().count() > 1);
    let said = home.well(&["uninstall", "--yes", "--state"]);
    assert!(said.contains("The state is removed."), "{said}");
    let left: Vec<_> = std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
}

#[test]
fn the_home_folder_and_what_is_around_it_are_refused_without_the_flag() {
    let home = ClientHome::new();
    symlink(home.0.path(), home.path("Notes/home")).unwrap();
    for vault in [home.0.path().to_str().unwrap(), "/", "~", "Notes/..", "Notes/home"] {
        let output = home.run(&["--vault", vault, "vaults"]);
        assert_eq!(output.status.code(), Some(2), "{vault}");
        assert!(complaint(&output).contains("--any-folder"), "{vault}: {}", complaint(&output));
    }
    let state = tempfile::tempdir().unwrap();
    let mut command = home.command();
    command.env("LAPIDARY_STATE_DIR", state.path()).args(["--vault", "~", "--any-folder", "vaults"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", complaint(&output));
}

#[test]
fn a_folder_that_obsidian_never_opened_is_served_with_a_warning() {
    let home = ClientHome::new();
    home.write("plain/a.md", "one\n");
    let serve = |vault: &str| complaint(&home.run(&["--vault", vault, "serve"]));
    assert!(serve("plain").contains("has no .obsidian"), "{}", serve("plain"));
    assert!(!serve("Notes").contains("has no .obsidian"), "{}", serve("Notes"));
}

#[test]
fn reasons_tools_and_completions_need_no_vault() {
    let home = ClientHome::new();
    let explained = home.well(&["explain", "note_missing"]);
    assert!(explained.starts_with("note_missing\n") && explained.contains("obsidian_get_note"), "{explained}");
    assert!(explained.contains("What you can do: 'lapidary search WORDS'"), "{explained}");
    assert!(home.well(&["explain"]).lines().count() > 30);
    let missed = home.run(&["explain", "note_mising"]);
    assert_eq!(missed.status.code(), Some(1));
    assert!(complaint(&missed).contains("did you mean `note_missing`?"), "{}", complaint(&missed));

    let page = home.well(&["tools", "file.read"]);
    assert!(page.starts_with("file_read: ") && page.contains("\n  lapidary call file_read '{"), "{page}");
    assert!(complaint(&home.run(&["tools", "file_raed"])).contains("did you mean `file_read`?"));

    for (shell, part) in
        [("bash", "-F _lapidary_complete lapidary"), ("zsh", "#compdef lapidary"), ("fish", "--command lapidary")]
    {
        assert!(home.well(&["completions", shell]).contains(part), "{shell}");
    }
}

#[test]
fn a_package_runner_is_written_instead_of_the_folder_that_it_may_empty() {
    let home = ClientHome::with_clients();
    let kept = home.path(".npm/_npx/0a1b/node_modules/lapidary-mcp-linux-x64/bin/lapidary");
    copy_program(Path::new(env!("CARGO_BIN_EXE_lapidary")), &kept);
    home.write("bin/npx", "");
    let run = |words: &[&str]| {
        let mut command = Command::new(&kept);
        command.env_clear().env("HOME", home.0.path()).env("PATH", home.path("bin")).current_dir(home.0.path());
        command.args(words).stdin(Stdio::null()).output().unwrap()
    };
    let output = run(&["install", "cursor", "--yes", "--vault", "Notes", "--read-only"]);
    assert!(output.status.success(), "{}", complaint(&output));
    let said = home.read(".cursor/mcp.json");
    let (npx, vault) = (home.path("bin/npx"), home.path("Notes"));
    assert!(said.contains(npx.to_str().unwrap()) && !said.contains("_npx"), "{said}");
    let words = ["\"-y\"", "\"lapidary-mcp\"", "\"--vault\"", vault.to_str().unwrap(), "\"--read-only\""];
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
    // It is ours: the doctor knows it, and `uninstall` takes it back.
    let report = run(&["doctor", "--vault", "Notes", "--json"]);
    assert!(printed(&report).contains("set up, for"), "{}", printed(&report));
    assert!(run(&["uninstall", "cursor", "--yes"]).status.success());
    assert_eq!(home.read(".cursor/mcp.json"), CURSOR);
}

const SKILL: [&str; 5] = ["skill", "install", "--yes", "--vault", "Notes"];

#[test]
fn programs_with_a_folder_of_skills_get_ours_once_and_uninstall_leaves_no_trace() {
    let home = ClientHome::with_clients();
    let before = home.everything();
    let said = home.well(&SKILL);
    // Claude Desktop has no such folder; Codex and Zed share one.
    for (title, file) in [
        ("Cursor", ".cursor/skills/lapidary/SKILL.md"),
        ("Zed, Codex", ".agents/skills/lapidary/SKILL.md"),
        ("Goose", ".config/goose/skills/lapidary/SKILL.md"),
    ] {
        assert!(said.contains(&format!("{title}: done")), "{said}");
        let text = home.read(file);
        assert!(text.starts_with("---\nname: lapidary\ndescription: \""), "{text}");
        assert!(text.contains("`Notes`") && text.contains(env!("CARGO_PKG_VERSION")), "{text}");
    }
    assert!(!said.contains("Claude Desktop"), "{said}");
    let installed = home.everything();
    assert!(home.well(&SKILL).contains("is up to date"));
    assert_eq!(home.everything(), installed, "a second run changes nothing");
    let listed: Value = serde_json::from_str(&home.well(&["skill", "list", "--json"])).unwrap();
    let states: Vec<&str> =
        listed["skills"].as_array().unwrap().iter().map(|skill| skill["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["installed"; 3], "{listed}");
    home.well(&["skill", "uninstall", "--yes"]);
    assert_eq!(home.everything(), before);
    assert!(home.well(&["skill", "uninstall", "--yes"]).contains("not installed"));
}

#[test]
fn a_program_that_was_named_is_listed_before_it_has_run() {
    let home = ClientHome::new();
    home.well(&["skill", "install", "claude-code", "cursor", "--yes", "--vault", "Notes"]);
    let listed = home.well(&["skill", "list"]);
    assert!(listed.contains("Claude Code") && listed.contains("Cursor"), "{listed}");
}

#[test]
#[cfg(unix)]
fn uninstall_leaves_what_the_owner_linked() {
    use std::os::unix::fs::symlink;
    let home = ClientHome::new();
    let install = ["skill", "install", "--dir", "skills", "--yes", "--vault", "Notes"];
    let uninstall = ["skill", "uninstall", "--dir", "skills", "--yes"];
    for folder in ["own", "skills"] {
        std::fs::create_dir(home.path(folder)).unwrap();
    }
    symlink(home.path("own"), home.path("skills/lapidary")).unwrap();
    for _ in 0..2 {
        home.well(&install);
        assert!(home.path("own/SKILL.md").exists());
        home.well(&uninstall);
        assert!(home.path("own").is_dir() && !home.path("own/SKILL.md").exists());
        assert!(home.path("skills/lapidary").is_symlink());
    }
    // A linked file: what it leads to was there before.
    std::fs::remove_file(home.path("skills/lapidary")).unwrap();
    std::fs::create_dir(home.path("skills/lapidary")).unwrap();
    home.write("own/kept.md", "mine\n");
    symlink(home.path("own/kept.md"), home.path("skills/lapidary/SKILL.md")).unwrap();
    home.well(&["skill", "install", "--dir", "skills", "--yes", "--force", "--vault", "Notes"]);
    let refused = home.run(&uninstall);
    assert!(!refused.status.success() && complaint(&refused).contains("it is a link"), "{}", complaint(&refused));
    assert!(home.path("own/kept.md").exists() && home.path("skills/lapidary/SKILL.md").is_symlink());
}

#[test]
fn a_skill_follows_the_settings_and_keeps_what_the_user_wrote() {
    let home = ClientHome::with_clients();
    let file = ".cursor/skills/lapidary/SKILL.md";
    let install =
        |more: &[&str]| home.run(&[&["skill", "install", "cursor", "--yes", "--vault", "Notes"], more].concat());
    assert!(install(&[]).status.success());
    assert!(home.read(file).contains("`str_replace`"));
    // Another configuration, shown first and written as one.
    let shown = printed(&install(&["--read-only", "--dry-run"]));
    assert!(shown.contains("-- a few words: `str_replace`"), "{shown}");
    assert!(home.read(file).contains("`str_replace`"));
    assert!(install(&["--read-only"]).status.success());
    let text = home.read(file);
    assert!(!text.contains("`str_replace`"), "{text}");
    let copies = || std::fs::read_dir(home.path(".cursor/skills/lapidary")).unwrap().count();
    assert_eq!(copies(), 1, "no copy of what can be made again");
    // Of an older version, as far as the file says.
    home.write(file, &text.replace(env!("CARGO_PKG_VERSION"), "0.0.1"));
    assert!(!install(&[]).status.success(), "its digest does not fit");
    // Edited by hand.
    let edited = format!("{text}\nMine.\n");
    home.write(file, &edited);
    let refused = install(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(complaint(&refused).contains("edited by hand; --force"), "{}", complaint(&refused));
    assert_eq!(home.read(file), edited);
    assert!(home.well(&["skill", "list"]).contains("edited by hand"));
    assert!(!home.run(&["skill", "uninstall", "--yes"]).status.success());
    assert!(install(&["--force"]).status.success());
    assert!(!home.read(file).contains("Mine."));
    assert_eq!(copies(), 2, "what the user wrote is kept");
    // A file of another origin is never removed.
    home.write(file, "---\nname: lapidary\n---\nmine\n");
    assert!(!install(&[]).status.success());
    home.well(&["skill", "uninstall", "--yes"]);
    assert!(home.read(file).contains("mine"));
}

#[test]
fn a_skill_goes_into_any_folder_or_to_the_screen() {
    let home = ClientHome::new();
    let nobody = home.run(&SKILL);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(complaint(&nobody).contains("--dir"), "{}", complaint(&nobody));
    let before = home.everything();
    let shown = home.well(&["skill", "install", "--print", "--vault", "Notes"]);
    assert!(shown.starts_with("---\nname: lapidary\n"), "{shown}");
    home.well(&["skill", "install", "--dir", "project/skills", "--dry-run", "--vault", "Notes"]);
    assert_eq!(home.everything(), before);
    home.well(&["skill", "install", "--dir", "project/skills", "--yes", "--vault", "Notes"]);
    assert_eq!(home.read("project/skills/lapidary/SKILL.md"), shown);
    home.well(&["skill", "uninstall", "--dir", "project/skills", "--yes"]);
    assert_eq!(home.everything(), before);
    for (words, part) in [
        (&["skill", "install", "claude-desktop", "--vault", "Notes"][..], "no folder of skills"),
        (&["skill", "install", "curser", "--vault", "Notes"], "cursor"),
        (&["skill", "install", "cursor", "--dir", "x", "--vault", "Notes"], "cannot be used with"),
    ] {
        let refused = home.run(words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        assert!(complaint(&refused).contains(part), "{words:?}: {}", complaint(&refused));
    }
    let unanswered = home.run(&["skill", "install", "cursor", "--vault", "Notes"]);
    assert_eq!(unanswered.status.code(), Some(1));
    assert_eq!(home.everything(), before);
}
