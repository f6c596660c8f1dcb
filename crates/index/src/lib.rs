//! What can be known of a vault without reading it again: its files and folders, and of each note what stands in it.
//!
//! A [`Snapshot`] never changes; the next one shares with it whatever stayed the same. [`VaultIndex`] holds the newest and
//! keeps it true to the disk. Nothing here is a second truth: all of it can be made anew from the files, and how links
//! resolve is worked out when it is asked, so there is no graph that could be out of date.

mod ahead;
mod cache;
mod digest;
mod file;
pub mod links;
mod live;
mod mention;
mod names;
mod packed;
mod progress;
mod row;
mod scan;
mod snapshot;
mod sorted;
mod text_table;
mod texts;
mod vault_rows;
mod visible;

use lapidary_store::{
    Backend, Change, ChangeSet, Cursor, ElapsedTime, FileStamp, FileStat, FolderNames, ListingOptions, PlaceState,
    Scope, StoreError, TextRoom, VaultDelta, VaultLimits, VaultPath, WalkedFolder, lock, posix, rebased,
};

pub use digest::{BodyStructure, Digest, LinkDigest, TaskDigest, digest};
pub use live::IndexError;
pub use visible::{Backlink, FileEntry, ScannedNotes, VisibleFiles, VisibleNotes};

pub use ahead::PlannedIndex;
pub use cache::IndexCache;
pub use file::{FileId, FileState, SharedBytes};
pub use live::VaultIndex;
pub use row::{FileRow, NoteRows};
pub use scan::{ScanBudget, ScanHit, ScanPlace, ScanResult, ScanStop, ScanWindow, SeenLines};
pub use snapshot::Snapshot;
pub use sorted::SortedMap;
pub use texts::{GoOn, TextDemand, TextSource};
pub use vault_rows::VaultRows;
