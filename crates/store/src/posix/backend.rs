//! The backend for a folder on disk.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use lapidary_note::ContentHash;

use super::{FolderStore, Ledger, StateFolder, TurnFile, commit::Committer};
use crate::{
    Backend, BackendTurn, Capabilities, CheckpointRecord, Cursor, FileStamp, FileStat, FolderEntry, History, KeyedCall,
    LedgerError, ListingOptions, PathFilter, PlaceCheck, PlaceState, StoreError, StoredFile, TurnError, VaultDelta,
    VaultLimits, VaultNews, VaultPath,
    maintenance::{NotScheduled, run_aside, schedule},
};

/// A vault in a folder, whose changes and history are recorded in a separate state folder.
pub struct PosixBackend {
    folder: Arc<FolderStore>,
    committer: Arc<Committer>,
    upkeep: Arc<LedgerUpkeep>,
}

/// Background upkeep of a ledger.
#[derive(Default)]
struct LedgerUpkeep {
    /// The limits are checked from time to time.
    limits: AtomicBool,
    /// A flush waits for a quiet period.
    resting: AtomicBool,
    turns: AtomicU64,
}

/// Limits apply from startup on and over time, not only with the next change.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LOOKS: Duration = Duration::from_secs(60 * 60);
/// The quiet period before the ledger's log is merged into the ledger.
const QUIET: Duration = Duration::from_secs(5);

impl PosixBackend {
    /// A vault that other servers may change too; they agree on where to keep their state.
    pub fn shared(folder: Arc<FolderStore>, state: &Arc<StateFolder>, limits: &VaultLimits) -> Self {
        let ledger = Ledger::new(Arc::clone(state), limits.retention);
        let turns = Some(TurnFile::new(Arc::clone(state)));
        Self::with(folder, ledger, turns, limits.max_file_bytes)
    }

    /// A vault that only this process changes, and whose history ends with it.
    pub fn private(folder: Arc<FolderStore>) -> Self {
        Self::with(folder, Ledger::in_memory(), None, VaultLimits::default().max_file_bytes)
    }

    fn with(folder: Arc<FolderStore>, ledger: Ledger, turns: Option<TurnFile>, max_file_bytes: u64) -> Self {
        let committer = Committer::new(Arc::clone(&folder) as Arc<_>, ledger, turns, max_file_bytes);
        Self { folder, committer: Arc::new(committer), upkeep: Arc::default() }
    }

    fn look_at_limits(&self) {
        // One schedule for each vault, however often it is settled.
        if self.upkeep.limits.swap(true, Ordering::AcqRel) {
            return;
        }
        // Weak, so that an idle schedule does not keep a closed vault open.
        let committer = Arc::downgrade(&self.committer);
        let scheduled = schedule(FIRST_LOOK, move || {
            let committer = committer.upgrade()?;
            // The disk may never respond.
            run_aside("limits", move || committer.look_at_limits()).unwrap_or_else(|error| postponed(&error));
            Some(LOOKS)
        });
        scheduled.unwrap_or_else(|error| postponed(&error));
    }

    fn rest_later(&self) {
        self.upkeep.turns.fetch_add(1, Ordering::AcqRel);
        if self.upkeep.resting.swap(true, Ordering::AcqRel) {
            return;
        }
        let (committer, upkeep) = (Arc::downgrade(&self.committer), Arc::clone(&self.upkeep));
        let mut seen = upkeep.turns.load(Ordering::Acquire);
        let scheduled = schedule(QUIET, move || {
            let committer = committer.upgrade()?;
            let turns = upkeep.turns.load(Ordering::Acquire);
            // A turn was taken since the last look, so it is not quiet yet.
            if std::mem::replace(&mut seen, turns) != turns {
                return Some(QUIET);
            }
            // Reset before the work, so that a turn that is taken meanwhile schedules another rest.
            upkeep.resting.store(false, Ordering::Release);
            run_aside("ledger", move || committer.ledger.rest()).unwrap_or_else(|error| postponed(&error));
            None
        });
        scheduled.unwrap_or_else(|error| postponed(&error));
    }
}

fn postponed(error: &NotScheduled) {
    tracing::debug!(%error, "the ledger is put in order by the next server");
}

impl Backend for PosixBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: true,
            compare_and_swap: true,
            atomic_many: true,
            durable: true,
            checkpoints: true,
            links: true,
        }
    }

    fn folder_name(&self) -> Option<String> {
        self.folder.name()
    }

    fn read(&self, path: &VaultPath, max_bytes: u64, open: PlaceCheck<'_>) -> Result<StoredFile, StoreError> {
        self.folder.read(path, max_bytes, open)
    }

    fn list(&self, folder: Option<&VaultPath>, open: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError> {
        self.folder.list(folder, open)
    }

    fn find_folder(&self, folder: &VaultPath, open: PlaceCheck<'_>) -> Result<(), StoreError> {
        self.folder.find_folder(folder, open)
    }

    fn place_of_change(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        self.folder.place_of_change(path, open)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        self.folder.stamp(path)
    }

    fn stamps(&self, paths: &[VaultPath]) -> Result<Vec<Option<FileStamp>>, (usize, StoreError)> {
        self.folder.stamps(paths)
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        self.folder.load(path, max_bytes, into)
    }

    fn now(&self) -> i64 {
        self.folder.time()
    }

    fn changes_since(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError> {
        self.folder.changes_since(cursor, look)
    }

    fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError> {
        self.folder.look_at(cursor, path, look)
    }

    fn may_have_name(&self, path: &VaultPath) -> bool {
        self.committer.may_have_name(path)
    }

    fn turn<'a>(&'a self, go_on: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, TurnError> {
        let turn = self.committer.turn(go_on)?;
        // Every turn may have added to the ledger's log.
        self.rest_later();
        Ok(Box::new(turn))
    }

    fn history(&self) -> &dyn History {
        &*self.committer
    }

    fn settle(&self) {
        self.committer.settle();
        self.look_at_limits();
    }

    fn rest(&self) {
        self.committer.ledger.rest();
    }

    fn take_news(&self) -> Vec<VaultNews> {
        self.committer.take_news()
    }
}

impl History for Committer {
    fn checkpoints(&self, filter: &PathFilter, limit: usize) -> Result<Vec<CheckpointRecord>, LedgerError> {
        self.ledger.checkpoints(filter, limit)
    }

    fn checkpoint(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        self.ledger.checkpoint(prefix)
    }

    fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, LedgerError> {
        self.ledger.content(hash)
    }

    fn approved(&self, approval: &ContentHash) -> Result<Option<CheckpointRecord>, LedgerError> {
        self.ledger.approved(approval)
    }

    fn keyed(&self, key: &ContentHash, since: SystemTime) -> Result<Option<KeyedCall>, LedgerError> {
        self.ledger.keyed(key, since)
    }

    fn keep_reply(&self, checkpoint: &str, reply: &[u8]) -> Result<(), LedgerError> {
        self.ledger.keep_reply(checkpoint, reply)
    }

    fn untold(&self) -> Result<Vec<CheckpointRecord>, LedgerError> {
        self.untold()
    }

    fn set_told(&self, number: i64) -> Result<bool, LedgerError> {
        self.ledger.set_told(number)
    }

    fn set_untold(&self, id: &str) -> Result<(), LedgerError> {
        self.ledger.set_untold(id)?;
        // Otherwise the next call would not look for it.
        self.expect_untold();
        Ok(())
    }
}
