//! What is fetched, and what is not, from a host that is a program of this test. Names come from here, never from a setting.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
};

use lapidary_config::HostPattern;
use lapidary_tools::{Catalogue, OfferedTools, ProfileRules, Reason};
use ureq::{
    config::Config,
    http::Uri,
    unversioned::{resolver::ResolvedSocketAddrs, transport::NextTimeout},
};

use super::*;

const LONG: Duration = Duration::from_secs(60);

/// A host that answers each path as the test says, and remembers the heads of requests.
struct PageHost {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl PageHost {
    fn new(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, heads) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().push(head);
                answer(&path, &mut stream);
            }
        });
        Self { address, heads }
    }

    /// Answers with these, by path.
    fn with_pages(pages: &'static [(&'static str, &'static str)]) -> Self {
        Self::new(move |path, stream| {
            let answer =
                pages.iter().find(|(known, _)| *known == path).map_or("HTTP/1.1 404 Gone\r\n\r\n", |(_, it)| it);
            drop(stream.write_all(answer.as_bytes()));
        })
    }

    /// A fetcher with these settings, for which every name leads to this host.
    fn fetcher(&self, hosts: &str, private_hosts: &str, change: impl FnOnce(&mut WebConfig)) -> WebFetcher {
        let patterns = |list: &str| list.split_whitespace().map(|host| HostPattern::parse(host).unwrap()).collect();
        let mut settings =
            WebConfig { hosts: patterns(hosts), private_hosts: patterns(private_hosts), ..WebConfig::default() };
        settings.timeout = LONG;
        change(&mut settings);
        WebFetcher::new(&settings, TestNames(vec![self.address]), &RootCerts::WebPki)
    }

    /// One for which the host is an open private one.
    fn open(&self) -> WebFetcher {
        self.fetcher("", "a.example b.example", |_| ())
    }

    fn asked(&self) -> usize {
        self.heads.lock().len()
    }
}

/// Every name leads to these.
#[derive(Debug)]
pub(super) struct TestNames(pub(super) Vec<SocketAddr>);

impl Resolver for TestNames {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut all = self.empty();
        self.0.iter().for_each(|address| all.push(*address));
        Ok(all)
    }
}

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n<p>Hello";

#[test]
fn a_page_is_fetched_without_anything_that_says_who_asks() {
    let host = PageHost::with_pages(&[
        ("/a", "HTTP/1.1 302 Found\r\nLocation: b?x=1#y\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"),
        ("/b?x=1", PAGE),
    ]);
    let fetched = host.open().fetch("http://a.example/a#top", LONG).unwrap();
    assert_eq!((fetched.text.as_str(), fetched.kind), ("<p>Hello", lapidary_tools::PageKind::Html));
    assert!(fetched.url.starts_with("http://a.example/b?x=1"), "{}", fetched.url);
    for head in host.heads.lock().iter() {
        let head = head.to_lowercase();
        for name in ["cookie", "authorization", "referer", "accept-encoding: gzip"] {
            assert!(!head.contains(name), "{head}");
        }
    }
}

#[test]
fn only_hosts_that_the_owner_opened_are_asked() {
    let host = PageHost::with_pages(&[("/", PAGE)]);
    let fetcher = host.fetcher("*.open.example", "a.example", |_| ());
    for url in [
        "http://b.example/",
        "http://a.example.evil.example/",
        "http://xa.example/",
        "http://open.example.evil.example/",
        "http://a.example:8080/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
    ] {
        assert!(matches!(fetcher.fetch(url, LONG), Err(WebFault::HostNotAllowed { .. })), "{url}");
    }
    for url in [
        "file:///etc/passwd",
        "ftp://a.example/",
        "http://user@a.example/",
        "http://a.example:x/",
        "a.example",
        "",
        "data:text/html,x",
    ] {
        assert_eq!(fetcher.fetch(url, LONG), Err(WebFault::NotAnAddress), "{url}");
    }
    assert_eq!(host.asked(), 0);
    assert!(fetcher.fetch("http://A.example:80/", LONG).is_ok());
}

