//! Symbolic links: inside the vault they are followed, and they open nothing that is closed or outside.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use lapidary_vault::{Change, Policy, ReadError, Scope, store::StoreError};
use proptest::prelude::*;

use crate::scratch::{Found, Scratch, create, deny, denying, missing, prefixes, vault_path, write};

fn outside() -> ReadError {
    ReadError::Store(StoreError::Outside)
}

#[test]
fn a_link_inside_the_vault_is_followed() {
    let scratch = Scratch::with(&[("real/deep/a.md", "a")]);
    scratch.link("file.md", "real/deep/a.md");
    scratch.link("real/sibling.md", "./deep//a.md");
    scratch.link("folder", "real/deep/");
    scratch.link("elsewhere/up", "../real/../folder/.");
    scratch.link("top", ".");
    for path in ["file.md", "real/sibling.md", "folder/a.md", "elsewhere/up/a.md", "top/top/file.md"] {
        assert_eq!(scratch.read(path).unwrap(), b"a", "{path}");
    }
    assert_eq!(scratch.read("folder"), Err(ReadError::Store(StoreError::IsFolder)));
}

#[test]
fn a_chain_of_links_is_followed_as_far_as_the_system_would() {
    let scratch = Scratch::with(&[("0", "end")]);
    for number in 1..=60 {
        scratch.link(&number.to_string(), (number - 1).to_string());
    }
    for number in 1..=60 {
        let (path, system) = (number.to_string(), std::fs::read(scratch.at(&number.to_string())));
        assert_eq!(scratch.read(&path).ok(), system.ok(), "a chain of {number}");
    }
    assert_eq!(scratch.read("40").unwrap(), b"end");
    assert_eq!(scratch.read("41"), Err(missing()), "too long a chain leads nowhere");
}

#[test]
fn a_link_that_leads_nowhere_is_missing() {
    let scratch = Scratch::with(&[("a.md", "a")]);
    scratch.link("broken.md", "nowhere.md");
    scratch.link("self.md", "self.md");
    scratch.link("one.md", "two.md");
    scratch.link("two.md", "one.md");
    scratch.link("deeper", "deeper/deeper");
    scratch.link("through-a-file.md", "a.md/../a.md");
    for path in ["broken.md", "self.md", "one.md", "two.md", "deeper", "deeper/x.md", "through-a-file.md"] {
        assert_eq!(scratch.read(path), Err(missing()), "{path}");
    }
}

#[test]
fn no_link_leads_outside_whether_or_not_something_is_there() {
    let scratch = Scratch::with(&[("folder/a.md", "a")]);
    std::fs::write(scratch.outside("outside.md"), "outside").unwrap();
    std::fs::create_dir(scratch.outside("outside")).unwrap();
    std::fs::write(scratch.outside("outside/b.md"), "outside").unwrap();
    let links: [(&str, &Path); 9] = [
        ("relative.md", Path::new("../outside.md")),
        ("absolute.md", &scratch.outside("outside.md")),
        ("folder/relative.md", Path::new("../../outside.md")),
        ("there-and-back.md", Path::new("../vault/folder/a.md")),
        ("nothing.md", Path::new("../nothing.md")),
        ("absolute-nothing.md", &scratch.outside("nothing.md")),
        ("chain.md", Path::new("folder/relative.md")),
        ("process.md", Path::new("/proc/self/environ")),
        // Refused although it comes back: an absolute link cannot be followed without leaving.
        ("absolute-inside.md", &scratch.at("folder/a.md")),
    ];
    for (path, target) in links {
        scratch.link(path, target);
        assert_eq!(scratch.read(path), Err(outside()), "{path}");
    }
    scratch.link("out", "../outside");
    scratch.link("folder/out", scratch.outside("outside"));
    for path in ["out/b.md", "out/nothing.md", "folder/out/b.md", "folder/out/nothing.md", "out", "out/deep/c.md"] {
        assert_eq!(scratch.read(path), Err(outside()), "{path}");
        scratch.refuses(create(&format!("{path}/new.md"), "x"), StoreError::Outside);
    }
    scratch.refuses(create("out/new.md", "x"), StoreError::Outside);
}

