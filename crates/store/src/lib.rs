//! Where a vault is kept: paths that exist only parsed, scopes that decide what may be read and changed, change sets, and the
//! [`Backend`] that carries them out. [`posix`] is a folder of this machine, [`MemoryStore`] a map.

mod backend;
mod change;
mod checkpoint;
mod elapsed;
mod error;
mod fair_queue;
mod file;
mod limits;
pub mod maintenance;
mod memory;
mod path;
pub mod posix;
mod scope;
mod stat;

pub use backend::{
    Backend, BackendTurn, Capabilities, CommitError, Cursor, EntryKind, FolderEntry, History, ListingOptions,
    PlaceCheck, PlaceJudge, PlaceState, SkippedNames, StoredFile, Turn, TurnError, VaultDelta, VaultNews,
};
pub use change::{Change, ChangeDiff, ChangeSet, ContentGuard, FileChange, JoinError, Receipt, TrashKind, rebased};
pub use checkpoint::{
    CallKey, ChangeOrigin, CheckpointKind, CheckpointRecord, EntryRecord, KEYED_CALLS, KEYS_LAST, KeyedCall,
    LONGEST_KEPT_REPLY, LedgerError, PathFilter, Retention,
};
pub use elapsed::ElapsedTime;
pub use error::{RemoteFault, StoreError};
pub use fair_queue::lock;
pub use file::File;
pub use lapidary_lease::{bound_kept_memory, give_back_memory};
pub use limits::VaultLimits;
pub use memory::MemoryStore;
pub use path::{PathError, VaultPath};
pub use scope::{
    FolderNames, GlobError, GlobProblem, InnerVault, PathDenied, PathGlobs, PathPrefix, Policy, RuleProblem,
    RulesError, RulesInForce, Scope, ScopeCache, ScopeError, SourceMark, SourceRules, UnmatchedRule,
};
pub use stat::{FileStamp, FileStat, TextRoom, WalkedFolder};

pub(crate) use stat::nanoseconds;
