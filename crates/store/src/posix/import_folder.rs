//! A folder outside the vaults whose files may be added to them: the owner names it, and callers name files in it.

use std::path::PathBuf;

use super::FolderStore;
use crate::{StoreError, VaultPath};

/// Read through a handle on the folder, so that no name and no link in it leads elsewhere.
#[derive(Debug)]
pub struct ImportFolder(FolderStore);

impl ImportFolder {
    pub fn new(folder: PathBuf) -> Self {
        Self(FolderStore::new(folder))
    }

    /// The bytes of a file. Hidden names are closed, as in a vault.
    pub fn read(&self, path: &VaultPath, max_bytes: u64) -> Result<Vec<u8>, StoreError> {
        let is_open = |place: &VaultPath| !place.as_str().split('/').any(|name| name.starts_with('.'));
        if !is_open(path) {
            return Err(StoreError::Missing);
        }
        Ok(self.0.read(path, max_bytes, &is_open)?.bytes)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_inside_can_be_read() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("sub/a.png"), "png").unwrap();
        std::fs::write(folder.path().join(".env"), "hidden").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("there")).unwrap();
        std::os::unix::fs::symlink(".env", folder.path().join("alias")).unwrap();
        let imports = ImportFolder::new(folder.path().to_owned());
        let read = |path: &str, most| imports.read(&VaultPath::parse(path).unwrap(), most);
        assert_eq!(read("sub/a.png", 3).unwrap(), b"png");
        assert!(matches!(read("sub/a.png", 2), Err(StoreError::TooLarge { bytes: 3, limit: 2 })));
        for path in ["link", "there/secret", ".env", "alias", "missing"] {
            assert!(read(path, 100).is_err(), "{path}");
        }
    }
}
