//! Tests of what is kept between searches.

use std::{sync::mpsc, time::Duration};

use lapidary_index::PlannedIndex;
use lapidary_store::{Change, maintenance::schedule};

use super::{
    super::{corpus::ReadableCounts, index_cache::to_rank},
    *,
};

fn counted(live: &Searched, scope: &Arc<Scope>) -> Arc<ReadableCounts> {
    live.search.index(&to_rank(live, scope, &|| true).unwrap(), &|| true).unwrap().1
}

#[test]
fn counts_are_kept_for_many_scopes_and_longest_for_frequent_ones() {
    let vault = vault(&[("a.md", "slate")]);
    let live = live(vault.path());
    let scopes: Vec<Arc<Scope>> = (0..100).map(|_| open()).collect();
    let (busy, others) = scopes.split_first().unwrap();
    let first = counted(&live, busy);
    let counts: Vec<Arc<ReadableCounts>> = others
        .iter()
        .map(|scope| {
            let readable = counted(&live, scope);
            assert!(Arc::ptr_eq(&first, &counted(&live, busy)));
            readable
        })
        .collect();
    let is_kept = |at: usize| Arc::ptr_eq(&counts[at], &counted(&live, &others[at]));
    // One of the 64 places belongs to the busy one. From the newest, so that none is evicted by the check.
    let kept: Vec<usize> = (0..others.len()).rev().take_while(|&at| is_kept(at)).collect();
    assert_eq!(kept.len(), 63);
}

#[test]
fn a_search_in_planned_changes_keeps_the_counts_of_others() {
    let vault = vault(&[("a.md", "slate")]);
    let (live, scope) = (live(vault.path()), open());
    let before = counted(&live, &scope);
    let create = Change::Create { path: VaultPath::parse("b.md").unwrap(), content: b"slate".to_vec().into() };
    let planned = || {
        let mut index = PlannedIndex::new(live.notes(&|| true).unwrap(), &live);
        index.make(std::slice::from_ref(&create));
        VisibleFiles::ahead(Arc::clone(&live), Arc::clone(&scope), index)
    };
    let (_, readable) = live.search.index(&planned(), &|| true).unwrap();
    assert_eq!((before.count, readable.count), (1, 2));
    assert!(Arc::ptr_eq(&before, &counted(&live, &scope)));
}

#[test]
fn an_index_is_built_in_the_background_while_maintenance_hangs() {
    let vault = vault(&[("a.md", "slate")]);
    let Searched { live, search } = live(vault.path());
    let search = Arc::new(search);
    let (release, released) = mpsc::channel::<()>();
    let (say, said) = mpsc::channel();
    // As on a disk that does not respond, but not forever: this test must be able to fail.
    schedule(Duration::ZERO, move || {
        say.send(released.recv_timeout(Duration::from_secs(30)).is_ok()).unwrap();
        None
    })
    .unwrap();
    let scope = open();
    let files = to_rank(&live, &scope, &|| true).unwrap();
    build_aside(&search, &files);
    search.settle();
    assert_eq!(search.taken_in(), 1);
    release.send(()).unwrap();
    assert_eq!(said.recv(), Ok(true), "the index was made only after what hung");
}
