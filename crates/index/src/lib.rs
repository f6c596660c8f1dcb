//! Everything known about a vault without reading it again: its files and folders, and the structure of each note.
//!
//! A [`Snapshot`] is immutable; the next one shares its unchanged parts. [`VaultIndex`] holds the newest and keeps it
//! in step with the disk. Nothing here is a second source of truth: all of it can be rebuilt from the files, and links
//! are resolved on demand, so there is no graph that could become stale.

mod cache;
mod digest;
mod file;
pub mod links;
mod live;
mod mention;
mod names;
mod packed;
mod planned_index;
mod progress;
mod row;
mod scan;
mod snapshot;
mod sorted;
#[cfg(test)]
mod test_vault;
mod text_table;
mod texts;
mod vault_rows;
mod visible;

use lapidary_store::{
    Backend, Change, Cursor, ElapsedTime, FileStamp, FileStat, FolderNames, ListingOptions, PlaceState, Scope,
    StoreError, TextRoom, VaultDelta, VaultLimits, VaultPath, WalkedFolder, lock, posix, rebased,
};

pub use digest::{BodyStructure, DatedTask, Digest, LinkDigest, TaskDigest, day_number, digest};
pub use live::IndexError;
pub use visible::{Backlink, FileEntry, ScannedNotes, VisibleFiles, VisibleNotes};

pub use cache::{IndexCache, SAVED_FROM};
pub use file::{FileId, FileState, SharedBytes};
pub use live::VaultIndex;
pub use planned_index::PlannedIndex;
pub use row::{FileRow, NoteRows};
pub use scan::{ScanBudget, ScanHit, ScanPlace, ScanResult, ScanStop, ScanWindow, SeenLines};
pub use snapshot::Snapshot;
pub use sorted::SortedMap;
pub use texts::{GoOn, TextDemand, TextSource};
pub use vault_rows::VaultRows;
