//! Where a vault's files are kept: paths that exist only parsed, scopes that say what may be read and changed, and change
//! sets that are carried out as a whole or not at all.

mod change;
mod commit;
mod file;
mod limits;
mod path;
mod patience;
mod scope;
pub mod store;

pub use change::{Change, ChangeSet, Changed, Diff, Guard, JoinError, Receipt, Trash, rebased};
pub use commit::{Changes, CommitError, News, Turn, TurnError};
pub use file::File;
pub use limits::VaultLimits;
pub use path::{PathError, VaultPath};
pub use patience::lock;
pub use scope::{
    Denied, FolderNames, GlobError, GlobProblem, Globs, PathPrefix, Policy, RuleProblem, RulesError, RulesInForce,
    Scope, ScopeError, ScopeKeeper,
};
