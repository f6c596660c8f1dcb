//! Queries and expressions as they were written. Chains of operators and of `.name`, `[index]` and `(call)` are flat, so
//! that no text makes them deeper than its brackets.

use lapidary_query::{DateValue, DurationValue, LinkValue};

/// What a query shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum QueryHeader {
    Table { shows_id: bool, columns: Vec<NamedField> },
    List { shows_id: bool, format: Option<FieldSyntax> },
    Task,
    Calendar { date: NamedField },
}

/// An expression and the name of what it gives: the alias, or the text of the expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedField {
    pub(super) name: String,
    pub(super) field: FieldSyntax,
}

/// A step of a query, with the text it was written in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueryClause {
    pub(super) text: String,
    /// Where it begins in the query, in bytes.
    pub(super) at: usize,
    pub(super) kind: ClauseKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClauseKind {
    /// A source that is not the first clause: it is read, and refused when it is run.
    From(SourceSyntax),
    Where(FieldSyntax),
    Sort(Vec<SortKey>),
    Limit(FieldSyntax),
    GroupBy(NamedField),
    Flatten(NamedField),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SortKey {
    pub(super) field: FieldSyntax,
    pub(super) descending: bool,
}

/// Where rows come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SourceSyntax {
    Folder(String),
    Tag(String),
    Csv(String),
    Link {
        path: String,
        incoming: bool,
    },
    Not(Box<SourceSyntax>),
    /// From left to right, without precedence.
    Chain(Box<SourceSyntax>, Vec<(SourceJoin, SourceSyntax)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceJoin {
    And,
    Or,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldSyntax {
    Literal(FieldLiteral),
    Variable(String),
    Not(Box<FieldSyntax>),
    /// Operators of one level, from left to right.
    Chain(Box<FieldSyntax>, Vec<(FieldOperator, FieldSyntax)>),
    List(Vec<FieldSyntax>),
    Object(Vec<(String, FieldSyntax)>),
    Lambda {
        parameters: Vec<String>,
        body: Box<FieldSyntax>,
    },
    Postfix(Box<FieldSyntax>, Vec<FieldPostfix>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldPostfix {
    Name(String),
    Index(FieldSyntax),
    Call(Vec<FieldSyntax>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldLiteral {
    Null,
    Boolean(bool),
    Number(f64),
    Text(String),
    Date(DateValue),
    Shorthand(DateShorthand),
    Duration(DurationValue),
    Link(LinkValue),
}

/// Dates that depend on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateShorthand {
    Now,
    Today,
    Yesterday,
    Tomorrow,
    StartOfWeek,
    EndOfWeek,
    StartOfMonth,
    EndOfMonth,
    StartOfYear,
    EndOfYear,
}

impl DateShorthand {
    /// Longer words first, because the first that fits is taken.
    pub(super) const WORDS: [(&'static str, Self); 16] = [
        ("start-of-month", Self::StartOfMonth),
        ("start-of-week", Self::StartOfWeek),
        ("start-of-year", Self::StartOfYear),
        ("end-of-month", Self::EndOfMonth),
        ("end-of-week", Self::EndOfWeek),
        ("end-of-year", Self::EndOfYear),
        ("yesterday", Self::Yesterday),
        ("tomorrow", Self::Tomorrow),
        ("today", Self::Today),
        ("now", Self::Now),
        ("sow", Self::StartOfWeek),
        ("eow", Self::EndOfWeek),
        ("soy", Self::StartOfYear),
        ("eoy", Self::EndOfYear),
        ("som", Self::StartOfMonth),
        ("eom", Self::EndOfMonth),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

impl FieldOperator {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::And => "&",
            Self::Or => "|",
        }
    }
}
