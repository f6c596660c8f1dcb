//! Links that follow a renamed part of a note.

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use lapidary_note::{
    CanvasKind, Document, EditError, FileContent, Link, LinkDefinition, LinkOutcome, LinkPlace, LinkRelocation, Note,
    PropertyPath, canvas_values, count_steps, counted, with_canvas_values,
};
use lapidary_operation::{Context, Reason, bug, clipped};
use lapidary_vault::{Change, ContentGuard, VaultPath, View, VisibleNotes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    file_edit::refusal,
    index,
    reading::{self, LinkSource, ShownFile},
};

/// Whether links are updated.
#[derive(Deserialize, JsonSchema)]
pub struct ReferencesInput {
    /// Rewrite the links to it.
    #[serde(default = "yes")]
    pub update_references: bool,
}

fn yes() -> bool {
    true
}

/// The result for links to a part of a note.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReferencesOutput {
    /// Links that were rewritten.
    pub(crate) references_updated: usize,
    /// Other files that contain them.
    pub(crate) files_updated: usize,
    /// Links in files that may not be changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) references_left: usize,
    /// Files that could not be read; if they have links to it, those stay.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) files_unread: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ReferencesOutput {
    /// How many links were updated, appended to what was renamed; empty if there were none.
    pub fn text(&self) -> String {
        let Self { references_updated, files_updated, references_left, files_unread } = self;
        links_followed(*references_updated, *files_updated, *references_left, *files_unread)
    }
}

/// The result for links, appended to their target.
pub(crate) fn links_followed(updated: usize, files: usize, left: usize, unread: usize) -> String {
    let mut text = String::new();
    if updated > 0 {
        text += &format!(", {} followed", counted(updated, "link"));
        text += &if files > 0 { format!(" in {}", counted(files, "other file")) } else { String::new() };
    }
    if left > 0 {
        text += &format!(", {} not updated in files that may not be changed", counted(left, "link"));
    }
    if unread > 0 {
        text += &format!(", {} could not be read", counted(unread, "file"));
    }
    text
}

/// Gives the new text of a link to a place in the note.
pub(crate) type LinkFollower<'f> = &'f dyn Fn(&LinkPlace<'_>) -> LinkOutcome;

/// The links of a vault to one of its notes.
pub struct NoteReferences<'v> {
    notes: &'v VisibleNotes,
    /// The note, by its name on disk.
    target: VaultPath,
    output: ReferencesOutput,
}

impl<'v> NoteReferences<'v> {
    pub fn to(context: &Context<'_>, view: &'v View, target: &VaultPath) -> Result<Self, Reason> {
        let notes = index::notes(context, view)?;
        // Links are resolved to paths as spelt on disk.
        let target = notes.find(target).map_or_else(|| target.clone(), |entry| entry.path().clone());
        Ok(Self { notes, target, output: ReferencesOutput::default() })
    }

    /// The note itself with its own links rewritten.
    pub fn within(
        &mut self,
        context: &Context<'_>,
        document: &Document,
        follow: LinkFollower<'_>,
    ) -> Result<Document, Reason> {
        let target = self.target.clone();
        let found = self.found(&document.note(), &target, follow);
        self.check(&found, &target)?;
        self.output.references_updated += found.count();
        found.rewritten(context, &target, document)
    }

