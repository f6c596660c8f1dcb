//! Where the notes of each vault are drawn. A layout is computed once for a state of the links, on a thread of the lowest priority, so
//! that no call waits for it; after edits it starts from the places before, which are kept in the state folder.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use lapidary_note::ContentHash;
use lapidary_query::{DrawnPoint, LayoutTask, NoteGraph};
use lapidary_vault::store::{CacheFile, maintenance};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::kept_places::KeptPlaces;

/// With more notes a layout takes minutes, so it is made only if the owner wants it.
const MANY_NOTES: usize = 20_000;
/// Larger vaults are shown in words only.
const MOST_NOTES: usize = 200_000;
const MOST_LINKS: usize = 2_000_000;

pub(super) struct LayoutCache {
    kept: Arc<Mutex<HashMap<String, VaultLayout>>>,
    /// Of each vault.
    files: HashMap<String, CacheFile>,
    stopping: watch::Receiver<bool>,
}

#[derive(Default)]
struct VaultLayout {
    drawn: Option<DrawnGraph>,
    /// What the state folder had when it was first asked for; used up by the first layout.
    before: Option<KeptPlaces>,
    work: Option<LayoutWork>,
}

/// A graph with its places.
struct DrawnGraph {
    digest: ContentHash,
    graph: Arc<NoteGraph>,
    places: Arc<[DrawnPoint]>,
}

/// A layout that is being made.
struct LayoutWork {
    digest: ContentHash,
    progress: Arc<LayoutProgress>,
}

#[derive(Default)]
struct LayoutProgress {
    per_cent: AtomicU32,
    /// Another is wanted by now.
    is_obsolete: AtomicBool,
}

#[derive(Debug, PartialEq)]
pub(super) enum LayoutState {
    Ready(Arc<[DrawnPoint]>),
    /// In per cent.
    Working(u32),
    /// It takes long, and the owner has not asked for it.
    NotAsked,
    TooLarge,
    /// The system gives no thread.
    NoThread,
}

impl LayoutCache {
    pub(super) fn new(stopping: watch::Receiver<bool>, files: HashMap<String, CacheFile>) -> Self {
        Self { kept: Arc::default(), files, stopping }
    }

    /// Reads what was kept, the first time that a vault is drawn. Not while others wait.
    fn read_kept(&self, vault: &str) {
        // Two locks rather than one: reading the file must not hold up pages of other vaults.
        let is_known = self.kept.lock().contains_key(vault);
        if let Some(file) = self.files.get(vault).filter(|file| !is_known && file.is_there()) {
            let before = Some(KeptPlaces::load(file));
            self.kept.lock().entry(vault.to_owned()).or_insert(VaultLayout { before, ..VaultLayout::default() });
        }
    }

