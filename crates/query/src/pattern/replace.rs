//! Finding and replacing over a whole text, as in ECMAScript: `^` and `$` are the ends of the text, and a replacement
//! may refer to the match.

mod expand;
#[cfg(test)]
mod tests;

use std::ops::Range;

use regex_automata::{
    Input,
    meta::{Config, Regex},
    nfa::thompson::WhichCaptures,
};

use super::{
    LetterCase, MAX_AUTOMATON_TEXT, PatternError, PatternKind, PatternOptions,
    automaton::{AnchorEnds, MAX_AUTOMATON_BYTES, MAX_MEMORY_BYTES, build, parse_regex},
    backtracker::{Backtracker, GroupSpans},
    ecmascript::{self, ExpressionFault},
    engine::SearchHalt,
    syntax,
};

/// Longer texts are not searched by backtracking, which may need the square of their length.
const LONGEST_TRIED: usize = 1024 * 1024;

/// More replacements in one note are never intended.
const MOST_MATCHES: usize = 1_000_000;

/// The flags of an ECMAScript expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpressionFlags {
    /// `i`
    pub ignore_case: bool,
    /// `m`: `^` and `$` are also the ends of lines.
    pub multi_line: bool,
    /// `s`: `.` also matches a line ending.
    pub dot_all: bool,
}

/// A pattern for replacing.
pub struct Replacer {
    engine: ReplaceEngine,
    /// Groups that have a name, with their numbers.
    names: Vec<(String, usize)>,
    /// Whether `$` in the new text is special.
    expands: bool,
}

enum ReplaceEngine {
    /// Without lookaround and backreferences: in linear time.
    Automaton(Regex),
    Backtracker(Box<Backtracker>),
}

/// New text for one match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub span: Range<usize>,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplaceError {
    #[error("the search was stopped")]
    Stopped,
    #[error("the pattern needs too many steps on this text")]
    Undecided,
    #[error("the text is too long for an expression with lookaround or backreferences")]
    TooLong,
    #[error("the result would be too large")]
    TooMuch,
}

impl Replacer {
    /// `loose_space` lets white space in a literal match any white space; an expression is unaffected. The composition
    /// option does not apply: a replacement must match the exact text.
    pub fn compile(search: &str, options: &PatternOptions, loose_space: bool) -> Result<Self, PatternError> {
        // An empty text is at every place, which is never what was meant.
        if search.is_empty() {
            return Err(PatternError::Empty);
        }
        if search.len() > MAX_AUTOMATON_TEXT && options.kind == PatternKind::Regex {
            return Err(PatternError::TooLong { bytes: search.len(), limit: MAX_AUTOMATON_TEXT });
        }
        let regex = match options.kind {
            PatternKind::Literal => syntax::literal(search, loose_space)?,
            PatternKind::Regex => syntax::translate_with_groups(search)?,
        };
        Self::of(&regex, options)
    }

    /// An ECMAScript expression with its flags.
    pub fn expression(search: &str, flags: ExpressionFlags) -> Result<Self, PatternError> {
        let ExpressionFlags { ignore_case, multi_line, dot_all } = flags;
        let case = if ignore_case { LetterCase::Insensitive } else { LetterCase::Sensitive };
        let options = PatternOptions { kind: PatternKind::Regex, case, ..PatternOptions::default() };
        if search.is_empty() {
            return Err(PatternError::Empty);
        }
        if search.len() > MAX_AUTOMATON_TEXT {
            return Err(PatternError::TooLong { bytes: search.len(), limit: MAX_AUTOMATON_TEXT });
        }
        let letters = format!("{}{}", if multi_line { "m" } else { "" }, if dot_all { "s" } else { "" });
        Self::of(&syntax::translate_with_groups(search)?.with_flags(&letters), &options)
    }

    /// The same, read exactly as ECMAScript reads it; the fault is in the words of V8.
    pub fn ecmascript(search: &str, flags: ExpressionFlags) -> Result<Self, ExpressionFault> {
        let ExpressionFlags { ignore_case, multi_line, dot_all } = flags;
        let fault = |fault: String| {
            let letters = [(ignore_case, 'i'), (multi_line, 'm'), (dot_all, 's')];
            let flags = letters.into_iter().filter(|(on, _)| *on).map(|(_, letter)| letter).collect();
            ExpressionFault { source_text: search.to_owned(), flags, fault }
        };
        if search.len() > MAX_AUTOMATON_TEXT {
            return Err(fault("Regular expression too large".to_owned()));
        }
        let rewritten = ecmascript::rewrite(search, dot_all).map_err(|words| fault(words.to_owned()))?;
        // An empty expression is refused by the engines, and matches everywhere.
        let rewritten = if rewritten.is_empty() { "(?:)".to_owned() } else { rewritten };
        let case = if ignore_case { LetterCase::Insensitive } else { LetterCase::Sensitive };
        let options = PatternOptions { kind: PatternKind::Regex, case, ..PatternOptions::default() };
        let compile = || {
            let translated = syntax::translate_ascii_words(&rewritten)?;
            Self::of(&translated.with_flags(if multi_line { "m" } else { "" }), &options)
        };
        compile().map_err(|error| fault(error.to_string()))
    }

