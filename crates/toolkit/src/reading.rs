//! Reading files as text.

use std::{ops::Range, sync::Arc};

use lapidary_note::{ContentHash, Document, LineEnding, Note, shown_text};
use lapidary_operation::{Context, Reason, clipped};
use lapidary_vault::{
    DecodeFault, DocumentKind, DocumentText, File, NoDocumentText, ReadError, VaultPath, View, store::StoreError,
};

use crate::properties::NoteProperties;

pub fn parse_path(given: &str) -> Result<VaultPath, Reason> {
    VaultPath::parse(given).map_err(|problem| Reason::PathInvalid { given: clipped(given), problem })
}

/// Reads a file; for a missing one the refusal suggests likely names.
pub fn read(view: &View, path: &VaultPath) -> Result<Arc<File>, Reason> {
    #[cfg(debug_assertions)]
    crate::failpoint::on_reading(path)?;
    view.read(path).map_err(|error| match error {
        ReadError::Store(StoreError::Missing) => missing(view, path),
        error => refusal(path, error),
    })
}

/// The same without suggestions.
pub fn read_exactly(view: &View, path: &VaultPath) -> Result<Arc<File>, Reason> {
    #[cfg(debug_assertions)]
    crate::failpoint::on_reading(path)?;
    view.read(path).map_err(|error| match error {
        ReadError::Store(StoreError::Missing) => Reason::NoteMissing { path: path.clone(), suggestions: Vec::new() },
        error => refusal(path, error),
    })
}

/// The refusal for a missing path, with suggestions.
fn missing(view: &View, path: &VaultPath) -> Reason {
    Reason::NoteMissing { path: path.clone(), suggestions: suggestions(view, path) }
}

/// The file at a path, or `None` if it is missing.
pub fn read_if_there(view: &View, path: &VaultPath) -> Result<Option<Arc<File>>, Reason> {
    match view.read(path) {
        Ok(file) => Ok(Some(file)),
        Err(ReadError::Store(StoreError::Missing)) => Ok(None),
        Err(error) => Err(refusal(path, error)),
    }
}

/// A file whose links may have to change.
pub enum LinkSource {
    File(Arc<File>),
    /// It no longer exists and so has no links.
    Gone,
    /// It is too large, or access is denied. A caller that asked for something else must not fail because of it.
    Unread,
}

pub fn source(view: &View, path: &VaultPath) -> Result<LinkSource, Reason> {
    match view.read(path) {
        Ok(file) => Ok(LinkSource::File(file)),
        Err(ReadError::Store(StoreError::Missing)) => Ok(LinkSource::Gone),
        // Any other error is one of the disk, and would be the same for the next file.
        Err(ReadError::Store(StoreError::TooLarge { .. } | StoreError::NotPermitted)) => Ok(LinkSource::Unread),
        Err(error) => Err(refusal(path, error)),
    }
}

fn refusal(path: &VaultPath, error: ReadError) -> Reason {
    match error {
        ReadError::Denied(denied) => Reason::closed(path.clone(), denied),
        ReadError::Store(error) => Reason::from_store(path, &error, false),
    }
}

/// Files of the same folder that a misspelt path may mean: those that differ in case or extension.
fn suggestions(view: &View, path: &VaultPath) -> Vec<VaultPath> {
    const MOST: usize = 5;
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
    let (wanted_stem, wanted_name) = (stem(path.name()), path.name().to_lowercase());
    // Also a name without its extension: `Plan` may be `Plan.md`.
    let meant = |name: &str| stem(name) == wanted_stem || stem(name) == wanted_name;
    let mut found = view.similar(path);
    found.retain(|file| meant(file.name()));
    found.truncate(MOST);
    found
}

/// A file's text as callers see it.
pub enum ShownFile {
    Exact(Document),
    /// Some bytes are not UTF-8, so the text is not exactly the file.
    Lossy(String),
}

