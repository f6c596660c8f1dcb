//! What answers in place of the plugin, or a plugin that lies: bounded, and believed in nothing.

use std::time::{Duration, UNIX_EPOCH};

use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion, FaultKind, PluginFault};
use lapidary_plugin::{PluginError, WriteCondition};
use lapidary_store::{Backend, Cursor, RemoteFault, StoreError};
use serde_json::{Value, json};

use crate::{
    connect, path,
    remote::{commit, create, names, one_vault},
};

const LIMIT: u64 = 1 << 16;
const SECRET: &str = "Secret/hidden.md of the other side";

fn plugin() -> FakePlugin {
    FakePlugin::start(FakeSetup::new(FakeVersion::V5_1).with_files(&[("a.md", b"a")]))
}

fn raw(status: &str, headers: &str, body: impl AsRef<[u8]>) -> FaultKind {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    FaultKind::Raw(bytes)
}

fn ok(kind: &str, body: impl AsRef<[u8]>) -> FaultKind {
    raw("200 OK", &format!("Content-Type: {kind}\r\n"), body)
}

#[test]
fn an_answer_without_an_end_is_cut_off() {
    let plugin = plugin();
    let hasty = connect(&plugin).without_retries().with_timeout(Duration::from_secs(2));
    let file = "HTTP/1.1 200 OK\r\nContent-Disposition: attachment\r\n";
    let endless = |head: String, pause: u64| FaultKind::Endless {
        head: head.into_bytes(),
        part: vec![b'x'; if pause == 0 { 4096 } else { 1 }],
        pause: Duration::from_millis(pause),
    };
    for (kind, expected) in [
        (endless(format!("{file}\r\n"), 0), PluginError::TooLarge { limit: LIMIT }),
        (endless(format!("{file}Content-Length: 99999999999999\r\n\r\n"), 0), PluginError::TooLarge { limit: LIMIT }),
        // A byte now and then keeps no caller waiting longer than the timeout.
        (endless(format!("{file}\r\n"), 100), PluginError::Timeout),
        (endless("HTTP/1.1 200 OK\r\nX: ".to_owned(), 100), PluginError::Timeout),
    ] {
        plugin.fail(PluginFault::new(kind.clone()));
        assert_eq!(hasty.read_file(&path("a.md"), LIMIT).unwrap_err(), expected, "{kind:?}");
    }
    // Headers that never end are not kept.
    plugin.fail(PluginFault::new(endless("HTTP/1.1 200 OK\r\nX: ".to_owned(), 0)));
    assert!(hasty.read_file(&path("a.md"), LIMIT).is_err());
    // The body of an error neither.
    plugin.fail(PluginFault::new(endless("HTTP/1.1 500 No\r\nContent-Type: text/html\r\n\r\n".to_owned(), 0)));
    assert_eq!(hasty.read_file(&path("a.md"), LIMIT), Err(PluginError::Upstream { status: 500 }));
    assert_eq!(hasty.read_file(&path("a.md"), LIMIT).unwrap().bytes, b"a", "the next one is well");
}

#[test]
fn a_page_of_something_else_is_not_a_note() {
    let plugin = plugin();
    let connection = connect(&plugin).without_retries();
    let page = format!("<html>{SECRET}</html>");
    for kind in [
        ok("text/html", &page),
        ok("text/markdown", &page),
        raw("302 Found", "Location: http://127.0.0.1:1/elsewhere\r\n", ""),
        raw("301 Moved", &format!("Location: {}/vault/b.md\r\n", plugin.url()), ""),
        raw("204 No Content", "", ""),
        FaultKind::Raw(format!("SSH-2.0 {SECRET}\r\n").into_bytes()),
        FaultKind::Raw(vec![0xff; 300]),
        FaultKind::Raw(Vec::new()),
        raw("500 No", "Content-Type: text/html\r\n", &page),
        raw("404 Not Found", "Content-Type: text/html\r\n", &page),
    ] {
        let ask = |method| plugin.fail(PluginFault::new(kind.clone()).of(method, "/"));
        ask("GET");
        let read = connection.read_file(&path("a.md"), LIMIT).unwrap_err();
        ask("GET");
        let note = connection.read_note(&path("a.md"), LIMIT).unwrap_err();
        ask("GET");
        let status = connection.status().unwrap_err();
        ask("POST");
        let found = connection.search_notes::<Value>(&json!({})).unwrap_err();
        for error in [read, note, status, found] {
            assert!(!format!("{error} {error:?}").contains("Secret"), "{error:?}");
        }
        assert_eq!(plugin.take_requests().len(), 4, "{kind:?}: nothing is followed");
    }
}

