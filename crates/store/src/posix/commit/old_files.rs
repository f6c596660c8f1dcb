//! Old files that another program still had open when they were replaced: it may save to one long after. They stay next
//! to their place until no program can write to them, and anything written meanwhile is kept.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{Committer, PosixTurn, VaultNews, course, steps::rescue};
use crate::{
    LedgerError, StoreError,
    maintenance::{NotScheduled, run_aside, schedule},
    posix::{OpenOldFile, OtherWriters},
};

/// If the system cannot say who has a file open, this must be long enough for a program to finish its save.
const GRACE: Duration = Duration::from_secs(30);
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LAST_LOOKS: Duration = Duration::from_secs(30);

/// Watches them from now on, in the background, until there are none.
pub(in crate::posix) fn keep_tending(changes: &Arc<Committer>) {
    if changes.tended.swap(true, Ordering::AcqRel) {
        return;
    }
    look_later(TendingMark(Arc::downgrade(changes)), FIRST_LOOK);
}

/// Each check has its own thread, because the disk may never respond.
fn look_later(tending: TendingMark, pause: Duration) {
    let mut tending = Some(tending);
    let look = move || {
        if look_again(&mut tending)
            && let Some(tending) = tending
        {
            // A program that keeps a file open for a while is likely to keep it for longer.
            look_later(tending, (pause * 2).min(LAST_LOOKS));
        }
    };
    // A scheduled task may be run again; this one is not, and schedules its successor itself.
    let mut look = Some(look);
    let scheduled = schedule(pause, move || {
        let started = look.take().map_or(Ok(()), |look| run_aside("caretaker", look));
        started.unwrap_or_else(leave_to_the_next);
        None
    });
    scheduled.unwrap_or_else(leave_to_the_next);
}

fn leave_to_the_next(error: NotScheduled) {
    tracing::warn!(%error, "replaced files that are still open are left to the next server");
}

/// However the task ends, even by a panic, the next file that is still open starts another.
struct TendingMark(Weak<Committer>);

impl Drop for TendingMark {
    fn drop(&mut self) {
        if let Some(changes) = self.0.upgrade() {
            changes.tended.store(false, Ordering::Release);
        }
    }
}

/// Whether there is anything left to watch.
fn look_again(tending: &mut Option<TendingMark>) -> bool {
    // The vault was closed: the next server finds the files in its ledger.
    let Some(changes) = tending.as_ref().and_then(|tending| tending.0.upgrade()) else { return false };
    // The holder of the turn checks them too, eventually.
    let Ok(turn) = changes.wait(&|| false) else { return true };
    if let Err(error) = turn.recover() {
        tracing::debug!(%error, "an unfinished change is left for later");
        return true;
    }
    let open = turn.tend();
    if open > 0 {
        tracing::trace!(open, "replaced files are still open");
        return true;
    }
    // While we still have the turn: a file left open after this starts another task.
    *tending = None;
    false
}

/// The fate of an old file.
enum OldFileFate {
    Gone,
    /// Another program can still write to it, or it could not be checked.
    Open,
    /// It is not next to its place.
    Missing,
}

