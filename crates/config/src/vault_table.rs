//! A vault in the configuration file that has its own rules.

use std::path::PathBuf;

use lapidary_query::nearest;

use super::model::VaultAccess;
use super::raw::RawValue;
use super::refused::ConfigRefusal;

const VAULT_KEYS: &[&str] = &["path", "allow", "deny", "follow"];

/// `[vaults.NAME]`: its path, and which parts are open.
pub(super) fn from_table(name: &str, pairs: &[(String, RawValue)]) -> Result<(String, VaultAccess), ConfigRefusal> {
    let mut path = None;
    let mut access = VaultAccess::default();
    for (key, raw) in pairs {
        match key.as_str() {
            "path" => path = Some(raw.text()?.to_owned()),
            "allow" => access.allow = Some(patterns(raw)?).filter(|list| !list.is_empty()),
            "deny" => access.deny = patterns(raw)?,
            "follow" => access.follow = raw.entries(';')?.into_iter().map(PathBuf::from).collect(),
            other => {
                let nearest = nearest(other, VAULT_KEYS.iter().copied());
                return Err(ConfigRefusal::NotOfAVault { vault: name.to_owned(), key: other.to_owned(), nearest });
            }
        }
        if key == "allow" && access.allow.is_none() {
            return Err(ConfigRefusal::EmptyPathList);
        }
    }
    Ok((path.ok_or_else(|| ConfigRefusal::VaultWithoutPath { value: name.to_owned() })?, access))
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