    fn of(regex: &syntax::TranslatedPattern, options: &PatternOptions) -> Result<Self, PatternError> {
        let (engine, names) = if regex.backtracks {
            let backtracker = Backtracker::new(regex, options)?;
            let names = named(backtracker.group_names());
            (ReplaceEngine::Backtracker(Box::new(backtracker)), names)
        } else {
            let config = Config::new()
                // `$1` in the new text needs the groups.
                .which_captures(WhichCaptures::All)
                .nfa_size_limit(Some(MAX_AUTOMATON_BYTES))
                .hybrid_cache_capacity(MAX_MEMORY_BYTES);
            let regex = build(config, &parse_regex(regex, options, AnchorEnds::OfText)?)?;
            let names = named(regex.group_info().pattern_names(regex_automata::PatternID::ZERO));
            (ReplaceEngine::Automaton(regex), names)
        };
        Ok(Self { engine, names, expands: options.kind == PatternKind::Regex })
    }

    /// The replacements, in order: of every match, or only of the first. `stop` is checked between steps. The new texts
    /// have at most `most` bytes in total.
    pub fn replacements(
        &self,
        text: &str,
        with: &str,
        all: bool,
        most: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Replacement>, ReplaceError> {
        let mut found = Vec::new();
        let (mut at, mut left) = (0, most);
        while at <= text.len() {
            if stop() {
                return Err(ReplaceError::Stopped);
            }
            let Some(groups) = self.find(text, at, stop)? else { break };
            let Some(span) = groups.first().cloned().flatten() else { break };
            // In a literal, `$` is a dollar.
            let new = if self.expands {
                expand::expand(with, text, &groups, &self.names, left)
            } else {
                (with.len() <= left).then(|| with.to_owned())
            };
            let new = new.ok_or(ReplaceError::TooMuch)?;
            left -= new.len();
            // After an empty match the next character is skipped, or it would be found forever.
            at = span.end + if span.is_empty() { text[span.end..].chars().next().map_or(1, char::len_utf8) } else { 0 };
            found.push(Replacement { span, text: new });
            if !all {
                break;
            }
            if found.len() > MOST_MATCHES {
                return Err(ReplaceError::TooMuch);
            }
        }
        Ok(found)
    }

    /// Whether it is found anywhere in a text.
    pub fn is_match(&self, text: &str) -> Result<bool, ReplaceError> {
        match &self.engine {
            // Without groups it is much faster.
            ReplaceEngine::Automaton(regex) => Ok(regex.is_match(text)),
            ReplaceEngine::Backtracker(_) => Ok(self.find(text, 0, &|| false)?.is_some()),
        }
    }

    /// The spans of the next match and its groups, the whole match first; `None` for a group that took no part.
    pub fn find(&self, text: &str, from: usize, stop: &dyn Fn() -> bool) -> Result<Option<GroupSpans>, ReplaceError> {
        match &self.engine {
            ReplaceEngine::Automaton(regex) => {
                let mut groups = regex.create_captures();
                regex.search_captures(&Input::new(text).span(from..text.len()), &mut groups);
                let found = groups.is_match();
                Ok(found.then(|| groups.iter().map(|group| group.map(|group| group.range())).collect()))
            }
            ReplaceEngine::Backtracker(_) if text.len() > LONGEST_TRIED => Err(ReplaceError::TooLong),
            ReplaceEngine::Backtracker(backtracker) => {
                backtracker.find_groups(text, from, stop).map_err(|halt| match halt {
                    SearchHalt::Stopped => ReplaceError::Stopped,
                    SearchHalt::Undecided => ReplaceError::Undecided,
                })
            }
        }
    }
}

fn named<'n>(names: impl Iterator<Item = Option<&'n str>>) -> Vec<(String, usize)> {
    names.enumerate().filter_map(|(number, name)| Some((name?.to_owned(), number))).collect()
}
