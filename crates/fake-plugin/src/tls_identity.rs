//! The certificate of the plugin.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use rustls::{
    ALL_VERSIONS, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};

use crate::FakeVersion;

pub(crate) struct TlsIdentity {
    pub(crate) config: Arc<ServerConfig>,
    /// What a client is told to believe, in PEM form.
    pub(crate) pinned: String,
}

impl TlsIdentity {
    /// Up to version 5 one certificate that is an authority, too, and signs itself; then one for the server, signed by an
    /// authority that the plugin made.
    pub(crate) fn new(version: FakeVersion) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = params(true);
        if version < FakeVersion::V6 {
            params.subject_alt_names = vec![SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST))];
            let own = params.self_signed(&key).expect("a certificate");
            return Self { config: config(own.der().clone(), &key), pinned: own.pem() };
        }
        let authority = params.self_signed(&key).expect("a certificate");
        // The authority's key is not kept, so a renewal makes another one.
        let issuer = Issuer::from_params(&params, &key);
        let server_key = KeyPair::generate().expect("a key");
        let mut server = self::params(false);
        server.subject_alt_names = vec![SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST))];
        let server = server.signed_by(&server_key, &issuer).expect("a certificate");
        Self { config: config(server.der().clone(), &server_key), pinned: authority.pem() }
    }
}

fn params(is_authority: bool) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Obsidian Local REST API");
    if is_authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    params
}

fn config(certificate: CertificateDer<'static>, key: &KeyPair) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(ALL_VERSIONS)
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate and its key");
    Arc::new(config)
}
