//! Placeholders in the words of paragraphs, wherever an office program has divided them.

use std::ops::Range;

use crate::{body::TOO_LONG, cells::CellValue, xml::escaped};

use super::{
    KnownValues, TemplateFault,
    xml_edit::{TextEdits, TokenKind, XmlToken, characters, end_of, tokens, with_attribute},
};

/// How many placeholders without a value an answer names, and how long each may be.
const MOST_NAMED: usize = 30;
const LONGEST_NAME: usize = 100;
/// Copies of a row.
const MOST_COPIES: usize = 100_000;

/// A piece of text in a paragraph.
struct TextPiece {
    /// The tag in front of it.
    tag: Range<usize>,
    inner: Range<usize>,
    text: String,
}

/// A paragraph, without the paragraphs of text boxes in it.
pub(super) struct FoundParagraph {
    pub(super) span: Range<usize>,
    /// Its first token.
    pub(super) start: usize,
    pieces: Vec<TextPiece>,
}

impl FoundParagraph {
    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Whether its element has this prefix in the part.
    pub(super) fn has_prefix(&self, xml: &str, prefix: &str) -> bool {
        xml[self.span.start..].strip_prefix('<').is_some_and(|tag| tag.starts_with(prefix))
    }

    /// Whether it has nothing but this placeholder.
    pub(super) fn is_only(&self, name: &str) -> bool {
        let text = self.text();
        let text = text.trim();
        places(text).as_slice() == [(0..text.len(), name)]
    }
}

