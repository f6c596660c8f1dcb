//! The inline syntax of one paragraph, heading or table cell.
//!
//! Obsidian reads such text from left to right: whatever starts first wins. Parts that a Markdown parser has already
//! found (code, HTML, Markdown links) come as tokens; everything else is found here. Each byte is examined a bounded
//! number of times.

use std::ops::Range;

use memchr::memmem;
use pulldown_cmark::LinkType;

use super::brackets::BracketPairs;
use crate::{
    CodeKind, CodeSpan, Comment, FieldForm, Footnote, FootnoteKind, InlineField, MarkForm, MathSpan, NoteStructure,
    Tag, count_steps,
    fields::line_key,
    span::{line_end, trim},
    tags::{is_space, tag_length},
};

mod link;

/// Something a Markdown parser found in a leaf.
#[derive(Debug)]
pub(super) struct InlineToken {
    pub(super) span: Range<usize>,
    pub(super) kind: TokenKind,
}

#[derive(Debug)]
pub(super) enum TokenKind {
    Code,
    Html,
    Link {
        link_type: LinkType,
        image: bool,
        /// Where the last thing within the brackets ends; the `]` follows.
        inner_end: usize,
    },
}

/// One run of inline text and what is known about it.
pub(super) struct InlineRun<'a> {
    pub(super) span: Range<usize>,
    /// In order of their starts.
    pub(super) tokens: &'a [InlineToken],
    /// Where text starts after an emphasis mark, in order: a tag may start there.
    pub(super) marks: &'a [usize],
    /// Where emphasized text ends, in order, and where it started: a tag in it ends there too, although `_` could be
    /// part of one.
    pub(super) ends: &'a [(usize, usize)],
    /// How many quotes enclose it: that many `>` may start each further line.
    pub(super) quotes: usize,
}

/// Adds the parts of a leaf to a note. The bracket stack is reused: most leaves have a few, and its memory is allocated
/// once.
pub(super) fn scan(text: &str, note: &mut NoteStructure, leaf: &InlineRun<'_>, brackets: &mut BracketPairs) {
    let start = leaf.span.start;
    brackets.clear();
    let mut scan = InlineScan {
        text,
        bytes: &text.as_bytes()[..leaf.span.end],
        leaf,
        at: start,
        border: None,
        token: 0,
        run: start,
        line: start,
        line_field: false,
        link: None,
        comment: None,
        highlight: None,
        brackets,
        none_left: MissingClosers::default(),
        note,
    };
    scan.all();
}

/// Closers that were searched and not found, so that they are not searched again.
#[derive(Default)]
struct MissingClosers {
    comment: bool,
    math: bool,
    display: bool,
}

/// A `==` that may start a highlight.
struct HighlightOpener {
    at: usize,
    /// A tag right after it, which is one only if the highlight is closed.
    tag: Option<usize>,
}

/// A Markdown link whose text is being read.
struct OpenLink {
    /// Where its text ends.
    inner_end: usize,
    end: usize,
}

struct InlineScan<'a, 'n, 't> {
    text: &'t str,
    /// Up to the end of the leaf.
    bytes: &'t [u8],
    leaf: &'a InlineRun<'a>,
    note: &'n mut NoteStructure,
    at: usize,
    /// Where the next token starts, or the current part ends, if known.
    border: Option<usize>,
    /// The next token.
    token: usize,
    /// Where the current run of text started: after the last part that was not text.
    run: usize,
    /// Where the present line began.
    line: usize,
    /// The line already is a field.
    line_field: bool,
    link: Option<OpenLink>,
    /// The position of the `%%` that ends the current comment.
    comment: Option<usize>,
    highlight: Option<HighlightOpener>,
    brackets: &'a mut BracketPairs,
    none_left: MissingClosers,
}

/// Bytes that may start or end something.
const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let bytes = b"\\[]()!#$%=^:\n";
    let mut at = 0;
    while at < bytes.len() {
        stops[bytes[at] as usize] = true;
        at += 1;
    }
    stops
};

