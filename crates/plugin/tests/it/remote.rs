//! A vault behind the plugin: what is read and listed, and what a change leaves on both sides when it goes well and when it
//! does not.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion, FaultKind, PluginFault};
use lapidary_plugin::RemoteBackend;
use lapidary_store::{
    Backend, Change, ChangeOrigin, ChangeSet, CommitError, ContentGuard, Cursor, File, ListingOptions, PathFilter,
    Receipt, RemoteFault, Scope, StoreError, TrashKind, Turn, TurnError, VaultDelta, VaultLimits, VaultNews,
    posix::StateFolder,
};

use crate::{connect, path};

const LIMIT: u64 = 1 << 20;

fn backend(plugin: &FakePlugin, state: &Path) -> RemoteBackend {
    let folder = StateFolder::of_remote(state.to_owned(), &format!("{} {}", plugin.url(), plugin.key()));
    RemoteBackend::new(connect(plugin), &Arc::new(folder), &VaultLimits::default())
}

/// Plugins of all versions without TLS, each with a backend.
fn every_vault(files: &[(&str, &[u8])]) -> Vec<(FakePlugin, RemoteBackend, tempfile::TempDir)> {
    let vault = |version: FakeVersion| {
        let plugin = FakePlugin::start(FakeSetup::new(version).with_files(files));
        let state = tempfile::tempdir().unwrap();
        let backend = backend(&plugin, state.path());
        (plugin, backend, state)
    };
    FakeVersion::ALL.map(vault).into()
}

pub(crate) fn one_vault(
    version: FakeVersion,
    files: &[(&str, &[u8])],
) -> (FakePlugin, RemoteBackend, tempfile::TempDir) {
    let plugin = FakePlugin::start(FakeSetup::new(version).with_files(files));
    let state = tempfile::tempdir().unwrap();
    let backend = backend(&plugin, state.path());
    (plugin, backend, state)
}

fn origin() -> ChangeOrigin {
    let time = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    ChangeOrigin {
        tool: "test".to_owned(),
        client: "test".to_owned(),
        time,
        approval: None,
        call: None,
        restores: false,
    }
}

pub(crate) fn commit(backend: &RemoteBackend, changes: Vec<Change>) -> Result<Receipt, CommitError> {
    let turn = Turn::new(backend.turn(&|| true).unwrap());
    turn.commit(&ChangeSet { changes }, &Scope::default(), &origin())
}

fn file(backend: &RemoteBackend, name: &str) -> Arc<File> {
    let found = backend.read(&path(name), LIMIT, &|_| true).unwrap();
    Arc::new(File { content: found.bytes.into(), modified: None, created: None })
}

fn write(backend: &RemoteBackend, name: &str, content: &str) -> Change {
    let before = file(backend, name);
    Change::Write { path: path(name), before, guard: ContentGuard::Plan, content: content.to_owned().into() }
}

pub(crate) fn create(name: &str, content: &str) -> Change {
    Change::Create { path: path(name), content: content.to_owned().into() }
}

fn text(plugin: &FakePlugin, name: &str) -> Option<String> {
    plugin.read(name).map(|bytes| String::from_utf8(bytes).unwrap())
}

pub(crate) fn names(backend: &RemoteBackend, cursor: &mut Cursor) -> Option<Vec<String>> {
    let look = ListingOptions { skip: &|_| false, read: None, go_on: &|| true };
    match backend.changes_since(cursor, &look).unwrap() {
        VaultDelta::Everything { walked, .. } => {
            Some(walked.files.into_iter().map(|(path, _)| path.to_string()).collect())
        }
        VaultDelta::Places(places) => {
            assert!(places.is_empty());
            None
        }
    }
}

#[test]
fn files_are_read_and_listed() {
    let files: &[(&str, &[u8])] =
        &[("a.md", b"\xef\xbb\xbfa\r\n"), ("x/b.md", b"b"), ("x/y/c.png", b"ccc"), (".obsidian/app.json", b"{}")];
    for (_plugin, backend, _state) in every_vault(files) {
        let read = backend.read(&path("a.md"), LIMIT, &|_| true).unwrap();
        assert_eq!(read.bytes, b"\xef\xbb\xbfa\r\n");
        assert!(read.modified.is_some() && read.created.is_some());
        let mut loaded = Vec::new();
        let stat = backend.load(&path("a.md"), LIMIT, &mut loaded).unwrap();
        assert_eq!(loaded, b"\xef\xbb\xbfa\r\n");
        assert_eq!(backend.stamp(&path("a.md")).unwrap(), Some(stat.stamp));
        assert_eq!(backend.stamp(&path("z.md")).unwrap(), None);
        assert_eq!(backend.read(&path("x"), LIMIT, &|_| true).unwrap_err(), StoreError::IsFolder);
        assert_eq!(backend.list(Some(&path("z")), &|_| true).unwrap_err(), StoreError::Missing);
        assert_eq!(backend.list(Some(&path("a.md")), &|_| true).unwrap_err(), StoreError::NotAFile);
        let listed: Vec<String> =
            backend.list(Some(&path("x")), &|_| true).unwrap().into_iter().map(|it| it.path.to_string()).collect();
        assert_eq!(listed, ["x/b.md", "x/y"]);
        let mut cursor = Cursor::default();
        assert_eq!(names(&backend, &mut cursor).unwrap(), ["a.md", "x/b.md", "x/y/c.png"]);
        let too_large = backend.read(&path("a.md"), 3, &|_| true).unwrap_err();
        assert_eq!(too_large, StoreError::TooLarge { bytes: 6, limit: 3 });
    }
}

