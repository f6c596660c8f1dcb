//! Findings about files that no note shows, and about copies that sync tools leave.

use lapidary_operation::{
    Reason,
    quote::{quoted, quoted_path},
};
use lapidary_vault::VaultPath;

use super::{CheckedVault, FindingFix, FindingKind};
use crate::{reading, vault_links::is_attachment_name};

impl CheckedVault<'_, '_, '_> {
    pub(super) fn orphan_attachments(&mut self) {
        let both = self.links.both_ways();
        let unused: Vec<&VaultPath> = self
            .links
            .numbered()
            .filter(|(file, entry)| is_attachment_name(entry.path().name()) && both.sources(*file).is_empty())
            .map(|(_, entry)| entry.path())
            .collect();
        for path in unused {
            let says = format!("no note or canvas shows {}", quoted_path(path));
            // HTML, plugins and other programs also name files without a link.
            let fix = Err("it may be used where no link says so: look at it, then delete it");
            self.add(FindingKind::OrphanAttachment, &[path.as_str()], &[path], says, fix);
        }
    }

    pub(super) fn conflict_files(&mut self) -> Result<(), Reason> {
        let both = self.links.both_ways();
        let copies: Vec<(u32, &VaultPath, String)> = self
            .links
            .numbered()
            .filter_map(|(file, entry)| Some((file, entry.path(), original_of(entry.path().name())?)))
            .collect();
        for (file, path, original) in copies {
            self.context.check()?;
            let original = path.sibling(&original).ok().and_then(|original| self.notes.get(&original));
            let (paths, fix) = match original {
                // Then it may be the only one left.
                None => (vec![path], Err("the file that it is a copy of is gone: rename it")),
                Some(entry) => {
                    // Sizes first: most copies differ, and then nothing is read.
                    let is_same = entry.bytes() == self.links.files[file as usize].bytes()
                        && self.have_same_bytes(entry.path(), path)?;
                    let fix = match is_same {
                        // A link to the copy would break.
                        true if !both.sources(file).is_empty() => Err("links lead to it"),
                        true if self.view.may_write(path).is_err() => Err("the file may not be changed"),
                        true => Ok(FindingFix::Trash { path: path.clone() }),
                        false => Err("it differs from the other file: merge the two by hand"),
                    };
                    (vec![path, entry.path()], fix)
                }
            };
            let says = format!("{} is a copy that a sync tool made of a conflict", quoted(path.name()));
            self.add(FindingKind::ConflictFile, &[path.as_str()], &paths, says, fix);
        }
        Ok(())
    }

    fn have_same_bytes(&self, one: &VaultPath, other: &VaultPath) -> Result<bool, Reason> {
        let read = |path| match reading::source(self.view, path)? {
            reading::LinkSource::File(file) => Ok(Some(file)),
            reading::LinkSource::Gone | reading::LinkSource::Unread => Ok(None),
        };
        let (Some(one), Some(other)) = (read(one)?, read(other)?) else { return Ok(false) };
        Ok(one.content == other.content)
    }
}

/// The name of the file that a sync tool has kept next to this copy, if the name says that it is one.
fn original_of(name: &str) -> Option<String> {
    let (stem, ending) = name.rsplit_once('.')?;
    // Syncthing: `Plan.sync-conflict-20261101-101112-ABCDEFG.md`.
    if let Some((front, _)) = stem.split_once(".sync-conflict-") {
        return Some(format!("{front}.{ending}"));
    }
    // Dropbox, Nextcloud and others: `Plan (Ana's conflicted copy 2026-11-01).md`.
    let (front, mark) = stem.strip_suffix(')')?.rsplit_once(" (")?;
    mark.to_lowercase().contains("conflicted copy").then(|| format!("{front}.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_original_of_a_copy_is_known_by_name() {
        assert_eq!(original_of("Plan.sync-conflict-20261101-101112-ABCDEFG.md").unwrap(), "Plan.md");
        assert_eq!(original_of("Plan (Ana's conflicted copy 2026-11-01).md").unwrap(), "Plan.md");
        assert_eq!(original_of("Plan (Conflicted copy phone).md").unwrap(), "Plan.md");
        for name in ["Plan (1).md", "Conflict.md", "Plan conflicted copy.md", "sync-conflict"] {
            assert_eq!(original_of(name), None, "{name}");
        }
    }
}