impl InlineScan<'_, '_, '_> {
    fn all(&mut self) {
        while self.at < self.bytes.len() {
            // Known until it is reached; finding it again for each byte would be quadratic.
            let stop = match self.border {
                Some(border) if border >= self.at => border,
                _ => self.next_border(),
            };
            let ahead = self.bytes[self.at..stop].iter().position(|byte| STOPS[usize::from(*byte)]);
            count_steps(ahead.unwrap_or(stop - self.at) + 1);
            match ahead {
                Some(length) => {
                    self.at += length;
                    self.stop();
                }
                // Text to the end of the leaf has nothing more to find.
                None if stop == self.bytes.len() => break,
                None => {
                    self.at = stop;
                    self.at_border();
                }
            }
        }
        // The highlight was never closed, so the tag after its mark is text.
        if let Some(HighlightOpener { tag: Some(tag), .. }) = self.highlight.take() {
            self.forget_tags(tag);
        }
    }

    /// Where something starts or ends that no single byte announces.
    fn next_border(&mut self) -> usize {
        // A part that was found here has passed over them.
        while self.leaf.tokens.get(self.token).is_some_and(|token| token.span.start < self.at) {
            self.token += 1;
        }
        if self.link.as_ref().is_some_and(|link| link.inner_end < self.at) {
            self.link = None;
        }
        if self.comment.is_some_and(|end| end < self.at) {
            self.comment = None;
        }
        let token = self.leaf.tokens.get(self.token).map_or(usize::MAX, |token| token.span.start);
        let link = self.link.as_ref().map_or(usize::MAX, |link| link.inner_end);
        let comment = self.comment.unwrap_or(usize::MAX);
        let border = token.min(link).min(comment).min(self.bytes.len());
        self.border = Some(border);
        border
    }

    fn at_border(&mut self) {
        self.border = None;
        if let Some(link) = self.link.take_if(|link| link.inner_end == self.at) {
            return self.jump_lines(link.end);
        }
        if self.comment.take_if(|end| *end == self.at).is_some() {
            return self.jump(self.at + 2);
        }
        // A wikilink may start where a Markdown link does, and wins.
        if STOPS[usize::from(self.bytes[self.at])] {
            self.stop()
        } else if !self.token() {
            self.at += 1
        }
    }

    /// Continues after something that was not text.
    fn jump(&mut self, to: usize) {
        self.at = to;
        self.run = to;
    }

    /// Continues after something that may contain line endings.
    fn jump_lines(&mut self, to: usize) {
        if let Some(newline) = memchr::memrchr(b'\n', &self.bytes[self.at..to.min(self.bytes.len())]) {
            self.begin_line(self.at + newline + 1);
        }
        self.jump(to);
    }

    fn begin_line(&mut self, at: usize) {
        self.line = at;
        self.line_field = false;
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn stop(&mut self) {
        match self.bytes[self.at] {
            // The escaped character is text, and a tag may begin after it.
            b'\\' if self.peek(1).is_some_and(|byte| byte.is_ascii_punctuation()) => self.jump(self.at + 2),
            b'!' => self.bang(),
            b'[' => self.bracket(),
            b']' => self.close_square(),
            b'(' => {
                self.brackets.round.open(self.at, self.line);
                self.at += 1;
            }
            b')' => self.close_round(),
            b'#' => self.tag(),
            b'$' => self.math(),
            b'%' => self.percent(),
            b'=' => self.equals(),
            b'^' if self.peek(1) == Some(b'[') => {
                self.brackets.square.open_footnote(self.at, self.line);
                self.jump(self.at + 2);
            }
            b':' => self.colon(),
            b'\n' => self.newline(),
            _ => self.at += 1,
        }
    }

    /// Takes the token that starts here, if any.
    fn token(&mut self) -> bool {
        let Some(token) = self.leaf.tokens.get(self.token).filter(|token| token.span.start == self.at) else {
            return false;
        };
        self.token += 1;
        self.border = None;
        let span = token.span.clone();
        match token.kind {
            TokenKind::Html => self.jump_lines(span.end),
            TokenKind::Code => {
                let ticks = self.text.as_bytes()[span.clone()].iter().take_while(|byte| **byte == b'`').count();
                // An unclosed span has no closing ticks to take off.
                let content = span.start + ticks..span.end.saturating_sub(ticks).max(span.start + ticks);
                self.note.code.push(CodeSpan { span: span.clone(), content, kind: CodeKind::Span });
                self.jump_lines(span.end);
            }
            TokenKind::Link { link_type, image, inner_end } => self.link(link_type, image, span, inner_end),
        }
        true
    }

    fn bang(&mut self) {
        // The embed is tried first: `![[` is not an image with brackets.
        if self.peek(1) == Some(b'[') && self.peek(2) == Some(b'[') && self.wiki(self.at + 1, true) {
            return;
        }
        if !self.token() {
            self.at += 1;
        }
    }

    fn bracket(&mut self) {
        let taken = match self.peek(1) {
            Some(b'[') => self.wiki(self.at, false),
            Some(b'^') => self.footnote(),
            _ => false,
        };
        if taken || self.token() {
            return;
        }
        self.brackets.square.open(self.at, self.line);
        self.at += 1;
    }

    fn footnote(&mut self) -> bool {
        let from = self.at + 2;
        let ends = |byte: &u8| matches!(byte, b'[' | b']' | b'^' | b' ' | b'\t' | b'\n');
        let Some(length) = self.bytes[from..].iter().position(ends) else { return false };
        if length == 0 || self.bytes[from + length] != b']' {
            return false;
        }
        let span = self.at..from + length + 1;
        let end = span.end;
        let label = Some(from..from + length);
        self.note.footnotes.push(Footnote { kind: FootnoteKind::Reference, span, label, content: None });
        self.jump(end);
        true
    }

    fn close_square(&mut self) {
        let at = self.at;
        self.at += 1;
        let Some(open) = self.brackets.square.close() else { return };
        if open.footnote {
            let content = Some(open.at + 2..at);
            let span = open.at..at + 1;
            self.note.footnotes.push(Footnote { kind: FootnoteKind::Inline, span, label: None, content });
            self.run = self.at;
        } else if let Some(separator) = open.separator.filter(|_| open.line == self.line) {
            self.field(FieldForm::Square, open.at + 1..separator, open.at..at + 1);
        }
    }

    fn close_round(&mut self) {
        let at = self.at;
        self.at += 1;
        let Some(open) = self.brackets.round.close() else { return };
        if let Some(separator) = open.separator.filter(|_| open.line == self.line) {
            self.field(FieldForm::Round, open.at + 1..separator, open.at..at + 1);
        }
    }

    fn field(&mut self, form: FieldForm, key: Range<usize>, span: Range<usize>) {
        let value = trim(self.text, key.end + 2..span.end - 1);
        let key = trim(self.text, key);
        if !key.is_empty() {
            self.note.fields.push(InlineField { span, key, value, form });
        }
    }

    fn tag(&mut self) {
        let at = self.at;
        let mut length = tag_length(&self.text[at + 1..self.bytes.len()]);
        // Ends before the tag cannot cut it.
        let behind = self.leaf.ends.partition_point(|(end, _)| *end <= at);
        let mut within = self.leaf.ends[behind..].iter().take_while(|(end, _)| *end < at + 1 + length);
        // `_` may be part of a tag, but not the one that ends the emphasis around it.
        if let Some((end, _)) = within.find(|(_, start)| *start < at) {
            length = tag_length(&self.text[at + 1..*end]);
        }
        if length == 0 {
            self.at += 1;
            return;
        }
        let before = self.text[self.leaf.span.start..at].chars().next_back();
        let begins = at == self.run || before.is_none_or(is_space) || self.leaf.marks.binary_search(&at).is_ok();
        if !begins {
            // Nothing within the name can start a tag either.
            self.at += 1 + length;
            return;
        }
        let index = self.note.tags.len();
        if let Some(opened) = self.highlight.as_mut().filter(|opened| opened.at + 2 == at) {
            opened.tag = Some(index);
        }
        self.note.tags.push(Tag { span: at..at + 1 + length });
        self.jump(at + 1 + length);
    }

    /// Removes a tag that was right after a `==` that was never closed, and those that touch it.
    fn forget_tags(&mut self, first: usize) {
        let tags = &self.note.tags[first..];
        let touching = tags.windows(2).take_while(|pair| pair[0].span.end == pair[1].span.start).count();
        self.note.tags.drain(first..=first + touching);
    }

    fn math(&mut self) {
        let at = self.at;
        let display = self.peek(1) == Some(b'$');
        let close = if display { self.display_close(at) } else { self.math_close(at) };
        let marks = if display { 2 } else { 1 };
        let Some(close) = close else {
            self.at += marks;
            return;
        };
        let span = at..close + marks;
        self.note.math.push(MathSpan { span, content: at + marks..close, display, form: MarkForm::Inline });
        self.jump_lines(close + marks);
    }

    fn display_close(&mut self, open: usize) -> Option<usize> {
        // Searched once per leaf: a row of `$$` must not cost a search each.
        if self.none_left.display {
            return None;
        }
        // At least one character between the marks.
        let found = self.bytes.get(open + 3..).and_then(|rest| memmem::find(rest, b"$$"));
        self.none_left.display = found.is_none();
        found.map(|length| open + 3 + length)
    }

    /// A single `$` opens before a non-blank and closes after one, and not before a digit: `$5 and $6` is money.
    fn math_close(&mut self, open: usize) -> Option<usize> {
        if self.none_left.math || self.peek(1).is_none_or(|byte| byte.is_ascii_whitespace()) {
            return None;
        }
        let closes = |at: &usize| {
            let before = self.bytes[at - 1];
            let after = self.bytes.get(at + 1);
            !before.is_ascii_whitespace() && before != b'\\' && !after.is_some_and(u8::is_ascii_digit)
        };
        let found = memchr::memchr_iter(b'$', &self.bytes[open + 1..]).map(|at| open + 1 + at).find(closes);
        self.none_left.math = found.is_none();
        found
    }

    fn percent(&mut self) {
        let at = self.at;
        let run = self.bytes[at..].iter().take_while(|byte| **byte == b'%').count();
        // Four and more are a row of percent signs.
        // Within a comment, further marks are its text.
        if !(2..=3).contains(&run) || self.none_left.comment || self.comment.is_some() {
            self.at += run;
            return;
        }
        // At least one character between the marks.
        let found = self.bytes.get(at + 3..).and_then(|rest| memmem::find(rest, b"%%"));
        let Some(end) = found.map(|length| at + 3 + length) else {
            self.none_left.comment = true;
            self.at += run;
            return;
        };
        self.note.comments.push(Comment { span: at..end + 2, content: at + 2..end, form: MarkForm::Inline });
        self.comment = Some(end);
        // The end of the comment is nearer now.
        self.border = None;
        self.jump(at + 2);
    }

    fn equals(&mut self) {
        let at = self.at;
        let run = self.bytes[at..].iter().take_while(|byte| **byte == b'=').count();
        if run != 2 {
            self.at += run;
            return;
        }
        match self.highlight.take() {
            // The second mark closes it; whatever came before stays.
            Some(_) => self.jump(at + 2),
            None => {
                let next = self.text[at + 2..self.bytes.len()].chars().next();
                if next.is_some_and(|c| !is_space(c)) {
                    self.highlight = Some(HighlightOpener { at, tag: None });
                    self.run = at + 2;
                }
                self.at += 2;
            }
        }
    }

    fn colon(&mut self) {
        match (self.peek(1), self.peek(2)) {
            (Some(b'/'), Some(b'/')) => self.bare_url(),
            (Some(b':'), after) => {
                // Three colons do not separate a key from a value.
                if after != Some(b':') {
                    self.separator();
                }
                let run = self.bytes[self.at..].iter().take_while(|byte| **byte == b':').count();
                self.at += run;
            }
            _ => self.at += 1,
        }
    }

    /// A `::` turns the brackets around it, or the line, into a field.
    fn separator(&mut self) {
        let at = self.at;
        // Within the text of a link, `::` is text; a bracket takes it for itself.
        if self.link.is_some() || self.brackets.separate(at, self.line) || self.line_field {
            return;
        }
        // Only the first one of a line can follow a key, so a line is checked once.
        self.line_field = true;
        if let Some(key) = line_key(self.text, self.line..at) {
            let end = line_end(self.text, at).min(self.bytes.len());
            let value = trim(self.text, at + 2..end);
            let span = key.start..value.end.max(at + 2);
            self.note.fields.push(InlineField { span, key, value, form: FieldForm::Line });
        }
    }

    fn newline(&mut self) {
        let mut at = self.at + 1;
        let mut quotes = 0;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b' ' | b'\t' => {}
                // Further `>` are text.
                b'>' if quotes < self.leaf.quotes => quotes += 1,
                _ => break,
            }
            at += 1;
        }
        self.jump(at);
        self.begin_line(at);
    }
}
