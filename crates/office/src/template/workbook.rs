//! XLSX templates: a row with `{{rows.…}}` is written once for each row of values, and what lies below moves down, with the formulas
//! and ranges of the sheet.

use std::collections::BTreeMap;

use crate::{cells::CellValue, package::relations_of, xlsx::kept_escapes, xml::escaped};

use super::{
    FilledDocument, KnownValues, TemplateFault,
    document::words,
    places::{PlaceFiller, column_of, places},
    source::TemplateSource,
    xml_edit::{TextEdits, TokenKind, XmlToken, attribute, characters, end_of, tokens, with_attribute},
};

const STRINGS: &str = "xl/sharedStrings.xml";
const STYLES: &str = "xl/styles.xml";
const BOOK: &str = "xl/workbook.xml";
const CHAIN: &str = "xl/calcChain.xml";
const MOST_ROWS: usize = 1_048_576;
/// Of one cell, in letters.
const LONGEST_TEXT: usize = 32_767;
/// The most text of a sheet.
const MOST_SHEET: usize = 64 << 20;

pub(super) fn fill(source: &mut TemplateSource<'_>, values: &KnownValues<'_>) -> Result<FilledDocument, TemplateFault> {
    if source.text(BOOK).is_none() {
        return Err(TemplateFault::Broken);
    }
    let strings = match source.text(STRINGS) {
        Some(xml) => shared_texts(xml)?,
        None => Vec::new(),
    };
    let mut filler = PlaceFiller::new(values);
    let mut formats = DateFormats::default();
    let (mut is_changed, mut has_moved) = (false, false);
    let sheets = source.names().into_iter().filter(|name| name.starts_with("xl/worksheets/") && name.ends_with(".xml"));
    for name in sheets.collect::<Vec<_>>() {
        let xml = source.text(&name).ok_or(TemplateFault::Broken)?.to_owned();
        let mut sheet =
            SheetFiller { filler: &mut filler, strings: &strings, formats: &mut formats, moves: RowMoves::default() };
        let Some(filled) = sheet.fill(&xml)? else { continue };
        let moves = sheet.moves;
        is_changed = true;
        has_moved |= !moves.is_empty();
        source.set(&name, filled)?;
        if !moves.is_empty() {
            move_tables(source, &name, &moves)?;
        }
    }
    if is_changed {
        formats.write(source)?;
        calculate_on_load(source)?;
    }
    if has_moved && source.has(CHAIN) {
        // The list of formulas names cells that have moved; programs make it anew.
        source.remove(CHAIN);
        source.remove_entries("[Content_Types].xml", |xml, token| {
            attribute(xml, token, "PartName").is_some_and(|part| part == "/xl/calcChain.xml")
        })?;
        source.remove_entries(&relations_of(BOOK), |xml, token| {
            attribute(xml, token, "Type").is_some_and(|kind| kind.ends_with("/calcChain"))
        })?;
    }
    let PlaceFiller { filled, unknown, rows, .. } = filler;
    let pictures_left_out = values.filling.body.pictures.len();
    Ok(FilledDocument { filled, unknown, pictures_left_out, parts: rows, ..FilledDocument::default() })
}

/// The texts that cells refer to by number.
fn shared_texts(xml: &str) -> Result<Vec<String>, TemplateFault> {
    let (mut texts, mut is_text, mut aside) = (Vec::new(), false, 0_usize);
    for token in tokens(xml)? {
        match token.kind {
            TokenKind::Start | TokenKind::Empty if token.is("si") => texts.push(String::new()),
            TokenKind::Start if token.is("t") => is_text = true,
            TokenKind::End if token.is("t") => is_text = false,
            // How a text is spoken is not a part of it.
            TokenKind::Start if token.is("rPh") => aside += 1,
            TokenKind::End if token.is("rPh") => aside = aside.saturating_sub(1),
            TokenKind::Text if is_text && aside == 0 => {
                if let Some(text) = texts.last_mut() {
                    text.push_str(&characters(xml, &token)?);
                }
            }
            _ => {}
        }
    }
    Ok(texts)
}

/// How far rows move: each repeated row with the number of its copies, by its number in the template.
#[derive(Default)]
struct RowMoves(BTreeMap<usize, usize>);

