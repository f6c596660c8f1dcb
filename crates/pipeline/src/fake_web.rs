//! A web of a few pages, for the tests of the stages.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use lapidary_tools::{FetchedPage, PageKind, WebAccess, WebFault, WebHit};

/// Knows the host `a.example`, to which the owner of the tests has opened the server.
#[derive(Default)]
pub(crate) struct FakeWeb {
    pub(crate) requests: Mutex<Vec<String>>,
    /// What every request fails with.
    pub(crate) fault: Mutex<Option<WebFault>>,
    /// In place of the page about slate.
    pub(crate) page: Mutex<Option<String>>,
    /// In place of the text about tiles.
    pub(crate) text: Mutex<Option<String>>,
}

const SLATE: &str = "<title>Slate roofs</title><meta name=author content=Ada><nav>Menu</nav>\
    <main><p>Slate lasts a <b>century</b>. See <a href=tiles>tiles</a>.</p></main>";

const GALLERY: &str = "<title>Gallery</title><main><p>A tile: <a href=big><img src=tile.gif></a></p>\
    <p><img src=tile-again.gif alt='The same'> <img src=trap.png alt=Trap>\
    <img src='https://b.example/x.png' alt=Elsewhere></p></main>";

/// The first bytes of a picture, which is all that is looked at; readable, so that an example can show them.
fn picture() -> Vec<u8> {
    [b"GIF89a".as_slice(), &[b'.'; 100]].concat()
}

impl WebAccess for FakeWeb {
    fn fetch(&self, url: &str, _: Duration) -> Result<FetchedPage, WebFault> {
        self.requests.lock().unwrap().push(url.to_owned());
        if let Some(fault) = self.fault.lock().unwrap().clone() {
            return Err(fault);
        }
        let rest = url.strip_prefix("https://").or(url.strip_prefix("http://")).ok_or(WebFault::NotAnAddress)?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host != "a.example" {
            return Err(WebFault::HostNotAllowed { host: host.to_owned(), port: None, is_private: false });
        }
        let page =
            |kind, text: &str| FetchedPage { url: format!("https://a.example/{path}"), kind, text: text.to_owned() };
        match path {
            "slate" => Ok(page(PageKind::Html, self.page.lock().unwrap().as_deref().unwrap_or(SLATE))),
            "gallery" => Ok(page(PageKind::Html, GALLERY)),
            "tiles.md" => {
                let text = self.text.lock().unwrap();
                Ok(page(PageKind::Text, text.as_deref().unwrap_or("# Tiles\n\nClay.\n")))
            }
            _ => Err(WebFault::Status { status: 404 }),
        }
    }

    fn fetch_picture(&self, url: &str, _: Duration) -> Result<Arc<[u8]>, WebFault> {
        self.requests.lock().unwrap().push(url.to_owned());
        match url {
            "https://a.example/tile.gif" | "https://a.example/tile-again.gif" => Ok(picture().into()),
            // One pixel, and eight by eight.
            "https://a.example/dot.gif" => Ok(b"GIF89a\x01\0\x01\0".to_vec().into()),
            "https://a.example/arrow.gif" => Ok(b"GIF89a\x08\0\x08\0".to_vec().into()),
            // Says that it is a picture, and is not.
            "https://a.example/trap.png" => Ok(b"<svg><script>alert(1)</script></svg>".to_vec().into()),
            _ => Err(WebFault::HostNotAllowed { host: "b.example".to_owned(), port: None, is_private: false }),
        }
    }

    fn search(&self, query: &str, _: Duration) -> Result<Vec<WebHit>, WebFault> {
        self.requests.lock().unwrap().push(format!("search {query}"));
        let hit = WebHit {
            title: "Slate roofs".to_owned(),
            url: "https://a.example/slate".to_owned(),
            excerpt: "Slate lasts a century.".to_owned(),
        };
        self.fault.lock().unwrap().clone().map_or(Ok(vec![hit]), Err)
    }
}
