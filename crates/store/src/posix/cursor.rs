//! What has changed in a folder since somebody last looked: by the watch where there is one, or else by a look at
//! everything.

use std::time::{Duration, Instant};

use super::{FolderStore, Found, StoreError, Walk, Watch, folder::Opened};
use crate::{Cursor, Delta, Look, PlaceState, VaultPath, Walked};

/// Some changes make no event: through a memory map, behind a mount that came later.
const SWEEP_EVERY: Duration = Duration::from_secs(15 * 60);

/// How far somebody has followed the folder.
struct PosixCursor {
    /// Of the folder that was walked.
    identity: u64,
    /// `None` where there is none, or what it said was lost.
    watch: Option<Watch>,
    swept: Instant,
}

impl FolderStore {
    pub(super) fn changes_since(&self, cursor: &mut Cursor, look: &Look<'_>) -> Result<Delta, StoreError> {
        let folder = self.folder()?;
        let identity = folder.identity();
        let known = cursor.get_mut::<PosixCursor>();
        let replaced = known.as_ref().is_some_and(|known| known.identity != identity);
        if let Some(known) = known.filter(|known| !replaced && known.swept.elapsed() <= SWEEP_EVERY) {
            // Taken out, and put back when all is well: whoever has read events and then fails has lost them.
            if let Some(mut watch) = known.watch.take()
                && let Some(places) = folder.happened(&mut watch, look)?
            {
                known.watch = Some(watch);
                return Ok(Delta::Places(places));
            }
        }
        // A new watch, because the old one has lost track or never was.
        let mut watch = Watch::start(&folder.dir);
        let Look { skip, read, go_on } = *look;
        let (walked, watched) = folder.walk(&Walk { below: None, skip, watch: watch.as_ref(), read, go_on })?;
        if !walked.stopped {
            if let Some(watch) = &mut watch {
                watch.learn(watched);
            }
            let watch = watch.filter(Watch::is_whole);
            cursor.set(PosixCursor { identity, watch, swept: Instant::now() });
        }
        Ok(Delta::Everything { walked, replaced })
    }

    pub(super) fn look_at(
        &self,
        cursor: &mut Cursor,
        path: &VaultPath,
        look: &Look<'_>,
    ) -> Result<PlaceState, StoreError> {
        let folder = self.folder()?;
        let Some(known) = cursor.get_mut::<PosixCursor>() else { return folder.look_at(None, path, look) };
        let mut watch = known.watch.take();
        let found = folder.look_at(watch.as_mut(), path, look)?;
        known.watch = watch.filter(Watch::is_whole);
        Ok(found)
    }
}

impl Opened {
    /// What is at the places of which the watch tells; `None` if only a look at everything helps.
    fn happened(&self, watch: &mut Watch, look: &Look<'_>) -> Result<Option<Vec<(VaultPath, PlaceState)>>, StoreError> {
        let events = watch.events();
        if events.lost {
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
        mut watch: Option<&mut Watch>,
        path: &VaultPath,
        look: &Look<'_>,
    ) -> Result<PlaceState, StoreError> {
        let found = match self.look(path) {
            // Its folder has been closed to us.
            Err(StoreError::NotPermitted) => Found::Nothing,
            found => found?,
        };
        if let Some(watch) = &mut watch {
            match found {
                Found::Nothing | Found::Folder => watch.forget(path),
                Found::Linked(_) => watch.give_up(),
                Found::File(_) => {}
            }
        }
        Ok(match found {
            Found::Nothing => PlaceState::Nothing,
            Found::File(stat) | Found::Linked(stat) => PlaceState::File(stat),
            Found::Folder => PlaceState::Folder(self.walk_below(watch, path, look)?),
        })
    }

    fn walk_below(&self, watch: Option<&mut Watch>, path: &VaultPath, look: &Look<'_>) -> Result<Walked, StoreError> {
        let walk = Walk { below: Some(path), skip: look.skip, watch: watch.as_deref(), read: None, go_on: &|| true };
        match self.walk(&walk) {
            Ok((walked, watched)) => {
                if let Some(watch) = watch {
                    watch.learn(watched);
                }
                Ok(walked)
            }
            // Gone again, or closed to us.
            Err(StoreError::Missing | StoreError::NotAFile | StoreError::NotPermitted) => Ok(Walked::default()),
            Err(error) => Err(error),
        }
    }
}
