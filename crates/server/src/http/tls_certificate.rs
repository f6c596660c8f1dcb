//! TLS with the certificate files of the owner, which are read again when they change.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lapidary_config::TlsFiles;
use lapidary_note::ContentHash;
use lapidary_vault::store;
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    version::{TLS12, TLS13},
};
use tokio::{
    net::TcpStream,
    sync::{Semaphore, watch},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// How often the files are read: two small ones, by which a renewed certificate is noticed soon enough.
const LOOK_AGAIN: Duration = Duration::from_secs(3);
/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How many may be under way: each costs a signature, which a client that never answers would make us pay for.
const MAX_HANDSHAKES: usize = 64;

#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{}: there is no certificate in PEM form", .0.display())]
    NoCertificate(PathBuf),
    #[error("{}: there is no private key in PEM form", .0.display())]
    NoKey(PathBuf),
    #[error("the certificate and its key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

/// The certificate in force.
#[derive(Clone)]
pub(super) struct TlsCertificate {
    current: watch::Receiver<Arc<ServerConfig>>,
    handshakes: Arc<Semaphore>,
}

impl TlsCertificate {
    /// Reads the files, and from then on keeps looking at them. What cannot be used later leaves the last in force.
    pub(super) fn start(files: &TlsFiles) -> Result<Self, TlsError> {
        let first = PemPair::read(files)?;
        let (sender, current) = watch::channel(first.config(files)?);
        tokio::spawn(keep_current(files.clone(), first, sender));
        Ok(Self { current, handshakes: Arc::new(Semaphore::new(MAX_HANDSHAKES)) })
    }

    /// The connection as a client that we agreed with on keys sees it; `None` if it is not worth waiting for.
    pub(super) async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        // Refused rather than queued: a client in a queue would wait behind those that never answer.
        let _place = Arc::clone(&self.handshakes).try_acquire_owned().ok()?;
        let acceptor = TlsAcceptor::from(Arc::clone(&self.current.borrow()));
        match tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(kind = ?error.kind(), "a TLS handshake failed");
                None
            }
            Err(_) => None,
        }
    }
}

async fn keep_current(files: TlsFiles, mut known: PemPair, current: watch::Sender<Arc<ServerConfig>>) {
    let mut looks = tokio::time::interval(LOOK_AGAIN);
    while !current.is_closed() {
        looks.tick().await;
        let reading = files.clone();
        // The disk may be slow, and this thread serves clients.
        let Ok(Ok(found)) = tokio::task::spawn_blocking(move || PemPair::read(&reading)).await else { continue };
        if found.digest == known.digest {
            continue;
        }
        // While the two files are being replaced, they may not fit; they will at the next look.
        match found.config(&files) {
            Ok(config) => {
                current.send_replace(config);
                tracing::info!("the TLS certificate was read again");
            }
            Err(error) => tracing::warn!("the changed TLS certificate is not used: {error}"),
        }
        // Also if it cannot be used, so that the warning comes once for each change and not every few seconds.
        known = found;
    }
}

/// The text of both files.
struct PemPair {
    certificate: String,
    key: String,
    digest: (ContentHash, ContentHash),
}

impl PemPair {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let read =
            |path: &Path| store::read_settings(path).map_err(|error| TlsError::File { path: path.to_owned(), error });
        let (certificate, key) = (read(&files.certificate)?, read(&files.key)?);
        let digest = (ContentHash::of(certificate.as_bytes()), ContentHash::of(key.as_bytes()));
        Ok(Self { certificate, key, digest })
    }

    fn config(&self, files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
        let no_certificate = || TlsError::NoCertificate(files.certificate.clone());
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(self.certificate.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|_| no_certificate())?;
        if chain.is_empty() {
            return Err(no_certificate());
        }
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(|_| TlsError::NoKey(files.key.clone()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&[&TLS13, &TLS12])?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        // Said outright, so that a client that would rather have HTTP/2 does not try it.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}