/// The text of a document.
pub fn document_text(
    context: &Context<'_>,
    view: &View,
    path: &VaultPath,
    file: &File,
    kind: DocumentKind,
) -> Result<Arc<DocumentText>, Reason> {
    let go_on = || context.cancel.check().is_ok();
    view.document_text(kind, file, &go_on).map_err(|ended| match ended {
        NoDocumentText::Fault(fault) => Reason::AttachmentUnreadable { path: path.clone(), fault },
        // It has ended because the call may not go on.
        NoDocumentText::Stopped => context
            .check()
            .err()
            .unwrap_or(Reason::AttachmentUnreadable { path: path.clone(), fault: DecodeFault::Unavailable }),
    })
}

/// Text to read. A file that is not valid UTF-8 is shown as well as possible; a binary one is refused.
pub fn show(path: &VaultPath, file: &File) -> Result<ShownFile, Reason> {
    // No text has a zero byte, and every binary format soon does; a PDF need not, and cannot be read as text either.
    let is_document = DocumentKind::of(path).is_some_and(|kind| !kind.is_text());
    if is_document || file.bytes().contains(&0) {
        return Err(Reason::NotText { path: path.clone(), valid_up_to: None });
    }
    Ok(match Document::open(file.content.clone()) {
        Ok(document) => ShownFile::Exact(document),
        Err(_) => ShownFile::Lossy(shown_text(file.bytes()).into_owned()),
    })
}

impl ShownFile {
    pub fn text(&self) -> &str {
        match self {
            Self::Exact(document) => document.shown(),
            Self::Lossy(text) => text,
        }
    }

    /// The structure of the text. An exact one is parsed only once.
    pub fn note(&self) -> Note<'_> {
        match self {
            Self::Exact(document) => document.note(),
            Self::Lossy(text) => Note::parse(text),
        }
    }

    /// The note with its properties and tags; the rest of its structure may be missing.
    pub fn tagged(&self) -> Note<'_> {
        match self {
            Self::Exact(document) => document.tagged(),
            Self::Lossy(text) => Note::tagged(text),
        }
    }

    pub fn properties(&self) -> NoteProperties {
        match self {
            Self::Exact(document) => NoteProperties::of(document),
            Self::Lossy(text) => NoteProperties::of_text(text),
        }
    }

    pub fn lines(&self) -> usize {
        match self {
            Self::Exact(document) => document.line_count(),
            // As the exact text counts its lines: a last line without an ending is one.
            Self::Lossy(text) => text.split_inclusive('\n').count(),
        }
    }

    /// Set if the lines of the file do not end with `\n`.
    pub fn eol(&self) -> Option<&'static str> {
        match self {
            Self::Exact(document) => eol_name(document.eol()),
            Self::Lossy(_) => None,
        }
    }

    pub fn bom(&self) -> bool {
        matches!(self, Self::Exact(document) if document.has_bom())
    }

    pub fn is_lossy(&self) -> bool {
        matches!(self, Self::Lossy(_))
    }

    /// The hash of a part of the text, which an edit of that part can expect; none if the text is not exactly the file.
    pub fn hash_of(&self, part: Range<usize>) -> Option<ContentHash> {
        match self {
            Self::Exact(document) => document.hash_of(part),
            // An edit replaces exact bytes, which this text does not have.
            Self::Lossy(_) => None,
        }
    }
}

/// Text to edit: every byte must be valid.
pub fn editable(path: &VaultPath, file: &File) -> Result<Document, Reason> {
    // The place helps to find the broken byte in an editor.
    let not_text = |valid_up_to| Reason::NotText { path: path.clone(), valid_up_to };
    if file.bytes().contains(&0) {
        return Err(not_text(None));
    }
    Document::open(file.content.clone()).map_err(|error| not_text(Some(error.valid_up_to)))
}

/// Unusual properties of a file's bytes, shown after its size.
pub fn form(eol: Option<&str>, bom: bool) -> String {
    let eol = eol.map_or_else(String::new, |eol| format!(", {eol}"));
    format!("{eol}{}", if bom { ", bom" } else { "" })
}

fn eol_name(eol: LineEnding) -> Option<&'static str> {
    match eol {
        LineEnding::Lf => None,
        LineEnding::CrLf => Some("crlf"),
        LineEnding::Cr => Some("cr"),
        LineEnding::Mixed => Some("mixed"),
    }
}

pub const NOT_UTF8: &str =
    "The file is not valid UTF-8: unreadable bytes are shown as \u{fffd}, and text edits are refused.";
