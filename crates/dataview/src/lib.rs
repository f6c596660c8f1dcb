//! The Dataview Query Language, evaluated as the plugin 0.5.68 does, quirks included. Where the plugin is undefined or
//! crashes, rows are in path order and a query ends with its own error.
//!
//! A query is read once ([`DqlQuery::parse`]) and runs over any vault. Rows are lazy: only what a query names is looked
//! up. DataviewJS is another language and is refused by name.

mod answer;
mod bound;
mod cell;
mod compare;
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

use lapidary_query::{QueryContext, QueryHalt, QuerySyntaxError, QueryVault, nearest};

use engine::QueryEngine;

pub use answer::{CalendarEntry, DqlAnswer, DqlResult, DqlTask, ListEntry, TableRow, TaskGrouping};
pub use inline::{DqlExpression, InlineCode, QueryBlock};
pub use markdown::DqlWriter;
pub use tree::{field_tree, query_tree};

/// The function that was probably meant, if a query failed because it calls one that does not exist.
pub fn meant_function(message: &str) -> Option<&'static str> {
    let (_, behind) = message.split_once("Unrecognized function name '")?;
    let (name, _) = behind.split_once('\'')?;
    nearest(name, functions::FunctionName::ALL.iter().copied())
}

/// A query that was read.
pub struct DqlQuery {
    query: parser::ParsedQuery,
}

impl DqlQuery {
    pub fn parse(text: &str) -> Result<Self, QuerySyntaxError> {
        parser::parse_query(text).map(|query| Self { query })
    }

    /// What the query gives in a vault. An error of single rows leaves them out; one of all rows is a halt.
    pub fn run(&self, vault: &dyn QueryVault, context: &QueryContext<'_>) -> Result<DqlAnswer, QueryHalt> {
        run::run(&QueryEngine::new(vault, context), &self.query)
    }
}
