//! Backends that are unknown here: a vault on one needs no change above it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use lapidary_note::ContentHash;
use lapidary_vault::{
    Change, ChangeSet, CommitError, ContentGuard, Policy, RankedPage, ReadError, Receipt, Scope, TurnError, Vault,
    VaultLimits, VaultPath,
    store::{
        Backend, BackendTurn, Capabilities, ChangeOrigin, CheckpointRecord, Cursor, EntryKind, FileStamp, FileStat,
        FolderEntry, History, LedgerError, ListingOptions, PathFilter, PlaceCheck, PlaceJudge, PlaceState, StoreError,
        StoredFile, VaultDelta, WalkedFolder,
    },
};

use crate::scratch::{NO_LIMIT, create, denying, listed, origin, vault_path, write};

/// Like a server over a network: it can list and read files, and write them one at a time; it keeps nothing, compares
/// nothing and reports no changes.
#[derive(Default)]
struct Remote {
    files: Mutex<BTreeMap<VaultPath, Vec<u8>>>,
    is_read_only: bool,
}

impl Remote {
    fn with(files: &[(&str, &str)], is_read_only: bool) -> Arc<Self> {
        let files = files.iter().map(|(path, text)| (vault_path(path), text.as_bytes().to_vec()));
        Arc::new(Self { files: Mutex::new(files.collect()), is_read_only })
    }

    /// Its version tag, in place of a number and times.
    fn stat(bytes: &[u8]) -> FileStat {
        let tag = ContentHash::of(bytes).as_bytes().iter().take(8).fold(0, |tag, byte| tag << 8 | u64::from(*byte));
        FileStat { stamp: FileStamp { size: bytes.len() as u64, inode: tag, ..FileStamp::default() }, created: None }
    }

    fn put(&self, path: &VaultPath, expected: Option<&ContentHash>, bytes: &[u8]) -> Result<(), StoreError> {
        let mut files = self.files.lock().unwrap();
        // Checked first and then written: the best that it can do.
        match (expected, files.get(path).map(|bytes| ContentHash::of(bytes))) {
            (None, Some(_)) => return Err(StoreError::Exists),
            (Some(_), None) => return Err(StoreError::Missing),
            (Some(expected), Some(found)) if *expected != found => return Err(StoreError::Changed { found }),
            _ => files.insert(path.clone(), bytes.to_vec()),
        };
        Ok(())
    }
}

impl Backend for Remote {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: !self.is_read_only,
            compare_and_swap: false,
            atomic_many: false,
            durable: true,
            checkpoints: false,
            links: false,
        }
    }

    fn read(&self, path: &VaultPath, max_bytes: u64, _: PlaceCheck<'_>) -> Result<StoredFile, StoreError> {
        let mut bytes = Vec::new();
        self.load(path, max_bytes, &mut bytes)?;
        Ok(StoredFile { bytes, modified: None, created: None })
    }

    fn list(&self, folder: Option<&VaultPath>, _: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError> {
        // It has no folders.
        if folder.is_some() {
            return Err(StoreError::Missing);
        }
        let files = self.files.lock().unwrap();
        Ok(files.keys().map(|path| FolderEntry { path: path.clone(), kind: EntryKind::File }).collect())
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        Ok(self.files.lock().unwrap().get(path).map(|bytes| Self::stat(bytes).stamp))
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        let files = self.files.lock().unwrap();
        let bytes = files.get(path).ok_or(StoreError::Missing)?;
        if bytes.len() as u64 > max_bytes {
            return Err(StoreError::TooLarge { bytes: bytes.len() as u64, limit: max_bytes });
        }
        into.extend_from_slice(bytes);
        Ok(Self::stat(bytes))
    }

    fn now(&self) -> i64 {
        i64::MAX
    }

    fn changes_since(&self, _: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError> {
        let files = self.files.lock().unwrap();
        let seen = files.iter().filter(|(path, _)| !path.is_hidden() && !(look.skip)(path.name()));
        let files = seen.map(|(path, bytes)| (path.clone(), Self::stat(bytes))).collect();
        Ok(VaultDelta::Everything { walked: WalkedFolder { files, ..WalkedFolder::default() }, replaced: false })
    }

    fn look_at(&self, _: &mut Cursor, path: &VaultPath, _: &ListingOptions<'_>) -> Result<PlaceState, StoreError> {
        let files = self.files.lock().unwrap();
        Ok(files.get(path).map_or(PlaceState::Nothing, |bytes| PlaceState::File(Self::stat(bytes))))
    }

    fn turn<'a>(&'a self, _: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, TurnError> {
        Ok(Box::new(RemoteTurn(self)))
    }

    fn history(&self) -> &dyn History {
        self
    }
}

struct RemoteTurn<'a>(&'a Remote);