#[test]
fn a_link_to_a_closed_place_is_exactly_a_missing_file() {
    let scratch = Scratch::with(&[
        ("open/a.md", "a"),
        ("denied/there.md", "secret"),
        ("denied/big.md", &"x".repeat(1000)),
        ("unread/there.md", "secret"),
        (".obsidian/app.json", "secret"),
        ("open/.hidden.md", "secret"),
    ]);
    scratch.pipe("denied/pipe");
    scratch.link("denied/loop", "loop");
    scratch.link("denied/out", "/etc/passwd");
    scratch.link("denied/up", "../../nothing");
    scratch.link("denied/back.md", "../open/a.md");
    scratch.link("open/folder", "../denied");
    scratch.link("open/unread", "../unread");
    scratch.link("open/settings", "../.obsidian");
    let scope: Scope = Policy { read: Some(prefixes(&["open", "denied"])), ..denying(&["denied"]) }.into();
    let targets = [
        "../denied/there.md",
        "../denied/not-there.md",
        "../denied/big.md",
        "../denied/pipe",
        "../denied/loop",
        "../denied/out",
        "../denied/up",
        "../denied",
        "../denied/there.md/x",
        // Ends in an open place, but through a link that does not exist for this caller.
        "../denied/back.md",
        "../unread/there.md",
        "../unread/not-there.md",
        "../unread",
        "../.obsidian/app.json",
        "../.obsidian/not-there.json",
        ".hidden.md",
        "../open/folder/there.md",
        "../not-there.md",
    ];
    for (number, target) in targets.iter().enumerate() {
        let path = format!("open/link-{number}.md");
        scratch.link(&path, target);
        let view = scratch.vault.view(std::sync::Arc::new(scope.clone()), 100);
        let read = view.read(&vault_path(&path)).map(|file| file.bytes().to_vec());
        assert_eq!(read, Err(missing()), "a link to {target}");
    }
    for path in ["folder", "folder/there.md", "folder/pipe", "folder/out", "folder/up", "folder/loop", "folder/no.md"] {
        assert_eq!(scratch.read_as(&scope, &format!("open/{path}")), Err(missing()), "{path}");
    }
    for path in ["unread/there.md", "settings/app.json", "unread", "settings"] {
        assert_eq!(scratch.read_as(&scope, &format!("open/{path}")), Err(missing()), "{path}");
    }
    assert_eq!(scratch.list_as(&scope, "open").unwrap(), ["open/a.md"]);
}

#[test]
fn a_link_from_a_closed_place_does_not_help() {
    let scratch = Scratch::with(&[("open/a.md", "a")]);
    scratch.link("denied/link.md", "../open/a.md");
    let denied = lapidary_vault::PathDenied::InDenyPaths;
    assert_eq!(scratch.read_as(&deny(&["denied"]), "denied/link.md"), Err(ReadError::Denied(denied)));
}

#[test]
fn a_change_through_a_link_goes_to_its_target_and_leaves_the_link() {
    let scratch = Scratch::with(&[("real/a.md", "old")]);
    scratch.link("one.md", "two.md");
    scratch.link("two.md", "real/a.md");
    scratch.link("folder", "real");
    scratch.commit(scratch.plan("one.md", "through a chain")).unwrap();
    assert_eq!(scratch.bytes("real/a.md"), b"through a chain");
    scratch.commit(scratch.plan("folder/a.md", "through a folder")).unwrap();
    assert_eq!(scratch.bytes("real/a.md"), b"through a folder");
    scratch.commit(create("folder/new/b.md", "made")).unwrap();
    assert_eq!(scratch.bytes("real/new/b.md"), b"made");
    let mut links = scratch.everything();
    links.retain(|_, found| matches!(found, Found::Link(_)));
    let target = |path: &str, to: &str| (scratch.at(path), Found::Link(to.into()));
    assert_eq!(
        links,
        BTreeMap::from([target("one.md", "two.md"), target("two.md", "real/a.md"), target("folder", "real")])
    );
}

