use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use lapidary_index::Live;
use lapidary_search::SearchKeeper;

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
            let keeper =
                std::thread::Builder::new().name("index keeper".to_owned()).spawn(move || watch_over(&live, &search));
            // Without it the next start is slower and memory stays in use; every answer is the same.
            if let Err(error) = keeper {
                tracing::warn!(%error, "there is no thread to look after the index");
            }
        }
    });
}

fn watch_over(live: &Weak<Live>, search: &Weak<SearchKeeper>) {
    loop {
        std::thread::sleep(LOOK_EVERY);
        let (Some(live), Some(search)) = (live.upgrade(), search.upgrade()) else { return };
        tend(&live, &search, live.idle());
    }
}

fn tend(live: &Live, search: &SearchKeeper, idle: Duration) {
    // While calls come in, the disk is theirs.
    if live.is_unsaved() && idle >= LOOK_EVERY {
        save(live, search);
    }
    if idle >= ALL_RESTS {
        if live.drop_all() {
            search.rest();
        }
    } else if idle >= TEXTS_REST {
        live.drop_texts();
    }
}

/// Writes down what was learnt since the last time, for the next start.
pub(crate) fn save(live: &Live, search: &SearchKeeper) {
    search.settle();
    if live.save() {
        search.save();
    }
}
