//! JsonLogic: rules in JSON over data in JSON, with the coercions of JavaScript as in json-logic-js, and two operators of
//! Obsidian's Local REST API, `glob` and `regexp`, which take the pattern first.

mod coerce;
mod evaluate;
mod reads;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, btree_map::Entry};

use lapidary_note::quoted;
use serde_json::Value as Json;

use crate::{PatternError, PatternKind, PatternOptions, Replacer, Row, Value, nearest};
use reads::RuleReads;

pub use coerce::is_truthy;
pub use coerce::text_to_number;

/// Deeper rules are refused; people nest a handful of levels.
const MAX_DEPTH: usize = 64;
/// Longer rules too, counted in values of all kinds.
const MAX_VALUES: usize = 10_000;

const REGEXP: &str = "regexp";
/// All operators that a rule may use.
pub const LOGIC_OPERATORS: [&str; 37] = [
    "==",
    "===",
    "!=",
    "!==",
    ">",
    ">=",
    "<",
    "<=",
    "!!",
    "!",
    "%",
    "log",
    "in",
    "cat",
    "substr",
    "+",
    "*",
    "-",
    "/",
    "min",
    "max",
    "merge",
    "var",
    "missing",
    "missing_some",
    "if",
    "?:",
    "and",
    "or",
    "filter",
    "map",
    "reduce",
    "all",
    "none",
    "some",
    "glob",
    REGEXP,
];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogicError {
    #[error("there is no operator {}{}", quoted(.name), nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    UnknownOperator { name: String, nearest: Option<&'static str> },
    #[error(
        "a rule is an object with one operator, like {{\"==\": [{{\"var\": \"frontmatter.status\"}}, \"open\"]}}, and an object \
         with {entries} entries is none; several conditions are joined by `and`"
    )]
    NoRule { entries: usize },
    #[error("the rule is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    #[error("the rule has more than {MAX_VALUES} values")]
    TooLong,
    #[error("{}: {problem}", quoted(.pattern))]
    Pattern { pattern: String, problem: PatternError },
}

/// Why a rule was not finished.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogicHalt {
    #[error("the rule takes too many steps or produces too much data")]
    TooMuch,
    #[error("a pattern needs too many steps")]
    Undecided,
    /// A pattern that the rule itself has built.
    #[error("{}: {problem}", quoted(.pattern))]
    Pattern { pattern: String, problem: PatternError },
}

/// A checked rule.
pub struct Logic {
    rule: Value,
    /// Patterns that are literals in the rule.
    patterns: BTreeMap<(LogicOperator, String), Replacer>,
    reads: RuleReads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LogicOperator {
    Glob,
    Regexp,
}

impl Logic {
    pub fn parse(rule: &Json) -> Result<Self, LogicError> {
        let rule = Value::from(rule);
        let mut parser = LogicParser { values: 0, patterns: BTreeMap::new(), reads: RuleReads::default() };
        // An empty rule would be data, and true for every note.
        if let Value::Object(entries) = &rule
            && entries.is_empty()
        {
            return Err(LogicError::NoRule { entries: 0 });
        }
        expect_rule(&rule)?;
        parser.look_through(&rule, 0, true)?;
        let LogicParser { patterns, reads, .. } = parser;
        Ok(Self { rule, patterns, reads })
    }

    /// Whether the rule may read a top-level field of the data.
    pub fn reads(&self, field: &str) -> bool {
        self.reads.has(field)
    }

    /// Whether the rule may read part of a top-level field: `status` of `frontmatter`.
    pub fn reads_part(&self, field: &str, part: &str) -> bool {
        self.reads.has_part(field, part)
    }

    /// The result of the rule for the data.
    pub fn apply(&self, data: &Value) -> Result<Value, LogicHalt> {
        evaluate::apply(self, data)
    }

