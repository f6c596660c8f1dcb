//! Any sequence of calls does what a plain map would do, on disk and in memory alike: so the examples of the tools,
//! which run in memory, tell the truth about the disk.

use std::{collections::BTreeMap, sync::Arc};

use lapidary_vault::{
    Change, ContentGuard, File, PathDenied, ReadError, Scope, Vault,
    store::{MemoryStore, StoreError},
};
use proptest::prelude::*;

use crate::scratch::{NO_LIMIT, Scratch, commit, create, deny, listed, vault_path};

#[derive(Clone, Debug)]
enum Step {
    Read {
        path: String,
        limit: u64,
    },
    List {
        folder: String,
    },
    /// Replaces the current content, or an earlier one.
    Write {
        path: String,
        bytes: Vec<u8>,
        expects: Expects,
    },
    Create {
        path: String,
        bytes: Vec<u8>,
    },
}

#[derive(Clone, Copy, Debug)]
enum Expects {
    WhatIsThere,
    SomethingElse,
}

/// The answer to a step, comparable across stores.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Bytes(Result<Vec<u8>, ReadError>),
    Names(Result<Vec<String>, ReadError>),
    Done(Result<(), StoreError>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few names, so that files and folders often want the same place.
    let path = || {
        let name = prop::sample::select(vec!["a", "b", "c.md", "Secret"]);
        prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
    };
    let bytes = || prop::collection::vec(any::<u8>(), 0..6);
    let step = prop_oneof![
        2 => (path(), prop::sample::select(vec![0, 3, NO_LIMIT])).prop_map(|(path, limit)| Step::Read { path, limit }),
        2 => prop_oneof![1 => Just(String::new()), 3 => path()].prop_map(|folder| Step::List { folder }),
        3 => (path(), bytes(), prop::sample::select(vec![Expects::WhatIsThere, Expects::SomethingElse]))
            .prop_map(|(path, bytes, expects)| Step::Write { path, bytes, expects }),
        4 => (path(), bytes()).prop_map(|(path, bytes)| Step::Create { path, bytes }),
    ];
    prop::collection::vec(step, 1..40)
}

fn seen(bytes: &[u8]) -> Arc<File> {
    Arc::new(File { content: bytes.to_vec().into(), modified: None, created: None })
}

/// The content that a write says it expects.
fn expected(model: &Model, path: &str, expects: Expects) -> Vec<u8> {
    let there = model.files.get(path).cloned().unwrap_or_default();
    match expects {
        Expects::WhatIsThere => there,
        Expects::SomethingElse => [&there[..], b"!"].concat(),
    }
}

fn run(vault: &Vault, scope: &Scope, step: &Step, model: &Model) -> Said {
    match step {
        Step::Read { path, limit } => {
            let view = vault.view(Arc::new(scope.clone()), *limit);
            Said::Bytes(view.read(&vault_path(path)).map(|file| file.bytes().to_vec()))
        }
        Step::List { folder } => Said::Names(listed(&vault.view(Arc::new(scope.clone()), NO_LIMIT), folder)),
        Step::Write { path, bytes, expects } => {
            let before = seen(&expected(model, path, *expects));
            let change = Change::Write {
                path: vault_path(path),
                before,
                guard: ContentGuard::Caller,
                content: bytes.clone().into(),
            };
            Said::Done(commit(vault, scope, change))
        }
        Step::Create { path, bytes } => Said::Done(commit(vault, scope, create(path, &**bytes))),
    }
}

#[derive(Default)]
struct Model {
    files: BTreeMap<String, Vec<u8>>,
    scope: Scope,
}

