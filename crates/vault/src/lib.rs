//! The vault: narrowed views to read, change sets to write. Knows nothing of who is calling or over what.

mod ahead;
mod app_settings;
mod change;
mod commit;
mod following;
mod history;
mod index;
mod keeper;
pub mod links;
mod path;
mod patience;
mod scan;
mod scope;
mod search;
mod settings;
pub mod store;
mod vault;
mod view;

pub use app_settings::{AppSettings, DeletedFiles};
pub use change::{Change, ChangeSet, Changed, Diff, Guard, JoinError, Receipt, Trash};
pub use commit::{CommitError, News, Turn, TurnError};
pub use following::Sight;
pub use history::{Checkpoint, CheckpointError, CheckpointPage, LateSave};
pub use index::{
    Backlink, BlockDigest, Digest, FieldDigest, FileEntry, Files, HeadingDigest, IndexError, LinkDigest, Notes,
    Properties, ScannedNotes, Structure, TagDigest, TaskDigest,
};
pub use path::{PathError, VaultPath};
pub use scan::{Budget, Hit, Scanned, Stop, Window};
pub use scope::{
    Denied, FolderNames, GlobError, GlobProblem, Globs, PathPrefix, Policy, RuleProblem, RulesError, RulesInForce,
    Scope, ScopeError,
};
pub use search::{ByScan, PassageSize, Ranked, RankedMatch, RankedNotes, RankedPage};
pub use settings::{PeriodicNotes, SettingsError};
pub use vault::{Vault, VaultLimits};
pub use view::{File, ReadError, View};
