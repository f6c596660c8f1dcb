//! Files that are neither notes nor canvases. Nothing of them is searched but the path, and only if somebody asks for paths.

use std::{cmp::Reverse, sync::Arc};

use lapidary_query::{Lexicon, Node, SearchQuery, Unit, Words};

use super::evaluate::{holds, path_fits};
use lapidary_index::{FileState, Files};

use crate::SearchKeeper;

/// A path holds what was typed, and nothing that it may mean.
struct Typed;

impl Lexicon for Typed {
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
        let Some(wanted) = words.terms.get(at) else { return false };
        wanted == term || (words.open && at + 1 == words.terms.len() && term.starts_with(wanted.as_str()))
    }

    fn of_note(&self, _node: &Node) -> bool {
        false
    }
}

/// Those that fit, the one that was changed last first.
pub(super) fn other_files(keeper: &SearchKeeper, files: &Files, query: &SearchQuery) -> Vec<Arc<FileState>> {
    if !asks_for_paths(&query.root) {
        return Vec::new();
    }
    let others = keeper.others(files);
    let mut found: Vec<Arc<FileState>> = others.iter().filter(|state| fits(&query.root, state)).cloned().collect();
    found.sort_by_key(|state| Reverse(state.stat.stamp.modified));
    found
}

fn asks_for_paths(node: &Node) -> bool {
    match node {
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().any(asks_for_paths),
        Node::Path(_) => true,
        Node::Not(_) | Node::Words(_) | Node::Text(_) | Node::Tag(_) | Node::Property(_) | Node::Within(..) => false,
    }
}

fn fits(node: &Node, state: &FileState) -> bool {
    let path = state.path.as_str();
    match node {
        Node::All(nodes) => nodes.iter().all(|node| fits(node, state)),
        Node::Any(nodes) => nodes.iter().any(|node| fits(node, state)),
        Node::Not(node) => !fits(node, state),
        Node::Words(words) => !words.content && !Unit::new(path).find(words, &Typed).is_empty(),
        Node::Text(filter) => !filter.content && holds(&filter.pattern, path),
        Node::Path(filter) => path_fits(filter, state),
        Node::Tag(_) | Node::Property(_) | Node::Within(..) => false,
    }
}
