//! Resource limits of a vault.

use crate::Retention;

/// The resource limits of a vault.
#[derive(Clone, Debug)]
pub struct VaultLimits {
    /// Larger files are not read.
    pub max_file_bytes: u64,
    /// How much text is kept in memory; the rest is read from disk each time.
    pub max_text_bytes: u64,
    /// How much memory the vectors of notes may take; with none, there is no search by meaning.
    pub max_vector_bytes: u64,
    /// How much text of documents is searched; with none, documents are not read for the search.
    pub max_document_bytes: u64,
    /// How long checkpoints are kept.
    pub retention: Retention,
}

impl Default for VaultLimits {
    fn default() -> Self {
        Self {
            max_file_bytes: 64 << 20,
            max_text_bytes: 512 << 20,
            max_vector_bytes: 256 << 20,
            max_document_bytes: 64 << 20,
            retention: Retention::default(),
        }
    }
}
