//! What the calls of a process may hold in memory together.
//!
//! Every call has a small share. A call that needs more takes the one place for large calls, and waits while another
//! has it; so all calls together never hold more than the shares and one large call.
//!
//! Nothing waits in a circle: a call with the large place waits only for the index, which charges no call, and for the
//! turn of a vault; and a call that has had its turn no longer waits here.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use lapidary_note::{MemoryCharges, check_work};
use lapidary_vault::store::{give_back_memory, maintenance::schedule};

/// The share of one call, unless all may hold little together: some ordinary notes.
const SHARE: u64 = 4 << 20;
/// All shares together are at most one part in this many of the total; the rest is for one large call.
const SHARES_OF_TOTAL: u64 = 4;
/// How long after the end of a large call its memory is given back: its answer is sent by then, and the next may come.
const GIVE_BACK_AFTER: Duration = Duration::from_millis(500);
/// How often a waiting call checks whether the place is free and whether it should still wait.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The memory of all calls.
pub(crate) struct SharedMemory {
    share: u64,
    largest: u64,
    large_place_taken: AtomicBool,
    /// Whether freed memory is about to be given back to the system.
    gives_back: AtomicBool,
}

impl SharedMemory {
    /// A total for this number of concurrent calls.
    pub(crate) fn new(total: u64, calls: usize) -> Self {
        let calls = u64::try_from(calls).unwrap_or(u64::MAX).max(1);
        let share = SHARE.min(total / SHARES_OF_TOTAL / calls);
        Self {
            share,
            largest: total - share * calls,
            large_place_taken: AtomicBool::new(false),
            gives_back: AtomicBool::new(false),
        }
    }

    /// What one call may hold at most.
    pub(crate) fn largest(&self) -> u64 {
        self.largest
    }

    /// After a large call: what it has freed goes back to the system, once for all that end about now.
    fn give_back_soon(self: &Arc<Self>) {
        if self.gives_back.swap(true, Ordering::AcqRel) {
            return;
        }
        let memory = Arc::clone(self);
        let give_back = move || {
            memory.gives_back.store(false, Ordering::Release);
            give_back_memory();
            None
        };
        // Without it, only the memory stays with the process.
        if schedule(GIVE_BACK_AFTER, give_back).is_err() {
            tracing::debug!("freed memory is not given back: no thread for it");
        }
    }
}

/// What one call holds.
pub(crate) struct MemoryAccount {
    memory: Arc<SharedMemory>,
    held: AtomicU64,
    is_large: AtomicBool,
    was_large: AtomicBool,
    waits: AtomicBool,
    /// What it wanted to hold when that was too much; 0 if it never was.
    exceeded: AtomicU64,
}

impl MemoryAccount {
    pub(crate) fn open(memory: &Arc<SharedMemory>) -> Arc<Self> {
        Arc::new(Self {
            memory: Arc::clone(memory),
            held: AtomicU64::new(0),
            is_large: AtomicBool::new(false),
            was_large: AtomicBool::new(false),
            waits: AtomicBool::new(true),
            exceeded: AtomicU64::new(0),
        })
    }

    /// What the call wanted to hold, if that was more than it may.
    pub(crate) fn exceeded(&self) -> Option<u64> {
        Some(self.exceeded.load(Ordering::Acquire)).filter(|bytes| *bytes > 0)
    }

    /// From now on it does not wait for the large place: others may be waiting for this call.
    pub(crate) fn stop_waiting(&self) {
        self.waits.store(false, Ordering::Release);
    }

    /// At the end of the call. What still exists of it belongs to others now.
    pub(crate) fn close(&self) {
        self.stop_waiting();
        self.leave_large_place();
        if self.was_large.load(Ordering::Acquire) {
            self.memory.give_back_soon();
        }
    }

    /// Whether the call has the large place now, or needs none.
    fn fits(&self) -> bool {
        // After its turn a call must not wait, even if the total is exceeded for a moment.
        if self.is_large.load(Ordering::Acquire) || !self.waits.load(Ordering::Acquire) {
            return true;
        }
        let free = !self.memory.large_place_taken.swap(true, Ordering::AcqRel);
        if free {
            self.is_large.store(true, Ordering::Release);
            self.was_large.store(true, Ordering::Release);
        }
        free
    }

    /// Counts, and returns what is held now, unless that is more than one call may.
    fn count(&self, bytes: u64) -> Option<u64> {
        let held = self.held.fetch_add(bytes, Ordering::AcqRel).saturating_add(bytes);
        if held > self.memory.largest {
            self.exceeded.fetch_max(held, Ordering::AcqRel);
            return None;
        }
        Some(held)
    }

