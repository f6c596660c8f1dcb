//! The fate of each file since a time: changes of these tools from the ledger, and changes of others from file times.

use std::{collections::BTreeMap, time::SystemTime};

use lapidary_note::ContentHash;
use lapidary_operation::{Context, Reason};
use lapidary_toolkit::{checkpoint, index, reading};
use lapidary_vault::{
    ChangeDiff, Checkpoint, VaultPath, View,
    store::{CheckpointKind, EntryRecord},
};

/// How much of the ledger is read: older changes are derived from file times.
const MOST_CHECKPOINTS: usize = 2_000;
const PAGE: usize = 100;

/// One file, from the time on that was asked about.
pub(super) struct FileStory {
    /// Where it is now, or was last.
    pub(super) path: VaultPath,
    pub(super) time: SystemTime,
    pub(super) tools: Vec<String>,
    pub(super) outside: bool,
    /// The first change of these tools: what the file was before it.
    first: Option<(Checkpoint, EntryRecord)>,
    was_there: bool,
    is_there: bool,
    /// What these tools left.
    left: Option<ContentHash>,
    /// It is back in its old state: everything was undone.
    is_settled: bool,
}

impl FileStory {
    pub(super) fn what(&self) -> &'static str {
        match (self.was_there, self.is_there) {
            // A file that was created and deleted since is settled, and not shown at all.
            (_, false) => "deleted",
            (false, true) => "created",
            (true, true) if self.moved_from().is_some() => "moved",
            (true, true) => "changed",
        }
    }

    pub(super) fn moved_from(&self) -> Option<&VaultPath> {
        let (_, first) = self.first.as_ref()?;
        (first.path != self.path && self.was_there).then_some(&first.path)
    }
}

/// The files that changed, the newest change first.
pub(super) fn stories(
    context: &Context<'_>,
    view: &View,
    since: SystemTime,
    folder: Option<&VaultPath>,
) -> Result<Vec<FileStory>, Reason> {
    let files = index::files(context, view)?;
    let mut known: BTreeMap<VaultPath, FileStory> = BTreeMap::new();
    for (path, mut story) in from_ledger(context, view, since)? {
        context.check()?;
        let now = match reading::read_if_there(view, &path) {
            Ok(now) => now.map(|file| file.hash()),
            // An unreadable file exists, but nothing more is known about it.
            Err(_) => story.left,
        };
        let is_folder = now.is_none() && files.find_folder(&path).is_some();
        story.is_there = now.is_some() || is_folder;
        // Any other content than what these tools left was written by another program.
        story.outside = now != story.left && !is_folder;
        if let Some(entry) = files.get(&path).filter(|_| story.outside) {
            // The later of the two: the checkpoint is older than an edit that came after it.
            story.time = story.time.max(entry.modified());
        }
        let before = story.first.as_ref().and_then(|(_, first)| first.before);
        story.is_settled = story.moved_from().is_none() && before == now && !is_folder;
        known.insert(path, story);
    }
    for entry in files.iter().filter(|entry| entry.modified() >= since) {
        known.entry(entry.path().clone()).or_insert_with(|| FileStory {
            path: entry.path().clone(),
            time: entry.modified(),
            tools: Vec::new(),
            outside: true,
            first: None,
            // Not every file system knows when a file was created; it is then taken for an older one.
            was_there: entry.created().is_none_or(|created| created < since),
            is_there: true,
            left: None,
            is_settled: false,
        });
    }
    let is_meant = |story: &FileStory| folder.is_none_or(|folder| story.path.is_within(folder));
    let mut found: Vec<FileStory> = known.into_values().filter(|story| !story.is_settled && is_meant(story)).collect();
    // By path among equal times, so that pages do not overlap.
    found.sort_by(|one, other| other.time.cmp(&one.time).then_with(|| one.path.cmp(&other.path)));
    Ok(found)
}

/// What these tools did to each file, by the path that it has after all of it.
fn from_ledger(
    context: &Context<'_>,
    view: &View,
    since: SystemTime,
) -> Result<BTreeMap<VaultPath, FileStory>, Reason> {
    let (mut recent, mut before) = (Vec::new(), None::<String>);
    loop {
        context.check()?;
        let from = before.as_deref();
        let Ok(page) = view.checkpoints(None, from, PAGE) else {
            // A vault without a history still has files.
            break;
        };
        let (all, more) = (page.checkpoints.len(), page.more);
        before = page.checkpoints.last().map(|last| last.id.clone());
        let newer: Vec<Checkpoint> = page.checkpoints.into_iter().take_while(|found| found.time >= since).collect();
        let ended = newer.len() < all || !more;
        recent.extend(newer);
        if ended || recent.len() >= MOST_CHECKPOINTS {
            break;
        }
    }
    let mut known: BTreeMap<VaultPath, FileStory> = BTreeMap::new();
    // From the first to the last, as each was made on top of those before it.
    for found in recent.into_iter().rev().filter(|found| found.kind == CheckpointKind::Change) {
        for (index, entry) in found.entries.iter().enumerate() {
            // A move is recorded as two entries, the old path right before the new one.
            let came = index.checked_sub(1).and_then(|before| found.entries.get(before));
            let came = came.is_some_and(|other| other.moved_to.as_ref() == Some(&entry.path) && !other.is_of_folder());
            let goes_on = entry.moved_to.as_ref().filter(|to| **to != entry.path);
            // Removed and put back under its new path, so that a later change of that path continues the story.
            let mut story = known.remove(&entry.path).unwrap_or_else(|| FileStory {
                path: entry.path.clone(),
                time: found.time,
                tools: Vec::new(),
                outside: false,
                first: Some((found.clone(), entry.clone())),
                was_there: entry.before.is_some() || goes_on.is_some(),
                is_there: true,
                left: None,
                is_settled: false,
            });
            story.time = found.time;
            if !story.tools.contains(&found.tool) {
                story.tools.push(found.tool.clone());
            }
            story.left = if came || goes_on.is_none() { entry.after } else { story.left.or(entry.before) };
            // A trashed file counts as deleted.
            let to = goes_on.filter(|to| view.shows(to)).unwrap_or(&entry.path).clone();
            story.path = to.clone();
            known.insert(to, story);
        }
    }
    Ok(known)
}

/// One diff of all of them, as far as there is room, and those that it lacks.
pub(super) fn one_diff(
    context: &Context<'_>,
    view: &View,
    shown: &[FileStory],
    max_bytes: usize,
) -> Result<(Option<String>, Vec<String>), Reason> {
    let (mut text, mut lacking) = (String::new(), Vec::new());
    for story in shown {
        context.check()?;
        let old = match &story.first {
            Some((found, first)) if first.before.is_some() => checkpoint::content(view, found, first).ok(),
            // The previous content of a file that others changed was not kept.
            None if story.was_there => None,
            _ => Some(None),
        };
        let now = reading::read_if_there(view, &story.path);
        let (Some(old), Ok(now)) = (old, now) else {
            lacking.push(story.path.to_string());
            continue;
        };
        let mut diff = ChangeDiff::default();
        if let Some(from) = story.moved_from() {
            diff.rename(from, &story.path);
        }
        diff.compare(&story.path, old.as_deref(), now.as_ref().map(|file| file.bytes()));
        // A file that does not fit is left out as a whole, and smaller ones may still fit.
        if text.len() + diff.text.len() > max_bytes {
            lacking.push(story.path.to_string());
            continue;
        }
        text += &diff.text;
    }
    Ok(((!text.is_empty()).then_some(text), lacking))
}