impl PosixTurn<'_> {
    /// Removes old files that no program can write to any more. Returns how many are left.
    pub(super) fn tend(&self) -> usize {
        let (missing, open) = self.look_at(self.written_down(self.changes.ledger.lingering()));
        let (found, unsure) = self.follow(missing);
        // The first look missed them because their folder was moved; the second one is at their new place.
        let (gone, found_open) = self.look_at(found);
        self.let_go(&gone);
        open + unsure + found_open
    }

    /// A file is removed at once, but a power cut may bring it back. The next server checks once whether it did.
    pub(super) fn sweep(&self) {
        let (gone, _) = self.look_at(self.written_down(self.changes.ledger.removed()));
        self.let_go(&gone);
    }

    /// Returns those that are not next to their places, and how many are still open.
    fn look_at(&self, lingering: Vec<OpenOldFile>) -> (Vec<OpenOldFile>, usize) {
        let changes = self.changes;
        let now = UNIX_EPOCH + Duration::from_nanos(changes.steps.now().unsigned_abs());
        let (mut gone, mut missing, mut open) = (Vec::new(), Vec::new(), 0);
        for lingering in lingering {
            match self.look(&lingering, now) {
                Ok(OldFileFate::Gone) => gone.push(lingering),
                Ok(OldFileFate::Missing) => missing.push(lingering),
                Ok(OldFileFate::Open) => open += 1,
                Err(error) => {
                    // A file that cannot be looked at may still be written to, so it counts as open.
                    self.postpone(&error);
                    open += 1;
                }
            }
        }
        self.let_go(&gone);
        (missing, open)
    }

    /// An old file moves with its folder, also if a person or a later change moves it. Returns those that are elsewhere
    /// now, and how many could not be located; the others are gone.
    fn follow(&self, missing: Vec<OpenOldFile>) -> (Vec<OpenOldFile>, usize) {
        if missing.is_empty() {
            return (Vec::new(), 0);
        }
        let names = missing.iter().map(|lingering| &*lingering.aside).collect();
        let places = match self.changes.steps().seek(&names) {
            Ok(places) => places,
            Err(error) => {
                self.postpone(&error);
                // Without knowing where they are, none of them may be taken for gone.
                return (Vec::new(), missing.len());
            }
        };
        let (mut found, mut gone) = (Vec::new(), Vec::new());
        for lingering in missing {
            let beside = places.iter().find(|place| place.name() == lingering.aside);
            match beside.and_then(|beside| beside.sibling(lingering.place.name()).ok()) {
                // Trashed with its folder: a late save there could not be reported.
                Some(place) if place.is_hidden() => found.push(OpenOldFile { place, ..lingering }),
                Some(place) => found.push(OpenOldFile { path: place.clone(), place, ..lingering }),
                None => gone.push(lingering),
            }
        }
        self.let_go(&gone);
        if let Err(error) = self.changes.ledger.follow(&found) {
            self.postpone(&error);
        }
        (found, 0)
    }

    fn written_down(&self, lingering: Result<Vec<OpenOldFile>, LedgerError>) -> Vec<OpenOldFile> {
        lingering.unwrap_or_else(|error| {
            self.postpone(&error);
            Vec::new()
        })
    }

    fn let_go(&self, gone: &[OpenOldFile]) {
        if let Err(error) = self.changes.ledger.let_go(gone) {
            self.postpone(&error);
        }
    }

    fn postpone(&self, why: &dyn std::error::Error) {
        self.changes.tell(VaultNews::Postponed { why: why.to_string() });
    }

    fn look(&self, lingering: &OpenOldFile, now: SystemTime) -> Result<OldFileFate, StoreError> {
        let changes = self.changes;
        let Some(spot) = course::there(changes, &lingering.place)? else { return Ok(OldFileFate::Missing) };
        let Some(beside) = course::inspect(changes, &spot, Some(&lingering.aside))? else {
            return Ok(OldFileFate::Missing);
        };
        let waited = || now.duration_since(lingering.since).unwrap_or_default() >= GRACE;
        let done = beside.held.is_alone() || (matches!(beside.held, OtherWriters::Unknown) && waited());
        if !done {
            return Ok(OldFileFate::Open);
        }
        if lingering.to_trash {
            changes.steps().trash(&spot, &lingering.aside, now)?;
        } else if [lingering.before, lingering.after].contains(&Some(beside.hash)) {
            // What the change found or wrote itself. Anything else was saved by another program after the exchange.
            changes.steps().discard(&spot, &lingering.aside)?;
        } else {
            rescue(changes, &spot, &lingering.aside, (&lingering.path, &beside.bytes), now)?;
        }
        Ok(OldFileFate::Gone)
    }
}
