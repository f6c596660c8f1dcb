//! Tables for a terminal.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

/// Columns as wide as their content on a terminal, where some scripts take two cells per letter and accents none; the
/// last one is unlimited.
pub(super) fn print<const N: usize>(out: &mut dyn Write, rows: &[[String; N]]) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line += cell;
            line += &" ".repeat(width - cell.width() + 2);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
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
}
