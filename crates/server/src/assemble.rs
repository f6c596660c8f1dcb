//! From a configuration to an executor that is ready for calls. Opens no vault: that happens on the first call.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use lapidary_auth::{AuthStore, AuthStoreError, GrantRecord, TokenRights};
use lapidary_meaning::ModelChoice;
use lapidary_media::{ChildDecoder, InProcessDecoder, OcrReader};
use lapidary_pipeline::{
    AUDIT_FILE, ApprovalRule, ApprovalRules, CALL_MARK, CallLimits, Clock, Executor, ExecutorSetup, GrantLookup,
    LONGEST_RUN, ServedVault, ServedVaults,
};
use lapidary_plugin::RemoteBackend;
use lapidary_query::nearest;
use lapidary_tools::{
    AppBridge, AttachmentDecoder, BUILT_IN_PROFILES, Effect, MissingSetting, NO_MEMORY, NO_RECIPES, NO_SCHEMAS,
    NO_SCRIPTS, NO_SERVERS, NamePattern, NoDecoder, OtherServers, OwnerSettings, TOOLS, ToolLimits, ToolSelection,
    VaultShape, WebAccess,
};
use lapidary_vault::{
    DocumentReader, FolderNames, GlobError, ImportFolder, InnerVault, PathGlobs, PathPrefix, Policy, ScopeError,
    SourceRules, Vault, VaultLimits, VaultPath,
    store::{
        ApprovalQueue, ApprovedRecipes, DemoFolder, FolderStore, LogFile, PosixBackend, Retention, StateFolder,
        StateProblem, SystemTrash, is_ours_alone, open_state_database, place_within,
    },
};

use crate::{
    app_bridge::PluginApp,
    demo,
    grants::{GrantError, GrantMaker, prefixes},
    http::{ConfiguredClient, KnownClient},
    models,
    other_servers::{self, ServersInVault},
    remote_vault,
    trusted_roots::usable_roots,
    web_fetcher::WebFetcher,
};

/// The database of tokens, in the state folder.
pub(crate) const AUTH_FILE: &str = "auth.db";

