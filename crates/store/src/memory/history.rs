//! The history of a vault in memory.

use std::time::SystemTime;

use lapidary_note::ContentHash;

use super::{MemoryState, MemoryStore};
use crate::{CheckpointRecord, EntryRecord, History, KeyedCall, LedgerError, PathFilter, VaultPath};

/// Enough to see that an id is too short.
const MAX_AMBIGUOUS: usize = 20;

impl MemoryState {
    /// Every system accepts the name, or a change here removed its file, which now comes back.
    pub(super) fn may_have_name(&self, path: &VaultPath) -> bool {
        let took_away =
            |entry: &EntryRecord| entry.path.is_within(path) && (entry.before.is_some() || entry.moved_to.is_some());
        path.has_portable_name() || self.checkpoints.iter().any(|kept| kept.entries.iter().any(took_away))
    }
}

impl History for MemoryStore {
    fn checkpoints(&self, filter: &PathFilter, limit: usize) -> Result<Vec<CheckpointRecord>, LedgerError> {
        let PathFilter { paths, before } = filter;
        let touches = |entry: &EntryRecord| paths.iter().any(|path| entry.touches(path));
        let contents = self.contents();
        let wanted = contents.checkpoints.iter().rev().filter(|kept| {
            before.is_none_or(|before| kept.number < before) && (paths.is_empty() || kept.entries.iter().any(touches))
        });
        Ok(wanted.take(limit).cloned().collect())
    }

    fn checkpoint(&self, prefix: &str) -> Result<Vec<CheckpointRecord>, LedgerError> {
        let prefix = prefix.to_ascii_lowercase();
        let contents = self.contents();
        let named = contents.checkpoints.iter().rev().filter(|kept| kept.id.starts_with(&prefix));
        Ok(named.take(if prefix.is_empty() { 0 } else { MAX_AMBIGUOUS }).cloned().collect())
    }

    fn approved(&self, approval: &ContentHash) -> Result<Option<CheckpointRecord>, LedgerError> {
        let contents = self.contents();
        let id = contents.approved.get(approval);
        Ok(contents.checkpoints.iter().find(|kept| Some(&kept.id) == id).cloned())
    }

    fn keyed(&self, key: &ContentHash, since: SystemTime) -> Result<Option<KeyedCall>, LedgerError> {
        let contents = self.contents();
        let Some(found) = contents.keyed.get(key) else { return Ok(None) };
        let made = contents.checkpoints.iter().find(|kept| kept.id == found.checkpoint && kept.time >= since);
        let reply = found.reply.clone();
        Ok(made.map(|checkpoint| KeyedCall { call: found.call, checkpoint: checkpoint.clone(), reply }))
    }

    fn keep_reply(&self, checkpoint: &str, reply: &[u8]) -> Result<(), LedgerError> {
        let mut contents = self.contents();
        if let Some(found) = contents.keyed.values_mut().find(|call| call.checkpoint == checkpoint) {
            found.reply = Some(reply.to_vec());
        }
        Ok(())
    }

    fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, LedgerError> {
        Ok(self.contents().old.get(hash).map(|bytes| bytes.to_vec()))
    }
}
