//! Block comments and block formulas, which no Markdown parser knows. They may contain blank lines and anything that
//! looks like structure, so the parser sees blanks instead.

use std::{borrow::Cow, iter, ops::Range};

use memchr::memmem;
use pulldown_cmark::{Event, Parser, Tag};

use super::options;
use crate::{
    count_steps,
    span::{is_blank_line, line_end, line_start},
};

/// A part of the text that the Markdown parser must not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaskedSpan {
    pub(super) span: Range<usize>,
    pub(super) content: Range<usize>,
    pub(super) kind: MaskedKind,
    /// How many quotes enclose it.
    pub(super) quotes: usize,
    /// A list item starts on the same line.
    in_item: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaskedKind {
    Comment,
    Math,
}

/// How often a note is parsed again because masked text could have looked like the start or end of a code block. Only a
/// hostile note exceeds it, and is then parsed slightly less exactly.
const MAX_PARSES: usize = 8;

/// The body with every block comment and block formula as blanks of the same length, and where they are.
pub(super) fn mask(body: &str) -> (Cow<'_, str>, Vec<MaskedSpan>) {
    let found = regions(body);
    (blank_out(body, &found), found)
}

/// The parts of a span that are not masked, of which it has at least one. It must not start within a mask.
pub(super) fn visible_parts(masked: &[MaskedSpan], span: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    // Regions are in order.
    let first = masked.partition_point(|region| region.span.start < span.start);
    let hidden = masked[first..].iter().take_while(move |region| region.span.start < span.end);
    let starts = iter::once(span.start).chain(hidden.clone().map(move |region| region.span.end.min(span.end)));
    let ends = hidden.map(|region| region.span.start).chain(iter::once(span.end));
    starts.zip(ends).map(|(start, end)| start..end)
}

fn regions(body: &str) -> Vec<MaskedSpan> {
    let mut found: Vec<MaskedSpan> = Vec::new();
    let mut fences = FenceScan::default();
    let mut closed = Vec::new();
    let mut parses = 0;
    let mut stale = true;
    let mut at = 0;
    let mut dangling = UnclosedMark::default();
    while let Some(opener) = next_opener(body, at, &mut dangling) {
        count_steps(opener.at.saturating_sub(at) + 1);
        match fences.state(body, &opener) {
            // Outside of every fence: the opener counts.
            FenceState::None => {}
            FenceState::Open => {
                // Inside a fence it is code.
                at = line_end(body, opener.at);
                continue;
            }
            FenceState::Unsure => {
                // Only the parser can tell. Its result stays valid until masked text could have changed it.
                // Limited, because each parse takes as long as the note is long.
                if stale && parses < MAX_PARSES {
                    closed = closed_blocks(&blank_out(body, &found));
                    parses += 1;
                    stale = false;
                }
                let before = closed.partition_point(|block| block.start <= opener.at);
                if let Some(block) = closed[..before].last().filter(|block| opener.at < block.end) {
                    at = block.end;
                    continue;
                }
            }
        }
        let region = opener.region(body);
        // What is in a mask opens no fence.
        fences.skip(region.span.end);
        at = region.span.end;
        let hidden = &body[region.span.clone()];
        // Masked text that looks like a fence or HTML may have changed what the parser sees after it.
        stale |= hidden.contains("```") || hidden.contains("~~~") || hidden.contains('<');
        found.push(region);
    }
    found
}

/// Whether a place is in a fenced block, as far as the lines at the margin show. It saves a parse of most notes.
#[derive(Default)]
struct FenceScan {
    at: usize,
    open: Option<(u8, usize)>,
    unsure: bool,
}

enum FenceState {
    None,
    Open,
    /// Something before it is in a list or a quote, or is HTML: only the parser knows.
    Unsure,
}

impl FenceScan {
    fn skip(&mut self, to: usize) {
        self.at = self.at.max(to);
    }

    fn state(&mut self, body: &str, opener: &BlockOpener) -> FenceState {
        self.advance(body, opener.at);
        match self.open {
            // Indented far enough, only the parser knows whether it is code.
            _ if self.unsure || opener.may_be_code(body) => FenceState::Unsure,
            Some(_) => FenceState::Open,
            None => FenceState::None,
        }
    }

