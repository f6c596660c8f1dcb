//! Moves a part of a note to another place, with the links that follow it.

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use lapidary_note::{
    CanvasKind, CanvasValue, Document, EditError, Link, LinkForm, LinkKind, LinkOutcome, LinkPlace, LinkRelocation,
    LinkRetarget, MovedPart, MovedText, Note, PartPlace, PartTransfer, PropertyPath, TransferSide, canvas_values,
    with_canvas_values,
};
use lapidary_operation::{Context, Reason, bug, clipped};
use lapidary_vault::{
    Change, ContentGuard, VaultPath, View, VisibleNotes,
    links::{LinkFormat, linkpath_for, resolve},
};

use crate::{
    file_edit::refusal,
    index,
    moving::NamesAfter,
    reading::{self, LinkSource, ShownFile},
    references::ReferencesOutput,
};

/// What remains in the old place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartTrace {
    Nothing,
    Link,
    Embed,
}

/// A part, and the two notes that its move changes.
pub struct PartMove<'a> {
    pub source: &'a VaultPath,
    pub document: &'a Document,
    pub part: MovedPart,
    /// The other note and its text, which is empty if it is new; `None` for a move within the note.
    pub target: Option<(&'a VaultPath, &'a Document)>,
    /// Whether this creates that note.
    pub is_new: bool,
    pub place: PartPlace,
    pub trace: PartTrace,
    /// The source is removed with its text and its properties, and links to it lead to the target.
    pub source_goes: bool,
}

/// The result of a move.
pub struct PartMoved {
    pub moved: MovedText,
    /// How many lines moved.
    pub lines: usize,
    /// Other files whose links had to change.
    pub others: Vec<Change>,
    pub references: ReferencesOutput,
    /// Labels of footnotes and links whose definitions are in another note now.
    pub apart: Vec<String>,
}

impl PartMove<'_> {
    /// Moves the part with all links to it and in it. A link that could not follow is a refusal.
    pub fn plan(&self, context: &Context<'_>, view: &View) -> Result<PartMoved, Reason> {
        // First unchanged, to find the final places, then with the links rewritten.
        let first = self.moved(self.document, self.target.map(|(_, document)| document), "")?;
        let (before, after) = (self.document.note(), first.source.note());
        let target_before = self.target.map(|(_, document)| document.note());
        let target_after = first.target.as_ref().map(Document::note);
        let transfer = PartTransfer {
            source_before: &before,
            source_after: &after,
            part: first.part.clone(),
            target: target_before.as_ref().zip(target_after.as_ref()),
            inserted: first.inserted.clone(),
        };
        let notes = index::notes(context, view)?;
        let gone = self.source_goes.then(|| self.source.clone());
        let made = self.target.filter(|_| self.is_new).map(|(path, _)| path.clone());
        let mut links = FollowingLinks {
            step: self,
            transfer: &transfer,
            notes,
            names: NamesAfter::with(notes, gone, made),
            format: view.app_settings().new_links,
            output: ReferencesOutput::default(),
        };
        // The two notes first, then all others, so that a link that would be lost refuses the move early.
        let source = links.own(context, self.source, self.document)?;
        let target = match self.target {
            Some((path, document)) if !self.is_new => Some(links.own(context, path, document)?),
            other => other.map(|(_, document)| document.clone()),
        };
        let left = links.trace();
        let others = links.elsewhere(context, view)?;
        let apart = definitions_apart(&before, &first.part);
        let references = links.output;
        // Moved again, this time with the rewritten links in both notes.
        let moved = self.moved(&source, target.as_ref(), &left)?;
        let lines = before.text[first.part.clone()].trim_matches('\n').lines().count();
        // Within one note, all definitions stay in reach.
        let apart = if self.target.is_some() { apart } else { Vec::new() };
        Ok(PartMoved { moved, lines, others, references, apart })
    }

    fn moved(&self, document: &Document, target: Option<&Document>, left: &str) -> Result<MovedText, Reason> {
        let moved = match target {
            Some(target) => document.move_into(self.part, target, self.place, left),
            None => document.move_within(self.part, self.place, left),
        };
        moved.map_err(|error| refusal(self.source, error))
    }

    fn holder(&self) -> &VaultPath {
        self.target.map_or(self.source, |(path, _)| path)
    }
}