#[test]
fn answers_of_the_wrong_form_are_refused() {
    let plugin = plugin();
    let connection = connect(&plugin).without_retries();
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    let note = "application/vnd.olrapi.note+json";
    for body in [&b"\xff\xfe{}"[..], b"{}", b"[]", b"null", b"{\"path\":3}", deep.as_bytes(), b""] {
        for (kind, expected) in [(note, PluginError::Unexpected), ("application/json", PluginError::IsFolder)] {
            plugin.fail(PluginFault::new(ok(kind, body)));
            assert_eq!(connection.read_note(&path("a.md"), LIMIT).unwrap_err(), expected);
        }
        plugin.fail(PluginFault::new(ok("application/json", body)));
        assert_eq!(connection.status(), Err(PluginError::Unexpected));
        plugin.fail(PluginFault::new(ok("application/json", body)));
        assert_eq!(connection.list_folder(None), Err(PluginError::Unexpected));
        plugin.fail(PluginFault::new(ok("application/json", body)));
        assert_eq!(connection.commands(), Err(PluginError::Unexpected));
    }
    // A status with more values than one can have.
    let many = format!("{{\"versions\":{{\"self\":\"5.1.0\"}},\"manifest\":[{}0]}}", "0,".repeat(1 << 20));
    plugin.fail(PluginFault::new(ok("application/json", many)));
    assert!(matches!(connection.status(), Err(PluginError::TooLarge { .. })));
}

#[test]
fn names_that_lead_elsewhere_and_impossible_times_are_not_followed() {
    let (plugin, backend, _state) = one_vault(FakeVersion::V5_1, &[("a.md", b"a")]);
    let times = |created: f64, modified: f64, size: f64| json!({ "ctime": created, "mtime": modified, "size": size });
    let found = json!([
        { "filename": "a.md", "result": times(0.0, 1e300, 1.0) },
        { "filename": "a.md", "result": times(0.0, 4e12, 1.0) },
        { "filename": "../out.md", "result": times(0.0, 1.0, 1.0) },
        { "filename": "/etc/passwd.md", "result": times(0.0, 1.0, 1.0) },
        { "filename": "x/../../out.md", "result": times(0.0, 1.0, 1.0) },
        { "filename": "C:\\out.md", "result": times(0.0, 1.0, 1.0) },
        { "filename": "", "result": times(0.0, 1.0, 1.0) },
        { "filename": "nul\u{0}.md", "result": times(0.0, 1.0, 1.0) },
        { "filename": ".hidden.md", "result": times(0.0, 1.0, 1.0) },
        { "filename": "old.md", "result": times(-1e300, -1e300, -5.0) },
    ]);
    plugin.fail(PluginFault::new(ok("application/json", found.to_string())).of("POST", "/search/"));
    let listed = json!({ "files": ["a.md", "a.md", "../", "..", "x/../../y/", "/etc/", "./", "", "/", ".hidden/"] });
    plugin.fail(PluginFault::new(ok("application/json", listed.to_string())).of("GET", "/vault/"));
    assert_eq!(names(&backend, &mut Cursor::default()).unwrap(), ["a.md", "old.md"]);
    // A note of the far future, or of before time, is read all the same.
    for modified in [1e300, -1e300, 4e15] {
        let note = json!({ "path": "a.md", "content": "b", "stat": times(modified, modified, 1.0) });
        plugin.fail(PluginFault::new(ok("application/vnd.olrapi.note+json", note.to_string())).of("GET", "a.md"));
        let read = backend.read(&path("a.md"), LIMIT, &|_| true).unwrap();
        assert_eq!(read.bytes, b"a", "the bytes are those of the file");
        assert!(read.modified.is_some_and(|time| time != UNIX_EPOCH));
    }
    // A text that is not as long as it says, or has lost bytes, is read again as a file.
    let note = json!({ "path": "a.md", "content": "not the file", "stat": times(1.0, 1.0, 1.0) });
    plugin.fail(PluginFault::new(ok("application/vnd.olrapi.note+json", note.to_string())).of("GET", "a.md"));
    let mut loaded = Vec::new();
    backend.load(&path("a.md"), LIMIT, &mut loaded).unwrap();
    assert_eq!(loaded, b"a");
}

#[test]
fn a_change_that_something_else_answers_is_found_out() {
    for version in FakeVersion::ALL {
        let (plugin, backend, _state) = one_vault(version, &[("a.md", b"a")]);
        // A proxy says that it went well, and nothing was carried out.
        plugin.fail(PluginFault::new(ok("text/html", "<html>Sign in</html>")).of("GET", "/vault/"));
        let read = backend.read(&path("a.md"), LIMIT, &|_| true);
        assert_eq!(read.unwrap_err(), StoreError::Remote(RemoteFault::Failing { status: None }), "{version:?}");
        plugin.fail(PluginFault::new(raw("302 Found", "Location: http://127.0.0.1:1/\r\n", "")).of("PUT", "n.md"));
        plugin.fail(PluginFault::new(ok("text/html", "<html>Sign in</html>")).of("PUT", "n.md"));
        commit(&backend, vec![create("n.md", "n")]).unwrap();
        assert_eq!(plugin.read("n.md").unwrap(), b"n", "{version:?}: it was sent again");
    }
    let plugin = plugin();
    let connection = connect(&plugin).without_retries();
    plugin.fail(PluginFault::new(ok("text/html", "<html>Sign in</html>")).of("PUT", "n.md"));
    let put = connection.put_file(&path("n.md"), b"n", WriteCondition::NewFile);
    assert_eq!((put, plugin.read("n.md")), (Err(PluginError::Unexpected), None));
}
