//! Names as other systems write them: accents in two encodings, and characters that only some accept.

use lapidary_vault::{PathDenied, ReadError, store::StoreError};

use crate::scratch::{Scratch, create, deny, vault_path};

const COMPOSED: &str = "Caf\u{e9}/\u{dc}bung.md";
const DECOMPOSED: &str = "Cafe\u{301}/U\u{308}bung.md";

#[test]
#[cfg(not(target_os = "macos"))]
fn a_note_is_found_in_either_spelling_and_stays_in_its_own() {
    for (there, asked) in [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)] {
        let scratch = Scratch::with(&[(there, "old")]);
        assert_eq!(scratch.read(asked).unwrap(), b"old");
        assert_eq!(scratch.list(asked.split('/').next().unwrap()).unwrap().len(), 1);
        scratch.refuses(create(asked, "twin"), StoreError::Exists);
        scratch.commit(scratch.plan(asked, "new")).unwrap();
        assert_eq!(scratch.bytes(there), b"new");
        let folder = asked.split('/').next().unwrap();
        scratch.commit(create(&format!("{folder}/beside.md"), "new")).unwrap();
        assert_eq!(scratch.everything().keys().filter(|path| path.extension().is_some()).count(), 2);
        assert_eq!(std::fs::read_dir(scratch.root()).unwrap().count(), 1, "one folder");
        let view = scratch.view();
        let notes = view.notes(&|| true).unwrap();
        let spelt = notes.find_folder(&vault_path(folder)).unwrap();
        assert_eq!(notes.below(Some(&spelt)).count(), 2);
        assert_eq!(notes.find(&vault_path(asked)).unwrap().path().as_str(), there);
    }
}

#[test]
#[cfg(not(target_os = "macos"))]
fn if_both_spellings_exist_each_is_itself() {
    let scratch = Scratch::with(&[("\u{e9}.md", "composed"), ("e\u{301}.md", "decomposed")]);
    assert_eq!(scratch.read("\u{e9}.md").unwrap(), b"composed");
    assert_eq!(scratch.read("e\u{301}.md").unwrap(), b"decomposed");
}

#[test]
fn what_is_closed_is_closed_in_either_spelling() {
    for (there, asked) in [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED), (COMPOSED, COMPOSED)] {
        let scratch = Scratch::with(&[(there, "secret")]);
        for rule in [COMPOSED, DECOMPOSED] {
            let denied = ReadError::Denied(PathDenied::InDenyPaths);
            let scope = deny(&[rule.split('/').next().unwrap()]);
            assert_eq!(scratch.read_as(&scope, asked), Err(denied), "{there} {asked} {rule}");
        }
    }
}

#[test]
fn no_file_is_created_that_another_system_does_not_accept() {
    let scratch = Scratch::new();
    for path in ["12:30 talk.md", "why?.md", "new*/a.md", "con.md", "folder./a.md", "a|b.md"] {
        scratch.refuses(create(path, "new"), StoreError::NotPortable);
    }
}

#[test]
#[cfg(unix)]
fn an_existing_file_with_such_a_name_is_read_and_changed() {
    let scratch = Scratch::with(&[("why?/12:30.md", "old")]);
    scratch.commit(scratch.plan("why?/12:30.md", "new")).unwrap();
    scratch.commit(create("why?/beside.md", "new")).unwrap();
    assert_eq!(scratch.bytes("why?/12:30.md"), b"new");
    assert_eq!(scratch.bytes("why?/beside.md"), b"new");
}
