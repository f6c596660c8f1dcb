//! The language of the ranked search: words, `"phrases"`, `-not`, `OR`, `( )`, `/regex/`, `[property:value]` and the
//! operators of Obsidian's own search.
//!
//! It is forgiving: every text is a query, and anything that is not an operator is a word. Here are the parsed query,
//! the splitting of texts into words, and the one evaluator, which an index and a scan resolve differently.

mod answers;
mod evaluate;
mod forms;
mod function_words;
mod fuzzy;
mod parse;
mod property;
#[cfg(test)]
mod tests;
mod tokens;
mod unit;
mod written;

use std::collections::HashSet;

use crate::Pattern;
use function_words::is_function_word;

pub use answers::{AnswerBounds, Answers};
pub use evaluate::{LeafResolver, QueryLeaf, evaluate, holds};
pub use forms::word_forms;
pub use fuzzy::FuzzyWord;
pub use property::PropertyFilter;
pub use tokens::{KeptWord, Token, folded, search_tokens, search_words};
pub use unit::{Lexicon, QueryStarts, TextUnit, has_tag};

/// A query as it was understood.
pub struct SearchQuery {
    pub root: QueryNode,
    /// How many [`Words`] there are; their numbers are below it.
    pub words: usize,
    /// Invalid regular expressions, which were read as words.
    pub no_expressions: Vec<String>,
    /// There were more words than are searched.
    pub cut: bool,
    /// What it searches for as it was written, without operators and exclusions: for a model of texts.
    pub free_text: String,
}

/// A part of a query, which is true of a note or not.
pub enum QueryNode {
    /// True if all are; of everything if empty.
    All(Vec<QueryNode>),
    Any(Vec<QueryNode>),
    Not(Box<QueryNode>),
    Words(Words),
    Text(TextFilter),
    Path(PathFilter),
    /// Has this tag or one below it; folded, without `#`.
    Tag(String),
    Property(PropertyFilter),
    /// On one of these pages of a document.
    Page(PageRange),
    /// All of it in one piece of the note.
    Within(QueryPiece, Box<QueryNode>),
}

/// A word, or several that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub number: usize,
    /// As the text is split, in order and never empty.
    pub terms: Vec<String>,
    /// Quoted: no other forms, and no typo correction.
    pub exact: bool,
    /// The last of them may be a prefix of a word.
    pub open: bool,
    /// Only in the text of the note, not in its name or properties.
    pub content: bool,
    /// The same word as written without umlauts, if it has any.
    pub also: Option<String>,
}

/// Something in the text or the path that is not a word.
pub struct TextFilter {
    pub pattern: Box<Pattern>,
    /// Only in the text.
    pub content: bool,
}

/// What a path must contain.
pub enum PathFilter {
    /// Folded.
    Path(String),
    /// Folded, in the name of the file.
    Name(String),
    /// The extension starts like this, folded.
    Extension(String),
    PathMatches(Box<Pattern>),
    NameMatches(Box<Pattern>),
}

impl PathFilter {
    /// Undecided matches are not claimed.
    pub fn holds(&self, path: &str) -> bool {
        // Only the last part, so that folders do not count as the name.
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        match self {
            Self::Path(wanted) => folded(path).contains(wanted),
            Self::Name(wanted) => folded(name).contains(wanted),
            Self::Extension(wanted) => {
                name.rsplit_once('.').is_some_and(|(_, extension)| folded(extension).starts_with(wanted))
            }
            // A pattern that gave up is not a match.
            Self::PathMatches(pattern) => pattern.is_match(path) == Ok(true),
            Self::NameMatches(pattern) => pattern.is_match(name) == Ok(true),
        }
    }
}

/// Pages of a document: `3`, `3-5` or `3-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    pub first: u32,
    pub last: u32,
}

