//! Search by meaning: notes as vectors of a text model, beside the index of their words.
//!
//! A vector depends on the text of one piece and on the model alone, so no score depends on a hidden note. Everything
//! here can be computed again, and in any doubt it is.

mod keeper;
mod kept_vectors;
mod note_vectors;
mod vector_index;

pub use keeper::{MeaningKeeper, MeaningState, embed_aside};
pub use kept_vectors::KeptVectors;
pub(super) use vector_index::{NearNote, NearPair, VectorIndex};
