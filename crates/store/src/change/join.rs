//! Successive changes, merged into one set: files written twice are written once, and files moved and then edited move
//! with their new bytes. Order is kept where it matters (two files that swap names).

use lapidary_note::{FileContent, quoted};
use unicode_normalization::UnicodeNormalization;

use super::{Change, ChangeSet};
use crate::{ContentGuard, VaultPath};

/// Why a change cannot be combined with those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// The trash would get the previous content instead of the one just written.
    #[error("{} was created or edited by an earlier operation, so it cannot go to the trash in the same batch", quoted(.path.as_str()))]
    TrashAfterEdit { path: VaultPath },
    /// There is nothing to rename yet.
    #[error("the folder {} is created by an earlier operation, so it cannot be moved in the same batch", quoted(.path.as_str()))]
    NewFolder { path: VaultPath },
    /// The folder no longer exists, and creating another of that name is for a later change.
    #[error("the folder of {} is moved away by an earlier operation of the same batch", quoted(.path.as_str()))]
    FolderLeft { path: VaultPath },
}

impl ChangeSet {
    /// Adds changes that were planned on top of these. If one of them cannot be added, none is. `has_folder` says which
    /// folders the disk has now.
    pub fn join(&mut self, next: ChangeSet, has_folder: impl Fn(&VaultPath) -> bool) -> Result<(), JoinError> {
        // All are checked before any is added, so that a refusal leaves the set as it was.
        next.changes.iter().try_for_each(|change| self.accepts(change, &has_folder))?;
        next.changes.into_iter().for_each(|change| self.add(change));
        Ok(())
    }

    fn accepts(&self, change: &Change, has_folder: &dyn Fn(&VaultPath) -> bool) -> Result<(), JoinError> {
        match change {
            Change::Trash { path, .. } => match self.maker(path).map(|index| &self.changes[index]) {
                // Anything created by the batch is never on disk.
                Some(Change::Write { .. }) => Err(JoinError::TrashAfterEdit { path: path.clone() }),
                _ => Ok(()),
            },
            Change::MoveFolder { from, .. } => match has_folder(&self.folder_on_disk(from)) {
                true => Ok(()),
                false => Err(JoinError::NewFolder { path: from.clone() }),
            },
            Change::Write { .. }
            | Change::Create { .. }
            | Change::Move { .. }
            | Change::Delete { .. }
            | Change::TrashFolder { .. }
            | Change::MakeFolder { .. } => Ok(()),
        }?;
        let new = match change {
            Change::Create { path, .. }
            | Change::MakeFolder { path }
            | Change::Move { to: path, .. }
            | Change::MoveFolder { to: path, .. } => path,
            Change::Write { .. } | Change::Trash { .. } | Change::TrashFolder { .. } | Change::Delete { .. } => {
                return Ok(());
            }
        };
        let left = |earlier: &Change| match earlier {
            // The name itself is free again for a folder.
            Change::MoveFolder { from: path, .. } if matches!(change, Change::MakeFolder { .. }) => {
                new.is_within(path) && new != path
            }
            Change::MoveFolder { from, .. } => new.is_within(from),
            Change::TrashFolder { path } => new.is_within(path) && new != path,
            _ => false,
        };
        match self.changes.iter().any(left) {
            true => Err(JoinError::FolderLeft { path: new.clone() }),
            false => Ok(()),
        }
    }

    fn add(&mut self, change: Change) {
        match change {
            Change::Write { path, before, guard, content } => match self.maker(&path) {
                Some(index) => self.rewrite(index, &before, guard, content),
                None => self.changes.push(Change::Write { path, before, guard, content }),
            },
            Change::Create { path, content } => self.create(path, content),
            Change::Move { .. } => self.move_on(change),
            Change::Delete { .. } => self.delete(change),
            // What the same set created was never on the disk, so there is nothing to put into the trash.
            Change::Trash { ref path, .. } => match self.maker(path) {
                Some(index) if matches!(self.changes[index], Change::Create { .. }) => {
                    self.changes.remove(index);
                }
                _ => self.changes.push(change),
            },
            Change::MoveFolder { .. } | Change::TrashFolder { .. } | Change::MakeFolder { .. } => {
                self.changes.push(change);
            }
        }
    }

