//! Walks the folders of a vault, on all cores.

use std::{
    io::{self, Read},
    num::NonZeroI64,
    ops::Range,
    sync::Arc,
};

use cap_std::fs::{Dir, File, Metadata};
use rayon::prelude::*;

use super::{OpenedFolder, StoreError, ordinary, outside_links::OutsidePath, reading};
use crate::{
    VaultPath,
    posix::{FileStamp, FileStat, FoundFile, TextRoom, WalkOptions, WalkedFolder, WatchedFolders, nanoseconds},
};

/// How many names one thread looks up at a time.
const BATCH: usize = 256;

/// A folder to walk: where it is in the opened folder, and its name in the vault.
struct PendingFolder {
    place: Option<VaultPath>,
    name: Option<VaultPath>,
}

/// The contents of one folder, by their names in the vault.
#[derive(Default)]
struct FolderContents {
    files: Vec<(VaultPath, FileStat)>,
    folders: Vec<VaultPath>,
    links: Vec<VaultPath>,
    texts: Vec<ReadText>,
    watched: WatchedFolders,
}

/// Metadata of some files of one folder and, if requested, their texts.
type ReadText = (VaultPath, Arc<Vec<u8>>, Range<usize>);

struct WalkFindings {
    files: Vec<(VaultPath, FileStat)>,
    texts: Vec<ReadText>,
    /// One of them can be changed under another name.
    other_names: bool,
}

/// The results of a walk so far.
#[derive(Default)]
struct WalkCourse {
    walked: WalkedFolder,
    watched: WatchedFolders,
}

impl PendingFolder {
    /// A folder in it, given by its name in the vault.
    fn below(&self, folder: &VaultPath) -> Option<Self> {
        let place = VaultPath::spelt_in(self.place.as_ref(), folder.name())?;
        Some(Self { place: Some(place), name: Some(folder.clone()) })
    }
}

impl OpenedFolder {
    /// Everything below a folder that is not hidden, and the folders that were added to the watch. Links are not
    /// followed: their targets are listed in their real places.
    pub(in super::super) fn walk(&self, walk: &WalkOptions<'_>) -> Result<(WalkedFolder, WatchedFolders), StoreError> {
        let mut course = WalkCourse::default();
        let below = walk.below;
        match below.and_then(|below| self.behind_link(below)) {
            Some(elsewhere) => {
                let start = PendingFolder { place: elsewhere.path, name: below.cloned() };
                elsewhere.folder.walk_from(start, walk, &mut course)?;
            }
            None => {
                let start = PendingFolder { place: below.cloned(), name: below.cloned() };
                let links = self.walk_from(start, walk, &mut course)?;
                links.into_iter().try_for_each(|link| self.walk_behind(link, walk, &mut course))?;
            }
        }
        let WalkCourse { mut walked, watched } = course;
        walked.files.par_sort_unstable_by(|a, b| a.0.cmp(&b.0));
        walked.folders.sort_unstable();
        Ok((walked, watched))
    }

    /// Level by level rather than recursively, so that no depth exhausts the stack and no breadth the open files.
    /// Returns the links found.
    fn walk_from(
        &self,
        start: PendingFolder,
        walk: &WalkOptions<'_>,
        course: &mut WalkCourse,
    ) -> Result<Vec<VaultPath>, StoreError> {
        let WalkCourse { walked, watched } = course;
        let mut links = Vec::new();
        let (mut level, mut first) = (vec![start], true);
        while !level.is_empty() {
            // Checked once per folder: often enough to stop early, rarely enough to cost nothing.
            let held = |ahead: PendingFolder| {
                let held = if (walk.go_on)() { self.held(&ahead, walk).map(Some) } else { Ok(None) };
                (ahead, held)
            };
            // One level at a time, in parallel.
            let found: Vec<_> = level.into_par_iter().map(held).collect();
            level = Vec::new();
            for (ahead, held) in found {
                match held {
                    Ok(None) => walked.stopped = true,
                    Ok(Some(held)) => {
                        walked.files.extend(held.files);
                        walked.texts.extend(held.texts);
                        links.extend(held.links);
                        watched.extend(held.watched);
                        level.extend(held.folders.iter().filter_map(|folder| ahead.below(folder)));
                        walked.folders.extend(held.folders);
                    }
                    // The start folder must be readable; one below it may have disappeared meanwhile.
                    Err(error) if first => return Err(error),
                    Err(error) => passed_over(error)?,
                }
            }
            first = false;
        }
        Ok(links)
    }

