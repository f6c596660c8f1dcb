//! The part of a snapshot that a caller may see. Everything that leaves the index leaves it here.

use std::{borrow::Cow, collections::HashMap, sync::Arc, time::SystemTime};

use lapidary_note::{ChargeAside, LinkKind, count_steps, shown_text};
use lapidary_query::Pattern;
use rayon::prelude::*;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::{
    digest::{Digest, LinkDigest},
    file::{FileId, FileState},
    live::{IndexError, VaultIndex},
    mention::MayMention,
    names::{NameKey, mention_key},
    planned_index::PlannedIndex,
    snapshot::Snapshot,
    text_table::TextTable,
    texts::{GoOn, TextDemand, TextSource},
};
use lapidary_store::{EntryKind, FolderEntry};

use crate::{
    Scope, VaultPath,
    links::{self, FileNames},
    scan::{self, ScanBudget, ScanResult, ScanWindow, SearchedText, SeenLines, scan},
};

/// Which files a scope shows, by number. The path of a number never changes, so its answer never does.
#[derive(Debug, Default)]
pub(super) struct VisibleSet {
    bits: Vec<u64>,
    /// Files from this number on have not been checked.
    known: FileId,
}

impl VisibleSet {
    fn shows(&self, id: FileId) -> bool {
        self.bits.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    fn learn(&self, scope: &Scope, snapshot: &Snapshot) -> Self {
        let mut bits = self.bits.clone();
        let words = snapshot.next_id() as usize / 64 + 1;
        // Without rules, no path has to be compared.
        if scope.shows_all_of_the_index() {
            return Self { bits: vec![u64::MAX; words], known: snapshot.next_id() };
        }
        bits.resize(words, 0);
        for state in snapshot.files_from_id(self.known) {
            // By the path alone, never by content, so the answer holds as long as the number does.
            bits[state.id as usize / 64] |= u64::from(scope.may_read(&state.path).is_ok()) << (state.id % 64);
        }
        Self { bits, known: snapshot.next_id() }
    }
}

/// Recently used scopes, latest first, and what each shows.
#[derive(Debug, Default)]
pub(super) struct VisibleSets(Vec<(Arc<Scope>, Arc<VisibleSet>)>);

/// How many callers with their own scopes are remembered.
const REMEMBERED: usize = 64;

impl VisibleSets {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the latest scope shows, if it is this one.
    pub(super) fn latest(&self, scope: &Arc<Scope>) -> Option<Arc<VisibleSet>> {
        let (known, visible) = self.0.first()?;
        Arc::ptr_eq(known, scope).then(|| Arc::clone(visible))
    }

    /// What a scope shows, which becomes the latest: frequent users are not evicted by one-time ones.
    pub(super) fn known(&mut self, scope: &Arc<Scope>) -> Option<Arc<VisibleSet>> {
        let at = self.0.iter().position(|(known, _)| Arc::ptr_eq(known, scope))?;
        self.0[..=at].rotate_right(1);
        self.latest(scope)
    }

    /// It becomes the latest, and the least recently used one is evicted.
    pub(super) fn remember(&mut self, scope: &Arc<Scope>, visible: &Arc<VisibleSet>) {
        self.0.retain(|(known, _)| !Arc::ptr_eq(known, scope));
        self.0.truncate(REMEMBERED - 1);
        self.0.insert(0, (Arc::clone(scope), Arc::clone(visible)));
    }
}

impl VaultIndex {
    /// Which files of a snapshot a scope shows.
    fn visible(&self, scope: &Arc<Scope>, snapshot: &Snapshot) -> Arc<VisibleSet> {
        let known = self.known_visible(scope);
        match known {
            Some(visible) if visible.known == snapshot.next_id() => visible,
            // An older state is used, whose files may be missing in the newer one.
            // Not remembered: it would displace the newer state that other callers use.
            Some(visible) if visible.known > snapshot.next_id() => {
                Arc::new(VisibleSet::default().learn(scope, snapshot))
            }
            known => {
                let visible = Arc::new(known.unwrap_or_default().learn(scope, snapshot));
                self.remember_visible(scope, &visible);
                visible
            }
        }
    }
}

/// For the files that Obsidian shows, and for none.
const ENDINGS: [&str; 19] = [
    "", ".md", ".canvas", ".base", ".txt", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".mp3", ".m4a",
    ".wav", ".mp4", ".webm", ".csv", ".json",
];

/// The files of a vault at one moment that the caller may see.
#[derive(Clone)]
pub struct VisibleFiles {
    snapshot: Arc<Snapshot>,
    visible: Arc<VisibleSet>,
    scope: Arc<Scope>,
    live: Arc<VaultIndex>,
    /// The texts of changes that may never be made.
    planned: Option<TextTable>,
}

/// The same, with the structure of each note.
#[derive(Clone)]
pub struct VisibleNotes(VisibleFiles);

/// One file.
#[derive(Clone, Copy)]
pub struct FileEntry<'s>(pub(crate) &'s Arc<FileState>);

