//! Code blocks and their parts.

use std::ops::Range;

use super::{BlockWalk, OpenContainer};
use crate::{
    BlockKind, CodeKind, CodeSpan, ListItem,
    parse::mask::{columns, visible_parts},
    span::{line_end, line_start, trim},
};

impl BlockWalk<'_, '_, '_> {
    /// Masked text is not in code. The parser saw blanks there, and may have continued after them as if the block had
    /// not ended; the text it found there is far enough from the margin to be code by itself.
    pub(super) fn code_block(&mut self, fenced: bool, range: Range<usize>) {
        if !fenced
            && let Some(column) = self.wider_item()
            // With masked text in it, the lines are not those that the parser saw.
            && visible_parts(self.masked, range.clone()).nth(1).is_none()
        {
            return self.code_in_wider_item(range, column);
        }
        let mut parts = visible_parts(self.masked, range);
        let first = parts.next().map(|part| self.trimmed(part));
        match first {
            Some(span) if fenced => self.fenced(span),
            Some(span) => self.indented(span),
            None => {}
        }
        for part in parts {
            let span = trim(self.text, part);
            if !span.is_empty() {
                self.indented(span);
            }
        }
    }

    /// Where the text of the current item starts, if Obsidian lets it start a column later than the parser: the text of
    /// `1. ` starts in the fifth column, unless another line of the item starts before that.
    fn wider_item(&mut self) -> Option<usize> {
        // In other blocks the columns are not those of the line.
        let [OpenContainer::List, OpenContainer::Item(index)] = self.containers[..] else { return None };
        match self.wider {
            Some((asked, answer)) if asked == index => answer,
            _ => {
                let answer = self.note.items.get(index).and_then(|item| wider_column(self.text, item));
                self.wider = Some((index, answer));
                answer
            }
        }
    }

    /// Text that the parser takes for code in the first possible column is a paragraph to Obsidian.
    fn code_in_wider_item(&mut self, range: Range<usize>, column: usize) {
        let text = self.text;
        let mut parts: Vec<(bool, Range<usize>)> = Vec::new();
        let (mut at, mut goes_on) = (line_start(text, range.start), false);
        while at < range.end {
            let end = line_end(text, at).min(range.end);
            let line = trim(text, at..end);
            let is_paragraph = columns(&text.as_bytes()[at..line.start]) < column + 4;
            match parts.last_mut() {
                _ if line.is_empty() => {}
                // A line right after another one continues it; after a blank line, only code continues code.
                Some((last, part)) if goes_on || !(*last || is_paragraph) => part.end = line.end,
                _ => parts.push((is_paragraph, line.start.max(range.start)..line.end)),
            }
            goes_on = !line.is_empty();
            at = end + 1;
        }
        for (is_paragraph, span) in parts {
            if is_paragraph {
                self.run(span.clone());
                self.name(BlockKind::Paragraph, span);
            } else {
                self.indented(span);
            }
        }
    }

    fn indented(&mut self, span: Range<usize>) {
        self.note.code.push(CodeSpan { content: span.clone(), span, kind: CodeKind::Indented });
    }

    fn fenced(&mut self, span: Range<usize>) {
        let text = self.text;
        let first_end = line_end(text, span.start).min(span.end);
        let opening = &text[span.start..first_end];
        let fence = opening.trim_start_matches(['`', '~']);
        let info = trim(text, first_end - fence.len()..first_end);
        let word = text[info.clone()].split_whitespace().next().map_or(0, str::len);
        let language = (word > 0).then(|| info.start..info.start + word);
        let content = (first_end + 1).min(span.end)..closing_fence(text, first_end, &span, opening);
        self.note.code.push(CodeSpan { span, content, kind: CodeKind::Fenced { language } });
    }
}

/// See [`BlockWalk::wider_item`].
fn wider_column(text: &str, item: &ListItem) -> Option<usize> {
    let line = line_start(text, item.marker.start);
    let before = &text[line..item.marker.start];
    let behind = text[item.marker.end..item.whole.end].strip_prefix(' ')?;
    let odd = item.marker.len() == 2 && before.len().is_multiple_of(2) && !behind.starts_with([' ', '\t', '\n']);
    let column = before.len() + 4;
    let reaches = |line: &str| {
        let words = line.trim_start_matches([' ', '\t']);
        words.is_empty() || columns(&line.as_bytes()[..line.len() - words.len()]) >= column
    };
    let fits = before.bytes().all(|byte| byte == b' ') && text[item.whole.clone()].lines().skip(1).all(reaches);
    (odd && fits).then_some(column)
}

/// Where the content of a fenced block ends: before its closing fence, if it has one.
fn closing_fence(text: &str, first_end: usize, span: &Range<usize>, opening: &str) -> usize {
    let last = line_start(text, span.end);
    if last <= first_end {
        return span.end;
    }
    let mark = opening.chars().next().unwrap_or('`');
    let length = opening.len() - opening.trim_start_matches(mark).len();
    // In a quote the closing fence has its marks before it.
    let fence = text[last..span.end].trim_matches([' ', '\t', '>']);
    let closes = fence.len() >= length && fence.chars().all(|c| c == mark);
    if closes { last } else { span.end }
}
