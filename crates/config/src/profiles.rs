//! Who may use what: custom profiles, and the tokens that identify HTTP clients.

use lapidary_note::ContentHash;
use lapidary_query::nearest;
use lapidary_tools::{BUILT_IN_PROFILES, Effect, ProfileRules};

use super::model::TokenConfig;
use super::prefixes::prefixes;
use super::raw::RawValue;
use super::refused::ConfigRefusal;
use super::value::{names, one_of, toggle};

/// Shorter ones could be guessed.
const MIN_TOKEN_BYTES: usize = 16;
const PROFILE_KEYS: &[&str] = &["allow", "exclude", "effect"];
const TOKEN_KEYS: &[&str] = &["token", "profile", "vaults", "read_paths", "write_paths", "read_only"];
pub(super) const EFFECTS: &[(&str, Effect)] =
    &[("read", Effect::Read), ("write", Effect::Write), ("destroy", Effect::Destroy)];

/// `[profiles.NAME]` with `allow`, `exclude` and `effect`.
pub(super) fn profiles(raw: &RawValue) -> Result<Vec<(String, ProfileRules)>, ConfigRefusal> {
    let RawValue::Table(profiles) = raw else {
        return Err(ConfigRefusal::Shape { expected: "a table of profiles", found: raw.shape() });
    };
    profiles.iter().map(|(name, raw)| Ok((checked_name(name)?, profile(name, raw)?))).collect()
}

fn checked_name(name: &str) -> Result<String, ConfigRefusal> {
    // A profile that looks built in and allows something else would mislead.
    if BUILT_IN_PROFILES.contains(&name) {
        return Err(ConfigRefusal::BuiltInProfile { name: name.to_owned() });
    }
    plain(name)
}

fn profile(name: &str, raw: &RawValue) -> Result<ProfileRules, ConfigRefusal> {
    // Nothing is allowed that is not written down, while the effect is that of the strongest profile: `allow` is what
    // limits it.
    let mut rules = ProfileRules { allow: Vec::new(), ..ProfileRules::curator() };
    for (key, raw) in table(raw)? {
        match key.as_str() {
            "allow" => rules.allow = names(raw)?,
            "exclude" => rules.exclude = names(raw)?,
            "effect" => rules.most = one_of(raw.text()?, EFFECTS)?,
            other => return Err(unknown("profile", name, other, PROFILE_KEYS)),
        }
    }
    if rules.allow.is_empty() { Err(ConfigRefusal::EmptyProfile { name: name.to_owned() }) } else { Ok(rules) }
}

/// A table of `[tokens.NAME]` with `token`, `profile`, `vaults` and paths, or `NAME:PROFILE:TOKEN` separated by `;`.
pub(super) fn tokens(raw: &RawValue) -> Result<Vec<TokenConfig>, ConfigRefusal> {
    let tokens: Vec<TokenConfig> = match raw {
        RawValue::Table(tokens) => tokens.iter().map(|(name, raw)| from_table(name, raw)).collect::<Result<_, _>>()?,
        written => written.entries(';')?.into_iter().map(from_text).collect::<Result<_, _>>()?,
    };
    // An empty table would serve every client without a token, and its author expects the opposite.
    if tokens.is_empty() {
        return Err(ConfigRefusal::NotToken);
    }
    for (at, token) in tokens.iter().enumerate() {
        // Which of the two clients is calling could not be told.
        if let Some(other) = tokens[..at].iter().find(|other| other.digest == token.digest) {
            return Err(ConfigRefusal::SameToken { name: token.name.clone(), other: other.name.clone() });
        }
        // Sessions and approval requests belong to a name.
        if tokens[..at].iter().any(|other| other.name == token.name) {
            return Err(ConfigRefusal::SameTokenName { name: token.name.clone() });
        }
    }
    Ok(tokens)
}

