//! Questions that wait for a person, who may answer them in another process.

use std::{fs, io, path::PathBuf, sync::Arc};

use super::state::{StateFolder, private_file, private_folder};

/// One file for each question; its name says how far it has come, so that only one answer can count.
#[derive(Clone, Debug)]
pub struct Waiting(Arc<StateFolder>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Open,
    /// Somebody is carrying out the answer.
    Taken,
    /// Answered; whoever asked has not heard of it yet.
    Settled,
}

impl Progress {
    const ALL: [Self; 3] = [Self::Open, Self::Taken, Self::Settled];

    fn ending(self) -> &'static str {
        match self {
            Self::Open => "open.json",
            Self::Taken => "taken.json",
            Self::Settled => "settled.json",
        }
    }
}

impl Waiting {
    pub fn new(folder: Arc<StateFolder>) -> Self {
        Self(folder)
    }

    /// Writes a question down, in place of an older one of that name.
    pub fn put(&self, id: &str, text: &str) -> io::Result<()> {
        private_folder(&self.folder()?)?;
        self.write(id, Progress::Open, text)
    }

    /// The question, and how far it has come.
    pub fn find(&self, id: &str) -> io::Result<Option<(Progress, String)>> {
        // Whoever looks while a file gets its next name finds it under that one.
        for progress in Progress::ALL {
            match fs::read_to_string(self.path(id, progress)?) {
                Ok(text) => return Ok(Some((progress, text))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// All of them.
    pub fn list(&self) -> io::Result<Vec<(String, Progress, String)>> {
        let entries = match fs::read_dir(self.folder()?) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let Some((id, ending)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
            if Progress::ALL.iter().any(|progress| progress.ending() == ending)
                && let Some((progress, text)) = self.find(id)?
            {
                found.push((id.to_owned(), progress, text));
            }
        }
        Ok(found)
    }

    /// Takes an open question, which only one can do.
    pub fn take(&self, id: &str) -> io::Result<bool> {
        match fs::rename(self.path(id, Progress::Open)?, self.path(id, Progress::Taken)?) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes the answer to a taken question down.
    pub fn settle(&self, id: &str, text: &str) -> io::Result<()> {
        self.write(id, Progress::Settled, text)?;
        self.remove(id, Progress::Taken)
    }

    pub fn remove(&self, id: &str, progress: Progress) -> io::Result<()> {
        match fs::remove_file(self.path(id, progress)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Under another name first: nobody may read half of it.
    fn write(&self, id: &str, progress: Progress, text: &str) -> io::Result<()> {
        use io::Write;
        let path = self.path(id, progress)?;
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = private_file().write(true).create(true).truncate(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    }

    fn folder(&self) -> io::Result<PathBuf> {
        self.0.file("approvals")
    }

    fn path(&self, id: &str, progress: Progress) -> io::Result<PathBuf> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(self.folder()?.join(format!("{id}.{}", progress.ending())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_taken_once_and_its_answer_is_kept() {
        let (base, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let waiting = Waiting::new(Arc::new(StateFolder::new(base.path().into(), vault.path().into())));
        assert_eq!(waiting.list().unwrap(), []);
        assert_eq!(waiting.find("ab12").unwrap(), None);
        waiting.put("ab12", "first").unwrap();
        waiting.put("ab12", "again").unwrap();
        assert_eq!(waiting.find("ab12").unwrap(), Some((Progress::Open, "again".into())));
        assert!(waiting.take("ab12").unwrap());
        assert!(!waiting.take("ab12").unwrap());
        assert_eq!(waiting.list().unwrap(), [("ab12".into(), Progress::Taken, "again".into())]);
        waiting.settle("ab12", "yes").unwrap();
        assert_eq!(waiting.list().unwrap(), [("ab12".into(), Progress::Settled, "yes".into())]);
        waiting.remove("ab12", Progress::Settled).unwrap();
        assert_eq!(waiting.list().unwrap(), []);
        assert!(waiting.find("../ab").is_err());
    }
}
