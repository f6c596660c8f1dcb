//! Finding checkpoints and their files.

use std::collections::BTreeMap;

use lapidary_note::ContentHash;
use lapidary_operation::{Context, Reason, clipped};
use lapidary_vault::{
    Checkpoint, CheckpointError, VaultPath, View,
    store::{CheckpointKind, EntryRecord},
};

use crate::reading;

/// The checkpoint that a caller refers to.
pub fn find(view: &View, given: &str) -> Result<Checkpoint, Reason> {
    view.checkpoint(given.trim()).map_err(|error| refusal(given, error))
}

pub fn refusal(given: &str, error: CheckpointError) -> Reason {
    match error {
        CheckpointError::Missing => Reason::CheckpointMissing { given: clipped(given) },
        CheckpointError::Ambiguous { ids } => Reason::CheckpointAmbiguous { given: clipped(given), ids },
        CheckpointError::Ledger(_) => Reason::no_state(),
    }
}

/// Whether every file of a change is back in the state before it. False if that is not known.
pub fn is_reverted(view: &View, id: &str) -> bool {
    let Ok(found) = find(view, id) else { return false };
    // A file may be left by one and taken by another in one change: then only the first state counts.
    let mut before: BTreeMap<&VaultPath, (Option<ContentHash>, Option<ContentHash>)> = BTreeMap::new();
    for EntryRecord { path, before: was, after, .. } in &found.entries {
        before.entry(path).and_modify(|(_, last)| *last = *after).or_insert((*was, *after));
    }
    let changed: Vec<_> = before.into_iter().filter(|(_, (was, after))| was != after).collect();
    let is_back = |path: &VaultPath, was: Option<ContentHash>| {
        reading::read_if_there(view, path).is_ok_and(|now| now.map(|file| file.hash()) == was)
    };
    !changed.is_empty() && changed.into_iter().all(|(path, (was, _))| is_back(path, was))
}

/// Its files, each once: a moved one is listed under its old path.
pub fn files(checkpoint: &Checkpoint) -> impl Iterator<Item = &EntryRecord> {
    let came_by_move = |entry: &EntryRecord| {
        let is_target = |other: &EntryRecord| other.moved_to.as_ref() == Some(&entry.path);
        // A move has two entries: where the file was, and where it arrived.
        entry.before.is_none() && entry.moved_to.is_none() && checkpoint.entries.iter().any(is_target)
    };
    checkpoint.entries.iter().filter(move |entry| !came_by_move(entry))
}

/// What a checkpoint records about one file, which may be named by its path after the change.
pub fn entry_of<'c>(checkpoint: &'c Checkpoint, path: &VaultPath) -> Result<&'c EntryRecord, Reason> {
    let entries = &checkpoint.entries;
    let there =
        // The same path may be left by one file and taken by another in one change; the one that was there before
        // comes first.
        entries.iter().find(|entry| entry.path == *path && (entry.before.is_some() || entry.moved_to.is_some()));
    let came_by_move = || entries.iter().find(|entry| entry.moved_to.as_ref() == Some(path));
    let made = || entries.iter().find(|entry| entry.path == *path);
    let found = there.or_else(came_by_move).or_else(made);
    found.ok_or_else(|| Reason::NotInCheckpoint {
        path: path.clone(),
        checkpoint: checkpoint.id.clone(),
        files: checkpoint.entries.iter().map(|entry| entry.path.clone()).collect(),
    })
}

/// More changes at once are not undone.
const MOST_LATER: usize = 500;
const PAGE: usize = 100;

/// A change and all later ones, newest first; with a path, only those of that file. `None` if there are too many.
pub fn since(
    context: &Context<'_>,
    view: &View,
    first: &Checkpoint,
    path: Option<&VaultPath>,
) -> Result<Option<Vec<Checkpoint>>, Reason> {
    let (mut later, mut before) = (Vec::new(), None::<String>);
    loop {
        context.check()?;
        let page = view
            .checkpoints(path, before.as_deref(), PAGE)
            .map_err(|error| refusal(before.as_deref().unwrap_or_default(), error))?;
        let end = page.checkpoints.iter().position(|found| found.id == first.id);
        before = page.checkpoints.last().map(|last| last.id.clone());
        // What another program saved is not a change that was made here.
        let is_change = |found: &Checkpoint| found.kind == CheckpointKind::Change || found.id == first.id;
        let wanted = end.map_or(page.checkpoints.len(), |end| end + 1);
        later.extend(page.checkpoints.into_iter().take(wanted).filter(is_change));
        if later.len() > MOST_LATER {
            return Ok(None);
        }
        if end.is_some() || !page.more {
            return Ok(Some(later));
        }
    }
}

/// The content of a file before the change.
pub fn content(view: &View, checkpoint: &Checkpoint, entry: &EntryRecord) -> Result<Option<Vec<u8>>, Reason> {
    if entry.before.is_none() {
        return Ok(None);
    }
    let kept = view.old_content(entry).map_err(|_| Reason::no_state())?;
    let missing = || Reason::VersionMissing { path: entry.path.clone(), wanted: checkpoint.id.clone() };
    kept.ok_or_else(missing).map(Some)
}
