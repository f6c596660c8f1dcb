//! The cost of a miss must not reveal how many files are hidden in the folder.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use lapidary_vault::{
    Policy, Vault, VaultLimits, VaultPath,
    store::{
        Backend, BackendTurn, Capabilities, Cursor, FileStamp, FileStat, FolderEntry, FolderStore, History,
        ListingOptions, PlaceCheck, PlaceState, PosixBackend, StoreError, StoredFile, VaultDelta,
    },
};

use crate::scratch::{Scratch, missing, vault_path};

/// Counts the listed entries of folders, however they are listed.
struct Counting {
    store: PosixBackend,
    entries: Arc<AtomicUsize>,
}

impl Backend for Counting {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn read(&self, path: &VaultPath, max_bytes: u64, open: PlaceCheck<'_>) -> Result<StoredFile, StoreError> {
        self.store.read(path, max_bytes, open)
    }

    fn list(&self, folder: Option<&VaultPath>, open: PlaceCheck<'_>) -> Result<Vec<FolderEntry>, StoreError> {
        let listed = self.store.list(folder, open)?;
        self.entries.fetch_add(listed.len(), Ordering::SeqCst);
        Ok(listed)
    }

    fn find_folder(&self, folder: &VaultPath, open: PlaceCheck<'_>) -> Result<(), StoreError> {
        self.store.find_folder(folder, open)
    }

    fn stamp(&self, path: &VaultPath) -> Result<Option<FileStamp>, StoreError> {
        self.store.stamp(path)
    }

    fn load(&self, path: &VaultPath, max_bytes: u64, into: &mut Vec<u8>) -> Result<FileStat, StoreError> {
        self.store.load(path, max_bytes, into)
    }

    fn now(&self) -> i64 {
        self.store.now()
    }

    fn changes_since(&self, cursor: &mut Cursor, look: &ListingOptions<'_>) -> Result<VaultDelta, StoreError> {
        let delta = self.store.changes_since(cursor, look)?;
        if let VaultDelta::Everything { walked, .. } = &delta {
            self.entries.fetch_add(walked.files.len(), Ordering::SeqCst);
        }
        Ok(delta)
    }

    fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError> {
        self.store.look_at(cursor, path, look)
    }

    fn turn<'a>(&'a self, go_on: &dyn Fn() -> bool) -> Result<Box<dyn BackendTurn + 'a>, lapidary_vault::TurnError> {
        self.store.turn(go_on)
    }

    fn history(&self) -> &dyn History {
        self.store.history()
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_miss_looks_at_no_more_entries_the_more_are_hidden() {
    let looked_at = |hidden: usize| {
        let scratch = Scratch::fast();
        scratch.put("folder/Plan.md", "x");
        scratch.put("folder/plan.txt", "x");
        scratch.put("folder/Größe.md", "x");
        scratch.put(".lapidaryignore", "*-hidden.md\n");
        (0..hidden).for_each(|number| scratch.put(&format!("folder/{number}-hidden.md"), "x"));
        let entries = Arc::new(AtomicUsize::new(0));
        let store = PosixBackend::private(Arc::new(FolderStore::new(scratch.root())));
        let backend = Arc::new(Counting { store, entries: Arc::clone(&entries) });
        let vault = Vault::new("counted".to_owned(), backend, Policy::default(), VaultLimits::default());
        let miss = |name: &str| {
            let view = vault.view(vault.scope(std::time::SystemTime::now()).unwrap(), u64::MAX);
            let path = vault_path(&format!("folder/{name}"));
            assert_eq!(view.read(&path).map(|_| ()), Err(missing()), "{name}");
            view.similar(&path).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        // The first scan of the vault reads all of it.
        assert_eq!(miss("none.md"), [""; 0]);
        let before = entries.load(Ordering::SeqCst);
        assert_eq!(miss("PLAN"), ["folder/Plan.md", "folder/plan.txt"]);
        assert_eq!(miss("plan.pdf"), ["folder/Plan.md", "folder/plan.txt"]);
        assert_eq!(miss("größe.md"), ["folder/Größe.md"]);
        assert_eq!(miss("1-HIDDEN.md"), [""; 0]);
        // So it is with a name that is to be made.
        let view = vault.view(vault.scope(std::time::SystemTime::now()).unwrap(), u64::MAX);
        let like = |path: &str| {
            let found = view.named_like(&vault_path(path), &|| true).unwrap();
            found.iter().map(|entry| format!("{} {:?}", entry.path, entry.kind)).collect::<Vec<_>>()
        };
        assert_eq!(like("folder/PLAN.md"), ["folder/Plan.md File"]);
        assert_eq!(like("folder/new.md"), [""; 0]);
        assert_eq!(like("folder/1-HIDDEN.md"), [""; 0]);
        assert_eq!(like("FOLDER"), ["folder Folder"]);
        assert!(view.had_folder(&vault_path("folder")) && !view.had_folder(&vault_path("other")));
        assert_eq!(view.may_be_made(&vault_path("folder/new.md")), Ok(()));
        entries.load(Ordering::SeqCst) - before
    };
    assert_eq!((looked_at(0), looked_at(500)), (0, 0));
}
