//! Where the rows of a workbook are after others were repeated, and what formulas and ranges become.

use std::collections::HashMap;

use crate::xlsx::column_name;

pub(super) const MOST_ROWS: usize = 1_048_576;
const MOST_COLUMNS: usize = 16_384;

/// The copy that something is in.
#[derive(Clone, Copy)]
pub(super) struct RowCopy {
    /// Its row in the template.
    pub(super) row: usize,
    /// Which of the copies it is, from 0.
    pub(super) number: usize,
}

/// The repeated rows of a sheet, in order.
#[derive(Default)]
pub(super) struct RowMoves(Vec<RepeatedRow>);

struct RepeatedRow {
    /// Its number in the template.
    row: usize,
    copies: usize,
    /// How many rows it and the repeated rows above it add.
    added: usize,
}

impl RowMoves {
    /// Each row is below the one before. Without values, one empty row is kept, so that what refers to it does not mean the next row.
    pub(super) fn repeat(&mut self, row: usize, copies: usize) {
        let above = self.0.last().map_or(0, |last| last.added);
        let copies = copies.max(1);
        self.0.push(RepeatedRow { row, copies, added: above + copies - 1 });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many copies a row has; `None` if it is not repeated.
    pub(super) fn copies(&self, row: usize) -> Option<usize> {
        let at = self.0.binary_search_by_key(&row, |repeated| repeated.row).ok()?;
        Some(self.0[at].copies)
    }

    /// Where a row begins, which may be behind the end of the sheet.
    pub(super) fn place(&self, row: usize) -> usize {
        // Only rows above move it.
        let above = self.0.partition_point(|repeated| repeated.row < row).checked_sub(1);
        row + above.map_or(0, |last| self.0[last].added)
    }

    fn start(&self, row: usize) -> usize {
        self.place(row).min(MOST_ROWS)
    }

    /// Where the last copy of a row is.
    pub(super) fn end(&self, row: usize) -> usize {
        (self.start(row) + self.copies(row).unwrap_or(1) - 1).min(MOST_ROWS)
    }

    /// The repeated row that a range is in, from its first cell to its last.
    pub(super) fn row_of(&self, range: &str) -> Option<usize> {
        let row = RangeCorner::parse(range.split(':').next()?)?.row?;
        let last = RangeCorner::parse(range.rsplit(':').next()?)?.row?;
        self.copies(row).filter(|_| last == row).map(|_| row)
    }

    /// The row of the first range of a list.
    pub(super) fn first_row(list: &str) -> Option<usize> {
        RangeCorner::parse(list.split([' ', ':']).next()?)?.row
    }

    /// A range, or a list of them: with all copies of a row, or with that of a copy alone.
    pub(super) fn ranges(&self, list: &str, copy: Option<RowCopy>) -> String {
        rewritten(list, |range, moved| {
            let first = range.first;
            let last = range.last.unwrap_or(first);
            let row = |corner: RangeCorner<'_>, is_last: bool| {
                let row = corner.row?;
                Some(match copy.filter(|copy| copy.row == row) {
                    Some(copy) => self.start(row) + copy.number,
                    None if is_last => self.end(row),
                    None => self.start(row),
                })
            };
            let (from, to) = (first.at(row(first, false)), last.at(row(last, true)));
            moved.push_str(&from);
            if range.last.is_some() || from != to {
                moved.push(':');
                moved.push_str(&to);
            }
        })
    }
}

/// The repeated rows of all sheets, by the names of the sheets in lower case.
#[derive(Default)]
pub(super) struct BookMoves(pub(super) HashMap<String, RowMoves>);

impl BookMoves {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(&self, sheet: &str) -> Option<&RowMoves> {
        self.0.get(&sheet.to_lowercase())
    }

    /// A formula of a sheet, or of none, such as a name of the workbook; `copy` is where on the sheet it is.
    pub(super) fn formula(&self, text: &str, home: Option<&str>, copy: Option<RowCopy>) -> String {
        self.moved(text, home, copy, false)
    }

    /// What a chart shows: of a cell in a repeated row, all copies.
    pub(super) fn series(&self, text: &str) -> String {
        self.moved(text, None, None, true)
    }

