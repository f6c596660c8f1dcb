//! What can be said of a note before its words are known: whether its path, its tags and its properties fit a query.

use std::convert::Infallible;

use lapidary_index::{FileRow, FileState};
use lapidary_query::{Bounds, Leaf, Node, Piece, Resolver, Row, evaluate, has_tag};

use super::super::evaluate::{digest_of, surely_matches, without_ending};

/// What is at hand of a note.
#[derive(Clone, Copy)]
pub(super) enum AtHand<'t> {
    Text(&'t str),
    Digest,
}

/// Whether a note may fit, as far as that can be said.
pub(super) fn may_fit(node: &Node, row: &FileRow<'_>, state: &FileState, at_hand: AtHand<'_>) -> bool {
    match evaluate(node, &Bounds::exactly(true), &BeforeWords { row, state, at_hand }) {
        Ok(bounds) => bounds.possible,
        Err(never) => match never {},
    }
}

/// Answers for a note whose words nobody has looked at.
struct BeforeWords<'n> {
    row: &'n FileRow<'n>,
    state: &'n FileState,
    at_hand: AtHand<'n>,
}

impl BeforeWords<'_> {
    /// Nothing if that cannot be said.
    fn fits(&self, leaf: Leaf<'_>) -> Option<bool> {
        match (leaf, self.at_hand) {
            (Leaf::Path(filter), _) => Some(filter.holds(self.row.path())),
            (Leaf::Text(filter), AtHand::Text(text)) => {
                let path = without_ending(self.row.path());
                Some(
                    (!filter.content && surely_matches(&filter.pattern, path)) || surely_matches(&filter.pattern, text),
                )
            }
            (Leaf::Tag(wanted), AtHand::Digest) => Some(has_tag(self.row, wanted)),
            (Leaf::Property(filter), AtHand::Digest) => Some(filter.holds(self.row)),
            (Leaf::Within(Piece::Task(wanted), inside), AtHand::Digest) => {
                let any = digest_of(self.state).tasks().iter().any(|task| wanted.accepts(task.status));
                let every = matches!(inside, Node::All(nodes) if nodes.is_empty());
                Some(any).filter(|any| !any || every)
            }
            (Leaf::Words(_) | Leaf::Text(_) | Leaf::Tag(_) | Leaf::Property(_) | Leaf::Within(..), _) => None,
        }
    }
}

impl Resolver for BeforeWords<'_> {
    type Answers = Bounds<bool>;
    type Error = Infallible;

    fn leaf(&self, leaf: Leaf<'_>, within: &Bounds<bool>) -> Result<Bounds<bool>, Infallible> {
        Ok(self.fits(leaf).map_or_else(|| Bounds::unknown(within), |fits| Bounds::known(*within, fits)))
    }
}

/// Whether no note fits that holds none of the words.
pub(super) fn needs_words(node: &Node) -> bool {
    match node {
        Node::All(nodes) => nodes.iter().any(needs_words),
        Node::Any(nodes) => nodes.iter().all(needs_words),
        Node::Within(_, node) => needs_words(node),
        Node::Words(_) => true,
        Node::Not(_) | Node::Text(_) | Node::Path(_) | Node::Tag(_) | Node::Property(_) => false,
    }
}

/// Whether a digest says more.
pub(super) fn needs_digest(node: &Node) -> bool {
    node.any_leaf(&mut |leaf| matches!(leaf, Leaf::Tag(_) | Leaf::Property(_) | Leaf::Within(Piece::Task(_), _)))
}
