//! Pages over TLS, from a host with a certificate of an authority that only the test knows.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use lapidary_config::HostPattern;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use ureq::tls::Certificate;

use super::{tests::TestNames, *};
use crate::trusted_roots::trusted_roots;

const LONG: Duration = Duration::from_secs(60);

/// An authority of this test.
pub(crate) struct TestAuthority {
    issuer: Issuer<'static, KeyPair>,
    certificate: Vec<u8>,
    pem: String,
}

impl TestAuthority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let signed = params.self_signed(&key).unwrap();
        let (certificate, pem) = (signed.der().to_vec(), signed.pem());
        Self { issuer: Issuer::new(params, key), certificate, pem }
    }

    /// A certificate for a name that is valid until the end of a year, and its key.
    pub(crate) fn certificate(&self, name: &str, until: i32) -> (Vec<u8>, Vec<u8>) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(until, 12, 31));
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().der().to_vec(), key.serialize_der())
    }

    /// A file with the certificate, as an owner has it.
    pub(crate) fn file(&self) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "# An authority of the test\n{}", self.pem).unwrap();
        file
    }

    fn roots(&self) -> RootCerts {
        RootCerts::new_with_certs(&[Certificate::from_der(&self.certificate).to_owned()])
    }
}

/// A host with a certificate that answers every request alike.
pub(crate) fn host((certificate, key): (Vec<u8>, Vec<u8>), answer: &'static str) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![CertificateDer::from(certificate)], key).unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            drop(stream.write_all(answer.as_bytes()));
            stream.conn.send_close_notify();
            drop(stream.flush());
        }
    });
    address
}

/// A fetcher that believes these authorities, for which every name leads to this address.
fn fetcher(address: SocketAddr, roots: &RootCerts) -> WebFetcher {
    let private_hosts = ["a.example", "b.example"].iter().filter_map(|host| HostPattern::parse(host)).collect();
    let settings = WebConfig { private_hosts, timeout: LONG, ..WebConfig::default() };
    WebFetcher::new(&settings, TestNames(vec![address]), roots)
}

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>Hello";

#[test]
fn a_page_comes_over_tls_only_from_the_host_that_was_meant() {
    let (authority, stranger) = (TestAuthority::new(), TestAuthority::new());
    for (certificate, roots, url, is_read) in [
        (authority.certificate("a.example", 2090), authority.roots(), "https://a.example/", true),
        // The name of another host, a certificate of the past, and an unknown authority.
        (authority.certificate("a.example", 2090), authority.roots(), "https://b.example/", false),
        (authority.certificate("a.example", 2020), authority.roots(), "https://a.example/", false),
        (stranger.certificate("a.example", 2090), authority.roots(), "https://a.example/", false),
        (authority.certificate("a.example", 2090), RootCerts::WebPki, "https://a.example/", false),
    ] {
        let fetched = fetcher(host(certificate, PAGE), &roots).fetch(url, LONG);
        let expected = if is_read { Ok("<p>Hello".to_owned()) } else { Err(WebFault::Unreachable) };
        assert_eq!(fetched.map(|page| page.text), expected, "{url}");
    }
}

#[test]
fn a_redirect_never_leads_from_tls_to_plain_text() {
    let authority = TestAuthority::new();
    for (answer, fault) in [
        ("HTTP/1.1 302 Found\r\nLocation: http://a.example/\r\nContent-Length: 0\r\n\r\n", WebFault::Downgraded),
        ("HTTP/1.1 308 Moved\r\nLocation: http://b.example/\r\nContent-Length: 0\r\n\r\n", WebFault::Downgraded),
        ("HTTP/1.1 302 Found\r\nLocation: ftp://a.example/\r\nContent-Length: 0\r\n\r\n", WebFault::Misdirected),
        // To another name, whose certificate this is not.
        ("HTTP/1.1 302 Found\r\nLocation: //b.example/\r\nContent-Length: 0\r\n\r\n", WebFault::Unreachable),
    ] {
        let address = host(authority.certificate("a.example", 2090), answer);
        let fetched = fetcher(address, &authority.roots()).fetch("https://a.example/", LONG);
        assert_eq!(fetched.map(|page| page.text), Err(fault), "{answer}");
    }
}

#[test]
fn a_file_with_authorities_counts_in_place_of_those_in_the_program() {
    let (authority, stranger) = (TestAuthority::new(), TestAuthority::new());
    let (file, other) = (authority.file(), stranger.file());
    for (file, is_read) in [(file.path(), true), (other.path(), false)] {
        let roots = trusted_roots(Some(file)).unwrap();
        let fetched =
            fetcher(host(authority.certificate("a.example", 2090), PAGE), &roots).fetch("https://a.example/", LONG);
        assert_eq!(fetched.is_ok(), is_read);
    }
    let broken = tempfile::NamedTempFile::new().unwrap();
    let problem = trusted_roots(Some(broken.path())).unwrap_err();
    assert!(problem.contains("SSL_CERT_FILE") && problem.contains("no certificate"), "{problem}");
}
