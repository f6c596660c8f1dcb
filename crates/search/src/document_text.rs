//! Documents that are not notes: which there are, their text by pages, and who reads it out of their bytes.

use lapidary_store::VaultPath;
use serde::{Deserialize, Serialize};

/// Documents whose text can be read, by their endings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Epub,
    Html,
    Plain,
    /// Text on a picture, if the owner has named a program that recognises it.
    Picture,
}

/// The endings of each kind, in lower case.
const ENDINGS: &[(DocumentKind, &[&str])] = &[
    (DocumentKind::Pdf, &["pdf"]),
    (DocumentKind::Docx, &["docx", "docm", "dotx"]),
    (DocumentKind::Pptx, &["pptx", "pptm", "ppsx"]),
    (DocumentKind::Xlsx, &["xlsx", "xlsm"]),
    (DocumentKind::Epub, &["epub"]),
    (DocumentKind::Html, &["html", "htm", "xhtml"]),
    (DocumentKind::Plain, &["txt", "text", "csv", "tsv", "rst", "org", "tex", "srt", "vtt", "log"]),
];

/// Pictures whose text can be recognised.
const PICTURES: &[&str] = &["png", "jpg", "jpeg", "webp", "gif", "bmp"];

impl DocumentKind {
    pub fn of(path: &VaultPath) -> Option<Self> {
        Self::named(path.name())
    }

    /// By the name of a file.
    pub fn named(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        let is_of = |(_, endings): &&(Self, &[&str])| endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
        ENDINGS.iter().find(is_of).map(|(kind, _)| *kind)
    }

    /// The same, and pictures if their text can be read.
    pub fn searched(path: &VaultPath, pictures: bool) -> Option<Self> {
        let ending = || path.name().rsplit_once('.').map(|(_, ending)| ending);
        let is_picture =
            || ending().is_some_and(|ending| PICTURES.iter().any(|known| ending.eq_ignore_ascii_case(known)));
        Self::of(path).or_else(|| (pictures && is_picture()).then_some(Self::Picture))
    }

    /// Whether it has more than one part.
    pub fn has_pages(self) -> bool {
        !matches!(self, Self::Html | Self::Plain | Self::Picture)
    }

    /// What its parts are called.
    pub fn part_name(self) -> &'static str {
        match self {
            Self::Pdf | Self::Docx => "page",
            Self::Pptx => "slide",
            Self::Xlsx => "sheet",
            Self::Epub => "chapter",
            Self::Html | Self::Plain | Self::Picture => "part",
        }
    }

    /// Whether its bytes are text that people read and write.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Html | Self::Plain)
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Epub => "application/epub+zip",
            Self::Html => "text/html",
            Self::Plain => "text/plain",
            Self::Picture => "image/*",
        }
    }
}

/// The most text of one document, in bytes.
pub const MOST_DOCUMENT_TEXT: usize = 2 << 20;
/// The most parts.
const MOST_PARTS: usize = 20_000;
/// Of titles and names of parts, in bytes.
const LONGEST_LABEL: usize = 300;

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    pub kind: DocumentKind,
    pub title: Option<String>,
    pub author: Option<String>,
    /// How many parts the document has.
    pub total: u32,
    /// Those with text, in order.
    pub parts: Vec<DocumentPart>,
    /// There is more text than is read.
    pub is_cut: bool,
    /// How many parts should have text and could not be read.
    #[serde(default)]
    pub unread: u32,
    /// Another try may read more of them, so this is not kept for the next start.
    #[serde(skip)]
    pub is_provisional: bool,
    /// Some of it was recognised by the program that the owner has named.
    #[serde(default)]
    pub is_recognised: bool,
}

/// A page, a slide, a sheet or a chapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentPart {
    /// From 1.
    pub number: u32,
    /// The name of a sheet, the title of a chapter.
    pub label: Option<String>,
    pub text: String,
}

impl DocumentText {
    /// A document that was read to its end.
    pub fn of_parts(kind: DocumentKind, total: u32, parts: Vec<DocumentPart>) -> Self {
        Self {
            kind,
            title: None,
            author: None,
            total,
            parts,
            is_cut: false,
            unread: 0,
            is_provisional: false,
            is_recognised: false,
        }
    }

