//! Attachments that are added, shown and extracted.

use std::io::{Cursor, Write};

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_tools::{BlockKind, Reason, ReasonKind};
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::testing::{TestServer, TestSetup};

fn add(server: &TestServer, name: &str, bytes: &[u8]) -> Value {
    server.done("attachment_add", json!({ "name": name, "data": BASE64_STANDARD.encode(bytes) }))
}

/// An archive with these entries.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The names and contents of an archive.
type ArchiveEntries<'e> = &'e [(&'e str, &'e [u8])];

fn extracted(entries: ArchiveEntries<'_>, more: &Value) -> (TestServer, Value) {
    let server = TestServer::new(&[]);
    add(&server, "a.zip", &archive(entries));
    let mut call = json!({ "path": "a.zip", "folder": "Into" });
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let done = server.done("zip_extract", call);
    (server, done)
}

#[test]
fn an_archive_is_extracted_into_its_folder() {
    let entries: &[(&str, &[u8])] =
        &[("root/a.md", b"a\n"), ("root/sub/b.md", b"b\n"), ("root/.hidden", b"x"), ("__MACOSX/root/a.md", b"x")];
    let (server, done) = extracted(entries, &json!({}));
    assert_eq!((&done["fileCount"], &done["leftOut"]), (&json!(2), &json!(2)));
    assert_eq!(server.text("Into/root/sub/b.md"), "b\n");
    let (server, done) = extracted(entries, &json!({ "stripRoot": true }));
    assert_eq!(done["files"], json!(["Into/a.md", "Into/sub/b.md"]));
    assert_eq!(server.text("Into/a.md"), "a\n");
    server.done("undo", json!({}));
    assert_eq!(server.refused("file_read", json!({ "file": "Into/a.md" })).kind(), ReasonKind::NoteMissing);
}

