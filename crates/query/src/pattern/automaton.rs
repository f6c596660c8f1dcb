//! Patterns without lookaround, searched in linear time.

use std::ops::Range;

use regex_automata::{
    Input,
    meta::{Config, Regex},
    nfa::thompson::WhichCaptures,
};
use regex_syntax::{
    Error, ParserBuilder,
    hir::{
        Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition,
    },
};

use super::{
    LetterCase, PatternError, PatternOptions, engine::splits_character, syntax::TranslatedPattern, word::is_whole_word,
};

/// Larger automata are refused; `\w{200}` is still allowed.
pub(super) const MAX_AUTOMATON_BYTES: usize = 10 * 1024 * 1024;

/// How much a search may cache of the automaton per thread; with less, long patterns fall back to a slow search.
pub(super) const MAX_MEMORY_BYTES: usize = 8 * 1024 * 1024;

/// Deeper nesting is refused.
const MAX_NESTING: u32 = 100;

/// A pattern without lookaround and backreferences: searched in linear time, over many lines at once.
pub(super) struct Automaton {
    regex: Regex,
    /// Whether each match is checked to be a whole word. Only for literals, which have no shorter or longer match at
    /// the same place; the automaton of a regular expression includes the check.
    checks_word: bool,
    may_be_empty: bool,
    sees_cr: bool,
    sees_words: bool,
}

impl Automaton {
    pub(super) fn literal(text: &str, options: &PatternOptions) -> Result<Self, PatternError> {
        let hir = parse(&regex_syntax::escape(text), options, AnchorEnds::OfLines)?;
        Self::new(hir, options.whole_word)
    }

    pub(super) fn regex(regex: &TranslatedPattern, options: &PatternOptions) -> Result<Self, PatternError> {
        Self::new(parse_regex(regex, options, AnchorEnds::OfLines)?, false)
    }

    /// For a pattern that is matched otherwise, to find where it may match.
    pub(super) fn loose(text: &str, options: &PatternOptions) -> Result<Self, PatternError> {
        Self::new(parse(text, options, AnchorEnds::OfLines)?, false)
    }

    fn new(hir: Hir, checks_word: bool) -> Result<Self, PatternError> {
        let hir = within_line(hir);
        let config = Config::new()
            // Lines may be invalid UTF-8; empty matches within a character are filtered by the callers.
            .utf8_empty(false)
            // Only the span of a match is needed here, and groups would slow the search.
            .which_captures(WhichCaptures::Implicit)
            .nfa_size_limit(Some(MAX_AUTOMATON_BYTES))
            .hybrid_cache_capacity(MAX_MEMORY_BYTES);
        let regex = build(config, &hir)?;
        let may_be_empty = hir.properties().minimum_len().is_none_or(|least| least == 0);
        // An empty match could also be after the carriage return, where the line has already ended.
        let sees_cr = may_be_empty || sees_cr(&hir);
        let sees_words = hir.properties().look_set().contains_word();
        Ok(Self { regex, checks_word, may_be_empty, sees_cr, sees_words })
    }

    pub(super) fn sees_cr(&self) -> bool {
        self.sees_cr
    }

    /// Whether many lines of this text can be searched at once with the same result as one by one.
    pub(super) fn leaps(&self, text: &[u8]) -> bool {
        // To check for a word start it reads the character before, and a line that starts with half a character would
        // let it read into the line before.
        !self.sees_words || str::from_utf8(text).is_ok()
    }

    /// The first match in a part of the text.
    pub(super) fn find(&self, text: &[u8], part: Range<usize>) -> Option<Range<usize>> {
        let mut at = part.start;
        while at <= part.end {
            let found = self.regex.search(&Input::new(text).span(at..part.end))?;
            if !self.checks_word || is_whole_word(text, found.range()) {
                return Some(found.range());
            }
            // A later match may begin within this one.
            at = found.start() + 1;
        }
        None
    }

