//! A disk that responds to more names than it lists, through every kind of tool: what is closed by its name stays closed
//! under every other, and rules about a folder apply to it by every name that works.

#![expect(clippy::disallowed_methods, reason = "the tests look at the disk")]

use std::{collections::BTreeMap, path::Path, sync::Arc};

use lapidary_tools::{ChangeAuthor, Effect, ReasonKind};
use lapidary_vault::{
    PathPrefix, Policy, Vault, VaultLimits,
    store::{FolderStore, StateFolder},
};
use serde_json::{Value, json};

use crate::{
    ApprovalRule, Caller, CallerStanding, Executor, Invocation, Outcome, Principal, RuleDecision,
    testing::{TestSetup, arguments},
};

/// In every closed file, and nowhere else.
const MARK: &str = "zqsecret";

const OPEN: [(&str, &str); 5] = [
    ("Notes with a long name.md", "# N\n\nopen\n"),
    ("Folder of notes/a.md", "---\nk: 0\n---\n# A\n\nopen [[Notes with a long name]] #t\n"),
    ("Ruled notes/r.md", "---\nk: 0\n---\n# A\n\nopen ruled #t\n"),
    ("Gr\u{f6}\u{df}e/r.md", "---\nk: 0\n---\n# A\n\nopen ruled #t\n"),
    (".lapidaryignore", "Private things/\n"),
];

const CLOSED: [(&str, &str); 4] = [
    ("Private things/secret.md", "---\nk: 0\n---\n# A\n\nopen zqsecret #zqsecret\n"),
    (".obsidian/app.json", "{\"a\":\"zqsecret\"}\n"),
    (".git/config", "open zqsecret\n"),
    (".trash/old.md", "# A\n\nopen zqsecret\n"),
];

/// Names that a disk responds to, and the names that it lists: as Windows creates them; without trailing dots and blanks;
/// without invisible letters; a name of another kind. The tests of the vault use the same.
fn second_names() -> Vec<(String, String)> {
    serde_json::from_str(include_str!("../../../fixtures/second_names.json")).unwrap()
}

/// Paths by second names to closed files, and into their folders.
const INTO_CLOSED: [&str; 12] = [
    "PRIVAT~1/secret.md",
    "PRIVAT~1/SECRET~1.MD",
    "privat~1/Secret.md",
    "Private things/SECRET~1.MD",
    "Private things./secret.md",
    "Private things /secret.md",
    "PRIVATE THINGS/secret.md",
    "X/secret.md",
    "OBSIDI~1/app.json",
    "\u{200b}.obsidian/app.json",
    "GIT~1/config",
    "TRASH~1/old.md",
];

/// The ruled folders by other names, some of which work.
const INTO_RULED: [&str; 6] = [
    "RULED notes/r.md",
    "ruled NOTES/R.MD",
    "RULEDN~1/r.md",
    "Ruled notes. /r.md",
    "Gro\u{308}\u{df}e/r.md",
    "GR\u{d6}\u{df}E/r.md",
];

struct LyingServer {
    executor: Arc<Executor>,
    root: tempfile::TempDir,
    _state: tempfile::TempDir,
}

