//! News for open pages: how many requests wait, and the calls since. One stream for each browser.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::stream;
use lapidary_note::one_line;
use lapidary_pipeline::Executor;
use lapidary_vault::store::LogTail;
use serde_json::{Value, json};

use super::{
    Console, ConsoleState,
    activity::{change_address, outcome},
    no_answer,
};
use crate::commands::{client_name, local_time::LocalTime};

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// More calls than clients make until a page that was drawn listens.
const MOST_MISSED: usize = 50;
/// Of a burst, the page shows the last ones.
const MOST_CALLS: usize = 200;

/// What a stream has told so far.
struct LiveNews {
    console: Console,
    tails: Vec<LogTail>,
    /// Calls between the drawing of the page and this stream. The page leaves out those that it has.
    missed: Vec<String>,
    pending: Option<usize>,
}

pub(super) async fn stream(State(console): ConsoleState) -> Response {
    let tails = console.ask(|executor| {
        executor.vaults().iter().map(|served| served.log.tail(MOST_MISSED)).collect::<Result<Vec<_>, _>>()
    });
    let Some(Ok(tails)) = tails.await else { return no_answer() };
    let (missed, tails): (Vec<_>, Vec<_>) = tails.into_iter().unzip();
    let missed = missed.into_iter().flatten().collect();
    let news = LiveNews { console, tails, missed, pending: None };
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
    /// Looks once. `None` if the server ends.
    async fn look(self) -> Option<(Self, Option<Event>)> {
        let console = self.console.clone();
        let Self { console: own, mut tails, mut missed, pending } = self;
        console
            .ask(move |executor| {
                let waiting = executor.pending_count().ok().or(pending);
                if waiting != pending {
                    let event = Event::default().data(json!({ "kind": "pending", "count": waiting }).to_string());
                    return (Self { console: own, tails, missed, pending: waiting }, Some(event));
                }
                let calls = new_calls(executor, std::mem::take(&mut missed), &mut tails);
                let event = (!calls.is_empty())
                    .then(|| Event::default().data(json!({ "kind": "calls", "calls": calls }).to_string()));
                (Self { console: own, tails, missed, pending }, event)
            })
            .await
    }
}

fn new_calls(executor: &Executor, missed: Vec<String>, tails: &mut [LogTail]) -> Vec<Value> {
    let time = LocalTime::at(executor.now());
    // A log that cannot be read now is read the next time.
    let lines = missed.into_iter().chain(tails.iter_mut().flat_map(|tail| tail.more().unwrap_or_default()));
    let mut calls: Vec<Value> = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
    calls.drain(..calls.len().saturating_sub(MOST_CALLS));
    calls.iter().map(|call| shown(call, &time)).collect()
}

/// A call as the page shows it: every text on one line and visible.
fn shown(call: &Value, time: &LocalTime) -> Value {
    let text = |key: &str| one_line(call[key].as_str().unwrap_or_default()).into_owned();
    let number = |key: &str| call[key].as_f64().map(|number| format!("{number:.0}")).unwrap_or_default();
    let (words, tone) = outcome(call);
    json!({
        "time": time.ago(&text("ts")), "exact": text("ts"), "client": one_line(client_name(&text("client_id"))),
        "tool": text("tool"), "outcome": one_line(words), "tone": tone.class(), "note": text("file"), "vault": text("vault"),
        "ms": number("duration_ms"), "bytes": number("reply_bytes"),
        "address": change_address(call),
    })
}
