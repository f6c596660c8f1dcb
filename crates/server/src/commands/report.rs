//! What a command tells the person who typed it. It is no log: it may quote notes, and it is said at every level.

pub(crate) fn error(message: &str) {
    eprintln!("lapidary: error: {message}");
}

pub(crate) fn note(message: &str) {
    eprintln!("lapidary: {message}");
}