#[test]
fn one_query_follows_the_vault() {
    let (plugin, backend, _state) = one_vault(FakeVersion::V5_1, &[("a.md", b"a"), ("b.md", b"b")]);
    let mut cursor = Cursor::default();
    assert_eq!(names(&backend, &mut cursor).unwrap(), ["a.md", "b.md"]);
    plugin.take_requests();
    assert_eq!(names(&backend, &mut cursor), None);
    assert!(plugin.take_requests().is_empty(), "it was asked a moment ago");
    commit(&backend, vec![create("c.md", "c")]).unwrap();
    plugin.take_requests();
    assert_eq!(names(&backend, &mut cursor).unwrap(), ["a.md", "b.md", "c.md"]);
    let asked: Vec<String> = plugin.take_requests().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, ["/search/"]);
}

#[test]
fn changes_of_each_kind_arrive_and_can_be_undone_from_the_checkpoint() {
    for (plugin, backend, _state) in every_vault(&[("a.md", b"a"), ("b.md", b"b"), ("c.md", b"c"), ("f/d.md", b"d")]) {
        let trash = |name: &str| Change::Trash {
            path: path(name),
            before: Some(file(&backend, name)),
            guard: ContentGuard::Plan,
            trash: TrashKind::InVault,
        };
        let moved = Change::Move {
            from: path("b.md"),
            to: path("new/b.md"),
            before: Some(file(&backend, "b.md")),
            guard: ContentGuard::Plan,
            content: Some("b2".to_owned().into()),
        };
        let folder = Change::MoveFolder { from: path("f"), to: path("g/f") };
        let set = vec![write(&backend, "a.md", "a2"), create("n.md", "n"), moved, trash("c.md"), folder];
        let receipt = commit(&backend, set).unwrap();
        assert_eq!(text(&plugin, "a.md").unwrap(), "a2");
        assert_eq!(text(&plugin, "n.md").unwrap(), "n");
        assert_eq!(text(&plugin, "new/b.md").unwrap(), "b2");
        assert_eq!(text(&plugin, "g/f/d.md").unwrap(), "d");
        for gone in ["b.md", "c.md", "f/d.md"] {
            assert_eq!(text(&plugin, gone), None, "{gone}");
        }
        // In the app's trash, or in the vault's where the plugin would delete it.
        let in_vault = text(&plugin, ".trash/c.md").is_some();
        assert_ne!(in_vault, plugin.trashed().contains(&"c.md".to_owned()));
        let history = backend.history();
        let found = history.checkpoints(&PathFilter::default(), 10).unwrap();
        assert_eq!(Some(found[0].id.clone()), receipt.checkpoint);
        for entry in found[0].entries.iter().filter(|entry| entry.before.is_some()) {
            assert!(history.content(&entry.before.unwrap()).unwrap().is_some(), "{entry:?}");
        }
    }
}

#[test]
fn a_file_that_changed_since_the_plan_keeps_the_others_work() {
    for (plugin, backend, _state) in every_vault(&[("a.md", b"a"), ("b.md", b"b")]) {
        let set = vec![write(&backend, "b.md", "ours"), write(&backend, "a.md", "ours")];
        plugin.write("a.md", b"theirs");
        let refused = commit(&backend, set).unwrap_err();
        assert_eq!(refused.path, path("a.md"));
        assert!(matches!(refused.error, StoreError::Changed { .. }), "{refused:?}");
        assert_eq!(text(&plugin, "a.md").unwrap(), "theirs");
        assert_eq!(text(&plugin, "b.md").unwrap(), "b");
        let refused = commit(&backend, vec![create("a.md", "new")]).unwrap_err();
        assert_eq!(refused.error, StoreError::Exists);
    }
}

#[test]
fn a_file_that_changes_between_comparing_and_writing_is_kept_where_versions_are_named() {
    let (plugin, backend, _state) = one_vault(FakeVersion::V6, &[("a.md", b"a"), ("b.md", b"b")]);
    let set = vec![write(&backend, "a.md", "ours"), write(&backend, "b.md", "ours")];
    let theirs = FaultKind::Written { path: "b.md".to_owned(), bytes: b"theirs".to_vec() };
    plugin.fail(PluginFault::new(theirs).of("PUT", "b.md"));
    let refused = commit(&backend, set).unwrap_err();
    assert!(matches!(refused.error, StoreError::Changed { .. }), "{refused:?}");
    assert_eq!(text(&plugin, "b.md").unwrap(), "theirs");
    assert_eq!(text(&plugin, "a.md").unwrap(), "a", "the other file is as it was");
    assert!(backend.capabilities().compare_and_swap);
    assert!(!backend.capabilities().atomic_many);
}

