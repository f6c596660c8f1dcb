//! A file with its content.

use std::time::SystemTime;

use lapidary_note::{ContentHash, FileContent};

/// The content of one file at one moment.
#[derive(Clone, Debug)]
pub struct File {
    pub content: FileContent,
    pub modified: Option<SystemTime>,
    pub created: Option<SystemTime>,
}

impl File {
    pub fn bytes(&self) -> &[u8] {
        self.content.bytes()
    }

    pub fn hash(&self) -> ContentHash {
        self.content.hash()
    }
}