    /// The contents behind a link that leaves the vault, if the owner named the folder it leads to.
    fn walk_behind(&self, link: VaultPath, walk: &WalkOptions<'_>, course: &mut WalkCourse) -> Result<(), StoreError> {
        let Some(elsewhere) = self.behind_link(&link) else { return Ok(()) };
        let Some(metadata) = elsewhere.metadata() else { return Ok(()) };
        if metadata.is_file() {
            // The folder around it is not ours to watch.
            course.watched.give_up();
            course.walked.files.push((link, stat(&metadata)));
        } else if metadata.is_dir() {
            course.walked.folders.push(link.clone());
            let start = PendingFolder { place: elsewhere.path, name: Some(link) };
            elsewhere.folder.walk_from(start, walk, course).map(|_| ()).or_else(passed_over)?;
        }
        Ok(())
    }

    fn held(&self, ahead: &PendingFolder, walk: &WalkOptions<'_>) -> Result<FolderContents, StoreError> {
        let dir = self.folder_at(ahead.place.as_ref())?;
        let (mut held, mut files) = (FolderContents::default(), Vec::new());
        // Before the folder is read: a file that appears in between is then either listed or reported.
        if let Some(watch) = walk.watch {
            watch.add(&dir, ahead.name.as_ref(), &mut held.watched);
        }
        for entry in dir.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            // Names that start with a dot are hidden from Obsidian too; a name that is not UTF-8 cannot be requested.
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.') && !(walk.skip)(name)) else {
                continue;
            };
            let Some(path) = VaultPath::spelt_in(ahead.name.as_ref(), name) else { continue };
            let kind = match entry.file_type() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                kind => kind?,
            };
            if kind.is_dir() {
                held.folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            } else if kind.is_symlink() && self.follows() {
                held.links.push(path);
            }
        }
        let seen = |batch: &[VaultPath]| seen(&dir, batch, walk);
        // Most folders are small, and a task for each would cost more than it saves.
        let batches: Vec<Result<WalkFindings, StoreError>> = if files.len() > BATCH {
            files.par_chunks(BATCH).map(seen).collect()
        } else {
            files.chunks(BATCH).map(seen).collect()
        };
        for batch in batches {
            let WalkFindings { files, texts, other_names } = batch?;
            if other_names {
                held.watched.give_up();
            }
            held.files.extend(files);
            held.texts.extend(texts);
        }
        Ok(held)
    }

    /// What is at a place, without following links.
    pub(in super::super) fn look(&self, path: &VaultPath) -> Result<FoundFile, StoreError> {
        let found = |metadata: &Metadata| match metadata {
            metadata if metadata.is_dir() => FoundFile::Folder,
            metadata if metadata.is_file() && has_other_names(metadata) => FoundFile::Linked(stat(metadata)),
            metadata if metadata.is_file() => FoundFile::File(stat(metadata)),
            _ => FoundFile::Nothing,
        };
        if let Some(elsewhere) = self.behind_link(path) {
            // The watch covers the folder of the link, not that of its target.
            return Ok(match elsewhere.metadata().as_ref().map_or(FoundFile::Nothing, found) {
                FoundFile::File(stat) if elsewhere.is_single_file() => FoundFile::Linked(stat),
                found => found,
            });
        }
        // The change may have been made under a second name, which is not reported.
        let metadata = match self.own_place(path) {
            Err(StoreError::Missing | StoreError::NotAFile) => return Ok(FoundFile::Nothing),
            sight => sight?.metadata(),
        };
        match metadata.map_err(StoreError::from) {
            Ok(metadata) => Ok(found(&metadata)),
            Err(StoreError::Missing) => Ok(FoundFile::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Appends the content of a file, unless a link is on the way, and says which state of it that was.
    pub(super) fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        let file = match self.behind_link(path) {
            Some(OutsidePath { folder, path: Some(path), .. }) => folder.file_at(&path)?,
            Some(_) => return Err(StoreError::IsFolder),
            None => self.file_at(path)?,
        };
        let metadata = file.metadata()?;
        ordinary(&metadata)?;
        let too_large = |bytes| StoreError::TooLarge { bytes, limit: max_bytes };
        if metadata.len() > max_bytes {
            return Err(too_large(metadata.len()));
        }
        let read = read_all(file, metadata.len(), max_bytes, into)?;
        // The file may have grown since its size was asked for.
        if read > max_bytes { Err(too_large(read)) } else { Ok(stat(&metadata)) }
    }
}

/// A folder that has disappeared since its name was read, or that the system denies us, is empty. Any other error would
/// make the vault look smaller than it is.
pub(super) fn passed_over(error: StoreError) -> Result<(), StoreError> {
    match error {
        StoreError::Missing | StoreError::NotAFile | StoreError::NotPermitted => Ok(()),
        error => Err(error),
    }
}

fn seen(dir: &Dir, batch: &[VaultPath], walk: &WalkOptions<'_>) -> Result<WalkFindings, StoreError> {
    let (mut files, mut read, mut buffer) = (Vec::with_capacity(batch.len()), Vec::new(), Vec::new());
    let mut other_names = false;
    for path in batch {
        let start = buffer.len();
        // Opening a note gives its metadata as well, so each note is looked up only once.
        let note = walk.read.filter(|_| path.is_note()).and_then(|room| read_note(dir, path.name(), room, &mut buffer));
        let metadata = match note {
            Some(metadata) => {
                read.push((path.clone(), start..buffer.len()));
                metadata
            }
            None => match dir.symlink_metadata(path.name()) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            },
        };
        other_names |= has_other_names(&metadata);
        if metadata.is_file() {
            files.push((path.clone(), stat(&metadata)));
        }
    }
    // The buffer lives as long as any of its texts.
    buffer.shrink_to_fit();
    let buffer = Arc::new(buffer);
    let texts = read.into_iter().map(|(path, range)| (path, Arc::clone(&buffer), range)).collect();
    Ok(WalkFindings { files, texts, other_names })
}

