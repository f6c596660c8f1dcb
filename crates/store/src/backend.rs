//! The one notion of where a vault is kept. Everything above it (index, search, views, tools) knows a vault only through
//! [`Backend`]; how a change gets onto a disk, or over a network, is the business of the implementations.

use std::{any::Any, time::SystemTime};

use lapidary_note::ContentHash;

use crate::{
    ChangeOrigin, ChangeSet, CheckpointRecord, ContentGuard, FileStamp, FileStat, LedgerError, PathFilter, Receipt,
    Scope, StoreError, TextRoom, VaultPath, WalkedFolder,
};

/// Asked about the place a path really leads to, so that a link inside the vault opens nothing that is closed.
pub type PlaceCheck<'a> = &'a dyn Fn(&VaultPath) -> bool;

/// Whether a change of this path may take place there: what was judged before it is made.
pub type PlaceJudge<'a> = &'a dyn Fn(&VaultPath, &VaultPath) -> bool;

/// Which names do not belong to the vault, however visible they are.
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

    /// Where a change of a path takes place, whether or not something is there: links followed, if the caller may use that
    /// place.
    fn place_of_change(&self, path: &VaultPath, _open: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        Ok(path.clone())
    }

    /// What is known of a file without reading it; `None` where there is nothing at all, not even a broken link.
    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError>;

    /// Appends the content of a file that [`Backend::changes_since`] told of, and says which state of it that was.
    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError>;

    /// The time by the clock that also dates files, in nanoseconds since 1970.
    fn now(&self) -> i64;

    /// What differs from what this cursor has been told, and moves the cursor there. A new cursor has been told nothing.
    /// If it fails, what was not told is told the next time.
    fn changes_since(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError>;

    /// What is at one place now, for somebody who follows the vault by this cursor.
    fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError>;

    /// What Obsidian calls the vault, where that is known: the name of its folder.
    fn folder_name(&self) -> Option<String> {
        None
    }

    /// Whether something may be made under a name.
    fn may_have_name(&self, path: &VaultPath) -> bool {
        path.has_portable_name()
    }

    /// Waits, as long as it is told to, until no other change of ours is under way.
    fn turn<'a>(&'a self, go_on: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, TurnError>;

    fn history(&self) -> &dyn History;

    /// Sees to what a killed server left, before somebody reads. Only the first time there can be anything to do.
    fn settle(&self) {}

    /// For the end of the process: what was written down is brought to where it is safest.
    fn rest(&self) {}

    /// What has happened since somebody last asked, for the owner's log.
    fn take_news(&self) -> Vec<VaultNews> {
        Vec::new()
    }
}

/// The right to change a vault. It is given back when this goes.
pub trait BackendTurn {
    /// Carries out a change set, all of it or nothing where the backend can (see [`Capabilities::atomic_many`]).
    ///
    /// The scope is asked again here, about each path and about where it really leads, and so is whoever judged the
    /// change: a link that was put in the way since then makes it another one.
    fn commit(
        &self,
        set: &ChangeSet,
        scope: &Scope,
        origin: &ChangeOrigin,
        judged: PlaceJudge<'_>,
    ) -> Result<Receipt, CommitError>;
}

/// What was kept of changes, whoever may see it. A backend without checkpoints has an empty history.
pub trait History {
    /// The newest checkpoints first.
    fn checkpoints(&self, filter: &PathFilter, limit: usize) -> Result<Vec<CheckpointRecord>, LedgerError>;

    /// Those whose name begins like this; more than one if it is too short.
    fn checkpoint(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError>;

    /// The content that a hash stands for, if it was kept.
    fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, LedgerError>;

    /// Late saves that no caller was told of yet. Asked with every call, so it must cost nothing when there are none.
    fn untold(&self) -> Result<Vec<CheckpointRecord>, LedgerError> {
        Ok(Vec::new())
    }

    /// A caller is told of a late save; whether nobody else has been told meanwhile.
    fn set_told(&self, _number: i64) -> Result<bool, LedgerError> {
        Ok(false)
    }

    /// A caller who was to be told did not hear of it.
    fn set_untold(&self, _id: &str) -> Result<(), LedgerError> {
        Ok(())
    }
}

/// What a backend promises beyond reading and writing files. Callers may explain these to people; no code above the
/// backend needs to ask for them in order to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// A commit can be made at all.
    pub writable: bool,
    /// A commit compares what it replaces with what the plan saw in the same step in which it replaces it, so that
    /// nothing another program wrote meanwhile is lost. Without it there is a moment between the two.
    pub compare_and_swap: bool,
    /// A change set of several files is made as a whole or not at all, even if the process is killed half way.
    pub atomic_many: bool,
    /// What was committed survives a power cut.
    pub durable: bool,
    /// What a change replaces can be had again.
    pub checkpoints: bool,
    /// Files may lie behind links, so that one can have several paths.
    pub links: bool,
}

/// How far somebody has followed a vault. Only the backend that filled it can read it.
#[derive(Default)]
pub struct Cursor(Option<Box<dyn Any + Send>>);

impl Cursor {
    /// Whether nobody has followed anything with it yet.
    pub fn is_new(&self) -> bool {
        self.0.is_none()
    }

    /// What a backend has left here; nothing if the cursor is new or was another backend's.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.as_mut().and_then(|state| state.downcast_mut())
    }

    pub fn set<T: Send + 'static>(&mut self, state: T) {
        self.0 = Some(Box::new(state));
    }
}

/// How to look through a vault.
#[derive(Clone, Copy)]
pub struct ListingOptions<'a> {
    pub skip: SkippedNames<'a>,
    /// When everything is looked at, notes may be read on the way, which costs less than to come back for them.
    pub read: Option<&'a TextRoom>,
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

/// What is different.
#[derive(Debug)]
pub enum VaultDelta {
    /// What is now at the places where something has happened; none if all is the same.
    Places(Vec<(VaultPath, PlaceState)>),
    /// Everything that there is, because nothing was told yet or only a look at everything helps.
    Everything {
        walked: WalkedFolder,
        /// Another vault has taken the place of the one that the cursor knew (unmounted, cloned anew).
        replaced: bool,
    },
}

/// What is at one place.
#[derive(Debug)]
pub enum PlaceState {
    Nothing,
    File(FileStat),
    /// A folder, and all that is below it.
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

/// Why there was no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    #[error("the wait was given up")]
    GivenUp,
    #[error("the vault's folder is not there")]
    VaultGone,
    #[error("the state folder cannot be used")]
    NoState,
    /// A killed server's change could not be taken back, and nothing may be built upon half of it.
    #[error("an unfinished change cannot be undone")]
    Unfinished,
}

/// What happened to a vault without anybody having asked for it just now. For the owner's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultNews {
    /// A killed server's change was complete.
    Completed { checkpoint: String },
    /// A killed server's change was taken back. What somebody has changed since was left as it is.
    Undone { left: Vec<VaultPath> },
    /// Another program wrote into a file that had just been replaced. Its text is in this checkpoint.
    LateSave { path: VaultPath, checkpoint: String },
    /// Something could not be looked after now; it will be tried again.
    Postponed { why: String },
}

/// The right to change a vault, and to plan and commit without another caller in between. Never held while a person is
/// asked.
pub struct Turn<'a>(Box<dyn BackendTurn + 'a>);

impl<'a> Turn<'a> {
    pub fn new(turn: Box<dyn BackendTurn + 'a>) -> Self {
        Self(turn)
    }

    /// Carries out a change set; the scope is asked again, about each path and about where it really leads.
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