    /// The result of the rule for a note, of which it sees `path`, `content`, `frontmatter`, `tags`, `stat`, `links`,
    /// `unresolvedLinks` and `backlinks`.
    pub fn apply_to(&self, row: &dyn Row) -> Result<Value, LogicHalt> {
        self.apply(&rows::data(self, row))
    }
}

struct LogicParser {
    values: usize,
    patterns: BTreeMap<(LogicOperator, String), Replacer>,
    reads: RuleReads,
}

impl LogicParser {
    /// `outer` while `var` refers to the data itself and not to an element of some list.
    fn look_through(&mut self, rule: &Value, depth: usize, outer: bool) -> Result<(), LogicError> {
        // Counted before descending, so that the limits also bound the work of this check.
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(LogicError::TooLong);
        }
        if depth > MAX_DEPTH {
            return Err(LogicError::TooDeep);
        }
        match rule {
            Value::List(items) => items.iter().try_for_each(|item| self.look_through(item, depth + 1, outer)),
            Value::Object(entries) => match (entries.len(), entries.iter().next()) {
                (1, Some((operator, arguments))) => self.operation(operator, arguments, depth, outer),
                // Anything but one entry is data.
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn operation(&mut self, operator: &str, given: &Value, depth: usize, outer: bool) -> Result<(), LogicError> {
        if !LOGIC_OPERATORS.contains(&operator) {
            return Err(LogicError::UnknownOperator {
                name: operator.chars().take(50).collect(),
                nearest: nearest(operator, LOGIC_OPERATORS),
            });
        }
        let arguments = arguments(given);
        match (operator, arguments.first()) {
            // Within a list's rule, a name is that of an element and says nothing about the note.
            ("var" | "missing" | "missing_some", _) if outer => self.reads.add(arguments),
            ("glob", Some(Value::Text(pattern))) => self.pattern(LogicOperator::Glob, pattern)?,
            (REGEXP, Some(Value::Text(pattern))) => self.pattern(LogicOperator::Regexp, pattern)?,
            _ => {}
        }
        let scoped = matches!(operator, "filter" | "map" | "reduce" | "all" | "none" | "some");
        // As a condition, data would be true for every note.
        let asked: &[Value] = match operator {
            "and" | "or" | "!" | "!!" | "if" | "?:" => arguments,
            "filter" | "all" | "none" | "some" => arguments.get(1..).unwrap_or_default(),
            _ => &[],
        };
        asked.iter().try_for_each(expect_rule)?;
        arguments
            .iter()
            .enumerate()
            .try_for_each(|(at, argument)| self.look_through(argument, depth + 1, outer && !(scoped && at == 1)))
    }

    fn pattern(&mut self, kind: LogicOperator, pattern: &str) -> Result<(), LogicError> {
        // Compiled once here, as the rule is applied to every note.
        if let Entry::Vacant(place) = self.patterns.entry((kind, pattern.to_owned())) {
            let refused = |problem| LogicError::Pattern { pattern: pattern.chars().take(100).collect(), problem };
            place.insert(compile(kind, pattern).map_err(refused)?);
        }
        Ok(())
    }
}

/// An object in the place of a rule must have exactly one operator.
fn expect_rule(rule: &Value) -> Result<(), LogicError> {
    match rule {
        Value::Object(entries) if entries.len() > 1 => Err(LogicError::NoRule { entries: entries.len() }),
        _ => Ok(()),
    }
}

/// A single argument may be given without a list.
fn arguments(given: &Value) -> &[Value] {
    match given {
        Value::List(arguments) => arguments,
        one => std::slice::from_ref(one),
    }
}

/// A glob matches a whole text: `*` matches anything on one line, including slashes, `?` one character, and `{a,b}`
/// either; nothing else is special.
fn compile(kind: LogicOperator, pattern: &str) -> Result<Replacer, PatternError> {
    let options = PatternOptions { kind: PatternKind::Regex, ..PatternOptions::default() };
    match kind {
        // JavaScript accepts it, and it matches everything; the engine refuses it.
        LogicOperator::Regexp if pattern.is_empty() => Replacer::compile("(?:)", &options, false),
        LogicOperator::Regexp => Replacer::compile(pattern, &options, false),
        // Anchored, because a glob describes the whole text.
        LogicOperator::Glob => Replacer::compile(&format!("^{}$", glob_expression(pattern)), &options, false),
    }
}

fn glob_expression(pattern: &str) -> String {
    let mut expression = String::new();
    let mut open = 0_usize;
    for (at, c) in pattern.char_indices() {
        match c {
            '*' => expression += ".*",
            '?' => expression.push('.'),
            // An unclosed brace is literal.
            '{' if pattern[at..].matches('}').count() > open => {
                open += 1;
                expression += "(?:";
            }
            '}' if open > 0 => {
                open -= 1;
                expression.push(')');
            }
            ',' if open > 0 => expression.push('|'),
            c => regex_syntax::escape_into(c.encode_utf8(&mut [0; 4]), &mut expression),
        }
    }
    expression
}
