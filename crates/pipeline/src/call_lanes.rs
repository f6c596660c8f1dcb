//! How many calls run concurrently. Reading and changing have separate lanes, so that a long search never delays an
//! edit, and each lane is shared fairly between clients.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use lapidary_tools::Effect;
use parking_lot::Mutex;
use tokio::sync::oneshot;

pub(crate) struct CallLanes {
    reads: Arc<CallLane>,
    writes: Arc<CallLane>,
    places: usize,
}

/// A call mostly waits for the disk, so there may be more of them than cores.
const READS_PER_CORE: usize = 4;
/// Half of them are for one client that is alone.
const FEWEST_READS: usize = 16;
/// Changes of one vault take turns anyway; these may plan concurrently.
const WRITES: usize = 8;

impl CallLanes {
    pub(crate) fn new() -> Self {
        // Where the system does not say, one core is assumed.
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let reads = (READS_PER_CORE * cores).max(FEWEST_READS);
        Self { reads: CallLane::new(reads), writes: CallLane::new(WRITES), places: reads + WRITES }
    }

    /// How many calls can run at a time.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Waits for a place, which is released on drop. Never `None`, as the lanes stay open.
    pub(crate) async fn enter(&self, effect: Effect, client: &str) -> Option<LanePlace> {
        self.lane(effect).enter(client).await.ok()
    }

    fn lane(&self, effect: Effect) -> &Arc<CallLane> {
        match effect {
            Effect::Read => &self.reads,
            Effect::Write | Effect::Destroy => &self.writes,
        }
    }

    /// The free places of a lane, and how many calls wait for one.
    #[cfg(test)]
    pub(crate) fn free_and_waiting(&self, effect: Effect) -> (usize, usize) {
        let line = self.lane(effect).line.lock();
        (line.free, line.waiting.len())
    }
}

struct CallLane {
    line: Mutex<LaneLine>,
}

/// A call may enter if its client has fewer calls in the lane than there are free places. So a client that is alone gets
/// half of them, the next half of the rest, and slow calls of one never keep another waiting.
struct LaneLine {
    free: usize,
    /// How many calls each client has in the lane; clients without any are not in it.
    running: HashMap<Arc<str>, usize>,
    /// In the order of their arrival.
    waiting: VecDeque<WaitingCall>,
}

struct WaitingCall {
    client: Arc<str>,
    enters: oneshot::Sender<LanePlace>,
}

/// A place in a lane.
pub(crate) struct LanePlace {
    /// `None` once the place is given back.
    lane: Option<Arc<CallLane>>,
    client: Arc<str>,
}

impl CallLane {
    fn new(places: usize) -> Arc<Self> {
        let line = LaneLine { free: places, running: HashMap::new(), waiting: VecDeque::new() };
        Arc::new(Self { line: Mutex::new(line) })
    }

    /// A caller that stops waiting drops its end of the channel, with the place if it was just given one.
    fn enter(self: &Arc<Self>, client: &str) -> oneshot::Receiver<LanePlace> {
        let (enters, entered) = oneshot::channel();
        let mut line = self.line.lock();
        // At the end, even if there is room: those that wait come first.
        line.waiting.push_back(WaitingCall { client: Arc::from(client), enters });
        self.let_in(&mut line);
        entered
    }

    /// Lets in everyone who may enter now: first the clients with the fewest calls, of one client the call that came first.
    fn let_in(self: &Arc<Self>, line: &mut LaneLine) {
        // Callers that have left must not keep others from being seen.
        line.waiting.retain(|call| !call.enters.is_closed());
        loop {
            let running = |call: &WaitingCall| line.running.get(&call.client).copied().unwrap_or_default();
            // Of equals, the first.
            let next = (0..line.waiting.len()).min_by_key(|at| line.waiting.get(*at).map(running));
            let Some(call) = next.filter(|at| line.waiting.get(*at).is_some_and(|call| running(call) < line.free))
            else {
                return;
            };
            let Some(WaitingCall { client, enters }) = line.waiting.remove(call) else { return };
            line.take(&client);
            if let Err(mut unwanted) = enters.send(LanePlace { lane: Some(Arc::clone(self)), client }) {
                // Given back here: its own end would wait for the lock that is held.
                unwanted.lane = None;
                line.give_back(&unwanted.client);
            }
        }
    }
}

impl LaneLine {
    fn take(&mut self, client: &Arc<str>) {
        self.free -= 1;
        *self.running.entry(Arc::clone(client)).or_default() += 1;
    }

    fn give_back(&mut self, client: &Arc<str>) {
        self.free += 1;
        if let Some(running) = self.running.get_mut(client) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(client);
            }
        }
    }
}

impl Drop for LanePlace {
    fn drop(&mut self) {
        let Some(lane) = self.lane.take() else { return };
        let mut line = lane.line.lock();
        line.give_back(&self.client);
        lane.let_in(&mut line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many calls of a client as are let in at once; the others wait.
    fn fill(lane: &Arc<CallLane>, client: &str) -> (Vec<LanePlace>, Vec<oneshot::Receiver<LanePlace>>) {
        let mut entered = Vec::new();
        let mut waiting = Vec::new();
        for _ in 0..20 {
            let mut call = lane.enter(client);
            match call.try_recv() {
                Ok(place) => entered.push(place),
                Err(_) => waiting.push(call),
            }
        }
        (entered, waiting)
    }

    #[test]
    fn a_client_gets_half_of_what_is_left_and_the_next_is_never_kept_out() {
        let lane = CallLane::new(16);
        let (first, _first_waits) = fill(&lane, "a");
        let (second, _second_waits) = fill(&lane, "b");
        let (third, _third_waits) = fill(&lane, "c");
        assert_eq!((first.len(), second.len(), third.len()), (8, 4, 2));
        let (fourth, fifth) = (lane.enter("d").try_recv(), lane.enter("e").try_recv());
        assert!(fourth.is_ok() && fifth.is_ok());
    }

    #[test]
    fn what_becomes_free_goes_to_the_client_with_the_fewest_calls() {
        let lane = CallLane::new(4);
        let (mut first, mut first_waits) = fill(&lane, "a");
        let _others = [lane.enter("b").try_recv().unwrap(), lane.enter("c").try_recv().unwrap()];
        let mut late = lane.enter("d");
        assert!((first.len(), late.try_recv().is_err()) == (2, true));
        drop(first.pop());
        assert!(first_waits.iter_mut().all(|call| call.try_recv().is_err()), "they have waited longer");
        assert!(late.try_recv().is_ok());
    }

    #[test]
    fn a_place_that_nobody_waits_for_any_more_is_free() {
        let lane = CallLane::new(2);
        let (held, gone) = (lane.enter("a").try_recv().unwrap(), lane.enter("a"));
        drop(gone);
        let mut next = lane.enter("a");
        assert!(next.try_recv().is_err(), "one client has one of two");
        // Given a place, and dropped without taking it.
        drop(held);
        drop(next);
        let line = lane.line.lock();
        assert_eq!((line.free, line.running.len(), line.waiting.len()), (2, 0, 0));
    }

    #[test]
    fn a_lane_of_one_place_serves_everyone_in_turn() {
        let lane = CallLane::new(1);
        let place = lane.enter("a").try_recv().unwrap();
        let (mut same, mut other) = (lane.enter("a"), lane.enter("b"));
        assert!(same.try_recv().is_err() && other.try_recv().is_err());
        drop(place);
        let place = same.try_recv().unwrap();
        assert!(other.try_recv().is_err());
        drop(place);
        assert!(other.try_recv().is_ok());
    }
}
