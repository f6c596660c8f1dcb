//! The rule files of a remote vault: asked for together, once in a while, and at once after a change of ours.

use std::time::Duration;

use lapidary_fake_plugin::{FakeVersion, FaultKind, PluginFault};
use lapidary_store::{Backend, ElapsedTime, RemoteFault, StoreError, VaultPath};

use crate::{
    PATIENCE, path,
    remote::{commit, create, one_vault},
};

fn rules() -> Vec<VaultPath> {
    [".lapidaryignore", ".lapidaryprotect", ".obsidian-agentignore", ".obsidian-agentprotected"].map(path).into()
}

#[test]
fn one_look_at_all_of_them_counts_for_a_second() {
    for version in FakeVersion::ALL {
        let (plugin, backend, _state) = one_vault(version, &[(".lapidaryignore", b"/x/\n"), ("a.md", b"a")]);
        let began = ElapsedTime::start();
        let first = backend.stamps(&rules()).unwrap();
        assert_eq!(first.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, false]);
        for _ in 0..50 {
            assert_eq!(backend.stamps(&rules()).unwrap(), first);
        }
        let looks = 1 + began.elapsed().as_secs() as usize;
        let asked = plugin.take_requests().len();
        assert!(asked <= looks * rules().len(), "{version:?}: {asked} requests in {looks} looks");
    }
}

#[test]
fn a_change_of_ours_is_followed_by_another_look_and_one_of_others_is_seen_in_a_moment() {
    let (plugin, backend, _state) = one_vault(FakeVersion::V5_1, &[("a.md", b"a")]);
    assert_eq!(backend.stamps(&rules()).unwrap(), [None; 4]);
    // No call may change a rule file; what comes with a change counts as soon as the change does.
    plugin.write(".lapidaryignore", b"/x/\n");
    commit(&backend, vec![create("b.canvas", "{}")]).unwrap();
    let made = backend.stamps(&rules()).unwrap();
    assert!(made[0].is_some(), "{made:?}");
    // Of the same length.
    plugin.write(".lapidaryignore", b"/z/\n");
    let began = ElapsedTime::start();
    while backend.stamps(&rules()).unwrap() == made {
        assert!(began.elapsed() < PATIENCE, "it is never seen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_look_that_fails_says_at_which_file_and_counts_for_nothing() {
    let (plugin, backend, _state) = one_vault(FakeVersion::V5_1, &[("a.md", b"a")]);
    plugin.fail(PluginFault::new(FaultKind::Status { status: 501, retry_after: None }).of("GET", "agentignore"));
    let failing = StoreError::Remote(RemoteFault::Failing { status: Some(501) });
    assert_eq!(backend.stamps(&rules()), Err((2, failing)));
    plugin.write(".lapidaryignore", b"/x/\n");
    assert!(backend.stamps(&rules()).unwrap()[0].is_some());
}

#[test]
fn what_is_promised_is_known_before_a_file_is_read() {
    for version in FakeVersion::ALL {
        let (plugin, backend, _state) = one_vault(version, &[("x/y/a.md", b"a")]);
        let promised = backend.capabilities();
        assert_eq!(promised.compare_and_swap, version == FakeVersion::V6, "{version:?}");
        assert!(!promised.atomic_many && !promised.durable && promised.checkpoints);
        plugin.take_requests();
        assert_eq!(backend.capabilities(), promised);
        assert!(plugin.take_requests().is_empty(), "it is asked once");
    }
    let (mut plugin, backend, _state) = one_vault(FakeVersion::V6, &[("a.md", b"a")]);
    plugin.stop();
    assert!(!backend.capabilities().compare_and_swap, "what does not answer promises nothing");
    plugin.resume();
    assert!(backend.capabilities().compare_and_swap);
}
