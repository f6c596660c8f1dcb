use std::io::{self, Read};

use cap_std::fs::{Dir, File, Metadata};
use rayon::prelude::*;

use super::{Opened, StoreError, ordinary, reading};
use crate::{
    VaultPath,
    store::{Found, Stamp, Stat, Walked, Watch, nanoseconds},
};

/// Which folders do not belong to the vault, however visible they are.
pub type Skip<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// Names that one thread looks up in one go.
const BATCH: usize = 256;

impl Opened {
    /// Level by level and not folder in folder, so that no depth exhausts the stack and no breadth the open files.
    pub(super) fn walk(
        &self,
        below: Option<&VaultPath>,
        skip: Skip<'_>,
        watch: Option<&dyn Watch>,
    ) -> Result<Walked, StoreError> {
        let mut walked = Walked::default();
        let mut level = vec![below.cloned()];
        while !level.is_empty() {
            let found: Vec<_> = level
                .into_par_iter()
                .map(|folder| {
                    let entries = self.entries(folder.as_ref(), skip, watch);
                    (folder, entries)
                })
                .collect();
            level = Vec::new();
            for (folder, entries) in found {
                match (folder, entries) {
                    (_, Ok((files, folders))) => {
                        walked.files.extend(files);
                        level.extend(folders.iter().cloned().map(Some));
                        walked.folders.extend(folders);
                    }
                    // Gone since its name was read.
                    (Some(_), Err(StoreError::Missing | StoreError::NotAFile)) => {}
                    (Some(folder), Err(error)) if Some(&folder) != below => walked.closed.push((folder, error)),
                    (_, Err(error)) => return Err(error),
                }
            }
        }
        walked.files.par_sort_unstable_by(|a, b| a.0.cmp(&b.0));
        walked.folders.sort_unstable();
        Ok(walked)
    }

    fn entries(
        &self,
        folder: Option<&VaultPath>,
        skip: Skip<'_>,
        watch: Option<&dyn Watch>,
    ) -> Result<(Vec<(VaultPath, Stat)>, Vec<VaultPath>), StoreError> {
        let dir = self.folder_at(folder)?;
        watch.iter().for_each(|watch| watch.add(&dir, folder));
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in dir.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            // What has a dot in front is hidden from Obsidian too; a name that is not UTF-8 cannot be asked for.
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let Some(path) = VaultPath::spelt_in(folder, name) else { continue };
            let kind = match entry.file_type() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                kind => kind?,
            };
            if kind.is_dir() && !skip(name) {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
        let stat = |path: VaultPath| match dir.symlink_metadata(path.name()) {
            Ok(metadata) => metadata.is_file().then(|| Ok((path, stat(&metadata)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(StoreError::from(error))),
        };
        let files = if files.len() > BATCH {
            files.into_par_iter().with_min_len(BATCH).filter_map(stat).collect::<Result<_, _>>()?
        } else {
            files.into_iter().filter_map(stat).collect::<Result<_, _>>()?
        };
        Ok((files, folders))
    }

    pub(super) fn look(&self, path: &VaultPath) -> Result<Found, StoreError> {
        let dir = match self.folder_at(path.folder().as_ref()) {
            Err(StoreError::Missing | StoreError::NotAFile) => return Ok(Found::Nothing),
            dir => dir?,
        };
        match dir.symlink_metadata(path.name()) {
            Ok(metadata) if metadata.is_dir() => Ok(Found::Folder),
            Ok(metadata) if metadata.is_file() => Ok(Found::File(stat(&metadata))),
            Ok(_) => Ok(Found::Nothing),
            Err(error) => match StoreError::from(error) {
                StoreError::Missing => Ok(Found::Nothing),
                error => Err(error),
            },
        }
    }

    /// Appends what a file holds, unless a link is on the way, and says which state of it that was.
    pub(super) fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<Stat, StoreError> {
        let file = self.file_at(path)?;
        let metadata = file.metadata()?;
        ordinary(&metadata)?;
        let too_large = |bytes| StoreError::TooLarge { bytes, limit: max_bytes };
        if metadata.len() > max_bytes {
            return Err(too_large(metadata.len()));
        }
        into.try_reserve(usize::try_from(metadata.len()).unwrap_or(usize::MAX)).map_err(io::Error::from)?;
        let read = file.take(max_bytes.saturating_add(1)).read_to_end(into)?;
        if read as u64 > max_bytes { Err(too_large(read as u64)) } else { Ok(stat(&metadata)) }
    }

    /// A folder of the vault, reached without following any link: its own place, and no other.
    #[cfg(target_os = "linux")]
    fn folder_at(&self, path: Option<&VaultPath>) -> Result<Dir, StoreError> {
        use rustix::fs::OFlags;
        let Some(path) = path else { return Ok(Dir::from_std_file(self.dir.open(".")?.into_std())) };
        match self.open_without_links(path, OFlags::DIRECTORY) {
            Some(file) => file.map(Dir::from_std_file),
            None => Ok(self.dir.open_dir(path.as_str())?),
        }
    }

    #[cfg(target_os = "linux")]
    fn file_at(&self, path: &VaultPath) -> Result<File, StoreError> {
        use rustix::fs::OFlags;
        match self.open_without_links(path, OFlags::NONBLOCK) {
            Some(file) => file.map(File::from_std),
            None => Ok(self.dir.open_with(path.as_str(), &reading())?),
        }
    }

    /// `None` where the kernel is too old, or a sandbox too strict, to do it in one step.
    #[cfg(target_os = "linux")]
    fn open_without_links(
        &self,
        path: &VaultPath,
        flags: rustix::fs::OFlags,
    ) -> Option<Result<std::fs::File, StoreError>> {
        use rustix::{
            fs::{Mode, OFlags, ResolveFlags, openat2},
            io::Errno,
        };
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        loop {
            return match openat2(&self.dir, path.as_str(), flags, Mode::empty(), resolve) {
                Ok(file) => Some(Ok(file.into())),
                Err(Errno::NOSYS | Errno::PERM) => None,
                Err(Errno::LOOP) => Some(Err(StoreError::Missing)),
                // A folder was renamed while the path was followed.
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(error) => Some(Err(io::Error::from(error).into())),
            };
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn folder_at(&self, path: Option<&VaultPath>) -> Result<Dir, StoreError> {
        Ok(self.dir.open_dir(path.map_or(".", VaultPath::as_str))?)
    }

    #[cfg(not(target_os = "linux"))]
    fn file_at(&self, path: &VaultPath) -> Result<File, StoreError> {
        Ok(self.dir.open_with(path.as_str(), &reading())?)
    }
}

#[cfg(unix)]
pub(super) fn stat(metadata: &Metadata) -> Stat {
    use cap_std::fs::MetadataExt;
    let nanoseconds_of = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    let stamp = Stamp {
        size: metadata.len(),
        modified: nanoseconds_of(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds_of(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    };
    // Not every file system keeps it.
    let created = metadata.created().ok().map(|time| nanoseconds(time.into_std()));
    Stat { stamp, created }
}

#[cfg(not(unix))]
pub(super) fn stat(metadata: &Metadata) -> Stat {
    let time = |time: io::Result<cap_std::time::SystemTime>| time.ok().map(|time| nanoseconds(time.into_std()));
    let modified = time(metadata.modified()).unwrap_or_default();
    let stamp = Stamp { size: metadata.len(), modified, changed: modified, inode: 0 };
    Stat { stamp, created: time(metadata.created()) }
}
