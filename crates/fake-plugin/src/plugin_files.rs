//! The files of the vault that the plugin serves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Long ago, so that every file has a time.
const FIRST_TIME: u64 = 1_700_000_000_000;

pub(crate) struct PluginFiles {
    pub(crate) files: BTreeMap<String, PluginFile>,
    /// Paths of files that were trashed.
    pub(crate) trash: Vec<String>,
    pub(crate) active: Option<String>,
    /// By period and day.
    pub(crate) periodic: BTreeMap<(String, String), String>,
    /// In milliseconds; goes on with every change.
    now: u64,
}

#[derive(Clone)]
pub(crate) struct PluginFile {
    pub(crate) bytes: Vec<u8>,
    created: u64,
    modified: u64,
}

impl PluginFiles {
    pub(crate) fn new(files: Vec<(String, Vec<u8>)>) -> Self {
        let mut this = Self {
            files: BTreeMap::new(),
            trash: Vec::new(),
            active: None,
            periodic: BTreeMap::new(),
            now: FIRST_TIME,
        };
        for (path, bytes) in files {
            this.put(&path, bytes);
        }
        this
    }

    pub(crate) fn put(&mut self, path: &str, bytes: Vec<u8>) {
        // Every change has another time, so that none is missed by comparing times.
        self.now += 1000;
        let created = self.files.get(path).map_or(self.now, |file| file.created);
        self.files.insert(path.to_owned(), PluginFile { bytes, created, modified: self.now });
    }

    /// What the app's index has: no names with a dot in front.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (&String, &PluginFile)> {
        self.files.iter().filter(|(path, _)| !path.split('/').any(|name| name.starts_with('.')))
    }

    /// The names in a folder, whose path ends with a slash unless it is the vault.
    pub(crate) fn names_in(&self, folder: &str) -> BTreeSet<String> {
        let below = self.visible().filter_map(|(path, _)| path.strip_prefix(folder));
        // The same folder appears once, however many files are below it.
        below.map(|rest| rest.split_once('/').map_or_else(|| rest.to_owned(), |(name, _)| format!("{name}/"))).collect()
    }

    pub(crate) fn note(&self, path: &str, knows_links: bool) -> Option<Value> {
        let file = self.files.get(path)?;
        // Version 6 does not know links.
        let links = if knows_links { json!([]) } else { Value::Null };
        Some(json!({
            "path": path,
            "content": String::from_utf8_lossy(&file.bytes),
            "frontmatter": {},
            "tags": [],
            "stat": { "ctime": file.created, "mtime": file.modified, "size": file.bytes.len() },
            "links": links,
            "backlinks": links,
        }))
    }
}
