//! Approval requests that wait for the owner, who may answer them in another process.

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use super::state::{StateFolder, opened, private_file, private_folder, read_text, same_file};

/// One file per request; its name says how far it has come, so that only one answer can count.
#[derive(Clone, Debug)]
pub struct ApprovalQueue(Arc<StateFolder>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    Open,
    /// Its answer is being carried out.
    Taken,
    /// The process that carried out its answer died; whether before or after the change, only the history knows.
    Abandoned,
    /// Answered; the caller has not collected the result yet.
    Settled,
}

/// A request as seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingName {
    pub id: String,
    pub progress: ApprovalState,
    pub since: SystemTime,
    pub bytes: u64,
}

/// The right to carry out an answer. It is a lock, so a process that dies releases it.
#[derive(Debug)]
pub struct AnswerRight(#[expect(dead_code, reason = "held, not read")] File);

impl ApprovalState {
    const ALL: [Self; 3] = [Self::Open, Self::Taken, Self::Settled];

    fn ending(self) -> &'static str {
        match self {
            Self::Open => "open.json",
            Self::Taken | Self::Abandoned => "taken.json",
            Self::Settled => "settled.json",
        }
    }
}

impl ApprovalQueue {
    pub fn new(folder: Arc<StateFolder>) -> Self {
        Self(folder)
    }

    /// Stores a request, replacing an older one of that name.
    pub fn put(&self, id: &str, text: &str) -> io::Result<()> {
        private_folder(&self.folder()?)?;
        self.write(id, ApprovalState::Open, text)
    }

