//! Old files that somebody still had open when they were replaced: another program may save into one long after. They
//! stay beside their place until nobody can, and what was written into them meanwhile is kept.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Changes, News, Turn, steps::rescue, undo};
use crate::store::{Held, Lingering, StoreError};

/// Where the system does not tell who has a file open, this long has to be enough for a program to finish its save.
const GRACE: Duration = Duration::from_secs(30);
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LAST_LOOKS: Duration = Duration::from_secs(30);

/// Looks after them from now on, in the background, until there are none.
pub(super) fn keep_tending(changes: &Arc<Changes>) {
    if changes.tended.swap(true, Ordering::AcqRel) {
        return;
    }
    let weak = Arc::downgrade(changes);
    let started = std::thread::Builder::new().name("caretaker".to_owned()).spawn(move || look_again(&weak));
    if started.is_err() {
        // The next server does it.
        changes.tended.store(false, Ordering::Release);
    }
}

fn look_again(changes: &Weak<Changes>) {
    let mut pause = FIRST_LOOK;
    loop {
        std::thread::sleep(pause);
        pause = (pause * 2).min(LAST_LOOKS);
        let Some(changes) = changes.upgrade() else { return };
        // Whoever is at work looks at them too, sooner or later.
        let Ok(turn) = changes.wait(&|| false) else { continue };
        if turn.recover().is_ok() && turn.tend() == 0 {
            changes.tended.store(false, Ordering::Release);
            return;
        }
    }
}

impl Turn<'_> {
    /// Lets go of old files that nobody can write into any more. Returns how many there still are.
    pub(super) fn tend(&self) -> usize {
        let changes = self.changes;
        let lingering = match changes.ledger.lingering() {
            Ok(lingering) => lingering,
            Err(error) => {
                changes.tell(News::Postponed { why: error.to_string() });
                return 0;
            }
        };
        let now = UNIX_EPOCH + Duration::from_nanos(changes.store.now().unsigned_abs());
        let still_open = lingering.iter().filter(|lingering| match self.look(lingering, now) {
            Ok(gone) => !gone,
            Err(error) => {
                changes.tell(News::Postponed { why: error.to_string() });
                true
            }
        });
        still_open.count()
    }

    /// Whether nothing is left beside that place.
    fn look(&self, lingering: &Lingering, now: SystemTime) -> Result<bool, StoreError> {
        let changes = self.changes;
        let let_go = || changes.ledger.let_go(lingering).map(|()| true).map_err(|_| StoreError::NoCheckpoint);
        let Some(spot) = undo::there(changes, &lingering.place)? else { return let_go() };
        let Some(beside) = undo::inspect(changes, &spot, Some(&lingering.aside))? else { return let_go() };
        let waited = || now.duration_since(lingering.since).unwrap_or_default() >= GRACE;
        let done = beside.held.is_alone() || (matches!(beside.held, Held::Unknown) && waited());
        if !done {
            return Ok(false);
        }
        if lingering.to_trash {
            changes.steps().trash(&spot, &lingering.aside, now)?;
        } else if lingering.before.is_some_and(|before| before == beside.hash) {
            changes.steps().discard(&spot, &lingering.aside)?;
        } else {
            rescue(changes, &spot, &lingering.aside, &beside.bytes, now)?;
        }
        let_go()
    }
}
