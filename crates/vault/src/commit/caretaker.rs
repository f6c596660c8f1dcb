//! Old files that somebody still had open when they were replaced: another program may save into one long after. They
//! stay beside their place until nobody can, and what was written into them meanwhile is kept.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Changes, News, Turn, course, steps::rescue};
use crate::store::{Held, LedgerError, Lingering, StoreError};

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
        self.look_at(self.changes.ledger.lingering())
    }

    /// A file is removed at once, but a power cut may bring it back. Who comes next looks once whether it did.
    pub(super) fn sweep(&self) {
        self.look_at(self.changes.ledger.removed());
    }

    fn look_at(&self, lingering: Result<Vec<Lingering>, LedgerError>) -> usize {
        let changes = self.changes;
        let postpone = |why: String| changes.tell(News::Postponed { why });
        let lingering = lingering.unwrap_or_else(|error| {
            postpone(error.to_string());
            Vec::new()
        });
        let now = UNIX_EPOCH + Duration::from_nanos(changes.store.now().unsigned_abs());
        let is_gone = |lingering: &Lingering| match self.look(lingering, now) {
            Ok(gone) => gone,
            Err(error) => {
                postpone(error.to_string());
                false
            }
        };
        let (gone, still_open): (Vec<Lingering>, Vec<Lingering>) = lingering.into_iter().partition(is_gone);
        if let Err(error) = changes.ledger.let_go(&gone) {
            postpone(error.to_string());
        }
        still_open.len()
    }

    /// Whether nothing is left beside that place.
    fn look(&self, lingering: &Lingering, now: SystemTime) -> Result<bool, StoreError> {
        let changes = self.changes;
        let Some(spot) = course::there(changes, &lingering.place)? else { return Ok(true) };
        let Some(beside) = course::inspect(changes, &spot, Some(&lingering.aside))? else { return Ok(true) };
        let waited = || now.duration_since(lingering.since).unwrap_or_default() >= GRACE;
        let done = beside.held.is_alone() || (matches!(beside.held, Held::Unknown) && waited());
        if !done {
            return Ok(false);
        }
        if lingering.to_trash {
            changes.steps().trash(&spot, &lingering.aside, now)?;
        } else if [lingering.before, lingering.after].contains(&Some(beside.hash)) {
            changes.steps().discard(&spot, &lingering.aside)?;
        } else {
            rescue(changes, &spot, &lingering.aside, &beside.bytes, now)?;
        }
        Ok(true)
    }
}
