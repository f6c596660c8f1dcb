//! XLSX: a sheet for each table, with values of their types. A text is never a formula: it is stored as text, and marked so that it
//! stays one when a user edits the cell.

use std::collections::{HashMap, HashSet};

use lapidary_note::{HeldMemory, count_steps};
use unicode_width::UnicodeWidthStr;

use crate::{
    DocumentFacts,
    cells::{CellValue, SheetTable},
    package::{OFFICE_RELATION, Package, Relations, WriteFault, WrittenDocument, is_too_long},
    xml::{DECLARATION, escaped},
};

/// What a workbook is made of.
pub struct XlsxParts<'d> {
    pub tables: &'d [SheetTable],
    pub facts: &'d DocumentFacts,
    pub most_bytes: usize,
}

/// The limits of the format.
const MOST_ROWS: usize = 1_048_575;
const MOST_COLUMNS: usize = 16_384;
const LONGEST_TEXT: usize = 32_767;
const LONGEST_NAME: usize = 31;
const MOST_SHEETS: usize = 250;

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const BOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";
const SHEET: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml";
const STYLES: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml";
const STRINGS: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml";

/// The numbers of the formats in [`styles`].
mod formats {
    pub(super) const HEADER: u8 = 1;
    pub(super) const DAY: u8 = 2;
    pub(super) const MOMENT: u8 = 3;
    pub(super) const LINES: u8 = 4;
    pub(super) const QUOTED: u8 = 5;
}

pub fn write_xlsx(parts: &XlsxParts<'_>) -> Result<WrittenDocument, WriteFault> {
    let XlsxParts { tables, facts, most_bytes } = parts;
    if tables.is_empty() {
        return Err(WriteFault::Incomplete);
    }
    if tables.len() > MOST_SHEETS {
        return Err(WriteFault::TooMany { most: MOST_SHEETS });
    }
    let (mut package, mut relations, mut texts) =
        (Package::new(*most_bytes), Relations::default(), SharedTexts::default());
    let (mut sheets, mut names) = (String::new(), String::new());
    for ((number, table), name) in tables.iter().enumerate().zip(sheet_names(tables)) {
        // A row may have more values than there are names.
        let (rows, columns) = (table.rows.len(), width(table));
        if rows > MOST_ROWS {
            return Err(WriteFault::TooManyRows { most: MOST_ROWS });
        }
        if columns > MOST_COLUMNS {
            return Err(WriteFault::TooManyColumns { most: MOST_COLUMNS });
        }
        let part = format!("worksheets/sheet{}.xml", number + 1);
        package.part(&format!("xl/{part}"), SHEET, sheet(table, number == 0, &mut texts))?;
        let id = relations.part("worksheet", &part);
        sheets += &format!("<sheet name=\"{}\" sheetId=\"{}\" r:id=\"{id}\"/>", escaped(&name), number + 1);
        if columns > 0 {
            // Programs look for the filter under this name.
            names += &format!(
                "<definedName name=\"_xlnm._FilterDatabase\" localSheetId=\"{number}\" hidden=\"1\">{}!$A$1:${}${}</definedName>",
                escaped(&format!("'{}'", name.replace('\'', "''"))),
                column_name(columns - 1),
                rows + 1
            );
        }
    }
    package.part("xl/styles.xml", STYLES, styles())?;
    relations.part("styles", "styles.xml");
    package.part("xl/sharedStrings.xml", STRINGS, texts.xml())?;
    relations.part("sharedStrings", "sharedStrings.xml");
    let names = if names.is_empty() { names } else { format!("<definedNames>{names}</definedNames>") };
    package.part(
        "xl/workbook.xml",
        BOOK,
        format!(
            "{DECLARATION}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE_RELATION}\"><bookViews><workbookView/></bookViews>\
             <sheets>{sheets}</sheets>{names}</workbook>"
        ),
    )?;
    package.relations("xl/workbook.xml", &relations)?;
    let bytes = package.finish("xl/workbook.xml", facts)?;
    Ok(WrittenDocument { bytes, texts_cut: texts.cut, ..WrittenDocument::default() })
}

fn width(table: &SheetTable) -> usize {
    table.rows.iter().map(Vec::len).fold(table.columns.len(), usize::max)
}

/// The names that the sheets of these tables have, which may be others than those of the tables.
pub fn sheet_names(tables: &[SheetTable]) -> Vec<String> {
    let mut taken = HashSet::new();
    tables.iter().map(|table| sheet_name(&table.name, &mut taken)).collect()
}