impl PageRange {
    /// `None` if it is not a range.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let (first, last) = match text.split_once(['-', '–']) {
            Some((first, "")) => (number(first)?, u32::MAX),
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(text)?, number(text)?),
        };
        (first > 0 && first <= last).then_some(Self { first, last })
    }

    pub fn holds(self, page: u32) -> bool {
        (self.first..=self.last).contains(&page)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryPiece {
    Line,
    Block,
    Section,
    Task(TaskState),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    Any,
    Todo,
    Done,
}

impl TaskState {
    /// Whether a task with this character in its box is one of them.
    pub fn accepts(self, status: char) -> bool {
        match self {
            Self::Any => true,
            Self::Todo => status == ' ',
            Self::Done => status != ' ',
        }
    }
}

/// More terms than this are not searched: the first ones are enough.
const MOST_PARTS: usize = 128;

impl SearchQuery {
    pub fn parse(text: &str) -> Self {
        parse::parse(text, 0)
    }

    /// With alternatives, each of which counts as much as the words of the query.
    pub fn with_alternatives(text: &str, alternatives: &[String]) -> Self {
        let mut query = Self::parse(text);
        let mut others = Vec::new();
        for alternative in alternatives {
            // Numbers go on, so that each word of the whole query has its own.
            let other = parse::parse(alternative, query.words);
            query.words = other.words;
            query.cut |= other.cut;
            query.no_expressions.extend(other.no_expressions);
            // As sentences of their own: they are other ways to say it.
            if !other.free_text.is_empty() {
                query.free_text.push_str(". ");
                query.free_text.push_str(&other.free_text);
            }
            // Plain words of an alternative count one by one; anything more complex has to match as a whole.
            match other.root {
                QueryNode::All(nodes) if nodes.iter().all(is_words) => others.extend(nodes),
                QueryNode::All(nodes) if nodes.is_empty() => {}
                // A single condition needs no group around it.
                QueryNode::All(mut nodes) if nodes.len() == 1 => others.extend(nodes.pop()),
                other => others.push(other),
            }
        }
        // Nothing to choose from, so the query stays as strict as it was.
        if others.is_empty() {
            return query;
        }
        let nodes = match std::mem::replace(&mut query.root, QueryNode::All(Vec::new())) {
            QueryNode::All(nodes) => nodes,
            other => vec![other],
        };
        // Words become alternatives of each other; conditions such as `path:` still have to hold.
        let (words, mut rest): (Vec<QueryNode>, Vec<QueryNode>) = nodes.into_iter().partition(asks_for_words);
        let any = query.in_parts(words.into_iter().chain(others).collect());
        rest.push(QueryNode::Any(any));
        query.root = QueryNode::All(rest);
        query
    }

    /// Whether it says anything at all.
    pub fn is_empty(&self) -> bool {
        matches!(&self.root, QueryNode::All(nodes) if nodes.is_empty())
    }

    /// All words that it searches for, except excluded ones.
    pub fn wanted(&self) -> Vec<&Words> {
        let mut found = Vec::new();
        self.root.wanted(&mut found);
        found
    }

    /// Whether it has words that a note need not contain literally to be meant.
    pub fn has_free_words(&self) -> bool {
        match &self.root {
            QueryNode::All(nodes) => nodes.iter().any(is_free),
            root => is_free(root),
        }
    }

    /// What a note has to fulfil that has none of the free words, but means the same: operators, phrases, exclusions.
    pub fn into_conditions(self) -> QueryNode {
        match self.root {
            QueryNode::All(mut nodes) => {
                nodes.retain(|node| !is_free(node));
                QueryNode::All(nodes)
            }
            root if is_free(&root) => QueryNode::All(Vec::new()),
            root => root,
        }
    }

    /// Turns "all these words" into "any of these words", and a run in a script without spaces into its pairs;
    /// everything else still has to hold. `false` if that would change nothing.
    pub fn relax(&mut self) -> bool {
        let QueryNode::All(nodes) = &mut self.root else { return false };
        let loose = |node: &QueryNode| matches!(node, QueryNode::Words(words) if !words.exact);
        // One word can be relaxed only if it is a run that has parts.
        if nodes.iter().filter(|node| loose(node)).count() < 2 && !nodes.iter().any(has_parts) {
            return false;
        }
        let (words, mut rest): (Vec<QueryNode>, Vec<QueryNode>) = std::mem::take(nodes).into_iter().partition(loose);
        rest.push(QueryNode::Any(self.in_parts(words)));
        self.root = QueryNode::All(rest);
        true
    }

    /// The same with every loose run split into its terms, each once, and without function words if there are others.
    fn in_parts(&mut self, nodes: Vec<QueryNode>) -> Vec<QueryNode> {
        let (mut parts, mut seen) = (Vec::with_capacity(nodes.len()), HashSet::new());
        for node in nodes {
            match node {
                QueryNode::Words(words) if !words.exact && words.terms.len() > 1 => {
                    let last = words.terms.len() - 1;
                    for (at, term) in words.terms.iter().enumerate().filter(|(_, term)| says_something(term)) {
                        // A pasted page must not cost more than a long query.
                        if parts.len() >= MOST_PARTS {
                            self.cut = true;
                        } else if seen.insert(term.clone()) {
                            let (number, terms) = (self.words, vec![term.clone()]);
                            // Only the end of the run was being typed.
                            let open = words.open && at == last;
                            parts.push(QueryNode::Words(Words { number, terms, open, also: None, ..words.clone() }));
                            self.words += 1;
                        }
                    }
                }
                QueryNode::Words(words) if !words.exact => {
                    // A word that was there before would count twice in the ranking.
                    if words.terms.iter().all(|term| seen.insert(term.clone())) {
                        parts.push(QueryNode::Words(words));
                    }
                }
                other => parts.push(other),
            }
        }
        leave_out_function_words(&mut parts);
        parts
    }
}

fn is_words(node: &QueryNode) -> bool {
    matches!(node, QueryNode::Words(_))
}

/// Whether part of a query is there for its words, and not as a condition on the notes.
fn asks_for_words(node: &QueryNode) -> bool {
    match node {
        QueryNode::Words(_) => true,
        QueryNode::All(nodes) | QueryNode::Any(nodes) => nodes.iter().all(asks_for_words),
        QueryNode::Not(_)
        | QueryNode::Text(_)
        | QueryNode::Path(_)
        | QueryNode::Tag(_)
        | QueryNode::Property(_)
        | QueryNode::Page(_)
        | QueryNode::Within(..) => false,
    }
}

/// Whether it consists of words that may be said in another way.
fn is_free(node: &QueryNode) -> bool {
    match node {
        QueryNode::Words(words) => !words.exact && !words.content,
        QueryNode::All(nodes) | QueryNode::Any(nodes) => nodes.iter().all(is_free),
        QueryNode::Not(_)
        | QueryNode::Text(_)
        | QueryNode::Path(_)
        | QueryNode::Tag(_)
        | QueryNode::Property(_)
        | QueryNode::Page(_)
        | QueryNode::Within(..) => false,
    }
}

fn has_parts(node: &QueryNode) -> bool {
    matches!(node, QueryNode::Words(words) if !words.exact && words.terms.len() > 1)
}

/// The last character of a run is also in the pair before it, and alone it is in every second note.
fn says_something(term: &str) -> bool {
    term.is_ascii() || term.chars().count() > 1
}

/// These words say nothing about a note; only a query that has no others means them.
fn leave_out_function_words(nodes: &mut Vec<QueryNode>) {
    let is_content = |node: &QueryNode| {
        let mut wanted = Vec::new();
        node.wanted(&mut wanted);
        wanted.iter().any(|words| !words.is_of_function_words())
    };
    if nodes.iter().any(is_content) {
        nodes.retain(|node| !matches!(node, QueryNode::Words(words) if !words.exact && words.is_of_function_words()));
    }
}

impl Words {
    fn is_of_function_words(&self) -> bool {
        !self.content && self.terms.iter().all(|term| is_function_word(term))
    }
}

impl QueryNode {
    fn wanted<'n>(&'n self, found: &mut Vec<&'n Words>) {
        match self {
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().for_each(|node| node.wanted(found)),
            Self::Within(_, node) => node.wanted(found),
            Self::Words(words) => found.push(words),
            // Conditions have no words to be highlighted or corrected.
            Self::Not(_) | Self::Text(_) | Self::Path(_) | Self::Tag(_) | Self::Property(_) | Self::Page(_) => {}
        }
    }
}
