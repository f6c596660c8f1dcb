//! Parses queries of the ranked search.

use super::{
    PageRange, PathFilter, PropertyFilter, QueryNode, QueryPiece, SearchQuery, TaskState, TextFilter, Words, folded,
    leave_out_function_words, search_tokens,
    written::{compiled, tag, without_umlauts},
};
use crate::PatternKind;

/// Deeper groups are read as if they were not grouped.
const DEEPEST: usize = 32;
/// Further words are not searched, so that a pasted page costs no more than a long query.
const MOST_WORDS: usize = 64;
/// A prefix is meaningful from this length on.
const SHORTEST_BEGINNING: usize = 2;

/// The numbers of its words start with `first`.
pub(super) fn parse(text: &str, first: usize) -> SearchQuery {
    let mut parser = QueryParser {
        text,
        at: 0,
        depth: 0,
        words: first,
        last_loose: None,
        no_expressions: Vec::new(),
        cut: false,
        free_text: String::new(),
    };
    let mut nodes = Vec::new();
    // No text is refused: what cannot be read as an operator is words.
    while parser.at < text.len() {
        nodes.push(parser.alternatives(OperatorSetting::default()));
        // An unmatched closing bracket.
        parser.at += 1;
    }
    let QueryParser { words, no_expressions, cut, free_text, .. } = parser;
    let mut root = flat(nodes);
    if let QueryNode::All(nodes) = &mut root {
        leave_out_function_words(nodes);
    }
    let mut query = SearchQuery { root, words, no_expressions, cut, free_text };
    if let Some(last) = parser.last_loose {
        open(&mut query.root, last);
    }
    query
}

/// One of these, or all of them; empty ones are left out.
fn flat(nodes: Vec<QueryNode>) -> QueryNode {
    let mut parts: Vec<QueryNode> = nodes.into_iter().filter(|node| !is_nothing(node)).collect();
    match parts.len() {
        1 => match parts.pop() {
            Some(all @ QueryNode::All(_)) => all,
            Some(one) => QueryNode::All(vec![one]),
            None => QueryNode::All(parts),
        },
        _ => QueryNode::All(parts),
    }
}

fn is_nothing(node: &QueryNode) -> bool {
    matches!(node, QueryNode::All(nodes) | QueryNode::Any(nodes) if nodes.is_empty())
}

/// Lets the word with this number be a prefix.
fn open(node: &mut QueryNode, number: usize) {
    match node {
        QueryNode::All(nodes) | QueryNode::Any(nodes) => nodes.iter_mut().for_each(|node| open(node, number)),
        QueryNode::Not(node) | QueryNode::Within(_, node) => open(node, number),
        QueryNode::Words(words) if words.number == number => words.open = true,
        _ => {}
    }
}

/// How the operators around a word affect it.
#[derive(Clone, Copy)]
struct OperatorSetting {
    place: WordPlace,
    match_case: bool,
    /// Excluded words are matched exactly.
    excluded: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum WordPlace {
    Anywhere,
    Content,
    Path,
    Name,
    Extension,
    Tag,
}

impl Default for OperatorSetting {
    fn default() -> Self {
        Self { place: WordPlace::Anywhere, match_case: false, excluded: false }
    }
}

struct QueryParser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    words: usize,
    /// The last unquoted word, if nothing came after it.
    last_loose: Option<usize>,
    no_expressions: Vec<String>,
    cut: bool,
    free_text: String,
}

