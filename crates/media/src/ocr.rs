//! Text on pictures and on scanned pages, recognised by a program that the owner names.
//!
//! The picture is decoded and scaled by the process with limits first, so the program never sees the bytes of the file. It
//! gets a PNG or JPEG on standard input, and what it writes to standard output is the text. It is a program of the owner, and
//! has no other limits than a clock and a cap on its output; it is killed with all processes that it has started.

use std::{
    collections::{BTreeMap, BTreeSet},
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
/// Or this many on different pages.
const MOST_FAILURES_IN_ALL: usize = 12;
/// How many scans are remembered page by page.
const MOST_KNOWN_SCANS: usize = 4;

/// Reads documents, and the text on pictures and scanned pages.
pub struct OcrReader {
    documents: Arc<dyn DocumentReader>,
    pictures: Arc<dyn AttachmentDecoder>,
    program: String,
    arguments: Vec<String>,
    /// The scans that were read last, latest first: a call goes on where the one before it was stopped.
    scans: Mutex<Vec<KnownScan>>,
}

/// The pages of a scan, as far as they were read.
struct KnownScan {
    hash: ContentHash,
    /// `None` is a page that cannot be decoded.
    pages: BTreeMap<u32, Option<String>>,
    is_being_read: bool,
}

/// Who has it is the only one that reads this scan.
struct ScanTurn<'r> {
    scans: &'r Mutex<Vec<KnownScan>>,
    hash: ContentHash,
}

/// How the pages of a scan were read.
#[derive(Default)]
struct RecognitionEnd {
    /// Pages that the program has read, in this call or before.
    recognised: usize,
    /// Pages that the program failed on, and how it did so last.
    failed: BTreeSet<u32>,
    fault: Option<DecodeFault>,
    gave_up: bool,
}

impl RecognitionEnd {
    /// Whether it is the program that fails, and not single pages of the document: it may be there or mended another time.
    fn is_program(&self) -> bool {
        self.fault.is_some() && (self.gave_up || self.recognised == 0)
    }
}

/// Begins to read this scan, unless another call reads it.
fn begin_scan(scans: &mut Vec<KnownScan>, hash: ContentHash) -> bool {
    let mut scan = match scans.iter().position(|scan| scan.hash == hash) {
        Some(at) if scans[at].is_being_read => return false,
        Some(at) => scans.remove(at),
        None => KnownScan { hash, pages: BTreeMap::new(), is_being_read: false },
    };
    scan.is_being_read = true;
    scans.insert(0, scan);
    // The oldest falls out, unless it is being read.
    let mut kept = 0;
    scans.retain(|scan| {
        kept += 1;
        kept <= MOST_KNOWN_SCANS || scan.is_being_read
    });
    true
}

impl ScanTurn<'_> {
    fn of_scan<T>(&self, ask: impl FnOnce(&mut KnownScan) -> T) -> Option<T> {
        self.scans.lock().iter_mut().find(|scan| scan.hash == self.hash).map(ask)
    }

    fn knows(&self, page: u32) -> bool {
        self.of_scan(|scan| scan.pages.contains_key(&page)).unwrap_or_default()
    }

    fn remember(&self, page: u32, words: Option<String>) {
        self.of_scan(|scan| scan.pages.insert(page, words));
    }

    fn bytes(&self) -> usize {
        self.of_scan(|scan| scan.pages.values().flatten().map(String::len).sum()).unwrap_or_default()
    }

    fn pages(&self) -> BTreeMap<u32, Option<String>> {
        self.of_scan(|scan| scan.pages.clone()).unwrap_or_default()
    }
}

impl Drop for ScanTurn<'_> {
    fn drop(&mut self) {
        self.of_scan(|scan| scan.is_being_read = false);
    }
}

