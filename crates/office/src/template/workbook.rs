//! XLSX templates: a row with `{{rows.…}}` is written once for each row of values, and what lies below moves down, with the formulas
//! and ranges of the sheet.

use std::collections::{HashMap, HashSet};

use crate::{cells::CellValue, package::relations_of, xlsx::kept_escapes, xml::escaped};

use super::{
    FilledDocument, KnownValues, TemplateFault,
    document::words,
    places::{PlaceFiller, column_of, places},
    row_moves::{BookMoves, CellPlace, MOST_ROWS, RowCopy, RowMoves, place_of, shifted},
    sheet_ranges::{SheetRanges, text_of},
    source::TemplateSource,
    xml_edit::{TextEdits, TokenKind, XmlToken, attribute, characters, end_of, tokens, with_attribute},
};

const MAIN: &str = "xl/workbook.xml";
/// Of one cell, in letters.
const LONGEST_TEXT: usize = 32_767;
/// The most text of a sheet.
const MOST_SHEET: usize = 64 << 20;

/// A sheet of the workbook.
struct BookSheet {
    name: String,
    part: String,
}

pub(super) fn fill(source: &mut TemplateSource<'_>, values: &KnownValues<'_>) -> Result<FilledDocument, TemplateFault> {
    let main = source.main_part(MAIN)?;
    let sheets = sheets(source, &main)?;
    let strings = match source.related_of(&main, &["sharedStrings"])?.first().and_then(|part| source.text(part)) {
        Some(xml) => shared_texts(xml)?,
        None => Vec::new(),
    };
    let mut filler = PlaceFiller::new(values);
    let mut formats = DateFormats::default();
    // The repeated rows of all sheets are known before the first is written, because formulas point in all directions.
    let mut book = BookMoves::default();
    for BookSheet { name, part } in &sheets {
        let xml = source.text(part).ok_or(TemplateFault::Broken)?;
        let moves = repeated_rows(&filler, &strings, xml)?;
        if !moves.is_empty() {
            book.0.insert(name.to_lowercase(), moves);
        }
    }
    let still = RowMoves::default();
    let mut is_changed = false;
    for BookSheet { name, part } in &sheets {
        let xml = source.text(part).ok_or(TemplateFault::Broken)?.to_owned();
        let moves = book.of(name).unwrap_or(&still);
        let mut sheet = SheetFiller {
            filler: &mut filler,
            strings: &strings,
            formats: &mut formats,
            book: &book,
            name,
            moves,
            is_filled: false,
            shared: HashMap::new(),
        };
        let Some(filled) = sheet.fill(&xml)? else { continue };
        is_changed = true;
        source.set(part, filled)?;
        if !moves.is_empty() {
            move_tables(source, part, moves)?;
        }
    }
    if is_changed {
        formats.write(source, &main, &sheets)?;
        calculate_on_load(source, &main)?;
    }
    if !book.is_empty() {
        move_names_and_charts(source, &main, &book)?;
        // The list of formulas names cells that have moved; programs make it anew.
        for chain in source.related_of(&main, &["calcChain"])? {
            let name = format!("/{chain}");
            source.remove(&chain);
            source.remove_entries("[Content_Types].xml", |xml, token| {
                attribute(xml, token, "PartName").is_some_and(|part| part == name)
            })?;
            source.remove_entries(&relations_of(&main), |xml, token| {
                attribute(xml, token, "Type").is_some_and(|kind| kind.ends_with("/calcChain"))
            })?;
        }
    }
    let PlaceFiller { filled, unknown, rows, .. } = filler;
    let pictures_left_out = values.filling.body.pictures.len();
    Ok(FilledDocument { filled, unknown, pictures_left_out, rows, ..FilledDocument::default() })
}

