//! What is left of a request's body when it was answered without being read, as when a token is missing.
//!
//! A connection that is closed while a client still sends is reset, and a reset takes the answer with it: the client sees a
//! broken connection instead of a 401.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, header},
};
use futures::future::poll_fn;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::oneshot;

/// Of larger bodies nothing is read: the client is to be told early.
const MOST_BYTES: u64 = 256 * 1024;
/// How long the rest may take to arrive: it is under way already.
const MOST_TIME: Duration = Duration::from_secs(3);

/// A body that comes back if it is dropped before its end.
struct ReturnedBody {
    body: Option<Incoming>,
    back: Option<oneshot::Sender<Incoming>>,
}

/// Where the rest of a body arrives.
pub(super) struct UnreadBody {
    rest: oneshot::Receiver<Incoming>,
    is_awaited: bool,
}

/// The body for a handler, and what it leaves.
pub(super) fn watched(body: Incoming, headers: &HeaderMap) -> (Body, UnreadBody) {
    // A client that asks before it sends a body does not send it after a refusal.
    let is_awaited = !headers.contains_key(header::EXPECT) && !body.is_end_stream();
    let (back, rest) = oneshot::channel();
    (Body::new(ReturnedBody { body: Some(body), back: Some(back) }), UnreadBody { rest, is_awaited })
}

impl UnreadBody {
    /// Reads what a handler left, within limits. The connection can then be used again, too.
    pub(super) async fn read(mut self) {
        let Ok(mut body) = self.rest.try_recv() else { return };
        if !self.is_awaited || body.size_hint().lower() > MOST_BYTES {
            return;
        }
        let reading = async {
            let mut read = 0;
            // An error ends it like the end does: hyper closes the connection by itself then.
            while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                read += frame.data_ref().map_or(0, |bytes| bytes.len() as u64);
                if read > MOST_BYTES {
                    break;
                }
            }
        };
        if tokio::time::timeout(MOST_TIME, reading).await.is_err() {
            tracing::debug!("the rest of a body did not come");
        }
    }
}

impl Drop for ReturnedBody {
    fn drop(&mut self) {
        if let (Some(body), Some(back)) = (self.body.take().filter(|body| !body.is_end_stream()), self.back.take()) {
            // It is not waited for if the connection has ended.
            drop(back.send(body));
        }
    }
}

impl HttpBody for ReturnedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}
