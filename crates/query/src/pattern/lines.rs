//! The matching lines of a text.

use std::ops::Range;

use super::{Pattern, engine::SearchHalt, line};

/// `stop` is checked after this many bytes, which take well under a millisecond.
const BYTES_BETWEEN_QUESTIONS: usize = 128 * 1024;

/// After this many undecided lines, the rest of a text would only cost the same again.
const MAX_UNDECIDED: usize = 16;

/// This many matches of a line are shown; more in a long line would cost time without use.
const MAX_SPANS: usize = 256;

/// In longer lines only the first match is located: each further one may cost a pass over the whole line.
const LONG_LINE: usize = 64 * 1024;

/// How many lines of a text match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCount {
    pub lines: usize,
    /// Lines that the pattern could not decide. If there are any, `lines` may be too small: they and, after a few of
    /// them, the rest of the text were not searched.
    pub undecided: usize,
    /// The caller stopped the count; `lines` is the number found until then.
    pub stopped: bool,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMatch {
    /// From 1.
    pub number: usize,
    /// The bytes of the text without the line ending.
    pub span: Range<usize>,
    /// The matches, as byte columns of the line, in order and without overlap; at least one.
    pub matches: Vec<Range<usize>>,
    /// There are or may be further matches in this line.
    pub more: bool,
}

impl LineCount {
    pub(super) fn of(pattern: &Pattern, text: &[u8], stop: &dyn Fn() -> bool) -> Self {
        let mut walk = LineWalk::new(pattern, text, stop);
        let lines = walk.by_ref().count();
        Self { lines, undecided: walk.undecided, stopped: walk.stopped }
    }
}

/// The matching lines of a text. When exhausted it knows whether it saw all of the text.
pub struct MatchingLines<'t> {
    walk: LineWalk<'t>,
    /// Up to where line feeds were counted, and how many.
    counted: usize,
    feeds: usize,
}

impl<'t> MatchingLines<'t> {
    pub(super) fn new(pattern: &'t Pattern, text: &'t [u8], stop: &'t dyn Fn() -> bool) -> Self {
        Self { walk: LineWalk::new(pattern, text, stop), counted: 0, feeds: 0 }
    }

    /// Undecided lines so far.
    pub fn undecided(&self) -> usize {
        self.walk.undecided
    }

    /// The caller stopped it.
    pub fn stopped(&self) -> bool {
        self.walk.stopped
    }
}

impl Iterator for MatchingLines<'_> {
    type Item = LineMatch;

    fn next(&mut self) -> Option<LineMatch> {
        let line = self.walk.next()?;
        let LineWalk { pattern, body, stop, .. } = self.walk;
        let most = if line.len() > LONG_LINE { 1 } else { MAX_SPANS };
        let mut matches = Vec::new();
        let outcome = pattern.find_in_line(&body[line.clone()], most, stop, &mut matches);
        if outcome == Err(SearchHalt::Stopped) {
            self.walk.stopped = true;
            self.walk.at = body.len();
            return None;
        }
        // Only up to the lines that are shown: counting is a good part of the cost of a fast search.
        self.feeds += memchr::memchr_iter(b'\n', &body[self.counted..line.start]).count();
        self.counted = line.start;
        Some(LineMatch {
            number: self.feeds + 1,
            span: line.start + self.walk.skipped..line.end + self.walk.skipped,
            // Undecided after the first match: the line is shown all the same.
            more: outcome.is_err() || matches.len() == most,
            matches,
        })
    }
}

/// Goes from one matching line to the next, by skips if the pattern and the text allow it.
pub(super) struct LineWalk<'t> {
    pattern: &'t Pattern,
    /// The text without its byte order mark.
    body: &'t [u8],
    /// How long the mark was.
    skipped: usize,
    stop: &'t dyn Fn() -> bool,
    leaps: bool,
    /// Where the next line starts.
    at: usize,
    /// Up to where `stop` need not be checked again; a line ends here.
    asked: Option<usize>,
    pub(super) undecided: usize,
    stopped: bool,
}

impl<'t> LineWalk<'t> {
    pub(super) fn new(pattern: &'t Pattern, text: &'t [u8], stop: &'t dyn Fn() -> bool) -> Self {
        let skipped = line::body_start(text);
        let body = &text[skipped..];
        let leaps = pattern.leaps(body);
        Self { pattern, body, skipped, stop, leaps, at: 0, asked: None, undecided: 0, stopped: false }
    }

    fn end(&mut self, stopped: bool) -> Option<Range<usize>> {
        self.at = self.body.len();
        self.stopped = stopped;
        None
    }

    /// The end of a part that may be searched before `stop` is checked again.
    fn part_end(&mut self) -> Option<usize> {
        match self.asked {
            Some(end) if self.at <= end => Some(end),
            _ if (self.stop)() => None,
            _ => {
                // Up to a line's end, so that a skip never sees half a line.
                let end = line::line_feed(self.body, (self.at + BYTES_BETWEEN_QUESTIONS).min(self.body.len()));
                self.asked = Some(end);
                Some(end)
            }
        }
    }

    fn take_line(&mut self, start: usize, feed: usize) -> Range<usize> {
        self.at = feed + 1;
        line::content(self.body, start, feed)
    }

    fn leap(&mut self, part_end: usize) -> Option<Range<usize>> {
        let hit = self.pattern.engine.leap(self.body, self.at..part_end);
        // After a final line feed there is no line, although an empty match may be found there.
        let Some(hit) = hit.filter(|hit| *hit < self.body.len() || !self.body.ends_with(b"\n")) else {
            self.at = part_end + 1;
            return None;
        };
        // No further back than the line that the search began with.
        let start = line::line_start(self.body, self.at, hit);
        Some(self.take_line(start, line::line_feed(self.body, hit)))
    }

    /// The next candidate line.
    fn candidate(&mut self, part_end: usize) -> Option<Range<usize>> {
        if self.leaps {
            self.leap(part_end)
        } else {
            Some(self.take_line(self.at, line::line_feed(self.body, self.at)))
        }
    }

    fn is_match(&self, line: Range<usize>) -> Result<bool, SearchHalt> {
        let exact = self.pattern.engine.leaps_exactly();
        // The skip has already found a match in this line.
        if exact && self.leaps {
            return Ok(true);
        }
        // Steps may take long, so `stop` is checked for every line.
        if !exact && (self.stop)() {
            return Err(SearchHalt::Stopped);
        }
        let mut found = Vec::new();
        self.pattern.find_in_line(&self.body[line], 1, self.stop, &mut found)?;
        Ok(!found.is_empty())
    }
}

impl Iterator for LineWalk<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while self.at < self.body.len() {
            let Some(part_end) = self.part_end() else { return self.end(true) };
            let Some(line) = self.candidate(part_end) else { continue };
            match self.is_match(line.clone()) {
                Ok(true) => return Some(line),
                Ok(false) => {}
                Err(SearchHalt::Stopped) => return self.end(true),
                Err(SearchHalt::Undecided) => {
                    self.undecided += 1;
                    // Reported as undecided, not as stopped: asking again would not help.
                    if self.undecided == MAX_UNDECIDED {
                        return self.end(false);
                    }
                }
            }
        }
        None
    }
}
