//! What the server says about itself, on stderr: stdout belongs to the protocol.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::config::LogLevel;

static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Info as u8);

pub(crate) fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

pub(crate) fn error(message: &str) {
    say(LogLevel::Error, "error: ", message);
}

pub(crate) fn warn(message: &str) {
    say(LogLevel::Warn, "warning: ", message);
}

pub(crate) fn info(message: &str) {
    say(LogLevel::Info, "", message);
}

pub(crate) fn debug(message: &str) {
    say(LogLevel::Debug, "debug: ", message);
}

fn say(level: LogLevel, mark: &str, message: &str) {
    if level as u8 <= LEVEL.load(Ordering::Relaxed) {
        eprintln!("lapidary: {mark}{message}");
    }
}
