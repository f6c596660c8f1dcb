//! Files that move to other paths, and the links that follow them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use lapidary_bases::{BaseReference, base_texts};
use lapidary_note::{
    CanvasKind, Document, EditError, FileContent, Link, LinkForm, LinkKind, LinkRetarget, NodeContent, Note, Property,
    PropertyEdit, PropertyPath, YamlNode, YamlValue, canvas_values, count_steps, edit_yaml, read_yaml,
    with_canvas_values,
};
use lapidary_operation::{Context, PathRefusal, Reason};
use lapidary_vault::{
    Change, ContentGuard, File, VaultPath, View, VisibleFiles, VisibleNotes,
    links::{FileMoves, FileNames, LinkFormat, RewrittenLink, WrittenLink, folded_name},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    file_edit::refusal,
    index,
    reading::{self, LinkSource, ShownFile},
    references::links_followed,
};

/// The result for links to the moved files.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinksOutput {
    /// Links that were rewritten.
    links_updated: usize,
    /// Files that contain them.
    files_updated: usize,
    /// Links in files that may not be changed, or that could not be.
    #[serde(skip_serializing_if = "is_zero")]
    links_left: usize,
    /// Files that could not be read; if they have links, those stay.
    #[serde(skip_serializing_if = "is_zero")]
    files_unread: usize,
}

impl LinksOutput {
    /// How many links were updated, appended to what was moved; empty if there were none.
    pub fn text(&self) -> String {
        let Self { links_updated, files_updated, links_left, files_unread } = self;
        links_followed(*links_updated, *files_updated, *links_left, *files_unread)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Files that are moving to other paths.
pub struct FileMoving<'v> {
    notes: &'v VisibleNotes,
    after: NamesAfter<'v>,
    format: LinkFormat,
    /// The folder that moves as a whole, and where it goes.
    folder: Option<(VaultPath, VaultPath)>,
    output: LinksOutput,
}

/// The names in the vault once everything has moved.
pub(crate) struct NamesAfter<'v> {
    notes: &'v VisibleNotes,
    moved: BTreeMap<VaultPath, VaultPath>,
    gone: BTreeSet<VaultPath>,
    by_name: BTreeMap<String, Vec<VaultPath>>,
}

impl<'v> NamesAfter<'v> {
    /// Without one file, and with another.
    pub(crate) fn with(notes: &'v VisibleNotes, gone: Option<VaultPath>, made: Option<VaultPath>) -> Self {
        let by_name = made.map(|made| (folded_name(made.name()).into_owned(), vec![made]));
        Self { notes, moved: BTreeMap::new(), gone: gone.into_iter().collect(), by_name: by_name.into_iter().collect() }
    }
}

impl FileNames for NamesAfter<'_> {
    fn named<'n>(&'n self, folded: &str) -> impl Iterator<Item = &'n VaultPath> {
        let stays = |path: &&VaultPath| !self.moved.contains_key(*path) && !self.gone.contains(*path);
        self.notes.named(folded).filter(stays).chain(self.by_name.get(folded).into_iter().flatten())
    }
}

/// The new content of a file whose links had to change.
pub struct LinkRewrite {
    pub path: VaultPath,
    pub before: Arc<File>,
    pub content: FileContent,
}

impl LinkRewrite {
    /// The change of a file that stays where it is.
    fn write(&self) -> Change {
        let Self { path, before, content } = self;
        let (path, before, content) = (path.clone(), Arc::clone(before), content.clone());
        Change::Write { path, before, guard: ContentGuard::Plan, content }
    }
}

impl<'v> FileMoving<'v> {
    /// `moved` are files by their old and new path, spelt as on disk; `gone` are files that make room.
    pub fn new(
        context: &Context<'_>,
        view: &'v View,
        moved: BTreeMap<VaultPath, VaultPath>,
        gone: BTreeSet<VaultPath>,
    ) -> Result<Self, Reason> {
        let notes = index::notes(context, view)?;
        let mut by_name: BTreeMap<String, Vec<VaultPath>> = BTreeMap::new();
        // The names as they will be: a link is shortened only as far as it stays unique afterwards.
        for to in moved.values() {
            by_name.entry(folded_name(to.name()).into_owned()).or_default().push(to.clone());
        }
        let after = NamesAfter { notes, moved, gone, by_name };
        let format = view.app_settings().new_links;
        Ok(Self { notes, after, format, folder: None, output: LinksOutput::default() })
    }

    /// The same where the files are all of a folder, whose name follows in bases too.
    #[must_use]
    pub fn with_folder(self, from: VaultPath, to: VaultPath) -> Self {
        Self { folder: Some((from, to)), ..self }
    }

