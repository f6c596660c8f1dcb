//! Tables in CSV files, read as Dataview reads them: with a header, typed cells, and `#` for comments.

use std::collections::{HashMap, HashSet};

use crate::{Number, Object, Value};

const DELIMITERS: [u8; 6] = [b',', b'\t', b'|', b';', 0x1e, 0x1f];
/// How many records are examined to find the delimiter.
const PREVIEW: usize = 10;
/// Under this name are the cells beyond the header.
const EXTRA: &str = "__parsed_extra";

/// The rows below the header. No text is too odd: what is broken is read as far as it goes.
pub fn csv_rows(text: &str) -> Vec<Object> {
    // Or the name of the first column would begin with it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut records = Records::new(text, guessed_delimiter(text));
    let Some(header) = records.next() else { return Vec::new() };
    let header = distinct(header);
    records.map(|cells| row(&header, cells)).collect()
}

fn row(header: &[String], cells: Vec<String>) -> Object {
    let mut cells = cells.into_iter();
    let mut row: Object = header.iter().zip(cells.by_ref()).map(|(name, cell)| (name.clone(), typed(cell))).collect();
    let extra: Vec<Value> = cells.map(typed).collect();
    if !extra.is_empty() {
        row.insert(EXTRA.to_owned(), Value::List(extra));
    }
    row
}

/// A name that comes again gets a number.
fn distinct(header: Vec<String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    let mut known = HashSet::new();
    // Lower numbers are taken, and need not be tried again.
    let mut next_numbers: HashMap<String, usize> = HashMap::new();
    for name in header {
        let next = next_numbers.entry(name.clone()).or_insert(1);
        let mut free = name.clone();
        while known.contains(&free) {
            free = format!("{name}_{next}");
            *next += 1;
        }
        known.insert(free.clone());
        names.push(free);
    }
    names
}

fn typed(cell: String) -> Value {
    match cell.as_str() {
        "" => Value::Null,
        "true" | "TRUE" => Value::Boolean(true),
        "false" | "FALSE" => Value::Boolean(false),
        text => number(text).unwrap_or(Value::Text(cell)),
    }
}

fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    // Rust would read `inf`, `+1` and `1_0` differently from JavaScript's pattern for numbers.
    let fits = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let begins = digits.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = (fits && begins).then(|| text.parse().ok())??;
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    (number.abs() < LARGEST).then(|| {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
        let whole = number as i64;
        Value::Number(if number.fract() == 0.0 { Number::Integer(whole) } else { Number::Float(number) })
    })
}

/// The character that cuts the first records into the most even numbers of cells.
fn guessed_delimiter(text: &str) -> u8 {
    let (mut best, mut least_change, mut most_cells) = (b',', None, None);
    for delimiter in DELIMITERS {
        let counts: Vec<usize> = Records::new(text, delimiter).take(PREVIEW).map(|cells| cells.len()).collect();
        if counts.is_empty() {
            continue;
        }
        let change: usize = counts.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
        // In thousandths, so that both can be compared exactly.
        let cells = counts.iter().sum::<usize>() * 1000 / counts.len();
        // The same rule as Papa Parse, which Dataview uses: steadier than the best so far, and more cells.
        let is_better = least_change.is_none_or(|least| change <= least) && most_cells.is_none_or(|most| cells > most);
        // Nearly two cells on average: a character that rarely occurs is not a delimiter.
        if is_better && cells > 1990 {
            (best, least_change, most_cells) = (delimiter, Some(change), Some(cells));
        }
    }
    best
}

/// The records of a text that are neither empty nor comments.
struct Records<'t> {
    rest: Option<&'t str>,
    delimiter: u8,
}

impl<'t> Records<'t> {
    fn new(text: &'t str, delimiter: u8) -> Self {
        Self { rest: Some(text), delimiter }
    }