#[test]
fn an_archive_that_is_not_to_be_trusted_is_refused_as_a_whole() {
    let zeros = vec![0; 6 << 20];
    let many: Vec<(String, &[u8])> = (0..1001).map(|number| (format!("{number}.md"), &b"x"[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let cases: &[(&str, ArchiveEntries<'_>)] = &[
        ("name", &[("ok.md", b"x"), ("../evil.md", b"x")]),
        ("name", &[("a/../../evil.md", b"x")]),
        ("name", &[("/etc/evil.md", b"x")]),
        ("name", &[("a\\..\\evil.md", b"x")]),
        ("name", &[("c:evil.md", b"x")]),
        ("name", &[("\\\\server\\share\\evil.md", b"x")]),
        ("name", &[("nul\0byte.md", b"x")]),
        ("twice", &[("A.md", b"x"), ("a.md", b"y")]),
        ("broken", &[("a.md", b"x"), ("a.md/b.md", b"y")]),
        ("ratio", &[("zeros.bin", &zeros)]),
        ("too_many_entries", &many),
        ("empty", &[(".hidden", b"x")]),
    ];
    let setup = || TestSetup { max_file_bytes: 16 << 20, ..TestSetup::default() };
    for (problem, entries) in cases {
        let server = setup().serve(&[]);
        add(&server, "a.zip", &archive(entries));
        let refused = server.refused("zip_extract", json!({ "path": "a.zip", "folder": "Into" }));
        assert_eq!(refused.data()["problem"], *problem, "{refused}");
        assert_eq!(server.refused("file_read", json!({ "file": "Into/ok.md" })).kind(), ReasonKind::NoteMissing);
    }
    // A link instead of a file.
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("link.md", "../../secret", SimpleFileOptions::default()).unwrap();
    let server = TestServer::new(&[]);
    add(&server, "a.zip", &writer.finish().unwrap().into_inner());
    let refused = server.refused("zip_extract", json!({ "path": "a.zip", "folder": "Into" }));
    assert_eq!(refused.data()["problem"], "not_a_file");
}

#[test]
fn a_broken_archive_is_an_answer() {
    let whole = archive(&[("a.md", &b"text ".repeat(300)), ("b.md", b"b")]);
    for end in (1..whole.len()).step_by(37) {
        let server = TestServer::new(&[]);
        add(&server, "a.zip", &whole[..end]);
        let refused = server.refused("zip_extract", json!({ "path": "a.zip", "folder": "Into" }));
        assert_eq!(refused.kind(), ReasonKind::ArchiveRefused, "{end}");
    }
    for at in (0..whole.len()).step_by(11) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        let server = TestServer::new(&[]);
        add(&server, "a.zip", &flipped);
        let rendered = server.call("zip_extract", json!({ "path": "a.zip", "folder": "Into" })).rendered();
        assert!(!rendered.unwrap().structured().contains("internal"), "{at}");
    }
}

#[test]
fn the_limits_of_files_and_changes_hold_for_what_is_unpacked() {
    let text: Vec<u8> = (0..40_000_u32).flat_map(|number| number.to_le_bytes()).collect();
    let setup = TestSetup { max_file_bytes: 150_000, max_change_bytes: 1 << 24, ..TestSetup::default() };
    let server = setup.serve(&[]);
    let whole = archive(&[("a.bin", &text)]);
    assert!(whole.len() < 150_000 && text.len() > 150_000);
    add(&server, "a.zip", &whole);
    let refused = server.refused("zip_extract", json!({ "path": "a.zip", "folder": "Into" }));
    assert_eq!(refused.kind(), ReasonKind::ArchiveRefused);
    assert!(refused.to_string().contains("LAPIDARY_MAX_FILE_BYTES"), "{refused}");
}

#[test]
fn an_attachment_goes_where_the_settings_say() {
    let setting = |setting: &str| json!({ "attachmentFolderPath": setting }).to_string();
    for (folder, markdown, path, link) in [
        ("/", false, "pic 1.png", "![[pic 1.png]]"),
        ("Files", false, "Files/pic.png", "![[Files/pic.png]]"),
        ("./", false, "N/pic.png", "![[N/pic.png]]"),
        ("./in", true, "N/in/pic.png", "![](N/in/pic.png)"),
    ] {
        let mut app: Value = serde_json::from_str(&setting(folder)).unwrap();
        app["useMarkdownLinks"] = json!(markdown);
        let server = TestServer::new(&[(".obsidian/app.json", &app.to_string()), ("N/a.md", ""), ("pic.png", "old")]);
        let call = json!({ "name": "pic.png", "data": "AAAA", "note": "N/a.md" });
        let done = server.done("attachment_add", call);
        assert_eq!((done["path"].as_str(), done["link"].as_str()), (Some(path), Some(link)), "{folder}");
    }
    let server = TestServer::new(&[]);
    for (name, path) in [("a/b:c?.PNG", "a b c.PNG"), (" .x. .png", "x.png"), ("#[[a]]^|.pdf", "a.pdf")] {
        assert_eq!(add(&server, name, b"x")["path"], path);
    }
    for name in ["png", ".png", "a.", "a.p/g", "..png"] {
        let refused = server.refused("attachment_add", json!({ "name": name, "data": "AAAA" }));
        assert_eq!(refused.kind(), ReasonKind::InvalidArguments, "{name}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test plays the owner")]
fn a_file_is_imported_from_the_folder_of_the_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scan.pdf"), b"%PDF").unwrap();
    let server = TestSetup { imports: Some(folder.path().to_owned()), ..TestSetup::default() }.serve(&[]);
    assert_eq!(server.done("attachment_add", json!({ "source": "scan.pdf" }))["path"], "scan.pdf");
    for source in ["../scan.pdf", "/etc/passwd", "none.pdf", ".hidden"] {
        let refused = server.refused("attachment_add", json!({ "source": source }));
        assert!(matches!(refused, Reason::ImportUnavailable { is_configured: true, .. }), "{source}: {refused}");
    }
}

#[test]
fn a_sound_is_sent_as_sound_if_it_fits() {
    let server = TestSetup { max_reply_bytes: 20_000, ..TestSetup::default() }.serve(&[]);
    add(&server, "a.mp3", &[7; 3_000]);
    let rendered = server.call("attachment_read", json!({ "path": "a.mp3" })).rendered().unwrap();
    assert!(!rendered.is_error, "{}", rendered.structured());
    let [block] = rendered.blocks() else { panic!("one block") };
    assert_eq!((block.kind, &*block.media_type), (BlockKind::Audio, "audio/mpeg"));
    assert_eq!(BASE64_STANDARD.decode(&block.data).unwrap(), [7; 3_000]);
    assert!(rendered.bytes() > 4_000, "the block is counted");
    add(&server, "b.mp3", &[7; 30_000]);
    let refused = server.refused("attachment_read", json!({ "path": "b.mp3" }));
    assert_eq!((refused.kind(), &refused.data()["fault"]), (ReasonKind::AttachmentUnreadable, &json!("output")));
}
