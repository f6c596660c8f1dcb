//! The one evaluator of the search language. It knows `and`, `or` and `not`; a [`LeafResolver`] says what a word, a tag
//! or a path matches, and [`Answers`] what an answer is.

use super::{Answers, PageRange, PathFilter, PropertyFilter, QueryNode, QueryPiece, TextFilter, Words};

/// A leaf of a query to the evaluator.
#[derive(Clone, Copy)]
pub enum QueryLeaf<'q> {
    Words(&'q Words),
    Text(&'q TextFilter),
    Path(&'q PathFilter),
    /// Folded, without `#`.
    Tag(&'q str),
    Property(&'q PropertyFilter),
    Page(PageRange),
    /// All of it in one piece of the note. A resolver that already works on one piece evaluates the part directly.
    Within(QueryPiece, &'q QueryNode),
}

/// Says what the leaves of a query match.
pub trait LeafResolver {
    type Answers: Answers;
    /// Why it was not decided.
    type Error;

    /// Those of `within` that a leaf matches.
    fn leaf(&self, leaf: QueryLeaf<'_>, within: &Self::Answers) -> Result<Self::Answers, Self::Error>;

    /// Whether a leaf takes so long that it should be evaluated last, for those that are left.
    fn is_costly(&self, _node: &QueryNode) -> bool {
        false
    }
}

/// Those of `within` that a query matches. The recursion is as deep as the query, which the parser limits.
pub fn evaluate<R: LeafResolver>(node: &QueryNode, within: &R::Answers, resolver: &R) -> Result<R::Answers, R::Error> {
    match node {
        QueryNode::All(nodes) => {
            let mut left = within.clone();
            // Cheap parts first: costly ones are evaluated only for what is left.
            for costly in [false, true] {
                for node in nodes.iter().filter(|node| resolver.is_costly(node) == costly) {
                    if left.is_none() {
                        return Ok(left);
                    }
                    left = evaluate(node, &left, resolver)?;
                }
            }
            Ok(left)
        }
        QueryNode::Any(nodes) => {
            let mut found = within.none();
            for node in nodes {
                // Everything already matches, so further alternatives cannot add anything.
                if found.is_all(within) {
                    break;
                }
                found = found.or(&evaluate(node, within, resolver)?);
            }
            Ok(found)
        }
        // Evaluated only for what is left, as an exclusion cannot add anything.
        QueryNode::Not(node) => within.except(|within| evaluate(node, within, resolver)),
        QueryNode::Words(words) => resolver.leaf(QueryLeaf::Words(words), within),
        QueryNode::Text(filter) => resolver.leaf(QueryLeaf::Text(filter), within),
        QueryNode::Path(filter) => resolver.leaf(QueryLeaf::Path(filter), within),
        QueryNode::Tag(name) => resolver.leaf(QueryLeaf::Tag(name), within),
        QueryNode::Property(filter) => resolver.leaf(QueryLeaf::Property(filter), within),
        QueryNode::Page(range) => resolver.leaf(QueryLeaf::Page(*range), within),
        QueryNode::Within(piece, node) => resolver.leaf(QueryLeaf::Within(*piece, node), within),
    }
}

impl QueryNode {
    /// Whether a leaf passes a test; a part within a piece is one leaf. Stops at the first one.
    pub fn any_leaf<'n>(&'n self, test: &mut dyn FnMut(QueryLeaf<'n>) -> bool) -> bool {
        match self {
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().any(|node| node.any_leaf(test)),
            Self::Not(node) => node.any_leaf(test),
            Self::Words(words) => test(QueryLeaf::Words(words)),
            Self::Text(filter) => test(QueryLeaf::Text(filter)),
            Self::Path(filter) => test(QueryLeaf::Path(filter)),
            Self::Tag(name) => test(QueryLeaf::Tag(name)),
            Self::Property(filter) => test(QueryLeaf::Property(filter)),
            Self::Page(range) => test(QueryLeaf::Page(*range)),
            Self::Within(piece, node) => test(QueryLeaf::Within(*piece, node)),
        }
    }
}

/// Whether a query is true of one thing that a resolver knows all of.
pub fn holds<R: LeafResolver<Answers = bool, Error = std::convert::Infallible>>(
    node: &QueryNode,
    resolver: &R,
) -> bool {
    match evaluate(node, &true, resolver) {
        Ok(holds) => holds,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::{AnswerBounds, Lexicon, Row, SearchQuery, TextUnit, row::PlainRow, search::has_tag};

    struct Typed;

    impl Lexicon for Typed {
        fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
            words.terms.get(at).is_some_and(|wanted| wanted == term)
        }
    }

    fn leaf_of(row: &PlainRow, leaf: QueryLeaf<'_>) -> bool {
        let unit = TextUnit::new(&row.text);
        match leaf {
            QueryLeaf::Words(words) => !unit.find(words, &Typed).is_empty(),
            QueryLeaf::Text(filter) => filter.pattern.is_match(&row.text) == Ok(true),
            QueryLeaf::Path(filter) => filter.holds(row.path()),
            QueryLeaf::Tag(wanted) => has_tag(row, wanted),
            QueryLeaf::Property(filter) => filter.holds(row),
            QueryLeaf::Page(range) => range.holds(3),
            QueryLeaf::Within(_, node) => unit.fulfils(node, &Typed, Some(row)),
        }
    }

    struct OneRow<'r>(&'r PlainRow);

    impl LeafResolver for OneRow<'_> {
        type Answers = bool;
        type Error = Infallible;

        fn leaf(&self, leaf: QueryLeaf<'_>, within: &bool) -> Result<bool, Infallible> {
            Ok(*within && leaf_of(self.0, leaf))
        }
    }

    /// A set of rows, by number.
    #[derive(Clone, Debug, PartialEq)]
    struct Numbers(u64);

    impl Answers for Numbers {
        fn none(&self) -> Self {
            Self(0)
        }

        fn or(self, other: &Self) -> Self {
            Self(self.0 | other.0)
        }

        fn except<E>(&self, part: impl FnOnce(&Self) -> Result<Self, E>) -> Result<Self, E> {
            Ok(Self(self.0 & !part(self)?.0))
        }

        fn is_none(&self) -> bool {
            self.0 == 0
        }

        fn is_all(&self, _within: &Self) -> bool {
            false
        }
    }

    struct AllRows<'r>(&'r [PlainRow]);

    impl LeafResolver for AllRows<'_> {
        type Answers = Numbers;
        type Error = Infallible;

        fn leaf(&self, leaf: QueryLeaf<'_>, within: &Numbers) -> Result<Numbers, Infallible> {
            let rows = self.0.iter().enumerate();
            let found = rows.filter(|(at, row)| within.0 >> at & 1 == 1 && leaf_of(row, leaf));
            Ok(Numbers(found.fold(0, |set, (at, _)| set | 1 << at)))
        }

        fn is_costly(&self, node: &QueryNode) -> bool {
            !matches!(node, QueryNode::Words(_))
        }
    }

    /// Cannot resolve words.
    struct WithoutWords<'r>(&'r PlainRow);

    impl LeafResolver for WithoutWords<'_> {
        type Answers = AnswerBounds<bool>;
        type Error = Infallible;

        fn leaf(&self, leaf: QueryLeaf<'_>, within: &AnswerBounds<bool>) -> Result<AnswerBounds<bool>, Infallible> {
            Ok(match leaf {
                QueryLeaf::Words(_) | QueryLeaf::Within(..) => AnswerBounds::unknown(within),
                leaf => AnswerBounds::known(*within, leaf_of(self.0, leaf)),
            })
        }
    }

    /// The result without words, computed bottom-up.
    fn known(node: &QueryNode, row: &PlainRow) -> Option<bool> {
        match node {
            QueryNode::All(nodes) => {
                let parts: Vec<Option<bool>> = nodes.iter().map(|node| known(node, row)).collect();
                let refuted = parts.contains(&Some(false));
                if refuted { Some(false) } else { parts.iter().all(Option::is_some).then_some(true) }
            }
            QueryNode::Any(nodes) => {
                let parts: Vec<Option<bool>> = nodes.iter().map(|node| known(node, row)).collect();
                let shown = parts.contains(&Some(true));
                if shown { Some(true) } else { parts.iter().all(Option::is_some).then_some(false) }
            }
            QueryNode::Not(node) => known(node, row).map(|holds| !holds),
            QueryNode::Words(_) | QueryNode::Within(..) => None,
            QueryNode::Text(filter) => Some(leaf_of(row, QueryLeaf::Text(filter))),
            QueryNode::Path(filter) => Some(leaf_of(row, QueryLeaf::Path(filter))),
            QueryNode::Tag(name) => Some(leaf_of(row, QueryLeaf::Tag(name))),
            QueryNode::Property(filter) => Some(leaf_of(row, QueryLeaf::Property(filter))),
            QueryNode::Page(range) => Some(leaf_of(row, QueryLeaf::Page(*range))),
        }
    }

    const PARTS: [&str; 18] = [
        "slate ",
        "roof ",
        "moss ",
        "-",
        "(",
        ")",
        " OR ",
        "path:a ",
        "path:b ",
        "tag:x ",
        "[s] ",
        "[s:1] ",
        "/sl/ ",
        "line:(slate roof) ",
        "-(",
        "task:moss ",
        "\"slate roof\" ",
        "ext:md ",
    ];

    proptest! {
        #[test]
        fn many_rows_at_once_are_each_row_by_itself(
            parts in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..14),
            rows in prop::collection::vec((0_u8..8, any::<bool>(), 0_u8..3, prop::sample::select(vec!["a.md", "b.md", "a/b.png"])), 1..20),
        ) {
            let rows: Vec<PlainRow> = rows
                .into_iter()
                .map(|(words, tagged, status, path)| {
                    let words = ["slate", "roof", "moss"].iter().enumerate().filter(|(bit, _)| words >> bit & 1 == 1);
                    let properties = match status {
                        0 => serde_json::json!({}),
                        status => serde_json::json!({ "S": status }),
                    };
                    let tags = if tagged { vec!["X/y".to_owned()] } else { Vec::new() };
                    let text = words.map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
                    PlainRow { path: path.to_owned(), text, tags, ..PlainRow::with_properties(&properties) }
                })
                .collect();
            let query = SearchQuery::parse(&parts.concat());
            let all = Numbers((1 << rows.len()) - 1);
            let Ok(found) = evaluate(&query.root, &all, &AllRows(&rows));
            for (at, row) in rows.iter().enumerate() {
                let fits = holds(&query.root, &OneRow(row));
                prop_assert_eq!(found.0 >> at & 1 == 1, fits);
                let Ok(bounds) = evaluate(&query.root, &AnswerBounds::exactly(true), &WithoutWords(row));
                prop_assert!(bounds.certain <= fits && fits <= bounds.possible);
                let said = if bounds.certain == bounds.possible { Some(bounds.certain) } else { None };
                prop_assert_eq!(said, known(&query.root, row));
            }
        }
    }
}
