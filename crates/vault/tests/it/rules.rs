//! The rule files of a vault: what they hide, what they protect, and what happens when they cannot be read.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use lapidary_vault::{
    FolderNames, PathDenied, Policy, ReadError, RuleProblem, RulesError, Scope, Vault,
    store::{MemoryStore, StoreError},
};

use crate::scratch::{NO_LIMIT, Scratch, commit, create, listed, missing, open_vault_under, vault_path};

/// Later than the times of every file created here, so that the rules are trusted as soon as they are read.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(10)
}

fn scope(vault: &Vault) -> Result<Arc<Scope>, RulesError> {
    vault.scope(later())
}

fn under(scratch: &Scratch, policy: Policy) -> Vault {
    open_vault_under(&scratch.root(), scratch.state(), policy)
}

fn list(vault: &Vault, folder: &str) -> Result<Vec<String>, ReadError> {
    listed(&vault.view(scope(vault).unwrap(), NO_LIMIT), folder)
}

fn read(vault: &Vault, path: &str) -> Result<Vec<u8>, ReadError> {
    vault.view(scope(vault).unwrap(), NO_LIMIT).read(&vault_path(path)).map(|file| file.bytes().to_vec())
}

#[test]
fn each_of_the_rule_files_applies_and_none_is_shown() {
    let scratch = Scratch::with(&[
        ("a.md", "a"),
        ("one.md", "1"),
        ("two.md", "2"),
        ("three.md", "3"),
        ("four.md", "4"),
        (".lapidaryignore", "one.md"),
        (".obsidian-agentignore", "two.md"),
        (".lapidaryprotect", "three.md"),
        (".obsidian-agentprotected", "four.md"),
    ]);
    let vault = &scratch.vault;
    assert_eq!(list(vault, "").unwrap(), ["a.md", "four.md", "three.md"]);
    for (path, denied) in [
        ("one.md", Some(PathDenied::Ignored)),
        ("two.md", Some(PathDenied::Ignored)),
        ("three.md", Some(PathDenied::Protected)),
        ("four.md", Some(PathDenied::Protected)),
        ("a.md", None),
        (".lapidaryignore", Some(PathDenied::Hidden)),
        (".lapidaryprotect", Some(PathDenied::Hidden)),
        (".obsidian-agentignore", Some(PathDenied::Hidden)),
        (".obsidian-agentprotected", Some(PathDenied::Hidden)),
    ] {
        assert_eq!(scope(vault).unwrap().may_write(&vault_path(path)).err(), denied, "{path}");
    }
    assert_eq!(read(vault, ".lapidaryignore"), Err(ReadError::Denied(PathDenied::Hidden)));
}

#[test]
fn an_ignored_file_looks_like_a_missing_one() {
    let scratch = Scratch::with(&[
        ("secret/a.md", "a"),
        ("notes/b.md", "b"),
        ("notes/secret.md", "s"),
        ("node_modules/x/readme.md", "x"),
        (".lapidaryignore", "secret/\nsecret.md"),
    ]);
    let vault = under(&scratch, Policy { skip_folders: FolderNames::new(&["node_modules"]), ..Policy::default() });
    assert_eq!(list(&vault, "").unwrap(), ["notes/"]);
    assert_eq!(list(&vault, "notes").unwrap(), ["notes/b.md"]);
    for path in ["secret", "secret/a.md", "secret/none.md", "notes/secret.md", "node_modules/x/readme.md", "none.md"] {
        assert_eq!(read(&vault, path), Err(missing()), "{path}");
        assert_eq!(list(&vault, path), Err(missing()), "{path}");
    }
    let now = scope(&vault).unwrap();
    for path in ["secret/a.md", "secret/none.md", "secret", "notes/secret.md/x.md", "node_modules/y.md"] {
        assert_eq!(commit(&vault, &now, create(path, "x")), Err(StoreError::Closed), "{path}");
    }
}

#[test]
fn a_file_in_the_way_of_a_listing_is_not_revealed() {
    let scratch =
        Scratch::with(&[("a.png", ""), ("b/c.png", ""), ("b/d.md", ""), (".lapidaryignore", "*\n!*/\n!*.md")]);
    let vault = &scratch.vault;
    assert_eq!(list(vault, "").unwrap(), ["b/"]);
    assert_eq!(list(vault, "b").unwrap(), ["b/d.md"]);
    assert_eq!(list(vault, "a.png"), Err(missing()));
    assert_eq!(list(vault, "none.png"), Err(missing()));
}

