//! Rows of values, and what a text means as the value of a cell.

use lapidary_note::count_steps;
use serde::{Deserialize, Serialize};

/// A table with the names of its columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SheetTable {
    pub name: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<CellValue>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellValue {
    #[default]
    Empty,
    Number(f64),
    Boolean(bool),
    /// Days since the end of 1899, as spreadsheets count them.
    Day(i64),
    /// The same with a share of the day.
    Moment(f64),
    Text(String),
}

impl CellValue {
    /// A text that is nothing else, whatever it looks like.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() { Self::Empty } else { Self::Text(text) }
    }

    /// The value in words.
    pub fn shown(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Boolean(true) => "TRUE".to_owned(),
            Self::Boolean(false) => "FALSE".to_owned(),
            Self::Day(day) => shown_day(*day),
            Self::Moment(moment) => {
                // Seconds, as text has no more.
                #[expect(clippy::cast_possible_truncation, reason = "a moment is made of a day within four digits")]
                let seconds = (moment * 86_400.0).round() as i64;
                let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
                format!("{} {:02}:{:02}:{:02}", shown_day(day), rest / 3_600, rest / 60 % 60, rest % 60)
            }
            Self::Text(text) => text.clone(),
        }
    }
}

/// Numbers with more digits would be rounded, which is wrong for what they are: numbers of accounts, of books, of people.
const MOST_DIGITS: usize = 15;
/// 30 December 1899, which spreadsheets count from, in days since 1 March of the year 0.
const EPOCH: i64 = 693_899;
/// Before March 1900, spreadsheets count a day that never was.
const FIRST_DAY: i64 = 61;

/// What a text is: a number, a day, a moment or a truth value, if it is written in exactly one form of it; else text.
pub fn typed_cell(text: &str) -> CellValue {
    let trimmed = text.trim();
    match trimmed {
        "" => return CellValue::Empty,
        // In these spellings only: `True` may be a title.
        "true" | "TRUE" => return CellValue::Boolean(true),
        "false" | "FALSE" => return CellValue::Boolean(false),
        _ => {}
    }
    number(trimmed)
        .map(CellValue::Number)
        .or_else(|| moment(trimmed))
        .unwrap_or_else(|| CellValue::Text(trimmed.to_owned()))
}

/// A text that says it is one, which only may be a day or a moment.
pub fn dated_cell(text: &str) -> CellValue {
    moment(text.trim()).unwrap_or_else(|| CellValue::text(text))
}

/// A plain decimal number. With leading zeros, a sign in front or an exponent it is kept as it was written.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    // A leading zero means a code, such as that of a place, which as a number would lose it.
    let is_number = is_digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(is_digits);
    let is_short = whole.len() + fraction.map_or(0, str::len) <= MOST_DIGITS;
    (is_number && is_short).then(|| text.parse().ok())?
}

/// `2026-04-15`, `2026-04-15T09:30`, `2026-04-15 09:30:00`, and with parts of a second. A cell has no zone, so one with a zone is
/// the time on the clock there, as it is written.
fn moment(text: &str) -> Option<CellValue> {
    let (day, time) = match text.get(10..) {
        // Cut between letters only: a text with others in front is not a day anyway.
        None | Some("") => (text, None),
        Some(rest) => (text.get(..10)?, Some(rest.strip_prefix(['T', ' '])?)),
    };
    let day = day_number(day)?;
    let Some(time) = time else { return Some(CellValue::Day(day)) };
    let (seconds, behind) = match time.split_once('.') {
        Some((whole, rest)) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            // Parts of a second belong to seconds.
            ((1..=9).contains(&digits) && whole.len() == 8).then_some(())?;
            (seconds_of(whole)?, &rest[digits..])
        }
        None => {
            let end = time.find(['Z', '+', '-', '[']).unwrap_or(time.len());
            (seconds_of(&time[..end])?, &time[end..])
        }
    };
    is_zone(behind).then_some(())?;
    #[expect(clippy::cast_precision_loss, reason = "both are small")]
    let moment = day as f64 + seconds as f64 / 86_400.0;
    Some(CellValue::Moment(moment))
}

