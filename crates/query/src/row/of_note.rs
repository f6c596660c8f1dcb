//! The list items and inline fields of a parsed note, as rows have them.

use std::borrow::Cow;

use lapidary_note::{LineTable, ListItem, Note};

use super::{FoundField, RowItem, TextPosition, item_fields, line_fields};

/// An inline field of a note: [`super::RowField`] with its own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteField {
    pub key: String,
    pub value: String,
    pub line: usize,
    pub item: Option<usize>,
    pub of_task: bool,
}

/// Every list item, in document order.
pub fn note_items<'n>(note: &Note<'n>, lines: &LineTable) -> Vec<RowItem<'n>> {
    let units = Utf16Places::of(note.text, lines);
    let mut items: Vec<RowItem<'n>> = Vec::with_capacity(note.items.len());
    let mut last_root: Option<(usize, char, Option<usize>)> = None;
    for item in &note.items {
        // If a tab precedes the marker, the item starts before it.
        let span = item.marker.start..content_end(note.text, lines, item).max(item.marker.end);
        let list_line = match item.parent {
            Some(parent) => items.get(parent).and_then(|parent| parent.list_line),
            None => {
                let list_line = list_line(note.text, lines, item, last_root);
                last_root = Some((item.whole.end, bullet(note.text, item), list_line));
                list_line
            }
        };
        // An empty item still has a place.
        let (start, end) = (units.position(span.start), units.position(span.end.max(span.start + 1)));
        let last_line = lines.last_line(span.end.max(span.start + 1));
        let marker = &note.text[item.marker.clone()];
        let status = item.task.and_then(|task| note.tasks.get(task)).map(|task| task.status);
        items.push(RowItem {
            line: start.line,
            line_count: last_line + 1 - start.line,
            depth: item.depth,
            parent: item.parent,
            marker,
            status,
            text: item_text(&note.text[span.clone()], marker),
            list_line,
            span,
            start,
            end,
        });
    }
    items
}

/// Where the content of an item ends. If it is in a quote, lines that have nothing but marks of the quote are behind it.
fn content_end(text: &str, lines: &LineTable, item: &ListItem) -> usize {
    let mut content = &text[item.span.clone()];
    if text[lines.line_start(item.marker.start)..item.marker.start].contains('>') {
        let is_mark = |c: char| matches!(c, '>' | ' ' | '\t' | '\r');
        while let Some((before, _)) = content.rsplit_once('\n').filter(|(_, last)| last.chars().all(is_mark)) {
            content = before;
        }
    }
    item.span.start + content.len()
}

/// The last character of the marker, which distinguishes adjacent lists.
fn bullet(text: &str, item: &ListItem) -> char {
    text[item.marker.clone()].chars().next_back().unwrap_or_default()
}

/// The line where the list of an outermost item starts, if the one before it ends here with this bullet.
fn list_line(
    text: &str,
    lines: &LineTable,
    item: &ListItem,
    before: Option<(usize, char, Option<usize>)>,
) -> Option<usize> {
    let start = item.marker.start;
    // Obsidian has sections only at the top level: a list in a quote is not one.
    if !text[lines.line_start(start)..start].trim().is_empty() {
        return None;
    }
    // Another marker begins another list.
    let continued = before.filter(|(end, marker, _)| {
        *marker == bullet(text, item) && text.get(*end..start).is_some_and(|between| between.trim().is_empty())
    });
    continued.and_then(|(.., line)| line).or_else(|| Some(lines.line(start)))
}

/// As Dataview cuts it out: without anything that looks like a box, which may be the text of a link with one letter.
fn item_text<'n>(written: &'n str, marker: &str) -> Cow<'n, str> {
    let first = written.strip_prefix(marker).unwrap_or(written).trim_start();
    let text = without_box(first).unwrap_or(first).trim();
    if text.contains('\n') {
        return Cow::Owned(text.lines().map(str::trim).collect::<Vec<_>>().join("\n"));
    }
    Cow::Borrowed(text)
}

/// What follows `[x]` or `[]` at the start of a text.
fn without_box(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('[')?;
    let mut characters = inside.chars();
    let filled = characters.next().filter(|c| *c != '\n').and_then(|_| characters.as_str().strip_prefix(']'));
    filled.or_else(|| inside.strip_prefix(']'))
}

/// Every inline field, in the order of their lines.
pub fn note_fields(note: &Note<'_>, items: &[RowItem<'_>]) -> Vec<NoteField> {
    let mut found = fields_of_items(note, items);
    found.extend(fields_of_lines(note));
    // Stable: fields of one line stay in their order.
    found.sort_by_key(|field| field.line);
    found
}

fn field(line: usize, item: Option<(usize, bool)>, field: &FoundField<'_>) -> NoteField {
    let (key, value) = (field.key.to_owned(), field.value.to_owned());
    NoteField { key, value, line, item: item.map(|(item, _)| item), of_task: item.is_some_and(|(_, is_task)| is_task) }
}

