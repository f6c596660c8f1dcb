//! What this thread hashes, for tests that promise how often.

use std::cell::RefCell;

thread_local! {
    /// The lengths of what was hashed; nothing where nobody counts.
    static LENGTHS: RefCell<Option<Vec<usize>>> = const { RefCell::new(None) };
}

pub(crate) fn add(length: usize) {
    LENGTHS.with_borrow_mut(|lengths| lengths.iter_mut().for_each(|lengths| lengths.push(length)));
}

/// What `work` gives, and the length of each text that was hashed for it.
pub fn hashed_during<T>(work: impl FnOnce() -> T) -> (T, Vec<usize>) {
    LENGTHS.set(Some(Vec::new()));
    let outcome = work();
    (outcome, LENGTHS.take().unwrap_or_default())
}
