//! The vault: narrowed views to read, change sets to write. Knows nothing of who is calling or over what.
//!
//! This is the facade of `lapidary-store`, `lapidary-index` and `lapidary-search`; nobody else needs to know them.

mod ahead;
mod app_settings;
mod following;
mod history;
mod keeper;
mod ranked;
mod settings;
mod vault;
mod view;

pub use app_settings::DeletedFiles;
pub use following::Sight;
pub use history::{Checkpoint, CheckpointError, LateSave};
pub use lapidary_index::{
    Backlink, Budget, Digest, FileEntry, FileRow, Files, Hit, IndexError, NoteRows, Notes, ScanPlace, ScannedNotes,
    Skip, Stop, Window, links,
};
pub use lapidary_search::{PassageSize, Ranked, RankedNotes, RankedPage, RankedQuery};
pub use lapidary_store::{
    Change, ChangeSet, Changed, CommitError, Denied, Diff, File, FolderNames, GlobError, Globs, Guard, InnerVault,
    JoinError, News, PathError, PathPrefix, Policy, Receipt, RuleProblem, RulesError, Scope, ScopeError, Trash, Turn,
    TurnError, UnmatchedRule, VaultLimits, VaultPath,
};
pub use settings::{PeriodicNotes, SettingsError};
pub use vault::Vault;
pub use view::{ReadError, View};

/// Where vaults are kept.
pub mod store {
    pub use lapidary_store::{
        Backend, BackendTurn, Capabilities, CheckpointKind, CheckpointRecord, Cursor, Delta, Entry, EntryKind,
        EntryRecord, History, Judged, LedgerError, Look, MemoryStore, Open, Origin, PathFilter, PlaceState, Retention,
        Stamp, Stat, StoreError, StoredFile, Walked,
        posix::{
            DemoFolder, ExportFolder, FolderStore, LogFile, Observer, PosixBackend, Progress, RotatedFile, SecondNames,
            StateFolder, StateProblem, SystemTrash, Waiting, folder_exists, is_ours_alone, open_state_database,
            place_within, read_settings,
        },
    };
}