pub(crate) struct AssembledServer {
    pub(crate) executor: Arc<Executor>,
    pub(crate) vaults: Vec<lapidary_config::ChosenVault>,
    pub(crate) grants: Arc<GrantMaker>,
    /// Clients whose tokens are in the configuration.
    pub(crate) configured: Vec<ConfiguredClient>,
    /// Tokens that the owner made.
    pub(crate) auth: Arc<AuthStore>,
    /// The folder with the state of all vaults.
    pub(crate) state: PathBuf,
    /// Removed when the server ends.
    _demo: Option<DemoFolder>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("{0}")]
    Grant(GrantError),
    #[error(
        "approval rules: there is no tool `{tool}`{}",
        nearest.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
    )]
    Rule { tool: String, nearest: Option<&'static str> },
    #[error(
        "approval rules: write a tool of another server like mcp:SERVER/TOOL, with a server of `mcp.servers`, not '{tool}'"
    )]
    CallRule { tool: String },
    #[error("{0}")]
    Servers(#[from] ServersInVault),
    #[error("path policy: {0}")]
    Scope(#[from] ScopeError),
    #[error("`{list}` of the vault '{vault}': {error}")]
    Globs { vault: String, list: &'static str, error: GlobError },
    #[error("{setting}: write a place in the vault that is not hidden, like {example}")]
    HiddenFolder { setting: &'static str, example: &'static str },
    #[error("the demo vault could not be unpacked: {0}")]
    Demo(std::io::Error),
    #[error("`vaults` of the token '{name}': write some of those that are served: {}", vaults.join(", "))]
    TokenVault { name: String, vaults: Vec<String> },
    #[error("the vault '{vault}' cannot be reached: {problem}")]
    Remote { vault: String, problem: String },
    #[error("no vault is configured")]
    NoVault,
    #[error("the state folder {folder} is not used: {problem}; or set LAPIDARY_STATE_DIR to another folder")]
    State { folder: String, problem: StateProblem },
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// The purpose of an executor.
#[derive(Clone, Copy)]
pub(crate) struct ExecutorPurpose {
    /// Building a profile takes a moment, so only those in use are built, unless all are wanted.
    pub(crate) every_profile: bool,
    /// A command asks once, and wants the best answer; a client would rather have one soon.
    pub(crate) waits_for_index: bool,
}

pub(crate) fn assemble(
    config: &lapidary_config::Config,
    purpose: ExecutorPurpose,
) -> Result<AssembledServer, StartError> {
    // The demo is unpacked for each start, so that nothing a visitor does is left for the next.
    let (chosen, demo) = match &config.vaults {
        lapidary_config::VaultsConfig::Chosen(chosen) => (chosen.clone(), None),
        lapidary_config::VaultsConfig::Demo => {
            let folder = demo::unpack().map_err(StartError::Demo)?;
            let path = folder.path().to_owned();
            let access = lapidary_config::VaultAccess::default();
            let name = demo::NAME.to_owned();
            (vec![lapidary_config::ChosenVault { name, path, access, remote: None }], Some(folder))
        }
    };
    // The demo keeps its state in its own folder, so that trying it out leaves nothing behind.
    let state = demo.as_ref().map_or_else(|| config.state_dir.clone(), DemoFolder::state);
    // Before anything is opened in it: a folder that others can write to could hold forged history.
    is_ours_alone(&state).map_err(|problem| StartError::State { folder: state.display().to_string(), problem })?;
    // Split into first and rest because `ServedVaults` cannot be empty by its type.
    let model = models::chosen(config);
    let mut served = chosen.iter().map(|vault| serve(vault, &chosen, &state, config, purpose, &model));
    let first = served.next().ok_or(StartError::NoVault)??;
    let vaults = ServedVaults::new(first, served.collect::<Result<_, _>>()?);
    // The demo brings its recipes along, and they are ours, so they can be tried at once.
    let recipes = config.recipes.as_deref().or(demo.as_ref().map(|_| demo::RECIPES));
    if demo.is_some() {
        demo::approve_recipes(vaults.first()).map_err(StartError::Demo)?;
    }
    // The same for all grants; profiles and scopes narrow it further.
    let selection = ToolSelection {
        chosen: config.tools.include.clone().unwrap_or_default(),
        excluded: config.tools.exclude.clone(),
        read_only: config.access.read_only,
        commands: config.app.commands && config.app.is_used,
        dotted_names: config.tools.dotted_names,
        not_set_up: not_set_up(config, recipes),
        servers_read: other_servers::some_only_read(&config.mcp),
    };
    let names: Vec<String> = vaults.iter().map(|served| served.vault.name().to_owned()).collect();
    let grants = GrantMaker::new(config, selection, names);
    // The rights of a caller without a token: everything that the configuration opens, and never more.
    let grant = grants.grant(&TokenRights::default())?;
    // All at start, so that a mistake in the configuration stops the server and not a client's first call.
    let configured =
        config.tokens.iter().map(|token| configured_client(token, &grants)).collect::<Result<Vec<_>, _>>()?;
    // Not opened yet. A server over stdio needs no tokens, and should not make a database for them.
    let (auth, grants) = (Arc::new(auth_store(state.clone())), Arc::new(grants));
    let mut profiles = vec![Arc::clone(&grant.profile)];
    if purpose.every_profile {
        let own = config.profiles.keys().map(String::as_str);
        for name in BUILT_IN_PROFILES.into_iter().chain(own) {
            profiles.push(grants.whole_profile(name)?);
        }
    }
    // One value with everything, so that the executor has no other way to learn about the configuration.
    // Read only if something reaches others.
    let roots = LazyLock::new(|| usable_roots(config.authorities.as_deref()));
    let roots = || roots.clone();
    let setup = ExecutorSetup {
        grant,
        known: known_grants(&configured, &grants, &auth),
        profiles,
        vaults,
        rules: rules(config)?,
        // No other process sees the copy of the demo vault, so no approval could be given.
        waits_for_approval: config.approval.pending && demo.is_none(),
        asks_before_deleting: config.ask_before_deleting,
        skills: vault_folder("skills_folder", "Skills", config.skills.as_deref())?,
        memory: vault_folder("memory_folder", "Memory", config.memory.as_deref())?,
        recipes: vault_folder("recipe_folder", "Recipes", recipes)?,
        owner: owner_settings(config)?,
        shape: shape(config)?,
        decoder: decoders().pictures,
        web: WebFetcher::of(&config.web, &roots).map(|web| Arc::new(web) as Arc<dyn WebAccess>),
        servers: other_servers::configured(&config.mcp, &chosen, &roots)?
            .map(|servers| Arc::new(servers) as Arc<dyn OtherServers>),
        imports: config.imports.clone().map(ImportFolder::new),
        limits: limits(config),
        clock: Clock::system(),
    };
    let executor = Executor::new(setup).map_err(|error| StartError::Random(error.to_string()))?;
    Ok(AssembledServer { executor: Arc::new(executor), vaults: chosen, grants, configured, auth, state, _demo: demo })
}

/// Whether this process is the program itself, and not one that holds a server.
static IS_PROGRAM: AtomicBool = AtomicBool::new(false);

/// From now on, attachments are decoded by this program, started again.
pub(crate) fn can_start_itself() {
    IS_PROGRAM.store(true, Ordering::Relaxed);
}

/// Who decodes attachments.
struct Decoders {
    pictures: Arc<dyn AttachmentDecoder>,
    documents: Option<Arc<dyn DocumentReader>>,
}

/// Who reads documents, if that is possible: with the program that recognises text on pictures, if the owner named one.
pub(crate) fn document_reader(ocr: &[String]) -> Option<Arc<dyn DocumentReader>> {
    let Decoders { pictures, documents } = decoders();
    let documents = documents?;
    match ocr.split_first() {
        Some((program, arguments)) if !program.is_empty() => {
            Some(Arc::new(OcrReader::new(documents, pictures, program, arguments)))
        }
        _ => Some(documents),
    }
}

fn decoders() -> Decoders {
    // A program that holds a server in itself cannot be started again as a decoder.
    if !IS_PROGRAM.load(Ordering::Relaxed) {
        return Decoders { pictures: Arc::new(InProcessDecoder), documents: Some(Arc::new(InProcessDecoder)) };
    }
    // On Linux by the running program itself: an update may have replaced the file.
    let program = if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() };
    match program {
        Ok(program) => {
            let decoder = Arc::new(ChildDecoder::new(program));
            Decoders { pictures: Arc::<ChildDecoder>::clone(&decoder), documents: Some(decoder) }
        }
        Err(error) => {
            tracing::warn!("attachments cannot be decoded: the program does not find itself: {error}");
            Decoders { pictures: Arc::new(NoDecoder), documents: None }
        }
    }
}

fn serve(
    vault: &lapidary_config::ChosenVault,
    all: &[lapidary_config::ChosenVault],
    state: &Path,
    config: &lapidary_config::Config,
    purpose: ExecutorPurpose,
    model: &ModelChoice,
) -> Result<ServedVault, StartError> {
    let state = Arc::new(state_of(state, vault));
    let limits = VaultLimits {
        max_file_bytes: config.limits.max_file_bytes,
        max_text_bytes: config.limits.text_memory_bytes,
        max_vector_bytes: config.limits.meaning_memory_bytes,
        max_document_bytes: config.limits.document_text_bytes,
        retention: Retention { age: config.limits.checkpoint_age, bytes: config.limits.checkpoint_bytes },
    };
    let policy = policy(config, vault)?;
    // Vaults may be nested; then the rules of the inner one hold in the outer one, too.
    let inner = all.iter().filter_map(|inner| Some((place_within(vault.folder()?, inner.folder()?)?, inner)));
    let inner = inner.map(|(at, inner)| inner_vault(at, inner, config)).collect::<Result<_, _>>()?;
    let name = vault.name.clone();
    // Both ways end in the same facade; nothing above knows which it is.
    let served = match &vault.remote {
        Some(remote) => {
            let backend =
                Arc::new(RemoteBackend::new(remote_vault::connection(vault, remote, config)?, &state, &limits));
            Vault::kept(name, backend, &state, policy, limits)
        }
        None => {
            let store = FolderStore::new(vault.path.clone())
                .following(vault.access.follow.clone())
                .with_trash(config.trash_home.as_deref().map(SystemTrash::in_data_home));
            Vault::shared(name, Arc::new(store), &state, policy, limits).around(inner)
        }
    };
    let served = served.waiting_for_index(purpose.waits_for_index);
    let served = match document_reader(&config.ocr) {
        Some(reader) => served.reading_documents(reader),
        None => served,
    };
    Ok(ServedVault {
        vault: Arc::new(served.with_model(model.clone())),
        // Under the vault's own state, so that `lapidary log` of one vault shows nothing of another.
        log: LogFile::new(Arc::clone(&state), AUDIT_FILE, config.limits.audit_max_bytes),
        recipes: ApprovedRecipes::new(Arc::clone(&state)),
        waiting: ApprovalQueue::new(state),
        app: app(vault, all.len() == 1, config),
    })
}

/// Where the state of a vault is kept.
pub(crate) fn state_of(state: &Path, vault: &lapidary_config::ChosenVault) -> StateFolder {
    match &vault.remote {
        // By the key as well: another vault may be opened in the app at the same address.
        Some(remote) => StateFolder::of_remote(state.to_owned(), &format!("{}\n{}", remote.url, remote.key.digest())),
        None => StateFolder::new(state.to_owned(), vault.path.clone()),
    }
}

/// The Obsidian app of a vault, which is looked for when it is needed.
fn app(
    vault: &lapidary_config::ChosenVault,
    is_only: bool,
    config: &lapidary_config::Config,
) -> Option<Arc<dyn AppBridge>> {
    // A copy of the demo vault is open in no app.
    let is_there = config.app.is_used && !matches!(config.vaults, lapidary_config::VaultsConfig::Demo);
    is_there.then(|| Arc::new(PluginApp::of_vault(vault, &config.app, is_only)) as Arc<dyn AppBridge>)
}

/// Another vault, as this one has to respect it. Only its rules are read.
fn inner_vault(
    at: VaultPath,
    vault: &lapidary_config::ChosenVault,
    config: &lapidary_config::Config,
) -> Result<InnerVault, StartError> {
    let store = FolderStore::new(vault.path.clone()).following(vault.access.follow.clone());
    Ok(InnerVault::new(at, Arc::new(PosixBackend::private(Arc::new(store))), policy(config, vault)?))
}

fn policy(config: &lapidary_config::Config, vault: &lapidary_config::ChosenVault) -> Result<Policy, StartError> {
    let access = &config.access;
    // One that cannot be found is not there, or its name is not one that a caller could give.
    // A settings file inside the vault is closed by its path, like a rule of the owner.
    let own_files = config.own_files.iter().filter_map(|file| place_within(vault.folder()?, file));
    let globs = |list: &'static str, patterns: &[String]| {
        PathGlobs::parse(patterns).map_err(|error| StartError::Globs { vault: vault.name.clone(), list, error })
    };
    Ok(Policy {
        read: prefixes(&access.read_paths)?,
        write: prefixes(&access.write_paths)?,
        deny: prefixes(&access.deny_paths)?.unwrap_or_default(),
        read_only: access.read_only,
        sources: SourceRules {
            paths: prefixes(&Some(access.source_paths.clone()))?.unwrap_or_default(),
            marks: access.source_marks.clone(),
        },
        own_files: own_files.map(|file| PathPrefix::parse(file.as_str())).collect::<Result<_, _>>()?,
        allow_globs: vault.access.allow.as_deref().map(|patterns| globs("allow", patterns)).transpose()?,
        deny_globs: globs("deny", &vault.access.deny)?,
        skip_folders: FolderNames::new(&access.skip_folders),
        hide_excluded: access.hide_excluded,
    })
}

/// What the owner lets a client with this token use. In a configuration, a vault that is not served is a mistake.
fn configured_client(
    token: &lapidary_config::TokenConfig,
    grants: &GrantMaker,
) -> Result<ConfiguredClient, StartError> {
    // Vaults of a stored token may be those of another server; in the configuration they can only be a typo.
    let is_lost = |vault: &String| !grants.vaults().contains(vault);
    if token.vaults.as_ref().is_some_and(|vaults| vaults.is_empty() || vaults.iter().any(is_lost)) {
        return Err(StartError::TokenVault { name: token.name.clone(), vaults: grants.vaults().to_vec() });
    }
    let rights = TokenRights {
        profile: token.profile.clone(),
        vaults: token.vaults.clone(),
        read_paths: token.read_paths.clone(),
        write_paths: token.write_paths.clone(),
        read_only: token.read_only,
        scopes: None,
    };
    let client = KnownClient::configured(&token.name, grants.grant(&rights)?);
    Ok(ConfiguredClient { digest: token.digest, client })
}

/// What callers with tokens may use at the moment of asking, for commands that act for them: a token may have been revoked since
/// they started.
fn known_grants(configured: &[ConfiguredClient], grants: &Arc<GrantMaker>, auth: &Arc<AuthStore>) -> GrantLookup {
    let (configured, grants, auth) = (configured.to_vec(), Arc::clone(grants), Arc::clone(auth));
    // At the moment of asking, not at start: revoking must work without a restart.
    GrantLookup::new(move |name| {
        if let Some(token) = configured.iter().find(|token| token.client.name == name) {
            return Some(Arc::clone(&token.client.grant));
        }
        let rights = stored_rights(&auth, name).unwrap_or_else(|error| {
            tracing::warn!("the tokens cannot be read: {error}");
            None
        });
        // What this process cannot grant it cannot act for; the token may be for other vaults.
        grants.grant(&rights?).ok()
    })
}

/// The rights of the live token or grant of this principal.
fn stored_rights(auth: &AuthStore, name: &str) -> Result<Option<TokenRights>, AuthStoreError> {
    let now = Clock::system().now().into();
    // By name, because that is all a pending request keeps of its caller.
    let token =
        auth.tokens()?.into_iter().find(|token| token.is_live(now) && KnownClient::name_of(&token.name) == name);
    if let Some(token) = token {
        return Ok(Some(token.rights));
    }
    let is_asked = |granted: &GrantRecord| KnownClient::name_of(&GrantRecord::name_of(granted.id)) == name;
    let granted = auth.grants()?.into_iter().find(|granted| granted.is_live(now) && is_asked(granted));
    Ok(granted.map(|granted| {
        // A grant's scopes narrow the rights, so they are looked up together.
        let scopes = Some(granted.scope.split_whitespace().map(str::to_owned).collect());
        TokenRights { scopes, ..granted.rights }
    }))
}

/// The tokens that the owner made, whichever vaults are served.
pub(crate) fn auth_store(state: PathBuf) -> AuthStore {
    // The path is added here: the store knows databases, not folders or variables.
    AuthStore::new(Box::new(move |make| {
        open_state_database(&state, AUTH_FILE, make)
            .map_err(|error| format!("{error}, in the state folder {} (LAPIDARY_STATE_DIR)", state.display()))
    }))
}

impl From<GrantError> for StartError {
    fn from(error: GrantError) -> Self {
        match error {
            GrantError::Paths(error) => Self::Scope(error),
            error => Self::Grant(error),
        }
    }
}

/// A folder or note of the vaults. Names that start with a dot are closed, so nothing could ever be read or written there.
fn vault_folder(
    setting: &'static str,
    example: &'static str,
    written: Option<&str>,
) -> Result<Option<VaultPath>, StartError> {
    let Some(written) = written else { return Ok(None) };
    let is_hidden = |folder: &VaultPath| folder.as_str().split('/').any(|name| name.starts_with('.'));
    let folder = VaultPath::parse(written).ok().filter(|folder| !is_hidden(folder));
    folder.map(Some).ok_or(StartError::HiddenFolder { setting, example })
}

/// What the owner says about the notes of the vaults.
fn owner_settings(config: &lapidary_config::Config) -> Result<OwnerSettings, StartError> {
    let guide = |written: &str| vault_folder("guide_note", "Meta/Guide.md", Some(written));
    let guides = match &config.guide {
        lapidary_config::GuideChoice::Usual => OwnerSettings::USUAL_GUIDES.to_vec(),
        lapidary_config::GuideChoice::Note(note) => vec![note.as_str()],
        lapidary_config::GuideChoice::Off => Vec::new(),
    };
    let folder = |(folder, words): (&String, &String)| {
        let folder = vault_folder("folders", "Areas/Garden", Some(folder))?;
        Ok(folder.map(|folder| (folder, words.clone())))
    };
    Ok(OwnerSettings {
        guides: guides.into_iter().map(guide).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect(),
        guide_bytes: config.limits.guide_bytes,
        folders: config.folders.iter().map(folder).filter_map(Result::transpose).collect::<Result<_, StartError>>()?,
        sources: vault_folder("sources_folder", "Sources", Some(&config.sources))?,
    })
}

/// Groups of tools that lack a setting without which they are off.
fn not_set_up(config: &lapidary_config::Config, recipes: Option<&str>) -> Vec<MissingSetting> {
    let lacking = [
        (NO_MEMORY, config.memory.is_none()),
        (NO_SCHEMAS, config.schemas.is_none()),
        (NO_RECIPES, recipes.is_none()),
        (NO_SCRIPTS, !config.scripts),
        (NO_SERVERS, config.mcp.servers.is_empty() || config.mcp.is_nested),
    ];
    let lacking = lacking.into_iter().filter(|(_, lacks)| *lacks).map(|(setting, _)| setting);
    lacking.chain(WebFetcher::missing_settings(&config.web)).collect()
}

/// How the owner wants the vaults to look.
fn shape(config: &lapidary_config::Config) -> Result<VaultShape, StartError> {
    let note = |setting, example, written: &str| {
        vault_folder(setting, example, Some(written))?.ok_or(StartError::HiddenFolder { setting, example })
    };
    let mut shape = VaultShape::new(vault_folder("schema_folder", "Schemas", config.schemas.as_deref())?);
    let index = |written: &String| note("upkeep.index_notes", "Projects/Index.md", written);
    shape.index_notes = config.upkeep.index_notes.iter().map(index).collect::<Result<_, _>>()?;
    let log = config.upkeep.log_note.as_deref();
    shape.log_note = log.map(|written| note("upkeep.log_note", "Log.md", written)).transpose()?;
    Ok(shape)
}

fn rules(config: &lapidary_config::Config) -> Result<ApprovalRules, StartError> {
    let approval = &config.approval;
    let own = |rule: &lapidary_config::RuleConfig| -> Result<ApprovalRule, StartError> {
        if let Some(call) = rule.tool.as_ref().filter(|tool| tool.starts_with(CALL_MARK)) {
            return call_rule(rule, call, &config.mcp);
        }
        // The dotted spelling is accepted wherever a tool is named.
        // Rules are matched by the plain name alone, so the dotted one is replaced.
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
    // After the owner's own rules: the first match decides.
    rules.push(ApprovalRule::effect(Effect::Write, approval.write));
    rules.push(ApprovalRule::effect(Effect::Destroy, approval.destroy));
    Ok(ApprovalRules(rules))
}

/// A rule about tools of other servers.
fn call_rule(
    rule: &lapidary_config::RuleConfig,
    tool: &str,
    config: &lapidary_config::McpConfig,
) -> Result<ApprovalRule, StartError> {
    let pattern = tool.strip_prefix(CALL_MARK).filter(|pattern| NamePattern::parse(pattern).is_some());
    let server = pattern.and_then(|pattern| Some(pattern.split_once('/')?.0));
    let is_known = |server: &str| server.contains('*') || config.servers.iter().any(|known| known.name == server);
    // A path would never match, and the rule would promise what it does not hold.
    if !server.is_some_and(is_known) || rule.path.is_some() {
        return Err(StartError::CallRule { tool: tool.to_owned() });
    }
    Ok(ApprovalRule {
        effect: rule.effect,
        group: rule.group,
        tool: Some(tool.to_owned()),
        path: None,
        decision: rule.decision,
    })
}

fn limits(config: &lapidary_config::Config) -> CallLimits {
    CallLimits {
        max_file_bytes: config.limits.max_file_bytes,
        max_change_bytes: config.limits.max_change_bytes,
        max_reply_bytes: config.limits.max_reply_bytes as u64,
        memory_bytes: config.limits.memory_bytes,
        deadline: config.limits.deadline,
        run_time: LONGEST_RUN,
        answer_within: config.limits.ask_timeout,
        repetition: config.repetition,
        tools: ToolLimits {
            max_files: config.limits.max_files_scanned,
            max_bytes: config.limits.max_bytes_read,
            max_operations: config.limits.max_bulk_ops,
        },
    }
}