/// A link to a note from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlink<'s> {
    pub source: &'s VaultPath,
    pub link: LinkDigest<'s>,
}

impl<'s> FileEntry<'s> {
    /// The file state of this entry.
    pub fn state(&self) -> &'s Arc<FileState> {
        self.0
    }

    pub fn path(&self) -> &'s VaultPath {
        &self.0.path
    }

    pub fn bytes(&self) -> u64 {
        self.0.stat.stamp.size
    }

    pub fn modified(&self) -> SystemTime {
        self.0.stat.modified()
    }

    pub fn created(&self) -> Option<SystemTime> {
        self.0.stat.created()
    }

    pub fn is_note(&self) -> bool {
        self.0.path.is_note()
    }

    /// A note or a canvas.
    pub fn is_searched(&self) -> bool {
        self.0.path.is_searched()
    }
}

/// Notes whose structure is looked at between two questions whether to go on.
const NOTES_AT_ONCE: usize = 512;

/// What a file counts that is looked at: so every walk over all files can be stopped.
const FILE_STEPS: usize = 16;

impl VisibleFiles {
    pub fn new(live: Arc<VaultIndex>, scope: Arc<Scope>, snapshot: Arc<Snapshot>) -> Self {
        let visible = live.visible(&scope, &snapshot);
        Self { snapshot, visible, scope, live, planned: None }
    }

    /// Of a snapshot with planned changes. Its results are not cached, because the numbers of its new files will be
    /// reused.
    pub fn ahead(live: Arc<VaultIndex>, scope: Arc<Scope>, index: PlannedIndex) -> Self {
        let PlannedIndex { base, now: snapshot, planned, .. } = index;
        // Learnt on top of the vault's own state, so only planned files have to be checked.
        let visible = Arc::new(live.visible(&scope, &base).learn(&scope, &snapshot));
        Self { snapshot, visible, scope, live, planned: Some(planned) }
    }