impl LyingServer {
    fn new(files: &[(&str, &str)]) -> Self {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (path, text) in files {
            let place = root.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        // The disk folds case, and does not tell the two ways to write an accent apart.
        let listed: Vec<String> =
            OPEN.iter().chain(&CLOSED).flat_map(|(path, _)| path.split('/')).map(str::to_owned).collect();
        let second_names = second_names();
        let answers = move |name: &str| {
            let same = |one: &str| folded(one) == folded(name);
            let second = second_names.iter().find(|(second, _)| same(second)).map(|(_, listed)| listed.clone());
            second.or_else(|| listed.iter().find(|listed| same(listed)).cloned())
        };
        let store = Arc::new(FolderStore::new(root.path().to_owned()).answering_to(Arc::new(answers)));
        let folder = Arc::new(StateFolder::new(state.path().to_owned(), root.path().to_owned()));
        let vault = Vault::shared("lying".to_owned(), store, &folder, Policy::default(), VaultLimits::default());
        let denied = |folder: &str, effect| ApprovalRule {
            path: PathPrefix::parse(folder).ok(),
            ..ApprovalRule::effect(effect, RuleDecision::Deny)
        };
        let rules = ["Ruled notes", "Gr\u{f6}\u{df}e"]
            .iter()
            .flat_map(|folder| [denied(folder, Effect::Write), denied(folder, Effect::Destroy)])
            .collect();
        let setup = TestSetup { rules, asks_before_deleting: false, ..TestSetup::default() };
        Self { executor: setup.execute_on(vault, folder), root, _state: state }
    }

    fn call(&self, tool: &str, given: &Value) -> Outcome {
        let principal = Principal {
            id: "tester".to_owned(),
            name: Principal::STDIO.to_owned(),
            grant: Arc::clone(self.executor.grant()),
            can_be_asked: false,
            caller: Caller::of("tester"),
            is_single_client: true,
            author: ChangeAuthor::single("tester".to_owned()),
            standing: CallerStanding::default(),
        };
        let invocation = Invocation::tool(tool, arguments(given.clone()), principal);
        self.executor.run(&invocation, &self.executor.cancel(&invocation))
    }

    /// Every file with its bytes.
    fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let place = entry.unwrap().path();
                if place.is_dir() {
                    folders.push(place);
                } else {
                    let path = place.strip_prefix(self.root.path()).unwrap_or(Path::new("?"));
                    found.insert(path.to_string_lossy().into_owned(), std::fs::read(&place).unwrap());
                }
            }
        }
        found
    }
}

fn folded(name: &str) -> String {
    name.replace("o\u{308}", "\u{f6}").to_lowercase()
}

fn both() -> Vec<(&'static str, &'static str)> {
    OPEN.into_iter().chain(CLOSED).collect()
}

/// Every kind of access to a file, and to the folder that it is in.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
    let target = json!({ "type": "path", "path": path });
    let inside = format!("{folder}/new.md");
    let heading = json!({ "type": "heading", "target": "A" });
    vec![
        ("file_read", json!({ "file": path })),
        ("obsidian_get_note", json!({ "target": target, "format": "full" })),
        ("obsidian_get_note", json!({ "target": target, "format": "document-map" })),
        ("notes_read", json!({ "notes": [path] })),
        ("outline", json!({ "file": path })),
        ("heading_find", json!({ "file": path, "heading": "A" })),
        ("file_read_range", json!({ "file": path, "from": 1, "to": 2 })),
        ("metadata_read", json!({ "file": path })),
        ("frontmatter_get", json!({ "file": path })),
        ("tags_list", json!({ "file": path })),
        ("links_get", json!({ "file": path })),
        ("obsidian_list_notes", json!({ "path": folder })),
        ("file_list", json!({ "directory": folder })),
        ("search_content", json!({ "query": "open", "directory": folder })),
        ("query", json!({ "query": format!("LIST FROM {:?}", folder) })),
        ("query", json!({ "query": "LIST this.k WHERE file.link = this.file.link", "note": path })),
        ("changes", json!({ "since": "2h", "path": folder })),
        ("file_append", json!({ "file": path, "content": "more\n" })),
        ("str_replace", json!({ "file": path, "find": "open", "replace": "shut" })),
        ("apply_edits", json!({ "file": path, "edits": [{ "find": "open", "replace": "shut" }] })),
        ("obsidian_write_note", json!({ "target": target, "content": "x\n", "overwrite": true })),
        ("obsidian_append_to_note", json!({ "target": target, "content": "more\n" })),
        ("obsidian_patch_note", json!({ "target": target, "operation": "append", "content": "x", "section": heading })),
        (
            "obsidian_replace_in_note",
            json!({ "target": target, "replacements": [{ "search": "open", "replace": "shut" }] }),
        ),
        ("obsidian_manage_frontmatter", json!({ "target": target, "operation": "set", "key": "k", "value": 1 })),
        ("obsidian_manage_tags", json!({ "target": target, "operation": "add", "tags": ["new"] })),
        ("section_move", json!({ "file": path, "section": "A", "to": "Moved.md" })),
        ("section_move", json!({ "file": "Notes with a long name.md", "section": "N", "to": inside })),
        ("file_move", json!({ "from": path, "to": "Moved.md" })),
        ("file_move", json!({ "from": "Notes with a long name.md", "to": inside })),
        ("file_delete", json!({ "file": path })),
        ("obsidian_delete_note", json!({ "target": target })),
        ("file_create", json!({ "file": inside, "content": "x\n" })),
        ("base_create", json!({ "file": format!("{folder}/new.base") })),
        ("bulk_apply", json!({ "ops": [{ "tool": "file_append", "args": { "file": path, "content": "more\n" } }] })),
        ("call_tool", json!({ "name": "file_append", "arguments": { "file": path, "content": "more\n" } })),
    ]
}

