//! The Dataview Query Language, evaluated as the plugin 0.5.68 does, quirks included. Where the plugin is undefined or
//! crashes, rows are in path order and a query ends with its own error.
//!
//! A query is read once ([`DqlQuery::parse`]) and runs over any vault. Rows are lazy: only what a query names is looked
//! up. DataviewJS is another language and is refused by name.

mod answer;
mod bound;
mod cell;
mod compare;
mod empty_result;
mod engine;
mod evaluate;
mod file_fields;
mod functions;
mod inline;
mod items;
mod letters;
mod links;
mod markdown;
mod operators;
mod page;
mod parser;
mod record;
mod run;
mod script_text;
mod sources;
mod syntax;
mod tasks;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use lapidary_query::{QueryContext, QueryHalt, QueryPlace, QuerySyntaxError, QueryVault, nearest};

use engine::QueryEngine;

pub use answer::{CalendarEntry, DqlAnswer, DqlResult, DqlTask, ListEntry, TableRow, TaskGrouping};
pub use inline::{DqlExpression, InlineCode, QueryBlock};
pub use markdown::DqlWriter;
pub use tree::{field_tree, query_tree};

const UNKNOWN_FUNCTION: &str = "Unrecognized function name '";
const UNFIT_ARGUMENTS: &str = "No implementation of '";

/// What is in quotes behind some words of a message.
fn name_behind<'m>(message: &'m str, words: &str) -> Option<&'m str> {
    let (_, behind) = message.split_once(words)?;
    behind.split_once('\'').map(|(name, _)| name)
}

/// The function that was probably meant, if a query failed because it calls one that does not exist.
pub fn meant_function(message: &str) -> Option<&'static str> {
    nearest(name_behind(message, UNKNOWN_FUNCTION)?, functions::FunctionName::ALL.iter().copied())
}

/// Where a function that a message names is called, in the part of a query that begins at `from`.
fn call_place(text: &str, from: usize, message: &str) -> Option<usize> {
    let name = name_behind(message, UNKNOWN_FUNCTION).or_else(|| name_behind(message, UNFIT_ARGUMENTS))?;
    let part = text.get(from..)?;
    let is_call = |at: &usize| {
        let before = part[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"'))
            && part[at + name.len()..].starts_with('(')
    };
    part.match_indices(name).map(|(at, _)| at).find(is_call).map(|at| from + at)
}

/// A query that was read.
pub struct DqlQuery {
    text: String,
    query: parser::ParsedQuery,
}

impl DqlQuery {
    pub fn parse(text: &str) -> Result<Self, QuerySyntaxError> {
        parser::parse_query(text).map(|query| Self { text: text.to_owned(), query })
    }

    /// Names in the query that no note has, for a result without rows: perhaps one is misspelt.
    pub fn unknown_names(&self, vault: &dyn QueryVault, context: &QueryContext<'_>) -> Result<Vec<String>, QueryHalt> {
        empty_result::unknown_names(&self.query, vault, context)
    }

    /// Columns that are empty because of a typing error, as hints.
    pub fn mistyped_columns(
        &self,
        vault: &dyn QueryVault,
        context: &QueryContext<'_>,
    ) -> Result<Vec<String>, QueryHalt> {
        empty_result::mistyped_columns(&self.query, vault, context)
    }

    /// What the query gives in a vault. An error of single rows leaves them out; one of all rows is a halt.
    pub fn run(&self, vault: &dyn QueryVault, context: &QueryContext<'_>) -> Result<DqlAnswer, QueryHalt> {
        let mut at = 0;
        run::run(&QueryEngine::new(vault, context), &self.query, &mut at).map_err(|halt| match halt {
            QueryHalt::Failed { message, place: None } => {
                let at = call_place(&self.text, at, &message).unwrap_or(at);
                QueryHalt::Failed { message, place: Some(QueryPlace::of(&self.text, at)) }
            }
            halt => halt,
        })
    }
}
