//! Events for the owner's log, bounded in number.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::{AtomicU64, Ordering},
};

use crossbeam_queue::SegQueue;

use crate::VaultNews;

/// More would not be read; a failing disk keeps producing news while there are no calls.
const MAX_NEWS: usize = 1_000;
const NONE: u64 = 0;

/// What the next caller writes to the owner's log.
#[derive(Default)]
pub(super) struct NewsQueue {
    waiting: SegQueue<VaultNews>,
    /// A hash of the last entry, if it was a postponement: a failing disk reports the same for each file at each check.
    postponed: AtomicU64,
}

impl NewsQueue {
    pub(super) fn push(&self, news: VaultNews) {
        let postponed = hash_of_postponed(&news);
        let before = self.postponed.swap(postponed, Ordering::AcqRel);
        let is_repeated = postponed != NONE && postponed == before;
        let is_full = self.waiting.len() >= MAX_NEWS;
        // A postponement is found again by the next check, so it never takes the place of other news.
        if is_repeated || (is_full && postponed != NONE) {
            return;
        }
        if is_full {
            self.waiting.pop();
        }
        self.waiting.push(news);
    }

    pub(super) fn take(&self) -> Vec<VaultNews> {
        // Continuing failures are reported again to the next caller.
        self.postponed.store(NONE, Ordering::Release);
        std::iter::from_fn(|| self.waiting.pop()).collect()
    }
}

fn hash_of_postponed(news: &VaultNews) -> u64 {
    let VaultNews::Postponed { why } = news else { return NONE };
    let mut hasher = DefaultHasher::new();
    why.hash(&mut hasher);
    // Zero is reserved for "none".
    hasher.finish().max(NONE + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postponed(why: &str) -> VaultNews {
        VaultNews::Postponed { why: why.to_owned() }
    }

    #[test]
    fn a_repeated_postponement_is_reported_once_per_caller() {
        let news = NewsQueue::default();
        let undone = VaultNews::Undone { left: Vec::new() };
        for told in [postponed("a"), postponed("a"), postponed("b"), postponed("a"), undone.clone(), postponed("a")] {
            news.push(told);
        }
        assert_eq!(news.take(), [postponed("a"), postponed("b"), postponed("a"), undone, postponed("a")]);
        news.push(postponed("a"));
        assert_eq!(news.take(), [postponed("a")]);
    }

    #[test]
    fn news_is_limited_and_postponements_are_dropped_first() {
        let news = NewsQueue::default();
        for number in 0..2 * MAX_NEWS {
            news.push(postponed(&number.to_string()));
        }
        let undone = VaultNews::Undone { left: Vec::new() };
        news.push(undone.clone());
        let taken = news.take();
        assert_eq!(taken.len(), MAX_NEWS);
        assert_eq!((taken.first(), taken.last()), (Some(&postponed("1")), Some(&undone)));
    }
}
