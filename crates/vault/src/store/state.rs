//! What Lapidary keeps for itself, in the state folder and never in the vault.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// A log of lines that several processes append to; older files are kept as `.1` to `.5`.
#[derive(Clone, Debug)]
pub struct LogFile {
    path: PathBuf,
    max_bytes: u64,
}

const KEPT: usize = 5;

impl LogFile {
    pub fn new(path: PathBuf, max_bytes: u64) -> Self {
        Self { path, max_bytes }
    }

    pub fn append(&self, line: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            private_folder(folder)?;
        }
        loop {
            let mut file = private_file().append(true).create(true).open(&self.path)?;
            file.lock()?;
            // Whoever waited for the lock may hold a file that was rotated away meanwhile.
            if !same_file(&file, &self.path) {
                continue;
            }
            let length = file.metadata()?.len();
            if length > 0 && length + line.len() as u64 >= self.max_bytes {
                self.rotate()?;
                continue;
            }
            return file.write_all(format!("{line}\n").as_bytes());
        }
    }

    fn rotate(&self) -> io::Result<()> {
        for number in (1..KEPT).rev() {
            match std::fs::rename(self.older(number), self.older(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        std::fs::rename(&self.path, self.older(1))
    }

    fn older(&self, number: usize) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }

    /// The last lines, oldest first, and where to go on from.
    pub fn tail(&self, limit: usize) -> io::Result<(Vec<String>, LogTail)> {
        let mut tail = LogTail { path: self.path.clone(), read: None };
        let mut lines = tail.more()?;
        for number in 1..=KEPT {
            if lines.len() >= limit {
                break;
            }
            let older = match std::fs::read_to_string(self.older(number)) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            };
            lines.splice(0..0, older.lines().map(str::to_owned));
        }
        lines.drain(..lines.len().saturating_sub(limit));
        Ok((lines, tail))
    }
}

/// A reader that stays at the end of a log.
#[derive(Debug)]
pub struct LogTail {
    path: PathBuf,
    read: Option<(File, u64)>,
}

impl LogTail {
    /// The whole lines that have come since.
    pub fn more(&mut self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        if let Some((file, position)) = &mut self.read {
            lines = whole_lines(file, position)?;
            if same_file(file, &self.path) {
                return Ok(lines);
            }
        }
        match File::open(&self.path) {
            Ok(mut file) => {
                let mut position = 0;
                lines.extend(whole_lines(&mut file, &mut position)?);
                self.read = Some((file, position));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(lines)
    }
}

/// The file by which servers on one vault take turns in changing it.
#[derive(Clone, Debug)]
pub struct TurnFile(PathBuf);

impl TurnFile {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Waits for the turn; it is over when the file is closed.
    pub(crate) fn take(&self) -> io::Result<File> {
        if let Some(folder) = self.0.parent() {
            private_folder(folder)?;
        }
        let file = private_file().write(true).create(true).truncate(false).open(&self.0)?;
        file.lock()?;
        Ok(file)
    }
}

fn whole_lines(file: &mut File, position: &mut u64) -> io::Result<Vec<String>> {
    file.seek(SeekFrom::Start(*position))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    *position += whole as u64;
    Ok(text[..whole].lines().map(str::to_owned).collect())
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere an open file cannot be renamed away, so the path still names it.
#[cfg(not(unix))]
fn same_file(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_rotation_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogFile::new(folder.path().join("deep/audit.jsonl"), 40);
        for number in 0..12 {
            log.append(&format!("line number {number}")).unwrap();
        }
        let (lines, mut tail) = log.tail(4).unwrap();
        assert_eq!(lines, ["line number 8", "line number 9", "line number 10", "line number 11"]);
        assert!(tail.more().unwrap().is_empty());
        for number in 12..17 {
            log.append(&format!("line number {number}")).unwrap();
            assert_eq!(tail.more().unwrap(), [format!("line number {number}")]);
        }
    }

    #[test]
    fn many_writers_lose_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogFile::new(folder.path().join("audit.jsonl"), 10_000);
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let log = &log;
                scope.spawn(move || {
                    for number in 0..50 {
                        log.append(&format!("writer {writer} line {number}")).unwrap();
                    }
                });
            }
        });
        assert_eq!(log.tail(usize::MAX).unwrap().0.len(), 400);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_the_log() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vault/audit.jsonl");
        LogFile::new(path.clone(), 1000).append("x").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
