//! Deletes files as the vault's settings say.

use std::sync::Arc;

use lapidary_vault::{Change, ContentGuard, DeletedFiles, File, TrashKind, VaultPath, View};

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

/// Whether nothing of the file remains where a person would look for it.
pub fn is_for_good(change: &Change) -> bool {
    matches!(change, Change::Delete { .. })
}
