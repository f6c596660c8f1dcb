//! What is fetched, and what is not. The host is a program of this test with its own certificate: names and roots come
//! from here, never from a setting.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use ureq::{
    config::Config,
    http::Uri,
    tls::Certificate,
    unversioned::{resolver::ResolvedSocketAddrs, transport::NextTimeout},
};

use super::*;

/// For `app.example`, `claude.ai` and `chatgpt.com`.
const CERTIFICATE: &[u8] = include_bytes!("test-certificate.der");
const KEY: &[u8] = include_bytes!("test-key.der");

/// A host that gives every request the same answer.
pub(in crate::http::oauth) struct FakeHost {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl FakeHost {
    /// `answer` is everything from the status line on.
    pub(in crate::http::oauth) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |stream| {
            drop(stream.write_all(&answer));
            drop(stream.flush());
        })
    }

    pub(in crate::http::oauth) fn with_json(json: &str, headers: &str) -> Self {
        let length = json.len();
        Self::answering(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}Connection: close\r\n\r\n{json}"
        ))
    }

    /// One whose document changes.
    pub(in crate::http::oauth) fn with_changing_json(json: Arc<parking_lot::Mutex<String>>) -> Self {
        Self::new(move |stream| {
            let json = json.lock().clone();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ";
            drop(stream.write_all(format!("{head}{}\r\n\r\n{json}", json.len()).as_bytes()));
            drop(stream.flush());
        })
    }

    fn new(answer: impl Fn(&mut dyn Write) + Send + 'static) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY.to_vec()));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(CERTIFICATE.to_vec())], key)
            .unwrap();
        let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counter.fetch_add(1, Ordering::SeqCst);
                let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.push(byte[0]);
                }
                answer(&mut stream);
                stream.conn.send_close_notify();
                drop(stream.flush());
            }
        });
        Self { address, asked }
    }

    /// How many connections there were.
    pub(in crate::http::oauth) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// A fetch for which every name leads to this host.
    pub(in crate::http::oauth) fn fetch(&self) -> OutgoingFetch {
        self.fetch_within(Duration::from_secs(20))
    }

    fn fetch_within(&self, timeout: Duration) -> OutgoingFetch {
        let roots = RootCerts::new_with_certs(&[Certificate::from_der(CERTIFICATE).to_owned()]);
        OutgoingFetch::new(FixedAddress(vec![self.address]), roots, timeout)
    }
}

/// Every name leads to these.
#[derive(Debug)]
struct FixedAddress(Vec<SocketAddr>);

impl Resolver for FixedAddress {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut all = self.empty();
        self.0.iter().for_each(|address| all.push(*address));
        Ok(all)
    }
}

const URL: &str = "https://app.example/client.json";

#[test]
fn a_document_is_fetched_over_tls_and_may_say_how_long_it_is_good() {
    let host = FakeHost::with_json("{\"a\":1}", "Cache-Control: public, max-age=77\r\n");
    let fetched = host.fetch().get(URL, 100).unwrap();
    assert_eq!((fetched.bytes.as_slice(), fetched.max_age), (&b"{\"a\":1}"[..], Some(Duration::from_secs(77))));
    assert!(host.fetch().get("https://other.example/client.json", 100).is_err(), "the certificate is for another name");
    let strangers = OutgoingFetch::new(FixedAddress(vec![host.address]), RootCerts::WebPki, Duration::from_secs(20));
    assert!(strangers.get(URL, 100).is_err(), "no authority vouches for the certificate");
}

#[test]
fn an_answer_that_leads_elsewhere_is_too_large_or_is_not_json_is_refused() {
    let with = |answer: &str| FakeHost::answering(answer.to_owned()).fetch().get(URL, 100).map(|_| ());
    for (answer, what) in [
        ("HTTP/1.1 302 Found\r\nLocation: https://app.example/x\r\nContent-Length: 0\r\n\r\n", "a redirect"),
        ("HTTP/1.1 301 Moved\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", "a redirect inside"),
        ("HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", "a challenge"),
        ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n{}", "a page"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "no type"),
        ("garbage\r\n\r\n", "not HTTP"),
    ] {
        assert!(with(answer).is_err(), "{what}");
    }
    let large = "x".repeat(101);
    assert!(FakeHost::with_json(&large, "").fetch().get(URL, 100).is_err(), "one byte too many");
    let endless = FakeHost::new(|stream| {
        drop(
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"),
        );
        while stream.write_all(b"4\r\nxxxx\r\n").is_ok() && stream.flush().is_ok() {}
    });
    assert!(endless.fetch().get(URL, 100).is_err(), "without end");
}

#[test]
fn a_host_that_does_not_answer_is_given_up() {
    let slow = FakeHost::new(|stream| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"));
        drop(stream.flush());
        std::thread::sleep(Duration::from_secs(60));
    });
    let error = slow.fetch_within(Duration::from_millis(300)).get(URL, 100).unwrap_err();
    assert!(error.to_string().contains("timeout"), "{error}");
}

#[test]
fn a_name_that_leads_to_a_private_address_is_not_followed() {
    let host = FakeHost::with_json("{}", "");
    let fetch = |addresses: Vec<SocketAddr>| {
        let roots = RootCerts::new_with_certs(&[Certificate::from_der(CERTIFICATE).to_owned()]);
        OutgoingFetch::new(PublicAddresses::new(FixedAddress(addresses), Vec::new()), roots, Duration::from_secs(2))
            .get(URL, 100)
    };
    assert!(matches!(fetch(vec![host.address]), Err(FetchError::Unreachable(ureq::Error::Other(_)))));
    let public = "93.184.216.34:443".parse().unwrap();
    // The private one comes last, where only a look at all of them finds it.
    assert!(matches!(fetch(vec![public, host.address]), Err(FetchError::Unreachable(ureq::Error::Other(_)))));
    assert_eq!(host.asked(), 0);
}