impl OcrReader {
    pub fn new(
        documents: Arc<dyn DocumentReader>,
        pictures: Arc<dyn AttachmentDecoder>,
        program: &str,
        arguments: &[String],
    ) -> Self {
        let (program, arguments) = (program.to_owned(), arguments.to_vec());
        Self { documents, pictures, program, arguments, scans: Mutex::default() }
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
        if self.reads_no_more(&text) {
            return Ok(text);
        }
        text.is_recognised = true;
        let turn = self.turn(ContentHash::of(bytes), go_on)?;
        let has_text = |page: &u32| text.parts.binary_search_by_key(page, |part| part.number).is_ok();
        let scans: Vec<u32> = (1..=text.total).filter(|page| !has_text(page)).collect();
        let ended = self.recognise(&turn, &scans, bytes, go_on)?;
        let pages = turn.pages();
        text.unread = scans.iter().filter(|page| pages.get(page).is_none_or(Option::is_none)).count() as u32;
        text.is_provisional = text.unread > 0 && ended.is_program();
        // A page without words is remembered as such, and is not a part of the text.
        let found = pages.into_iter().filter_map(|(number, words)| Some((number, words?)));
        let found = found.filter(|(_, words)| !words.is_empty());
        text.parts.extend(found.map(|(number, text)| DocumentPart { number, label: None, text }));
        text.parts.sort_by_key(|part| part.number);
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
        match ended.fault {
            // Like a picture, it has no text then.
            Some(fault) if text.parts.is_empty() && text.is_provisional => Err(NoDocumentText::Fault(fault)),
            _ => text.believed(DocumentKind::Pdf).ok_or(NoDocumentText::Fault(DecodeFault::Crashed)),
        }
    }

    /// Reads the pages that are not read yet, and those once more that the program failed on while it read others.
    fn recognise(
        &self,
        turn: &ScanTurn<'_>,
        scans: &[u32],
        bytes: &[u8],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<RecognitionEnd, NoDocumentText> {
        // A program that has read pages before, and fails on the rest, fails on these pages.
        let known = turn.pages().into_values().flatten().filter(|words| !words.is_empty()).count();
        let mut end = RecognitionEnd { recognised: known, ..RecognitionEnd::default() };
        let (mut in_a_row, mut in_all) = (0, 0);
        for is_again in [false, true] {
            for page in scans.iter().copied().take(MOST_SCANNED_PAGES) {
                // What has room no more would be left out in any case.
                if turn.knows(page) || (is_again && !end.failed.contains(&page)) || turn.bytes() > MOST_DOCUMENT_TEXT {
                    continue;
                }
                let job = DecodeJob::Page { page, longest_side: LONGEST_SIDE, most_bytes: MOST_PICTURE_BYTES };
                match self.words(job, bytes, go_on) {
                    Ok(words) => {
                        turn.remember(page, Some(words));
                        end.recognised += 1;
                        in_a_row = 0;
                        continue;
                    }
                    // Nothing is on it that could have a text.
                    Err(NoDocumentText::Fault(DecodeFault::Blank)) => {
                        turn.remember(page, Some(String::new()));
                        continue;
                    }
                    Err(NoDocumentText::Stopped) => return Err(NoDocumentText::Stopped),
                    // The program fails, maybe on this page alone.
                    Err(NoDocumentText::Fault(fault)) if !fault.is_final() => {
                        end.fault = Some(fault);
                        end.failed.insert(page);
                    }
                    // The picture cannot be decoded, now or ever.
                    Err(NoDocumentText::Fault(_)) => turn.remember(page, None),
                }
                // A file may make each of its pages take as long as a process may take.
                (in_a_row, in_all) = (in_a_row + 1, in_all + 1);
                if in_a_row == MOST_FAILURES || in_all == MOST_FAILURES_IN_ALL {
                    end.gave_up = true;
                    return Ok(end);
                }
            }
        }
        Ok(end)
    }

    /// Waits for one that reads the same scan: its pages need not be read again.
    fn turn(&self, hash: ContentHash, go_on: &(dyn Fn() -> bool + Sync)) -> Result<ScanTurn<'_>, NoDocumentText> {
        loop {
            if begin_scan(&mut self.scans.lock(), hash) {
                return Ok(ScanTurn { scans: &self.scans, hash });
            }
            if !go_on() {
                return Err(NoDocumentText::Stopped);
            }
            thread::sleep(LOOK);
        }
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
        let text = DocumentText::of_parts(kind, 1, parts);
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

    fn plain_version(&self, kind: DocumentKind) -> Option<u32> {
        self.documents.version(kind)
    }

    fn reads_no_more(&self, text: &DocumentText) -> bool {
        // The pages without text of a PDF that has text are empty, or covers, which are not worth a minute each.
        text.kind != DocumentKind::Pdf || text.is_cut || 2 * text.parts.len() > text.total as usize
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
            let pages: Vec<u32> = text.parts.iter().map(|part| part.number).collect();
            (pages, text.unread, text.is_provisional)
        };
        assert_eq!(read("none", "none"), (vec![1, 2, 3, 4, 5, 6], 0, false));
        assert_eq!(read("some", "1|2|4"), (vec![1, 2, 3, 4, 5, 6], 0, false), "it gets another try");
        assert_eq!(read("two", "1|4|7|8"), (vec![2, 3, 5, 6], 2, false), "what is missing is said");
        assert_eq!(read("many", "2|3|4"), (vec![1], 5, true), "it is the program");
    }

