//! Takes connections and closes those that only take up room: a head or a pause that lasts too long, too many at a time.

use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::header,
};
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use lapidary_config::ConnectionLimits;
use lapidary_vault::ElapsedTime;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{self, JoinSet},
};
use tower::ServiceExt;

use super::{tls_certificate::TlsCertificate, unread_body};

/// The longest head of a request. What is beyond gets 431.
const HEAD_BYTES: usize = 16 * 1024;
/// A client that is sent more than it reads has to read this many bytes in a second, after a pause as long as one between
/// requests.
const MIN_READ_BYTES: u64 = 1024;
/// How often a connection is looked at; no limit is kept more exactly than this.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long to wait before the next try when the system gives no connection, as when all file handles are in use.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Both ends of the connection that a request came by.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionEnds {
    pub(super) peer: IpAddr,
    pub(super) local: IpAddr,
}

/// Serves until told to stop, then lets what is under way finish, for as long as that may take.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<TlsCertificate>,
    router: Router,
    limits: ConnectionLimits,
    mut stopping: watch::Receiver<bool>,
    last_answers: Duration,
) {
    let (mut open, mut connections) = (OpenConnections::default(), JoinSet::new());
    loop {
        let accepted = tokio::select! {
            // A connection that has ended makes room before the next one is taken.
            biased;
            Some(ended) = connections.join_next_with_id() => {
                open.left(ended.map_or_else(|error| error.id(), |(id, ())| id));
                continue;
            }
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stops| *stops) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection was not taken");
                tokio::time::sleep(AFTER_FAILURE).await;
                continue;
            }
        };
        // Closed without an answer: one would cost more than the connection.
        // Before the connection gets a task: a flood costs only this check.
        let Some(ends) = ends(&stream).filter(|ends| open.has_room(ends.peer, limits)) else { continue };
        // Without this, a reply in two writes waits 40 ms for the client's acknowledgement of the first.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "slow answers ahead");
        }
        let (router, stopping, tls) = (router.clone(), stopping.clone(), tls.clone());
        let connection = connections.spawn(async move {
            match tls {
                None => serve_connection(stream, ends, router, limits, stopping).await,
                Some(tls) => {
                    // A handshake that fails or takes too long gives nothing; TLS has its own limit.
                    if let Some(stream) = tls.accept(stream).await {
                        serve_connection(stream, ends, router, limits, stopping).await;
                    }
                }
            }
        });
        open.entered(connection.id(), ends.peer);
    }
    // First, so that a client that connects now is refused at once instead of waiting for a server that ends.
    drop(listener);
    // Tasks end by themselves once their answers are sent, because each was told to stop as well.
    let finish = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(last_answers, finish).await.is_err() {
        tracing::debug!("connections were still open at the end");
    }
}

fn ends(stream: &TcpStream) -> Option<ConnectionEnds> {
    // An IPv4 client of an IPv6 socket has two spellings of its address.
    let plain = |address: SocketAddr| address.ip().to_canonical();
    Some(ConnectionEnds { peer: plain(stream.peer_addr().ok()?), local: plain(stream.local_addr().ok()?) })
}

