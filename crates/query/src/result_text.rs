//! Results of queries as text. Values are text of notes, so none may begin another row, and none may be a formula
//! for the program that opens the file.

use std::borrow::Cow;

/// A value for one line: line breaks of every kind become blanks.
pub fn joined_lines(text: &str) -> Cow<'_, str> {
    let ends_line = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    if !text.contains(ends_line) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", " ").replace(ends_line, " "))
}

/// One record of comma-separated values, as RFC 4180 has it. A cell that a spreadsheet would evaluate begins with `'`,
/// by which spreadsheets know text.
pub fn csv_record<C: AsRef<str>>(cells: impl IntoIterator<Item = C>) -> String {
    let mut record = String::new();
    for (at, cell) in cells.into_iter().enumerate() {
        let cell = cell.as_ref();
        record.push_str(if at > 0 { "," } else { "" });
        let mark = if is_formula(cell) { "'" } else { "" };
        if cell.contains([',', '"', '\n', '\r']) {
            record += &format!("\"{mark}{}\"", cell.replace('"', "\"\""));
        } else {
            record += mark;
            record += cell;
        }
    }
    record + "\r\n"
}

/// Whether a spreadsheet takes a cell for a formula. Numbers stay numbers.
fn is_formula(cell: &str) -> bool {
    // Programs drop some of these before they look, above all the byte order mark at the beginning of a file.
    let shown =
        cell.trim_start_matches(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{feff}' | '\u{200b}'));
    // The wide forms are operators where the keyboard writes them.
    let begins = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    (shown.starts_with(begins) || cell.starts_with(['\t', '\r', '\n'])) && cell.trim().parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_rows;

    #[test]
    fn a_value_is_one_line() {
        for (text, line) in
            [("a", "a"), ("a\r\nb\nc\rd", "a b c d"), ("a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f", "a b c d e f")]
        {
            assert_eq!(joined_lines(text), line);
        }
    }

    #[test]
    fn text_is_no_formula_and_numbers_stay_numbers() {
        for (cell, written) in [
            ("plain", "plain"),
            ("a=1", "a=1"),
            ("-5", "-5"),
            ("+1.5e3", "+1.5e3"),
            ("-Infinity", "-Infinity"),
            ("", ""),
            ("=1+1", "'=1+1"),
            ("+49 170 1", "'+49 170 1"),
            ("-2 days", "'-2 days"),
            ("-5+cmd|' /C calc'!A0", "'-5+cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("＝1", "'＝1"),
            ("\u{feff}=1", "'\u{feff}=1"),
            ("\0 =1", "'\0 =1"),
            (" -5", " -5"),
            (" ", " "),
            ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""),
        ] {
            assert_eq!(csv_record([cell]), format!("{written}\r\n"), "{cell:?}");
        }
        let read = csv_rows(&(csv_record(["=a", "b"]) + &csv_record(["-5", "=x, \"y\""])));
        let expected = serde_json::json!([{ "'=a": -5, "b": "'=x, \"y\"" }]);
        assert_eq!(
            read.into_iter()
                .map(|row| serde_json::Value::from(&crate::Value::Object(row)))
                .collect::<serde_json::Value>(),
            expected
        );
    }
}
