//! What has changed in a folder since the last check: from the watch if there is one, otherwise by a full scan.

use std::time::Duration;

use super::{FolderStore, FolderWatch, FoundFile, StoreError, WalkOptions, folder::OpenedFolder};
use crate::{Cursor, ElapsedTime, ListingOptions, PlaceState, VaultDelta, VaultPath, WalkedFolder};

/// Some changes cause no event: through a memory map, behind a later mount.
const SWEEP_EVERY: Duration = Duration::from_secs(15 * 60);

/// How far a cursor has followed the folder.
struct PosixCursor {
    /// Of the folder that was walked.
    identity: u64,
    /// `None` if there is none, or events were lost.
    watch: Option<FolderWatch>,
    swept: ElapsedTime,
}

impl FolderStore {
    pub(super) fn changes_since(
        &self,
        cursor: &mut Cursor,
        look: &ListingOptions<'_>,
    ) -> Result<VaultDelta, StoreError> {
        let folder = self.folder()?;
        let identity = folder.identity();
        let known = cursor.get_mut::<PosixCursor>();
        let replaced = known.as_ref().is_some_and(|known| known.identity != identity);
        if let Some(known) = known.filter(|known| !replaced && known.swept.elapsed() <= SWEEP_EVERY) {
            // Taken out, and put back on success: a failure after reading events would lose them.
            if let Some(mut watch) = known.watch.take()
                && let Some(places) = folder.happened(&mut watch, look)?
            {
                known.watch = Some(watch);
                return Ok(VaultDelta::Places(places));
            }
        }
        tracing::debug!(replaced, "full scan");
        // A new watch, because the old one has lost track or never existed.
        let mut watch = FolderWatch::start(&folder.dir);
        let ListingOptions { skip, read, go_on } = *look;
        let (walked, watched) = folder.walk(&WalkOptions { below: None, skip, watch: watch.as_ref(), read, go_on })?;
        // A scan that was stopped says nothing about what it did not reach, so the next one starts over.
        if !walked.stopped {
            if let Some(watch) = &mut watch {
                watch.learn(watched);
            }
            // A watch that does not cover every folder would miss changes. Without one, every call scans.
            let watch = watch.filter(FolderWatch::is_whole);
            cursor.set(PosixCursor { identity, watch, swept: ElapsedTime::start() });
        }
        Ok(VaultDelta::Everything { walked, replaced })
    }

    pub(super) fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError> {
        let folder = self.folder()?;
        let Some(known) = cursor.get_mut::<PosixCursor>() else { return folder.look_at(None, path, look) };
        let mut watch = known.watch.take();
        let found = folder.look_at(watch.as_mut(), path, look)?;
        known.watch = watch.filter(FolderWatch::is_whole);
        Ok(found)
    }
}

impl OpenedFolder {
    /// What is at the places that the watch reports; `None` if only a full scan helps.
    fn happened(
        &self,
        watch: &mut FolderWatch,
        look: &ListingOptions<'_>,
    ) -> Result<Option<Vec<(VaultPath, PlaceState)>>, StoreError> {
        let events = watch.events();
        if events.lost {
            tracing::debug!("the watch lost events; full scan");
            return Ok(None);
        }
        let mut places = Vec::with_capacity(events.paths.len());
        for path in events.paths {
            if path.is_hidden() || (look.skip)(path.name()) {
                continue;
            }
            let found = self.look_at(Some(watch), &path, look)?;
            places.push((path, found));
        }
        Ok(watch.is_whole().then_some(places))
    }

    fn look_at(
        &self,
        mut watch: Option<&mut FolderWatch>,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<PlaceState, StoreError> {
        let found = match self.look(path) {
            // Access to its folder was denied.
            Err(StoreError::NotPermitted) => FoundFile::Nothing,
            found => found?,
        };
        if let Some(watch) = &mut watch {
            match found {
                // A folder that is back may be another folder of the same name; it is watched anew below.
                FoundFile::Nothing | FoundFile::Folder => watch.forget(path),
                // Through its other name it can change without an event here.
                FoundFile::Linked(_) => watch.give_up(),
                FoundFile::File(_) => {}
            }
        }
        Ok(match found {
            FoundFile::Nothing => PlaceState::Nothing,
            FoundFile::File(stat) | FoundFile::Linked(stat) => PlaceState::File(stat),
            FoundFile::Folder => PlaceState::Folder(self.walk_below(watch, path, look)?),
        })
    }

    fn walk_below(
        &self,
        watch: Option<&mut FolderWatch>,
        path: &VaultPath,
        look: &ListingOptions<'_>,
    ) -> Result<WalkedFolder, StoreError> {
        let walk =
            WalkOptions { below: Some(path), skip: look.skip, watch: watch.as_deref(), read: None, go_on: &|| true };
        match self.walk(&walk) {
            Ok((walked, watched)) => {
                if let Some(watch) = watch {
                    watch.learn(watched);
                }
                Ok(walked)
            }
            // Gone again, or access denied.
            Err(StoreError::Missing | StoreError::NotAFile | StoreError::NotPermitted) => Ok(WalkedFolder::default()),
            Err(error) => Err(error),
        }
    }
}
