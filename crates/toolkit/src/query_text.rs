//! Queries that are words: how long they may be, and how they appear in answers.

use lapidary_operation::{Reason, clipped, quote::Prose};

/// Longer input is a text rather than a query.
const LONGEST_QUERY: usize = 2_000;

/// Refuses what is too long for a query: every word of it is searched.
pub fn check_length(tool: &str, query: &str) -> Result<(), Reason> {
    check_words(tool, "query", query, &[])
}

/// The same for a question and other ways to say it, in arguments of these names.
pub fn check_words(tool: &str, argument: &str, text: &str, alternatives: &[String]) -> Result<(), Reason> {
    let too_long = |argument: &str, bytes: usize| {
        let problem = Prose::ours(format_args!("has {bytes} bytes, more than the limit of {LONGEST_QUERY}"));
        Err(Reason::bad_argument(tool, argument, problem))
    };
    // Each counts, also an empty one.
    let others = alternatives.iter().map(|text| text.len() + 1).sum::<usize>();
    match text.len() {
        _ if text.trim().is_empty() => Err(Reason::bad_argument(tool, argument, "must not be empty")),
        bytes if bytes > LONGEST_QUERY => too_long(argument, bytes),
        _ if others > LONGEST_QUERY => too_long("alternatives", others),
        _ => Ok(()),
    }
}

/// The query for an answer, which is not made long by it.
pub fn shown_query(query: &str) -> String {
    if query.len() <= LONGEST_QUERY { query.to_owned() } else { clipped(query) }
}
