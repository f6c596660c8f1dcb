//! Changes of every kind, each with the whole vault before and after it: what the harnesses kill, fail and interrupt.
//! Shared with the tests of the vault, which include this file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;

use super::{Change, ContentGuard, File, TrashKind, vault_path};

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Paths and texts; a path with a trailing slash is an empty folder.
    before: Listing,
    after: Listing,
    changes: fn(Read<'_>) -> Vec<Change>,
}

/// What a plan reads of an existing file.
pub(crate) type Read<'a> = &'a dyn Fn(&str) -> Arc<File>;

type Listing = &'static [(&'static str, &'static str)];

/// A vault as it is on disk, including hidden files: texts by path, and `None` for a folder.
pub(crate) type Tree = BTreeMap<String, Option<Vec<u8>>>;

impl Scenario {
    pub(crate) fn before(&self) -> Tree {
        tree(self.before)
    }

    pub(crate) fn after(&self) -> Tree {
        tree(self.after)
    }

    pub(crate) fn changes(&self, read: Read<'_>) -> Vec<Change> {
        (self.changes)(read)
    }
}

/// Files that are in every vault and not our concern.
const BESIDE: Listing = &[("untouched.md", "# Untouched\n"), ("folder/beside.md", "[[a]] beside\n"), ("empty/", "")];

fn tree(listing: Listing) -> Tree {
    let mut tree = Tree::new();
    for (path, text) in listing.iter().chain(BESIDE) {
        let content = if path.ends_with('/') { None } else { Some(text.as_bytes().to_vec()) };
        let path = path.trim_end_matches('/');
        for (slash, _) in path.match_indices('/') {
            tree.insert(path[..slash].to_owned(), None);
        }
        tree.insert(path.to_owned(), content);
    }
    tree
}

pub(crate) fn put(tree: &Tree, root: &Path) {
    std::fs::create_dir_all(root).unwrap();
    for (path, content) in tree {
        match content {
            None => std::fs::create_dir_all(root.join(path)).unwrap(),
            Some(bytes) => std::fs::write(root.join(path), bytes).unwrap(),
        }
    }
}

/// For messages.
pub(crate) fn shown(tree: &Tree) -> String {
    let line = |(path, content): (&String, &Option<Vec<u8>>)| match content {
        None => format!("  {path}/\n"),
        Some(bytes) => format!("  {path}: {:?}\n", String::from_utf8_lossy(bytes)),
    };
    tree.iter().map(line).collect()
}

pub(crate) fn tree_of(root: &Path) -> Tree {
    let mut tree = Tree::new();
    add_to(&mut tree, root, "");
    tree
}

fn add_to(tree: &mut Tree, root: &Path, folder: &str) {
    for entry in std::fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            add_to(tree, root, &path);
            tree.insert(path, None);
        } else {
            tree.insert(path, Some(std::fs::read(entry.path()).unwrap()));
        }
    }
}

/// What a plan knows of a file that an earlier change of its set creates.
pub(crate) fn known(text: impl AsRef<[u8]>) -> Arc<File> {
    Arc::new(File { content: text.as_ref().to_vec().into(), modified: None, created: None })
}

fn write(read: Read<'_>, path: &str, bytes: &str) -> Change {
    Change::Write {
        path: vault_path(path),
        before: read(path),
        guard: ContentGuard::Plan,
        content: bytes.to_owned().into(),
    }
}

fn create(path: &str, bytes: &str) -> Change {
    Change::Create { path: vault_path(path), content: bytes.to_owned().into() }
}

fn rewrite(path: &str, before: &str, after: &str) -> Change {
    Change::Write {
        path: vault_path(path),
        before: known(before),
        guard: ContentGuard::Plan,
        content: after.to_owned().into(),
    }
}

fn rename(from: &str, to: &str, before: &str, bytes: Option<&str>) -> Change {
    let content = bytes.map(|text| text.to_owned().into());
    Change::Move {
        from: vault_path(from),
        to: vault_path(to),
        before: Some(known(before)),
        guard: ContentGuard::Plan,
        content,
    }
}

fn trash(path: &str, before: Option<&str>, trash: TrashKind) -> Change {
    Change::Trash { path: vault_path(path), before: before.map(known), guard: ContentGuard::Plan, trash }
}

