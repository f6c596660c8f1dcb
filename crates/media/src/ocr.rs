//! Text on pictures and on scanned pages, recognised by a program that the owner names.
//!
//! The picture is decoded and scaled by the process with limits first, so the program never sees the bytes of the file. It
//! gets a PNG or JPEG on standard input, and what it writes to standard output is the text. It is a program of the owner, and
//! has no other limits than a clock and a cap on its output; it is killed with all processes that it has started.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use lapidary_note::ContentHash;
use lapidary_operation::{
    AttachmentDecoder, DecodeError, DecodeJob, DecodedAttachment, Interruption, Reason, ScaledPicture,
};
use lapidary_vault::{
    DecodeFault, DocumentKind, DocumentPart, DocumentReader, DocumentText, ElapsedTime, MOST_DOCUMENT_TEXT,
    NoDocumentText,
};
use parking_lot::Mutex;

/// Small letters of a scanned page can still be read at this size.
const LONGEST_SIDE: u32 = 3_000;
const MOST_PICTURE_BYTES: u32 = 16 << 20;
/// What a program may take for a picture, and write.
const MOST_TIME: Duration = Duration::from_secs(60);
const MOST_TEXT: u64 = 256 << 10;
const LOOK: Duration = Duration::from_millis(20);
/// More pages of a scan are not read: each takes seconds.
const MOST_SCANNED_PAGES: usize = 500;
/// After this many failures in a row it is the program and not a page.
const MOST_FAILURES: usize = 3;
/// How many documents are remembered whose pages were read in part.
const MOST_UNFINISHED: usize = 4;

/// Reads documents, and the text on pictures and scanned pages.
pub struct OcrReader {
    documents: Arc<dyn DocumentReader>,
    pictures: Arc<dyn AttachmentDecoder>,
    program: String,
    arguments: Vec<String>,
    /// The pages of scans that were read before a call ended, so that the next one goes on from there.
    unfinished: Mutex<Vec<UnfinishedScan>>,
}

struct UnfinishedScan {
    hash: ContentHash,
    pages: BTreeMap<u32, String>,
}

impl OcrReader {
    pub fn new(
        documents: Arc<dyn DocumentReader>,
        pictures: Arc<dyn AttachmentDecoder>,
        program: &str,
        arguments: &[String],
    ) -> Self {
        let (program, arguments) = (program.to_owned(), arguments.to_vec());
        Self { documents, pictures, program, arguments, unfinished: Mutex::default() }
    }

    /// The text on a picture that is decoded with this job.
    fn words(&self, job: DecodeJob, bytes: &[u8], go_on: &(dyn Fn() -> bool + Sync)) -> Result<String, NoDocumentText> {
        let text = self.recognised(&self.scaled(job, bytes, go_on)?, go_on)?;
        Ok(text.trim().to_owned())
    }

