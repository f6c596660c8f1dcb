//! The files and folders of a vault at one moment, immutable and cheap to clone.

use std::sync::Arc;

use lapidary_query::property_tag_texts;
use rayon::prelude::*;

use super::{
    digest::Digest,
    file::{FileId, FileState},
    names::{NameKey, mention_key, name_key, tag_key, tag_keys},
    sorted::SortedMap,
};
use crate::{FileStat, VaultPath, links::folded_name};

/// The folders of one key are found from `(key, None)` on.
type FolderKey = (NameKey, Option<VaultPath>);

fn folder_key(folder: &VaultPath) -> FolderKey {
    (name_key(&folded_name(folder.as_str())), Some(folder.clone()))
}

/// The contents of the vault at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    files: SortedMap<VaultPath, Arc<FileState>>,
    folders: SortedMap<VaultPath, ()>,
    /// Which folders have a path, but for case and the form of its letters.
    folder_names: SortedMap<FolderKey, ()>,
    by_id: SortedMap<FileId, Arc<FileState>>,
    /// Canvases and bases, which have links too. They have no digest, and are few.
    other_sources: SortedMap<VaultPath, Arc<FileState>>,
    /// Which files have a name.
    names: SortedMap<(NameKey, FileId), ()>,
    /// Which notes have a link that may refer to a file of a name.
    mentions: SortedMap<(NameKey, FileId), ()>,
    /// Which notes have a tag or one below it.
    tags: SortedMap<(NameKey, FileId), ()>,
    /// Notes that have not been read since they changed. While there are any, `mentions` and `tags` are incomplete.
    pending: SortedMap<FileId, ()>,
    next_id: FileId,
}

impl Snapshot {
    /// From everything found, both in path order.
    pub(crate) fn build(files: Vec<(VaultPath, FileStat)>, folders: Vec<VaultPath>, first_id: FileId) -> Self {
        let mut next_id = first_id;
        // In path order, so that ids and paths are sorted alike.
        let states: Vec<Arc<FileState>> = files
            .into_iter()
            .map(|(path, stat)| {
                let state = Arc::new(FileState::new(next_id, path, stat));
                next_id += 1;
                state
            })
            .collect();
        let name = |state: &Arc<FileState>| (name_key(&folded_name(state.path.name())), state.id);
        // Folding a name is the expensive part, and independent for each file.
        let mut names: Vec<(NameKey, FileId)> = states.par_iter().map(name).collect();
        names.par_sort_unstable();
        let notes = states.iter().filter(|state| state.path.is_note());
        let mut folder_names: Vec<FolderKey> = folders.iter().map(folder_key).collect();
        folder_names.sort_unstable();
        Self {
            folder_names: SortedMap::from_sorted(folder_names.into_iter().map(|name| (name, ()))),
            // All notes: none has been read yet.
            pending: SortedMap::from_sorted(notes.map(|state| (state.id, ()))),
            files: SortedMap::from_sorted(states.iter().map(|state| (state.path.clone(), Arc::clone(state)))),
            other_sources: SortedMap::from_sorted(
                states
                    .iter()
                    .filter(|state| is_other_source(&state.path))
                    .map(|state| (state.path.clone(), Arc::clone(state))),
            ),
            by_id: SortedMap::from_sorted(states.iter().map(|state| (state.id, Arc::clone(state)))),
            folders: SortedMap::from_sorted(folders.into_iter().map(|folder| (folder, ()))),
            names: SortedMap::from_sorted(names.into_iter().map(|name| (name, ()))),
            mentions: SortedMap::default(),
            tags: SortedMap::default(),
            next_id,
        }
    }

    pub fn file<P: Ord + ?Sized>(&self, path: &P) -> Option<&Arc<FileState>>
    where
        VaultPath: std::borrow::Borrow<P>,
    {
        self.files.get(path)
    }

    pub fn files_by_id(&self) -> &SortedMap<FileId, Arc<FileState>> {
        &self.by_id
    }

    pub(crate) fn by_id(&self, id: FileId) -> Option<&Arc<FileState>> {
        self.by_id.get(&id)
    }

    /// In path order.
    pub fn files(&self) -> impl Iterator<Item = &Arc<FileState>> {
        self.files.iter().map(|(_, state)| state)
    }

    pub(crate) fn files_from_id(&self, id: FileId) -> impl Iterator<Item = &Arc<FileState>> {
        self.by_id.from(&id).map(|(_, state)| state)
    }

