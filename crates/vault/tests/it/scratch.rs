//! A vault in a temporary folder, with both ways in: ours, and that of any other program.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use lapidary_vault::{
    Change, ChangeSet, CommitError, ContentGuard, PathPrefix, Policy, ReadError, Receipt, Scope, Vault, VaultLimits,
    VaultPath, View,
    store::{ChangeOrigin, FolderStore, StateFolder, StoreError},
};
use tempfile::TempDir;

pub(crate) const NO_LIMIT: u64 = u64::MAX;

pub(crate) struct Scratch {
    /// Contains the vault, and next to it what must never be reached.
    around: TempDir,
    /// Where servers take turns.
    state: TempDir,
    pub(crate) vault: Vault,
}

/// What is at one place of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    File(Vec<u8>),
    Folder,
    Link(PathBuf),
    Special,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self::inside(tempfile::tempdir().unwrap())
    }

    /// Where saving does not touch a disk, for tests that save very often.
    pub(crate) fn fast() -> Self {
        let memory = Path::new("/dev/shm");
        Self::inside(if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap())
    }

    fn inside(around: TempDir) -> Self {
        std::fs::create_dir(around.path().join("vault")).unwrap();
        // On the same disk, equally fast or slow.
        let state = tempfile::tempdir_in(around.path().parent().unwrap()).unwrap();
        let vault = open_vault(&around.path().join("vault"), state.path());
        Self { around, state, vault }
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self::new();
        for (path, text) in files {
            scratch.put(path, text);
        }
        scratch
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.around.path().join("vault")
    }

    /// A place in the vault as other programs name it.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// A place beside the vault.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.around.path().join(name)
    }

    /// What a second process would hold of the same vault.
    pub(crate) fn second_server(&self) -> Vault {
        self.serving(&self.root())
    }

    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn serving(&self, root: &Path) -> Vault {
        open_vault(root, self.state.path())
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        std::fs::write(self.at(path), bytes).unwrap();
    }

    #[cfg(unix)]
    pub(crate) fn link(&self, at: &str, target: impl AsRef<Path>) {
        std::fs::create_dir_all(self.at(at).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, self.at(at)).unwrap();
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn pipe(&self, at: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.at(at), FileType::Fifo, Mode::from_bits_truncate(0o600), 0).unwrap();
    }

    #[track_caller]
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.at(path)).unwrap()
    }

    /// The whole disk, inside the vault and next to it, including hidden files: what a refused change must not touch.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Found> {
        let mut found = BTreeMap::new();
        walk(self.around.path(), &mut found);
        found
    }

    pub(crate) fn view(&self) -> View {
        self.view_as(&Scope::default())
    }

    pub(crate) fn view_as(&self, scope: &Scope) -> View {
        self.vault.view(Arc::new(scope.clone()), NO_LIMIT)
    }

    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.read_as(&Scope::default(), path)
    }

    pub(crate) fn read_as(&self, scope: &Scope, path: &str) -> Result<Vec<u8>, ReadError> {
        self.view_as(scope).read(&vault_path(path)).map(|file| file.bytes().to_vec())
    }

    /// The listing of a folder for a caller, folders with a trailing `/`; an empty name is the vault root.
    pub(crate) fn list_as(&self, scope: &Scope, folder: &str) -> Result<Vec<String>, ReadError> {
        listed(&self.view_as(scope), folder)
    }

    pub(crate) fn list(&self, folder: &str) -> Result<Vec<String>, ReadError> {
        self.list_as(&Scope::default(), folder)
    }

    /// The change that a plan makes now; the disk may move on before it is carried out.
    #[track_caller]
    pub(crate) fn plan(&self, path: &str, bytes: impl Into<Vec<u8>>) -> Change {
        write(&self.view(), path, bytes)
    }

    pub(crate) fn commit(&self, change: Change) -> Result<(), StoreError> {
        self.commit_as(&Scope::default(), change)
    }

    pub(crate) fn commit_as(&self, scope: &Scope, change: Change) -> Result<(), StoreError> {
        commit(&self.vault, scope, change)
    }

    /// Asserts that a change is refused for this reason and that the disk is unchanged byte for byte.
    #[track_caller]
    pub(crate) fn refuses(&self, change: Change, reason: StoreError) {
        self.refuses_as(&Scope::default(), change, reason);
    }

    #[track_caller]
    pub(crate) fn refuses_as(&self, scope: &Scope, change: Change, reason: StoreError) {
        let before = self.everything();
        assert_eq!(self.commit_as(scope, change), Err(reason));
        assert_eq!(self.everything(), before, "a refused change left traces");
    }
}

