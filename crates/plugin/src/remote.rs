//! A vault that is only reachable through the plugin. Its files are there; journal, checkpoints and index are here, in the state
//! folder.
//!
//! The plugin has files, not folders: an empty folder does not exist. It names the versions of files only since version 6,
//! so that before there is a moment between comparing a file and replacing it; and a change of several files is several
//! requests, which are taken back if one fails.

mod change_plan;
mod change_steps;
mod far_settings;
mod file_listing;
mod remote_commit;
mod remote_files;
mod rule_look;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crossbeam_queue::SegQueue;
use lapidary_store::{
    Backend, BackendTurn, Capabilities, Cursor, EntryKind, FileStamp, FileStat, FolderEntry, History, ListingOptions,
    PlaceCheck, PlaceState, RemoteFault, StoreError, StoredFile, TurnError, VaultDelta, VaultLimits, VaultNews,
    VaultPath,
    posix::{ChangeJournal, StateFolder},
};

use self::{far_settings::FarSettings, remote_commit::RemoteTurn, remote_files::RemoteFiles, rule_look::RuleLook};
use crate::{PluginConnection, PluginError};

/// A vault behind a connection, whose changes and history are recorded here.
pub struct RemoteBackend {
    files: RemoteFiles,
    journal: ChangeJournal,
    /// How often we have changed notes, and other files.
    changed_notes: AtomicU64,
    changed_others: AtomicU64,
    rules: RuleLook,
    settings: FarSettings,
    news: SegQueue<VaultNews>,
}

impl RemoteBackend {
    /// Nothing is sent yet.
    pub fn new(connection: PluginConnection, state: &Arc<StateFolder>, limits: &VaultLimits) -> Self {
        Self {
            files: RemoteFiles::new(connection, limits.max_file_bytes),
            journal: ChangeJournal::new(state, limits.retention),
            changed_notes: AtomicU64::new(0),
            changed_others: AtomicU64::new(0),
            rules: RuleLook::default(),
            settings: FarSettings::default(),
            news: SegQueue::new(),
        }
    }

    /// What a vault behind a plugin can promise, which names the versions of files or does not.
    pub fn promised(names_versions: bool) -> Capabilities {
        Capabilities {
            writable: true,
            compare_and_swap: names_versions,
            atomic_many: false,
            durable: false,
            checkpoints: true,
            links: false,
        }
    }

    fn tell(&self, news: VaultNews) {
        self.news.push(news);
    }

    /// A file of this path was changed by us.
    fn mark_changed(&self, path: &VaultPath) {
        let counter = if path.is_note() { &self.changed_notes } else { &self.changed_others };
        counter.fetch_add(1, Ordering::AcqRel);
    }

    fn changed_others(&self) -> u64 {
        self.changed_others.load(Ordering::Acquire)
    }

    fn stamp_of(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        match self.files.stat(path) {
            Ok(stat) => Ok(Some(stat.stamp)),
            Err(StoreError::Missing) => Ok(None),
            // A folder has a stamp too, as on disk.
            Err(StoreError::IsFolder) => Ok(Some(FileStamp::default())),
            Err(error) => Err(error),
        }
    }
}

impl Backend for RemoteBackend {
    fn capabilities(&self) -> Capabilities {
        Self::promised(self.files.names_versions())
    }

    fn read(&self, path: &VaultPath, max_bytes: u64, _: PlaceCheck<'_>) -> Result<StoredFile, StoreError> {
        // The times first, so that the bytes are not older than they say.
        let stat = if path.is_note() { Some(self.files.note_stat(path, max_bytes)?) } else { None };
        let bytes = match self.files.read(path, max_bytes) {
            Err(StoreError::NotPermitted) if FarSettings::has(path) => {
                return self.settings.read(&self.files.connection, path);
            }
            read => read?.bytes,
        };
        let modified = stat.map(|stat| stat.modified());
        Ok(StoredFile { bytes, modified, created: stat.and_then(|stat| stat.created()) })
    }

    fn list(&self, folder: Option<&VaultPath>, _: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError> {
        let names = match (self.files.connection.list_folder(folder), folder) {
            (Ok(names), _) => names,
            // An empty vault.
            (Err(PluginError::NotFound), None) => Vec::new(),
            (Err(PluginError::NotFound), Some(folder)) => {
                // The plugin answers the same for a file and for nothing, so it has to be asked.
                let is_file = self.files.connection.find_file(folder).is_ok();
                return Err(if is_file { StoreError::NotAFile } else { StoreError::Missing });
            }
            (Err(error), _) => return Err(store_error(error)),
        };
        // Entries whose names no path can have are left out, as on disk.
        let entry = |listed: crate::ListedName| {
            let path = file_listing::entry_of(folder, &listed.name)?;
            Some(FolderEntry { path, kind: if listed.is_folder { EntryKind::Folder } else { EntryKind::File } })
        };
        let mut entries: Vec<FolderEntry> = names.into_iter().filter_map(entry).collect();
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        self.stamp_of(path)
    }

    fn stamps(&self, paths: &[VaultPath]) -> Result<Vec<Option<FileStamp>>, (usize, StoreError)> {
        self.look_at_files(paths)
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        self.files.load(path, max_bytes, into)
    }

    /// Long after every change: stamps have milliseconds of the other side's clock, and are compared only with each other.
    fn now(&self) -> i64 {
        i64::MAX
    }

    fn changes_since(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError> {
        self.list_changes(cursor, look)
    }

    fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError> {
        self.list_place(cursor, path, look)
    }

    fn may_have_name(&self, path: &VaultPath) -> bool {
        // A name that was there before may come back, even if Windows would refuse it.
        path.has_portable_name() || self.journal.knows(path)
    }

    fn turn<'a>(&'a self, go_on: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, TurnError> {
        let turn = RemoteTurn::new(self, self.journal.turn(go_on)?);
        // What a killed server has left is settled before anything new is planned.
        turn.settle()?;
        Ok(Box::new(turn))
    }

    fn history(&self) -> &dyn History {
        &self.journal
    }

    fn rest(&self) {
        self.journal.rest();
    }

    fn take_news(&self) -> Vec<VaultNews> {
        std::iter::from_fn(|| self.news.pop()).collect()
    }
}

/// What a failure of a call means for a file.
fn store_error(error: PluginError) -> StoreError {
    let failing = |status| StoreError::Remote(RemoteFault::Failing { status });
    match error {
        PluginError::Unreachable => StoreError::Remote(RemoteFault::Unreachable),
        PluginError::CertificateRejected => StoreError::Remote(RemoteFault::CertificateRejected),
        PluginError::KeyRejected => StoreError::Remote(RemoteFault::KeyRejected),
        PluginError::Timeout => StoreError::Remote(RemoteFault::TimedOut),
        PluginError::Forbidden => StoreError::NotPermitted,
        PluginError::NotFound => StoreError::Missing,
        PluginError::MethodNotAllowed | PluginError::IsFolder => StoreError::IsFolder,
        PluginError::Exists => StoreError::Exists,
        PluginError::TooLarge { limit } => StoreError::TooLarge { bytes: limit.saturating_add(1), limit },
        PluginError::TooManyRequests => failing(Some(429)),
        // A condition of ours that does not hold is handled by the steps; here it is a failure.
        PluginError::Changed => failing(Some(412)),
        PluginError::Rejected { status, .. } | PluginError::Upstream { status } => failing(Some(status)),
        // What is left says nothing about a file.
        PluginError::Unexpected
        | PluginError::PeriodDisabled
        | PluginError::PeriodUnsupported
        | PluginError::NoApp
        | PluginError::CommandsOff => failing(None),
    }
}
