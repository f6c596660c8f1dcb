//! Tests of resolving, writing and moving links, over a vault of names.

use std::collections::BTreeMap;

use super::{FileNames, folded_name, resolve};
use crate::VaultPath;

mod laws;
mod moving;
mod resolving;
mod writing;

/// The files of a vault by their folded last names.
#[derive(Clone, Debug, Default)]
struct Files(BTreeMap<String, Vec<VaultPath>>);

impl FileNames for Files {
    fn named<'n>(&'n self, folded: &str) -> impl Iterator<Item = &'n VaultPath> {
        self.0.get(folded).into_iter().flatten()
    }
}

impl FromIterator<VaultPath> for Files {
    fn from_iter<T: IntoIterator<Item = VaultPath>>(paths: T) -> Self {
        let mut files = Self::default();
        for path in paths {
            files.0.entry(folded_name(path.name()).into_owned()).or_default().push(path);
        }
        files
    }
}

impl Files {
    fn of(paths: &[&str]) -> Self {
        paths.iter().copied().map(path).collect()
    }

    fn resolve(&self, linkpath: &str, source: &str) -> Option<String> {
        resolve(self, linkpath, &path(source)).map(VaultPath::to_string)
    }
}

fn path(path: &str) -> VaultPath {
    VaultPath::parse(path).unwrap()
}