    /// A place in the next matching line.
    pub(super) fn leap(&self, text: &[u8], part: Range<usize>) -> Option<usize> {
        if !self.checks_word && !self.may_be_empty {
            // The start of a match does not matter here, and finding it costs a second search backwards.
            return self.regex.search_half(&Input::new(text).span(part).earliest(true)).map(|end| end.offset());
        }
        let mut at = part.start;
        loop {
            let found = self.find(text, at..part.end)?;
            // An empty match inside a character is not one, and its line may have no other.
            if !found.is_empty() || !splits_character(text, found.start) {
                return Some(found.start);
            }
            at = found.start + 1;
        }
    }
}

/// What `^` and `$` are the ends of.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum AnchorEnds {
    OfLines,
    OfText,
}

pub(super) fn build(config: Config, hir: &Hir) -> Result<Regex, PatternError> {
    Regex::builder().configure(config).build_from_hir(hir).map_err(|error| {
        if error.size_limit().is_some() {
            PatternError::TooLarge { limit: MAX_AUTOMATON_BYTES }
        } else {
            PatternError::Refused { reason: error.to_string(), at: None }
        }
    })
}

/// A regular expression, between word boundaries if only whole words are wanted.
pub(super) fn parse_regex(
    regex: &TranslatedPattern,
    options: &PatternOptions,
    ends: AnchorEnds,
) -> Result<Hir, PatternError> {
    let hir = parse(&regex.text, options, ends).map_err(|error| match error {
        PatternError::Refused { reason, at } => {
            // The place is that of the translated text, which the caller never saw.
            PatternError::Refused { reason, at: at.map(|at| regex.given_place(at)) }
        }
        other => other,
    })?;
    Ok(if options.whole_word {
        // Half boundaries, so that a match may begin or end with a character that is not of a word.
        Hir::concat(vec![Hir::look(Look::WordStartHalfUnicode), hir, Hir::look(Look::WordEndHalfUnicode)])
    } else {
        hir
    })
}

fn parse(text: &str, options: &PatternOptions, ends: AnchorEnds) -> Result<Hir, PatternError> {
    ParserBuilder::new()
        .nest_limit(MAX_NESTING)
        .multi_line(ends == AnchorEnds::OfLines)
        .case_insensitive(options.case == LetterCase::Insensitive)
        .build()
        .parse(text)
        .map_err(|error| refusal(&error))
}

fn refusal(error: &Error) -> PatternError {
    let (reason, at) = match error {
        Error::Parse(error) => (error.kind().to_string(), Some(error.span().start.offset)),
        Error::Translate(error) => (error.kind().to_string(), Some(error.span().start.offset)),
        other => (other.to_string(), None),
    };
    PatternError::Refused { reason, at }
}

/// The same pattern, unable to match a line feed, with lines for texts and without groups, which are not used.
///
/// A search over many lines then finds the same as a search line by line, and finding a match never takes longer than
/// its line is long.
fn within_line(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        // It can never match within a line.
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        // Each line is its own text, so the ends of the text are those of the line.
        HirKind::Look(Look::Start | Look::StartCRLF) => Hir::look(Look::StartLF),
        HirKind::Look(Look::End | Look::EndCRLF) => Hir::look(Look::EndLF),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            Hir::repetition(Repetition { min, max, greedy, sub: Box::new(within_line(*sub)) })
        }
        HirKind::Capture(Capture { sub, .. }) => within_line(*sub),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(within_line).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(within_line).collect()),
    }
}

/// Whether a carriage return before the line feed could be matched, or hides the end of the line.
fn sees_cr(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\r'),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'\r'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'\r'))
        }
        // For a word, a carriage return is the same as the end of the line.
        HirKind::Look(look) => *look == Look::EndLF,
        HirKind::Repetition(repetition) => sees_cr(&repetition.sub),
        HirKind::Capture(capture) => sees_cr(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(sees_cr),
    }
}
