//! Shows a picture, plays a sound or gives the text of a document of the vault.

mod document;

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_operation::{
    BlockKind, ContentBlock, Context, Declaration, DecodeError, DecodeFault, DecodeJob, DecodedAttachment, Example,
    ExampleResult, PICTURE_ENDINGS, PathArgument, PathRole, PictureFacts, ReadTool, Reason, ReasonKind, SOUND_ENDINGS,
    ScaledPicture, ToolGroup, WireFamily, bug, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{
    hash,
    naming::{self, NamedFile},
    reading,
};
use lapidary_vault::{DocumentKind, File, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::document::{DocumentFacts, WantedPages};
use crate::resources::media_type;

pub(crate) struct AttachmentRead;

/// Read a document by pages (PDF, DOCX, PPTX, XLSX, EPUB, HTML, CSV), see a picture (PNG, JPEG, WebP, GIF, BMP, SVG) or hear
/// a sound.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path or name, with its extension.
    path: String,
    /// Longest side of a picture, in pixels.
    #[serde(default = "usual_side")]
    #[schemars(range(min = 64, max = 4096))]
    max_side: u32,
    /// Pages, slides, sheets or chapters: `3`, `3-5`, `3-`.
    #[serde(default)]
    pages: Option<String>,
    /// Of a picture: the text on it, by the owner's program for OCR.
    #[serde(default)]
    text: bool,
    /// `next.from` of the previous answer.
    #[serde(default)]
    from: usize,
}

fn usual_side() -> u32 {
    1568
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    media_type: String,
    // Of the file.
    bytes: usize,
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    // What was sent, if it is not the file itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<ShownPicture>,
    // Of an SVG, or on a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<DocumentFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    #[serde(skip)]
    block: Option<ContentBlock>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShownPicture {
    media_type: String,
    width: u32,
    height: u32,
    bytes: usize,
}

const SUPPORTED: &str = "documents (pdf, docx, pptx, xlsx, epub, html, csv, txt), pictures (png, jpg, jpeg, webp, gif, bmp; svg as text) and sounds (mp3, wav, m4a, ogg, oga, opus, flac, 3gp)";
/// A picture for a model has no more than this: it costs by its size in pixels, and what more bytes show is lost on it.
const MOST_PICTURE_BYTES: usize = 1 << 20;
/// The text of an SVG: some 8,000 tokens.
const MOST_SVG_BYTES: usize = 32 << 10;
/// Beside the block, for facts and text.
const FACTS_BYTES: usize = 4_096;

impl ReadTool for AttachmentRead {
    const DECLARATION: Declaration = Declaration {
        name: "attachment_read",
        dotted: None,
        title: "Look at an attachment",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::AttachmentUnsupported, ReasonKind::AttachmentUnreadable],
        words: "read text of a pdf word docx powerpoint slides pptx excel spreadsheet xlsx epub ebook csv document page, show see view open image picture photo screenshot png jpg jpeg webp gif svg, what is on the picture, listen to audio recording voice memo mp3, attachment",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.path)?;
        // By the ending; what the bytes really are is found out while decoding.
        let ending = path.name().rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
        if let Some(kind) = DocumentKind::of(&path) {
            let wanted = WantedPages { pages: input.pages.as_deref(), from: input.from };
            return document::show(context, view, &path, &file, kind, wanted);
        }
        match &*ending {
            "svg" => drawing(&path, &file),
            ending if input.text && PICTURE_ENDINGS.contains(&ending) => recognised(context, view, &path, &file),
            ending if PICTURE_ENDINGS.contains(&ending) => picture(context, &path, &file, input.max_side),
            ending if SOUND_ENDINGS.contains(&ending) => sound(context, &path, &file),
            _ => Err(Reason::AttachmentUnsupported { path, supported: SUPPORTED }),
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, media_type, bytes, content_hash, width, height, shown, text, document, .. } = output;
        let mut line = format!("{}: {}", quoted(path), quoted(media_type));
        if let (Some(width), Some(height)) = (width, height) {
            line += &format!(", {width}×{height}");
        }
        line += &format!(", {bytes} bytes, hash {}", hash::digits(content_hash));
        if let Some(ShownPicture { media_type, width, height, bytes }) = shown {
            line += &format!("; shown as {}, {width}×{height}, {bytes} bytes", quoted(media_type));
        }
        if let Some(document) = document {
            line += &document.text();
        }
        Some(match text {
            Some(text) => format!("{line}\n{}", fenced(text)),
            None => line,
        })
    }

    fn blocks(&self, output: Output) -> Vec<ContentBlock> {
        output.block.into_iter().collect()
    }

    fn examples(&self) -> Vec<Example> {
        const SVG: &[(&str, &str)] = &[("logo.svg", "<svg viewBox=\"0 0 8 8\"/>"), ("plan.psd", "8BPS")];
        vec![
            Example {
                says: "A picture, which the model sees beside these facts",
                before: &[],
                input: json!({ "path": "dot.png" }),
                gives: ExampleResult::Including(
                    json!({ "path": "dot.png", "mediaType": "image/png", "width": 1, "height": 1 }),
                )
                .after("attachment_add", json!({ "name": "dot.png", "data": DOT })),
                after: &[],
            },
            Example {
                says: "A document, by pages",
                before: &[("Files/Slate.pdf", SLATE)],
                input: json!({ "path": "Slate.pdf", "pages": "1" }),
                gives: ExampleResult::Including(json!({
                    "mediaType": "application/pdf",
                    "document": {
                        "unit": "page", "total": 1, "hasText": true,
                        "parts": [{ "number": 1, "link": "[[Slate.pdf#page=1]]", "text": "Slate lasts a century." }],
                    },
                })),
                after: &[("Files/Slate.pdf", SLATE)],
            },
            Example {
                says: "A page that a document does not have",
                before: &[("Files/Slate.pdf", SLATE)],
                input: json!({ "path": "Slate.pdf", "pages": "2" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[("Files/Slate.pdf", SLATE)],
            },
            Example {
                says: "A drawing as text",
                before: SVG,
                input: json!({ "path": "logo.svg" }),
                gives: ExampleResult::Including(
                    json!({ "mediaType": "image/svg+xml", "text": "<svg viewBox=\"0 0 8 8\"/>" }),
                ),
                after: SVG,
            },
            Example {
                says: "A kind of file that cannot be shown",
                before: SVG,
                input: json!({ "path": "plan.psd" }),
                gives: ExampleResult::Refusal(ReasonKind::AttachmentUnsupported),
                after: SVG,
            },
            Example {
                says: "A file that only has the name of a picture",
                before: &[("a.png", "no picture")],
                input: json!({ "path": "a.png" }),
                gives: ExampleResult::Refusal(ReasonKind::AttachmentUnreadable),
                after: &[("a.png", "no picture")],
            },
        ]
    }
}

/// A PDF with one line of text.
pub(crate) const SLATE: &str = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj\n4 0 obj<</Length 51>>stream\nBT /F 12 Tf 20 50 Td (Slate lasts a century.) Tj ET\nendstream endobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\nxref\n0 6\n0000000000 65535 f \n0000000009 00000 n \n0000000053 00000 n \n0000000103 00000 n \n0000000213 00000 n \n0000000310 00000 n \ntrailer<</Size 6/Root 1 0 R>>\nstartxref\n372\n%%EOF\n";

/// One grey pixel.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";

fn output(path: &VaultPath, file: &File, media_type: String) -> Output {
    Output {
        path: path.to_string(),
        media_type,
        bytes: file.content.len(),
        content_hash: file.hash().to_string(),
        width: None,
        height: None,
        shown: None,
        text: None,
        document: None,
        notice: None,
        block: None,
    }
}

/// What a block may have before it is encoded, so that the reply stays within its limit.
fn room(context: &Context<'_>) -> usize {
    // Base64 makes four bytes of three.
    context.budget.reply_bytes().saturating_sub(FACTS_BYTES) / 4 * 3
}

fn picture(context: &Context<'_>, path: &VaultPath, file: &File, max_side: u32) -> Result<Output, Reason> {
    let most_bytes = u32::try_from(room(context).min(MOST_PICTURE_BYTES)).unwrap_or(u32::MAX);
    let job = DecodeJob::Picture { longest_side: max_side, most_bytes };
    let decoded = context.attachments.decoder.decode(job, file.bytes(), &|| context.check());
    let DecodedAttachment::Picture(ScaledPicture { facts, bytes }) = decoded.map_err(|error| refusal(path, error))?
    else {
        return Err(bug!("a decoder has answered another job than it was given"));
    };
    let PictureFacts { media_type, width, height, .. } = facts;
    let mut output = output(path, file, media_type);
    (output.width, output.height) = (Some(width), Some(height));
    // The same bytes mean that nothing had to be scaled or turned.
    if bytes != file.bytes() {
        output.shown = Some(ShownPicture {
            media_type: facts.shown_media_type.clone(),
            width: facts.shown_width,
            height: facts.shown_height,
            bytes: bytes.len(),
        });
    }
    output.notice = match (facts.is_animated, facts.is_incomplete) {
        // More important than the movement: what is seen may be wrong.
        (_, true) => Some("The file is cut off; only a part of the picture is real.".to_owned()),
        (true, false) => Some("The picture moves; its first frame is shown.".to_owned()),
        (false, false) => None,
    };
    let data = BASE64_STANDARD.encode(&bytes);
    output.block = Some(ContentBlock { kind: BlockKind::Image, media_type: facts.shown_media_type, data });
    Ok(output)
}

/// The text on a picture.
fn recognised(context: &Context<'_>, view: &View, path: &VaultPath, file: &File) -> Result<Output, Reason> {
    if !view.reads_pictures() {
        let problem = "needs a program that recognises text, which the owner names with the setting `ocr`";
        return Err(Reason::bad_argument(AttachmentRead::DECLARATION.name, "text", problem));
    }
    let document = reading::document_text(context, view, path, file, DocumentKind::Picture)?;
    let mut output = output(path, file, media_type(path).unwrap_or("image/*").to_owned());
    let text = document.parts.first().map_or("", |part| part.text.as_str());
    let end = text.floor_char_boundary(MOST_SVG_BYTES);
    output.notice = match (text.is_empty(), end < text.len()) {
        (true, _) => Some("No text was recognised on it.".to_owned()),
        (false, true) => Some(format!("Only the first {end} bytes of {} are shown.", text.len())),
        (false, false) => None,
    };
    output.text = Some(text[..end].to_owned());
    Ok(output)
}

fn sound(context: &Context<'_>, path: &VaultPath, file: &File) -> Result<Output, Reason> {
    // Not decoded here, so it cannot be made smaller.
    if file.content.len() > room(context) {
        return Err(Reason::AttachmentUnreadable { path: path.clone(), fault: DecodeFault::Output });
    }
    // All endings above have a type; Ogg is the container of most.
    let media_type = media_type(path).unwrap_or("audio/ogg");
    let mut output = output(path, file, media_type.to_owned());
    let data = BASE64_STANDARD.encode(file.bytes());
    output.block = Some(ContentBlock { kind: BlockKind::Audio, media_type: media_type.to_owned(), data });
    Ok(output)
}

fn drawing(path: &VaultPath, file: &File) -> Result<Output, Reason> {
    // A reader of text would only send back to here.
    let broken = |_| Reason::AttachmentUnreadable { path: path.clone(), fault: DecodeFault::Broken };
    let shown = reading::show(path, file).map_err(broken)?;
    let text = shown.text();
    let mut output = output(path, file, "image/svg+xml".to_owned());
    let end = text.floor_char_boundary(MOST_SVG_BYTES);
    if end < text.len() {
        output.notice = Some(format!("Only the first {end} bytes of {} are shown.", text.len()));
    }
    output.text = Some(text[..end].to_owned());
    Ok(output)
}

fn refusal(path: &VaultPath, error: DecodeError) -> Reason {
    match error {
        DecodeError::Stopped(reason) => *reason,
        DecodeError::Fault(fault) => Reason::AttachmentUnreadable { path: path.clone(), fault },
    }
}
