//! A server without a transport, on a vault in memory, for the tests of the stages.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use lapidary_media::InProcessDecoder;
use lapidary_recipe::RecipeName;
use lapidary_tools::{
    AppBridge, ChangeAuthor, OtherServers, OwnerSettings, ProfileRules, ProfileView, ReadOperation, ReadPayload,
    Reason, ReasonKind, TOOL_SET, ToolLimits, ToolSelection, VaultShape, WebAccess, recipes,
};
use lapidary_vault::{
    ImportFolder, PathPrefix, Policy, Vault, VaultLimits, VaultPath,
    store::{ApprovalQueue, ApprovedRecipes, LogFile, MemoryStore, StateFolder},
};
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Metadata, Subscriber,
    span::{Attributes, Id, Record},
};

use crate::{
    AUDIT_FILE, ApprovalRule, ApprovalRules, CallLimits, Caller, CallerStanding, Clock, Executor, ExecutorSetup, Grant,
    GrantLookup, Invocation, Outcome, Principal, RepetitionLimits, ServedVault, ServedVaults,
    execution::{CallConclusion, Execution, StageFlow},
    fake_app::FakeApp,
    fake_servers::FakeServers,
    fake_web::FakeWeb,
    stages::STAGES,
};

/// The name of the only vault.
const VAULT: &str = "test";

/// What differs from test to test.
pub(crate) struct TestSetup {
    pub(crate) profile: ProfileRules,
    /// For callers that are known by name.
    pub(crate) known: GrantLookup,
    /// What every caller may use of the vault.
    pub(crate) policy: Policy,
    /// Checked before those that allow everything.
    pub(crate) rules: Vec<ApprovalRule>,
    pub(crate) can_be_asked: bool,
    pub(crate) waits_for_approval: bool,
    pub(crate) notices_repetition: bool,
    pub(crate) asks_before_deleting: bool,
    pub(crate) max_file_bytes: u64,
    pub(crate) max_change_bytes: u64,
    pub(crate) max_reply_bytes: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) tool_limits: ToolLimits,
    pub(crate) run_time: Duration,
    pub(crate) app: Option<Arc<FakeApp>>,
    pub(crate) web: Option<Arc<FakeWeb>>,
    pub(crate) servers: Option<Arc<FakeServers>>,
    pub(crate) shape: VaultShape,
    /// Whether the owner has approved the recipes that the vault begins with.
    pub(crate) approves_recipes: bool,
    /// A folder from which files may be added.
    pub(crate) imports: Option<std::path::PathBuf>,
}

impl Default for TestSetup {
    fn default() -> Self {
        Self {
            profile: ProfileRules::curator(),
            known: GrantLookup::new(|_| None),
            policy: Policy::default(),
            rules: Vec::new(),
            can_be_asked: false,
            waits_for_approval: false,
            notices_repetition: false,
            asks_before_deleting: true,
            max_file_bytes: 1 << 20,
            max_change_bytes: 1 << 24,
            max_reply_bytes: 1 << 20,
            memory_bytes: 1 << 28,
            tool_limits: ToolLimits::default(),
            // Longer than for users: tests run on busy machines.
            run_time: Duration::from_secs(600),
            app: None,
            web: None,
            servers: None,
            shape: VaultShape::default(),
            approves_recipes: false,
            imports: None,
        }
    }
}

