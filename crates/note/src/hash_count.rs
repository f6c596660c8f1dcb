//! Counts the hashes of this thread, for tests that promise a number.

use std::cell::RefCell;

thread_local! {
    /// The lengths of hashed texts; `None` while not counting.
    static LENGTHS: RefCell<Option<Vec<usize>>> = const { RefCell::new(None) };
}

pub(crate) fn add(length: usize) {
    LENGTHS.with_borrow_mut(|lengths| lengths.iter_mut().for_each(|lengths| lengths.push(length)));
}

/// The result of `work`, and the length of each text that was hashed for it.
pub fn hashed_during<T>(work: impl FnOnce() -> T) -> (T, Vec<usize>) {
    LENGTHS.set(Some(Vec::new()));
    let outcome = work();
    (outcome, LENGTHS.take().unwrap_or_default())
}
