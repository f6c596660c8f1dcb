//! The vault: narrowed views to read, change sets to write. Knows nothing of who is calling or over what.

mod change;
mod index;
mod keeper;
pub mod links;
mod path;
mod patience;
mod scan;
mod scope;
mod settings;
pub mod store;
mod vault;
mod view;

pub use change::{Change, ChangeSet, Changed, Diff, Guard, Receipt};
pub use index::{
    Backlink, BlockDigest, Digest, FieldDigest, FileEntry, Files, HeadingDigest, IndexError, LinkDigest, Notes,
    Properties, ScannedNotes, Structure, TagDigest, TaskDigest,
};
pub use path::{PathError, VaultPath};
pub use scan::{Budget, Hit, Scanned, Stop, Window};
pub use scope::{
    Denied, FolderNames, GlobError, GlobProblem, Globs, PathPrefix, Policy, RuleProblem, RulesError, Scope, ScopeError,
};
pub use settings::{PeriodicNotes, SettingsError};
pub use vault::{CommitError, Turn, TurnError, Vault, VaultLimits};
pub use view::{File, ReadError, View};
