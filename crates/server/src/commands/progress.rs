//! A progress bar for long work.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use lapidary_pipeline::Executor;

/// Shorter waits need no progress bar.
const SHOW_AFTER: Duration = Duration::from_millis(300);
const DRAW_EVERY: Duration = Duration::from_millis(100);
const BAR_CELLS: usize = 30;

/// Runs something that may have to wait for the index, and draws a progress bar meanwhile if stderr is a terminal.
pub(super) fn shown<T>(executor: &Executor, work: impl FnOnce() -> T) -> T {
    // A bar in a log file would be noise.
    if !stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        scope.spawn(move || {
            let mut drawn = false;
            let mut wait = SHOW_AFTER;
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(wait) {
                wait = DRAW_EVERY;
                if let Some(percent) = executor.indexing(executor.grant()) {
                    draw(&bar(percent));
                    drawn = true;
                }
            }
            if drawn {
                draw("");
            }
        });
        let result = work();
        // Wakes the thread, which the scope waits for.
        drop(done);
        result
    })
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
    }
}
