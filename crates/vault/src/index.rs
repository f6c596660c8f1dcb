//! What can be known of a vault without reading it again: its files and folders, and of each note what stands in it.
//!
//! A [`Snapshot`] never changes; the next one shares with it whatever stayed the same. [`Live`] holds the newest and
//! keeps it true to the disk. Nothing here is a second truth: all of it can be made anew from the files, and how links
//! resolve is worked out when it is asked, so there is no graph that could be out of date.

mod ahead;
mod cache;
mod digest;
mod file;
mod live;
mod names;
mod packed;
mod progress;
mod snapshot;
mod sorted;
mod texts;
mod visible;

pub use digest::{
    BlockDigest, Digest, FieldDigest, HeadingDigest, LinkDigest, Properties, Structure, TagDigest, TaskDigest,
};
pub use live::IndexError;
pub use visible::{Backlink, FileEntry, Files, Notes, ScannedNotes};

pub(crate) use cache::Cache;
pub(crate) use digest::digest;
pub(crate) use file::{FileId, FileState, Slice};
pub(crate) use live::Live;
pub(crate) use snapshot::Snapshot;
pub(crate) use sorted::SortedMap;
pub(crate) use texts::{GoOn, Source, Wanted};
