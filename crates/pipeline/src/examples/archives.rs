//! Archives that were made by hand to do harm. No program that writes archives can be asked for these.

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_tools::ReasonKind;
use serde_json::json;

use crate::testing::{TestServer, TestSetup};

/// An entry as the two places that describe it say.
#[derive(Clone)]
struct ForgedEntry {
    name: &'static str,
    /// What the entry itself is called, if not the same.
    local_name: Option<&'static str>,
    bytes: Vec<u8>,
    checksum: u32,
    size: u32,
    /// Of the system that made it, and what it says about the file.
    made_by: u16,
    attributes: u32,
    /// Where the directory says that it is, if not where it is.
    at: Option<u32>,
}

const UNIX: u16 = 3 << 8;

impl ForgedEntry {
    fn of(name: &'static str, text: &str) -> Self {
        let bytes = text.as_bytes().to_vec();
        Self {
            name,
            local_name: None,
            checksum: checksum(&bytes),
            size: u32::try_from(bytes.len()).unwrap(),
            bytes,
            made_by: UNIX,
            attributes: 0o100_644 << 16,
            at: None,
        }
    }

    /// The fields that both places have.
    fn described(&self, name: &str) -> Vec<u8> {
        // Version, flags, method (stored), time and date.
        let mut fields: Vec<u8> = [20_u16, 0, 0, 0, 0x21].iter().flat_map(|field| field.to_le_bytes()).collect();
        let packed = u32::try_from(self.bytes.len()).unwrap();
        fields.extend([self.checksum, packed, self.size].iter().flat_map(|field| field.to_le_bytes()));
        fields.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        fields.extend(0_u16.to_le_bytes());
        fields
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg()))
    }) ^ u32::MAX
}

