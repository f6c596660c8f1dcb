//! Change sets: the changes that a plan wants, as values.

mod join;

use std::{sync::Arc, time::Duration};

use lapidary_note::{ContentHash, FileContent};
use similar::{ChangeTag, TextDiff};

pub use join::JoinError;
pub use join::rebased;

use crate::{File, VaultPath};

/// The changes that a write tool wants. Nothing has happened yet.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug)]
pub enum Change {
    /// New content for an existing file.
    Write { path: VaultPath, before: Arc<File>, guard: ContentGuard, content: FileContent },
    /// A new file; missing folders are created.
    Create { path: VaultPath, content: FileContent },
    /// Another path for an existing file, and new content if its own links have to change with it. Without `before` any
    /// content is moved.
    Move {
        from: VaultPath,
        to: VaultPath,
        before: Option<Arc<File>>,
        guard: ContentGuard,
        content: Option<FileContent>,
    },
    /// Another path for a folder and everything in it.
    MoveFolder { from: VaultPath, to: VaultPath },
    /// Out of the vault, to where people look for deleted files. Without `before` any content is trashed.
    Trash { path: VaultPath, before: Option<Arc<File>>, guard: ContentGuard, trash: TrashKind },
    /// A folder without files that the caller sees, to the vault's trash. Hidden files go with it.
    TrashFolder { path: VaultPath },
    /// A new folder.
    MakeFolder { path: VaultPath },
    /// Deleted, except for its checkpoint.
    Delete { path: VaultPath, before: Arc<File>, guard: ContentGuard },
}

/// Which trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrashKind {
    /// `.trash` in the vault.
    InVault,
    /// The system's; if there is none, the one in the vault.
    System,
}

/// Numbered as Obsidian numbers equal names: `a.md`, `a 2.md`.
pub(crate) fn numbered(name: &str, number: usize) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        // A name that only has a leading dot has no ending.
        (_, Some((stem, ending))) if !stem.is_empty() => format!("{stem} {number}.{ending}"),
        _ => format!("{name} {number}"),
    }
}

/// The check on the content that a change replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentGuard {
    /// The caller gave its hash: if the content is gone, so is the reason for the change.
    Caller,
    /// The plan read it a moment ago: if it has changed, the plan can be made again.
    Plan,
    /// None: all of it is replaced, regardless of its content. Anything the caller has not seen would be lost.
    Nobody,
}

impl Change {
    /// The file that exists or will exist.
    pub fn path(&self) -> &VaultPath {
        match self {
            Self::Write { path, .. }
            | Self::Create { path, .. }
            | Self::Move { from: path, .. }
            | Self::MoveFolder { from: path, .. }
            | Self::Trash { path, .. }
            | Self::TrashFolder { path }
            | Self::MakeFolder { path }
            | Self::Delete { path, .. } => path,
        }
    }

    /// Where it goes.
    pub fn to(&self) -> Option<&VaultPath> {
        match self {
            Self::Move { to, .. } | Self::MoveFolder { to, .. } => Some(to),
            Self::Write { .. }
            | Self::Create { .. }
            | Self::Trash { .. }
            | Self::TrashFolder { .. }
            | Self::MakeFolder { .. }
            | Self::Delete { .. } => None,
        }
    }

    /// The path where something new appears.
    pub fn makes(&self) -> Option<&VaultPath> {
        match self {
            Self::Create { path, .. } | Self::MakeFolder { path } => Some(path),
            _ => self.to(),
        }
    }

    /// Every path that differs afterwards.
    pub fn paths(&self) -> impl Iterator<Item = &VaultPath> {
        std::iter::once(self.path()).chain(self.to())
    }

    /// The content of the file afterwards, as far as known; `None` if it is gone.
    pub fn content(&self) -> Option<&FileContent> {
        match self {
            Self::Write { content, .. } | Self::Create { content, .. } | Self::Move { content: Some(content), .. } => {
                Some(content)
            }
            Self::Move { before, .. } => before.as_ref().map(|file| &file.content),
            Self::MoveFolder { .. }
            | Self::Trash { .. }
            | Self::TrashFolder { .. }
            | Self::MakeFolder { .. }
            | Self::Delete { .. } => None,
        }
    }

    /// The same as bytes; empty if unknown.
    pub fn bytes(&self) -> &[u8] {
        self.content().map_or(&[], FileContent::bytes)
    }

    /// The hash of those bytes; `None` if the file is gone.
    fn hash_after(&self) -> Option<ContentHash> {
        // A file that is moved without being read gets the hash of nothing, which is the same for every plan of it.
        let hash = || self.content().map_or_else(|| ContentHash::of(&[]), FileContent::hash);
        (!self.takes_away()).then(hash)
    }

    pub fn before(&self) -> Option<&File> {
        match self {
            Self::Write { before, .. } | Self::Delete { before, .. } => Some(before),
            Self::Move { before, .. } | Self::Trash { before, .. } => before.as_deref(),
            Self::Create { .. } | Self::MoveFolder { .. } | Self::TrashFolder { .. } | Self::MakeFolder { .. } => None,
        }
    }

