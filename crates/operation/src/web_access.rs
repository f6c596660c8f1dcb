//! The web as tools see it: pages at addresses that the owner allows. Who makes the requests, and which are made, is not
//! known here.

use std::{cell::RefCell, rc::Rc, sync::Arc, time::Duration};

use crate::{Cancel, Reason};

/// Makes requests for tools. Everything that keeps a request from reaching what it must not is behind this: the owner's list
/// of hosts, private addresses, redirects, sizes and times.
pub trait WebAccess: Send + Sync {
    /// The page at an address. Never with credentials or cookies.
    fn fetch(&self, url: &str, within: Duration) -> Result<FetchedPage, WebFault>;
    /// The bytes of a picture at an address, under the same rules. What they are is not known: nothing that the host says about
    /// them is believed.
    fn fetch_picture(&self, url: &str, within: Duration) -> Result<Arc<[u8]>, WebFault>;
    /// What the owner's search engine finds, best first.
    fn search(&self, query: &str, within: Duration) -> Result<Vec<WebHit>, WebFault>;
}

/// What an address answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPage {
    /// Where it was found, after redirects.
    pub url: String,
    pub kind: PageKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    Html,
    /// Markdown, plain text, JSON and the like, kept as it is.
    Text,
}

/// A result of a search engine. All of it is foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebHit {
    pub title: String,
    pub url: String,
    pub excerpt: String,
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebFault {
    /// Not an address of the web: another scheme, no host, or a user name in it.
    NotAnAddress,
    HostNotAllowed {
        host: String,
        /// If it is not the usual one of the scheme: it is opened with the host.
        port: Option<u16>,
        /// By what was written alone: an address of this computer or of a network that only it can reach.
        is_private: bool,
    },
    /// There is no such host, or it is one of this computer or of a network that only it can reach. Which of these it is
    /// would tell strangers about that network.
    NoPublicHost {
        host: String,
    },
    Unreachable,
    TimedOut,
    Status {
        status: u16,
    },
    TooManyRedirects,
    /// A redirect leads from TLS to plain text, which anyone on the way can write.
    Downgraded,
    /// It leads to something that is not an address of the web.
    Misdirected,
    /// Not a text, or compressed although that was not asked for.
    Unsupported {
        media_type: String,
    },
    TooLarge {
        limit: u64,
    },
    /// There is nothing to read, perhaps because only scripts would make it.
    NoText {
        by_scripts: bool,
    },
    /// As many pages are fetched at this moment as may be.
    Busy,
    /// The owner named no search engine.
    NoEngine,
    /// What should be a search engine did not answer in its form.
    BadEngine,
}

/// What one call has of the web. It remembers which addresses were asked for: the log has them.
pub struct WebRequests<'a> {
    access: &'a dyn WebAccess,
    asked: Rc<AskedAddresses>,
}

/// The addresses that one call asked for, in order. A call is planned on one thread.
#[derive(Debug, Default)]
pub struct AskedAddresses(RefCell<Vec<String>>);

impl AskedAddresses {
    pub fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

impl<'a> WebRequests<'a> {
    pub fn new(access: &'a dyn WebAccess, asked: Rc<AskedAddresses>) -> Self {
        Self { access, asked }
    }

    pub fn fetch(&self, url: &str, cancel: &Cancel) -> Result<FetchedPage, Reason> {
        cancel.check()?;
        // Before the request, so that the log also has an address that does not answer.
        self.note(url);
        let fetched = self.access.fetch(url, cancel.left()).map_err(|fault| Reason::WebFailed { fault })?;
        // A redirect sends the caller elsewhere, which is worth a second entry.
        if fetched.url != url {
            self.note(&fetched.url);
        }
        Ok(fetched)
    }

    /// The bytes of a picture. A missing one does not end a call.
    pub fn fetch_picture(&self, url: &str, cancel: &Cancel) -> Result<Result<Arc<[u8]>, WebFault>, Reason> {
        cancel.check()?;
        self.note(url);
        Ok(self.access.fetch_picture(url, cancel.left()))
    }

    pub fn search(&self, query: &str, cancel: &Cancel) -> Result<Vec<WebHit>, Reason> {
        cancel.check()?;
        // Marked, because a query may look like an address.
        self.note(&format!("search: {query}"));
        self.access.search(query, cancel.left()).map_err(|fault| Reason::WebFailed { fault })
    }

    fn note(&self, asked: &str) {
        // A plan that is made again asks for the same.
        let mut all = self.asked.0.borrow_mut();
        if !all.iter().any(|known| known == asked) {
            // Callers may send addresses of any length, which the log must not repeat.
            all.push(asked.chars().take(500).collect());
        }
    }
}
