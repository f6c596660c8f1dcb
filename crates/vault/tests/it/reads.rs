//! What a reader gets for anything that can be at a path.

use lapidary_note::ContentHash;
use lapidary_vault::{PathDenied, PathError, Policy, ReadError, VaultPath, store::StoreError};

use crate::scratch::{Scratch, deny, denying, missing, prefixes, vault_path};

fn store(error: StoreError) -> ReadError {
    ReadError::Store(error)
}

#[test]
fn a_file_is_its_bytes_and_their_hash() {
    let scratch = Scratch::new();
    for bytes in [&b""[..], b"\0", b"\xef\xbb\xbfa\r\nb\r", b"\xff\xfe not UTF-8", "石\n".as_bytes()] {
        scratch.put("a.md", bytes);
        let file = scratch.view().read(&vault_path("a.md")).unwrap();
        assert_eq!(file.bytes(), bytes);
        assert_eq!(file.hash(), ContentHash::of(bytes));
        assert_eq!(file.modified, std::fs::metadata(scratch.at("a.md")).unwrap().modified().ok());
    }
}

#[test]
fn a_path_that_breaks_off_anywhere_is_missing() {
    let scratch = Scratch::with(&[("folder/a.md", "a")]);
    for path in ["b.md", "folder/b.md", "no/b.md", "no/no/b.md", "folder/a.md/b.md", "folder/a.md/no/b.md"] {
        assert_eq!(scratch.read(path), Err(missing()), "{path}");
    }
}

#[test]
fn a_folder_is_not_a_file() {
    let scratch = Scratch::with(&[("folder/a.md", "a")]);
    assert_eq!(scratch.read("folder"), Err(store(StoreError::IsFolder)));
    assert_eq!(scratch.read("folder/"), Err(store(StoreError::IsFolder)));
}

#[test]
fn the_limit_is_the_last_size_that_is_read() {
    let scratch = Scratch::with(&[("a.md", "12345"), ("empty.md", "")]);
    let read = |path: &str, limit| {
        let view = scratch.vault.view(std::sync::Arc::default(), limit);
        view.read(&vault_path(path)).map(|file| file.content.len())
    };
    assert_eq!(read("a.md", 5), Ok(5));
    assert_eq!(read("a.md", 4), Err(store(StoreError::TooLarge { bytes: 5, limit: 4 })));
    assert_eq!(read("a.md", 0), Err(store(StoreError::TooLarge { bytes: 5, limit: 0 })));
    assert_eq!(read("empty.md", 0), Ok(0));
    assert_eq!(read("a.md", u64::MAX), Ok(5));
}

#[test]
fn a_huge_file_is_refused_by_its_size_alone() {
    let scratch = Scratch::new();
    let bytes = 1 << 40;
    std::fs::File::create(scratch.at("huge.md")).unwrap().set_len(bytes).unwrap();
    let view = scratch.vault.view(std::sync::Arc::default(), 1000);
    let error = view.read(&vault_path("huge.md")).map(|_| ()).unwrap_err();
    assert_eq!(error, store(StoreError::TooLarge { bytes, limit: 1000 }));
}

#[test]
fn a_view_keeps_its_files_and_a_new_view_sees_the_current_ones() {
    let scratch = Scratch::with(&[("a.md", "old")]);
    let view = scratch.view();
    assert_eq!(view.read(&vault_path("a.md")).unwrap().bytes(), b"old");
    scratch.put("a.md", "new");
    assert_eq!(view.read(&vault_path("a.md")).unwrap().bytes(), b"old");
    assert_eq!(scratch.read("a.md").unwrap(), b"new");
}

#[test]
fn a_closed_path_is_refused_by_its_string_whatever_is_there() {
    let scratch = Scratch::with(&[("secret/there.md", "s"), (".obsidian/app.json", "{}"), ("off/there.md", "o")]);
    let scope = Policy { read: Some(prefixes(&["open", "secret"])), ..denying(&["secret"]) }.into();
    let outside = PathDenied::OutsideReadPaths { allowed: prefixes(&["open", "secret"]) };
    for (closed, denied) in [
        ("secret/there.md", PathDenied::InDenyPaths),
        ("secret/not-there.md", PathDenied::InDenyPaths),
        ("SECRET/there.md", PathDenied::InDenyPaths),
        ("secret", PathDenied::InDenyPaths),
        (".obsidian/app.json", PathDenied::Hidden),
        (".obsidian/not-there.json", PathDenied::Hidden),
        (".not-there/x", PathDenied::Hidden),
        ("off/there.md", outside.clone()),
        ("off/not-there.md", outside),
    ] {
        assert_eq!(scratch.read_as(&scope, closed), Err(ReadError::Denied(denied)), "{closed}");
    }
}

