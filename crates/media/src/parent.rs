//! Starts the process that decodes, and ends it.

use std::{
    io::Read,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use lapidary_operation::{AttachmentDecoder, DecodeError, DecodeJob, DecodedAttachment, Reason};
use lapidary_vault::{
    DecodeFault, DocumentKind, DocumentReader, DocumentText, ElapsedTime, MOST_DOCUMENT_TEXT, NoDocumentText,
};

use crate::{CHILD_COMMAND, child, document, limits, wire};

/// How often is looked whether the call may go on.
const LOOK: Duration = Duration::from_millis(20);

/// Decodes in a separate process, one for each file.
#[derive(Clone, Debug)]
pub struct ChildDecoder {
    program: PathBuf,
}

impl ChildDecoder {
    /// `program` calls [`crate::run_child`] if its only argument is [`CHILD_COMMAND`].
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    fn start(&self) -> std::io::Result<RunningChild> {
        let mut command = Command::new(&self.program);
        // Nothing of ours goes along: no variable, no folder, no message in the log.
        command.arg(CHILD_COMMAND).env_clear().current_dir(root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map(RunningChild)
    }
}

/// A folder that is always there, and not in a vault.
fn root() -> PathBuf {
    std::env::temp_dir().ancestors().last().map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Killed at the latest when it is dropped, so that no way out of a call leaves it running.
struct RunningChild(Child);

impl Drop for RunningChild {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and is still waited for.
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

/// How a child ended without a result.
enum NoResult<E> {
    /// The caller may not go on.
    Stopped(E),
    Fault(DecodeFault),
}

impl AttachmentDecoder for ChildDecoder {
    fn decode(
        &self,
        job: DecodeJob,
        bytes: &[u8],
        go_on: &dyn Fn() -> Result<(), Reason>,
    ) -> Result<DecodedAttachment, DecodeError> {
        self.run(job, bytes, go_on).map_err(|ended| match ended {
            NoResult::Stopped(reason) => DecodeError::Stopped(Box::new(reason)),
            NoResult::Fault(fault) => DecodeError::Fault(fault),
        })
    }
}

impl DocumentReader for ChildDecoder {
    fn read(
        &self,
        kind: DocumentKind,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<DocumentText, NoDocumentText> {
        let decoded = self.run(text_job(kind), bytes, &|| if go_on() { Ok(()) } else { Err(()) });
        let decoded = decoded.map_err(|ended| match ended {
            NoResult::Stopped(()) => NoDocumentText::Stopped,
            NoResult::Fault(fault) => NoDocumentText::Fault(fault),
        })?;
        document_of(kind, decoded)
    }

    fn version(&self, kind: DocumentKind) -> Option<u32> {
        document::version(kind)
    }
}

fn text_job(kind: DocumentKind) -> DecodeJob {
    DecodeJob::Text { kind, most_bytes: u32::try_from(MOST_DOCUMENT_TEXT).unwrap_or(u32::MAX) }
}

/// A child that answers another question than it was asked is not ours.
fn document_of(kind: DocumentKind, decoded: DecodedAttachment) -> Result<DocumentText, NoDocumentText> {
    match decoded {
        DecodedAttachment::Text(text) if text.kind == kind => Ok(text),
        _ => Err(NoDocumentText::Fault(DecodeFault::Crashed)),
    }
}

impl ChildDecoder {
    fn run<E>(
        &self,
        job: DecodeJob,
        bytes: &[u8],
        go_on: &dyn Fn() -> Result<(), E>,
    ) -> Result<DecodedAttachment, NoResult<E>> {
        let fault = NoResult::Fault;
        let mut running = self.start().map_err(|_| fault(DecodeFault::Unavailable))?;
        let (Some(input), Some(output)) = (running.0.stdin.take(), running.0.stdout.take()) else {
            return Err(fault(DecodeFault::Unavailable));
        };
        let most = most_output(job);
        let started = ElapsedTime::start();
        // The threads end when the child does, which is killed on every way out of the scope.
        let ended = thread::scope(|scope| {
            // Dropped inside the scope, so that its threads do not wait for a child that is never killed.
            let running = running;
            let (sender, receiver) = mpsc::channel();
            // A child that ends early does not read all.
            scope.spawn(move || wire::write_job(input, job, bytes).unwrap_or_default());
            scope.spawn(move || {
                let mut written = Vec::new();
                // One more than allowed, to see that there is more.
                let read = output.take(most + 1).read_to_end(&mut written);
                sender.send(read.map(|_| written)).unwrap_or_default();
            });
            let written = loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(written) => break written,
                    // The thread that reads has ended without sending, which only a panic does.
                    Err(RecvTimeoutError::Disconnected) => return Err(fault(DecodeFault::Crashed)),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                go_on().map_err(NoResult::Stopped)?;
                if started.elapsed() > limits::WALL_TIME {
                    return Err(fault(DecodeFault::Clock));
                }
            };
            Ok((written.map_err(|_| fault(DecodeFault::Crashed))?, running))
        });
        let (written, mut running) = ended?;
        // Before it is parsed: what exceeds its limit is not a result.
        if written.len() as u64 > most {
            return Err(fault(DecodeFault::Output));
        }
        match wire::read_result(&written) {
            Some(decoded) => decoded.map_err(fault),
            // Only without a result is it asked how the child ended.
            None => Err(fault(cause_of_death(&mut running.0))),
        }
    }
}

/// The limit that ended a child which closed its output without a result.
fn cause_of_death(child: &mut Child) -> DecodeFault {
    let Ok(status) = child.wait() else { return DecodeFault::Crashed };
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;

        use rustix::process::Signal;
        let is = |signal: Signal| status.signal() == Some(signal.as_raw());
        // Linux looks at the hard limit first, which is the same here, and then sends the second.
        if is(Signal::XCPU) || is(Signal::KILL) {
            return DecodeFault::Time;
        }
        // Memory that cannot be had aborts the process.
        if is(Signal::ABORT) {
            return DecodeFault::Memory;
        }
    }
    #[cfg(not(unix))]
    drop(status);
    DecodeFault::Crashed
}

/// The line, and the bytes that the job allows.
fn most_output(job: DecodeJob) -> u64 {
    match job {
        DecodeJob::Picture { most_bytes, .. } | DecodeJob::Page { most_bytes, .. } => 4_096 + u64::from(most_bytes),
        // As JSON, where a sign may take six bytes, and with a frame for each of many pages.
        DecodeJob::Text { most_bytes, .. } => (4 << 20) + 2 * u64::from(most_bytes),
        DecodeJob::Template { most_bytes, .. } => 64 * 1_024 + u64::from(most_bytes),
    }
}

/// Decodes in the calling process, without the limits of another: for tests, and for programs that hold a server in
/// themselves. The size of a picture is checked before it is decoded here too.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcessDecoder;

impl AttachmentDecoder for InProcessDecoder {
    fn decode(
        &self,
        job: DecodeJob,
        bytes: &[u8],
        go_on: &dyn Fn() -> Result<(), Reason>,
    ) -> Result<DecodedAttachment, DecodeError> {
        go_on().map_err(|reason| DecodeError::Stopped(Box::new(reason)))?;
        child::decode(job, bytes).map_err(DecodeError::Fault)
    }
}

impl DocumentReader for InProcessDecoder {
    fn read(
        &self,
        kind: DocumentKind,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<DocumentText, NoDocumentText> {
        if !go_on() {
            return Err(NoDocumentText::Stopped);
        }
        document_of(kind, child::decode(text_job(kind), bytes).map_err(NoDocumentText::Fault)?)
    }

    fn version(&self, kind: DocumentKind) -> Option<u32> {
        document::version(kind)
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "the tests write the programs that play the child")]
mod tests {
    use std::{io::Write, os::unix::fs::OpenOptionsExt, path::Path};

    use lapidary_operation::Interruption;

    use super::*;

    const JOB: DecodeJob = DecodeJob::Picture { longest_side: 100, most_bytes: 1000 };

    #[expect(clippy::unwrap_used, reason = "a test that cannot write its program has failed")]
    fn program(folder: &Path, name: &str, script: &str) -> ChildDecoder {
        let path = folder.join(name);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path).unwrap();
        write!(file, "#!/bin/sh\n{script}\n").unwrap();
        ChildDecoder::new(path)
    }

    fn fault(decoder: &ChildDecoder) -> DecodeFault {
        // More than a pipe holds, so that a child that does not read is met too.
        match decoder.decode(JOB, &[0; 200_000], &|| Ok(())) {
            Err(DecodeError::Fault(fault)) => fault,
            other => panic!("{other:?}"),
        }
    }

    /// One test: a script that is being written cannot be started while another thread starts a process.
    #[test]
    fn a_child_that_misbehaves_is_a_fault_and_is_gone_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        assert_eq!(fault(&ChildDecoder::new(place.join("none"))), DecodeFault::Unavailable);
        assert_eq!(fault(&program(place, "silent", "exit 0")), DecodeFault::Crashed);
        assert_eq!(fault(&program(place, "liar", "echo '{\"picture\":1}'")), DecodeFault::Crashed);
        assert_eq!(fault(&program(place, "endless", "while :; do echo xxxxxxxxxxxxxxxx; done")), DecodeFault::Output);
        assert_eq!(fault(&program(place, "killed", "kill -XCPU $$")), DecodeFault::Time);
        assert_eq!(
            fault(&program(place, "honest", "cat >/dev/null; echo '{\"fault\":\"broken\"}'")),
            DecodeFault::Broken
        );
        // Nothing of the environment is there, and a child that hangs ends with the call.
        let seen = place.join("seen");
        let hangs = program(place, "hangs", &format!("echo $$ $HOME > {}; exec sleep 1000", seen.display()));
        let has_started = || std::fs::read_to_string(&seen).is_ok_and(|said| said.ends_with('\n'));
        let cancelled = || match has_started() {
            true => Err(Reason::Interrupted(Interruption::TakenBack)),
            false => Ok(()),
        };
        assert!(matches!(hangs.decode(JOB, b"x", &cancelled), Err(DecodeError::Stopped(_))));
        let said = std::fs::read_to_string(&seen).unwrap();
        let process: i32 = said.trim().parse().expect("a number and no home folder");
        let process = rustix::process::Pid::from_raw(process).unwrap();
        assert!(rustix::process::test_kill_process(process).is_err(), "it has ended, and was waited for");
    }
}