    fn advance(&mut self, body: &str, to: usize) {
        let bytes = body.as_bytes();
        while !self.unsure && self.at < to {
            let Some(length) = memchr::memchr3(b'`', b'~', b'<', &bytes[self.at..to]) else { break };
            let at = self.at + length;
            let end = line_end(body, at);
            self.line(&bytes[line_start(body, at)..end], at - line_start(body, at));
            // Only the first mark of a line can start it.
            self.at = end;
        }
        self.at = self.at.max(to);
    }

    /// Examines a line whose first mark is at `column`.
    fn line(&mut self, line: &[u8], column: usize) {
        let mark = line[column];
        let run = line[column..].iter().take_while(|byte| **byte == mark).count();
        let rest = &line[column + run..];
        let begins = column == 0 || prefix(&line[..column]).is_some();
        match self.open {
            Some((open, length)) => {
                let at_margin = column < 4 && line[..column].iter().all(|byte| *byte == b' ');
                // As in CommonMark: at least as many marks, and nothing after them.
                if at_margin && mark == open && run >= length && rest.trim_ascii().is_empty() {
                    self.open = None;
                }
            }
            None if !begins => {}
            None if mark == b'<' => self.unsure = true,
            // Backticks in the info string make it inline code.
            None if run < 3 || (mark == b'`' && rest.contains(&b'`')) => {}
            None if column > 0 => self.unsure = true,
            None => self.open = Some((mark, run)),
        }
    }
}

/// A `%%` or `$$` that is alone on its line.
struct BlockOpener {
    at: usize,
    mark: u8,
    length: usize,
    quotes: usize,
    /// Where the content of the list item that starts on the same line starts.
    item: Option<usize>,
}

/// Where a `%%` or `$$` within a line was left open. One at the start of a later line of the same paragraph closes it:
/// Obsidian's two views differ here, and this is what the editor shows; the other reading would hide the rest of the
/// note.
#[derive(Default)]
struct UnclosedMark {
    percent: Option<usize>,
    dollar: Option<usize>,
}

impl UnclosedMark {
    fn of(&mut self, mark: u8) -> &mut Option<usize> {
        if mark == b'%' { &mut self.percent } else { &mut self.dollar }
    }

    /// Counts the pairs of marks of a line that starts with something else, from the first of them on.
    fn pass(&mut self, mark: u8, body: &str, at: usize) {
        let (start, end) = (line_start(body, at), line_end(body, at));
        if !is_prose(&body[start..end]) {
            *self.of(mark) = None;
        } else if memmem::find_iter(&body.as_bytes()[at..end], &[mark; 2]).count() % 2 == 1
            && !self.closes(body, mark, at)
        {
            *self.of(mark) = Some(at);
        }
    }

    /// Whether the mark at `at` closes the open one: only prose may be between the two.
    fn closes(&mut self, body: &str, mark: u8, at: usize) -> bool {
        let Some(open) = self.of(mark).take() else { return false };
        body[open..line_start(body, at)].lines().skip(1).all(is_prose)
    }
}

/// A line that can only be running text of a paragraph, with nothing in it that hides a mark. In case of doubt, a mark
/// at the start of a line opens a block, as the rule says.
fn is_prose(line: &str) -> bool {
    let text = line.trim_start();
    let begins_block = text.is_empty()
        || text.starts_with(['#', '>', '-', '*', '+', '|', '<', '~', '=', '`'])
        || text.starts_with(|first: char| first.is_ascii_digit());
    let hides = text.contains(['`', '\\', '<']) || text.contains("](");
    !begins_block && !hides
}

fn next_opener(body: &str, mut at: usize, dangling: &mut UnclosedMark) -> Option<BlockOpener> {
    let bytes = body.as_bytes();
    loop {
        at += memchr::memchr2(b'%', b'$', bytes.get(at..)?)?;
        let mark = bytes[at];
        let length = bytes[at..].iter().take_while(|byte| **byte == mark).count();
        if length == 1 {
            // Prose, and as common as money and percentages.
            at += 1;
            continue;
        }
        let end = line_end(body, at);
        // Four or more percent signs are a row of them, and a second mark on the line makes it inline.
        if (2..=3).contains(&length)
            && memchr::memchr(mark, &bytes[at + length..end]).is_none()
            && let Some((quotes, item)) = prefix(&bytes[line_start(body, at)..at])
        {
            if !dangling.closes(body, mark, at) {
                return Some(BlockOpener { at, mark, length, quotes, item });
            }
        } else {
            for mark in *b"%$" {
                dangling.pass(mark, body, at);
            }
        }
        // Anything after a first mark on this line does not start the line.
        at = end;
    }
}

