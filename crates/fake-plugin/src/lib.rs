//! For tests: Obsidian's plugin Local REST API, as its contract describes the versions, on files in memory. It records the
//! requests, and fails as told.

mod endpoints;
mod http_wire;
mod json_logic;
mod plugin_faults;
mod plugin_files;
mod tls_identity;

use std::{
    io::{BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use parking_lot::Mutex;
use rustls::{ServerConnection, StreamOwned};

pub use http_wire::{RecordedRequest, WireReply};
pub use plugin_faults::{FaultKind, PluginFault};

use self::{plugin_faults::FaultQueue, plugin_files::PluginFiles, tls_identity::TlsIdentity};

/// The versions of the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FakeVersion {
    V4_1,
    V5_0,
    V5_1,
    /// Names versions of files, and keeps the app's own folder to itself.
    V6,
}

impl FakeVersion {
    pub const ALL: [Self; 4] = [Self::V4_1, Self::V5_0, Self::V5_1, Self::V6];

    pub fn number(self) -> &'static str {
        match self {
            Self::V4_1 => "4.1.7",
            Self::V5_0 => "5.0.1",
            Self::V5_1 => "5.1.0",
            Self::V6 => "6.0.0",
        }
    }
}

/// What a plugin begins with.
#[derive(Clone, Debug)]
pub struct FakeSetup {
    pub version: FakeVersion,
    pub is_encrypted: bool,
    pub key: String,
    pub files: Vec<(String, Vec<u8>)>,
}

impl FakeSetup {
    pub fn new(version: FakeVersion) -> Self {
        Self { version, is_encrypted: false, key: "a-key-of-the-plugin".to_owned(), files: Vec::new() }
    }

    #[must_use]
    pub fn encrypted(mut self) -> Self {
        self.is_encrypted = true;
        self
    }

    #[must_use]
    pub fn with_files(mut self, files: &[(&str, &[u8])]) -> Self {
        self.files.extend(files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())));
        self
    }
}

/// A running plugin. It stops when it is dropped.
pub struct FakePlugin {
    shared: Arc<SharedPlugin>,
    address: SocketAddr,
    running: Option<RunningPlugin>,
}

struct RunningPlugin {
    stopping: Arc<AtomicBool>,
    accepting: JoinHandle<()>,
}

/// What all connections share.
pub(crate) struct SharedPlugin {
    pub(crate) version: FakeVersion,
    pub(crate) key: Mutex<String>,
    pub(crate) files: Mutex<PluginFiles>,
    pub(crate) commands: Mutex<Vec<(String, String)>>,
    faults: FaultQueue,
    requests: Mutex<Vec<RecordedRequest>>,
    connections: Mutex<Vec<TcpStream>>,
    tls: Mutex<Option<TlsIdentity>>,
}

impl FakePlugin {
    pub fn start(setup: FakeSetup) -> Self {
        let shared = SharedPlugin {
            version: setup.version,
            key: Mutex::new(setup.key),
            files: Mutex::new(PluginFiles::new(setup.files)),
            // A command that every Obsidian has.
            commands: Mutex::new(vec![("app:reload".to_owned(), "Reload app without saving".to_owned())]),
            faults: FaultQueue::default(),
            requests: Mutex::default(),
            connections: Mutex::default(),
            tls: Mutex::new(setup.is_encrypted.then(|| TlsIdentity::new(setup.version))),
        };
        let mut plugin =
            // Port 0: the system chooses one that is free, and it is kept from then on.
            Self { shared: Arc::new(shared), address: SocketAddr::from(([127, 0, 0, 1], 0)), running: None };
        plugin.resume();
        plugin
    }

    pub fn url(&self) -> String {
        let scheme = if self.shared.tls.lock().is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    pub fn key(&self) -> String {
        self.shared.key.lock().clone()
    }

    /// What a client pins, in PEM form: the certificate itself, or the authority that signed it.
    pub fn certificate(&self) -> Option<String> {
        self.shared.tls.lock().as_ref().map(|tls| tls.pinned.clone())
    }

    /// The plugin makes a new certificate.
    pub fn renew_certificate(&self) {
        *self.shared.tls.lock() = Some(TlsIdentity::new(self.shared.version));
    }

    pub fn set_key(&self, key: &str) {
        key.clone_into(&mut self.shared.key.lock());
    }

    pub fn set_commands(&self, commands: &[(&str, &str)]) {
        *self.shared.commands.lock() =
            commands.iter().map(|(id, name)| ((*id).to_owned(), (*name).to_owned())).collect();
    }

    /// What a user of the app does to a file.
    pub fn write(&self, path: &str, bytes: &[u8]) {
        self.shared.files.lock().put(path, bytes.to_vec());
    }

    pub fn remove(&self, path: &str) {
        self.shared.files.lock().files.remove(path);
    }

    pub fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.shared.files.lock().files.get(path).map(|file| file.bytes.clone())
    }

    pub fn paths(&self) -> Vec<String> {
        self.shared.files.lock().files.keys().cloned().collect()
    }

