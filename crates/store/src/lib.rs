//! Where a vault is kept: paths that exist only parsed, scopes that say what may be read and changed, change sets, and the
//! [`Backend`] that carries them out. [`posix`] is a folder of this machine, [`MemoryStore`] a map.

mod backend;
mod change;
mod checkpoint;
mod error;
mod file;
mod limits;
pub mod maintenance;
mod memory;
mod path;
mod patience;
pub mod posix;
mod scope;
mod stat;

pub use backend::{
    Backend, BackendTurn, Capabilities, CommitError, Cursor, Delta, Entry, EntryKind, History, Judged, Look, News,
    Open, PlaceState, Skip, StoredFile, Turn, TurnError,
};
pub use change::{Change, ChangeSet, Changed, Diff, Guard, JoinError, Receipt, Trash, rebased};
pub use checkpoint::{CheckpointKind, CheckpointRecord, EntryRecord, LedgerError, Origin, PathFilter, Retention};
pub use error::StoreError;
pub use file::File;
pub use limits::VaultLimits;
pub use memory::MemoryStore;
pub use path::{PathError, VaultPath};
pub use patience::lock;
pub use scope::{
    Denied, FolderNames, GlobError, GlobProblem, Globs, InnerVault, PathPrefix, Policy, RuleProblem, RulesError,
    RulesInForce, Scope, ScopeError, ScopeKeeper, UnmatchedRule,
};
pub use stat::{Stamp, Stat, TextRoom, Walked};

pub(crate) use stat::nanoseconds;
