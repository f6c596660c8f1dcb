//! News for open pages: how many requests wait, and the calls since. One stream for each browser.

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension,
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::stream;
use lapidary_pipeline::Executor;
use lapidary_vault::store::LogTail;
use serde_json::{Value, json};

use super::{Console, ConsoleState, activity::live_row, no_answer, sessions::OpenSession};
use crate::{commands::local_time::LocalTime, logged_call::LoggedCall};

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// More calls than clients make until a page that was drawn listens.
const MOST_MISSED: usize = 50;
/// And until a browser that lost its connection comes back. Beyond that it reloads its page.
const MOST_RESUMED: usize = 500;
/// Of a burst, the page shows the last ones.
const MOST_CALLS: usize = 200;

/// What a stream has told so far.
struct LiveNews {
    console: Console,
    session: OpenSession,
    tails: Vec<LogTail>,
    /// Calls between the drawing of the page, or the last event that it got, and this stream. The page leaves out those that it
    /// has.
    missed: Vec<String>,
    pending: Option<usize>,
    /// The browser was away for too long.
    is_behind: bool,
}

pub(super) async fn stream(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    headers: HeaderMap,
) -> Response {
    // Browsers send the id of the last event when they connect again (HTML, server-sent events).
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    let most = if last.is_empty() { MOST_MISSED } else { MOST_RESUMED };
    let tails = console.ask(move |executor| {
        executor.vaults().iter().map(|served| served.log.tail(most)).collect::<Result<Vec<_>, _>>()
    });
    let Some(Ok(tails)) = tails.await else { return no_answer() };
    let (lines, tails): (Vec<_>, Vec<_>) = tails.into_iter().unzip();
    let mut missed: Vec<String> = lines.into_iter().flatten().collect();
    if !last.is_empty() {
        // An event is named by the time of its last call; those of the same moment are told again, and the page knows them.
        missed.retain(|line| LoggedCall::parse(line).is_some_and(|call| call.text("ts") >= last.as_str()));
    }
    let is_behind = !last.is_empty() && missed.len() >= MOST_RESUMED;
    let news = LiveNews { console, session, tails, missed, pending: None, is_behind };
    let events = stream::unfold(news, |mut news| async {
        let mut stopping = news.console.0.stopping.clone();
        loop {
            if *stopping.borrow() {
                return None;
            }
            let (next, found) = news.look().await?;
            news = next;
            if let Some(event) = found {
                return Some((Ok::<_, Infallible>(event), news));
            }
            // An open stream must not keep the server from ending.
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = stopping.wait_for(|stops| *stops) => return None,
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

impl LiveNews {
    /// Looks once. `None` if the server ends, or the owner has signed out.
    async fn look(mut self) -> Option<(Self, Option<Event>)> {
        let console = self.console.clone();
        // Checked with every look: signing out in one window ends the streams of all.
        if !self.session.is_open(&console).await {
            return None;
        }
        console
            .ask(move |executor| {
                let event = self.next(executor);
                (self, event)
            })
            .await
    }

    fn next(&mut self, executor: &Executor) -> Option<Event> {
        let told = |news: Value| Event::default().data(news.to_string());
        // A reload tells everything at once, so what was missed need not be sent.
        if std::mem::take(&mut self.is_behind) {
            self.missed.clear();
            return Some(told(json!({ "kind": "reload" })));
        }
        // A queue that cannot be read now is read the next time.
        let waiting = executor.pending_count().ok().or(self.pending);
        // Only a change is told. The first look always tells, because nothing was told before.
        if waiting != self.pending {
            self.pending = waiting;
            return Some(told(json!({ "kind": "pending", "count": waiting })));
        }
        let calls = new_calls(std::mem::take(&mut self.missed), &mut self.tails);
        let last = calls.iter().map(|call| call.text("ts")).max()?;
        let time = LocalTime::at(executor.now());
        let shown: Vec<Value> = calls.iter().map(|call| live_row(call, &time)).collect();
        // The id is what a browser that comes back names as the last it has.
        Some(told(json!({ "kind": "calls", "calls": shown })).id(last))
    }
}

fn new_calls(missed: Vec<String>, tails: &mut [LogTail]) -> Vec<LoggedCall> {
    // A log that cannot be read now is read the next time.
    let lines = missed.into_iter().chain(tails.iter_mut().flat_map(|tail| tail.more().unwrap_or_default()));
    let mut calls: Vec<LoggedCall> = lines.filter_map(|line| LoggedCall::parse(&line)).collect();
    calls.drain(..calls.len().saturating_sub(MOST_CALLS));
    calls
}
