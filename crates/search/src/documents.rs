//! Documents in the search: the words of their pages, and vectors of their pieces, beside the index of the notes.
//!
//! They have an index of their own, so that no score of a note depends on them. It is made in the background, from the
//! texts that a [`DocumentStore`](crate::DocumentStore) keeps by content; a search takes what there is of it.

mod document_index;
mod document_index_cache;
mod page_search;

pub(super) use document_index::{ReadableDocuments, part_places};
#[cfg(test)]
pub(super) use document_index_cache::ReadingPace;
pub use document_index_cache::{DocumentIndexCache, DocumentsState, read_aside};
pub(super) use page_search::{FoundPages, NoteOrder};
