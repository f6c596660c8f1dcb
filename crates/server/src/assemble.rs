//! From a configuration to an executor that is ready for calls. Opens no vault: that happens on the first call.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use lapidary_pipeline::{
    AUDIT_FILE, ApprovalRule, ApprovalRules, CallLimits, Clock, Executor, ExecutorSetup, Grant, ServedVault,
    ServedVaults,
};
use lapidary_query::nearest;
use lapidary_tools::{
    BUILT_IN_PROFILES, Effect, ProfileRules, ProfileView, ScanLimits, SelectionError, TOOL_SET, TOOLS, ToolSelection,
};
use lapidary_vault::{
    FolderNames, GlobError, InnerVault, PathGlobs, PathPrefix, Policy, ScopeError, Vault, VaultLimits, VaultPath,
    store::{
        ApprovalQueue, DemoFolder, FolderStore, LogFile, PosixBackend, Retention, StateFolder, StateProblem,
        SystemTrash, is_ours_alone, place_within,
    },
};

use crate::{
    config, demo,
    http::{TokenHashes, TokenIdentity},
};

pub(crate) struct AssembledServer {
    pub(crate) executor: Arc<Executor>,
    pub(crate) vaults: Vec<config::ChosenVault>,
    pub(crate) tokens: TokenHashes,
    /// Removed when the server ends.
    _demo: Option<DemoFolder>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("--tools or --exclude-tools: {0}")]
    Tools(#[from] SelectionError),
    #[error("profile '{name}': {error}")]
    Profile { name: String, error: SelectionError },
    #[error(
        "approval rules: there is no tool `{tool}`{}",
        nearest.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
    )]
    Rule { tool: String, nearest: Option<&'static str> },
    #[error("path policy: {0}")]
    Scope(#[from] ScopeError),
    #[error("`{list}` of the vault '{vault}': {error}")]
    Globs { vault: String, list: &'static str, error: GlobError },
    #[error("skills_folder: write a folder of the vault that is not hidden, like Skills")]
    Skills,
    #[error("the demo vault could not be unpacked: {0}")]
    Demo(std::io::Error),
    #[error("`vaults` of the token '{name}': write some of those that are served: {}", vaults.join(", "))]
    TokenVault { name: String, vaults: Vec<String> },
    #[error("no vault is configured")]
    NoVault,
    #[error("the state folder {folder} is not used: {problem}; or set LAPIDARY_STATE_DIR to another folder")]
    State { folder: String, problem: StateProblem },
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// What an executor is made for.
#[derive(Clone, Copy)]
pub(crate) struct ExecutorPurpose {
    /// Making a profile takes a moment, so only those that somebody can have are made, unless all are wanted.
    pub(crate) every_profile: bool,
    /// Whoever types a command asks once, and wants the best answer; a client would rather have one soon.
    pub(crate) waits_for_index: bool,
}

pub(crate) fn assemble(config: &config::Config, purpose: ExecutorPurpose) -> Result<AssembledServer, StartError> {
    let (chosen, demo) = match &config.vaults {
        config::VaultsConfig::Chosen(chosen) => (chosen.clone(), None),
        config::VaultsConfig::Demo => {
            let folder = demo::unpack().map_err(StartError::Demo)?;
            let path = folder.path().to_owned();
            let access = config::VaultAccess::default();
            (vec![config::ChosenVault { name: demo::NAME.to_owned(), path, access }], Some(folder))
        }
    };
    let state = demo.as_ref().map_or_else(|| config.state_dir.clone(), DemoFolder::state);
    is_ours_alone(&state).map_err(|problem| StartError::State { folder: state.display().to_string(), problem })?;
    let mut served = chosen.iter().map(|vault| serve(vault, &chosen, &state, config, purpose));
    let first = served.next().ok_or(StartError::NoVault)??;
    let vaults = ServedVaults::new(first, served.collect::<Result<_, _>>()?);
    let selection = ToolSelection {
        chosen: config.tools.include.clone().unwrap_or_default(),
        excluded: config.tools.exclude.clone(),
        read_only: config.access.read_only,
        dotted_names: config.tools.dotted_names,
    };
    let names: Vec<String> = vaults.iter().map(|served| served.vault.name().to_owned()).collect();
    let mut profiles = ProfileCache { config, selection: &selection, made: BTreeMap::new() };
    let grant = Arc::new(Grant::of(profiles.make(&config.profile, &names, false)?));
    let known = config.tokens.iter().map(|token| {
        let grant = granted(token, &mut profiles, &names)?;
        Ok((token.digest, TokenIdentity { name: token.name.clone(), grant: Arc::new(grant) }))
    });
    let known = known.collect::<Result<Vec<_>, StartError>>()?;
    let grants = known.iter().map(|(_, known)| (known.principal_name(), Arc::clone(&known.grant))).collect();
    let tokens = TokenHashes::new(known);
    if purpose.every_profile {
        let own = config.profiles.keys().map(String::as_str);
        BUILT_IN_PROFILES.into_iter().chain(own).try_for_each(|name| profiles.make(name, &names, false).map(|_| ()))?;
    }
    let profiles = profiles.made.into_iter().filter(|((_, vaults, read_only), _)| *vaults == names && !read_only);
    let setup = ExecutorSetup {
        grant,
        grants,
        profiles: profiles.map(|(_, profile)| profile).collect(),
        vaults,
        rules: rules(&config.approval)?,
        waits_for_approval: config.approval.pending,
        asks_before_deleting: config.ask_before_deleting,
        skills: config.skills.as_deref().map(skills_folder).transpose()?,
        limits: limits(config),
        clock: Clock::system(),
    };
    let executor = Executor::new(setup).map_err(|error| StartError::Random(error.to_string()))?;
    Ok(AssembledServer { executor: Arc::new(executor), vaults: chosen, tokens, _demo: demo })
}

fn serve(
    vault: &config::ChosenVault,
    all: &[config::ChosenVault],
    state: &Path,
    config: &config::Config,
    purpose: ExecutorPurpose,
) -> Result<ServedVault, StartError> {
    let state = Arc::new(StateFolder::new(state.to_owned(), vault.path.clone()));
    let store = FolderStore::new(vault.path.clone())
        .following(vault.access.follow.clone())
        .with_trash(config.trash_home.as_deref().map(SystemTrash::in_data_home));
    let store = Arc::new(store);
    let limits = VaultLimits {
        max_file_bytes: config.limits.max_file_bytes,
        max_text_bytes: config.limits.text_memory_bytes,
        retention: Retention { age: config.limits.checkpoint_age, bytes: config.limits.checkpoint_bytes },
    };
    let policy = policy(&config.access, vault)?;
    let inner = all.iter().filter_map(|inner| Some((place_within(&vault.path, &inner.path)?, inner)));
    let inner = inner.map(|(at, inner)| inner_vault(at, inner, config)).collect::<Result<_, _>>()?;
    let served = Vault::shared(vault.name.clone(), store, &state, policy, limits).around(inner);
    Ok(ServedVault {
        vault: Arc::new(served.waiting_for_index(purpose.waits_for_index)),
        log: LogFile::new(Arc::clone(&state), AUDIT_FILE, config.limits.audit_max_bytes),
        waiting: ApprovalQueue::new(state),
    })
}

/// Another vault, as this one has to respect it. Only its rules are read.
fn inner_vault(at: VaultPath, vault: &config::ChosenVault, config: &config::Config) -> Result<InnerVault, StartError> {
    let store = FolderStore::new(vault.path.clone()).following(vault.access.follow.clone());
    Ok(InnerVault::new(at, Arc::new(PosixBackend::private(Arc::new(store))), policy(&config.access, vault)?))
}

fn policy(access: &config::PathAccess, vault: &config::ChosenVault) -> Result<Policy, StartError> {
    let globs = |list: &'static str, patterns: &[String]| {
        PathGlobs::parse(patterns).map_err(|error| StartError::Globs { vault: vault.name.clone(), list, error })
    };
    Ok(Policy {
        read: prefixes(&access.read_paths)?,
        write: prefixes(&access.write_paths)?,
        deny: prefixes(&access.deny_paths)?.unwrap_or_default(),
        read_only: access.read_only,
        allow_globs: vault.access.allow.as_deref().map(|patterns| globs("allow", patterns)).transpose()?,
        deny_globs: globs("deny", &vault.access.deny)?,
        skip_folders: FolderNames::new(&access.skip_folders),
        hide_excluded: access.hide_excluded,
    })
}

/// What the owner lets a client with this token use.
fn granted(
    token: &config::TokenConfig,
    profiles: &mut ProfileCache<'_>,
    names: &[String],
) -> Result<Grant, StartError> {
    let profile = token.profile.as_deref().unwrap_or(&profiles.config.profile);
    let own: Vec<String> = match &token.vaults {
        Some(vaults) => names.iter().filter(|name| vaults.contains(name)).cloned().collect(),
        None => names.to_vec(),
    };
    let is_lost = |vault: &&String| !names.contains(vault);
    if own.is_empty() || token.vaults.iter().flatten().any(|vault| is_lost(&vault)) {
        return Err(StartError::TokenVault { name: token.name.clone(), vaults: names.to_vec() });
    }
    Ok(Grant {
        profile: profiles.make(profile, &own, token.read_only)?,
        paths: own_paths(token)?.map(Arc::new),
        vaults: token.vaults.is_some().then_some(own),
    })
}

/// The folders of a token, if it has any of its own.
fn own_paths(token: &config::TokenConfig) -> Result<Option<Policy>, ScopeError> {
    let config::TokenConfig { read_paths, write_paths, read_only, .. } = token;
    if (read_paths, write_paths, *read_only) == (&None, &None, false) {
        return Ok(None);
    }
    let (read, write) = (prefixes(read_paths)?, prefixes(write_paths)?);
    // A refusal to make a file would tell what is there, so nobody writes where they cannot read.
    let write = write.or_else(|| read.clone());
    Ok(Some(Policy { read, write, read_only: *read_only, ..Policy::default() }))
}

fn prefixes(list: &Option<Vec<String>>) -> Result<Option<Vec<PathPrefix>>, ScopeError> {
    list.as_ref().map(|list| list.iter().map(|prefix| PathPrefix::parse(prefix)).collect()).transpose()
}

/// Makes each profile once for each choice of vaults, which tools name in their schemas.
struct ProfileCache<'a> {
    config: &'a config::Config,
    selection: &'a ToolSelection,
    made: BTreeMap<(String, Vec<String>, bool), Arc<ProfileView>>,
}

impl ProfileCache<'_> {
    fn make(&mut self, name: &str, vaults: &[String], read_only: bool) -> Result<Arc<ProfileView>, StartError> {
        let key = (name.to_owned(), vaults.to_vec(), read_only);
        if let Some(made) = self.made.get(&key) {
            return Ok(Arc::clone(made));
        }
        let own = self.config.profiles.get(name).cloned();
        // Of those that are always there the words are known, and every start would pay for the look.
        if let Some(rules) = &own {
            let words: Vec<String> = rules.allow.iter().chain(&rules.exclude).cloned().collect();
            ToolSelection::check(TOOL_SET, &words)
                .map_err(|error| StartError::Profile { name: name.to_owned(), error })?;
        }
        // The configuration was refused if there is no such profile.
        let mut rules = own.or_else(|| ProfileRules::built_in(name)).unwrap_or_else(ProfileRules::reader);
        if read_only {
            // What could never change anything is not offered.
            rules.most = Effect::Read;
        }
        let profile = Arc::new(ProfileView::new(name, TOOL_SET, &rules, self.selection, vaults)?);
        self.made.insert(key, Arc::clone(&profile));
        Ok(profile)
    }
}

