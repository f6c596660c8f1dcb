use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use lapidary_index::Live;
use lapidary_search::SearchKeeper;
use lapidary_store::maintenance::schedule;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After this long without a question, the texts leave memory.
const TEXTS_REST: Duration = Duration::from_secs(2 * 60);
/// And after this long, everything: several servers often stand ready on one vault, and most of them do nothing.
const ALL_RESTS: Duration = Duration::from_secs(20 * 60);

/// Does for an index what nobody should wait for: writes down what was learnt, and gives memory back when nobody asks.
/// Ends with the vault.
pub(crate) fn keep(live: &Arc<Live>, search: &Arc<SearchKeeper>) {
    live.kept.call_once(|| {
        if live.is_cached() {
            let (live, search) = (Arc::downgrade(live), Arc::downgrade(search));
            // Without it the next start is slower and memory stays in use; every answer is the same.
            if let Err(error) = schedule(LOOK_EVERY, move || watch_over(&live, &search)) {
                tracing::warn!(%error, "nobody looks after the index");
            }
        }
    });
}

fn watch_over(live: &Weak<Live>, search: &Weak<SearchKeeper>) -> Option<Duration> {
    let (live, search) = (live.upgrade()?, search.upgrade()?);
    tend(&live, &search, live.idle());
    Some(LOOK_EVERY)
}

fn tend(live: &Live, search: &SearchKeeper, idle: Duration) {
    // While calls come in, the disk is theirs. An index that is being made aside is written down when it is done.
    if live.is_unsaved() && idle >= LOOK_EVERY && !search.is_building() {
        save(live, search);
    }
    if idle >= ALL_RESTS {
        // What is being made aside would stay in memory after all else is gone.
        if !search.is_building() && live.drop_all() {
            search.rest();
        }
    } else if idle >= TEXTS_REST {
        live.drop_texts();
    }
}

/// Writes down what was learnt since the last time, for the next start.
fn save(live: &Live, search: &SearchKeeper) {
    if live.save() {
        search.save();
    }
}

/// The same for somebody who has time to wait for an index that is being made aside.
pub(crate) fn save_at_the_end(live: &Live, search: &SearchKeeper) {
    search.settle();
    save(live, search);
}
