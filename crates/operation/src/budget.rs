//! What a call may hold in memory. Checked before anything is built that can grow beyond what was read or sent; each
//! violation is a refusal that names the limit.

use std::cell::Cell;

use lapidary_vault::{Change, ChangeSet, VaultPath};

use crate::Reason;

/// The sizes that no call exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Of one file.
    pub file_bytes: u64,
    /// Of all files of a change, before and after.
    pub change_bytes: u64,
    /// Of an answer.
    pub reply_bytes: u64,
}

/// What is left of them for one plan. A plan is made on one thread.
#[derive(Debug)]
pub struct MemoryBudget {
    limits: MemoryLimits,
    change: Cell<u64>,
    reply: Cell<u64>,
}

impl MemoryBudget {
    pub fn new(limits: MemoryLimits) -> Self {
        Self { limits, change: Cell::new(0), reply: Cell::new(0) }
    }

    /// The largest text that an edit may produce.
    pub fn file_bytes(&self) -> usize {
        // A 32-bit system cannot exceed a limit above 4 GB.
        usize::try_from(self.limits.file_bytes).unwrap_or(usize::MAX)
    }

    /// The largest answer.
    pub fn reply_bytes(&self) -> usize {
        usize::try_from(self.limits.reply_bytes).unwrap_or(usize::MAX)
    }

    /// The refusal for an edit that would exceed the size limit of a file.
    pub fn file_too_large(&self, path: &VaultPath, bytes: usize) -> Reason {
        Reason::ResultTooLarge { path: path.clone(), bytes: bytes as u64, limit: self.limits.file_bytes }
    }

    /// Adds one more file to a change that is being collected.
    pub fn gather(&self, change: &Change) -> Result<(), Reason> {
        self.hold(self.change.get().saturating_add(held(change)))
    }

    /// Everything that a change holds so far, replacing the previous count.
    pub fn hold_all(&self, changes: &ChangeSet) -> Result<(), Reason> {
        self.hold(changes.changes.iter().map(held).fold(0, u64::saturating_add))
    }

    /// Bytes that are being unpacked for a change, before it is known what they become.
    pub fn hold_unpacked(&self, bytes: u64) -> Result<(), Reason> {
        let limit = self.limits.change_bytes;
        if bytes > limit { Err(Reason::ChangeTooLarge { bytes, limit }) } else { Ok(()) }
    }

    fn hold(&self, bytes: u64) -> Result<(), Reason> {
        self.change.set(bytes);
        let limit = self.limits.change_bytes;
        if bytes > limit { Err(Reason::ChangeTooLarge { bytes, limit }) } else { Ok(()) }
    }

    /// Adds bytes to an answer whose parts repeat text of a note.
    pub fn answer(&self, bytes: usize) -> Result<(), Reason> {
        let bytes = self.reply.get().saturating_add(bytes as u64);
        self.reply.set(bytes);
        let limit = self.limits.reply_bytes;
        if bytes > limit { Err(Reason::ReplyTooLarge { bytes, limit }) } else { Ok(()) }
    }
}

fn held(change: &Change) -> u64 {
    // A plan holds both until it is committed.
    (change.before().map_or(0, |file| file.content.len()) + change.bytes().len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReasonKind;

    fn create(bytes: usize) -> Change {
        Change::Create { path: VaultPath::parse("a.md").unwrap(), content: "x".repeat(bytes).into() }
    }

    #[test]
    fn collected_files_add_up_and_a_change_is_counted_again() {
        let budget = MemoryBudget::new(MemoryLimits { file_bytes: 10, change_bytes: 20, reply_bytes: 5 });
        assert!(budget.gather(&create(10)).is_ok() && budget.gather(&create(10)).is_ok());
        assert_eq!(budget.gather(&create(1)).unwrap_err().kind(), ReasonKind::BudgetExceeded);
        assert!(budget.hold_all(&ChangeSet::one(create(15))).is_ok());
        assert!(budget.gather(&create(5)).is_ok());
        assert!(budget.answer(5).is_ok());
        assert_eq!(budget.answer(1).unwrap_err().kind(), ReasonKind::ReplyTooLarge);
    }
}