    pub fn has_text(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The same as far as it can be believed: it comes from a process that has read hostile bytes. `None` if it is not what
    /// was asked for.
    #[must_use]
    pub fn believed(mut self, kind: DocumentKind) -> Option<Self> {
        let bytes: usize = self.parts.iter().map(|part| part.text.len()).sum();
        let in_order = self.parts.is_sorted_by(|one, other| one.number < other.number);
        let numbers = self.parts.first().is_none_or(|first| first.number > 0)
            && self.parts.last().is_none_or(|last| last.number <= self.total);
        // The total too is counted up to by those that look at every part.
        let is_small = bytes <= MOST_DOCUMENT_TEXT && self.parts.len().max(self.total as usize) <= MOST_PARTS;
        if self.kind != kind || !is_small || !in_order || !numbers {
            return None;
        }
        self.title = self.title.and_then(|title| label(&title));
        self.author = self.author.and_then(|author| label(&author));
        for part in &mut self.parts {
            part.label = part.label.take().and_then(|name| label(&name));
            // Nothing but text: control characters could change how an answer is shown.
            part.text.retain(|letter| !letter.is_control() || matches!(letter, '\n' | '\t'));
        }
        Some(self)
    }
}

/// A name on one line; `None` if nothing is left.
pub fn label(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let mut text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    text.truncate(text.floor_char_boundary(LONGEST_LABEL));
    (!text.is_empty()).then_some(text)
}

/// Why a file could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecodeFault {
    /// The bytes are not of a known format, or are broken.
    Broken,
    /// There is nothing on it, as on an empty page.
    Blank,
    /// It can be read only with a password.
    Locked,
    /// It has programs in it.
    Macros,
    /// It has parts that are loaded from elsewhere.
    Linked,
    /// It has more pixels than are decoded.
    TooManyPixels,
    /// It unpacks to more than is read, or has too many parts.
    Unpacked,
    /// Decoding took more memory than it may.
    Memory,
    /// Or more time of the processor.
    Time,
    /// The clock ran out, which may be the fault of a busy computer.
    Clock,
    /// The result is larger than it may be.
    Output,
    /// The decoder crashed.
    Crashed,
    /// No process could be started for it.
    Unavailable,
}

impl DecodeFault {
    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Blank => "blank",
            Self::Locked => "locked",
            Self::Macros => "macros",
            Self::Linked => "linked",
            Self::TooManyPixels => "pixels",
            Self::Unpacked => "unpacked",
            Self::Memory => "memory",
            Self::Time | Self::Clock => "time",
            Self::Output => "output",
            Self::Crashed => "crashed",
            Self::Unavailable => "unavailable",
        }
    }

    /// Why, as the rest of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Broken => "its bytes are damaged, or of a format that is not supported",
            Self::Blank => "it is empty",
            Self::Locked => "it is locked with a password",
            Self::Macros => "it has macros",
            Self::Linked => "it has pictures, objects, frames or data that programs load from elsewhere",
            Self::TooManyPixels => "it has too many pixels",
            Self::Unpacked => "unpacked, it is too large or has too many parts",
            Self::Memory => "decoding it takes too much memory",
            Self::Time | Self::Clock => "decoding it takes too long",
            Self::Output => "what it holds is too large to be shown",
            Self::Crashed => "the decoder stopped on it",
            Self::Unavailable => "the process that decodes files cannot be started",
        }
    }

    /// Whether the same bytes give the same result another time.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Clock | Self::Unavailable)
    }
}

/// Why there is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDocumentText {
    /// The caller may not go on.
    Stopped,
    Fault(DecodeFault),
}

/// Reads the text out of bytes, which may be broken or hostile.
pub trait DocumentReader: Send + Sync {
    /// `go_on` is asked often. The result depends on nothing but the kind and the bytes.
    fn read(
        &self,
        kind: DocumentKind,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<DocumentText, NoDocumentText>;

    /// Changes whenever the same bytes of this kind may give another result; `None` if the kind is not read.
    fn version(&self, kind: DocumentKind) -> Option<u32>;

    /// The same for texts of which nothing was recognised.
    fn plain_version(&self, kind: DocumentKind) -> Option<u32> {
        self.version(kind)
    }

    /// Whether a text that was read without recognition is all that this reader can read of the document.
    fn reads_no_more(&self, _text: &DocumentText) -> bool {
        true
    }
}
