//! A look at a vault's folder as it is, for its owner: what a sync tool, another system or a mode bit may spoil. Nothing
//! is written, no link is followed, and only the search for conflict markers reads files.

mod disk_facts;
mod file_names;
mod state_files;

use std::{
    collections::BTreeMap,
    fs::{self, DirEntry},
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{ElapsedTime, scope::folded};

pub use disk_facts::{DiskFacts, NamesAlike, WatchRoom, disk_facts, open_to_others, watch_room};
pub use file_names::SyncTool;
pub use state_files::SavedState;

use file_names::{SyncedNames, spoils_windows};

/// How many names are shown of each kind.
const SHOWN: usize = 3;
/// What is more than this would take too long to look at.
const MOST_ENTRIES: usize = 400_000;
const MOST_READ: u64 = 128 << 20;
/// Markers of a merge that was not finished are in text that a person wrote, not in megabytes.
const LARGEST_MERGED: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(8);

/// What a look at a vault is for.
#[derive(Clone, Copy, Debug)]
pub struct InspectionLimits<'a> {
    /// Larger files cannot be read by callers.
    pub max_file_bytes: u64,
    /// Folders outside that links may lead to.
    pub follow: &'a [PathBuf],
    /// Names of folders that are never part of a vault.
    pub skip_folders: &'a [String],
}

/// Some files, by their number and a few names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSample {
    pub count: usize,
    /// Paths in the vault, at most three.
    pub first: Vec<String>,
}

impl FileSample {
    fn add(&mut self, path: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(path());
        }
    }
}

/// What there is in a vault's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaultInspection {
    pub notes: usize,
    pub files: usize,
    pub folders: usize,
    /// Not everything was looked at.
    pub is_cut: bool,
    /// Conflict markers were looked for in some of the notes only.
    pub is_merge_cut: bool,
    pub unreadable: FileSample,
    pub unwritable: FileSample,
    /// Names that are not text, so that no caller can name them.
    pub unnamed: FileSample,
    /// Names of one folder that some systems take for the same.
    pub alike: FileSample,
    /// Names that Windows, and so a sync to it, refuses.
    pub spoils_windows: FileSample,
    /// Names with letters and accents apart, as macOS once wrote them.
    pub decomposed: FileSample,
    pub conflict_copies: FileSample,
    pub conflict_markers: FileSample,
    /// Files whose content is in the cloud only.
    pub placeholders: FileSample,
    /// Links that are not followed.
    pub links_outside: FileSample,
    pub too_large: FileSample,
    pub sync_tools: Vec<SyncTool>,
}

/// Looks at the whole folder, within limits of time and number.
pub fn inspect_vault(vault: &Path, limits: &InspectionLimits<'_>) -> VaultInspection {
    let mut look = VaultLook {
        found: VaultInspection::default(),
        notes: Vec::new(),
        limits,
        started: ElapsedTime::start(),
        vault,
    };
    // First: which names are conflict copies depends on the tool that makes them.
    look.found.sync_tools = SyncTool::around(vault);
    look.walk();
    look.read_merges();
    look.found
}

struct VaultLook<'a> {
    vault: &'a Path,
    limits: &'a InspectionLimits<'a>,
    started: ElapsedTime,
    found: VaultInspection,
    /// Notes that are small enough to be read, with their sizes.
    notes: Vec<(PathBuf, u64)>,
}

