//! Background work of all vaults in this process: writing caches, releasing memory, building indexes, cleaning up files
//! that other programs had open.
//!
//! There is one scheduler, on one thread. Short tasks run there, one after the other, so none may take long. Long work
//! runs on a separate thread that ends with it (`run_aside`), and its starter ensures that there is only one of its
//! kind: then neither a large vault nor a disk that never responds blocks the scheduler.
//!
//! A task belongs to its vault: it holds the vault weakly and ends with it. Without tasks the scheduler sleeps.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        OnceLock,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use crate::ElapsedTime;

/// Returns when it wants to run again; `None` means never.
type MaintenanceTask = Box<dyn FnMut() -> Option<Duration> + Send>;

struct ScheduledTask {
    due: Instant,
    task: MaintenanceTask,
}

/// Scheduling failed because the system provided no thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no maintenance thread")]
pub struct NotScheduled;

static TASKS: OnceLock<Sender<ScheduledTask>> = OnceLock::new();

/// Runs a task after a while, and again whenever it asks to.
pub fn schedule(after: Duration, task: impl FnMut() -> Option<Duration> + Send + 'static) -> Result<(), NotScheduled> {
    let scheduled = ScheduledTask { due: ElapsedTime::moment_after(after), task: Box::new(task) };
    TASKS.get_or_init(start).send(scheduled).map_err(|_| NotScheduled)
}

/// Runs long work on a short-lived thread with this name.
pub fn run_aside(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), NotScheduled> {
    let run = move || {
        be_nice();
        work();
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(run).map(drop).map_err(|_| NotScheduled)
}

fn start() -> Sender<ScheduledTask> {
    let (sender, tasks) = channel();
    // Without a thread its end of the channel is closed, which scheduling reports as an error.
    drop(std::thread::Builder::new().name("maintenance".to_owned()).spawn(move || run(&tasks)));
    sender
}

fn run(tasks: &Receiver<ScheduledTask>) {
    be_nice();
    let mut waiting: Vec<Option<MaintenanceTask>> = Vec::new();
    let mut due: BinaryHeap<Reverse<(Instant, usize)>> = BinaryHeap::new();
    loop {
        let arrived = match due.peek() {
            None => tasks.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(Reverse((at, _))) => tasks.recv_timeout(ElapsedTime::until(*at)),
        };
        match arrived {
            Ok(ScheduledTask { due: at, task }) => {
                // Places of finished tasks are used again; a server runs for weeks.
                let free = waiting.iter().position(Option::is_none).unwrap_or_else(|| {
                    waiting.push(None);
                    waiting.len() - 1
                });
                waiting[free] = Some(task);
                due.push(Reverse((at, free)));
            }
            Err(RecvTimeoutError::Timeout) => {
                // A timeout means that the earliest task is due.
                let Some(Reverse((_, number))) = due.pop() else { continue };
                let Some(task) = waiting[number].as_mut() else { continue };
                // A panicking task has reported it on stderr and is not run again; the others continue.
                match catch_unwind(AssertUnwindSafe(task)) {
                    Ok(Some(again)) => due.push(Reverse((ElapsedTime::moment_after(again), number))),
                    Ok(None) | Err(_) => waiting[number] = None,
                }
            }
            // The sender is never dropped while the process runs, so this is its end.
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Threads that a caller waits for have priority. Outside Linux this would apply to the whole process.
#[cfg(target_os = "linux")]
fn be_nice() {
    const NICE: i32 = 10;
    // Without it everything works the same, only less politely.
    rustix::process::setpriority_process(None, NICE).unwrap_or_default();
}

#[cfg(not(target_os = "linux"))]
fn be_nice() {}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn a_task_runs_as_often_as_it_says_and_one_that_panics_ends_only_itself() {
        let (said, heard) = mpsc::channel();
        schedule(SOON, || panic!("this task fails")).unwrap();
        let mut left = 3;
        schedule(SOON, move || {
            left -= 1;
            said.send(std::thread::current().name().map(str::to_owned)).unwrap();
            (left > 0).then_some(SOON)
        })
        .unwrap();
        // Its end of the channel is dropped with the task.
        let names: Vec<_> = heard.into_iter().collect();
        assert_eq!(names, vec![Some("maintenance".to_owned()); 3]);
    }

    #[test]
    fn work_run_aside_does_not_delay_scheduled_tasks() {
        let (release, released) = mpsc::channel();
        let (said, heard) = mpsc::channel();
        run_aside("long-work", move || {
            let released = released.recv_timeout(Duration::from_secs(60)).is_ok();
            said.send((std::thread::current().name().map(str::to_owned), released)).unwrap();
        })
        .unwrap();
        schedule(SOON, move || {
            release.send(()).unwrap_or_default();
            None
        })
        .unwrap();
        assert_eq!(heard.recv(), Ok((Some("long-work".to_owned()), true)));
    }

    #[test]
    fn what_is_due_first_runs_first_whenever_it_was_scheduled() {
        let (said, heard) = mpsc::channel();
        let late = said.clone();
        schedule(Duration::from_millis(300), move || {
            late.send("late").unwrap();
            None
        })
        .unwrap();
        schedule(SOON, move || {
            said.send("soon").unwrap();
            None
        })
        .unwrap();
        assert_eq!(heard.into_iter().collect::<Vec<_>>(), ["soon", "late"]);
    }
}
