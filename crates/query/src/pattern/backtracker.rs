//! Patterns with lookaround or backreferences, searched within a limit.

use std::{borrow::Cow, ops::Range};

use fancy_regex::{CompileError, Error, Regex, RegexBuilder, RegexInput};

use super::{
    LetterCase, PatternError, PatternOptions,
    automaton::{Automaton, MAX_AUTOMATON_BYTES},
    engine::SearchHalt,
    syntax::TranslatedPattern,
};

/// Up to this length a line is searched in one go. Each step may read the whole line, so the product with the limit on
/// steps bounds the time without interruption: a fraction of a second in the worst case.
const SHORT_LINE: usize = 1024;
const SHORT_LINE_ATTEMPTS: usize = 200_000;

/// Up to this length it is searched place by place; longer lines are not searched at all, since the square of their
/// length may be needed.
const LONGEST_LINE: usize = 32 * 1024;
const ATTEMPTS_AT_ONE_PLACE: usize = 5_000;

/// This many places are tried before `stop` is checked.
const PLACES_BETWEEN_QUESTIONS: usize = 64;

/// Longer programs are refused.
const MAX_INSTRUCTIONS: usize = 50_000;

/// The span of each group of a match, the whole match first; `None` for a group that took no part.
pub(super) type GroupSpans = Vec<Option<Range<usize>>>;

/// Replaces a byte that is not UTF-8: one byte long, and not a letter.
const UNREADABLE: char = '\u{1a}';

/// A pattern with lookaround or backreferences: searched by backtracking, line by line, up to a limit.
pub(super) struct Backtracker {
    short: Regex,
    long: Regex,
    /// Matches wherever the pattern does, and in more places. It excludes most lines without a match much faster.
    loose: Option<Automaton>,
}

impl Backtracker {
    pub(super) fn new(regex: &TranslatedPattern, options: &PatternOptions) -> Result<Self, PatternError> {
        // In its own group, or an alternation would only have one of the two checks.
        const BEFORE_WORD: &str = r"(?<!\w)(?:";
        let (text, skipped) = if options.whole_word {
            (format!(r"{BEFORE_WORD}{})(?!\w)", regex.text), BEFORE_WORD.len())
        } else {
            (regex.text.clone(), 0)
        };
        let build = |attempts: usize| {
            RegexBuilder::new(&text)
                .case_insensitive(options.case == LetterCase::Insensitive)
                .backtrack_limit(attempts)
                .delegate_size_limit(MAX_AUTOMATON_BYTES)
                .max_prog_size(MAX_INSTRUCTIONS)
                .build()
                .map_err(|error| refusal(error, |at| regex.given_place(at.saturating_sub(skipped))))
        };
        // The limit is fixed when compiling, so there is one program for each.
        let (short, long) = (build(SHORT_LINE_ATTEMPTS)?, build(ATTEMPTS_AT_ONE_PLACE)?);
        // It only saves time, so it does not matter why there is none.
        Ok(Self { short, long, loose: Automaton::loose(&regex.loose, options).ok() })
    }

    pub(super) fn loose(&self) -> Option<&Automaton> {
        self.loose.as_ref()
    }

    /// The line as text of the same length, if it may match; a line that is too long is refused.
    pub(super) fn readable<'l>(&self, line: &'l [u8]) -> Result<Option<Cow<'l, str>>, SearchHalt> {
        let line = str::from_utf8(line).map_or_else(|_| Cow::Owned(with_stand_ins(line)), Cow::Borrowed);
        // Before the length is checked: a long line that cannot match is decided.
        if self.loose.as_ref().is_some_and(|loose| loose.find(line.as_bytes(), 0..line.len()).is_none()) {
            Ok(None)
        } else if line.len() > LONGEST_LINE {
            Err(SearchHalt::Undecided)
        } else {
            Ok(Some(line))
        }
    }

    /// The first match at or after a place.
    pub(super) fn find(
        &self,
        line: &str,
        from: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Range<usize>>, SearchHalt> {
        self.search(line, from, stop, find)
    }

    /// The same with its groups, the whole match first.
    pub(super) fn find_groups(
        &self,
        text: &str,
        from: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<GroupSpans>, SearchHalt> {
        self.search(text, from, stop, find_groups)
    }

    /// The groups that have a name, by number.
    pub(super) fn group_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.short.capture_names()
    }

    fn search<T>(
        &self,
        line: &str,
        from: usize,
        stop: &dyn Fn() -> bool,
        find: impl Fn(&Regex, RegexInput<'_, str>) -> Result<Option<T>, SearchHalt>,
    ) -> Result<Option<T>, SearchHalt> {
        if line.len() <= SHORT_LINE {
            return find(&self.short, RegexInput::new(line).from_pos(from));
        }
        // The end is a place too: an empty match may be there.
        let places = line[from..].char_indices().map(|(at, _)| from + at).chain([line.len()]);
        for (tried, place) in places.enumerate() {
            if tried % PLACES_BETWEEN_QUESTIONS == 0 && stop() {
                return Err(SearchHalt::Stopped);
            }
            // Anchored, so that each place has its own limit of steps and `stop` can be asked in between.
            if let Some(found) = find(&self.long, RegexInput::new(line).from_pos(place).anchored(true))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

fn find(regex: &Regex, input: RegexInput<'_, str>) -> Result<Option<Range<usize>>, SearchHalt> {
    // During a search it can only fail by its limits.
    regex.find_input(input).map(|found| found.map(|found| found.range())).map_err(|_| SearchHalt::Undecided)
}

fn find_groups(regex: &Regex, input: RegexInput<'_, str>) -> Result<Option<GroupSpans>, SearchHalt> {
    let found = regex.captures_input(input).map_err(|_| SearchHalt::Undecided)?;
    Ok(found.map(|groups| groups.iter().map(|group| group.map(|group| group.range())).collect()))
}

fn with_stand_ins(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        // One for each byte, so that columns stay the same.
        text.extend(chunk.invalid().iter().map(|_| UNREADABLE));
    }
    text
}

fn refusal(error: Error, given_place: impl Fn(usize) -> usize) -> PatternError {
    let too_large = PatternError::TooLarge { limit: MAX_AUTOMATON_BYTES };
    match error {
        Error::ParseError(at, error) => PatternError::Refused { reason: error.to_string(), at: Some(given_place(at)) },
        Error::CompileError(error) => match *error {
            CompileError::PatternTooComplex => too_large,
            CompileError::InnerError(error) if error.size_limit().is_some() => too_large,
            other => PatternError::Refused { reason: other.to_string(), at: None },
        },
        other => PatternError::Refused { reason: other.to_string(), at: None },
    }
}
