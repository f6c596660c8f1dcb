use std::{sync::Arc, time::Duration};

use lapidary_note::ContentHash;
use similar::{ChangeTag, TextDiff};

use crate::{File, VaultPath};

/// What a write tool wants done. Nothing has happened yet.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug)]
pub enum Change {
    /// New bytes for a file that is there.
    Write { path: VaultPath, before: Arc<File>, guard: Guard, bytes: Vec<u8> },
    /// A file where there is none; missing folders are made.
    Create { path: VaultPath, bytes: Vec<u8> },
}

/// Who vouches for the content that a change replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The caller named it by hash: if it is gone, so is the reason for the change.
    Caller,
    /// The plan read it a moment ago: if it moved on, the plan can be made again.
    Plan,
}

impl Change {
    pub fn path(&self) -> &VaultPath {
        match self {
            Self::Write { path, .. } | Self::Create { path, .. } => path,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Write { bytes, .. } | Self::Create { bytes, .. } => bytes,
        }
    }

    pub fn before(&self) -> Option<&File> {
        match self {
            Self::Write { before, .. } => Some(before),
            Self::Create { .. } => None,
        }
    }
}

impl ChangeSet {
    pub fn one(change: Change) -> Self {
        Self { changes: vec![change] }
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Identifies exactly this change of exactly this content; what a person agreed to is this and nothing else.
    pub fn digest(&self) -> ContentHash {
        let mut description = String::new();
        for change in &self.changes {
            let before = change.before().map_or_else(|| "nothing".to_owned(), |file| file.hash.to_string());
            let after = ContentHash::of(change.bytes());
            description += &format!("{before} {after} {}\n", change.path());
        }
        ContentHash::of(description.as_bytes())
    }

    /// The change as a unified diff, for people. Text that is not UTF-8 is shown with replacement characters.
    pub fn diff(&self) -> Diff {
        let mut diff = Diff::default();
        for change in &self.changes {
            diff.add(change);
        }
        diff
    }
}

/// What a change adds and removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    pub text: String,
    pub lines_added: usize,
    pub lines_removed: usize,
}

/// Beyond this the diff gets coarser instead of slower: some texts take minutes to compare line by line.
const DIFF_PATIENCE: Duration = Duration::from_millis(500);

impl Diff {
    fn add(&mut self, change: &Change) {
        let old = String::from_utf8_lossy(change.before().map_or(&[][..], |file| &file.bytes[..]));
        let new = String::from_utf8_lossy(change.bytes());
        let (path, absent) = (change.path().as_str(), "/dev/null");
        let old_name = if change.before().is_some() { path } else { absent };
        let diff = TextDiff::configure().timeout(DIFF_PATIENCE).diff_lines(&*old, &*new);
        for line in diff.iter_all_changes() {
            match line.tag() {
                ChangeTag::Insert => self.lines_added += 1,
                ChangeTag::Delete => self.lines_removed += 1,
                ChangeTag::Equal => {}
            }
        }
        self.text += &diff.unified_diff().context_radius(2).header(old_name, path).to_string();
    }
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    pub changed: Vec<Changed>,
}

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: VaultPath,
    pub before: Option<ContentHash>,
    pub after: ContentHash,
    pub bytes_before: usize,
    pub bytes_after: usize,
}

impl Receipt {
    /// What carrying out this set does.
    pub fn of(set: &ChangeSet) -> Self {
        let changed = |change: &Change| Changed {
            path: change.path().clone(),
            before: change.before().map(|file| file.hash),
            after: ContentHash::of(change.bytes()),
            bytes_before: change.before().map_or(0, |file| file.bytes.len()),
            bytes_after: change.bytes().len(),
        };
        Self { changed: set.changes.iter().map(changed).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(before: &str, after: &str) -> ChangeSet {
        let bytes = before.as_bytes().to_vec();
        let before = Arc::new(File { hash: ContentHash::of(&bytes), bytes, modified: None, created: None });
        let path = VaultPath::parse("a.md").unwrap();
        ChangeSet::one(Change::Write { path, before, guard: Guard::Plan, bytes: after.into() })
    }

    #[test]
    fn lines_are_counted_by_what_happened_to_them_not_by_their_looks() {
        let diff = write("---\na: 1\n---\n-- sig\n", "++ new\n").diff();
        assert_eq!((diff.lines_added, diff.lines_removed), (1, 4), "{}", diff.text);
    }

    #[test]
    fn a_text_that_is_hard_to_compare_is_compared_in_time() {
        let old: String = (0..200_000).map(|n| if n % 3 == 0 { "a\n" } else { "b\n" }).collect();
        let new: String = (0..200_000).map(|n| if n % 5 == 0 { "b\n" } else { "a\n" }).collect();
        assert!(!write(&old, &new).diff().text.is_empty());
    }
}
