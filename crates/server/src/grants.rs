//! From the configured rights of a client to the grant that its calls are judged by. Equal rights give the same grant:
//! caches rely on that.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use lapidary_auth::{ScopeSet, TokenRights, ToolLevel};
use lapidary_config::Config;
use lapidary_pipeline::Grant;
use lapidary_tools::{
    BUILT_IN_PROFILES, Effect, ProfileRules, ProfileView, SelectionError, TOOL_SET, ToolGroup, ToolKind, ToolSelection,
    ToolSpec,
};
use lapidary_vault::{PathPrefix, Policy, ScopeError};
use parking_lot::Mutex;

/// How many grants from scopes are kept. An issuer can write any number of scope lists, and each grant has its own tool list.
const SCOPED_GRANTS: usize = 100;

#[derive(Debug, thiserror::Error)]
pub(crate) enum GrantError {
    #[error("--tools or --exclude-tools: {0}")]
    Tools(#[from] SelectionError),
    #[error("profile '{name}': {error}")]
    Profile { name: String, error: SelectionError },
    #[error("there is no profile '{0}'")]
    NoProfile(String),
    #[error("path policy: {0}")]
    Paths(#[from] ScopeError),
    #[error("none of its vaults is served; there are: {}", .0.join(", "))]
    NoVault(Vec<String>),
}

/// Builds each grant once.
pub(crate) struct GrantMaker {
    own_profiles: BTreeMap<String, ProfileRules>,
    /// For callers without their own rights.
    default_profile: String,
    selection: ToolSelection,
    /// Of the vaults that are served.
    vaults: Vec<String>,
    made: Mutex<MadeGrants>,
}

#[derive(Default)]
struct MadeGrants {
    profiles: BTreeMap<ProfileKey, Arc<ProfileView>>,
    grants: BTreeMap<TokenRights, Arc<Grant>>,
    /// Those with scopes, the oldest first.
    scoped: VecDeque<TokenRights>,
}

/// What distinguishes profiles: tools name the vaults in their schemas.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ProfileKey {
    name: String,
    vaults: Vec<String>,
    read_only: bool,
}

impl GrantMaker {
    pub(crate) fn new(config: &Config, selection: ToolSelection, vaults: Vec<String>) -> Self {
        Self {
            own_profiles: config.profiles.clone(),
            default_profile: config.profile.clone(),
            selection,
            vaults,
            made: Mutex::default(),
        }
    }

    pub(crate) fn vaults(&self) -> &[String] {
        &self.vaults
    }

    /// All profiles and the strongest effect of each: the built-in ones, narrowest first, and those of the owner.
    pub(crate) fn profiles(&self) -> Vec<(String, Effect)> {
        // An owner's profile may not have a built-in name; the filter only keeps the list free of doubles.
        let own = |name: &&str| !self.own_profiles.contains_key(*name);
        let built_in = BUILT_IN_PROFILES.into_iter().filter(own);
        let built_in = built_in.filter_map(|name| Some((name.to_owned(), ProfileRules::built_in(name)?.most)));
        built_in.chain(self.own_profiles.iter().map(|(name, rules)| (name.clone(), rules.most))).collect()
    }

    /// Of callers without their own rights.
    pub(crate) fn default_profile(&self) -> &str {
        &self.default_profile
    }

    /// What a client with these rights may use. Vaults that are not served are left out.
    pub(crate) fn grant(&self, rights: &TokenRights) -> Result<Arc<Grant>, GrantError> {
        // Held while it is built, so that two first requests do not build the same twice.
        let mut made = self.made.lock();
        if let Some(grant) = made.grants.get(rights) {
            return Ok(Arc::clone(grant));
        }
        let served: Vec<String> = match &rights.vaults {
            Some(own) => self.vaults.iter().filter(|name| own.contains(name)).cloned().collect(),
            None => self.vaults.clone(),
        };
        // A grant without vaults would look valid and open nothing.
        if served.is_empty() {
            return Err(GrantError::NoVault(self.vaults.clone()));
        }
        let name = rights.profile.as_deref().unwrap_or(&self.default_profile);
        let key = ProfileKey { name: name.to_owned(), vaults: served.clone(), read_only: rights.read_only };
        let profile = match &rights.scopes {
            None => self.profile(&mut made, key)?,
            // Not shared: an issuer can write any combination of scopes, and they would never be forgotten.
            Some(scopes) => Arc::new(within(self.new_profile(&key)?, &ScopeSet::new(scopes))),
        };
        let vaults = rights.vaults.is_some().then_some(served);
        // `None` means all vaults, also for a caller that sees no difference, so that equal rights stay equal.
        let grant = Arc::new(Grant { paths: own_paths(rights)?.map(Arc::new), vaults, ..Grant::of(profile) });
        made.grants.insert(rights.clone(), Arc::clone(&grant));
        if rights.scopes.is_some() {
            // Only grants with scopes can multiply without the owner; all others come from tokens that the owner made.
            made.scoped.push_back(rights.clone());
            if made.scoped.len() > SCOPED_GRANTS
                && let Some(oldest) = made.scoped.pop_front()
            {
                // A client that still uses it gets an equal one; only caches are built anew.
                made.grants.remove(&oldest);
            }
        }
        Ok(grant)
    }

