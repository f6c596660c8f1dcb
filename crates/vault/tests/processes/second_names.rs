//! Disks that respond to more names than they list. Paths closed by name stay closed under every other.

use std::{path::Path, process::Command, sync::Arc};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, Policy, ReadError, Scope, TrashKind, Vault, VaultLimits,
    store::{FolderStore, StateFolder, StoreError},
};

use crate::scratch::{Scratch, commit, create, denying, listed, missing, open_vault_under, origin, vault_path};

const FILES: [(&str, &str); 7] = [
    ("Notes with a long name.md", "open"),
    ("Folder of notes/a.md", "open"),
    ("Private things/secret.md", "secret"),
    (".obsidian/app.json", "secret"),
    (".git/config", "secret"),
    (".trash/old.md", "secret"),
    (".lapidaryignore", "Private things/\n"),
];

/// Names that some disk responds to, with the name in [`FILES`] that it lists: as Windows creates them, without invisible
/// characters, without the end. The tests of the tools use the same.
fn second_names() -> Vec<(String, String)> {
    let all: Vec<(String, String)> =
        serde_json::from_str(include_str!("../../../../fixtures/second_names.json")).unwrap();
    all.into_iter().filter(|(_, listed)| names().any(|name| name == listed)).collect()
}

fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().flat_map(|(path, _)| path.split('/'))
}

/// A vault on a disk that also responds to these names, and to every other case.
fn lying(scratch: &Scratch) -> Vault {
    let second_names = second_names();
    let answers = move |name: &str| {
        let mut known = second_names.iter();
        let second = known.find(|(second, _)| second.eq_ignore_ascii_case(name)).map(|(_, listed)| listed.as_str());
        second.or_else(|| names().find(|listed| listed.eq_ignore_ascii_case(name))).map(str::to_owned)
    };
    let store = Arc::new(FolderStore::new(scratch.root()).answering_to(Arc::new(answers)));
    let state = Arc::new(StateFolder::new(scratch.state().to_owned(), scratch.root()));
    Vault::shared("lying".to_owned(), store, &state, Policy::default(), VaultLimits::default())
}

/// Everything that leads to something in the vault by a second name.
fn by_second_names() -> Vec<String> {
    let mut paths = Vec::new();
    for (second, listed) in second_names() {
        let below = FILES.iter().filter_map(|(path, _)| path.strip_prefix(&listed)?.strip_prefix('/'));
        paths.extend(below.map(|rest| format!("{second}/{rest}")));
        paths.push(second);
    }
    paths
}

#[track_caller]
fn opens_nothing(scratch: &Scratch, vault: &Vault, path: &str) {
    let scope = vault.scope(std::time::SystemTime::now()).unwrap();
    let view = vault.view(Arc::clone(&scope), u64::MAX);
    let path = &vault_path(path);
    let before = scratch.everything();
    assert_eq!(view.read(path).map(|_| ()), Err(missing()), "{path} is read");
    assert_eq!(view.list(Some(path)).map(|_| ()), Err(missing()), "{path} is listed");
    assert_eq!(view.stamp(path), None, "{path} has a time");
    // The planner saw everything, so that only the commit enforces the rules.
    let sees_all = |change| commit(vault, &scope, change);
    let file = Arc::new(lapidary_vault::File { content: b"secret".to_vec().into(), modified: None, created: None });
    let (at, before_it, guard) = (path.clone(), Arc::clone(&file), ContentGuard::Plan);
    assert_eq!(
        sees_all(Change::Write { path: at.clone(), before: before_it, guard, content: b"x".to_vec().into() }),
        Err(StoreError::Missing),
        "{path} is written"
    );
    let trash = Change::Trash { path: at.clone(), before: None, guard, trash: TrashKind::InVault };
    assert_eq!(sees_all(trash), Err(StoreError::Missing), "{path} is trashed");
    assert_eq!(sees_all(Change::Delete { path: at, before: file, guard }), Err(StoreError::Missing), "{path} goes");
    // Names of other forms could be created, if nothing were there.
    let is_made_up = ["X", "\u{200b}"].iter().any(|start| path.as_str().starts_with(start));
    let reason = || if is_made_up { StoreError::Missing } else { StoreError::NotPortable };
    for made in [path.to_string(), format!("{path}/new.md")] {
        let refused = commit(vault, &scope, create(&made, "x"));
        assert_eq!(refused, Err(reason()), "{made} is made");
        let to = ChangeSet::one(Change::Move {
            from: vault_path("Folder of notes/a.md"),
            to: vault_path(&made),
            before: None,
            guard: ContentGuard::Plan,
            content: None,
        });
        let moved = vault.turn(&|| true).unwrap().commit(&to, &scope, &origin()).map_err(|error| error.error);
        assert_eq!(moved.map(|_| ()), Err(reason()), "moved to {made}");
    }
    assert_eq!(scratch.everything(), before, "{path}");
}

