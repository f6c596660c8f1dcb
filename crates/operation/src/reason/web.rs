//! What is said when a page of the web cannot be had.

use serde_json::{Value, json};

use super::{OfferedTools, ReasonKind};
use crate::{WebFault, quote::quoted};

pub(super) fn kind(fault: &WebFault) -> ReasonKind {
    match fault {
        WebFault::HostNotAllowed { .. } | WebFault::NoPublicHost { .. } | WebFault::NoEngine => {
            ReasonKind::WebNotAllowed
        }
        WebFault::NotAnAddress => ReasonKind::InvalidArguments,
        WebFault::TimedOut => ReasonKind::WebTimeout,
        WebFault::Unsupported { .. } | WebFault::TooLarge { .. } | WebFault::NoText { .. } => {
            ReasonKind::WebUnsupported
        }
        WebFault::Unreachable
        | WebFault::Status { .. }
        | WebFault::TooManyRedirects
        | WebFault::Downgraded
        | WebFault::Misdirected
        | WebFault::Busy
        | WebFault::BadEngine => ReasonKind::WebUnreachable,
    }
}

/// A host as the owner writes it in a list.
fn entry(host: &str, port: Option<u16>) -> String {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    port.map_or(host.clone(), |port| format!("{host}:{port}"))
}

pub(super) fn message(fault: &WebFault) -> String {
    match fault {
        WebFault::NotAnAddress => {
            "Invalid arguments: `url` must be an address like `https://example.org/page`, without a user name."
                .to_owned()
        }
        WebFault::HostNotAllowed { host, port, .. } => {
            format!("The owner has not opened {} to this server.", quoted(&entry(host, *port)))
        }
        // Does not tell whether the owner's network has such a host.
        WebFault::NoPublicHost { host } => format!("There is no public host {}.", quoted(host)),
        WebFault::Unreachable => "The host does not answer, or not as it should.".to_owned(),
        WebFault::TimedOut => "The host did not send the page in time.".to_owned(),
        WebFault::Status { status } => format!("The host answered with the error {status}."),
        WebFault::TooManyRedirects => "The page redirects too often.".to_owned(),
        WebFault::Downgraded => {
            "The address leads from https to http, where others could answer in its place.".to_owned()
        }
        WebFault::Unsupported { media_type } => {
            format!("What is there is {}, which cannot be read here.", quoted(media_type))
        }
        WebFault::NoText { by_scripts: true } => {
            "The page has no text: it is made by scripts, which are not run here.".to_owned()
        }
        WebFault::NoText { by_scripts: false } => "The page has no text.".to_owned(),
        WebFault::TooLarge { limit } => format!("The page is larger than {limit} bytes."),
        WebFault::Misdirected => "The address leads to something that is not a page of the web.".to_owned(),
        WebFault::Busy => "Too many pages are being fetched at this moment.".to_owned(),
        WebFault::NoEngine => "The owner has named no search engine.".to_owned(),
        WebFault::BadEngine => "The search engine did not answer with results.".to_owned(),
    }
}

pub(super) fn data(fault: &WebFault) -> Value {
    match fault {
        WebFault::HostNotAllowed { host, .. } | WebFault::NoPublicHost { host } => json!({ "host": host }),
        WebFault::Status { status } => json!({ "status": status }),
        WebFault::TooLarge { limit } => json!({ "limit": limit }),
        WebFault::Unreachable | WebFault::TimedOut | WebFault::Busy => json!({ "retryable": true }),
        WebFault::Unsupported { media_type } => json!({ "mediaType": media_type }),
        WebFault::NoText { by_scripts } => json!({ "byScripts": by_scripts }),
        WebFault::NotAnAddress
        | WebFault::TooManyRedirects
        | WebFault::Downgraded
        | WebFault::Misdirected
        | WebFault::NoEngine
        | WebFault::BadEngine => json!({}),
    }
}

pub(super) fn hint(fault: &WebFault, offered: &OfferedTools<'_>) -> String {
    match fault {
        WebFault::NotAnAddress => "Send the whole address, with http:// or https://.".to_owned(),
        WebFault::HostNotAllowed { host, port, is_private } => {
            let list = if *is_private { "web.private_hosts" } else { "web.hosts" };
            let entry = entry(host, *port);
            format!("Tell the user which page you wanted. The owner can add {} to `{list}`.", quoted(&entry))
        }
        WebFault::NoPublicHost { .. } => {
            "Check the address with the user. The owner can open a host of their own network with `web.private_hosts`, with its port if \
             that is not 80 or 443."
                .to_owned()
        }
        WebFault::Status { .. } | WebFault::TooManyRedirects | WebFault::Downgraded | WebFault::Misdirected => {
            match offered.first(&["web_search"]) {
                Some(search) => format!("Check the address; `{search}` finds pages."),
                None => "Check the address with the user.".to_owned(),
            }
        }
        WebFault::Unreachable | WebFault::TimedOut | WebFault::Busy => "Try again later.".to_owned(),
        WebFault::Unsupported { .. } | WebFault::TooLarge { .. } => {
            "Tell the user; they can save the file into the vault.".to_owned()
        }
        WebFault::NoText { .. } => {
            "Another address may have the same as text: a version for printing, a feed, an API. Or the user can paste it.".to_owned()
        }
        WebFault::NoEngine => "Ask the user for an address. The owner can set `web.search_url`.".to_owned(),
        WebFault::BadEngine => "Tell the user. The owner can check `web.search_url`.".to_owned(),
    }
}
