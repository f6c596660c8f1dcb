//! The HTTP API of the plugin Local REST API.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::{switch, text};
use crate::common_flags::HttpAddress;
use crate::model::PatchFormat;
use crate::raw::RawValue;
use crate::refused::ConfigRefusal;
use crate::setting::{Setting, SettingFlag, ShownDefault};
use crate::value::{number, toggle, word};

/// Where the plugin serves plain HTTP.
const PLAIN_PORT: u16 = 27123;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("rest.serve"),
        variable: Some("LAPIDARY_REST"),
        // Who asks for the API in plain text asks for the API.
        flag: Some(SettingFlag {
            name: "--rest",
            value: "",
            given: |flags| switch(flags.rest.is_some() || flags.rest_http),
        }),
        default: ShownDefault::Value("false"),
        doc: "Serve the HTTP API of Obsidian's plugin Local REST API, with TLS at 127.0.0.1:27124. Without `--http`, nothing is \
              served on standard input and output then.",
        apply: |draft, given| toggle(&given.raw).map(|served| draft.config.rest.is_served = served),
    },
    Setting {
        key: Some("rest.address"),
        variable: Some("LAPIDARY_REST_ADDRESS"),
        flag: Some(SettingFlag {
            name: "--rest",
            value: "ADDR",
            // `--rest` alone is an empty address, which means TLS at the usual port.
            given: |flags| flags.rest.filter(|given| *given != HttpAddress::default()).map(|given| text(shown(given))),
        }),
        default: ShownDefault::Words("TLS at 127.0.0.1:27124"),
        doc: "Serve that API in plain text at this port, address or both instead. Only addresses of this computer are allowed.",
        apply: |draft, given| {
            draft.config.rest.plain_address = Some(loopback(&given.raw)?);
            Ok(())
        },
    },
    Setting {
        key: Some("rest.http"),
        variable: Some("LAPIDARY_REST_HTTP"),
        flag: Some(SettingFlag { name: "--rest-http", value: "", given: |flags| switch(flags.rest_http) }),
        default: ShownDefault::Value("false"),
        doc: "Serve that API in plain text at 127.0.0.1:27123 as well.",
        apply: |draft, given| toggle(&given.raw).map(|plain| draft.config.rest.is_plain_too = plain),
    },
    Setting {
        key: Some("rest.max_body_bytes"),
        variable: Some("LAPIDARY_REST_MAX_BODY_BYTES"),
        flag: None,
        default: ShownDefault::Value("33554432"),
        doc: "The largest request that this API takes; what is beyond gets 413.",
        apply: |draft, given| {
            draft.config.rest.max_body_bytes = number(&given.raw, 1024..=1 << 30)?;
            Ok(())
        },
    },
    Setting {
        key: Some("rest.patch_format"),
        variable: Some("LAPIDARY_REST_PATCH_FORMAT"),
        flag: None,
        default: ShownDefault::Value("2"),
        doc: "What a request to this API means that names no `Markdown-Patch-Version`: `2` as in version 5 of the plugin, or `1` \
              as up to version 4, for programs that were written for those.",
        apply: |draft, given| {
            let words = [("1", PatchFormat::Headers), ("2", PatchFormat::Instruction)];
            word(&given.raw, &words).map(|format| draft.config.rest.patch_format = format)
        },
    },
];

fn shown(given: HttpAddress) -> String {
    let host = given.host.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    SocketAddr::new(host, given.port.unwrap_or(PLAIN_PORT)).to_string()
}

fn loopback(raw: &RawValue) -> Result<SocketAddr, ConfigRefusal> {
    let value = raw.text()?;
    let refused = || ConfigRefusal::NotHost { value: value.to_owned() };
    let HttpAddress { host, port } = value.parse().map_err(|_| refused())?;
    let host = host.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    // In plain text, the key could be read on the way to another computer.
    match host.is_loopback() {
        true => Ok(SocketAddr::new(host, port.unwrap_or(PLAIN_PORT))),
        false => Err(refused()),
    }
}
