//! Notices a caller that asks the same again and again and gets the same answer each time.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use lapidary_note::ContentHash;

/// What each caller asked lately, and what it was told.
#[derive(Default)]
pub(crate) struct Repetition {
    recent: Mutex<BTreeMap<String, VecDeque<(ContentHash, ContentHash)>>>,
}

const WINDOW: usize = 15;
const ALLOWED: usize = 3;
/// Callers come and go; a server that runs for weeks must not remember them all.
const CALLERS: usize = 256;

impl Repetition {
    /// Records a call and its outcome; `Some` if the very same has already happened often enough.
    ///
    /// The outcome is part of the comparison, so a file that changed meanwhile is never a repetition.
    pub(crate) fn record(&self, caller: &str, call: ContentHash, outcome: ContentHash) -> Option<usize> {
        let mut recent = self.recent();
        if recent.len() >= CALLERS && !recent.contains_key(caller) {
            recent.pop_first();
        }
        let calls = recent.entry(caller.to_owned()).or_default();
        let times = calls.iter().filter(|seen| **seen == (call, outcome)).count();
        if times >= ALLOWED {
            return Some(times);
        }
        calls.push_back((call, outcome));
        if calls.len() > WINDOW {
            calls.pop_front();
        }
        None
    }

    /// The vault changed, so asking again makes sense.
    pub(crate) fn forget(&self) {
        self.recent().clear();
    }

    fn recent(&self) -> MutexGuard<'_, BTreeMap<String, VecDeque<(ContentHash, ContentHash)>>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_same_answer_to_the_same_call_is_one_too_many() {
        let repetition = Repetition::default();
        let hash = |text: &str| ContentHash::of(text.as_bytes());
        let ask = |caller, call, outcome| repetition.record(caller, hash(call), hash(outcome));
        for _ in 0..3 {
            assert_eq!(ask("a", "read x", "one"), None);
        }
        assert_eq!(ask("a", "read x", "one"), Some(3));
        assert_eq!(ask("a", "read x", "two"), None, "the answer changed");
        assert_eq!(ask("a", "read y", "one"), None, "another call");
        assert_eq!(ask("b", "read x", "one"), None, "another caller");
        repetition.forget();
        assert_eq!(ask("a", "read x", "one"), None, "the vault changed");
    }

    #[test]
    fn only_the_last_calls_count() {
        let repetition = Repetition::default();
        let hash = |text: &str| ContentHash::of(text.as_bytes());
        for _ in 0..3 {
            assert_eq!(repetition.record("a", hash("x"), hash("")), None);
        }
        for other in 0..WINDOW {
            assert_eq!(repetition.record("a", hash(&other.to_string()), hash("")), None);
        }
        assert_eq!(repetition.record("a", hash("x"), hash("")), None);
    }
}
