//! The system trash of Linux desktops.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use cap_std::fs::Dir;

use super::{StoreError, state::private_file};
use crate::change::numbered;

/// The system trash, as Linux desktops share it: `files/` has the deleted files, `info/` their origins.
#[derive(Clone, Debug)]
pub struct SystemTrash {
    root: PathBuf,
}

/// More files of one name are not deleted.
const MAX_NAMES: usize = 10_000;

impl SystemTrash {
    /// `data_home` is where a person's programs keep their data (`$XDG_DATA_HOME`).
    pub fn in_data_home(data_home: &Path) -> Self {
        Self { root: data_home.join("Trash") }
    }

    /// Whether files can go there. Checked before anything is promised: if they cannot, the vault has its own trash.
    pub(super) fn is_usable(&self) -> bool {
        self.make_folders().is_ok()
    }

    fn make_folders(&self) -> io::Result<()> {
        for part in ["files", "info"] {
            let folder = self.root.join(part);
            std::fs::create_dir_all(&folder)?;
            #[cfg(unix)]
            {
                use rustix::fs::{Access, AtFlags, CWD, accessat};
                // Folders that exist already need not be writable for us.
                accessat(CWD, &folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
            }
        }
        Ok(())
    }

    /// Takes a file out of a folder. `origin` is where a desktop would restore it.
    pub(super) fn take(
        &self,
        folder: &Dir,
        name: &str,
        origin: &Path,
        deleted: SystemTime,
        about_to: &dyn Fn(&'static str) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        about_to("note in trash")?;
        self.make_folders()?;
        let (info, target) = self.reserve(origin, deleted)?;
        let moved = about_to("trash").and_then(|()| self.move_into(folder, name, &target));
        if moved.is_err() {
            // The info file of a missing file.
            drop(std::fs::remove_file(info));
        }
        moved
    }

    fn move_into(&self, folder: &Dir, name: &str, target: &Path) -> Result<(), StoreError> {
        #[cfg(unix)]
        match rustix::fs::renameat(folder, name, rustix::fs::CWD, target) {
            Err(rustix::io::Errno::XDEV) => {}
            renamed => return Ok(renamed.map_err(io::Error::from)?),
        }
        // Another disk: a durable copy before the file is removed. It is tried again later, so a partial one must not
        // stay.
        let copied = self.copy_into(folder, name, target);
        if copied.is_err() {
            drop(std::fs::remove_file(target));
        }
        copied?;
        Ok(folder.remove_file(name)?)
    }

    fn copy_into(&self, folder: &Dir, name: &str, target: &Path) -> io::Result<()> {
        let mut copy = private_file().write(true).create_new(true).open(target)?;
        io::copy(&mut folder.open(name)?, &mut copy)?;
        copy.sync_all()?;
        #[cfg(unix)]
        match std::fs::File::open(self.root.join("files"))?.sync_all() {
            // Some file systems cannot sync a folder and do not need to.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error),
            _ => {}
        }
        Ok(())
    }

    /// The info file is created first: its creator owns the name.
    fn reserve(&self, origin: &Path, deleted: SystemTime) -> Result<(PathBuf, PathBuf), StoreError> {
        let name = origin.file_name().and_then(|name| name.to_str()).ok_or(StoreError::BadName)?;
        for number in 1..MAX_NAMES {
            let name = numbered(name, number);
            let (info, target) =
                (self.root.join("info").join(format!("{name}.trashinfo")), self.root.join("files").join(&name));
            // Some programs leave files without info; their names are taken all the same.
            if target.try_exists()? {
                continue;
            }
            match private_file().write(true).create_new(true).open(&info) {
                Ok(mut file) => {
                    let text = format!("[Trash Info]\nPath={}\nDeletionDate={}\n", encoded(origin), date(deleted));
                    if let Err(error) = file.write_all(text.as_bytes()) {
                        drop(std::fs::remove_file(info));
                        return Err(error.into());
                    }
                    return Ok((info, target));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Exists)
    }
}

fn encoded(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().iter().fold(String::new(), |mut text, &byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => text.push(char::from(byte)),
            _ => text += &format!("%{byte:02X}"),
        }
        text
    })
}

/// In UTC, as nothing here knows the time zone.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // The calendar of 400 years, counted from 1 March, so that the leap day is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (month, day) = (if shifted < 10 { shifted + 3 } else { shifted - 9 }, of_year - (153 * shifted + 2) / 5 + 1);
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_709_251_199, "2024-02-29T23:59:59"),
            (1_763_251_200, "2025-11-16T00:00:00"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn names_are_numbered_before_their_ending() {
        let names = ["a.md", "a", ".hidden", "a.b.md"].map(|name| (numbered(name, 1), numbered(name, 2)));
        let expected = [("a.md", "a 2.md"), ("a", "a 2"), (".hidden", ".hidden 2"), ("a.b.md", "a.b 2.md")];
        assert_eq!(names, expected.map(|(first, second)| (first.to_owned(), second.to_owned())));
    }

    #[test]
    fn a_trashed_file_has_an_info_file_with_its_origin() {
        let around = tempfile::tempdir().unwrap();
        let trash = SystemTrash::in_data_home(&around.path().join("share"));
        let folder = Dir::open_ambient_dir(around.path(), cap_std::ambient_authority()).unwrap();
        for (number, text) in ["one", "two"].into_iter().enumerate() {
            std::fs::write(around.path().join(".aside"), text).unwrap();
            trash.take(&folder, ".aside", Path::new("/vault/Grün 1.md"), UNIX_EPOCH, &|_| Ok(())).unwrap();
            let name = numbered("Grün 1.md", number + 1);
            let files = around.path().join("share/Trash/files");
            assert_eq!(std::fs::read_to_string(files.join(&name)).unwrap(), text);
            let info = around.path().join("share/Trash/info").join(format!("{name}.trashinfo"));
            let expected = "[Trash Info]\nPath=/vault/Gr%C3%BCn%201.md\nDeletionDate=1970-01-01T00:00:00\n";
            assert_eq!(std::fs::read_to_string(info).unwrap(), expected);
        }
        assert!(!around.path().join(".aside").exists());
    }
}