    /// A cover with text, and scanned pages.
    #[test]
    fn a_program_that_comes_later_reads_what_was_missing() {
        let scan = crate::document::tests::sample_scans(3);
        let missing = OcrReader { program: "/no/such/program".into(), ..reader("") };
        let cover = |text: DocumentText| DocumentText {
            total: 4,
            parts: vec![DocumentPart { number: 4, label: None, text: "Cover".into() }],
            ..text
        };
        let text = InProcessDecoder.read(DocumentKind::Pdf, &scan, &|| true).unwrap();
        let read = missing.with_scans(cover(text.clone()), &scan, &|| true).unwrap();
        assert_eq!((read.parts.len(), read.unread, read.is_provisional), (1, 3, true));
        let read = reader("cat >/dev/null; echo slate").with_scans(cover(text), &scan, &|| true).unwrap();
        assert_eq!((read.parts.len(), read.unread, read.is_provisional), (4, 0, false));
    }

    #[test]
    fn of_two_that_read_one_scan_the_second_reads_no_page_again() {
        let scan = crate::document::tests::sample_scans(5);
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let reader = reader(&format!("cat >/dev/null; echo x >> {}; echo slate", count.display()));
        let read = || reader.read(DocumentKind::Pdf, &scan, &|| true).unwrap().parts.len();
        let both = thread::scope(|scope| [scope.spawn(read), scope.spawn(read)].map(|reading| reading.join().unwrap()));
        assert_eq!(both, [5, 5]);
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 5);
    }

    #[test]
    fn a_scan_goes_on_where_the_last_call_ended() {
        let scan = crate::document::tests::sample_scan();
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        // On the second page it hangs, once.
        let stopped_once = |later: &str| {
            std::fs::write(&count, "").unwrap();
            let script = format!(
                "cat >/dev/null; echo x >> {0}; case $(wc -l < {0}) in 2) sleep 1000;; {later} esac; echo slate",
                count.display()
            );
            let reader = reader(&script);
            let is_second = || std::fs::read_to_string(&count).is_ok_and(|lines| lines.lines().count() == 2);
            let stopped = reader.read(DocumentKind::Pdf, &scan, &|| !is_second());
            assert_eq!(stopped.unwrap_err(), NoDocumentText::Stopped);
            reader
        };
        let text = stopped_once("").read(DocumentKind::Pdf, &scan, &|| true).unwrap();
        assert_eq!((text.parts.len(), text.total), (2, 2));
        let runs = std::fs::read_to_string(&count).unwrap().lines().count();
        assert_eq!(runs, 3, "the first page was not read again");
        // The program has read a page before, so it is this page that it fails on.
        let text = stopped_once("3|4) exit 1;;").read(DocumentKind::Pdf, &scan, &|| true).unwrap();
        assert_eq!((text.parts.len(), text.unread, text.is_provisional), (1, 1, false));
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
