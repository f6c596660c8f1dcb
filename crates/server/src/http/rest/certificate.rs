//! The certificate of the REST API: made once, kept in the state folder, and made anew before it expires.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::Path,
};

use lapidary_config::TlsFiles;
use lapidary_vault::store::{REST_CERTIFICATE, REST_KEY, SettingsFile};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType, date_time_ymd};

/// How long a certificate is valid, and how long before its end another is made.
const VALID_DAYS: i64 = 365;
const RENEWED_DAYS: i64 = 30;

/// In front of the certificate, where readers of PEM files skip it.
const EXPIRES: &str = "expires: ";

/// A certificate for this computer.
pub(crate) struct RestCertificate {
    pub(super) files: TlsFiles,
    /// In PEM form.
    pub(super) certificate: String,
    pub(super) valid_days: i64,
}

impl RestCertificate {
    /// The one in the state folder, or a new one.
    pub(crate) fn keep(state: &Path, today: jiff::civil::Date) -> Result<Self, String> {
        let files = TlsFiles { certificate: state.join(REST_CERTIFICATE), key: state.join(REST_KEY) };
        let failed = |error: std::io::Error| format!("the certificate of the REST API cannot be kept: {error}");
        let certificate = SettingsFile::new(&files.certificate).map_err(failed)?;
        let key = SettingsFile::new(&files.key).map_err(failed)?;
        let (known, known_key) = (certificate.read().map_err(failed)?, key.read().map_err(failed)?);
        // The date is kept as text, since reading it from the certificate would need a parser.
        let days_left = |text: &String| {
            let line = text.lines().next()?.strip_prefix(EXPIRES)?;
            let until = today.until(line.trim().parse::<jiff::civil::Date>().ok()?).ok()?;
            Some(i64::from(until.get_days()))
        };
        // Both files: one without the other cannot be used.
        if let (Some(known), Some(_)) = (&known, &known_key)
            && let Some(valid_days) = days_left(known).filter(|days| *days > RENEWED_DAYS)
        {
            return Ok(Self { files, certificate: pem_of(known), valid_days });
        }
        let expires = today.saturating_add(jiff::Span::new().days(VALID_DAYS));
        let (new, new_key) = made(today, expires)?;
        let date = today.to_string();
        // The key first: a certificate without its key would stop the next start.
        key.replace(known_key.as_deref(), &new_key, &date).map_err(failed)?;
        certificate.replace(known.as_deref(), &format!("{EXPIRES}{expires}\n{new}"), &date).map_err(failed)?;
        Ok(Self { files, certificate: new, valid_days: VALID_DAYS })
    }
}

fn pem_of(text: &str) -> String {
    text.find("-----BEGIN").map_or_else(String::new, |at| text[at..].to_owned())
}

/// A certificate that signs itself, and its key, both in PEM form.
fn made(today: jiff::civil::Date, expires: jiff::civil::Date) -> Result<(String, String), String> {
    let failed = |error: rcgen::Error| format!("the certificate of the REST API cannot be made: {error}");
    let localhost = "localhost".try_into().map_err(failed)?;
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "Obsidian Local REST API");
    // All names under which programs reach this computer.
    params.subject_alt_names = vec![
        SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        SanType::IpAddress(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        SanType::DnsName(localhost),
    ];
    let day = |date: jiff::civil::Date| {
        let part = |part: i8| u8::try_from(part).unwrap_or(1);
        date_time_ymd(i32::from(date.year()), part(date.month()), part(date.day()))
    };
    // A day earlier, so that it is valid at once in every time zone.
    params.not_before = day(today.saturating_sub(jiff::Span::new().days(1)));
    params.not_after = day(expires);
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?;
    Ok((certificate.pem(), key.serialize_pem()))
}
