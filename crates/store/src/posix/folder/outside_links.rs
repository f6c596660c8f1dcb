//! Links that leave the vault, into folders that the owner named. The target of such a link is opened as a separate
//! folder, from which again nothing leads outside.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};

use super::{
    FolderEntry, OpenedFolder, PlaceCheck,
    path_walk::{EntryClass, LinkHandling, PathEnd},
};
use crate::{VaultPath, posix::StoreError};

/// The folders outside the vault that its links may lead to.
#[derive(Default)]
pub(super) struct FollowedFolders {
    vault: PathBuf,
    folders: Vec<PathBuf>,
}

/// A link that leaves the vault, on the way to a path.
pub(super) struct LeavingLink {
    /// Where in the vault it is.
    pub(super) link: String,
    pub(super) target: PathBuf,
    /// The remaining names, last first.
    pub(super) ahead: Vec<String>,
}

/// A path that is outside, behind a link.
pub(super) struct OutsidePath {
    pub(super) folder: OpenedFolder,
    /// Where it is in that folder; `None` is the folder itself.
    pub(super) path: Option<VaultPath>,
    behind: VaultSpelling,
}

/// The path of a place of the folder in the vault.
enum VaultSpelling {
    /// The link is the folder.
    Folder { link: String },
    /// The link is this one file of the folder.
    File { link: String, name: VaultPath },
}

impl VaultSpelling {
    /// The path in the vault, if the place has one. Rules apply to those.
    fn in_vault(&self, place: Option<&VaultPath>) -> Option<VaultPath> {
        match (self, place) {
            (Self::Folder { link }, None) => VaultPath::spelt(link),
            (Self::Folder { link }, Some(place)) => VaultPath::spelt(&format!("{link}/{place}")),
            // Other files beside the target have no name in the vault.
            (Self::File { link, name }, Some(place)) if name == place => VaultPath::spelt(link),
            (Self::File { .. }, _) => None,
        }
    }
}

/// Whether a link in a folder of this depth leads out of the vault.
pub(super) fn leaves(target: &Path, mut depth: usize) -> bool {
    target.components().any(|part| match part {
        Component::RootDir | Component::Prefix(_) => true,
        Component::CurDir => false,
        Component::Normal(_) => {
            depth += 1;
            false
        }
        Component::ParentDir if depth == 0 => true,
        Component::ParentDir => {
            depth -= 1;
            false
        }
    })
}

impl FollowedFolders {
    pub(super) fn new(vault: PathBuf, folders: Vec<PathBuf>) -> Self {
        Self { vault, folders }
    }

    pub(super) fn is_any(&self) -> bool {
        !self.folders.is_empty()
    }

    /// The followed folder that a link leads into, and where in it.
    fn entered(&self, leaving: &LeavingLink) -> Option<(PathBuf, Vec<String>)> {
        // Looked up each time: a folder may be moved or mounted while the server runs.
        let vault = std::fs::canonicalize(&self.vault).ok()?;
        let beside = Path::new(&leaving.link).parent().unwrap_or(Path::new(""));
        let target = tidied(&vault.join(beside).join(&leaving.target))?;
        let mut longest: Option<(PathBuf, PathBuf)> = None;
        for given in &self.folders {
            let Ok(real) = std::fs::canonicalize(given) else { continue };
            // Through such a folder a link would reach paths that the vault closes.
            if real.starts_with(&vault) || vault.starts_with(&real) {
                continue;
            }
            let below = [given, &real].into_iter().find_map(|folder| target.strip_prefix(folder).ok());
            if let Some(below) = below
                // The innermost wins where the owner named a folder and one inside of it.
                && longest.as_ref().is_none_or(|(other, _)| real.starts_with(other))
            {
                longest = Some((real, below.to_owned()));
            }
        }
        let (folder, below) = longest?;
        let names = below.components().map(|part| part.as_os_str().to_str().map(str::to_owned));
        // A name that is not UTF-8 cannot be part of a path of the vault.
        Some((folder, names.collect::<Option<_>>()?))
    }
}

/// The path without `.` and `..`.
fn tidied(path: &Path) -> Option<PathBuf> {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Above the root there is nothing to follow.
            Component::ParentDir => tidied.pop().then_some(())?,
            part => tidied.push(part),
        }
    }
    Some(tidied)
}

