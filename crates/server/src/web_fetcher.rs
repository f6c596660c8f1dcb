//! Fetches pages of the web for tools, within what the owner opened. Every address is looked up, checked and connected to
//! anew, also after a redirect; nothing is sent that says who asks, and nothing is kept but the last few pages.

mod page_bytes;

use std::{
    collections::VecDeque,
    io::ErrorKind,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use lapidary_config::WebConfig;
use lapidary_telemetry::outgoing;
use lapidary_tools::{FetchedPage, MissingSetting, NO_WEB_PAGES, NO_WEB_SEARCH, WebAccess, WebFault, WebHit};
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;
use serde::Deserialize;
use ureq::{
    Agent, Error,
    http::{Response, header},
    tls::RootCerts,
    unversioned::{
        resolver::{DefaultResolver, Resolver},
        transport::DefaultConnector,
    },
};
use url::{Host, Url};

use self::page_bytes::PageBytes;
use crate::public_addresses::{PrivateAddress, PublicAddresses};

const MOST_REDIRECTS: usize = 5;
/// Slow hosts must not take all places of other calls.
const MOST_AT_ONCE: usize = 4;
/// The next part of a long page, and the clip of a page that was just read, are those of the same page.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);
const MOST_KEPT: usize = 8;
const MOST_KEPT_BYTES: usize = 8 << 20;
/// Of a search engine.
const MOST_HITS: usize = 50;
const LONGEST_WORDS: usize = 300;

pub(crate) struct WebFetcher {
    settings: WebConfig,
    pages: Agent,
    /// For the address that the owner named.
    engine: Agent,
    running: AtomicUsize,
    kept: Mutex<VecDeque<KeptPage>>,
}

/// A page that was fetched a moment ago.
struct KeptPage {
    asked: String,
    since: ElapsedTime,
    page: FetchedPage,
}

impl WebFetcher {
    /// None if the owner opened nothing of the web.
    pub(crate) fn of(settings: &WebConfig) -> Option<Self> {
        let is_open = settings.search_url.is_some() || !Self::opens_no_host(settings);
        is_open.then(|| Self::new(settings, DefaultResolver::default(), &RootCerts::WebPki))
    }

    /// What the owner has not set, and which tools need it.
    pub(crate) fn missing_settings(settings: &WebConfig) -> Vec<MissingSetting> {
        let pages: &[MissingSetting] = if Self::opens_no_host(settings) { &NO_WEB_PAGES } else { &[] };
        let search: &[MissingSetting] = if settings.search_url.is_none() { &[NO_WEB_SEARCH] } else { &[] };
        [pages, search].concat()
    }

    fn opens_no_host(settings: &WebConfig) -> bool {
        settings.hosts.is_empty() && settings.private_hosts.is_empty()
    }

    fn new(settings: &WebConfig, names: impl Resolver, roots: &RootCerts) -> Self {
        let agent_settings = |accepts: &'static str| {
            outgoing::settings(settings.timeout, roots.clone(), false)
                // A proxy of the environment would look up names itself, past the check of their addresses.
                .proxy(None)
                // A connection that is kept would be used without asking for its address again.
                .max_idle_connections(0)
                .accept(accepts)
                .build()
        };
        let pages = agent_settings("text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, */*;q=0.1");
        let names = PublicAddresses::new(names, settings.private_hosts.clone());
        Self {
            settings: settings.clone(),
            pages: Agent::with_parts(pages, DefaultConnector::default(), names),
            engine: Agent::new_with_config(agent_settings("application/json")),
            running: AtomicUsize::new(0),
            kept: Mutex::default(),
        }
    }

    /// The host of an address that may be asked.
    fn permitted(&self, url: &Url) -> Result<String, WebFault> {
        let has_user = !url.username().is_empty() || url.password().is_some();
        let (true, Some(host), Some(port)) =
            (matches!(url.scheme(), "http" | "https") && !has_user, url.host(), url.port_or_known_default())
        else {
            return Err(WebFault::NotAnAddress);
        };
        // As it is compared: an IPv6 address without its brackets.
        let host = match host {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let mut patterns = self.settings.hosts.iter().chain(&self.settings.private_hosts);
        match patterns.any(|pattern| pattern.matches(&host, port)) {
            true => Ok(host),
            false => Err(WebFault::HostNotAllowed { host }),
        }
    }

    /// Follows redirects, each of which is an address like the first.
    fn follow(&self, mut url: Url, within: Duration) -> Result<FetchedPage, WebFault> {
        let began = ElapsedTime::start();
        for _ in 0..=MOST_REDIRECTS {
            let host = self.permitted(&url)?;
            let left = within.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(WebFault::TimedOut);
            }
            let request = self.pages.get(url.as_str()).config().timeout_global(Some(left)).build();
            let mut response = request.call().map_err(|error| self.fault(&error, &host))?;
            if let Some(next) = redirect(&url, &response) {
                url = next?;
                continue;
            }
            if !response.status().is_success() {
                return Err(WebFault::Status { status: response.status().as_u16() });
            }
            let kind = header_text(&response, &header::CONTENT_TYPE).unwrap_or_default();
            // Nothing was accepted but the plain bytes; a small body can unpack to a very large one.
            let coding = header_text(&response, &header::CONTENT_ENCODING).filter(|coding| coding != "identity");
            if let Some(coding) = coding {
                return Err(WebFault::Unsupported { media_type: coding });
            }
            let form = PageBytes::form(&kind)?;
            let body = response.body_mut().with_config().limit(self.most_read()).read_to_vec();
            let bytes = body.map_err(|error| self.fault(&error, &host))?;
            let PageBytes { kind, text } = PageBytes::read(form, &bytes)?;
            return Ok(FetchedPage { url: url.into(), kind, text });
        }
        Err(WebFault::TooManyRedirects)
    }

    fn fault(&self, error: &Error, host: &str) -> WebFault {
        let host = host.to_owned();
        match error {
            Error::Other(other) if other.is::<PrivateAddress>() => WebFault::PrivateHost { host },
            Error::HostNotFound => WebFault::HostUnknown { host },
            Error::BodyExceedsLimit(_) => WebFault::TooLarge { limit: self.settings.max_bytes },
            Error::Timeout(_) => WebFault::TimedOut,
            Error::Io(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                WebFault::TimedOut
            }
            _ => WebFault::Unreachable,
        }
    }

    /// One byte more than a page may have: a body that reaches its limit counts as too large before its end is seen.
    fn most_read(&self) -> u64 {
        self.settings.max_bytes.saturating_add(1)
    }

    fn kept(&self, asked: &str) -> Option<FetchedPage> {
        let mut kept = self.kept.lock();
        kept.retain(|page| page.since.elapsed() < KEPT_FOR);
        kept.iter().find(|page| page.asked == asked).map(|kept| kept.page.clone())
    }

    fn keep(&self, asked: String, page: FetchedPage) {
        let mut kept = self.kept.lock();
        kept.push_back(KeptPage { asked, since: ElapsedTime::start(), page });
        let bytes = |kept: &VecDeque<KeptPage>| kept.iter().map(|kept| kept.page.text.len()).sum::<usize>();
        while kept.len() > MOST_KEPT || bytes(&kept) > MOST_KEPT_BYTES {
            kept.pop_front();
        }
    }

    /// Runs a request if there is a place for it.
    fn in_a_place<T>(&self, request: impl FnOnce() -> Result<T, WebFault>) -> Result<T, WebFault> {
        let _place = RequestPlace::take(&self.running).ok_or(WebFault::Busy)?;
        request()
    }
}