#[test]
fn a_change_through_a_link_into_a_closed_place_is_refused() {
    let scratch = Scratch::with(&[("open/a.md", "a"), ("shut/b.md", "b"), (".obsidian/app.json", "{}")]);
    scratch.link("open/link.md", "../shut/b.md");
    scratch.link("open/folder", "../shut");
    scratch.link("open/settings", "../.obsidian");
    let scope = Policy { write: Some(prefixes(&["open"])), ..Policy::default() }.into();
    scratch.refuses_as(&scope, scratch.plan("open/link.md", "x"), StoreError::Closed);
    scratch.refuses_as(&scope, scratch.plan("open/folder/b.md", "x"), StoreError::Closed);
    scratch.refuses_as(&scope, create("open/folder/new.md", "x"), StoreError::Closed);
    scratch.refuses_as(&scope, create("open/folder/new/deep.md", "x"), StoreError::Closed);
    scratch.refuses_as(&scope, create("open/folder/b.md/deep.md", "x"), StoreError::Closed);
    // A place that may not even be seen is indistinguishable from a missing one.
    scratch.refuses_as(&scope, create("open/settings/plugin.json", "x"), StoreError::NotAFile);
    scratch.refuses(create("open/settings/plugin.json", "x"), StoreError::NotAFile);
    let read_only = Policy { read_only: true, ..Policy::default() }.into();
    scratch.refuses_as(&read_only, scratch.plan("open/link.md", "x"), StoreError::Closed);
}

/// A caller that may not read a folder may write to it by its own path if the owner says so, but learns nothing of it
/// through links.
#[test]
fn a_link_to_a_folder_that_may_not_be_read_does_not_exist_for_writers() {
    let with = |there: bool| {
        let scratch = Scratch::with(&[("open/a.md", "a"), ("open/b.md", "b")]);
        std::fs::create_dir(scratch.at("unread")).unwrap();
        if there {
            scratch.put("unread/there.md", "secret");
            scratch.put("unread/folder.md/x.md", "secret");
        }
        scratch.link("open/folder", "../unread");
        scratch.link("open/there.md", "../unread/there.md");
        scratch.link("open/gone", "../nowhere");
        scratch
    };
    let scope: Scope = Policy { read: Some(prefixes(&["open"])), ..Policy::default() }.into();
    for path in ["folder/there.md", "folder/none.md", "folder/folder.md", "folder/there.md/x.md", "there.md", "folder"]
    {
        let path = format!("open/{path}");
        for scratch in [with(true), with(false)] {
            scratch.refuses_as(&scope, create(&path, "x"), StoreError::NotAFile);
            let before = scratch.view().read(&vault_path("open/a.md")).unwrap();
            let guard = lapidary_vault::ContentGuard::Plan;
            let change = Change::Write { path: vault_path(&path), before, guard, content: b"x".to_vec().into() };
            scratch.refuses_as(&scope, change, StoreError::Missing);
        }
    }
    let scratch = with(true);
    scratch.refuses_as(&scope, create("open/gone/new.md", "x"), StoreError::NotAFile);
    scratch.commit_as(&scope, create("unread/new.md", "x")).unwrap();
}

#[test]
fn a_commit_checks_the_path_itself_too() {
    let scratch = Scratch::with(&[("open/a.md", "a"), ("shut/b.md", "b")]);
    scratch.link("shut/link.md", "../open/a.md");
    let scope = Policy { write: Some(prefixes(&["open"])), ..Policy::default() }.into();
    scratch.refuses_as(&scope, scratch.plan("shut/b.md", "x"), StoreError::Closed);
    scratch.refuses_as(&scope, scratch.plan("shut/link.md", "x"), StoreError::Closed);
    scratch.refuses_as(&scope, create("shut/new.md", "x"), StoreError::Closed);
}

