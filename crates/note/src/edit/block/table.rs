//! Rows of cells for a table.

use std::ops::Range;

use super::{own_span, row};
use crate::{
    Block, BlockKind, Document,
    edit::{EditError, EditResult, TextChange},
    text::plain_line_ends,
};

impl Document {
    /// Adds rows at the end of a table. A pipe or a line break in a cell is escaped so that it stays in the cell.
    pub fn append_rows(&self, table: &Block, rows: &[Vec<String>]) -> Result<EditResult, EditError> {
        self.edit_rows(table, rows, |body| body.end..body.end)
    }

    /// Adds rows right below the head of a table.
    pub fn prepend_rows(&self, table: &Block, rows: &[Vec<String>]) -> Result<EditResult, EditError> {
        self.edit_rows(table, rows, |body| body.start..body.start)
    }

    /// Gives a table other rows; its head stays.
    pub fn replace_rows(&self, table: &Block, rows: &[Vec<String>]) -> Result<EditResult, EditError> {
        self.edit_rows(table, rows, |body| body)
    }

    fn edit_rows(
        &self,
        table: &Block,
        rows: &[Vec<String>],
        place: impl Fn(Range<usize>) -> Range<usize>,
    ) -> Result<EditResult, EditError> {
        let span = own_span(self, table)?;
        let old = &self.shown()[span.clone()];
        let mut lines = old.match_indices('\n').map(|(at, _)| at);
        let (BlockKind::Table, Some(head)) = (table.kind, lines.next()) else {
            return Err(EditError::NotATable { id: table.id.clone() });
        };
        let body = span.start + lines.next().unwrap_or(old.len())..span.end;
        let indent = &old[..old.len() - old.trim_start().len()];
        let mut new = String::new();
        for cells in rows {
            new += &format!("\n{indent}{}", row_of(&old[..head], cells)?);
        }
        // A cell that ends like a block id would name its row.
        self.write_block_if(table, TextChange::new(place(body), new), &table.id, |before, after| {
            after.blocks.iter().all(|block| before.blocks.iter().any(|known| known.id == block.id))
        })
    }
}

/// A row for a table with this head.
pub(in crate::edit) fn row_of(head: &str, cells: &[String]) -> Result<String, EditError> {
    let expected = row::columns(row::inner(head));
    if cells.len() != expected {
        return Err(EditError::Columns { expected, found: cells.len() });
    }
    // With both outer pipes even empty cells at the ends are cells.
    let cells: Vec<String> = cells.iter().map(|cell| written(cell)).collect();
    Ok(format!("| {} |", cells.join(" | ")))
}

/// A cell on one line. A pipe that is already escaped is kept.
fn written(cell: &str) -> String {
    let mut written = String::with_capacity(cell.len());
    let mut escaped = false;
    for c in plain_line_ends(cell).trim().chars() {
        match c {
            '\n' => written += "<br>",
            '|' if !escaped => written += "\\|",
            c => written.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    written
}

#[cfg(test)]
mod tests;