/// All paragraphs, in the order of their ends.
pub(super) fn paragraphs(xml: &str, all: &[XmlToken<'_>]) -> Result<Vec<FoundParagraph>, TemplateFault> {
    let (mut found, mut open) = (Vec::new(), Vec::<FoundParagraph>::new());
    let mut piece: Option<TextPiece> = None;
    for (number, token) in all.iter().enumerate() {
        match token.kind {
            TokenKind::Start if token.is("p") => {
                // A text box is a paragraph with paragraphs in it, so several may be open.
                open.push(FoundParagraph { span: token.span.clone(), start: number, pieces: Vec::new() });
            }
            TokenKind::End if token.is("p") => {
                if let Some(mut paragraph) = open.pop() {
                    paragraph.span.end = token.span.end;
                    found.push(paragraph);
                }
            }
            TokenKind::Start if token.is("t") => {
                piece = Some(TextPiece {
                    tag: token.span.clone(),
                    inner: token.span.end..token.span.end,
                    text: String::new(),
                });
            }
            TokenKind::End if token.is("t") => {
                // The innermost paragraph that is open has the text.
                if let (Some(mut piece), Some(paragraph)) = (piece.take(), open.last_mut()) {
                    piece.inner.end = token.span.start;
                    paragraph.pieces.push(piece);
                }
            }
            TokenKind::Text => {
                if let Some(piece) = &mut piece {
                    piece.text.push_str(&characters(xml, token)?);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Everything in double braces, with its name.
pub(super) fn places(text: &str) -> Vec<(Range<usize>, &str)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find("{{").map(|start| at + start) {
        let inner = start + 2;
        // Ends at the first character that a placeholder cannot have, so that no search runs over the whole text.
        let end = text[inner..].find(['\n', '{', '}']).map(|end| inner + end);
        match end.filter(|end| text[*end..].starts_with("}}")) {
            Some(end) => {
                found.push((start..end + 2, text[inner..end].trim()));
                at = end + 2;
            }
            // A placeholder may begin with the second of three braces.
            None => at = start + 1,
        }
    }
    found
}

/// How a part writes what is not plain text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PartForm {
    /// Texts are `w:t`, with their blanks marked and `w:br` between lines.
    Word,
    /// Lines become one.
    Plain,
}

/// What may replace a whole paragraph of a part.
type SpecialParagraphs<'s, 'v> = dyn FnMut(&mut PlaceFiller<'v>, &str, &[XmlToken<'_>], &FoundParagraph) -> Result<Option<String>, TemplateFault>
    + 's;

/// Fills placeholders, and knows what it met.
pub(super) struct PlaceFiller<'v> {
    pub(super) values: &'v KnownValues<'v>,
    pub(super) filled: usize,
    pub(super) unknown: Vec<String>,
    /// Rows that were written.
    pub(super) rows: usize,
    most: usize,
}

impl<'v> PlaceFiller<'v> {
    pub(super) fn new(values: &'v KnownValues<'v>) -> Self {
        Self { values, filled: 0, unknown: Vec::new(), rows: 0, most: 4 * TOO_LONG }
    }

    /// The value of a placeholder in a row, or outside of rows.
    pub(super) fn value(&mut self, name: &str, row: Option<usize>) -> Option<CellValue> {
        let found = match (column_of(name), row) {
            (Some(column), Some(row)) => {
                let rows = &self.values.filling.rows;
                let cell = |column: usize| rows.rows.get(row).and_then(|row| row.get(column)).cloned();
                self.values.filling.column(column).map(|column| cell(column).unwrap_or_default())
            }
            _ => self.values.value(name),
        };
        match found {
            // A property without a value counts as well: the placeholder is gone.
            Some(_) => self.filled += 1,
            // It stays in the document, where the owner sees the misspelt name.
            None => self.leave(name),
        }
        found
    }

    fn leave(&mut self, name: &str) {
        // Names come from the template, so what an answer shows of them is bounded.
        let name: String = name.chars().take(LONGEST_NAME).collect();
        if self.unknown.len() < MOST_NAMED && !name.is_empty() && !self.unknown.contains(&name) {
            self.unknown.push(name);
        }
    }

    /// A part, or a piece of one, with its values. `special` may replace a whole paragraph.
    pub(super) fn fill(
        &mut self,
        xml: &str,
        form: PartForm,
        row: Option<usize>,
        special: &mut SpecialParagraphs<'_, 'v>,
    ) -> Result<String, TemplateFault> {
        // A single brace, because a program may have divided the two.
        if !xml.contains('{') {
            return Ok(xml.to_owned());
        }
        let all = tokens(xml)?;
        let found = paragraphs(xml, &all)?;
        let mut edits = TextEdits::default();
        // In the copy of a row, nothing is repeated once more.
        let repeated = if row.is_none() { self.repeated_rows(&all, &found) } else { Vec::new() };
        for (span, count) in &repeated {
            let piece = &xml[span.clone()];
            let mut copies = String::new();
            for row in 0..*count {
                copies.push_str(&self.fill(piece, form, Some(row), special)?);
                // Asked after each copy: rows times the size of a row is not bounded by either alone.
                if copies.len() > self.most {
                    return Err(TemplateFault::TooLarge);
                }
            }
            self.rows += self.values.filling.rows.rows.len().min(*count);
            edits.replace(span.clone(), copies);
        }
        for paragraph in &found {
            // Rows are in order, and none is in another.
            let before = repeated.partition_point(|(span, _)| span.start <= paragraph.span.start);
            let is_repeated = before > 0 && paragraph.span.end <= repeated[before - 1].0.end;
            // Its row was filled as a whole, copy by copy.
            if is_repeated || !paragraph.text().contains("{{") {
                continue;
            }
            match special(self, xml, &all, paragraph)? {
                Some(new) => edits.replace(paragraph.span.clone(), new),
                None => self.fill_paragraph(xml, form, row, paragraph, &mut edits),
            }
        }
        edits.apply(xml, self.most)
    }

    /// The rows of tables that are written once for each row of values.
    fn repeated_rows(&self, all: &[XmlToken<'_>], found: &[FoundParagraph]) -> Vec<(Range<usize>, usize)> {
        let has_column = |paragraph: &&FoundParagraph| {
            let text = paragraph.text();
            places(&text)
                .iter()
                .any(|(_, name)| column_of(name).is_some_and(|name| self.values.filling.column(name).is_some()))
        };
        // Found once and searched by place, so that large tables take no square of their size.
        let mut wanted: Vec<usize> = found.iter().filter(has_column).map(|paragraph| paragraph.span.start).collect();
        wanted.sort_unstable();
        let mut rows = Vec::new();
        // Without values, one empty row is kept: a table without rows is damaged.
        let count = self.values.filling.rows.rows.len().clamp(1, MOST_COPIES);
        for (number, token) in all.iter().enumerate().filter(|(_, token)| token.is_opening("tr")) {
            let Some(end) = end_of(all, number) else { continue };
            let span = token.span.start..all[end].span.end;
            // The innermost row: one around it has another row in it.
            let has_row = all[number + 1..end].iter().any(|inner| inner.is_opening("tr"));
            if !has_row
                && wanted
                    .get(wanted.partition_point(|start| *start < span.start))
                    .is_some_and(|start| *start < span.end)
            {
                rows.push((span, count));
            }
        }
        rows
    }

    fn fill_paragraph(
        &mut self,
        xml: &str,
        form: PartForm,
        row: Option<usize>,
        paragraph: &FoundParagraph,
        edits: &mut TextEdits,
    ) {
        let text = paragraph.text();
        let values: Vec<(Range<usize>, Option<CellValue>)> =
            places(&text).into_iter().map(|(span, name)| (span, self.value(name, row))).collect();
        let mut at = 0;
        for piece in &paragraph.pieces {
            let own = at..at + piece.text.len();
            at = own.end;
            let touched =
                values.iter().any(|(span, value)| value.is_some() && span.start < own.end && own.start < span.end);
            if !touched {
                continue;
            }
            // Formulas and drawings have texts of their own, in which the elements of Word are not allowed.
            let is_word = form == PartForm::Word && xml[piece.tag.clone()].starts_with("<w:");
            let line_end = if is_word { "</w:t><w:br/><w:t xml:space=\"preserve\">" } else { " " };
            // What of the piece is in no placeholder, and the values of those that begin in it.
            let (mut new, mut from) = (String::new(), own.start);
            for (span, value) in &values {
                let Some(value) = value else { continue };
                if span.end <= own.start || span.start >= own.end {
                    continue;
                }
                if span.start > from {
                    new.push_str(&escaped(&text[from..span.start]));
                }
                // The value goes where the placeholder begins, and takes the format of that run.
                if span.start >= own.start {
                    let lines: Vec<String> = value.shown().split('\n').map(|line| escaped(line).into_owned()).collect();
                    new.push_str(&lines.join(line_end));
                }
                from = span.end.min(own.end);
            }
            new.push_str(&escaped(&text[from..own.end]));
            // Word drops blanks at the ends of a text that is not marked.
            if is_word {
                edits.replace(piece.tag.clone(), with_attribute(&xml[piece.tag.clone()], "xml:space", "preserve"));
            }
            edits.replace(piece.inner.clone(), new);
        }
    }
}

/// The column of a placeholder for rows.
pub(super) fn column_of(name: &str) -> Option<&str> {
    name.strip_prefix("rows.").map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_and_braces_are_not() {
        let names = |text| places(text).into_iter().map(|(span, name)| (span.start, name)).collect::<Vec<_>>();
        assert_eq!(names("a {{ title }} b{{x.y}}"), [(2, "title"), (15, "x.y")]);
        assert_eq!(names("{{{title}}}"), [(1, "title")]);
        assert_eq!(names("{{ti\ntle}} {{a}"), []);
        let many = "{{".repeat(500_000);
        assert_eq!(names(&many), []);
    }
}
