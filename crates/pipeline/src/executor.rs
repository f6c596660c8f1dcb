use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
    time::SystemTime,
};

use lapidary_tools::{DiskFault, Effect, MemoryLimits, ProfileView, Reason, ScanLimits};
use lapidary_vault::{RulesError, Scope, VaultPath, View};

use crate::{
    ApprovalRules, Caller, Clock, Grant, RuleDecision, ServedVault, ServedVaults,
    audit::AuditLog,
    confirmation::ConfirmationTokens,
    lanes::CallLanes,
    repetition::{CallHistory, RepetitionLimits},
};

/// Everything that reaches a vault goes through here, see [`Executor::execute`].
pub struct Executor {
    pub(crate) setup: ExecutorSetup,
    pub(crate) audit: AuditLog,
    pub(crate) tokens: ConfirmationTokens,
    pub(crate) history: CallHistory,
    pub(crate) lanes: CallLanes,
    /// No change begins any more.
    pub(crate) is_closing: AtomicBool,
}

/// What the owner configured.
pub struct ExecutorSetup {
    /// Of callers who present nothing that gives them another.
    pub grant: Arc<Grant>,
    /// By the name of the principal: of callers who are known.
    pub grants: Vec<(String, Arc<Grant>)>,
    /// All profiles that anybody can have here.
    pub profiles: Vec<Arc<ProfileView>>,
    pub vaults: ServedVaults,
    pub rules: ApprovalRules,
    /// Whether a change waits for a person where the client cannot ask one.
    pub waits_for_approval: bool,
    /// Whether a person who can be asked is asked before a note goes to the trash.
    pub asks_before_deleting: bool,
    /// The folder of the vaults in which every note is a playbook.
    pub skills: Option<VaultPath>,
    pub limits: CallLimits,
    pub clock: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    pub max_file_bytes: u64,
    /// Of all files of one change, before and after.
    pub max_change_bytes: u64,
    pub max_reply_bytes: u64,
    /// How long a call may take, a person's answer not counted.
    pub deadline: Duration,
    /// How long a person may take to answer.
    pub answer_within: Duration,
    pub repetition: RepetitionLimits,
    pub scan: ScanLimits,
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
        Ok(Self {
            audit: AuditLog::default(),
            setup,
            tokens: ConfirmationTokens::new()?,
            history: CallHistory::default(),
            lanes: CallLanes::new(),
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

    /// That of callers who present nothing that gives them another.
    pub fn grant(&self) -> &Arc<Grant> {
        &self.setup.grant
    }

    /// All that anybody can have here, that of everybody first.
    pub fn grants(&self) -> impl Iterator<Item = &Arc<Grant>> {
        std::iter::once(&self.setup.grant).chain(self.setup.grants.iter().map(|(_, grant)| grant))
    }

    pub fn vaults(&self) -> &ServedVaults {
        &self.setup.vaults
    }

    pub fn limits(&self) -> &CallLimits {
        &self.setup.limits
    }

    /// What whoever has this grant sees of a vault now.
    pub(crate) fn view(&self, served: &ServedVault, grant: &Grant) -> Result<View, Reason> {
        Ok(self.view_under(served, self.scope(served, grant)?))
    }

    pub(crate) fn view_under(&self, served: &ServedVault, scope: Arc<Scope>) -> View {
        served.vault.view(scope, self.setup.limits.max_file_bytes)
    }

    /// What may be read and changed at this moment: the server's policy and the rule files, narrowed by the grant. The
    /// owner hears what is wrong with the rules, the caller only that the vault is closed.
    pub(crate) fn scope(&self, served: &ServedVault, grant: &Grant) -> Result<Arc<Scope>, Reason> {
        self.current_scope(served, grant).map_err(|error| {
            if let RulesError::Unreadable { .. } = error {
                tracing::warn!("the vault `{}` is closed: {error}", served.vault.name());
            }
            closed(&error)
        })
    }

    /// The same for what is looked at every second, of which the owner hears nothing.
    pub(crate) fn scope_silently(&self, served: &ServedVault, grant: &Grant) -> Result<Arc<Scope>, Reason> {
        self.current_scope(served, grant).map_err(|error| closed(&error))
    }

    fn current_scope(&self, served: &ServedVault, grant: &Grant) -> Result<Arc<Scope>, RulesError> {
        let now = self.setup.clock.now();
        match &grant.paths {
            None => served.vault.scope(now),
            Some(paths) => served.vault.scope_for(now, paths),
        }
    }

    /// How far a vault has been looked through, in per cent, if one is and that takes a while.
    pub fn indexing(&self, grant: &Grant) -> Option<u8> {
        self.setup.vaults.granted(grant).find_map(|served| served.vault.indexing())
    }

    /// What the owner's rules say of changes in general.
    pub fn decision_on_writing(&self) -> RuleDecision {
        self.setup.rules.on(Effect::Write)
    }

    /// Whether the owner's rules have a word on some calls that they do not have on all.
    pub fn has_particular_rules(&self) -> bool {
        self.setup.rules.are_mixed()
    }

    /// For the end of the process: lets no other change begin, and waits for those that are under way, but no longer
    /// than this.
    ///
    /// A change takes its turn first and then looks whether it may still begin; so whoever gets the turn after this
    /// flag is set has waited for all that began before.
    pub fn stop_changes(self: &Arc<Self>, within: Duration) {
        self.is_closing.store(true, Ordering::SeqCst);
        self.finish_within(within, |executor| {
            for served in executor.setup.vaults.iter() {
                // A vault whose turn cannot be had has no change under way that could be waited for.
                drop(served.vault.turn(&|| true));
            }
        });
    }

    /// For the end of the process: keeps what was learnt of the vaults for the next start, if that does not take long.
    pub fn save_indexes(self: &Arc<Self>, within: Duration) {
        self.finish_within(within, |executor| {
            executor.setup.vaults.iter().for_each(|served| served.vault.save_index())
        });
    }

    /// Does something on a thread of its own, because a disk that does not answer must not keep the process alive.
    fn finish_within(self: &Arc<Self>, within: Duration, work: impl FnOnce(&Self) + Send + 'static) {
        let this = Arc::clone(self);
        let (done, wait) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            work(&this);
            // Whoever waited may have given up.
            done.send(()).unwrap_or_default();
        });
        wait.recv_timeout(within).unwrap_or_default();
    }
}

fn closed(error: &RulesError) -> Reason {
    match error {
        RulesError::VaultGone => Reason::Disk { path: None, problem: DiskFault::VaultGone },
        RulesError::Unreadable { file, .. } => Reason::VaultClosed { file },
    }
}
