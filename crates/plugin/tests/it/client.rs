//! What each call does.

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion};
use lapidary_plugin::{FileTimes, Omnisearch, PluginError, PluginUrl, WriteCondition};
use lapidary_query::Period;
use serde_json::json;

use crate::{PATIENCE, connect, every_plugin, path};

const LIMIT: u64 = 1 << 20;

#[test]
fn the_plugin_says_which_version_it_is() {
    for plugin in every_plugin(&[]) {
        let connection = connect(&plugin);
        let status = connection.status().unwrap();
        assert!(status.is_authenticated);
        assert_eq!(status.obsidian.as_deref(), Some("1.12.7"));
        let manifest = status.manifest.unwrap();
        assert_eq!((manifest.id.as_str(), manifest.version), ("obsidian-local-rest-api", status.version.to_string()));
        plugin.set_key("another");
        assert!(!connection.status().unwrap().is_authenticated);
        assert_eq!(connection.list_folder(None), Err(PluginError::KeyRejected));
    }
}

#[test]
fn files_are_read_written_and_moved_byte_for_byte() {
    let odd = b"\xef\xbb\xbfone\r\n\xff".as_slice();
    for plugin in every_plugin(&[("a.md", odd), ("Ärger/b c#1?.md", b"b"), ("d.json", b"{ \"a\": 1 }")]) {
        let connection = connect(&plugin);
        let (a, b) = (path("a.md"), path("Ärger/b c#1?.md"));
        assert_eq!(connection.read_file(&a, LIMIT).unwrap().bytes, odd);
        assert_eq!(connection.read_file(&b, LIMIT).unwrap().bytes, b"b");
        assert_eq!(connection.read_file(&path("d.json"), LIMIT).unwrap().bytes, b"{ \"a\": 1 }");
        assert_eq!(connection.find_file(&a).unwrap().size, odd.len() as u64);
        assert_eq!(connection.read_note(&b, LIMIT).unwrap().place().unwrap(), b);
        connection.put_file(&a, odd, WriteCondition::Nothing).unwrap();
        connection.put_file(&path("d.json"), b"{ \"a\": 2 }", WriteCondition::Nothing).unwrap();
        assert_eq!(plugin.read("a.md").unwrap(), odd);
        assert_eq!(plugin.read("d.json").unwrap(), b"{ \"a\": 2 }");
        connection.move_file(&b, &path("new/ö %41.md"), WriteCondition::Nothing).unwrap();
        assert_eq!(plugin.read("new/ö %41.md").unwrap(), b"b");
        assert_eq!(connection.move_file(&a, &path("d.json"), WriteCondition::Nothing), Err(PluginError::Exists));
        let names: Vec<String> = connection.list_folder(None).unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["a.md", "d.json", "new"]);
        assert_eq!(connection.read_file(&path("new"), LIMIT), Err(PluginError::IsFolder));
        assert_eq!(connection.read_file(&path("b.md"), LIMIT), Err(PluginError::NotFound));
        assert_eq!(connection.read_file(&a, 3), Err(PluginError::TooLarge { limit: 3 }));
        assert_eq!(connection.list_folder(Some(&a)), Err(PluginError::NotFound));
    }
}

#[test]
fn deleted_files_go_to_the_trash_since_version_5() {
    for plugin in every_plugin(&[("a.md", b"a"), ("b.md", b"b")]) {
        let connection = connect(&plugin);
        let version = connection.status().unwrap().version;
        connection.delete_file(&path("a.md"), false, WriteCondition::Nothing).unwrap();
        connection.delete_file(&path("b.md"), true, WriteCondition::Nothing).unwrap();
        assert_eq!(plugin.paths(), [""; 0]);
        let trashed: &[&str] = if version.deletes_to_trash() { &["a.md"] } else { &[] };
        assert_eq!(plugin.trashed(), trashed);
        let again = connection.delete_file(&path("a.md"), false, WriteCondition::Nothing);
        assert_eq!(again, Err(PluginError::NotFound));
    }
}

