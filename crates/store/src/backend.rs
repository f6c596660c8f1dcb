//! The abstraction of where a vault is kept. Everything above it (index, search, views, tools) knows a vault only
//! through [`Backend`]; how a change gets onto a disk, or over a network, is up to the implementations.

use std::{any::Any, time::SystemTime};

use lapidary_note::ContentHash;

use crate::{
    ChangeOrigin, ChangeSet, CheckpointRecord, ContentGuard, FileStamp, FileStat, KeyedCall, LedgerError, PathFilter,
    Receipt, Scope, StoreError, TextRoom, VaultPath, WalkedFolder,
};

/// Checks the place a path really leads to, so that a link inside the vault opens nothing that is closed.
pub type PlaceCheck<'a> = &'a dyn Fn(&VaultPath) -> bool;

/// Whether a change of this path may take place there, as judged before it is made.
pub type PlaceJudge<'a> = &'a dyn Fn(&VaultPath, &VaultPath) -> bool;

/// Which names do not belong to the vault, even if they are visible.
pub type SkippedNames<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// Where a vault is kept.
pub trait Backend: Send + Sync {
    fn capabilities(&self) -> Capabilities;

    fn read(&self, path: &VaultPath, max_bytes: u64, open: PlaceCheck<'_>) -> Result<StoredFile, StoreError>;

    fn list(&self, folder: Option<&VaultPath>, open: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError>;

    /// Whether a folder is there, without a look at what it holds: that would take longer the more there is.
    fn find_folder(&self, folder: &VaultPath, open: PlaceCheck<'_>) -> Result<(), StoreError> {
        self.list(Some(folder), open).map(drop)
    }

    /// Where a change of a path takes place, whether or not it exists: links followed, if the caller may use that
    /// place.
    fn place_of_change(&self, path: &VaultPath, _open: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        Ok(path.clone())
    }

    /// Metadata of a file, without reading it; `None` if there is nothing at all, not even a broken link.
    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError>;

    /// The same for several files, or which of them failed.
    fn stamps(&self, paths: &[VaultPath]) -> Result<Vec<Option<FileStamp>>, (usize, StoreError)> {
        paths.iter().enumerate().map(|(at, path)| self.stamp(path).map_err(|error| (at, error))).collect()
    }

    /// Appends the content of a file reported by [`Backend::changes_since`], and says which state of it that was.
    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError>;

    /// The time by the clock that dates files, in nanoseconds since 1970.
    fn now(&self) -> i64;

    /// The changes since the state of this cursor, which is then advanced. A new cursor starts with nothing. If it
    /// fails, unreported changes are reported the next time.
    fn changes_since(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError>;

    /// What is at one place now, for a caller that follows the vault with this cursor.
    fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError>;

    /// Obsidian's name for the vault, if known: the name of its folder.
    fn folder_name(&self) -> Option<String> {
        None
    }

    /// Whether something may be created under a name.
    fn may_have_name(&self, path: &VaultPath) -> bool {
        path.has_portable_name()
    }

    /// Waits, while allowed, until no other change of ours is in progress.
    fn turn<'a>(&'a self, go_on: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, TurnError>;

    fn history(&self) -> &dyn History;

    /// Cleans up after a killed server, before the first read. Only the first call can have something to do.
    fn settle(&self) {}

    /// For the end of the process: moves what was journalled to where it is safest.
    fn rest(&self) {}

    /// The events since the last call, for the owner's log.
    fn take_news(&self) -> Vec<VaultNews> {
        Vec::new()
    }
}

/// The right to change a vault. It is released on drop.
pub trait BackendTurn {
    /// Carries out a change set, all of it or nothing where the backend can (see [`Capabilities::atomic_many`]).
    ///
    /// The scope is checked again here, for each path and for where it really leads, and so is the judgement of the
    /// change: a link that was put in the way since then makes it a different one.
    fn commit(
        &self,
        set: &ChangeSet,
        scope: &Scope,
        origin: &ChangeOrigin,
        judged: PlaceJudge<'_>,
    ) -> Result<Receipt, CommitError>;
}

/// The history of changes, regardless of who may see it. A backend without checkpoints has an empty history.
pub trait History {
    /// The newest checkpoints first.
    fn checkpoints(&self, filter: &PathFilter, limit: usize) -> Result<Vec<CheckpointRecord>, LedgerError>;

    /// Those whose id starts like this; more than one if it is too short.
    fn checkpoint(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError>;

    /// The content with this hash, if it was kept.
    fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, LedgerError>;

    /// The checkpoint of the change that was made on this approval.
    fn approved(&self, _approval: &ContentHash) -> Result<Option<CheckpointRecord>, LedgerError> {
        Ok(None)
    }

    /// The change that was made by a call with this key, unless that was before a moment.
    fn keyed(&self, _key: &ContentHash, _since: SystemTime) -> Result<Option<KeyedCall>, LedgerError> {
        Ok(None)
    }

    /// Keeps what was answered to a call with a key.
    fn keep_reply(&self, _checkpoint: &str, _reply: &[u8]) -> Result<(), LedgerError> {
        Ok(())
    }

    /// Late saves that no caller was told of yet. Called with every call, so it must cost nothing when there are none.
    fn untold(&self) -> Result<Vec<CheckpointRecord>, LedgerError> {
        Ok(Vec::new())
    }

    /// Claims a late save for one caller; `false` if another caller was told meanwhile.
    fn set_told(&self, _number: i64) -> Result<bool, LedgerError> {
        Ok(false)
    }

    /// A caller that should have been told did not get the message.
    fn set_untold(&self, _id: &str) -> Result<(), LedgerError> {
        Ok(())
    }
}

/// What a backend guarantees beyond reading and writing files. Callers may explain these to people; no code above the
/// backend needs them to be correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Commits are possible at all.
    pub writable: bool,
    /// A commit compares the content it replaces with what the plan saw in the same step as replacing it, so that
    /// nothing another program wrote meanwhile is lost. Without it there is a gap between the two.
    pub compare_and_swap: bool,
    /// A change set of several files is applied completely or not at all, even if the process is killed midway.
    pub atomic_many: bool,
    /// Committed changes survive a power cut.
    pub durable: bool,
    /// Replaced content can be restored.
    pub checkpoints: bool,
    /// Files may be behind links, so that one can have several paths.
    pub links: bool,
}

/// How far a caller has followed a vault. Only the backend that filled it can read it.
#[derive(Default)]
pub struct Cursor(Option<Box<dyn Any + Send>>);

impl Cursor {
    /// Whether it has not been used yet.
    pub fn is_new(&self) -> bool {
        self.0.is_none()
    }

    /// The data that a backend stored here; `None` if the cursor is new or belongs to another backend.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.as_mut().and_then(|state| state.downcast_mut())
    }

    pub fn set<T: Send + 'static>(&mut self, state: T) {
        self.0 = Some(Box::new(state));
    }
}

/// How to scan a vault.
#[derive(Clone, Copy)]
pub struct ListingOptions<'a> {
    pub skip: SkippedNames<'a>,
    /// On a full scan, notes may be read on the way, which costs less than coming back for them.
    pub read: Option<&'a TextRoom>,
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

/// What is different.
#[derive(Debug)]
pub enum VaultDelta {
    /// What is now at the places that changed; empty if nothing did.
    Places(Vec<(VaultPath, PlaceState)>),
    /// Everything, because nothing was reported yet or only a full scan helps.
    Everything {
        walked: WalkedFolder,
        /// Another vault has taken the place of the one that the cursor knew (unmounted, cloned again).
        replaced: bool,
    },
}

/// What is at one place.
#[derive(Debug)]
pub enum PlaceState {
    Nothing,
    File(FileStat),
    /// A folder, and everything below it.
    Folder(WalkedFolder),
}

#[derive(Clone, Debug)]
pub struct StoredFile {
    pub bytes: Vec<u8>,
    pub modified: Option<SystemTime>,
    pub created: Option<SystemTime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    pub path: VaultPath,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
}

/// Why a change set was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {error}")]
pub struct CommitError {
    pub path: VaultPath,
    pub error: StoreError,
    pub guard: ContentGuard,
    /// What the plan saw there.
    pub before: Option<ContentHash>,
}

/// Why a turn was not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    #[error("the wait was abandoned")]
    GivenUp,
    #[error("the vault's folder does not exist")]
    VaultGone,
    #[error("the state folder cannot be used")]
    NoState,
    /// A killed server's change could not be rolled back, and nothing may be built on half of it.
    #[error("an unfinished change cannot be undone")]
    Unfinished,
}