    pub fn guard(&self) -> ContentGuard {
        match self {
            Self::Write { guard, .. }
            | Self::Move { guard, .. }
            | Self::Trash { guard, .. }
            | Self::Delete { guard, .. } => *guard,
            // They replace no content. If something is in the way by then, the plan can be made again.
            Self::Create { .. } | Self::MoveFolder { .. } | Self::TrashFolder { .. } | Self::MakeFolder { .. } => {
                ContentGuard::Plan
            }
        }
    }

    /// Whether the file is gone from the vault afterwards.
    pub fn takes_away(&self) -> bool {
        matches!(self, Self::Trash { .. } | Self::TrashFolder { .. } | Self::Delete { .. })
    }
}

impl ChangeSet {
    pub fn one(change: Change) -> Self {
        Self { changes: vec![change] }
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Identifies exactly this change of exactly this content; an approval covers this and nothing else.
    pub fn digest(&self) -> ContentHash {
        let mut description = String::new();
        for change in &self.changes {
            // The contents go in as hashes, so that the description stays small however large the files are.
            let written =
                |hash: Option<ContentHash>| hash.map_or_else(|| "nothing".to_owned(), |hash| hash.to_string());
            let before = written(change.before().map(File::hash));
            let after = written(change.hash_after());
            let to = change.to().map_or_else(String::new, |to| format!(" to {to}"));
            // Two kinds of change may have the same contents and paths, and must not have the same digest.
            let kind = match change {
                Change::Trash { .. } => " to the trash",
                Change::TrashFolder { .. } => " and all that is in it to the trash",
                Change::MakeFolder { .. } => " as a folder",
                Change::MoveFolder { .. } => " with everything in it",
                _ => "",
            };
            description += &format!("{before} {after} {}{to}{kind}\n", change.path());
        }
        ContentHash::of(description.as_bytes())
    }

    /// The change as a unified diff, for people. Text that is not UTF-8 is shown with replacement characters.
    pub fn diff(&self) -> ChangeDiff {
        self.diff_with(&|_| Vec::new())
    }

    /// The same, with lines about what a change writes that is not text.
    pub fn diff_with(&self, outline: &dyn Fn(&Change) -> Vec<String>) -> ChangeDiff {
        let mut diff = ChangeDiff::default();
        for change in &self.changes {
            diff.add(change, outline);
        }
        diff
    }
}

/// What a change adds and removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeDiff {
    pub text: String,
    pub lines_added: usize,
    pub lines_removed: usize,
}

/// Beyond this the diff gets coarser instead of slower: some texts take minutes to compare line by line.
const DIFF_PATIENCE: Duration = Duration::from_millis(500);

/// Beyond this many bytes the rest is only counted: it would not be read, and takes as much memory as the files.
const LONGEST_DIFF: usize = 4 << 20;
/// Longer texts are not compared line by line, which takes many times their size.
const MOST_LINES: usize = 400_000;

/// What a diff shows for a missing file.
const ABSENT: &str = "/dev/null";

impl ChangeDiff {
    /// Adds the difference between two versions of a file; `None` is a missing file.
    pub fn compare(&mut self, path: &VaultPath, old: Option<&[u8]>, new: Option<&[u8]>) {
        // A file that is the same before and after is not part of the difference.
        if old == new {
            return;
        }
        let name = |version: Option<&[u8]>| if version.is_some() { path.as_str() } else { ABSENT };
        self.add_lines((name(old), old.unwrap_or_default()), (name(new), new.unwrap_or_default()));
    }

    /// Adds that a file has another path, before its differences.
    pub fn rename(&mut self, from: &VaultPath, to: &VaultPath) {
        self.text += &format!("rename from {from}\nrename to {to}\n");
    }

    fn add(&mut self, change: &Change, outline: &dyn Fn(&Change) -> Vec<String>) {
        match change {
            Change::Trash { path, .. } => {
                self.text += &format!("move to the trash {path}\n");
                return;
            }
            Change::TrashFolder { path } => {
                self.text += &format!("move to the trash {path}/\n");
                return;
            }
            Change::MakeFolder { path } => {
                self.text += &format!("new folder {path}/\n");
                return;
            }
            Change::Move { from, to, .. } | Change::MoveFolder { from, to } => {
                self.rename(from, to);
            }
            Change::Write { .. } | Change::Create { .. } | Change::Delete { .. } => {}
        }
        let path = change.path().as_str();
        let old_name = if change.before().is_some() { path } else { ABSENT };
        // A rename with an edit is one diff from the old name to the new one, as git shows it.
        let new_name = if change.takes_away() { ABSENT } else { change.to().map_or(path, VaultPath::as_str) };
        let old = change.before().map_or(&[][..], File::bytes);
        self.add_lines((old_name, old), (new_name, change.bytes()));
        if !is_text(change.bytes()) {
            outline(change).iter().for_each(|line| self.text += &format!("  {line}\n"));
        }
    }