#[cfg(unix)]
#[test]
fn links_lead_to_nothing_ignored_and_change_nothing_protected() {
    let scratch = Scratch::with(&[
        ("secret/a.md", "a"),
        ("fixed/b.md", "b"),
        ("node_modules/c.md", "c"),
        (".lapidaryignore", "secret/"),
        (".lapidaryprotect", "fixed/"),
    ]);
    for (at, target) in [("s.md", "secret/a.md"), ("s", "secret"), ("f.md", "fixed/b.md"), ("f", "fixed")] {
        scratch.link(at, target);
    }
    let vault = &scratch.vault;
    assert_eq!(list(vault, "").unwrap(), ["f/", "f.md", "fixed/", "node_modules/"]);
    for path in ["s.md", "s", "s/a.md", "s/none.md"] {
        assert_eq!(read(vault, path), Err(missing()), "{path}");
    }
    assert_eq!(read(vault, "f/b.md").unwrap(), b"b");
    let now = scope(vault).unwrap();
    for path in ["f.md", "f/b.md"] {
        let change = crate::scratch::write(&vault.view(Arc::clone(&now), NO_LIMIT), path, "changed");
        scratch.refuses_as(&now, change, StoreError::Closed);
    }
    scratch.refuses_as(&now, create("f/new.md", "x"), StoreError::Closed);
    scratch.link("broken", "nowhere");
    for path in ["s/new.md", "s/a.md", "s/deep/new.md", "broken/new.md"] {
        scratch.refuses_as(&now, create(path, "x"), StoreError::NotAFile);
    }
}

