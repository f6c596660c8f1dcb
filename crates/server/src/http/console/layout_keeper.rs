//! Where the notes of each vault are drawn. A layout is computed once for a state of the links, on a thread of the lowest priority, so
//! that no call waits for it; after edits it starts from the places before.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use lapidary_note::ContentHash;
use lapidary_query::{DrawnPoint, LayoutTask, NoteGraph};
use lapidary_vault::store::maintenance;
use parking_lot::Mutex;
use tokio::sync::watch;

/// With more notes a layout takes minutes, so it is made only if the owner wants it.
const MANY_NOTES: usize = 20_000;
/// Larger vaults are shown in words only.
const MOST_NOTES: usize = 200_000;
const MOST_LINKS: usize = 2_000_000;

pub(super) struct LayoutKeeper {
    kept: Arc<Mutex<HashMap<String, VaultLayout>>>,
    stopping: watch::Receiver<bool>,
}

#[derive(Default)]
struct VaultLayout {
    drawn: Option<DrawnGraph>,
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

impl LayoutKeeper {
    pub(super) fn new(stopping: watch::Receiver<bool>) -> Self {
        Self { kept: Arc::default(), stopping }
    }

    /// The places of a graph, or how far they are. Starts to compute them.
    pub(super) fn state(&self, vault: &str, graph: &Arc<NoteGraph>, is_asked: bool) -> LayoutState {
        if graph.notes.len() > MOST_NOTES || graph.links.len() > MOST_LINKS {
            return LayoutState::TooLarge;
        }
        let digest = graph.digest();
        let mut kept = self.kept.lock();
        let layout = kept.entry(vault.to_owned()).or_default();
        if let Some(drawn) = layout.drawn.as_ref().filter(|drawn| drawn.digest == digest) {
            return LayoutState::Ready(Arc::clone(&drawn.places));
        }
        if let Some(work) = layout.work.as_ref().filter(|work| work.digest == digest) {
            return LayoutState::Working(work.progress.per_cent.load(Ordering::Relaxed));
        }
        if let Some(work) = layout.work.take() {
            work.progress.is_obsolete.store(true, Ordering::Relaxed);
        }
        // After edits it is soon done.
        if graph.notes.len() > MANY_NOTES && !is_asked && layout.drawn.is_none() {
            return LayoutState::NotAsked;
        }
        let known = layout.drawn.as_ref().map(|drawn| drawn.places_of(graph)).unwrap_or_default();
        let progress = Arc::new(LayoutProgress::default());
        layout.work = Some(LayoutWork { digest, progress: Arc::clone(&progress) });
        drop(kept);
        let (kept, stopping) = (Arc::clone(&self.kept), self.stopping.clone());
        let (own_vault, graph) = (vault.to_owned(), Arc::clone(graph));
        let work = move || {
            let groups: Vec<u32> = graph.notes.iter().map(|note| note.folder).collect();
            let task = LayoutTask { links: &graph.links, groups: &groups, known: &known };
            let places = task.run(&|done| {
                progress.per_cent.store((100.0 * done) as u32, Ordering::Relaxed);
                !progress.is_obsolete.load(Ordering::Relaxed) && !*stopping.borrow()
            });
            let mut kept = kept.lock();
            let layout = kept.entry(own_vault).or_default();
            // Stopped work leaves its place to the work that it was stopped for.
            if let Some(places) = places.filter(|_| !progress.is_obsolete.load(Ordering::Relaxed)) {
                *layout = VaultLayout { drawn: Some(DrawnGraph { digest, graph, places: places.into() }), work: None };
            }
        };
        match maintenance::run_aside("graph-layout", work) {
            Ok(()) => LayoutState::Working(0),
            Err(_) => {
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

impl DrawnGraph {
    /// Where the notes of another graph were in this one.
    fn places_of(&self, graph: &NoteGraph) -> Vec<Option<DrawnPoint>> {
        let place = |path: &str| self.places.get(self.graph.find(path)? as usize).copied();
        graph.notes.iter().map(|note| place(&note.path)).collect()
    }
}
