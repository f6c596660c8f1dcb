//! The executor and its configuration.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
    time::SystemTime,
};

use lapidary_tools::{
    AttachmentAccess, AttachmentDecoder, DiskFault, Effect, MemoryLimits, OtherServers, OwnerSettings, ProfileView,
    Reason, ToolLimits, VaultShape, WebAccess,
};
use lapidary_vault::{ImportFolder, MeaningState, RulesError, Scope, VaultPath, View};

use crate::{
    ApprovalRules, Caller, Clock, Grant, GrantLookup, RuleDecision, ServedVault, ServedVaults,
    audit::AuditLog,
    call_lanes::CallLanes,
    confirmation::ConfirmationTokens,
    repetition::{CallHistory, RepetitionLimits},
    shared_memory::SharedMemory,
};

/// Everything that reaches a vault goes through here, see [`Executor::execute`].
pub struct Executor {
    pub(crate) setup: ExecutorSetup,
    pub(crate) audit: AuditLog,
    pub(crate) tokens: ConfirmationTokens,
    pub(crate) history: CallHistory,
    pub(crate) lanes: CallLanes,
    pub(crate) memory: Arc<SharedMemory>,
    /// No more changes may start.
    pub(crate) is_closing: AtomicBool,
}

/// What the owner configured.
pub struct ExecutorSetup {
    /// For callers that present nothing that gives them another.
    pub grant: Arc<Grant>,
    /// By the name of the principal: for known callers.
    pub known: GrantLookup,
    /// All profiles in use here.
    pub profiles: Vec<Arc<ProfileView>>,
    pub vaults: ServedVaults,
    pub rules: ApprovalRules,
    /// Whether a change waits for approval if the client cannot ask the user.
    pub waits_for_approval: bool,
    /// Whether the user is asked before a note goes to the trash, if possible.
    pub asks_before_deleting: bool,
    /// The folder of the vaults where every note is a playbook.
    pub skills: Option<VaultPath>,
    /// The folder of the vaults in which assistants keep what they remember.
    pub memory: Option<VaultPath>,
    /// The folder of the vaults that has recipes.
    pub recipes: Option<VaultPath>,
    /// What the owner says about the vaults.
    pub owner: OwnerSettings,
    /// How the owner wants the vaults to look.
    pub shape: VaultShape,
    /// Who decodes attachments.
    pub decoder: Arc<dyn AttachmentDecoder>,
    /// The web, if the owner opened some of it.
    pub web: Option<Arc<dyn WebAccess>>,
    /// Other MCP servers, if the owner configured any.
    pub servers: Option<Arc<dyn OtherServers>>,
    /// The folder outside the vaults whose files may be added to them.
    pub imports: Option<ImportFolder>,
    pub limits: CallLimits,
    pub clock: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    pub max_file_bytes: u64,
    /// For all files of one change, before and after.
    pub max_change_bytes: u64,
    pub max_reply_bytes: u64,
    /// For all calls together.
    pub memory_bytes: u64,
    /// How long a call may take, not counting the user's answer.
    pub deadline: Duration,
    /// How long all steps of a recipe or a script may take, whatever a call may.
    pub run_time: Duration,
    /// How long the user may take to answer.
    pub answer_within: Duration,
    pub repetition: RepetitionLimits,
    pub tools: ToolLimits,
}

impl ExecutorSetup {
    pub(crate) fn attachments(&self) -> AttachmentAccess<'_> {
        AttachmentAccess { decoder: &*self.decoder, imports: self.imports.as_ref() }
    }
}

impl CallLimits {
    /// What one call may hold in memory.
    pub(crate) fn budget(&self) -> MemoryLimits {
        MemoryLimits {
            file_bytes: self.max_file_bytes,
            change_bytes: self.max_change_bytes,
            reply_bytes: self.max_reply_bytes,
        }
    }
}

impl Executor {
    pub fn new(setup: ExecutorSetup) -> Result<Self, getrandom::Error> {
        let lanes = CallLanes::new();
        Ok(Self {
            // Divided by the calls that can run at a time, since each of them has a share.
            memory: Arc::new(SharedMemory::new(setup.limits.memory_bytes, lanes.places())),
            audit: AuditLog::default(),
            setup,
            tokens: ConfirmationTokens::new()?,
            history: CallHistory::default(),
            lanes,
            is_closing: AtomicBool::new(false),
        })
    }

    /// The only client of a process that serves one.
    pub fn process(&self) -> Caller {
        self.tokens.process()
    }

    pub fn now(&self) -> SystemTime {
        self.setup.clock.now()
    }

    /// The grant of callers that present nothing that gives them another.
    pub fn grant(&self) -> &Arc<Grant> {
        &self.setup.grant
    }

    pub fn vaults(&self) -> &ServedVaults {
        &self.setup.vaults
    }

