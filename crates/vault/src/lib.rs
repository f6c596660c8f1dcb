//! The vault: narrowed views to read, change sets to write. Independent of callers and transports.
//!
//! This is the facade of `lapidary-store`, `lapidary-index` and `lapidary-search`; crates above need only this one.

mod app_settings;
mod background_index;
mod change_watch;
mod history;
mod planned_view;
mod querying;
mod ranked;
mod settings;
mod shared_settings;
mod vault;
mod view;
mod writing_settings;

pub use app_settings::{AppSettings, AttachmentPlace, DeletedFiles};
pub use change_watch::LastSeen;
pub use history::{Checkpoint, CheckpointError, LateSave, SHORTEST_ID};
pub use lapidary_index::{
    Backlink, DatedTask, Digest, FileEntry, FileRow, IndexError, NoteRows, SAVED_FROM, ScanBudget, ScanHit, ScanPlace,
    ScanStop, ScanWindow, ScannedNotes, SeenLines, VaultRows, VisibleFiles, VisibleNotes, day_number, links,
};
pub use lapidary_search::{
    CloseNote, DecodeFault, DocumentKey, DocumentKind, DocumentPart, DocumentReader, DocumentText, DocumentsState,
    FoundPage, KeptVectors, MOST_DOCUMENT_TEXT, MeaningState, NearPassage, NoDocumentText, NoMeaning, NoteFilter,
    NotePiece, PassageSize, RankedBy, RankedNote, RankedNotes, RankedPage, RankedQuery, label as document_label,
};
pub use lapidary_store::posix::ImportFolder;
pub use lapidary_store::{
    Change, ChangeDiff, ChangeSet, CommitError, ContentGuard, ElapsedTime, File, FileChange, FolderNames, GlobError,
    InnerVault, JoinError, PathDenied, PathError, PathGlobs, PathPrefix, Policy, Receipt, RuleProblem, RulesError,
    Scope, ScopeError, SourceMark, SourceRules, TrashKind, Turn, TurnError, UnmatchedRule, VaultLimits, VaultNews,
    VaultPath, rebased,
};
pub use settings::{PeriodicNotes, SettingsError};
pub use vault::{MadeCall, Vault};
pub use view::{OwnersNote, ReadError, View};
pub use writing_settings::{NewNotePlace, TaskSettings, TemplateSettings};

/// Where vaults are kept.
pub mod store {
    pub use lapidary_store::{
        Backend, BackendTurn, CallKey, Capabilities, ChangeOrigin, CheckpointKind, CheckpointRecord, Cursor, EntryKind,
        EntryRecord, FileStamp, FileStat, FolderEntry, History, LedgerError, ListingOptions, MemoryStore, PathFilter,
        PlaceCheck, PlaceJudge, PlaceState, RemoteFault, Retention, StoreError, StoredFile, VaultDelta, WalkedFolder,
        bound_kept_memory, give_back_memory, maintenance,
        posix::{
            ApprovalQueue, ApprovalState, ApprovedRecipes, CacheFile, CacheRow, DemoFolder, DiskFacts, ExportFolder,
            FileSample, FolderStore, InspectionLimits, LedgerHealth, LogFile, LogTail, ModelShelf, NamesAlike,
            PosixBackend, REST_CERTIFICATE, REST_KEY, RotatedFile, RunningServer, SavedState, SecondNames,
            SettingsFile, StateFolder, StateProblem, StepObserver, SyncTool, SystemTrash, VaultInspection, WaitingName,
            WatchRoom, disk_facts, folder_exists, inspect_vault, is_around, is_ours_alone, is_same_file, is_there,
            listening_process, open_state_database, open_to_others, place_within, read_certificates, read_model_file,
            read_settings, remove_state, state_contents, watch_room, write_private_page,
        },
    };
}
