//! Attachments as tools see them: who decodes their bytes, and content blocks that a client shows to its model as a picture
//! or a sound.

use lapidary_vault::{DecodeFault, DocumentKind, DocumentText, ImportFolder};
use serde::{Deserialize, Serialize};

use crate::Reason;

/// Pictures and sounds that a model can be shown, by their endings.
pub const PICTURE_ENDINGS: &[&str] = &["png", "jpg", "jpeg", "webp", "gif", "bmp"];
pub const SOUND_ENDINGS: &[&str] = &["mp3", "wav", "m4a", "ogg", "oga", "opus", "flac", "3gp"];

/// Whether `attachment_read` knows this kind of file.
pub(crate) fn can_be_shown(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
    let known = PICTURE_ENDINGS.iter().chain(SOUND_ENDINGS);
    DocumentKind::named(path).is_some() || ending == "svg" || known.into_iter().any(|known| ending == *known)
}

/// What a tool has for attachments in addition to the vault.
#[derive(Clone, Copy)]
pub struct AttachmentAccess<'a> {
    pub decoder: &'a dyn AttachmentDecoder,
    /// The folder outside the vaults whose files may be added to them, if the owner named one.
    pub imports: Option<&'a ImportFolder>,
}

/// Decodes the bytes of files, which may be broken or hostile. The server does so in another process; the result depends on
/// nothing but the job and the bytes.
pub trait AttachmentDecoder: Send + Sync {
    /// `go_on` is asked often, and its refusal ends the work.
    fn decode(
        &self,
        job: DecodeJob,
        bytes: &[u8],
        go_on: &dyn Fn() -> Result<(), Reason>,
    ) -> Result<DecodedAttachment, DecodeError>;
}

/// What is wanted of a file. One variant for each kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecodeJob {
    /// A picture within these limits.
    Picture { longest_side: u32, most_bytes: u32 },
    /// The picture that a page of a PDF is, within these limits; `Blank` if it draws none.
    Page { page: u32, longest_side: u32, most_bytes: u32 },
    /// The text of a document, at most this much. Tools ask the view for it, which keeps it.
    Text { kind: DocumentKind, most_bytes: u32 },
    /// A template with its values, as a document of at most this size. The bytes are the values, this many, and then the template.
    Template { kind: DocumentKind, values_bytes: u32, most_bytes: u32 },
}

/// What a decoder found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodedAttachment {
    Picture(ScaledPicture),
    Text(DocumentText),
    Document(FilledTemplate),
}

/// A document that was made of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledTemplate {
    pub facts: FilledFacts,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilledFacts {
    /// How many placeholders were filled.
    pub filled: u32,
    /// Names without a value, which are still in the document.
    pub unknown: Vec<String>,
    /// Pictures of the note that have no place in it.
    pub pictures_left_out: u32,
    /// Its slides.
    pub slides: u32,
    /// The rows of values that were written into it.
    pub rows: u32,
    /// It was attached to another template, which would have been loaded.
    pub is_detached: bool,
}

/// A picture of a size that a model can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledPicture {
    pub facts: PictureFacts,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureFacts {
    /// Of the file, by its first bytes.
    pub media_type: String,
    pub width: u32,
    pub height: u32,
    /// Of the scaled picture, after it was turned upright.
    pub shown_media_type: String,
    pub shown_width: u32,
    pub shown_height: u32,
    /// Only the first picture of several is shown.
    pub is_animated: bool,
    /// The file ends before the picture does.
    pub is_incomplete: bool,
}

#[derive(Clone, Debug)]
pub enum DecodeError {
    /// The call may not go on.
    Stopped(Box<Reason>),
    Fault(DecodeFault),
}

/// Content that a client gives to its model as such, beside the text of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentBlock {
    pub kind: BlockKind,
    pub media_type: String,
    /// In base64, as it is sent: encoded once.
    pub data: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Image,
    Audio,
}

impl BlockKind {
    /// As the protocol names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
        }
    }

    fn named(name: &str) -> Option<Self> {
        // A reply may have been kept by another version, which knew other kinds.
        [Self::Image, Self::Audio].into_iter().find(|kind| kind.name() == name)
    }
}

impl ContentBlock {
    /// What it adds to a reply.
    pub fn bytes(&self) -> usize {
        self.media_type.len() + self.data.len()
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "type": self.kind.name(), "mimeType": self.media_type, "data": self.data })
    }

    pub(crate) fn from_json(kept: &serde_json::Value) -> Option<Self> {
        // A block without one of these is left out instead of being sent incomplete to a client.
        let text = |name: &str| kept[name].as_str().map(str::to_owned);
        let kind = BlockKind::named(kept["type"].as_str()?)?;
        Some(Self { kind, media_type: text("mimeType")?, data: text("data")? })
    }
}

/// Decodes nothing: for a process that cannot start another.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDecoder;

impl AttachmentDecoder for NoDecoder {
    fn decode(
        &self,
        _: DecodeJob,
        _: &[u8],
        _: &dyn Fn() -> Result<(), Reason>,
    ) -> Result<DecodedAttachment, DecodeError> {
        Err(DecodeError::Fault(DecodeFault::Unavailable))
    }
}