impl Model {
    fn is_folder(&self, path: &str) -> bool {
        self.files.keys().any(|file| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }

    fn is_below_a_file(&self, path: &str) -> bool {
        self.files.keys().any(|file| path.strip_prefix(&**file).is_some_and(|rest| rest.starts_with('/')))
    }

    fn nothing_to_read(&self, path: &str) -> StoreError {
        if self.is_folder(path) { StoreError::IsFolder } else { StoreError::Missing }
    }

    fn run(&mut self, step: &Step) -> Said {
        match step {
            Step::Read { path, limit } => Said::Bytes(self.read(path, *limit)),
            Step::List { folder } => Said::Names(self.list(folder)),
            Step::Write { path, bytes, expects } => Said::Done(self.write(path, bytes, *expects)),
            Step::Create { path, bytes } => Said::Done(self.create(path, bytes)),
        }
    }

    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.scope.may_read(&vault_path(path)).map_err(ReadError::Denied)?;
        let bytes = self.files.get(path).ok_or_else(|| ReadError::Store(self.nothing_to_read(path)))?;
        let size = bytes.len() as u64;
        if size > limit {
            return Err(ReadError::Store(StoreError::TooLarge { bytes: size, limit }));
        }
        Ok(bytes.clone())
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ReadError> {
        let inside = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        if !folder.is_empty() {
            self.scope.may_read(&vault_path(folder)).map_err(ReadError::Denied)?;
            if self.files.contains_key(folder) {
                return Err(ReadError::Store(StoreError::NotAFile));
            }
            if !self.is_folder(folder) {
                return Err(ReadError::Store(StoreError::Missing));
            }
        }
        // By name, as a folder's trailing slash is not part of it.
        let mut names: BTreeMap<String, bool> = BTreeMap::new();
        for below in self.files.keys().filter_map(|file| file.strip_prefix(&inside)) {
            let (name, is_folder) = below.split_once('/').map_or((below, false), |(name, _)| (name, true));
            if self.scope.may_read(&vault_path(&format!("{inside}{name}"))).is_ok() {
                names.insert(format!("{inside}{name}"), is_folder);
            }
        }
        Ok(names.into_iter().map(|(name, is_folder)| if is_folder { name + "/" } else { name }).collect())
    }

    fn write(&mut self, path: &str, bytes: &[u8], expects: Expects) -> Result<(), StoreError> {
        if self.scope.may_write(&vault_path(path)).is_err() {
            return Err(StoreError::Closed);
        }
        let error = self.nothing_to_read(path);
        let there = self.files.get_mut(path).ok_or(error)?;
        match expects {
            Expects::WhatIsThere => *there = bytes.to_vec(),
            Expects::SomethingElse => {
                return Err(StoreError::Changed { found: lapidary_note::ContentHash::of(there) });
            }
        }
        Ok(())
    }

    fn create(&mut self, path: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match path {
            _ if self.scope.may_write(&vault_path(path)).is_err() => return Err(StoreError::Closed),
            _ if self.files.contains_key(path) => return Err(StoreError::Exists),
            _ if self.is_folder(path) => return Err(StoreError::IsFolder),
            _ if self.is_below_a_file(path) => return Err(StoreError::NotAFile),
            _ => self.files.insert(path.to_owned(), bytes.to_vec()),
        };
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn disk_memory_and_a_plain_map_agree(steps in steps(), narrowed in any::<bool>()) {
        let scope = if narrowed { deny(&["secret", "a/b/secret", "b/c.md"]) } else { Scope::default() };
        let scratch = Scratch::fast();
        let memory = Vault::private("memory".to_owned(), Arc::new(MemoryStore::default()));
        let mut model = Model { scope: scope.clone(), ..Model::default() };
        for step in &steps {
            let on_disk = run(&scratch.vault, &scope, step, &model);
            let in_memory = run(&memory, &scope, step, &model);
            let by_map = model.run(step);
            prop_assert_eq!(&on_disk, &by_map, "disk and map, {:?}", step);
            prop_assert_eq!(&in_memory, &by_map, "memory and map, {:?}", step);
        }
        for (path, bytes) in &model.files {
            prop_assert_eq!(&scratch.bytes(path), bytes);
        }
        let files = scratch.everything().into_values().filter(|found| matches!(found, crate::scratch::Found::File(_)));
        prop_assert_eq!(files.count(), model.files.len());
    }
}

/// The sequences above rarely reach it, so it is tested explicitly.
#[test]
fn a_denied_folder_is_denied_on_disk_and_in_memory() {
    let scratch = Scratch::with(&[("secret/a.md", "a")]);
    let memory = MemoryStore::new([(vault_path("secret/a.md"), b"a".to_vec())]);
    let memory = Vault::private("memory".to_owned(), Arc::new(memory));
    for vault in [&scratch.vault, &memory] {
        let view = vault.view(Arc::new(deny(&["secret"])), NO_LIMIT);
        assert_eq!(listed(&view, "secret"), Err(ReadError::Denied(PathDenied::InDenyPaths)));
        assert!(listed(&view, "").unwrap().is_empty());
    }
}
