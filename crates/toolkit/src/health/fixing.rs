//! Chosen findings as one change.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lapidary_note::{
    Document, EditError, Link, LinkForm, LinkKind, LinkRetarget, PropertyEdit, PropertyPath, TagEdit, TagPlaces,
    YamlValue,
};
use lapidary_operation::{Context, Reason, bug};
use lapidary_vault::{
    Change, ChangeSet, ContentGuard, File, VaultPath, View, VisibleNotes,
    links::{LinkFormat, folded_name, linkpath_for},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{FindingFix, HealthFinding};
use crate::{
    file_edit::refusal,
    index,
    moving::{FileMoving, writes},
    property_kinds::{self, PropertyKind},
    reading::{self, LinkSource},
    removing::out_of_the_way,
};

/// A finding that the change mends.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FixedFinding {
    pub id: String,
    /// What is done.
    pub does: String,
    pub paths: Vec<String>,
}

/// A finding that stays.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnfixedFinding {
    pub id: String,
    pub why: String,
}

/// The change that mends findings.
#[derive(Default)]
pub struct PlannedFixes {
    pub changes: ChangeSet,
    pub fixed: Vec<FixedFinding>,
    pub left: Vec<UnfixedFinding>,
}

/// Plans the fixes of findings. Files that go to the trash are decided on first, so that nothing is written into them;
/// names change last, on top of the edits.
pub fn plan_fixes(context: &Context<'_>, view: &View, chosen: Vec<HealthFinding>) -> Result<PlannedFixes, Reason> {
    let notes = index::notes(context, view)?;
    let mut fixing = FixingVault {
        context,
        view,
        notes,
        format: view.app_settings().new_links,
        edited: BTreeMap::new(),
        trashed: BTreeMap::new(),
        moved: BTreeMap::new(),
    };
    let mut planned = PlannedFixes::default();
    // A file that another fix links to stays.
    let wanted: BTreeSet<VaultPath> = chosen
        .iter()
        .filter_map(|finding| match &finding.fix {
            Ok(FindingFix::Retarget { to, .. }) => Some(to.clone()),
            _ => None,
        })
        .collect();
    let (first, then): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|finding| matches!(finding.fix, Ok(FindingFix::Trash { .. })));
    for finding in first.into_iter().chain(then) {
        context.check()?;
        let fix = match &finding.fix {
            Ok(fix) => fix,
            Err(why) => {
                planned.left.push(UnfixedFinding { id: finding.id, why: (*why).to_owned() });
                continue;
            }
        };
        match fixing.apply(fix, &wanted) {
            Ok(()) => {
                let paths = finding.paths.iter().map(VaultPath::to_string).collect();
                planned.fixed.push(FixedFinding { id: finding.id, does: fix.says(), paths });
            }
            // The disk failed, or the call is to stop: that concerns all of them.
            Err(reason @ (Reason::Disk { .. } | Reason::Interrupted(_) | Reason::Internal(_))) => return Err(reason),
            Err(reason) => planned.left.push(UnfixedFinding { id: finding.id, why: reason.to_string() }),
        }
    }
    planned.changes = fixing.changes()?;
    Ok(planned)
}

struct FixingVault<'c, 'x, 'v> {
    context: &'c Context<'x>,
    view: &'v View,
    notes: &'v VisibleNotes,
    format: LinkFormat,
    edited: BTreeMap<VaultPath, EditedNote>,
    trashed: BTreeMap<VaultPath, Arc<File>>,
    moved: BTreeMap<VaultPath, VaultPath>,
}

#[derive(Clone)]
struct EditedNote {
    before: Arc<File>,
    document: Document,
}