#[test]
fn nothing_is_made_where_a_link_already_is() {
    let scratch = Scratch::with(&[("real/a.md", "a")]);
    scratch.link("file.md", "real/a.md");
    scratch.link("folder", "real");
    scratch.link("broken.md", "nowhere.md");
    scratch.link("loop.md", "loop.md");
    scratch.link("out.md", "../outside.md");
    for path in ["file.md", "folder", "folder/a.md"] {
        scratch.refuses(create(path, "x"), StoreError::Exists);
    }
    // Nothing can be read or created there.
    for path in ["broken.md", "loop.md", "out.md", "broken.md/new.md", "broken.md/deep/new.md", "loop.md/new.md"] {
        scratch.refuses(create(path, "x"), StoreError::NotAFile);
    }
    scratch.refuses(create("file.md/new.md", "x"), StoreError::NotAFile);
    // The same for a link into a closed place, regardless of its contents.
    for path in ["file.md", "folder", "broken.md"] {
        scratch.refuses_as(&deny(&["real", "nowhere.md"]), create(path, "x"), StoreError::NotAFile);
    }
}

/// A disk on which each file's text is its own place, with random links between, and a random scope.
#[derive(Clone, Debug)]
struct Forest {
    links: Vec<(String, String)>,
    deny: Vec<String>,
    read: Option<Vec<String>>,
    write: Option<Vec<String>>,
}

const FILES: [&str; 7] = ["a/x", "a/b/x", "b/x", "b/.h/x", "c/x", ".h/x", "x"];

fn forest() -> impl Strategy<Value = Forest> {
    let place = || prop::sample::select(vec!["a", "b", "c", "a/b", "a/x", "l", "a/l", "b/l", "c/m", ".h", "m"]);
    let target = prop_oneof![
        place().prop_map(str::to_owned),
        place().prop_map(|place| format!("../{place}")),
        place().prop_map(|place| format!("../{place}/x")),
        place().prop_map(|place| format!("./{place}/../{place}")),
        place().prop_map(|place| format!("/{place}")),
        Just("..".to_owned()),
        Just("../../outside/x".to_owned()),
        Just("../vault/a/x".to_owned()),
    ];
    let at = prop::sample::select(vec!["l", "m", "a/l", "a/m", "b/l", "b/m", "c/m", "c/l", ".h/l", "a/b/l"]);
    let rules = || prop::collection::vec(place().prop_map(str::to_owned), 0..3);
    (
        prop::collection::vec((at.prop_map(str::to_owned), target), 0..8),
        rules(),
        prop::option::of(rules()),
        prop::option::of(rules()),
    )
        .prop_map(|(links, deny, read, write)| Forest { links, deny, read, write })
}

fn grown(forest: &Forest) -> (Scratch, Scope) {
    let scratch = Scratch::fast();
    for file in FILES {
        scratch.put(file, file);
    }
    std::fs::create_dir(scratch.outside("outside")).unwrap();
    std::fs::write(scratch.outside("outside/x"), "outside").unwrap();
    for (at, target) in &forest.links {
        // Two links of one place: the first stays.
        drop(std::os::unix::fs::symlink(target, scratch.at(at)));
    }
    let rules = |list: &Vec<String>| prefixes(&list.iter().map(String::as_str).collect::<Vec<_>>());
    let policy = Policy {
        read: forest.read.as_ref().map(rules),
        write: forest.write.as_ref().map(rules),
        deny: rules(&forest.deny),
        ..Policy::default()
    };
    (scratch, policy.into())
}

/// Every path of up to three names.
fn paths() -> BTreeSet<String> {
    let names = ["a", "b", "c", "l", "m", "x", ".h"];
    let mut paths: BTreeSet<String> = names.iter().map(|&name| name.to_owned()).collect();
    for _ in 0..2 {
        let longer: Vec<_> = paths.iter().flat_map(|path| names.map(|name| format!("{path}/{name}"))).collect();
        paths.extend(longer);
    }
    paths
}

