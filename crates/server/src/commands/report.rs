//! What a command tells the person who typed it. It is no log: it may quote notes, and it is said at every level.

use lapidary_tools::quote::visible;

pub(crate) fn error(message: &str) {
    eprintln!("lapidary: error: {}", visible(message));
}

pub(crate) fn note(message: &str) {
    eprintln!("lapidary: {}", visible(message));
}
