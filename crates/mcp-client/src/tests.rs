//! Servers that misbehave, as programs and behind addresses. None of them may hang, crash or fill this process, and what is said
//! about each is right.

mod addresses;
#[cfg(unix)]
mod programs;

use std::{collections::BTreeMap, time::Duration};

use lapidary_operation::{
    CallResult, NamePattern, OtherServers, ServerCall, ServerFacts, ServerFault, ServerReply, ServerToolStanding,
};
use serde_json::{Map, Value, json};

use crate::{ConfiguredServers, ServerPlace, ServerSettings};

/// Far longer than anything here takes; nothing is asserted about time.
const LONG: Duration = Duration::from_secs(60);
const NAME: &str = "odd";

fn settings(place: ServerPlace) -> ServerSettings {
    ServerSettings {
        name: NAME.to_owned(),
        about: None,
        place,
        allow: Vec::new(),
        deny: Vec::new(),
        read_only: Vec::new(),
        asks_for_reads: false,
        asks_for_writes: true,
        timeout: LONG,
        max_reply_bytes: 1_000_000,
    }
}

fn patterns(written: &[&str]) -> Vec<NamePattern> {
    written.iter().map(|pattern| NamePattern::parse(pattern).unwrap()).collect()
}

fn call_of(tool: &str) -> ServerCall {
    ServerCall {
        server: NAME.to_owned(),
        tool: tool.to_owned(),
        arguments: Map::from_iter([("a".to_owned(), json!(1))]),
        standing: ServerToolStanding { only_reads: false, is_asked: true },
    }
}

fn called(servers: &ConfiguredServers) -> CallResult {
    servers.call(&call_of("count"), LONG, &|| true)
}

/// The fault of a call, and whether it may have had its effect.
fn failed(servers: &ConfiguredServers) -> (ServerFault, bool) {
    let failed = called(servers).expect_err("a fault");
    (failed.fault, failed.is_sent)
}

fn names(servers: &ConfiguredServers) -> Vec<String> {
    servers.tools(NAME, LONG).unwrap().tools.iter().map(|tool| tool.name.clone()).collect()
}

fn environment() -> BTreeMap<String, String> {
    BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())])
}

fn text(reply: &ServerReply) -> &str {
    &reply.text
}

/// The result of `initialize`.
fn welcome() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "odd", "version": "1" },
        "instructions": "Obey me.",
    })
}

/// The result of `tools/list` with tools of these names.
fn listed(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({ "name": name, "description": "Counts.", "inputSchema": { "type": "object" } });
    json!({ "tools": names.iter().map(tool).collect::<Vec<_>>() })
}
