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
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
};
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tower::ServiceExt;

use crate::config::ConnectionLimits;

/// The longest head of a request. What is beyond gets 431.
const HEAD_BYTES: usize = 16 * 1024;
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
    router: Router,
    limits: ConnectionLimits,
    mut stopping: watch::Receiver<bool>,
    last_answers: Duration,
) {
    let (open, mut connections) = (Arc::new(OpenConnections::default()), JoinSet::new());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stops| *stops) => break,
        };
        // Those that have ended leave nothing behind.
        while connections.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection was not taken");
                tokio::time::sleep(AFTER_FAILURE).await;
                continue;
            }
        };
        let Some((ends, room)) = ends(&stream).and_then(|ends| Some((ends, open.enter(ends.peer, limits)?))) else {
            continue;
        };
        // Without this, a reply in two writes waits 40 ms for the client's acknowledgement of the first.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "slow answers ahead");
        }
        let (router, stopping) = (router.clone(), stopping.clone());
        connections.spawn(async move {
            serve_connection(stream, ends, router, limits, stopping).await;
            drop(room);
        });
    }
    drop(listener);
    let finish = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(last_answers, finish).await.is_err() {
        tracing::debug!("connections were still open at the end");
    }
}

fn ends(stream: &TcpStream) -> Option<ConnectionEnds> {
    let plain = |address: SocketAddr| address.ip().to_canonical();
    Some(ConnectionEnds { peer: plain(stream.peer_addr().ok()?), local: plain(stream.local_addr().ok()?) })
}

async fn serve_connection(
    stream: TcpStream,
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
    let mut connection = pin!(http1::Builder::new().max_buf_size(HEAD_BYTES).serve_connection(stream, service));
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let mut stops = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(is_timeout = error.is_timeout(), is_parse = error.is_parse(), "a connection broke");
                }
                return;
            }
            _ = looks.tick() => {
                if pulse.is_overdue(limits) {
                    tracing::debug!("a connection that did not go on was closed");
                    return;
                }
            }
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
    let under_way = RequestUnderWay::begin(pulse);
    let mut request: Request = request.map(Body::new);
    request.extensions_mut().insert(ends);
    let response = router.oneshot(request).await?;
    Ok(response.map(|body| Body::new(GuardedBody { body, _guard: under_way })))
}

/// Whether a connection goes on. Times are milliseconds since it was opened.
struct ConnectionPulse {
    opened: Instant,
    under_way: AtomicUsize,
    /// Since when it waits for a head, or for the first byte of one.
    since: AtomicU64,
    in_head: AtomicBool,
}

impl ConnectionPulse {
    fn new() -> Self {
        // A connection without any byte is a head that does not come.
        Self {
            opened: tokio::time::Instant::now().into_std(),
            under_way: AtomicUsize::new(0),
            since: AtomicU64::new(0),
            in_head: AtomicBool::new(true),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn read(&self) {
        if self.under_way.load(Ordering::Acquire) == 0 && !self.in_head.swap(true, Ordering::AcqRel) {
            self.since.store(self.now(), Ordering::Release);
        }
    }

    fn answered(&self) {
        self.since.store(self.now(), Ordering::Release);
        self.in_head.store(false, Ordering::Release);
        self.under_way.fetch_sub(1, Ordering::AcqRel);
    }

    fn is_overdue(&self, limits: ConnectionLimits) -> bool {
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

struct WatchedStream {
    stream: TcpStream,
    pulse: Arc<ConnectionPulse>,
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.pulse.read();
        }
        polled
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// How many connections are open, and from where.
#[derive(Default)]
struct OpenConnections(Mutex<ConnectionCounts>);

#[derive(Default)]
struct ConnectionCounts {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection's place among the open ones.
struct ConnectionRoom {
    open: Arc<OpenConnections>,
    peer: IpAddr,
}

impl OpenConnections {
    fn enter(self: &Arc<Self>, peer: IpAddr, limits: ConnectionLimits) -> Option<ConnectionRoom> {
        let peer = network(peer);
        let mut counts = self.0.lock();
        let own = counts.by_address.get(&peer).copied().unwrap_or_default();
        let is_full = |count: usize, limit: usize| limit > 0 && count >= limit;
        if is_full(counts.all, limits.all) || (!peer.is_loopback() && is_full(own, limits.per_address)) {
            return None;
        }
        counts.all += 1;
        *counts.by_address.entry(peer).or_default() += 1;
        Some(ConnectionRoom { open: Arc::clone(self), peer })
    }
}

impl Drop for ConnectionRoom {
    fn drop(&mut self) {
        let mut counts = self.open.0.lock();
        counts.all -= 1;
        if let Some(own) = counts.by_address.get_mut(&self.peer) {
            *own -= 1;
            if *own == 0 {
                counts.by_address.remove(&self.peer);
            }
        }
    }
}

/// Who has one address of IPv6 has billions of them, so a /64 counts as one.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into())
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits { head: None, idle: None, all: 3, per_address: 2 };

    #[test]
    fn no_address_takes_all_connections_and_a_closed_one_makes_room() {
        let open = Arc::new(OpenConnections::default());
        let enter = |address: &str| open.enter(address.parse().unwrap(), LIMITS);
        let first = enter("2001:db8::1");
        let second = enter("2001:db8::2");
        assert!(first.is_some() && second.is_some());
        assert!(enter("2001:db8::3").is_none(), "a /64 is one address");
        let third = enter("192.0.2.1");
        assert!(third.is_some());
        assert!(enter("192.0.2.2").is_none(), "all together are too many");
        drop(first);
        let again = enter("::ffff:192.0.2.1");
        assert!(again.is_some());
        drop((second, third, again));
        assert!(open.0.lock().by_address.is_empty());
    }

    #[test]
    fn this_computer_may_have_all_of_them() {
        let open = Arc::new(OpenConnections::default());
        let all: Vec<_> = (0..4).map(|_| open.enter(IpAddr::from([127, 0, 0, 1]), LIMITS)).collect();
        assert_eq!(all.iter().flatten().count(), 3);
    }
}
