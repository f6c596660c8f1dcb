//! Who calls the REST API: a program with the key of the vault's plugin, or with one of the owner's tokens.

use std::{collections::BTreeSet, sync::Arc};

use axum::http::{HeaderMap, HeaderName, header};
use lapidary_auth::{TokenRights, is_same_digest};
use lapidary_config::ChosenVault;
use lapidary_note::ContentHash;
use lapidary_pipeline::{Caller, CallerStanding, Grant, Principal};
use lapidary_tools::ChangeAuthor;

use crate::{
    grants::GrantMaker,
    http::{KnownClients, known_clients::KnownClient},
    plugin_settings::PluginSettings,
};

/// A key with this many characters takes longer to guess than anyone waits.
const SHORTEST_KEY: usize = 20;
const FEWEST_CHARACTERS: usize = 8;

/// The key of a vault's plugin, by its hash.
pub(crate) struct VaultKey {
    vault: String,
    digest: ContentHash,
    /// The header that carries it.
    header: HeaderName,
    grant: Arc<Grant>,
    /// It could be guessed, if guesses were not limited.
    is_weak: bool,
}

impl VaultKey {
    /// The keys in the settings of the plugin, of all vaults that have one.
    pub(crate) fn of_vaults(vaults: &[ChosenVault], grants: &GrantMaker) -> Vec<Self> {
        vaults.iter().filter_map(|vault| Self::of_vault(vault, grants, vaults.len() > 1)).collect()
    }

    fn of_vault(vault: &ChosenVault, grants: &GrantMaker, is_one_of_several: bool) -> Option<Self> {
        let settings = settings_of(vault)?;
        let key = settings.key?;
        let header = settings.key_header.and_then(|name| name.parse().ok());
        // With one vault the grant names none, like that of a caller without a token.
        let own = is_one_of_several.then(|| vec![vault.name.clone()]);
        let rights = TokenRights { vaults: own, ..TokenRights::default() };
        let grant = grants.grant(&rights).inspect_err(|error| tracing::warn!("{error}")).ok()?;
        let (vault, digest) = (vault.name.clone(), ContentHash::of(key.as_bytes()));
        let is_weak = is_weak(&key);
        if is_weak {
            tracing::warn!(
                "the key of the plugin Local REST API is short: any program on this computer, and any page in a browser on it, may \
                 guess it. Let the plugin make another"
            );
        }
        Some(Self { vault, digest, header: header.unwrap_or(header::AUTHORIZATION), grant, is_weak })
    }
}

/// The plugin makes keys of 64 digits. Shorter ones were typed, and are what programs have, so they are taken; guesses are limited.
fn is_weak(key: &str) -> bool {
    let kinds: BTreeSet<char> = key.chars().collect();
    key.chars().count() < SHORTEST_KEY || kinds.len() < FEWEST_CHARACTERS
}

/// What the plugin of a vault is set to.
fn settings_of(vault: &ChosenVault) -> Option<PluginSettings> {
    PluginSettings::of_vault(&vault.path).unwrap_or_else(|problem| {
        tracing::warn!("the settings of the plugin Local REST API are not used: {problem}");
        None
    })
}

/// The ports of the plugin, where programs look for it.
#[derive(Clone, Copy)]
pub(crate) struct PluginPorts {
    pub(super) tls: u16,
    pub(super) plain: u16,
}

impl PluginPorts {
    /// As the settings of the first vault say, or the usual ones.
    pub(crate) fn of_vaults(vaults: &[ChosenVault]) -> Self {
        // The first vault that has the plugin: a program looks for one server at one port.
        let settings = vaults.iter().find_map(settings_of);
        settings.map_or(Self { tls: 27124, plain: 27123 }, |found| Self { tls: found.port, plain: found.plain_port })
    }
}

/// A program that may call, and the vault that it means.
#[derive(Clone)]
pub(super) struct RestCaller {
    pub(super) principal: Principal,
    pub(super) vault: String,
    /// The name that its calls are counted under.
    pub(super) limited_as: String,
    /// Its calls have a rate. The key of the plugin has none: it is the one of all programs of the owner on this computer, and scripts
    /// written for the plugin, which has no rate, write hundreds of notes in a row.
    pub(super) has_rate: bool,
    pub(super) has_weak_key: bool,
}

impl RestCaller {
    /// What its open note is kept under.
    pub(super) fn seat(&self) -> (String, String) {
        (self.limited_as.clone(), self.vault.clone())
    }
}

/// Everyone who may call.
pub(crate) struct RestCallers {
    pub(crate) keys: Vec<VaultKey>,
    /// Those with a token.
    pub(crate) clients: KnownClients,
    /// Of the vaults, the first of which is meant by a token that has no other.
    pub(crate) first_vault: String,
    pub(crate) ports: PluginPorts,
}

impl RestCallers {
    /// Whether a request has a key, which may be a wrong one.
    pub(super) fn has_key(&self, headers: &HeaderMap) -> bool {
        // Each vault may have its key in another header.
        let names = self.keys.iter().map(|key| &key.header).chain([&header::AUTHORIZATION]);
        names.into_iter().any(|name| headers.contains_key(name))
    }

    /// The sender of a request; `None` if it is not known.
    pub(super) async fn find(&self, headers: &HeaderMap) -> Option<RestCaller> {
        // All are compared, so that the time does not tell which one it is.
        let known: Vec<&VaultKey> = self
            .keys
            .iter()
            .filter(|key| {
                let sent = headers.get(&key.header).and_then(|value| value.to_str().ok()).and_then(bearer);
                sent.is_some_and(|sent| is_same_digest(&key.digest, &ContentHash::of(sent.as_bytes())))
            })
            .collect();
        if let Some(key) = known.first() {
            return Some(RestCaller {
                principal: by_key(key),
                vault: key.vault.clone(),
                limited_as: format!("key {}", key.digest),
                has_rate: false,
                has_weak_key: key.is_weak,
            });
        }
        let client = self.clients.find(headers).await.ok()??;
        // A token for several vaults means the first of them, because these addresses cannot name one.
        let granted = client.grant.vaults.as_ref().and_then(|vaults| vaults.first().cloned());
        let vault = granted.unwrap_or_else(|| self.first_vault.clone());
        let limited_as = client.key.clone();
        Some(RestCaller { principal: by_token(&client), vault, limited_as, has_rate: true, has_weak_key: false })
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim()).filter(|key| !key.is_empty())
}

fn by_key(key: &VaultKey) -> Principal {
    let name = || Principal::REST.to_owned();
    Principal {
        id: name(),
        name: name(),
        grant: Arc::clone(&key.grant),
        can_be_asked: false,
        caller: Caller::of(&format!("rest {}", key.digest)),
        // Many programs use the same key, and each may ask the same again.
        is_single_client: false,
        author: ChangeAuthor::shared(name(), ""),
        standing: CallerStanding::default(),
    }
}

fn by_token(client: &KnownClient) -> Principal {
    let KnownClient { name, grant, standing, .. } = client;
    Principal {
        id: format!("{name}:{}", Principal::REST),
        name: name.clone(),
        grant: Arc::clone(grant),
        can_be_asked: false,
        caller: Caller::of(&format!("rest {name}")),
        is_single_client: false,
        author: ChangeAuthor::shared(name.clone(), Principal::REST),
        standing: standing.clone(),
    }
}
