//! Tables for a terminal.

use std::io::{self, Write};

use lapidary_tools::quote::one_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::terminal_style::{TerminalStyle, TextPaint};

/// One cell: text on one line without control characters, and how it is painted.
#[derive(Clone, Debug, Default)]
pub(super) struct TableCell {
    text: String,
    paint: TextPaint,
    is_number: bool,
    /// Where the end of a text matters most, as in a path, its start is cut.
    keeps_end: bool,
    /// Its column is cut before others.
    gives_way: bool,
}

impl TableCell {
    pub(super) fn painted(self, paint: TextPaint) -> Self {
        Self { paint, ..self }
    }

    pub(super) fn strong(self) -> Self {
        self.painted(TextPaint::Strong)
    }

    pub(super) fn faint(self) -> Self {
        self.painted(TextPaint::Faint)
    }

    pub(super) fn name(self) -> Self {
        self.painted(TextPaint::Name)
    }

    pub(super) fn warning(self) -> Self {
        self.painted(TextPaint::Warning)
    }

    /// Aligned at its end.
    pub(super) fn number(self) -> Self {
        Self { is_number: true, ..self }
    }

    /// A path: the name at its end is the last to be cut.
    pub(super) fn path(self) -> Self {
        Self { keeps_end: true, ..self }
    }

    /// Matters less than the others: its column is cut first.
    pub(super) fn giving_way(self) -> Self {
        Self { gives_way: true, ..self }
    }

    fn shown(&self, width: usize, style: TerminalStyle) -> String {
        let text = if self.keeps_end { cut_start(&self.text, width) } else { cut(&self.text, width) };
        let blank = " ".repeat(width.saturating_sub(text.width()));
        let painted = style.painted(self.paint, &text);
        if self.is_number { blank + &painted } else { painted + &blank }
    }
}

impl<T: AsRef<str>> From<T> for TableCell {
    fn from(text: T) -> Self {
        Self { text: one_line(text.as_ref()).into_owned(), ..Self::default() }
    }
}

/// A table, with a header if there is one. On a terminal it fits the width: what is too long is cut, in the widest columns first.
pub(super) fn print_cells(
    out: &mut dyn Write,
    header: &[TableCell],
    rows: &[Vec<TableCell>],
    style: TerminalStyle,
) -> io::Result<()> {
    let natural = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain(header.get(column));
        // By the width on screen: wide characters take two columns, accents none.
        cells.map(|cell| cell.text.width()).max().unwrap_or_default()
    };
    let columns = rows.iter().map(Vec::len).chain([header.len()]).max().unwrap_or_default();
    let mut widths: Vec<usize> = (0..columns).map(natural).collect();
    if style.is_terminal {
        // One cell that gives way is enough for its column.
        let gives_way: Vec<bool> = (0..columns)
            .map(|column| rows.iter().filter_map(|row| row.get(column)).any(|cell| cell.gives_way))
            .collect();
        let over =
            (widths.iter().sum::<usize>() + COLUMN_GAP.len() * columns.saturating_sub(1)).saturating_sub(style.width);
        give_way(&mut widths, &gives_way, over);
        shrink(&mut widths, style.width);
    }
    // A row may have fewer cells than there are columns; those of cut log lines have one.
    for row in Some(header).filter(|header| !header.is_empty()).into_iter().chain(rows.iter().map(Vec::as_slice)) {
        let last = row.len().min(widths.len()).saturating_sub(1);
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let shown = cell.shown(*width, style);
            // Nothing follows, so nothing has to be aligned.
            if column == last { shown.trim_end().to_owned() } else { shown }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join(COLUMN_GAP).trim_end())?;
    }
    Ok(())
}

const COLUMN_GAP: &str = "  ";
/// Narrower columns say nothing.
const LEAST_WIDTH: usize = 4;

/// A name can still be recognised.
const LEAST_NAME: usize = 8;

/// Takes from the columns that matter less, as far as they are still of use.
fn give_way(widths: &mut [usize], gives_way: &[bool], mut over: usize) {
    for (width, _) in widths.iter_mut().zip(gives_way).filter(|(_, gives_way)| **gives_way) {
        let taken = width.saturating_sub(LEAST_NAME).min(over);
        *width -= taken;
        over -= taken;
    }
}