    /// All files whose links have to change, by their old path; those that may not be changed are only counted.
    pub fn rewrites(mut self, context: &Context<'_>, view: &View) -> Result<(Vec<LinkRewrite>, LinksOutput), Reason> {
        let mut rewrites = Vec::new();
        for source in self.sources() {
            context.check()?;
            let before = match reading::source(view, &source)? {
                LinkSource::File(before) => before,
                // It disappeared since the scan; there is nothing to rewrite.
                LinkSource::Gone => continue,
                LinkSource::Unread => {
                    self.output.files_unread += 1;
                    continue;
                }
            };
            let found = match () {
                () if source.is_note() => self.in_note(context, &source, &before)?,
                () if source.is_base() => self.in_base(&source, &before),
                () => self.in_canvas(&source, &before),
            };
            let Some((count, content)) = found else { continue };
            match content {
                // Files that the caller may not change keep their links, which are only counted.
                Some(content) if view.may_change(&source, &before) => {
                    self.output.links_updated += count;
                    self.output.files_updated += 1;
                    let rewrite = LinkRewrite { path: source, before, content };
                    context.budget.gather(&rewrite.write())?;
                    rewrites.push(rewrite);
                }
                _ => self.output.links_left += count,
            }
        }
        Ok((rewrites, self.output))
    }

    /// Every file with a link that may lead elsewhere after the move: files that mention an old or new name, files that
    /// move, canvases and bases.
    fn sources(&self) -> BTreeSet<VaultPath> {
        let mut sources = BTreeSet::new();
        for (from, to) in &self.after.moved {
            sources.extend(self.notes.mentioning(from).into_iter().cloned());
            // A file that arrives can make a link ambiguous that led elsewhere before.
            sources.extend(self.notes.mentioning(to).into_iter().cloned());
            sources.extend(self.notes.get(to).map(|entry| entry.path().clone()));
            // Its own relative links change with its folder.
            if from.is_note() {
                sources.insert(from.clone());
            }
        }
        // Canvases and bases are few, and the index does not know what they mention.
        sources.extend(self.notes.other_sources().map(|entry| entry.path().clone()));
        sources.retain(|path| !self.after.gone.contains(path));
        sources
    }

    fn rewritten(&self, text: &str, link: &Link, source: &VaultPath) -> Option<RewrittenLink> {
        // Resolving a link may compare many paths, so it counts as work.
        count_steps(LINK_STEPS);
        let form = match link.kind {
            LinkKind::Wiki => LinkForm::Wiki,
            LinkKind::Markdown => LinkForm::Markdown,
            // A reference link has its path in its definition, which is rewritten separately.
            LinkKind::Reference | LinkKind::Url => return None,
        };
        // A link without a path leads into its own note, wherever that moves.
        if !link.internal || link.path.is_empty() {
            return None;
        }
        let alias = link.alias.clone().and_then(|span| text.get(span));
        self.rewrite(form, &link.target(text), alias, source)
    }

    fn rewrite(
        &self,
        form: LinkForm,
        linkpath: &str,
        alias: Option<&str>,
        source: &VaultPath,
    ) -> Option<RewrittenLink> {
        let moved_to = |path: &VaultPath| self.after.moved.get(path).unwrap_or(path).clone();
        let all = FileMoves { before: self.notes, after: &self.after, moved_to: &moved_to, format: self.format };
        all.rewrite(WrittenLink { form, linkpath, alias }, source)
    }

    /// `None` if no link of the note has to change.
    fn in_note(
        &self,
        context: &Context<'_>,
        source: &VaultPath,
        before: &File,
    ) -> Result<Option<RelinkedFile>, Reason> {
        // Files that are not text have no links.
        let Ok(shown) = reading::show(source, before) else { return Ok(None) };
        let note = shown.note();
        let found = self.found(&note, source);
        let properties: Vec<(String, Link, RewrittenLink)> = note
            .property_links()
            .into_iter()
            .filter_map(|property| {
                let rewritten = self.rewritten(&property.value, &property.link, source)?;
                Some((property.key, property.link, rewritten))
            })
            .collect();
        let count = found.len() + properties.len();
        if count == 0 {
            return Ok(None);
        }
        // Counted, but without an edit: writing it back would lose its bytes.
        let ShownFile::Exact(document) = &shown else { return Ok(Some((count, None))) };
        let mut document = retargeted(document, &found).map_err(|error| refusal(source, error))?;
        for (key, link, rewritten) in &properties {
            // Each is an edit of all properties.
            context.check()?;
            let path = PropertyPath::parse(key).map_err(|error| refusal(source, error.into()))?;
            let Some(retarget) = LinkRetarget::link(link, &rewritten.linkpath) else { continue };
            let retarget = retarget.with_alias(link, rewritten.alias.as_deref());
            let edited = document.retarget_property_link(&path, &retarget);
            document = edited.map_err(|error| refusal(source, error))?.document;
        }
        Ok(Some((count, Some(document.content().clone()))))
    }