#[test]
fn obsidians_own_list_counts_only_if_asked_for() {
    let scratch = Scratch::with(&[
        ("Archive/a.md", ""),
        ("b.md", ""),
        (".obsidian/app.json", r#"{"userIgnoreFilters": ["Archive/", "/^B/"]}"#),
    ]);
    assert_eq!(list(&scratch.vault, "").unwrap(), ["Archive/", "b.md"]);
    let hiding = under(&scratch, Policy { hide_excluded: true, ..Policy::default() });
    assert!(list(&hiding, "").unwrap().is_empty());
    scratch.put(".obsidian/app.json", "{broken");
    assert_eq!(scope(&hiding).unwrap_err(), closed(".obsidian/app.json", RuleProblem::Filters));
    assert!(scope(&scratch.vault).is_ok());
    std::fs::remove_dir_all(scratch.at(".obsidian")).unwrap();
    assert_eq!(list(&hiding, "").unwrap(), ["Archive/", "b.md"]);
}

#[test]
fn a_scope_stays_the_same_as_long_as_the_rules_do() {
    let scratch = Scratch::with(&[("a.md", ""), (".lapidaryignore", "x.md")]);
    let first = scope(&scratch.vault).unwrap();
    assert!(Arc::ptr_eq(&first, &scope(&scratch.vault).unwrap()));
    assert!(Arc::ptr_eq(&first, &scratch.vault.scope(SystemTime::now()).unwrap()), "also while it is read every time");
    scratch.put("b.md", "another file");
    scratch.put(".lapidaryignore", "x.md");
    assert!(Arc::ptr_eq(&first, &scope(&scratch.vault).unwrap()), "written anew, but the same");
    scratch.put(".lapidaryignore", "y.md");
    assert!(!Arc::ptr_eq(&first, &scope(&scratch.vault).unwrap()));
}

#[test]
fn a_change_of_the_rules_applies_at_once() {
    let scratch = Scratch::with(&[("a.md", "a"), ("b.md", "b")]);
    let vault = &scratch.vault;
    assert_eq!(list(vault, "").unwrap(), ["a.md", "b.md"]);
    for (rule, left) in [("a.md", "b.md"), ("b.md", "a.md"), ("a.md", "b.md")] {
        // The same size, and on many disks the same time.
        scratch.put(".lapidaryignore", rule);
        assert_eq!(listed(&vault.view(vault.scope(SystemTime::now()).unwrap(), NO_LIMIT), "").unwrap(), [left]);
    }
    std::fs::remove_file(scratch.at(".lapidaryignore")).unwrap();
    assert_eq!(list(vault, "").unwrap(), ["a.md", "b.md"]);
}

#[test]
fn a_file_of_the_same_size_and_time_is_noticed() {
    let scratch = Scratch::with(&[("a.md", ""), ("b.md", ""), (".lapidaryignore", "a.md")]);
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let age = |path: &str| std::fs::File::options().write(true).open(scratch.at(path)).unwrap().set_modified(long_ago);
    age(".lapidaryignore").unwrap();
    assert_eq!(list(&scratch.vault, "").unwrap(), ["b.md"]);
    scratch.put("other", "b.md");
    age("other").unwrap();
    std::fs::rename(scratch.at("other"), scratch.at(".lapidaryignore")).unwrap();
    assert_eq!(list(&scratch.vault, "").unwrap(), ["a.md"]);
}

fn closed(file: &'static str, problem: RuleProblem) -> RulesError {
    RulesError::Unreadable { file, problem }
}

#[test]
fn rules_that_cannot_be_read_close_the_vault() {
    let store = RuleProblem::Store;
    let too_large = StoreError::TooLarge { bytes: 1_000_001, limit: 1_000_000 };
    for (file, bytes, problem) in [
        (".lapidaryignore", b"ok\n\xff".to_vec(), RuleProblem::NotUtf8),
        (".lapidaryprotect", b"ok\n[a".to_vec(), RuleProblem::Pattern { line: 2 }),
        (".obsidian-agentignore", vec![b'#'; 1_000_001], store(too_large)),
    ] {
        let scratch = Scratch::with(&[("a.md", "")]);
        scratch.put(file, bytes);
        for _ in 0..2 {
            assert_eq!(scope(&scratch.vault).unwrap_err(), closed(file, problem.clone()));
        }
        scratch.put(file, "a.md");
        assert!(scope(&scratch.vault).is_ok(), "repaired");
    }
    let scratch = Scratch::with(&[(".obsidian-agentprotected/a", "")]);
    assert_eq!(scope(&scratch.vault).unwrap_err(), closed(".obsidian-agentprotected", store(StoreError::IsFolder)));
    std::fs::remove_dir_all(scratch.root()).unwrap();
    assert_eq!(scope(&scratch.vault).unwrap_err(), RulesError::VaultGone);
}

#[cfg(unix)]
#[test]
fn a_linked_rule_file_is_read_if_it_is_in_the_vault_and_closes_it_otherwise() {
    let scratch = Scratch::with(&[("a.md", ""), ("b.md", ""), ("rules.txt", "a.md")]);
    scratch.link(".lapidaryignore", "rules.txt");
    assert_eq!(list(&scratch.vault, "").unwrap(), ["b.md", "rules.txt"]);
    scratch.put("rules.txt", "b.md\n");
    assert_eq!(list(&scratch.vault, "").unwrap(), ["a.md", "rules.txt"]);
    std::fs::remove_file(scratch.at("rules.txt")).unwrap();
    let broken = closed(".lapidaryignore", RuleProblem::Store(StoreError::Missing));
    assert_eq!(scope(&scratch.vault).unwrap_err(), broken, "a broken link is not the same as no rules");
    scratch.link(".lapidaryprotect", "../outside");
    std::fs::remove_file(scratch.at(".lapidaryignore")).unwrap();
    let outside = closed(".lapidaryprotect", RuleProblem::Store(StoreError::Outside));
    assert_eq!(scope(&scratch.vault).unwrap_err(), outside);
}

#[test]
fn memory_has_rules_too() {
    let file = |path, text: &str| (vault_path(path), text.as_bytes().to_vec());
    let store = MemoryStore::new([file("a.md", ""), file("b.md", ""), file(".lapidaryignore", "a.md")]);
    let vault = Vault::private("memory".into(), Arc::new(store));
    assert_eq!(list(&vault, "").unwrap(), ["b.md"]);
    assert!(Arc::ptr_eq(&scope(&vault).unwrap(), &scope(&vault).unwrap()));
}