/// What begins with a dot is closed to everybody, so no playbook would ever be found there.
fn skills_folder(written: &str) -> Result<VaultPath, StartError> {
    let folder = VaultPath::parse(written).map_err(|_| StartError::Skills)?;
    let hidden = folder.as_str().split('/').any(|name| name.starts_with('.'));
    if hidden { Err(StartError::Skills) } else { Ok(folder) }
}

fn rules(approval: &config::ApprovalConfig) -> Result<ApprovalRules, StartError> {
    let own = |rule: &config::RuleConfig| -> Result<ApprovalRule, StartError> {
        let tool = rule.tool.as_ref().map(|name| name.replace('.', "_"));
        let names = || TOOLS.iter().map(|tool| tool.spec().name());
        if let Some(tool) = tool.as_ref().filter(|tool| !names().any(|name| name == *tool)) {
            return Err(StartError::Rule { tool: tool.clone(), nearest: nearest(tool, names()) });
        }
        Ok(ApprovalRule {
            effect: rule.effect,
            group: rule.group,
            tool,
            path: rule.path.as_deref().map(PathPrefix::parse).transpose()?,
            decision: rule.decision,
        })
    };
    let mut rules = approval.rules.iter().map(own).collect::<Result<Vec<_>, _>>()?;
    rules.push(ApprovalRule::effect(Effect::Write, approval.write));
    rules.push(ApprovalRule::effect(Effect::Destroy, approval.destroy));
    Ok(ApprovalRules(rules))
}

fn limits(config: &config::Config) -> CallLimits {
    CallLimits {
        max_file_bytes: config.limits.max_file_bytes,
        max_change_bytes: config.limits.max_change_bytes,
        max_reply_bytes: config.limits.max_reply_bytes as u64,
        deadline: config.limits.deadline,
        answer_within: config.limits.ask_timeout,
        repetition: config.repetition,
        scan: ScanLimits {
            max_files: config.limits.max_files_scanned,
            max_bytes: config.limits.max_bytes_read,
            max_operations: config.limits.max_bulk_ops,
        },
    }
}
