//! Messages to the user of a command. This is not the log: it may quote notes, and no log level silences it.

use lapidary_tools::quote::visible;

pub(crate) fn error(message: &str) {
    eprintln!("lapidary: error: {}", visible(message));
}

pub(crate) fn note(message: &str) {
    eprintln!("lapidary: {}", visible(message));
}
