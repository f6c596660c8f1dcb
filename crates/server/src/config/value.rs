//! From a raw value to a typed one.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use lapidary_pipeline::RuleDecision;

use super::model::{AllowedOrigins, ApprovalConfig};
use super::raw::RawValue;
use super::refused::ConfigRefusal;
use super::rules::rules;

/// Paths that the HTTP server uses for something else.
const RESERVED: &[&str] = &["/", "/healthz"];

/// Keys of the approval table that are not effects.
const RULES: &str = "rules";

pub(super) const DECISIONS: &[(&str, RuleDecision)] =
    &[("allow", RuleDecision::Allow), ("ask", RuleDecision::Ask), ("deny", RuleDecision::Deny)];

pub(super) fn toggle(raw: &RawValue) -> Result<bool, ConfigRefusal> {
    let value = raw.text()?;
    match value.to_ascii_lowercase().as_str() {
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

/// The address of a host; names other than `localhost` could be any computer.
pub(crate) fn host(written: &str) -> Option<IpAddr> {
    if written.eq_ignore_ascii_case("localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
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
    let path = value.trim_end_matches('/');
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let segment_ok = |segment: &str| !matches!(segment, "" | "." | "..") && segment.chars().all(plain);
    let served = path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(segment_ok));
    if served && !RESERVED.contains(&path) {
        Ok(path.to_owned())
    } else {
        Err(ConfigRefusal::NotEndpoint { value: value.to_owned(), reserved: RESERVED })
    }
}

pub(super) fn origins(raw: &RawValue) -> Result<AllowedOrigins, ConfigRefusal> {
    let mut listed = Vec::new();
    for entry in raw.entries(',')? {
        if entry == "*" {
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
        && let Some((_, rules_of_table)) = pairs.iter().find(|(key, _)| key == RULES)
    {
        approval.rules = rules(rules_of_table)?;
    }
    for (effect, decision) in approval_pairs(raw)? {
        let decision = one_of(decision, DECISIONS)?;
        match effect {
            "write" => approval.write = decision,
            "destroy" => approval.destroy = decision,
            other => {
                return Err(ConfigRefusal::NotOneOf {
                    value: other.to_owned(),
                    allowed: vec!["write", "destroy", RULES],
                });
            }
        }
    }
    Ok(approval)
}

fn approval_pairs(raw: &RawValue) -> Result<Vec<(&str, &str)>, ConfigRefusal> {
    if let RawValue::Table(pairs) = raw {
        let effects = pairs.iter().filter(|(key, _)| key != RULES);
        return effects.map(|(effect, decision)| Ok((effect.as_str(), decision.text()?))).collect();
    }
    raw.entries(',')?.into_iter().map(approval_pair).collect()
}

fn approval_pair(entry: &str) -> Result<(&str, &str), ConfigRefusal> {
    let (effect, decision) =
        entry.split_once('=').ok_or_else(|| ConfigRefusal::NotApproval { value: entry.to_owned() })?;
    Ok((effect.trim(), decision.trim()))
}