    /// The changes of all other notes and canvases. Files that the caller may not change are kept, and counted.
    pub fn elsewhere(
        mut self,
        context: &Context<'_>,
        view: &View,
        follow: LinkFollower<'_>,
    ) -> Result<(Vec<Change>, ReferencesOutput), Reason> {
        let mut changes = Vec::new();
        // The index does not know which canvases mention a note, so all of them are read.
        let canvases = self.notes.other_sources().map(|entry| entry.path()).filter(|path| path.is_canvas());
        let sources: BTreeSet<&VaultPath> = self.notes.mentioning(&self.target).into_iter().chain(canvases).collect();
        for source in sources {
            context.check()?;
            let before = match reading::source(view, source)? {
                LinkSource::File(before) => before,
                LinkSource::Gone => continue,
                // Counted, so that the answer tells of links that may be broken now.
                LinkSource::Unread => {
                    self.output.files_unread += 1;
                    continue;
                }
            };
            // Files that are not text have no links to follow.
            let Ok(shown) = reading::show(source, &before) else { continue };
            let found = match source.is_canvas() {
                true => self.in_canvas(shown.text(), source, follow),
                false => self.found(&shown.note(), source, follow),
            };
            if found.count() == 0 {
                continue;
            }
            // Text with replaced bytes cannot be written back without losing them.
            let (ShownFile::Exact(document), true) = (&shown, view.may_change(source, &before)) else {
                self.output.references_left += found.count();
                continue;
            };
            self.check(&found, source)?;
            let content = found.rewritten(context, source, document)?.content().clone();
            self.output.references_updated += found.count();
            self.output.files_updated += 1;
            let (path, before) = (source.clone(), Arc::clone(&before));
            let change = Change::Write { path, before, guard: ContentGuard::Plan, content };
            context.budget.gather(&change)?;
            changes.push(change);
        }
        Ok((changes, self.output))
    }

    /// Refuses a change after which some link could no longer be expressed.
    fn check(&self, found: &ReferencingFile, source: &VaultPath) -> Result<(), Reason> {
        match found.lost.first() {
            Some(place) => {
                let (path, source) = (self.target.clone(), source.clone());
                Err(Reason::LinkWouldBeLost { path, source, place: clipped(place) })
            }
            None => Ok(()),
        }
    }

    /// The links of a note that have to change.
    fn found(&self, note: &Note<'_>, source: &VaultPath, follow: LinkFollower<'_>) -> ReferencingFile {
        let mut found = ReferencingFile::default();
        let mut followed = |text: &str, link: &Link| {
            count_steps(LINK_STEPS);
            let subpath = link.decoded_subpath(text).filter(|_| link.internal)?;
            // The same text may lead elsewhere from another note, so each link is resolved.
            if self.notes.resolve(&link.target(text), source) != Some(&self.target) {
                return None;
            }
            match follow(&LinkPlace::of(&subpath)) {
                LinkOutcome::Stays => None,
                LinkOutcome::Becomes(place) => {
                    found.bytes = found.bytes.saturating_add(place.len());
                    // The rest is not kept; the count alone makes the edit be refused.
                    (found.bytes <= MOST_BYTES).then_some(place)
                }
                LinkOutcome::Lost => {
                    found.lost.push(subpath.into_owned());
                    None
                }
            }
        };
        let mut in_text: Vec<LinkRelocation> =
            note.links.iter().filter_map(|link| LinkRelocation::link(link, followed(note.text, link)?)).collect();
        let of_definition = |definition: &LinkDefinition| {
            LinkRelocation::definition(definition, followed(note.text, &definition.as_link())?)
        };
        in_text.extend(note.definitions.iter().filter_map(of_definition));
        // Definitions are listed separately but lie among the links.
        in_text.sort_by_key(|link| link.destination.start);
        let in_properties = note.property_links().into_iter().filter_map(|property| {
            let place = followed(&property.value, &property.link)?;
            Some((property.key, LinkRelocation::link(&property.link, place)?))
        });
        (found.in_properties, found.in_text) = (in_properties.collect(), in_text);
        found
    }

