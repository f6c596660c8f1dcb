//! What a note shows in place: pictures and notes of the vault, as far as the caller may read them. One that it may not read is like
//! one that does not exist.

use std::collections::HashMap;

use lapidary_note::{Document, HeldMemory, LinkPlace};
use lapidary_office::{BodyPicture, EmbeddedPart, PictureFormat, WantedEmbed};
use lapidary_operation::{
    Context, DecodeError, DecodeJob, DecodedAttachment, PICTURE_ENDINGS, Reason, ScaledPicture, bug,
};
use lapidary_toolkit::{
    index, naming,
    reading::{self, LinkSource},
    rendered_queries::{RenderLimits, RenderedCount, render_queries},
};
use lapidary_vault::{VaultPath, View};

/// A picture in a document is printed at most this large, in pixels.
const LONGEST_SIDE: u32 = 2_000;
const MOST_PICTURE_BYTES: u32 = 4 << 20;
/// All pictures of one document.
const MOST_BYTES: usize = 32 << 20;
const MOST_PICTURES: usize = 200;
/// What is shown of the queries of a note. Its text has a limit anyway.
const QUERIES: RenderLimits = RenderLimits { room: 4 << 20, rows: 20_000, queries: 500 };

pub(super) struct EmbedReader<'e, 'c> {
    context: &'e Context<'c>,
    view: &'e View,
    /// By their paths, because a note may show one many times; nothing for one that cannot be shown.
    pictures: HashMap<VaultPath, Option<BodyPicture>>,
    bytes: usize,
    shown: usize,
    /// The pictures that are kept here, and those that are shown.
    held: HeldMemory,
    pub(super) queries: RenderedCount,
}

impl<'e, 'c> EmbedReader<'e, 'c> {
    pub(super) fn new(context: &'e Context<'c>, view: &'e View) -> Self {
        Self {
            context,
            view,
            pictures: HashMap::new(),
            bytes: 0,
            shown: 0,
            held: HeldMemory::default(),
            queries: RenderedCount::default(),
        }
    }

    /// What the pictures take that are shown.
    pub(super) fn shown_bytes(&self) -> u64 {
        self.bytes as u64
    }

    pub(super) fn read(&mut self, wanted: &WantedEmbed<'_>) -> Result<EmbeddedPart, Reason> {
        self.context.check()?;
        let Ok(from) = VaultPath::parse(wanted.note) else { return Ok(EmbeddedPart::Nothing) };
        let files = index::files(self.context, self.view)?;
        let target = match wanted.target {
            "" => Some(&from),
            target => files.resolve(target, &from),
        };
        let Some(path) = target else { return Ok(EmbeddedPart::Nothing) };
        let ending = path.name().rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
        if PICTURE_ENDINGS.contains(&&*ending) {
            return Ok(self.picture(path)?.map_or(EmbeddedPart::Nothing, EmbeddedPart::Picture));
        }
        if !path.is_note() || !wanted.takes_notes {
            return Ok(EmbeddedPart::Nothing);
        }
        let LinkSource::File(file) = reading::source(self.view, path)? else { return Ok(EmbeddedPart::Nothing) };
        let Ok(document) = Document::open(file.content.clone()) else { return Ok(EmbeddedPart::Nothing) };
        let text = match wanted.place {
            None => self.note_text(path, &document)?,
            Some(place) => {
                let note = document.note();
                let Some(part) = note.part_of_link(&LinkPlace::of(place)) else { return Ok(EmbeddedPart::Nothing) };
                note.text[part].to_owned()
            }
        };
        Ok(EmbeddedPart::Note { name: path.to_string(), text })
    }

    fn picture(&mut self, path: &VaultPath) -> Result<Option<BodyPicture>, Reason> {
        if !self.pictures.contains_key(path) {
            // Each is decoded by its own process.
            let picture = if self.pictures.len() < MOST_PICTURES { self.decoded(path)? } else { None };
            self.held.add(picture.as_ref().map_or(0, |picture| picture.bytes.len() as u64));
            self.pictures.insert(path.clone(), picture);
        }
        let picture = self.pictures.get(path).and_then(Option::as_ref);
        // Every place in the document has a copy of its bytes.
        let Some(picture) = picture.filter(|picture| self.bytes + picture.bytes.len() <= MOST_BYTES) else {
            return Ok(None);
        };
        if self.shown >= MOST_PICTURES {
            return Ok(None);
        }
        self.held.add(picture.bytes.len() as u64);
        self.bytes += picture.bytes.len();
        self.shown += 1;
        Ok(Some(picture.clone()))
    }

    /// The text of a note as a reader of the app sees it, with the results of its queries.
    pub(super) fn note_text(&mut self, path: &VaultPath, document: &Document) -> Result<String, Reason> {
        let rendered = render_queries(self.context, self.view, path, &document.note(), QUERIES)?;
        self.queries.add(&rendered.count);
        Ok(rendered.text)
    }

    /// A picture that every office program shows; `None` for one that cannot be decoded.
    fn decoded(&self, path: &VaultPath) -> Result<Option<BodyPicture>, Reason> {
        let LinkSource::File(file) = reading::source(self.view, path)? else { return Ok(None) };
        let mut longest_side = LONGEST_SIDE;
        loop {
            let job = DecodeJob::Picture { longest_side, most_bytes: MOST_PICTURE_BYTES };
            let decoded = self.context.attachments.decoder.decode(job, file.bytes(), &|| self.context.check());
            let ScaledPicture { facts, bytes } = match decoded {
                Ok(DecodedAttachment::Picture(picture)) => picture,
                Ok(_) => return Err(bug!("a decoder has answered another job than it was given")),
                Err(DecodeError::Stopped(reason)) => return Err(*reason),
                Err(DecodeError::Fault(_)) => return Ok(None),
            };
            if let Some(format) = PictureFormat::of(&facts.shown_media_type) {
                let (width, height, alt) = (facts.width, facts.height, naming::title(path).to_owned());
                return Ok(Some(BodyPicture { format, width, height, alt, bytes }));
            }
            // A file that is small enough comes back as it is; a little smaller, it is encoded anew.
            let side = facts.shown_width.max(facts.shown_height);
            if side <= 1 || side > longest_side {
                return Ok(None);
            }
            longest_side = side - 1;
        }
    }
}
