//! Where links lead, and how they are written. Links are resolved against the current names of the files, never against
//! stored state: nothing here can be stale.

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

/// What resolving links needs to know about the files of a vault: only files that the caller may see. Hidden files do
/// not influence the answer, so no answer reveals them.
pub trait FileNames {
    /// Every file whose last name is `folded` after [`folded_name`], in any order. Folders are not targets of links,
    /// and Obsidian ignores hidden files; neither belongs here.
    fn named<'n>(&'n self, folded: &str) -> impl Iterator<Item = &'n VaultPath>;
}
