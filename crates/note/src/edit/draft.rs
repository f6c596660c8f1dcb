//! Pending changes of a document: applied to its text, checked, and only then applied to its bytes.

use std::{cell::OnceCell, ops::Range};

use super::{EditError, EditResult};
use crate::{
    Document, FileContent, LineEnding, Note, NoteStructure, count_steps,
    text::{BOM, ShownText, plain_line_ends},
};

/// New text for a span of the shown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextChange {
    pub(crate) span: Range<usize>,
    /// With plain line endings.
    pub(crate) text: String,
}

impl TextChange {
    pub(crate) fn new(span: Range<usize>, text: impl Into<String>) -> Self {
        let text = text.into();
        let text = if text.contains('\r') { plain_line_ends(&text).into_owned() } else { text };
        Self { span, text }
    }
}

/// An edit that writes one text in many places may grow a file to this, or to twice its size.
const LARGEST: usize = 16 << 20;

/// The shown text of a document with changes applied. Its structure is parsed on demand, and kept if the changes are
/// made.
pub(crate) struct DocumentDraft<'d> {
    before: &'d Document,
    changes: Vec<TextChange>,
    shown: String,
    structure: OnceCell<NoteStructure>,
}

impl DocumentDraft<'_> {
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn note(&self) -> Note<'_> {
        Note::known(&self.shown, self.structure.get_or_init(|| NoteStructure::parse(&self.shown)))
    }

    /// The file with the changes made.
    pub(crate) fn finish(self) -> Result<EditResult, EditError> {
        let Self { before, changes, shown, structure } = self;
        let span = new_span(before.shown(), &changes)?;
        let structure = structure.into_inner();
        let (raw, text) =
            // Without carriage returns, the shown text is the file, and nothing has to be mapped back.
            if before.eol() == LineEnding::Lf { plain(before, shown)? } else { spliced(before, &changes, &shown)? };
        Ok(EditResult { document: Document::with_text(FileContent::from(raw), text, structure), span })
    }
}

/// A file without carriage returns is its shown text, and stays so.
fn plain(before: &Document, shown: String) -> Result<(String, ShownText), EditError> {
    match (before.has_bom(), shown.starts_with(BOM)) {
        (true, _) => Ok((format!("{BOM}{shown}"), ShownText::PLAIN)),
        (false, false) => Ok((shown, ShownText::PLAIN)),
        // It would be taken for a byte order mark.
        (false, true) => Err(EditError::MergedLineEnds),
    }
}

/// The file with each changed span replaced; every other byte is copied unchanged.
fn spliced(before: &Document, changes: &[TextChange], shown: &str) -> Result<(String, ShownText), EditError> {
    let (old_raw, old_shown) = (before.raw(), before.shown());
    let added: usize = changes.iter().map(|change| change.text.len()).sum();
    let mut raw = String::with_capacity(old_raw.len() + added);
    let mut copied = 0;
    for change in changes {
        count_steps(change.text.len() + 1);
        // The common parts of both texts are untouched, so that an unrelated line ending keeps its form.
        let (prefix, suffix) = shared_ends(&old_shown[change.span.clone()], &change.text);
        let part = change.span.start + prefix..change.span.end - suffix;
        let written = before.with_line_ends_of(part.clone(), &change.text[prefix..change.text.len() - suffix]);
        let span = before.file_span(part);
        raw += &old_raw[copied..span.start];
        raw += &written;
        copied = span.end;
    }
    raw += &old_raw[copied..];
    let text = ShownText::of(&raw);
    // A carriage return left before an inserted line feed would be read with it as one line end.
    if text.shown(&raw) == shown { Ok((raw, text)) } else { Err(EditError::MergedLineEnds) }
}

impl Document {
    /// The document with every change made. Changes are in order and do not overlap.
    pub(crate) fn apply(&self, changes: Vec<TextChange>) -> Result<EditResult, EditError> {
        if changes.is_empty() {
            return Ok(self.unchanged());
        }
        self.draft(changes)?.finish()
    }

    /// The document with every change applied to its shown text, to check before deciding.
    pub(crate) fn draft(&self, changes: Vec<TextChange>) -> Result<DocumentDraft<'_>, EditError> {
        match preview(self.shown(), &changes) {
            Some(shown) => Ok(DocumentDraft { before: self, changes, shown, structure: OnceCell::new() }),
            // Both walk over the same changes; this one says which of them is wrong.
            None => Err(new_span(self.shown(), &changes).err().unwrap_or_else(|| self.outside(0..0))),
        }
    }

    /// Changes that write one text in many places, unless that grows a small file too much.
    pub(crate) fn gathered(
        &self,
        changes: impl Iterator<Item = Result<TextChange, EditError>>,
    ) -> Result<Vec<TextChange>, EditError> {
        let limit = LARGEST.max(self.shown().len().saturating_mul(2));
        let (mut gathered, mut bytes) = (Vec::new(), 0_usize);
        for change in changes {
            let change = change?;
            count_steps(change.text.len() + 1);
            bytes = bytes.saturating_add(change.text.len());
            if bytes > limit {
                return Err(EditError::TooLarge { bytes, limit });
            }
            gathered.push(change);
        }
        Ok(gathered)
    }

    /// What an edit leads to that changes nothing.
    pub(crate) fn unchanged(&self) -> EditResult {
        EditResult { document: self.clone(), span: 0..0 }
    }

    /// The error for a span outside the text.
    pub(crate) fn outside(&self, span: Range<usize>) -> EditError {
        EditError::OutsideText { span, length: self.shown().len() }
    }
}

/// A text with every change made.
pub(crate) fn preview(shown: &str, changes: &[TextChange]) -> Option<String> {
    let added: usize = changes.iter().map(|change| change.text.len()).sum();
    let mut edited = String::with_capacity(shown.len() + added);
    let mut copied = 0;
    for change in changes {
        count_steps(change.text.len() + 1);
        edited += shown.get(copied..change.span.start)?;
        edited += &change.text;
        copied = change.span.end;
    }
    edited += shown.get(copied..)?;
    Some(edited)
}

/// The span of the new text in the shown text of the new file, if the changes can be made.
fn new_span(shown: &str, changes: &[TextChange]) -> Result<Range<usize>, EditError> {
    let mut span: Option<Range<usize>> = None;
    let (mut copied, mut length) = (0, 0);
    for change in changes {
        let outside = || EditError::OutsideText { span: change.span.clone(), length: shown.len() };
        length += shown.get(copied..change.span.start).ok_or_else(outside)?.len();
        // Also catches changes that overlap, or that cut a character.
        shown.get(change.span.clone()).ok_or_else(outside)?;
        let start = length;
        length += change.text.len();
        span = Some(span.map_or(start, |span| span.start)..length);
        copied = change.span.end;
    }
    Ok(span.unwrap_or(0..0))
}

/// How many bytes two texts share at the start, and how many more at the end.
pub(crate) fn shared_ends(a: &str, b: &str) -> (usize, usize) {
    let same = |(x, y): &(char, char)| x == y;
    // By characters, so that no cut is within one.
    let prefix: usize = a.chars().zip(b.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = a.chars().rev().zip(b.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    (prefix, suffix)
}