#[test]
fn an_answer_that_is_lost_is_found_out() {
    for (plugin, backend, _state) in every_vault(&[("a.md", b"a"), ("b.md", b"b")]) {
        let delete = Change::Delete { path: path("b.md"), before: file(&backend, "b.md"), guard: ContentGuard::Plan };
        let set = vec![write(&backend, "a.md", "a2"), create("n.md", "n"), delete];
        for method in ["PUT", "DELETE"] {
            plugin.fail(PluginFault::new(FaultKind::Unanswered).of(method, ".md"));
        }
        plugin.fail(PluginFault::status(503).of("PUT", "n.md"));
        let receipt = commit(&backend, set).unwrap();
        assert!(receipt.checkpoint.is_some());
        assert_eq!(text(&plugin, "a.md").unwrap(), "a2");
        assert_eq!(text(&plugin, "n.md").unwrap(), "n");
        assert_eq!(text(&plugin, "b.md"), None);
    }
}

#[test]
fn a_set_that_fails_midway_is_taken_back() {
    for (plugin, backend, _state) in every_vault(&[("a.md", b"a"), ("b.md", b"b")]) {
        let set = vec![write(&backend, "a.md", "a2"), create("n.md", "n"), write(&backend, "b.md", "b2")];
        plugin.fail(PluginFault::status(400).of("PUT", "b.md"));
        let refused = commit(&backend, set).unwrap_err();
        assert_eq!(refused.error, StoreError::Remote(RemoteFault::Failing { status: Some(400) }));
        assert_eq!(text(&plugin, "a.md").unwrap(), "a");
        assert_eq!(text(&plugin, "b.md").unwrap(), "b");
        assert_eq!(text(&plugin, "n.md"), None);
        assert!(backend.history().checkpoints(&PathFilter::default(), 10).unwrap().is_empty());
    }
}

#[test]
fn a_connection_that_dies_midway_leaves_a_trail_that_the_next_turn_follows() {
    for (mut plugin, backend, state) in every_vault(&[("a.md", b"a"), ("b.md", b"b")]) {
        let set = vec![write(&backend, "a.md", "a2"), write(&backend, "b.md", "b2")];
        // The second write is not carried out, and nothing answers any more.
        plugin.fail(PluginFault::new(FaultKind::Reset).of("PUT", "b.md").times(usize::MAX));
        // The commit reads it when it plans, and without versions again just before it writes.
        let reads = if connect(&plugin).status().unwrap().version.major < 6 { 2 } else { 1 };
        plugin.fail(PluginFault::status(401).of("GET", "b.md").after(reads).times(usize::MAX));
        let refused = commit(&backend, set).unwrap_err();
        assert_eq!(refused.error, StoreError::Unsure, "{refused:?}");
        plugin.stop();
        drop(backend);
        let again = self::backend(&plugin, state.path());
        assert!(matches!(again.turn(&|| true).map(drop), Err(TurnError::Remote(RemoteFault::Unreachable))));
        plugin.resume();
        plugin.forget_faults();
        drop(again.turn(&|| true).unwrap());
        assert_eq!(text(&plugin, "a.md").unwrap(), "a");
        assert_eq!(text(&plugin, "b.md").unwrap(), "b");
        assert_eq!(again.take_news(), [] as [VaultNews; 0], "nothing is left of it");
        commit(&again, vec![write(&again, "a.md", "a3")]).unwrap();
        assert_eq!(text(&plugin, "a.md").unwrap(), "a3");
    }
}

#[test]
fn each_failure_of_the_connection_has_its_name() {
    let (mut plugin, backend, _state) = one_vault(FakeVersion::V5_1, &[("a.md", b"a")]);
    let read = || backend.read(&path("a.md"), LIMIT, &|_| true).unwrap_err();
    plugin.set_key("another");
    assert_eq!(read(), StoreError::Remote(RemoteFault::KeyRejected));
    plugin.fail(PluginFault::status(500).times(4));
    assert_eq!(read(), StoreError::Remote(RemoteFault::Failing { status: Some(500) }));
    plugin.stop();
    assert_eq!(read(), StoreError::Remote(RemoteFault::Unreachable));
}

#[test]
fn a_folder_comes_with_its_first_file() {
    let (plugin, backend, _state) = one_vault(FakeVersion::V5_1, &[("a.md", b"a")]);
    let alone = commit(&backend, vec![Change::MakeFolder { path: path("f") }]).unwrap_err();
    assert_eq!(alone.error, StoreError::Remote(RemoteFault::NoEmptyFolders));
    commit(&backend, vec![Change::MakeFolder { path: path("f") }, create("f/n.md", "n")]).unwrap();
    assert_eq!(text(&plugin, "f/n.md").unwrap(), "n");
    let below = commit(&backend, vec![create("a.md/b.md", "b")]).unwrap_err();
    assert_eq!(below.error, StoreError::NotAFile);
}
