//! A server that is a program of this computer, reached over its standard input and output. It runs in its own process group, which
//! is killed with it, so that what it starts ends too, unless that starts another group. Nothing is left to do so if this process is
//! killed itself: then the end of its input is all that tells the program, as the system's own ways (PR_SET_PDEATHSIG) need unsafe code.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, BufRead, BufReader, ErrorKind, Write},
    path::PathBuf,
    process::{Child, ChildStderr, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use lapidary_operation::{FailedCall, ServerFault};
use lapidary_vault::ElapsedTime;
use memchr::memchr;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::protocol::{CallerPatience, IncomingMessage, ServerLink, incoming, notification, request};

/// What was not asked for: notifications, requests, answers that came too late. So much in such a time is a flood.
const MOST_UNASKED: usize = 2 << 20;
const UNASKED_TIME: Duration = Duration::from_secs(10);
/// Lines that are not of the protocol: a banner is forgiven.
const MOST_GARBAGE: usize = 50;
/// Messages that the program has not read yet.
const MOST_UNREAD: usize = 16;
/// A program that lets this many calls in a row run out is started anew.
const MOST_SILENCE: usize = 2;
/// What is kept and logged of its words for people.
const KEPT_WORDS: usize = 8;
const LOGGED_WORDS: usize = 100;
const LONGEST_WORDS: usize = 300;
/// What a program said before it ended is there within this time.
const WORDS_COME: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

pub(crate) struct ProgramLink {
    /// Used by the threads that read and write, too.
    shared: Arc<ProgramState>,
    next: AtomicU64,
    silent: AtomicUsize,
}

struct ProgramState {
    server: String,
    process: Mutex<ProgramProcess>,
    desk: Mutex<AnswerDesk>,
    list_changed: AtomicBool,
    /// Whether everything that it said beside its answers is read.
    words_ended: AtomicBool,
    /// The longest line, while it is longer than the usual one.
    longest_line: usize,
}

/// The program, and the way to its input.
struct ProgramProcess {
    child: Child,
    /// Gone once the program is asked to end.
    outgoing: Option<SyncSender<Vec<u8>>>,
    is_reaped: bool,
}

/// Who waits for which answer.
#[derive(Default)]
struct AnswerDesk {
    waiting: BTreeMap<u64, SyncSender<Result<Vec<u8>, ServerFault>>>,
    ended: Option<ServerFault>,
    last_words: VecDeque<String>,
}

impl ProgramLink {
    pub(crate) fn start(
        server: &str,
        command: &str,
        args: &[String],
        variables: &BTreeMap<String, String>,
        longest_line: usize,
    ) -> Result<Self, ServerFault> {
        let mut program = Command::new(command);
        // Nothing of our environment goes along but what the owner passes on.
        program.args(args).env_clear().envs(variables).current_dir(root());
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A separate group, so that a signal to it reaches what the program starts and not this server.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut program, 0);
        let mut child = program.spawn().map_err(|error| {
            tracing::warn!("the program of the server `{server}` cannot be started: {}", error.kind());
            ServerFault::NotStarted
        })?;
        let (input, output, words) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (outgoing, messages) = sync_channel(MOST_UNREAD);
        let process = ProgramProcess { child, outgoing: Some(outgoing), is_reaped: false };
        let shared = Arc::new(ProgramState {
            server: server.to_owned(),
            process: Mutex::new(process),
            desk: Mutex::default(),
            list_changed: AtomicBool::new(false),
            words_ended: AtomicBool::new(false),
            longest_line,
        });
        // None is missing, since all were asked for; but no process may outlive an error.
        let (Some(input), Some(output), Some(words)) = (input, output, words) else {
            shared.end(&ServerFault::NotStarted);
            return Err(ServerFault::NotStarted);
        };
        // The threads end when the program does, which is killed at the latest when the link is dropped.
        thread::spawn(move || write_messages(input, &messages));
        let reader = Arc::clone(&shared);
        thread::spawn(move || reader.read_messages(output));
        let listener = Arc::clone(&shared);
        thread::spawn(move || {
            listener.read_words(words);
            listener.words_ended.store(true, Ordering::Release);
        });
        Ok(Self { shared, next: AtomicU64::new(1), silent: AtomicUsize::new(0) })
    }

    /// Gives up on a request, and tells the program.
    fn give_up(&self, id: u64, fault: ServerFault) -> FailedCall {
        // An answer that still comes is then one that no call has asked for.
        self.shared.desk.lock().waiting.remove(&id);
        let cancelled = json!({ "requestId": id, "reason": "No one waits for it." });
        // If it cannot be told, it does not read either.
        self.shared.send(notification("notifications/cancelled", &cancelled)).unwrap_or_default();
        if fault == ServerFault::TimedOut && self.silent.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_SILENCE {
            self.shared.end(&ServerFault::TimedOut);
        }
        FailedCall { fault, is_sent: true }
    }
}