#[test]
fn a_refusal_names_the_list_and_the_entry_that_would_open_the_address() {
    let host = PageHost::with_pages(&[("/", PAGE)]);
    let selection = lapidary_tools::ToolSelection::default();
    let all = Catalogue::new(lapidary_tools::TOOL_SET, &selection, &ProfileRules::curator(), &[]).unwrap();
    for (url, entry, list) in [
        ("http://127.0.0.1/", "127.0.0.1", "web.private_hosts"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080", "web.private_hosts"),
        ("http://[::1]:8080/", "[::1]:8080", "web.private_hosts"),
        ("http://localhost:8080/", "localhost:8080", "web.private_hosts"),
        ("http://192.168.1.1/", "192.168.1.1", "web.private_hosts"),
        ("http://b.example:8080/", "b.example:8080", "web.hosts"),
        ("https://b.example/", "b.example", "web.hosts"),
    ] {
        let Err(fault @ WebFault::HostNotAllowed { .. }) = host.fetcher("", "", |_| ()).fetch(url, LONG) else {
            panic!("{url}");
        };
        let hint = Reason::WebFailed { fault }.hint(&OfferedTools::of(&all));
        assert!(hint.contains(&format!("`{entry}` to `{list}`")), "{url}: {hint}");
        // A caller that follows it is not refused for the same reason again.
        let (hosts, private) = if list == "web.hosts" { (entry, "") } else { ("", entry) };
        let again = host.fetcher(hosts, private, |_| ()).fetch(url, LONG);
        assert!(!matches!(again, Err(WebFault::HostNotAllowed { .. })), "{url}: {again:?}");
    }
    // With `any`, a port has to be opened all the same.
    let any = host.fetcher("any", "", |_| ()).fetch("http://127.0.0.1:8080/", LONG);
    assert!(matches!(any, Err(WebFault::HostNotAllowed { port: Some(8080), is_private: true, .. })), "{any:?}");
}

#[test]
fn no_name_leads_to_a_private_address_also_not_after_a_redirect() {
    let host = PageHost::with_pages(&[
        ("/in", "HTTP/1.1 302 Found\r\nLocation: http://rebound.example/\r\nContent-Length: 0\r\n\r\n"),
        ("/file", "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
        ("/meta", "HTTP/1.1 307 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n"),
        ("/", PAGE),
    ]);
    // Every name of this test is one of this computer, as after a change of its DNS entry.
    let any = host.fetcher("any", "", |_| ());
    assert_eq!(any.fetch("http://a.example/", LONG), Err(WebFault::NoPublicHost { host: "a.example".into() }));
    assert_eq!(host.asked(), 0);
    // The first is open, and sends the server to a host that is not.
    let first = host.fetcher("any", "a.example", |_| ());
    let refused = WebFault::NoPublicHost { host: "rebound.example".into() };
    assert_eq!(first.fetch("http://a.example/in", LONG), Err(refused));
    assert_eq!(first.fetch("http://a.example/file", LONG), Err(WebFault::Misdirected));
    let refused = WebFault::NoPublicHost { host: "169.254.169.254".into() };
    assert_eq!(first.fetch("http://a.example/meta", LONG), Err(refused));
    let narrow = host.fetcher("", "a.example", |_| ());
    let refused = WebFault::HostNotAllowed { host: "rebound.example".into(), port: None, is_private: false };
    assert_eq!(narrow.fetch("http://a.example/in", LONG), Err(refused));
    // A public address beside a private one makes it no better.
    let settings = WebConfig { hosts: vec![HostPattern::Any], timeout: LONG, ..WebConfig::default() };
    let mixed = TestNames(vec!["93.184.216.34:80".parse().unwrap(), host.address]);
    let mixed = WebFetcher::new(&settings, mixed, &RootCerts::WebPki);
    assert!(matches!(mixed.fetch("http://a.example/", LONG), Err(WebFault::NoPublicHost { .. })));
    assert_eq!(host.asked(), 4, "only the host that is open was asked");
}

/// A resolver that knows no name, in one of the ways in which a system says so.
#[derive(Debug)]
struct NoNames(fn() -> Error);

impl Resolver for NoNames {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        Err(self.0())
    }
}

#[test]
fn a_name_of_the_own_network_looks_like_one_that_does_not_exist() {
    let host = PageHost::with_pages(&[("/", PAGE)]);
    let settings = WebConfig { hosts: vec![HostPattern::Any], timeout: LONG, ..WebConfig::default() };
    let inside = host.fetcher("any", "", |_| ()).fetch("http://printer.corp/", LONG);
    assert!(matches!(inside, Err(WebFault::NoPublicHost { .. })), "{inside:?}");
    let failures: [fn() -> Error; 2] =
        [|| Error::HostNotFound, || Error::Io(std::io::Error::other("failed to lookup address information"))];
    for failure in failures {
        let fetcher = WebFetcher::new(&settings, NoNames(failure), &RootCerts::WebPki);
        assert_eq!(fetcher.fetch("http://printer.corp/", LONG), inside);
    }
    assert_eq!(host.asked(), 0);
}

#[test]
fn a_body_that_is_too_large_endless_compressed_or_no_text_is_refused() {
    let ok = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: ";
    let host = PageHost::new(move |path, stream| match path {
        "/endless" => {
            drop(stream.write_all(format!("{ok}text/plain\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes()));
            while stream.write_all(b"4\r\nxxxx\r\n").is_ok() {}
        }
        "/large" => drop(stream.write_all(format!("{ok}text/plain\r\n\r\n{}", "x".repeat(101)).as_bytes())),
        "/exact" => drop(stream.write_all(format!("{ok}text/plain\r\n\r\n{}", "x".repeat(100)).as_bytes())),
        "/gzip" => drop(stream.write_all(format!("{ok}text/html\r\nContent-Encoding: gzip\r\n\r\nbomb").as_bytes())),
        "/png" => drop(stream.write_all(format!("{ok}image/png\r\n\r\nx").as_bytes())),
        "/untyped" => drop(stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx")),
        "/loop" => drop(stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n")),
        "/garbage" => drop(stream.write_all(b"garbage\r\n\r\n")),
        _ => drop(stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")),
    });
    let fetcher = host.fetcher("", "a.example", |settings| settings.max_bytes = 100);
    let fetch = |path: &str| fetcher.fetch(&format!("http://a.example{path}"), LONG);
    assert_eq!(fetch("/exact").map(|page| page.text.len()), Ok(100));
    for (path, fault) in [
        ("/endless", WebFault::TooLarge { limit: 100 }),
        ("/large", WebFault::TooLarge { limit: 100 }),
        ("/gzip", WebFault::Unsupported { media_type: "gzip".into() }),
        ("/png", WebFault::Unsupported { media_type: "image/png".into() }),
        ("/untyped", WebFault::Unsupported { media_type: "untyped".into() }),
        ("/loop", WebFault::TooManyRedirects),
        ("/garbage", WebFault::Unreachable),
        ("/other", WebFault::Status { status: 500 }),
    ] {
        assert_eq!(fetch(path), Err(fault), "{path}");
    }
}

#[test]
fn a_host_that_is_slow_is_given_up_and_takes_only_its_own_place() {
    let host = PageHost::new(|_, stream| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\nx"));
        // Until the other side gives up.
        drop(stream.read(&mut [0]));
    });
    let fetcher = host.open();
    assert_eq!(fetcher.fetch("http://a.example/", Duration::from_millis(200)), Err(WebFault::TimedOut));
    let places: Vec<_> = std::iter::from_fn(|| RequestPlace::take(&fetcher.running)).collect();
    assert_eq!(places.len(), MOST_AT_ONCE, "a request that ended left its place");
    assert_eq!(fetcher.fetch("http://a.example/", LONG), Err(WebFault::Busy));
}

#[test]
fn the_next_part_is_of_the_same_page_and_few_pages_are_kept() {
    let host = PageHost::new(|path, stream| {
        let body = if path == "/large" { "x".repeat(1_500_000) } else { path.to_owned() };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n";
        drop(stream.write_all(format!("{head}{body}").as_bytes()));
    });
    let fetcher = host.open();
    for _ in 0..3 {
        assert_eq!(fetcher.fetch("http://a.example/a#x", LONG).unwrap().text, "/a");
    }
    assert_eq!(host.asked(), 1);
    for number in 0..kept_answers::MOST_PAGES {
        fetcher.fetch(&format!("http://a.example/{number}"), LONG).unwrap();
    }
    fetcher.fetch("http://a.example/a", LONG).unwrap();
    assert_eq!(host.asked(), kept_answers::MOST_PAGES + 2, "the oldest is fetched again");
    for number in 0..10 {
        fetcher.fetch(&format!("http://b.example/large?{number}"), LONG).unwrap();
    }
    let held = fetcher.kept.lock().page_bytes();
    assert!(held <= kept_answers::MOST_BYTES, "{held}");
}

#[test]
fn a_search_engine_answers_in_json() {
    let host = PageHost::new(|path, stream| {
        let body = match path {
            "/search?q=slate+%26+tiles&format=json" => {
                r#"{"results":[{"url":"https://a.example/","title":"A\n b","content":"  c ","engine":"x"},
                    {"url":"javascript:x()","title":"no"},{"url":"http://b.example/"}],"other":1}"#
            }
            _ => "<html>",
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
        drop(stream.write_all(format!("{head}{body}").as_bytes()));
    });
    let with = |url: Option<String>| host.fetcher("", "", |settings| settings.search_url = url);
    let engine = with(Some(format!("http://{}/search", host.address)));
    let hit = |title: &str, url: &str, excerpt: &str| WebHit {
        title: title.into(),
        url: url.into(),
        excerpt: excerpt.into(),
    };
    let expected = vec![hit("A b", "https://a.example/", "c"), hit("", "http://b.example/", "")];
    assert_eq!(engine.search("slate & tiles", LONG), Ok(expected));
    assert_eq!(engine.search("other", LONG), Err(WebFault::BadEngine));
    assert_eq!(with(None).search("slate", LONG), Err(WebFault::NoEngine));
    assert!(matches!(engine.fetch("http://a.example/", LONG), Err(WebFault::HostNotAllowed { .. })));
}

#[test]
fn tools_without_a_setting_are_off() {
    let open = |hosts: &str, url: Option<&str>| {
        let hosts = hosts.split_whitespace().filter_map(HostPattern::parse).collect();
        WebConfig { hosts, search_url: url.map(str::to_owned), ..WebConfig::default() }
    };
    for (settings, off) in [
        (open("", None), &["web_fetch", "web_clip", "web_search"][..]),
        (open("any", None), &["web_search"]),
        (open("", Some("http://a/")), &["web_fetch", "web_clip"]),
        (open("any", Some("http://a/")), &[]),
    ] {
        let missing: Vec<&str> = WebFetcher::missing_settings(&settings).iter().map(|it| it.needed_by).collect();
        assert_eq!(missing, off);
        assert_eq!(WebFetcher::of(&settings, &|| RootCerts::WebPki).is_some(), off.len() < 3);
    }
}

#[test]
fn a_picture_is_fetched_under_the_rules_of_pages() {
    let host = PageHost::new(|path, stream| {
        let ok = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
        let answer = match path {
            // What it says it is does not matter here; the caller looks at the bytes.
            "/a.png" => format!("{ok}Content-Type: text/html\r\n\r\nGIF89a"),
            "/large.png" => format!("{ok}\r\n{}", "x".repeat(101)),
            "/packed.png" => format!("{ok}Content-Encoding: gzip\r\n\r\nbomb"),
            "/in.png" => {
                "HTTP/1.1 302 Found\r\nLocation: http://rebound.example/\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
            _ => "HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n".to_owned(),
        };
        drop(stream.write_all(answer.as_bytes()));
    });
    let fetcher = host.fetcher("any", "a.example", |settings| settings.max_bytes = 100);
    let fetch = |path: &str| fetcher.fetch_picture(&format!("http://a.example{path}"), LONG);
    for _ in 0..3 {
        assert_eq!(fetch("/a.png").as_deref(), Ok(&b"GIF89a"[..]));
    }
    assert_eq!(host.asked(), 1, "what is approved is what was shown");
    assert!(!host.heads.lock()[0].to_lowercase().contains("svg"), "{:?}", host.heads.lock());
    let none = |url: &str| fetcher.fetch_picture(url, LONG).unwrap_err();
    assert_eq!(fetch("/large.png"), Err(WebFault::TooLarge { limit: 100 }));
    assert_eq!(fetch("/packed.png"), Err(WebFault::Unsupported { media_type: "gzip".into() }));
    assert_eq!(fetch("/in.png"), Err(WebFault::NoPublicHost { host: "rebound.example".into() }));
    assert_eq!(none("http://127.0.0.1/a.png"), WebFault::NoPublicHost { host: "127.0.0.1".into() });
    assert_eq!(none("data:image/png;base64,AAAA"), WebFault::NotAnAddress);
    assert_eq!(none("file:///etc/passwd"), WebFault::NotAnAddress);
}
