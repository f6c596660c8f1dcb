//! Whether any process has a file open for writing, and whether one has opened it since.
//!
//! A program that has a file open can write to it long after the file lost its name. On Linux a lease detects this: the
//! system grants one only on a file that no process can write to, and notifies when a process wants to open it for
//! that. There is no safe wrapper for that call, so this crate is one; it has the only unsafe code of the project, also
//! for the calls with which freed memory goes back to the system.

mod freed_memory;

use std::fs::File;

pub use freed_memory::{bound_kept_memory, give_back_memory};

/// Proof that no process had the file open for writing when it was taken. A process that tries to open it for writing
/// meanwhile waits.
#[derive(Debug)]
pub struct Lease {
    file: File,
}

/// The system's answer.
#[derive(Debug)]
pub enum LeaseAnswer {
    Granted(Lease),
    /// A process can write to it.
    InUse,
    /// This system, this file system or this file has no leases.
    Unknown,
}

impl Lease {
    /// The file must have been opened read-only.
    pub fn ask(file: File) -> LeaseAnswer {
        match system::set(&file) {
            Ok(()) => LeaseAnswer::Granted(Self { file }),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => LeaseAnswer::InUse,
            Err(_) => LeaseAnswer::Unknown,
        }
    }

    /// Whether still no process can write to the file or waits to.
    pub fn is_whole(&self) -> bool {
        system::is_set(&self.file)
    }

    pub fn file(&self) -> &File {
        &self.file
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::{fs::File, io, os::fd::AsRawFd};

    /// The same on all machines that run Linux.
    const F_SETSIG: libc::c_int = 10;

    pub(crate) fn set(file: &File) -> io::Result<()> {
        // When the lease is broken the system sends a signal. The default one would end the process; this one is
        // ignored unless it is requested.
        control(file, F_SETSIG, libc::SIGURG)?;
        control(file, libc::F_SETLEASE, libc::F_RDLCK).map(|_| ())
    }

    pub(crate) fn is_set(file: &File) -> bool {
        control(file, libc::F_GETLEASE, 0).is_ok_and(|lease| lease == libc::F_RDLCK)
    }

    #[expect(unsafe_code, reason = "no crate wraps these three commands")]
    fn control(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<libc::c_int> {
        // SAFETY: the descriptor is open as long as `file` is borrowed, and these commands take an integer and touch no
        // memory of ours.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            answer => Ok(answer),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::{fs::File, io};

    pub(crate) fn set(_: &File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn is_set(_: &File) -> bool {
        false
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the tests play the other program")]
mod tests {
    use std::{fs, time::Duration};

    use super::*;

    /// A file and a lease on it, if the disk of this machine has leases.
    fn leased() -> Option<(tempfile::TempPath, Lease)> {
        // By its path alone: the handle that created it would be another one.
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        match Lease::ask(File::open(&path).unwrap()) {
            LeaseAnswer::Granted(lease) => Some((path, lease)),
            LeaseAnswer::InUse => panic!("no process has it open"),
            LeaseAnswer::Unknown => None,
        }
    }

    #[test]
    fn a_file_open_for_writing_is_in_use_and_a_reader_does_not_matter() {
        let Some((path, lease)) = leased() else { return };
        drop(lease);
        let writer = File::options().append(true).open(&path).unwrap();
        assert!(matches!(Lease::ask(File::open(&path).unwrap()), LeaseAnswer::InUse));
        drop(writer);
        let _reader = File::open(&path).unwrap();
        assert!(matches!(Lease::ask(File::open(&path).unwrap()), LeaseAnswer::Granted(_)));
    }

    #[test]
    fn a_process_that_opens_the_file_meanwhile_is_noticed_and_waits() {
        let Some((path, lease)) = leased() else { return };
        assert!(lease.is_whole());
        let file = path.to_path_buf();
        let opener = std::thread::spawn(move || fs::write(file, "late"));
        while lease.is_whole() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(fs::metadata(&path).unwrap().len(), 0, "it waits");
        drop(lease);
        opener.join().unwrap().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"late");
    }
}
