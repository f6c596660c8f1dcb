//! Faults of the server itself. A caller learns an id; place and cause are in the log under the same id.

use std::{
    cell::RefCell,
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind},
};

use lapidary_note::WorkStopped;

/// Something that cannot happen, and did. Made by [`bug!`](crate::bug) and [`catch_panic`], which log it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    id: u32,
    at: String,
    what: String,
}

thread_local! {
    /// The last panic of this thread, from the panic hook to whoever catches it.
    static LAST_PANIC: RefCell<Option<Bug>> = const { RefCell::new(None) };
}

impl Bug {
    /// What a caller can report, and what the line in the log begins with.
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

    /// For [`bug!`](crate::bug) alone.
    #[doc(hidden)]
    #[track_caller]
    pub fn report(what: fmt::Arguments<'_>) -> Self {
        Self::logged(Location::caller().to_string(), what.to_string())
    }

    fn logged(at: String, what: String) -> Self {
        // Keys that differ with every call are all that is needed here, so no generator of random numbers is.
        let id = (RandomState::new().build_hasher().finish() >> 32) as u32;
        let bug = Self { id, at, what };
        tracing::error!(id = %bug.id(), at = %bug.at, "internal error: {}", bug.what);
        bug
    }
}

/// Logs that something impossible happened and makes a [`Reason`](crate::Reason) of it. The arguments are those of
/// `format!`; they go into the log, so they may not contain text or properties of notes, paths or tokens.
#[macro_export]
macro_rules! bug {
    ($($what:tt)+) => {
        $crate::Reason::Internal($crate::Bug::report(::std::format_args!($($what)+)))
    };
}

/// Has panics of all threads logged with their place, or that place printed if there is no log. Their messages are left out: a message such
/// as that of a wrong slice index quotes the text of the note.
pub fn install_panic_hook() {
    fn hook(panic: &PanicHookInfo<'_>) {
        let at = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        // Without a log, nothing else would tell that it happened. If that cannot be said either, there is nobody to tell.
        if !tracing::dispatcher::has_been_set() {
            writeln!(io::stderr(), "lapidary: internal error at {at}").unwrap_or_default();
        }
        let bug = Bug::logged(at, "a panic".to_owned());
        // A panic while the thread-local storage is torn down is logged all the same.
        LAST_PANIC.try_with(|last| last.replace(Some(bug))).unwrap_or_default();
    }
    std::panic::set_hook(Box::new(hook));
}

/// Runs something and makes a [`Bug`] of a panic. What a closure that panicked has left half done must not be used
/// afterwards.
///
/// Work that was stopped on the way is not a fault; it gives [`WorkStopped`] instead.
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, CaughtUnwind> {
    LAST_PANIC.take();
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        if payload.is::<WorkStopped>() {
            return CaughtUnwind::Stopped(WorkStopped);
        }
        // rayon passes on the panics of its own threads, whose places have been logged there.
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
    fn a_bug_knows_where_it_was_made_and_has_an_id_of_its_own() {
        let (one, other) = (bug!("part {} is missing", 3), bug!("part {} is missing", 3));
        let (Reason::Internal(one), Reason::Internal(other)) = (one, other) else { panic!("bugs") };
        assert!(one.at().contains("bug.rs:"), "{}", one.at());
        assert_eq!(one.what(), "part 3 is missing");
        assert_ne!(one.id(), other.id());
        assert!(one.id().len() == 10 && one.id().starts_with("b-"), "{}", one.id());
    }

    #[test]
    fn a_panic_that_is_caught_is_a_bug() {
        assert_eq!(catch_panic(|| 1), Ok(1));
        assert!(matches!(catch_panic(|| panic!("with the text of a note")), Err(CaughtUnwind::Panic(_))));
        let stopped = catch_panic(|| std::panic::resume_unwind(Box::new(WorkStopped)));
        assert_eq!(stopped, Err::<(), _>(CaughtUnwind::Stopped(WorkStopped)));
    }
}
