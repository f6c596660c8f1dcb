//! Atomic renames that overwrite nothing except what they are meant to replace.

use std::io;

use cap_std::fs::{Dir, Metadata};

use crate::posix::{FileNumber, StoreError};

/// Exchanges two files; returns whether the disk can. Fails if one of them is missing.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn exchange(folder: &Dir, aside: &str, name: &str) -> Result<bool, StoreError> {
    match rustix::fs::renameat_with(folder, aside, folder, name, rustix::fs::RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        // Reported rather than treated as unsupported: the caller plans again.
        Err(rustix::io::Errno::NOENT) => Err(StoreError::Missing),
        // Network and user-space file systems report in many ways that they cannot. If it is something else, a plain
        // rename will report it.
        Err(_) => Ok(false),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn exchange(_: &Dir, _: &str, _: &str) -> Result<bool, StoreError> {
    Ok(false)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn without_replacing(from: (&Dir, &str), to: (&Dir, &str)) -> Result<(), StoreError> {
    use rustix::io::Errno;
    match rustix::fs::renameat_with(from.0, from.1, to.0, to.1, rustix::fs::RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // Some file systems (and old kernels) do not support flags.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => after_looking(from, to),
        // On Linux this is the same as the one before.
        Err(error) if error == Errno::NOTSUP => after_looking(from, to),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn without_replacing(from: (&Dir, &str), to: (&Dir, &str)) -> Result<(), StoreError> {
    after_looking(from, to)
}

/// Has a gap in which another program's new file of the same name would be replaced.
fn after_looking(from: (&Dir, &str), to: (&Dir, &str)) -> Result<(), StoreError> {
    match to.0.symlink_metadata(to.1) {
        Ok(_) => Err(StoreError::Exists),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(from.0.rename(from.1, to.0, to.1)?),
        Err(error) => Err(error.into()),
    }
}

#[cfg(unix)]
pub(super) fn number(metadata: &Metadata) -> FileNumber {
    use cap_std::fs::MetadataExt;
    FileNumber(metadata.dev(), metadata.ino())
}

/// Without file numbers, times have to do.
#[cfg(not(unix))]
pub(super) fn number(metadata: &Metadata) -> FileNumber {
    let modified = metadata.modified().map_or(0, |time| crate::posix::nanoseconds(time.into_std()).cast_unsigned());
    FileNumber(metadata.len(), modified)
}
