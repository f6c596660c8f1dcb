//! Access to the index for tools.

use std::sync::atomic::{AtomicU64, Ordering};

use lapidary_operation::{Context, Reason, WalkCost};
use lapidary_vault::{FileEntry, View, VisibleFiles, VisibleNotes};

/// The files of the vault that the caller may see.
pub fn files<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v VisibleFiles, Reason> {
    view.files(&|| context.cancel.check().is_ok()).map_err(|error| Reason::from_index(&error, context.cancel))
}

/// The same for a tool that will search them.
pub fn files_to_search<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v VisibleFiles, Reason> {
    view.files_to_search(&|| context.cancel.check().is_ok()).map_err(|error| Reason::from_index(&error, context.cancel))
}

/// The same, with the contents of each note.
pub fn notes<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v VisibleNotes, Reason> {
    view.notes(&|| context.cancel.check().is_ok()).map_err(|error| Reason::from_index(&error, context.cancel))
}

/// Applies `look` to the texts of all notes, in path order. The cost goes to the log.
pub fn map_texts<T: Send>(
    context: &Context<'_>,
    files: &VisibleFiles,
    look: impl Fn(FileEntry<'_>, &[u8]) -> Option<T> + Sync,
) -> Result<Vec<T>, Reason> {
    let (seen, read) = (AtomicU64::new(0), AtomicU64::new(0));
    let found = files.map_texts(&|| context.cancel.check().is_ok(), |entry, bytes| {
        seen.fetch_add(1, Ordering::Relaxed);
        read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        look(entry, bytes)
    });
    // Also if it failed: the log shows what the attempt cost.
    context.walked.set(Some(WalkCost { files: seen.into_inner(), bytes: read.into_inner(), stopped: None }));
    found.map_err(|error| Reason::from_index(&error, context.cancel))
}