impl TestSetup {
    pub(crate) fn serve(self, files: &[(&str, &str)]) -> TestServer {
        // The state of a vault is kept under the name of its folder, which has to exist.
        let (state, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = |(path, text): &(&str, &str)| (VaultPath::parse(path).unwrap(), text.as_bytes().to_vec());
        let store = Arc::new(MemoryStore::new(files.iter().map(file)));
        let folder = Arc::new(StateFolder::new(state.path().to_owned(), vault.path().to_owned()));
        let backend = Arc::<MemoryStore>::clone(&store);
        let in_memory = Vault::new(VAULT.to_owned(), backend, self.policy.clone(), VaultLimits::default())
            .reading_documents(Arc::new(InProcessDecoder));
        let can_be_asked = self.can_be_asked;
        if self.approves_recipes {
            approve_recipes(&ApprovedRecipes::new(Arc::clone(&folder)), files);
        }
        let executor = self.execute_on(in_memory, folder);
        TestServer { executor, store, can_be_asked, folders: [state, vault] }
    }

    /// An executor for one vault.
    pub(crate) fn execute_on(self, vault: Vault, folder: Arc<StateFolder>) -> Arc<Executor> {
        let served = ServedVault {
            vault: Arc::new(vault),
            log: LogFile::new(Arc::clone(&folder), AUDIT_FILE, 1 << 20),
            recipes: ApprovedRecipes::new(Arc::clone(&folder)),
            waiting: ApprovalQueue::new(folder),
            app: self.app.map(|app| app as Arc<dyn AppBridge>),
        };
        let profile = Arc::new(ProfileView::new("test", TOOL_SET, &self.profile, &every_tool_on(), &[]).unwrap());
        let allowed =
            ApprovalRule { effect: None, group: None, tool: None, path: None, decision: crate::RuleDecision::Allow };
        let setup = ExecutorSetup {
            grant: Arc::new(Grant::of(Arc::clone(&profile))),
            known: self.known,
            profiles: vec![profile],
            vaults: ServedVaults::new(served, Vec::new()),
            rules: ApprovalRules(self.rules.into_iter().chain([allowed]).collect()),
            waits_for_approval: self.waits_for_approval,
            asks_before_deleting: self.asks_before_deleting,
            skills: VaultPath::parse("Skills").ok(),
            memory: VaultPath::parse("Memory").ok(),
            recipes: VaultPath::parse("Recipes").ok(),
            owner: OwnerSettings {
                guides: OwnerSettings::USUAL_GUIDES.iter().filter_map(|note| VaultPath::parse(note).ok()).collect(),
                guide_bytes: 1 << 12,
                folders: std::collections::BTreeMap::new(),
                sources: VaultPath::parse("Sources").ok(),
            },
            shape: self.shape,
            decoder: Arc::new(InProcessDecoder),
            web: self.web.map(|web| web as Arc<dyn WebAccess>),
            servers: self.servers.map(|servers| servers as Arc<dyn OtherServers>),
            imports: self.imports.map(ImportFolder::new),
            limits: CallLimits {
                max_file_bytes: self.max_file_bytes,
                max_change_bytes: self.max_change_bytes,
                max_reply_bytes: self.max_reply_bytes,
                memory_bytes: self.memory_bytes,
                deadline: Duration::from_secs(300),
                run_time: self.run_time,
                answer_within: Duration::from_secs(60),
                repetition: RepetitionLimits {
                    noticed: self.notices_repetition,
                    window: 15,
                    allowed: 3,
                    max_failures: 4,
                },
                tools: self.tool_limits,
            },
            clock: Clock::of_examples(),
        };
        Arc::new(Executor::new(setup).unwrap())
    }
}

/// Approves every recipe among these files.
pub(crate) fn approve_recipes(approved: &ApprovedRecipes, files: &[(&str, &str)]) {
    for (path, text) in files {
        let name = path.strip_prefix("Recipes/").and_then(|name| name.strip_suffix(".md")).and_then(RecipeName::parse);
        let definition = lapidary_recipe::recipe_block(text).ok();
        if let (Some(name), Some(definition)) = (name, definition) {
            approved.approve(name.as_str(), recipes::approved_hash(&name, &definition)).unwrap();
        }
    }
}

/// What a stage decided, as a value that can be compared.
#[derive(Debug, PartialEq)]
pub(crate) enum StageVerdict {
    Next,
    Restart,
    Replan,
    Answer,
    Question,
    UnknownTool,
    Refusal(ReasonKind),
}

pub(crate) fn verdict(decided: Result<StageFlow, Reason>) -> StageVerdict {
    match decided {
        Ok(StageFlow::Next) => StageVerdict::Next,
        Ok(StageFlow::Restart) => StageVerdict::Restart,
        Ok(StageFlow::Replan) => StageVerdict::Replan,
        Ok(StageFlow::End(CallConclusion::Answer(_))) => StageVerdict::Answer,
        Ok(StageFlow::End(CallConclusion::Ask(_) | CallConclusion::Preview(_))) => StageVerdict::Question,
        Ok(StageFlow::End(CallConclusion::UnknownTool { .. })) => StageVerdict::UnknownTool,
        Err(reason) => StageVerdict::Refusal(reason.kind()),
    }
}

pub(crate) struct TestServer {
    pub(crate) executor: Arc<Executor>,
    pub(crate) store: Arc<MemoryStore>,
    can_be_asked: bool,
    folders: [tempfile::TempDir; 2],
}

impl TestServer {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        TestSetup::default().serve(files)
    }

    /// Another process with the same vault and state.
    pub(crate) fn beside(&self, setup: TestSetup) -> Arc<Executor> {
        let [state, vault] = &self.folders;
        let folder = Arc::new(StateFolder::new(state.path().to_owned(), vault.path().to_owned()));
        let backend = Arc::<MemoryStore>::clone(&self.store);
        let vault = Vault::new(VAULT.to_owned(), backend, setup.policy.clone(), VaultLimits::default());
        setup.execute_on(vault, folder)
    }

    pub(crate) fn principal(&self) -> Principal {
        self.principal_with(Grant::clone(self.executor.grant()))
    }