    /// What was deleted to the trash.
    pub fn trashed(&self) -> Vec<String> {
        self.shared.files.lock().trash.clone()
    }

    pub fn set_active(&self, path: Option<&str>) {
        self.shared.files.lock().active = path.map(str::to_owned);
    }

    pub fn active(&self) -> Option<String> {
        self.shared.files.lock().active.clone()
    }

    /// The note of a period and a day (`daily`, `2026-11-18`).
    pub fn set_periodic(&self, period: &str, day: &str, path: &str) {
        self.shared.files.lock().periodic.insert((period.to_owned(), day.to_owned()), path.to_owned());
    }

    /// Fails the next requests of a kind.
    pub fn fail(&self, fault: PluginFault) {
        self.shared.faults.add(fault);
    }

    /// All is well again.
    pub fn forget_faults(&self) {
        self.shared.faults.clear();
    }

    /// The requests since the last call.
    pub fn take_requests(&self) -> Vec<RecordedRequest> {
        std::mem::take(&mut *self.shared.requests.lock())
    }

    /// The app is closed: connections end, and the port is free.
    pub fn stop(&mut self) {
        let Some(RunningPlugin { stopping, accepting }) = self.running.take() else { return };
        stopping.store(true, Ordering::SeqCst);
        // The accept loop waits for a connection.
        drop(TcpStream::connect(self.address));
        // Threads that serve a connection wait for the next request until it is shut down.
        for connection in self.shared.connections.lock().drain(..) {
            drop(connection.shutdown(Shutdown::Both));
        }
        // Only now is the port free for the next start.
        drop(accepting.join());
    }

    /// The app is opened again, at the same port.
    pub fn resume(&mut self) {
        let listener = TcpListener::bind(self.address).expect("a port of this computer");
        self.address = listener.local_addr().expect("it is bound");
        let stopping = Arc::new(AtomicBool::new(false));
        let (shared, stop) = (Arc::clone(&self.shared), Arc::clone(&stopping));
        let accepting = std::thread::spawn(move || accept(&listener, &shared, &stop));
        self.running = Some(RunningPlugin { stopping, accepting });
    }
}

impl Drop for FakePlugin {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<SharedPlugin>, stop: &AtomicBool) {
    while let Ok((stream, _)) = listener.accept() {
        // The connection was made by `stop`, to end this loop.
        if stop.load(Ordering::SeqCst) {
            return;
        }
        // A copy, so that `stop` can end it while another thread reads.
        if let Ok(copy) = stream.try_clone() {
            shared.connections.lock().push(copy);
        }
        let shared = Arc::clone(shared);
        std::thread::spawn(move || serve(stream, &shared));
    }
}

fn serve(stream: TcpStream, shared: &SharedPlugin) {
    // Looked up for each connection, so that a renewed certificate counts at once.
    let tls = shared.tls.lock().as_ref().map(|tls| Arc::clone(&tls.config));
    match tls {
        Some(config) => {
            let Ok(connection) = ServerConnection::new(config) else { return };
            let socket = stream.try_clone();
            converse(StreamOwned::new(connection, stream), socket.ok(), shared);
        }
        None => {
            let socket = stream.try_clone();
            converse(stream, socket.ok(), shared);
        }
    }
}

/// Answers the requests of one connection. It ends when the other side has gone, or by a fault.
fn converse(stream: impl Read + Write, socket: Option<TcpStream>, shared: &SharedPlugin) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = http_wire::read_request(&mut stream) {
        let fault = shared.faults.take(&request);
        // Also those that fail: tests count what a client has sent.
        shared.requests.lock().push(request.clone());
        let reply = match fault {
            Some(FaultKind::Reset) => break,
            Some(FaultKind::Status { status, retry_after }) => WireReply::failure(status, retry_after),
            Some(FaultKind::Slow(pause)) => {
                std::thread::sleep(pause);
                endpoints::answer(shared, &request)
            }
            Some(FaultKind::Unanswered) => {
                // The effect remains although the client never hears of it.
                drop(endpoints::answer(shared, &request));
                break;
            }
            Some(FaultKind::Raw(bytes)) => {
                drop(stream.get_mut().write_all(&bytes));
                break;
            }
            Some(FaultKind::Endless { head, part, pause }) => {
                let mut next = head;
                while stream.get_mut().write_all(&next).and_then(|()| stream.get_mut().flush()).is_ok() {
                    std::thread::sleep(pause);
                    next.clone_from(&part);
                }
                break;
            }
            Some(FaultKind::Written { path, bytes }) => {
                shared.files.lock().put(&path, bytes);
                endpoints::answer(shared, &request)
            }
            None => endpoints::answer(shared, &request),
        };
        if http_wire::send_reply(stream.get_mut(), &reply, request.method == "HEAD").is_err() {
            break;
        }
    }
    // Also ends a TLS connection at once, without its closing message, as a crash would.
    if let Some(socket) = socket {
        drop(socket.shutdown(Shutdown::Both));
    }
}