fn fields_of_items(note: &Note<'_>, items: &[RowItem<'_>]) -> Vec<NoteField> {
    let mut fields = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let written = &note.text[item.span.clone()];
        // Fields are rare, and most items are not worth a copy.
        // Fields of tasks may be emoji, which are not ASCII.
        if !written.contains("::") && written.is_ascii() {
            continue;
        }
        let of_item = item.text.replace('\n', " ");
        let is_task = item.status.is_some();
        let of_item = item_fields(&of_item, is_task);
        fields.extend(of_item.iter().map(|found| field(item.line, Some((number, is_task)), found)));
    }
    fields
}

/// Those of all lines outside lists, including code and frontmatter, as Dataview does.
fn fields_of_lines(note: &Note<'_>) -> Vec<NoteField> {
    if !note.text.contains("::") {
        return Vec::new();
    }
    let mut lists = note.items.iter().filter(|item| item.parent.is_none()).map(|item| item.whole.clone()).peekable();
    let (mut fields, mut start) = (Vec::new(), 0);
    for (number, line) in (1..).zip(note.text.split('\n')) {
        let end = start + line.len();
        // Both are in order, so each list is passed once.
        while lists.next_if(|list| list.end <= start).is_some() {}
        let in_list = lists.peek().is_some_and(|list| list.start < end.max(start + 1));
        if !in_list {
            fields.extend(line_fields(line).iter().map(|found| field(number, None, found)));
        }
        start = end + 1;
    }
    fields
}

/// Maps places to UTF-16 units, as Obsidian counts.
struct Utf16Places<'t> {
    text: &'t str,
    lines: &'t LineTable,
    /// Where each line starts; empty if every character is one unit and one byte.
    line_starts: Option<Vec<usize>>,
}

impl<'t> Utf16Places<'t> {
    fn of(text: &'t str, lines: &'t LineTable) -> Self {
        let line_starts = (!text.is_ascii()).then(|| {
            let mut at = 0;
            let starts = text.split_inclusive('\n').map(|line| {
                at += units(line);
                at
            });
            [0].into_iter().chain(starts).collect()
        });
        Self { text, lines, line_starts }
    }

    fn position(&self, at: usize) -> TextPosition {
        let at = at.min(self.text.len());
        // A place at a line ending is still on that line.
        let (line, line_start) = (self.lines.line(at), self.lines.line_start(at));
        match &self.line_starts {
            None => TextPosition { line, column: at - line_start, offset: at },
            Some(starts) => {
                let column = units(self.text.get(line_start..at).unwrap_or_default());
                let line_start = starts.get(line - 1).copied().unwrap_or_default();
                TextPosition { line, column, offset: line_start + column }
            }
        }
    }
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<RowItem<'_>> {
        note_items(&Note::parse(text), &LineTable::of(text))
    }

    #[test]
    fn items_of_one_list_know_where_it_begins() {
        let text = "- a\n  - b\n\n- c\n* d\n\ntext\n\n* e\n> - q\n> - r\n\n1. f\n2. g\n";
        let found: Vec<_> = items(text).into_iter().map(|item| (item.text.into_owned(), item.list_line)).collect();
        let expected = [
            ("a", Some(1)),
            ("b", Some(1)),
            ("c", Some(1)),
            ("d", Some(5)),
            ("e", Some(9)),
            ("q", None),
            ("r", None),
            ("f", Some(13)),
            ("g", Some(13)),
        ];
        assert_eq!(found, expected.map(|(text, line)| (text.to_owned(), line)));
    }

    #[test]
    fn an_item_in_a_quote_ends_before_empty_lines_of_the_quote() {
        let text = "> - [ ] a\n>\n> > b\n\n> - c\n>   d\n> >\n\n- > e\n  >\n- f >\n";
        let found: Vec<_> = items(text).into_iter().map(|item| (item.text.into_owned(), item.line_count)).collect();
        let expected = [("a", 1), ("c\n>   d", 2), ("> e\n>", 2), ("f >", 1)];
        assert_eq!(found, expected.map(|(text, lines)| (text.to_owned(), lines)));
    }

    #[test]
    fn places_are_counted_like_obsidian() {
        let text = "é😀\n- [x] ü\n  z\n";
        let item = &items(text)[0];
        assert_eq!((&*item.text, item.line, item.line_count), ("ü\nz", 2, 2));
        assert_eq!(item.start, TextPosition { line: 2, column: 0, offset: 4 });
        assert_eq!(item.end, TextPosition { line: 3, column: 3, offset: 15 });
    }

    #[test]
    fn an_item_has_its_heading_and_its_name() {
        let text = "- a\n# One\n- b ^id\n";
        let note = Note::parse(text);
        let items = note_items(&note, &LineTable::of(text));
        let headings = [super::super::RowHeading { level: 1, line: 2, text: "One" }];
        let blocks = [super::super::RowBlock { id: "id", line: 3 }];
        assert_eq!(
            items.iter().map(|item| item.section(&headings).map(|found| found.text)).collect::<Vec<_>>(),
            [None, Some("One")]
        );
        assert_eq!(items.iter().map(|item| item.block_id(&blocks)).collect::<Vec<_>>(), [None, Some("id")]);
    }
}