    pub(crate) fn principal_with(&self, grant: Grant) -> Principal {
        let grant = Grant { profile: Arc::clone(&self.executor.grant().profile), ..grant };
        Principal {
            id: "tester".to_owned(),
            name: Principal::STDIO.to_owned(),
            grant: Arc::new(grant),
            can_be_asked: self.can_be_asked,
            caller: Caller::of("tester"),
            is_single_client: true,
            author: ChangeAuthor::single("tester".to_owned()),
            standing: CallerStanding::default(),
        }
    }

    pub(crate) fn invocation(&self, tool: &str, given: Value) -> Invocation {
        Invocation::tool(tool, arguments(given), self.principal())
    }

    pub(crate) fn run(&self, invocation: &Invocation) -> Outcome {
        self.executor.run(invocation, &self.executor.cancel(invocation))
    }

    pub(crate) fn call(&self, tool: &str, given: Value) -> Outcome {
        self.run(&self.invocation(tool, given))
    }

    pub(crate) fn call_as(&self, principal: &Principal, tool: &str, given: Value) -> Outcome {
        self.run(&Invocation::tool(tool, arguments(given), principal.clone()))
    }

    /// A call that must be answered.
    #[track_caller]
    pub(crate) fn done(&self, tool: &str, given: Value) -> Value {
        let rendered = self.call(tool, given).rendered().expect("a reply");
        assert!(!rendered.is_error, "{}", rendered.structured());
        Value::Object(rendered.facts())
    }

    /// A call that must be refused.
    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, given: Value) -> Reason {
        match self.call(tool, given) {
            Outcome::Refused(refusal) => refusal.reason,
            other => panic!("not refused: {:?}", other.rendered()),
        }
    }

    pub(crate) fn read(&self, operation: impl ReadOperation + 'static) -> Result<ReadPayload, Reason> {
        self.read_as(&self.principal(), operation)
    }

    pub(crate) fn read_as(
        &self,
        principal: &Principal,
        operation: impl ReadOperation + 'static,
    ) -> Result<ReadPayload, Reason> {
        self.run(&Invocation::read(operation, principal.clone())).answer()
    }

    /// Takes a call through the stages before this one, all of which must let it pass, and hands it to a test of the
    /// stage alone.
    #[track_caller]
    pub(crate) fn at<T>(&self, stage: &str, invocation: &Invocation, test: impl FnOnce(&mut Execution<'_>) -> T) -> T {
        let cancel = self.executor.cancel(invocation);
        let mut execution = Execution::new(&self.executor, invocation, &cancel);
        for (name, run) in STAGES.iter().take_while(|(name, _)| *name != stage) {
            let passed = verdict(run(&mut execution));
            assert_eq!(passed, StageVerdict::Next, "in `{name}`, before `{stage}`");
        }
        test(&mut execution)
    }

    /// What is in a file now.
    #[track_caller]
    pub(crate) fn text(&self, path: &str) -> String {
        let bytes = self.store.bytes(&VaultPath::parse(path).unwrap()).expect("a file");
        String::from_utf8(bytes).unwrap()
    }

    /// The lines of the log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let Ok((lines, _)) = self.executor.vaults().first().log.tail(1_000) else { return Vec::new() };
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A grant of only these folders.
pub(crate) fn granted(folders: &[&str]) -> Grant {
    let prefixes: Vec<PathPrefix> = folders.iter().map(|folder| PathPrefix::parse(folder).unwrap()).collect();
    let policy = Policy { read: Some(prefixes.clone()), write: Some(prefixes), ..Policy::default() };
    let profile = ProfileView::new("test", TOOL_SET, &ProfileRules::curator(), &ToolSelection::default(), &[]).unwrap();
    Grant { paths: Some(Arc::new(policy)), ..Grant::of(Arc::new(profile)) }
}

pub(crate) fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(arguments) => arguments,
        other => panic!("arguments are an object: {other}"),
    }
}

/// Records the levels of all spans and events of this crate.
#[derive(Clone, Default)]
pub(crate) struct LevelLog(Arc<Mutex<Vec<Level>>>);

impl LevelLog {
    /// The most serious level that is logged meanwhile.
    pub(crate) fn most_serious(run: impl FnOnce()) -> Option<Level> {
        let log = Self::default();
        tracing::subscriber::with_default(log.clone(), run);
        let levels = log.0.lock().unwrap();
        levels.iter().min().copied()
    }

    fn note(&self, metadata: &Metadata<'_>) {
        self.0.lock().unwrap().push(*metadata.level());
    }
}

impl Subscriber for LevelLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("lapidary_pipeline")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.note(span.metadata());
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        self.note(event.metadata());
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The usual tools, and those that are only there if they are chosen.
fn every_tool_on() -> ToolSelection {
    let chosen = ["default", "chatgpt"].map(str::to_owned).to_vec();
    ToolSelection { chosen, commands: true, servers_read: true, ..ToolSelection::default() }
}
