//! The web: which hosts, and within which limits.

use super::SECOND;
use crate::host_pattern::HostPattern;
use crate::raw::RawValue;
use crate::refused::ConfigRefusal;
use crate::setting::{Setting, ShownDefault};
use crate::value::{milliseconds, number, web_url};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("web.hosts"),
        variable: Some("LAPIDARY_WEB_HOSTS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Hosts whose pages assistants may fetch with `web_fetch` and keep with `web_clip`, which are off without any: \
              `example.org`, `*.example.org` with all below it, `example.org:8080`, or `any`. An address can carry what an \
              assistant has read to its host, so list hosts that you trust. Private addresses stay closed.",
        apply: |draft, given| hosts(&given.raw).map(|hosts| draft.config.web.hosts = hosts),
    },
    Setting {
        key: Some("web.private_hosts"),
        variable: Some("LAPIDARY_WEB_PRIVATE_HOSTS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Hosts of your own network or this computer that are open, too, like `wiki.lan` or `127.0.0.1:8080`.",
        apply: |draft, given| {
            let hosts = hosts(&given.raw)?;
            // Everything on this computer and around it is never meant.
            if hosts.contains(&HostPattern::Any) {
                return Err(ConfigRefusal::NotWebHost { value: "any".to_owned() });
            }
            draft.config.web.private_hosts = hosts;
            Ok(())
        },
    },
    Setting {
        key: Some("web.search_url"),
        variable: Some("LAPIDARY_WEB_SEARCH_URL"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A search engine for `web_search`, which is off without one: the address of a SearXNG server that answers in JSON, like \
              `http://127.0.0.1:8888/search`.",
        apply: |draft, given| web_url(&given.raw).map(|url| draft.config.web.search_url = Some(url)),
    },
    Setting {
        key: Some("web.authorities"),
        variable: Some("SSL_CERT_FILE"),
        flag: None,
        default: ShownDefault::Words("those of Mozilla, which are in the program"),
        doc: "A file with the certificates of authorities, in PEM form, that are trusted in place of those in the program: behind a proxy \
              with its own authority, the file that `curl` uses there. For `web_fetch`, `web_search`, other MCP servers and \
              `lapidary model add NAME`.",
        apply: |draft, given| {
            let file = given.raw.text()?;
            draft.config.authorities = if file.is_empty() { None } else { Some(draft.places.whole(file)?) };
            Ok(())
        },
    },
    Setting {
        key: Some("web.timeout_ms"),
        variable: Some("LAPIDARY_WEB_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("15000"),
        doc: "How long fetching a page may take, with all redirects.",
        apply: |draft, given| {
            milliseconds(&given.raw, 1..=120 * SECOND).map(|timeout| draft.config.web.timeout = timeout)
        },
    },
    Setting {
        key: Some("web.max_bytes"),
        variable: Some("LAPIDARY_WEB_MAX_BYTES"),
        flag: None,
        default: ShownDefault::Value("2000000"),
        doc: "How large a page may be.",
        apply: |draft, given| number(&given.raw, 1..=20_000_000).map(|most| draft.config.web.max_bytes = most),
    },
];

fn hosts(raw: &RawValue) -> Result<Vec<HostPattern>, ConfigRefusal> {
    let host =
        |host: &str| HostPattern::parse(host).ok_or_else(|| ConfigRefusal::NotWebHost { value: host.to_owned() });
    raw.entries(',')?.into_iter().map(host).collect()
}
