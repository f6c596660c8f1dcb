//! Where links lead, and what they say. Resolving is a question to the names of the files as they are now, never a
//! state that is kept: nothing here can be out of date.

use crate::VaultPath;

mod fold;
mod moves;
mod resolve;
#[cfg(test)]
mod tests;
mod write;

pub use fold::{LinkKeys, folded_name, keys};
pub use moves::{FileMoves, RewrittenLink, WrittenLink};
pub use resolve::resolve;
pub use write::{LinkFormat, linkpath_for};

/// What resolving links needs to know of the files of a vault: only files that the asker may see. What they may not
/// see has no influence on the answer, so no answer tells of it.
pub trait FileNames {
    /// Every file whose last name is `folded` after [`folded_name`], in any order. Folders are no targets of links,
    /// and Obsidian knows nothing of hidden files; neither belongs here.
    fn named<'n>(&'n self, folded: &str) -> impl Iterator<Item = &'n VaultPath>;
}
