//! MCP on standard input and output. One JSON message per line, or `Content-Length` frames for clients that send those.

mod messages;

use std::{sync::Arc, time::Duration};

use lapidary_pipeline::Executor;
use lapidary_telemetry::Telemetry;
use rmcp::{ServiceExt, service::ServerInitializeError, transport::io::stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::mcp::{Connection, McpServer};

/// How often a server checks whether its parent process still exists.
const PARENT_CHECK: Duration = Duration::from_secs(2);

/// How long the session may take to end once its input has.
const CLOSING_TIMEOUT: Duration = Duration::from_millis(200);

/// Serves until standard input closes, the parent is gone, or the process is told to stop.
pub(crate) async fn serve(executor: Arc<Executor>, dotted_names: bool, telemetry: Telemetry) -> Result<(), String> {
    let (input, output) = stdio_pipes();
    tokio::select! {
        ended = serve_streams(executor, dotted_names, telemetry, input, output) => ended,
        () = parent_gone() => {
            tracing::info!("the program that started this server is gone");
            Ok(())
        }
        () = told_to_stop() => Ok(()),
    }
}

/// Serves one client until its input ends.
pub(crate) async fn serve_streams<R, W>(
    executor: Arc<Executor>,
    dotted_names: bool,
    telemetry: Telemetry,
    input: R,
    output: W,
) -> Result<(), String>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (transport, input_ended) = messages::transport(input, output);
    let serving = async {
        // The library copies the task of a request several times before it runs. Behind a pointer, it is small.
        let server = McpServer::new(executor, dotted_names, Connection::Stdio, telemetry, None).into_dyn();
        match server.serve(transport).await {
            Ok(service) => service.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            // The client hung up before it said anything: not our failure.
            Err(error) => {
                tracing::debug!(error = no_session(&error), "no session came about");
                Ok(())
            }
        }
    };
    tokio::select! {
        ended = serving => ended,
        // A call that waits for the user would keep the session open, but no answer can come any more.
        () = async { input_ended.await.unwrap_or_default(); tokio::time::sleep(CLOSING_TIMEOUT).await } => Ok(()),
    }
}

/// Without the message that was sent instead, which may be anything.
fn no_session(error: &ServerInitializeError) -> &'static str {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => "the first message is not `initialize`",
        ServerInitializeError::ConnectionClosed(_) => "the connection was closed",
        ServerInitializeError::TransportError { .. } => "the answer could not be sent",
        _ => "the handshake failed",
    }
}

/// Waits for Ctrl-C, or for the signal with which systems end a service.
pub(crate) async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
            (Ok(mut terminate), Ok(mut interrupt)) => {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
            }
            // Without handlers the system's own apply: it ends the process.
            _ => std::future::pending().await,
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

/// Orphans get another parent. Polled rather than requested as a signal, because that signal also comes when only the
/// thread that started us ends.
#[cfg(unix)]
async fn parent_gone() {
    let parent = rustix::process::getppid();
    loop {
        tokio::time::sleep(PARENT_CHECK).await;
        if rustix::process::getppid() != parent {
            return;
        }
    }
}

/// There, standard input closes with the parent.
#[cfg(not(unix))]
async fn parent_gone() {
    std::future::pending().await
}