    /// Adds the text of scanned pages to what was read of a PDF.
    fn with_scans(
        &self,
        mut text: DocumentText,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<DocumentText, NoDocumentText> {
        // The pages without text of a PDF that has text are empty, or covers, which are not worth a minute each.
        if text.is_cut || 2 * text.parts.len() > text.total as usize {
            return Ok(text);
        }
        let hash = ContentHash::of(bytes);
        let mut pages = self.take_unfinished(hash);
        let has_text = |page: &u32| text.parts.binary_search_by_key(page, |part| part.number).is_ok();
        let scans: Vec<u32> = (1..=text.total).filter(|page| !has_text(page)).collect();
        let (mut fault, mut in_a_row) = (None, 0);
        for page in scans.iter().copied().take(MOST_SCANNED_PAGES) {
            // Read by a call before this one, which was stopped.
            if pages.contains_key(&page) {
                continue;
            }
            let job = DecodeJob::Page { page, longest_side: LONGEST_SIDE, most_bytes: MOST_PICTURE_BYTES };
            match self.words(job, bytes, go_on) {
                Ok(words) => {
                    pages.insert(page, words);
                    in_a_row = 0;
                }
                Err(NoDocumentText::Stopped) => {
                    self.put_unfinished(UnfinishedScan { hash, pages });
                    return Err(NoDocumentText::Stopped);
                }
                // The program fails, maybe on this page alone.
                Err(NoDocumentText::Fault(failed @ (DecodeFault::Unavailable | DecodeFault::Clock))) => {
                    fault = Some(failed);
                    in_a_row += 1;
                    if in_a_row == MOST_FAILURES {
                        break;
                    }
                }
                // The page is not a picture, or cannot be decoded.
                Err(NoDocumentText::Fault(_)) => drop(pages.insert(page, String::new())),
            }
        }
        // A page without words is remembered as such, and is not a part of the text.
        let found = pages.into_iter().filter(|(_, text)| !text.is_empty());
        text.parts.extend(found.map(|(number, text)| DocumentPart { number, label: None, text }));
        text.parts.sort_by_key(|part| part.number);
        text.is_cut |= scans.len() > MOST_SCANNED_PAGES || fault.is_some();
        let mut bytes = 0;
        let all = text.parts.len();
        let fits = |part: &&DocumentPart| {
            bytes += part.text.len();
            bytes <= MOST_DOCUMENT_TEXT
        };
        // By whole pages: the limit is that of a document read in one piece.
        let fits = text.parts.iter().take_while(fits).count();
        text.parts.truncate(fits);
        text.is_cut |= fits < all;
        match fault {
            // Then it is tried again another time, like a picture.
            Some(fault) if text.parts.is_empty() => Err(NoDocumentText::Fault(fault)),
            _ => text.believed(DocumentKind::Pdf).ok_or(NoDocumentText::Fault(DecodeFault::Crashed)),
        }
    }

    fn take_unfinished(&self, hash: ContentHash) -> BTreeMap<u32, String> {
        let mut unfinished = self.unfinished.lock();
        let at = unfinished.iter().position(|scan| scan.hash == hash);
        at.map(|at| unfinished.remove(at).pages).unwrap_or_default()
    }

    fn put_unfinished(&self, scan: UnfinishedScan) {
        let mut unfinished = self.unfinished.lock();
        // The newest in front, so that the oldest falls out.
        unfinished.insert(0, scan);
        unfinished.truncate(MOST_UNFINISHED);
    }

    /// The picture as the program gets it.
    fn scaled(
        &self,
        job: DecodeJob,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<u8>, NoDocumentText> {
        let goes_on = || if go_on() { Ok(()) } else { Err(Reason::Interrupted(Interruption::TakenBack)) };
        match self.pictures.decode(job, bytes, &goes_on) {
            Ok(DecodedAttachment::Picture(ScaledPicture { bytes, .. })) => Ok(bytes),
            Ok(DecodedAttachment::Text(_) | DecodedAttachment::Document(_)) => {
                Err(NoDocumentText::Fault(DecodeFault::Crashed))
            }
            Err(DecodeError::Stopped(_)) => Err(NoDocumentText::Stopped),
            Err(DecodeError::Fault(fault)) => Err(NoDocumentText::Fault(fault)),
        }
    }

    fn start(&self) -> std::io::Result<RunningProgram> {
        // With our environment: it is the owner's program, and may need variables to find its data.
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt;
            // Its own group, so that what it starts ends with it.
            command.process_group(0);
        }
        command.spawn().map(RunningProgram)
    }

    fn recognised(&self, picture: &[u8], go_on: &(dyn Fn() -> bool + Sync)) -> Result<String, NoDocumentText> {
        let fault = NoDocumentText::Fault;
        let mut running = self.start().map_err(|_| fault(DecodeFault::Unavailable))?;
        let (Some(mut input), Some(output)) = (running.0.stdin.take(), running.0.stdout.take()) else {
            return Err(fault(DecodeFault::Unavailable));
        };
        let started = ElapsedTime::start();
        let (written, mut running) = thread::scope(|scope| {
            // Dropped inside the scope, so that its threads do not wait for a program that is never killed.
            let running = running;
            let (sender, receiver) = mpsc::channel();
            // A program that ends early does not read all.
            scope.spawn(move || input.write_all(picture).unwrap_or_default());
            scope.spawn(move || {
                let mut written = Vec::new();
                // One more than allowed, to see that there is more.
                let read = output.take(MOST_TEXT + 1).read_to_end(&mut written);
                sender.send(read.map(|_| written)).unwrap_or_default();
            });
            let written = loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(written) => break written,
                    Err(RecvTimeoutError::Disconnected) => return Err(fault(DecodeFault::Crashed)),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if !go_on() {
                    return Err(NoDocumentText::Stopped);
                }
                if started.elapsed() > MOST_TIME {
                    return Err(fault(DecodeFault::Clock));
                }
            };
            Ok((written.map_err(|_| fault(DecodeFault::Crashed))?, running))
        })?;
        if written.len() as u64 > MOST_TEXT {
            return Err(fault(DecodeFault::Output));
        }
        // It has closed its output, so it is about to end.
        while started.elapsed() <= MOST_TIME {
            match running.0.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(status)) if status.success() => return Ok(String::from_utf8_lossy(&written).into_owned()),
                // Not kept: the program may be mended without a change of its name.
                Ok(Some(_)) | Err(_) => return Err(fault(DecodeFault::Unavailable)),
            }
        }
        Err(fault(DecodeFault::Clock))
    }
}

