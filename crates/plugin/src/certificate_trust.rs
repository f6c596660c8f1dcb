//! Which certificate is believed. The plugin signs its own, so that one certificate is pinned.

use std::{
    fmt,
    io::{Read, Write},
    sync::Arc,
};

use rustls::{
    ALL_VERSIONS, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme, StreamOwned,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use ureq::{
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{
            Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport, TransportAdapter,
        },
    },
};

/// Which certificates of an `https` address are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateTrust {
    /// Those that the public authorities vouch for.
    Public,
    /// This one, byte for byte, or one that it signed for the host's name. In DER form.
    Pinned(Vec<u8>),
    /// Any, because the owner said so. Only for an address of this computer: elsewhere none is believed.
    AnyOnThisComputer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no certificate in it")]
pub struct TrustError;

impl CertificateTrust {
    /// Pins the first certificate of a PEM file, or the one of a DER file.
    pub fn pinned(file: &[u8]) -> Result<Self, TrustError> {
        let der = match CertificateDer::from_pem_slice(file) {
            Ok(certificate) => certificate.to_vec(),
            // The form of DER: a sequence whose length follows.
            Err(_) if file.starts_with(&[0x30, 0x82]) => file.to_vec(),
            Err(_) => return Err(TrustError),
        };
        Ok(Self::Pinned(der))
    }
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    // Given explicitly: none is installed as the default of the process.
    Arc::new(aws_lc_rs::default_provider())
}

/// Makes TLS connections that believe only the pinned certificate.
pub(crate) struct PinnedTls(Arc<ClientConfig>);

impl PinnedTls {
    pub(crate) fn new(certificate: &[u8]) -> Result<Self, TrustError> {
        let provider = provider();
        let pinned = CertificateDer::from(certificate.to_vec());
        let mut roots = RootCertStore::empty();
        // One that is not an authority, or is too old for the parser, is still compared byte for byte.
        let signed_by_it = roots.add(pinned.clone()).ok().and_then(|()| {
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
            verifier.build().ok()
        });
        let verifier = PinVerifier { pinned, signed_by_it, provider: Arc::clone(&provider) };
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(ALL_VERSIONS)
            .map_err(|_| TrustError)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

impl fmt::Debug for PinnedTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedTls").finish_non_exhaustive()
    }
}

/// The certificate that is expected. Who has its key is the one that showed it before, whatever name it is for and
/// however old it is: the plugin's are often both wrong.
#[derive(Debug)]
struct PinVerifier {
    pinned: CertificateDer<'static>,
    signed_by_it: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // Byte for byte, and the handshake proves that the other side has its key.
        if end_entity.as_ref() == self.pinned.as_ref() {
            return Ok(ServerCertVerified::assertion());
        }
        let Some(signed) = &self.signed_by_it else {
            return Err(CertificateError::UnknownIssuer.into());
        };
        // A certificate that was signed by the pinned one is checked as usual, with its name and its time.
        signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<In: Transport> Connector<In> for PinnedTls {
    type Out = Either<In, PinnedTransport>;

    fn connect(&self, details: &ConnectionDetails<'_>, below: Option<In>) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(below) = below else { return Ok(None) };
        // Plain HTTP passes through unchanged.
        if !details.needs_tls() {
            return Ok(Some(Either::A(below)));
        }
        let host = details.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned()).map_err(|_| ureq::Error::HostNotFound)?;
        let mut connection = ClientConnection::new(Arc::clone(&self.0), name)?;
        let mut socket = TransportAdapter::new(below.boxed(), Arc::clone(&details.current_time));
        socket.set_timeout(details.timeout);
        // The handshake is done here, so that a rejected certificate is an error of the connection and not of the first
        // read.
        connection.complete_io(&mut socket)?;
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(PinnedTransport { buffers, stream: StreamOwned::new(connection, socket) })))
    }
}

pub(crate) struct PinnedTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for PinnedTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        // No bytes are the end of the stream.
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for PinnedTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedTransport").finish_non_exhaustive()
    }
}

/// Names that lead only to this computer: what is not encrypted for one receiver must not leave it.
#[derive(Debug, Default)]
pub(crate) struct ThisComputer(DefaultResolver);

impl Resolver for ThisComputer {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        // All of them: a name with one public address could lead out.
        let is_here = found.iter().all(|address| address.ip().to_canonical().is_loopback());
        if is_here { Ok(found) } else { Err(ureq::Error::Tls("only certificates of this computer are not checked")) }
    }
}
