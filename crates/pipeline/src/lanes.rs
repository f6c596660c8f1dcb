//! How many calls run at a time. Looking and changing have lanes of their own, so that a long search never keeps an
//! edit waiting; in each of them, whoever came first goes first.

use std::sync::Arc;

use lapidary_tools::Effect;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) struct CallLanes {
    reads: Arc<Semaphore>,
    writes: Arc<Semaphore>,
}

/// Most of the time a call waits for the disk, so there may be more of them than cores.
const READS_PER_CORE: usize = 4;
const FEWEST_READS: usize = 8;
/// Changes of one vault take turns anyway; these may plan at the same time. A plan may hold several times what a large note
/// has, so this also says how much all of them may hold.
const WRITES: usize = 8;

impl CallLanes {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let reads = (READS_PER_CORE * cores).max(FEWEST_READS);
        Self { reads: Arc::new(Semaphore::new(reads)), writes: Arc::new(Semaphore::new(WRITES)) }
    }

    /// Waits for a place, which is free again when it is dropped. `None` never comes, as the lanes stay open.
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
