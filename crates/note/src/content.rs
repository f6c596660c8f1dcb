//! The bytes of a file with their hash.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use crate::{ContentHash, NotUtf8, memory::HeldMemory};

/// The exact bytes of a file, and their hash, which is computed on first use and never again. A clone is the same
/// content.
#[derive(Clone)]
pub struct FileContent(Arc<ContentInner>);

struct ContentInner {
    data: ContentData,
    hash: OnceLock<ContentHash>,
    /// Its bytes.
    _held: HeldMemory,
}

impl ContentInner {
    fn new(data: ContentData, hash: OnceLock<ContentHash>) -> Arc<Self> {
        let bytes = data.bytes().len() as u64;
        Arc::new(Self { data, hash, _held: HeldMemory::of(bytes) })
    }
}

/// Whether bytes are text is decided once, on construction.
enum ContentData {
    Text(String),
    Other { bytes: Vec<u8>, problem: NotUtf8 },
}

impl FileContent {
    /// Content whose hash has been computed before.
    pub fn with_hash(bytes: Vec<u8>, hash: ContentHash) -> Self {
        Self(ContentInner::new(ContentData::of(bytes), OnceLock::from(hash)))
    }

    pub fn bytes(&self) -> &[u8] {
        self.0.data.bytes()
    }

    /// The bytes as text, with byte order mark and original line endings.
    pub fn text(&self) -> Result<&str, NotUtf8> {
        match &self.0.data {
            ContentData::Text(text) => Ok(text),
            ContentData::Other { problem, .. } => Err(*problem),
        }
    }

    pub fn hash(&self) -> ContentHash {
        *self.0.hash.get_or_init(|| ContentHash::of(self.bytes()))
    }

    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
}

impl ContentData {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Other { bytes, .. } => bytes,
        }
    }

    fn of(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(
            |error| {
                // Kept, because a refusal names the first byte that is not text.
                let problem = NotUtf8 { valid_up_to: error.utf8_error().valid_up_to() };
                Self::Other { bytes: error.into_bytes(), problem }
            },
            Self::Text,
        )
    }
}

impl From<Vec<u8>> for FileContent {
    fn from(bytes: Vec<u8>) -> Self {
        Self(ContentInner::new(ContentData::of(bytes), OnceLock::new()))
    }
}

impl From<String> for FileContent {
    fn from(text: String) -> Self {
        Self(ContentInner::new(ContentData::Text(text), OnceLock::new()))
    }
}

impl PartialEq for FileContent {
    fn eq(&self, other: &Self) -> bool {
        // The same content is the usual case after an edit that changed nothing.
        Arc::ptr_eq(&self.0, &other.0) || self.bytes() == other.bytes()
    }
}

impl Eq for FileContent {}

impl fmt::Debug for FileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(self.bytes()), f)
    }
}
