//! Links that leave the vault, into folders that the owner named and into others.

use std::{path::PathBuf, sync::Arc};

use lapidary_vault::{
    PathDenied, Policy, ReadError, Scope, Vault, VaultLimits,
    store::{FolderStore, PosixBackend, StateFolder, StoreError},
};

use crate::scratch::{Found, NO_LIMIT, Scratch, commit, create, denying, listed, missing, vault_path, write};

/// A vault with `a.md`, and next to it `shared`, which is followed, and `other`, which is not.
fn scratch() -> Scratch {
    let scratch = Scratch::with(&[("a.md", "a")]);
    for (path, text) in [
        ("shared/s.md", "s"),
        ("shared/deep/d.md", "d"),
        ("shared/.hidden/h.md", "h"),
        ("shared/secret/x.md", "x"),
        ("other/o.md", "o"),
    ] {
        std::fs::create_dir_all(scratch.outside(path).parent().unwrap()).unwrap();
        std::fs::write(scratch.outside(path), text).unwrap();
    }
    scratch
}

fn following(scratch: &Scratch, folders: &[PathBuf]) -> Vault {
    let store = Arc::new(FolderStore::new(scratch.root()).following(folders.to_vec()));
    let state = StateFolder::new(scratch.state().to_owned(), scratch.root());
    Vault::shared("scratch".to_owned(), store, &Arc::new(state), Policy::default(), VaultLimits::default())
}

fn vault(scratch: &Scratch) -> Vault {
    following(scratch, &[scratch.outside("shared")])
}

fn read(vault: &Vault, scope: &Scope, path: &str) -> Result<Vec<u8>, ReadError> {
    vault.view(Arc::new(scope.clone()), NO_LIMIT).read(&vault_path(path)).map(|file| file.bytes().to_vec())
}

fn list(vault: &Vault, scope: &Scope, folder: &str) -> Result<Vec<String>, ReadError> {
    listed(&vault.view(Arc::new(scope.clone()), NO_LIMIT), folder)
}

fn outside<T>() -> Result<T, ReadError> {
    Err(ReadError::Store(StoreError::Outside))
}

#[test]
fn a_followed_link_is_read_listed_and_written_through() {
    let scratch = scratch();
    scratch.link("abs", scratch.outside("shared"));
    scratch.link("sub/rel", "../../shared/deep");
    scratch.link("file.md", "../shared/s.md");
    scratch.link("gone.md", "../shared/none.md");
    let (vault, all) = (vault(&scratch), Scope::default());
    for (path, text) in [("abs/s.md", "s"), ("abs/deep/d.md", "d"), ("sub/rel/d.md", "d"), ("file.md", "s")] {
        assert_eq!(read(&vault, &all, path).unwrap(), text.as_bytes(), "{path}");
    }
    assert_eq!(list(&vault, &all, "").unwrap(), ["a.md", "abs/", "file.md", "sub/"]);
    assert_eq!(list(&vault, &all, "abs").unwrap(), ["abs/deep/", "abs/s.md", "abs/secret/"]);
    assert_eq!(list(&vault, &all, "sub").unwrap(), ["sub/rel/"]);
    assert_eq!(list(&vault, &all, "sub/rel").unwrap(), ["sub/rel/d.md"]);
    for path in ["gone.md", "abs/none.md", "file.md/x", "sub/rel/none/x.md"] {
        assert_eq!(read(&vault, &all, path), Err(missing()), "{path}");
    }
    assert_eq!(read(&vault, &all, "abs"), Err(ReadError::Store(StoreError::IsFolder)));
    assert_eq!(list(&vault, &all, "file.md"), Err(ReadError::Store(StoreError::NotAFile)));

    let view = vault.view(Arc::new(all.clone()), NO_LIMIT);
    commit(&vault, &all, write(&view, "abs/s.md", "S")).unwrap();
    commit(&vault, &all, write(&view, "sub/rel/d.md", "D")).unwrap();
    commit(&vault, &all, create("abs/new/n.md", "N")).unwrap();
    for (path, text) in [("shared/s.md", "S"), ("shared/deep/d.md", "D"), ("shared/new/n.md", "N")] {
        assert_eq!(std::fs::read(scratch.outside(path)).unwrap(), text.as_bytes(), "{path}");
    }
    let view = vault.view(Arc::new(all.clone()), NO_LIMIT);
    commit(&vault, &all, write(&view, "file.md", "through")).unwrap();
    assert_eq!(std::fs::read(scratch.outside("shared/s.md")).unwrap(), b"through");
    let target = PathBuf::from("../shared/s.md");
    assert_eq!(scratch.everything()[&scratch.at("file.md")], Found::Link(target), "a link stays a link");
    assert_eq!(commit(&vault, &all, create("abs", "x")), Err(StoreError::NotAFile));
    assert_eq!(commit(&vault, &all, create("gone.md", "x")), Err(StoreError::NotAFile));
}

