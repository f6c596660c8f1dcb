//! Code blocks and their parts.

use std::ops::Range;

use super::Walk;
use crate::{
    Code, CodeKind,
    parse::mask::visible_parts,
    span::{line_end, line_start, trim},
};

impl Walk<'_, '_, '_> {
    /// What is masked stands in no code. The parser saw blanks there, and may have read on behind them as if the block
    /// had not ended; what it found there is far enough from the margin to be code by itself.
    pub(super) fn code_block(&mut self, fenced: bool, range: Range<usize>) {
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

    fn indented(&mut self, span: Range<usize>) {
        self.note.code.push(Code { content: span.clone(), span, kind: CodeKind::Indented });
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
        self.note.code.push(Code { span, content, kind: CodeKind::Fenced { language } });
    }
}

/// Where the content of a fenced block ends: before its closing fence, if it has one.
fn closing_fence(text: &str, first_end: usize, span: &Range<usize>, opening: &str) -> usize {
    let last = line_start(text, span.end);
    if last <= first_end {
        return span.end;
    }
    let mark = opening.chars().next().unwrap_or('`');
    let length = opening.len() - opening.trim_start_matches(mark).len();
    let fence = text[last..span.end].trim_matches([' ', '\t', '>']);
    let closes = fence.len() >= length && fence.chars().all(|c| c == mark);
    if closes { last } else { span.end }
}
