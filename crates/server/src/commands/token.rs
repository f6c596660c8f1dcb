//! `lapidary token`: the tokens of clients that call over HTTP, and what the owner granted to OAuth clients.

use std::{
    io::Write,
    time::{Duration, SystemTime},
};

use lapidary_auth::{
    AuthStore, GrantRecord, NewToken as TokenToMake, SecretKind, SecretText, SecurityEvent, SecurityEventKind,
    TokenRecord, TokenRights, UnixSeconds,
};
use lapidary_config::{Config, plain_name};
use lapidary_pipeline::Clock;
use lapidary_tools::{BUILT_IN_PROFILES, quote::one_line};
use lapidary_vault::PathPrefix;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, report, screen::Screen, table::TableCell};
use crate::{
    assemble::auth_store,
    cli::{NewToken, TokenWord},
};

pub(super) fn run(
    word: &TokenWord,
    config: &Config,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let store = auth_store(config.state_dir.clone());
    let now = UnixSeconds::from(Clock::system().now());
    match word {
        TokenWord::Create(new) => {
            let (name, rights) = checked(new, config).map_err(CommandFailure::Misconfigured)?;
            let mut random = [0; 32];
            getrandom::fill(&mut random)
                .map_err(|error| CommandFailure::Misconfigured(format!("no random numbers: {error}")))?;
            let secret = SecretText::mint(SecretKind::Personal, &random);
            let expires = new.expires.end(now);
            let record = store.create_token(&TokenToMake { name: &name, rights: &rights, expires }, &secret, now)?;
            report::note(&format!("token '{name}' ({}); it is shown only now:", summary(&record).join(", ")));
            // The secret alone goes to standard output, so that it can be piped; only its hash is stored.
            writeln!(screen, "{}", secret.reveal())?;
            Ok(CommandOutcome::Well)
        }
        TokenWord::List { all, json, .. } => {
            let mut entries = listed(&store, now)?;
            entries.retain(|entry| *all || entry.is_live);
            if *json {
                let entries: Vec<Value> = entries.into_iter().map(|entry| entry.json).collect();
                screen.json(&json!({ "tokens": entries }))?;
            } else if entries.is_empty() {
                report::note("there are no tokens; `lapidary token create NAME` makes one");
            } else {
                let row = |entry: ListedAccess| entry.row.iter().map(TableCell::from).collect();
                let rows: Vec<Vec<TableCell>> = entries.into_iter().map(row).collect();
                screen.table(&["name", "for", "state", "expires", "last used"], &rows)?;
            }
            Ok(CommandOutcome::Well)
        }
        TokenWord::Log { limit, json, .. } => {
            let events = store.events(*limit)?;
            if *json {
                screen.json(&json!({ "events": events.iter().map(event_as_json).collect::<Vec<_>>() }))?;
            } else if events.is_empty() {
                report::note("nothing has happened yet");
            } else {
                let row = |event| event_row(event).iter().map(TableCell::from).collect();
                let rows: Vec<Vec<TableCell>> = events.iter().map(row).collect();
                screen.table(&["time", "what", "whom", "from", "times"], &rows)?;
            }
            Ok(CommandOutcome::Well)
        }
        TokenWord::Revoke { name, .. } => {
            let revoked = match GrantRecord::number_in(name) {
                Some(grant) => store.revoke_grant(grant, now)?,
                None => store.revoke_token(name, now)?,
            };
            if revoked {
                report::note(&format!("'{name}' is revoked"));
                return Ok(CommandOutcome::Well);
            }
            // Tokens of the configuration are not in the store, and cannot be revoked there.
            let configured = config.tokens.iter().any(|token| token.name == *name);
            let hint = if configured { "; it is in the configuration: remove it there" } else { "" };
            report::error(&format!("there is no token called '{name}'{hint}"));
            Ok(CommandOutcome::Refused)
        }
    }
}

fn event_row(event: &SecurityEvent) -> [String; 5] {
    let words = match event.kind {
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
        SecurityEventKind::FirstUsed => "first used",
        SecurityEventKind::OriginRefused => "web page refused",
        SecurityEventKind::LimitReached => "limit reached",
    };
    let address = event.address.clone().unwrap_or_default();
    let cells = [day(event.last), words.to_owned(), event.subject.clone(), address, event.count.to_string()];
    cells.map(|cell| one_line(&cell).into_owned())
}

fn event_as_json(event: &SecurityEvent) -> Value {
    json!({
        "event": event.kind.id(),
        "subject": Some(&event.subject).filter(|subject| !subject.is_empty()),
        "address": event.address,
        "first": written(event.at),
        "last": written(event.last),
        "count": event.count,
    })
}

/// A token or a grant, as it is shown.
struct ListedAccess {
    is_live: bool,
    row: [String; 5],
    json: Value,
}

