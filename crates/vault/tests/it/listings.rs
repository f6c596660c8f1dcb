//! What a caller sees in a folder: everything it may see, and nothing it cannot request.

use lapidary_vault::{PathDenied, PathGlobs, Policy, ReadError, Scope, VaultPath, store::StoreError};

use crate::scratch::{Scratch, deny, denying, missing, prefixes};

#[test]
fn a_listing_is_in_name_order_and_one_level_deep() {
    let scratch = Scratch::with(&[("b.md", ""), ("a/y.md", ""), ("a/x/z.md", ""), ("B.md", ""), ("a.md", "")]);
    std::fs::create_dir(scratch.at("empty")).unwrap();
    assert_eq!(scratch.list("").unwrap(), ["B.md", "a/", "a.md", "b.md", "empty/"]);
    assert_eq!(scratch.list("a").unwrap(), ["a/x/", "a/y.md"]);
    assert!(scratch.list("empty").unwrap().is_empty());
}

#[test]
fn only_a_folder_can_be_listed() {
    let scratch = Scratch::with(&[("a.md", "")]);
    assert_eq!(scratch.list("a.md"), Err(ReadError::Store(StoreError::NotAFile)));
    assert_eq!(scratch.list("a.md/x"), Err(missing()));
    assert_eq!(scratch.list("no"), Err(missing()));
}

#[test]
fn hidden_entries_are_not_listed() {
    let scratch = Scratch::with(&[
        ("open/a.md", ""),
        ("open/secret.md", ""),
        ("open/.hidden.md", ""),
        ("secret/a.md", ""),
        (".obsidian/app.json", ""),
        ("loose.md", ""),
    ]);
    let denied = deny(&["secret", "open/secret.md"]);
    assert_eq!(scratch.list_as(&denied, "").unwrap(), ["loose.md", "open/"]);
    assert_eq!(scratch.list_as(&denied, "open").unwrap(), ["open/a.md"]);
    let read = Some(prefixes(&["open", "loose.md"]));
    let narrow = Policy { read, ..denying(&["secret", "open/secret.md"]) }.into();
    assert_eq!(scratch.list_as(&narrow, "").unwrap(), ["loose.md", "open/"]);
}

#[test]
fn a_closed_folder_is_refused_by_its_string_whatever_is_there() {
    let scratch =
        Scratch::with(&[("secret/a.md", ""), (".obsidian/app.json", ""), ("off/a.md", ""), ("open/a.md", "")]);
    std::fs::create_dir(scratch.at("secret/empty")).unwrap();
    let scope = Policy { read: Some(prefixes(&["open"])), ..denying(&["secret"]) }.into();
    let outside = PathDenied::OutsideReadPaths { allowed: prefixes(&["open"]) };
    for (closed, denied) in [
        ("secret", PathDenied::InDenyPaths),
        ("secret/empty", PathDenied::InDenyPaths),
        ("secret/a.md", PathDenied::InDenyPaths),
        ("secret/not-there", PathDenied::InDenyPaths),
        (".obsidian", PathDenied::Hidden),
        (".not-there", PathDenied::Hidden),
        ("off", outside.clone()),
        ("not-there", outside),
    ] {
        assert_eq!(scratch.list_as(&scope, closed), Err(ReadError::Denied(denied)), "{closed}");
    }
}

#[test]
fn a_folder_with_nothing_open_in_it_is_not_listed() {
    let scratch = Scratch::with(&[("a/b/open.md", ""), ("a/c/closed.md", ""), ("d/closed.md", ""), ("x.md", "")]);
    std::fs::create_dir_all(scratch.at("a/empty")).unwrap();
    let folders = |policy: Policy| {
        let view = scratch.view_as(&Scope::from(policy));
        let files = view.files(&|| true).unwrap();
        let folders: Vec<VaultPath> = files.folders_below(None).cloned().collect();
        assert!(folders.iter().all(|folder| files.find_folder(folder).as_ref() == Some(folder)));
        folders.iter().map(VaultPath::to_string).collect::<Vec<_>>()
    };
    let allow =
        |patterns: &[&str]| Policy { allow_globs: Some(PathGlobs::parse(patterns).unwrap()), ..Policy::default() };
    assert_eq!(folders(Policy::default()), ["a", "a/b", "a/c", "a/empty", "d"]);
    assert_eq!(folders(allow(&["**/open.md"])), ["a", "a/b"]);
    assert_eq!(folders(allow(&["a/empty/**", "d"])), ["a/empty", "d"]);
    let read = |paths: &[&str]| Policy { read: Some(prefixes(paths)), ..Policy::default() };
    assert_eq!(folders(read(&["a/b"])), ["a", "a/b"]);
    assert_eq!(folders(read(&["a/c/none"])), [""; 0]);
}