impl DocumentReader for OcrReader {
    fn read(
        &self,
        kind: DocumentKind,
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<DocumentText, NoDocumentText> {
        match kind {
            DocumentKind::Picture => {}
            DocumentKind::Pdf => return self.with_scans(self.documents.read(kind, bytes, go_on)?, bytes, go_on),
            _ => return self.documents.read(kind, bytes, go_on),
        }
        let job = DecodeJob::Picture { longest_side: LONGEST_SIDE, most_bytes: MOST_PICTURE_BYTES };
        let text = self.words(job, bytes, go_on)?;
        let parts = if text.is_empty() { Vec::new() } else { vec![DocumentPart { number: 1, label: None, text }] };
        let text = DocumentText { kind, title: None, author: None, total: 1, parts, is_cut: false };
        text.believed(kind).ok_or(NoDocumentText::Fault(DecodeFault::Crashed))
    }

    /// Another program recognises another text.
    fn version(&self, kind: DocumentKind) -> Option<u32> {
        let command = [std::slice::from_ref(&self.program), self.arguments.as_slice()].concat().join("\0");
        // A hash of the command, since a program cannot be asked for a version in general.
        let of = |command: &str| {
            let [first, second, third, fourth, ..] = *ContentHash::of(command.as_bytes()).as_bytes();
            u32::from_le_bytes([first, second, third, fourth])
        };
        match kind {
            DocumentKind::Picture => Some(of(&command)),
            // Both have a say in it.
            DocumentKind::Pdf => Some(of(&format!("{command}\0{}", self.documents.version(kind)?))),
            _ => self.documents.version(kind),
        }
    }
}

/// Killed at the latest when it is dropped, with what it has started.
struct RunningProgram(Child);

impl Drop for RunningProgram {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // A group that has ended cannot be killed.
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap_or_default();
        }
        self.0.kill().unwrap_or_default();
        drop(self.0.wait());
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "the tests look at what the programs do")]
mod tests {
    use super::*;
    use crate::InProcessDecoder;

    fn reader(script: &str) -> OcrReader {
        let decoder = Arc::new(InProcessDecoder);
        let arguments = ["-c".to_owned(), script.to_owned()];
        OcrReader::new(Arc::<InProcessDecoder>::clone(&decoder), decoder, "sh", &arguments)
    }

    fn picture() -> Vec<u8> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::DynamicImage::from(image::GrayImage::new(40, 20)).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    fn read(script: &str) -> Result<Vec<String>, NoDocumentText> {
        let text = reader(script).read(DocumentKind::Picture, &picture(), &|| true)?;
        Ok(text.parts.into_iter().map(|part| part.text).collect())
    }

    #[test]
    fn a_program_gets_a_picture_and_its_output_is_the_text() {
        assert_eq!(read("head -c 4 | tail -c 3; printf ' \\a slate\\n\\n'").unwrap(), ["PNG  slate"]);
        assert_eq!(read("cat >/dev/null").unwrap(), [] as [&str; 0]);
        // One that reads nothing is as good.
        assert_eq!(read("echo roof").unwrap(), ["roof"]);
    }