/// Whether the file can be changed under a name that the watch of this folder does not report.
#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    metadata.is_file() && metadata.nlink() > 1
}

/// These systems have no watch that could miss it.
#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// `None` for anything that cannot be read right now: a later read will report why.
fn read_note(dir: &Dir, name: &str, room: &TextRoom, into: &mut Vec<u8>) -> Option<Metadata> {
    let start = into.len();
    let file = dir.open_with(name, &reading()).ok()?;
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    if metadata.len() > room.max_file_bytes || !room.take(metadata.len()) {
        return None;
    }
    let read = read_all(file, metadata.len(), room.max_file_bytes, into);
    // A file that grew while it was read is left for later.
    if read.is_ok_and(|read| read == metadata.len()) {
        return Some(metadata);
    }
    into.truncate(start);
    None
}

/// Appends a file of this size. Usually one system call is enough: it requests one byte more than expected, so that
/// getting less means the end.
pub(super) fn read_all(mut file: File, size: u64, max_bytes: u64, into: &mut Vec<u8>) -> io::Result<u64> {
    let start = into.len();
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // A file may have grown larger than memory since it was planned; that must not end the process.
    into.try_reserve(size.saturating_add(1)).map_err(io::Error::from)?;
    // The buffer has to be initialised before it can be read into; the extra byte detects the end.
    into.resize(start + size + 1, 0);
    let mut filled = start;
    loop {
        match file.read(&mut into[filled..]) {
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                into.truncate(start);
                return Err(error);
            }
        }
        if filled < into.len() {
            break;
        }
        // It grows while it is being read.
        into.truncate(filled);
        let rest = file.take(max_bytes.saturating_add(1)).read_to_end(into)?;
        return Ok((filled - start + rest) as u64);
    }
    into.truncate(filled);
    Ok((filled - start) as u64)
}

#[cfg(unix)]
pub(super) fn stat(metadata: &Metadata) -> FileStat {
    use cap_std::fs::MetadataExt;
    let nanoseconds_of = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    let stamp = FileStamp {
        size: metadata.len(),
        modified: nanoseconds_of(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds_of(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    };
    // Not every file system stores it.
    let created = metadata.created().ok().and_then(|time| NonZeroI64::new(nanoseconds(time.into_std())));
    FileStat { stamp, created }
}

#[cfg(not(unix))]
pub(super) fn stat(metadata: &Metadata) -> FileStat {
    let time = |time: io::Result<cap_std::time::SystemTime>| time.ok().map(|time| nanoseconds(time.into_std()));
    let modified = time(metadata.modified()).unwrap_or_default();
    let stamp = FileStamp { size: metadata.len(), modified, changed: modified, inode: 0 };
    FileStat { stamp, created: time(metadata.created()).and_then(NonZeroI64::new) }
}
