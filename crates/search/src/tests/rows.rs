//! The evaluator gives the same for all documents at once as for each note separately.

use std::convert::Infallible;

use lapidary_index::FileRow;
use lapidary_note::Frontmatter;
use lapidary_query::{LeafResolver, Lexicon, QueryLeaf, QueryNode, QueryPiece, Row, TextUnit, Words, has_tag, holds};
use proptest::prelude::*;

use super::*;

struct Typed;

impl Lexicon for Typed {
    fn accepts(&self, words: &Words, at: usize, term: &str) -> bool {
        words.terms.get(at).is_some_and(|wanted| wanted == term)
    }
}

/// Evaluates one note without an index.
struct OneNote<'r> {
    row: &'r FileRow<'r>,
    text: &'r str,
}

impl OneNote<'_> {
    fn fits(&self, leaf: QueryLeaf<'_>) -> bool {
        let body = Frontmatter::find(self.text).map_or(0, |block| block.span.end);
        match leaf {
            QueryLeaf::Words(words) => !TextUnit::new(&self.text[body..]).find(words, &Typed).is_empty(),
            QueryLeaf::Text(filter) => filter.pattern.is_match(self.text) == Ok(true),
            QueryLeaf::Path(filter) => filter.holds(self.row.path()),
            QueryLeaf::Tag(wanted) => has_tag(self.row, wanted),
            QueryLeaf::Property(filter) => filter.holds(self.row),
            QueryLeaf::Page(_) => false,
            QueryLeaf::Within(QueryPiece::Task(state), node) => {
                let items = self.row.items().into_iter();
                let tasks = items.filter(|item| item.status.is_some_and(|status| state.accepts(status)));
                tasks.map(|task| task.text).any(|text| self.in_piece(&text, node))
            }
            QueryLeaf::Within(_, node) => self.text.lines().any(|line| self.in_piece(line, node)),
        }
    }

    fn in_piece(&self, text: &str, node: &QueryNode) -> bool {
        TextUnit::new(text).fulfils(node, &Typed, Some(self.row))
    }
}

impl LeafResolver for OneNote<'_> {
    type Answers = bool;
    type Error = Infallible;

    fn leaf(&self, leaf: QueryLeaf<'_>, within: &bool) -> Result<bool, Infallible> {
        Ok(*within && self.fits(leaf))
    }
}

const PARTS: [&str; 18] = [
    "content:\"slate\" ",
    "content:\"roof\" ",
    "content:\"slate roof\" ",
    "-",
    "-(",
    "(",
    ") ",
    "OR ",
    "path:x ",
    "file:b ",
    "tag:moss ",
    "[status] ",
    "[status:1] ",
    "content:/s.ate r/ ",
    "line:(\"slate\" \"roof\") ",
    "line:(\"slate\" -\"roof\") ",
    "task-todo:\"moss\" ",
    "task:\"\" ",
];

fn note() -> impl Strategy<Value = String> {
    let words =
        ["slate ", "roof ", "moss ", "slate roof ", "\n", "#moss ", "\n- [ ] moss\n", "\n- [x] slate ", "\n# roof\n"];
    let body = prop::collection::vec(prop::sample::select(words.to_vec()), 0..10);
    (prop::option::of(0..3_u8), body).prop_map(|(status, body)| {
        let properties = status.map_or(String::new(), |status| format!("---\nStatus: {status}\n---\n"));
        format!("{properties}{}", body.concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 600 }))]

    #[test]
    fn all_documents_at_once_are_each_note_by_itself(
        texts in prop::collection::vec(note(), NAMES.len()),
        queries in prop::collection::vec(prop::collection::vec(prop::sample::select(PARTS.to_vec()), 1..8), 6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in NAMES.iter().zip(&texts) {
            put(folder.path(), &format!("{name}.md"), text);
        }
        let live = live(folder.path());
        let files = index_cache::to_rank(&live, &open(), &|| true).unwrap();
        let (index, readable) = live.search.index(&files, &|| true).unwrap();
        for query in queries {
            let text = query.concat();
            let corpus = ReadableCorpus::new(&index, Arc::clone(&readable));
            let search = RankedSearch::new(corpus, SearchQuery::parse(&text), &files, &|| true);
            if search.query.is_empty() {
                continue;
            }
            let found = search.found().unwrap();
            for document in search.corpus.visible().iter() {
                let row = FileRow::new(&files, search.state(document).unwrap());
                let content = row.content().unwrap();
                let fits = holds(&search.query.root, &OneNote { row: &row, text: &content });
                prop_assert_eq!(found.has(document), fits, "{} in {:?}", text, content);
            }
        }
    }
}
