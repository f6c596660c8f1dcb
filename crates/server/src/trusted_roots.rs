//! Which authorities are believed when the server asks others: those in the program, or those of the owner's file.

use std::path::Path;

use lapidary_vault::store;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use ureq::tls::{Certificate, RootCerts};

/// The authorities to believe. With a file, only those in it count, as with other programs that read `SSL_CERT_FILE`.
pub(crate) fn trusted_roots(file: Option<&Path>) -> Result<RootCerts, String> {
    let Some(path) = file else { return Ok(RootCerts::WebPki) };
    let failed = |problem: &dyn std::fmt::Display| {
        format!("the certificates of web.authorities (SSL_CERT_FILE) cannot be used: {}: {problem}", path.display())
    };
    let bytes = store::read_certificates(path).map_err(|error| failed(&error))?;
    // A bundle may also have entries that are not certificates.
    let certificates: Vec<Certificate<'static>> = CertificateDer::pem_slice_iter(&bytes)
        .flatten()
        .map(|certificate| Certificate::from_der(&certificate).to_owned())
        .collect();
    if certificates.is_empty() {
        return Err(failed(&"there is no certificate in PEM form"));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

/// The same for a server, which does not stay away because of a file: a variable may be older than the set-up.
pub(crate) fn usable_roots(file: Option<&Path>) -> RootCerts {
    trusted_roots(file).unwrap_or_else(|problem| {
        tracing::warn!("{problem}; those in the program are used");
        RootCerts::WebPki
    })
}