#[test]
fn a_name_that_no_listing_shows_leads_nowhere() {
    let scratch = Scratch::with(&FILES);
    let vault = lying(&scratch);
    let paths = by_second_names();
    assert!(paths.len() > 20);
    for path in paths {
        opens_nothing(&scratch, &vault, &path);
    }
    let scope = vault.scope(std::time::SystemTime::now()).unwrap();
    assert_eq!(listed(&vault.view(scope, u64::MAX), "").unwrap(), ["Folder of notes/", "Notes with a long name.md"]);
}

#[test]
fn a_link_leads_nowhere_by_a_second_name() {
    let scratch = Scratch::with(&FILES);
    scratch.link("link.md", "OBSIDI~1/app.json");
    scratch.link("folder", "PRIVAT~1");
    let vault = lying(&scratch);
    let view = vault.view(Arc::default(), u64::MAX);
    for path in ["link.md", "folder/secret.md", "folder/SECRET~1.MD"] {
        assert_eq!(view.read(&vault_path(path)).map(|_| ()), Err(missing()), "{path}");
    }
}

#[test]
fn on_such_a_disk_the_listed_names_work_in_any_case() {
    let scratch = Scratch::with(&FILES);
    let vault = lying(&scratch);
    let all = Scope::default();
    let read =
        |path: &str| vault.view(Arc::default(), u64::MAX).read(&vault_path(path)).map(|file| file.bytes().to_vec());
    for path in ["Folder of notes/a.md", "FOLDER OF NOTES/A.md", "folder of notes/a.MD"] {
        assert_eq!(read(path).unwrap(), b"open", "{path}");
        assert_eq!(commit(&vault, &all, create(path, "x")), Err(StoreError::Exists), "{path}");
    }
    commit(&vault, &all, create("FOLDER of notes/b.md", "new")).unwrap();
    assert_eq!(scratch.bytes("Folder of notes/b.md"), b"new");
    let closed: Scope = denying(&["Private things"]).into();
    let view = vault.view(Arc::new(closed.clone()), u64::MAX);
    for path in ["private THINGS/secret.md", "Private things/SECRET.md"] {
        assert!(matches!(view.read(&vault_path(path)), Err(ReadError::Denied(_))), "{path}");
        assert_eq!(commit(&vault, &closed, create(path, "x")), Err(StoreError::Closed), "{path}");
    }
}

/// A disk image, mounted while this value lives.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // Even while a background task still has a handle.
        let unmounted = Command::new("umount").arg("-l").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{:?} stays mounted", self.0);
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

/// What a machine can mount, if anything: FAT creates short names by itself, NTFS is given them as Windows would.
#[test]
fn a_real_disk_with_short_names_shows_nothing_by_them() {
    for (make, mount) in [("mkfs.vfat", &["mount", "-o", "loop"][..]), ("mkntfs", &["ntfs-3g"][..])] {
        let scratch = Scratch::new();
        // Not next to the vault, whose surroundings must not change: the image itself does.
        let images = tempfile::tempdir().unwrap();
        let (image, at) = (images.path().join("image"), scratch.root());
        std::fs::File::create(&image).unwrap().set_len(32 << 20).unwrap();
        let (image, at_text) = (image.to_str().unwrap().to_owned(), at.to_str().unwrap().to_owned());
        let making = if make == "mkntfs" { vec!["-F", "-Q", &*image] } else { vec![&*image] };
        let mounting = [&mount[1..], &[&*image, &*at_text][..]].concat();
        let mounted = run(make, &making).and_then(|()| run(mount[0], &mounting));
        if let Err(problem) = mounted {
            println!("skipped: no disk with short names can be mounted here ({problem})");
            continue;
        }
        let mounted = Mounted(&at);
        FILES.iter().for_each(|(path, text)| scratch.put(path, text));
        for (short, name) in second_names().iter().filter(|(second, _)| second.contains('~')) {
            if mount[0] == "ntfs-3g" && scratch.at(name).exists() {
                let place = scratch.at(name);
                let named = run("setfattr", &["-n", "system.ntfs_dos_name", "-v", short, place.to_str().unwrap()]);
                named.unwrap_or_else(|problem| println!("{short} is not set: {problem}"));
            }
        }
        let vault = open_vault_under(&scratch.root(), scratch.state(), Policy::default());
        let mut tried = 0;
        for path in by_second_names() {
            // Only the names that this disk responds to.
            if scratch.at(&path).exists() {
                tried += 1;
                opens_nothing(&scratch, &vault, &path);
            }
        }
        println!("{make}: {tried} second names");
        assert!(tried > 0, "the disk has none");
        let open = vault.view(Arc::default(), u64::MAX).read(&vault_path("Folder of notes/a.md"));
        assert_eq!(open.unwrap().bytes(), b"open");
        drop(mounted);
    }
}
