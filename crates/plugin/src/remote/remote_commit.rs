//! How a change set reaches the other side: undo data on this disk first, then one file after the other, and back if one
//! fails.

use lapidary_note::{ContentHash, FileContent};
use lapidary_store::{
    Backend, BackendTurn, Change, ChangeOrigin, ChangeSet, CommitError, ContentGuard, File, History, LedgerError,
    PlaceJudge, Receipt, Scope, StoreError, TurnError, VaultNews, VaultPath,
    posix::{JournalDraft, JournalTurn, JournalledFile, OpenChange},
};

use super::{
    RemoteBackend,
    change_plan::{ChangePlan, ChangePlanner, FileRemoval, PlannedFile, RemoteState},
    change_steps::{FileStep, MOST_COMPARED, StepFailure, hash_of},
    store_error,
};

/// New contents up to this size are kept too: the next change has to keep them anyway.
const MAX_KEPT: usize = 1 << 20;

/// The right to change the vault.
pub(super) struct RemoteTurn<'a> {
    backend: &'a RemoteBackend,
    turn: JournalTurn<'a>,
}

impl<'a> RemoteTurn<'a> {
    pub(super) fn new(backend: &'a RemoteBackend, turn: JournalTurn<'a>) -> Self {
        Self { backend, turn }
    }

    /// Completes or takes back what a killed server, or one whose connection ended, has left.
    pub(super) fn settle(&self) -> Result<(), TurnError> {
        let open = self.turn.under_way().map_err(|error| self.postponed(&error))?;
        open.iter().try_for_each(|change| self.settle_change(change))
    }

    fn postponed(&self, error: &LedgerError) -> TurnError {
        self.backend.tell(VaultNews::Postponed { why: error.to_string() });
        TurnError::NoState
    }

    fn settle_change(&self, change: &OpenChange) -> Result<(), TurnError> {
        let failed = |error: StoreError| match error {
            StoreError::Remote(fault) => TurnError::Remote(fault),
            // What is wrong with a single file leaves the change open; the next turn tries again.
            _ => TurnError::Unfinished,
        };
        let mut is_complete = true;
        for file in &change.files {
            let found = hash_of(&self.backend.files, &file.path).map_err(failed)?;
            // What is neither was changed since; the change may have been reported, so it counts as made.
            is_complete &= found == file.after || found != file.before;
        }
        if is_complete {
            self.turn.finish(change.number, &[]).map_err(|error| self.postponed(&error))?;
            self.backend.tell(VaultNews::Completed { checkpoint: change.id.clone() });
            return Ok(());
        }
        let left = self.take_back(&change.files).map_err(failed)?;
        // Whatever is left there is told, and the checkpoint keeps the old content.
        self.write_off(change.number, left);
        Ok(())
    }

    /// Puts files back to what they held, the last first, unless another program has changed them since: those are
    /// returned.
    fn take_back(&self, files: &[JournalledFile]) -> Result<Vec<VaultPath>, StoreError> {
        let mut left = Vec::new();
        // In the reverse order, as a later step may build on an earlier one.
        for JournalledFile { path, before, after } in files.iter().rev() {
            let now = self.state(path)?;
            // Before anything else, so that the index looks at the file even if this fails.
            self.backend.mark_changed(path);
            if now.hash() == *before {
                continue;
            }
            let old = match before {
                None => None,
                Some(hash) => {
                    // The old content has to be here before the other side is touched.
                    let kept = self.backend.journal.content(hash).map_err(|_| StoreError::NoCheckpoint)?;
                    Some(kept.ok_or(StoreError::NoCheckpoint)?)
                }
            };
            // Another program has written to it since. Its text is worth more than our undo.
            if now.hash() != *after {
                left.push(path.clone());
                continue;
            }
            let step = FileStep { path, before: &now, after: old.as_deref(), removal: FileRemoval::Trash };
            match self.take(&step) {
                Ok(()) => {}
                // It changed between the look and the step, which the plugin noticed.
                Err(StepFailure::NotDone(StoreError::Changed { .. } | StoreError::Exists | StoreError::Missing)) => {
                    left.push(path.clone());
                }
                Err(StepFailure::NotDone(error) | StepFailure::Undecided(error)) => return Err(error),
            }
        }
        Ok(left)
    }

    /// Marked when it is over, however it ended: what is looked at meanwhile is looked at again.
    fn take(&self, step: &FileStep<'_>) -> Result<(), StepFailure> {
        let taken = step.take(&self.backend.files);
        self.backend.mark_changed(step.path);
        taken
    }

    fn state(&self, path: &VaultPath) -> Result<RemoteState, StoreError> {
        match self.backend.files.read(path, MOST_COMPARED) {
            Ok(answer) => Ok(RemoteState { content: Some(answer.bytes.into()), version: answer.version }),
            Err(StoreError::Missing) => Ok(RemoteState::default()),
            Err(error) => Err(error),
        }
    }

