//! The Obsidian app, reached through its plugin Local REST API.

use std::time::Duration;

use super::DAY;
use crate::raw::RawValue;
use crate::refused::ConfigRefusal;
use crate::setting::{Setting, ShownDefault};
use crate::value::{milliseconds, toggle};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("app.use"),
        variable: Some("LAPIDARY_APP"),
        flag: None,
        default: ShownDefault::Value("true"),
        doc: "Use the Obsidian app for what only it can do, while it runs with the plugin Local REST API: the open note, opening \
              notes, commands, and the engine of Omnisearch. It is looked for when a call needs it, and never before.",
        apply: |draft, given| toggle(&given.raw).map(|used| draft.config.app.is_used = used),
    },
    Setting {
        key: Some("app.commands"),
        variable: Some("OBSIDIAN_ENABLE_COMMANDS"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Offer `obsidian_list_commands` and `obsidian_execute_command`. A command acts on whatever is open in the app and knows \
              no path rules, so each is asked about unless a rule for `obsidian_execute_command` says otherwise.",
        apply: |draft, given| toggle(&given.raw).map(|enabled| draft.config.app.commands = enabled),
    },
    Setting {
        key: Some("app.url"),
        variable: Some("OBSIDIAN_BASE_URL"),
        flag: None,
        default: ShownDefault::Words("as in the plugin's settings in the vault"),
        doc: "Where the plugin answers, like `https://127.0.0.1:27124`. With several vaults it is that of the vault whose plugin has \
              the key of `OBSIDIAN_API_KEY`.",
        apply: |draft, given| app_url(&given.raw).map(|url| draft.config.app.url = Some(url)),
    },
    Setting {
        key: Some("app.verify_certificate"),
        variable: Some("OBSIDIAN_VERIFY_SSL"),
        flag: None,
        default: ShownDefault::Words("only the plugin's own"),
        doc: "Believe only certificates of public authorities. Otherwise the plugin's own certificate is believed, the one in its \
              settings in the vault, and no other; if there is none in the vault, `false` believes any on this computer.",
        apply: |draft, given| toggle(&given.raw).map(|verifies| draft.config.app.verifies_publicly = Some(verifies)),
    },
    Setting {
        key: Some("app.timeout_ms"),
        variable: Some("OBSIDIAN_REQUEST_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("30000"),
        doc: "How long a request to the plugin may take, with all its repetitions.",
        apply: |draft, given| milliseconds(&given.raw, 1..=DAY).map(|timeout| draft.config.app.timeout = timeout),
    },
    Setting {
        key: Some("app.omnisearch_url"),
        variable: Some("OBSIDIAN_OMNISEARCH_URL"),
        flag: None,
        default: ShownDefault::Words("port 51361 on the computer of the app"),
        doc: "Where the HTTP server of the plugin Omnisearch answers, for searches with `engine: \"plugin\"`.",
        apply: |draft, given| app_url(&given.raw).map(|url| draft.config.app.omnisearch_url = Some(url)),
    },
    Setting {
        key: None,
        variable: Some("OBSIDIAN_PROTOCOL"),
        flag: None,
        default: ShownDefault::Words("`https`, if another part is given"),
        doc: "From version 1 of obsidian-mcp-server: part of the address that `OBSIDIAN_BASE_URL` has as a whole.",
        apply: |draft, given| given.raw.text().map(|part| draft.app_address.protocol = Some(part.to_owned())),
    },
    Setting {
        key: None,
        variable: Some("OBSIDIAN_HOST"),
        flag: None,
        default: ShownDefault::Words("`127.0.0.1`, if another part is given"),
        doc: "Another part of that address.",
        apply: |draft, given| given.raw.text().map(|part| draft.app_address.host = Some(part.to_owned())),
    },
    Setting {
        key: None,
        variable: Some("OBSIDIAN_PORT"),
        flag: None,
        default: ShownDefault::Words("`27124`, if another part is given"),
        doc: "The last part of that address.",
        apply: |draft, given| given.raw.text().map(|part| draft.app_address.port = Some(part.to_owned())),
    },
    Setting {
        key: None,
        variable: Some("VERIFY_SSL"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "From the same version: `OBSIDIAN_VERIFY_SSL`.",
        apply: |draft, given| {
            // Other programs have such a variable too, with values of their own.
            if let Ok(verifies) = toggle(&given.raw) {
                draft.app_address.verifies = Some(verifies);
            }
            Ok(())
        },
    },
    Setting {
        key: None,
        variable: Some("REQUEST_TIMEOUT"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "From the same version: `OBSIDIAN_REQUEST_TIMEOUT_MS`.",
        apply: |draft, given| {
            // As above: what cannot be read was meant for another program.
            if let Ok(timeout) = milliseconds(&given.raw, 1..=DAY) {
                draft.app_address.timeout = Some(timeout);
            }
            Ok(())
        },
    },
];

/// The parts of an address, as version 1 has them.
#[derive(Debug, Default)]
pub(crate) struct AppAddressParts {
    protocol: Option<String>,
    host: Option<String>,
    port: Option<String>,
    pub(crate) verifies: Option<bool>,
    pub(crate) timeout: Option<Duration>,
}

impl AppAddressParts {
    /// The address, if any part of it is given.
    pub(crate) fn url(&self) -> Option<Result<String, ConfigRefusal>> {
        let Self { protocol, host, port, .. } = self;
        if (protocol, host, port) == (&None, &None, &None) {
            return None;
        }
        let part = |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_owned());
        let (protocol, host) = (part(protocol, "https"), part(host, "127.0.0.1"));
        // The plugin listens at two ports, one for each protocol.
        let usual = if protocol.eq_ignore_ascii_case("http") { "27123" } else { "27124" };
        Some(app_url(&RawValue::Text(format!("{protocol}://{host}:{}", part(port, usual)))))
    }
}

/// A base address: scheme, host, and perhaps a port and a path.
fn app_url(raw: &RawValue) -> Result<String, ConfigRefusal> {
    let value = raw.text()?;
    let url = value.trim().trim_end_matches('/');
    let scheme = url.split_once("://").filter(|(scheme, _)| {
        let scheme = scheme.to_ascii_lowercase();
        scheme == "http" || scheme == "https"
    });
    let is_plain =
        |rest: &str| !rest.is_empty() && !rest.starts_with(['/', ':']) && !rest.contains(['?', '#', '@', ' ']);
    match scheme {
        Some((_, rest)) if is_plain(rest) => Ok(url.to_owned()),
        _ => Err(ConfigRefusal::NotAppUrl { value: value.to_owned() }),
    }
}
