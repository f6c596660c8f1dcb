//! What can be said of a note before its words are known: whether its path, its tags and its properties fit a query.

use lapidary_query::{Node, Piece};

use super::super::{
    evaluate::{digest_of, has_property, has_tag, holds, path_fits, without_ending},
    piece::is_wanted,
};
use lapidary_index::FileState;

/// What is at hand of a note.
#[derive(Clone, Copy)]
pub(super) enum AtHand<'t> {
    Text(&'t str),
    Digest,
}

/// Nothing if that cannot be said.
pub(super) fn fits(node: &Node, state: &FileState, at_hand: AtHand<'_>) -> Option<bool> {
    match (node, at_hand) {
        (Node::All(nodes), _) => all(nodes.iter().map(|node| fits(node, state, at_hand))),
        (Node::Any(nodes), _) => {
            all(nodes.iter().map(|node| fits(node, state, at_hand).map(|fits| !fits))).map(|no| !no)
        }
        (Node::Not(node), _) => fits(node, state, at_hand).map(|fits| !fits),
        (Node::Path(filter), _) => Some(path_fits(filter, state)),
        (Node::Text(filter), AtHand::Text(text)) => {
            let path = without_ending(state.path.as_str());
            Some((!filter.content && holds(&filter.pattern, path)) || holds(&filter.pattern, text))
        }
        (Node::Tag(wanted), AtHand::Digest) => Some(has_tag(state, wanted)),
        (Node::Property(filter), AtHand::Digest) => Some(has_property(state, filter)),
        (Node::Within(Piece::Task(wanted), inside), AtHand::Digest) => {
            let any = digest_of(state).structure().tasks.iter().any(|task| is_wanted(*wanted, task.status));
            let every = matches!(&**inside, Node::All(nodes) if nodes.is_empty());
            Some(any).filter(|any| !any || every)
        }
        (Node::Words(_) | Node::Text(_) | Node::Tag(_) | Node::Property(_) | Node::Within(..), _) => None,
    }
}

/// Whether all are true, if one is false or all are known.
fn all(mut parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    let refuted = parts.any(|part| {
        known &= part.is_some();
        part == Some(false)
    });
    if refuted { Some(false) } else { known.then_some(true) }
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
    match node {
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().any(needs_digest),
        Node::Not(node) => needs_digest(node),
        Node::Tag(_) | Node::Property(_) | Node::Within(Piece::Task(_), _) => true,
        Node::Within(..) | Node::Words(_) | Node::Text(_) | Node::Path(_) => false,
    }
}
