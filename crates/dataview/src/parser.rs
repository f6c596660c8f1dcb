//! Reads queries and expressions. At every place the first form that fits is taken and never given back, which is where
//! the language's traps come from: `rating-1` is a name, `trueish` is `true` and a leftover.

mod expressions;
mod literals;
mod source_clause;

use lapidary_query::{QuerySyntaxError, nearest};

use super::{
    letters::{is_letter, is_space},
    syntax::{ClauseKind, FieldOperator, FieldSyntax, NamedField, QueryClause, QueryHeader, SortKey, SourceSyntax},
};

pub(super) use literals::{inferred_target, parsed_date, parsed_duration};

/// Deeper brackets are refused: everything that walks an expression walks its brackets.
const MAX_DEPTH: usize = 48;
/// Longer texts are refused.
const MAX_LENGTH: usize = 64 * 1024;

/// Words that a misspelt one may be meant for.
const KEYWORDS: [&str; 18] = [
    "TABLE",
    "LIST",
    "TASK",
    "CALENDAR",
    "WITHOUT ID",
    "FROM",
    "WHERE",
    "SORT",
    "LIMIT",
    "GROUP BY",
    "FLATTEN",
    "AS",
    "ASC",
    "DESC",
    "ASCENDING",
    "DESCENDING",
    "and",
    "or",
];

/// What may follow a value, in the order of its levels.
const OPERATOR_SIGNS: [&str; 15] = ["*", "/", "%", "+", "-", ">=", "<=", "!=", ">", "<", "=", "and", "or", "&", "|"];

/// A query that was read.
pub(super) struct ParsedQuery {
    pub(super) header: QueryHeader,
    pub(super) header_text: String,
    /// Where the header begins, in bytes.
    pub(super) header_at: usize,
    /// With its text, unless nothing was said.
    pub(super) source: Option<(SourceSyntax, String)>,
    pub(super) source_at: usize,
    pub(super) clauses: Vec<QueryClause>,
}

pub(super) fn parse_query(text: &str) -> Result<ParsedQuery, QuerySyntaxError> {
    let mut parser = DqlParser::new(text)?;
    let query = parser.query();
    parser.finish(query)
}

/// One expression and nothing else.
pub(super) fn parse_field(text: &str) -> Result<FieldSyntax, QuerySyntaxError> {
    let mut parser = DqlParser::new(text)?;
    let field = parser.field();
    parser.finish(field)
}

struct DqlParser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// The place that was reached before a form did not fit, and what would have fitted there.
    furthest: usize,
    expected: Vec<&'static str>,
    too_deep: bool,
    /// Where `rows` names a group, which would break the rows of the group itself.
    rows_as_name: Option<usize>,
}

impl<'t> DqlParser<'t> {
    fn new(text: &'t str) -> Result<Self, QuerySyntaxError> {
        if text.len() > MAX_LENGTH {
            let message = format!("PARSING FAILED: the query has more than {MAX_LENGTH} bytes");
            return Err(QuerySyntaxError::at(text, MAX_LENGTH, message));
        }
        Ok(Self { text, at: 0, depth: 0, furthest: 0, expected: Vec::new(), too_deep: false, rows_as_name: None })
    }

    /// What was read, if it is all of the text.
    fn finish<T>(mut self, read: Option<T>) -> Result<T, QuerySyntaxError> {
        if let Some(at) = self.rows_as_name.filter(|_| read.is_some()) {
            let message = "PARSING FAILED: a group cannot be named 'rows', which is the name of what is in it";
            return Err(QuerySyntaxError::at(self.text, at, message));
        }
        match read {
            Some(read) if self.at == self.text.len() => Ok(read),
            read => {
                // What was read is fine as far as it goes, so the fault is what follows it.
                if read.is_some() && self.at >= self.furthest && !self.too_deep {
                    self.miss::<T>("the end");
                }
                Err(self.fault())
            }
        }
    }

