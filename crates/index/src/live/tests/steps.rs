//! Random steps on a vault: the index equals a newly built one after each.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lapidary_store::{
    ChangeOrigin, ContentGuard, File, StoredFile,
    posix::{FolderStore, PosixBackend},
};
use proptest::prelude::*;

use super::{
    super::*,
    followed, rebuilt, scratch,
    shaky::{Condition, Shaky},
};
use crate::{Change, Scope};

/// What another program, or we ourselves, may do to a vault.
#[derive(Clone, Debug)]
enum Step {
    Write {
        path: usize,
        content: usize,
    },
    /// In place, of equal size, with the old time set back.
    Disguise {
        path: usize,
    },
    Append {
        path: usize,
    },
    SaveByRename {
        path: usize,
        content: usize,
    },
    Delete {
        path: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    MakeFolders {
        folder: usize,
    },
    RenameFolder {
        from: usize,
        to: usize,
    },
    DeleteFolder {
        folder: usize,
    },
    Link {
        path: usize,
    },
    /// Changed or created by ourselves, as a commit does.
    Commit {
        path: usize,
        content: usize,
    },
    /// Makes a call, with the events in this condition.
    Ask(Condition),
}

const PATHS: &[&str] = &[
    "a.md",
    "b.md",
    "A.md",
    "img.png",
    "one/a.md",
    "one/two/a.md",
    "one/two/b.md",
    "one/c.txt",
    "three/a.md",
    "three/x/y.md",
    "node_modules/a.md",
    ".hidden/a.md",
    "Ünï.md",
];
const FOLDERS: &[&str] = &["one", "one/two", "three", "three/x", "four", "node_modules", ".hidden"];
const CONTENTS: &[&str] = &[
    "",
    "[[a]] #tag\n",
    "---\naliases: [q]\nup: \"[[b]]\"\n---\n# H\n[[one/a|x]] ![[img.png]]\n",
    "[t](two/b.md) [[A#H]] ^id\n",
    "[[Ünï]] [[nowhere]]\n- [ ] task\n",
];

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    let folder = || 0..FOLDERS.len();
    let content = || 0..CONTENTS.len();
    prop_oneof![
        4 => (path(), content()).prop_map(|(path, content)| Step::Write { path, content }),
        1 => path().prop_map(|path| Step::Disguise { path }),
        1 => path().prop_map(|path| Step::Append { path }),
        2 => (path(), content()).prop_map(|(path, content)| Step::SaveByRename { path, content }),
        2 => path().prop_map(|path| Step::Delete { path }),
        2 => (path(), path()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => folder().prop_map(|folder| Step::MakeFolders { folder }),
        3 => (folder(), folder()).prop_map(|(from, to)| Step::RenameFolder { from, to }),
        1 => folder().prop_map(|folder| Step::DeleteFolder { folder }),
        1 => path().prop_map(|path| Step::Link { path }),
        4 => (path(), content()).prop_map(|(path, content)| Step::Commit { path, content }),
        4 => prop_oneof![
            3 => Just(Condition::Whole),
            1 => any::<u64>().prop_map(Condition::Lossy),
            1 => any::<u64>().prop_map(Condition::Late),
        ].prop_map(Step::Ask),
    ]
}

fn ours(root: &Path) -> PosixBackend {
    PosixBackend::private(Arc::new(FolderStore::new(root.to_owned())))
}

fn seen(StoredFile { bytes, modified, created }: StoredFile) -> Arc<File> {
    Arc::new(File { content: bytes.into(), modified, created })
}

/// A step may be impossible in the current state; then nothing happens.
fn take(root: &Path, ours: &PosixBackend, step: &Step) {
    let at = |path: &usize| root.join(PATHS[*path]);
    let folder = |folder: &usize| root.join(FOLDERS[*folder]);
    let write = |path: PathBuf, content: &[u8]| {
        fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(path, content))
    };
    let done = match step {
        Step::Write { path, content } => write(at(path), CONTENTS[*content].as_bytes()),
        Step::Disguise { path } => fs::read(at(path)).and_then(|bytes| {
            let modified = fs::metadata(at(path))?.modified()?;
            fs::write(at(path), bytes.iter().rev().copied().collect::<Vec<u8>>())?;
            fs::File::options().write(true).open(at(path))?.set_modified(modified)
        }),
        Step::Append { path } => {
            fs::read(at(path)).and_then(|bytes| fs::write(at(path), [&bytes[..], b"\n[[b]]"].concat()))
        }
        Step::SaveByRename { path, content } => {
            let temporary = root.join(".save.tmp");
            write(temporary.clone(), CONTENTS[*content].as_bytes()).and_then(|()| fs::rename(temporary, at(path)))
        }
        Step::Delete { path } => fs::remove_file(at(path)),
        Step::Rename { from, to } => fs::rename(at(from), at(to)),
        Step::MakeFolders { folder: made } => {
            fs::create_dir_all(folder(made)).and_then(|()| fs::write(folder(made).join("new.md"), "[[a]]"))
        }
        Step::RenameFolder { from, to } => fs::rename(folder(from), folder(to)),
        Step::DeleteFolder { folder: gone } => fs::remove_dir_all(folder(gone)),
        Step::Link { path } => std::os::unix::fs::symlink("a.md", at(path)),
        Step::Commit { path, content } => {
            let (path, bytes) = (VaultPath::parse(PATHS[*path]).unwrap(), CONTENTS[*content].as_bytes().to_vec());
            let scope = Scope::default();
            let change = match ours.read(&path, u64::MAX, &|_| true) {
                Ok(found) => {
                    Change::Write { path, before: seen(found), guard: ContentGuard::Plan, content: bytes.into() }
                }
                Err(_) => Change::Create { path, content: bytes.into() },
            };
            let origin = ChangeOrigin {
                tool: "test".into(),
                client: "test".into(),
                time: std::time::UNIX_EPOCH,
                approval: None,
                call: None,
                restores: false,
            };
            drop(ours.turn(&|| true).unwrap().commit(
                &lapidary_store::ChangeSet::one(change),
                &scope,
                &origin,
                &|_, _| true,
            ));
            Ok(())
        }
        Step::Ask(_) => Ok(()),
    };
    drop(done);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 1500 }))]
    #[test]
    fn after_any_sequence_the_index_is_the_one_built_anew(steps in prop::collection::vec(step(), 1..40)) {
        let folder = scratch();
        let store = Shaky::new(folder.path(), 0);
        let condition = store.condition();
        let live = followed(store);
        let ours = ours(folder.path());
        for step in &steps {
            take(folder.path(), &ours, step);
            if let Step::Ask(asked) = step {
                *condition.lock().unwrap() = *asked;
                let found = live.notes(&|| true).unwrap().described();
                if !matches!(asked, Condition::Late(_)) {
                    prop_assert_eq!(found, rebuilt(folder.path()), "{:?}", steps);
                }
            }
        }
        *condition.lock().unwrap() = Condition::Whole;
        prop_assert_eq!(live.notes(&|| true).unwrap().described(), rebuilt(folder.path()), "{:?}", steps);
    }

    #[test]
    fn without_a_watch_it_is_the_same(steps in prop::collection::vec(step(), 1..30)) {
        let folder = scratch();
        let backend = Shaky::new(folder.path(), 0);
        // Simulates a system without a watch.
        *backend.condition().lock().unwrap() = Condition::Blind;
        let live = followed(backend);
        let ours = ours(folder.path());
        for step in &steps {
            take(folder.path(), &ours, step);
            if matches!(step, Step::Ask(_)) {
                let found = live.notes(&|| true).unwrap().described();
                prop_assert_eq!(found, rebuilt(folder.path()), "{:?}", steps);
            }
        }
    }
}