#[test]
fn a_version_of_a_file_is_a_condition_where_the_plugin_names_it() {
    for plugin in every_plugin(&[("a.md", b"a")]) {
        let connection = connect(&plugin);
        let a = path("a.md");
        let read = connection.read_file(&a, LIMIT).unwrap();
        let is_conditional = connection.status().unwrap().version.major >= 6;
        assert_eq!(read.version.is_some(), is_conditional, "weak tags are not versions");
        let Some(version) = read.version else { continue };
        let written = connection.put_file(&a, b"b", WriteCondition::Version(&version)).unwrap().unwrap();
        let stale = WriteCondition::Version(&version);
        assert_eq!(connection.put_file(&a, b"c", stale), Err(PluginError::Changed));
        assert_eq!(connection.put_file(&a, b"c", WriteCondition::NewFile), Err(PluginError::Changed));
        assert_eq!(connection.move_file(&a, &path("b.md"), stale), Err(PluginError::Changed));
        assert_eq!(connection.delete_file(&a, false, stale), Err(PluginError::Changed));
        assert_eq!(plugin.read("a.md").unwrap(), b"b");
        connection.delete_file(&a, false, WriteCondition::Version(&written)).unwrap();
    }
}

#[test]
fn one_query_gives_the_times_of_all_notes() {
    for plugin in every_plugin(&[("a.md", b"a"), ("x/b.md", b"bb"), ("c.png", b"c"), (".obsidian/app.json", b"{}")]) {
        let found = connect(&plugin).search_notes::<FileTimes>(&json!({ "var": "stat" })).unwrap();
        let found: Vec<_> =
            found.into_iter().map(|it| (it.filename, it.result.size, it.result.modified > 0.0)).collect();
        assert_eq!(found, [("a.md".to_owned(), 1.0, true), ("x/b.md".to_owned(), 2.0, true)]);
    }
}

#[test]
fn the_app_is_asked_for_what_only_it_knows() {
    for plugin in every_plugin(&[("a.md", b"a"), ("Daily/2026-11-18.md", b"today")]) {
        let connection = connect(&plugin);
        assert_eq!(connection.active_note(LIMIT), Err(PluginError::NotFound));
        connection.open_note(&path("a.md"), true).unwrap();
        assert_eq!(connection.active_note(LIMIT).unwrap().path, "a.md");
        plugin.set_commands(&[("editor:save", "Save"), ("a b/c", "Odd")]);
        let commands: Vec<String> = connection.commands().unwrap().into_iter().map(|it| it.id).collect();
        assert_eq!(commands, ["editor:save", "a b/c"]);
        connection.run_command("editor:save").unwrap();
        connection.run_command("a b/c").unwrap();
        assert_eq!(connection.run_command("editor:load"), Err(PluginError::NotFound));
        plugin.set_periodic("daily", "2026-11-18", "Daily/2026-11-18.md");
        plugin.set_periodic("daily", "2026-11-19", "Daily/2026-11-19.md");
        let day = |day| Some(jiff::civil::date(2026, 11, day));
        if !connection.status().unwrap().version.has_periodic_notes() {
            let found = connection.periodic_note(Period::Daily, None, LIMIT);
            assert_eq!(found, Err(PluginError::PeriodUnsupported));
            continue;
        }
        let found = connection.periodic_note(Period::Daily, day(18), LIMIT).unwrap();
        assert_eq!(found.content, "today");
        assert_eq!(connection.periodic_note(Period::Daily, day(19), LIMIT), Err(PluginError::NotFound));
        assert_eq!(connection.periodic_note(Period::Weekly, None, LIMIT), Err(PluginError::PeriodDisabled));
        connection.make_periodic_note(Period::Daily).unwrap();
        assert_eq!(connection.periodic_note(Period::Daily, None, LIMIT).unwrap().path, "Daily/2026-11-19.md");
    }
}

#[test]
fn omnisearch_gets_no_key() {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("x/a.md", b"some words")]));
    let omnisearch = Omnisearch::new(PluginUrl::parse(&plugin.url()).unwrap(), PATIENCE).unwrap();
    let found = omnisearch.search("some words").unwrap();
    assert_eq!((found[0].path.as_str(), found[0].basename.as_str()), ("x/a.md", "a"));
    assert!(omnisearch.search("none of it").unwrap().is_empty());
    assert!(plugin.take_requests().iter().all(|request| request.header("authorization").is_none()));
    let beside = |url: &str| Omnisearch::beside(&PluginUrl::parse(url).unwrap());
    assert_eq!(beside("https://127.0.0.1:27124"), "http://localhost:51361");
    assert_eq!(beside("http://[::1]:27123"), "http://[::1]:51361");
}