impl ServerLink for ProgramLink {
    fn request(&self, method: &str, params: Value, patience: &CallerPatience<'_>) -> Result<Vec<u8>, FailedCall> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = sync_channel(1);
        {
            // Checked and entered under one lock: an end in between would leave this call waiting.
            let mut desk = self.shared.desk.lock();
            if let Some(fault) = &desk.ended {
                return Err(FailedCall::unsent(fault.clone()));
            }
            desk.waiting.insert(id, sender);
        }
        // Not sent: the caller may try again without doing anything twice.
        if let Err(fault) = self.shared.send(request(id, method, &params)) {
            self.shared.desk.lock().waiting.remove(&id);
            return Err(FailedCall::unsent(fault));
        }
        loop {
            let look = patience.next_look().map_err(|fault| self.give_up(id, fault))?;
            match answer.recv_timeout(look) {
                Ok(Ok(message)) => {
                    self.silent.store(0, Ordering::Relaxed);
                    return Ok(message);
                }
                Ok(Err(fault)) => return Err(FailedCall { fault, is_sent: true }),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FailedCall { fault: ServerFault::Ended, is_sent: true });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn notify(&self, method: &str, params: Value, _: &CallerPatience<'_>) -> Result<(), ServerFault> {
        self.shared.send(notification(method, &params))
    }

    fn agree(&self, _: &'static str) {
        // No message says it again.
    }

    fn ended(&self) -> Option<ServerFault> {
        self.shared.desk.lock().ended.clone()
    }

    fn takes_list_change(&self) -> bool {
        self.shared.list_changed.swap(false, Ordering::Relaxed)
    }

    fn close(&self) {
        // Its input ends with the sender, which is how a program is asked to end.
        drop(self.shared.process.lock().outgoing.take());
    }

    fn kill(&self) {
        self.shared.end(&ServerFault::Ended);
    }

    fn last_words(&self) -> Vec<String> {
        // Of a program that has ended, the last of them may be on their way still. A process that it left behind can hold them open.
        let asked = ElapsedTime::start();
        while self.ended().is_some() && !self.shared.words_ended.load(Ordering::Acquire) && asked.elapsed() < WORDS_COME
        {
            thread::sleep(LOOK_AGAIN);
        }
        self.shared.desk.lock().last_words.iter().cloned().collect()
    }
}

impl Drop for ProgramLink {
    fn drop(&mut self) {
        self.kill();
    }
}

impl ProgramState {
    fn send(&self, message: Vec<u8>) -> Result<(), ServerFault> {
        let process = self.process.lock();
        let outgoing = process.outgoing.as_ref().ok_or(ServerFault::Ended)?;
        outgoing.try_send(message).map_err(|error| match error {
            // It does not read what it was sent.
            TrySendError::Full(_) => ServerFault::Busy,
            TrySendError::Disconnected(_) => ServerFault::Ended,
        })
    }

    /// Ends the program with its group, and tells all who wait.
    fn end(&self, fault: &ServerFault) {
        {
            let mut process = self.process.lock();
            process.outgoing = None;
            if !process.is_reaped {
                kill_all(&mut process.child);
                // Reaped last: until then no other process can have its number.
                drop(process.child.wait());
                process.is_reaped = true;
            }
        }
        let mut desk = self.desk.lock();
        // The first reason stays: later ones, such as the kill, follow from it.
        let first = desk.ended.get_or_insert_with(|| fault.clone()).clone();
        for (_, waiting) in std::mem::take(&mut desk.waiting) {
            // A caller that no longer waits needs no answer.
            waiting.try_send(Err(first.clone())).unwrap_or_default();
        }
    }

    fn read_messages(&self, output: ChildStdout) {
        let mut output = BufReader::with_capacity(64 << 10, output);
        let (mut unasked, mut since, mut garbage) = (0, ElapsedTime::start(), 0);
        let fault = loop {
            let line = match next_line(&mut output, self.longest_line) {
                Ok(Some(line)) => line,
                Ok(None) => break ServerFault::Ended,
                Err(fault) => break fault,
            };
            // An empty line is not a message, but a stream of them is a flood all the same.
            if line.iter().all(u8::is_ascii_whitespace) {
                unasked += 1 + line.len();
            } else {
                match incoming(&line) {
                    Ok(IncomingMessage::Answer { id }) => {
                        let bytes = line.len();
                        let waiting = self.desk.lock().waiting.remove(&id);
                        match waiting {
                            Some(waiting) => waiting.try_send(Ok(line)).unwrap_or_default(),
                            None => unasked += bytes,
                        }
                    }
                    Ok(IncomingMessage::Request { refusal }) => {
                        unasked += line.len();
                        // A server that does not read its answers gets none.
                        self.send(refusal).unwrap_or_default();
                    }
                    Ok(IncomingMessage::ListChanged) => {
                        unasked += line.len();
                        self.list_changed.store(true, Ordering::Relaxed);
                    }
                    Ok(IncomingMessage::Other) => unasked += line.len(),
                    Err(ServerFault::NotMcp) if garbage < MOST_GARBAGE => {
                        garbage += 1;
                        unasked += line.len();
                    }
                    Err(fault) => break fault,
                }
            }
            // Counted anew from time to time, so that a chatty server may run for weeks.
            if since.elapsed() > UNASKED_TIME {
                (unasked, since) = (0, ElapsedTime::start());
            }
            if unasked > MOST_UNASKED {
                break ServerFault::Flood { limit: MOST_UNASKED, seconds: UNASKED_TIME.as_secs() };
            }
        };
        // One that only ever sent garbage was not a server.
        let is_silent = fault == ServerFault::Ended && garbage > 0;
        let fault = if is_silent && !self.desk.lock().waiting.is_empty() { ServerFault::NotMcp } else { fault };
        self.end(&fault);
    }

    /// Reads what it writes for people, so that it never waits for that. Its words are in no answer; the log has the first of
    /// them, and `lapidary doctor` the last.
    fn read_words(&self, words: ChildStderr) {
        let mut words = BufReader::new(words);
        let mut logged = 0;
        let mut line = Vec::new();
        loop {
            let (used, is_end) = match words.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // What it says last often has no end, and says why it ended.
                Ok([]) | Err(_) if line.is_empty() => return,
                Ok([]) | Err(_) => (0, true),
                Ok(bytes) => match memchr(b'\n', bytes) {
                    Some(at) => {
                        line.extend_from_slice(&bytes[..at.min(LONGEST_WORDS)]);
                        (at + 1, true)
                    }
                    None => {
                        line.extend_from_slice(&bytes[..bytes.len().min(LONGEST_WORDS)]);
                        (bytes.len(), false)
                    }
                },
            };
            words.consume(used);
            // A line without an end is read on, and only its start is kept.
            line.truncate(LONGEST_WORDS);
            if is_end {
                let said = lapidary_operation::quote::one_line(&String::from_utf8_lossy(&line)).into_owned();
                line.clear();
                if logged < LOGGED_WORDS {
                    logged += 1;
                    tracing::debug!(server = self.server, "{said}");
                }
                let last = &mut self.desk.lock().last_words;
                last.push_back(said);
                if last.len() > KEPT_WORDS {
                    last.pop_front();
                }
            }
        }
    }
}

fn write_messages(mut input: impl Write, messages: &Receiver<Vec<u8>>) {
    for message in messages {
        // It no longer reads; the thread that reads it finds out why.
        if input.write_all(&message).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// The next line, without its end; `None` at the end of the output.
fn next_line(output: &mut impl BufRead, longest: usize) -> Result<Option<Vec<u8>>, ServerFault> {
    let mut line = Vec::new();
    loop {
        let bytes = match output.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Ok(None),
        };
        if bytes.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let end = memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        // Before it is kept: a line without an end would fill memory.
        if line.len() + part.len() > longest {
            return Err(ServerFault::TooMuch { limit: longest });
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        output.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// Kills the program, and what it started.
fn kill_all(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // A group without processes is what is wanted.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap_or_default();
    }
    // On Windows there is no group, so only the program itself ends.
    child.kill().unwrap_or_default();
}

/// A folder that is always there, and not in a vault.
fn root() -> PathBuf {
    std::env::temp_dir().ancestors().last().map_or_else(std::env::temp_dir, PathBuf::from)
}
