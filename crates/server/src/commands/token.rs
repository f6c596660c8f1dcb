//! `lapidary token`: the tokens of clients that call over HTTP.

use std::{
    io::Write,
    time::{Duration, SystemTime},
};

use lapidary_auth::{NewToken as TokenToMake, SecretKind, SecretText, TokenRecord, TokenRights, UnixSeconds};
use lapidary_pipeline::Clock;
use lapidary_tools::{BUILT_IN_PROFILES, quote::one_line};
use lapidary_vault::PathPrefix;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, print_json, report, table};
use crate::{
    assemble::auth_store,
    cli::{NewToken, TokenWord},
    config::{Config, plain_name},
};

pub(super) fn run(word: &TokenWord, config: &Config, out: &mut dyn Write) -> Result<CommandOutcome, CommandFailure> {
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
            writeln!(out, "{}", secret.reveal())?;
            Ok(CommandOutcome::Well)
        }
        TokenWord::List { all, json, .. } => {
            let tokens = store.tokens()?.into_iter().filter(|token| *all || token.is_live(now));
            if *json {
                let tokens: Vec<Value> = tokens.map(|token| as_json(&token, now)).collect();
                print_json(out, &json!({ "tokens": tokens }))?;
            } else {
                let row = |token: TokenRecord| {
                    [
                        one_line(&token.name).into_owned(),
                        one_line(&rights_in_words(&token.rights)).into_owned(),
                        state(&token, now).to_owned(),
                        token.expires.map_or_else(|| "never".to_owned(), day),
                        token.last_used.map_or_else(|| "not yet".to_owned(), day),
                    ]
                };
                let head = ["name", "for", "state", "expires", "last used"].map(str::to_owned);
                let rows: Vec<[String; 5]> = std::iter::once(head).chain(tokens.map(row)).collect();
                table::print(out, &rows)?;
            }
            Ok(CommandOutcome::Well)
        }
        TokenWord::Revoke { name, .. } => {
            if store.revoke_token(name, now)? {
                report::note(&format!("token '{name}' is revoked"));
                return Ok(CommandOutcome::Well);
            }
            let configured = config.tokens.iter().any(|token| token.name == *name);
            let hint = if configured { "; it is in the configuration: remove it there" } else { "" };
            report::error(&format!("there is no token called '{name}'{hint}"));
            Ok(CommandOutcome::Refused)
        }
    }
}

/// The rights as stored, if they are valid.
fn checked(new: &NewToken, config: &Config) -> Result<(String, TokenRights), String> {
    let name = plain_name(&new.name)?;
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
    for path in &new.paths {
        PathPrefix::parse(path).map_err(|error| format!("--paths {path}: {error}"))?;
    }
    let list = |entries: &[String]| (!entries.is_empty()).then(|| entries.to_vec());
    let rights = TokenRights {
        profile: new.profile.clone(),
        vaults: list(&new.vaults),
        read_paths: list(&new.paths),
        write_paths: None,
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