    /// Where the disk has a folder that the changes move to this path, directly or inside another.
    fn folder_on_disk(&self, path: &VaultPath) -> VaultPath {
        let mut at = path.clone();
        for change in self.changes.iter().rev() {
            if let Change::MoveFolder { from, to } = change {
                // From the last change back: each move is undone on the path.
                at = if same(to, &at) { from.clone() } else { rebased(&at, to, from).unwrap_or(at) };
            }
        }
        at
    }

    /// The change that gives the file at this path its content, if one does.
    fn maker(&self, path: &VaultPath) -> Option<usize> {
        let mut at = path.clone();
        for (index, change) in self.changes.iter().enumerate().rev() {
            match change {
                Change::MoveFolder { from, to } => at = rebased(&at, to, from).unwrap_or(at),
                Change::Write { path, .. } | Change::Create { path, .. } | Change::Move { to: path, .. }
                    if same(path, &at) =>
                {
                    return Some(index);
                }
                // From here on back, the path belongs to another file.
                Change::Delete { path, .. } | Change::Trash { path, .. } | Change::Move { from: path, .. }
                    if same(path, &at) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Whether a later change concerns a path.
    fn is_touched_after(&self, index: usize, path: &VaultPath) -> bool {
        // A folder that moves carries the file along, so the order of the two matters.
        let carries = |change: &Change| matches!(change, Change::MoveFolder { from, to } if path.is_within(from) || path.is_within(to));
        let touches = |change: &Change| carries(change) || change.paths().any(|touched| same(touched, path));
        self.changes[index + 1..].iter().any(touches)
    }

    fn rewrite(&mut self, index: usize, now: &std::sync::Arc<crate::File>, by: ContentGuard, new: FileContent) {
        // An edit before it does not guard the content that an overwrite replaces.
        if let (ContentGuard::Nobody, Change::Write { guard, .. } | Change::Move { guard, .. }) =
            (by, &mut self.changes[index])
            && *guard == ContentGuard::Plan
        {
            *guard = by;
        }
        let undone = match &mut self.changes[index] {
            Change::Write { before, content, .. } => {
                *content = new;
                // Edited back to what it was: then nothing is left to do.
                *content == before.content
            }
            Change::Create { content, .. } => {
                *content = new;
                false
            }
            Change::Move { before, content, .. } => {
                // The move may have been planned without reading the file.
                before.get_or_insert_with(|| std::sync::Arc::clone(now));
                *content = Some(new);
                false
            }
            _ => false,
        };
        if undone {
            self.changes.remove(index);
        }
    }

    fn create(&mut self, path: VaultPath, content: FileContent) {
        let deleted = |change: &Change| matches!(change, Change::Delete { path: gone, .. } if same(gone, &path));
        let index = self.changes.iter().rposition(deleted).filter(|index| !self.is_touched_after(*index, &path));
        match index.map(|index| self.changes.remove(index)) {
            // Removed and created again is new content, which can be undone as one change.
            Some(Change::Delete { path, before, guard }) if before.content != content => {
                self.changes.push(Change::Write { path, before, guard, content });
            }
            Some(_) => {}
            None => self.changes.push(Change::Create { path, content }),
        }
    }

    fn move_on(&mut self, change: Change) {
        let Change::Move { from, to, before, guard, content } = change else { return };
        let index = self.maker(&from).filter(|index| match &self.changes[*index] {
            // Over a name that was taken since, both paths have to be gone.
            Change::Move { from: origin, .. } => !self.is_touched_after(*index, origin) && !self.is_left(&to, *index),
            _ => true,
        });
        match index.map(|index| self.changes.remove(index)) {
            Some(Change::Write { before, guard, content: written, .. }) => {
                let content = Some(content.unwrap_or(written));
                self.changes.push(Change::Move { from, to, before: Some(before), guard, content });
            }
            // A file that the batch itself created can be created at its last name at once.
            Some(Change::Create { content: made, .. }) => self.create(to, content.unwrap_or(made)),
            Some(Change::Move { from: origin, before: first, guard, content: written, .. }) => {
                let content = content.or(written);
                // Of the file as the disk has it: the first plan read that, later ones saw the overlay.
                match (same(&origin, &to), first.or(before), content) {
                    (true, Some(before), Some(content)) if before.content != content => {
                        self.changes.push(Change::Write { path: origin, before, guard, content });
                    }
                    // It is back where it was.
                    (true, ..) => {}
                    (false, before, content) => {
                        self.changes.push(Change::Move { from: origin, to, before, guard, content });
                    }
                }
            }
            _ => self.changes.push(Change::Move { from, to, before, guard, content }),
        }
    }

    /// Whether a file on disk leaves this path through another change, so that it is free only afterwards.
    fn is_left(&self, path: &VaultPath, but_for: usize) -> bool {
        let leaves = |change: &Change| !matches!(change, Change::Write { .. } | Change::Create { .. });
        let mut others = self.changes.iter().enumerate().filter(|(index, _)| *index != but_for);
        others.any(|(_, change)| leaves(change) && same(change.path(), path))
    }

    fn delete(&mut self, change: Change) {
        let Change::Delete { path, before, guard } = change else { return };
        let index = self.maker(&path).filter(|index| match &self.changes[*index] {
            Change::Move { from: origin, .. } => !self.is_touched_after(*index, origin),
            _ => true,
        });
        match index.map(|index| self.changes.remove(index)) {
            // Anything created by the batch was never on disk.
            Some(Change::Create { .. }) => {}
            Some(Change::Write { before, guard, .. }) => self.changes.push(Change::Delete { path, before, guard }),
            Some(Change::Move { from, before: first, guard, .. }) => {
                // The content on disk, which is what the checkpoint has to keep.
                let before = first.unwrap_or(before);
                self.changes.push(Change::Delete { path: from, before, guard });
            }
            _ => self.changes.push(Change::Delete { path, before, guard }),
        }
    }
}

/// Accented letters have two encodings, and a caller may use either.
fn same(one: &VaultPath, other: &VaultPath) -> bool {
    let (one, other) = (one.as_str(), other.as_str());
    // Most paths have one encoding only, and every change is compared with all before it.
    one == other || (!(one.is_ascii() && other.is_ascii()) && one.nfc().eq(other.nfc()))
}

/// A path below one folder, moved below another.
pub fn rebased(path: &VaultPath, from: &VaultPath, to: &VaultPath) -> Option<VaultPath> {
    let below = path.as_str().strip_prefix(from.as_str()).filter(|below| below.starts_with('/'))?;
    VaultPath::parse(&format!("{to}{below}")).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{File, TrashKind};

    fn path(path: &str) -> VaultPath {
        VaultPath::parse(path).unwrap()
    }

    fn file(text: &str) -> Arc<File> {
        Arc::new(File { content: text.to_owned().into(), modified: None, created: None })
    }

    fn write(at: &str, before: &str, after: &str) -> Change {
        Change::Write {
            path: path(at),
            before: file(before),
            guard: ContentGuard::Plan,
            content: after.to_owned().into(),
        }
    }

    fn create(at: &str, text: &str) -> Change {
        Change::Create { path: path(at), content: text.to_owned().into() }
    }

    fn mv(from: &str, to: &str, text: &str) -> Change {
        Change::Move {
            from: path(from),
            to: path(to),
            before: Some(file(text)),
            guard: ContentGuard::Plan,
            content: None,
        }
    }

    fn delete(at: &str, text: &str) -> Change {
        Change::Delete { path: path(at), before: file(text), guard: ContentGuard::Plan }
    }

    fn trash(at: &str, text: &str) -> Change {
        Change::Trash { path: path(at), before: Some(file(text)), guard: ContentGuard::Plan, trash: TrashKind::InVault }
    }

    fn shown(set: &ChangeSet) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let one = |change: &Change| {
            let kind = match change {
                Change::Write { .. } => "write",
                Change::Create { .. } => "create",
                Change::Move { .. } => "move",
                Change::MoveFolder { .. } => "folder",
                Change::Trash { .. } => "trash",
                Change::Delete { .. } => "delete",
                Change::TrashFolder { .. } => "trash folder",
                Change::MakeFolder { .. } => "make folder",
            };
            let to = change.to().map_or(String::new(), |to| format!(">{to}"));
            let before = change.before().map_or(String::new(), |file| text(file.bytes()));
            format!("{kind} {}{to} {before}={}", change.path(), text(change.bytes()))
        };
        set.changes.iter().map(one).collect()
    }

    fn joined(changes: Vec<Change>) -> Vec<String> {
        let mut set = ChangeSet::default();
        changes
            .into_iter()
            .for_each(|change| set.join(ChangeSet::one(change), |folder| folder.as_str().starts_with('f')).unwrap());
        shown(&set)
    }

    #[test]
    fn successive_changes_are_merged() {
        let folder = || Change::MoveFolder { from: path("f"), to: path("g") };
        for (changes, expected) in [
            (vec![write("a", "1", "2"), write("a", "2", "3")], vec!["write a 1=3"]),
            (vec![write("a", "1", "2"), write("b", "x", "y"), write("a", "2", "1")], vec!["write b x=y"]),
            (vec![create("a", "1"), write("a", "1", "2")], vec!["create a =2"]),
            (vec![create("a", "1"), mv("a", "b", "1"), write("b", "1", "2")], vec!["create b =2"]),
            (vec![create("a", "1"), delete("a", "1")], vec![]),
            (vec![create("a", "1"), write("a", "1", "2"), trash("a", "2")], vec![]),
            (vec![trash("a", "0"), create("a", "1"), trash("a", "1")], vec!["trash a 0="]),
            (vec![mv("a", "b", "1"), write("b", "1", "2")], vec!["move a>b 1=2"]),
            (vec![write("a", "1", "2"), mv("a", "b", "2")], vec!["move a>b 1=2"]),
            (vec![mv("a", "b", "1"), mv("b", "c", "1")], vec!["move a>c 1=1"]),
            (vec![mv("a", "b", "1"), mv("b", "a", "1")], vec![]),
            (vec![mv("a", "b", "1"), write("b", "1", "2"), mv("b", "a", "2")], vec!["write a 1=2"]),
            (vec![mv("a", "b", "1"), delete("b", "1")], vec!["delete a 1="]),
            (vec![write("a", "1", "2"), delete("a", "2")], vec!["delete a 1="]),
            (vec![delete("a", "1"), create("a", "2")], vec!["write a 1=2"]),
            (vec![mv("a", "b", "1"), create("a", "2")], vec!["move a>b 1=1", "create a =2"]),
            // Two files swap their names.
            (
                vec![mv("a", "t", "1"), mv("b", "a", "2"), mv("t", "b", "1")],
                vec!["move a>t 1=1", "move b>a 2=2", "move t>b 1=1"],
            ),
            (vec![mv("a", "b", "1"), trash("b", "1")], vec!["move a>b 1=1", "trash b 1="]),
            (vec![trash("b", "2"), mv("a", "b", "1"), write("b", "1", "3")], vec!["trash b 2=", "move a>b 1=3"]),
            (vec![folder(), write("g/a", "1", "2"), write("g/a", "2", "3")], vec!["folder f>g =", "write g/a 1=3"]),
            (vec![write("f/a", "1", "2"), folder(), write("g/a", "2", "3")], vec!["write f/a 1=3", "folder f>g ="]),
            (vec![write("f/a", "1", "2"), folder(), mv("g/a", "b", "2")], vec!["folder f>g =", "move g/a>b 1=2"]),
            (
                vec![folder(), Change::MoveFolder { from: path("g"), to: path("h") }],
                vec!["folder f>g =", "folder g>h ="],
            ),
            (
                vec![folder(), Change::MoveFolder { from: path("g/k"), to: path("h") }],
                vec!["folder f>g =", "folder g/k>h ="],
            ),
            (vec![write("caf\u{e9}", "1", "2"), write("cafe\u{301}", "2", "3")], vec!["write caf\u{e9} 1=3"]),
        ] {
            assert_eq!(joined(changes), expected);
        }
    }

    #[test]
    fn changes_that_cannot_be_merged_are_refused_unchanged() {
        for (first, second) in [
            (write("a", "1", "2"), trash("a", "2")),
            (Change::TrashFolder { path: path("f") }, create("f/a", "1")),
            (Change::MoveFolder { from: path("f"), to: path("g") }, create("f/a", "1")),
            (create("n/a", "1"), Change::MoveFolder { from: path("n"), to: path("g") }),
        ] {
            let mut set = ChangeSet::one(first);
            let before = shown(&set);
            assert!(set.join(ChangeSet { changes: vec![create("new", "x"), second] }, |_| false).is_err());
            assert_eq!(shown(&set), before);
        }
    }
}