impl RowMoves {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where a row begins.
    fn start(&self, row: usize) -> usize {
        let (mut more, mut fewer) = (0, 0);
        // Only rows above move it; a row with no copies is gone.
        for (_, copies) in self.0.range(..row) {
            more += copies.saturating_sub(1);
            fewer += usize::from(*copies == 0);
        }
        (row + more - fewer).clamp(1, MOST_ROWS)
    }

    /// Where the last copy of a row is.
    fn end(&self, row: usize) -> usize {
        let copies = self.0.get(&row).copied().unwrap_or(1);
        (self.start(row) + copies.max(1) - 1).clamp(1, MOST_ROWS)
    }

    /// A range or a list of ranges, as attributes have them.
    fn ranges(&self, text: &str) -> String {
        self.formula(text, None)
    }

    /// A formula of a row; `copy` is the row of the template and the number of the copy it is in.
    fn formula(&self, text: &str, copy: Option<(usize, usize)>) -> String {
        let bytes = text.as_bytes();
        let (mut moved, mut at, mut is_quoted) = (String::with_capacity(text.len()), 0, false);
        let mut after_colon = false;
        while at < bytes.len() {
            if bytes[at] == b'"' {
                is_quoted = !is_quoted;
            }
            // In the middle of a name, `A6` is not a cell.
            let is_word_start = at == 0 || !is_word(bytes[at - 1]);
            let reference = if is_quoted || !is_word_start { None } else { CellReference::at(text, at) };
            let Some(reference) = reference else {
                // Whole letters, so that no text is cut.
                let length = text[at..].chars().next().map_or(1, char::len_utf8);
                moved.push_str(&text[at..at + length]);
                after_colon = bytes[at] == b':';
                at += length;
                continue;
            };
            let starts_range = bytes.get(reference.end) == Some(&b':');
            // In a copy, a cell of the same row means that of the copy, unless `$` fixes it.
            let own = copy.filter(|(row, _)| *row == reference.row && !reference.is_fixed);
            let row = match own {
                Some((row, number)) => self.start(row) + number,
                // The end of a range goes behind the last copy.
                None if after_colon && !starts_range => self.end(reference.row),
                None => self.start(reference.row),
            };
            moved.push_str(&text[at..reference.digits]);
            moved.push_str(&row.to_string());
            at = reference.end;
            after_colon = false;
        }
        moved
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'!' | b'\'' | b'$' | b']') || !byte.is_ascii()
}

/// `B5`, `$B$5`.
struct CellReference {
    row: usize,
    is_fixed: bool,
    /// Where its digits begin, and where it ends.
    digits: usize,
    end: usize,
}