    /// The same for a canvas. Files that do not parse as one have no links.
    fn in_canvas(&self, text: &str, source: &VaultPath, follow: LinkFollower<'_>) -> ReferencingFile {
        let mut found = ReferencingFile::default();
        for value in canvas_values(text).unwrap_or_default() {
            match value.kind {
                // These name files or nothing, and the note keeps its name.
                CanvasKind::Path | CanvasKind::Label => {}
                CanvasKind::Subpath { file } => {
                    let file = VaultPath::parse(&file).ok();
                    if file.and_then(|file| self.notes.find(&file)).is_none_or(|entry| *entry.path() != self.target) {
                        continue;
                    }
                    match follow(&LinkPlace::of(&value.value)) {
                        LinkOutcome::Stays => {}
                        LinkOutcome::Becomes(place) => found.in_cards.push((value.span, CardChange::Place(place))),
                        LinkOutcome::Lost => found.lost.push(value.value),
                    }
                }
                CanvasKind::Text => {
                    let mut links = self.found(&Note::parse(&value.value), source, follow);
                    found.lost.append(&mut links.lost);
                    if links.count() > 0 {
                        found.in_cards.push((value.span, CardChange::Text { text: value.value, links }));
                    }
                }
            }
        }
        found
    }
}

/// The links of one file that have to change.
#[derive(Default)]
struct ReferencingFile {
    in_text: Vec<LinkRelocation>,
    /// With the path of the property.
    in_properties: Vec<(String, LinkRelocation)>,
    /// For a canvas, with the location of the value.
    in_cards: Vec<(Range<usize>, CardChange)>,
    /// Places that no link could name any more.
    lost: Vec<String>,
    /// Total size of the new places. Those beyond `MOST_BYTES` are not kept.
    bytes: usize,
}

/// What a link counts that is looked up.
const LINK_STEPS: usize = 64;

/// A long name for many links could exceed the size limit of a file.
const MOST_BYTES: usize = 16 << 20;

/// The changes to a card.
enum CardChange {
    /// The place that a file card shows.
    Place(String),
    /// The links in its text.
    Text { text: String, links: ReferencingFile },
}

impl ReferencingFile {
    fn count(&self) -> usize {
        let in_card = |(_, card): &(Range<usize>, CardChange)| match card {
            CardChange::Place(_) => 1,
            CardChange::Text { links, .. } => links.count(),
        };
        let in_cards: usize = self.in_cards.iter().map(in_card).sum();
        self.in_text.len() + self.in_properties.len() + self.lost.len() + in_cards
    }

    fn rewritten(&self, context: &Context<'_>, path: &VaultPath, document: &Document) -> Result<Document, Reason> {
        let refused = |error: EditError| refusal(path, error);
        if self.bytes > MOST_BYTES {
            return Err(refused(EditError::TooLarge { bytes: self.bytes, limit: MOST_BYTES }));
        }
        if !self.in_cards.is_empty() {
            return self.with_cards(context, path, document);
        }
        // The text first: it is after the properties, so its spans would move.
        let mut document = document.relocate_links(&self.in_text).map_err(refused)?.document;
        for (property, link) in &self.in_properties {
            // Each is an edit of all properties.
            context.check()?;
            let property = PropertyPath::parse(property).map_err(|error| refused(error.into()))?;
            document = document.relocate_property_link(&property, link).map_err(refused)?.document;
        }
        Ok(document)
    }

    fn with_cards(&self, context: &Context<'_>, path: &VaultPath, canvas: &Document) -> Result<Document, Reason> {
        let mut values = Vec::new();
        for (span, card) in &self.in_cards {
            let value = match card {
                CardChange::Place(place) => format!("#{place}"),
                CardChange::Text { text, links } => {
                    let card = opened(text.clone())?;
                    links.rewritten(context, path, &card)?.raw().to_owned()
                }
            };
            values.push((span.clone(), value));
        }
        let edited =
            with_canvas_values(canvas.shown(), &values).ok_or_else(|| bug!("the edited canvas cannot be read"))?;
        opened(canvas.in_own_form(&edited))
    }
}

/// Opens text as a document.
fn opened(text: impl Into<FileContent>) -> Result<Document, Reason> {
    Document::open(text).map_err(|error| bug!("text is no longer text after an edit: {error}"))
}
