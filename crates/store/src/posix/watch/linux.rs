//! Change notifications with inotify.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use rustix::{
    fs::{
        fstatfs,
        inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    },
    io::Errno,
};

use cap_std::fs::Dir;

use super::{WatchEvents, WatchedFolders};
use crate::VaultPath;

/// A queue of events for the folders of one vault, owned by the cursor that follows it.
#[derive(Debug)]
pub(in super::super) struct FolderWatch {
    queue: OwnedFd,
    /// By the number that the kernel assigned to the folder; `None` is the vault root.
    folders: BTreeMap<i32, Option<VaultPath>>,
    /// The same folders by path.
    paths: BTreeSet<VaultPath>,
    failed: bool,
}

const EVENT_BYTES: usize = 64 * 1024;

/// File systems that other machines, or programs behind the kernel's back, can change unnoticed.
const UNSEEN: &[u32] = &[
    0x6969,      // NFS
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x517b,      // SMB
    0x6573_5546, // FUSE: sshfs, rclone, and folders of a host in a virtual machine
    0x0102_1997, // 9p: Windows drives in WSL
    0x786f_4256, // VirtualBox shared folders
    0x00c3_6400, // Ceph
    0x5346_414f, // AFS
    0x7375_7245, // Coda
    0x4750_4653, // GPFS
    0x0bd0_0bd0, // Lustre
    0x0116_1970, // GFS2
    0x7461_636f, // OCFS2
];

/// Whether the kernel sees every change in a folder.
fn is_seen(folder: &Dir) -> bool {
    // The type is a 32-bit number, which some systems store in a wider or signed word.
    fstatfs(folder).is_ok_and(|found| !UNSEEN.contains(&(found.f_type as u32)))
}

/// The same of the folder at a path.
pub(in super::super) fn is_seen_at(folder: &std::path::Path) -> bool {
    Dir::open_ambient_dir(folder, cap_std::ambient_authority()).is_ok_and(|folder| is_seen(&folder))
}

impl FolderWatch {
    /// `None` if the kernel would not see all changes, or has no room for another watch.
    pub(in super::super) fn start(vault: &Dir) -> Option<Self> {
        if !is_seen(vault) {
            return None;
        }
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self { queue, folders: BTreeMap::new(), paths: BTreeSet::new(), failed: false })
    }

    /// From now on, changes in this folder are reported, as soon as the watch has learnt its name. Call it before the
    /// folder is read, so that nothing is missed.
    pub(in super::super) fn add(&self, folder: &Dir, path: Option<&VaultPath>, watched: &mut WatchedFolders) {
        // MODIFY as well as CLOSE_WRITE: a program may keep a file open for hours.
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::EXCL_UNLINK;
        // By its handle, which cannot have become another folder meanwhile.
        let handle = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        match inotify::add_watch(&self.queue, handle, flags) {
            // Another file system may be mounted here, or a link may lead to one.
            Ok(number) if is_seen(folder) => watched.folders.push((number, path.cloned())),
            // No room for another watch, or a file system that reports nothing.
            _ => watched.give_up(),
        }
    }

    /// Learns the names of folders that were added.
    pub(in super::super) fn learn(&mut self, watched: WatchedFolders) {
        self.failed |= watched.unseen;
        for (number, path) in watched.folders {
            self.paths.extend(path.clone());
            // One folder with two paths has one number, and only one of the paths would be reported.
            let other = self.folders.insert(number, path.clone());
            self.failed |= other.is_some_and(|other| other != path);
        }
    }

    /// Something can change unnoticed.
    pub(in super::super) fn give_up(&mut self) {
        self.failed = true;
    }

    /// Whether the whole vault is watched. The system limits the number of watched folders.
    pub(in super::super) fn is_whole(&self) -> bool {
        !self.failed
    }

    /// Changes in this folder and below are no longer of interest.
    pub(in super::super) fn forget(&mut self, below: &VaultPath) {
        if !self.paths.contains(below) {
            return;
        }
        self.paths.retain(|path| !path.is_within(below));
        self.folders.retain(|number, path| {
            let keep = !path.as_ref().is_some_and(|path| path.is_within(below));
            if !keep {
                // The kernel has already dropped the watch if the folder is gone.
                inotify::remove_watch(&self.queue, *number).unwrap_or_default();
            }
            keep
        });
    }

    /// Everything that happened before this call.
    pub(in super::super) fn events(&self) -> WatchEvents {
        let mut events = WatchEvents::default();
        let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
        let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return events,
                Err(Errno::INTR) => continue,
                Err(_) => {
                    events.lost = true;
                    return events;
                }
            };
            if event.events().intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                events.lost = true;
            }
            // A name that is not UTF-8 has no path here, and a forgotten folder has been read since.
            let Some(folder) = self.folders.get(&event.wd()) else { continue };
            let name = event.file_name().and_then(|name| name.to_str().ok());
            let itself = event.events().intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF);
            match (folder, name) {
                (folder, Some(name)) => events.paths.extend(VaultPath::spelt_in(folder.as_ref(), name)),
                // Behind a followed link, no parent folder reports its removal.
                (Some(folder), None) if itself => events.paths.extend([folder.clone()]),
                (None, None) if itself => events.lost = true,
                _ => {}
            }
        }
    }
}