pub(crate) fn open_vault(root: &Path, state: &Path) -> Vault {
    open_vault_under(root, state, Policy::default())
}

pub(crate) fn open_vault_under(root: &Path, state: &Path, policy: Policy) -> Vault {
    let store = Arc::new(FolderStore::new(root.to_owned()));
    let state = StateFolder::new(state.to_owned(), root.to_owned());
    Vault::shared("scratch".to_owned(), store, &Arc::new(state), policy, VaultLimits::default())
}

pub(crate) fn vault_path(path: &str) -> VaultPath {
    VaultPath::parse(path).unwrap()
}

pub(crate) fn prefixes(list: &[&str]) -> Vec<PathPrefix> {
    list.iter().map(|prefix| PathPrefix::parse(prefix).unwrap()).collect()
}

pub(crate) fn deny(list: &[&str]) -> Scope {
    denying(list).into()
}

pub(crate) fn denying(list: &[&str]) -> Policy {
    Policy { deny: prefixes(list), ..Policy::default() }
}

#[track_caller]
pub(crate) fn write(view: &View, path: &str, bytes: impl Into<Vec<u8>>) -> Change {
    let path = vault_path(path);
    let before = view.read(&path).unwrap();
    Change::Write { path, before, guard: ContentGuard::Plan, content: bytes.into().into() }
}

pub(crate) fn create(path: &str, bytes: impl Into<Vec<u8>>) -> Change {
    Change::Create { path: vault_path(path), content: bytes.into().into() }
}

pub(crate) fn commit(vault: &Vault, scope: &Scope, change: Change) -> Result<(), StoreError> {
    let set = ChangeSet::one(change);
    match vault.turn(&|| true).unwrap().commit(&set, scope, &origin()) {
        Ok(receipt) => {
            assert_eq!(receipt.changed, Receipt::of(&set).changed);
            Ok(())
        }
        Err(CommitError { path, error, .. }) => {
            assert_eq!(path, *set.changes[0].path());
            Err(error)
        }
    }
}

/// An arbitrary caller.
pub(crate) fn origin() -> ChangeOrigin {
    ChangeOrigin {
        tool: "test".to_owned(),
        client: "test".to_owned(),
        time: SystemTime::now(),
        approval: None,
        call: None,
        restores: false,
    }
}

pub(crate) fn listed(view: &View, folder: &str) -> Result<Vec<String>, ReadError> {
    use lapidary_vault::store::EntryKind;
    let folder = (!folder.is_empty()).then(|| vault_path(folder));
    let entries = view.list(folder.as_ref())?;
    Ok(entries
        .into_iter()
        .map(|entry| match entry.kind {
            EntryKind::File => entry.path.to_string(),
            EntryKind::Folder => format!("{}/", entry.path),
        })
        .collect())
}

pub(crate) fn missing() -> ReadError {
    ReadError::Store(StoreError::Missing)
}

pub(crate) fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Found>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            walk(&path, found);
        }
        let what = match kind {
            kind if kind.is_dir() => Found::Folder,
            kind if kind.is_file() => Found::File(std::fs::read(&path).unwrap()),
            kind if kind.is_symlink() => Found::Link(std::fs::read_link(&path).unwrap()),
            _ => Found::Special,
        };
        found.insert(path, what);
    }
}

/// A text whose first line says how long it must be.
pub(crate) fn whole(author: &str, number: usize) -> Vec<u8> {
    let lines = 1 + (number * 37) % 400;
    let mut text = format!("{author} {number} {lines}\n");
    for line in 0..lines {
        text += &format!("{author} {number} line {line}\n");
    }
    text.into_bytes()
}

#[track_caller]
pub(crate) fn assert_whole(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let head: Vec<&str> = text.lines().next().expect("never empty").split(' ').collect();
    let (author, number) = (head[0], head[1].parse().unwrap());
    assert!(bytes == whole(author, number), "half of {author}'s version {number}: {} bytes", bytes.len());
}
