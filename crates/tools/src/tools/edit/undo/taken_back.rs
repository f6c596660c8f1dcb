//! Which changes of a caller are still in effect. An undo is itself a change; both are recognised by what they did to
//! the files, so nothing else has to be stored.

use std::collections::BTreeMap;

use lapidary_note::ContentHash;
use lapidary_operation::{Context, Reason};
use lapidary_toolkit::{checkpoint, reading};
use lapidary_vault::{
    Checkpoint, VaultPath, View,
    store::{CheckpointKind, EntryRecord},
};

/// The last change is not searched for further back.
const MOST_SEEN: usize = 500;
const PAGE: usize = 50;

/// The tools whose changes may have undone others.
const UNDOERS: [&str; 2] = ["undo", "checkpoint_restore"];

/// The newest changes of the caller that are not undone, newest first.
pub(super) fn open_changes(context: &Context<'_>, view: &View, count: usize) -> Result<Vec<Checkpoint>, Reason> {
    let (mut own, mut before, mut seen) = (Vec::new(), None::<String>, 0);
    loop {
        context.check()?;
        let from = before.as_deref();
        let page =
            view.checkpoints(None, from, PAGE).map_err(|error| checkpoint::refusal(from.unwrap_or_default(), error))?;
        seen += page.checkpoints.len();
        before = page.checkpoints.last().map(|last| last.id.clone());
        let is_own = |found: &Checkpoint| {
            found.kind == CheckpointKind::Change && context.author.is_own(&found.client, found.time)
        };
        own.extend(page.checkpoints.into_iter().filter(is_own));
        // Computed anew for each page: an undo further up may have reverted changes that come only now.
        let OpenChanges { mut open, redone } = OpenChanges::of(context, &own);
        // What an undo reverted may be on the next page.
        let is_settled = !redone && open.iter().take(count).all(|index| !is_undoer(&own[*index]));
        if !page.more || seen >= MOST_SEEN || (open.len() >= count && is_settled) {
            open.truncate(count);
            let mut numbered = own.into_iter().enumerate();
            return Ok(open
                .iter()
                // The positions ascend, so one pass over the list is enough.
                .filter_map(|index| numbered.find(|(at, _)| at == index).map(|(_, own)| own))
                .collect());
        }
    }
}

fn is_undoer(found: &Checkpoint) -> bool {
    UNDOERS.contains(&found.tool.as_str())
}

/// The state of a file before and after some changes.
type FileStates = BTreeMap<VaultPath, (Option<ContentHash>, Option<ContentHash>)>;

/// Without the log of the vault, which goes on with every change.
fn states(context: &Context<'_>, found: &Checkpoint) -> FileStates {
    let mut states = FileStates::new();
    let is_log = |path: &VaultPath| found.entries.len() > 1 && context.shape.log_note.as_ref() == Some(path);
    for EntryRecord { path, before, after, .. } in found.entries.iter().filter(|entry| !is_log(&entry.path)) {
        // A path may occur twice in a change, if one file leaves it and another takes it.
        states.entry(path.clone()).and_modify(|(_, last)| *last = *after).or_insert((*before, *after));
    }
    states
}

/// Changes that neither undo another nor are undone.
struct OpenChanges {
    /// Their positions in the list, newest first.
    open: Vec<usize>,
    /// An undo seems to have been undone. If the list goes on, it may have reverted an older change instead.
    redone: bool,
}

impl OpenChanges {
    /// Replayed from the oldest change on, as each undo reverted what was open then. From the newest on, an undo of the
    /// first of two opposite changes would be taken for an undo of the undo before it.
    fn of(context: &Context<'_>, own: &[Checkpoint]) -> Self {
        let states: Vec<FileStates> = own.iter().map(|found| states(context, found)).collect();
        let (mut open, mut redone) = (Vec::new(), false);
        for (index, found) in own.iter().enumerate().rev() {
            let undone = if is_undoer(found) { undone_by(&states, index, &open) } else { Vec::new() };
            if undone.is_empty() {
                open.push(index);
                continue;
            }
            redone |= undone.iter().any(|other| is_undoer(&own[*other]));
            open.retain(|other| !undone.contains(other));
        }
        open.reverse();
        Self { open, redone }
    }
}

/// Which of the open changes (oldest first) an undo took back.
fn undone_by(states: &[FileStates], undo: usize, open: &[usize]) -> Vec<usize> {
    let mut all = FileStates::new();
    let several = open.iter().rposition(|other| {
        for (path, (before, after)) in &states[*other] {
            // Going back in time: the state before moves on, the state after is that of the newest change.
            all.entry(path.clone()).and_modify(|(first, _)| *first = *before).or_insert((*before, *after));
        }
        takes_back(&states[undo], &all)
    });
    match several {
        Some(oldest) => open[oldest..].to_vec(),
        // An undo by id reverts one change out of order.
        None => open.iter().rfind(|other| takes_back(&states[undo], &states[**other])).copied().into_iter().collect(),
    }
}

/// Whether every file is back in its state before the changes.
fn takes_back(undo: &FileStates, changes: &FileStates) -> bool {
    let again = undo.iter().all(|(path, (_, now))| changes.get(path).is_some_and(|(before, _)| before == now));
    // A file that the changes left as it was need not be in the undo.
    let untouched = |(path, (before, after)): (&VaultPath, &_)| undo.contains_key(path) || before == after;
    // An empty undo would match anything.
    !undo.is_empty() && again && changes.iter().all(untouched)
}

/// A file that is not as the newest of these changes left it: undoing them would revert other edits too.
pub(super) fn changed_since(
    context: &Context<'_>,
    view: &View,
    changes: &[Checkpoint],
) -> Result<Option<VaultPath>, Reason> {
    let mut left: BTreeMap<&VaultPath, Option<ContentHash>> = BTreeMap::new();
    for found in changes {
        for (path, (before, after)) in states(context, found) {
            // Nothing is known about a folder, or a file that was moved unread.
            let entry = found.entries.iter().find(|entry| entry.path == path);
            if let Some(entry) = entry.filter(|_| before.is_some() || after.is_some()) {
                left.entry(&entry.path).or_insert(after);
            }
        }
    }
    for (path, after) in left {
        context.check()?;
        let now = match reading::read_if_there(view, path) {
            // It cannot be compared; whether it can be restored is decided when that is planned.
            Err(Reason::FileTooLarge { .. }) => continue,
            now => now?.map(|file| file.hash()),
        };
        if now != after {
            return Ok(Some(path.clone()));
        }
    }
    Ok(None)
}