    /// Where these files are read from.
    pub fn source(&self) -> TextSource<'_> {
        self.live.source_with(self.live.texts(), self.planned.clone().unwrap_or_default())
    }

    /// The same, after loading as many of their texts as fit.
    fn loaded(&self, states: &[Arc<FileState>], go_on: GoOn<'_>) -> TextSource<'_> {
        let planned = self.planned.clone().unwrap_or_default();
        self.live.source_with(self.live.load_texts(states, &planned, go_on), planned)
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    pub fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// The index that these files were taken from.
    pub fn live(&self) -> &Arc<VaultIndex> {
        &self.live
    }

    pub fn is_planned(&self) -> bool {
        self.planned.is_some()
    }

    pub fn shows(&self, id: FileId) -> bool {
        self.visible.shows(id)
    }

    /// All files, in path order.
    pub fn iter(&self) -> impl Iterator<Item = FileEntry<'_>> {
        let files = self.snapshot.files().inspect(|_| count_steps(FILE_STEPS));
        files.filter(|state| self.visible.shows(state.id)).map(FileEntry)
    }

    /// The files in a folder and below it, in path order; `None` is the vault root.
    pub fn below<'s>(&'s self, folder: Option<&VaultPath>) -> Box<dyn Iterator<Item = FileEntry<'s>> + 's> {
        match folder {
            None => Box::new(self.iter()),
            Some(folder) => {
                // Counted for hidden files, too: a long walk over them must be stoppable.
                let files = self.snapshot.files_below(folder).inspect(|_| count_steps(FILE_STEPS));
                Box::new(files.filter(|state| self.visible.shows(state.id)).map(FileEntry))
            }
        }
    }

    /// The canvases and bases, in path order.
    pub fn other_sources(&self) -> impl Iterator<Item = FileEntry<'_>> {
        self.snapshot.other_sources().filter(|state| self.visible.shows(state.id)).map(FileEntry)
    }

    /// The folders in a folder and below it, in path order. Including empty ones, unless only some of their possible
    /// contents are open: their names then must not be revealed.
    pub fn folders_below<'s>(&'s self, folder: Option<&VaultPath>) -> Box<dyn Iterator<Item = &'s VaultPath> + 's> {
        let shown = |folder: &&VaultPath| self.shows_folder(folder);
        match folder {
            None => Box::new(self.snapshot.folders().filter(shown)),
            Some(folder) => Box::new(self.snapshot.folders_below(folder).filter(shown)),
        }
    }

    pub fn get(&self, path: &VaultPath) -> Option<FileEntry<'_>> {
        self.snapshot.file(path).filter(|state| self.visible.shows(state.id)).map(FileEntry)
    }

    /// The same, also if accented letters are stored in the other encoding.
    pub fn find(&self, path: &VaultPath) -> Option<FileEntry<'_>> {
        let same = |state: &&Arc<FileState>| state.path.as_str().nfc().eq(path.as_str().nfc());
        let other = || {
            self.snapshot
                // By name rather than through the folder: a walk takes longer the more is hidden in it.
                .named(&links::folded_name(path.name()))
                .filter(same)
                .find(|state| self.visible.shows(state.id))
        };
        self.get(path).or_else(|| other().map(FileEntry))
    }

    /// The files that match a path or the end of one, in path order: in any case, with or without the extension of a
    /// note. A full path wins over the end of others.
    pub fn meant_by(&self, name: &str) -> Vec<&VaultPath> {
        let Some(keys) = links::keys(name) else { return Vec::new() };
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = links::folded_name(folder);
        let (mut whole, mut ending): (Vec<&VaultPath>, Vec<&VaultPath>) = (Vec::new(), Vec::new());
        // As written, and with the extension of a note, which links leave out.
        for path in self.named(keys.as_written()).chain(self.named(keys.as_note())) {
            let own = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
            let own = links::folded_name(own);
            match own.strip_suffix(&*folder) {
                Some("") => whole.push(path),
                Some(front) if folder.is_empty() || front.ends_with('/') => ending.push(path),
                _ => {}
            }
        }
        let mut found = if whole.is_empty() { ending } else { whole };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Files in the same folder whose names differ from that of a path only in case or extension, in path order. They
    /// are looked up by name: scanning the folder would take longer the more hidden files it has.
    pub fn similar(&self, path: &VaultPath) -> Vec<VaultPath> {
        let name = path.name();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let others = ENDINGS.iter().flat_map(|ending| [format!("{stem}{ending}"), format!("{name}{ending}")]);
        let folder = path.folder();
        let letters = |folder: Option<VaultPath>| folder.map(|folder| folder.as_str().nfc().collect::<String>());
        let folder = letters(folder);
        let mut found: Vec<VaultPath> = others
            .chain([name.to_owned()])
            .flat_map(|name| self.snapshot.named(&links::folded_name(&name)))
            .filter(|state| self.visible.shows(state.id) && letters(state.path.folder()) == folder)
            .map(|state| state.path.clone())
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// Searches lines in all notes below a folder, in path order; with `from`, in those from this path on, and in the
    /// note itself from this line on. Works even before the notes are indexed.
    pub fn scan(
        &self,
        pattern: &Pattern,
        below: Option<&VaultPath>,
        from: Option<(&VaultPath, usize)>,
        mut window: ScanWindow,
        budget: &ScanBudget<'_>,
    ) -> ScannedNotes {
        let notes = self.below(below).filter(FileEntry::is_note);
        let states: Vec<Arc<FileState>> = notes.map(|entry| Arc::clone(entry.0)).collect();
        if let Some((path, line)) = from {
            // The states are in path order.
            window.start = states.partition_point(|state| state.path < *path);
            // If it is gone, the next one is searched from its start.
            let is_there = states.get(window.start).is_some_and(|state| state.path == *path);
            window.skip = if is_there { SeenLines::LinesBefore(line) } else { SeenLines::Matches(0) };
        }
        // With a budget, only texts within it are worth loading, and these are found on the way.
        let source = if budget.max_files.is_none() && budget.max_bytes.is_none() {
            self.loaded(states.get(window.start..).unwrap_or_default(), &|| (budget.go_on)().is_none())
        } else {
            self.source()
        };
        let texts = NoteTexts { source, states };
        let scanned = scan(&texts, pattern, window, budget);
        ScannedNotes { scanned, states: texts.states }
    }

    /// Applies `look` to the texts of all notes, on all cores, in path order. Unreadable notes are skipped.
    pub fn map_texts<T: Send>(
        &self,
        go_on: GoOn<'_>,
        look: impl Fn(FileEntry<'_>, &[u8]) -> Option<T> + Sync,
    ) -> Result<Vec<T>, IndexError> {
        self.map_texts_of(VaultPath::is_note, go_on, look)
    }

    /// The same of other files.
    pub fn map_texts_of<T: Send>(
        &self,
        wanted: impl Fn(&VaultPath) -> bool,
        go_on: GoOn<'_>,
        look: impl Fn(FileEntry<'_>, &[u8]) -> Option<T> + Sync,
    ) -> Result<Vec<T>, IndexError> {
        self.map_texts_in(self.iter().filter(|entry| wanted(entry.path())), go_on, look)
    }

    fn map_texts_in<'s, T: Send>(
        &self,
        files: impl Iterator<Item = FileEntry<'s>>,
        go_on: GoOn<'_>,
        look: impl Fn(FileEntry<'_>, &[u8]) -> Option<T> + Sync,
    ) -> Result<Vec<T>, IndexError> {
        let states: Vec<Arc<FileState>> = files.map(|entry| Arc::clone(entry.0)).collect();
        let source = self.loaded(&states, go_on);
        let aside = ChargeAside::of_this_thread();
        let one = |state: &Arc<FileState>| {
            // An error is what ends a parallel walk early.
            if !go_on() {
                return Err(IndexError::Stopped);
            }
            Ok(aside.charge(|| source.text(state).and_then(|text| look(FileEntry(state), &text))))
        };
        let found: Vec<Option<T>> = states.par_iter().map(one).collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// A folder as spelt on disk, which may be in the other encoding of accented letters.
    pub fn find_folder(&self, folder: &VaultPath) -> Option<VaultPath> {
        if self.snapshot.has_folder(folder) {
            return self.shows_folder(folder).then(|| folder.clone());
        }
        let same = |found: &&VaultPath| found.as_str().nfc().eq(folder.as_str().nfc());
        self.snapshot.folders_like(folder).filter(same).find(|found| self.shows_folder(found)).cloned()
    }

    /// What is in the folder of a path under its name, or under one that differs in nothing but case and the form of
    /// letters. Looked up by name: a walk through the folder would take longer the more is hidden in it.
    pub fn named_like(&self, path: &VaultPath) -> Vec<FolderEntry> {
        let folded = links::folded_name(path.name());
        let is_like =
            |found: &&VaultPath| found.folder() == path.folder() && links::folded_name(found.name()) == folded;
        let entry = |kind| move |path: &VaultPath| FolderEntry { path: path.clone(), kind };
        let files = self.named(&folded).filter(is_like).map(entry(EntryKind::File));
        let folders = self.snapshot.folders_like(path).filter(is_like).filter(|folder| self.shows_folder(folder));
        files.chain(folders.map(entry(EntryKind::Folder))).collect()
    }

    /// The file that a link in this note leads to, as Obsidian finds it among the files that the caller may see.
    pub fn resolve<'n>(&'n self, target: &str, source: &'n VaultPath) -> Option<&'n VaultPath> {
        let composed = if is_nfc(target) { Cow::Borrowed(target) } else { Cow::Owned(target.nfc().collect()) };
        links::resolve(self, &composed, source)
    }

    fn shown_mentioning<'n>(&'n self, target: &VaultPath) -> impl Iterator<Item = &'n Arc<FileState>> {
        self.snapshot.mentioning(target).filter(|state| self.visible.shows(state.id))
    }

    /// The notes with a link to a file, including itself, in path order. Only those that have been read.
    pub(crate) fn linking_to(&self, target: &VaultPath) -> Vec<&VaultPath> {
        let mut leads_here = LeadsHere::to(self, target);
        let mut sources: Vec<&VaultPath> = Vec::new();
        for state in self.shown_mentioning(target) {
            let links = digest_of(state).into_iter().flat_map(|digest| digest.links());
            // Obsidian counts neither reference links nor links of a note into itself.
            let mut links = links.filter(|link| link.kind != LinkKind::Reference && !link.target.is_empty());
            if links.any(|link| leads_here.asked(link.target, &state.path)) {
                sources.push(&state.path);
            }
        }
        sources.sort_unstable();
        sources
    }

    /// The links to a file from other notes, in note order, including reference links. Of the notes that have not been
    /// read since they changed, only those that may mention it are.
    pub fn find_backlinks(&self, target: &VaultPath, go_on: GoOn<'_>) -> Result<Vec<Backlink<'_>>, IndexError> {
        let mut sources: Vec<&Arc<FileState>> = self.mentioning_states(target).collect();
        if self.snapshot.is_indexed() {
            return Ok(self.links_to(target, sources));
        }
        // Texts are searched for the name first: parsing all of them would take far longer.
        let (mention, pending) = (MayMention::of(target), self.snapshot.pending());
        let pending = pending.iter().filter(|state| self.visible.shows(state.id)).map(FileEntry);
        let found =
            self.map_texts_in(pending, go_on, |entry, text| mention.is_in(text).then(|| Arc::clone(entry.0)))?;
        let unknown: Vec<Arc<FileState>> = found.iter().filter(|state| state.digest().is_none()).cloned().collect();
        if self.source().digest(&unknown, TextDemand::AnyState, go_on).stopped {
            return Err(IndexError::Stopped);
        }
        let others = found.iter().filter(|state| state.path != *target);
        // In the state of this snapshot, which may be older than the file that was just read.
        sources.extend(others.filter_map(|state| self.snapshot.by_id(state.id)));
        Ok(self.links_to(target, sources))
    }

    /// The other canvases that may mention a file, in path order, with their texts.
    pub fn canvases_mentioning(
        &self,
        target: &VaultPath,
        go_on: GoOn<'_>,
    ) -> Result<Vec<(VaultPath, String)>, IndexError> {
        let mention = MayMention::of(target);
        let canvases = self.other_sources().filter(|entry| entry.path().is_canvas());
        self.map_texts_in(canvases, go_on, |entry, text| {
            let is_other = entry.path() != target && mention.is_in(text);
            is_other.then(|| (entry.path().clone(), String::from_utf8_lossy(text).into_owned()))
        })
    }

    /// The current text of a file, as callers see it.
    pub fn shown_text(&self, path: &VaultPath) -> Option<String> {
        let text = self.source().text(self.get(path)?.0)?;
        Some(shown_text(&text).into_owned())
    }

    /// Whether every note has been read.
    pub fn is_indexed(&self) -> bool {
        self.snapshot.is_indexed()
    }

    fn mentioning_states<'n>(&'n self, target: &VaultPath) -> impl Iterator<Item = &'n Arc<FileState>> {
        self.shown_mentioning(target).filter(move |state| state.path != *target)
    }

    /// The links to a file among those of some notes.
    fn links_to<'n>(&'n self, target: &VaultPath, mut sources: Vec<&'n Arc<FileState>>) -> Vec<Backlink<'n>> {
        sources.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut leads_here = LeadsHere::to(self, target);
        let mut found = Vec::new();
        for state in sources {
            for link in digest_of(state).into_iter().flat_map(|digest| digest.links()) {
                if leads_here.asked(link.target, &state.path) {
                    found.push(Backlink { source: &state.path, link });
                }
            }
        }
        found
    }

    fn shows_folder(&self, folder: &VaultPath) -> bool {
        // A folder that a rule closes is shown if something in it is open: without it, the way there would be
        // missing.
        let open = || self.scope.may_read(folder).is_ok() || self.below(Some(folder)).next().is_some();
        self.scope.may_enter(folder).is_ok() && open()
    }
}

/// The texts of notes, from memory or from the disk.
struct NoteTexts<'l> {
    source: TextSource<'l>,
    states: Vec<Arc<FileState>>,
}