    fn found(&self, note: &Note<'_>, source: &VaultPath) -> Vec<MovedLink> {
        let links = note
            .links
            .iter()
            .filter_map(|link| Some(MovedLink { to: self.rewritten(note.text, link, source)?, link: link.clone() }));
        let definitions = note.definitions.iter().filter_map(|definition| {
            let link = definition.as_link();
            Some(MovedLink { to: self.rewritten(note.text, &link, source)?, link })
        });
        let mut found: Vec<MovedLink> = links.chain(definitions).collect();
        // `retarget_links` takes them in order.
        found.sort_by_key(|found| found.link.destination.start);
        found
    }

    /// The same for a canvas. Files that do not parse as one are not touched.
    fn in_canvas(&self, source: &VaultPath, before: &File) -> Option<RelinkedFile> {
        let canvas = Document::open(before.content.clone()).ok()?;
        let (mut values, mut count) = (Vec::new(), 0);
        for value in canvas_values(canvas.shown())? {
            match value.kind {
                CanvasKind::Path => {
                    let Ok(path) = VaultPath::parse(&value.value) else { continue };
                    let Some(to) = self.notes.find(&path).and_then(|entry| self.after.moved.get(entry.path())) else {
                        continue;
                    };
                    count += 1;
                    values.push((value.span, to.to_string()));
                }
                // A part of a file keeps its name when the file moves.
                CanvasKind::Subpath { .. } | CanvasKind::Label => {}
                CanvasKind::Text => {
                    let found = self.found(&Note::parse(&value.value), source);
                    if found.is_empty() {
                        continue;
                    }
                    count += found.len();
                    let card = Document::open(value.value.clone()).ok()?;
                    // A card whose links cannot be rewritten leaves the whole canvas as it is.
                    let Ok(card) = retargeted(&card, &found) else { return Some((count, None)) };
                    values.push((value.span, card.raw().to_owned()));
                }
            }
        }
        if count == 0 {
            return None;
        }
        let edited = with_canvas_values(canvas.shown(), &values)?;
        Some((count, Some(canvas.in_own_form(&edited))))
    }
}

/// What a link counts that is looked up.
const LINK_STEPS: usize = 64;

/// YAML with other texts at some places, each written over the old one. `None` if one of them is not written as it reads,
/// or if the result would be read differently.
fn with_texts(yaml: &str, root: &YamlNode, texts: &[(PropertyPath, YamlValue)]) -> Option<String> {
    // By the place of the value, the place of its text and the new value.
    let mut changes: BTreeMap<usize, (Range<usize>, &YamlValue)> = BTreeMap::new();
    for (path, value) in texts {
        let mut node = root;
        for segment in path.segments() {
            count_steps(LINK_STEPS);
            node = match &node.content {
                NodeContent::List(items) => items.get(segment.parse::<usize>().ok()?)?,
                _ => node.get(segment)?,
            };
        }
        let NodeContent::Scalar(YamlValue::Text(old)) = &node.content else { return None };
        // Within the quotes, if there are any. A text with escapes is not found, and `None` leads to the slower edit.
        let at = node.span.start + yaml.get(node.span.clone())?.find(old.as_str())?;
        changes.insert(node.span.start, (at..at + old.len(), value));
    }
    let (mut edited, mut end) = (String::with_capacity(yaml.len()), 0);
    for (span, value) in changes.values() {
        let YamlValue::Text(new) = value else { return None };
        edited += yaml.get(end..span.start)?;
        edited += new;
        end = span.end;
    }
    edited += yaml.get(end..)?;
    let read = read_yaml(&edited).ok()?;
    reads_with(root, &read, &changes).then_some(edited)
}

/// Whether YAML reads as before, but for the changes. The reader bounds the depth.
fn reads_with(before: &YamlNode, after: &YamlNode, changes: &BTreeMap<usize, (Range<usize>, &YamlValue)>) -> bool {
    match (&before.content, &after.content) {
        (NodeContent::Map(before), NodeContent::Map(after)) => {
            let same = |(a, b): (&Property, &Property)| a.key == b.key && reads_with(&a.value, &b.value, changes);
            before.len() == after.len() && before.iter().zip(after).all(same)
        }
        (NodeContent::List(before), NodeContent::List(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(a, b)| reads_with(a, b, changes))
        }
        (NodeContent::Scalar(old), NodeContent::Scalar(new)) => {
            changes.get(&before.span.start).map_or(old, |(_, changed)| changed) == new
        }
        // An alias may stand for a value that changed.
        _ => false,
    }
}

