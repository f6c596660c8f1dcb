//! Notes in which assistants remember: one for each subject, with dated entries. People edit them too, so everything
//! that is written there counts, not only what was saved by a tool.

use std::ops::Range;

use jiff::civil::Date;
use lapidary_note::{Document, Note};
use lapidary_operation::{Context, Reason, bug};
use lapidary_vault::VaultPath;

/// Something that is remembered.
#[derive(Debug, PartialEq, Eq)]
pub struct MemoryEntry {
    /// Of its first line, from 1.
    pub line: usize,
    /// The day it was saved, if it says so.
    pub date: Option<Date>,
    /// In one line, without the date and the marker of its item.
    pub text: String,
    /// Where it is in the shown text.
    pub span: Range<usize>,
}

/// The folder of memories. Its tools are off while there is none.
pub fn folder<'c>(context: &Context<'c>) -> Result<&'c VaultPath, Reason> {
    context.memory.ok_or_else(|| bug!("a memory tool is on without a folder"))
}

/// The entry for a text, as an item of a list: lines after the first belong to the item.
pub fn item(date: Date, text: &str) -> String {
    let mut lines = text.trim().lines().map(str::trim_end);
    let mut item = format!("- {date}: {}", lines.next().unwrap_or_default());
    for line in lines {
        // A blank line needs no indentation, and most editors would remove it.
        item += if line.is_empty() { "\n" } else { "\n  " };
        item += line;
    }
    item
}

/// All entries of a note, in order: the outer items of its lists, and its paragraphs.
pub fn entries(document: &Document) -> Vec<MemoryEntry> {
    let note = document.note();
    let outer = note.items.iter().filter(|item| item.depth == 0);
    let items: Vec<(Range<usize>, usize)> = outer.map(|item| (item.whole.clone(), item.marker.end)).collect();
    let mut found: Vec<MemoryEntry> = Vec::new();
    let mut rest = items.iter().peekable();
    let mut paragraph: Option<(usize, Range<usize>)> = None;
    let (mut at, mut line) = (0, 1);
    for text in note.text.split_inclusive('\n') {
        let span = at..at + text.trim_end_matches('\n').len();
        // Items and other text do not overlap, so one look at the next item is enough.
        while rest.next_if(|(whole, _)| whole.end < span.start).is_some() {}
        let item = rest.peek().filter(|(whole, _)| whole.start < span.end.max(span.start + 1));
        match item {
            Some((whole, content)) => {
                close(&note, &mut paragraph, &mut found);
                // Only on its first line; the others belong to it.
                if span.contains(&whole.start) || whole.start == span.start {
                    found.extend(entry(&note, line, whole.clone(), *content));
                }
            }
            None if is_prose(&note, &span) => match &mut paragraph {
                Some((_, paragraph)) => paragraph.end = span.end,
                None => paragraph = Some((line, span.clone())),
            },
            None => close(&note, &mut paragraph, &mut found),
        }
        at += text.len();
        line += 1;
    }
    close(&note, &mut paragraph, &mut found);
    found
}

/// Whether a line is text, rather than blank, a heading or part of the properties.
fn is_prose(note: &Note<'_>, line: &Range<usize>) -> bool {
    let is_property = note.frontmatter.as_ref().is_some_and(|frontmatter| line.start < frontmatter.span.end);
    let heading = note.headings.partition_point(|heading| heading.span.start < line.start);
    let is_heading = note.headings.get(heading).is_some_and(|heading| heading.span.start <= line.end)
        && !note.text[line.clone()].trim().is_empty()
        || heading > 0 && note.headings[heading - 1].span.end > line.start;
    !is_property && !is_heading && !note.text[line.clone()].trim().is_empty()
}

fn close(note: &Note<'_>, paragraph: &mut Option<(usize, Range<usize>)>, found: &mut Vec<MemoryEntry>) {
    if let Some((line, span)) = paragraph.take() {
        found.extend(entry(note, line, span.clone(), span.start));
    }
}

fn entry(note: &Note<'_>, line: usize, span: Range<usize>, content: usize) -> Option<MemoryEntry> {
    let text = note.text[content..span.end].trim_start();
    let (date, text) = dated(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(MemoryEntry { line, date, text, span })
}

/// The date at the start of a text, and what follows it.
fn dated(text: &str) -> (Option<Date>, &str) {
    const LENGTH: usize = "2026-11-18".len();
    let date = text.get(..LENGTH).and_then(|date| date.parse().ok());
    match date {
        Some(date) => (Some(date), text[LENGTH..].trim_start_matches([':', ' ', '–', '-'])),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, Option<String>, String)> {
        let document = Document::open(text.to_owned()).unwrap();
        let shown = |entry: MemoryEntry| (entry.line, entry.date.map(|date| date.to_string()), entry.text);
        entries(&document).into_iter().map(shown).collect()
    }

    fn expected(line: usize, date: &str, text: &str) -> (usize, Option<String>, String) {
        (line, (!date.is_empty()).then(|| date.to_owned()), text.to_owned())
    }

    #[test]
    fn items_and_paragraphs_are_entries() {
        assert_eq!(
            found(
                "---\na: 1\n---\n# Anna\n\nLikes\nslate.\n\n- 2026-11-18: Tea, no\n  sugar\n  - green\n- plain\n\nEnd"
            ),
            [
                expected(6, "", "Likes slate."),
                expected(9, "2026-11-18", "Tea, no sugar - green"),
                expected(12, "", "plain"),
                expected(14, "", "End"),
            ]
        );
        assert_eq!(found(""), []);
        assert_eq!(found("# Only a heading\n"), []);
        assert_eq!(found("Setext\n===\ntext"), [expected(3, "", "text")]);
    }

    #[test]
    fn an_item_is_read_as_it_was_saved() {
        let date = jiff::civil::date(2026, 11, 18);
        let saved = item(date, "One line\nand another\n\nafter a gap ");
        assert_eq!(saved, "- 2026-11-18: One line\n  and another\n\n  after a gap");
        assert_eq!(found(&saved), [expected(1, "2026-11-18", "One line and another after a gap")]);
    }

    #[test]
    fn impossible_dates_are_text() {
        assert_eq!(found("- 2026-13-40: x\n"), [expected(1, "", "2026-13-40: x")]);
    }
}
