//! Faults of the server itself. A caller gets an id; place and cause are in the log under the same id.

use std::{
    cell::RefCell,
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind},
};

use lapidary_note::WorkStopped;

/// Something that should be impossible happened. Created by [`bug!`](crate::bug) and [`catch_panic`], which log it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    id: u32,
    at: String,
    what: String,
}

thread_local! {
    /// The last panic of this thread, passed from the panic hook to the code that catches it.
    static LAST_PANIC: RefCell<Option<Bug>> = const { RefCell::new(None) };
}

impl Bug {
    /// What a caller can report, and what the log line starts with.
    pub fn id(&self) -> String {
        format!("b-{:08x}", self.id)
    }

    /// File, line and column.
    pub fn at(&self) -> &str {
        &self.at
    }

    pub fn what(&self) -> &str {
        &self.what
    }

    /// Only for [`bug!`](crate::bug).
    #[doc(hidden)]
    #[track_caller]
    pub fn report(what: fmt::Arguments<'_>) -> Self {
        Self::logged(Location::caller().to_string(), what.to_string())
    }

    fn logged(at: String, what: String) -> Self {
        // Keys that differ with every call are enough here, so no random number generator is needed.
        let id = (RandomState::new().build_hasher().finish() >> 32) as u32;
        let bug = Self { id, at, what };
        tracing::error!(id = %bug.id(), at = %bug.at, "internal error: {}", bug.what);
        bug
    }
}

/// Logs that something impossible happened and turns it into a [`Reason`](crate::Reason). The arguments are those of
/// `format!`; they go into the log, so they must not contain text or properties of notes, paths or tokens.
#[macro_export]
macro_rules! bug {
    ($($what:tt)+) => {
        $crate::Reason::Internal($crate::Bug::report(::std::format_args!($($what)+)))
    };
}

/// Logs panics of all threads with their place, or prints the place if there is no log. The messages are left out:
/// some, such as that of a wrong slice index, quote the text of the note.
pub fn install_panic_hook() {
    fn hook(panic: &PanicHookInfo<'_>) {
        let at = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        // Without a log, nothing else would report the panic. If this fails too, there is no channel left.
        if !tracing::dispatcher::has_been_set() {
            writeln!(io::stderr(), "lapidary: internal error at {at}").unwrap_or_default();
        }
        let bug = Bug::logged(at, "a panic".to_owned());
        // A panic while thread-local storage is torn down is still logged.
        LAST_PANIC.try_with(|last| last.replace(Some(bug))).unwrap_or_default();
    }
    std::panic::set_hook(Box::new(hook));
}

/// Runs a closure and turns a panic into a [`Bug`]. State that the closure left half done must not be used afterwards.
///
/// Work that was stopped on the way is not a fault; it gives [`WorkStopped`] instead.
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, CaughtUnwind> {
    // A panic that was caught elsewhere on this thread must not be reported as the cause of this one.
    LAST_PANIC.take();
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        // Not a fault: `watch_work` unwinds to leave a deep recursion when its call ends.
        if payload.is::<WorkStopped>() {
            return CaughtUnwind::Stopped(WorkStopped);
        }
        // rayon forwards the panics of its threads, whose places were logged there.
        let bug = LAST_PANIC.take().unwrap_or_else(|| Bug::report(format_args!("a panic on another thread")));
        CaughtUnwind::Panic(bug)
    })
}

/// Why something did not come to its end.
#[derive(Debug, PartialEq)]
pub enum CaughtUnwind {
    Panic(Bug),
    Stopped(WorkStopped),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn a_bug_has_its_place_and_a_unique_id() {
        let (one, other) = (bug!("part {} is missing", 3), bug!("part {} is missing", 3));
        let (Reason::Internal(one), Reason::Internal(other)) = (one, other) else { panic!("bugs") };
        assert!(one.at().contains("bug.rs:"), "{}", one.at());
        assert_eq!(one.what(), "part 3 is missing");
        assert_ne!(one.id(), other.id());
        assert!(one.id().len() == 10 && one.id().starts_with("b-"), "{}", one.id());
    }

    #[test]
    fn a_caught_panic_becomes_a_bug() {
        assert_eq!(catch_panic(|| 1), Ok(1));
        assert!(matches!(catch_panic(|| panic!("with the text of a note")), Err(CaughtUnwind::Panic(_))));
        let stopped = catch_panic(|| std::panic::resume_unwind(Box::new(WorkStopped)));
        assert_eq!(stopped, Err::<(), _>(CaughtUnwind::Stopped(WorkStopped)));
    }
}