async fn serve_connection<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    ends: ConnectionEnds,
    router: Router,
    limits: ConnectionLimits,
    mut stopping: watch::Receiver<bool>,
) {
    let pulse = Arc::new(ConnectionPulse::new());
    let service = {
        let pulse = Arc::clone(&pulse);
        service_fn(move |request: hyper::Request<Incoming>| answer(request, ends, router.clone(), Arc::clone(&pulse)))
    };
    let stream = TokioIo::new(WatchedStream { stream, pulse: Arc::clone(&pulse) });
    // HTTP/1 alone: the pulse of a connection assumes one request after the other.
    let mut connection = pin!(http1::Builder::new().max_buf_size(HEAD_BYTES).serve_connection(stream, service));
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let mut stops = false;
    loop {
        tokio::select! {
            // Errors of hyper may quote the request, so only their kind is logged.
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(is_timeout = error.is_timeout(), is_parse = error.is_parse(), "a connection broke");
                }
                return;
            }
            _ = looks.tick() => {
                // Looked at from outside of hyper, because its own timeout is only about heads: a client that does not
                // read or lets a connection idle would stay.
                if pulse.is_overdue(limits) {
                    tracing::debug!("a connection that did not go on was closed");
                    return;
                }
            }
            // The guard keeps this branch from being ready again and again once it has fired.
            _ = stopping.wait_for(|stops| *stops), if !stops => {
                stops = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

async fn answer(
    request: hyper::Request<Incoming>,
    ends: ConnectionEnds,
    router: Router,
    pulse: Arc<ConnectionPulse>,
) -> Result<hyper::Response<Body>, Infallible> {
    // Before the request is routed: from now on the connection is not idle.
    let under_way = RequestUnderWay::begin(pulse);
    let (head, body) = request.into_parts();
    let (body, unread) = unread_body::watched(body, &head.headers);
    let mut request = Request::from_parts(head, body);
    request.extensions_mut().insert(ends);
    let response = router.oneshot(request).await?;
    // One that says so is not to be waited for: the body is too large or too slow.
    if !response.headers().contains_key(header::CONNECTION) {
        unread.read().await;
    }
    // The guard goes with the body, because the connection is busy until the last byte is sent.
    Ok(response.map(|body| Body::new(GuardedBody { body, _guard: under_way })))
}

/// Whether a connection goes on. Times are milliseconds since it was opened.
struct ConnectionPulse {
    opened: ElapsedTime,
    under_way: AtomicUsize,
    /// Since when it waits for a head, or for the first byte of one.
    since: AtomicU64,
    in_head: AtomicBool,
    /// Since when the client does not read what is sent; 0 if it does.
    stalled_since: AtomicU64,
    /// What it has read since then.
    read_since: AtomicU64,
}

impl ConnectionPulse {
    fn new() -> Self {
        // A connection without any byte is a head that does not come.
        Self {
            opened: ElapsedTime::start(),
            under_way: AtomicUsize::new(0),
            since: AtomicU64::new(0),
            in_head: AtomicBool::new(true),
            stalled_since: AtomicU64::new(0),
            read_since: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn read(&self) {
        // Bytes that come during an answer belong to its request, or are the next one sent early.
        if self.under_way.load(Ordering::Acquire) == 0 && !self.in_head.swap(true, Ordering::AcqRel) {
            self.since.store(self.now(), Ordering::Release);
        }
    }

    fn answered(&self) {
        // The time first: a look in between must not see an old time without a request under way.
        self.since.store(self.now(), Ordering::Release);
        self.in_head.store(false, Ordering::Release);
        self.under_way.fetch_sub(1, Ordering::AcqRel);
    }

    /// The outcome of a write: pending if the client does not read.
    fn written(&self, polled: &Poll<std::io::Result<usize>>) {
        match polled {
            Poll::Ready(Ok(bytes)) => drop(self.read_since.fetch_add(*bytes as u64, Ordering::AcqRel)),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                // Zero means not stalled, so the first millisecond counts as one.
                let now = self.now().max(1);
                if self.stalled_since.compare_exchange(0, now, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                    self.read_since.store(0, Ordering::Release);
                }
            }
        }
    }

    /// Everything so far was written.
    fn flushed(&self) {
        self.stalled_since.store(0, Ordering::Release);
    }

    /// Whether the client reads more slowly than any line is.
    fn is_stalled(&self, pause: Option<Duration>) -> bool {
        let since = self.stalled_since.load(Ordering::Acquire);
        let waited = Duration::from_millis(self.now().saturating_sub(since));
        // Slow reading is fine as long as it goes on: each kilobyte read buys another second.
        let for_reading = Duration::from_secs(self.read_since.load(Ordering::Acquire) / MIN_READ_BYTES);
        since != 0 && pause.is_some_and(|pause| waited >= pause.saturating_add(for_reading))
    }

    fn is_overdue(&self, limits: ConnectionLimits) -> bool {
        if self.is_stalled(limits.idle) {
            return true;
        }
        // A call may take as long as its own deadline allows; that is not the connection's concern.
        if self.under_way.load(Ordering::Acquire) > 0 {
            return false;
        }
        let limit = if self.in_head.load(Ordering::Acquire) { limits.head } else { limits.idle };
        let waited = Duration::from_millis(self.now().saturating_sub(self.since.load(Ordering::Acquire)));
        limit.is_some_and(|limit| waited >= limit)
    }
}

/// From the head of a request to the last byte of its answer.
struct RequestUnderWay(Arc<ConnectionPulse>);

impl RequestUnderWay {
    fn begin(pulse: Arc<ConnectionPulse>) -> Self {
        pulse.under_way.fetch_add(1, Ordering::AcqRel);
        Self(pulse)
    }
}

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        self.0.answered();
    }
}

/// A body that holds something until it has been sent.
pub(super) struct GuardedBody<G> {
    pub(super) body: Body,
    pub(super) _guard: G,
}

impl<G: Unpin> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

struct WatchedStream<S> {
    stream: S,
    pulse: Arc<ConnectionPulse>,
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        // A poll without new bytes says nothing: it may be pending, or the end.
        if buffer.filled().len() > before {
            self.pulse.read();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.pulse.written(&polled);
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.pulse.written(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        // Called when everything that was waiting has been written.
        self.pulse.flushed();
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The open connections, and where they come from. Only the loop that takes them counts, so there is no lock.
#[derive(Default)]
struct OpenConnections {
    peers: HashMap<task::Id, IpAddr>,
    by_address: HashMap<IpAddr, usize>,
}

impl OpenConnections {
    fn has_room(&self, peer: IpAddr, limits: ConnectionLimits) -> bool {
        let peer = network(peer);
        let own = self.by_address.get(&peer).copied().unwrap_or_default();
        let is_full = |count: usize, limit: usize| limit > 0 && count >= limit;
        // On this machine many clients share one address.
        !is_full(self.peers.len(), limits.all) && (peer.is_loopback() || !is_full(own, limits.per_address))
    }

    fn entered(&mut self, connection: task::Id, peer: IpAddr) {
        let peer = network(peer);
        self.peers.insert(connection, peer);
        *self.by_address.entry(peer).or_default() += 1;
    }

    fn left(&mut self, connection: task::Id) {
        let Some(peer) = self.peers.remove(&connection) else { return };
        if let Some(own) = self.by_address.get_mut(&peer) {
            *own -= 1;
            // Addresses come and go for as long as the server runs.
            if *own == 0 {
                self.by_address.remove(&peer);
            }
        }
    }
}

/// Who has one address of IPv6 has billions of them, so a /64 counts as one.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            // The upper half of the address, which is the network.
            IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into())
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits { head: None, idle: None, all: 3, per_address: 2 };

    fn enter(open: &mut OpenConnections, address: &str) -> Option<task::Id> {
        let peer = address.parse().unwrap();
        if !open.has_room(peer, LIMITS) {
            return None;
        }
        // A task gives an identity, as that of a connection does.
        let id = tokio::spawn(async {}).id();
        open.entered(id, peer);
        Some(id)
    }

    #[tokio::test]
    async fn no_address_takes_all_connections_and_a_closed_one_makes_room() {
        let mut open = OpenConnections::default();
        let first = enter(&mut open, "2001:db8::1").unwrap();
        let second = enter(&mut open, "2001:db8::2").unwrap();
        assert!(enter(&mut open, "2001:db8::3").is_none(), "a /64 is one address");
        let third = enter(&mut open, "192.0.2.1").unwrap();
        assert!(enter(&mut open, "192.0.2.2").is_none(), "all together are too many");
        open.left(first);
        let again = enter(&mut open, "::ffff:192.0.2.1").unwrap();
        for id in [second, third, again] {
            open.left(id);
        }
        assert!(open.by_address.is_empty() && open.peers.is_empty());
    }

    #[tokio::test]
    async fn this_computer_may_have_all_of_them() {
        let mut open = OpenConnections::default();
        let mut taken = 0;
        for _ in 0..4 {
            taken += usize::from(enter(&mut open, "127.0.0.1").is_some());
        }
        assert_eq!(taken, 3);
    }
}
