//! What has changed: one query for the times of all notes, and a walk over the folders for other files.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use lapidary_store::{
    Cursor, ElapsedTime, FileStat, ListingOptions, PlaceState, StoreError, VaultDelta, VaultPath, WalkedFolder,
};
use serde_json::json;

use super::{RemoteBackend, remote_files::stat_of, store_error};
use crate::{FileTimes, PluginError};

/// Within this time the vault is not asked again, unless we changed it.
pub(super) const FRESH: Duration = Duration::from_secs(1);
/// Other files than notes take a request for each folder.
const WALK_EVERY: Duration = Duration::from_secs(30);
/// Requests that are made at the same time.
const AT_ONCE: usize = 6;

type StatMap = BTreeMap<VaultPath, FileStat>;

/// How far a cursor has followed the vault.
struct RemoteCursor {
    notes: StatMap,
    others: StatMap,
    looked: ElapsedTime,
    walked: ElapsedTime,
    /// Our own changes that it has seen.
    changed_notes: u64,
    changed_others: u64,
}

impl RemoteBackend {
    pub(super) fn list_changes(
        &self,
        cursor: &mut Cursor,
        look: &ListingOptions<'_>,
    ) -> Result<VaultDelta, StoreError> {
        // Taken before the look: a change meanwhile is looked for again.
        let changed_notes = self.changed_notes.load(Ordering::Acquire);
        let changed_others = self.changed_others();
        let looked = ElapsedTime::start();
        let Some(known) = cursor.get_mut::<RemoteCursor>() else {
            // The first look is a whole listing; there is nothing to compare it with.
            let notes = self.notes(look)?;
            let Some(others) = self.others(&notes, &StatMap::new(), look)? else { return Ok(stopped()) };
            let walked = walked(&notes, &others);
            cursor.set(RemoteCursor { notes, others, looked, walked: looked, changed_notes, changed_others });
            return Ok(VaultDelta::Everything { walked, replaced: false });
        };
        let is_ours = known.changed_notes != changed_notes || known.changed_others != changed_others;
        // Several calls within a second share one listing.
        if !is_ours && known.looked.elapsed() < FRESH {
            return Ok(VaultDelta::Places(Vec::new()));
        }
        let notes = self.notes(look)?;
        // Our own change of another file is seen at once; those of others after at most `WALK_EVERY`.
        let is_walked = known.changed_others != changed_others || known.walked.elapsed() >= WALK_EVERY;
        let others = if is_walked {
            let Some(others) = self.others(&notes, &known.others, look)? else { return Ok(stopped()) };
            others
        } else {
            known.others.clone()
        };
        (known.looked, known.changed_notes, known.changed_others) = (looked, changed_notes, changed_others);
        if is_walked {
            known.walked = looked;
        }
        if known.notes == notes && known.others == others {
            return Ok(VaultDelta::Places(Vec::new()));
        }
        let walked = walked(&notes, &others);
        (known.notes, known.others) = (notes, others);
        // Everything rather than the differences: the index compares stamps itself.
        Ok(VaultDelta::Everything { walked, replaced: false })
    }

