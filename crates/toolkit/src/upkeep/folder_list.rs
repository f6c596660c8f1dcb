//! The list of the notes in a folder, kept line by line: what people write in it stays.

use std::collections::BTreeMap;

use lapidary_note::{Document, LinkForm, LinkKind, literal_words};
use lapidary_operation::{Context, Reason, VaultShape};
use lapidary_vault::store::StoreError;
use lapidary_vault::{Change, ChangeSet, ReadError, VaultPath, View, VisibleFiles, links::folded_name};

use super::{
    KeptText,
    managed_part::{ManagedPart, PartKind, lines},
};
use crate::{index, link::NewLink, naming::title, schema::NoteFacts};

/// A longer list is not read by anyone.
const MOST_LINES: usize = 2_000;
/// The property that says what a note is about.
const DESCRIPTION: &str = "description";
const LONGEST_DESCRIPTION: usize = 160;

/// The notes of the folder of an index note that a change concerns, each with where it went.
pub(super) fn affected(
    shape: &VaultShape,
    note: &VaultPath,
    changes: &ChangeSet,
) -> BTreeMap<VaultPath, Option<VaultPath>> {
    let mut affected = BTreeMap::new();
    let is_listed = |path: &VaultPath| belongs(shape, note, path);
    for change in &changes.changes {
        if is_listed(change.path()) {
            affected.insert(change.path().clone(), change.to().cloned());
        }
        if let Some(to) = change.to().filter(|to| !matches!(change, Change::MoveFolder { .. }) && is_listed(to)) {
            affected.entry(to.clone()).or_insert(None);
        }
    }
    affected
}

/// Whether a note is listed: directly in the folder, and not itself kept up.
fn belongs(shape: &VaultShape, note: &VaultPath, path: &VaultPath) -> bool {
    path.is_note() && path.folder() == note.folder() && !shape.is_kept_up(path)
}

/// A line of the list.
struct ListLine {
    /// With its line feed.
    text: String,
    /// Where its first link leads, as written.
    target: Option<String>,
    /// As we write it: the link, with a description at most.
    is_plain: bool,
}

/// The index note with the lines of these notes put right.
pub(super) fn updated(
    context: &Context<'_>,
    ahead: &View,
    note: &VaultPath,
    document: Option<&Document>,
    affected: &BTreeMap<VaultPath, Option<VaultPath>>,
) -> Result<KeptText, Reason> {
    let part = match ManagedPart::find_or_add(document, PartKind::Index) {
        Ok(Some(part)) => part,
        Ok(None) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error)),
    };
    let files = index::files(context, ahead)?;
    let mut list = FolderList { ahead, files, note, lines: list_lines(&part) };
    if part.is_new {
        let all = files.below(note.folder().as_ref()).map(|entry| entry.path());
        for path in all.filter(|path| belongs(context.shape, note, path)).take(MOST_LINES) {
            context.check()?;
            list.put(path);
        }
    } else {
        for (path, to) in affected {
            context.check()?;
            match ahead.read(path) {
                // Its line has followed the new name, which is listed too.
                Err(ReadError::Store(StoreError::Missing))
                    if to.as_ref().is_some_and(|to| affected.contains_key(to)) => {}
                Err(ReadError::Store(StoreError::Missing)) => list.remove(path, to.as_ref()),
                // One that may not be read is not named.
                Err(ReadError::Denied(_)) => {}
                Ok(_) | Err(ReadError::Store(_)) => list.put(path),
            }
        }
    }
    let body: String = list.lines.into_iter().map(|line| line.text).collect();
    if body == part.body() && document.is_some() && !part.is_new {
        return Ok(Ok(None));
    }
    Ok(part.with_body(&body).map(Some))
}

/// The lines between the marks, each with its first link.
fn list_lines(part: &ManagedPart) -> Vec<ListLine> {
    let note = part.document().note();
    let mut at = part.lines.start;
    let found = lines(part.body()).map(|text| {
        let span = at..at + text.len();
        at = span.end;
        let first = note.links.partition_point(|link| link.span.start < span.start);
        let link = note.links.get(first).filter(|link| link.internal && span.contains(&link.span.start));
        let is_plain = link.is_some_and(|link| {
            let rest = note.text[link.span.end..span.end].trim_end();
            // Words that a person chose for a link stay.
            let is_renamed = link.kind == LinkKind::Wiki && link.alias.is_some();
            note.text[span.start..link.span.start] == *"- "
                && !is_renamed
                && (rest.is_empty() || rest.starts_with(": "))
        });
        let text = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        ListLine { text, target: link.map(|link| link.target(note.text).into_owned()), is_plain }
    });
    found.collect()
}

struct FolderList<'v> {
    ahead: &'v View,
    files: &'v VisibleFiles,
    note: &'v VaultPath,
    lines: Vec<ListLine>,
}

impl FolderList<'_> {
    /// The line of a note that is there; none if no link can name it.
    fn line(&self, path: &VaultPath) -> Option<ListLine> {
        let settings = self.ahead.app_settings();
        let form = if settings.markdown_links { LinkForm::Markdown } else { LinkForm::Wiki };
        let link = NewLink::to(self.files, path, self.note, settings.new_links, form, title(path))?;
        let facts = self.ahead.read(path).ok().map(|file| NoteFacts::of_content(&file.content));
        let description = facts.and_then(|facts| facts.text(DESCRIPTION));
        // Words of the note, which must not become links of the list.
        let description = description.map_or(String::new(), |text| format!(": {}", literal_words(&clipped(&text))));
        Some(ListLine { text: format!("- {}{description}\n", link.text), target: Some(link.target), is_plain: true })
    }

    /// Adds a note if it is not listed yet. A line of ours follows the description; one that a person wrote stays.
    fn put(&mut self, path: &VaultPath) {
        let Some(line) = self.line(path) else { return };
        let leads_there = |known: &ListLine| {
            let target = known.target.as_deref();
            target.is_some_and(|target| self.files.resolve(target, self.note) == Some(path))
        };
        match self.lines.iter().position(leads_there) {
            Some(at) if self.lines[at].is_plain && self.lines[at].text != line.text => self.lines[at] = line,
            Some(_) => {}
            None if self.lines.len() >= MOST_LINES => {}
            None => {
                let key = sort_key(title(path));
                let comes_later = |known: &ListLine| known.target.as_deref().is_some_and(|it| last_name(it) > key);
                let last = self.lines.iter().rposition(|known| known.target.is_some()).map_or(0, |last| last + 1);
                let at = self.lines.iter().position(comes_later).unwrap_or(last);
                self.lines.insert(at, line);
            }
        }
    }

    /// Removes the line of a note that is gone from the folder, unless something hangs below it.
    fn remove(&mut self, path: &VaultPath, to: Option<&VaultPath>) {
        let leads_there = |target: &str| match self.files.resolve(target, self.note) {
            // A rename has brought the link up to date already.
            Some(found) => Some(found) == to,
            None => last_name(target) == sort_key(title(path)),
        };
        let at = self.lines.iter().position(|known| known.target.as_deref().is_some_and(leads_there));
        let Some(at) = at else { return };
        let is_alone = self.lines.get(at + 1).is_none_or(|next| !next.text.starts_with([' ', '\t']));
        if is_alone {
            self.lines.remove(at);
        }
    }
}

fn sort_key(name: &str) -> String {
    folded_name(name).into_owned()
}

/// The name at the end of a link, without its extension.
fn last_name(target: &str) -> String {
    let name = target.rsplit('/').next().unwrap_or(target);
    sort_key(name.strip_suffix(".md").unwrap_or(name))
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
