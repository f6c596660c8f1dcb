//! The text of documents. Everything here runs in the child alone.

mod archive;
mod book;
mod markup;
mod office;
mod pdf;
mod pdf_lines;
mod pdf_repair;
mod plain;
mod scan;
mod sheet;
#[cfg(test)]
pub(crate) mod tests;

use std::time::Duration;

use lapidary_vault::{DecodeFault, DocumentKind, DocumentPart, DocumentText, document_label};

pub(crate) use self::scan::page_picture;
use crate::limits::READING_TIME;

/// Raised whenever a file may give another text than before; what is kept of older ones is then read again.
const VERSION: u32 = 2;

/// The version of the reader of a kind, if there is one here.
pub(crate) fn version(kind: DocumentKind) -> Option<u32> {
    (kind != DocumentKind::Picture).then_some(VERSION)
}

/// The text of a document, at most this much.
pub(crate) fn text(kind: DocumentKind, bytes: &[u8], most_bytes: usize) -> Result<DocumentText, DecodeFault> {
    text_within(kind, bytes, most_bytes, READING_TIME)
}

/// The same as far as it is read within so much processor time.
fn text_within(
    kind: DocumentKind,
    bytes: &[u8],
    most_bytes: usize,
    time: Duration,
) -> Result<DocumentText, DecodeFault> {
    let mut parts = PartCollector::new(kind, most_bytes, time);
    match kind {
        DocumentKind::Pdf => pdf::read(bytes, &mut parts)?,
        DocumentKind::Docx => office::read_docx(bytes, &mut parts)?,
        DocumentKind::Pptx => office::read_pptx(bytes, &mut parts)?,
        DocumentKind::Xlsx => sheet::read(bytes, &mut parts)?,
        DocumentKind::Epub => book::read(bytes, &mut parts)?,
        DocumentKind::Html => plain::read_page(bytes, &mut parts)?,
        DocumentKind::Plain => plain::read(bytes, &mut parts)?,
        // Another program reads it.
        DocumentKind::Picture => return Err(DecodeFault::Unavailable),
    }
    Ok(parts.document)
}

/// Takes parts until there is enough text.
pub(crate) struct PartCollector {
    document: DocumentText,
    room: usize,
    begun: Duration,
    time: Duration,
}

impl PartCollector {
    fn new(kind: DocumentKind, most_bytes: usize, time: Duration) -> Self {
        let document = DocumentText::of_parts(kind, 0, Vec::new());
        Self { document, room: most_bytes, begun: processor_time(), time }
    }

    fn set_origin(&mut self, title: Option<&str>, author: Option<&str>) {
        self.document.title = title.and_then(document_label);
        self.document.author = author.and_then(document_label);
    }

    fn set_total(&mut self, total: usize) {
        self.document.total = u32::try_from(total).unwrap_or(u32::MAX);
    }

    /// The next part; one without text only counts.
    fn add(&mut self, number: usize, label: Option<&str>, text: &str) {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        // The announced total may be wrong, and no part has a number beyond it.
        self.document.total = self.document.total.max(number);
        let mut text = without_controls(text.trim());
        if text.len() > self.room {
            text.truncate(text.floor_char_boundary(self.room));
            self.document.is_cut = true;
        }
        // Not below zero, as the text was cut to fit.
        self.room -= text.len();
        if !text.is_empty() {
            let label = label.and_then(document_label);
            self.document.parts.push(DocumentPart { number, label, text });
        }
    }

    /// Whether more would be cut off anyway.
    fn is_full(&self) -> bool {
        self.room == 0 || self.document.is_cut
    }

    /// Ends with what there is, if reading has taken too long. Asked after each part, so that there is one.
    fn is_late(&mut self) -> bool {
        let is_late = processor_time().saturating_sub(self.begun) >= self.time;
        self.document.is_cut |= is_late;
        is_late
    }

    /// How much text still fits.
    fn room(&self) -> usize {
        self.room
    }
}

/// What this thread has taken. A document on a busy computer is read as far as on another one.
#[cfg(unix)]
fn processor_time() -> Duration {
    let taken = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(taken).unwrap_or_default()
}

/// There is no limit of processor time here either; the parent has a clock.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    Duration::ZERO
}

/// Control characters confuse terminals and models.
fn without_controls(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect()
}