/// Labels that are used on one side of the border of a part and defined on the other.
fn definitions_apart(note: &Note<'_>, part: &Range<usize>) -> Vec<String> {
    use lapidary_note::FootnoteKind::{Definition, Reference};
    let label = |span: &Option<Range<usize>>| span.clone().and_then(|span| note.text.get(span)).map(str::to_lowercase);
    let footnotes = |kind| note.footnotes.iter().filter(move |footnote| footnote.kind == kind);
    let mut apart = BTreeSet::new();
    for used in footnotes(Reference) {
        let defined = footnotes(Definition).find(|other| label(&other.label) == label(&used.label));
        // Both ends on the same side of the border stay together.
        if defined.is_some_and(|defined| part.contains(&defined.span.start) != part.contains(&used.span.start)) {
            apart.extend(label(&used.label).map(|label| format!("[^{label}]")));
        }
    }
    for link in &note.links {
        let defined = note.definition_of(link);
        if let Some(defined) =
            defined.filter(|defined| part.contains(&defined.span.start) != part.contains(&link.span.start))
        {
            apart.extend(note.text.get(defined.label.clone()).map(|label| format!("[{}]", clipped(label))));
        }
    }
    apart.into_iter().collect()
}

/// The new text of a link.
#[derive(Default)]
struct FollowedLink {
    path: Option<String>,
    place: Option<String>,
}

/// The links of one file that have to change, by their numbers.
#[derive(Default)]
struct FollowedLinks {
    in_text: Vec<(usize, FollowedLink)>,
    definitions: Vec<(usize, FollowedLink)>,
    properties: Vec<(String, FollowedLink)>,
}

impl FollowedLinks {
    fn count(&self) -> usize {
        self.in_text.len() + self.definitions.len() + self.properties.len()
    }

    /// The document with the places changed, then the paths: each edit reads the positions at that time.
    fn rewritten(&self, context: &Context<'_>, path: &VaultPath, document: &Document) -> Result<Document, Reason> {
        let refused = |error: EditError| refusal(path, error);
        let note = document.note();
        let mut places: Vec<LinkRelocation> = Vec::new();
        for (index, followed) in &self.in_text {
            let place = followed.place.clone().zip(note.links.get(*index));
            places.extend(place.and_then(|(place, link)| LinkRelocation::link(link, place)));
        }
        for (index, followed) in &self.definitions {
            let place = followed.place.clone().zip(note.definitions.get(*index));
            places.extend(place.and_then(|(place, definition)| LinkRelocation::definition(definition, place)));
        }
        // `relocate_links` takes them in order.
        places.sort_by_key(|link| link.destination.start);
        let placed = document.relocate_links(&places).map_err(refused)?.document;
        // Positions have changed with the edit, so the links are taken from the new parse, by their number.
        let note = placed.note();
        let mut paths: Vec<LinkRetarget<'_>> = Vec::new();
        for (index, followed) in &self.in_text {
            let path = followed.path.as_deref().zip(note.links.get(*index));
            paths.extend(path.and_then(|(path, link)| LinkRetarget::link(link, path)));
        }
        for (index, followed) in &self.definitions {
            let path = followed.path.as_deref().zip(note.definitions.get(*index));
            paths.extend(path.map(|(path, definition)| LinkRetarget::definition(definition, path)));
        }
        paths.sort_by_key(|link| link.destination.start);
        let mut document = placed.retarget_links(&paths).map_err(refused)?.document;
        for (key, followed) in &self.properties {
            // Each is an edit of all properties.
            context.check()?;
            let property = PropertyPath::parse(key).map_err(|error| refused(error.into()))?;
            let link = |document: &Document| {
                document.note().property_links().into_iter().find(|found| found.key == *key).map(|found| found.link)
            };
            if let Some(place) = followed.place.clone()
                && let Some(place) = link(&document).and_then(|link| LinkRelocation::link(&link, place))
            {
                document = document.relocate_property_link(&property, &place).map_err(refused)?.document;
            }
            let found = link(&document);
            if let Some(path) = &followed.path
                && let Some(path) = found.as_ref().and_then(|link| LinkRetarget::link(link, path))
            {
                document = document.retarget_property_link(&property, &path).map_err(refused)?.document;
            }
        }
        Ok(document)
    }
}