fn is_answered(outcome: Outcome) -> (bool, String) {
    match outcome.rendered() {
        Some(rendered) => (!rendered.is_error, rendered.structured().to_owned()),
        None => (false, "no reply".to_owned()),
    }
}

#[test]
fn each_of_these_calls_works_by_the_listed_name() {
    for (tool, given) in calls("Folder of notes/a.md") {
        let server = LyingServer::new(&both());
        let (answered, reply) = is_answered(server.call(tool, &given));
        assert!(answered, "{tool} {given}: {reply}");
    }
}

#[test]
fn no_tool_reaches_closed_files_by_a_second_name() {
    let (full, bare) = (LyingServer::new(&both()), LyingServer::new(&OPEN));
    for path in INTO_CLOSED {
        for (tool, given) in calls(path) {
            let before = full.everything();
            let (_, with) = is_answered(full.call(tool, &given));
            assert!(!with.replace(path, "").contains(MARK), "{tool} {given}: {with}");
            assert_eq!(full.everything(), before, "{tool} {given}: {with}");
            let (_, without) = is_answered(bare.call(tool, &given));
            assert_eq!(with, without, "{tool} {given} tells that something is there");
        }
    }
}

#[test]
fn no_tool_gets_around_a_rule_about_a_folder_by_a_second_name() {
    for path in INTO_RULED {
        let server = LyingServer::new(&both());
        for (tool, given) in calls(path) {
            let before = server.everything();
            let (_, reply) = is_answered(server.call(tool, &given));
            assert_eq!(server.everything(), before, "{tool} {given}: {reply}");
        }
    }
    // In another case it works for reading, so it is the rule that refuses the change.
    let server = LyingServer::new(&both());
    assert!(is_answered(server.call("file_read", &json!({ "file": "RULED notes/r.md" }))).0);
    for path in ["RULED notes/r.md", "Gro\u{308}\u{df}e/r.md"] {
        match server.call("file_append", &json!({ "file": path, "content": "x\n" })) {
            Outcome::Refused(refusal) => assert_eq!(refusal.reason.kind(), ReasonKind::DeniedByRule, "{path}"),
            _ => panic!("{path} was changed"),
        }
    }
}

#[test]
fn a_checkpoint_is_restored_in_the_listed_place_and_not_into_a_closed_one() {
    let server = LyingServer::new(&both());
    let edit = json!({ "file": "FOLDER OF NOTES/a.md", "find": "open", "replace": "shut" });
    let (done, reply) = is_answered(server.call("str_replace", &edit));
    assert!(done, "{reply}");
    let made: Value = serde_json::from_str(&reply).unwrap();
    let changed = server.everything();
    for file in ["FOLDER~1/a.md", "PRIVAT~1/secret.md"] {
        let (_, reply) =
            is_answered(server.call("checkpoint_restore", &json!({ "id": made["checkpoint"], "path": file })));
        assert_eq!(server.everything(), changed, "{file}: {reply}");
    }
    let (done, reply) = is_answered(server.call("checkpoint_restore", &json!({ "id": made["checkpoint"] })));
    assert!(done, "{reply}");
    let now = server.everything();
    assert_eq!(now.get("Folder of notes/a.md").map(Vec::as_slice), Some(OPEN[1].1.as_bytes()));
    assert!(CLOSED.iter().all(|(path, text)| now.get(*path).map(Vec::as_slice) == Some(text.as_bytes())));
}