fn listed(store: &AuthStore, now: UnixSeconds) -> Result<Vec<ListedAccess>, CommandFailure> {
    let row = |cells: [String; 5]| cells.map(|cell| one_line(&cell).into_owned());
    let used = |last: Option<UnixSeconds>| last.map_or_else(|| "not yet".to_owned(), day);
    let tokens = store.tokens()?.into_iter().map(|token| ListedAccess {
        is_live: token.is_live(now),
        row: row([
            token.name.clone(),
            rights_in_words(&token.rights),
            state(&token, now).to_owned(),
            token.expires.map_or_else(|| "never".to_owned(), day),
            used(token.last_used),
        ]),
        json: as_json(&token, now),
    });
    let grants = store.grants()?.into_iter().map(|grant| ListedAccess {
        is_live: grant.is_live(now),
        row: row([
            GrantRecord::name_of(grant.id),
            format!("{}: {}", client_in_words(&grant), rights_in_words(&grant.rights)),
            grant_state(&grant, now),
            day(grant.ends),
            used(grant.last_used),
        ]),
        json: grant_as_json(&grant, now),
    });
    Ok(tokens.chain(grants).collect())
}

/// How a client calls itself, and what is known of it.
fn client_in_words(grant: &GrantRecord) -> String {
    match grant.client.strip_prefix("https://").and_then(|rest| rest.split('/').next()) {
        Some(host) => format!("{} of {host}", grant.client_name),
        None => format!("\"{}\"", grant.client_name),
    }
}

fn grant_state(grant: &GrantRecord, now: UnixSeconds) -> String {
    match (grant.revoked, grant.revoked_by.as_deref()) {
        (Some(_), Some("owner") | None) => "revoked".to_owned(),
        (Some(_), Some("client")) => "ended by the client".to_owned(),
        (Some(_), Some(used_again)) => format!("revoked: its {used_again} was used twice"),
        (None, _) if !grant.is_live(now) => "expired".to_owned(),
        (None, _) => "live".to_owned(),
    }
}

fn grant_as_json(grant: &GrantRecord, now: UnixSeconds) -> Value {
    json!({
        "name": GrantRecord::name_of(grant.id),
        "client": { "id": grant.client, "name": grant.client_name },
        "rights": grant.rights,
        "scope": grant.scope,
        "state": if grant.is_live(now) { "live" } else if grant.revoked.is_some() { "revoked" } else { "expired" },
        "revokedBy": grant.revoked_by,
        "created": written(grant.created),
        "expires": written(grant.ends),
        "lastUsed": grant.last_used.map(written),
        "revoked": grant.revoked.map(written),
    })
}

/// The rights as stored, if they are valid.
fn checked(new: &NewToken, config: &Config) -> Result<(String, TokenRights), String> {
    let name = plain_name(&new.name)?;
    if GrantRecord::number_in(&name).is_some() {
        return Err(format!("'{name}' is how grants to OAuth clients are called; choose another name"));
    }
    // A name must identify one client, whichever kind of token it has.
    if config.tokens.iter().any(|token| token.name == name) {
        return Err(format!("there is a token called '{name}' in the configuration; choose another name"));
    }
    if let Some(profile) = &new.profile {
        let own = config.profiles.keys().map(String::as_str);
        let known: Vec<&str> = BUILT_IN_PROFILES.into_iter().chain(own).collect();
        if !known.contains(&profile.as_str()) {
            return Err(format!("there is no profile '{profile}'; there are: {}", known.join(", ")));
        }
    }
    for (flag, paths) in [("--paths", &new.paths), ("--write-paths", &new.write_paths)] {
        for path in paths {
            // Now and not when it is used, when the owner would not see the mistake.
            PathPrefix::parse(path).map_err(|error| format!("{flag} {path}: {error}"))?;
        }
    }
    let list = |entries: &[String]| (!entries.is_empty()).then(|| entries.to_vec());
    let rights = TokenRights {
        profile: new.profile.clone(),
        vaults: list(&new.vaults),
        read_paths: list(&new.paths),
        write_paths: list(&new.write_paths),
        read_only: new.read_only,
        scopes: None,
    };
    Ok((name, rights))
}

fn summary(token: &TokenRecord) -> [String; 2] {
    let expires = token.expires.map_or_else(|| "never expires".to_owned(), |end| format!("until {}", day(end)));
    [rights_in_words(&token.rights), expires]
}

fn rights_in_words(rights: &TokenRights) -> String {
    let mut words = vec![rights.profile.clone().unwrap_or_else(|| "the server's profile".to_owned())];
    if rights.read_only {
        words.push("read-only".to_owned());
    }
    words.extend(rights.vaults.as_ref().map(|vaults| format!("vaults {}", vaults.join(" "))));
    words.extend(rights.read_paths.as_ref().map(|paths| format!("in {}", paths.join(" "))));
    words.extend(rights.write_paths.as_ref().map(|paths| format!("changes {}", paths.join(" "))));
    words.join("; ")
}

fn state(token: &TokenRecord, now: UnixSeconds) -> &'static str {
    match () {
        () if token.revoked.is_some() => "revoked",
        () if !token.is_live(now) => "expired",
        () => "live",
    }
}

fn as_json(token: &TokenRecord, now: UnixSeconds) -> Value {
    json!({
        "name": token.name,
        "rights": token.rights,
        "state": state(token, now),
        "created": written(token.created),
        "expires": token.expires.map(written),
        "lastUsed": token.last_used.map(written),
        "revoked": token.revoked.map(written),
    })
}

fn written(moment: UnixSeconds) -> String {
    let since = Duration::from_secs(u64::try_from(moment.0).unwrap_or_default());
    Clock::written(SystemTime::UNIX_EPOCH + since)
}

/// `2026-11-15 20:15`
fn day(moment: UnixSeconds) -> String {
    written(moment).chars().take(16).collect::<String>().replace('T', " ")
}