    fn fault(&self) -> QuerySyntaxError {
        let rest = &self.text[self.furthest..];
        // Named in the message, which must stay short whatever was pasted.
        let word: String = rest.chars().take_while(|c| is_letter(*c) || matches!(c, '_' | '-')).take(40).collect();
        let what = match rest.chars().next() {
            _ if self.too_deep => format!("brackets are nested more than {MAX_DEPTH} levels deep"),
            None => "the query ends too early".to_owned(),
            Some(_) if word.is_empty() => {
                let found: String = rest.chars().take(1).collect();
                format!("'{found}' is not understood here")
            }
            // The best known trap: `SORT` is not reserved, so right behind the header it is a column.
            Some(_) if self.follows_sort_column() => {
                format!("'{word}' is not understood here: 'SORT' was read as a column, so begin with FROM or WHERE")
            }
            Some(_) => format!("'{word}' is not understood here"),
        };
        let mut error = QuerySyntaxError::at(self.text, self.furthest, format!("PARSING FAILED: {what}"));
        if !self.too_deep {
            let is_sign = |expected: &&str| OPERATOR_SIGNS.contains(expected);
            let all_signs = OPERATOR_SIGNS.iter().all(|sign| self.expected.contains(sign));
            let named = self.expected.iter().filter(|expected| !all_signs || !is_sign(expected));
            // All of them together are one thing to a reader.
            let operators = all_signs.then_some("an operator");
            error.expected = operators.into_iter().chain(named.copied()).map(str::to_owned).collect();
        }
        error.nearest = nearest(&word, KEYWORDS).filter(|known| !known.eq_ignore_ascii_case(&word)).map(str::to_owned);
        error
    }

