//! What is said when another server does not answer. Neither its own words nor its configuration are repeated.

use serde_json::{Value, json};

use super::{OfferedTools, ReasonKind};
use crate::{
    ServerFault,
    quote::{Quoted, quoted, quoted_list},
};

pub(super) fn kind(fault: &ServerFault) -> ReasonKind {
    match fault {
        ServerFault::Unknown { .. } => ReasonKind::ServerUnknown,
        ServerFault::NoSuchTool { .. } => ReasonKind::ServerToolUnknown,
        ServerFault::TimedOut => ReasonKind::ServerTimeout,
        ServerFault::NotMcp | ServerFault::TooMuch { .. } | ServerFault::Flood { .. } | ServerFault::Refused { .. } => {
            ReasonKind::ServerFaulty
        }
        ServerFault::NotStarted
        | ServerFault::Ended
        | ServerFault::Resting { .. }
        | ServerFault::TakenBack
        | ServerFault::Unreachable
        | ServerFault::Redirected
        | ServerFault::Status { .. }
        | ServerFault::Busy => ReasonKind::ServerUnavailable,
    }
}

pub(super) fn message(server: Quoted<'_>, fault: &ServerFault) -> String {
    match fault {
        ServerFault::Unknown { .. } => format!("No server {server} is configured."),
        ServerFault::NoSuchTool { .. } => {
            format!("The server {server} has no such tool, or the owner does not allow it.")
        }
        ServerFault::NotStarted => format!("The program of the server {server} cannot be started."),
        ServerFault::Ended => format!("The program of the server {server} has ended."),
        ServerFault::Resting { seconds } => {
            format!("The server {server} failed several times; it is tried again in {seconds} s.")
        }
        ServerFault::NotMcp => format!("What the server {server} sends is not MCP."),
        ServerFault::TooMuch { limit } => format!("The server {server} sent more than {limit} bytes."),
        ServerFault::Flood { limit, seconds } => {
            format!(
                "The server {server} was ended: in {seconds} s it sent more than {limit} bytes that were not asked for."
            )
        }
        ServerFault::Refused { code } => format!("The server {server} answered with the protocol error {code}."),
        ServerFault::TimedOut => format!("The server {server} did not answer in time."),
        ServerFault::TakenBack => format!("The call of the server {server} was taken back."),
        ServerFault::Unreachable => format!("The server {server} cannot be reached."),
        ServerFault::Redirected => {
            format!("The address of the server {server} sends to another, which is not followed.")
        }
        ServerFault::Status { status } => format!("The server {server} answered with the HTTP status {status}."),
        ServerFault::Busy => "Too many calls of other servers are under way.".to_owned(),
    }
}

pub(super) fn data(server: &str, fault: &ServerFault, may_have_acted: bool) -> Value {
    let mut data = json!({ "server": server });
    match fault {
        ServerFault::Unknown { known } => data["known"] = json!(known),
        ServerFault::NoSuchTool { nearest } => data["nearest"] = json!((!nearest.is_empty()).then_some(nearest)),
        ServerFault::TooMuch { limit } | ServerFault::Flood { limit, .. } => data["limit"] = json!(limit),
        ServerFault::Refused { code } => data["code"] = json!(code),
        ServerFault::Status { status } => data["status"] = json!(status),
        ServerFault::Resting { .. } | ServerFault::Busy => data["retryable"] = json!(true),
        ServerFault::NotStarted
        | ServerFault::Ended
        | ServerFault::NotMcp
        | ServerFault::TimedOut
        | ServerFault::TakenBack
        | ServerFault::Unreachable
        | ServerFault::Redirected => {}
    }
    if may_have_acted {
        data["mayHaveActed"] = json!(true);
    }
    data
}

pub(super) fn hint(
    server: Quoted<'_>,
    fault: &ServerFault,
    may_have_acted: bool,
    offered: &OfferedTools<'_>,
) -> String {
    let lists = offered.first(&["mcp_tools"]);
    let hint = match fault {
        ServerFault::Unknown { known } if known.is_empty() => "Tell the user: no server is configured.".to_owned(),
        ServerFault::Unknown { known } => format!("Send one of {}.", quoted_list(known)),
        ServerFault::NoSuchTool { nearest } => match (nearest.first(), lists) {
            (Some(nearest), _) => format!("Did you mean {}?", quoted(nearest)),
            (None, Some(tool)) => format!("`{tool}` with `server` {server} lists what it offers."),
            (None, None) => "Ask the user which tool is meant.".to_owned(),
        },
        ServerFault::NotStarted
        | ServerFault::NotMcp
        | ServerFault::Redirected
        | ServerFault::Status { .. }
        | ServerFault::Refused { .. } => "Tell the user; the owner finds out more with `lapidary doctor`.".to_owned(),
        ServerFault::TooMuch { .. } => {
            "Ask for less, or tell the user: the owner can raise `max_reply_bytes` of the server.".to_owned()
        }
        // No setting allows more.
        ServerFault::Flood { .. } => {
            "Try again later: it is started anew. If that fails, too, tell the user that the server sends too many messages."
                .to_owned()
        }
        ServerFault::Ended | ServerFault::Resting { .. } | ServerFault::TimedOut | ServerFault::Unreachable => {
            "Try again later. If that fails, too, tell the user; the owner finds out more with `lapidary doctor`."
                .to_owned()
        }
        ServerFault::TakenBack | ServerFault::Busy => "Try again later.".to_owned(),
    };
    match may_have_acted {
        true => format!("The call may have had its effect: check that before you repeat it. {hint}"),
        false => hint,
    }
}
