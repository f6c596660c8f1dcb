//! The vault: narrowed views to read, change sets to write. Knows nothing of who is calling or over what.

mod change;
mod path;
mod scan;
mod scope;
pub mod store;
mod vault;
mod view;

pub use change::{Change, ChangeSet, Changed, Diff, Guard, Receipt};
pub use path::{PathError, VaultPath};
pub use scan::{Budget, Hit, Scanned, Source, Stop, Window, scan};
pub use scope::{Denied, PathPrefix, Scope, ScopeError};
pub use vault::{CommitError, Turn, TurnError, Vault};
pub use view::{File, ReadError, View};