fn delete(path: &str, before: &str) -> Change {
    Change::Delete { path: vault_path(path), before: known(before), guard: ContentGuard::Caller }
}

const TEN: [&str; 10] = ["0.md", "1.md", "2.md", "3.md", "4.md", "n/5.md", "n/6.md", "n/7.md", "n/o/8.md", "n/o/9.md"];

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "one write",
        before: &[("a.md", "\u{feff}old\r\n[[folder/beside]]\r\n")],
        after: &[("a.md", "\u{feff}new\r\n#tag")],
        changes: |read| vec![write(read, "a.md", "\u{feff}new\r\n#tag")],
    },
    Scenario {
        name: "a new note in new folders",
        before: &[],
        after: &[("new/deep/er/a.md", "# New\n")],
        changes: |_| vec![create("new/deep/er/a.md", "# New\n")],
    },
    Scenario {
        name: "trash in the vault",
        before: &[("a.md", "old\n"), ("folder/a.md", "other\n")],
        after: &[(".trash/a.md", "old\n"), (".trash/a 2.md", "other\n")],
        changes: |_| {
            vec![
                trash("a.md", Some("old\n"), TrashKind::InVault),
                // The first takes the name.
                trash("folder/a.md", None, TrashKind::InVault),
            ]
        },
    },
    Scenario {
        name: "trash of the system",
        before: &[("folder/a.md", "to the trash\n"), ("b.md", "unread\n")],
        after: &[],
        changes: |_| {
            vec![
                trash("folder/a.md", Some("to the trash\n"), TrashKind::System),
                trash("b.md", None, TrashKind::System),
            ]
        },
    },
    Scenario {
        name: "a delete",
        before: &[("folder/a.md", "old\n")],
        after: &[],
        changes: |_| vec![delete("folder/a.md", "old\n")],
    },
    Scenario {
        name: "a move with its links",
        before: &[("a.md", "I am [[b]]\n"), ("b.md", "see [[a]]\n"), ("n/c.md", "![[a#x|y]]\n")],
        after: &[("moved/to/z.md", "I am [[b]], moved\n"), ("b.md", "see [[z]]\n"), ("n/c.md", "![[z#x|y]]\n")],
        changes: |read| {
            vec![
                rename("a.md", "moved/to/z.md", "I am [[b]]\n", Some("I am [[b]], moved\n")),
                write(read, "b.md", "see [[z]]\n"),
                write(read, "n/c.md", "![[z#x|y]]\n"),
            ]
        },
    },
    Scenario {
        name: "a batch of ten",
        before: &[
            ("0.md", "0"),
            ("1.md", "1"),
            ("2.md", "2"),
            ("3.md", "3"),
            ("4.md", "4"),
            ("n/5.md", "5"),
            ("n/6.md", "6"),
            ("n/7.md", "7"),
            ("n/o/8.md", "8"),
            ("n/o/9.md", "9"),
        ],
        after: &[
            ("0.md", "ours"),
            ("1.md", "ours"),
            ("2.md", "ours"),
            ("3.md", "ours"),
            ("4.md", "ours"),
            ("n/5.md", "ours"),
            ("n/6.md", "ours"),
            ("n/7.md", "ours"),
            ("n/o/8.md", "ours"),
            ("n/o/9.md", "ours"),
        ],
        changes: |read| TEN.map(|path| write(read, path, "ours")).into(),
    },
    Scenario {
        name: "another note in the place of a moved one",
        before: &[("a.md", "old\n"), ("c.md", "c\n")],
        after: &[("b.md", "old\n"), ("a.md", "a new one\n"), ("c.md", "C\n")],
        changes: |_| {
            vec![rewrite("c.md", "c\n", "C\n"), rename("a.md", "b.md", "old\n", None), create("a.md", "a new one\n")]
        },
    },
    Scenario {
        name: "made and then edited",
        before: &[("b.md", "b\n")],
        after: &[("n/a.md", "three\n"), ("b.md", "B\n")],
        changes: |_| {
            vec![
                create("n/a.md", "one\n"),
                rewrite("n/a.md", "one\n", "two\n"),
                rewrite("b.md", "b\n", "B\n"),
                rewrite("n/a.md", "two\n", "three\n"),
            ]
        },
    },
    Scenario {
        name: "deleted and made again",
        before: &[("a.md", "old\n"), ("b.md", "b\n")],
        after: &[("a.md", "new\n"), ("b.md", "B\n")],
        changes: |_| vec![rewrite("b.md", "b\n", "B\n"), delete("a.md", "old\n"), create("a.md", "new\n")],
    },
    Scenario {
        name: "two that change names",
        before: &[("a.md", "a\n"), ("b.md", "b\n")],
        after: &[("a.md", "b\n"), ("b.md", "a, edited\n"), ("n/", "")],
        changes: |_| {
            vec![
                rename("a.md", "n/c.md", "a\n", None),
                rename("b.md", "a.md", "b\n", None),
                rename("n/c.md", "b.md", "a\n", Some("a, edited\n")),
            ]
        },
    },
    Scenario {
        name: "a folder with everything in it",
        before: &[("old/a.md", "a\n"), ("old/deep/b.md", "b\n"), ("c.md", "[[old/a]]\n")],
        after: &[("new/name/a.md", "a\n"), ("new/name/deep/b.md", "b\n"), ("c.md", "[[new/name/a]]\n")],
        changes: |read| {
            vec![
                Change::MoveFolder { from: vault_path("old"), to: vault_path("new/name") },
                write(read, "c.md", "[[new/name/a]]\n"),
            ]
        },
    },
    Scenario {
        name: "a folder in which a note was edited",
        before: &[("old/a.md", "a [[../b]]\n"), ("b.md", "b\n")],
        after: &[("new/name/a.md", "a [[../../b]]\n"), ("b.md", "B\n")],
        changes: |read| {
            vec![
                write(read, "old/a.md", "a [[../../b]]\n"),
                Change::MoveFolder { from: vault_path("old"), to: vault_path("new/name") },
                write(read, "b.md", "B\n"),
            ]
        },
    },
    Scenario {
        name: "made, edited twice and moved",
        before: &[],
        after: &[("m/b.md", "three\n"), ("n/", "")],
        changes: |_| {
            vec![
                create("n/a.md", "one\n"),
                rewrite("n/a.md", "one\n", "two\n"),
                rename("n/a.md", "m/b.md", "two\n", Some("three\n")),
            ]
        },
    },
    Scenario {
        name: "a restore",
        before: &[("a.md", "changed since\n"), ("n/appeared.md", "appeared\n"), ("b.md", "at another place\n")],
        after: &[
            ("a.md", "as it was\n"),
            (".trash/appeared.md", "appeared\n"),
            ("n/", ""),
            ("m/back.md", "deleted once\n"),
            ("c.md", "at another place\n"),
        ],
        changes: |read| {
            vec![
                write(read, "a.md", "as it was\n"),
                create("m/back.md", "deleted once\n"),
                rename("b.md", "c.md", "at another place\n", None),
                trash("n/appeared.md", Some("appeared\n"), TrashKind::InVault),
            ]
        },
    },
];

/// A vault, its state and a trash, in one folder.
pub(crate) struct Place {
    pub(crate) around: TempDir,
}

impl Place {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let memory = Path::new("/dev/shm");
        let around = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        put(&scenario.before(), &around.path().join("vault"));
        Self { around }
    }

    pub(crate) fn vault(&self) -> PathBuf {
        self.around.path().join("vault")
    }
}

/// Steps of a killed server that have not been cleaned up.
pub(crate) fn steps_written_down(place: &Place) -> i64 {
    let Ok(states) = std::fs::read_dir(place.around.path().join("state")) else { return 0 };
    let ledgers = states.map(|state| state.unwrap().path().join("checkpoints.db")).filter(|ledger| ledger.exists());
    let count = |ledger: PathBuf| {
        let ledger = rusqlite::Connection::open(ledger).unwrap();
        let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        // Without its tables nothing was ever stored.
        ledger.query_row("SELECT count(*) FROM steps WHERE state < 2", [], count).unwrap_or(0)
    };
    ledgers.map(count).sum()
}
