//! A fair queue whose waiters can give up.

use std::{collections::VecDeque, time::Duration};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// How often a waiter checks whether to keep waiting.
const STILL_WAITING: Duration = Duration::from_millis(5);

/// Waits for a lock while allowed. Not a plain wait: the holder may be waiting for a disk that never responds.
pub fn lock<'m, T>(mutex: &'m Mutex<T>, go_on: &dyn Fn() -> bool) -> Option<MutexGuard<'m, T>> {
    // A free lock is taken without checking.
    let mut held = mutex.try_lock();
    while held.is_none() && go_on() {
        held = mutex.try_lock_for(STILL_WAITING);
    }
    held
}

/// A queue of waiters, first come, first served.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    line: Mutex<WaitingLine>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct WaitingLine {
    next: u64,
    waiting: VecDeque<u64>,
}

/// A place in the queue; the first stays first until it is dropped.
#[derive(Debug)]
pub(crate) struct QueueTicket<'q> {
    queue: &'q FairQueue,
    ticket: u64,
}

impl FairQueue {
    /// Waits to be first, while allowed.
    pub(crate) fn wait(&self, go_on: &dyn Fn() -> bool) -> Option<QueueTicket<'_>> {
        let mut line = self.line();
        let ticket = line.next;
        line.next += 1;
        line.waiting.push_back(ticket);
        let place = QueueTicket { queue: self, ticket };
        while line.waiting.front() != Some(&ticket) {
            if !go_on() {
                // Leaving the queue has to wake the others.
                drop(line);
                return None;
            }
            // Woken by the one in front; the timeout is only for `go_on`.
            self.moved.wait_for(&mut line, STILL_WAITING);
        }
        Some(place)
    }

    fn line(&self) -> MutexGuard<'_, WaitingLine> {
        self.line.lock()
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        self.queue.line().waiting.retain(|ticket| *ticket != self.ticket);
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;
    use crate::ElapsedTime;

    #[test]
    fn waiters_are_served_in_order_of_arrival() {
        let queue = Arc::new(FairQueue::default());
        let first = queue.wait(&|| true).unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut others = Vec::new();
        for number in 0..5 {
            let (line, order) = (Arc::clone(&queue), Arc::clone(&order));
            others.push(thread::spawn(move || {
                let place = line.wait(&|| true).unwrap();
                order.lock().push(number);
                drop(place);
            }));
            while queue.line().waiting.len() < number + 2 {
                thread::yield_now();
            }
        }
        assert!(queue.wait(&|| false).is_none(), "a waiter that may not wait gives up");
        drop(first);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(*order.lock(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_waiter_that_gives_up_blocks_no_other() {
        let queue = Arc::new(FairQueue::default());
        let first = queue.wait(&|| true).unwrap();
        let line = Arc::clone(&queue);
        let impatient = thread::spawn(move || {
            let started = ElapsedTime::start();
            line.wait(&|| started.elapsed() < Duration::from_millis(20)).is_none()
        });
        assert!(impatient.join().unwrap());
        drop(first);
        assert!(queue.wait(&|| false).is_some());
    }
}
