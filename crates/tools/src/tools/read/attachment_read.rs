//! Shows a picture or plays a sound of the vault.

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_operation::{
    BlockKind, ContentBlock, Context, Declaration, DecodeError, DecodeFault, DecodeJob, DecodedAttachment, Example,
    ExampleResult, PathArgument, PathRole, PictureFacts, ReadTool, Reason, ReasonKind, ScaledPicture, ToolGroup,
    WireFamily, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{
    hash,
    naming::{self, NamedFile},
    reading,
};
use lapidary_vault::{File, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::resources::media_type;

pub(crate) struct AttachmentRead;

/// Look at a picture of the vault (PNG, JPEG, WebP, GIF, BMP: scaled down; SVG as text) or hear a sound (MP3, WAV, …).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path or name, with its extension.
    path: String,
    /// Longest side of a picture, in pixels.
    #[serde(default = "usual_side")]
    #[schemars(range(min = 64, max = 4096))]
    max_side: u32,
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
    // Of an SVG.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
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

/// By their endings.
const PICTURES: &[&str] = &["png", "jpg", "jpeg", "webp", "gif", "bmp"];
const SOUNDS: &[&str] = &["mp3", "wav", "m4a", "ogg", "oga", "opus", "flac", "3gp"];
const SUPPORTED: &str =
    "pictures (png, jpg, jpeg, webp, gif, bmp; svg as text) and sounds (mp3, wav, m4a, ogg, oga, opus, flac, 3gp)";
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
        words: "show see view open image picture photo screenshot png jpg jpeg webp gif svg, what is on the picture, listen to audio recording voice memo mp3, attachment",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.path)?;
        // By the ending; what the bytes really are is found out while decoding.
        let ending = path.name().rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
        match &*ending {
            "svg" => drawing(&path, &file),
            ending if PICTURES.contains(&ending) => picture(context, &path, &file, input.max_side),
            ending if SOUNDS.contains(&ending) => sound(context, &path, &file),
            _ => Err(Reason::AttachmentUnsupported { path, supported: SUPPORTED }),
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, media_type, bytes, content_hash, width, height, shown, text, .. } = output;
        let mut line = format!("{}: {}", quoted(path), quoted(media_type));
        if let (Some(width), Some(height)) = (width, height) {
            line += &format!(", {width}×{height}");
        }
        line += &format!(", {bytes} bytes, hash {}", hash::digits(content_hash));
        if let Some(ShownPicture { media_type, width, height, bytes }) = shown {
            line += &format!("; shown as {}, {width}×{height}, {bytes} bytes", quoted(media_type));
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
    let DecodedAttachment::Picture(ScaledPicture { facts, bytes }) = decoded.map_err(|error| refusal(path, error))?;
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
    let shown = reading::show(path, file)?;
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
