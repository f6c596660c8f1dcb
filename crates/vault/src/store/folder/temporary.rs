//! How new bytes get their name: whole, on disk, and over nothing but what they are meant to replace.

use std::io::{self, Write};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::store::StoreError;

/// A file that is complete and on disk before it gets its name; gone again if it never does.
pub(super) struct Temporary<'a> {
    beside: &'a Dir,
    name: String,
    /// Kept open, so that nothing else can be taken for it.
    file: File,
    /// Whether its name now belongs to something that must not go away.
    stays: bool,
}

impl<'a> Temporary<'a> {
    /// `like` is the file that is replaced: the new one belongs to the same people and allows the same. Without it the
    /// system's usual rights apply.
    pub(super) fn write(beside: &'a Dir, bytes: &[u8], like: Option<&Metadata>) -> Result<Self, StoreError> {
        // The dot keeps it out of Obsidian's sight.
        let name = format!(".lapidary-{:016x}.tmp", random()?);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if like.is_some() {
            use cap_std::fs::OpenOptionsExt;
            // Private until the text is in it and the old file's rights are known to fit.
            options.mode(0o600);
        }
        let file = beside.open_with(&name, &options)?;
        let mut temporary = Self { beside, name, file, stays: false };
        temporary.file.write_all(bytes)?;
        if let Some(like) = like {
            // Before the rights, because giving a file away takes some of them back.
            #[cfg(unix)]
            keep_owner(&temporary.file, like);
            temporary.file.set_permissions(like.permissions())?;
        }
        temporary.file.sync_all()?;
        Ok(temporary)
    }

    /// Takes the place of what stands under a name, if that is what is expected there; otherwise that stays.
    ///
    /// However late one looks before a rename, another program can save between the look and the rename. So the two
    /// files change places, and what is now out of the way is looked at, by its new name.
    pub(super) fn replace(
        mut self,
        name: &str,
        expected: impl Fn(&str) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if !exchange(self.beside, &self.name, name)? {
            self.beside.rename(&self.name, self.beside, name)?;
            self.stays = true;
            return Ok(());
        }
        let Err(refused) = expected(&self.name) else { return Ok(()) };
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        self.give_way(name)?;
        Err(refused)
    }

    /// Puts back what was taken out. Somebody may save again in that moment, so it goes on until what comes out is what
    /// was put in before: then the newest of the others' files stands in its place.
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn give_way(&mut self, name: &str) -> Result<(), StoreError> {
        // Until then it holds somebody's work, also if the disk fails in between.
        self.stays = true;
        let mut put_in = identity(&self.file.metadata()?);
        loop {
            let theirs = identity(&self.beside.symlink_metadata(&self.name)?);
            match exchange(self.beside, &self.name, name) {
                Ok(true) => {}
                Ok(false) => return Err(StoreError::Unsure),
                // Taken away meanwhile; what is in our hands is put back all the same, over nothing.
                Err(_) => match rename_without_replacing(self.beside, &self.name, name) {
                    Err(StoreError::Exists) => continue,
                    result => return result,
                },
            }
            if identity(&self.beside.symlink_metadata(&self.name)?) == put_in {
                self.stays = false;
                return Ok(());
            }
            put_in = theirs;
        }
    }

    /// Takes a name that nothing has.
    pub(super) fn take(mut self, name: &str) -> Result<(), StoreError> {
        rename_without_replacing(self.beside, &self.name, name)?;
        self.stays = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.stays {
            // Nobody can be told here; what stays behind is hidden and named as ours.
            drop(self.beside.remove_file(&self.name));
        }
    }
}

/// A server that runs as root must not take people's notes away from them. Others may not give files away, and need
/// not: it is their own vault.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::fchown;

    use cap_std::fs::MetadataExt;
    let (user, group) = (like.uid(), like.gid());
    if fchown(file, Some(user), Some(group)).is_err() {
        drop(fchown(file, None, Some(group)));
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use cap_std::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Lets two files change places in one step; says whether the file system can. It fails where one of them is missing.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(beside: &Dir, one: &str, other: &str) -> Result<bool, StoreError> {
    match rustix::fs::renameat_with(beside, one, beside, other, rustix::fs::RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::NOENT) => Err(StoreError::Missing),
        // Network and user-space file systems have many ways to say that they cannot. If it is something else, a plain
        // rename will say so.
        Err(_) => Ok(false),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Dir, _: &str, _: &str) -> Result<bool, StoreError> {
    Ok(false)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_without_replacing(beside: &Dir, from: &str, to: &str) -> Result<(), StoreError> {
    use rustix::io::Errno;
    match rustix::fs::renameat_with(beside, from, beside, to, rustix::fs::RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // Some file systems (and old kernels) know no flags.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_after_looking(beside, from, to),
        // On Linux this is the same as the one before.
        Err(error) if error == Errno::NOTSUP => rename_after_looking(beside, from, to),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_without_replacing(beside: &Dir, from: &str, to: &str) -> Result<(), StoreError> {
    rename_after_looking(beside, from, to)
}

/// Leaves a moment in which another program's new file of the same name would be replaced.
fn rename_after_looking(beside: &Dir, from: &str, to: &str) -> Result<(), StoreError> {
    match beside.symlink_metadata(to) {
        Ok(_) => Err(StoreError::Exists),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(beside.rename(from, beside, to)?),
        Err(error) => Err(error.into()),
    }
}

fn random() -> Result<u64, StoreError> {
    getrandom::u64().map_err(|_| StoreError::Disk { kind: io::ErrorKind::Other })
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use super::*;

    /// Replaces `note`, which holds "old", by "ours", while `look` is what happens when it is looked at; gives what the
    /// folder holds afterwards.
    fn replaced(look: impl Fn(&Path) -> Result<(), StoreError>) -> (Result<(), StoreError>, BTreeMap<String, String>) {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        std::fs::write(&note, "old").unwrap();
        let beside = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        let temporary = Temporary::write(&beside, b"ours", None).unwrap();
        let result = temporary.replace("note", |name| {
            assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"old");
            assert_eq!(std::fs::read(&note).unwrap(), b"ours");
            look(&note)
        });
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
        });
        (result, entries.collect())
    }

    fn only(text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("note".to_owned(), text.to_owned())])
    }

    fn save(path: &Path, text: &str) {
        let beside = path.with_extension("editor");
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(beside, path).unwrap();
    }

    #[test]
    fn what_was_expected_goes() {
        assert_eq!(replaced(|_| Ok(())), (Ok(()), only("ours")));
    }

    #[test]
    fn what_was_not_expected_comes_back() {
        assert_eq!(replaced(|_| Err(StoreError::IsFolder)), (Err(StoreError::IsFolder), only("old")));
    }

    #[test]
    fn what_is_saved_in_between_is_newer_than_what_comes_back() {
        let (result, left) = replaced(|note| {
            save(note, "newer");
            Err(StoreError::IsFolder)
        });
        assert_eq!((result, left), (Err(StoreError::IsFolder), only("newer")));
    }

    #[test]
    fn what_is_removed_in_between_comes_back() {
        let (result, left) = replaced(|note| {
            std::fs::remove_file(note).unwrap();
            Err(StoreError::IsFolder)
        });
        assert_eq!((result, left), (Err(StoreError::IsFolder), only("old")));
    }

    #[test]
    fn what_is_saved_over_ours_stays() {
        let (result, left) = replaced(|note| {
            save(note, "newer");
            Ok(())
        });
        assert_eq!((result, left), (Ok(()), only("newer")));
    }
}
