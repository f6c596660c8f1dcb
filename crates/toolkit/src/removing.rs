//! Deletes files as the vault's settings say.

use std::sync::Arc;

use lapidary_operation::{Context, Reason};
use lapidary_vault::{Change, ContentGuard, DeletedFiles, File, TrashKind, VaultPath, View};

use crate::{index, link::canvas_links};

/// How a file is deleted, as in Obsidian: moved to the configured trash, or removed.
pub fn to_trash(view: &View, path: VaultPath, before: Arc<File>, guard: ContentGuard) -> Change {
    match view.app_settings().deleted_files {
        DeletedFiles::SystemTrash => Change::Trash { path, before: Some(before), guard, trash: TrashKind::System },
        DeletedFiles::VaultTrash => Change::Trash { path, before: Some(before), guard, trash: TrashKind::InVault },
        DeletedFiles::Gone => Change::Delete { path, before, guard },
    }
}

/// The same for a file that is only in the way: it is always put where a person can find it.
pub fn out_of_the_way(view: &View, path: VaultPath, before: Arc<File>, guard: ContentGuard) -> Change {
    match to_trash(view, path, before, guard) {
        Change::Delete { path, before, guard } => {
            Change::Trash { path, before: Some(before), guard, trash: TrashKind::InVault }
        }
        change => change,
    }
}

/// How many links of other files lead to it and nowhere without it. Files that the caller may not read do not count.
pub fn links_to(context: &Context<'_>, view: &View, path: &VaultPath) -> Result<usize, Reason> {
    let go_on = || context.cancel.check().is_ok();
    let refused = |error| Reason::from_index(&error, context.cancel);
    let files = index::files_to_search(context, view)?;
    let in_notes = files.find_backlinks(path, &go_on).map_err(refused)?.len();
    let leads_here = |(source, text): (VaultPath, String)| {
        let links = canvas_links(&text, &source, files).into_iter();
        links.filter(|card| card.link.path.as_deref() == Some(path.as_str())).count()
    };
    let on_canvases: usize =
        files.canvases_mentioning(path, &go_on).map_err(refused)?.into_iter().map(leads_here).sum();
    Ok(in_notes + on_canvases)
}

/// Whether nothing of the file remains where a person would look for it.
pub fn is_for_good(change: &Change) -> bool {
    matches!(change, Change::Delete { .. })
}
