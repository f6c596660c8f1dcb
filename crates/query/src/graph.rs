//! The notes of a vault as a graph: who links to whom, the shortest way between two notes, and where to draw each; and some of them as cards in layers.

mod layered;
mod layout;
mod note_graph;
mod repulsion;
mod start_places;
#[cfg(test)]
mod tests;

pub use layered::{LayeredCard, LayeredPlaces, PlacedBox, layered};
pub use layout::{DrawnPoint, LayoutTask};
pub use note_graph::{GraphLink, GraphNote, NoteGraph, NoteLinks, UnresolvedLink, paths_mark};
