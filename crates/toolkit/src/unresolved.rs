//! What links that lead nowhere were probably meant to name.

use std::collections::HashMap;

use lapidary_note::count_steps;
use lapidary_query::nearest;
use lapidary_vault::{VaultPath, VisibleNotes, links::folded_name};

use crate::{naming::title, vault_links::is_attachment_name};

/// The names under which the files of a vault can be meant.
pub struct KnownTargets<'n> {
    notes: &'n VisibleNotes,
    by_alias: HashMap<String, Vec<&'n VaultPath>>,
    by_spelling: HashMap<String, Vec<&'n VaultPath>>,
    /// Names of notes without their extension.
    titles: Vec<(&'n str, &'n VaultPath)>,
    attachments: Vec<(&'n str, &'n VaultPath)>,
}

/// Why a file is surely the one that was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertainMatch {
    /// It is the only one of that name, in another folder.
    Name,
    /// The name is an alias of this note alone.
    Alias,
    /// It is the only one whose name differs in nothing but case, blanks, hyphens, underscores and points.
    Spelling,
}

impl<'n> KnownTargets<'n> {
    pub fn of(notes: &'n VisibleNotes) -> Self {
        let mut known = Self {
            notes,
            by_alias: HashMap::new(),
            by_spelling: HashMap::new(),
            titles: Vec::new(),
            attachments: Vec::new(),
        };
        for entry in notes.iter() {
            let path = entry.path();
            let name = if path.is_note() { title(path) } else { path.name() };
            if path.is_note() {
                known.titles.push((name, path));
            } else {
                known.attachments.push((name, path));
            }
            known.by_spelling.entry(spelling(name)).or_default().push(path);
            for alias in notes.digest(path).into_iter().flat_map(|digest| digest.aliases()) {
                let named = known.by_alias.entry(folded_name(alias).into_owned()).or_default();
                // A note may list an alias twice.
                if named.last() != Some(&path) {
                    named.push(path);
                }
            }
        }
        known
    }

    /// The file that a target surely means, although no link leads there.
    pub fn certain(&self, target: &str) -> Option<(CertainMatch, &'n VaultPath)> {
        count_steps(64);
        // Only the name: a folder in a broken link is mostly what makes it wrong.
        let name = target.rsplit('/').next().unwrap_or_default();
        let only = |found: &[&'n VaultPath]| match found {
            [path] => Some(*path),
            _ => None,
        };
        let named = self.notes.meant_by(name);
        // Several files of the name: which one is meant is not certain, and an alias would not make it so.
        if !named.is_empty() {
            return only(&named).map(|path| (CertainMatch::Name, path));
        }
        if let Some(aliased) = self.by_alias.get(&*folded_name(target)) {
            return only(aliased).map(|path| (CertainMatch::Alias, path));
        }
        // Links leave the extension out, but may have it.
        let bare = name.strip_suffix(".md").unwrap_or(name);
        let spelt = self.by_spelling.get(&spelling(bare))?;
        only(spelt).map(|path| (CertainMatch::Spelling, path))
    }

    /// The same, or else the file with the nearest name. Compares all names, so it is for the few that are shown.
    pub fn nearest(&self, target: &str) -> Option<&'n VaultPath> {
        if let Some((_, path)) = self.certain(target) {
            return Some(path);
        }
        let name = target.rsplit('/').next().unwrap_or_default();
        // Of several with that name the first: any of them is near.
        if let Some(path) = self.notes.meant_by(name).first() {
            return Some(path);
        }
        // A name with an extension is not compared with titles, which have none.
        let names = if is_attachment_name(name) { &self.attachments } else { &self.titles };
        let near = nearest(name, names.iter().map(|(name, _)| *name))?;
        names.iter().find(|(name, _)| *name == near).map(|(_, path)| *path)
    }
}

/// One form for names that people take for the same.
fn spelling(name: &str) -> String {
    let folded = folded_name(name);
    let words = folded.split([' ', '-', '_', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