#[cfg(unix)]
mod unix {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn a_name_that_is_not_utf8_hides_nothing_but_itself() {
        let scratch = Scratch::with(&[("a.md", ""), ("z.md", "")]);
        std::fs::write(scratch.root().join(OsStr::from_bytes(b"b\xff.md")), "x").unwrap();
        std::fs::create_dir(scratch.root().join(OsStr::from_bytes(b"c\xff"))).unwrap();
        assert_eq!(scratch.list("").unwrap(), ["a.md", "z.md"]);
    }

    #[test]
    fn links_are_listed_as_their_targets() {
        let scratch = Scratch::with(&[("real/a.md", "")]);
        std::fs::write(scratch.outside("outside.md"), "").unwrap();
        std::fs::create_dir(scratch.outside("outside")).unwrap();
        scratch.link("folder", "real");
        scratch.link("file.md", "real/a.md");
        scratch.link("chain.md", "file.md");
        scratch.link("back", ".");
        scratch.link("broken.md", "nowhere.md");
        scratch.link("loop.md", "loop.md");
        scratch.link("out.md", "../outside.md");
        scratch.link("out", scratch.outside("outside"));
        assert_eq!(scratch.list("").unwrap(), ["chain.md", "file.md", "folder/", "real/"]);
    }

    #[test]
    fn a_listing_through_a_link_keeps_the_spelling_that_was_asked_for() {
        let scratch = Scratch::with(&[("real/a.md", "a"), ("real/deep/b.md", "b")]);
        scratch.link("link", "real");
        scratch.link("real/inner.md", "a.md");
        assert_eq!(scratch.list("link").unwrap(), ["link/a.md", "link/deep/", "link/inner.md"]);
        assert_eq!(scratch.list("link/deep").unwrap(), ["link/deep/b.md"]);
        assert_eq!(scratch.read("link/deep/b.md").unwrap(), b"b");
    }

    #[test]
    fn a_link_shows_nothing_of_a_closed_place() {
        let scratch = Scratch::with(&[
            ("open/a.md", ""),
            ("open/secret/b.md", ""),
            ("open/secret.md", ""),
            ("closed/c.md", ""),
            (".hidden/d.md", ""),
        ]);
        scratch.link("link", "open");
        scratch.link("to-closed", "closed");
        scratch.link("to-hidden", ".hidden");
        scratch.link("to-nothing", "nothing");
        scratch.link("to-file.md", "closed/c.md");
        let scope = deny(&["closed", "open/secret", "open/secret.md"]);
        assert_eq!(scratch.list_as(&scope, "").unwrap(), ["link/", "open/"]);
        assert_eq!(scratch.list_as(&scope, "open").unwrap(), ["open/a.md"]);
        assert_eq!(scratch.list_as(&scope, "link").unwrap(), ["link/a.md"], "the same folder under another name");
        for closed in ["to-closed", "to-hidden", "to-nothing", "link/secret", "to-file.md", "not-there"] {
            assert_eq!(scratch.list_as(&scope, closed), Err(missing()), "{closed}");
        }
    }

    #[test]
    fn a_folder_outside_is_never_listed() {
        let scratch = Scratch::with(&[("a.md", "")]);
        std::fs::create_dir(scratch.outside("outside")).unwrap();
        scratch.link("relative", "../outside");
        scratch.link("absolute", scratch.outside("outside"));
        scratch.link("nothing", "../nothing");
        for path in ["relative", "absolute", "nothing", "relative/deeper"] {
            assert_eq!(scratch.list(path), Err(ReadError::Store(StoreError::Outside)), "{path}");
        }
    }
}
