//! A subscriber is notified of changed content, and of nothing else.

use std::sync::Arc;

use lapidary_vault::{LastSeen, PathPrefix, Policy, Scope};

use crate::scratch::{NO_LIMIT, Scratch, vault_path};

fn denying(path: &str) -> Arc<Scope> {
    Arc::new(Scope::from(Policy { deny: vec![PathPrefix::parse(path).unwrap()], ..Policy::default() }))
}

#[test]
fn only_changed_content_is_a_change() {
    let scratch = Scratch::with(&[("a.md", "one")]);
    let changed =
        |scope: &Arc<Scope>, sight: &mut LastSeen| scratch.vault.view(Arc::clone(scope), NO_LIMIT).has_changed(sight);
    let (open, closed) = (Arc::new(Scope::default()), denying("a.md"));
    let mut sight = LastSeen::new(vault_path("a.md"));
    assert!(!changed(&open, &mut sight), "the first check is not a change");
    assert!(!changed(&open, &mut sight));
    scratch.put("a.md", "two");
    assert!(changed(&open, &mut sight) && !changed(&open, &mut sight));
    scratch.put("a.md", "two");
    assert!(!changed(&open, &mut sight), "saved again as it was");
    std::fs::remove_file(scratch.at("a.md")).unwrap();
    assert!(changed(&open, &mut sight) && !changed(&open, &mut sight));
    scratch.put("a.md", "two");
    assert!(changed(&open, &mut sight), "it is back");
    assert!(changed(&closed, &mut sight), "a rule that closes it takes it away");
    scratch.put("a.md", "three");
    assert!(!changed(&closed, &mut sight), "closed files are never reported");
    assert!(changed(&open, &mut sight));
}

#[test]
fn a_link_to_a_closed_file_tells_nothing_of_it() {
    let scratch = Scratch::with(&[("secret/a.md", "one"), ("open.md", "one")]);
    scratch.link("door.md", "secret/a.md");
    scratch.link("window.md", "open.md");
    let scope = denying("secret");
    let mut sights = ["door.md", "window.md"].map(|path| LastSeen::new(vault_path(path)));
    let mut changed = || {
        let view = scratch.vault.view(Arc::clone(&scope), NO_LIMIT);
        sights.each_mut().map(|sight| view.has_changed(sight))
    };
    assert_eq!(changed(), [false, false]);
    scratch.put("secret/a.md", "two");
    scratch.put("open.md", "two");
    assert_eq!(changed(), [false, true]);
    std::fs::remove_file(scratch.at("secret/a.md")).unwrap();
    assert_eq!(changed(), [false, false]);
}