    /// A profile with all vaults and all its tools.
    pub(crate) fn whole_profile(&self, name: &str) -> Result<Arc<ProfileView>, GrantError> {
        let key = ProfileKey { name: name.to_owned(), vaults: self.vaults.clone(), read_only: false };
        self.profile(&mut self.made.lock(), key)
    }

    fn profile(&self, made: &mut MadeGrants, key: ProfileKey) -> Result<Arc<ProfileView>, GrantError> {
        if let Some(profile) = made.profiles.get(&key) {
            return Ok(Arc::clone(profile));
        }
        let profile = Arc::new(self.new_profile(&key)?);
        made.profiles.insert(key, Arc::clone(&profile));
        Ok(profile)
    }

    fn new_profile(&self, key: &ProfileKey) -> Result<ProfileView, GrantError> {
        let own = self.own_profiles.get(&key.name).cloned();
        // The words of built-in profiles are known to be valid, and every start would pay for the check.
        if let Some(rules) = &own {
            let words: Vec<String> = rules.allow.iter().chain(&rules.exclude).cloned().collect();
            let refused = |error| GrantError::Profile { name: key.name.clone(), error };
            ToolSelection::check(TOOL_SET, &words).map_err(refused)?;
        }
        let rules = own.or_else(|| ProfileRules::built_in(&key.name));
        let mut rules = rules.ok_or_else(|| GrantError::NoProfile(key.name.clone()))?;
        if key.read_only {
            // A tool that could never change anything is not offered.
            rules.most = Effect::Read;
        }
        Ok(ProfileView::new(&key.name, TOOL_SET, &rules, &self.selection, &key.vaults)?)
    }
}

/// The scopes that a client needs to call a tool, if those that it has do not cover it: all of them at once, so that one
/// more consent is enough.
pub(crate) fn lacking_scopes(tool: &str, scopes: &ScopeSet) -> Option<String> {
    let is_named = |spec: &ToolSpec| spec.name() == tool || spec.declaration.dotted == Some(tool);
    let spec = TOOL_SET.tools.iter().map(|known| known.spec()).find(is_named)?;
    if covers(&spec, scopes) {
        return None;
    }
    let needed = match levels(&spec).1 {
        ToolLevel::Read => "vault:read",
        ToolLevel::Write => "vault:read vault:write",
        ToolLevel::Admin => "vault:read vault:write vault:destroy",
    };
    Some(needed.to_owned())
}

fn covers(spec: &ToolSpec, scopes: &ScopeSet) -> bool {
    let (own, whole) = levels(spec);
    // In the order from narrow to wide; any one is enough.
    scopes.covers_tool(spec.name(), own)
        || scopes.covers_group(spec.declaration.group.name())
        || scopes.covers_vault(whole)
}

/// The part of a profile that scopes cover.
fn within(profile: ProfileView, scopes: &ScopeSet) -> ProfileView {
    let covers = |spec: &ToolSpec| covers(spec, scopes);
    let shows = |group: ToolGroup| {
        // The names of resources in the scopes of obsidian-mcp-server.
        let resource = match group {
            ToolGroup::Read => Some("obsidian-vault-note"),
            ToolGroup::Vault => Some("obsidian-tags"),
            _ => None,
        };
        let vault = scopes.covers_vault(ToolLevel::Read) || scopes.covers_group(group.name());
        vault || resource.is_some_and(|resource| scopes.covers_resource(resource))
    };
    profile.within(&covers, &shows)
}

/// The level of a tool in its own scope, where deleting is writing as in the original, and in a scope for the whole vault.
/// The calls of a batch, a relay or a recipe are judged separately, and those of a recipe may all read.
fn levels(spec: &ToolSpec) -> (ToolLevel, ToolLevel) {
    // Other servers may do anything, and a list of their tools starts them.
    if spec.declaration.group == ToolGroup::Mcp {
        return (ToolLevel::Admin, ToolLevel::Admin);
    }
    match (spec.kind, spec.effect) {
        (ToolKind::Read | ToolKind::Agent | ToolKind::Relay | ToolKind::Steps, _) => (ToolLevel::Read, ToolLevel::Read),
        (ToolKind::Write, Effect::Destroy) => (ToolLevel::Write, ToolLevel::Admin),
        (ToolKind::Action | ToolKind::Forward, Effect::Destroy) => (ToolLevel::Admin, ToolLevel::Admin),
        (ToolKind::Write | ToolKind::Batch | ToolKind::Action | ToolKind::Forward, _) => {
            (ToolLevel::Write, ToolLevel::Write)
        }
    }
}

/// The folders of a client, if it has its own.
fn own_paths(rights: &TokenRights) -> Result<Option<Policy>, ScopeError> {
    let TokenRights { read_paths, write_paths, read_only, .. } = rights;
    if (read_paths, write_paths, *read_only) == (&None, &None, false) {
        return Ok(None);
    }
    let (read, write) = (prefixes(read_paths)?, prefixes(write_paths)?);
    // Refusing to create a file would reveal whether it exists, so a caller cannot write where it cannot read.
    let write = write.or_else(|| read.clone());
    Ok(Some(Policy { read, write, read_only: *read_only, ..Policy::default() }))
}

pub(crate) fn prefixes(list: &Option<Vec<String>>) -> Result<Option<Vec<PathPrefix>>, ScopeError> {
    list.as_ref().map(|list| list.iter().map(|prefix| PathPrefix::parse(prefix)).collect()).transpose()
}
