//! Findings about properties and tags that are written in more than one way.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{Reason, quote::quoted};
use lapidary_query::Row;
use lapidary_vault::{FileRow, VaultPath};

use super::{CheckedVault, FindingFix, FindingKind};
use crate::property_kinds::{self, PropertyKind};

/// A property of fewer notes has no usual kind.
const FEWEST_NOTES: usize = 3;

impl CheckedVault<'_, '_, '_> {
    pub(super) fn property_types(&mut self) -> Result<(), Reason> {
        for (key, property) in property_kinds::of_vault(self.context, self.notes, None, None)? {
            let Some((usual, differing)) = property.disagreement() else { continue };
            // With two notes, none of the kinds is the usual one.
            if property.note_count() < FEWEST_NOTES {
                continue;
            }
            self.context.check()?;
            let kinds: Vec<String> =
                property.kinds().iter().map(|(kind, notes)| format!("{kind} in {}", counted(*notes, "note"))).collect();
            let says = format!("{} is {}", quoted(&property.name), kinds.join(", "));
            let paths: Vec<&VaultPath> = differing.iter().map(|(_, path)| *path).collect();
            let of_usual = property.notes.get(&usual).map_or(0, Vec::len);
            let fix = match () {
                // Empty values do not vote.
                () if of_usual <= paths.len() => Err("no kind has a majority: choose one"),
                // One value that cannot be converted would leave the property as mixed as before.
                () if !paths.iter().all(|path| self.is_convertible(path, &key, usual)) => {
                    Err("not every value can be converted without losing something")
                }
                // A fix changes all of them or none.
                () if !paths.iter().all(|path| self.view.may_write(path).is_ok()) => {
                    Err("some notes may not be changed")
                }
                () => Ok(FindingFix::Convert {
                    property: property.name.clone(),
                    to: usual,
                    notes: paths.iter().map(|path| (*path).clone()).collect(),
                }),
            };
            self.add(FindingKind::PropertyTypes, &[&key], &paths, says, fix);
        }
        Ok(())
    }

    /// Whether a value of a note can surely become this kind. By the index, which has it as a query sees it.
    fn is_convertible(&self, path: &VaultPath, key: &str, to: PropertyKind) -> bool {
        let Some(entry) = self.notes.get(path) else { return false };
        let mut is_convertible = false;
        FileRow::new(self.notes, entry.state()).visit_properties(&mut |name, read| {
            if name.to_lowercase() != key {
                return std::ops::ControlFlow::Continue(());
            }
            is_convertible = property_kinds::is_convertible(&read(), to);
            std::ops::ControlFlow::Break(())
        });
        is_convertible
    }

    pub(super) fn tag_case(&mut self) {
        // By the folded tag: the notes of each spelling.
        let mut tags: BTreeMap<String, BTreeMap<&str, Vec<&VaultPath>>> = BTreeMap::new();
        for path in self.note_paths() {
            for tag in self.notes.digest(path).into_iter().flat_map(|digest| digest.written_tags()) {
                let paths = tags.entry(tag.name.to_lowercase()).or_default().entry(tag.name).or_default();
                // A note may have the same spelling many times; its path is kept once.
                if paths.last() != Some(&path) {
                    paths.push(path);
                }
            }
        }
        for (key, spellings) in tags.into_iter().filter(|(_, spellings)| spellings.len() > 1) {
            // The most frequent; of equals the one that sorts last, which has more small letters.
            let Some((usual, _)) = spellings.iter().max_by_key(|(name, notes)| (notes.len(), **name)) else { continue };
            let mut notes: Vec<&VaultPath> = spellings
                .iter()
                .filter(|(name, _)| *name != usual)
                .flat_map(|(_, notes)| notes.iter().copied())
                .collect();
            // A note may have several of the other spellings.
            notes.sort_unstable();
            notes.dedup();
            let shown: Vec<String> = spellings
                .iter()
                .map(|(name, notes)| format!("#{} in {}", quoted(name), counted(notes.len(), "note")))
                .collect();
            let fix = match notes.iter().all(|path| self.view.may_write(path).is_ok()) {
                true => Ok(FindingFix::Respell {
                    tag: (*usual).to_owned(),
                    notes: notes.iter().map(|path| (*path).clone()).collect(),
                }),
                false => Err("some notes may not be changed"),
            };
            self.add(FindingKind::TagCase, &[&key], &notes, shown.join(", "), fix);
        }
    }
}
