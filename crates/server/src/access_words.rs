//! Access of clients in words, and the rules for tokens that the owner makes: for `lapidary token` and the console.

use std::time::{Duration, SystemTime};

use lapidary_auth::{GrantRecord, SecurityEventKind, TokenRecord, TokenRights, UnixSeconds};
use lapidary_config::{Config, plain_name};
use lapidary_pipeline::Clock;
use lapidary_query::nearest;
use lapidary_tools::BUILT_IN_PROFILES;
use lapidary_vault::PathPrefix;

pub(crate) fn event_in_words(kind: SecurityEventKind) -> &'static str {
    match kind {
        SecurityEventKind::PassphraseSet => "passphrase set",
        SecurityEventKind::SignedIn => "owner signed in",
        SecurityEventKind::WrongPassphrase => "wrong passphrase",
        SecurityEventKind::ClientRegistered => "client registered",
        SecurityEventKind::Granted => "access granted",
        SecurityEventKind::Denied => "access denied",
        SecurityEventKind::Revoked => "revoked by the owner",
        SecurityEventKind::EndedByClient => "ended by the client",
        SecurityEventKind::UsedAgain => "used twice, revoked",
        SecurityEventKind::TokenCreated => "token created",
        SecurityEventKind::TokenChanged => "token changed",
        SecurityEventKind::FirstUsed => "first used",
        SecurityEventKind::OriginRefused => "web page refused",
        SecurityEventKind::LimitReached => "limit reached",
    }
}

/// How a client calls itself, and what is known of it.
pub(crate) fn client_in_words(grant: &GrantRecord) -> String {
    match grant.client.strip_prefix("https://").and_then(|rest| rest.split('/').next()) {
        Some(host) => format!("{} of {host}", grant.client_name),
        None => format!("\"{}\"", grant.client_name),
    }
}

pub(crate) fn grant_state(grant: &GrantRecord, now: UnixSeconds) -> String {
    match (grant.revoked, grant.revoked_by.as_deref()) {
        (Some(_), Some("owner") | None) => "revoked".to_owned(),
        (Some(_), Some("client")) => "ended by the client".to_owned(),
        (Some(_), Some(used_again)) => format!("revoked: its {used_again} was used twice"),
        (None, _) if !grant.is_live(now) => "expired".to_owned(),
        (None, _) => "live".to_owned(),
    }
}

/// The name of a new token, if the token may be made.
pub(crate) fn checked_name(name: &str, rights: &TokenRights, config: &Config) -> Result<String, String> {
    let name = plain_name(name)?;
    // A token with such a name could not be told from a grant in the log or in `token revoke`.
    if GrantRecord::number_in(&name).is_some() {
        return Err(format!("'{name}' is how grants to OAuth clients are called; choose another name"));
    }
    // A name must identify one client, whichever kind of token it has.
    if config.tokens.iter().any(|token| token.name == name) {
        return Err(format!("there is a token called '{name}' in the configuration; choose another name"));
    }
    check_rights(rights, config)?;
    Ok(name)
}

/// Now and not when they are used, when the owner would not see the mistake.
pub(crate) fn check_rights(rights: &TokenRights, config: &Config) -> Result<(), String> {
    if let Some(profile) = &rights.profile {
        let own = config.profiles.keys().map(String::as_str);
        let known: Vec<&str> = BUILT_IN_PROFILES.into_iter().chain(own).collect();
        if !known.contains(&profile.as_str()) {
            return Err(format!("there is no profile '{profile}'; there are: {}", known.join(", ")));
        }
    }
    for (list, paths) in [("paths", &rights.read_paths), ("write paths", &rights.write_paths)] {
        for path in paths.iter().flatten() {
            // Parsed and thrown away: a path that the scope would refuse is refused while the owner is watching.
            PathPrefix::parse(path).map_err(|error| format!("{list}: {path}: {error}"))?;
        }
    }
    Ok(())
}

/// A vault for a token, as it is spelt where it is served: a token with another name would be valid and open nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TokenVault {
    Known(String),
    /// None is called so here. A server may have been given it on its own command line, or by the variables of its service.
    Unknown(String),
}

pub(crate) fn token_vault(given: &str, known: &[String]) -> Result<TokenVault, String> {
    if known.iter().any(|name| name == given) {
        return Ok(TokenVault::Known(given.to_owned()));
    }
    // Another case is accepted only if it can mean one vault.
    let alike: Vec<&String> = known.iter().filter(|name| name.to_lowercase() == given.to_lowercase()).collect();
    if let [only] = alike.as_slice() {
        return Ok(TokenVault::Known((*only).clone()));
    }
    // A near name is more likely a typo than a vault of another server.
    match nearest(given, known.iter().map(String::as_str)) {
        Some(near) => Err(format!("there is no vault '{given}'; did you mean '{near}'?")),
        None => Ok(TokenVault::Unknown(given.to_owned())),
    }
}

// Shown in lists and asked about before a grant is changed, so every part that narrows the rights is named.
pub(crate) fn rights_in_words(rights: &TokenRights) -> String {
    let mut words = vec![rights.profile.clone().unwrap_or_else(|| "the server's profile".to_owned())];
    if rights.read_only {
        words.push("read-only".to_owned());
    }
    words.extend(rights.vaults.as_ref().map(|vaults| format!("vaults {}", vaults.join(" "))));
    words.extend(rights.read_paths.as_ref().map(|paths| format!("in {}", paths.join(" "))));
    words.extend(rights.write_paths.as_ref().map(|paths| format!("changes {}", paths.join(" "))));
    words.join("; ")
}

pub(crate) fn token_state(token: &TokenRecord, now: UnixSeconds) -> &'static str {
    match () {
        () if token.revoked.is_some() => "revoked",
        () if !token.is_live(now) => "expired",
        () => "live",
    }
}

pub(crate) fn written(moment: UnixSeconds) -> String {
    let since = Duration::from_secs(u64::try_from(moment.0).unwrap_or_default());
    Clock::written(SystemTime::UNIX_EPOCH + since)
}

/// `2026-11-15 20:15`
pub(crate) fn day(moment: UnixSeconds) -> String {
    // Cut to minutes; seconds only make the column wider.
    written(moment).chars().take(16).collect::<String>().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_a_vault_as_it_is_spelt() {
        let known = ["Notes", "Work", "work"].map(str::to_owned);
        assert_eq!(token_vault("notes", &known), Ok(TokenVault::Known("Notes".to_owned())));
        assert_eq!(token_vault("work", &known), Ok(TokenVault::Known("work".to_owned())));
        assert!(token_vault("WORK", &known).is_err(), "it could be either");
        assert_eq!(token_vault("Nots", &known), Err("there is no vault 'Nots'; did you mean 'Notes'?".to_owned()));
        assert_eq!(token_vault("Family", &known), Ok(TokenVault::Unknown("Family".to_owned())));
    }
}
