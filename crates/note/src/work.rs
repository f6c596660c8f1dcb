//! Counts the steps of long work on a text, and stops it when its call has ended: every loop that grows with its input
//! counts, at any depth.
//!
//! A step is about one byte. Without a watcher, steps are only counted.
//!
//! Stopped work unwinds, as in a panic, because a `Result` in every function of the parser and the edits would cost all
//! calls for the sake of the few that are stopped. That is safe because:
//!
//! - Only a thread that watches itself unwinds: that of a call, and only while it plans. The executor catches it in the one
//!   place where it catches panics; its watcher lets a change that has begun go on, so nothing is half written.
//! - What is being built when it stops is dropped and never seen: plans are values, and shared state (index, caches,
//!   ledger) is replaced whole, after it was computed. Guards release their locks, which do not poison.
//! - No foreign code is between the two: threads of a pool are not watched, and no callback of a C library counts steps.
//! - The panic hook does not run, so nothing is printed or logged. During another unwinding nothing is stopped.
//!
//! It needs a build whose panics unwind.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

#[cfg(panic = "abort")]
compile_error!("stopped work unwinds: build with panic = \"unwind\"");

/// The number of steps between two checks: some microseconds of work, so that the checks cost nothing.
const STEPS_BETWEEN: u64 = 1 << 14;

/// Says whether the work continues.
pub type GoesOn = Rc<dyn Fn() -> bool>;

/// The payload with which stopped work unwinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkStopped;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static NEXT_QUESTION: Cell<u64> = const { Cell::new(u64::MAX) };
    static WATCHER: RefCell<Option<GoesOn>> = const { RefCell::new(None) };
}

/// While this exists, work on this thread is watched.
#[must_use]
pub struct WatchedWork {
    before: Option<GoesOn>,
    next_before: u64,
}

/// Watches the work on this thread. If it must not continue, it unwinds with [`WorkStopped`].
pub fn watch_work(goes_on: GoesOn) -> WatchedWork {
    let before = WATCHER.replace(Some(goes_on));
    let next_before = NEXT_QUESTION.replace(STEPS.get().saturating_add(STEPS_BETWEEN));
    WatchedWork { before, next_before }
}

impl Drop for WatchedWork {
    fn drop(&mut self) {
        WATCHER.set(self.before.take());
        NEXT_QUESTION.set(self.next_before);
    }
}

/// Counts the next steps. Called in every loop that grows with its input.
#[inline]
pub fn count_steps(steps: usize) {
    let taken = STEPS.get().saturating_add(steps as u64);
    STEPS.set(taken);
    if taken >= NEXT_QUESTION.get() {
        check_work();
    }
}

/// Asks the watcher at once. Returns only if the work goes on.
#[cold]
pub fn check_work() {
    NEXT_QUESTION.set(STEPS.get().saturating_add(STEPS_BETWEEN));
    // The watcher may count steps itself.
    let Some(goes_on) = WATCHER.with_borrow(Clone::clone) else { return };
    // A second panic while unwinding would abort the process.
    if !goes_on() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(WorkStopped));
    }
}

/// The result of some work, and its number of steps on this thread.
pub fn steps_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = STEPS.get();
    let made = work();
    (made, STEPS.get() - before)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn work_is_stopped_in_the_middle_and_the_next_is_not() {
        let asked = Rc::new(Cell::new(0));
        let counted = Rc::clone(&asked);
        let watched = watch_work(Rc::new(move || {
            counted.set(counted.get() + 1);
            counted.get() < 3
        }));
        let steps = Cell::new(0);
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..1_000_000 {
                count_steps(1);
                steps.set(steps.get() + 1);
            }
        }));
        assert_eq!(stopped.unwrap_err().downcast_ref(), Some(&WorkStopped));
        assert_eq!((asked.get(), steps.get()), (3, 3 * STEPS_BETWEEN - 1));
        drop(watched);
        let ((), taken) = steps_of(|| (0..100_000).for_each(|_| count_steps(2)));
        assert_eq!((taken, asked.get()), (200_000, 3), "it is not watched any more");
    }
}
