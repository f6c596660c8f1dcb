//! Why a query has no answer: it cannot be read, or it was stopped.

use std::fmt;

use thiserror::Error;

/// Why a query was stopped. Errors of single rows are not here: they are values, and the rows are counted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueryHalt {
    #[error("the query takes more than {limit} steps")]
    TooManySteps { limit: u64 },
    #[error("the query holds more than {limit} bytes in memory")]
    TooMuchMemory { limit: u64 },
    #[error("the query was cancelled")]
    Cancelled,
    /// An error that ends the whole query, in the words of the language, and the part of the query that it is in.
    #[error("{message}")]
    Failed { message: String, place: Option<QueryPlace> },
}

impl QueryHalt {
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), place: None }
    }
}

/// Line and column are counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryPlace {
    pub line: usize,
    pub column: usize,
}

impl QueryPlace {
    /// Of an offset in bytes.
    pub fn of(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        // A parser may stop within a character.
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

/// A place in a query that cannot be read. Line and column are counted from 1, the column in characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuerySyntaxError {
    pub line: usize,
    pub column: usize,
    /// What is wrong there, as a sentence without its full stop.
    pub message: String,
    /// What could be there instead.
    pub expected: Vec<String>,
    /// The known name that is most like the one that was written.
    pub nearest: Option<String>,
}

impl QuerySyntaxError {
    /// At a place in a text, in bytes.
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let QueryPlace { line, column } = QueryPlace::of(text, offset);
        Self { line, column, message: message.into(), ..Self::default() }
    }
}

impl fmt::Display for QuerySyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected.join(", "))?;
        }
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean {nearest}?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for QuerySyntaxError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let error = |offset| QuerySyntaxError::at("LIST\nWHÉRE x", offset, "no");
        assert_eq!((error(0).line, error(0).column), (1, 1));
        assert_eq!((error(9).line, error(9).column), (2, 4));
        assert_eq!((error(8).line, error(8).column), (2, 3), "inside a character is before it");
        assert_eq!((error(99).line, error(99).column), (2, 8));
    }
}