/// One of the few requests that are made at a time.
struct RequestPlace<'r>(&'r AtomicUsize);

impl<'r> RequestPlace<'r> {
    fn take(running: &'r AtomicUsize) -> Option<Self> {
        let more = |running: usize| (running < MOST_AT_ONCE).then_some(running + 1);
        running.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self(running))
    }
}

impl Drop for RequestPlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn header_text<B>(response: &Response<B>, name: &header::HeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.trim().to_ascii_lowercase())
}

/// Where a response sends the caller, if it does.
fn redirect<B>(from: &Url, response: &Response<B>) -> Option<Result<Url, WebFault>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let to = response.headers().get(header::LOCATION)?.to_str().ok()?;
    Some(from.join(to).map_err(|_| WebFault::NotAnAddress))
}

impl WebAccess for WebFetcher {
    fn fetch(&self, url: &str, within: Duration) -> Result<FetchedPage, WebFault> {
        let mut url = Url::parse(url.trim()).map_err(|_| WebFault::NotAnAddress)?;
        url.set_fragment(None);
        self.permitted(&url)?;
        if let Some(page) = self.kept(url.as_str()) {
            return Ok(page);
        }
        let asked = url.to_string();
        let page = self.in_a_place(|| self.follow(url, within.min(self.settings.timeout)))?;
        self.keep(asked, page.clone());
        Ok(page)
    }

    fn search(&self, query: &str, within: Duration) -> Result<Vec<WebHit>, WebFault> {
        let url = self.settings.search_url.as_deref().ok_or(WebFault::NoEngine)?;
        let mut url = Url::parse(url).map_err(|_| WebFault::NoEngine)?;
        url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        let host = url.host_str().unwrap_or_default().to_owned();
        self.in_a_place(|| {
            let timeout = within.min(self.settings.timeout);
            let request = self.engine.get(url.as_str()).config().timeout_global(Some(timeout)).build();
            let mut response = request.call().map_err(|error| self.fault(&error, &host))?;
            if !response.status().is_success() {
                return Err(WebFault::Status { status: response.status().as_u16() });
            }
            let body = response.body_mut().with_config().limit(self.most_read()).read_to_vec();
            let bytes = body.map_err(|error| self.fault(&error, &host))?;
            let answer: EngineAnswer = serde_json::from_slice(&bytes).map_err(|_| WebFault::BadEngine)?;
            Ok(answer.results.into_iter().filter_map(EngineResult::hit).take(MOST_HITS).collect())
        })
    }
}

/// What SearXNG answers with.
#[derive(Deserialize)]
struct EngineAnswer {
    results: Vec<EngineResult>,
}

#[derive(Deserialize)]
struct EngineResult {
    url: String,
    title: Option<String>,
    content: Option<String>,
}

impl EngineResult {
    fn hit(self) -> Option<WebHit> {
        let is_page = self.url.starts_with("https://") || self.url.starts_with("http://");
        let words = |text: Option<String>| -> String {
            let text = text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            text.chars().take(LONGEST_WORDS).collect()
        };
        is_page.then(|| WebHit { url: self.url, title: words(self.title), excerpt: words(self.content) })
    }
}

#[cfg(test)]
mod tests;