impl BackendTurn for RemoteTurn<'_> {
    fn commit(
        &self,
        set: &ChangeSet,
        scope: &Scope,
        _: &ChangeOrigin,
        _: PlaceJudge<'_>,
    ) -> Result<Receipt, CommitError> {
        for change in &set.changes {
            let before = change.before().map(|file| file.hash());
            let done = match change {
                _ if self.0.is_read_only => Err(StoreError::ReadOnlyDisk),
                _ if scope.may_write(change.path()).is_err() => Err(StoreError::Closed),
                Change::Write { path, content, .. } => self.0.put(path, before.as_ref(), content.bytes()),
                Change::Create { path, content } => self.0.put(path, None, content.bytes()),
                _ => Err(StoreError::NotPermitted),
            };
            done.map_err(|error| CommitError { path: change.path().clone(), error, guard: change.guard(), before })?;
        }
        Ok(Receipt::of(set))
    }
}

/// It keeps none.
impl History for Remote {
    fn checkpoints(&self, _: &PathFilter, _: usize) -> Result<Vec<CheckpointRecord>, LedgerError> {
        Ok(Vec::new())
    }

    fn checkpoint(&self, _: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        Ok(Vec::new())
    }

    fn content(&self, _: &ContentHash) -> Result<Option<Vec<u8>>, LedgerError> {
        Ok(None)
    }
}

fn commit(vault: &Vault, scope: &Scope, change: Change) -> Result<Receipt, StoreError> {
    let done = vault.turn(&|| true).unwrap().commit(&ChangeSet::one(change), scope, &origin());
    done.map_err(|error| error.error)
}

fn ranked(vault: &Vault, scope: &Arc<Scope>, query: &str) -> Vec<String> {
    let size = lapidary_vault::PassageSize { context: 10, max_matches: 1, pieces: 0 };
    let page = RankedPage { offset: 0, limit: 10, size, room: usize::MAX, takes: |_| 0 };
    let found = vault.view(Arc::clone(scope), NO_LIMIT).ranked(query, page, &|| true).unwrap();
    found.hits.iter().map(|hit| hit.path.to_string()).collect()
}

#[test]
fn a_vault_over_a_network_is_read_indexed_searched_and_changed_like_any_other() {
    let remote = Remote::with(&[("a.md", "slate [[b]]"), ("b.md", "roof"), ("secret.md", "slate [[b]]")], false);
    let vault = Vault::new(
        "remote".to_owned(),
        Arc::<Remote>::clone(&remote) as Arc<_>,
        denying(&["secret.md"]),
        VaultLimits::default(),
    );
    let scope = vault.scope(std::time::SystemTime::now()).unwrap();
    let view = || vault.view(Arc::clone(&scope), NO_LIMIT);
    assert_eq!(view().read(&vault_path("a.md")).unwrap().bytes(), b"slate [[b]]");
    assert!(matches!(view().read(&vault_path("secret.md")), Err(ReadError::Denied(_))));
    assert_eq!(listed(&view(), "").unwrap(), ["a.md", "b.md"]);
    let backlinks = |path: &str| {
        let view = view();
        let notes = view.notes(&|| true).unwrap();
        notes.backlinks(&vault_path(path)).iter().map(|link| link.source.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(backlinks("b.md"), ["a.md"]);
    assert_eq!(ranked(&vault, &scope, "slate"), ["a.md"]);

    let change = write(&view(), "b.md", "slate too [[a]]");
    let stale = change.clone();
    assert_eq!(commit(&vault, &scope, change).unwrap().checkpoint, None);
    assert!(matches!(commit(&vault, &scope, stale), Err(StoreError::Changed { .. })));
    commit(&vault, &scope, create("c.md", "new [[b]]")).unwrap();
    assert_eq!(commit(&vault, &scope, create("secret.md", "x")), Err(StoreError::Closed));
    // Another program, behind our back.
    remote.files.lock().unwrap().remove(&vault_path("a.md"));
    assert_eq!(backlinks("b.md"), ["c.md"]);
    assert_eq!(ranked(&vault, &scope, "slate"), ["b.md"]);
    assert!(view().checkpoints(None, None, 10).unwrap().checkpoints.is_empty());
    assert!(view().late_saves().unwrap().is_empty());
    let capabilities = vault.capabilities();
    assert!(capabilities.writable && !capabilities.compare_and_swap && !capabilities.checkpoints);
}

#[test]
fn a_vault_that_cannot_be_changed_says_so() {
    let remote = Remote::with(&[("a.md", "text")], true);
    let vault = Vault::new("remote".to_owned(), remote, Policy::default(), VaultLimits::default());
    let scope = vault.scope(std::time::SystemTime::now()).unwrap();
    let view = vault.view(Arc::clone(&scope), NO_LIMIT);
    let change = write(&view, "a.md", "other");
    assert_eq!(change.guard(), ContentGuard::Plan);
    assert_eq!(commit(&vault, &scope, change), Err(StoreError::ReadOnlyDisk));
    assert!(!vault.capabilities().writable);
    assert_eq!(view.read(&vault_path("a.md")).unwrap().bytes(), b"text");
}