/// The quotes and the list item that a line starts with, if nothing else is there.
fn prefix(line: &[u8]) -> Option<(usize, Option<usize>)> {
    let (mut quotes, mut item, mut at) = (0, None, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b' ' | b'\t' => at += 1,
            b'>' => {
                quotes += 1;
                at += 1;
            }
            _ => {
                let digits = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let marker = line.get(at + digits)?;
                let known = if digits == 0 { b"-*+".contains(marker) } else { b".)".contains(marker) };
                let blank = line.get(at + digits + 1).is_some_and(|byte| matches!(byte, b' ' | b'\t'));
                if !known || !blank {
                    return None;
                }
                at += digits + 2;
                item = Some(columns(line));
            }
        }
    }
    Some((quotes, item))
}

/// The width of the start of a line, with tabs to every fourth column.
pub(super) fn columns(line: &[u8]) -> usize {
    line.iter().fold(0, |column, byte| if *byte == b'\t' { column / 4 * 4 + 4 } else { column + 1 })
}

impl BlockOpener {
    /// Far from the margin it may be in indented code.
    fn may_be_code(&self, body: &str) -> bool {
        let prefix = &body[line_start(body, self.at)..self.at];
        prefix.len() >= 4 || prefix.contains('\t')
    }

    /// To the next run of as many marks, otherwise to the end of the enclosing quote or list item, otherwise of the
    /// text.
    fn region(&self, body: &str) -> MaskedSpan {
        let from = self.at + self.length;
        let mark = [self.mark; 3];
        // A closing mark may be in the middle of a line.
        let close = memmem::find(&body.as_bytes()[from..], &mark[..self.length]).map(|length| from + length);
        let limit = self.limit(body, close.unwrap_or(body.len()));
        let kind = if self.mark == b'%' { MaskedKind::Comment } else { MaskedKind::Math };
        let (content, end) = match close.filter(|close| *close < limit) {
            Some(close) => (from..close, close + self.length),
            None => (from..limit, limit),
        };
        MaskedSpan { span: self.at..end, content, kind, quotes: self.quotes, in_item: self.item.is_some() }
    }

    /// Where the quote or list item that starts on the same line ends, not looking further than `wanted`.
    fn limit(&self, body: &str, wanted: usize) -> usize {
        if self.quotes == 0 && self.item.is_none() {
            return body.len();
        }
        let mut at = self.at;
        loop {
            let end = line_end(body, at);
            if end >= wanted || end == body.len() {
                return body.len();
            }
            at = end + 1;
            let line = &body[at..line_end(body, at)];
            let content = line.trim_start_matches([' ', '\t']);
            let indent = columns(&line.as_bytes()[..line.len() - content.len()]);
            // A line that does not begin with `>` ends the quote, and with it the comment.
            let left_quote = self.quotes > 0 && (indent > 3 || !content.starts_with('>'));
            let left_item = self.quotes == 0 && self.item.is_some_and(|item| indent < item) && !content.is_empty();
            if left_quote || left_item {
                return end;
            }
        }
    }
}

/// The code and HTML blocks, in which nothing starts.
fn closed_blocks(body: &str) -> Vec<Range<usize>> {
    // Without any of these, there is nothing to parse for.
    if !["```", "~~~", "    ", "\t", "<"].iter().any(|mark| body.contains(mark)) {
        return Vec::new();
    }
    let block = |(event, range)| matches!(event, Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock)).then_some(range);
    Parser::new_ext(body, options()).into_offset_iter().filter_map(block).collect()
}