impl<'t> QueryParser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn alternatives(&mut self, setting: OperatorSetting) -> QueryNode {
        let mut any = vec![self.sequence(setting)];
        while self.takes_or() {
            any.push(self.sequence(setting));
        }
        any.retain(|node| !is_nothing(node));
        match any.len() {
            1 => any.pop().unwrap_or(QueryNode::All(Vec::new())),
            0 => QueryNode::All(Vec::new()),
            _ => QueryNode::Any(any),
        }
    }

    fn takes_or(&mut self) -> bool {
        self.skip_space();
        let found = self.is_or();
        if found {
            self.at += 2;
        }
        found
    }

    fn is_or(&self) -> bool {
        self.rest().strip_prefix("OR").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '(']))
    }

    fn sequence(&mut self, setting: OperatorSetting) -> QueryNode {
        let mut all = Vec::new();
        loop {
            self.skip_space();
            if self.peek().is_none_or(|c| c == ')') || self.is_or() {
                break;
            }
            let node = self.item(setting);
            if !is_nothing(&node) {
                all.push(node);
            }
        }
        if all.len() == 1 { all.pop().unwrap_or(QueryNode::All(Vec::new())) } else { QueryNode::All(all) }
    }

    fn item(&mut self, setting: OperatorSetting) -> QueryNode {
        let rest = self.rest();
        // Several dashes exclude like one.
        let after = rest.trim_start_matches('-');
        // A dash that is followed by a space is punctuation.
        if after.len() < rest.len() && after.starts_with(|c: char| !c.is_whitespace() && c != ')') {
            self.at += rest.len() - after.len();
            let node = self.plain_item(OperatorSetting { excluded: true, ..setting });
            // Excluding nothing would exclude all notes.
            return if is_nothing(&node) { node } else { QueryNode::Not(Box::new(node)) };
        }
        self.plain_item(setting)
    }

    fn plain_item(&mut self, setting: OperatorSetting) -> QueryNode {
        match self.peek() {
            Some('(') => self.group(setting),
            Some('"') => {
                let phrase = self.quoted();
                self.leaf(&phrase, true, setting)
            }
            Some('/') => self.expression(setting).unwrap_or_else(|| self.word(setting)),
            // Two of them are a pasted link.
            Some('[') if !self.rest().starts_with("[[") => self.property().unwrap_or_else(|| self.word(setting)),
            _ => self.operator(setting).unwrap_or_else(|| self.word(setting)),
        }
    }

    fn group(&mut self, setting: OperatorSetting) -> QueryNode {
        self.at += 1;
        // The recursion of the parser, and of everything that walks the query, is bounded here.
        if self.depth == DEEPEST {
            return QueryNode::All(Vec::new());
        }
        self.depth += 1;
        let node = self.alternatives(setting);
        self.depth -= 1;
        if self.peek() == Some(')') {
            self.at += 1;
        }
        node
    }

    /// Up to the closing quote, or to the end if there is none.
    fn quoted(&mut self) -> String {
        let mut phrase = String::new();
        let mut escaped = false;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '"' if !escaped => break,
                '\\' if !escaped => escaped = true,
                c => {
                    phrase.push(c);
                    escaped = false;
                }
            }
        }
        phrase
    }

    /// Only if it is closed before a space or the end, so that a path is not taken for one.
    fn expression(&mut self, setting: OperatorSetting) -> Option<QueryNode> {
        let inside = self.rest().strip_prefix('/')?;
        let ends =
            |at: usize| inside[at + 1..].starts_with(|c: char| c.is_whitespace() || c == ')') || at + 1 == inside.len();
        let mut escaped = false;
        let end = inside.char_indices().find_map(|(at, c)| {
            let found = c == '/' && !escaped && ends(at);
            escaped = c == '\\' && !escaped;
            found.then_some(at)
        })?;
        let Some(pattern) = compiled(&inside[..end], PatternKind::Regex, setting.match_case, false) else {
            // The answer says so, and the text is searched as words.
            self.no_expressions.push(inside[..end].to_owned());
            return None;
        };
        let pattern = Box::new(pattern);
        self.at += end + 2;
        self.last_loose = None;
        Some(match setting.place {
            WordPlace::Path => QueryNode::Path(PathFilter::PathMatches(pattern)),
            WordPlace::Name | WordPlace::Extension => QueryNode::Path(PathFilter::NameMatches(pattern)),
            WordPlace::Anywhere | WordPlace::Content | WordPlace::Tag => {
                QueryNode::Text(TextFilter { pattern, content: setting.place == WordPlace::Content })
            }
        })
    }

    fn property(&mut self) -> Option<QueryNode> {
        let mut quoted = false;
        let end = self.rest().char_indices().find_map(|(at, c)| {
            // A bracket between quotes is part of the value.
            quoted ^= c == '"';
            (c == ']' && !quoted).then_some(at)
        })?;
        let filter = PropertyFilter::parse(&self.rest()[1..end])?;
        self.at += end + 1;
        self.last_loose = None;
        Some(QueryNode::Property(filter))
    }

    fn operator(&mut self, setting: OperatorSetting) -> Option<QueryNode> {
        let (name, operand) = self.rest().split_once(':')?;
        if name.eq_ignore_ascii_case("page") {
            return self.pages(name, operand);
        }
        let piece = |piece| (setting, Some(piece));
        let (setting, piece) = match name.to_ascii_lowercase().as_str() {
            "file" => (OperatorSetting { place: WordPlace::Name, ..setting }, None),
            "path" => (OperatorSetting { place: WordPlace::Path, ..setting }, None),
            "ext" => (OperatorSetting { place: WordPlace::Extension, ..setting }, None),
            "content" => (OperatorSetting { place: WordPlace::Content, ..setting }, None),
            "tag" => (OperatorSetting { place: WordPlace::Tag, ..setting }, None),
            // Inherited by everything in the operand, also in groups.
            "match-case" => (OperatorSetting { match_case: true, ..setting }, None),
            "ignore-case" => (OperatorSetting { match_case: false, ..setting }, None),
            "line" => piece(QueryPiece::Line),
            "block" => piece(QueryPiece::Block),
            "section" => piece(QueryPiece::Section),
            "task" => piece(QueryPiece::Task(TaskState::Any)),
            "task-todo" => piece(QueryPiece::Task(TaskState::Todo)),
            "task-done" => piece(QueryPiece::Task(TaskState::Done)),
            _ => return None,
        };
        // An operator with nothing after it is a word.
        if !operand.starts_with(|c: char| !c.is_whitespace() && c != ')') {
            return None;
        }
        self.at += name.len() + 1;
        let node = if self.depth < DEEPEST {
            self.depth += 1;
            let node = self.item(setting);
            self.depth -= 1;
            node
        } else {
            self.word(setting)
        };
        match piece {
            // An empty condition matches every task.
            Some(piece @ QueryPiece::Task(_)) => Some(QueryNode::Within(piece, Box::new(node))),
            Some(_) if is_nothing(&node) => Some(node),
            Some(piece) => Some(QueryNode::Within(piece, Box::new(node))),
            None => Some(node),
        }
    }

    /// `page:3`, `page:3-5` or `page:3-`; anything else is a word.
    fn pages(&mut self, name: &str, operand: &str) -> Option<QueryNode> {
        let end = operand.find(|c: char| c.is_whitespace() || c == ')').unwrap_or(operand.len());
        let range = PageRange::parse(&operand[..end])?;
        self.at += name.len() + 1 + end;
        self.last_loose = None;
        Some(QueryNode::Page(range))
    }

    fn word(&mut self, setting: OperatorSetting) -> QueryNode {
        let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"');
        let rest = self.rest();
        // The first character always belongs to it, or parsing would not advance.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find(ends).map_or(rest.len(), |end| first + end);
        self.at += end;
        self.leaf(&rest[..end], false, setting)
    }

    fn leaf(&mut self, text: &str, quoted: bool, setting: OperatorSetting) -> QueryNode {
        self.last_loose = None;
        let nothing = QueryNode::All(Vec::new());
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return nothing;
        }
        match setting.place {
            WordPlace::Path => return QueryNode::Path(PathFilter::Path(folded(trimmed))),
            WordPlace::Name => return QueryNode::Path(PathFilter::Name(folded(trimmed))),
            WordPlace::Extension => {
                return QueryNode::Path(PathFilter::Extension(folded(trimmed.trim_start_matches('.'))));
            }
            WordPlace::Tag => return QueryNode::Tag(folded(trimmed.trim_matches(|c| matches!(c, '#' | '/')))),
            WordPlace::Anywhere | WordPlace::Content => {}
        }
        // `#tag` asks for the tag; quoted, it is text.
        if let Some(name) = tag(trimmed).filter(|_| !quoted && setting.place == WordPlace::Anywhere) {
            return QueryNode::Tag(folded(name));
        }
        let (text, starred) = match text.strip_suffix('*').filter(|_| !quoted) {
            Some(text) => (text, true),
            None => (text, false),
        };
        let Some(mut words) = self.words(text, setting) else {
            // A dash between two words is not searched.
            if !quoted && trimmed.is_ascii() {
                return nothing;
            }
            return literal(trimmed, false, setting).unwrap_or(nothing);
        };
        // Conditions such as `path:` have returned above and do not count.
        if self.words >= MOST_WORDS {
            self.cut = true;
            return nothing;
        }
        self.words += 1;
        if !setting.excluded {
            if !self.free_text.is_empty() {
                self.free_text.push(' ');
            }
            self.free_text.push_str(trimmed);
        }
        words.exact = quoted || setting.excluded || setting.match_case;
        words.open |= starred;
        let long = words.terms.last().is_some_and(|term| term.chars().count() >= SHORTEST_BEGINNING);
        self.last_loose = Some(words.number).filter(|_| !words.exact && long);
        // A single word matches alone, except in a script that writes no words alone.
        let whole = !starred && text.is_ascii();
        match literal(text.trim(), whole, setting).filter(|_| setting.match_case) {
            // The index has no case: it finds the candidates, and the text decides.
            Some(cased) => QueryNode::All(vec![QueryNode::Words(words), cased]),
            None => QueryNode::Words(words),
        }
    }

    /// `None` if it has no letter or digit.
    fn words(&self, text: &str, setting: OperatorSetting) -> Option<Words> {
        let (mut terms, mut tail, mut single) = (Vec::new(), false, false);
        search_tokens(text, |token| {
            tail = token.tail;
            single = token.term.chars().count() == 1 && !token.term.is_ascii();
            terms.push(token.term.to_owned());
        });
        // It repeats the last character of the run, which is in the pair before it.
        if tail {
            terms.pop();
        }
        // In a script without spaces, a single character is the prefix of every pair that starts with it.
        let open = single && !tail;
        let content = setting.place == WordPlace::Content;
        let also = without_umlauts(text).filter(|_| terms.len() == 1);
        (!terms.is_empty()).then_some(Words { number: self.words, terms, exact: false, open, content, also })
    }
}

/// Text that is searched letter by letter.
fn literal(text: &str, whole: bool, setting: OperatorSetting) -> Option<QueryNode> {
    let pattern = Box::new(compiled(text, PatternKind::Literal, setting.match_case, whole)?);
    Some(QueryNode::Text(TextFilter { pattern, content: setting.place == WordPlace::Content }))
}