    fn moved(&self, text: &str, home: Option<&str>, copy: Option<RowCopy>, is_series: bool) -> String {
        rewritten(text, |range, moved| {
            let (name, is_home) = match &range.sheet {
                RangeSheet::Own => (home, true),
                RangeSheet::Named(name) => {
                    (Some(name.as_str()), home.is_some_and(|home| home.to_lowercase() == name.to_lowercase()))
                }
                RangeSheet::Elsewhere => (None, false),
            };
            let Some(moves) = name.and_then(|name| self.of(name)) else { return moved.push_str(range.text) };
            // In a copy, a cell of the same row means that of the copy, unless `$` fixes it.
            let own = |corner: RangeCorner<'_>| {
                let copy = copy.filter(|copy| is_home && Some(copy.row) == corner.row && !corner.is_row_fixed)?;
                Some(moves.start(copy.row) + copy.number)
            };
            let first = range.first;
            moved.push_str(&first.at(first.row.map(|row| own(first).unwrap_or_else(|| moves.start(row)))));
            let is_repeated = is_series && first.row.is_some_and(|row| moves.start(row) < moves.end(row));
            if let Some(last) = range.last.or(is_repeated.then_some(first)) {
                moved.push(':');
                // The end of a range goes behind the last copy.
                moved.push_str(&last.at(last.row.map(|row| own(last).unwrap_or_else(|| moves.end(row)))));
            }
        })
    }
}

/// A cell as its column and row, from 1.
pub(super) type CellPlace = (usize, usize);

/// A formula of one cell as another has it that shares it.
pub(super) fn shifted(text: &str, from: CellPlace, to: CellPlace) -> String {
    rewritten(text, |range, moved| {
        let corners = [Some(range.first), range.last];
        let shifted: Option<Vec<String>> = corners.iter().flatten().map(|corner| corner.shifted(from, to)).collect();
        // As programs say that there is no such cell.
        moved.push_str(&shifted.map_or_else(|| "#REF!".to_owned(), |corners| corners.join(":")));
    })
}

pub(super) fn place_of(cell: &str) -> Option<CellPlace> {
    let corner = RangeCorner::parse(cell)?;
    Some((corner.column_number()?, corner.row?))
}

/// A range in a formula.
struct FoundRange<'f> {
    text: &'f str,
    sheet: RangeSheet,
    first: RangeCorner<'f>,
    /// `None` for a single cell.
    last: Option<RangeCorner<'f>>,
}

/// What is in front of the `!` of a range.
#[derive(Default)]
enum RangeSheet {
    /// Nothing.
    #[default]
    Own,
    Named(String),
    /// Several sheets, or another workbook.
    Elsewhere,
}

/// `B5`, `$B$5`; a part of `B:B` or `5:5` has only a column or a row.
#[derive(Clone, Copy)]
struct RangeCorner<'f> {
    /// With its `$`.
    column: &'f str,
    is_row_fixed: bool,
    row: Option<usize>,
}

impl<'f> RangeCorner<'f> {
    fn parse(word: &'f str) -> Option<Self> {
        let bytes = word.as_bytes();
        let dollar = usize::from(bytes.first() == Some(&b'$'));
        let letters = bytes[dollar..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        // Without letters, the `$` belongs to the row.
        let column_end = if letters == 0 { 0 } else { dollar + letters };
        let column = &word[..column_end];
        let is_row_fixed = bytes.get(column_end) == Some(&b'$');
        let digits = &word[column_end + usize::from(is_row_fixed)..];
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let row = match digits {
            "" if !column.is_empty() && !is_row_fixed => None,
            _ if is_number => Some(digits.parse().ok().filter(|row| (1..=MOST_ROWS).contains(row))?),
            _ => return None,
        };
        let corner = Self { column, is_row_fixed, row };
        // Columns end at `XFD`; what looks like one behind it is a name.
        (column.is_empty() || corner.column_number().is_some()).then_some(corner)
    }

    fn column_number(&self) -> Option<usize> {
        let letters = self.column.trim_start_matches('$');
        if !(1..=3).contains(&letters.len()) {
            return None;
        }
        let number = letters.bytes().fold(0, |number, letter| number * 26 + usize::from(letter - b'A') + 1);
        (number <= MOST_COLUMNS).then_some(number)
    }

    fn is_cell(&self) -> bool {
        self.row.is_some() && !self.column.is_empty()
    }

    /// Whether both are cells, rows or columns.
    fn is_like(&self, other: &Self) -> bool {
        (self.row.is_some(), self.column.is_empty()) == (other.row.is_some(), other.column.is_empty())
    }

    fn at(&self, row: Option<usize>) -> String {
        let fixed = if self.is_row_fixed { "$" } else { "" };
        format!("{}{fixed}{}", self.column, row.map_or(String::new(), |row| row.to_string()))
    }

    fn shifted(&self, from: CellPlace, to: CellPlace) -> Option<String> {
        let by = |number: usize, from: usize, to: usize, most: usize| {
            (number + to).checked_sub(from).filter(|number| (1..=most).contains(number))
        };
        let row = match self.row {
            Some(row) if !self.is_row_fixed => Some(by(row, from.1, to.1, MOST_ROWS)?),
            row => row,
        };
        let column = match self.column_number() {
            Some(number) if !self.column.starts_with('$') => column_name(by(number, from.0, to.0, MOST_COLUMNS)? - 1),
            _ => self.column.to_owned(),
        };
        Some(RangeCorner { column: &column, ..*self }.at(row))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'\\' | b'?') || !byte.is_ascii()
}

/// Where the word that begins here ends.
fn word_end(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|byte| is_word(**byte)).count()
}

