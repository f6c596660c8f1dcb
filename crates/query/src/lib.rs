//! What people ask for. Pure: rows and words in, answers out.
//!
//! The query languages (search operators, Dataview, Bases) will live here; today it knows words and names
//! that are nearly right.

mod nearest;
mod words;

pub use nearest::nearest;
pub use words::words;