/// Takes from the widest columns until all fit, or all are as narrow as they may be.
fn shrink(widths: &mut [usize], most: usize) {
    let gaps = COLUMN_GAP.len() * widths.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(most);
    while over > 0 {
        // Narrower columns are kept whole as long as possible.
        let Some(widest) = widths.iter().copied().max().filter(|widest| *widest > LEAST_WIDTH) else { return };
        // The next width below the widest: all columns of the widest are taken down to it together.
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

/// As much of a text as fits, with a mark if it is not all.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = fitting(text.chars(), width);
    kept.push('…');
    kept
}

/// The same from its end.
fn cut_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = fitting(text.chars().rev(), width);
    std::iter::once('…').chain(kept.chars().rev()).collect()
}

/// The characters that fit beside a `…`.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> String {
    // The mark itself takes one column.
    let mut used = 1;
    let kept = characters.take_while(|c| {
        used += c.width().unwrap_or_default();
        used <= width
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(rows: &[Vec<TableCell>], header: &[&str], style: TerminalStyle) -> String {
        let header: Vec<TableCell> = header.iter().map(|name| TableCell::from(*name)).collect();
        let mut out = Vec::new();
        print_cells(&mut out, &header, rows, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_align_in_every_script() {
        let row = |name: &str| vec![name.into(), TableCell::from("1").number(), "x".into()];
        let rows = [row("plan"), row("日記"), row("cafe\u{301}"), row("")];
        assert_eq!(
            printed(&rows, &["name", "size", ""], TerminalStyle::plain()),
            "name  size\nplan     1  x\n日記     1  x\ncafe\u{301}     1  x\n         1  x\n"
        );
    }

    #[test]
    fn a_table_fits_its_terminal_and_cuts_the_widest_column() {
        let row = |cells: [&str; 3]| cells.map(TableCell::from).to_vec();
        let mut rows = vec![row(["Plan", "a long text that goes on and on", "3"]), row(["日記日記日記", "", "12"])];
        let header = ["File", "text", "n"];
        let wide = printed(&rows, &header, TerminalStyle::plain());
        assert!(wide.contains("a long text that goes on and on  3"), "{wide}");
        for most in [60, 40, 30, 20, 3] {
            let narrow = printed(&rows, &header, TerminalStyle::terminal(most, false));
            let longest = narrow.lines().map(UnicodeWidthStr::width).max().unwrap();
            assert!(longest <= most.max(3 * LEAST_WIDTH + 4), "{most}: {narrow}");
            assert_eq!(narrow.lines().count(), 3);
        }
        let narrow = printed(&rows, &header, TerminalStyle::terminal(30, false));
        assert!(narrow.contains("a long text…  3"), "{narrow}");
        rows[0][1] = TableCell::from("Projects/Long/Way/Roof.md").path();
        let narrow = printed(&rows, &header, TerminalStyle::terminal(30, false));
        assert!(narrow.contains("…Way/Roof.md"), "{narrow}");
    }

    #[test]
    fn what_matters_less_is_cut_first() {
        let row = vec![
            TableCell::from("4f2a"),
            TableCell::from("a client of many words").giving_way(),
            "Projects/Roof.md".into(),
        ];
        let text = printed(&[row], &["id", "by", "note"], TerminalStyle::terminal(40, false));
        assert!(text.ends_with("4f2a  a client of man…  Projects/Roof.md\n"), "{text}");
    }

    #[test]
    fn a_cell_is_one_visible_line_and_colours_do_not_count() {
        let rows =
            [vec![TableCell::from("a\n\u{1b}[2Jb").painted(TextPaint::Bad), "x".into()], vec!["c".into(), "y".into()]];
        let text = printed(&rows, &["n", "m"], TerminalStyle::terminal(80, true));
        assert!(!text.contains("\u{1b}[2J"), "{text:?}");
        assert_eq!(text.lines().count(), 3);
        let plain = printed(&rows, &["n", "m"], TerminalStyle::terminal(80, false));
        assert_eq!(text.replace("\u{1b}[31m", "").replace("\u{1b}[0m", ""), plain);
    }
}
