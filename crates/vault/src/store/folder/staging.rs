//! A new file, whole and on disk, before it takes its place.

use std::io::{self, Write};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::{FolderStore, renames::number};
use crate::store::{FileNumber, Ready, StoreError};

/// Private until the text is in it and the old file's rights are known to fit.
#[cfg(unix)]
const PRIVATE: u32 = 0o600;

impl FolderStore {
    /// Where the disk can hold a file without a name, it gets one only when it is whole. If the power fails before, nothing
    /// is left of it.
    pub(super) fn write_beside(
        &self,
        folder: &Dir,
        aside: &str,
        bytes: &[u8],
        old: Option<&(File, Metadata)>,
        ready: Ready<'_>,
    ) -> Result<FileNumber, StoreError> {
        self.about_to("open")?;
        if let Some(file) = unnamed(folder, old.is_some()) {
            self.fill(&file, bytes, old)?;
            ready()?;
            self.about_to("name")?;
            if is_named(&file, folder, aside) {
                return Ok(number(&file.metadata()?));
            }
        }
        ready()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if old.is_some() {
            cap_std::fs::OpenOptionsExt::mode(&mut options, PRIVATE);
        }
        let file = folder.open_with(aside, &options)?;
        self.fill(&file, bytes, old)?;
        Ok(number(&file.metadata()?))
    }

    fn fill(&self, mut file: &File, bytes: &[u8], old: Option<&(File, Metadata)>) -> Result<(), StoreError> {
        if let Err(error) = self.about_to("write") {
            // As a disk that fails in the middle of it.
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        file.write_all(bytes)?;
        if let Some((old, metadata)) = old {
            self.about_to("set rights")?;
            keep_rights(file, old, metadata)?;
        }
        self.about_to("sync")?;
        Ok(file.sync_all()?)
    }
}

/// Nothing where the disk cannot do that, or where it fails: then making one with a name says why.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Dir, private: bool) -> Option<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let mode = Mode::from_raw_mode(if private { PRIVATE } else { 0o666 });
    let file = openat(folder, c".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode);
    file.map(|file| File::from_std(file.into())).ok()
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Dir, _: bool) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn is_named(file: &File, folder: &Dir, name: &str) -> bool {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD, linkat};
    let file = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(CWD, file, folder, name, AtFlags::SYMLINK_FOLLOW).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_named(_: &File, _: &Dir, _: &str) -> bool {
    false
}

/// Mode, owner and extended attributes of the old file for the new one.
fn keep_rights(new: &File, old: &File, metadata: &Metadata) -> Result<(), StoreError> {
    // Before the rights, because giving a file away takes some of them back.
    #[cfg(unix)]
    keep_owner(new, metadata);
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    keep_attributes(new, old)?;
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _has_no_attributes = old;
    Ok(new.set_permissions(metadata.permissions())?)
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

/// Tags of a file manager, access lists and the like. What only the system may set is the system's business.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn keep_attributes(new: &File, old: &File) -> Result<(), StoreError> {
    use rustix::{fs, io::Errno};
    let mut names = vec![0; 4096];
    let length = loop {
        match fs::flistxattr(old, &mut names) {
            Ok(length) => break length,
            Err(Errno::RANGE) if names.len() < 1 << 20 => names.resize(names.len() * 4, 0),
            // A disk without attributes has none to lose.
            Err(_) => return Ok(()),
        }
    };
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; 65_536];
        let Ok(length) = fs::fgetxattr(old, name, &mut value) else { continue };
        match fs::fsetxattr(new, name, &value[..length], fs::XattrFlags::empty()) {
            Ok(()) => {}
            // A user's own attribute can always be set, if there is room.
            Err(error) if name.starts_with(b"user.") => return Err(io::Error::from(error).into()),
            Err(_) => {}
        }
    }
    Ok(())
}
