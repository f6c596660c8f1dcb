//! Fetches pages of the web for tools, within what the owner opened. Every address is looked up, checked and connected to
//! anew, also after a redirect; nothing is sent that says who asks, and nothing is kept but the last few pages.

mod kept_answers;
mod page_bytes;

use std::{
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use lapidary_config::WebConfig;
use lapidary_telemetry::outgoing;
use lapidary_tools::{FetchedPage, MissingSetting, NO_WEB_PAGES, NO_WEB_SEARCH, WebAccess, WebFault, WebHit};
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;
use serde::Deserialize;
use ureq::{
    Agent, Body, Error,
    http::{Response, header},
    tls::RootCerts,
    unversioned::{
        resolver::{DefaultResolver, Resolver},
        transport::DefaultConnector,
    },
};
use url::{Host, Url};

use self::{kept_answers::KeptAnswers, page_bytes::PageBytes};
use crate::public_addresses::{NoPublicAddress, PublicAddresses, is_public};

const MOST_REDIRECTS: usize = 5;
/// Slow hosts must not take all places of other calls.
const MOST_AT_ONCE: usize = 4;
/// What browsers show, but for SVG, which is a program as well.
const PICTURES: &str = "image/avif, image/webp, image/png, image/jpeg, image/gif";
/// Of a search engine.
const MOST_HITS: usize = 50;
const LONGEST_WORDS: usize = 300;

pub(crate) struct WebFetcher {
    settings: WebConfig,
    pages: Agent,
    /// For the address that the owner named.
    engine: Agent,
    running: AtomicUsize,
    kept: Mutex<KeptAnswers>,
}

impl WebFetcher {
    /// None if the owner opened nothing of the web.
    pub(crate) fn of(settings: &WebConfig, roots: &dyn Fn() -> RootCerts) -> Option<Self> {
        let is_open = settings.search_url.is_some() || !Self::opens_no_host(settings);
        is_open.then(|| Self::new(settings, DefaultResolver::default(), &roots()))
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
        // As it is compared: an IPv6 address without its brackets. No name is looked up for a refusal: that would tell of the owner's
        // own network.
        let (host, is_private) = match host {
            Host::Domain(name) => {
                let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
                (name.to_owned(), last == "localhost")
            }
            Host::Ipv4(address) => (address.to_string(), !is_public(address.into())),
            Host::Ipv6(address) => (address.to_string(), !is_public(address.into())),
        };
        let mut patterns = self.settings.hosts.iter().chain(&self.settings.private_hosts);
        match patterns.any(|pattern| pattern.matches(&host, port)) {
            true => Ok(host),
            false => {
                let port = (!matches!(port, 80 | 443)).then_some(port);
                Err(WebFault::HostNotAllowed { host, port, is_private })
            }
        }
    }

    /// Follows redirects, each of which is an address like the first. `read` gets what is at the end of them, with where
    /// that is and its host.
    fn follow<T>(
        &self,
        mut url: Url,
        within: Duration,
        accepts: Option<&str>,
        read: impl FnOnce(Url, &str, &mut Response<Body>) -> Result<T, WebFault>,
    ) -> Result<T, WebFault> {
        let began = ElapsedTime::start();
        for redirects in 0..=MOST_REDIRECTS {
            let host = self.permitted(&url).map_err(|fault| match fault {
                // The address of the caller was one.
                WebFault::NotAnAddress if redirects > 0 => WebFault::Misdirected,
                other => other,
            })?;
            let left = within.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(WebFault::TimedOut);
            }
            let mut request = self.pages.get(url.as_str());
            if let Some(accepts) = accepts {
                request = request.header(header::ACCEPT, accepts);
            }
            let request = request.config().timeout_global(Some(left)).build();
            let mut response = request.call().map_err(|error| self.fault(&error, &host))?;
            if let Some(next) = redirect(&url, &response) {
                let next = next?;
                // A machine on the way could have answered in the place of the host.
                if url.scheme() == "https" && next.scheme() == "http" {
                    return Err(WebFault::Downgraded);
                }
                url = next;
                continue;
            }
            if !response.status().is_success() {
                return Err(WebFault::Status { status: response.status().as_u16() });
            }
            // Nothing was accepted but the plain bytes; a small body can unpack to a very large one.
            let coding = header_text(&response, &header::CONTENT_ENCODING).filter(|coding| coding != "identity");
            if let Some(coding) = coding {
                return Err(WebFault::Unsupported { media_type: coding });
            }
            return read(url, &host, &mut response);
        }
        Err(WebFault::TooManyRedirects)
    }

    fn read_page(&self, url: Url, host: &str, response: &mut Response<Body>) -> Result<FetchedPage, WebFault> {
        // Before the body, which is not worth reading if it is not text.
        let form = PageBytes::form(&header_text(response, &header::CONTENT_TYPE).unwrap_or_default())?;
        let PageBytes { kind, text } = PageBytes::read(form, &self.read_bytes(host, response)?)?;
        Ok(FetchedPage { url: url.into(), kind, text })
    }

    fn read_bytes(&self, host: &str, response: &mut Response<Body>) -> Result<Vec<u8>, WebFault> {
        let body = response.body_mut().with_config().limit(self.most_read()).read_to_vec();
        body.map_err(|error| self.fault(&error, host))
    }

    fn fault(&self, error: &Error, host: &str) -> WebFault {
        let host = host.to_owned();
        match error {
            Error::Other(other) if other.is::<NoPublicAddress>() => WebFault::NoPublicHost { host },
            Error::HostNotFound => WebFault::NoPublicHost { host },
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
        self.kept.lock().page(asked)
    }

    fn keep(&self, asked: String, page: FetchedPage) {
        self.kept.lock().keep_page(asked, page);
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
    Some(from.join(to).map_err(|_| WebFault::Misdirected))
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
        let within = within.min(self.settings.timeout);
        let read = |url: Url, host: &str, response: &mut Response<Body>| self.read_page(url, host, response);
        let page = self.in_a_place(|| self.follow(url, within, None, read))?;
        self.keep(asked, page.clone());
        Ok(page)
    }

    fn fetch_picture(&self, url: &str, within: Duration) -> Result<Arc<[u8]>, WebFault> {
        let url = Url::parse(url.trim()).map_err(|_| WebFault::NotAnAddress)?;
        self.permitted(&url)?;
        if let Some(bytes) = self.kept.lock().picture(url.as_str()) {
            return Ok(bytes);
        }
        let (asked, within) = (url.to_string(), within.min(self.settings.timeout));
        let read = |_: Url, host: &str, response: &mut Response<Body>| self.read_bytes(host, response);
        let bytes: Arc<[u8]> = self.in_a_place(|| self.follow(url, within, Some(PICTURES), read))?.into();
        self.kept.lock().keep_picture(asked, &bytes);
        Ok(bytes)
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
            let bytes = self.read_bytes(&host, &mut response)?;
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
#[cfg(test)]
pub(crate) mod tls_tests;