impl VaultLook<'_> {
    fn walk(&mut self) {
        let mut folders = vec![self.vault.to_owned()];
        let mut seen = 0_usize;
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(_) => {
                    self.found.unreadable.add(|| shown(self.vault, &folder));
                    continue;
                }
            };
            self.found.folders += 1;
            // A folder too, because a change replaces the file in it instead of writing into the file.
            if !disk_facts::may_write(&folder) {
                self.found.unwritable.add(|| shown(self.vault, &folder) + "/");
            }
            // Sorted, so that the same vault gives the same report.
            let mut entries: Vec<DirEntry> = entries.filter_map(Result::ok).collect();
            entries.sort_by_key(DirEntry::file_name);
            self.compare_names(&folder, &entries);
            for entry in entries {
                seen += 1;
                // The clock is asked now and then, as asking costs as much as looking at an entry.
                if seen > MOST_ENTRIES || (seen.is_multiple_of(1024) && self.started.elapsed() > PATIENCE) {
                    self.found.is_cut = true;
                    return;
                }
                if let Some(below) = self.look_at(&entry) {
                    folders.push(below);
                }
            }
        }
    }

    /// One entry; a folder to look into is returned.
    fn look_at(&mut self, entry: &DirEntry) -> Option<PathBuf> {
        let path = entry.path();
        let place = || shown(self.vault, &path);
        let raw = entry.file_name();
        let Some(name) = raw.to_str() else {
            self.found.unnamed.add(place);
            return None;
        };
        let kind = entry.file_type().ok()?;
        // Never followed here: a circle of links would have no end, and what they lead to inside of the vault is seen
        // anyway.
        if kind.is_symlink() {
            let leads_outside = fs::canonicalize(&path).is_ok_and(|target| {
                let is_in = |folder: &Path| fs::canonicalize(folder).is_ok_and(|folder| target.starts_with(folder));
                !is_in(self.vault) && !self.limits.follow.iter().any(|folder| is_in(folder))
            });
            if leads_outside {
                self.found.links_outside.add(place);
            }
            return None;
        }
        // Before hidden names are passed over: iCloud hides its placeholders behind a dot.
        if file_names::is_placeholder(name) {
            self.found.placeholders.add(place);
            return None;
        }
        // Neither is part of a vault.
        if name.starts_with('.') || self.limits.skip_folders.iter().any(|skipped| folded(skipped) == folded(name)) {
            return None;
        }
        if spoils_windows(name) {
            self.found.spoils_windows.add(place);
        }
        if file_names::is_decomposed(name) {
            self.found.decomposed.add(place);
        }
        if kind.is_dir() {
            return Some(path);
        }
        self.look_at_file(&path, name);
        None
    }

    fn look_at_file(&mut self, path: &Path, name: &str) {
        let place = || shown(self.vault, path);
        self.found.files += 1;
        if !disk_facts::may_read(path) {
            self.found.unreadable.add(place);
            return;
        }
        if !disk_facts::may_write(path) {
            self.found.unwritable.add(place);
        }
        let is_note = name.to_ascii_lowercase().ends_with(".md");
        let Ok(facts) = fs::symlink_metadata(path) else { return };
        // Attachments may have any size, since no tool reads them as text.
        if facts.len() > self.limits.max_file_bytes && (is_note || name.ends_with(".canvas")) {
            self.found.too_large.add(place);
        }
        if is_note {
            self.found.notes += 1;
            if facts.len() <= LARGEST_MERGED {
                self.notes.push((path.to_owned(), facts.len()));
            }
        }
    }

    /// What can only be seen in the names of one folder together.
    fn compare_names(&mut self, folder: &Path, entries: &[DirEntry]) {
        let names: Vec<String> = entries.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let mut by_fold: BTreeMap<String, &str> = BTreeMap::new();
        for name in &names {
            if by_fold.insert(folded(name), name).is_some() {
                self.found.alike.add(|| shown(self.vault, &folder.join(name)));
            }
        }
        let synced = SyncedNames::new(&names, &self.found.sync_tools);
        for name in names.iter().filter(|name| synced.is_conflict_copy(name)) {
            self.found.conflict_copies.add(|| shown(self.vault, &folder.join(name)));
        }
    }

    /// Notes with the markers that git leaves in a file that it could not merge.
    fn read_merges(&mut self) {
        let mut left = MOST_READ;
        let mut bytes = Vec::new();
        for (path, size) in std::mem::take(&mut self.notes) {
            if size > left || self.started.elapsed() > PATIENCE {
                self.found.is_merge_cut = true;
                return;
            }
            left -= size;
            // One buffer for all notes.
            bytes.clear();
            // A file that cannot be read was counted before.
            let Ok(file) = fs::File::open(&path) else { continue };
            if file.take(LARGEST_MERGED).read_to_end(&mut bytes).is_ok() && file_names::has_markers(&bytes) {
                self.found.conflict_markers.add(|| shown(self.vault, &path));
            }
        }
    }
}

/// A path in the vault, as people read it; the vault itself is `.`.
fn shown(vault: &Path, path: &Path) -> String {
    let below = path.strip_prefix(vault).unwrap_or(path);
    let text = below.to_string_lossy().replace('\\', "/");
    if text.is_empty() { ".".to_owned() } else { text }
}
