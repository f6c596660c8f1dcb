//! All links of a vault at once: for questions about every note, such as which have none.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use lapidary_note::count_steps;
use lapidary_operation::{Context, Reason};
use lapidary_query::{GraphLink, NoteLinks};
use lapidary_vault::{FileEntry, VaultPath, VisibleNotes};

use crate::{
    link::LinkWord,
    link_walk::{canvases, shown_path},
};

/// The files of a vault, and which links to which. A file is its place in the list.
pub struct VaultLinks<'n> {
    pub notes: &'n VisibleNotes,
    /// In path order.
    pub files: Vec<FileEntry<'n>>,
    /// In order, each once, none of a file to itself.
    pub links: Vec<GraphLink>,
    /// In the order of their sources.
    pub unresolved: Vec<UnresolvedUse<'n>>,
}

/// A link that leads nowhere.
#[derive(Clone, Debug)]
pub struct UnresolvedUse<'n> {
    pub source: u32,
    /// As it is resolved: decoded, without heading.
    pub target: Cow<'n, str>,
    pub line: usize,
}

/// What resolving a link counts.
const LINK_STEPS: usize = 64;

impl<'n> VaultLinks<'n> {
    pub fn of(context: &Context<'_>, notes: &'n VisibleNotes) -> Result<Self, Reason> {
        let files: Vec<FileEntry<'n>> = notes.iter().collect();
        let numbers: HashMap<&VaultPath, u32> = files.iter().map(|entry| entry.path()).zip(0..).collect();
        let canvases: HashMap<&VaultPath, _> =
            canvases(context, notes)?.into_iter().map(|canvas| (canvas.path, canvas.links)).collect();
        let mut found = Self { notes, files, links: Vec::new(), unresolved: Vec::new() };
        // Where the links of a folder lead. The same answer for every note in it, and looked for once.
        let mut known: HashMap<(&str, &str), Option<u32>> = HashMap::new();
        for (source, path) in (0_u32..).zip(found.files.iter().map(|entry| entry.path())) {
            let mut targets: BTreeSet<u32> = BTreeSet::new();
            for link in notes.digest(path).into_iter().flat_map(|digest| digest.links()) {
                // A link into the note itself has no target.
                if link.target.is_empty() {
                    continue;
                }
                count_steps(LINK_STEPS);
                let resolve = || numbers.get(notes.resolve(link.target, path)?).copied();
                match known.entry((folder_of(path), link.target)).or_insert_with(resolve) {
                    Some(target) => drop(targets.insert(*target)),
                    None => {
                        let target = Cow::Borrowed(link.target);
                        found.unresolved.push(UnresolvedUse { source, target, line: link.line });
                    }
                }
            }
            for link in canvases.get(path).into_iter().flatten() {
                match shown_path(notes, link).and_then(|target| numbers.get(target)) {
                    Some(target) => drop(targets.insert(*target)),
                    // An address may be one of the web.
                    None if link.kind == LinkWord::Markdown || link.target.is_empty() => {}
                    None => {
                        let target = Cow::Owned(link.target.clone());
                        found.unresolved.push(UnresolvedUse { source, target, line: link.line });
                    }
                }
            }
            targets.remove(&source);
            found.links.extend(targets.into_iter().map(|to| GraphLink { from: source, to }));
        }
        Ok(found)
    }

    pub fn path(&self, file: u32) -> Option<&'n VaultPath> {
        self.files.get(file as usize).map(|entry| entry.path())
    }

    /// The links of each file, both ways.
    pub fn both_ways(&self) -> NoteLinks {
        NoteLinks::new(self.files.len(), &self.links)
    }

    /// The files with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, FileEntry<'n>)> {
        (0..).zip(self.files.iter().copied())
    }
}

/// Empty for the root.
pub fn folder_of(path: &VaultPath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether Obsidian shows a file of this name in notes: an image, a sound, a film or a PDF.
pub fn is_attachment_name(name: &str) -> bool {
    const ENDINGS: [&str; 22] = [
        "avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp", "flac", "m4a", "mp3", "ogg", "wav", "webm", "3gp",
        "mkv", "mov", "mp4", "ogv", "pdf", "opus", "heic",
    ];
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}