    /// In path order.
    pub(crate) fn files_below<'s>(&'s self, folder: &VaultPath) -> impl Iterator<Item = &'s Arc<FileState>> + use<'s> {
        // With the slash, so that the folder `a` does not include the files of `ab`.
        let below = format!("{folder}/");
        let files = self.files.from(below.as_str()).map(|(_, state)| state);
        files.take_while(move |state| state.path.as_str().starts_with(&below))
    }

    pub fn folders(&self) -> impl Iterator<Item = &VaultPath> {
        self.folders.iter().map(|(folder, ())| folder)
    }

    pub(crate) fn folders_below<'s>(&'s self, folder: &VaultPath) -> impl Iterator<Item = &'s VaultPath> + use<'s> {
        let below = format!("{folder}/");
        let folders = self.folders.from(below.as_str()).map(|(folder, ())| folder);
        folders.take_while(move |path| path.as_str().starts_with(&below))
    }

    /// The folders whose path may differ from this one in nothing but case and the form of its letters.
    pub(crate) fn folders_like<'s>(&'s self, folder: &VaultPath) -> impl Iterator<Item = &'s VaultPath> + use<'s> {
        let key = name_key(&folded_name(folder.as_str()));
        // `None` sorts before every path.
        let like = self.folder_names.from(&(key, None)).take_while(move |((found, _), ())| *found == key);
        like.filter_map(|((_, folder), ())| folder.as_ref())
    }

    pub(crate) fn has_folder(&self, folder: &VaultPath) -> bool {
        self.folders.get(folder).is_some()
    }

    pub fn next_id(&self) -> FileId {
        self.next_id
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The files that have this folded name.
    pub(crate) fn named<'s>(&'s self, folded: &str) -> impl Iterator<Item = &'s Arc<FileState>> + use<'s> {
        let (key, folded) = (name_key(folded), folded.to_owned());
        // Keys are hashes, so another name may share this one.
        self.under(&self.names, key).filter(move |state| folded_name(state.path.name()) == folded)
    }

    /// The notes with a link that may lead to this file.
    pub(crate) fn mentioning<'s>(&'s self, path: &VaultPath) -> impl Iterator<Item = &'s Arc<FileState>> + use<'s> {
        self.under(&self.mentions, mention_key(path.as_str()))
    }

    /// The notes that may link to a file of this name, which need not exist.
    pub(crate) fn mentioning_name<'s>(&'s self, target: &str) -> impl Iterator<Item = &'s Arc<FileState>> + use<'s> {
        self.under(&self.mentions, mention_key(target))
    }

    /// The notes that may have this tag or one below it.
    pub(crate) fn tagged<'s>(&'s self, folded: &str) -> impl Iterator<Item = &'s Arc<FileState>> + use<'s> {
        self.under(&self.tags, tag_key(folded))
    }

    fn under<'s>(
        &'s self,
        map: &'s SortedMap<(NameKey, FileId), ()>,
        key: NameKey,
    ) -> impl Iterator<Item = &'s Arc<FileState>> {
        let ids = map.from(&(key, 0)).take_while(move |((found, _), ())| *found == key);
        ids.filter_map(|((_, id), ())| self.by_id(*id))
    }

    /// The canvases and bases, in path order.
    pub(crate) fn other_sources(&self) -> impl Iterator<Item = &Arc<FileState>> {
        self.other_sources.iter().map(|(_, state)| state)
    }

    pub(crate) fn pending(&self) -> Vec<Arc<FileState>> {
        self.pending.iter().filter_map(|(id, ())| self.by_id(*id).cloned()).collect()
    }

    pub(crate) fn is_indexed(&self) -> bool {
        self.pending.is_empty()
    }

    /// A file exists, in this state; anything known about it before is dropped.
    pub(crate) fn put(&mut self, path: VaultPath, stat: FileStat) {
        let id = match self.files.get(&path).cloned() {
            Some(before) => {
                // What the old content mentions no longer holds.
                self.forget_mentions(&before);
                // The number stays with the path, so that caches by number keep their answers.
                before.id
            }
            None => {
                // Never given again, so that a cache cannot take another file for this one.
                let id = self.next_id;
                self.next_id += 1;
                self.names.insert((name_key(&folded_name(path.name())), id), ());
                id
            }
        };
        let state = Arc::new(FileState::new(id, path.clone(), stat));
        if path.is_note() {
            self.pending.insert(id, ());
        }
        if is_other_source(&path) {
            self.other_sources.insert(path.clone(), Arc::clone(&state));
        }
        self.by_id.insert(id, Arc::clone(&state));
        self.files.insert(path, state);
    }

    pub(crate) fn put_folder(&mut self, path: VaultPath) {
        self.folder_names.insert(folder_key(&path), ());
        self.folders.insert(path, ());
    }

    /// Nothing exists at this path any more, nor below it.
    pub(crate) fn remove(&mut self, path: &VaultPath) {
        // Collected first, as removing changes what is walked through.
        let below: Vec<Arc<FileState>> = self.files_below(path).cloned().collect();
        below.iter().for_each(|state| self.remove_file(state));
        let folders: Vec<VaultPath> = self.folders_below(path).cloned().collect();
        folders.iter().chain([path]).for_each(|folder| {
            self.folders.remove(folder);
            self.folder_names.remove(&folder_key(folder));
        });
        // The path may have been that of a file.
        if let Some(state) = self.file(path).cloned() {
            self.remove_file(&state);
        }
    }

    fn remove_file(&mut self, state: &FileState) {
        self.forget_mentions(state);
        self.pending.remove(&state.id);
        self.names.remove(&(name_key(&folded_name(state.path.name())), state.id));
        self.other_sources.remove(&state.path);
        self.by_id.remove(&state.id);
        self.files.remove(&state.path);
    }

    fn forget_mentions(&mut self, state: &FileState) {
        // A note that was not read has no entries, and without its digest they would not be known anyway.
        if self.pending.get(&state.id).is_some() {
            return;
        }
        for key in keys(state) {
            self.mentions.remove(&(key, state.id));
        }
        for key in keys_of_tags(state) {
            self.tags.remove(&(key, state.id));
        }
    }

    /// Adds the digests of these notes, if they are still the same.
    pub(crate) fn take_in(&mut self, digested: &[Arc<FileState>]) {
        // A digest of an older state of the file is dropped; the newer one is still pending.
        let known = |state: &&Arc<FileState>| {
            state.digest().is_some()
                // Another caller may have taken the same digest in already.
                && self.pending.get(&state.id).is_some()
                && self.by_id(state.id).is_some_and(|current| Arc::ptr_eq(current, state))
        };
        let digested: Vec<Arc<FileState>> = digested.iter().filter(known).cloned().collect();
        // The first time, sorting everything at once is much faster than inserting one at a time.
        if digested.len() == self.pending.len() && self.mentions.is_empty() && self.tags.is_empty() {
            let mut mentions: Vec<(NameKey, FileId)> =
                digested.par_iter().flat_map_iter(|state| keys(state).map(|key| (key, state.id))).collect();
            mentions.par_sort_unstable();
            self.mentions = SortedMap::from_sorted(mentions.into_iter().map(|mention| (mention, ())));
            let mut tags: Vec<(NameKey, FileId)> = digested
                .par_iter()
                .flat_map_iter(|state| keys_of_tags(state).into_iter().map(|key| (key, state.id)))
                .collect();
            tags.par_sort_unstable();
            self.tags = SortedMap::from_sorted(tags.into_iter().map(|tag| (tag, ())));
            // Every note was among them.
            self.pending = SortedMap::default();
            return;
        }
        for state in &digested {
            for key in keys(state) {
                self.mentions.insert((key, state.id), ());
            }
            for key in keys_of_tags(state) {
                self.tags.insert((key, state.id), ());
            }
            self.pending.remove(&state.id);
        }
    }
}

