//! A vault in a folder of this machine, and everything else that touches its disk. Everything here takes a
//! [`VaultPath`] or a place that the owner configured.
//!
//! How a change gets onto the disk is in [`commit`], its journal in [`ledger`], the file operations in [`steps`]. None
//! of these are visible outside.

#![expect(clippy::disallowed_methods, reason = "the one room with a door to the disk")]

mod approval_queue;
mod approved_recipes;
mod backend;
mod cache;
mod change_journal;
mod commit;
mod cursor;
mod document_cache;
mod folder;
mod import_folder;
mod inspection;
mod ledger;
mod listening_process;
mod model_shelf;
mod outside;
mod running_servers;
mod settings_file;
mod state;
mod steps;
#[cfg(test)]
mod tests;
mod trash;
mod watch;

use crate::{
    ChangeOrigin, CheckpointRecord, EntryKind, EntryRecord, FileStamp, FileStat, FolderEntry, PlaceCheck, SkippedNames,
    StoreError, StoredFile, TextRoom, WalkedFolder, nanoseconds,
};
use ledger::{Draft, JournalStep, Ledger, OldFileRecord, OpenOldFile, UnfinishedChange};
use state::TurnFile;
use steps::{
    EntryHandle, FileNumber, FileOperations, FoundFile, InspectedFile, NewPlace, OtherWriters, SwapOutcome, WalkOptions,
};
use watch::{FolderWatch, WatchedFolders};

pub use approval_queue::{ApprovalQueue, ApprovalState, WaitingName};
pub use approved_recipes::ApprovedRecipes;
pub use backend::PosixBackend;
pub use cache::{CacheFile, CacheRow};
pub use change_journal::{ChangeJournal, JournalDraft, JournalTurn, JournalledFile, OpenChange};
pub use document_cache::{DocumentCache, KnownContent};
pub use folder::{FolderStore, SecondNames, StepObserver};
pub use import_folder::ImportFolder;
pub use inspection::{
    DiskFacts, FileSample, InspectionLimits, NamesAlike, SavedState, SyncTool, VaultInspection, WatchRoom, disk_facts,
    inspect_vault, open_to_others, watch_room,
};
pub use ledger::LedgerHealth;
pub use listening_process::{ListeningProcess, listening_process};
pub use model_shelf::{ModelShelf, read_model_file};
pub use outside::{
    DemoFolder, ExportFolder, folder_exists, place_within, read_certificates, read_settings, write_private_page,
};
pub use running_servers::RunningServer;
pub use settings_file::{
    REST_CERTIFICATE, REST_KEY, SettingsFile, is_around, is_same_file, is_there, remove_state, state_contents,
};
pub use state::{LogFile, LogTail, RotatedFile, StateFolder, StateProblem, is_ours_alone, open_state_database};
pub use trash::SystemTrash;
