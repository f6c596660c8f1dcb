//! The notes of a vault as a graph: who links to whom, the shortest way between two notes, and where to draw each.

mod layout;
mod note_graph;
mod repulsion;
mod start_places;
#[cfg(test)]
mod tests;

pub use layout::{DrawnPoint, LayoutTask};
pub use note_graph::{GraphLink, GraphNote, NoteGraph, NoteLinks, UnresolvedLink, paths_mark};