    pub(super) fn list_place(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError> {
        let known = cursor.get_mut::<RemoteCursor>();
        match self.files.stat(path) {
            Ok(stat) => {
                if let Some(known) = known {
                    let files = if path.is_note() { &mut known.notes } else { &mut known.others };
                    files.insert(path.clone(), stat);
                }
                Ok(PlaceState::File(stat))
            }
            Err(StoreError::IsFolder) => {
                // All notes in one request cost less than a request for each folder below.
                let mut notes = self.notes(look)?;
                notes.retain(|note, _| note.is_within(path));
                let no_others = StatMap::new();
                let known_others = known.map_or(&no_others, |known| &known.others);
                // A walk that was stopped gives nothing; the caller looks at the place again.
                let others = self.others_below(Some(path), &notes, known_others, look)?.unwrap_or_default();
                let mut walked = walked(&notes, &others);
                walked.folders.retain(|folder| folder != path && folder.is_within(path));
                Ok(PlaceState::Folder(walked))
            }
            Err(StoreError::Missing) => {
                if let Some(known) = known {
                    known.notes.remove(path);
                    known.others.remove(path);
                }
                Ok(PlaceState::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// All notes with their times, in one request.
    fn notes(&self, look: &ListingOptions<'_>) -> Result<StatMap, StoreError> {
        // JsonLogic over all notes: the only request of the plugin that has times for many files.
        let found = self.files.connection.search_notes::<FileTimes>(&json!({ "var": "stat" })).map_err(store_error)?;
        let note = |found: crate::SearchAnswer<FileTimes>| {
            // A name that is not spelt as we spell paths could not be asked for again.
            let path = VaultPath::spelt(&found.filename).filter(|path| is_shown(path, look))?;
            Some((path, stat_of(&found.result)))
        };
        Ok(found.into_iter().filter_map(note).collect())
    }

    /// All other files; `None` if it was stopped.
    fn others(
        &self,
        notes: &StatMap,
        known: &StatMap,
        look: &ListingOptions<'_>,
    ) -> Result<Option<StatMap>, StoreError> {
        self.others_below(None, notes, known, look)
    }

    fn others_below(
        &self,
        below: Option<&VaultPath>,
        notes: &StatMap,
        known: &StatMap,
        look: &ListingOptions<'_>,
    ) -> Result<Option<StatMap>, StoreError> {
        let mut level: Vec<Option<VaultPath>> = vec![below.cloned()];
        let mut files = Vec::new();
        // Level by level, so that all folders of a level are asked for at the same time.
        while !level.is_empty() {
            let listed =
                at_once(&level, look.go_on, |folder| match self.files.connection.list_folder(folder.as_ref()) {
                    // Gone since, or an empty vault.
                    Err(PluginError::NotFound) => Ok(Vec::new()),
                    listed => listed.map_err(store_error),
                });
            let Some(listed) = listed else { return Ok(None) };
            let mut next = Vec::new();
            for (folder, names) in level.iter().zip(listed) {
                for name in names? {
                    let path = entry_of(folder.as_ref(), &name.name).filter(|path| is_shown(path, look));
                    match path {
                        Some(path) if name.is_folder => next.push(Some(path)),
                        Some(path) if !notes.contains_key(&path) => files.push(path),
                        _ => {}
                    }
                }
            }
            level = next;
        }
        let stats = at_once(&files, look.go_on, |path| match known.get(path) {
            // Of pictures and the like only the names count, so they are not asked about again.
            Some(stat) if !path.is_searched() && !path.is_base() => Ok(Some(*stat)),
            _ => match self.files.stat(path) {
                // Gone or closed since the listing: it is as if it had not been listed.
                Err(StoreError::Missing | StoreError::IsFolder | StoreError::NotPermitted) => Ok(None),
                stat => stat.map(Some),
            },
        });
        let Some(stats) = stats else { return Ok(None) };
        let mut others = StatMap::new();
        for (path, stat) in files.into_iter().zip(stats) {
            others.extend(stat?.map(|stat| (path, stat)));
        }
        Ok(Some(others))
    }
}

/// The entry of a folder, if its name is one that a path of a vault can have.
pub(super) fn entry_of(folder: Option<&VaultPath>, name: &str) -> Option<VaultPath> {
    match folder {
        Some(folder) => VaultPath::spelt(&format!("{folder}/{name}")),
        None => VaultPath::spelt(name),
    }
}

fn is_shown(path: &VaultPath, look: &ListingOptions<'_>) -> bool {
    !path.is_hidden() && !path.names().any(|name| (look.skip)(name))
}

fn stopped() -> VaultDelta {
    VaultDelta::Everything { walked: WalkedFolder { stopped: true, ..WalkedFolder::default() }, replaced: false }
}

fn walked(notes: &StatMap, others: &StatMap) -> WalkedFolder {
    let mut files: Vec<(VaultPath, FileStat)> =
        notes.iter().chain(others).map(|(path, stat)| (path.clone(), *stat)).collect();
    // Notes and others are each in order, but not together.
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    // A folder exists through the files in it.
    let mut folders = BTreeSet::new();
    for (path, _) in &files {
        let mut folder = path.folder();
        while let Some(known) = folder {
            folder = known.folder();
            // Everything above a known folder is known as well.
            if !folders.insert(known) {
                break;
            }
        }
    }
    WalkedFolder { files, folders: folders.into_iter().collect(), ..WalkedFolder::default() }
}

/// Does the same for each, some at a time; `None` if it was stopped. Separate threads: those of a pool are few, and would only
/// wait.
pub(super) fn at_once<T: Sync, R: Send>(
    items: &[T],
    go_on: &(dyn Fn() -> bool + Sync),
    work: impl Fn(&T) -> R + Sync,
) -> Option<Vec<R>> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while go_on() {
                    // Each thread takes the next item, so a slow answer holds up only one of them.
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    if sender.send((at, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
    });
    // Ends when the last thread has dropped its sender.
    let mut done: Vec<(usize, R)> = receiver.into_iter().collect();
    done.sort_by_key(|(at, _)| *at);
    // Fewer results than items mean that the walk was stopped.
    (done.len() == items.len()).then(|| done.into_iter().map(|(_, result)| result).collect())
}