fn forged(entries: &[ForgedEntry]) -> Vec<u8> {
    let (mut whole, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = entry.at.unwrap_or(u32::try_from(whole.len()).unwrap());
        let local = entry.local_name.unwrap_or(entry.name);
        // One that is only listed shares the bytes of another.
        if entry.at.is_none() {
            whole.extend(b"PK\x03\x04");
            whole.extend(entry.described(local));
            whole.extend(local.as_bytes());
            whole.extend(&entry.bytes);
        }
        directory.extend(b"PK\x01\x02");
        directory.extend(entry.made_by.to_le_bytes());
        directory.extend(entry.described(entry.name));
        // No comment, first disk, no internal attributes.
        directory.extend([0; 6]);
        directory.extend(entry.attributes.to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(entry.name.as_bytes());
    }
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    let (size, start) = (u32::try_from(directory.len()).unwrap(), u32::try_from(whole.len()).unwrap());
    whole.extend(directory);
    whole.extend(b"PK\x05\x06\0\0\0\0");
    whole.extend([count, count].concat());
    whole.extend([size, start].iter().flat_map(|field| field.to_le_bytes()));
    whole.extend([0; 2]);
    whole
}

fn server_with(bytes: &[u8]) -> TestServer {
    let server = TestSetup::default().serve(&[]);
    server.done("attachment_add", json!({ "name": "a.zip", "data": BASE64_STANDARD.encode(bytes) }));
    server
}

fn assert_refused(entries: &[ForgedEntry], problem: &str) {
    let server = server_with(&forged(entries));
    let refused = server.refused("zip_extract", json!({ "path": "a.zip", "folder": "Into" }));
    assert_eq!(refused.data()["problem"], problem, "{refused}");
    let there = server.done("file_list", json!({}));
    assert!(!there.to_string().contains("Into"), "{there:#}");
}

#[test]
fn a_plain_one_made_the_same_way_is_extracted() {
    let entries = [ForgedEntry::of("a.md", "one\n"), ForgedEntry::of("sub/b.md", "two\n")];
    let server = server_with(&forged(&entries));
    let done = server.done("zip_extract", json!({ "path": "a.zip", "folder": "Into" }));
    assert_eq!(done["files"], json!(["Into/a.md", "Into/sub/b.md"]));
    assert_eq!(server.text("Into/sub/b.md"), "two\n");
}

#[test]
fn entries_that_share_their_bytes_are_refused() {
    let first = ForgedEntry::of("a.md", "one\n");
    assert_refused(&[first.clone(), ForgedEntry { name: "b.md", at: Some(0), ..first.clone() }], "overlap");
    // An entry that has the next one within it, as bombs without nesting do.
    let inner = ForgedEntry::of("inner.md", "x\n");
    let within = forged(std::slice::from_ref(&inner));
    let mut outer = ForgedEntry::of("outer.md", "");
    outer.bytes = within[..30 + "inner.md".len() + 2].to_vec();
    (outer.size, outer.checksum) = (u32::try_from(outer.bytes.len()).unwrap(), checksum(&outer.bytes));
    let at = u32::try_from(30 + "outer.md".len()).unwrap();
    assert_refused(&[outer, ForgedEntry { at: Some(at), ..inner }], "overlap");
    // Bytes of the directory itself.
    let mut bytes = forged(&[ForgedEntry::of("a.md", "one\n")]);
    bytes[18..22].copy_from_slice(&64_u32.to_le_bytes());
    let directory = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    bytes[directory + 20..directory + 24].copy_from_slice(&64_u32.to_le_bytes());
    let refused = server_with(&bytes).refused("zip_extract", json!({ "path": "a.zip", "folder": "Into" }));
    assert_eq!(refused.data()["problem"], "overlap", "{refused}");
}

#[test]
fn two_entries_of_one_name_are_refused() {
    assert_refused(&[ForgedEntry::of("a.md", "one\n"), ForgedEntry::of("a.md", "two\n")], "twice");
    assert_refused(&[ForgedEntry::of("A.md", "one\n"), ForgedEntry::of("a.MD", "two\n")], "twice");
    assert_refused(&[ForgedEntry::of("\u{e9}.md", "one\n"), ForgedEntry::of("e\u{301}.md", "two\n")], "twice");
}

#[test]
fn entries_that_lie_are_refused() {
    let entry = ForgedEntry::of("a.md", "one\n");
    for size in [0, 3, 5, u32::MAX - 1] {
        assert_refused(&[ForgedEntry { size, ..entry.clone() }], "broken");
    }
    assert_refused(&[ForgedEntry { checksum: 1, ..entry.clone() }], "broken");
    // A list for those who look, and another name for those who unpack.
    assert_refused(&[ForgedEntry { local_name: Some("b.md"), ..entry.clone() }], "broken");
    let elsewhere = ForgedEntry { name: "b.md", at: Some(1 << 20), ..entry.clone() };
    assert_refused(&[entry, elsewhere], "broken");
}

#[test]
fn only_plain_files_with_plain_names_are_extracted() {
    for kind in [0o120_000, 0o020_000, 0o060_000, 0o010_000, 0o140_000, 0o040_000] {
        let attributes = (kind | 0o644_u32) << 16;
        assert_refused(&[ForgedEntry { attributes, ..ForgedEntry::of("a.md", "/etc/passwd") }], "not_a_file");
    }
    for name in [
        "../a.md",
        "a/../../b.md",
        "/a.md",
        "//a.md",
        "a//b.md",
        "./a.md",
        "a/./b.md",
        "..",
        "a\\b.md",
        "\\\\host\\a.md",
        "C:a.md",
        "C:/a.md",
        "a.md:stream",
        "a\0.md",
        "a\n.md",
        "\u{7f}.md",
    ] {
        assert_refused(&[ForgedEntry::of(name, "x\n")], "name");
    }
    // Windows has devices of these names and drops what is at the end of the last ones.
    for name in
        ["CON.md", "sub/nul", "aux.txt", "LPT1.md", "Com7", "con/a.md", "a.md.", "a.md ", "sub /a.md", "NOTEBO~1.MD"]
    {
        assert_refused(&[ForgedEntry::of(name, "x\n")], "name");
    }
    let long: &'static str = Box::leak(format!("{}.md", "x".repeat(300)).into_boxed_str());
    assert_refused(&[ForgedEntry::of(long, "x\n")], "name");
    let deep: &'static str = Box::leak(format!("{}a.md", "x/".repeat(2_100)).into_boxed_str());
    assert_refused(&[ForgedEntry::of(deep, "x\n")], "name");
}

#[test]
fn an_archive_does_not_write_over_or_into_what_is_there() {
    let server = TestSetup::default().serve(&[("Into/Plan.md", "mine\n")]);
    for (number, name) in ["Plan.md", "plan.md", "Plan.md/b.md"].into_iter().enumerate() {
        let data = BASE64_STANDARD.encode(forged(&[ForgedEntry::of(name, "theirs\n")]));
        server.done("attachment_add", json!({ "name": format!("{number}.zip"), "data": data }));
        let refused = server.refused("zip_extract", json!({ "path": format!("{number}.zip"), "folder": "Into" }));
        assert_ne!(refused.kind(), ReasonKind::InternalError, "{name}: {refused}");
        assert_eq!(server.text("Into/Plan.md"), "mine\n", "{name}");
    }
}
