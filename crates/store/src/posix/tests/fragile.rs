//! A disk that loses data: synced data survives a power cut, and of the rest any part may. Content is durable when the
//! file was synced, a name when its folder was.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard},
    time::SystemTime,
};

use lapidary_note::ContentHash;

use super::{Random, scenarios::Tree, vault_path};
use crate::{
    VaultPath,
    posix::{
        EntryHandle, FileNumber, FileOperations, InspectedFile, NewPlace, OtherWriters, PlaceCheck, StoreError,
        SwapOutcome,
    },
};

/// What survives of unsynced names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Nothing,
    Everything,
    /// In every folder all up to some moment, as a journal writes it.
    InOrder,
    Anything,
}

pub(super) const CUTS: [Cut; 4] = [Cut::Nothing, Cut::Everything, Cut::InOrder, Cut::Anything];

pub(super) struct Fragile {
    disk: Mutex<Disk>,
    /// Whether the clock works; if not, reading it panics. While it is locked, callers wait.
    pub(super) clock: Mutex<bool>,
}

type Number = u64;

#[derive(Clone, Debug)]
enum Node {
    File(Vec<u8>),
    Folder(BTreeMap<String, Number>),
}

/// Names that changed together: the folder, the name, and the file it now refers to.
type Change = Vec<(Number, String, Option<Number>)>;

#[derive(Clone, Debug)]
struct Disk {
    nodes: BTreeMap<Number, Node>,
    /// The same without unsynced data.
    durable: BTreeMap<Number, Node>,
    unsynced: Vec<Change>,
    /// How many calls it still carries out.
    left: usize,
    calls: usize,
}

const ROOT: Number = 0;

impl Disk {
    fn entries(&self, folder: Number) -> Option<&BTreeMap<String, Number>> {
        match self.nodes.get(&folder)? {
            Node::Folder(entries) => Some(entries),
            Node::File(_) => None,
        }
    }

    fn find(&self, path: &str) -> Option<Number> {
        path.split('/').try_fold(ROOT, |folder, name| self.entries(folder)?.get(name).copied())
    }

    /// The folder of a place, and its name there.
    fn held<'p>(&self, place: &'p VaultPath) -> Result<(Number, &'p str), StoreError> {
        let folder = place.folder().map_or(Some(ROOT), |folder| self.find(folder.as_str()));
        let folder = folder.filter(|&folder| self.entries(folder).is_some()).ok_or(StoreError::Missing)?;
        Ok((folder, place.name()))
    }

    fn at(&self, folder: Number, name: &str) -> Option<Number> {
        self.entries(folder)?.get(name).copied()
    }

    fn add(&mut self, node: Node) -> Number {
        let number = self.nodes.len() as Number;
        self.nodes.insert(number, node.clone());
        // This does not make it findable: only its name does.
        self.durable.insert(number, node);
        number
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.nodes, &change);
        self.unsynced.push(change);
    }

    /// Called before every change; after the last one nothing happens any more.
    fn call(&mut self) -> Result<(), StoreError> {
        self.calls += 1;
        if self.left == 0 {
            return Err(StoreError::VaultGone);
        }
        self.left -= 1;
        Ok(())
    }
}

fn apply(nodes: &mut BTreeMap<Number, Node>, change: &Change) {
    for (folder, name, number) in change {
        if let Some(Node::Folder(entries)) = nodes.get_mut(folder) {
            match number {
                Some(number) => entries.insert(name.clone(), *number),
                None => entries.remove(name),
            };
        }
    }
}

impl Fragile {
    /// Everything is durable.
    pub(super) fn new(tree: &Tree) -> Self {
        let root = BTreeMap::from([(ROOT, Node::Folder(BTreeMap::new()))]);
        let mut disk = Disk { nodes: root.clone(), durable: root, unsynced: Vec::new(), left: usize::MAX, calls: 0 };
        for (path, content) in tree {
            let node = content.clone().map_or_else(|| Node::Folder(BTreeMap::new()), Node::File);
            let number = disk.add(node);
            let place = vault_path(path);
            let (folder, name) = disk.held(&place).unwrap();
            disk.change(vec![(folder, name.to_owned(), Some(number))]);
        }
        disk.durable = disk.nodes.clone();
        disk.unsynced.clear();
        Self { disk: Mutex::new(disk), clock: Mutex::new(true) }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }

    /// Allows this many more calls.
    pub(super) fn dies_after(&self, calls: usize) {
        self.disk().left = calls;
    }

