use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use crate::index::Live;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After this long without a question, the texts leave memory.
const TEXTS_REST: Duration = Duration::from_secs(2 * 60);
/// And after this long, everything: several servers often stand ready on one vault, and most of them do nothing.
const ALL_RESTS: Duration = Duration::from_secs(20 * 60);

/// Does for an index what nobody should wait for: writes down what was learnt, and gives memory back when nobody asks.
/// Ends with the vault.
pub(crate) fn keep(live: &Arc<Live>) {
    live.kept.call_once(|| {
        if live.is_cached() {
            let live = Arc::downgrade(live);
            let keeper = std::thread::Builder::new().name("index keeper".to_owned()).spawn(move || watch_over(&live));
            // Without it the next start is slower and memory stays in use; every answer is the same.
            drop(keeper);
        }
    });
}

fn watch_over(live: &Weak<Live>) {
    loop {
        std::thread::sleep(LOOK_EVERY);
        let Some(live) = live.upgrade() else { return };
        tend(&live, live.idle());
    }
}

fn tend(live: &Live, idle: Duration) {
    // While calls come in, the disk is theirs.
    if live.is_unsaved() && idle >= LOOK_EVERY {
        live.save();
    }
    if idle >= ALL_RESTS {
        live.drop_all();
    } else if idle >= TEXTS_REST {
        live.drop_texts();
    }
}