    /// The cells of the record at the beginning of a text, and what is behind it.
    fn record(&self, text: &'t str) -> (Vec<String>, Option<&'t str>) {
        let mut cells = Vec::new();
        let mut rest = text;
        loop {
            let (cell, after) = self.cell(rest);
            cells.push(cell);
            match after.as_bytes().first() {
                None => return (cells, None),
                // Checked before a single `\r`, or the `\n` would start an empty record.
                Some(b'\r') if after.as_bytes().get(1) == Some(&b'\n') => return (cells, Some(&after[2..])),
                Some(b'\r' | b'\n') => return (cells, Some(&after[1..])),
                // All delimiters are one byte.
                Some(_) => rest = &after[1..],
            }
        }
    }

    fn cell(&self, text: &'t str) -> (String, &'t str) {
        let ends = |byte: u8| byte == self.delimiter || byte == b'\n' || byte == b'\r';
        if let Some(inside) = text.strip_prefix('"') {
            let mut at = 0;
            while let Some(quote) = inside[at..].find('"').map(|found| at + found) {
                // A doubled quote is a quote in the text.
                if inside.as_bytes().get(quote + 1) == Some(&b'"') {
                    at = quote + 2;
                    continue;
                }
                let after = &inside[quote + 1..];
                let blanks = after.len() - after.trim_start_matches(' ').len();
                if after.as_bytes().get(blanks).is_none_or(|byte| ends(*byte)) {
                    return (inside[..quote].replace("\"\"", "\""), &after[blanks..]);
                }
                // An undoubled quote inside a quoted cell.
                at = quote + 1;
            }
            // Never closed: the rest of the file is the cell.
            return (inside.replace("\"\"", "\""), "");
        }
        let end = text.bytes().position(ends).unwrap_or(text.len());
        (text[..end].to_owned(), &text[end..])
    }
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        loop {
            let text = self.rest.take()?;
            if text.starts_with('#') {
                self.rest = text.find(['\n', '\r']).map(|end| &text[end + 1..]);
                continue;
            }
            let (cells, rest) = self.record(text);
            self.rest = rest;
            // A blank line is not a record with one empty cell.
            if cells.len() > 1 || cells.first().is_some_and(|cell| !cell.is_empty()) {
                return Some(cells);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;

    fn read(text: &str) -> Json {
        csv_rows(text).into_iter().map(|row| Json::from(&Value::Object(row))).collect()
    }

    #[test]
    fn names_that_come_again_are_numbered_each_once() {
        let names = |header: &str| distinct(header.split(',').map(str::to_owned).collect());
        assert_eq!(names("a,a_1,a,a,b,a_1"), ["a", "a_1", "a_2", "a_3", "b", "a_1_1"]);
        // As many as that would not end if all numbers were tried again.
        let many = names(&vec!["a"; 200_000].join(","));
        assert_eq!(many.last().unwrap(), "a_199999");
    }

    #[test]
    fn tables_are_read_as_papaparse_reads_them() {
        for (text, expected) in [
            ("a,b\n1,x\n", json!([{ "a": 1, "b": "x" }])),
            ("a;b\r\n1.5;-2\r\n", json!([{ "a": 1.5, "b": -2 }])),
            ("a\tb\n true\tTRUE\n", json!([{ "a": " true", "b": true }])),
            ("# note\na,b\n#x\n\n1,\n", json!([{ "a": 1, "b": null }])),
            ("a,b\n\"x, \"\"y\"\"\n2\",3\n", json!([{ "a": "x, \"y\"\n2", "b": 3 }])),
            ("a,a\n1,2\n", json!([{ "a": 1, "a_1": 2 }])),
            ("a,b\n1,2,3\n4\n", json!([{ "a": 1, "b": 2, "__parsed_extra": [3] }, { "a": 4 }])),
            ("a\n1e3\n.5\n1.\n+1\n", json!([{ "a": 1000 }, { "a": 0.5 }, { "a": 1 }, { "a": "+1" }])),
            ("a\n2026-01-02\n9007199254740993\n", json!([{ "a": "2026-01-02" }, { "a": "9007199254740993" }])),
            ("", json!([])),
            ("a,b", json!([])),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_be_a_table(text in "[a1,;\"#\\r\\n é]{0,60}") {
            prop_assert!(csv_rows(&text).len() <= text.len());
        }
    }
}