    pub(super) fn is_dead(&self) -> bool {
        self.disk().left == 0
    }

    pub(super) fn calls(&self) -> usize {
        self.disk().calls
    }

    /// For events outside this disk that happen at their own time.
    pub(super) fn call(&self) -> Result<(), StoreError> {
        self.disk().call()
    }

    /// The power is cut, and comes back.
    pub(super) fn cut(&self, cut: Cut, random: &mut Random) {
        let mut disk = self.disk();
        let unsynced = std::mem::take(&mut disk.unsynced);
        let mut stopped: BTreeSet<Number> = BTreeSet::new();
        for change in unsynced {
            let folders = || change.iter().map(|(folder, ..)| *folder);
            let survives = match cut {
                Cut::Nothing => false,
                Cut::Everything => true,
                Cut::Anything => random.below(2) == 0,
                Cut::InOrder => !folders().any(|folder| stopped.contains(&folder)) && random.below(4) > 0,
            };
            if survives {
                apply(&mut disk.durable, &change);
            } else {
                stopped.extend(folders());
            }
        }
        disk.nodes = disk.durable.clone();
        disk.left = usize::MAX;
    }

    pub(super) fn tree(&self) -> Tree {
        fn add(disk: &Disk, folder: Number, above: &str, tree: &mut Tree) {
            for (name, &number) in disk.entries(folder).into_iter().flatten() {
                let path = format!("{above}{name}");
                match &disk.nodes[&number] {
                    Node::File(bytes) => tree.insert(path, Some(bytes.clone())),
                    Node::Folder(_) => {
                        add(disk, number, &format!("{path}/"), tree);
                        tree.insert(path, None)
                    }
                };
            }
        }
        let mut tree = Tree::new();
        add(&self.disk(), ROOT, "", &mut tree);
        tree
    }

    pub(super) fn file(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        let disk = self.disk();
        match disk.find(path).map(|number| &disk.nodes[&number]) {
            Some(Node::File(bytes)) => Ok(bytes.clone()),
            Some(Node::Folder(_)) => Err(StoreError::IsFolder),
            None => Err(StoreError::Missing),
        }
    }

    /// Gives one name up for another that is free.
    fn give(&self, from: (&VaultPath, Option<&str>), to: (&VaultPath, Option<&str>)) -> Result<(), StoreError> {
        let mut disk = self.disk();
        disk.call()?;
        let ((from, old), (to, new)) = (
            disk.held(from.0).map(|(folder, name)| (folder, from.1.unwrap_or(name)))?,
            disk.held(to.0).map(|(folder, name)| (folder, to.1.unwrap_or(name)))?,
        );
        let number = disk.at(from, old).ok_or(StoreError::Missing)?;
        if disk.at(to, new).is_some() {
            return Err(StoreError::Exists);
        }
        disk.change(vec![(from, old.to_owned(), None), (to, new.to_owned(), Some(number))]);
        Ok(())
    }
}

impl FileOperations for Fragile {
    fn now(&self) -> i64 {
        let works = *self.clock.lock().unwrap();
        assert!(works, "there is no clock");
        1_000_000_000_000_000_000
    }

    fn place(&self, path: &VaultPath, _: PlaceCheck<'_>) -> Result<VaultPath, StoreError> {
        self.disk().find(path.as_str()).map(|_| path.clone()).ok_or(StoreError::Missing)
    }

    fn new_place(&self, path: &VaultPath, _: PlaceCheck<'_>) -> Result<NewPlace, StoreError> {
        let disk = self.disk();
        if disk.find(path.as_str()).is_some() {
            return Err(StoreError::Exists);
        }
        let above = std::iter::successors(path.folder(), VaultPath::folder);
        let mut folders: Vec<VaultPath> = above.take_while(|folder| disk.find(folder.as_str()).is_none()).collect();
        folders.reverse();
        Ok(NewPlace { place: path.clone(), folders })
    }

    fn spot(&self, place: &VaultPath) -> Result<EntryHandle, StoreError> {
        self.disk().held(place).map(|_| EntryHandle::named(place.clone()))
    }