    /// The request, and how far it has come.
    pub fn find(&self, id: &str) -> io::Result<Option<(ApprovalState, String)>> {
        // A reader that races with the renaming of a file finds it under its next name.
        for progress in ApprovalState::ALL {
            let path = self.path(id, progress)?;
            match read_text(&path) {
                // Left by a process that died after storing the answer; the answer is what counts.
                Ok(_) if progress == ApprovalState::Taken && self.path(id, ApprovalState::Settled)?.exists() => {}
                // A taken request that is not locked belongs to a process that died.
                Ok(text) if progress == ApprovalState::Taken && hold(&path)?.is_some() => {
                    return Ok(Some((ApprovalState::Abandoned, text)));
                }
                Ok(text) => return Ok(Some((progress, text))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // The others can still be answered, and the call that led to this one asks anew.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    tracing::warn!("the question {id} ({}) is damaged and is skipped", progress.ending());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Their names, without reading them.
    pub fn names(&self) -> io::Result<Vec<WaitingName>> {
        let entries = match fs::read_dir(self.folder()?) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let Some((id, ending)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
            let Some(progress) = ApprovalState::ALL.into_iter().find(|progress| progress.ending() == ending) else {
                continue;
            };
            match entry.metadata() {
                Ok(file) => {
                    let since = file.modified()?;
                    names.push(WaitingName { id: id.to_owned(), progress, since, bytes: file.len() });
                }
                // It was renamed meanwhile, or collected.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(names)
    }

    /// All of them.
    pub fn list(&self) -> io::Result<Vec<(String, ApprovalState, String)>> {
        let ids: BTreeSet<String> = self.names()?.into_iter().map(|found| found.id).collect();
        let mut found = Vec::new();
        for id in ids {
            if let Some((progress, text)) = self.find(&id)? {
                found.push((id, progress, text));
            }
        }
        Ok(found)
    }

    /// Takes an open request, which only one process can do.
    pub fn take(&self, id: &str) -> io::Result<Option<AnswerRight>> {
        let (open, taken) = (self.path(id, ApprovalState::Open)?, self.path(id, ApprovalState::Taken)?);
        // Locked under its old name: it must never appear both taken and free.
        let Some(held) = hold(&open)? else {
            // The process that took it before is gone, or still at it.
            return Ok(if open.exists() { None } else { hold(&taken)?.map(AnswerRight) });
        };
        match fs::rename(&open, &taken) {
            Ok(()) if same_file(&held, &taken) => Ok(Some(AnswerRight(held))),
            // It was rewritten meanwhile.
            Ok(()) => Ok(hold(&taken)?.map(AnswerRight)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores the answer to a taken request.
    pub fn settle(&self, id: &str, text: &str) -> io::Result<()> {
        // In this order: a crash in between leaves both, and `find` prefers the answer.
        self.write(id, ApprovalState::Settled, text)?;
        self.remove(id, ApprovalState::Taken).map(|_| ())
    }

    /// Whether it existed: of several concurrent removals, one gets `true`.
    pub fn remove(&self, id: &str, progress: ApprovalState) -> io::Result<bool> {
        match fs::remove_file(self.path(id, progress)?) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes it, however far it has come.
    pub fn forget(&self, id: &str) -> io::Result<()> {
        ApprovalState::ALL.into_iter().try_for_each(|progress| self.remove(id, progress).map(|_| ()))
    }

    /// Under another name first, so that no reader sees half of it.
    fn write(&self, id: &str, progress: ApprovalState, text: &str) -> io::Result<()> {
        use io::Write;
        let path = self.path(id, progress)?;
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        // Unique, as two processes or threads may write at the same time.
        let beside = path.with_extension(format!("{}-{number}.new", std::process::id()));
        let mut file = private_file().write(true).create(true).truncate(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    }

    fn folder(&self) -> io::Result<PathBuf> {
        self.0.subfolder("approvals")
    }

    fn path(&self, id: &str, progress: ApprovalState) -> io::Result<PathBuf> {
        // The id comes from outside and becomes a file name.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(self.folder()?.join(format!("{id}.{}", progress.ending())))
    }
}

/// Two calls may write at a time.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// The lock on an existing request that no process holds.
fn hold(path: &Path) -> io::Result<Option<File>> {
    let file = match opened(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_taken_once_and_its_answer_is_kept() {
        let (base, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let waiting = ApprovalQueue::new(Arc::new(StateFolder::new(base.path().into(), vault.path().into())));
        assert_eq!(waiting.list().unwrap(), []);
        assert_eq!(waiting.find("ab12").unwrap(), None);
        waiting.put("ab12", "first").unwrap();
        waiting.put("ab12", "again").unwrap();
        assert_eq!(waiting.find("ab12").unwrap(), Some((ApprovalState::Open, "again".into())));
        let taken = waiting.take("ab12").unwrap();
        assert!(taken.is_some() && waiting.take("ab12").unwrap().is_none());
        assert_eq!(waiting.list().unwrap(), [("ab12".into(), ApprovalState::Taken, "again".into())]);
        waiting.settle("ab12", "yes").unwrap();
        assert_eq!(waiting.list().unwrap(), [("ab12".into(), ApprovalState::Settled, "yes".into())]);
        waiting.remove("ab12", ApprovalState::Settled).unwrap();
        assert_eq!(waiting.list().unwrap(), []);
        assert!(waiting.find("../ab").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn damaged_questions_are_skipped_and_links_are_not_followed() {
        let (base, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = Arc::new(StateFolder::new(base.path().into(), vault.path().into()));
        let waiting = ApprovalQueue::new(Arc::clone(&folder));
        waiting.put("ab12", "first").unwrap();
        let own = folder.file("approvals").unwrap();
        fs::write(own.join("cd34.open.json"), b"\xff\xfe").unwrap();
        let secret = base.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        std::os::unix::fs::symlink(&secret, own.join("ef56.open.json")).unwrap();
        assert_eq!(waiting.list().unwrap(), [("ab12".into(), ApprovalState::Open, "first".into())]);
        // Asked anew, they are as good as any.
        waiting.put("cd34", "second").unwrap();
        waiting.put("ef56", "third").unwrap();
        assert_eq!(waiting.list().unwrap().len(), 3);
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        let elsewhere = base.path().join("elsewhere");
        fs::rename(&own, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &own).unwrap();
        assert!(waiting.list().is_err() && waiting.find("ab12").is_err() && waiting.put("ab12", "x").is_err());
        assert!(waiting.forget("ab12").is_err() && waiting.take("ab12").is_err());
        assert_eq!(fs::read_to_string(elsewhere.join("ab12.open.json")).unwrap(), "first");
    }

    #[test]
    fn a_question_whose_answer_was_interrupted_is_abandoned_and_can_be_taken_again() {
        let (base, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let waiting = ApprovalQueue::new(Arc::new(StateFolder::new(base.path().into(), vault.path().into())));
        waiting.put("ab12", "first").unwrap();
        drop(waiting.take("ab12").unwrap());
        assert_eq!(waiting.find("ab12").unwrap(), Some((ApprovalState::Abandoned, "first".into())));
        let again = waiting.take("ab12").unwrap();
        assert!(again.is_some());
        assert_eq!(waiting.find("ab12").unwrap(), Some((ApprovalState::Taken, "first".into())));
        drop(again);
        waiting.put("ab12", "second").unwrap();
        let anew = waiting.take("ab12").unwrap();
        assert_eq!(waiting.list().unwrap(), [("ab12".into(), ApprovalState::Taken, "second".into())]);
        drop(anew);
        waiting.forget("ab12").unwrap();
        assert_eq!(waiting.list().unwrap(), []);
    }
}