impl FixingVault<'_, '_, '_> {
    fn apply(&mut self, fix: &FindingFix, wanted: &BTreeSet<VaultPath>) -> Result<(), Reason> {
        match fix {
            FindingFix::Trash { path } => {
                // A link that was just mended would lead nowhere again.
                if wanted.contains(path) {
                    let error = EditError::LinkLost { target: path.to_string() };
                    return Err(Reason::EditRefused { path: path.clone(), error });
                }
                let before = self.read(path)?;
                self.trashed.insert(path.clone(), before);
                Ok(())
            }
            FindingFix::Rename { from, to } => {
                if self.view.is_source(from, self.view.read(from).ok().as_deref()) {
                    return Err(Reason::SourceFixed { path: from.clone() });
                }
                self.moved.insert(from.clone(), to.clone());
                Ok(())
            }
            FindingFix::Retarget { source, target, to, keeps_words } => {
                let (notes, format) = (self.notes, self.format);
                let linkpath = |form| linkpath_for(notes, to, source, format, form);
                self.edit(std::slice::from_ref(source), |document| {
                    // Both spellings are computed, because a note may have links of either form.
                    relinked(document, target, [linkpath(LinkForm::Wiki), linkpath(LinkForm::Markdown)], *keeps_words)
                })
            }
            FindingFix::Respell { tag, notes } => {
                self.edit(notes, |document| document.edit_tag(&TagEdit::Rename { from: tag, to: tag }, TagPlaces::Both))
            }
            FindingFix::Convert { property, to, notes } => {
                self.edit(notes, |document| with_property_as(document, property, *to))
            }
        }
    }

    fn read(&self, path: &VaultPath) -> Result<Arc<File>, Reason> {
        let file = match reading::source(self.view, path)? {
            LinkSource::File(file) => file,
            // Read again for the reason why this finding is left.
            LinkSource::Gone | LinkSource::Unread => reading::read_exactly(self.view, path)?,
        };
        // Only this finding is left; the judge would refuse all of them.
        match self.view.is_source(path, Some(&file)) {
            true => Err(Reason::SourceFixed { path: path.clone() }),
            false => Ok(file),
        }
    }

    /// Edits all of these notes, or none of them.
    fn edit(
        &mut self,
        paths: &[VaultPath],
        edit: impl Fn(&Document) -> Result<Document, EditError>,
    ) -> Result<(), Reason> {
        // Collected first: if one note refuses, none of them is changed.
        let mut edited = Vec::new();
        for path in paths.iter().filter(|path| !self.trashed.contains_key(*path)) {
            self.context.check()?;
            // On top of earlier fixes of the same note, so that all of them are in one write.
            let known = self.edited.get(path).cloned();
            let mut note = match known {
                Some(known) => known,
                None => {
                    let before = self.read(path)?;
                    let document = reading::editable(path, &before)?;
                    EditedNote { before, document }
                }
            };
            note.document = edit(&note.document).map_err(|error| refusal(path, error))?;
            edited.push((path.clone(), note));
        }
        self.edited.extend(edited);
        Ok(())
    }

    fn changes(self) -> Result<ChangeSet, Reason> {
        let mut all = ChangeSet::default();
        for (path, EditedNote { before, document }) in self.edited {
            let content = document.content().clone();
            // Two fixes can cancel each other out.
            if before.content != content {
                let change = Change::Write { path, before, guard: ContentGuard::Plan, content };
                self.context.budget.gather(&change)?;
                all.changes.push(change);
            }
        }
        for (path, before) in self.trashed {
            let change = out_of_the_way(self.view, path, before, ContentGuard::Plan);
            self.context.budget.gather(&change)?;
            all.changes.push(change);
        }
        if self.moved.is_empty() {
            return Ok(all);
        }
        // On top of the edits, so that a link that was just mended follows as well.
        let ahead = self.view.with(&all);
        let (rewrites, _) = FileMoving::new(self.context, &ahead, self.moved.clone(), BTreeSet::new())?
            .rewrites(self.context, &ahead)?;
        // Files that move are written as part of their move, all others on their own.
        let (own, others): (Vec<_>, Vec<_>) =
            rewrites.into_iter().partition(|rewrite| self.moved.contains_key(&rewrite.path));
        let mut own: BTreeMap<VaultPath, _> = own.into_iter().map(|rewrite| (rewrite.path, rewrite.content)).collect();
        let mut moves = Vec::new();
        for (from, to) in self.moved {
            let before = match reading::read_exactly(&ahead, &from) {
                // What is too large to be read can still be moved.
                Err(Reason::FileTooLarge { .. }) => None,
                read => Some(read?),
            };
            let content = own.remove(&from);
            moves.push(Change::Move { from, to, before, guard: ContentGuard::Plan, content });
        }
        let next = ChangeSet { changes: moves.into_iter().chain(writes(others)).collect() };
        let joined = all.join(next, |folder| ahead.had_folder(folder));
        joined.map_err(|error| bug!("fixes of findings cannot be joined: {error}"))?;
        Ok(all)
    }
}