impl CellReference {
    fn at(text: &str, start: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut at = start + usize::from(bytes.get(start) == Some(&b'$'));
        let letters = bytes[at..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        // Columns end at `XFD`.
        if !(1..=3).contains(&letters) {
            return None;
        }
        at += letters;
        let is_fixed = bytes.get(at) == Some(&b'$');
        at += usize::from(is_fixed);
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = at + length;
        let row: usize = text.get(at..end)?.parse().ok()?;
        // `LOG10(` is a function, and `A1!` the name of a sheet.
        let is_other = bytes.get(end).is_some_and(|byte| *byte == b'(' || (is_word(*byte) && *byte != b'$'));
        (!is_other && (1..=MOST_ROWS).contains(&row)).then_some(Self { row, is_fixed, digits: at, end })
    }
}

struct SheetFiller<'s, 'v> {
    filler: &'s mut PlaceFiller<'v>,
    strings: &'s [String],
    formats: &'s mut DateFormats,
    moves: RowMoves,
}

/// A cell with what it says.
struct FoundCell {
    /// Its tokens, from the first to the last.
    tokens: std::ops::RangeInclusive<usize>,
    column: String,
    text: String,
}

struct FoundRow {
    tokens: std::ops::RangeInclusive<usize>,
    number: usize,
    cells: Vec<FoundCell>,
}

impl SheetFiller<'_, '_> {
    /// The sheet with its values; `None` if it has no placeholders.
    fn fill(&mut self, xml: &str) -> Result<Option<String>, TemplateFault> {
        let all = tokens(xml)?;
        let rows = self.rows(xml, &all)?;
        if !rows.iter().any(|row| row.cells.iter().any(|cell| cell.text.contains("{{"))) {
            return Ok(None);
        }
        let copies = self.filler.values.filling.rows.rows.len();
        // All repeated rows are known before the first is written, because formulas point in both directions.
        for row in &rows {
            let is_repeated = |cell: &FoundCell| {
                places(&cell.text).iter().any(|(_, name)| {
                    column_of(name).is_some_and(|name| self.filler.values.filling.column(name).is_some())
                })
            };
            if row.cells.iter().any(is_repeated) {
                self.moves.0.insert(row.number, copies);
                self.filler.rows += copies;
            }
        }
        let mut edits = TextEdits::default();
        for row in &rows {
            let span = all[*row.tokens.start()].span.start..all[*row.tokens.end()].span.end;
            let mut written = String::new();
            match self.moves.0.get(&row.number).copied() {
                None => written = self.row(xml, &all, row, None)?,
                Some(copies) => {
                    for copy in 0..copies {
                        written.push_str(&self.row(xml, &all, row, Some(copy))?);
                        if written.len() > MOST_SHEET {
                            return Err(TemplateFault::TooLarge);
                        }
                    }
                }
            }
            edits.replace(span, written);
        }
        if !self.moves.is_empty() {
            self.move_ranges(xml, &all, &mut edits);
        }
        edits.apply(xml, MOST_SHEET).map(Some)
    }