fn is_other_source(path: &VaultPath) -> bool {
    path.is_canvas() || path.is_base()
}

fn keys(state: &FileState) -> impl Iterator<Item = NameKey> {
    state.digest().and_then(|digest| Digest::read(digest)).into_iter().flat_map(|digest| digest.keys())
}

/// Each once, with those that only Dataview takes for tags: a query looks at the notes that are found.
fn keys_of_tags(state: &FileState) -> Vec<NameKey> {
    let Some(digest) = state.digest().and_then(|digest| Digest::read(digest)) else { return Vec::new() };
    let mut keys: Vec<NameKey> = digest.tags().flat_map(|tag| tag_keys(tag.name)).collect();
    for (name, value) in digest.properties() {
        let texts = property_tag_texts(name, &|| value.read());
        keys.extend(texts.iter().flat_map(|text| tag_keys(text.strip_prefix('#').unwrap_or(text))));
    }
    keys.sort_unstable();
    // A note may have the same tag many times.
    keys.dedup();
    keys
}

/// What two equal snapshots must have in common, however they came about.
#[cfg(test)]
impl Snapshot {
    pub(crate) fn described(&self) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        for state in self.files() {
            let digest = state.digest().map(|digest| lapidary_note::ContentHash::of(digest).to_string());
            writeln!(text, "{} {} {digest:?}", state.path, state.stat.stamp.size).unwrap();
            assert!(Arc::ptr_eq(self.by_id(state.id).unwrap(), state), "{}", state.path);
            let named = self.named(&folded_name(state.path.name()));
            assert_eq!(named.filter(|found| Arc::ptr_eq(found, state)).count(), 1, "{}", state.path);
            let mut mentions: Vec<&str> = self.mentioning(&state.path).map(|found| found.path.as_str()).collect();
            mentions.sort_unstable();
            writeln!(text, "  {mentions:?}").unwrap();
        }
        let expected = self.files().filter(|state| is_other_source(&state.path));
        assert!(expected.map(Arc::as_ptr).eq(self.other_sources().map(Arc::as_ptr)));
        let folders: Vec<&VaultPath> = self.folders().collect();
        writeln!(text, "{folders:?} {} {} {}", self.by_id.len(), self.names.len(), self.mentions.len()).unwrap();
        let tagged: Vec<(NameKey, &VaultPath)> =
            self.tags.iter().filter_map(|((key, id), ())| Some((*key, &self.by_id(*id)?.path))).collect();
        let mut tagged: Vec<String> = tagged.iter().map(|(key, path)| format!("{key} {path}")).collect();
        tagged.sort_unstable();
        writeln!(text, "{tagged:?} {}", self.tags.len()).unwrap();
        writeln!(text, "{}", self.pending.len()).unwrap();
        text
    }
}
