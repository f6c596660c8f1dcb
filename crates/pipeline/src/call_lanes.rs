//! How many calls run concurrently. Reading and changing have separate lanes, so that a long search never delays an
//! edit; each is first come, first served.

use std::sync::Arc;

use lapidary_tools::Effect;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) struct CallLanes {
    reads: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    places: usize,
}

/// A call mostly waits for the disk, so there may be more of them than cores.
const READS_PER_CORE: usize = 4;
/// Twice the calls that one HTTP client may have open, so that none takes all places with slow ones.
const FEWEST_READS: usize = 16;
/// Changes of one vault take turns anyway; these may plan concurrently.
const WRITES: usize = 8;

impl CallLanes {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let reads = (READS_PER_CORE * cores).max(FEWEST_READS);
        let (places, reads) = (reads + WRITES, Arc::new(Semaphore::new(reads)));
        Self { reads, writes: Arc::new(Semaphore::new(WRITES)), places }
    }

    /// How many calls can run at a time.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Waits for a place, which is released on drop. Never `None`, as the lanes stay open.
    pub(crate) async fn enter(&self, effect: Effect) -> Option<OwnedSemaphorePermit> {
        let lane = match effect {
            Effect::Read => &self.reads,
            Effect::Write | Effect::Destroy => &self.writes,
        };
        Arc::clone(lane).acquire_owned().await.ok()
    }

    #[cfg(test)]
    pub(crate) fn free_reads(&self) -> usize {
        self.reads.available_permits()
    }
}
