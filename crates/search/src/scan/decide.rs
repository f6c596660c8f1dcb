//! What is known about a note before its words are: whether its path, tags and properties match a query.

use std::convert::Infallible;

use lapidary_index::{FileRow, FileState};
use lapidary_query::{AnswerBounds, LeafResolver, QueryLeaf, QueryNode, QueryPiece, Row, evaluate, has_tag};

use super::super::evaluate::{digest_of, surely_matches, without_ending};

/// What is known about a note.
#[derive(Clone, Copy)]
pub(super) enum AtHand<'t> {
    Text(&'t str),
    Digest,
}

/// Whether a note may match, as far as known.
pub(super) fn may_fit(node: &QueryNode, row: &FileRow<'_>, state: &FileState, at_hand: AtHand<'_>) -> bool {
    match evaluate(node, &AnswerBounds::exactly(true), &BeforeWords { row, state, at_hand }) {
        Ok(bounds) => bounds.possible,
        Err(never) => match never {},
    }
}

/// Answers for a note whose words have not been read.
struct BeforeWords<'n> {
    row: &'n FileRow<'n>,
    state: &'n FileState,
    at_hand: AtHand<'n>,
}

impl BeforeWords<'_> {
    /// `None` if undecided.
    fn fits(&self, leaf: QueryLeaf<'_>) -> Option<bool> {
        match (leaf, self.at_hand) {
            // The path is always at hand.
            (QueryLeaf::Path(filter), _) => Some(filter.holds(self.row.path())),
            // A note has no pages.
            (QueryLeaf::Page(_), _) => Some(false),
            (QueryLeaf::Text(filter), AtHand::Text(text)) => {
                let path = without_ending(self.row.path());
                Some(
                    (!filter.content && surely_matches(&filter.pattern, path)) || surely_matches(&filter.pattern, text),
                )
            }
            (QueryLeaf::Tag(wanted), AtHand::Digest) => Some(has_tag(self.row, wanted)),
            (QueryLeaf::Property(filter), AtHand::Digest) => Some(filter.holds(self.row)),
            (QueryLeaf::Within(QueryPiece::Task(wanted), inside), AtHand::Digest) => {
                let any = digest_of(self.state).tasks().iter().any(|task| wanted.accepts(task.status));
                let every = matches!(inside, QueryNode::All(nodes) if nodes.is_empty());
                // That there is a task decides only if nothing else is asked of it.
                Some(any).filter(|any| !any || every)
            }
            (
                QueryLeaf::Words(_)
                | QueryLeaf::Text(_)
                | QueryLeaf::Tag(_)
                | QueryLeaf::Property(_)
                | QueryLeaf::Within(..),
                _,
            ) => None,
        }
    }
}

impl LeafResolver for BeforeWords<'_> {
    type Answers = AnswerBounds<bool>;
    type Error = Infallible;

    fn leaf(&self, leaf: QueryLeaf<'_>, within: &AnswerBounds<bool>) -> Result<AnswerBounds<bool>, Infallible> {
        Ok(self.fits(leaf).map_or_else(|| AnswerBounds::unknown(within), |fits| AnswerBounds::known(*within, fits)))
    }
}

/// Whether no note matches that contains none of the words.
pub(super) fn needs_words(node: &QueryNode) -> bool {
    match node {
        // One part that needs words is enough where all have to hold.
        QueryNode::All(nodes) => nodes.iter().any(needs_words),
        QueryNode::Any(nodes) => nodes.iter().all(needs_words),
        QueryNode::Within(_, node) => needs_words(node),
        QueryNode::Words(_) => true,
        // A note without any of the words may match these.
        QueryNode::Not(_)
        | QueryNode::Text(_)
        | QueryNode::Path(_)
        | QueryNode::Tag(_)
        | QueryNode::Property(_)
        | QueryNode::Page(_) => false,
    }
}

/// Whether a digest would help.
pub(super) fn needs_digest(node: &QueryNode) -> bool {
    node.any_leaf(&mut |leaf| {
        matches!(leaf, QueryLeaf::Tag(_) | QueryLeaf::Property(_) | QueryLeaf::Within(QueryPiece::Task(_), _))
    })
}
