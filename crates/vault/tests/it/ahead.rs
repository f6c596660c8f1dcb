//! Plans on top of plans: reads, listings and the index show them as if they had been made, and one change set makes
//! them.

use std::{collections::BTreeMap, sync::Arc};

use lapidary_vault::{
    Change, ChangeSet, ContentGuard, Scope, TrashKind, Vault, VaultPath, View,
    store::{ChangeOrigin, MemoryStore},
};
use proptest::prelude::*;

use crate::scratch::{NO_LIMIT, vault_path};

#[derive(Clone, Debug)]
enum Step {
    Put(&'static str, String),
    Move(&'static str, &'static str),
    MoveFolder(&'static str, &'static str),
    Delete(&'static str),
    Trash(&'static str),
}

const FILES: [&str; 7] = ["a.md", "b.md", "f/a.md", "f/d.md", "g/e.md", "h/i/j.md", "t.md"];
const FOLDERS: [&str; 4] = ["f", "g", "h", "k"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let file = || prop::sample::select(FILES.to_vec());
    let folder = || prop::sample::select(FOLDERS.to_vec());
    let text = (0..4_usize, file()).prop_map(|(number, to)| format!("{number} [[{to}]] #t{number}\n"));
    let step = prop_oneof![
        4 => (file(), text).prop_map(|(path, text)| Step::Put(path, text)),
        4 => (file(), file()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (folder(), folder()).prop_map(|(from, to)| Step::MoveFolder(from, to)),
        2 => file().prop_map(Step::Delete),
        1 => file().prop_map(Step::Trash),
    ];
    prop::collection::vec(step, 1..12)
}

/// The change that a tool would plan on a view; `None` if it would refuse.
fn planned(view: &View, step: &Step) -> Option<Change> {
    let there = |path: &VaultPath| view.read(path).ok();
    let guard = ContentGuard::Plan;
    match step {
        Step::Put(path, text) => {
            let (path, bytes) = (vault_path(path), text.clone().into_bytes());
            match there(&path) {
                Some(before) if before.bytes() == bytes => None,
                Some(before) => Some(Change::Write { path, before, guard, content: bytes.into() }),
                None => Some(Change::Create { path, content: bytes.into() }),
            }
        }
        Step::Move(from, to) => {
            let (from, to) = (vault_path(from), vault_path(to));
            let before = Some(there(&from)?);
            there(&to).is_none().then_some(Change::Move { from, to, before, guard, content: None })
        }
        Step::MoveFolder(from, to) => {
            let (from, to) = (vault_path(from), vault_path(to));
            let files = view.files(&|| true).unwrap();
            let free = files.find_folder(&to).is_none() && !to.is_within(&from);
            let filled = files.below(Some(&from)).next().is_some();
            (free && filled).then_some(Change::MoveFolder { from, to })
        }
        Step::Delete(path) => {
            let path = vault_path(path);
            Some(Change::Delete { before: there(&path)?, path, guard })
        }
        Step::Trash(path) => {
            let path = vault_path(path);
            Some(Change::Trash { before: Some(there(&path)?), path, guard, trash: TrashKind::InVault })
        }
    }
}

/// All files of a view with their bytes, by the index and by reading.
fn files(view: &View) -> BTreeMap<String, Vec<u8>> {
    let notes = view.notes(&|| true).unwrap();
    let read = |path: &VaultPath| view.read(path).unwrap().bytes().to_vec();
    notes.iter().map(|entry| (entry.path().to_string(), read(entry.path()))).collect()
}

/// What the index contains for every note: its tags, and its backlinks.
fn known(view: &View) -> Vec<String> {
    let notes = view.notes(&|| true).unwrap();
    let one = |path: &VaultPath| {
        let tags: Vec<String> = notes.digest(path).unwrap().tags().map(|tag| tag.name.to_owned()).collect();
        let from: Vec<String> = notes.backlinks(path).iter().map(|link| link.source.to_string()).collect();
        format!("{path} {tags:?} {from:?} {:?}", notes.mentioning(path))
    };
    notes.iter().map(|entry| one(entry.path())).collect()
}

/// The contents of folders; empty ones stay on a disk but not in a plan.
fn listed(view: &View) -> Vec<String> {
    let list = |folder: Option<&VaultPath>| view.list(folder).unwrap_or_default();
    let shown = |folder: Option<&str>| {
        let folder = folder.map(vault_path);
        let entries = list(folder.as_ref()).into_iter();
        entries.map(|entry| entry.path).filter(|path| path.is_note()).map(|path| path.to_string()).collect::<Vec<_>>()
    };
    [None, Some("f"), Some("g"), Some("h"), Some("h/i"), Some("k")].into_iter().flat_map(shown).collect()
}

fn view(vault: &Vault) -> View {
    vault.view(Arc::new(Scope::default()), NO_LIMIT)
}

proptest! {
    #[test]
    fn what_is_planned_is_what_is_made(steps in steps()) {
        let start = ["a.md", "b.md", "f/a.md", "f/d.md", "g/e.md"];
        let store = start.map(|path| (vault_path(path), format!("start of [[{path}]]\n").into_bytes()));
        let vault = Vault::private("v".into(), Arc::new(MemoryStore::new(store)));
        let base = view(&vault);
        let mut ahead = base.with(&ChangeSet::default());
        let mut all = ChangeSet::default();
        for (number, step) in steps.iter().enumerate() {
            // Some steps ask the index, which takes in what came since, and some do not.
            if number % 3 == 1 {
                known(&ahead);
            }
            let Some(change) = planned(&ahead, step) else { continue };
            let change = ChangeSet::one(change);
            if all.join(change.clone(), |folder| base.had_folder(folder)).is_ok() {
                ahead = if number % 2 == 0 { ahead.then(&change) } else { ahead.with(&change) };
            }
        }
        let (planned, planned_index, planned_lists) = (files(&ahead), known(&ahead), listed(&ahead));
        let origin = ChangeOrigin { tool: "t".into(), client: "c".into(), time: std::time::UNIX_EPOCH, approval: None, call: None, restores: false };
        let turn = vault.turn(&|| true).unwrap();
        let made = turn.commit(&all, &Scope::default(), &origin);
        prop_assert!(made.is_ok(), "{made:?}: {all:?}");
        drop(turn);
        let after = view(&vault);
        prop_assert_eq!(planned, files(&after));
        prop_assert_eq!(planned_index, known(&after));
        prop_assert_eq!(planned_lists, listed(&after));
    }
}