fn from_table(name: &str, raw: &RawValue) -> Result<TokenConfig, ConfigRefusal> {
    let (mut digest, mut profile, mut vaults) = (None, None, None);
    let (mut read_paths, mut write_paths, mut read_only) = (None, None, false);
    for (key, raw) in table(raw)? {
        match key.as_str() {
            "token" => digest = Some(token_digest(name, raw.text()?)?),
            "profile" => profile = Some(raw.text()?.to_owned()),
            "vaults" => vaults = Some(names(raw)?),
            "read_paths" => read_paths = Some(prefixes(raw)?),
            "write_paths" => write_paths = Some(prefixes(raw)?),
            "read_only" => read_only = toggle(raw)?,
            other => return Err(unknown("token", name, other, TOKEN_KEYS)),
        }
    }
    let digest = digest.ok_or_else(|| ConfigRefusal::NoToken { name: name.to_owned() })?;
    Ok(TokenConfig { name: plain(name)?, profile, vaults, read_paths, write_paths, read_only, digest })
}

fn from_text(entry: &str) -> Result<TokenConfig, ConfigRefusal> {
    // The value is a secret, so no message repeats it.
    // Only the first two colons separate, since a token may contain more.
    let (name, rest) = entry.split_once(':').ok_or(ConfigRefusal::NotToken)?;
    let (profile, token) = rest.split_once(':').ok_or(ConfigRefusal::NotToken)?;
    let profile = Some(profile.trim().to_owned()).filter(|profile| !profile.is_empty());
    let (name, digest) = (plain(name.trim())?, token_digest(name, token.trim())?);
    Ok(TokenConfig { name, profile, vaults: None, read_paths: None, write_paths: None, read_only: false, digest })
}

/// Of the token itself, or the hash that was given instead.
fn token_digest(name: &str, token: &str) -> Result<ContentHash, ConfigRefusal> {
    let refused = || ConfigRefusal::WeakToken { name: name.to_owned(), shortest: MIN_TOKEN_BYTES };
    // The owner may keep only the hash in the file; the client then sends what hashes to it.
    if token.starts_with("sha256:") {
        return token.parse().map_err(|_| refused());
    }
    let weak = token.chars().count() < MIN_TOKEN_BYTES || token.contains(char::is_whitespace);
    if weak { Err(refused()) } else { Ok(ContentHash::of(token.as_bytes())) }
}

/// Names appear in the log.
fn plain(name: &str) -> Result<String, ConfigRefusal> {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if !name.is_empty() && name.chars().count() <= 40 && name.chars().all(fits) {
        Ok(name.to_owned())
    } else {
        Err(ConfigRefusal::NotPlainName { value: name.to_owned() })
    }
}

/// A name for a client, as a person wrote it.
pub fn plain_name(name: &str) -> Result<String, String> {
    plain(name).map_err(|refused| refused.to_string())
}

fn table(raw: &RawValue) -> Result<&[(String, RawValue)], ConfigRefusal> {
    match raw {
        RawValue::Table(pairs) => Ok(pairs),
        other => Err(ConfigRefusal::Shape { expected: "a table", found: other.shape() }),
    }
}

