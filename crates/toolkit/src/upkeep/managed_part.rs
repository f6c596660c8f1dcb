//! The part of a note that the server writes: the lines between two marks, which Obsidian does not show.

use std::ops::Range;

use lapidary_note::{Document, EditError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    Index,
    Log,
}

impl PartKind {
    fn start(self) -> &'static str {
        match self {
            Self::Index => "%% lapidary:index %%",
            Self::Log => "%% lapidary:log %%",
        }
    }
}

const END: &str = "%% lapidary:end %%";

/// A note with such a part.
pub(super) struct ManagedPart {
    document: Document,
    /// The lines between the marks, in the shown text.
    pub(super) lines: Range<usize>,
    /// The marks were only added now.
    pub(super) is_new: bool,
}

impl ManagedPart {
    /// The part of a note; marks are added at its end if it has none. Nothing if only one of them is there: then it is
    /// not known what belongs to it.
    pub(super) fn find_or_add(document: Option<&Document>, kind: PartKind) -> Result<Option<Self>, EditError> {
        let empty = || format!("{}\n{END}\n", kind.start());
        let Some(document) = document else {
            let Ok(document) = Document::open(empty()) else { return Ok(None) };
            return Ok(Self::of(document, kind, true));
        };
        let shown = document.shown();
        if marks(document, kind.start()).next().is_some() {
            return Ok(Self::of(document.clone(), kind, false));
        }
        let gap = match () {
            () if shown.is_empty() || shown.ends_with("\n\n") => "",
            () if shown.ends_with('\n') => "\n",
            () => "\n\n",
        };
        let marked = document.insert_at(shown.len(), &format!("{gap}{}", empty()))?.document;
        Ok(Self::of(marked, kind, true))
    }

    fn of(document: Document, kind: PartKind, is_new: bool) -> Option<Self> {
        let start = marks(&document, kind.start()).next()?.end;
        let end = marks(&document, END).find(|mark| mark.start >= start)?.start;
        Some(Self { document, lines: start..end, is_new })
    }

    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    pub(super) fn body(&self) -> &str {
        &self.document.shown()[self.lines.clone()]
    }

    /// The note with other lines in it, each with a line feed.
    pub(super) fn with_body(&self, body: &str) -> Result<Document, EditError> {
        // What stays at the start and the end is not written again.
        let old = self.body();
        let same_start: usize =
            lines(old).zip(lines(body)).take_while(|(old, new)| old == new).map(|(line, _)| line.len()).sum();
        let (old_rest, new_rest) = (&old[same_start..], &body[same_start..]);
        let span = self.lines.start + same_start..self.lines.start + same_start + old_rest.len();
        Ok(self.document.replace_ranges([(span, new_rest.to_owned())])?.document)
    }
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

/// The whole lines that are this mark, outside of code.
fn marks<'d>(document: &'d Document, mark: &'d str) -> impl Iterator<Item = Range<usize>> + 'd {
    let note = document.note();
    let code: Vec<Range<usize>> = note.code.iter().map(|code| code.span.clone()).collect();
    let mut at = 0;
    let spans = lines(document.shown()).map(move |line| {
        at += line.len();
        (at - line.len()..at, line)
    });
    spans
        .filter(move |(span, line)| line.trim() == mark && !code.iter().any(|code| code.contains(&span.start)))
        .map(|(span, _)| span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_line(text: &str, line: &str) -> Option<String> {
        let document = Document::open(text.to_owned()).unwrap();
        let part = ManagedPart::find_or_add(Some(&document), PartKind::Log).unwrap()?;
        let edited = part.with_body(&format!("{}{line}\n", part.body())).unwrap();
        Some(edited.raw().to_owned())
    }

    #[test]
    fn only_the_lines_between_the_marks_change() {
        let (start, end) = ("%% lapidary:log %%", "%% lapidary:end %%");
        for (before, after) in [
            (String::new(), format!("{start}\n- x\n{end}\n")),
            ("text".to_owned(), format!("text\n\n{start}\n- x\n{end}\n")),
            ("text\n".to_owned(), format!("text\n\n{start}\n- x\n{end}\n")),
            (format!("# Log\n{start}\n- a\n{end}\nafter\n"), format!("# Log\n{start}\n- a\n- x\n{end}\nafter\n")),
            (format!("{start}\r\n- a\r\n{end}\r\nafter"), format!("{start}\r\n- a\r\n- x\r\n{end}\r\nafter")),
            (
                format!("\u{feff}```\n{start}\n```\n{start}\n{end}\n"),
                format!("\u{feff}```\n{start}\n```\n{start}\n- x\n{end}\n"),
            ),
        ] {
            assert_eq!(with_line(&before, "- x").as_ref(), Some(&after), "{before:?}");
        }
        // Where the part ends is not known, so nothing is written.
        assert_eq!(with_line(&format!("{start}\n- a\n"), "- x"), None);
    }
}
