//! Office documents (DOCX, XLSX, PPTX) as bytes, made of notes and rows or of a template. Pure: no disk and no clock; the same
//! input gives the same bytes.
//!
//! [`markdown`] reads a note into a [`DocumentBody`], [`SheetTable`] holds rows, and [`write_docx`], [`write_pptx`] and [`write_xlsx`]
//! make a file of them. [`fill_template`] reads bytes of others, so only the process that decodes attachments calls it.

mod body;
mod cells;
mod docx;
mod markdown;
mod package;
mod pptx;
mod template;
#[cfg(test)]
mod tests;
mod xlsx;
mod xml;

pub use body::{
    BlockContent, BodyBlock, BodyPicture, BodyTable, ColumnSide, DocumentBody, DocumentFacts, InlineRun, ListPlace,
    PictureFormat, RunContent, RunStyle, TOO_LONG, plain_text,
};
pub use cells::{CellValue, SheetTable, csv_price, csv_table, dated_cell, typed_cell};
pub use docx::{DocxParts, write_docx};
pub use markdown::{EmbeddedPart, MarkdownFault, MarkdownResult, WantedEmbed, markdown};
pub use package::{WriteFault, WrittenDocument, part_beside};
pub use pptx::{PptxParts, write_pptx};
pub use template::{FilledDocument, FillingClock, OfficeFormat, TemplateFault, TemplateFilling, fill_template};
pub use xlsx::{XlsxParts, sheet_names, write_xlsx};