/// A name that a sheet may have, and no other sheet has.
fn sheet_name(wanted: &str, taken: &mut HashSet<String>) -> String {
    // Excel takes no apostrophe at either end, where the cut may leave one.
    let is_edge = |letter: char| letter == '\'' || letter == ' ';
    let plain: String = wanted
        .chars()
        .filter(|letter| crate::xml::is_legal(*letter) && !letter.is_control())
        .map(|letter| if matches!(letter, '[' | ']' | ':' | '*' | '?' | '/' | '\\') { ' ' } else { letter })
        .collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = plain.trim_matches(is_edge);
    // Excel keeps this one for itself.
    let plain = if plain.is_empty() || plain.eq_ignore_ascii_case("history") { "Sheet" } else { plain };
    (1..)
        .map(|number| {
            let behind = if number == 1 { String::new() } else { format!(" {number}") };
            // The number has to fit as well, so the name gives way.
            format!("{}{behind}", cut(plain, LONGEST_NAME - behind.len()).trim_end_matches(is_edge))
        })
        // Excel compares the names of sheets without case.
        .find(|name| taken.insert(name.to_lowercase()))
        .unwrap_or_default()
}

/// At most this many units of UTF-16, which is what spreadsheets count.
fn cut(text: &str, most: usize) -> &str {
    let mut units = 0;
    let end = text.char_indices().find(|(_, letter)| {
        units += letter.len_utf16();
        units > most
    });
    end.map_or(text, |(at, _)| &text[..at])
}

fn sheet(table: &SheetTable, is_first: bool, texts: &mut SharedTexts) -> String {
    let columns = width(table);
    let mut xml = format!("{DECLARATION}<worksheet xmlns=\"{MAIN}\">");
    if columns > 0 {
        xml += &format!("<dimension ref=\"A1:{}{}\"/>", column_name(columns - 1), table.rows.len() + 1);
    }
    let chosen = if is_first { " tabSelected=\"1\"" } else { "" };
    xml += &format!(
        "<sheetViews><sheetView{chosen} workbookViewId=\"0\"><pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" \
         state=\"frozen\"/><selection pane=\"bottomLeft\"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight=\"15\"/>"
    );
    if columns > 0 {
        xml += "<cols>";
        for (number, width) in (1..).zip(widths(table, columns)) {
            xml += &format!("<col min=\"{number}\" max=\"{number}\" width=\"{width}\" customWidth=\"1\"/>");
        }
        xml += "</cols>";
    }
    xml += "<sheetData>";
    if columns > 0 {
        xml += "<row r=\"1\">";
        for (column, name) in table.columns.iter().enumerate() {
            let text = texts.number(name);
            xml += &format!("<c r=\"{}1\" s=\"{}\" t=\"s\"><v>{text}</v></c>", column_name(column), formats::HEADER);
        }
        xml += "</row>";
    }
    let mut held = HeldMemory::default();
    for (number, row) in (2..).zip(&table.rows) {
        if is_too_long(&xml) || is_too_long(&texts.xml) {
            return xml;
        }
        count_steps(64 + 16 * row.len());
        held.grow_to(xml.capacity());
        xml += &format!("<row r=\"{number}\">");
        for (column, value) in row.iter().enumerate() {
            let place = format!("{}{number}", column_name(column));
            xml += &match value {
                CellValue::Empty => continue,
                CellValue::Number(number) if number.is_finite() => format!("<c r=\"{place}\"><v>{number}</v></c>"),
                // Neither is a number in a spreadsheet.
                CellValue::Number(number) => text_cell(&place, &number.to_string(), texts),
                CellValue::Boolean(value) => format!("<c r=\"{place}\" t=\"b\"><v>{}</v></c>", u8::from(*value)),
                CellValue::Day(day) => format!("<c r=\"{place}\" s=\"{}\"><v>{day}</v></c>", formats::DAY),
                CellValue::Moment(moment) => format!("<c r=\"{place}\" s=\"{}\"><v>{moment}</v></c>", formats::MOMENT),
                CellValue::Text(text) => text_cell(&place, text, texts),
            };
        }
        xml += "</row>";
    }
    xml += "</sheetData>";
    if columns > 0 {
        xml += &format!("<autoFilter ref=\"A1:{}{}\"/>", column_name(columns - 1), table.rows.len() + 1);
    }
    xml + "</worksheet>"
}

fn text_cell(place: &str, text: &str, texts: &mut SharedTexts) -> String {
    // `quotePrefix` is the apostrophe that users type: without it, an edited cell becomes a formula.
    let format = match text {
        text if looks_like_formula(text) => formats::QUOTED,
        text if text.contains('\n') => formats::LINES,
        _ => 0,
    };
    let number = texts.number(text);
    format!("<c r=\"{place}\" s=\"{format}\" t=\"s\"><v>{number}</v></c>")
}

/// Whether a program would take it for a formula if it were typed.
pub(crate) fn looks_like_formula(text: &str) -> bool {
    text.trim_start().starts_with(['=', '+', '-', '@'])
}

/// Every text once, in the order of their first use.
#[derive(Default)]
struct SharedTexts {
    numbers: HashMap<String, usize>,
    xml: String,
    uses: usize,
    /// How many uses are of a text that is longer than a cell takes.
    cut: usize,
    held: HeldMemory,
}

