//! From a raw value to a typed one.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use lapidary_pipeline::RuleDecision;
use lapidary_vault::SourceMark;

use super::address_range::AddressRange;
use super::model::{AllowedOrigins, ApprovalConfig, PublicUrl};
use super::raw::RawValue;
use super::refused::ConfigRefusal;
use super::rules::rules;

/// A day, in milliseconds.
const LONGEST_LIMIT: u64 = 24 * 60 * 60 * 1000;

/// Paths at which the HTTP server answers something else.
const RESERVED_PATHS: &[&str] = &[
    "/",
    "/healthz",
    "/metrics",
    "/robots.txt",
    "/sse",
    "/messages",
    "/authorize",
    "/authorize.css",
    "/token",
    "/register",
    "/revoke",
];

/// What the paths begin with at which pages and documents are.
const RESERVED_FOLDERS: &[&str] = &["/assets", "/.well-known"];

/// Keys of the approval table that are not effects.
const RULES_KEY: &str = "rules";

pub(super) const DECISIONS: &[(&str, RuleDecision)] =
    &[("allow", RuleDecision::Allow), ("ask", RuleDecision::Ask), ("deny", RuleDecision::Deny)];

pub(super) fn toggle(raw: &RawValue) -> Result<bool, ConfigRefusal> {
    let value = raw.text()?;
    match value.to_ascii_lowercase().as_str() {
        // All that other servers take, whose set-ups continue to work.
        "true" | "1" | "yes" | "on" | "y" | "enabled" => Ok(true),
        "false" | "0" | "no" | "off" | "n" | "disabled" => Ok(false),
        _ => Err(ConfigRefusal::NotBoolean { value: value.to_owned() }),
    }
}

pub(super) fn number<T: FromStr + PartialOrd + Display>(
    raw: &RawValue,
    allowed: RangeInclusive<T>,
) -> Result<T, ConfigRefusal> {
    let value = raw.text()?;
    value.parse().ok().filter(|number| allowed.contains(number)).ok_or_else(|| ConfigRefusal::NotNumber {
        value: value.to_owned(),
        least: allowed.start().to_string(),
        most: allowed.end().to_string(),
    })
}

pub(super) fn milliseconds(raw: &RawValue, allowed: RangeInclusive<u64>) -> Result<Duration, ConfigRefusal> {
    number(raw, allowed).map(Duration::from_millis)
}