#[test]
fn all_other_links_stay_refused() {
    let scratch = scratch();
    scratch.link("other", "../other");
    scratch.link("o.md", scratch.outside("other/o.md"));
    scratch.link("beside", "../shared-not");
    scratch.link("up", "..");
    scratch.link("back", "../shared/../other");
    scratch.link("shared", "../shared");
    std::fs::create_dir(scratch.outside("shared-not")).unwrap();
    for (at, target) in [("out", "../other"), ("abs", "/"), ("home", "../vault"), ("in.md", "s.md"), ("loop", "loop")] {
        std::os::unix::fs::symlink(target, scratch.outside("shared").join(at)).unwrap();
    }
    let (vault, all) = (vault(&scratch), Scope::default());
    for path in ["other/o.md", "o.md", "beside/x", "up/a", "back/o.md", "shared/out/o.md", "shared/abs/etc/passwd"] {
        assert_eq!(read(&vault, &all, path), outside(), "{path}");
    }
    assert_eq!(read(&vault, &all, "shared/home/a.md"), outside(), "not back into the vault either");
    assert_eq!(read(&vault, &all, "shared/in.md").unwrap(), b"s");
    assert_eq!(read(&vault, &all, "shared/loop"), Err(missing()));
    assert_eq!(list(&vault, &all, "").unwrap(), ["a.md", "shared/"]);
    let entries = ["shared/deep/", "shared/in.md", "shared/s.md", "shared/secret/"];
    assert_eq!(list(&vault, &all, "shared").unwrap(), entries);
    for path in ["other/new.md", "shared/out/new.md", "shared/home/new.md", "up/new.md"] {
        assert_eq!(commit(&vault, &all, create(path, "x")), Err(StoreError::Outside), "{path}");
    }
    let nobody = scratch.vault.view(Arc::new(all), NO_LIMIT).read(&vault_path("shared/s.md")).map(|_| ());
    assert_eq!(nobody, outside(), "nothing is followed unless the owner says so");
}

#[test]
fn the_scope_is_asked_about_the_path_in_the_vault() {
    let scratch = scratch();
    scratch.link("ext", "../shared");
    scratch.link("area/link", "../ext");
    std::os::unix::fs::symlink("secret/x.md", scratch.outside("shared/door.md")).unwrap();
    std::os::unix::fs::symlink("secret", scratch.outside("shared/doors")).unwrap();
    std::os::unix::fs::symlink(".hidden/h.md", scratch.outside("shared/hatch.md")).unwrap();
    let vault = vault(&scratch);
    let scope: Scope = denying(&["ext/secret"]).into();
    for (path, denied) in [("ext/secret/x.md", PathDenied::InDenyPaths), ("ext/.hidden/h.md", PathDenied::Hidden)] {
        assert_eq!(read(&vault, &scope, path), Err(ReadError::Denied(denied)), "{path}");
    }
    for path in ["ext/door.md", "ext/doors/x.md", "ext/hatch.md", "area/link/secret/x.md", "area/link/door.md"] {
        assert_eq!(read(&vault, &scope, path), Err(missing()), "{path}");
    }
    assert_eq!(read(&vault, &scope, "area/link/s.md").unwrap(), b"s");
    assert_eq!(list(&vault, &scope, "ext").unwrap(), ["ext/deep/", "ext/s.md"]);
    assert_eq!(list(&vault, &scope, "area/link").unwrap(), ["area/link/deep/", "area/link/s.md"]);
    for path in ["area/link/secret/new.md", "ext/doors/new.md"] {
        assert_eq!(commit(&vault, &scope, create(path, "x")), Err(StoreError::NotAFile), "{path}");
    }
    let writable: Scope = Policy { write: Some(crate::scratch::prefixes(&["area"])), ..Policy::default() }.into();
    assert_eq!(commit(&vault, &writable, create("area/link/new.md", "x")), Err(StoreError::Closed));
    let closed: Scope = denying(&["ext"]).into();
    assert_eq!(list(&vault, &closed, "").unwrap(), ["a.md", "area/"]);
    assert_eq!(read(&vault, &closed, "area/link/s.md"), Err(missing()));
    assert!(list(&vault, &closed, "area").unwrap().is_empty());
}