/// Behind the sign that ends what begins here; two of it are one in the text.
fn closing(bytes: &[u8], start: usize, sign: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        if bytes[at] == sign {
            if bytes.get(at + 1) != Some(&sign) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    bytes.len()
}

/// Behind the bracket that closes the one here.
fn closing_bracket(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    while at < bytes.len() {
        match bytes[at] {
            // A column of a table may have a bracket in its name.
            b'\'' => at += 1,
            b'[' => depth += 1,
            b']' if depth == 1 => return at + 1,
            b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// A formula with other ranges. What is in quotes or brackets, and names of sheets, functions and tables are not ranges.
fn rewritten(text: &str, mut write: impl FnMut(&FoundRange<'_>, &mut String)) -> String {
    let bytes = text.as_bytes();
    let next = |at: usize| bytes.get(at).copied();
    let (mut new, mut at, mut sheet) = (String::with_capacity(text.len()), 0, RangeSheet::Own);
    while at < bytes.len() {
        // The name of a sheet belongs to what follows its `!` alone.
        let before = std::mem::take(&mut sheet);
        let start = at;
        match bytes[at] {
            b'"' => at = closing(bytes, at, b'"'),
            b'\'' => {
                at = closing(bytes, at, b'\'');
                if next(at) == Some(b'!') {
                    let name = text[start + 1..at - 1].replace("''", "'");
                    sheet = match name.contains(['[', ':']) {
                        true => RangeSheet::Elsewhere,
                        false => RangeSheet::Named(name),
                    };
                    at += 1;
                }
            }
            b'[' => {
                at = closing_bracket(bytes, at);
                let end = word_end(bytes, at);
                // `[1]Sheet1!A6`
                if next(end) == Some(b'!') {
                    (at, sheet) = (end + 1, RangeSheet::Elsewhere);
                }
            }
            b'#' => {
                at = word_end(bytes, at + 1);
                // `#REF!` is not a sheet of this workbook.
                if next(at) == Some(b'!') {
                    (at, sheet) = (at + 1, RangeSheet::Elsewhere);
                }
            }
            byte if is_word(byte) => {
                at = word_end(bytes, at);
                let second = (next(at) == Some(b':')).then(|| at + 1..word_end(bytes, at + 1));
                if next(at) == Some(b'!') {
                    sheet = RangeSheet::Named(text[start..at].to_owned());
                    at += 1;
                } else if let Some(second) = &second
                    && !second.is_empty()
                    && next(second.end) == Some(b'!')
                {
                    // `First:Last!A6`
                    (at, sheet) = (second.end + 1, RangeSheet::Elsewhere);
                } else if !matches!(next(at), Some(b'(' | b'['))
                    && let Some(first) = RangeCorner::parse(&text[start..at])
                {
                    let last = second.filter(|second| !matches!(next(second.end), Some(b'(' | b'[')));
                    let last = last.and_then(|second| Some((RangeCorner::parse(&text[second.clone()])?, second.end)));
                    let last = last.filter(|(last, _)| last.is_like(&first));
                    if last.is_some() || first.is_cell() {
                        at = last.map_or(at, |(_, end)| end);
                        let last = last.map(|(last, _)| last);
                        write(&FoundRange { text: &text[start..at], sheet: before, first, last }, &mut new);
                        continue;
                    }
                }
            }
            _ => at += 1,
        }
        new.push_str(&text[start..at]);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(row: usize, copies: usize) -> BookMoves {
        let mut moves = RowMoves::default();
        moves.repeat(row, copies);
        BookMoves(HashMap::from([("fy h12 x's".to_owned(), moves)]))
    }

    #[test]
    fn formulas_and_ranges_follow_the_rows_of_their_sheet() {
        let moves = book(5, 3);
        let home = Some("FY H12 x's");
        for (formula, expected) in [
            ("SUM(C5:C5)", "SUM(C5:C7)"),
            ("SUM(C2:C4)", "SUM(C2:C4)"),
            ("C6+$C$6", "C8+$C$8"),
            ("A4", "A4"),
            ("LOG10(A6)", "LOG10(A8)"),
            ("\"A6\"&A6&\"x\"\"A6\"", "\"A6\"&A8&\"x\"\"A6\""),
            ("SUM(Other!A6:A9)+A6", "SUM(Other!A6:A9)+A8"),
            ("'Or H12 x'!A6:A9+A6", "'Or H12 x'!A6:A9+A8"),
            ("'FY H12 x''s'!A6:A9", "'FY H12 x''s'!A8:A11"),
            ("First:Last!A6+[1]Other!A6:A7+'[1]FY H12 x'!A6", "First:Last!A6+[1]Other!A6:A7+'[1]FY H12 x'!A6"),
            ("Bill[[#This Row],[A6]]+TAB6[A6]", "Bill[[#This Row],[A6]]+TAB6[A6]"),
            ("#REF!A6+#DIV/0!+A6", "#REF!A6+#DIV/0!+A8"),
            ("SUM(6:6)+SUM($1:$5)+SUM(A:A)+6", "SUM(8:8)+SUM($1:$7)+SUM(A:A)+6"),
            ("A6Z+Ü6+XFE6+A6.5", "A6Z+Ü6+XFE6+A6.5"),
            ("A6:INDEX(A:A,6)", "A8:INDEX(A:A,6)"),
            ("'unclosed A6", "'unclosed A6"),
            ("[unclosed A6", "[unclosed A6"),
        ] {
            assert_eq!(moves.formula(formula, home, None), expected, "{formula}");
        }
        let copy = Some(RowCopy { row: 5, number: 2 });
        assert_eq!(moves.formula("B5*C5+B$5+SUM(B$5:B5)", home, copy), "B7*C7+B$5+SUM(B$5:B7)");
        // Neither a name of the workbook nor another sheet means this sheet without saying so.
        for home in [None, Some("Other")] {
            assert_eq!(moves.formula("A6+'fy h12 x''s'!$A$5:$A$6", home, copy), "A6+'fy h12 x''s'!$A$5:$A$8");
        }
        assert_eq!(moves.series("'FY H12 x''s'!$A$5,Other!$A$5"), "'FY H12 x''s'!$A$5:$A$7,Other!$A$5");
        let moves = moves.of("FY H12 x's").unwrap();
        assert_eq!(moves.ranges("A1:D5 A6:D6 B5", None), "A1:D7 A8:D8 B5:B7");
        assert_eq!(moves.ranges("B5:D5 B5 A6", copy), "B7:D7 B7 A8");
        assert_eq!((moves.row_of("B5:D5"), moves.row_of("B5:D6"), moves.row_of("A6")), (Some(5), None, None));
    }

    #[test]
    fn a_row_without_values_is_kept() {
        let moves = book(5, 0);
        assert_eq!(moves.formula("SUM(C5:C5)+C6", Some("FY H12 x's"), None), "SUM(C5:C5)+C6");
    }

    #[test]
    fn a_shared_formula_is_that_of_the_cell() {
        for (formula, expected) in [
            ("B4*$C$2+SUM(B:B)", "C6*$C$2+SUM(C:C)"),
            ("Other!A6&\"A6\"", "Other!B8&\"A6\""),
            ("Z$1+$Z1+XFD1", "AA$1+$Z3+#REF!"),
            ("SUM(5:$6)", "SUM(7:$6)"),
        ] {
            assert_eq!(shifted(formula, (1, 1), (2, 3)), expected, "{formula}");
        }
        assert_eq!(shifted("B4+A1", (2, 4), (1, 1)), "A1+#REF!");
    }
}