fn unknown(kind: &'static str, name: &str, key: &str, known: &[&'static str]) -> ConfigRefusal {
    let nearest = nearest(key, known.iter().copied());
    ConfigRefusal::UnknownPart { kind, name: name.to_owned(), key: key.to_owned(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> RawValue {
        RawValue::Text(text.to_owned())
    }

    fn table_of(pairs: &[(&str, RawValue)]) -> RawValue {
        RawValue::Table(pairs.iter().map(|(key, raw)| ((*key).to_owned(), raw.clone())).collect())
    }

    #[test]
    fn a_token_is_kept_as_its_hash_and_may_be_written_as_one() {
        let secret = "a-long-enough-secret";
        let hash = ContentHash::of(secret.as_bytes());
        let by_text = tokens(&text(&format!("phone:reader:{secret}"))).unwrap();
        let by_hash = tokens(&text(&format!("desk::{hash}"))).unwrap();
        assert_eq!(by_text[0].digest, by_hash[0].digest);
        assert_eq!((by_text[0].name.as_str(), by_text[0].profile.as_deref()), ("phone", Some("reader")));
        assert_eq!(by_hash[0].profile, None);
        let twice = tokens(&text(&format!("phone:reader:{secret}; desk::{hash}"))).unwrap_err().to_string();
        assert!(twice.contains("phone") && twice.contains("desk") && !twice.contains(secret), "{twice}");
        let by_table =
            tokens(&table_of(&[("phone", table_of(&[("token", text(secret)), ("profile", text("reader"))]))]));
        assert_eq!(by_table.unwrap()[0], by_text[0]);
    }

    #[test]
    fn two_tokens_of_one_name_are_refused() {
        let written = "phone:reader:a-long-enough-secret; phone:curator:another-long-secret";
        assert_eq!(tokens(&text(written)), Err(ConfigRefusal::SameTokenName { name: "phone".to_owned() }));
        let own = |secret: &str| table_of(&[("token", text(secret))]);
        let table = table_of(&[("phone", own("a-long-enough-secret")), ("phone", own("another-long-secret"))]);
        assert_eq!(tokens(&table), Err(ConfigRefusal::SameTokenName { name: "phone".to_owned() }));
    }

    #[test]
    fn a_token_may_have_its_own_folders_and_vaults() {
        let own = |pairs: &[(&str, RawValue)]| {
            let token = [&[("token", text("a-long-enough-secret"))], pairs].concat();
            tokens(&table_of(&[("phone", table_of(&token))]))
        };
        let token = own(&[
            ("vaults", text("Home, Work")),
            ("read_paths", text("Inbox/, Notes")),
            ("write_paths", text("Inbox")),
            ("read_only", text("true")),
        ]);
        let token = token.unwrap().remove(0);
        assert_eq!(token.vaults, Some(vec!["Home".to_owned(), "Work".to_owned()]));
        assert_eq!(token.read_paths, Some(vec!["Inbox".to_owned(), "Notes".to_owned()]));
        assert_eq!((token.write_paths, token.read_only), (Some(vec!["Inbox".to_owned()]), true));
        assert!(own(&[("read_paths", text("*.md"))]).is_err(), "folders, not patterns");
        assert!(own(&[("read_pahts", text("a"))]).unwrap_err().to_string().contains("did you mean `read_paths`"));
    }

    #[test]
    fn an_invalid_token_is_refused_without_repeating_it() {
        for written in
            ["secret-that-is-long", "phone:reader:short", "ph one:reader:a-long-enough-secret", "a:b:sha256:12"]
        {
            let refused = tokens(&text(written)).unwrap_err().to_string();
            assert!(!refused.contains("secret") && !refused.contains("short"), "{refused}");
        }
    }

    #[test]
    fn a_lock_without_a_key_is_refused() {
        assert_eq!(tokens(&text(" ; ")), Err(ConfigRefusal::NotToken));
        assert_eq!(tokens(&table_of(&[])), Err(ConfigRefusal::NotToken));
    }

    #[test]
    fn profiles_name_what_they_allow() {
        let own = |pairs: &[(&str, RawValue)]| profiles(&table_of(&[("scribe", table_of(pairs))]));
        let rules = own(&[("allow", text("read, str_replace")), ("effect", text("write"))]).unwrap().remove(0).1;
        assert_eq!((rules.allow, rules.most), (vec!["read".to_owned(), "str_replace".to_owned()], Effect::Write));
        assert!(own(&[]).unwrap_err().to_string().contains("allow"));
        assert!(own(&[("alow", text("read"))]).unwrap_err().to_string().contains("did you mean `allow`"));
        assert!(
            profiles(&table_of(&[("reader", table_of(&[]))])).unwrap_err().to_string().contains("built-in profile")
        );
    }
}