/// An event in a vault that no current call caused. For the owner's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultNews {
    /// A killed server's change was complete.
    Completed { checkpoint: String },
    /// A killed server's change was rolled back. Files changed since by others were kept.
    Undone { left: Vec<VaultPath> },
    /// Another program wrote to a file that had just been replaced. Its text is in this checkpoint.
    LateSave { path: VaultPath, checkpoint: String },
    /// Something could not be cleaned up now; it will be tried again.
    Postponed { why: String },
}

/// The right to change a vault, and to plan and commit without another caller in between. Never held while the user is
/// asked.
pub struct Turn<'a>(Box<dyn BackendTurn + 'a>);

impl<'a> Turn<'a> {
    pub fn new(turn: Box<dyn BackendTurn + 'a>) -> Self {
        Self(turn)
    }

    /// Carries out a change set; the scope is checked again, for each path and for where it really leads.
    pub fn commit(&self, set: &ChangeSet, scope: &Scope, origin: &ChangeOrigin) -> Result<Receipt, CommitError> {
        self.commit_judged(set, scope, origin, &|_, _| true)
    }

    /// The same, unless a change would take place where it was not judged.
    pub fn commit_judged(
        &self,
        set: &ChangeSet,
        scope: &Scope,
        origin: &ChangeOrigin,
        judged: PlaceJudge<'_>,
    ) -> Result<Receipt, CommitError> {
        self.0.commit(set, scope, origin, judged)
    }
}
