//! Places outside the vault that the owner configured: settings files, and the copy of the demo vault.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::state::private_file;
use crate::VaultPath;

/// The page that a browser is opened with, in the state folder.
pub(super) const PRIVATE_PAGE: &str = "console.html";

/// The text of a settings file.
pub fn read_settings(path: &Path) -> io::Result<String> {
    io::read_to_string(open_regular(path)?)
}

/// The bytes of a file with certificates, whose comments may be in any encoding.
pub fn read_certificates(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces a page that only its owner can read, and returns its path.
pub fn write_private_page(folder: &Path, text: &str) -> io::Result<PathBuf> {
    use io::Write;
    let path = folder.join(PRIVATE_PAGE);
    std::fs::create_dir_all(folder)?;
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    private_file().write(true).create_new(true).open(&path)?.write_all(text.as_bytes())?;
    Ok(path)
}

/// A file, for reading. A named pipe in its place would keep the reader waiting.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"))
    }
}

pub fn folder_exists(path: &Path) -> bool {
    path.is_dir()
}

/// The path of one folder inside another; `None` if it is not inside.
pub fn place_within(outer: &Path, inner: &Path) -> Option<VaultPath> {
    let (outer, inner) = (std::fs::canonicalize(outer).ok()?, std::fs::canonicalize(inner).ok()?);
    let names: Option<Vec<&str>> = inner.strip_prefix(outer).ok()?.iter().map(|name| name.to_str()).collect();
    VaultPath::spelt(&names?.join("/"))
}

/// A folder that old versions are exported to.
#[derive(Debug)]
pub struct ExportFolder(PathBuf);

impl ExportFolder {
    /// Only an empty folder: no files are overwritten.
    pub fn new(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        if std::fs::read_dir(path)?.next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        Ok(Self(path.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `below` consists of paths of a vault, so it stays inside.
    pub fn write(&self, below: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.0.join(below);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, bytes)
    }
}

/// A copy of the demo vault that is deleted with this value.
#[derive(Debug)]
pub struct DemoFolder {
    /// Contains the vault and its state, and nothing else.
    around: PathBuf,
    vault: PathBuf,
}

impl DemoFolder {
    pub fn unpack<'a>(name: &str, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> io::Result<Self> {
        // Two demos at once have two folders, and no other program can create the folder before us by guessing its name.
        let unique = getrandom::u64().map_err(io::Error::other)?;
        let around = std::env::temp_dir().join(format!("lapidary-demo-{unique:016x}"));
        let demo = Self { vault: around.join(name), around };
        for (path, bytes) in files {
            let path = demo.vault.join(path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, bytes)?;
        }
        Ok(demo)
    }

    pub fn path(&self) -> &Path {
        &self.vault
    }

    /// Where the state of a temporary vault belongs.
    pub fn state(&self) -> PathBuf {
        self.around.join("state")
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        // A demo left behind in the temporary folder is harmless, and there is no caller left to tell.
        drop(std::fs::remove_dir_all(&self.around));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::posix::SettingsFile;

    #[test]
    fn a_named_pipe_in_place_of_a_settings_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert_eq!(read_settings(&pipe).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(SettingsFile::new(&pipe).unwrap().read().is_err());
        let file = folder.path().join("file");
        std::fs::write(&file, "a = 1").unwrap();
        assert_eq!(read_settings(&file).unwrap(), "a = 1");
    }
}