    #[test]
    fn a_program_that_misbehaves_is_a_fault_and_is_gone_with_what_it_started() {
        assert_eq!(read("exit 1"), Err(NoDocumentText::Fault(DecodeFault::Unavailable)));
        assert_eq!(
            read("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done"),
            Err(NoDocumentText::Fault(DecodeFault::Output))
        );
        let missing = OcrReader { program: "/no/such/program".into(), ..reader("") };
        let unavailable = missing.read(DocumentKind::Picture, &picture(), &|| true);
        assert_eq!(unavailable.unwrap_err(), NoDocumentText::Fault(DecodeFault::Unavailable));
        // What is not a picture never reaches it.
        let broken = reader("echo x").read(DocumentKind::Picture, b"no picture", &|| true);
        assert_eq!(broken.unwrap_err(), NoDocumentText::Fault(DecodeFault::Broken));
        // It hangs, and so does what it has started, until the call is over.
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let script = format!("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", seen.display());
        let hangs = reader(&script).read(DocumentKind::Picture, &picture(), &|| !seen.exists());
        assert_eq!(hangs.unwrap_err(), NoDocumentText::Stopped);
        let process: i32 = std::io::read_to_string(open(&seen)).unwrap().trim().parse().unwrap();
        let process = rustix::process::Pid::from_raw(process).unwrap();
        // The process that adopted it may not have waited for it yet.
        let is_gone = || rustix::process::test_kill_process(process).is_err();
        let started = ElapsedTime::start();
        while !is_gone() && started.elapsed() < Duration::from_secs(30) {
            thread::sleep(LOOK);
        }
        assert!(is_gone() || is_dead(process), "it was killed");
    }

    #[test]
    fn the_pages_of_a_scan_are_read_one_by_one() {
        let scan = crate::document::tests::sample_scan();
        let pages = |script: &str| {
            let text = reader(script).read(DocumentKind::Pdf, &scan, &|| true)?;
            Ok(text.parts.into_iter().map(|part| (part.number, part.text)).collect::<Vec<_>>())
        };
        let said = |number, text: &str| (number, text.to_owned());
        assert_eq!(pages("cat >/dev/null; echo ' slate '").unwrap(), [said(1, "slate"), said(2, "slate")]);
        assert_eq!(pages("cat >/dev/null").unwrap(), []);
        // A program that is missing may be there another time.
        assert_eq!(pages("exit 1"), Err(NoDocumentText::Fault(DecodeFault::Unavailable)));
        // What has text is not recognised.
        let broken = reader("exit 1");
        let text = broken.read(DocumentKind::Plain, b"slate", &|| true).unwrap();
        assert_eq!(text.parts[0].text, "slate");
        assert_ne!(broken.version(DocumentKind::Pdf), reader("exit 2").version(DocumentKind::Pdf));
        assert_eq!(broken.version(DocumentKind::Plain), InProcessDecoder.version(DocumentKind::Plain));
    }

    #[test]
    fn a_page_that_the_program_fails_on_takes_no_other_with_it() {
        let scan = crate::document::tests::sample_scans(6);
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, fails: &str| {
            let count = folder.path().join(name);
            let script = format!(
                "cat >/dev/null; echo x >> {0}; case $(wc -l < {0}) in {fails}) exit 1;; esac; echo slate",
                count.display()
            );
            let text = reader(&script).read(DocumentKind::Pdf, &scan, &|| true).unwrap();
            (text.parts.into_iter().map(|part| part.number).collect::<Vec<_>>(), text.is_cut)
        };
        assert_eq!(read("none", "none"), (vec![1, 2, 3, 4, 5, 6], false));
        assert_eq!(read("some", "1|2|4"), (vec![3, 5, 6], true), "what is missing is said");
        assert_eq!(read("many", "2|3|4"), (vec![1], true), "it is the program");
    }

    #[test]
    fn a_scan_goes_on_where_the_last_call_ended() {
        let scan = crate::document::tests::sample_scan();
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        // On the second page it hangs, once.
        let script = format!(
            "cat >/dev/null; echo x >> {0}; if [ $(wc -l < {0}) = 2 ]; then sleep 1000; fi; echo slate",
            count.display()
        );
        let reader = reader(&script);
        let is_second = || std::fs::read_to_string(&count).is_ok_and(|lines| lines.lines().count() == 2);
        let stopped = reader.read(DocumentKind::Pdf, &scan, &|| !is_second());
        assert_eq!(stopped.unwrap_err(), NoDocumentText::Stopped);
        let text = reader.read(DocumentKind::Pdf, &scan, &|| true).unwrap();
        assert_eq!((text.parts.len(), text.total), (2, 2));
        let runs = std::fs::read_to_string(&count).unwrap().lines().count();
        assert_eq!(runs, 3, "the first page was not read again");
    }

    fn open(path: &std::path::Path) -> std::fs::File {
        std::fs::File::open(path).unwrap()
    }

    /// In a container an orphan may never be waited for; it stays as a zombie.
    fn is_dead(process: rustix::process::Pid) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
        state.contains(") Z ")
    }
}
