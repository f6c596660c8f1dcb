//! A settings file of another program: read, and replaced in one step with a copy of the old one beside it.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::outside::{PRIVATE_PAGE, open_regular};

/// A larger file is not a settings file.
const LARGEST: u64 = 32 << 20;

/// Between the name of a file and the date of its copy.
const COPY_MARK: &str = ".lapidary-";

/// A settings file of another program, which may be missing.
#[derive(Debug)]
pub struct SettingsFile {
    /// As it was asked for.
    written: PathBuf,
    /// Where the file really is: links on the way are the owner's and stay.
    real: PathBuf,
}

impl SettingsFile {
    pub fn new(path: &Path) -> io::Result<Self> {
        match fs::canonicalize(path) {
            Ok(real) => Ok(Self { written: path.to_owned(), real }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
                // Its target may be on a disk that is not there now; a file in place of the link would hide it.
                Ok(_) => Err(io::Error::new(io::ErrorKind::NotFound, "it is a link that leads nowhere")),
                Err(_) => Ok(Self { written: path.to_owned(), real: path.to_owned() }),
            },
            Err(error) => Err(error),
        }
    }

    /// Its text; `None` if there is no file.
    pub fn read(&self) -> io::Result<Option<String>> {
        read_text(&self.real)
    }

    /// The copies beside it, newest first, with their text. Those that cannot be read are left out.
    pub fn copies(&self) -> io::Result<Vec<(PathBuf, String)>> {
        let (Some(folder), Some(name)) = (self.real.parent(), self.real.file_name().and_then(|name| name.to_str()))
        else {
            return Ok(Vec::new());
        };
        let start = format!("{name}{COPY_MARK}");
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&start)) {
                found.push(path);
            }
        }
        // The date in a copy's name sorts as text.
        found.sort();
        Ok(found.into_iter().rev().filter_map(|path| Some((path.clone(), read_text(&path).ok()??))).collect())
    }

    /// Replaces the text that was read, keeping mode and links. The old file is copied first, to a name with this date; the
    /// result says where.
    pub fn replace(&self, read: Option<&str>, text: &str, date: &str) -> io::Result<Option<PathBuf>> {
        self.expect(read)?;
        if let Some(folder) = self.real.parent() {
            fs::create_dir_all(folder)?;
        }
        let copy = read.map(|old| self.copy(old, date)).transpose()?;
        let unique = getrandom::u64().map_err(io::Error::other)?;
        let staged = self.beside(&format!("{COPY_MARK}{unique:016x}.tmp"))?;
        let written = self.stage(&staged, text).and_then(|()| {
            // Again, because the program may have saved its settings meanwhile.
            self.expect(read)?;
            fs::rename(&staged, &self.real)
        });
        if let Err(error) = written {
            // The error is what counts; a file that is left over harms nothing.
            fs::remove_file(&staged).unwrap_or_default();
            if let Some(copy) = &copy {
                fs::remove_file(copy).unwrap_or_default();
            }
            return Err(error);
        }
        Ok(copy)
    }

    /// Removes the file if it still has the text that was read.
    pub fn remove(&self, read: &str) -> io::Result<()> {
        self.expect(Some(read))?;
        fs::remove_file(&self.real)
    }

    /// The same, and its folder if nothing else is in it. A folder that is reached through a link stays: the owner made it.
    pub fn remove_with_folder(&self, read: &str) -> io::Result<()> {
        // What it leads to was there before, and without it the link would lead nowhere.
        if fs::symlink_metadata(&self.written)?.is_symlink() {
            let target = self.real.display();
            return Err(io::Error::other(format!(
                "it is a link to {target}; remove the link, and the file if you want"
            )));
        }
        self.remove(read)?;
        let is_linked = |folder: &Path| fs::symlink_metadata(folder).map(|found| found.is_symlink());
        if self.written.parent().is_some_and(|folder| is_linked(folder).unwrap_or(true)) {
            return Ok(());
        }
        match self.real.parent().map(fs::remove_dir) {
            Some(Err(error)) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes one of its copies.
    pub fn remove_copy(&self, copy: &Path) -> io::Result<()> {
        fs::remove_file(copy)
    }

    fn expect(&self, read: Option<&str>) -> io::Result<()> {
        if self.read()?.as_deref() == read {
            return Ok(());
        }
        Err(io::Error::other("another program has changed it meanwhile; run the command again"))
    }

    fn copy(&self, old: &str, date: &str) -> io::Result<PathBuf> {
        for number in 1..100_u32 {
            let more = if number == 1 { String::new() } else { format!("-{number}") };
            let copy = self.beside(&format!("{COPY_MARK}{date}{more}.bak"))?;
            match self.stage(&copy, old) {
                // Two changes on one day.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => return done.map(|()| copy),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// A new file with the mode of the present one. A first one is for its owner alone: it may get secrets.
    fn stage(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        // Before anything is written, so that no other user can read it in between.
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        if let Ok(present) = fs::metadata(&self.real) {
            file.set_permissions(present.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        // The rename must not be on disk before the text is.
        file.sync_all()
    }

    fn beside(&self, ending: &str) -> io::Result<PathBuf> {
        let mut name: OsString = self.real.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        name.push(ending);
        Ok(self.real.with_file_name(name))
    }
}

fn read_text(path: &Path) -> io::Result<Option<String>> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    // One byte more than allowed is enough to know; the size that the system reports may be stale or zero.
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(text))
}

/// Whether there is anything at a path.
pub fn is_there(path: &Path) -> bool {
    path.exists()
}

/// Whether one folder is another, or around it.
pub fn is_around(outer: &Path, inner: &Path) -> bool {
    match (fs::canonicalize(outer), fs::canonicalize(inner)) {
        (Ok(outer), Ok(inner)) => inner.starts_with(outer),
        _ => inner.starts_with(outer),
    }
}

/// Whether two paths lead to the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// The key and the certificate of the REST API, in the state folder.
pub const REST_KEY: &str = "rest-key.pem";
pub const REST_CERTIFICATE: &str = "rest-certificate.pem";

/// What Lapidary keeps in a state folder: one folder for each vault, the database of tokens, and the key of the REST API.
pub fn state_contents(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // The name of a vault's folder is a hash.
        let of_vault = name.len() == 16 && name.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let is_ours =
            [PRIVATE_PAGE, REST_KEY, REST_CERTIFICATE].contains(&name.as_str()) || name.starts_with("auth.db");
        // The configuration file and other files of the owner stay.
        if is_ours || (of_vault && entry.file_type()?.is_dir()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Removes what [`state_contents`] lists, and the folder itself if it is empty then.
pub fn remove_state(folder: &Path) -> io::Result<()> {
    for path in state_contents(folder)? {
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    match fs::remove_dir(folder) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => Err(error),
        _ => Ok(()),
    }
}