/// One of a few words, in any case.
pub(super) fn word<T: Copy>(raw: &RawValue, words: &[(&'static str, T)]) -> Result<T, ConfigRefusal> {
    one_of(raw.text()?, words)
}

pub(super) fn one_of<T: Copy>(value: &str, words: &[(&'static str, T)]) -> Result<T, ConfigRefusal> {
    // All words are accepted in any case; the refusal lists them as they are documented.
    words.iter().find(|(word, _)| word.eq_ignore_ascii_case(value)).map(|&(_, meaning)| meaning).ok_or_else(|| {
        ConfigRefusal::NotOneOf { value: value.to_owned(), allowed: words.iter().map(|&(word, _)| word).collect() }
    })
}

pub(super) fn names(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    Ok(raw.entries(',')?.into_iter().map(str::to_owned).collect())
}

/// Plain names: a path or a pattern would match nothing.
pub(super) fn folder_names(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    let names = names(raw)?;
    match names.iter().find(|name| name.contains(['/', '\\', '*'])) {
        Some(name) => Err(ConfigRefusal::NotFolderName { value: name.clone() }),
        None => Ok(names),
    }
}

/// Marks of notes that are sources, like `#source` and `status=final`.
pub(super) fn source_marks(raw: &RawValue) -> Result<Vec<SourceMark>, ConfigRefusal> {
    let refused = |written: &String| ConfigRefusal::NotMark { value: written.clone() };
    names(raw)?.iter().map(|written| SourceMark::parse(written).ok_or_else(|| refused(written))).collect()
}

/// The address of a host; names other than `localhost` could be any computer.
pub fn host(written: &str) -> Option<IpAddr> {
    if written.eq_ignore_ascii_case("localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    // IPv6 addresses are written in brackets in URLs.
    let bare = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(written);
    bare.parse().ok()
}

pub(super) fn address(raw: &RawValue) -> Result<IpAddr, ConfigRefusal> {
    let value = raw.text()?;
    host(value).ok_or_else(|| ConfigRefusal::NotHost { value: value.to_owned() })
}

/// A path that the router can serve; braces and stars would be patterns to it.
pub(super) fn endpoint(raw: &RawValue) -> Result<String, ConfigRefusal> {
    let value = raw.text()?;
    // Owners write it with and without a slash at the end.
    let path = value.trim_end_matches('/');
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let segment_ok = |segment: &str| !matches!(segment, "" | "." | "..") && segment.chars().all(plain);
    let served = path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(segment_ok));
    let is_below =
        |folder: &&str| path.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    // The endpoint would hide these.
    if served && !RESERVED_PATHS.contains(&path) && !RESERVED_FOLDERS.iter().any(is_below) {
        Ok(path.to_owned())
    } else {
        Err(ConfigRefusal::NotEndpoint { value: value.to_owned(), reserved: RESERVED_PATHS })
    }
}

/// How long something may take; 0 is without end.
pub(super) fn limit(raw: &RawValue) -> Result<Option<Duration>, ConfigRefusal> {
    let written = number(raw, 0..=LONGEST_LIMIT)?;
    Ok((written > 0).then(|| Duration::from_millis(written)))
}

/// All of a million.
pub(super) const WHOLE_SHARE: u32 = 1_000_000;

/// A number from 0 to 1, as parts of a million.
pub(super) fn share(text: &str) -> Result<u32, ConfigRefusal> {
    let refused = || ConfigRefusal::NotShare { value: text.to_owned() };
    let share: f64 = text.parse().map_err(|_| refused())?;
    // Not a number is not in the range either.
    if !(0.0..=1.0).contains(&share) {
        return Err(refused());
    }
    // Rounded, because few decimal fractions are exact as floats.
    Ok((share * f64::from(WHOLE_SHARE)).round() as u32)
}

/// Where the world reaches the server: an origin, so that every address on it is known.
pub(super) fn public_url(raw: &RawValue) -> Result<PublicUrl, ConfigRefusal> {
    let value = raw.text()?;
    let origin = value.trim_end_matches('/').to_ascii_lowercase();
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://")).unwrap_or_default();
    // Compared with the `Host` header, which has neither path nor user.
    if host.is_empty() || host.contains(['/', '?', '#', '@', '*', ' ']) {
        return Err(ConfigRefusal::NotPublicUrl { value: value.to_owned() });
    }
    Ok(PublicUrl { host: host.to_owned(), origin })
}

/// The address of another issuer, or of its keys. Over plain HTTP another computer on the way could send its own keys.
pub(super) fn issuer_url(raw: &RawValue) -> Result<String, ConfigRefusal> {
    let value = raw.text()?;
    let rest = value.strip_prefix("https://").or_else(|| {
        let rest = value.strip_prefix("http://")?;
        // Only names that cannot be another computer; a name in the hosts file could be.
        let local = ["localhost", "127.0.0.1", "[::1]"];
        local
            .iter()
            .any(|name| rest.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/'])))
            .then_some(rest)
    });
    let is_plain = |rest: &&str| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(['#', '@', '*', ' ']);
    rest.filter(is_plain)
        .map(|_| value.to_owned())
        .ok_or_else(|| ConfigRefusal::NotIssuerUrl { value: value.to_owned() })
}

/// Origins, schemes with their colon, and `loopback`.
pub(super) fn redirect_places(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    let place = |entry: &str| {
        let entry = entry.trim_end_matches('/').to_ascii_lowercase();
        // Only `https`: the code that is sent there lets a program in.
        let is_origin =
            entry.strip_prefix("https://").is_some_and(|host| !host.is_empty() && !host.contains(['/', '*', '@']));
        // Programs register a scheme, such as `cursor:`, that brings a browser back to them.
        let is_scheme =
            entry.strip_suffix(':').is_some_and(|scheme| !scheme.is_empty() && !scheme.contains([':', '/', '*']));
        let is_place = is_origin || is_scheme || entry == "loopback";
        if is_place { Ok(entry) } else { Err(ConfigRefusal::NotRedirectPlace { value: entry }) }
    };
    raw.entries(',')?.into_iter().map(place).collect()
}

/// Names and addresses under which the server may be called, with or without a port.
pub(super) fn hosts(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    let hosts: Vec<String> = raw.entries(',')?.into_iter().map(str::to_ascii_lowercase).collect();
    match hosts.iter().find(|host| host.contains(['/', '*', '@', '?', '#', ' '])) {
        Some(host) => Err(ConfigRefusal::NotHostName { value: host.clone() }),
        None => Ok(hosts),
    }
}

pub(super) fn address_ranges(raw: &RawValue) -> Result<Vec<AddressRange>, ConfigRefusal> {
    let range = |entry: &str| entry.parse().map_err(|_| ConfigRefusal::NotAddressRange { value: entry.to_owned() });
    raw.entries(',')?.into_iter().map(range).collect()
}

pub(super) fn origins(raw: &RawValue) -> Result<AllowedOrigins, ConfigRefusal> {
    let mut listed = Vec::new();
    for entry in raw.entries(',')? {
        if entry == "*" {
            // Whatever else is listed is included.
            return Ok(AllowedOrigins::Any);
        }
        // Browsers send origins in lower case without a trailing slash.
        let origin = entry.trim_end_matches('/').to_ascii_lowercase();
        let (scheme, host) = origin.split_once("://").unwrap_or_default();
        if scheme.is_empty() || host.is_empty() || host.contains(['/', '*', '?', '#', '@']) {
            return Err(ConfigRefusal::NotOrigin { value: entry.to_owned() });
        }
        listed.push(origin);
    }
    Ok(if listed.is_empty() { AllowedOrigins::Loopback } else { AllowedOrigins::Listed(listed) })
}

/// `write=ask,destroy=deny`, or a table of the same, which may have rules too; effects that are not named are
/// unchanged.
pub(super) fn approval(before: ApprovalConfig, raw: &RawValue) -> Result<ApprovalConfig, ConfigRefusal> {
    let mut approval = before;
    if let RawValue::Table(pairs) = raw
        && let Some((_, rules_of_table)) = pairs.iter().find(|(key, _)| key == RULES_KEY)
    {
        // Rules of the table replace those of a weaker source as a whole: an order mixed from two sources would
        // surprise.
        approval.rules = rules(rules_of_table)?;
    }
    for (effect, decision) in approval_pairs(raw)? {
        // Effects one by one, so that a file and a variable may each set one of them.
        let decision = one_of(decision, DECISIONS)?;
        match effect {
            "write" => approval.write = decision,
            "destroy" => approval.destroy = decision,
            other => {
                return Err(ConfigRefusal::NotOneOf {
                    value: other.to_owned(),
                    allowed: vec!["write", "destroy", RULES_KEY],
                });
            }
        }
    }
    Ok(approval)
}

fn approval_pairs(raw: &RawValue) -> Result<Vec<(&str, &str)>, ConfigRefusal> {
    if let RawValue::Table(pairs) = raw {
        let effects = pairs.iter().filter(|(key, _)| key != RULES_KEY);
        return effects.map(|(effect, decision)| Ok((effect.as_str(), decision.text()?))).collect();
    }
    raw.entries(',')?.into_iter().map(approval_pair).collect()
}

fn approval_pair(entry: &str) -> Result<(&str, &str), ConfigRefusal> {
    let (effect, decision) =
        entry.split_once('=').ok_or_else(|| ConfigRefusal::NotApproval { value: entry.to_owned() })?;
    Ok((effect.trim(), decision.trim()))
}

/// An address of the web that may have a path, without a query: the caller's is added to it.
pub(super) fn web_url(raw: &RawValue) -> Result<String, ConfigRefusal> {
    let value = raw.text()?.trim();
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    let is_plain =
        |rest: &str| !rest.is_empty() && !rest.starts_with(['/', ':']) && !rest.contains(['?', '#', '@', ' ']);
    match rest.is_some_and(is_plain) {
        true => Ok(value.to_owned()),
        false => Err(ConfigRefusal::NotWebUrl { value: value.to_owned() }),
    }
}
