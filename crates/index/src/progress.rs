//! The progress of long work, as a share.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The progress of work on many notes, for waiting callers. Only as a share: the number of notes would reveal those
/// that a caller may not see.
#[derive(Debug, Default)]
pub struct WorkProgress {
    all: AtomicUsize,
    done: AtomicUsize,
}

/// Shorter work is over before it could be shown.
const WORTH_TELLING: usize = 500;

/// Work in progress; it is over when this is dropped.
pub struct UnderWay<'p> {
    progress: &'p WorkProgress,
    notes: usize,
}

impl WorkProgress {
    pub fn begin(&self, notes: usize) -> UnderWay<'_> {
        self.all.fetch_add(notes, Ordering::Relaxed);
        UnderWay { progress: self, notes }
    }

    pub fn step(&self, notes: usize) {
        self.done.fetch_add(notes, Ordering::Relaxed);
    }

    /// In per cent; `None` if no long work is in progress.
    pub fn share(&self) -> Option<u8> {
        let (all, done) = (self.all.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed));
        // When one of several workers ends, the total shrinks and the count does not.
        let share = 100 * done.min(all) / all.max(1);
        (all >= WORTH_TELLING).then(|| u8::try_from(share).unwrap_or(100))
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let left = self.progress.all.fetch_sub(self.notes, Ordering::Relaxed) - self.notes;
        // Progress is counted for all workers; it starts over after the last of them.
        if left == 0 {
            self.progress.done.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_goes_up_and_ends() {
        let progress = WorkProgress::default();
        assert_eq!(progress.share(), None);
        let under_way = progress.begin(1000);
        assert_eq!(progress.share(), Some(0));
        progress.step(250);
        assert_eq!(progress.share(), Some(25));
        progress.step(2000);
        assert_eq!(progress.share(), Some(100));
        drop(under_way);
        assert_eq!(progress.share(), None);
        let _few = progress.begin(10);
        assert_eq!(progress.share(), None, "a few are not worth telling");
    }
}
