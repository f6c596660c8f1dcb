//! A text file that is read and edited: its bytes, the text as callers see it, and the structure of the note in it.
//!
//! Every edit is a method (see [`crate::edit`]) that returns another document. The parse that decided whether an edit
//! may be made is kept in that document, so that no text is parsed twice.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use crate::{
    ContentHash, FileContent, Frontmatter, FrontmatterError, LineEnding, LineRange, NotUtf8, Note, NoteStructure,
    Property, YamlValue,
    text::{BOM, ShownText, plain_line_ends},
};

/// A text file. A clone is the same document, and shares its parse.
///
/// Callers see and send text without a byte order mark and with `\n` line endings ([`Document::shown`]); the file keeps
/// its own. Spans of the shown text map back to exact spans of the file.
#[derive(Clone)]
pub struct Document(Arc<DocumentInner>);

struct DocumentInner {
    content: FileContent,
    text: ShownText,
    structure: OnceLock<NoteStructure>,
}

impl Document {
    pub fn open(content: impl Into<FileContent>) -> Result<Self, NotUtf8> {
        let content = content.into();
        let text = ShownText::of(content.text()?);
        Ok(Self::with_text(content, text, None))
    }

    /// A document whose text, and perhaps its structure, is already known.
    pub(crate) fn with_text(content: FileContent, text: ShownText, structure: Option<NoteStructure>) -> Self {
        let structure = structure.map_or_else(OnceLock::new, OnceLock::from);
        Self(Arc::new(DocumentInner { content, text, structure }))
    }

    pub fn content(&self) -> &FileContent {
        &self.0.content
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.0.content.bytes()
    }

    /// The text of the file, unchanged.
    pub fn raw(&self) -> &str {
        // It was found to be text on opening.
        self.0.content.text().unwrap_or_default()
    }

    /// The text as callers see it: no byte order mark, every line ending a `\n`.
    pub fn shown(&self) -> &str {
        self.0.text.shown(self.raw())
    }

    /// The structure of the note, parsed on first use.
    pub fn note(&self) -> Note<'_> {
        let shown = self.shown();
        Note::known(shown, self.0.structure.get_or_init(|| NoteStructure::parse(shown)))
    }

    /// The note with its properties and tags; the rest of its structure may be missing.
    pub fn tagged(&self) -> Note<'_> {
        let shown = self.shown();
        self.0.structure.get().map_or_else(|| Note::tagged(shown), |known| Note::known(shown, known))
    }

    /// The block of properties, found without parsing the rest of the note.
    pub fn frontmatter(&self) -> Option<Frontmatter> {
        // A note that was parsed already has the answer; finding the block alone is much cheaper than parsing.
        match self.0.structure.get() {
            Some(known) => known.frontmatter.clone(),
            None => Frontmatter::find(self.shown()),
        }
    }

    /// The properties in document order; none if there is no block of them.
    pub fn properties(&self) -> Result<Vec<(String, YamlValue)>, FrontmatterError> {
        match self.0.structure.get() {
            Some(known) => {
                let value = |property: &Property| (property.key.clone(), property.value.to_value());
                known.properties.as_ref().map(|all| all.iter().map(value).collect()).map_err(Clone::clone)
            }
            None => self.frontmatter().map_or(Ok(Vec::new()), |block| block.properties(self.shown())),
        }
    }

    pub fn has_bom(&self) -> bool {
        self.raw().starts_with(BOM)
    }

    pub fn eol(&self) -> LineEnding {
        self.0.text.eol
    }

    /// Lines as editors count them: a final newline does not start another line.
    pub fn line_count(&self) -> usize {
        let shown = self.shown();
        let unended = !shown.is_empty() && !shown.ends_with('\n');
        memchr::memchr_iter(b'\n', shown.as_bytes()).count() + usize::from(unended)
    }

    /// The bytes of the file for a span of the shown text.
    pub fn file_span(&self, shown: Range<usize>) -> Range<usize> {
        self.file_offset(shown.start)..self.file_offset(shown.end)
    }

    fn file_offset(&self, shown: usize) -> usize {
        let bom = if self.has_bom() { BOM.len() } else { 0 };
        // Every folded line end is one byte shorter in the shown text.
        bom + shown + self.0.text.folded_before(shown)
    }

    /// The hash of a part of the file, given as a span of its shown text: a section, a block, the properties, lines.
    ///
    /// It covers the bytes of the file for the span. A part at the start of the text includes the byte order mark, so
    /// that the hash of everything is the hash of the file. `None` if the span is outside the text.
    pub fn hash_of(&self, part: Range<usize>) -> Option<ContentHash> {
        // Outside the text, or in the middle of a character.
        self.shown().get(part.clone())?;
        let from_start = part.start == 0;
        let span = self.file_span(part);
        let span = if from_start { 0 } else { span.start }..span.end;
        // The hash of the whole file is often known already.
        if span == (0..self.bytes().len()) {
            return Some(self.0.content.hash());
        }
        self.bytes().get(span).map(ContentHash::of)
    }

    /// The hash of whole lines with their line endings. Lines beyond the end have the hash of nothing.
    pub fn hash_of_lines(&self, lines: LineRange) -> ContentHash {
        let part = lines.span(self.shown()).ok().and_then(|part| self.hash_of(part));
        part.unwrap_or_else(|| ContentHash::of(b""))
    }

    /// A caller's text with the line endings of this file.
    pub(crate) fn with_own_line_ends(&self, text: &str) -> String {
        let plain = plain_line_ends(text);
        if self.0.text.line_end == "\n" { plain.into_owned() } else { plain.replace('\n', self.0.text.line_end) }
    }

    /// A caller's text as the whole of this file: with its byte order mark and line endings.
    pub fn in_own_form(&self, text: &str) -> FileContent {
        // A caller may send the mark along, and then it is not doubled.
        let bom = if self.has_bom() && !text.starts_with(BOM) { BOM } else { "" };
        format!("{bom}{}", self.with_own_line_ends(text)).into()
    }

    /// A caller's text as the replacement of a part: line by line with the endings of that part, so that a file with
    /// mixed endings stays mixed; further lines get the most common ending.
    pub(crate) fn with_line_ends_of(&self, part: Range<usize>, text: &str) -> String {
        if self.eol() != LineEnding::Mixed {
            return self.with_own_line_ends(text);
        }
        let ends = self.shown()[part.clone()].match_indices('\n').map(|(at, _)| {
            let at = part.start + at;
            &self.raw()[self.file_span(at..at + 1)]
        });
        let mut ends = ends.chain(std::iter::repeat(self.0.text.line_end));
        let plain = plain_line_ends(text);
        let mut lines = plain.split('\n');
        let mut written = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            written += ends.next().unwrap_or_default();
            written += line;
        }
        written
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.0.content == other.0.content
    }
}

impl Eq for Document {}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Document").field(&self.raw()).finish()
    }
}

#[cfg(test)]
mod tests;