impl scan::ScanSource for NoteTexts<'_> {
    fn count(&self) -> usize {
        self.states.len()
    }

    fn text(&self, index: usize) -> Option<SearchedText> {
        let state = self.states.get(index)?;
        self.source.text(state).map(SearchedText::new)
    }
}

/// What was found in which notes.
pub struct ScannedNotes {
    scanned: ScanResult,
    states: Vec<Arc<FileState>>,
}

impl std::ops::Deref for ScannedNotes {
    type Target = ScanResult;

    fn deref(&self) -> &ScanResult {
        &self.scanned
    }
}

impl ScannedNotes {
    /// The note for a number in the result.
    pub fn path(&self, number: usize) -> Option<&VaultPath> {
        self.states.get(number).map(|state| &state.path)
    }
}

impl std::ops::Deref for VisibleNotes {
    type Target = VisibleFiles;

    fn deref(&self) -> &VisibleFiles {
        &self.0
    }
}

impl VisibleNotes {
    pub fn new(files: VisibleFiles) -> Self {
        Self(files)
    }

    /// All notes, in path order, and their structure.
    pub fn notes(&self) -> impl Iterator<Item = (FileEntry<'_>, Digest<'_>)> {
        self.iter().filter_map(|entry| Some((entry, digest_of(entry.0)?)))
    }