    pub fn owner_settings(&self) -> &OwnerSettings {
        &self.setup.owner
    }

    pub fn limits(&self) -> &CallLimits {
        &self.setup.limits
    }

    /// What a caller with this grant sees of a vault now.
    pub(crate) fn view(&self, served: &ServedVault, grant: &Grant) -> Result<View, Reason> {
        Ok(self.view_under(served, self.scope(served, grant)?))
    }

    /// How far the vectors of a vault are, among the notes that a caller without a token sees; `None` if it cannot be read, or the search by
    /// meaning is off.
    pub fn meaning_state(&self, served: &ServedVault) -> Option<MeaningState> {
        let view = self.view(served, &self.setup.grant).ok()?;
        view.meaning_state(&|| true).ok().flatten()
    }

    pub(crate) fn view_under(&self, served: &ServedVault, scope: Arc<Scope>) -> View {
        served.vault.view(scope, self.setup.limits.max_file_bytes)
    }

    /// What may be read and changed at this moment: the server's policy and the rule files, narrowed by the grant. The
    /// owner is told what is wrong with the rules, the caller only that the vault is closed.
    pub(crate) fn scope(&self, served: &ServedVault, grant: &Grant) -> Result<Arc<Scope>, Reason> {
        self.current_scope(served, grant).map_err(|error| {
            if let RulesError::Unreadable { .. } = error {
                tracing::warn!("the vault `{}` is closed: {error}", served.vault.name());
            }
            closed(&error)
        })
    }

    /// The same for checks that run every second, which are not reported to the owner.
    pub(crate) fn scope_silently(&self, served: &ServedVault, grant: &Grant) -> Result<Arc<Scope>, Reason> {
        self.current_scope(served, grant).map_err(|error| closed(&error))
    }

    fn current_scope(&self, served: &ServedVault, grant: &Grant) -> Result<Arc<Scope>, RulesError> {
        let now = self.setup.clock.now();
        let scope = match &grant.paths {
            None => served.vault.scope(now),
            Some(paths) => served.vault.scope_for(now, paths),
        }?;
        Ok(match &grant.asked {
            None => scope,
            // Only for the answer to a request, which another process may give under another policy.
            Some(asked) => Arc::new(scope.as_asked(Arc::clone(asked))),
        })
    }

    /// The progress of scanning a vault, in per cent, if it takes a while.
    pub fn indexing(&self, grant: &Grant) -> Option<u8> {
        self.setup.vaults.granted(grant).find_map(|served| served.vault.indexing())
    }

    /// The decision of the owner's rules for changes in general.
    pub fn decision_on_writing(&self) -> RuleDecision {
        self.setup.rules.on(Effect::Write)
    }

    /// Whether the owner's rules treat some calls differently.
    pub fn has_particular_rules(&self) -> bool {
        self.setup.rules.are_mixed()
    }

    /// For the end of the process: lets no more changes start, and waits for those in progress, but no longer than
    /// this.
    ///
    /// A change takes its turn first and then checks whether it may still start; so a holder of the turn after this
    /// flag is set has waited for all that started before.
    pub fn stop_changes(self: &Arc<Self>, within: Duration) {
        self.is_closing.store(true, Ordering::SeqCst);
        self.finish_within(within, |executor| {
            for served in executor.setup.vaults.iter() {
                // Taking the turn is the wait: it is granted when the change in progress has ended. A vault whose turn
                // is unavailable has no change in progress that could be waited for.
                drop(served.vault.turn(&|| true));
            }
        });
    }

    /// For the end of the process: ends the programs of other servers.
    pub fn stop_servers(&self) {
        if let Some(servers) = &self.setup.servers {
            servers.stop();
        }
    }

    /// For the end of the process: saves what was learnt about the vaults for the next start, if that is quick.
    pub fn save_indexes(self: &Arc<Self>, within: Duration) {
        self.finish_within(within, |executor| {
            executor.setup.vaults.iter().for_each(|served| served.vault.save_index())
        });
    }

    /// Runs something on a separate thread, because a disk that does not respond must not keep the process alive.
    fn finish_within(self: &Arc<Self>, within: Duration, work: impl FnOnce(&Self) + Send + 'static) {
        let this = Arc::clone(self);
        let (done, wait) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            work(&this);
            // The waiter may have given up.
            done.send(()).unwrap_or_default();
        });
        wait.recv_timeout(within).unwrap_or_default();
    }
}

fn closed(error: &RulesError) -> Reason {
    match error {
        RulesError::VaultGone => Reason::Disk { path: None, problem: DiskFault::VaultGone },
        RulesError::Remote(fault) => Reason::RemoteVault { fault: *fault },
        // Without the error, which quotes rules about paths that the caller must not learn of.
        RulesError::Unreadable { file, .. } => Reason::VaultClosed { file },
    }
}