/// By its own path it would be closed.
#[test]
fn a_link_straight_to_a_hidden_place_of_a_followed_folder_leads_nowhere() {
    let scratch = scratch();
    scratch.link("hidden", "../shared/.hidden");
    scratch.link("hidden.md", "../shared/.hidden/h.md");
    scratch.link("by-door", "../shared/door");
    std::os::unix::fs::symlink(".hidden", scratch.outside("shared/door")).unwrap();
    let (vault, all) = (vault(&scratch), Scope::default());
    for path in ["hidden/h.md", "hidden.md", "by-door/h.md", "hidden", "by-door", "hidden/none.md"] {
        assert_eq!(read(&vault, &all, path), Err(missing()), "{path}");
        assert!(commit(&vault, &all, create(&format!("{path}/new.md"), "x")).is_err(), "{path}");
    }
    assert_eq!(list(&vault, &all, "").unwrap(), ["a.md"]);
    let files = vault.view(Arc::default(), NO_LIMIT);
    let known: Vec<String> = files.files(&|| true).unwrap().iter().map(|file| file.path().to_string()).collect();
    assert_eq!(known, ["a.md"], "the index has no more");
    assert_eq!(std::fs::read_dir(scratch.outside("shared/.hidden")).unwrap().count(), 1);
}

#[test]
fn a_folder_around_or_inside_the_vault_is_never_followed() {
    let scratch = scratch();
    scratch.put(".obsidian/app.json", "{}");
    scratch.link("settings", scratch.at(".obsidian"));
    scratch.link("all", scratch.outside(""));
    let around = scratch.root().parent().unwrap().to_owned();
    for folder in [around, scratch.root(), scratch.at(".obsidian"), PathBuf::from("/")] {
        let vault = following(&scratch, std::slice::from_ref(&folder));
        for path in ["settings/app.json", "all/vault/a.md", "all/other/o.md"] {
            assert_eq!(read(&vault, &Scope::default(), path), outside(), "{path} by {folder:?}");
        }
    }
}

#[test]
fn a_followed_folder_may_be_named_by_a_link_and_the_vault_too() {
    let scratch = scratch();
    std::os::unix::fs::symlink("shared", scratch.outside("alias")).unwrap();
    std::os::unix::fs::symlink("vault", scratch.outside("vault-alias")).unwrap();
    scratch.link("by-name", scratch.outside("alias"));
    scratch.link("by-place", scratch.outside("shared/deep"));
    scratch.link("relative", "../shared/deep");
    let vault = following(&scratch, &[scratch.outside("alias")]);
    let all = Scope::default();
    assert_eq!(read(&vault, &all, "by-name/s.md").unwrap(), b"s");
    assert_eq!(read(&vault, &all, "by-place/d.md").unwrap(), b"d");
    let store = FolderStore::new(scratch.outside("vault-alias")).following(vec![scratch.outside("shared")]);
    let vault = Vault::private("alias".to_owned(), Arc::new(PosixBackend::private(Arc::new(store))));
    assert_eq!(read(&vault, &all, "relative/d.md").unwrap(), b"d");
}

#[test]
fn rule_files_behind_a_followed_link_are_read() {
    let scratch = scratch();
    std::fs::write(scratch.outside("shared/rules"), "a.md").unwrap();
    scratch.link(".lapidaryignore", "../shared/rules");
    let vault = vault(&scratch);
    let scope = vault.scope(std::time::SystemTime::now()).unwrap();
    assert_eq!(read(&vault, &scope, "a.md"), Err(missing()));
}