impl OpenedFolder {
    /// Runs an operation on a file of this folder, or of the one that a followed link leads into.
    pub(super) fn wherever<T>(
        &self,
        path: &VaultPath,
        open: PlaceCheck<'_>,
        act: impl Fn(&Self, &VaultPath, PlaceCheck<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let done = act(self, path, open);
        // Most paths stay inside, so the way out is only looked for after that.
        if !matches!(done, Err(StoreError::Outside)) {
            return done;
        }
        let elsewhere = self.elsewhere(path, LinkHandling::All(open))?;
        let inside = elsewhere.path.as_ref().ok_or(StoreError::IsFolder)?;
        act(&elsewhere.folder, inside, &|place| elsewhere.shows(place, open))
    }

    pub(super) fn list_elsewhere(
        &self,
        folder: Option<&VaultPath>,
        open: PlaceCheck<'_>,
    ) -> Result<Vec<FolderEntry>, StoreError> {
        let folder = folder.ok_or(StoreError::Outside)?;
        let elsewhere = self.elsewhere(folder, LinkHandling::All(open))?;
        let listed = elsewhere.folder.list(elsewhere.path.as_ref(), &|place| elsewhere.shows(place, open))?;
        let shown = |entry: FolderEntry| {
            // Named as in the vault: a caller never sees where the folder really is.
            let path = VaultPath::spelt(&format!("{folder}/{}", entry.path.name()))?;
            elsewhere.shows(&entry.path, open).then_some(FolderEntry { path, ..entry })
        };
        Ok(listed.into_iter().filter_map(shown).collect())
    }

    pub(super) fn find_folder_elsewhere(&self, folder: &VaultPath, open: PlaceCheck<'_>) -> Result<(), StoreError> {
        let elsewhere = self.elsewhere(folder, LinkHandling::All(open))?;
        match &elsewhere.path {
            Some(inside) => elsewhere.folder.find_folder(inside, &|place| elsewhere.shows(place, open)),
            None => Ok(()),
        }
    }

    /// The target of a link in a listing that leaves the vault.
    pub(super) fn metadata_elsewhere(&self, path: &VaultPath, open: PlaceCheck<'_>) -> Option<Metadata> {
        self.elsewhere(path, LinkHandling::All(open)).ok()?.metadata()
    }

    /// The name in the vault of a place behind a followed link, as found in the folder there.
    pub(super) fn place_elsewhere(
        &self,
        path: &VaultPath,
        open: PlaceCheck<'_>,
        find: impl Fn(&Self, &VaultPath, PlaceCheck<'_>) -> Result<VaultPath, StoreError>,
    ) -> Result<VaultPath, StoreError> {
        let elsewhere = self.elsewhere(path, LinkHandling::All(open))?;
        let inside = elsewhere.path.as_ref().ok_or(StoreError::IsFolder)?;
        let real = find(&elsewhere.folder, inside, &|place| elsewhere.shows(place, open))?;
        elsewhere.in_vault(&real).ok_or(StoreError::BadName)
    }

    /// Whether there are outside folders that links may lead to.
    pub(super) fn follows(&self) -> bool {
        self.followed.is_any()
    }

    /// The target of a path behind a followed link. Links that are not followed are not part of the vault.
    pub(super) fn behind_link(&self, path: &VaultPath) -> Option<OutsidePath> {
        // Nor is the target of another link in the vault: that link may be where a caller must not look.
        if self.follows() { self.elsewhere(path, LinkHandling::OnlyLeaving).ok() } else { None }
    }

    /// Opens the folder that a path leads into, if the owner named it and the caller may use that place.
    pub(super) fn elsewhere(&self, path: &VaultPath, links: LinkHandling<'_>) -> Result<OutsidePath, StoreError> {
        if self.followed.folders.is_empty() {
            return Err(StoreError::Outside);
        }
        let PathEnd::Leaves(leaving) = self.way(path, links)? else { return Err(StoreError::Outside) };
        let (root, names) = self.followed.entered(&leaving).ok_or(StoreError::Outside)?;
        let root = Dir::open_ambient_dir(&root, ambient_authority()).map_err(|_| StoreError::Missing)?;
        // It follows nothing itself: links in there that leave it again lead nowhere.
        let root = Self::new(root, Arc::default(), self.second_names.clone())?;
        let LeavingLink { link, mut ahead, .. } = leaving;
        ahead.reverse();
        // What is left of the path goes on inside that folder, and it may not contain `..`.
        let below = match ahead.join("/").as_str() {
            "" => None,
            below => Some(VaultPath::spelt(below).ok_or(StoreError::Outside)?),
        };
        let elsewhere = root.behind(link, &names, below)?;
        let place = elsewhere.behind.in_vault(elsewhere.path.as_ref()).ok_or(StoreError::BadName)?;
        match links {
            // The caller named a link elsewhere, and may be denied the place that it leads to.
            LinkHandling::All(open) | LinkHandling::AllButLast(open) if place != *path && !open(&place) => {
                Err(StoreError::Closed)
            }
            _ => Ok(elsewhere),
        }
    }

    /// The target of a link to these names of a followed folder.
    fn behind(self, link: String, names: &[String], below: Option<VaultPath>) -> Result<OutsidePath, StoreError> {
        if names.is_empty() {
            return Ok(OutsidePath { folder: self, path: below, behind: VaultSpelling::Folder { link } });
        }
        let target = VaultPath::spelt(&names.join("/")).ok_or(StoreError::BadName)?;
        // It would be hidden by its own path, so no link shows it; nor does a link in there that leads to such a place.
        let is_open = |place: &VaultPath| !place.is_hidden();
        if !is_open(&target) {
            return Err(StoreError::Closed);
        }
        let within = |dir, names| Self::new(dir, Arc::default(), names);
        let sight = self.sight(&target, &is_open)?;
        if sight.kind == EntryClass::Folder {
            let folder = within(sight.enter()?, self.second_names.clone())?;
            return Ok(OutsidePath { folder, path: below, behind: VaultSpelling::Folder { link } });
        }
        // A file has nothing below it.
        if below.is_some() {
            return Err(StoreError::Missing);
        }
        let name = VaultPath::spelt(&sight.name).ok_or(StoreError::BadName)?;
        let folder = within(sight.folder.into_dir()?, self.second_names.clone())?;
        Ok(OutsidePath { folder, path: Some(name.clone()), behind: VaultSpelling::File { link, name } })
    }
}

impl OutsidePath {
    /// Whether the link is this one file.
    pub(super) fn is_single_file(&self) -> bool {
        matches!(self.behind, VaultSpelling::File { .. })
    }

    pub(super) fn metadata(&self) -> Option<Metadata> {
        match &self.path {
            Some(path) => self.folder.dir.symlink_metadata(path.as_str()).ok(),
            None => self.folder.dir.dir_metadata().ok(),
        }
    }

    pub(super) fn shows(&self, place: &VaultPath, open: PlaceCheck<'_>) -> bool {
        self.in_vault(place).is_some_and(|place| open(&place))
    }

    /// The name of a place of the folder in the vault.
    pub(super) fn in_vault(&self, place: &VaultPath) -> Option<VaultPath> {
        self.behind.in_vault(Some(place))
    }
}
