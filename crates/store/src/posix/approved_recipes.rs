//! Which recipes the owner has approved on this computer: the hash of each, in a file in the state folder. A recipe
//! that comes with the vault from elsewhere has none, so it does not run here.

use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use lapidary_note::ContentHash;

use super::state::{StateFolder, private_file, private_folder, read_text};

#[derive(Clone, Debug)]
pub struct ApprovedRecipes(Arc<StateFolder>);

impl ApprovedRecipes {
    pub fn new(folder: Arc<StateFolder>) -> Self {
        Self(folder)
    }

    /// All of them, by name. One that cannot be read counts as not approved.
    pub fn all(&self) -> io::Result<BTreeMap<String, ContentHash>> {
        let entries = match fs::read_dir(self.folder()?) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error),
        };
        let mut approved = BTreeMap::new();
        for entry in entries {
            let entry = entry?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            // What is being written has another name until it is whole.
            if !is_plain(&name) {
                continue;
            }
            match read_text(&entry.path()).map(|text| text.trim().parse()) {
                Ok(Ok(hash)) => drop(approved.insert(name, hash)),
                Ok(Err(_)) | Err(_) => tracing::warn!("the approval of the recipe `{name}` cannot be read"),
            }
        }
        Ok(approved)
    }

    /// From now on exactly this definition of it may run.
    pub fn approve(&self, name: &str, hash: ContentHash) -> io::Result<()> {
        use io::Write;
        private_folder(&self.folder()?)?;
        let path = self.path(name)?;
        // Under another name first, so that no reader sees half of it.
        let beside =
            path.with_extension(format!("{}-{}.new", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed)));
        let mut file = private_file().write(true).create(true).truncate(true).open(&beside)?;
        file.write_all(hash.to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    }

    /// Takes an approval back. Whether there was one.
    pub fn disable(&self, name: &str) -> io::Result<bool> {
        match fs::remove_file(self.path(name)?) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn folder(&self) -> io::Result<PathBuf> {
        self.0.subfolder("recipes")
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        // The name comes from outside and becomes that of a file.
        if !is_plain(name) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(self.folder()?.join(name))
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Two calls may write at a time.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_for_one_definition_until_it_is_taken_back() {
        let (base, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let recipes = ApprovedRecipes::new(Arc::new(StateFolder::new(base.path().into(), vault.path().into())));
        assert!(recipes.all().unwrap().is_empty());
        let (first, second) = (ContentHash::of(b"1"), ContentHash::of(b"2"));
        recipes.approve("custom_a", first).unwrap();
        recipes.approve("custom_a", second).unwrap();
        recipes.approve("custom_b", first).unwrap();
        assert_eq!(recipes.all().unwrap(), BTreeMap::from([("custom_a".into(), second), ("custom_b".into(), first)]));
        assert!(recipes.disable("custom_a").unwrap() && !recipes.disable("custom_a").unwrap());
        for name in ["", "../custom_a", "custom_A", "a.b"] {
            assert!(recipes.approve(name, first).is_err(), "{name}");
        }
        // A damaged file approves nothing.
        let broken = recipes.path("custom_b").unwrap();
        fs::write(broken, "sha256:zz").unwrap();
        assert!(recipes.all().unwrap().is_empty());
    }
}