    /// The places of a graph, or how far they are. Starts to compute them.
    pub(super) fn state(&self, vault: &str, graph: &Arc<NoteGraph>, is_asked: bool) -> LayoutState {
        if graph.notes.len() > MOST_NOTES || graph.links.len() > MOST_LINKS {
            return LayoutState::TooLarge;
        }
        self.read_kept(vault);
        // By content and not by version: an edit that changes no link needs no new layout.
        let digest = graph.digest();
        let mut kept = self.kept.lock();
        let layout = kept.entry(vault.to_owned()).or_default();
        if let Some(drawn) = layout.drawn.as_ref().filter(|drawn| drawn.digest == digest) {
            return LayoutState::Ready(Arc::clone(&drawn.places));
        }
        if let Some(work) = layout.work.as_ref().filter(|work| work.digest == digest) {
            return LayoutState::Working(work.progress.per_cent.load(Ordering::Relaxed));
        }
        // The thread looks at the flag with every step, and ends soon.
        if let Some(work) = layout.work.take() {
            work.progress.is_obsolete.store(true, Ordering::Relaxed);
        }
        // What is drawn now is a better start than what was kept.
        let known = match (&layout.drawn, &layout.before) {
            (Some(drawn), _) => drawn.places_of(graph),
            (None, Some(before)) => before.places_of(graph),
            (None, None) => Vec::new(),
        };
        // The same graph as before this start.
        if layout.drawn.is_none()
            && layout.before.as_ref().is_some_and(|before| before.digest == Some(digest))
            // Complete, or not at all: a note without a place would be drawn in the middle.
            && let Some(places) = known.iter().copied().collect::<Option<Arc<[DrawnPoint]>>>()
        {
            let graph = Arc::clone(graph);
            let drawn = Some(DrawnGraph { digest, graph, places: Arc::clone(&places) });
            *layout = VaultLayout { drawn, ..VaultLayout::default() };
            return LayoutState::Ready(places);
        }
        // After edits it is soon done.
        // Only a first layout of a large vault takes minutes.
        if graph.notes.len() > MANY_NOTES && !is_asked && layout.drawn.is_none() && layout.before.is_none() {
            return LayoutState::NotAsked;
        }
        let progress = Arc::new(LayoutProgress::default());
        layout.work = Some(LayoutWork { digest, progress: Arc::clone(&progress) });
        // Before the thread is started, which takes the same lock at its end.
        drop(kept);
        let (kept, stopping) = (Arc::clone(&self.kept), self.stopping.clone());
        let (own_vault, graph) = (vault.to_owned(), Arc::clone(graph));
        let file = self.files.get(vault).cloned();
        let work = move || {
            // Notes of a folder are drawn near each other.
            let groups: Vec<u32> = graph.notes.iter().map(|note| note.folder).collect();
            let task = LayoutTask { links: &graph.links, groups: &groups, known: &known };
            let places = task.run(&|done| {
                progress.per_cent.store((100.0 * done) as u32, Ordering::Relaxed);
                !progress.is_obsolete.load(Ordering::Relaxed) && !*stopping.borrow()
            });
            // Stopped work leaves its place to the work that it was stopped for.
            // Checked once more, since another layout may have been asked for during the last step.
            let Some(places) = places.filter(|_| !progress.is_obsolete.load(Ordering::Relaxed)) else { return };
            let places: Arc<[DrawnPoint]> = places.into();
            let drawn = DrawnGraph { digest, graph: Arc::clone(&graph), places: Arc::clone(&places) };
            let layout = VaultLayout { drawn: Some(drawn), ..VaultLayout::default() };
            kept.lock().insert(own_vault, layout);
            // After the picture is shown: writing may wait for the disk.
            if let Some(file) = file {
                let paths = graph.notes.iter().map(|note| note.path.as_str());
                let by_path: Vec<(&str, DrawnPoint)> = paths.zip(places.iter().copied()).collect();
                KeptPlaces::save(&file, &digest, &by_path);
            }
        };
        match maintenance::run_aside("graph-layout", work) {
            Ok(()) => LayoutState::Working(0),
            Err(_) => {
                // Or every later request would wait for work that never began.
                self.kept.lock().entry(vault.to_owned()).or_default().work = None;
                LayoutState::NoThread
            }
        }
    }

    /// How far the layout of a vault is, in per cent; `None` if none is being made.
    pub(super) fn progress(&self, vault: &str) -> Option<u32> {
        let kept = self.kept.lock();
        kept.get(vault)?.work.as_ref().map(|work| work.progress.per_cent.load(Ordering::Relaxed))
    }
}

impl KeptPlaces {
    /// Where the notes of a graph were.
    fn places_of(&self, graph: &NoteGraph) -> Vec<Option<DrawnPoint>> {
        graph.notes.iter().map(|note| self.by_path.get(&note.path).copied()).collect()
    }
}

impl DrawnGraph {
    /// Where the notes of another graph were in this one.
    fn places_of(&self, graph: &NoteGraph) -> Vec<Option<DrawnPoint>> {
        let place = |path: &str| self.places.get(self.graph.find(path)? as usize).copied();
        graph.notes.iter().map(|note| place(&note.path)).collect()
    }
}
