//! Code that several tools share: how they find, read and edit files, notes and parts of notes, and their common
//! arguments and answers. Only tools and the other read operations use it. The definition of a tool belongs in
//! `lapidary-operation`; code for a single tool stays with it in `lapidary-tools`.

pub mod appending;
pub mod base_edit;
pub mod block;
pub mod budget;
pub mod canvas;
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
pub mod lost_blocks;
pub mod moving;
pub mod names;
pub mod naming;
pub mod near_text;
pub mod note_edit;
pub mod note_hits;
pub mod occurrence;
pub mod page;
pub mod part_moving;
pub mod patching;
mod pending_edit;
pub mod periodic;
pub mod place;
pub mod properties;
pub mod query_text;
pub mod querying;
pub mod reading;
pub mod references;
pub mod removing;
pub mod rendered_queries;
pub mod restoring;
pub mod section;
pub mod tags;
pub mod target;
pub mod template;
pub mod time;
pub mod whole;
pub mod whole_file;