/// Nothing, `Z`, `+02:00`, `+0200`, or a name in brackets behind any of these.
fn is_zone(text: &str) -> bool {
    let (offset, name) = text.split_once('[').map_or((text, None), |(offset, name)| (offset, Some(name)));
    let digits = || offset.get(1..).unwrap_or_default().replacen(':', "", 1);
    let is_offset = match offset.as_bytes().first() {
        None => true,
        Some(b'Z') => offset.len() == 1,
        Some(b'+' | b'-') => digits().len() == 4 && digits().bytes().all(|byte| byte.is_ascii_digit()),
        Some(_) => false,
    };
    is_offset && name.is_none_or(|name| name.ends_with(']') && name.len() > 1)
}

fn seconds_of(time: &str) -> Option<i64> {
    let mut parts = time.split(':');
    let mut part = |below: i64| {
        let text = parts.next()?;
        // `parse` also takes a sign.
        let is_two = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|number| is_two && *number < below)
    };
    let (hours, minutes) = (part(24)?, part(60)?);
    // `09:30:` is longer as well, and fails at the missing part.
    let has_seconds = time.len() > 5;
    let seconds = if has_seconds { part(60)? } else { 0 };
    parts.next().is_none().then_some(hours * 3_600 + minutes * 60 + seconds)
}

fn day_number(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let is_form = bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() });
    if !is_form {
        return None;
    }
    let (year, month, day): (i64, i64, i64) =
        (text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    // Years that begin in March have their leap day at the end.
    let (shifted, month_from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * month_from_march + 2) / 5 + day - 1;
    Some(days - EPOCH).filter(|day| *day >= FIRST_DAY)
}

fn shown_day(day: i64) -> String {
    let days = day + EPOCH;
    // The year that contains the day, by the average length of a year and one step back.
    let mut year = (days * 400 / 146_097) + 1;
    let start = |year: i64| 365 * year + year / 4 - year / 100 + year / 400;
    while start(year) > days {
        year -= 1;
    }
    let of_year = days - start(year);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let (year, month) =
        if month_from_march < 10 { (year, month_from_march + 3) } else { (year + 1, month_from_march - 9) };
    format!("{year:04}-{month:02}-{day:02}")
}

/// What it takes in memory to read such a text, as an estimated upper bound.
pub fn csv_price(text: &str) -> u64 {
    const FIELD: u64 = 128;
    let fields = text.bytes().filter(|byte| matches!(byte, b',' | b';' | b'\t' | b'\n' | b'\r')).count() as u64;
    2 * text.len() as u64 + FIELD * (fields + 1)
}

/// A text of values with separators as rows: the first has the names of the columns. Quotes are read as RFC 4180 has them.
pub fn csv_table(text: &str) -> SheetTable {
    // Excel begins such files with a byte order mark, which would become part of the first name.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut records = csv_records(text, separator(text)).into_iter();
    let columns = records.next().unwrap_or_default().into_iter().map(|(text, _)| text.trim().to_owned()).collect();
    // Quotes are how a file says that `007` is a text.
    let cell = |(text, is_quoted): (String, bool)| if is_quoted { CellValue::text(text) } else { typed_cell(&text) };
    let rows = records.map(|record| record.into_iter().map(cell).collect()).collect();
    SheetTable { name: String::new(), columns, rows }
}

/// The one that is most often in the first line, outside of quotes.
fn separator(text: &str) -> char {
    let mut counts = [(',', 0), (';', 0), ('\t', 0)];
    let mut is_quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\n' | '\r' if !is_quoted => break,
            letter if !is_quoted => {
                counts.iter_mut().filter(|(mark, _)| *mark == letter).for_each(|(_, count)| *count += 1);
            }
            _ => {}
        }
    }
    // Of several with the same number, the first.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(',', |(mark, _)| mark)
}

