//! Where log lines are written.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use lapidary_config::{LogFormat, LogSettings};
use lapidary_vault::store::RotatedFile;
use tracing::Level;

use super::line::LogLine;
use crate::commands::on_terminal;

/// The name of the log in its folder; older files are `.1` to `.5`.
const LOG_FILE: &str = "lapidary.log";

pub(super) struct LogSinks {
    format: LogFormat,
    process: u32,
    sinks: Vec<LogSink>,
}

enum LogSink {
    Stderr,
    File(LogFolder),
    #[cfg(test)]
    Memory(std::sync::Arc<std::sync::Mutex<Vec<String>>>),
}

/// The file in a folder that the owner chose, which several servers append to.
struct LogFolder {
    file: RotatedFile,
    /// Whether a failed write was already reported.
    failed: AtomicBool,
}

impl LogSinks {
    pub(super) fn new(settings: &LogSettings) -> Self {
        let folder = settings.folder.as_ref().map(|folder| {
            let file = RotatedFile::new(folder.join(LOG_FILE), settings.max_bytes);
            LogSink::File(LogFolder { file, failed: AtomicBool::new(false) })
        });
        let sinks = [LogSink::Stderr].into_iter().chain(folder).collect();
        Self { format: settings.format, process: std::process::id(), sinks }
    }

    #[cfg(test)]
    pub(super) fn into_memory(format: LogFormat, lines: std::sync::Arc<std::sync::Mutex<Vec<String>>>) -> Self {
        Self { format, process: 1, sinks: vec![LogSink::Memory(lines)] }
    }

    pub(super) fn write(&self, line: &LogLine<'_>) {
        let text = match self.format {
            LogFormat::Plain => line.plain(),
            LogFormat::Json => line.json(self.process),
        };
        for sink in &self.sinks {
            match sink {
                // As every other command says it. Which call it was matters where many are made.
                LogSink::Stderr if self.is_for_person(line.level) => to_stderr(&on_terminal(&line.told())),
                sink => sink.write(&text, self.format, &line.time),
            }
        }
    }

    fn is_for_person(&self, level: Level) -> bool {
        self.format == LogFormat::Plain && matches!(level, Level::WARN | Level::ERROR) && io::stderr().is_terminal()
    }
}

impl LogSink {
    fn write(&self, text: &str, format: LogFormat, time: &str) {
        match self {
            Self::Stderr => to_stderr(&on_screen(text, format)),
            Self::File(folder) => folder.write(text, format, time),
            #[cfg(test)]
            Self::Memory(lines) => lines.lock().unwrap().push(on_screen(text, format)),
        }
    }
}

impl LogFolder {
    fn write(&self, text: &str, format: LogFormat, time: &str) {
        let written = match format {
            // A terminal shows lines as they come, a file is read later.
            LogFormat::Plain => self.file.append(&format!("{time} {text}")),
            LogFormat::Json => self.file.append(text),
        };
        if let Err(error) = written
            // Said once: every line would fail the same way.
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            to_stderr(&format!("lapidary: warning: the log in LOGS_DIR cannot be written: {error}\n"));
        }
    }
}

/// Clients mix the standard error of several programs, so a plain line names its program.
fn on_screen(text: &str, format: LogFormat) -> String {
    match format {
        LogFormat::Plain => format!("lapidary: {text}\n"),
        LogFormat::Json => format!("{text}\n"),
    }
}

/// In one piece, so that lines of several threads do not mix. A closed standard error is not a problem.
fn to_stderr(line: &str) {
    // In one write, so that lines of several threads do not mix. If it fails, there is nowhere to say so.
    io::stderr().lock().write_all(line.as_bytes()).unwrap_or_default();
}