    fn rows(&self, xml: &str, all: &[XmlToken<'_>]) -> Result<Vec<FoundRow>, TemplateFault> {
        let (mut rows, mut at, mut last) = (Vec::<FoundRow>::new(), 0, 0);
        while at < all.len() {
            let token = &all[at];
            if !token.is_start("row") {
                at += 1;
                continue;
            }
            let end = end_of(all, at).ok_or(TemplateFault::Broken)?;
            // The number may be left out, and then follows the one before.
            let number = attribute(xml, token, "r").and_then(|number| number.parse().ok()).unwrap_or(last + 1);
            // Rows in another order would be moved over one another.
            if number <= last || number > MOST_ROWS {
                return Err(TemplateFault::Broken);
            }
            last = number;
            let mut cells = Vec::new();
            let mut inner = at + 1;
            while inner < end {
                if !all[inner].is_start("c") {
                    inner += 1;
                    continue;
                }
                let close = end_of(all, inner).ok_or(TemplateFault::Broken)?;
                let place = attribute(xml, &all[inner], "r").unwrap_or_default();
                let column = place.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
                let text = self.text(xml, all, inner, close)?;
                cells.push(FoundCell { tokens: inner..=close, column, text });
                inner = close + 1;
            }
            rows.push(FoundRow { tokens: at..=end, number, cells });
            at = end + 1;
        }
        Ok(rows)
    }

    /// What a cell says, if that is a text.
    fn text(&self, xml: &str, all: &[XmlToken<'_>], start: usize, end: usize) -> Result<String, TemplateFault> {
        let kind = attribute(xml, &all[start], "t").unwrap_or_default();
        let wanted = match &*kind {
            "s" => "v",
            "inlineStr" => "t",
            _ => return Ok(String::new()),
        };
        let (mut text, mut is_wanted) = (String::new(), false);
        for token in &all[start..=end] {
            match token.kind {
                TokenKind::Start => is_wanted = token.is(wanted),
                TokenKind::End => is_wanted = false,
                TokenKind::Text if is_wanted => text.push_str(&characters(xml, token)?),
                _ => {}
            }
        }
        if wanted == "t" {
            return Ok(text);
        }
        Ok(text.trim().parse::<usize>().ok().and_then(|number| self.strings.get(number)).cloned().unwrap_or_default())
    }

    fn row(
        &mut self,
        xml: &str,
        all: &[XmlToken<'_>],
        row: &FoundRow,
        copy: Option<usize>,
    ) -> Result<String, TemplateFault> {
        // The copies follow each other from the place of the first one on.
        let number = self.moves.start(row.number) + copy.unwrap_or(0);
        if number > MOST_ROWS {
            return Err(TemplateFault::TooLarge);
        }
        let start = &all[*row.tokens.start()];
        let mut written = match number == row.number {
            true => xml[start.span.clone()].to_owned(),
            false => with_attribute(&xml[start.span.clone()], "r", &number.to_string()),
        };
        let mut at = start.span.end;
        for cell in &row.cells {
            let span = all[*cell.tokens.start()].span.start..all[*cell.tokens.end()].span.end;
            written.push_str(&xml[at..span.start]);
            at = span.end;
            // A cell without a place follows the one before it, wherever that moves.
            let place = if cell.column.is_empty() { String::new() } else { format!("{}{number}", cell.column) };
            if cell.text.contains("{{") {
                written.push_str(&self.cell(xml, &all[*cell.tokens.start()], &cell.text, &place, copy));
            } else {
                written.push_str(&self.moved_cell(xml, all, cell, &place, copy.map(|copy| (row.number, copy)))?);
            }
        }
        written.push_str(&xml[at..all[*row.tokens.end()].span.end]);
        Ok(written)
    }

    /// A cell with its value: one placeholder alone keeps its type.
    fn cell(&mut self, xml: &str, start: &XmlToken<'_>, text: &str, place: &str, copy: Option<usize>) -> String {
        let style = attribute(xml, start, "s");
        let own = text.trim();
        let found = places(own);
        let value = match found.as_slice() {
            [(span, name)] if *span == (0..own.len()) => {
                self.value(name, copy).unwrap_or_else(|| CellValue::text(text))
            }
            _ => {
                let (mut filled, mut at) = (String::new(), 0);
                for (span, name) in places(text) {
                    if let Some(value) = self.value(name, copy) {
                        filled.push_str(&text[at..span.start]);
                        filled.push_str(&value.shown());
                        at = span.end;
                    }
                }
                filled.push_str(&text[at..]);
                CellValue::text(filled)
            }
        };
        let place = if place.is_empty() { String::new() } else { format!(" r=\"{}\"", escaped(place)) };
        let styled = |style: Option<String>| style.map_or(String::new(), |style| format!(" s=\"{}\"", escaped(&style)));
        match value {
            CellValue::Empty => format!("<c{place}{}/>", styled(style)),
            CellValue::Number(number) if number.is_finite() => {
                format!("<c{place}{}><v>{number}</v></c>", styled(style))
            }
            CellValue::Boolean(value) => format!("<c{place}{} t=\"b\"><v>{}</v></c>", styled(style), u8::from(value)),
            CellValue::Day(day) => {
                format!("<c{place}{}><v>{day}</v></c>", styled(Some(self.formats.of(style.as_deref(), false))))
            }
            CellValue::Moment(moment) => {
                format!("<c{place}{}><v>{moment}</v></c>", styled(Some(self.formats.of(style.as_deref(), true))))
            }
            // As text in its place, which no program takes for a formula.
            value => {
                let text: String = value.shown().chars().take(LONGEST_TEXT).collect();
                let text = kept_escapes(&text);
                format!(
                    "<c{place}{} t=\"inlineStr\"><is><t xml:space=\"preserve\">{}</t></is></c>",
                    styled(style),
                    escaped(&text)
                )
            }
        }
    }

    fn value(&mut self, name: &str, copy: Option<usize>) -> Option<CellValue> {
        if name == "content" {
            self.filler.filled += 1;
            return Some(CellValue::text(words(self.filler.values)));
        }
        self.filler.value(name, copy)
    }

    /// A cell without placeholders in its new place. What a formula came to is left out, since it is of other rows.
    fn moved_cell(
        &self,
        xml: &str,
        all: &[XmlToken<'_>],
        cell: &FoundCell,
        place: &str,
        copy: Option<(usize, usize)>,
    ) -> Result<String, TemplateFault> {
        let (from, to) = (*cell.tokens.start(), *cell.tokens.end());
        let span = all[from].span.start..all[to].span.end;
        let has_formula = all[from..=to].iter().any(|token| token.is_start("f"));
        let is_moved = attribute(xml, &all[from], "r").is_some_and(|known| known != place);
        if !has_formula && !is_moved {
            return Ok(xml[span].to_owned());
        }
        let mut written = match place.is_empty() {
            true => xml[all[from].span.clone()].to_owned(),
            false => with_attribute(&xml[all[from].span.clone()], "r", place),
        };
        let mut number = from + 1;
        while number <= to {
            let token = &all[number];
            // Without a value, programs compute it.
            if has_formula && token.is_start("v") {
                number = end_of(all, number).ok_or(TemplateFault::Broken)? + 1;
                continue;
            }
            if token.is_opening("f") {
                let end = end_of(all, number).ok_or(TemplateFault::Broken)?;
                let mut formula = String::new();
                for part in &all[number + 1..end] {
                    formula.push_str(&characters(xml, part)?);
                }
                let mut tag = xml[token.span.clone()].to_owned();
                // The cells that share a formula or an array.
                if let Some(range) = attribute(xml, token, "ref") {
                    tag = with_attribute(&tag, "ref", &self.moves.ranges(&range));
                }
                written.push_str(&tag);
                written.push_str(&escaped(&self.moves.formula(&formula, copy)));
                written.push_str(&xml[all[end].span.clone()]);
                number = end + 1;
                continue;
            }
            written.push_str(&xml[token.span.clone()]);
            number += 1;
        }
        Ok(written)
    }

    /// Merged cells, filters and all else that names ranges of the sheet.
    fn move_ranges(&self, xml: &str, all: &[XmlToken<'_>], edits: &mut TextEdits) {
        let mut in_data = false;
        for token in all {
            if token.is("sheetData") {
                in_data = token.kind == TokenKind::Start;
            }
            // Rows and cells were written with their new numbers.
            if in_data || !matches!(token.kind, TokenKind::Start | TokenKind::Empty) {
                continue;
            }
            for name in ["ref", "sqref"] {
                if let Some(range) = attribute(xml, token, name) {
                    let tag = with_attribute(&xml[token.span.clone()], name, &self.moves.ranges(&range));
                    edits.replace(token.span.clone(), tag);
                }
            }
        }
    }
}

/// Tables of a sheet cover the copies of a row in them.
fn move_tables(source: &mut TemplateSource<'_>, sheet: &str, moves: &RowMoves) -> Result<(), TemplateFault> {
    let relations = source.relations(sheet);
    let mut parts = Vec::new();
    // Tables are parts beside the sheet, found by its relations.
    for token in tokens(&relations)?.iter().filter(|token| token.is_start("Relationship")) {
        let kind = attribute(&relations, token, "Type").unwrap_or_default();
        if let Some(target) = attribute(&relations, token, "Target").filter(|_| kind.ends_with("/table")) {
            parts.push(target.strip_prefix('/').map_or_else(|| target.replace("../", "xl/"), str::to_owned));
        }
    }
    for part in parts {
        let Some(xml) = source.text(&part).map(str::to_owned) else { continue };
        let mut edits = TextEdits::default();
        for token in tokens(&xml)? {
            if let Some(range) = attribute_of_start(&xml, &token, "ref") {
                edits.replace(
                    token.span.clone(),
                    with_attribute(&xml[token.span.clone()], "ref", &moves.ranges(&range)),
                );
            }
        }
        source.set(&part, edits.apply(&xml, MOST_SHEET)?)?;
    }
    Ok(())
}

fn attribute_of_start(xml: &str, token: &XmlToken<'_>, name: &str) -> Option<String> {
    matches!(token.kind, TokenKind::Start | TokenKind::Empty).then(|| attribute(xml, token, name))?
}

/// Programs compute the formulas anew when they open the file.
fn calculate_on_load(source: &mut TemplateSource<'_>) -> Result<(), TemplateFault> {
    let Some(xml) = source.text(BOOK).map(str::to_owned) else { return Ok(()) };
    let mut edits = TextEdits::default();
    for token in tokens(&xml)?.iter().filter(|token| token.is_start("calcPr")) {
        edits.replace(token.span.clone(), with_attribute(&xml[token.span.clone()], "fullCalcOnLoad", "1"));
    }
    let changed = edits.apply(&xml, MOST_SHEET)?;
    if changed == xml { Ok(()) } else { source.set(BOOK, changed) }
}

/// Formats of cells with days: those of the template, with a format of days where it has none.
#[derive(Default)]
struct DateFormats {
    /// By the format of the template, and whether there is a time; in the order in which they are added.
    wanted: Vec<(usize, bool)>,
}

/// What stands for the number of a format that is known only when all are.
const LATER: usize = 10_000_000;

impl DateFormats {
    fn of(&mut self, style: Option<&str>, has_time: bool) -> String {
        let key = (style.and_then(|style| style.parse().ok()).unwrap_or(0), has_time);
        let at = self.wanted.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.wanted.push(key);
            self.wanted.len() - 1
        });
        (LATER + at).to_string()
    }

    /// Adds the formats, and puts their numbers into the sheets.
    fn write(&self, source: &mut TemplateSource<'_>) -> Result<(), TemplateFault> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let Some(xml) = source.text(STYLES).map(str::to_owned) else { return Err(TemplateFault::Broken) };
        let all = tokens(&xml)?;
        let list = all.iter().position(|token| token.is_opening("cellXfs")).ok_or(TemplateFault::Broken)?;
        let close = end_of(&all, list).ok_or(TemplateFault::Broken)?;
        let known: Vec<&XmlToken<'_>> = all[list..close].iter().filter(|token| token.is_start("xf")).collect();
        let (mut added, mut numbers) = (String::new(), Vec::new());
        for (style, has_time) in &self.wanted {
            let token = known.get(*style).or(known.first()).ok_or(TemplateFault::Broken)?;
            let number = attribute(&xml, token, "numFmtId").and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
            // Any format but the general one was chosen by the owner of the template.
            if number != 0 {
                numbers.push(*style);
                continue;
            }
            numbers.push(known.len() + added.matches("numFmtId=").count());
            let tag = &xml[token.span.clone()];
            let closed = if token.kind == TokenKind::Empty {
                tag.to_owned()
            } else {
                format!("{}/>", tag.trim_end_matches('>'))
            };
            let tag = with_attribute(&closed, "numFmtId", if *has_time { "22" } else { "14" });
            added.push_str(&with_attribute(&tag, "applyNumberFormat", "1"));
        }
        let count = known.len() + added.matches("numFmtId=").count();
        let tag = with_attribute(&xml[all[list].span.clone()], "count", &count.to_string());
        let at = all[close].span.start;
        let changed =
            format!("{}{tag}{}{added}{}", &xml[..all[list].span.start], &xml[all[list].span.end..at], &xml[at..]);
        source.set(STYLES, changed)?;
        for name in
            source.names().into_iter().filter(|name| name.starts_with("xl/worksheets/") && name.ends_with(".xml"))
        {
            let Some(mut sheet) = source.text(&name).map(str::to_owned) else { continue };
            let before = sheet.clone();
            for (at, number) in numbers.iter().enumerate() {
                sheet = sheet.replace(&format!(" s=\"{}\"", LATER + at), &format!(" s=\"{number}\""));
            }
            if sheet != before {
                source.set(&name, sheet)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_and_ranges_follow_the_rows() {
        let moves = RowMoves(BTreeMap::from([(5, 3)]));
        for (formula, expected) in [
            ("SUM(C5:C5)", "SUM(C5:C7)"),
            ("SUM(C2:C4)", "SUM(C2:C4)"),
            ("C6+$C$6", "C8+$C$8"),
            ("A4", "A4"),
            ("LOG10(A6)", "LOG10(A8)"),
            ("\"A6\"&A6", "\"A6\"&A8"),
            ("Other!A6", "Other!A6"),
            ("A6Z+Ü6", "A6Z+Ü6"),
        ] {
            assert_eq!(moves.formula(formula, None), expected, "{formula}");
        }
        assert_eq!(moves.formula("B5*C5+B$5", Some((5, 2))), "B7*C7+B$5");
        assert_eq!(moves.ranges("A1:D5 A6:D6"), "A1:D7 A8:D8");
        let gone = RowMoves(BTreeMap::from([(5, 0)]));
        assert_eq!((gone.formula("A6", None), gone.ranges("A5:A5")), ("A5".to_owned(), "A5:A5".to_owned()));
    }
}
