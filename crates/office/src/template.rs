//! A document of the owner as a template: every part stays as it is except the placeholders. Its bytes are foreign, so this runs in
//! the process that decodes attachments alone, within its own limits.
//!
//! `{{title}}`, `{{date}}` and names of properties stand for a value, `{{content}}` for the note, `{{rows.name}}` for a column; what is
//! inserted is never looked at again. Office programs divide a text as they like, so a placeholder is looked for in the words of a
//! whole paragraph.

mod document;
mod places;
mod presentation;
mod row_moves;
mod sheet_ranges;
mod source;
mod workbook;
mod xml_edit;

use serde::{Deserialize, Serialize};

use crate::{
    body::DocumentBody,
    cells::{CellValue, SheetTable, dated_cell},
    package::WriteFault,
};

use self::source::TemplateSource;
#[cfg(test)]
pub(crate) use self::xml_edit::{attribute as attribute_for_tests, tokens_for_tests};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfficeFormat {
    Docx,
    Pptx,
    Xlsx,
}

/// What goes into a template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TemplateFilling {
    pub title: String,
    /// By their names, in words.
    pub properties: Vec<(String, CellValue)>,
    pub body: DocumentBody,
    pub rows: SheetTable,
    pub clock: FillingClock,
}

/// What dates in a template are made of; this crate does not read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FillingClock {
    /// Since 1970, and the offset of the caller's zone at that moment.
    pub seconds: i64,
    pub offset_seconds: i32,
    pub date_format: String,
    pub time_format: String,
}

/// A template with its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilledDocument {
    pub bytes: Vec<u8>,
    /// How many placeholders were filled.
    pub filled: usize,
    /// Those without a value, which stay as they are; each once.
    pub unknown: Vec<String>,
    /// Pictures of the note that had no place.
    pub pictures_left_out: usize,
    /// How many slides it has.
    pub slides: usize,
    /// Rows of values that were written for `{{rows.…}}`.
    pub rows: usize,
    /// It was attached to another template, which would have been loaded.
    pub is_detached: bool,
}

/// Why a template cannot be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateFault {
    /// It is damaged, or no document of this format.
    Broken,
    /// It needs a password.
    Locked,
    /// It has programs in it.
    Macros,
    /// It has parts that are loaded from elsewhere.
    Linked,
    /// It unpacks to more than is read.
    Unpacked,
    /// What it would become is larger than it may be.
    TooLarge,
}

impl From<WriteFault> for TemplateFault {
    fn from(fault: WriteFault) -> Self {
        match fault {
            WriteFault::Incomplete => Self::Broken,
            _ => Self::TooLarge,
        }
    }
}

impl TemplateFilling {
    /// As it is sent to another process: the length of the values, the values, and the bytes of the pictures.
    pub fn to_bytes(&self) -> Vec<u8> {
        let lengths: Vec<usize> = self.body.pictures.iter().map(|picture| picture.bytes.len()).collect();
        let values = serde_json::to_vec(&(self, lengths)).unwrap_or_default();
        let mut bytes = (values.len() as u64).to_le_bytes().to_vec();
        bytes.extend(values);
        self.body.pictures.iter().for_each(|picture| bytes.extend(&picture.bytes));
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (values, mut rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let (mut filling, lengths): (Self, Vec<usize>) = serde_json::from_slice(values).ok()?;
        // Writers look up pictures by their numbers without checking them again.
        if lengths.len() != filling.body.pictures.len() || !filling.body.is_whole() {
            return None;
        }
        for (picture, length) in filling.body.pictures.iter_mut().zip(lengths) {
            let (own, behind) = rest.split_at_checked(length)?;
            picture.bytes = own.to_vec();
            rest = behind;
        }
        rest.is_empty().then_some(filling)
    }

    /// The value of a placeholder that names a property.
    fn property(&self, name: &str) -> Option<&CellValue> {
        // As Bases name a property of a note.
        let own = name.strip_prefix("note.").unwrap_or(name);
        let same = |known: &str| known.eq_ignore_ascii_case(own) || known.to_lowercase() == own.to_lowercase();
        self.properties.iter().find(|(known, _)| same(known)).map(|(_, value)| value)
    }

    /// The column of a `{{rows.…}}`.
    fn column(&self, name: &str) -> Option<usize> {
        let name = name.to_lowercase();
        self.rows.columns.iter().position(|column| column.trim().to_lowercase() == name)
    }
}

/// What the caller knows of other placeholders, such as dates.
pub(crate) struct KnownValues<'v> {
    pub(crate) filling: &'v TemplateFilling,
    pub(crate) others: &'v dyn Fn(&str) -> Option<String>,
}

impl KnownValues<'_> {
    /// The value of a name. The caller's own names come first, as in templates of notes.
    pub(crate) fn value(&self, name: &str) -> Option<CellValue> {
        // First, so that a property of this name does not replace the title of the document.
        if name.eq_ignore_ascii_case("title") {
            return Some(CellValue::text(self.filling.title.as_str()));
        }
        let other = (self.others)(name).map(|text| match dated_cell(&text) {
            // A day in the form of the owner stays as it is written.
            day @ CellValue::Day(_) if day.shown() == text => day,
            _ => CellValue::text(text),
        });
        other.or_else(|| self.filling.property(name).cloned())
    }
}

/// Fills a template. `others` gives values of placeholders that are neither properties nor columns.
pub fn fill_template(
    format: OfficeFormat,
    template: &[u8],
    filling: &TemplateFilling,
    others: &dyn Fn(&str) -> Option<String>,
    most_bytes: usize,
) -> Result<FilledDocument, TemplateFault> {
    let values = KnownValues { filling, others };
    // Refuses what is broken or has programs in it, before a value is put anywhere.
    let mut source = TemplateSource::open(format, template, most_bytes)?;
    let mut filled = match format {
        OfficeFormat::Docx => document::fill(&mut source, &values)?,
        OfficeFormat::Pptx => presentation::fill(&mut source, &values)?,
        OfficeFormat::Xlsx => workbook::fill(&mut source, &values)?,
    };
    filled.is_detached = source.is_detached;
    filled.bytes = source.finish()?;
    Ok(filled)
}