/// The sheets with cells.
fn sheets(source: &TemplateSource<'_>, main: &str) -> Result<Vec<BookSheet>, TemplateFault> {
    let xml = source.text(main).ok_or(TemplateFault::Broken)?;
    let mut names = HashMap::new();
    for token in tokens(xml)?.iter().filter(|token| token.is_start("sheet")) {
        if let (Some(id), Some(name)) = (attribute(xml, token, "r:id"), attribute(xml, token, "name")) {
            names.insert(id, name);
        }
    }
    let mut known = HashSet::new();
    let related = source.related(main)?.into_iter().filter(|related| related.kind == "worksheet");
    let sheets = related.filter(|related| known.insert(related.part.clone()));
    // Formulas cannot mean one that the workbook does not name.
    Ok(sheets
        .map(|related| {
            let name = names.remove(&related.id).unwrap_or_else(|| related.part.clone());
            BookSheet { name, part: related.part }
        })
        .collect())
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

/// The rows of a sheet that are written once for each row of values.
fn repeated_rows(filler: &PlaceFiller<'_>, strings: &[String], xml: &str) -> Result<RowMoves, TemplateFault> {
    let mut moves = RowMoves::default();
    let filling = filler.values.filling;
    for row in found_rows(strings, xml, &tokens(xml)?)? {
        let is_repeated = |cell: &FoundCell| {
            let places = places(&cell.text);
            places.iter().any(|(_, name)| column_of(name).is_some_and(|name| filling.column(name).is_some()))
        };
        if row.cells.iter().any(is_repeated) {
            moves.repeat(row.number, filling.rows.rows.len());
        }
    }
    Ok(moves)
}

struct SheetFiller<'s, 'v> {
    filler: &'s mut PlaceFiller<'v>,
    strings: &'s [String],
    formats: &'s mut DateFormats,
    book: &'s BookMoves,
    name: &'s str,
    /// Of this sheet.
    moves: &'s RowMoves,
    /// Whether it has placeholders.
    is_filled: bool,
    /// Formulas that several cells share, by their numbers, with the place of the cell that has the text.
    shared: HashMap<String, (CellPlace, String)>,
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

fn found_rows(strings: &[String], xml: &str, all: &[XmlToken<'_>]) -> Result<Vec<FoundRow>, TemplateFault> {
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
            let text = cell_text(strings, xml, &all[inner..=close])?;
            cells.push(FoundCell { tokens: inner..=close, column, text });
            inner = close + 1;
        }
        rows.push(FoundRow { tokens: at..=end, number, cells });
        at = end + 1;
    }
    Ok(rows)
}

/// What a cell says, if that is a text.
fn cell_text(strings: &[String], xml: &str, cell: &[XmlToken<'_>]) -> Result<String, TemplateFault> {
    let kind = cell.first().and_then(|start| attribute(xml, start, "t")).unwrap_or_default();
    let wanted = match &*kind {
        "s" => "v",
        "inlineStr" => "t",
        _ => return Ok(String::new()),
    };
    let (mut text, mut is_wanted) = (String::new(), false);
    for token in cell {
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
    Ok(text.trim().parse::<usize>().ok().and_then(|number| strings.get(number)).cloned().unwrap_or_default())
}

impl SheetFiller<'_, '_> {
    /// The sheet with its values; `None` if nothing in it changes.
    fn fill(&mut self, xml: &str) -> Result<Option<String>, TemplateFault> {
        let all = tokens(xml)?;
        let rows = found_rows(self.strings, xml, &all)?;
        self.is_filled = rows.iter().any(|row| row.cells.iter().any(|cell| cell.text.contains("{{")));
        if !self.is_filled && self.book.is_empty() {
            return Ok(None);
        }
        let (mut edits, mut bytes) = (TextEdits::default(), 0);
        for row in &rows {
            let span = all[*row.tokens.start()].span.start..all[*row.tokens.end()].span.end;
            let copies = match self.moves.copies(row.number) {
                None => vec![None],
                Some(copies) => {
                    self.filler.rows += self.filler.values.filling.rows.rows.len();
                    (0..copies).map(|number| Some(RowCopy { row: row.number, number })).collect()
                }
            };
            let mut written = String::new();
            for copy in copies {
                written.push_str(&self.row(xml, &all, row, copy)?);
                if bytes + written.len() > MOST_SHEET {
                    return Err(TemplateFault::TooLarge);
                }
            }
            bytes += written.len();
            edits.replace(span, written);
        }
        if !self.book.is_empty() {
            let (book, name, moves) = (self.book, self.name, self.moves);
            let beside = SheetRanges { xml, all: &all, book, name, moves, most: MOST_SHEET };
            let data = all.iter().position(|token| token.is_start("sheetData")).unwrap_or(all.len());
            let behind = if data < all.len() { end_of(&all, data).ok_or(TemplateFault::Broken)? + 1 } else { data };
            for tokens in [0..data, behind..all.len()] {
                if let (Some(first), Some(last)) = (all.get(tokens.start), all[..tokens.end].last()) {
                    edits.replace(first.span.start..last.span.end, beside.written(tokens, None)?);
                }
            }
        }
        let filled = edits.apply(xml, MOST_SHEET)?;
        Ok((filled != xml).then_some(filled))
    }

    fn row(
        &mut self,
        xml: &str,
        all: &[XmlToken<'_>],
        row: &FoundRow,
        copy: Option<RowCopy>,
    ) -> Result<String, TemplateFault> {
        // The copies follow each other from the place of the first one on.
        let number = self.moves.place(row.number) + copy.map_or(0, |copy| copy.number);
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
                let copy = copy.map(|copy| copy.number);
                written.push_str(&self.cell(xml, &all[*cell.tokens.start()], &cell.text, &place, copy));
            } else {
                written.push_str(&self.moved_cell(xml, all, row, cell, &place, copy)?);
            }
            // A short text may share a long formula.
            if written.len() > MOST_SHEET {
                return Err(TemplateFault::TooLarge);
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
        // Some programs give every element a prefix.
        let p = start.prefix(xml);
        let valued = |styled: String, kind: &str, value: String| {
            format!("<{p}c{place}{styled}{kind}><{p}v>{value}</{p}v></{p}c>")
        };
        match value {
            CellValue::Empty => format!("<{p}c{place}{}/>", styled(style)),
            CellValue::Number(number) if number.is_finite() => valued(styled(style), "", number.to_string()),
            CellValue::Boolean(value) => valued(styled(style), " t=\"b\"", u8::from(value).to_string()),
            CellValue::Day(day) => valued(styled(Some(self.formats.of(style.as_deref(), false))), "", day.to_string()),
            CellValue::Moment(moment) => {
                valued(styled(Some(self.formats.of(style.as_deref(), true))), "", moment.to_string())
            }
            // As text in its place, which no program takes for a formula.
            value => {
                let text: String = value.shown().chars().take(LONGEST_TEXT).collect();
                let text = kept_escapes(&text);
                format!(
                    "<{p}c{place}{} t=\"inlineStr\"><{p}is><{p}t xml:space=\"preserve\">{}</{p}t></{p}is></{p}c>",
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
        &mut self,
        xml: &str,
        all: &[XmlToken<'_>],
        row: &FoundRow,
        cell: &FoundCell,
        place: &str,
        copy: Option<RowCopy>,
    ) -> Result<String, TemplateFault> {
        let (from, to) = (*cell.tokens.start(), *cell.tokens.end());
        let raw = &xml[all[from].span.start..all[to].span.end];
        let is_moved = attribute(xml, &all[from], "r").is_some_and(|known| known != place);
        let formula = (from + 1..to).find(|at| all[*at].is_start("f"));
        let (formula_end, formula_text) = match formula {
            Some(at) => {
                let end = end_of(all, at).ok_or(TemplateFault::Broken)?;
                (end, self.formula(xml, all, at..=end, (row, cell), copy)?)
            }
            None => (from, None),
        };
        if !is_moved && formula_text.is_none() && (formula.is_none() || !self.is_filled) {
            return Ok(raw.to_owned());
        }
        let mut written = match place.is_empty() {
            true => xml[all[from].span.clone()].to_owned(),
            false => with_attribute(&xml[all[from].span.clone()], "r", place),
        };
        let mut at = from + 1;
        while at <= to {
            let token = &all[at];
            if let Some(text) = formula_text.as_ref().filter(|_| formula == Some(at)) {
                written.push_str(text);
                at = formula_end + 1;
                continue;
            }
            // Without a value, programs compute it.
            if formula.is_some() && token.is_start("v") {
                at = end_of(all, at).ok_or(TemplateFault::Broken)? + 1;
                continue;
            }
            written.push_str(&xml[token.span.clone()]);
            at += 1;
        }
        Ok(written)
    }

    /// The element of a formula in its new place; `None` if it stays as it is.
    fn formula(
        &mut self,
        xml: &str,
        all: &[XmlToken<'_>],
        element: std::ops::RangeInclusive<usize>,
        (row, cell): (&FoundRow, &FoundCell),
        copy: Option<RowCopy>,
    ) -> Result<Option<String>, TemplateFault> {
        if self.book.is_empty() {
            return Ok(None);
        }
        let start = &all[*element.start()];
        let text = text_of(xml, &all[element])?;
        let place = place_of(&format!("{}{}", cell.column, row.number));
        let shared = attribute(xml, start, "t").filter(|kind| kind == "shared").and(attribute(xml, start, "si"));
        let name = start.prefix(xml);
        let (tag, own) = match (shared, place) {
            // Each of these cells gets its own text: rows that are inserted between them would change what they share.
            (Some(number), Some(place)) => {
                if !text.is_empty() {
                    self.shared.insert(number.clone(), (place, text.clone()));
                }
                let Some((from, text)) = self.shared.get(&number) else { return Ok(None) };
                if self.moves.is_empty() && !text.contains('!') {
                    return Ok(None);
                }
                (format!("<{name}f>"), shifted(text, *from, place))
            }
            _ => {
                let tag = &xml[start.span.clone()];
                // The cells of an array.
                let range = attribute(xml, start, "ref");
                let moved = range.map(|range| with_attribute(tag, "ref", &self.moves.ranges(&range, copy)));
                (moved.unwrap_or_else(|| tag.to_owned()), text.clone())
            }
        };
        let moved = self.book.formula(&own, Some(self.name), copy);
        if tag == xml[start.span.clone()] && moved == text {
            return Ok(None);
        }
        let close = if tag.ends_with("/>") { String::new() } else { format!("</{name}f>") };
        Ok(Some(format!("{tag}{}{close}", escaped(&moved))))
    }
}

/// Tables of a sheet cover the copies of a row in them.
fn move_tables(source: &mut TemplateSource<'_>, sheet: &str, moves: &RowMoves) -> Result<(), TemplateFault> {
    for part in source.related_of(sheet, &["table"])? {
        let Some(xml) = source.text(&part).map(str::to_owned) else { continue };
        let mut edits = TextEdits::default();
        for token in tokens(&xml)? {
            if let Some(range) = attribute_of_start(&xml, &token, "ref") {
                let tag = with_attribute(&xml[token.span.clone()], "ref", &moves.ranges(&range, None));
                edits.replace(token.span.clone(), tag);
            }
        }
        source.set(&part, edits.apply(&xml, MOST_SHEET)?)?;
    }
    Ok(())
}

/// Names of ranges, such as the one that is printed, and what charts show.
fn move_names_and_charts(source: &mut TemplateSource<'_>, main: &str, book: &BookMoves) -> Result<(), TemplateFault> {
    let charts = source.names().into_iter().filter(|name| name.starts_with("xl/charts/")).map(|part| (part, "f"));
    for (part, element) in charts.chain([(main.to_owned(), "definedName")]).collect::<Vec<_>>() {
        let Some(xml) = source.text(&part).map(str::to_owned) else { continue };
        let (all, mut edits) = (tokens(&xml)?, TextEdits::default());
        for (at, start) in all.iter().enumerate().filter(|(_, token)| token.is_opening(element)) {
            let end = end_of(&all, at).ok_or(TemplateFault::Broken)?;
            let text = text_of(&xml, &all[at..end])?;
            let moved = if element == "f" { book.series(&text) } else { book.formula(&text, None, None) };
            if moved != text {
                edits.replace(start.span.end..all[end].span.start, escaped(&moved).into_owned());
            }
        }
        let moved = edits.apply(&xml, MOST_SHEET)?;
        if moved != xml {
            source.set(&part, moved)?;
        }
    }
    Ok(())
}

fn attribute_of_start(xml: &str, token: &XmlToken<'_>, name: &str) -> Option<String> {
    matches!(token.kind, TokenKind::Start | TokenKind::Empty).then(|| attribute(xml, token, name))?
}

/// Programs compute the formulas anew when they open the file.
fn calculate_on_load(source: &mut TemplateSource<'_>, main: &str) -> Result<(), TemplateFault> {
    let Some(xml) = source.text(main).map(str::to_owned) else { return Ok(()) };
    let mut edits = TextEdits::default();
    for token in tokens(&xml)?.iter().filter(|token| token.is_start("calcPr")) {
        edits.replace(token.span.clone(), with_attribute(&xml[token.span.clone()], "fullCalcOnLoad", "1"));
    }
    let changed = edits.apply(&xml, MOST_SHEET)?;
    if changed == xml { Ok(()) } else { source.set(main, changed) }
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
    fn write(&self, source: &mut TemplateSource<'_>, main: &str, sheets: &[BookSheet]) -> Result<(), TemplateFault> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let part = source.related_of(main, &["styles"])?.into_iter().next().ok_or(TemplateFault::Broken)?;
        let xml = source.text(&part).map(str::to_owned).ok_or(TemplateFault::Broken)?;
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
        source.set(&part, changed)?;
        for BookSheet { part, .. } in sheets {
            let Some(mut sheet) = source.text(part).map(str::to_owned) else { continue };
            let before = sheet.clone();
            for (at, number) in numbers.iter().enumerate() {
                sheet = sheet.replace(&format!(" s=\"{}\"", LATER + at), &format!(" s=\"{number}\""));
            }
            if sheet != before {
                source.set(part, sheet)?;
            }
        }
        Ok(())
    }
}
