//! Notes that are kept up to date with every change: an index note lists the notes of its folder, and a log note gets a
//! line for each change of an assistant. Both are the owner's wish, off unless they are named in the settings.
//!
//! What is written is part of the change that it is about, between two marks in the note; every other byte of the note
//! stays. A note that the caller may not read or change is not kept up, and lines about other notes are left alone: a
//! caller sees no more in a list than was there, and removes nothing that it cannot see.

mod folder_list;
mod managed_part;

use lapidary_note::{Document, EditError};
use lapidary_operation::{
    Context, Reason,
    quote::{quoted, quoted_path},
};
use lapidary_vault::{Change, ChangeSet, ContentGuard, ReadError, VaultPath, View, store::StoreError};

use managed_part::{ManagedPart, PartKind};

/// A longer note would make every change slow.
const LONGEST_NOTE: usize = 1 << 20;
/// How many files a line of the log names.
const LOGGED_FILES: usize = 8;

/// What has to be written beside a change, on top of it.
#[derive(Default)]
pub struct UpkeepPlan {
    pub changes: ChangeSet,
    /// Why some of the notes are not kept up, for the owner: never a reason to refuse the change itself.
    pub problems: Vec<&'static str>,
}

pub fn plan(context: &Context<'_>, view: &View, changes: &ChangeSet, tool: &str) -> Result<UpkeepPlan, Reason> {
    let (shape, mut kept) = (context.shape, UpkeepPlan::default());
    if changes.is_empty() || (shape.index_notes.is_empty() && shape.log_note.is_none()) {
        return Ok(kept);
    }
    // The lists show the notes as the change leaves them.
    let ahead = view.with(changes);
    for note in &shape.index_notes {
        let affected = folder_list::affected(shape, note, changes);
        if !affected.is_empty() && is_free(changes, note) {
            let listed = |document: Option<&Document>| folder_list::updated(context, &ahead, note, document, &affected);
            kept.edit(&ahead, note, listed)?;
        }
    }
    // What the owner does by hand is not an assistant's work.
    if let Some(note) = shape.log_note.as_ref().filter(|note| !context.author.is_owner() && is_free(changes, note)) {
        let line = log_line(context, changes, note, tool);
        if let Some(line) = line {
            kept.edit(&ahead, note, |document| logged(document, &line))?;
        }
    }
    Ok(kept)
}

/// Whether the note stays where it is: one that moves or goes is not written to at the same time.
fn is_free(changes: &ChangeSet, note: &VaultPath) -> bool {
    changes.changes.iter().all(|change| match change {
        Change::Write { .. } | Change::Create { .. } | Change::MakeFolder { .. } => true,
        Change::Move { from, to, .. } => from != note && to != note,
        Change::MoveFolder { from, to } => !note.is_within(from) && !note.is_within(to),
        Change::Trash { path, .. } | Change::Delete { path, .. } => path != note,
        Change::TrashFolder { path } => !note.is_within(path),
    })
}

/// The new text of a kept note, from the old one if there is one; nothing if it needs no change.
type KeptText = Result<Option<Document>, EditError>;

impl UpkeepPlan {
    /// Adds the change of a kept note, if it can be made.
    fn edit(
        &mut self,
        ahead: &View,
        note: &VaultPath,
        edit: impl FnOnce(Option<&Document>) -> Result<KeptText, Reason>,
    ) -> Result<(), Reason> {
        if !ahead.shows(note) || ahead.may_write(note).is_err() {
            return Ok(());
        }
        let before = match ahead.read(note) {
            Ok(file) if ahead.is_source(note, Some(&file)) => return Ok(()),
            Ok(file) if file.content.len() > LONGEST_NOTE => return self.leave("it is longer than 1 MB"),
            Ok(file) => Some(file),
            Err(ReadError::Store(StoreError::Missing)) if ahead.may_be_made(note).is_ok() => None,
            Err(_) => return self.leave("it cannot be read"),
        };
        let document = before.as_ref().map(|before| Document::open(before.content.clone())).transpose();
        let Ok(document) = document else { return self.leave("it is not UTF-8") };
        let edited = match edit(document.as_ref())? {
            Ok(None) => return Ok(()),
            Ok(Some(edited)) => edited,
            Err(_) => return self.leave("its marks cannot be written to"),
        };
        let (path, content) = (note.clone(), edited.content().clone());
        self.changes.changes.extend(match before {
            Some(before) if before.content == content => None,
            Some(before) => Some(Change::Write { path, before, guard: ContentGuard::Plan, content }),
            None => Some(Change::Create { path, content }),
        });
        Ok(())
    }

    fn leave(&mut self, why: &'static str) -> Result<(), Reason> {
        self.problems.push(why);
        Ok(())
    }
}

/// A line at the end of the log.
fn logged(document: Option<&Document>, line: &str) -> Result<KeptText, Reason> {
    Ok(ManagedPart::find_or_add(document, PartKind::Log).and_then(|part| match part {
        Some(part) => part.with_body(&format!("{}{line}\n", part.body())).map(Some),
        None => Ok(None),
    }))
}

/// `- 2026-11-18 09:55 assistant str_replace: changed Plan.md`, with everything that is not ours quoted. Paths and not
/// links: a log says what a note was called then, and leads to nothing that is gone.
fn log_line(context: &Context<'_>, changes: &ChangeSet, log: &VaultPath, tool: &str) -> Option<String> {
    let mut done: Vec<(&str, Vec<String>)> = Vec::new();
    let others = || changes.changes.iter().filter(|change| change.path() != log);
    for change in others().take(LOGGED_FILES) {
        let verb = match change {
            Change::Write { .. } => "changed",
            Change::Create { .. } | Change::MakeFolder { .. } => "created",
            Change::Move { .. } | Change::MoveFolder { .. } => "moved",
            Change::Trash { .. } | Change::TrashFolder { .. } => "trashed",
            Change::Delete { .. } => "deleted",
        };
        let to = change.to().map_or(String::new(), |to| format!(" to {}", quoted_path(to)));
        let file = format!("{}{to}", quoted_path(change.path()));
        match done.iter_mut().find(|(known, _)| *known == verb) {
            Some((_, files)) => files.push(file),
            None => done.push((verb, vec![file])),
        }
    }
    let more = others().count().saturating_sub(LOGGED_FILES);
    let mut said: Vec<String> = done.iter().map(|(verb, files)| format!("{verb} {}", files.join(", "))).collect();
    said.extend((more > 0).then(|| format!("and {more} more")));
    let (now, client) = (context.now.strftime("%Y-%m-%d %H:%M"), quoted(context.author.client()));
    (!said.is_empty()).then(|| format!("- {now} {client} {tool}: {}", said.join("; ")))
}
