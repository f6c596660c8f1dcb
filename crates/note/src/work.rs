//! Long work on a text, in steps. Whoever runs it can be asked now and then whether it goes on, and every loop that grows
//! with the text can be stopped from there, however deep it is.
//!
//! A step is about a byte that is looked at. Work that is stopped unwinds: no caller ever sees half a structure. Where
//! nobody watches, steps are only counted.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// As many steps are taken between two questions. A few microseconds' worth, so that asking costs nothing.
const STEPS_BETWEEN: u64 = 1 << 14;

/// Asked whether the work goes on.
pub type GoesOn = Rc<dyn Fn() -> bool>;

/// What unwinds when work is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkStopped;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static NEXT_QUESTION: Cell<u64> = const { Cell::new(u64::MAX) };
    static WATCHER: RefCell<Option<GoesOn>> = const { RefCell::new(None) };
}

/// Work on this thread is watched as long as this is kept.
#[must_use]
pub struct WatchedWork {
    before: Option<GoesOn>,
    next_before: u64,
}

/// Has work on this thread ask whether it goes on. If not, it unwinds with [`WorkStopped`].
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

/// Counts steps that are about to be taken. To be called in every loop that grows with what is read or sent.
#[inline]
pub fn count_steps(steps: usize) {
    let taken = STEPS.get().saturating_add(steps as u64);
    STEPS.set(taken);
    if taken >= NEXT_QUESTION.get() {
        ask(taken);
    }
}

#[cold]
fn ask(taken: u64) {
    NEXT_QUESTION.set(taken.saturating_add(STEPS_BETWEEN));
    // What is asked may itself take steps.
    let Some(goes_on) = WATCHER.with_borrow(Clone::clone) else { return };
    if !goes_on() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(WorkStopped));
    }
}

/// What some work makes, and how many steps of this thread it took.
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
        assert_eq!((taken, asked.get()), (200_000, 3), "nobody watches any more");
    }
}
