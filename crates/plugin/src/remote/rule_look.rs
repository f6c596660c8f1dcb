//! The rule files of the vault: one look at all of them counts for a moment. They have dots in front of their names, so the query
//! for the times of notes does not have them, and each takes a request.

use lapidary_store::{ElapsedTime, FileStamp, StoreError, VaultPath};
use parking_lot::Mutex;

use super::{
    RemoteBackend,
    file_listing::{FRESH, at_once},
};

/// What the last look has seen.
#[derive(Default)]
pub(super) struct RuleLook {
    newest: Mutex<Option<SeenRules>>,
}

struct SeenRules {
    paths: Vec<VaultPath>,
    stamps: Vec<Option<FileStamp>>,
    /// When the look began: a file that changed during it is as old as that.
    looked: ElapsedTime,
    /// Our own changes that it has seen.
    changed_others: u64,
}

impl RuleLook {
    fn seen(&self, paths: &[VaultPath], changed_others: u64) -> Option<Vec<Option<FileStamp>>> {
        let seen = self.newest.lock();
        let seen = seen.as_ref().filter(|seen| seen.looked.elapsed() < FRESH)?;
        (seen.paths == paths && seen.changed_others == changed_others).then(|| seen.stamps.clone())
    }

    /// Of two looks at the same time, the one that began later counts.
    fn keep(&self, new: SeenRules) {
        let mut seen = self.newest.lock();
        if seen.as_ref().is_none_or(|seen| seen.looked.elapsed() >= new.looked.elapsed()) {
            *seen = Some(new);
        }
    }
}

impl RemoteBackend {
    /// The stamps of several files, asked for at the same time. Those of files that are not notes count for a moment, and no longer
    /// than until we change such a file: a rule of another program holds as soon as a note of it is seen.
    pub(super) fn look_at_files(&self, paths: &[VaultPath]) -> Result<Vec<Option<FileStamp>>, (usize, StoreError)> {
        // Taken before the look: what is changed meanwhile is looked at again.
        let changed_others = self.changed_others();
        let looked = ElapsedTime::start();
        let is_kept = !paths.iter().any(VaultPath::is_note);
        if let Some(stamps) = self.rules.seen(paths, changed_others).filter(|_| is_kept) {
            return Ok(stamps);
        }
        let found = at_once(paths, &|| true, |path| self.stamp_of(path)).unwrap_or_default();
        let stamps = found
            .into_iter()
            .enumerate()
            .map(|(at, stamp)| stamp.map_err(|error| (at, error)))
            .collect::<Result<Vec<_>, _>>()?;
        if is_kept {
            self.rules.keep(SeenRules { paths: paths.to_vec(), stamps: stamps.clone(), looked, changed_others });
        }
        Ok(stamps)
    }
}
