//! The engine that searches a pattern.

use std::ops::Range;

use super::{automaton::Automaton, backtracker::Backtracker, literal::LiteralText};

/// Why a search ended before it was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchHalt {
    /// The caller said so.
    Stopped,
    /// The line needs more steps than allowed.
    Undecided,
}

/// What finds the matches.
pub(super) enum PatternEngine {
    Literal(LiteralText),
    Automaton(Automaton),
    Backtracker(Backtracker),
}

impl PatternEngine {
    /// Whether it can find candidate lines by searching many at once.
    pub(super) fn leaps(&self, text: &[u8]) -> bool {
        match self {
            Self::Literal(_) => true,
            Self::Automaton(automaton) => automaton.leaps(text),
            // It reads invalid UTF-8 differently from the automaton that skips for it.
            Self::Backtracker(backtracker) => backtracker.loose().is_some() && str::from_utf8(text).is_ok(),
        }
    }

    /// Whether every line that a skip finds matches.
    pub(super) fn leaps_exactly(&self) -> bool {
        !matches!(self, Self::Backtracker(_))
    }

    /// Whether a carriage return at the end of a line could change where a skip leads.
    pub(super) fn sees_cr(&self) -> bool {
        match self {
            Self::Literal(literal) => literal.sees_cr(),
            Self::Automaton(automaton) => automaton.sees_cr(),
            // Skips are made by the loose automaton, so what it sees counts.
            Self::Backtracker(backtracker) => backtracker.loose().is_none_or(Automaton::sees_cr),
        }
    }

    /// A place in the next line that matches, or may match. The part starts and ends with a line.
    pub(super) fn leap(&self, text: &[u8], part: Range<usize>) -> Option<usize> {
        match self {
            Self::Literal(literal) => literal.find(text, part).map(|span| span.start),
            Self::Automaton(automaton) => automaton.leap(text, part),
            Self::Backtracker(backtracker) => backtracker.loose()?.leap(text, part),
        }
    }

    /// Adds at most `most` matches in one line that do not overlap, in order.
    pub(super) fn find_in_line(
        &self,
        line: &[u8],
        most: usize,
        stop: &dyn Fn() -> bool,
        found: &mut Vec<Range<usize>>,
    ) -> Result<(), SearchHalt> {
        match self {
            Self::Literal(literal) => collect(line, most, stop, found, |at| Ok(literal.find(line, at..line.len()))),
            Self::Automaton(automaton) => {
                collect(line, most, stop, found, |at| Ok(automaton.find(line, at..line.len())))
            }
            Self::Backtracker(backtracker) => {
                let Some(line) = backtracker.readable(line)? else { return Ok(()) };
                collect(line.as_bytes(), most, stop, found, |at| backtracker.find(&line, at, stop))
            }
        }
    }
}

/// Finds one match after the other. An empty match neither splits a character nor touches the match before it.
fn collect(
    line: &[u8],
    most: usize,
    stop: &dyn Fn() -> bool,
    found: &mut Vec<Range<usize>>,
    find: impl Fn(usize) -> Result<Option<Range<usize>>, SearchHalt>,
) -> Result<(), SearchHalt> {
    let most = found.len() + most;
    let (mut at, mut last_end) = (0, None);
    while found.len() < most && at <= line.len() {
        let Some(span) = find(at)? else { break };
        at = span.end;
        // After an empty match the search continues with the next character, or it would never advance.
        if span.is_empty() {
            at += 1;
            while splits_character(line, at) {
                at += 1;
            }
            if last_end == Some(span.end) || splits_character(line, span.start) {
                continue;
            }
        }
        last_end = Some(span.end);
        found.push(span);
        // Checked after each match: a line may have many.
        if found.len() < most && stop() {
            return Err(SearchHalt::Stopped);
        }
    }
    Ok(())
}

pub(super) fn splits_character(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000)
}