    fn stage(&self, spot: &EntryHandle, aside: &str, bytes: &[u8], _: bool) -> Result<FileNumber, StoreError> {
        let mut disk = self.disk();
        disk.call()?;
        let (folder, _) = disk.held(&spot.place)?;
        let half = bytes[..bytes.len() / 2].to_vec();
        let number = disk.add(Node::File(half));
        disk.change(vec![(folder, aside.to_owned(), Some(number))]);
        // Until it is synced, it may exist in part.
        disk.call()?;
        disk.nodes.insert(number, Node::File(bytes.to_vec()));
        disk.call()?;
        disk.durable.insert(number, Node::File(bytes.to_vec()));
        Ok(FileNumber(0, number))
    }

    fn exchange(&self, spot: &EntryHandle, aside: &str, _: &ContentHash) -> Result<SwapOutcome, StoreError> {
        let mut disk = self.disk();
        disk.call()?;
        let (folder, name) = disk.held(&spot.place)?;
        let (new, old) = (disk.at(folder, aside), disk.at(folder, name));
        if new.is_none() || old.is_none() {
            return Err(StoreError::Missing);
        }
        disk.change(vec![(folder, name.to_owned(), new), (folder, aside.to_owned(), old)]);
        Ok(SwapOutcome::Changed)
    }

    fn give_way(&self, spot: &EntryHandle, aside: &str, _: FileNumber) -> Result<(), StoreError> {
        self.exchange(spot, aside, &ContentHash::of(b"")).map(|_| ())
    }

    fn bring(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError> {
        self.give((&spot.place, Some(aside)), (&spot.place, None))
    }

    fn set_aside(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError> {
        self.give((&spot.place, None), (&spot.place, Some(aside)))
    }

    fn inspect(&self, spot: &EntryHandle, aside: Option<&str>, _: u64) -> Result<InspectedFile, StoreError> {
        let place = aside.map_or_else(|| spot.place.clone(), |aside| spot.place.sibling(aside).unwrap());
        let bytes = self.file(place.as_str())?;
        let number = FileNumber(0, self.disk().find(place.as_str()).unwrap());
        Ok(InspectedFile { number, hash: ContentHash::of(&bytes), bytes, held: OtherWriters::Alone(None) })
    }

    fn discard(&self, spot: &EntryHandle, aside: &str) -> Result<(), StoreError> {
        let mut disk = self.disk();
        let (folder, _) = disk.held(&spot.place)?;
        if disk.at(folder, aside).is_some() {
            disk.call()?;
            disk.change(vec![(folder, aside.to_owned(), None)]);
        }
        Ok(())
    }

    fn has_system_trash(&self) -> bool {
        false
    }

    fn trash(&self, _: &EntryHandle, _: &str, _: SystemTime) -> Result<(), StoreError> {
        Err(StoreError::NotPermitted)
    }

    fn rename(&self, from: &EntryHandle, to: &EntryHandle) -> Result<(), StoreError> {
        self.give((&from.place, None), (&to.place, None))
    }

    fn make_folder(&self, place: &VaultPath) -> Result<bool, StoreError> {
        let mut disk = self.disk();
        disk.call()?;
        let (folder, name) = disk.held(place)?;
        if disk.at(folder, name).is_some() {
            return Ok(false);
        }
        let number = disk.add(Node::Folder(BTreeMap::new()));
        disk.change(vec![(folder, name.to_owned(), Some(number))]);
        Ok(true)
    }

    fn remove_folder(&self, place: &VaultPath) -> Result<(), StoreError> {
        let mut disk = self.disk();
        let Ok((folder, name)) = disk.held(place) else { return Ok(()) };
        let is_empty = |number| disk.entries(number).is_some_and(BTreeMap::is_empty);
        if disk.at(folder, name).is_some_and(is_empty) {
            disk.call()?;
            disk.change(vec![(folder, name.to_owned(), None)]);
        }
        Ok(())
    }

    fn sync(&self, spot: &EntryHandle) -> Result<(), StoreError> {
        let mut disk = self.disk();
        disk.call()?;
        let (folder, _) = disk.held(&spot.place)?;
        // A change that concerns two folders brings along earlier changes in the other.
        let mut folders = BTreeSet::from([folder]);
        let (mut synced, mut unsynced) = (Vec::new(), Vec::new());
        for change in std::mem::take(&mut disk.unsynced).into_iter().rev() {
            if change.iter().any(|(at, ..)| folders.contains(at)) {
                folders.extend(change.iter().map(|(at, ..)| *at));
                synced.push(change);
            } else {
                unsynced.push(change);
            }
        }
        disk.unsynced = unsynced.into_iter().rev().collect();
        for change in synced.iter().rev() {
            apply(&mut disk.durable, change);
        }
        Ok(())
    }
}
