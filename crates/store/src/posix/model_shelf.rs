//! The text models that the owner added, in the state folder: one folder each, made whole or not at all.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::{
    outside::open_regular,
    state::{is_own_folder, opened, private_file, private_folder},
};

const FOLDER: &str = "models";
/// No file of a model is larger: it is read into memory.
const LARGEST: u64 = 4 << 30;
const LONGEST_NAME: usize = 64;

/// The models in the state folder.
#[derive(Clone, Debug)]
pub struct ModelShelf {
    folder: PathBuf,
}

impl ModelShelf {
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join(FOLDER) }
    }

    /// Whether a model may be called so; names are names of folders.
    pub fn is_name(name: &str) -> bool {
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(plain) && !name.starts_with('.')
    }

    /// Their names, in order.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().into_string().unwrap_or_default();
            // What is being written begins with a dot, and so is not one.
            if entry.file_type()?.is_dir() && Self::is_name(&name) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// One file of a model; `None` if it has none of this name.
    pub fn read(&self, model: &str, file: &str) -> io::Result<Option<Vec<u8>>> {
        match opened(&self.place(model)?.join(file)) {
            Ok(file) => read_within(file, LARGEST).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds a model. Fails if there is one of this name.
    pub fn add(&self, model: &str, files: &[(&str, &[u8])]) -> io::Result<()> {
        let place = self.place(model)?;
        if fs::symlink_metadata(&place).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        private_folder(&self.folder)?;
        let staged = self.staged(model)?;
        private_folder(&staged)?;
        let written = files.iter().try_for_each(|(name, bytes)| {
            let mut file = private_file().write(true).create_new(true).open(staged.join(name))?;
            file.write_all(bytes)?;
            file.sync_all()
        });
        let added = written.and_then(|()| fs::rename(&staged, &place));
        if added.is_err() {
            // The error is what counts; a folder that is left over harms nothing.
            fs::remove_dir_all(&staged).unwrap_or_default();
        }
        added
    }

    /// Removes a model, and says whether there was one.
    pub fn remove(&self, model: &str) -> io::Result<bool> {
        let (place, staged) = (self.place(model)?, self.staged(model)?);
        match fs::rename(&place, &staged) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            moved => moved?,
        }
        fs::remove_dir_all(&staged)?;
        Ok(true)
    }

    fn place(&self, model: &str) -> io::Result<PathBuf> {
        if !Self::is_name(model) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a name of a model"));
        }
        is_own_folder(&self.folder).map_err(|problem| io::Error::new(io::ErrorKind::PermissionDenied, problem))?;
        Ok(self.folder.join(model))
    }

    fn staged(&self, model: &str) -> io::Result<PathBuf> {
        let unique = getrandom::u64().map_err(io::Error::other)?;
        Ok(self.folder.join(format!(".{model}-{unique:016x}")))
    }
}

/// A file that the owner named, from a folder of a model or as an archive; `None` if there is none.
pub fn read_model_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match open_regular(path) {
        Ok(file) => read_within(file, LARGEST).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_within(file: fs::File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}
