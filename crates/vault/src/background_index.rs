//! Background work for the index of a vault.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use lapidary_index::VaultIndex;
use lapidary_search::RankedIndexCache;
use lapidary_store::maintenance::{NotScheduled, run_aside, schedule};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After this long without a call, the texts are released.
const TEXTS_REST: Duration = Duration::from_secs(2 * 60);
/// And after this long, everything: several servers are often idle on one vault.
const ALL_RESTS: Duration = Duration::from_secs(20 * 60);

/// Background work for an index: saves new data, and releases memory when it is idle. Ends with the vault.
pub(crate) fn schedule_upkeep(live: &Arc<VaultIndex>, search: &Arc<RankedIndexCache>) {
    live.kept.call_once(|| {
        if live.is_cached() {
            look_later(Arc::downgrade(live), Arc::downgrade(search));
        }
    });
}

fn look_later(weak_live: Weak<VaultIndex>, weak_search: Weak<RankedIndexCache>) {
    let scheduled = schedule(LOOK_EVERY, move || {
        // Ends the task when the vault is closed.
        let (live, search) = (weak_live.upgrade()?, weak_search.upgrade()?);
        let idle = live.idle();
        // While calls come in, the disk is theirs. An index that is being built in the background is saved when it is
        // done.
        if live.is_unsaved() && idle >= LOOK_EVERY && !search.is_building() {
            let (weak_live, weak_search) = (weak_live.clone(), weak_search.clone());
            // The disk may never respond. Nothing else is done for this vault until it does.
            run_aside("cache-write", move || {
                if let (Some(live), Some(search)) = (weak_live.upgrade(), weak_search.upgrade()) {
                    save(&live, &search);
                    give_back(&live, &search, live.idle());
                }
                // The next look is scheduled only when this one has ended, so that at most one waits for the disk.
                look_later(weak_live, weak_search);
            })
            .unwrap_or_else(warn);
            return None;
        }
        give_back(&live, &search, idle);
        Some(LOOK_EVERY)
    });
    scheduled.unwrap_or_else(warn);
}

/// Without it the next start is slower and memory stays in use; every answer is the same.
fn warn(error: NotScheduled) {
    tracing::warn!(%error, "the index is not maintained");
}

/// Releases memory that has not been needed for long.
fn give_back(live: &VaultIndex, search: &RankedIndexCache, idle: Duration) {
    if idle >= ALL_RESTS {
        // An index that is being built would stay in memory after everything else is gone.
        if !search.is_building() && live.drop_all() {
            search.rest();
        }
    } else if idle >= TEXTS_REST {
        live.drop_texts();
    }
}

/// Saves new data for the next start.
fn save(live: &VaultIndex, search: &RankedIndexCache) {
    if live.save() {
        search.save();
    }
}

/// The same for a caller that can wait for an index that is being built.
pub(crate) fn save_at_the_end(live: &VaultIndex, search: &RankedIndexCache) {
    search.settle();
    save(live, search);
}
