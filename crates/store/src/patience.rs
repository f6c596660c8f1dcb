use std::{collections::VecDeque, time::Duration};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// How often somebody who waits is asked whether to go on waiting.
const STILL_WAITING: Duration = Duration::from_millis(5);

/// Waits for a lock as long as it is told to. Not simply waited for: whoever holds it may wait for a disk that never
/// answers.
pub fn lock<'m, T>(mutex: &'m Mutex<T>, go_on: &dyn Fn() -> bool) -> Option<MutexGuard<'m, T>> {
    // One that is free is had without being asked.
    let mut held = mutex.try_lock();
    while held.is_none() && go_on() {
        held = mutex.try_lock_for(STILL_WAITING);
    }
    held
}

/// A line of those who wait: whoever came first goes first.
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

/// Somebody's place in the line; who is first stays so until this goes.
#[derive(Debug)]
pub(crate) struct QueueTicket<'q> {
    queue: &'q FairQueue,
    ticket: u64,
}

impl FairQueue {
    /// Waits to be the first, as long as it is told to.
    pub(crate) fn wait(&self, go_on: &dyn Fn() -> bool) -> Option<QueueTicket<'_>> {
        let mut line = self.line();
        let ticket = line.next;
        line.next += 1;
        line.waiting.push_back(ticket);
        let place = QueueTicket { queue: self, ticket };
        while line.waiting.front() != Some(&ticket) {
            if !go_on() {
                // Whoever gives up the place has to look at the line.
                drop(line);
                return None;
            }
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
    fn whoever_came_first_goes_first() {
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
        assert!(queue.wait(&|| false).is_none(), "nobody waits who is told not to");
        drop(first);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(*order.lock(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn whoever_gives_up_keeps_nobody_waiting() {
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
