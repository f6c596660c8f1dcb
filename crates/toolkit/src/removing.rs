//! Files that are deleted, as the vault wants it.

use std::sync::Arc;

use lapidary_vault::{Change, ContentGuard, DeletedFiles, File, TrashKind, VaultPath, View};

/// What becomes of a file that a person would delete in Obsidian: the trash that its settings name, or the end.
pub fn to_trash(view: &View, path: VaultPath, before: Arc<File>, guard: ContentGuard) -> Change {
    match view.app_settings().deleted_files {
        DeletedFiles::SystemTrash => Change::Trash { path, before: Some(before), guard, trash: TrashKind::System },
        DeletedFiles::VaultTrash => Change::Trash { path, before: Some(before), guard, trash: TrashKind::InVault },
        DeletedFiles::Gone => Change::Delete { path, before, guard },
    }
}

/// The same for a file that nobody asked to delete, but that is in the way: it is always put where a person finds it.
pub fn out_of_the_way(view: &View, path: VaultPath, before: Arc<File>, guard: ContentGuard) -> Change {
    match to_trash(view, path, before, guard) {
        Change::Delete { path, before, guard } => {
            Change::Trash { path, before: Some(before), guard, trash: TrashKind::InVault }
        }
        change => change,
    }
}

/// Whether nothing of the file stays where a person would look for it.
pub fn is_for_good(change: &Change) -> bool {
    matches!(change, Change::Delete { .. })
}
