//! What several tools need, under the name of the thing: how they find, read and edit files, notes and parts of notes, and
//! the arguments and answers that they have in common. Only tools and the read operations beside them use it. What a tool
//! is belongs in `lapidary-operation`; what one tool alone needs stays beside it in `lapidary-tools`.

pub mod appending;
pub mod base_edit;
pub mod block;
pub mod budget;
pub mod checkpoint;
pub mod cursor;
pub mod expression;
#[cfg(debug_assertions)]
mod failpoint;
pub mod file_edit;
pub mod folder;
pub mod frontmatter;
pub mod hash;
pub mod heading;
pub mod index;
pub mod link;
pub mod moving;
pub mod names;
pub mod naming;
mod near_text;
pub mod note_edit;
pub mod occurrence;
pub mod page;
pub mod patching;
mod pending_edit;
pub mod periodic;
pub mod place;
pub mod properties;
pub mod reading;
pub mod references;
pub mod removing;
pub mod restoring;
pub mod section;
pub mod tags;
pub mod target;
pub mod template;
pub mod time;
pub mod whole;
