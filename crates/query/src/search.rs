//! The language of the ranked search: words, `"phrases"`, `-not`, `OR`, `( )`, `/regex/`, `[property:value]` and the
//! operators that Obsidian's own search knows.
//!
//! It is forgiving: every text is a query, and what is no operator is a word. Here is what a query says, how texts are cut
//! into words, and the one evaluator, which an index and a scan give their own answers to.

mod answers;
mod evaluate;
mod forms;
mod fuzzy;
mod parse;
mod property;
#[cfg(test)]
mod tests;
mod tokens;
mod unit;
mod written;

use crate::Pattern;

pub use answers::{Answers, Bounds};
pub use evaluate::{Leaf, Resolver, evaluate, holds};
pub use forms::word_forms;
pub use fuzzy::Fuzzy;
pub use property::PropertyFilter;
pub use tokens::{Token, Word, folded, search_tokens, search_words};
pub use unit::{Lexicon, Unit, has_tag, is_tag_or_below};

/// A query as it was understood.
pub struct SearchQuery {
    pub root: Node,
    /// How many [`Words`] there are; their numbers are below it.
    pub words: usize,
    /// What was written as a regular expression and is none, so that it was read as words.
    pub no_expressions: Vec<String>,
    /// There were more words than are looked for.
    pub cut: bool,
}

/// A part of a query, which is true of a note or not.
pub enum Node {
    /// True if all are; of everything if there are none.
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Words(Words),
    Text(TextFilter),
    Path(PathFilter),
    /// Has this tag or one below it; folded, without `#`.
    Tag(String),
    Property(PropertyFilter),
    /// All of it in one piece of the note.
    Within(Piece, Box<Node>),
}

/// A word, or several that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub number: usize,
    /// As the text is cut, in order and never empty.
    pub terms: Vec<String>,
    /// Quoted: no other forms, and no typing errors.
    pub exact: bool,
    /// The last of them may be the beginning of a word.
    pub open: bool,
    /// Only in the text of the note, not in its name or properties.
    pub content: bool,
    /// The same word as it is written without umlauts, if it has some.
    pub also: Option<String>,
}

/// Something in the text or the path that is no word.
pub struct TextFilter {
    pub pattern: Box<Pattern>,
    /// Only in the text.
    pub content: bool,
}

/// What a path has to hold.
pub enum PathFilter {
    /// Folded.
    Path(String),
    /// Folded, in the name of the file.
    Name(String),
    /// The ending begins so, folded.
    Extension(String),
    PathMatches(Box<Pattern>),
    NameMatches(Box<Pattern>),
}

impl PathFilter {
    /// What cannot be decided is not claimed.
    pub fn holds(&self, path: &str) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        match self {
            Self::Path(wanted) => folded(path).contains(wanted),
            Self::Name(wanted) => folded(name).contains(wanted),
            Self::Extension(wanted) => {
                name.rsplit_once('.').is_some_and(|(_, extension)| folded(extension).starts_with(wanted))
            }
            Self::PathMatches(pattern) => pattern.is_match(path) == Ok(true),
            Self::NameMatches(pattern) => pattern.is_match(name) == Ok(true),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
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

impl SearchQuery {
    pub fn parse(text: &str) -> Self {
        parse::parse(text)
    }

    /// Whether it says anything at all.
    pub fn is_empty(&self) -> bool {
        matches!(&self.root, Node::All(nodes) if nodes.is_empty())
    }

    /// All words that it asks for, those it excludes aside.
    pub fn wanted(&self) -> Vec<&Words> {
        let mut found = Vec::new();
        self.root.wanted(&mut found);
        found
    }

    /// Makes of "all these words" "any of these words"; everything else has to hold as before. `false` if that would
    /// change nothing.
    pub fn relax(&mut self) -> bool {
        let Node::All(nodes) = &mut self.root else { return false };
        let loose = |node: &Node| matches!(node, Node::Words(words) if !words.exact);
        if nodes.iter().filter(|node| loose(node)).count() < 2 {
            return false;
        }
        let (words, mut rest): (Vec<Node>, Vec<Node>) = std::mem::take(nodes).into_iter().partition(loose);
        rest.push(Node::Any(words));
        self.root = Node::All(rest);
        true
    }
}

impl Node {
    fn wanted<'n>(&'n self, found: &mut Vec<&'n Words>) {
        match self {
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().for_each(|node| node.wanted(found)),
            Self::Within(_, node) => node.wanted(found),
            Self::Words(words) => found.push(words),
            Self::Not(_) | Self::Text(_) | Self::Path(_) | Self::Tag(_) | Self::Property(_) => {}
        }
    }
}
