//! Files that are neither notes nor canvases. Only their path is searched, and only if a query asks for paths.

use std::{cmp::Reverse, convert::Infallible, sync::Arc};

use lapidary_query::{LeafResolver, Lexicon, QueryLeaf, QueryNode, SearchQuery, TextUnit, Words, holds};

use super::evaluate::surely_matches;
use lapidary_index::{FileState, VisibleFiles};

use crate::RankedIndexCache;

/// A path contains only the typed words, without variants.
struct TypedPath;

impl Lexicon for TypedPath {
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
        let Some(wanted) = words.terms.get(at) else { return false };
        wanted == term || (words.open && at + 1 == words.terms.len() && term.starts_with(wanted.as_str()))
    }
}

/// Those that match, latest change first.
pub(super) fn other_files(cache: &RankedIndexCache, files: &VisibleFiles, query: &SearchQuery) -> Vec<Arc<FileState>> {
    if !asks_for_paths(&query.root) {
        return Vec::new();
    }
    let others = cache.others(files);
    let mut found: Vec<Arc<FileState>> =
        others.iter().filter(|state| holds(&query.root, &ByPath(state.path.as_str()))).cloned().collect();
    found.sort_by_key(|state| Reverse(state.stat.stamp.modified));
    found
}

fn asks_for_paths(node: &QueryNode) -> bool {
    match node {
        QueryNode::All(nodes) | QueryNode::Any(nodes) => nodes.iter().any(asks_for_paths),
        QueryNode::Path(_) => true,
        // "not in this folder" would match every picture of the vault, which no caller wants to see.
        QueryNode::Not(_)
        | QueryNode::Words(_)
        | QueryNode::Text(_)
        | QueryNode::Tag(_)
        | QueryNode::Property(_)
        | QueryNode::Page(_)
        | QueryNode::Within(..) => false,
    }
}

/// Answers for a file of which only the path is known.
struct ByPath<'p>(&'p str);

impl LeafResolver for ByPath<'_> {
    type Answers = bool;
    type Error = Infallible;

    fn leaf(&self, leaf: QueryLeaf<'_>, within: &bool) -> Result<bool, Infallible> {
        let fits = match leaf {
            QueryLeaf::Words(words) => !words.content && !TextUnit::new(self.0).find(words, &TypedPath).is_empty(),
            QueryLeaf::Text(filter) => !filter.content && surely_matches(&filter.pattern, self.0),
            QueryLeaf::Path(filter) => filter.holds(self.0),
            QueryLeaf::Tag(_) | QueryLeaf::Property(_) | QueryLeaf::Page(_) | QueryLeaf::Within(..) => false,
        };
        Ok(*within && fits)
    }
}
