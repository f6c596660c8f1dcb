//! A vault in the configuration file that has its own rules.

use std::path::PathBuf;

use lapidary_auth::SecretText;
use lapidary_query::nearest;

use super::model::VaultAccess;
use super::raw::RawValue;
use super::refused::ConfigRefusal;

const VAULT_KEYS: &[&str] = &["path", "url", "key", "certificate", "allow", "deny", "follow"];

/// Where a vault of the file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TablePlace {
    Folder(String),
    Remote(AskedRemote),
}

/// A vault behind Obsidian's plugin, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AskedRemote {
    pub(super) url: String,
    pub(super) key: SecretText,
    /// The file with its certificate.
    pub(super) certificate: Option<String>,
}

/// `[vaults.NAME]`: where it is, and which parts are open.
pub(super) fn from_table(name: &str, pairs: &[(String, RawValue)]) -> Result<(TablePlace, VaultAccess), ConfigRefusal> {
    let (mut path, mut url, mut secret, mut certificate) = (None, None, None, None);
    let mut access = VaultAccess::default();
    for (key, raw) in pairs {
        match key.as_str() {
            "path" => path = Some(raw.text()?.to_owned()),
            "url" => url = Some(raw.text()?.trim().trim_end_matches('/').to_owned()),
            "key" => secret = Some(SecretText::new(raw.text()?.to_owned())),
            "certificate" => certificate = Some(raw.text()?.to_owned()),
            "allow" => access.allow = Some(patterns(raw)?).filter(|list| !list.is_empty()),
            "deny" => access.deny = patterns(raw)?,
            "follow" => access.follow = raw.entries(';')?.into_iter().map(PathBuf::from).collect(),
            other => {
                let nearest = nearest(other, VAULT_KEYS.iter().copied());
                return Err(ConfigRefusal::NotOfAVault { vault: name.to_owned(), key: other.to_owned(), nearest });
            }
        }
        // An empty list would open everything, which is the opposite of what a list is for.
        if key == "allow" && access.allow.is_none() {
            return Err(ConfigRefusal::EmptyPathList);
        }
    }
    let place = match (path, url, secret) {
        (Some(path), None, None) if certificate.is_none() => TablePlace::Folder(path),
        // Links out of a remote vault cannot be followed from here.
        (None, Some(url), Some(key)) if access.follow.is_empty() => {
            TablePlace::Remote(AskedRemote { url, key, certificate })
        }
        (None, None, None) => return Err(ConfigRefusal::VaultWithoutPath { value: name.to_owned() }),
        _ => return Err(ConfigRefusal::HalfOfRemote { vault: name.to_owned() }),
    };
    Ok((place, access))
}

pub(super) fn has_rules(access: &VaultAccess) -> bool {
    *access != VaultAccess::default()
}

/// A list, or a single pattern, which may contain a comma.
fn patterns(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    match raw {
        RawValue::List(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
        one => Ok(vec![one.text()?.to_owned()]),
    }
}
