use std::time::SystemTime;

use lapidary_note::ContentHash;

/// The content of one file at one moment.
#[derive(Clone, Debug)]
pub struct File {
    pub bytes: Vec<u8>,
    pub hash: ContentHash,
    pub modified: Option<SystemTime>,
    pub created: Option<SystemTime>,
}