#[test]
fn a_name_may_hold_anything_that_people_put_into_names() {
    let scratch = Scratch::new();
    for name in [
        "a \"quoted\" 'name'.md",
        " leading and trailing .md ",
        "石 – naïve 🦀.md",
        "semi;colon & $(echo) `x` *?[a].md",
        "12:30.md",
        "a..b...",
        "-rf",
        "~",
        "%2e%2e",
        "x (deleted)",
    ] {
        scratch.put(name, name);
        assert_eq!(scratch.read(name).unwrap(), name.as_bytes(), "{name}");
        assert!(scratch.list("").unwrap().contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn a_name_with_a_control_character_is_neither_accepted_nor_listed() {
    let scratch = Scratch::with(&[("ordinary.md", "")]);
    for name in ["line\nbreak.md", "tab\t.md", "escape\u{1b}[31m.md", "delete\u{7f}.md", "c1\u{85}.md"] {
        scratch.put(name, "x");
        assert_eq!(VaultPath::parse(name), Err(PathError::ControlCharacter), "{name:?}");
    }
    assert_eq!(scratch.list("").unwrap(), ["ordinary.md"]);
}

/// A name that other systems treat as two names. Parsing turns `\` into `/`, so such a file has no path of ours.
#[cfg(unix)]
#[test]
fn a_backslash_in_a_name_never_refers_to_another_file() {
    let scratch = Scratch::with(&[("a/b.md", "the file in the folder"), ("a\\b.md", "the odd one"), ("c\\d.md", "x")]);
    assert_eq!(scratch.read("a\\b.md").unwrap(), b"the file in the folder");
    assert_eq!(scratch.read("c\\d.md"), Err(missing()));
    assert_eq!(scratch.list("").unwrap(), ["a/"], "listed files can be read");
    assert_eq!(scratch.list("a").unwrap(), ["a/b.md"]);
    scratch.link("link.md", "a\\b.md");
    assert_eq!(scratch.read("link.md"), Err(store(StoreError::BadName)), "never the file in the folder");
    scratch.link("through", "a\\");
    assert_eq!(scratch.read("through/b.md"), Err(missing()));
}

#[test]
fn the_longest_names_work_and_longer_ones_are_refused_by_their_string() {
    let scratch = Scratch::new();
    let longest = "x".repeat(255);
    scratch.put(&longest, "x");
    assert_eq!(scratch.read(&longest).unwrap(), b"x");
    assert_eq!(VaultPath::parse(&"x".repeat(256)), Err(PathError::TooLong));
    // 128 characters of two bytes: bytes count.
    assert_eq!(VaultPath::parse(&"ä".repeat(128)), Err(PathError::TooLong));
    // No system call accepts a path of this length, so there cannot be a file. The answer is typed either way.
    let deep = vec!["d".repeat(100); 40].join("/");
    assert!(matches!(scratch.read(&deep), Err(ReadError::Store(StoreError::Missing | StoreError::BadName))));
    let too_deep = vec!["d".repeat(99); 41].join("/");
    assert_eq!(too_deep.len(), 4099);
    assert_eq!(VaultPath::parse(&too_deep), Err(PathError::TooLong));
    let at_the_edge = &too_deep[3..];
    assert!(matches!(scratch.read(at_the_edge), Err(ReadError::Store(StoreError::Missing | StoreError::BadName))));
}

/// On Linux the two spellings can be two files, on macOS they are one. Rules treat them as the same, so that none has a
/// hole there.
#[cfg(target_os = "linux")]
#[test]
fn composed_and_decomposed_names_are_two_files_and_one_rule() {
    let scratch = Scratch::new();
    let (composed, decomposed) = ("\u{e9}.md", "e\u{301}.md");
    scratch.put(composed, "composed");
    scratch.put(decomposed, "decomposed");
    assert_eq!(scratch.read(composed).unwrap(), b"composed");
    assert_eq!(scratch.read(decomposed).unwrap(), b"decomposed");
    assert_eq!(scratch.list("").unwrap(), [decomposed, composed]);
    for rule in [composed, decomposed] {
        for asked in [composed, decomposed] {
            assert_eq!(scratch.read_as(&deny(&[rule]), asked), Err(ReadError::Denied(PathDenied::InDenyPaths)));
        }
        assert!(scratch.list_as(&deny(&[rule]), "").unwrap().is_empty());
    }
}

#[cfg(unix)]
mod special {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    /// Fails instead of hanging.
    fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(work()));
        receiver.recv_timeout(Duration::from_secs(5)).expect("it waits for something that never comes")
    }

    #[test]
    fn a_pipe_is_refused_at_once() {
        let scratch = Scratch::with(&[("a.md", "a")]);
        scratch.pipe("pipe.md");
        scratch.link("link.md", "pipe.md");
        in_time(move || {
            assert_eq!(scratch.read("pipe.md"), Err(store(StoreError::NotAFile)));
            assert_eq!(scratch.read("link.md"), Err(store(StoreError::NotAFile)));
            assert_eq!(scratch.read("pipe.md/x"), Err(missing()));
            assert_eq!(scratch.list("").unwrap(), ["a.md"]);
        });
    }

    #[test]
    fn a_pipe_that_takes_the_place_of_a_note_stops_the_change_at_once() {
        let scratch = Scratch::with(&[("a.md", "a")]);
        let change = scratch.plan("a.md", "b");
        std::fs::remove_file(scratch.at("a.md")).unwrap();
        scratch.pipe("a.md");
        in_time(move || scratch.refuses(change, StoreError::NotAFile));
    }

    #[test]
    fn a_socket_is_not_a_file() {
        let scratch = Scratch::new();
        let _listening = std::os::unix::net::UnixListener::bind(scratch.at("socket.md")).unwrap();
        assert_eq!(scratch.read("socket.md"), Err(store(StoreError::NotAFile)));
        assert!(scratch.list("").unwrap().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_never_opened() {
        use rustix::fs::{CWD, FileType, Mode};
        let scratch = Scratch::new();
        // The endless one, 1:5, is `/dev/zero`: reading it would never end.
        let made = rustix::fs::mknodat(
            CWD,
            scratch.at("device.md"),
            FileType::CharacterDevice,
            Mode::RWXU,
            rustix::fs::makedev(1, 5),
        );
        if let Err(error) = made {
            eprintln!("skipped: this user may not make devices ({error})");
            return;
        }
        in_time(move || {
            assert_eq!(scratch.read("device.md"), Err(store(StoreError::NotAFile)));
            assert!(scratch.list("").unwrap().is_empty());
        });
    }
}