    fn add_lines(&mut self, old: (&str, &[u8]), new: (&str, &[u8])) {
        self.add_lines_within(DIFF_PATIENCE, old, new);
    }

    /// Lines that are not compared in time count as replaced.
    fn add_lines_within(&mut self, patience: Duration, (old_name, old): (&str, &[u8]), (new_name, new): (&str, &[u8])) {
        if !is_text(old) || !is_text(new) {
            self.text += &format!("--- {old_name}\n+++ {new_name}\nnot text: {}", content_size(old_name, old));
            self.text += &format!(", then {}\n", content_size(new_name, new));
            return;
        }
        let (before, after) = (line_count(old), line_count(new));
        // Only counted: all old lines as removed, all new ones as added.
        if self.text.len() > LONGEST_DIFF || before + after > MOST_LINES {
            self.lines_removed += before;
            self.lines_added += after;
            self.text += &format!("--- {old_name}\n+++ {new_name}\ntoo much to show: {before} lines, then {after}\n");
            return;
        }
        let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
        let diff = TextDiff::configure().timeout(patience).diff_lines(&*old, &*new);
        for line in diff.iter_all_changes() {
            match line.tag() {
                ChangeTag::Insert => self.lines_added += 1,
                ChangeTag::Delete => self.lines_removed += 1,
                ChangeTag::Equal => {}
            }
        }
        self.text += &diff.unified_diff().context_radius(2).header(old_name, new_name).to_string();
    }
}

fn is_text(content: &[u8]) -> bool {
    !content.contains(&0) && std::str::from_utf8(content).is_ok()
}

/// What a content is that has no lines: its kind by its name, and how large it is.
fn content_size(name: &str, content: &[u8]) -> String {
    if name == ABSENT {
        return "nothing".to_owned();
    }
    let ending = name.rsplit(['/', '.']).next().filter(|ending| name.ends_with(&format!(".{ending}")));
    let kind = ending.map_or(String::new(), |ending| format!("{}, ", ending.to_uppercase()));
    format!("{kind}{} bytes", content.len())
}

fn line_count(text: &[u8]) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').count()
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    pub changed: Vec<FileChange>,
    /// The checkpoint that undoes it; `None` if nothing had to be done.
    pub checkpoint: Option<String>,
}

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: VaultPath,
    /// Where it went.
    pub moved_to: Option<VaultPath>,
    pub before: Option<ContentHash>,
    /// `None` if it is gone.
    pub after: Option<ContentHash>,
    pub bytes_before: usize,
    pub bytes_after: usize,
}

impl Receipt {
    /// What carrying out this set does.
    pub fn of(set: &ChangeSet) -> Self {
        let changed = |change: &Change| FileChange {
            path: change.path().clone(),
            moved_to: change.to().cloned(),
            before: change.before().map(File::hash),
            after: change.hash_after(),
            bytes_before: change.before().map_or(0, |file| file.content.len()),
            bytes_after: change.bytes().len(),
        };
        Self { changed: set.changes.iter().map(changed).collect(), checkpoint: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(before: &str, after: &str) -> ChangeSet {
        let before = Arc::new(File { content: before.to_owned().into(), modified: None, created: None });
        let path = VaultPath::parse("a.md").unwrap();
        ChangeSet::one(Change::Write { path, before, guard: ContentGuard::Plan, content: after.to_owned().into() })
    }

    #[test]
    fn changed_lines_are_counted_by_their_role_in_the_diff() {
        let diff = write("---\na: 1\n---\n-- sig\n", "++ new\n").diff();
        assert_eq!((diff.lines_added, diff.lines_removed), (1, 4), "{}", diff.text);
    }

    #[test]
    fn a_diff_of_very_many_lines_is_only_counted() {
        let diff = write(&"\n".repeat(MOST_LINES), "x\n").diff();
        assert_eq!((diff.lines_added, diff.lines_removed), (1, MOST_LINES));
        assert!(diff.text.len() < 200, "{}", diff.text);
        let long = write("", &"long line of text\n".repeat(30_000));
        let all = ChangeSet { changes: vec![long.changes[0].clone(); 40] }.diff();
        assert_eq!(all.lines_added, 40 * 30_000);
        assert!(all.text.len() < 2 * LONGEST_DIFF, "{}", all.text.len());
    }

    #[test]
    fn lines_that_are_not_compared_in_time_count_as_replaced() {
        let old: String = (0..2_000).map(|n| if n % 3 == 0 { "a\n" } else { "b\n" }).collect();
        let new: String = (0..2_000).map(|n| if n % 5 == 0 { "b\n" } else { "a\n" }).collect();
        let within = |patience: Duration| {
            let mut diff = ChangeDiff::default();
            diff.add_lines_within(patience, ("a.md", old.as_bytes()), ("a.md", new.as_bytes()));
            assert_eq!(diff.lines_added, diff.lines_removed, "as many lines as before");
            diff.lines_removed
        };
        let (patient, hasty) = (within(Duration::from_secs(3600)), within(Duration::ZERO));
        assert!(patient < hasty, "{patient} and {hasty} lines");
    }
}