/// Each field with whether it was in quotes. Empty lines are not records.
fn csv_records(text: &str, separator: char) -> Vec<Vec<(String, bool)>> {
    let (mut records, mut record) = (Vec::new(), Vec::new());
    let (mut field, mut was_quoted, mut is_open) = (String::new(), false, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        count_steps(1);
        match letter {
            // Two quotes within quotes are one.
            '"' if is_open && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' if is_open => is_open = false,
            letter if is_open => field.push(letter),
            // Only at the start: in the middle of a field, a quote is a letter.
            '"' if field.is_empty() => (is_open, was_quoted) = (true, true),
            letter if letter == separator => record.push((std::mem::take(&mut field), std::mem::take(&mut was_quoted))),
            // The line end that follows ends the record.
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' | '\r' => {
                // A field of two quotes is a value, though an empty one.
                if !record.is_empty() || !field.is_empty() || was_quoted {
                    record.push((std::mem::take(&mut field), std::mem::take(&mut was_quoted)));
                    records.push(std::mem::take(&mut record));
                }
            }
            letter => field.push(letter),
        }
    }
    if !record.is_empty() || !field.is_empty() || was_quoted {
        record.push((field, was_quoted));
        records.push(record);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_value_only_in_one_form() {
        for (text, expected) in [
            ("12", CellValue::Number(12.0)),
            ("-0.5", CellValue::Number(-0.5)),
            ("007", CellValue::Text("007".to_owned())),
            ("+49 30", CellValue::Text("+49 30".to_owned())),
            ("1e5", CellValue::Text("1e5".to_owned())),
            ("1.", CellValue::Text("1.".to_owned())),
            ("9783161484100123", CellValue::Text("9783161484100123".to_owned())),
            ("nan", CellValue::Text("nan".to_owned())),
            ("1,5", CellValue::Text("1,5".to_owned())),
            ("true", CellValue::Boolean(true)),
            ("True", CellValue::Text("True".to_owned())),
            ("1900-03-01", CellValue::Day(61)),
            ("1900-02-28", CellValue::Text("1900-02-28".to_owned())),
            ("2026-04-15", CellValue::Day(46_127)),
            ("2026-02-29", CellValue::Text("2026-02-29".to_owned())),
            ("2024-02-29", CellValue::Day(45_351)),
            ("2026-04-15T12:00", CellValue::Moment(46_127.5)),
            ("2026-04-15 06:00:00", CellValue::Moment(46_127.25)),
            ("2026-04-15T12:00Z", CellValue::Moment(46_127.5)),
            ("2026-04-15T12:00:00.123+02:00", CellValue::Moment(46_127.5)),
            ("2026-04-15T12:00:00[Europe/Berlin]", CellValue::Moment(46_127.5)),
            ("2026-04-15T12:00:00-0500", CellValue::Moment(46_127.5)),
            ("2026-04-15T12:00 to 13:00", CellValue::Text("2026-04-15T12:00 to 13:00".to_owned())),
            ("2026-04-15T12:00+2", CellValue::Text("2026-04-15T12:00+2".to_owned())),
            ("2026-04-15T12:00.5", CellValue::Text("2026-04-15T12:00.5".to_owned())),
            ("2026-04-15T12:00:00.5x", CellValue::Text("2026-04-15T12:00:00.5x".to_owned())),
            ("=1+1", CellValue::Text("=1+1".to_owned())),
            ("", CellValue::Empty),
        ] {
            assert_eq!(typed_cell(text), expected, "{text}");
        }
    }

    #[test]
    fn days_are_shown_as_they_were_written() {
        for text in ["1900-03-01", "1999-12-31", "2000-02-29", "2024-02-29", "2026-04-15", "9999-12-31"] {
            assert_eq!(typed_cell(text).shown(), text);
        }
        assert_eq!(typed_cell("2026-04-15T09:05:07").shown(), "2026-04-15 09:05:07");
    }

    #[test]
    fn separated_values_are_read_with_their_quotes() {
        let table = csv_table("\u{feff}name;price\r\n\"a;\"\"b\"\"\";1\r\n\r\n\"007\";\"2\nlines\"\n");
        assert_eq!(table.columns, ["name", "price"]);
        assert_eq!(
            table.rows,
            [
                [CellValue::Text("a;\"b\"".to_owned()), CellValue::Number(1.0)],
                [CellValue::Text("007".to_owned()), CellValue::Text("2\nlines".to_owned())],
            ]
        );
        assert_eq!(csv_table("a,b\n1").rows, [[CellValue::Number(1.0)]]);
        assert_eq!(csv_table("").columns, [""; 0]);
    }
}
