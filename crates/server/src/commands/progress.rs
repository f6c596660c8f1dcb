//! What a person sees while long work is done.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use lapidary_pipeline::Executor;
use lapidary_vault::ElapsedTime;

/// Shorter waits need no progress.
const SHOW_AFTER: Duration = Duration::from_millis(500);
const DRAW_EVERY: Duration = Duration::from_millis(100);
const BAR_CELLS: usize = 30;

/// Runs something that may take a while, and meanwhile draws on a terminal how far the index is, or how long it takes.
pub(super) fn shown<T>(executor: &Executor, work: impl FnOnce() -> T) -> T {
    drawn(|waited| executor.indexing(executor.grant()).map_or_else(|| elapsed("working", waited), bar), work)
}

/// The same for work of which nothing is known but what it is.
pub(super) fn named<T>(what: &str, work: impl FnOnce() -> T) -> T {
    drawn(|waited| elapsed(what, waited), work)
}

fn drawn<T>(line: impl Fn(Duration) -> String + Send, work: impl FnOnce() -> T) -> T {
    // In a log file it would be noise.
    if !stderr().is_terminal() {
        return work();
    }
    // The work stays on this thread, since it may hold what cannot be sent to another.
    thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        scope.spawn(move || {
            let started = ElapsedTime::start();
            let mut wait = SHOW_AFTER;
            let mut is_drawn = false;
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(wait) {
                wait = DRAW_EVERY;
                draw(&line(started.elapsed()));
                is_drawn = true;
            }
            // Nothing is erased that was never drawn.
            if is_drawn {
                draw("");
            }
        });
        let result = work();
        // Wakes the thread, which the scope waits for.
        drop(done);
        result
    })
}

fn elapsed(what: &str, waited: Duration) -> String {
    match waited.as_secs() {
        0 => format!("{what} …"),
        seconds => format!("{what} … {seconds} s"),
    }
}

fn bar(percent: u8) -> String {
    let full = BAR_CELLS * usize::from(percent.min(100)) / 100;
    format!("indexing the vault [{}{}] {percent:>3} %", "#".repeat(full), " ".repeat(BAR_CELLS - full))
}

/// Overwrites the previous bar. A terminal that accepts no output has no reader.
fn draw(line: &str) {
    let mut terminal = stderr().lock();
    let drawn = write!(terminal, "\r\x1b[K{line}").and_then(|()| terminal.flush());
    // A terminal that is gone must not fail the command.
    drawn.unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(0), format!("indexing the vault [{}]   0 %", " ".repeat(30)));
        assert_eq!(bar(50), format!("indexing the vault [{}{}]  50 %", "#".repeat(15), " ".repeat(15)));
        assert_eq!(bar(100), format!("indexing the vault [{}] 100 %", "#".repeat(30)));
        let after = |millis| elapsed("working", Duration::from_millis(millis));
        assert_eq!((after(600), after(2900)), ("working …".to_owned(), "working … 2 s".to_owned()));
    }
}