    /// Whether the reader stopped behind a `SORT` that is the column of `LIST` or `TABLE`.
    fn follows_sort_column(&self) -> bool {
        let mut words = self.text[..self.furthest].split(is_space).filter(|word| !word.is_empty()).rev();
        let mut is_next = |known: &[&str]| {
            words.next().is_some_and(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
        };
        is_next(&["SORT"]) && is_next(&["LIST", "TABLE", "ID"])
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Something else was expected here.
    fn miss<T>(&mut self, expected: &'static str) -> Option<T> {
        // The furthest place that any form reached is where the reader made the mistake.
        if self.at > self.furthest {
            self.furthest = self.at;
            self.expected.clear();
        }
        if self.at == self.furthest && !self.expected.contains(&expected) && !self.too_deep {
            self.expected.push(expected);
        }
        None
    }

    fn eat(&mut self, text: &'static str) -> Option<()> {
        if self.rest().starts_with(text) {
            self.at += text.len();
            Some(())
        } else {
            self.miss(text)
        }
    }

    /// A word in any case. Nothing is asked of what follows it.
    fn word(&mut self, word: &'static str) -> Option<()> {
        // `get`, because the text may have a wide character there.
        let found = self.rest().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if found {
            self.at += word.len();
            Some(())
        } else {
            self.miss(word)
        }
    }

    fn spaces(&mut self) {
        self.at += self.rest().find(|c| !is_space(c)).unwrap_or(self.rest().len());
    }

    /// At least one.
    fn space(&mut self) -> Option<()> {
        let before = self.at;
        self.spaces();
        if self.at > before { Some(()) } else { self.miss("white space") }
    }

    /// White space and `// comments`.
    fn skip(&mut self) {
        loop {
            self.spaces();
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// What a form reads, or nothing, and then nothing is taken.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        // A form that fails in brackets leaves the depth where it was.
        let (before, depth) = (self.at, self.depth);
        let found = read(self);
        if found.is_none() {
            self.at = before;
            self.depth = depth;
        }
        found
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.too_deep || self.depth >= MAX_DEPTH {
            if !self.too_deep {
                // Remembered, or every other form would be tried at this depth again: the time would double with each
                // level.
                self.too_deep = true;
                self.furthest = self.at;
                self.expected.clear();
            }
            return None;
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// One or more, with commas between them. A comma with nothing behind it is left.
    fn several<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut found = vec![read(self)?];
        while let Some(next) = self.attempt(|parser| {
            parser.spaces();
            parser.eat(",")?;
            parser.spaces();
            read(parser)
        }) {
            found.push(next);
        }
        Some(found)
    }

    fn query(&mut self) -> Option<ParsedQuery> {
        self.skip();
        let header_at = self.at;
        let header = self.header()?;
        // The texts of the parts are shown by explanations.
        let header_text = self.text[header_at..self.at].trim().to_owned();
        self.skip();
        let source_at = self.at;
        let source = self.attempt(Self::source_clause);
        let source = source.map(|source| (source, self.text[source_at..self.at].to_owned()));
        self.skip();
        let mut clauses = Vec::new();
        loop {
            let at = self.at;
            let Some(kind) = self.attempt(Self::clause) else { break };
            clauses.push(QueryClause { text: self.text[at..self.at].trim_end().to_owned(), at, kind });
            self.skip();
        }
        Some(ParsedQuery { header, header_text, header_at, source, source_at, clauses })
    }

    fn header(&mut self) -> Option<QueryHeader> {
        let kinds = ["TABLE", "LIST", "TASK", "CALENDAR"];
        let kind = kinds.into_iter().find(|kind| self.word(kind).is_some())?;
        match kind {
            "TASK" => Some(QueryHeader::Task),
            "CALENDAR" => {
                self.space()?;
                Some(QueryHeader::Calendar { date: self.named_field()? })
            }
            "TABLE" => {
                if self.rest().is_empty() {
                    return Some(QueryHeader::Table { shows_id: true, columns: Vec::new() });
                }
                self.space()?;
                let shows_id = !self.without_id();
                // A table may have none: what follows is then the next clause.
                let columns = self.attempt(|parser| parser.several(Self::named_field)).unwrap_or_default();
                Some(QueryHeader::Table { shows_id, columns })
            }
            _ => {
                if self.rest().is_empty() {
                    return Some(QueryHeader::List { shows_id: true, format: None });
                }
                self.space()?;
                let shows_id = !self.without_id();
                Some(QueryHeader::List { shows_id, format: self.attempt(Self::field) })
            }
        }
    }

    fn without_id(&mut self) -> bool {
        let found = self.attempt(|parser| {
            parser.word("WITHOUT")?;
            parser.space()?;
            parser.word("ID")
        });
        if found.is_some() {
            self.spaces();
        }
        found.is_some()
    }

    fn named_field(&mut self) -> Option<NamedField> {
        // Read twice if there is no alias; Dataview's parser does the same.
        let explicit = self.attempt(|parser| {
            let field = parser.field()?;
            parser.space()?;
            parser.word("AS")?;
            parser.space()?;
            let name = parser.attempt(Self::identifier).map(str::to_owned).or_else(|| parser.string())?;
            Some(NamedField { name, field })
        });
        if explicit.is_some() {
            return explicit;
        }
        let start = self.at;
        let field = self.attempt(Self::field)?;
        // A column without alias is named by its text, on one line.
        let lines = self.text[start..self.at].split(['\r', '\n']).map(|line| line.trim_matches(is_space));
        Some(NamedField { name: lines.collect(), field })
    }

    fn source_clause(&mut self) -> Option<SourceSyntax> {
        self.word("FROM")?;
        self.space()?;
        self.source()
    }

    fn clause(&mut self) -> Option<ClauseKind> {
        // Accepted by the grammar of Dataview in any place, and refused when it is run.
        if let Some(source) = self.attempt(Self::source_clause) {
            return Some(ClauseKind::From(source));
        }
        if let Some(field) = self.attempt(|parser| parser.clause_field("WHERE")) {
            return Some(ClauseKind::Where(field));
        }
        let sort = self.attempt(|parser| {
            parser.word("SORT")?;
            parser.space()?;
            parser.several(Self::sort_key)
        });
        if let Some(keys) = sort {
            return Some(ClauseKind::Sort(keys));
        }
        if let Some(field) = self.attempt(|parser| parser.clause_field("LIMIT")) {
            return Some(ClauseKind::Limit(field));
        }
        let named = |parser: &mut Self, word: &'static str| {
            parser.attempt(|parser| {
                parser.word(word)?;
                parser.space()?;
                let start = parser.at;
                Some((start, parser.named_field()?))
            })
        };
        if let Some((start, field)) = named(self, "GROUP BY") {
            if field.name == "rows" {
                // Reported at the end, if everything else could be read.
                self.rows_as_name.get_or_insert(start);
            }
            return Some(ClauseKind::GroupBy(field));
        }
        named(self, "FLATTEN").map(|(_, field)| ClauseKind::Flatten(field))
    }

    fn clause_field(&mut self, word: &'static str) -> Option<FieldSyntax> {
        self.word(word)?;
        self.space()?;
        self.field()
    }

    fn sort_key(&mut self) -> Option<SortKey> {
        let field = self.field()?;
        self.spaces();
        // Longer words first, because the first that fits is taken.
        let words = [("ASCENDING", false), ("DESCENDING", true), ("ASC", false), ("DESC", true)];
        let descending = words.into_iter().find(|(word, _)| self.word(word).is_some()).is_some_and(|(_, down)| down);
        Some(SortKey { field, descending })
    }

    /// An operator of a level, with white space around it.
    fn operator(&mut self, level: &[(&'static str, FieldOperator)]) -> Option<FieldOperator> {
        self.spaces();
        let (_, operator) = level.iter().find(|(sign, _)| self.word(sign).is_some())?;
        self.spaces();
        Some(*operator)
    }
}

const BOOLEAN: [(&str, FieldOperator); 4] =
    [("and", FieldOperator::And), ("or", FieldOperator::Or), ("&", FieldOperator::And), ("|", FieldOperator::Or)];
