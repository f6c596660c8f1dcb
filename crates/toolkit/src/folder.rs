//! Finding folders.

use lapidary_operation::{Reason, clipped, quote::quoted_path};
use lapidary_query::nearest;
use lapidary_vault::{PathError, ReadError, VaultPath, View, VisibleFiles, links::folded_name};

/// Folders of one name that a refusal has.
const MOST_MATCHES: usize = 20;

/// What is at a path where a caller expects a folder. Entries that it may not see are treated as missing.
pub enum FolderTarget {
    /// `None` is the vault itself.
    There(Option<VaultPath>),
    File(VaultPath),
    Missing {
        path: VaultPath,
        nearest: Option<VaultPath>,
    },
}

impl FolderTarget {
    /// A path that is closed by its name is refused before any lookup.
    pub fn find(view: &View, files: &VisibleFiles, given: &str) -> Result<Self, Reason> {
        let path = match VaultPath::parse(given) {
            Ok(path) => path,
            Err(PathError::Empty) => return Ok(Self::There(None)),
            Err(problem) => return Err(Reason::PathInvalid { given: clipped(given), problem }),
        };
        // By its name alone, so the answer is the same whether or not it exists.
        if let Err(ReadError::Denied(denied)) = view.may_enter(&path) {
            return Err(Reason::closed(path, denied));
        }
        if let Some(folder) = files.find_folder(&path) {
            return Ok(Self::There(Some(folder)));
        }
        if files.find(&path).is_some() {
            return Ok(Self::File(path));
        }
        let nearest = near(files, &path);
        Ok(Self::Missing { path, nearest })
    }

    pub fn required(self) -> Result<Option<VaultPath>, Reason> {
        match self {
            Self::There(folder) => Ok(folder),
            Self::File(path) => Err(Reason::PathIsFile { path }),
            Self::Missing { path, nearest } => Err(Reason::DirectoryMissing { path, nearest }),
        }
    }

    /// The folder at this path, or the only one with this name, as people give it. `None` is the vault itself.
    pub fn named(view: &View, files: &VisibleFiles, given: &str) -> Result<Option<VaultPath>, Reason> {
        let target = Self::find(view, files, given)?;
        let Self::Missing { path, .. } = &target else { return target.required() };
        let wanted = folded_name(path.as_str());
        let is_meant = |folder: &&VaultPath| {
            let name = if path.folder().is_none() { folder.name() } else { folder.as_str() };
            folded_name(name) == wanted
        };
        let mut meant: Vec<VaultPath> = files.folders_below(None).filter(is_meant).cloned().collect();
        match meant.len() {
            0 => target.required(),
            1 => Ok(meant.pop()),
            _ => {
                meant.truncate(MOST_MATCHES);
                Err(Reason::AmbiguousPath { path: path.clone(), matches: meant })
            }
        }
    }

    /// The folder to which a caller limits a list; without one, all of the vault.
    pub fn chosen(view: &View, files: &VisibleFiles, given: Option<&str>) -> Result<Option<VaultPath>, Reason> {
        given.map_or(Ok(None), |given| Self::find(view, files, given)?.required())
    }

    /// For tools that return an empty result for a missing folder, with a notice.
    pub fn or_nothing(self) -> Result<Option<VaultPath>, String> {
        match self {
            Self::There(folder) => Ok(folder),
            Self::File(path) => Err(format!("{} is a file, not a folder.", quoted_path(&path))),
            Self::Missing { path, nearest: None } => Err(format!("There is no folder {}.", quoted_path(&path))),
            Self::Missing { path, nearest: Some(nearest) } => {
                Err(format!("There is no folder {}. Did you mean {}?", quoted_path(&path), quoted_path(&nearest)))
            }
        }
    }
}

/// The folder that a missing path probably means: one with a similar spelling, or with its name elsewhere.
pub fn near(files: &VisibleFiles, path: &VaultPath) -> Option<VaultPath> {
    let folders = || files.folders_below(None);
    // The same in another case, however many letters that makes.
    let folded = folded_name(path.as_str());
    if let Some(same) = folders().find(|folder| folded_name(folder.as_str()) == folded) {
        return Some(same.clone());
    }
    // Near as a path first: a typo in one of its folders is more likely than a move.
    let as_path = nearest(path.as_str(), folders().map(VaultPath::as_str));
    as_path.and_then(|meant| VaultPath::parse(meant).ok()).or_else(|| {
        let name = nearest(path.name(), folders().map(VaultPath::name))?;
        folders().find(|folder| folder.name() == name).cloned()
    })
}

/// A path relative to a folder above it.
pub fn relative<'p>(path: &'p str, folder: Option<&VaultPath>) -> &'p str {
    let from = folder.map_or(0, |folder| folder.as_str().len() + 1);
    path.get(from..).unwrap_or_default()
}
