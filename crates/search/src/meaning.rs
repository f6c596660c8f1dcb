//! Search by meaning: notes as vectors of a text model, beside the index of their words.
//!
//! A vector depends on the text of one piece and on the model alone, so no score depends on a hidden note. Everything
//! here can be computed again, and in any doubt it is.

mod kept_vectors;
mod note_vectors;
mod vector_index;
mod vector_index_cache;

pub use kept_vectors::KeptVectors;
pub(super) use kept_vectors::VectorCache;
pub(super) use note_vectors::NoteVectors;
pub(super) use vector_index::{NearNote, NearPair, VectorIndex};
pub use vector_index_cache::{MeaningState, VectorIndexCache, embed_aside};
