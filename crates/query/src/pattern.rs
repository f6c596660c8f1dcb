//! Patterns for a search in the lines of a text.
//!
//! A text consists of lines ended by a line feed; a carriage return before it and a byte order mark before the first
//! line are not part of any. Every match is within one line, `^` and `$` (and `\A` and `\z`) are the ends of a line,
//! and a final line feed does not start another line. Texts are bytes: invalid UTF-8 is searched too.

mod automaton;
mod backtracker;
mod ecmascript;
mod engine;
mod line;
mod lines;
mod literal;
mod nfc;
mod replace;
mod syntax;
#[cfg(test)]
mod tests;
mod word;

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use automaton::Automaton;
use backtracker::Backtracker;
use engine::{PatternEngine, SearchHalt};
use literal::LiteralText;

pub use ecmascript::ExpressionFault;
pub use line::{lines_after, lines_before};
pub use lines::{LineCount, LineMatch, MatchingLines};
pub use replace::{ExpressionFlags, ReplaceError, Replacement, Replacer};

/// Longer patterns are refused before they are parsed, since the time of a search grows with them. A case-sensitive
/// literal takes the same time at any length and is exempt.
const MAX_AUTOMATON_TEXT: usize = 4 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// Literal text.
    Literal,
    /// A regular expression in the most common syntax, that of ECMAScript (see [`Pattern`]).
    Regex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    Sensitive,
    /// By Unicode's simple case folding: `É` finds `é`, `ß` does not find `ss`.
    Insensitive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternOptions {
    pub kind: PatternKind,
    pub case: LetterCase,
    /// A match may have no letter, digit or underscore of any script directly before or after it.
    pub whole_word: bool,
    /// Pattern and texts are compared in Unicode's composed form, so that it does not matter how `é` was typed.
    pub nfc: bool,
}

impl Default for PatternOptions {
    fn default() -> Self {
        Self { kind: PatternKind::Literal, case: LetterCase::Sensitive, whole_word: false, nfc: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("the pattern is empty")]
    Empty,
    #[error("the pattern has {bytes} bytes, more than the limit of {limit}")]
    TooLong { bytes: usize, limit: usize },
    /// `at` is a byte of the pattern, if the error is at one.
    #[error("the pattern is invalid{}: {reason}", at.map(|at| format!(" at byte {at}")).unwrap_or_default())]
    Refused { reason: String, at: Option<usize> },
    #[error("the pattern is too large, it would need more than {limit} bytes of memory")]
    TooLarge { limit: usize },
}

/// A text for which a pattern with lookaround or backreferences could not be decided within its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern needs too many steps on this text")]
pub struct TooManyAttempts;

/// A compiled pattern.
///
/// Regular expressions are parsed as in ECMAScript with the `v` flag off and Unicode on: `\d` is `[0-9]`, `[` in a
/// class and `{` that starts no repetition are literal, `\uD83D\uDE00` is one character, `\cJ` a control character.
/// Those without lookaround and backreferences are searched in linear time. The others are searched with a limit on
/// steps, and a line that exceeds it counts as undecided, never as one without a match.
///
/// Different from ECMAScript: `\w`, `\b` and `\s` cover all scripts; `[]a]` is a class of `]` and `a`; inline flags are
/// `i`, `m` and `s`, where `m` is always on. POSIX classes such as `[[:alpha:]]`, atomic groups and `(?P<name>…)` are
/// supported too.
pub struct Pattern {
    engine: PatternEngine,
    nfc: bool,
}

impl Pattern {
    pub fn compile(text: &str, options: &PatternOptions) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        let text: Cow<'_, str> = if options.nfc { Cow::Owned(text.nfc().collect()) } else { Cow::Borrowed(text) };
        let engine = match options.kind {
            // A line feed never matches within a line, which the automaton knows how to say.
            PatternKind::Literal if options.case == LetterCase::Sensitive && !text.contains('\n') => {
                PatternEngine::Literal(LiteralText::new(&text, options.whole_word))
            }
            _ if text.len() > MAX_AUTOMATON_TEXT => {
                return Err(PatternError::TooLong { bytes: text.len(), limit: MAX_AUTOMATON_TEXT });
            }
            PatternKind::Literal => PatternEngine::Automaton(Automaton::literal(&text, options)?),
            PatternKind::Regex => {
                let regex = syntax::translate(&text)?;
                // Only what needs it, as backtracking has no bound on its time.
                if regex.backtracks {
                    PatternEngine::Backtracker(Backtracker::new(&regex, options)?)
                } else {
                    PatternEngine::Automaton(Automaton::regex(&regex, options)?)
                }
            }
        };
        Ok(Self { engine, nfc: options.nfc })
    }

    /// Whether a regular expression is searched by backtracking: it has lookaround or backreferences, so its time is
    /// not bounded by the length of the text.
    pub fn backtracks(text: &str) -> bool {
        text.len() <= MAX_AUTOMATON_TEXT && syntax::translate(text).is_ok_and(|regex| regex.backtracks)
    }

    /// How many lines of the text match. Stops as soon as `stop` says so, which is checked often enough to react within
    /// milliseconds unless a single line has many megabytes.
    pub fn count_lines(&self, text: &[u8], stop: &dyn Fn() -> bool) -> LineCount {
        LineCount::of(self, text, stop)
    }

    /// The lines of the text that match, in order.
    pub fn lines<'t>(&'t self, text: &'t [u8], stop: &'t dyn Fn() -> bool) -> MatchingLines<'t> {
        MatchingLines::new(self, text, stop)
    }

    /// Whether a short text, such as a name, matches in one of its lines.
    pub fn is_match(&self, text: &str) -> Result<bool, TooManyAttempts> {
        let mut lines = lines::LineWalk::new(self, text.as_bytes(), &|| false);
        let found = lines.next().is_some();
        // An undecided line must not count as one without a match.
        if !found && lines.undecided > 0 { Err(TooManyAttempts) } else { Ok(found) }
    }

    /// Whether the whole text can be searched at once with the same result as line by line.
    fn leaps(&self, text: &[u8]) -> bool {
        let cr_matters = || self.engine.sees_cr() && memchr::memchr(b'\r', text).is_some();
        self.engine.leaps(text) && !cr_matters() && (!self.nfc || nfc::is_nfc(text))
    }

    /// Adds at most `most` matches in one line, as byte columns of the line.
    fn find_in_line(
        &self,
        line: &[u8],
        most: usize,
        stop: &dyn Fn() -> bool,
        found: &mut Vec<std::ops::Range<usize>>,
    ) -> Result<(), SearchHalt> {
        // Nearly every line is composed already.
        if !self.nfc || nfc::is_nfc(line) {
            return self.engine.find_in_line(line, most, stop, found);
        }
        let composed = nfc::ComposedLine::new(line);
        let outcome = self.engine.find_in_line(composed.line(), most, stop, found);
        for span in found.iter_mut() {
            *span = composed.original(span.clone());
        }
        // A character and its marks, matched separately, may be in another order in the text.
        found.dedup_by(|next, before| {
            let overlaps = next.start < before.end;
            if overlaps {
                before.end = before.end.max(next.end);
            }
            overlaps
        });
        outcome
    }
}