/// What the kernel finds if it may not leave the folder.
#[cfg(target_os = "linux")]
fn read_beneath(root: &Path, path: &str) -> Option<Vec<u8>> {
    use std::io::Read;

    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    let root = std::fs::File::open(root).unwrap();
    let file = loop {
        match openat2(&root, path, OFlags::RDONLY, Mode::empty(), ResolveFlags::BENEATH) {
            // Something was renamed somewhere, and the kernel is not sure of the way back up.
            Err(rustix::io::Errno::AGAIN) => {}
            result => break result.ok()?,
        }
    };
    let mut bytes = Vec::new();
    std::fs::File::from(file).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_forest_of_links_shows_what_the_scope_closes(forest in forest()) {
        let (scratch, scope) = grown(&forest);
        let view = scratch.view_as(&scope);
        for path in paths() {
            let Ok(file) = view.read(&vault_path(&path)) else { continue };
            let place = String::from_utf8(file.bytes().to_vec()).unwrap();
            prop_assert!(FILES.contains(&place.as_str()), "{path} led to {place}");
            prop_assert!(scope.may_read(&vault_path(&place)).is_ok(), "{path} led to {place}");
            prop_assert_eq!(&scratch.bytes(&path), file.bytes(), "{}: the system goes elsewhere", path);
        }
        for folder in std::iter::once(String::new()).chain(paths()) {
            for entry in scratch.list_as(&scope, &folder).unwrap_or_default() {
                let (entry, is_folder) = entry.strip_suffix('/').map_or((&*entry, false), |entry| (entry, true));
                let real = std::fs::canonicalize(scratch.at(entry)).unwrap();
                let real = real.strip_prefix(std::fs::canonicalize(scratch.root()).unwrap()).unwrap();
                let real = vault_path(real.to_str().unwrap());
                let seen = if is_folder { scope.may_enter(&real) } else { scope.may_read(&real) };
                prop_assert!(seen.is_ok(), "{entry} is {real:?}");
                prop_assert!(is_folder || view.read(&vault_path(entry)).is_ok(), "{entry} is offered but not given");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn without_rules_links_lead_where_the_system_says_they_lead(mut forest in forest()) {
        forest.links.retain(|(at, target)| !at.contains(".h") && !target.contains(".h"));
        let (scratch, scope) = grown(&Forest { deny: vec![], read: None, write: None, ..forest });
        for path in paths().iter().filter(|path| !path.contains(".h")) {
            prop_assert_eq!(scratch.read_as(&scope, path).ok(), read_beneath(&scratch.root(), path), "{}", path);
        }
    }

    #[test]
    fn no_forest_of_links_lets_a_change_out_of_the_scope(forest in forest(), only in 0..50_usize) {
        let (scratch, scope) = grown(&forest);
        // The planner may see everything here, so that only the commit enforces the scope.
        let view = scratch.view();
        for path in paths().iter().skip(only).step_by(50) {
            let before = scratch.everything();
            let change = match view.read(&vault_path(path)) {
                Ok(_) => write(&view, path, "changed"),
                Err(_) => create(path, "made"),
            };
            let result = scratch.commit_as(&scope, change);
            let after = scratch.everything();
            let touched: Vec<_> = after.iter().filter(|(place, found)| before.get(*place) != Some(found)).collect();
            prop_assert!(before.keys().all(|place| after.contains_key(place)), "{path}: something is gone");
            prop_assert_eq!(result.is_ok(), !touched.is_empty(), "{}: {:?}", path, result);
            for (place, found) in touched {
                let place = place.strip_prefix(scratch.root()).unwrap().to_str().unwrap();
                if let Found::File(_) = found {
                    prop_assert!(scope.may_write(&vault_path(place)).is_ok(), "{path} changed {place}");
                }
            }
        }
    }
}
