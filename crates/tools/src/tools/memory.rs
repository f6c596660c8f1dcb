//! What assistants remember across conversations, as notes that their owner can read and correct.

pub(super) mod memory_recall;
pub(super) mod memory_save;
