//! XLSX: a line for each row, by sheets.

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader, SheetVisible, Xlsx};
use lapidary_vault::DecodeFault;

use super::{PartCollector, archive::PartArchive};

/// Columns beyond this are not told apart: a cell at the far end is one more, not thousands of empty ones.
const MOST_GAP: u32 = 8;

pub(super) fn read(bytes: &[u8], parts: &mut PartCollector) -> Result<(), DecodeFault> {
    // The reader unpacks by itself, so the archive is looked at before.
    PartArchive::open(bytes)?.check_sizes()?;
    let mut book: Xlsx<Cursor<&[u8]>> = Xlsx::new(Cursor::new(bytes)).map_err(|error| match error {
        calamine::XlsxError::Password => DecodeFault::Locked,
        _ => DecodeFault::Broken,
    })?;
    let sheets: Vec<(String, bool)> = book
        .sheets_metadata()
        .iter()
        .map(|sheet| (sheet.name.clone(), sheet.visible == SheetVisible::Visible))
        .collect();
    parts.set_total(sheets.len());
    for (number, (name, is_visible)) in (1..).zip(&sheets) {
        if parts.is_full() {
            break;
        }
        // What its author has hidden is not for readers.
        if *is_visible {
            // A sheet of charts has no cells.
            let text = rows(&mut book, name, parts.room()).unwrap_or_default();
            parts.add(number, Some(name), &text);
        }
    }
    Ok(())
}

/// Cells one after the other: a sheet with two cells far apart takes no memory for those between.
fn rows(book: &mut Xlsx<Cursor<&[u8]>>, name: &str, most: usize) -> Option<String> {
    let mut cells = book.worksheet_cells_reader(name).ok()?;
    let (mut text, mut at) = (String::new(), (0, 0));
    let mut is_first = true;
    // What was read before a broken cell is still text of the sheet.
    while let Ok(Some(cell)) = cells.next_cell() {
        let value = shown(cell.get_value());
        if value.is_empty() {
            continue;
        }
        let (row, column) = cell.get_position();
        if is_first || row != at.0 {
            if !is_first {
                text.push('\n');
            }
        } else {
            // Tabs for empty cells keep the columns apart, up to a point.
            let gap = column.saturating_sub(at.1).clamp(1, MOST_GAP);
            text.extend(std::iter::repeat_n('\t', gap as usize));
        }
        (at, is_first) = ((row, column), false);
        text.push_str(&value);
        // A little too much, so that the text is seen to be cut.
        if text.len() > most {
            break;
        }
    }
    Some(text)
}

fn shown(value: &DataRef<'_>) -> String {
    // A line is a row, so a cell has no line ends.
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => one_line(text),
        DataRef::SharedString(text) => one_line(text),
        DataRef::Bool(true) => "TRUE".to_owned(),
        DataRef::Bool(false) => "FALSE".to_owned(),
        DataRef::DateTime(date) => moment(date),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

/// As ISO 8601, without a time of day if there is none.
fn moment(date: &ExcelDateTime) -> String {
    // A length of time has no day, and days before the first cannot be shown as one.
    if date.is_duration() || !date.as_f64().is_finite() || date.as_f64() < 0.0 {
        return date.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let day = format!("{year:04}-{month:02}-{day:02}");
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    if date.as_f64() < 1.0 {
        time
    } else if time == "00:00:00" {
        day
    } else {
        format!("{day} {time}")
    }
}