/// A note whose links to a target lead elsewhere: in a wikilink, and in a Markdown link.
fn relinked(
    document: &Document,
    target: &str,
    [wiki, markdown]: [String; 2],
    keeps_words: bool,
) -> Result<Document, EditError> {
    let wanted = folded_name(target).into_owned();
    let leads_there = |text: &str, link: &Link| link.internal && folded_name(&link.target(text)) == wanted;
    let path_of = |kind: LinkKind| if kind == LinkKind::Wiki { wiki.as_str() } else { markdown.as_str() };
    // Which links have no words but their target, by their place among all links.
    // The index of a link stays the same when targets change, unlike its position.
    let mut wordless: Vec<(usize, String)> = Vec::new();
    let mut retargeted: Vec<LinkRetarget<'_>> = Vec::new();
    let note = document.note();
    for (at, link) in note.links.iter().enumerate().filter(|(_, link)| leads_there(note.text, link)) {
        retargeted.extend(LinkRetarget::link(link, path_of(link.kind)));
        if keeps_words && link.kind == LinkKind::Wiki && !link.embed && link.alias.is_none() {
            wordless.push((at, note.text[link.path.clone()].to_owned()));
        }
    }
    let definitions = note.definitions.iter().filter(|definition| leads_there(note.text, &definition.as_link()));
    retargeted.extend(definitions.map(|definition| LinkRetarget::definition(definition, &markdown)));
    // Edits are applied in the order of the text.
    retargeted.sort_by_key(|link| link.destination.start);
    let in_properties: Vec<_> =
        note.property_links().into_iter().filter(|property| leads_there(&property.value, &property.link)).collect();
    let edited = document.retarget_links(&retargeted)?.document;
    let mut edited = with_words(&edited, &wordless)?;
    for property in in_properties {
        let path = PropertyPath::parse(&property.key)?;
        let Some(link) = LinkRetarget::link(&property.link, path_of(property.link.kind)) else { continue };
        edited = edited.retarget_property_link(&path, &link)?.document;
        let words = property.link.alias.is_none().then(|| &property.value[property.link.path.clone()]);
        let words = words.filter(|_| keeps_words && property.link.kind == LinkKind::Wiki);
        // Read again: the edit before has moved everything behind it.
        let current = edited.note().property_links().into_iter().find(|found| found.key == property.key);
        if let (Some(words), Some(current)) = (words, current)
            && let Some(front) = current.value.trim_end().strip_suffix("]]")
        {
            let value = YamlValue::Text(format!("{front}|{words}]]"));
            edited = edited.edit_property(&PropertyEdit::Set { path: &path, value: &value })?.document;
        }
    }
    Ok(edited)
}

/// Wikilinks with words to show.
fn with_words(document: &Document, wordless: &[(usize, String)]) -> Result<Document, EditError> {
    if wordless.is_empty() {
        return Ok(document.clone());
    }
    let note = document.note();
    let inserted = wordless.iter().filter_map(|(at, words)| {
        let end = note.links.get(*at)?.span.end.checked_sub("]]".len())?;
        let line = note.text.get(..end)?.rsplit('\n').next()?;
        // In a table, a bare pipe would begin the next cell.
        let pipe = if line.trim_start().starts_with('|') { "\\|" } else { "|" };
        Some((end..end, format!("{pipe}{words}")))
    });
    let edited = document.replace_ranges(inserted)?.document;
    let links = |document: &Document| {
        let note = document.note();
        note.links.iter().map(|link| link.target(note.text).into_owned()).collect::<Vec<_>>()
    };
    // The words must not end a link or begin another.
    match links(&edited) == links(document) {
        true => Ok(edited),
        false => Err(EditError::LinkLost { target: wordless[0].1.clone() }),
    }
}

/// A note whose property has another kind of value.
fn with_property_as(document: &Document, property: &str, to: PropertyKind) -> Result<Document, EditError> {
    let wanted = property.to_lowercase();
    let properties = document.properties().map_err(lapidary_note::PropertyError::from)?;
    let mut edited = document.clone();
    // Names that differ only in case are one property for Obsidian.
    for (name, value) in properties.iter().filter(|(name, _)| name.to_lowercase() == wanted) {
        if let Some(value) = property_kinds::converted(value, to) {
            let path = PropertyPath::name(name);
            edited = edited.edit_property(&PropertyEdit::Set { path: &path, value: &value })?.document;
        }
    }
    Ok(edited)
}
