//! Undo: restores files from a checkpoint.

use lapidary_note::{ContentHash, FileContent};
use lapidary_operation::{Context, NameWanted, Reason, quote::quoted};
use lapidary_vault::{
    Change, ChangeSet, Checkpoint, ContentGuard, VaultPath, View,
    store::{CheckpointKind, EntryRecord},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    checkpoint, index,
    moving::{files_of_folder, folder_changes},
    reading,
    removing::out_of_the_way,
};

/// The result for a restored file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoredFile {
    pub path: String,
    /// `restored`, `removed`, `moved back` or `unchanged`.
    pub outcome: &'static str,
    /// It has changed since; that version is in the new checkpoint.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_since: bool,
}

impl RestoredFile {
    /// What was undone, and below it what became of each file.
    pub fn list(done: &str, files: &[Self]) -> String {
        let mut text = done.to_owned();
        text.extend(files.iter().map(|file| format!("\n{}", file.text())));
        text
    }

    fn text(&self) -> String {
        let Self { path, outcome, changed_since } = self;
        let path = quoted(path);
        format!("{path} {outcome}{}", if *changed_since { " (it had been changed since)" } else { "" })
    }
}

/// Changes to undo at once. If nothing was moved, only the state of each file before the first of them matters.
pub fn together(changes: Vec<Checkpoint>) -> Vec<Checkpoint> {
    let moves = |entry: &EntryRecord| entry.moved_to.is_some() && entry.after.is_some();
    let is_moved = |found: &Checkpoint| {
        found.entries.iter().any(|entry| {
            let arrives = |other: &EntryRecord| entry.moved_to.as_ref() == Some(&other.path);
            moves(entry) || found.entries.iter().any(arrives)
        })
    };
    if changes.len() < 2 || changes.iter().any(is_moved) {
        return changes;
    }
    let mut all: Vec<EntryRecord> = Vec::new();
    for found in &changes {
        for entry in found.entries.iter().rev() {
            match all.iter_mut().find(|other| other.path == entry.path) {
                // The oldest state wins, as the changes come newest first.
                Some(newer) => newer.before = entry.before,
                None => all.push(EntryRecord { moved_to: None, ..entry.clone() }),
            }
        }
    }
    // They are reverted from last to first.
    all.reverse();
    let oldest = changes.into_iter().next_back();
    oldest.map(|oldest| Checkpoint { entries: all, ..oldest }).into_iter().collect()
}

/// Restores checkpoints, newest first: each was made on top of those before it.
pub struct RestorePlan<'a> {
    view: &'a View,
    /// The vault with everything restored so far.
    ahead: Option<View>,
    guard: ContentGuard,
    changes: ChangeSet,
    files: Vec<RestoredFile>,
}

impl<'a> RestorePlan<'a> {
    /// The changes that undo these checkpoints, or what they did to one file, and the result for each file.
    pub fn of(
        context: &Context<'_>,
        view: &'a View,
        guard: ContentGuard,
        checkpoints: &[Checkpoint],
        only: Option<&VaultPath>,
    ) -> Result<(ChangeSet, Vec<RestoredFile>), Reason> {
        let mut plan = Self { view, ahead: None, guard, changes: ChangeSet::default(), files: Vec::new() };
        checkpoints.iter().try_for_each(|found| plan.checkpoint(context, found, only))?;
        Ok((plan.changes, plan.files))
    }