    pub fn digest(&self, path: &VaultPath) -> Option<Digest<'_>> {
        digest_of(self.get(path)?.0)
    }

    /// Applies `look` to the structure of all notes below a folder, on all cores, in path order.
    pub fn map_notes<'s, T: Send>(
        &'s self,
        below: Option<&VaultPath>,
        go_on: GoOn<'_>,
        look: impl Fn(FileEntry<'s>, Digest<'s>) -> Option<T> + Sync,
    ) -> Result<Vec<T>, IndexError> {
        let states: Vec<&Arc<FileState>> = self.below(below).map(|entry| entry.0).collect();
        let aside = ChargeAside::of_this_thread();
        let some = |states: &[&'s Arc<FileState>]| {
            // An error is what ends a parallel walk early.
            if !go_on() {
                return Err(IndexError::Stopped);
            }
            let found = |state: &&'s Arc<FileState>| look(FileEntry(state), digest_of(state)?);
            Ok(aside.charge(|| states.iter().filter_map(found).collect::<Vec<T>>()))
        };
        let found: Vec<Vec<T>> = states.par_chunks(NOTES_AT_ONCE).map(some).collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The other notes that mention a file by its name, in path order: all that link to it, including definitions of
    /// reference links, and some that link to another file of that name.
    pub fn mentioning(&self, target: &VaultPath) -> Vec<&VaultPath> {
        let mut sources: Vec<&VaultPath> = self.mentioning_states(target).map(|state| &state.path).collect();
        sources.sort_unstable();
        sources
    }

    /// The links to a file from other notes, in note order. Including reference links.
    pub fn backlinks(&self, target: &VaultPath) -> Vec<Backlink<'_>> {
        self.links_to(target, self.mentioning_states(target).collect())
    }
}

