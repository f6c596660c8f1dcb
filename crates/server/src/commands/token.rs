//! `lapidary token`: the tokens of clients that call over HTTP, and what the owner granted to OAuth clients.

use std::io::Write;

use lapidary_auth::{
    AuthStore, GrantRecord, NewToken as TokenToMake, SecretKind, SecretText, SecurityEvent, TokenRecord, TokenRights,
    UnixSeconds,
};
use lapidary_config::Config;
use lapidary_pipeline::Clock;
use lapidary_tools::quote::one_line;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, report, screen::Screen, table::TableCell};
use crate::{
    access_words::{
        TokenVault, checked_name, client_in_words, day, event_in_words, grant_state, rights_in_words, token_state,
        token_vault, written,
    },
    assemble::auth_store,
    cli::{NewToken, TokenWord},
};

pub(super) fn run(
    word: &TokenWord,
    config: &Config,
    known_vaults: &[String],
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let store = auth_store(config.state_dir.clone());
    let now = UnixSeconds::from(Clock::system().now());
    match word {
        TokenWord::Create(new) => {
            // Checked before anything random is made or stored.
            let (name, rights) = checked(new, config, known_vaults).map_err(CommandFailure::Misconfigured)?;
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
            // Grants are named by their number, which no token can be called; see `checked_name`.
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
    let words = event_in_words(event.kind);
    let address = event.address.clone().unwrap_or_default();
    // The last time, because equal events are counted in one row.
    let cells = [day(event.last), words.to_owned(), event.subject.clone(), address, event.count.to_string()];
    cells.map(|cell| one_line(&cell).into_owned())
}

fn event_as_json(event: &SecurityEvent) -> Value {
    json!({
        "event": event.kind.id(),
        // An event without a subject has none in JSON, rather than an empty text.
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
    // Names of clients come from outside and may have line breaks.
    let row = |cells: [String; 5]| cells.map(|cell| one_line(&cell).into_owned());
    let used = |last: Option<UnixSeconds>| last.map_or_else(|| "not yet".to_owned(), day);
    let tokens = store.tokens()?.into_iter().map(|token| ListedAccess {
        is_live: token.is_live(now),
        row: row([
            token.name.clone(),
            rights_in_words(&token.rights),
            token_state(&token, now).to_owned(),
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
    // One list: both kinds give access.
    Ok(tokens.chain(grants).collect())
}

fn grant_as_json(grant: &GrantRecord, now: UnixSeconds) -> Value {
    json!({
        "name": GrantRecord::name_of(grant.id),
        "client": { "id": grant.client, "name": grant.client_name },
        "rights": grant.rights,
        "scope": grant.scope,
        // Words for programs, which never change; `grant_state` says more to people.
        "state": if grant.is_live(now) { "live" } else if grant.revoked.is_some() { "revoked" } else { "expired" },
        "revokedBy": grant.revoked_by,
        "created": written(grant.created),
        "expires": written(grant.ends),
        "lastUsed": grant.last_used.map(written),
        "revoked": grant.revoked.map(written),
    })
}

/// The rights as stored, if they are valid.
fn checked(new: &NewToken, config: &Config, known_vaults: &[String]) -> Result<(String, TokenRights), String> {
    let list = |entries: &[String]| (!entries.is_empty()).then(|| entries.to_vec());
    let mut vaults = Vec::new();
    for given in &new.vaults {
        // A name that is not known yet is accepted: the token may be for another computer.
        match token_vault(given, known_vaults)? {
            TokenVault::Known(name) => vaults.push(name),
            TokenVault::Unknown(name) => {
                report::note(&format!(
                    "no vault on this computer is called '{}'; the token opens nothing until a server has one of that name",
                    one_line(&name)
                ));
                vaults.push(name);
            }
        }
    }
    let rights = TokenRights {
        profile: new.profile.clone(),
        vaults: list(&vaults),
        read_paths: list(&new.paths),
        write_paths: list(&new.write_paths),
        read_only: new.read_only,
        // Only OAuth has scopes; a token has the rights of its profile.
        scopes: None,
    };
    Ok((checked_name(&new.name, &rights, config)?, rights))
}

fn summary(token: &TokenRecord) -> [String; 2] {
    let expires = token.expires.map_or_else(|| "never expires".to_owned(), |end| format!("until {}", day(end)));
    [rights_in_words(&token.rights), expires]
}

fn as_json(token: &TokenRecord, now: UnixSeconds) -> Value {
    json!({
        "name": token.name,
        "rights": token.rights,
        "state": token_state(token, now),
        "created": written(token.created),
        "expires": token.expires.map(written),
        "lastUsed": token.last_used.map(written),
        "revoked": token.revoked.map(written),
    })
}
