//! Reads queries and expressions. At every place the first form that fits is taken and never given back, which is where
//! the language's traps come from: `rating-1` is a name, `trueish` is `true` and a leftover.

mod literals;

use lapidary_query::{QuerySyntaxError, nearest};

use super::{
    letters::{emoji_length, is_letter, is_space},
    syntax::{
        ClauseKind, FieldLiteral, FieldOperator, FieldPostfix, FieldSyntax, NamedField, QueryClause, QueryHeader,
        SortKey, SourceJoin, SourceSyntax,
    },
};

pub(super) use literals::{inferred_target, parsed_date, parsed_duration};

/// Deeper brackets are refused: everything that walks an expression walks its brackets.
const MAX_DEPTH: usize = 48;
/// Longer texts are refused.
const MAX_LENGTH: usize = 64 * 1024;

/// Names that no variable may have; a field of such a name is reached as `row.where`.
const RESERVED: [&str; 5] = ["FROM", "WHERE", "LIMIT", "GROUP", "FLATTEN"];

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

/// A query that was read.
pub(super) struct ParsedQuery {
    pub(super) header: QueryHeader,
    pub(super) header_text: String,
    /// With its text, unless nothing was said.
    pub(super) source: Option<(SourceSyntax, String)>,
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
                if read.is_some() && self.at >= self.furthest && !self.too_deep {
                    self.miss::<T>("the end");
                }
                Err(self.fault())
            }
        }
    }

    fn fault(&self) -> QuerySyntaxError {
        let rest = &self.text[self.furthest..];
        let word: String = rest.chars().take_while(|c| is_letter(*c) || matches!(c, '_' | '-')).take(40).collect();
        let what = match rest.chars().next() {
            _ if self.too_deep => format!("brackets are nested more than {MAX_DEPTH} levels deep"),
            None => "the query ends too early".to_owned(),
            Some(_) if word.is_empty() => {
                let found: String = rest.chars().take(1).collect();
                format!("'{found}' is not understood here")
            }
            Some(_) => format!("'{word}' is not understood here"),
        };
        let mut error = QuerySyntaxError::at(self.text, self.furthest, format!("PARSING FAILED: {what}"));
        if !self.too_deep {
            error.expected = self.expected.iter().map(|&expected| expected.to_owned()).collect();
        }
        error.nearest = nearest(&word, KEYWORDS).filter(|known| !known.eq_ignore_ascii_case(&word)).map(str::to_owned);
        error
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Something else was expected here.
    fn miss<T>(&mut self, expected: &'static str) -> Option<T> {
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
        let start = self.at;
        let header = self.header()?;
        let header_text = self.text[start..self.at].trim().to_owned();
        self.skip();
        let start = self.at;
        let source = self.attempt(Self::source_clause);
        let source = source.map(|source| (source, self.text[start..self.at].to_owned()));
        self.skip();
        let mut clauses = Vec::new();
        loop {
            let start = self.at;
            let Some(kind) = self.attempt(Self::clause) else { break };
            clauses.push(QueryClause { text: self.text[start..self.at].trim_end().to_owned(), kind });
            self.skip();
        }
        Some(ParsedQuery { header, header_text, source, clauses })
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
        let lines = self.text[start..self.at].split(['\r', '\n']).map(|line| line.trim_matches(is_space));
        Some(NamedField { name: lines.collect(), field })
    }

    fn source_clause(&mut self) -> Option<SourceSyntax> {
        self.word("FROM")?;
        self.space()?;
        self.source()
    }

    fn clause(&mut self) -> Option<ClauseKind> {
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
        let words = [("ASCENDING", false), ("DESCENDING", true), ("ASC", false), ("DESC", true)];
        let descending = words.into_iter().find(|(word, _)| self.word(word).is_some()).is_some_and(|(_, down)| down);
        Some(SortKey { field, descending })
    }

    fn source(&mut self) -> Option<SourceSyntax> {
        let first = self.source_atom()?;
        let mut more = Vec::new();
        while let Some(next) = self.attempt(|parser| {
            let join = match parser.operator(&BOOLEAN)? {
                FieldOperator::And => SourceJoin::And,
                _ => SourceJoin::Or,
            };
            Some((join, parser.source_atom()?))
        }) {
            more.push(next);
        }
        Some(if more.is_empty() { first } else { SourceSyntax::Chain(Box::new(first), more) })
    }

    fn source_atom(&mut self) -> Option<SourceSyntax> {
        let parens = |parser: &mut Self| {
            parser.eat("(")?;
            parser.spaces();
            let source = parser.source()?;
            parser.spaces();
            parser.eat(")")?;
            Some(source)
        };
        if let Some(source) = self.attempt(|parser| parser.deeper(parens)) {
            return Some(source);
        }
        let not = |parser: &mut Self| {
            if parser.eat("-").is_none() {
                parser.eat("!")?;
            }
            parser.source_atom()
        };
        if let Some(source) = self.attempt(|parser| parser.deeper(not)) {
            return Some(SourceSyntax::Not(Box::new(source)));
        }
        let outgoing = |parser: &mut Self| {
            parser.eat("outgoing(")?;
            parser.spaces();
            let link = parser.link()?;
            parser.eat(")")?;
            Some(SourceSyntax::Link { path: link.path, incoming: false })
        };
        if let Some(source) = self.attempt(outgoing) {
            return Some(source);
        }
        if let Some(link) = self.link() {
            return Some(SourceSyntax::Link { path: link.path, incoming: true });
        }
        if let Some(path) = self.string() {
            return Some(SourceSyntax::Folder(path));
        }
        if let Some(tag) = self.tag() {
            return Some(SourceSyntax::Tag(tag));
        }
        self.attempt(|parser| {
            parser.eat("csv(")?;
            parser.spaces();
            let path = parser.string()?;
            parser.eat(")")?;
            Some(SourceSyntax::Csv(path))
        })
    }

    /// An operator of a level, with white space around it.
    fn operator(&mut self, level: &[(&'static str, FieldOperator)]) -> Option<FieldOperator> {
        self.spaces();
        let (_, operator) = level.iter().find(|(sign, _)| self.word(sign).is_some())?;
        self.spaces();
        Some(*operator)
    }

    fn chain(
        &mut self,
        level: &[(&'static str, FieldOperator)],
        read: fn(&mut Self) -> Option<FieldSyntax>,
    ) -> Option<FieldSyntax> {
        let first = read(self)?;
        let mut more = Vec::new();
        while let Some(next) = self.attempt(|parser| Some((parser.operator(level)?, read(parser)?))) {
            more.push(next);
        }
        Some(if more.is_empty() { first } else { FieldSyntax::Chain(Box::new(first), more) })
    }

    fn field(&mut self) -> Option<FieldSyntax> {
        self.deeper(|parser| parser.chain(&BOOLEAN, Self::comparison))
    }

    fn comparison(&mut self) -> Option<FieldSyntax> {
        self.chain(&COMPARISON, Self::sum)
    }

    fn sum(&mut self) -> Option<FieldSyntax> {
        self.chain(&SUM, Self::product)
    }

    fn product(&mut self) -> Option<FieldSyntax> {
        self.chain(&PRODUCT, Self::postfix)
    }

    fn postfix(&mut self) -> Option<FieldSyntax> {
        let first = self.atom()?;
        let mut steps = Vec::new();
        while let Some(step) = self.attempt(Self::postfix_step) {
            steps.push(step);
        }
        Some(if steps.is_empty() { first } else { FieldSyntax::Postfix(Box::new(first), steps) })
    }

    fn postfix_step(&mut self) -> Option<FieldPostfix> {
        if self.eat(".").is_some() {
            return self.identifier().map(|name| FieldPostfix::Name(name.to_owned()));
        }
        if self.eat("[").is_some() {
            self.spaces();
            let index = self.field()?;
            self.spaces();
            self.eat("]")?;
            return Some(FieldPostfix::Index(index));
        }
        self.eat("(")?;
        self.spaces();
        let arguments = self.attempt(|parser| parser.several(Self::field)).unwrap_or_default();
        self.spaces();
        self.eat(")")?;
        Some(FieldPostfix::Call(arguments))
    }

    fn atom(&mut self) -> Option<FieldSyntax> {
        let literal = |literal: FieldLiteral| Some(FieldSyntax::Literal(literal));
        let embed = self.attempt(|parser| {
            parser.eat("!")?;
            let mut link = parser.link()?;
            link.embed = true;
            Some(link)
        });
        if let Some(link) = embed.or_else(|| self.link()) {
            return literal(FieldLiteral::Link(link));
        }
        let not = |parser: &mut Self| {
            parser.eat("!")?;
            parser.postfix()
        };
        if let Some(field) = self.attempt(|parser| parser.deeper(not)) {
            return Some(FieldSyntax::Not(Box::new(field)));
        }
        for form in [Self::list, Self::object, Self::lambda, Self::parens] {
            if let Some(field) = self.attempt(form) {
                return Some(field);
            }
        }
        if let Some(value) = self.boolean() {
            return literal(FieldLiteral::Boolean(value));
        }
        if let Some(number) = self.number() {
            return literal(FieldLiteral::Number(number));
        }
        if let Some(text) = self.string() {
            return literal(FieldLiteral::Text(text));
        }
        if let Some(date) = self.attempt(Self::date_literal) {
            return literal(date);
        }
        if let Some(duration) = self.attempt(Self::duration_literal) {
            return literal(FieldLiteral::Duration(duration));
        }
        if self.rest().starts_with("null") {
            self.at += "null".len();
            return literal(FieldLiteral::Null);
        }
        self.attempt(|parser| {
            let start = parser.at;
            let name = parser.identifier()?;
            if RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
                parser.at = start;
                return parser.miss("a variable");
            }
            Some(FieldSyntax::Variable(name.to_owned()))
        })
    }

    fn list(&mut self) -> Option<FieldSyntax> {
        self.eat("[")?;
        self.spaces();
        let items = self.attempt(|parser| parser.several(Self::field)).unwrap_or_default();
        self.spaces();
        self.eat("]")?;
        Some(FieldSyntax::List(items))
    }

    fn object(&mut self) -> Option<FieldSyntax> {
        self.eat("{")?;
        self.spaces();
        let entry = |parser: &mut Self| {
            let name = parser.attempt(Self::identifier).map(str::to_owned).or_else(|| parser.string())?;
            parser.spaces();
            parser.eat(":")?;
            parser.spaces();
            Some((name, parser.field()?))
        };
        let entries = self.attempt(|parser| parser.several(entry)).unwrap_or_default();
        self.spaces();
        self.eat("}")?;
        Some(FieldSyntax::Object(entries))
    }

    fn lambda(&mut self) -> Option<FieldSyntax> {
        self.spaces();
        self.eat("(")?;
        self.spaces();
        let parameters = self.attempt(|parser| parser.several(Self::identifier)).unwrap_or_default();
        self.spaces();
        self.eat(")")?;
        self.spaces();
        self.eat("=>")?;
        self.spaces();
        let body = Box::new(self.field()?);
        Some(FieldSyntax::Lambda { parameters: parameters.into_iter().map(str::to_owned).collect(), body })
    }

    fn parens(&mut self) -> Option<FieldSyntax> {
        self.eat("(")?;
        self.spaces();
        let field = self.field()?;
        self.spaces();
        self.eat(")")?;
        Some(field)
    }

    fn identifier(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let step = |text: &str, first: bool| match text.chars().next() {
            Some(c) if is_letter(c) || (!first && (c.is_ascii_digit() || matches!(c, '_' | '-'))) => c.len_utf8(),
            _ => emoji_length(text),
        };
        let mut end = 0;
        loop {
            let next = step(&rest[end..], end == 0);
            if next == 0 {
                break;
            }
            end += next;
        }
        if end == 0 {
            return self.miss("a name");
        }
        self.at += end;
        Some(&rest[..end])
    }
}

const BOOLEAN: [(&str, FieldOperator); 4] =
    [("and", FieldOperator::And), ("or", FieldOperator::Or), ("&", FieldOperator::And), ("|", FieldOperator::Or)];
const COMPARISON: [(&str, FieldOperator); 6] = [
    (">=", FieldOperator::GreaterOrEqual),
    ("<=", FieldOperator::LessOrEqual),
    ("!=", FieldOperator::NotEqual),
    (">", FieldOperator::Greater),
    ("<", FieldOperator::Less),
    ("=", FieldOperator::Equal),
];
const SUM: [(&str, FieldOperator); 2] = [("+", FieldOperator::Add), ("-", FieldOperator::Subtract)];
const PRODUCT: [(&str, FieldOperator); 3] =
    [("*", FieldOperator::Multiply), ("/", FieldOperator::Divide), ("%", FieldOperator::Remainder)];