fn blank_out<'b>(body: &'b str, regions: &[MaskedSpan]) -> Cow<'b, str> {
    if regions.is_empty() {
        return Cow::Borrowed(body);
    }
    let mut bytes = body.as_bytes().to_vec();
    for region in regions {
        let mut start = region.span.start;
        for (number, line) in body[region.span.clone()].split_inclusive('\n').enumerate() {
            // On the first line the quotes are before the region.
            let kept = if number == 0 { 0 } else { behind_quotes(line.as_bytes(), region.quotes) };
            let end = start + line.len();
            // Blanks stay as they are, so that the columns of what follows do not change.
            for byte in bytes[start + kept..end].iter_mut().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n')) {
                *byte = b' ';
            }
            start = end;
        }
        if region.in_item {
            // An item with only blanks on its line might not be one.
            let end = line_end(body, region.span.start).min(region.span.end);
            bytes[region.span.start..end].fill(b'.');
        }
        // Text after the closing marks starts a paragraph; leading blanks could turn it into code.
        if region.content.end < region.span.end && !is_blank_line(body, region.span.end) {
            let line = line_start(body, region.content.end).max(region.span.start);
            let from = line + behind_quotes(&bytes[line..region.content.end], region.quotes);
            bytes[from..region.span.end].fill(b'.');
        }
    }
    // Whole characters became blanks, so this is still text.
    String::from_utf8(bytes).map_or(Cow::Borrowed(body), Cow::Owned)
}

/// Where a line continues after the marks of its quotes, of which it may have fewer than there are quotes.
fn behind_quotes(line: &[u8], quotes: usize) -> usize {
    let (mut behind, mut found) = (0, 0);
    // Further right, a mark would be indented code.
    let (mut column, mut last) = (0, 3);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b' ' => column += 1,
            b'\t' => column = column / 4 * 4 + 4,
            b'>' if found < quotes && column <= last => {
                column += 1;
                (behind, found, last) = (at + 1, found + 1, column + 4);
            }
            _ => break,
        }
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_comment_and_formula_are_found_where_obsidian_finds_them() {
        for (body, expected) in [
            ("%%\na\n%%\n", vec!["%%\na\n%%"]),
            ("%% a\n\nb %%\n", vec!["%% a\n\nb %%"]),
            ("%% a %%\n", vec![]),
            ("text %%\nb\n%%\n", vec![]),
            ("text %%\nb\n\n%%\nc\n%%\n", vec!["%%\nc\n%%"]),
            ("text %%\n\nb %%\nc\n%%\n", vec![]),
            ("so $$\nx\n$$\n\n$$\ny\n$$\n", vec!["$$\ny\n$$"]),
            ("%%%%\na\n%%%%\n", vec![]),
            ("%%\nunclosed\n\nto the end", vec!["%%\nunclosed\n\nto the end"]),
            ("```\n%%\n```\ntext\n", vec![]),
            ("    %%\n\n%%\na\n%%\n", vec!["%%\na\n%%"]),
            ("<!--\n%%\n-->\n\n%%\nx\n%%\n", vec!["%%\nx\n%%"]),
            ("$$\nx\n\ny\n$$\n", vec!["$$\nx\n\ny\n$$"]),
            ("$$x$$\n", vec![]),
            ("%%\n```\n%%\n\n```\n%%\n```\n", vec!["%%\n```\n%%"]),
            ("> %%\n> a\n> %%\n", vec!["%%\n> a\n> %%"]),
            ("> %%\n> a\n\nb %%\n", vec!["%%\n> a"]),
            ("- %% a\n- b\n", vec!["%% a"]),
            ("- %%\n  a\n  %%\n- b\n", vec!["%%\n  a\n  %%"]),
            ("100% of\n50% off\n", vec![]),
            ("%%\na\n%% b\n$$\nc\n$$\n", vec!["%%\na\n%%", "$$\nc\n$$"]),
        ] {
            let found: Vec<&str> = regions(body).into_iter().map(|region| &body[region.span]).collect();
            assert_eq!(found, expected, "{body:?}");
            assert_eq!(mask(body).0.len(), body.len(), "{body:?}");
        }
    }

    #[test]
    fn masked_text_becomes_blanks_and_keeps_its_quotes() {
        for (body, expected) in [
            ("a\n%%\n# é\n%%\nb", "a\n  \n    \n  \nb"),
            ("> %%\n> # h\n> %%\n", ">   \n>    \n>   \n"),
            ("%%\na\n%% # b", "  \n \n.. # b"),
            ("%%\né石%%a", "  \n.......a"),
            ("- %%\n  x\n  %%\n", "- ..\n   \n    \n"),
            ("> %%\n> x %% b", ">   \n>..... b"),
            ("> > %%\n>\t>>a\n>      > b", "> >   \n>\t>  \n>         "),
            ("> %%\n> ~~~a%%b", ">   \n>.......b"),
            ("> > %%\n> >     x%%b", "> >   \n> >........b"),
        ] {
            assert_eq!(mask(body).0, expected, "{body:?}");
        }
    }
}
