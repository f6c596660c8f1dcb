//! What a sheet has beside its cells: merged cells, links, filters, conditional formats and all else that names ranges.

use std::ops::Range;

use crate::xml::escaped;

use super::{
    TemplateFault,
    row_moves::{BookMoves, RowCopy, RowMoves},
    xml_edit::{TokenKind, XmlToken, attribute, characters, end_of, with_attribute},
};

pub(super) struct SheetRanges<'s> {
    pub(super) xml: &'s str,
    pub(super) all: &'s [XmlToken<'s>],
    pub(super) book: &'s BookMoves,
    pub(super) name: &'s str,
    /// Of this sheet.
    pub(super) moves: &'s RowMoves,
    /// The most bytes.
    pub(super) most: usize,
}

impl SheetRanges<'_> {
    /// These tokens with their ranges where they are now, or as a copy of a row has them.
    pub(super) fn written(&self, tokens: Range<usize>, copy: Option<RowCopy>) -> Result<String, TemplateFault> {
        let mut written = String::new();
        let (mut base, mut base_end, mut in_breaks, mut at) = (copy, 0, false, tokens.start);
        while at < tokens.end {
            let token = &self.all[at];
            let span = token.span.clone();
            at += 1;
            if token.is_end("rowBreaks") {
                in_breaks = false;
            }
            if !matches!(token.kind, TokenKind::Start | TokenKind::Empty) {
                written.push_str(&self.xml[span]);
                continue;
            }
            let end = end_of(self.all, at - 1).ok_or(TemplateFault::Broken)?;
            // One range over all copies would make one cell of them, or lead from one alone.
            if matches!(token.name, "mergeCell" | "hyperlink" | "sparkline")
                && copy.is_none()
                && let Some((row, copies)) = self.repeated(at - 1, end)?
            {
                for number in 0..copies {
                    written.push_str(&self.written(at - 1..end + 1, Some(RowCopy { row, number }))?);
                    if written.len() > self.most {
                        return Err(TemplateFault::TooLarge);
                    }
                }
                at = end + 1;
                continue;
            }
            if matches!(token.name, "conditionalFormatting" | "dataValidation") && copy.is_none() {
                // Their formulas are those of the first cell of their range.
                let row = self.range_of(at - 1, end)?.and_then(|list| RowMoves::first_row(&list));
                (base, base_end) = (row.map(|row| RowCopy { row, number: 0 }), end);
            } else if at > base_end {
                base = copy;
            }
            in_breaks |= token.is_opening("rowBreaks");
            written.push_str(&self.tag(at - 1, end, base, copy, in_breaks)?);
            let is_range = token.is("sqref");
            // In extensions, some of these have an element with the formula in it.
            if token.kind == TokenKind::Start
                && (is_range || matches!(token.name, "f" | "formula" | "formula1" | "formula2"))
                && self.all[at..end].iter().all(|inner| inner.kind == TokenKind::Text)
            {
                let text = self.text(at..end)?;
                let moved = match is_range {
                    true => self.moves.ranges(&text, copy),
                    false => self.book.formula(&text, Some(self.name), base),
                };
                // What did not move stays byte for byte.
                if moved == text {
                    self.all[at..end].iter().for_each(|token| written.push_str(&self.xml[token.span.clone()]));
                } else {
                    written.push_str(&escaped(&moved));
                }
                at = end;
            }
        }
        Ok(written)
    }

    fn tag(
        &self,
        at: usize,
        end: usize,
        base: Option<RowCopy>,
        copy: Option<RowCopy>,
        in_breaks: bool,
    ) -> Result<String, TemplateFault> {
        let token = &self.all[at];
        let mut tag = self.xml[token.span.clone()].to_owned();
        let mut set = |name: &str, moved: &dyn Fn(&str) -> String| {
            if let Some(value) = attribute(self.xml, token, name) {
                let moved = moved(&value);
                if moved != value {
                    tag = with_attribute(&tag, name, &moved);
                }
            }
        };
        for name in ["ref", "sqref"] {
            set(name, &|range| self.moves.ranges(range, copy));
        }
        match token.name {
            "hyperlink" => set("location", &|place| self.book.formula(place, Some(self.name), base)),
            "selection" => set("activeCell", &|cell| self.book.formula(cell, Some(self.name), None)),
            // A page ends behind the row with this number.
            "brk" if in_breaks => {
                set("id", &|row| row.parse().map_or_else(|_| row.to_owned(), |row| self.moves.end(row).to_string()));
            }
            "mergeCells" => {
                let mut count = 0;
                for inner in at + 1..end {
                    if self.all[inner].is_start("mergeCell") {
                        count += self.repeated(inner, inner)?.map_or(1, |(_, copies)| copies);
                    }
                }
                set("count", &|_| count.to_string());
            }
            _ => {}
        }
        Ok(tag)
    }

    /// The repeated row that an element is in, and its copies.
    fn repeated(&self, start: usize, end: usize) -> Result<Option<(usize, usize)>, TemplateFault> {
        let range = self.range_of(start, end)?;
        let row = range.and_then(|range| self.moves.row_of(&range));
        Ok(row.and_then(|row| Some((row, self.moves.copies(row)?))))
    }

    /// The range that an element is for.
    fn range_of(&self, start: usize, end: usize) -> Result<Option<String>, TemplateFault> {
        let own = |name| attribute(self.xml, &self.all[start], name);
        if let Some(range) = own("ref").or_else(|| own("sqref")) {
            return Ok(Some(range));
        }
        // Extensions of the format have it as text.
        let Some(inner) = (start..end).find(|at| self.all[*at].is_opening("sqref")) else { return Ok(None) };
        let close = end_of(self.all, inner).ok_or(TemplateFault::Broken)?;
        self.text(inner + 1..close).map(|text| Some(text.trim().to_owned()))
    }

    fn text(&self, tokens: Range<usize>) -> Result<String, TemplateFault> {
        text_of(self.xml, &self.all[tokens])
    }
}

/// The characters of these tokens.
pub(super) fn text_of(xml: &str, tokens: &[XmlToken<'_>]) -> Result<String, TemplateFault> {
    tokens.iter().filter(|token| token.kind == TokenKind::Text).map(|token| characters(xml, token)).collect()
}