struct FollowingLinks<'a> {
    step: &'a PartMove<'a>,
    transfer: &'a PartTransfer<'a>,
    notes: &'a VisibleNotes,
    names: NamesAfter<'a>,
    format: LinkFormat,
    output: ReferencesOutput,
}

impl FollowingLinks<'_> {
    /// One of the two notes with its links rewritten, before anything moves.
    fn own(&mut self, context: &Context<'_>, path: &VaultPath, document: &Document) -> Result<Document, Reason> {
        let found = self.found(&document.note(), path)?;
        self.output.references_updated += found.count();
        found.rewritten(context, path, document)
    }

    /// The changes of all other files. Files that the caller may not change are kept, and counted.
    fn elsewhere(&mut self, context: &Context<'_>, view: &View) -> Result<Vec<Change>, Reason> {
        let canvases = self.notes.other_sources().map(|entry| entry.path()).filter(|path| path.is_canvas());
        let to_either = [self.step.source, self.step.holder()].into_iter().flat_map(|path| self.notes.mentioning(path));
        let mut sources: BTreeSet<VaultPath> = to_either.chain(canvases).cloned().collect();
        // These two were rewritten above.
        sources.remove(self.step.source);
        sources.remove(self.step.holder());
        let mut changes = Vec::new();
        for source in sources {
            context.check()?;
            let before = match reading::source(view, &source)? {
                LinkSource::File(before) => before,
                LinkSource::Gone => continue,
                LinkSource::Unread => {
                    self.output.files_unread += 1;
                    continue;
                }
            };
            // Files that are not text have no links.
            let Ok(shown) = reading::show(&source, &before) else { continue };
            let may_write = view.may_change(&source, &before);
            let (count, edited) = match &shown {
                ShownFile::Exact(document) if source.is_canvas() => self.in_canvas(context, &source, document)?,
                ShownFile::Exact(document) => {
                    let found = self.found(&document.note(), &source)?;
                    let count = found.count();
                    // A file that may not be changed is only counted, so the edit is not worth making.
                    let edited = (count > 0 && may_write).then(|| found.rewritten(context, &source, document));
                    (count, edited.transpose()?)
                }
                ShownFile::Lossy(_) => (self.found(&shown.note(), &source)?.count(), None),
            };
            match edited.filter(|_| may_write) {
                _ if count == 0 => {}
                None => self.output.references_left += count,
                Some(edited) => {
                    self.output.references_updated += count;
                    self.output.files_updated += 1;
                    let (guard, content) = (ContentGuard::Plan, edited.content().clone());
                    let change = Change::Write { path: source, before: Arc::clone(&before), guard, content };
                    context.budget.gather(&change)?;
                    changes.push(change);
                }
            }
        }
        Ok(changes)
    }

    fn found(&self, note: &Note<'_>, home: &VaultPath) -> Result<FollowedLinks, Reason> {
        let mut found = FollowedLinks::default();
        let part = (home == self.step.source).then_some(&self.transfer.part);
        let home_after =
            |at: usize| if part.is_some_and(|part| part.contains(&at)) { self.step.holder() } else { home };
        for (index, link) in note.links.iter().enumerate() {
            let followed = self.followed(note.text, link, home, home_after(link.span.start))?;
            found.in_text.extend(followed.map(|followed| (index, followed)));
        }
        for (index, definition) in note.definitions.iter().enumerate() {
            let followed = self.followed(note.text, &definition.as_link(), home, home_after(definition.span.start))?;
            found.definitions.extend(followed.map(|followed| (index, followed)));
        }
        for property in note.property_links() {
            // Properties stay in their note unless it is merged into the other.
            let merged = home == self.step.source && self.step.source_goes;
            let home_after = if merged { self.step.holder() } else { home };
            let followed = self.followed(&property.value, &property.link, home, home_after)?;
            found.properties.extend(followed.map(|followed| (property.key, followed)));
        }
        Ok(found)
    }

    /// The text of a link after the move, if it changes.
    fn followed(
        &self,
        text: &str,
        link: &Link,
        home: &VaultPath,
        home_after: &VaultPath,
    ) -> Result<Option<FollowedLink>, Reason> {
        let form = match link.kind {
            LinkKind::Wiki => LinkForm::Wiki,
            LinkKind::Markdown => LinkForm::Markdown,
            // A reference link has its path in its definition, which is followed separately.
            LinkKind::Reference | LinkKind::Url => return Ok(None),
        };
        if !link.internal {
            return Ok(None);
        }
        let linkpath = link.target(text);
        let is_own = link.path.is_empty();
        // A link into its own note has no path to resolve.
        let led = if is_own { Some(home) } else { self.notes.resolve(&linkpath, home) };
        let Some(led) = led else { return Ok(None) };
        let subpath = link.decoded_subpath(text);
        let (leads, outcome) = self.leads(led, subpath.as_deref());
        let place = match outcome {
            LinkOutcome::Stays => None,
            LinkOutcome::Becomes(place) => Some(place),
            LinkOutcome::Lost => return Err(self.lost(home, subpath.as_deref().unwrap_or_default())),
        };
        let says_so = match is_own {
            // A link without a path always means the note that contains it.
            true => leads == home_after,
            false => resolve(&self.names, &linkpath, home_after) == Some(leads),
        };
        let path = (!says_so).then(|| linkpath_for(&self.names, leads, home_after, self.format, form));
        Ok((path.is_some() || place.is_some()).then_some(FollowedLink { path, place }))
    }

    /// The file that a link to a place in `led` leads to afterwards, and the place.
    fn leads<'f>(&'f self, led: &'f VaultPath, subpath: Option<&str>) -> (&'f VaultPath, LinkOutcome) {
        let side = match led {
            led if led == self.step.source => TransferSide::Source,
            led if led == self.step.holder() => TransferSide::Target,
            _ => return (led, LinkOutcome::Stays),
        };
        let (side, outcome) = match subpath {
            Some(subpath) => self.transfer.follow(side, &LinkPlace::of(subpath)),
            None => (side, LinkOutcome::Stays),
        };
        // If the source goes, everything that led there leads to the target.
        let stays = side == TransferSide::Source && !self.step.source_goes;
        (if stays { self.step.source } else { self.step.holder() }, outcome)
    }

    fn lost(&self, source: &VaultPath, place: &str) -> Reason {
        let (path, source) = (self.step.source.clone(), source.clone());
        Reason::LinkWouldBeLost { path, source, place: clipped(place) }
    }

    /// How many links of a canvas follow, and the canvas with them.
    fn in_canvas(
        &self,
        context: &Context<'_>,
        source: &VaultPath,
        canvas: &Document,
    ) -> Result<(usize, Option<Document>), Reason> {
        let values = canvas_values(canvas.shown()).unwrap_or_default();
        let (mut changed, mut count): (Vec<(Range<usize>, String)>, usize) = (Vec::new(), 0);
        for value in &values {
            match &value.kind {
                CanvasKind::Label => {}
                CanvasKind::Path => {
                    let led = VaultPath::parse(&value.value).ok().and_then(|path| self.notes.find(&path));
                    let part = part_of(canvas.shown(), &values, value);
                    let Some(led) = led else { continue };
                    let (leads, outcome) = self.leads(led.path(), part.map(|part| part.value.as_str()));
                    if leads != led.path() {
                        count += 1;
                        changed.push((value.span.clone(), leads.to_string()));
                    }
                    match (outcome, part) {
                        (LinkOutcome::Becomes(place), Some(part)) => {
                            // A card whose path and place both change is one reference.
                            count += usize::from(leads == led.path());
                            changed.push((part.span.clone(), format!("#{place}")));
                        }
                        (LinkOutcome::Lost, Some(part)) => return Err(self.lost(source, &part.value)),
                        _ => {}
                    }
                }
                // Handled with its card.
                CanvasKind::Subpath { .. } => {}
                CanvasKind::Text => {
                    let card = Document::open(value.value.clone())
                        // JSON strings are always text.
                        .map_err(|error| bug!("the text of a card is not UTF-8: {error}"))?;
                    let found = self.found(&card.note(), source)?;
                    if found.count() > 0 {
                        count += found.count();
                        let card = found.rewritten(context, source, &card)?;
                        changed.push((value.span.clone(), card.raw().to_owned()));
                    }
                }
            }
        }
        if count == 0 {
            return Ok((0, None));
        }
        changed.sort_by_key(|(span, _)| span.start);
        let edited =
            with_canvas_values(canvas.shown(), &changed).ok_or_else(|| bug!("the edited canvas cannot be read"))?;
        let edited = Document::open(canvas.in_own_form(&edited))
            .map_err(|error| bug!("text is no longer text after an edit: {error}"))?;
        Ok((count, Some(edited)))
    }

    /// What remains in the old place: a link to the part, as far as it can be named.
    fn trace(&self) -> String {
        let embed = match self.step.trace {
            PartTrace::Nothing => return String::new(),
            PartTrace::Link => "",
            PartTrace::Embed => "!",
        };
        let (before, part) = (self.transfer.source_before, &self.transfer.part);
        let text = before.text.get(part.clone()).unwrap_or_default();
        let first = part.start + text.len() - text.trim_start().len();
        let heading = before.headings.iter().position(|heading| (part.start..=first).contains(&heading.section.start));
        // The id at the end of the part names all of it; otherwise any id in it is better than none.
        let block = before.blocks.iter().find(|block| block.marker.end >= part.start + text.trim_end().len());
        let block = block.or_else(|| before.blocks.iter().find(|block| part.contains(&block.marker.start)));
        let place = match (heading, block.filter(|block| part.contains(&block.marker.start))) {
            (Some(index), _) => self.transfer.place_of_heading(index).map(|place| format!("#{place}")),
            (None, Some(block)) => Some(format!("#^{}", block.id)),
            (None, None) => None,
        };
        let (source, holder) = (self.step.source, self.step.holder());
        let path = match holder == source {
            true => String::new(),
            false => linkpath_for(&self.names, holder, source, self.format, LinkForm::Wiki),
        };
        // An item leaves an item.
        let marker = before.items.iter().find(|item| item.marker.start == first);
        let marker = marker.map_or(String::new(), |item| {
            let line = before.text[..first].rfind('\n').map_or(0, |at| at + 1);
            format!("{}{} ", &before.text[line..first], &before.text[item.marker.clone()])
        });
        format!("{marker}{embed}[[{path}{}]]", place.unwrap_or_default())
    }
}

/// The part of its file that a card shows: the value nearest to the path in the same object.
fn part_of<'v>(text: &str, values: &'v [CanvasValue], path: &CanvasValue) -> Option<&'v CanvasValue> {
    let of_card = |value: &&CanvasValue| {
        // In either order: JSON does not say which key comes first.
        let between = value.span.end.min(path.span.end)..value.span.start.max(path.span.start);
        matches!(&value.kind, CanvasKind::Subpath { file } if *file == path.value)
            && text.get(between).is_some_and(|between| !between.contains(['{', '}']))
    };
    values.iter().filter(of_card).min_by_key(|value| value.span.start.abs_diff(path.span.start))
}