    /// Closes the entry of a change that was taken back. If a file was left, the checkpoint has its old content.
    fn write_off(&self, number: i64, left: Vec<VaultPath>) {
        // With files left behind, the entry stays as a checkpoint that the owner can look at.
        let closed = if left.is_empty() { self.turn.forget(number) } else { self.turn.finish(number, &[]) };
        if let Err(error) = closed {
            self.backend.tell(VaultNews::Postponed { why: error.to_string() });
        }
        if !left.is_empty() {
            self.backend.tell(VaultNews::Undone { left });
        }
    }

    fn carry_out(&self, plan: &ChangePlan, origin: &ChangeOrigin) -> Result<String, (usize, StoreError)> {
        // The hashes alone are enough to tell later which steps were done.
        let files: Vec<JournalledFile> = plan
            .files
            .iter()
            .map(|file| JournalledFile {
                path: file.path.clone(),
                before: file.before.hash(),
                after: file.after.as_ref().map(FileContent::hash),
            })
            .collect();
        let old = plan.files.iter().filter_map(|file| file.before.content.as_ref());
        let draft = JournalDraft {
            origin,
            entries: plan.entries.clone(),
            files: &files,
            contents: old.map(|content| (content.hash(), content.bytes())).collect(),
        };
        // Durable before the first request.
        let (number, id) = self.turn.begin(draft).map_err(|error| match error {
            LedgerError::Full => (0, StoreError::DiskFull),
            LedgerError::Unusable(why) => {
                self.backend.tell(VaultNews::Postponed { why });
                (0, StoreError::NoCheckpoint)
            }
        })?;
        for (index, PlannedFile { path, before, after, removal }) in plan.files.iter().enumerate() {
            let after = after.as_ref().map(FileContent::bytes);
            let step = FileStep { path, before, after, removal: *removal };
            let Err(failed) = self.take(&step) else { continue };
            let (error, taken) = match failed {
                StepFailure::NotDone(error) => (error, &files[..index]),
                // A step without an answer may have been done, so it is taken back as well.
                StepFailure::Undecided(error) => (error, &files[..=index]),
            };
            tracing::debug!(step = index, %error, "a step failed; the change is taken back");
            return Err((index, self.give_up(number, taken, error)));
        }
        let written: Vec<(ContentHash, &[u8])> = plan
            .files
            .iter()
            .filter_map(|file| file.after.as_ref())
            .filter(|content| content.len() <= MAX_KEPT)
            .map(|content| (content.hash(), content.bytes()))
            .collect();
        // If it cannot be stored, the next turn finds the change complete.
        let closed = self.turn.finish(number, &written);
        // Old history is removed only after the new change is in it.
        if let Err(error) = closed.and_then(|()| self.backend.journal.keep_limits(origin.time)) {
            self.backend.tell(VaultNews::Postponed { why: error.to_string() });
        }
        Ok(id)
    }

    /// The error for a change that failed.
    fn give_up(&self, number: i64, taken: &[JournalledFile], failed: StoreError) -> StoreError {
        match self.take_back(taken) {
            Ok(left) => {
                self.write_off(number, left);
                failed
            }
            // The state of the other side is unknown; the next turn looks at it.
            Err(_) => StoreError::Unsure,
        }
    }
}

impl BackendTurn for RemoteTurn<'_> {
    fn commit(
        &self,
        set: &ChangeSet,
        scope: &Scope,
        origin: &ChangeOrigin,
        judged: PlaceJudge<'_>,
    ) -> Result<Receipt, CommitError> {
        let is_trash = |change: &Change| matches!(change, Change::Trash { .. });
        let refused = |path: &VaultPath, error: StoreError| {
            let change = set.changes.iter().find(|change| change.paths().any(|known| known == path));
            CommitError {
                path: path.clone(),
                error,
                guard: change.map_or(ContentGuard::Plan, Change::guard),
                before: change.and_then(|change| change.before().map(File::hash)),
            }
        };
        // Asked only when it matters: the app may be updated while this server runs.
        let deletes_to_trash = match set.changes.iter().find(|change| is_trash(change)) {
            None => true,
            Some(change) => {
                let status = self.backend.files.connection.status();
                status.map_err(|error| refused(change.path(), store_error(error)))?.version.deletes_to_trash()
            }
        };
        let may_have_name = |path: &VaultPath| self.backend.may_have_name(path);
        let planner = ChangePlanner::new(&self.backend.files, scope, judged, &may_have_name, deletes_to_trash);
        let plan = planner.plan(set)?;
        let mut receipt = Receipt::of(set);
        // Where the trash was made by hand, the receipt says where the file is.
        for (number, place) in &plan.trashed {
            if let Some(changed) = receipt.changed.get_mut(*number) {
                changed.moved_to = Some(place.clone());
            }
        }
        // The set comes back to where it began: there is nothing to undo, so there is no checkpoint.
        if plan.files.is_empty() {
            return Ok(receipt);
        }
        let id = self.carry_out(&plan, origin).map_err(|(index, error)| refused(&plan.files[index].path, error))?;
        tracing::debug!(files = plan.files.len(), checkpoint = id, "a change is on the other side");
        receipt.checkpoint = Some(id);
        Ok(receipt)
    }
}