impl FileMoving<'_> {
    /// The same for a base: links, paths and folders in its filters and formulas. One that cannot be read is left alone.
    fn in_base(&self, source: &VaultPath, before: &File) -> Option<RelinkedFile> {
        let base = Document::open(before.content.clone()).ok()?;
        let root = read_yaml(base.shown()).ok()?;
        let (mut texts, mut count) = (Vec::new(), 0);
        for text in base_texts(&root) {
            let Some((new, names)) = text.renamed(&mut |reference| self.renamed(reference, source)) else { continue };
            count += names;
            texts.extend(PropertyPath::of(text.way).map(|path| (path, YamlValue::Text(new))));
        }
        let set = |yaml: String, (path, value): &(PropertyPath, YamlValue)| {
            edit_yaml(&yaml, &PropertyEdit::Set { path, value }).ok()
        };
        // One by one, each reads what the ones before it wrote.
        let edited =
            with_texts(base.shown(), &root, &texts).or_else(|| texts.iter().try_fold(base.shown().to_owned(), set));
        (count > 0).then(|| (count, edited.map(|edited| base.in_own_form(&edited))))
    }

    /// What a name in a base becomes; nothing if it stays.
    fn renamed(&self, reference: BaseReference<'_>, source: &VaultPath) -> Option<String> {
        let moved = |path: &str| self.after.moved.get(&VaultPath::parse(path).ok()?).map(VaultPath::to_string);
        match reference {
            BaseReference::Path(path) => moved(path),
            BaseReference::Folder(folder) => {
                let (from, to) = self.folder.as_ref()?;
                let rest = folder.strip_prefix(from.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
            }
            // A whole path stays one; any other name is written as links are.
            BaseReference::Link(link) => moved(link)
                .or_else(|| {
                    // A path without its extension, as Obsidian writes it.
                    moved(&format!("{link}.md")).filter(|_| link.contains('/')).map(|path| without_ending(&path))
                })
                .or_else(|| self.rewrite(LinkForm::Wiki, link, None, source).map(|rewritten| rewritten.linkpath)),
        }
    }
}

fn without_ending(path: &str) -> String {
    path.strip_suffix(".md").unwrap_or(path).to_owned()
}

/// How many links of a file have to change, and the file with the changed links, if possible.
type RelinkedFile = (usize, Option<FileContent>);

/// A link or a definition, and its new text.
struct MovedLink {
    link: Link,
    to: RewrittenLink,
}

fn retargeted(document: &Document, found: &[MovedLink]) -> Result<Document, EditError> {
    let links = found.iter().filter_map(|found| {
        let MovedLink { link, to } = found;
        Some(LinkRetarget::link(link, &to.linkpath)?.with_alias(link, to.alias.as_deref()))
    });
    Ok(document.retarget_links(&links.collect::<Vec<_>>())?.document)
}

/// The files of a folder by their old and new path, if the folder can move as a whole. The decision depends on paths
/// alone: files that the caller may not see move along, and must not be revealed or affected by it.
pub fn files_of_folder(
    view: &View,
    files: &VisibleFiles,
    from: &VaultPath,
    to: &VaultPath,
) -> Result<BTreeMap<VaultPath, VaultPath>, Reason> {
    let forbidden = |path: &VaultPath, denied| Reason::PathForbidden { path: path.clone(), writing: true, denied };
    let may_write =
        |path: &VaultPath| view.may_write(path).map_err(|denied| forbidden(path, PathRefusal::ByScope(denied)));
    may_write(from)?;
    may_write(to)?;
    if !view.closes_alike(from, to) {
        return Err(forbidden(from, PathRefusal::PartlyClosed));
    }
    let mut moved = BTreeMap::new();
    // Only the visible ones are listed; hidden files go with the folder, and `closes_alike` has made sure that they
    // may.
    for entry in files.below(Some(from)) {
        let given = format!("{to}{}", &entry.path().as_str()[from.as_str().len()..]);
        let new = VaultPath::parse(&given).map_err(|problem| Reason::PathInvalid { given, problem })?;
        may_write(entry.path())?;
        may_write(&new)?;
        moved.insert(entry.path().clone(), new);
    }
    Ok(moved)
}

/// The change that moves a folder, with its link edits.
pub fn folder_changes(
    from: VaultPath,
    to: VaultPath,
    moved: &BTreeMap<VaultPath, VaultPath>,
    rewrites: Vec<LinkRewrite>,
) -> Vec<Change> {
    // The links are rewritten after the folder has moved, so under the new paths.
    let new = |path: VaultPath| moved.get(&path).cloned().unwrap_or(path);
    let rewrites = rewrites.into_iter().map(|rewrite| LinkRewrite { path: new(rewrite.path), ..rewrite });
    let folder = Change::MoveFolder { from, to };
    std::iter::once(folder).chain(writes(rewrites.collect())).collect()
}

/// The changes of files that stay where they are.
pub fn writes(rewrites: Vec<LinkRewrite>) -> impl Iterator<Item = Change> {
    rewrites.into_iter().map(|rewrite| rewrite.write())
}