/// Whether links lead to a file. The target of a link depends only on the folder of its note, and in a vault with a
/// thousand notes of one name it takes long to find, so every answer is cached.
struct LeadsHere<'f, 't> {
    files: &'f VisibleFiles,
    target: &'t VaultPath,
    key: NameKey,
    known: HashMap<(&'f str, Option<&'f str>), bool>,
}

impl<'f, 't> LeadsHere<'f, 't> {
    fn to(files: &'f VisibleFiles, target: &'t VaultPath) -> Self {
        Self { files, target, key: mention_key(target.as_str()), known: HashMap::new() }
    }

    fn asked(&mut self, link: &'f str, source: &'f VaultPath) -> bool {
        // Comparing a hash excludes nearly every link without looking for its target.
        if mention_key(link) != self.key {
            return false;
        }
        let folder = source.as_str().rsplit_once('/').map(|(folder, _)| folder);
        let (files, target) = (self.files, self.target);
        *self.known.entry((link, folder)).or_insert_with(|| files.resolve(link, source) == Some(target))
    }
}

impl FileNames for VisibleFiles {
    fn named<'n>(&'n self, folded: &str) -> impl Iterator<Item = &'n VaultPath> {
        let named = self.snapshot.named(folded).filter(|state| self.visible.shows(state.id));
        named.map(|state| &state.path)
    }
}

impl FileNames for VisibleNotes {
    fn named<'n>(&'n self, folded: &str) -> impl Iterator<Item = &'n VaultPath> {
        self.0.named(folded)
    }
}

fn digest_of(state: &Arc<FileState>) -> Option<Digest<'_>> {
    state.digest().and_then(|digest| Digest::read(digest))
}

#[cfg(test)]
mod tests {
    use lapidary_store::Policy;

    use super::*;

    #[test]
    fn frequent_scopes_are_kept_and_the_oldest_is_evicted() {
        let mut sets = VisibleSets::default();
        let scopes: Vec<Arc<Scope>> = (0..2 * REMEMBERED).map(|_| Arc::new(Scope::from(Policy::default()))).collect();
        let (busy, others) = scopes.split_first().unwrap();
        sets.remember(busy, &Arc::default());
        for scope in others {
            sets.remember(scope, &Arc::default());
            assert!(sets.known(busy).is_some());
        }
        let (forgotten, remembered) = others.split_at(others.len() - (REMEMBERED - 1));
        assert!(forgotten.iter().all(|scope| sets.known(scope).is_none()));
        assert!(remembered.iter().all(|scope| sets.known(scope).is_some()));
    }
}