    fn checkpoint(
        &mut self,
        context: &Context<'_>,
        found: &Checkpoint,
        only: Option<&VaultPath>,
    ) -> Result<(), Reason> {
        // Last to first, as each was made on top of those before it.
        for (index, entry) in found.entries.iter().enumerate().rev() {
            context.check()?;
            // The log of the vault goes on: its line about the change was true, and later ones are not part of it.
            let is_log = found.entries.len() > 1 && context.shape.log_note.as_ref() == Some(&entry.path);
            if only.map_or(!is_log, |only| entry.path == *only) {
                self.entry(context, found, index, entry)?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        context: &Context<'_>,
        found: &Checkpoint,
        index: usize,
        entry: &EntryRecord,
    ) -> Result<(), Reason> {
        // A file that arrived here by a move goes back with it. If it moved on from here, that is a separate step.
        let before_it = index.checked_sub(1).and_then(|before| found.entries.get(before));
        let came = before_it.is_some_and(|other| other.moved_to.as_ref() == Some(&entry.path) && !other.is_of_folder());
        if came && entry.before.is_none() && entry.moved_to.is_none() {
            return Ok(());
        }
        // A folder has no content, nor has a file that was moved unread.
        match &entry.moved_to {
            None => self.file(found, entry),
            Some(_) if entry.is_of_folder() => self.empty_folder(context, entry),
            Some(to) if entry.before.is_none() && index::files(context, self.now())?.find_folder(to).is_some() => {
                self.folder(context, entry, to)
            }
            Some(to) => {
                // Its state on arrival is the next entry.
                let arrived = found.entries.get(index + 1).filter(|other| other.path == *to && other.before.is_none());
                self.moved(found, entry, to, arrived.and_then(|other| other.after))
            }
        }
    }

    fn now(&self) -> &View {
        self.ahead.as_ref().unwrap_or(self.view)
    }

    fn change(&mut self, change: Change) -> Result<(), Reason> {
        let change = ChangeSet::one(change);
        self.ahead = Some(self.now().with(&change));
        self.changes.join(change, |folder| self.view.had_folder(folder)).map_err(Reason::NotJoined)
    }

    fn tell(&mut self, path: &VaultPath, outcome: &'static str, changed_since: bool) {
        let path = path.to_string();
        // A file that several steps concern is told once, with what became of it in the end.
        let Some(told) = self.files.iter_mut().find(|told| told.path == path) else {
            self.files.push(RestoredFile { path, outcome, changed_since });
            return;
        };
        if outcome != "unchanged" {
            told.outcome = outcome;
        }
        told.changed_since |= changed_since;
    }

    fn file(&mut self, found: &Checkpoint, entry: &EntryRecord) -> Result<(), Reason> {
        let (path, guard) = (entry.path.clone(), self.guard);
        let old = checkpoint::content(self.view, found, entry)?;
        let now = reading::read_if_there(self.now(), &path)?;
        let is_change = found.kind == CheckpointKind::Change;
        let since = |now: &ContentHash| is_change && entry.after != Some(*now);
        match (old, now) {
            (Some(old), Some(now)) if now.bytes() == old => self.tell(&path, "unchanged", false),
            // The change removed the file, so the file that has its name now is a new one. A caller that has seen it
            // may confirm with its hash.
            (Some(_), Some(now)) if is_change && entry.after.is_none() && guard == ContentGuard::Plan => {
                return Err(Reason::DestinationExists { path, current: now.hash(), wanted: NameWanted::Back });
            }
            (Some(old), Some(now)) => {
                let changed_since = since(&now.hash());
                self.change(Change::Write { path: path.clone(), before: now, guard, content: old.into() })?;
                self.tell(&path, "restored", changed_since);
            }
            (Some(old), None) => {
                self.change(Change::Create { path: path.clone(), content: old.into() })?;
                self.tell(&path, "restored", false);
            }
            (None, Some(now)) => {
                let changed_since = since(&now.hash());
                self.change(out_of_the_way(self.view, path.clone(), now, guard))?;
                self.tell(&path, "removed", changed_since);
            }
            (None, None) => self.tell(&path, "unchanged", false),
        }
        Ok(())
    }

    /// A file that was moved: back if it is unchanged, otherwise its old text is restored and the new file goes to the
    /// trash.
    fn moved(
        &mut self,
        found: &Checkpoint,
        entry: &EntryRecord,
        to: &VaultPath,
        after: Option<ContentHash>,
    ) -> Result<(), Reason> {
        let (path, guard) = (&entry.path, self.guard);
        // A file that was moved unread because of its size is moved back unread.
        let there = match reading::read_if_there(self.now(), to) {
            Err(Reason::FileTooLarge { .. }) if entry.before.is_none() => None,
            // It is gone from there, so only its old text can be restored.
            Ok(None) => return self.file(found, &alone(entry)),
            there => there?,
        };
        // A new file has the old name: it must not be overwritten.
        if let Some(now) = reading::read_if_there(self.now(), path)? {
            return Err(Reason::DestinationExists {
                path: path.clone(),
                current: now.hash(),
                wanted: NameWanted::Back,
            });
        }
        let now = there.as_ref().map(|there| there.hash());
        let changed_since = after.is_some() && after != now;
        // If the file was edited after the move, those edits are kept and only the path is restored.
        let old = if changed_since { None } else { checkpoint::content(self.view, found, entry)? };
        // A file that has its old text already is only moved.
        let old = old.filter(|old| there.as_ref().is_some_and(|there| there.bytes() != *old));
        let (from, to, before) = (to.clone(), path.clone(), there);
        self.change(Change::Move { from, to, before, guard, content: old.map(FileContent::from) })?;
        self.tell(path, "moved back", changed_since);
        Ok(())
    }

    fn folder(&mut self, context: &Context<'_>, entry: &EntryRecord, to: &VaultPath) -> Result<(), Reason> {
        let changes = {
            let files = index::files(context, self.now())?;
            let moved = files_of_folder(self.now(), files, to, &entry.path)?;
            let in_the_way = files.find_folder(&entry.path);
            if in_the_way.as_ref().is_some_and(|folder| files.below(Some(folder)).next().is_some()) {
                return Err(Reason::PathIsDirectory { path: entry.path.clone() });
            }
            let back = folder_changes(to.clone(), entry.path.clone(), &moved, Vec::new());
            // An empty folder of the old name would be in the way.
            in_the_way.map(|path| Change::TrashFolder { path }).into_iter().chain(back).collect::<Vec<_>>()
        };
        changes.into_iter().try_for_each(|change| self.change(change))?;
        self.tell(&entry.path, "moved back", false);
        Ok(())
    }

    /// A created folder is removed if it is still empty, and a removed one comes back.
    fn empty_folder(&mut self, context: &Context<'_>, entry: &EntryRecord) -> Result<(), Reason> {
        let path = entry.path.clone();
        let files = index::files(context, self.now())?;
        let (change, outcome) = match files.find_folder(&path) {
            Some(folder) if files.below(Some(&folder)).next().is_some() => (None, "unchanged"),
            Some(path) => (Some(Change::TrashFolder { path }), "removed"),
            None => (Some(Change::MakeFolder { path: path.clone() }), "restored"),
        };
        change.map_or(Ok(()), |change| self.change(change))?;
        self.tell(&path, outcome, false);
        Ok(())
    }
}

/// Without its destination.
fn alone(entry: &EntryRecord) -> EntryRecord {
    EntryRecord { moved_to: None, ..entry.clone() }
}