impl SharedTexts {
    fn number(&mut self, text: &str) -> usize {
        self.uses += 1;
        // With a longer text, Excel reports the workbook as damaged.
        let whole = text;
        let text = cut(whole, LONGEST_TEXT);
        self.cut += usize::from(text.len() < whole.len());
        count_steps(text.len() / 16);
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(text.to_owned(), number);
        self.xml.push_str(&format!("<si><t xml:space=\"preserve\">{}</t></si>", escaped(&kept_escapes(text))));
        // Each text is also a key, in a table that has room for more.
        self.held.add(2 * text.len() as u64 + 128);
        number
    }

    fn xml(&self) -> String {
        format!(
            "{DECLARATION}<sst xmlns=\"{MAIN}\" count=\"{}\" uniqueCount=\"{}\">{}</sst>",
            self.uses,
            self.numbers.len(),
            self.xml
        )
    }
}

/// Spreadsheets read `_x000D_` as a character; a text that only looks so gets its first sign escaped in that way.
pub(crate) fn kept_escapes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        let is_escape = letter == '_'
            && text.as_bytes().get(at + 1) == Some(&b'x')
            && text.as_bytes().get(at + 6) == Some(&b'_')
            && text.as_bytes()[at + 2..at + 6].iter().all(u8::is_ascii_hexdigit);
        if is_escape {
            kept.push_str("_x005F");
        }
        kept.push(letter);
    }
    kept
}

/// `A` to `XFD`.
pub(crate) fn column_name(mut column: usize) -> String {
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'A' + u8::try_from(column % 26).unwrap_or(0)));
        if column < 26 {
            return name;
        }
        // Not a number of base 26: after `Z` comes `AA`, and no letter means zero.
        column = column / 26 - 1;
    }
}

/// As wide as the longest line of the first rows, within reason.
fn widths(table: &SheetTable, columns: usize) -> Vec<usize> {
    const LOOKED_AT: usize = 1_000;
    const WIDEST: usize = 60;
    let mut widths = vec![6; columns];
    let mut widen = |column: usize, text: &str| {
        // Only as much as may count is measured, since a cell can be long.
        let longest = text.lines().take(100).map(|line| cut(line, WIDEST).width()).max().unwrap_or(0);
        widths[column] = widths[column].max(longest.min(WIDEST));
    };
    for (column, name) in table.columns.iter().enumerate() {
        // Room for the arrow of the filter.
        widen(column, &format!("{}   ", cut(name, WIDEST)));
    }
    for row in table.rows.iter().take(LOOKED_AT) {
        for (column, value) in row.iter().enumerate() {
            match value {
                CellValue::Text(text) => widen(column, text),
                value => widen(column, &value.shown()),
            }
        }
    }
    widths.into_iter().map(|width| width + 2).collect()
}

/// In the order of [`formats`].
fn styles() -> String {
    let format = |number: u8, font: u8, fill: u8, more: &str, inner: &str| {
        format!(
            "<xf numFmtId=\"{number}\" fontId=\"{font}\" fillId=\"{fill}\" borderId=\"0\" xfId=\"0\"{more}>{inner}</xf>"
        )
    };
    // Beside a cell of several lines, the others begin at the top, too.
    let top = "<alignment vertical=\"top\"/>";
    let lines = "<alignment vertical=\"top\" wrapText=\"1\"/>";
    let formats = [
        format(0, 0, 0, " applyAlignment=\"1\"", top),
        format(0, 1, 2, " applyFont=\"1\" applyFill=\"1\"", ""),
        format(164, 0, 0, " applyNumberFormat=\"1\" applyAlignment=\"1\"", top),
        format(165, 0, 0, " applyNumberFormat=\"1\" applyAlignment=\"1\"", top),
        format(0, 0, 0, " applyAlignment=\"1\"", lines),
        format(0, 0, 0, " quotePrefix=\"1\" applyAlignment=\"1\"", lines),
    ];
    format!(
        "{DECLARATION}<styleSheet xmlns=\"{MAIN}\"><numFmts count=\"2\"><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\"/>\
         <numFmt numFmtId=\"165\" formatCode=\"yyyy\\-mm\\-dd\\ hh:mm:ss\"/></numFmts><fonts count=\"2\"><font><sz val=\"11\"/>\
         <name val=\"Calibri\"/><family val=\"2\"/></font><font><b/><sz val=\"11\"/><name val=\"Calibri\"/><family val=\"2\"/></font>\
         </fonts><fills count=\"3\"><fill><patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/></fill>\
         <fill><patternFill patternType=\"solid\"><fgColor rgb=\"FFEEF1F6\"/><bgColor indexed=\"64\"/></patternFill></fill></fills>\
         <borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count=\"1\">\
         <xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs><cellXfs count=\"{}\">{}</cellXfs>\
         <cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>",
        formats.len(),
        formats.concat()
    )
}
