//! Tables for a terminal.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns as wide as their content on a terminal, where some scripts take two cells per letter and accents none; the
/// last one is unlimited.
pub(super) fn print<const N: usize>(out: &mut dyn Write, rows: &[[String; N]]) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line += cell;
            // By the width on screen: wide characters take two columns.
            line += &" ".repeat(width - cell.width() + 2);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A table with a header that fits a width, or is as wide as it needs to be. What is too long is cut, in the widest columns
/// first.
pub(super) fn print_fitting(
    out: &mut dyn Write,
    header: &[String],
    rows: &[Vec<String>],
    most: Option<usize>,
) -> io::Result<()> {
    let natural = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain(header.get(column));
        cells.map(|cell| cell.width()).max().unwrap_or_default()
    };
    let mut widths: Vec<usize> = (0..header.len()).map(natural).collect();
    if let Some(most) = most {
        shrink(&mut widths, most);
    }
    let mut line = |cells: &[String]| {
        let cells = widths.iter().enumerate().map(|(column, width)| {
            let cell = cut(cells.get(column).map_or("", String::as_str), *width);
            format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
        });
        let line = cells.collect::<Vec<_>>().join(COLUMN_GAP);
        writeln!(out, "{}", line.trim_end())
    };
    line(header)?;
    line(&widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>())?;
    rows.iter().try_for_each(|row| line(row))
}

const COLUMN_GAP: &str = "  ";
/// Narrower columns say nothing.
const LEAST_WIDTH: usize = 4;

/// Takes from the widest columns until all fit, or all are as narrow as they may be.
fn shrink(widths: &mut [usize], most: usize) {
    let gaps = COLUMN_GAP.len() * widths.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(most);
    while over > 0 {
        // Narrower columns are kept whole as long as possible.
        let Some(widest) = widths.iter().copied().max().filter(|widest| *widest > LEAST_WIDTH) else { return };
        let next = widths.iter().copied().filter(|width| *width < widest).max().unwrap_or(0).max(LEAST_WIDTH);
        let count = widths.iter().filter(|width| **width == widest).count();
        // Down to the next widest, or evenly by what is missing.
        let step = (widest - next).min(over.div_ceil(count)).max(1);
        for width in widths.iter_mut().filter(|width| **width == widest) {
            let taken = step.min(over);
            *width -= taken;
            over -= taken;
        }
    }
}

/// As much of a cell as fits, with a mark if it is not all.
fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let mut kept = String::new();
    for c in cell.chars() {
        // One column is for the `…`.
        if kept.width() + c.width().unwrap_or_default() + 1 > width {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_in_every_script() {
        let row = |name: &str| [name.to_owned(), "x".to_owned()];
        let mut out = Vec::new();
        print(&mut out, &[row("plan"), row("日記"), row("cafe\u{301}"), row("")]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "plan  x\n日記  x\ncafe\u{301}  x\n      x\n");
    }

    fn fitted(most: Option<usize>) -> String {
        let words = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [words(["Plan", "a long text that goes on and on", "3"]), words(["日記日記日記", "", "12"])];
        let mut out = Vec::new();
        print_fitting(&mut out, &words(["File", "text", "n"]), &rows, most).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_fits_its_terminal_and_cuts_the_widest_column() {
        let wide = fitted(None);
        assert!(wide.contains("a long text that goes on and on  3"), "{wide}");
        for most in [60, 40, 30, 20, 3] {
            let narrow = fitted(Some(most));
            let longest = narrow.lines().map(UnicodeWidthStr::width).max().unwrap();
            assert!(longest <= most.max(3 * LEAST_WIDTH + 4), "{most}: {narrow}");
            assert_eq!(narrow.lines().count(), 4);
        }
        assert!(fitted(Some(30)).contains("a long text…  3"), "{}", fitted(Some(30)));
    }
}