    fn leave_large_place(&self) {
        if self.is_large.swap(false, Ordering::AcqRel) {
            self.memory.large_place_taken.store(false, Ordering::Release);
        }
    }
}

impl MemoryCharges for MemoryAccount {
    fn hold(&self, bytes: u64) {
        // The call is refused if it is too much, unless it is making its change already.
        let Some(held) = self.count(bytes) else { return check_work() };
        while held > self.memory.share && !self.fits() {
            check_work();
            thread::sleep(LOOK_AGAIN);
        }
    }

    fn hold_aside(&self, bytes: u64, go_on: &dyn Fn() -> bool) -> bool {
        let Some(held) = self.count(bytes) else { return false };
        while held > self.memory.share && !self.fits() {
            // The thread of the call may have had too much meanwhile.
            if !go_on() || self.exceeded().is_some() {
                return false;
            }
            thread::sleep(LOOK_AGAIN);
        }
        true
    }

    fn release(&self, bytes: u64) {
        let before = self.held.fetch_sub(bytes, Ordering::AcqRel);
        if before.saturating_sub(bytes) <= self.memory.share {
            self.leave_large_place();
        }
    }
}

impl Drop for MemoryAccount {
    fn drop(&mut self) {
        self.leave_large_place();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        rc::Rc,
        sync::mpsc::channel,
    };

    use lapidary_note::{WorkStopped, watch_work};

    use super::*;

    const KB: u64 = 1 << 10;

    fn two_calls() -> (Arc<SharedMemory>, Arc<MemoryAccount>, Arc<MemoryAccount>) {
        let memory = Arc::new(SharedMemory::new(400 * KB, 2));
        assert_eq!((memory.share, memory.largest), (50 * KB, 300 * KB));
        let (one, other) = (MemoryAccount::open(&memory), MemoryAccount::open(&memory));
        (memory, one, other)
    }

    #[test]
    fn one_large_call_at_a_time_and_the_next_waits_until_it_is_over() {
        let (memory, one, other) = two_calls();
        one.hold(50 * KB);
        assert!(!memory.large_place_taken.load(Ordering::Acquire), "its share");
        one.hold(KB);
        assert!(memory.large_place_taken.load(Ordering::Acquire));
        let (tell, told) = channel();
        let waits = {
            let other = Arc::clone(&other);
            thread::spawn(move || {
                other.hold(50 * KB);
                tell.send(()).unwrap();
                other.hold(KB);
            })
        };
        told.recv().unwrap();
        assert!(!other.is_large.load(Ordering::Acquire));
        one.release(KB);
        waits.join().unwrap();
        assert!(other.is_large.load(Ordering::Acquire));
        drop(other);
        assert!(!memory.large_place_taken.load(Ordering::Acquire), "it leaves with the call");
    }

    #[test]
    fn a_call_that_ends_while_it_waits_or_wants_too_much_stops_there() {
        let (_, one, other) = two_calls();
        one.hold(60 * KB);
        let watched = watch_work(Rc::new(|| false));
        let stops = |bytes: u64| {
            let stopped = catch_unwind(AssertUnwindSafe(|| other.hold(bytes))).unwrap_err();
            assert_eq!(stopped.downcast_ref(), Some(&WorkStopped));
            other.release(bytes);
        };
        stops(60 * KB);
        assert_eq!(other.exceeded(), None, "it only waited");
        one.close();
        stops(301 * KB);
        assert_eq!(other.exceeded(), Some(301 * KB));
        drop(watched);
    }

    #[test]
    fn what_other_threads_hold_for_a_call_counts_and_waits_only_as_long_as_it_may() {
        let (memory, one, other) = two_calls();
        one.hold(60 * KB);
        assert!(other.hold_aside(50 * KB, &|| false), "its share");
        let asked = std::cell::Cell::new(0);
        let twice = || {
            asked.set(asked.get() + 1);
            asked.get() < 2
        };
        assert!(!other.hold_aside(KB, &twice), "another has the place");
        assert_eq!((asked.get(), other.exceeded()), (2, None));
        drop(one);
        assert!(other.hold_aside(KB, &|| false) && memory.large_place_taken.load(Ordering::Acquire));
        assert!(!other.hold_aside(300 * KB, &|| true), "more than there is, and no unwinding");
        assert_eq!(other.exceeded(), Some(352 * KB));
    }

    #[test]
    fn a_call_that_has_had_its_turn_does_not_wait() {
        let (_, one, other) = two_calls();
        one.hold(60 * KB);
        other.stop_waiting();
        other.hold(60 * KB);
        assert!(one.is_large.load(Ordering::Acquire) && !other.is_large.load(Ordering::Acquire));
    }
}
