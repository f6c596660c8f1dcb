//! Findings about names: the same one twice, and those that other systems cannot hold.

use std::collections::BTreeMap;

use lapidary_operation::quote::{quoted, quoted_path};
use lapidary_vault::{VaultPath, links::folded_name};

use super::{CheckedVault, FindingFix, FindingKind};
use crate::{naming::title, vault_links::folder_of};

impl CheckedVault<'_, '_, '_> {
    pub(super) fn duplicate_names(&mut self) {
        let mut named: BTreeMap<String, Vec<&VaultPath>> = BTreeMap::new();
        for path in self.note_paths() {
            // Folded as Obsidian compares names: without case, and with composed accents.
            named.entry(folded_name(title(path)).into_owned()).or_default().push(path);
        }
        for (name, paths) in named {
            // Twins in one folder are another finding.
            if paths.iter().all(|path| folder_of(path) == folder_of(paths[0])) {
                continue;
            }
            let says = format!(
                "{} notes are called {}: a link by name leads to one of them",
                paths.len(),
                quoted(title(paths[0]))
            );
            let fix = Err("which one keeps its name is a choice: rename the others");
            self.add(FindingKind::DuplicateName, &[&name], &paths, says, fix);
        }
    }

    pub(super) fn duplicate_aliases(&mut self) {
        let mut titles: BTreeMap<String, Vec<&VaultPath>> = BTreeMap::new();
        let mut aliased: BTreeMap<String, (String, Vec<&VaultPath>)> = BTreeMap::new();
        for path in self.note_paths() {
            titles.entry(folded_name(title(path)).into_owned()).or_default().push(path);
            for alias in self.notes.digest(path).into_iter().flat_map(|digest| digest.aliases()) {
                let key = folded_name(alias).into_owned();
                let (_, paths) = aliased.entry(key).or_insert_with(|| (alias.to_owned(), Vec::new()));
                // A note may list an alias twice; paths come one after the other, so the last is enough.
                if paths.last() != Some(&path) {
                    paths.push(path);
                }
            }
        }
        for (key, (alias, mut paths)) in aliased {
            let other_notes = titles.get(&key).into_iter().flatten().filter(|path| !paths.contains(path));
            let with_that_name: Vec<&VaultPath> = other_notes.copied().collect();
            let says = match (paths.len(), with_that_name.is_empty()) {
                (1, true) => continue,
                (_, true) => format!("{} notes have the alias {}", paths.len(), quoted(&alias)),
                (_, false) => format!("the alias {} is the name of another note", quoted(&alias)),
            };
            paths.extend(with_that_name);
            let fix = Err("which note keeps it is a choice: remove the alias from the others");
            self.add(FindingKind::DuplicateAlias, &[&key], &paths, says, fix);
        }
    }

    pub(super) fn case_twins(&mut self) {
        let mut alike: BTreeMap<String, Vec<&VaultPath>> = BTreeMap::new();
        for entry in &self.links.files {
            alike.entry(folded_name(entry.path().as_str()).into_owned()).or_default().push(entry.path());
        }
        for folder in self.notes.folders_below(None) {
            // A slash keeps a folder apart from a file of the same name.
            alike.entry(folded_name(folder.as_str()).into_owned() + "/").or_default().push(folder);
        }
        for (key, paths) in alike.into_iter().filter(|(_, paths)| paths.len() > 1) {
            // Files of twin folders are alike because of their folders, which are a finding of their own.
            if paths.iter().any(|path| folder_of(path) != folder_of(paths[0])) {
                continue;
            }
            let says =
                format!("{} and {} are one name on Windows and macOS", quoted_path(paths[0]), quoted(paths[1].name()));
            let fix = Err("both may be wanted: rename one, or merge them");
            self.add(FindingKind::CaseTwin, &[&key], &paths, says, fix);
        }
    }

    pub(super) fn unportable_names(&mut self) {
        let folders: Vec<&VaultPath> = self.notes.folders_below(None).collect();
        for folder in folders.into_iter().filter(|folder| !folder.has_portable_name()) {
            let says = format!("Windows and phones refuse the folder name {}", quoted_path(folder));
            let fix = Err("a folder moves with everything in it: rename it with `file_move`");
            self.add(FindingKind::UnportableName, &[folder.as_str(), "/"], &[folder], says, fix);
        }
        let files: Vec<&VaultPath> = self.links.files.iter().map(|entry| entry.path()).collect();
        for path in files.into_iter().filter(|path| !path.has_portable_name()) {
            let to = path.sibling(&portable(path.name())).ok().filter(VaultPath::has_portable_name);
            let fix = match to {
                // Also names that differ only in case, since one of the two would be lost elsewhere.
                Some(to) if !self.notes.named_like(&to).is_empty() => Err("a file has the name that it would get"),
                Some(to) if self.view.may_write(path).is_err() || self.view.may_write(&to).is_err() => {
                    Err("the file may not be moved")
                }
                Some(to) if self.view.may_be_made(&to).is_err() => Err("its new name cannot be made"),
                Some(to) => Ok(FindingFix::Rename { from: path.clone(), to }),
                None => Err("no name is near enough: rename it with `file_move`"),
            };
            let says = format!("Windows and phones refuse the name {}", quoted_path(path));
            self.add(FindingKind::UnportableName, &[path.as_str()], &[path], says, fix);
        }
    }
}

/// The nearest name that every system accepts.
fn portable(name: &str) -> String {
    let plain = |letter: char| match letter {
        // `:` is the usual one, in times and subtitles.
        ':' => '-',
        '"' => '\'',
        '<' | '>' | '|' | '?' | '*' | '\\' | '/' => ' ',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    let name: String = name.chars().map(plain).collect();
    let (stem, ending) = name.rsplit_once('.').map_or((name.as_str(), None), |(stem, ending)| (stem, Some(ending)));
    let stem = stem.split_whitespace().collect::<Vec<_>>().join(" ");
    let stem = stem.trim_end_matches('.').trim();
    // `con.md` is a device; any other word before it is a name.
    let stem = if stem.is_empty() { "Note" } else { stem };
    let joined = |stem: &str| ending.map_or_else(|| stem.to_owned(), |ending| format!("{stem}.{}", ending.trim()));
    let joined_plain = joined(stem);
    match VaultPath::parse(&joined_plain) {
        Ok(path) if !path.has_portable_name() => joined(&format!("{stem} note")),
        _ => joined_plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portable_name_is_as_near_as_it_can_be() {
        for (name, becomes) in
            [("Why?.md", "Why.md"), ("a:b.md", "a-b.md"), ("say \"x\" *.md", "say 'x'.md"), ("con.md", "con note.md")]
        {
            assert_eq!(portable(name), becomes);
            assert!(VaultPath::parse(becomes).unwrap().has_portable_name(), "{becomes}");
        }
    }
}
