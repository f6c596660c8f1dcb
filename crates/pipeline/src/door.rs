//! What a tool may ask the pipeline while it plans.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lapidary_tools::{Context, Disk, Gate, Group, Kind, Prompt, Proposal, Reason, Spec, bug, clipped, prompts};
use lapidary_vault::{ChangeSet, Scope};

use crate::{
    Caller, Decision, Pipeline, ServedVault,
    consent::{Opened, Subject},
    policy::judge,
};

/// How long a proposal is open.
const PROPOSAL_OPEN: Duration = Duration::from_secs(5 * 60);

/// Of a batch that is refused all over, the log need not tell every operation.
const LOGGED: usize = 20;

/// The gate of one call.
pub(crate) struct Door<'a> {
    pipeline: &'a Pipeline,
    caller: &'a Caller,
    /// The vault that the call is about.
    served: Option<&'a ServedVault>,
    /// A person has seen the change and agreed to it, in another process.
    agreed: bool,
    /// That of the plan that is being made.
    scope: Mutex<Option<Arc<Scope>>>,
    /// The tokens that the plan is built on.
    opened: Mutex<Vec<Opened>>,
    /// Operations of a batch that came to nothing.
    refused: Mutex<Vec<(String, Kind)>>,
}

impl<'a> Door<'a> {
    pub(crate) fn new(
        pipeline: &'a Pipeline,
        caller: &'a Caller,
        served: Option<&'a ServedVault>,
        agreed: bool,
    ) -> Self {
        Self {
            pipeline,
            caller,
            served,
            agreed,
            scope: Mutex::default(),
            opened: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// A plan begins, in which this may be read and changed.
    pub(crate) fn look_through(&self, scope: Arc<Scope>) {
        *held(&self.scope) = Some(scope);
        held(&self.opened).clear();
        held(&self.refused).clear();
    }

    /// What the log has to tell of the plan besides its changes.
    pub(crate) fn take_refused(&self) -> Vec<(String, Kind)> {
        std::mem::take(&mut *held(&self.refused))
    }

    /// The change is about to be made: the tokens that it is built on count now, and never again.
    pub(crate) fn spend(&self) -> Result<(), Reason> {
        let now = self.pipeline.setup.clock.now();
        for opened in held(&self.opened).drain(..) {
            self.pipeline.consent.spend(&opened, now).map_err(|_| Reason::ProposalExpired)?;
        }
        Ok(())
    }

    fn subject<'s>(&'s self, proposal: &'s Proposal) -> Subject<'s> {
        let Proposal { tool, arguments, changes } = *proposal;
        Subject { caller: &self.caller.id, tool, arguments, changes }
    }
}

impl Gate for Door<'_> {
    fn judge(&self, tool: &Spec, changes: &ChangeSet) -> Result<(), Reason> {
        let scope = held(&self.scope).clone().ok_or_else(|| bug!("an operation is judged before its vault is open"))?;
        match judge(changes, &[tool], &scope, &self.pipeline.setup, self.caller)? {
            Decision::Deny => Err(Reason::DeniedByRule),
            Decision::Allow | Decision::Ask => Ok(()),
        }
    }

    fn refused(&self, tool: &str, reason: &Reason) {
        let mut refused = held(&self.refused);
        if refused.len() < LOGGED {
            refused.push((clipped(tool), reason.kind()));
        }
    }

    fn seal(&self, proposal: &Proposal) -> Result<String, Reason> {
        self.pipeline.consent.seal(&self.subject(proposal), self.pipeline.setup.clock.now(), PROPOSAL_OPEN)
    }

    fn skills(&self, context: &Context<'_>) -> Vec<Prompt> {
        let profile = &self.caller.profile;
        let looks = profile.has(Group::Read) || profile.has(Group::Vault);
        let mut skills = Vec::new();
        if !looks || self.pipeline.setup.rules.on_looking(Group::Vault) != Decision::Allow {
            return skills;
        }
        for served in self.pipeline.setup.vaults.iter() {
            let found = self.pipeline.view(served).and_then(|view| prompts(context, &view));
            // A vault that cannot be looked at has none, and the others have theirs.
            skills.extend(found.into_iter().flatten().filter(|prompt| prompt.is_skill));
        }
        skills
    }

    fn log(&self, lines: usize) -> Result<Vec<String>, Reason> {
        let served = self.served.ok_or_else(|| bug!("the log is asked for without a vault"))?;
        match served.log.tail(lines) {
            Ok((lines, _)) => Ok(lines),
            Err(error) => {
                (self.pipeline.setup.warn)(&format!("the log cannot be read: {error}"));
                Err(Reason::Disk { path: None, problem: Disk::NoState })
            }
        }
    }

    fn open(&self, token: &str, proposal: &Proposal) -> Result<(), Reason> {
        // The token is good for another process, and what it stands for has been agreed to since.
        if self.agreed {
            return Ok(());
        }
        let now = self.pipeline.setup.clock.now();
        let opened =
            self.pipeline.consent.open(token, &self.subject(proposal), now).map_err(|reason| match reason {
                Reason::ChangedMeanwhile => Reason::ProposalChanged,
                Reason::ConsentExpired => Reason::ProposalExpired,
                other => other,
            })?;
        held(&self.opened).push(opened);
        Ok(())
    }
}

/// A panic while it was held cannot have left it half changed.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
