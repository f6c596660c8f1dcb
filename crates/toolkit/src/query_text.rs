//! Queries that are words: how long they may be, and how they appear in answers.

use lapidary_operation::{Reason, clipped, quote::Prose};

/// Longer input is a text rather than a query.
pub const LONGEST_QUERY: usize = 2_000;

/// Refuses what is too long for a query: every word of it is searched.
pub fn check_length(tool: &str, query: &str) -> Result<(), Reason> {
    if query.len() <= LONGEST_QUERY {
        return Ok(());
    }
    let problem = Prose::ours(format_args!("has {} bytes, more than the limit of {LONGEST_QUERY}", query.len()));
    Err(Reason::bad_argument(tool, "query", problem))
}

/// The query for an answer, which is not made long by it.
pub fn shown_query(query: &str) -> String {
    if query.len() <= LONGEST_QUERY { query.to_owned() } else { clipped(query) }
}
