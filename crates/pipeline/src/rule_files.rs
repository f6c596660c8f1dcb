//! What the rule files of the vaults do, for those who have to be told before the first call.

use std::{
    sync::{Arc, mpsc::channel},
    time::Duration,
};

use lapidary_tools::ReasonKind;
use lapidary_vault::{PathPrefix, UnmatchedRule};

use crate::{Executor, Grant};

/// What rule files take away, of all vaults together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFilesInForce {
    /// Some paths are not there.
    pub ignore: bool,
    /// Some files may not be changed.
    pub protect: bool,
    /// Vaults that are closed because their rules cannot be read.
    pub closed: Vec<String>,
    /// Not all of them could be asked in time, or are there at all.
    pub unknown: bool,
}

impl Executor {
    /// Looks at the rule files, which nobody waits for longer than this.
    pub fn rules_in_force(self: &Arc<Self>, grant: &Arc<Grant>, within: Duration) -> RuleFilesInForce {
        let (this, grant) = (Arc::clone(self), Arc::clone(grant));
        let (looked, wait) = channel();
        std::thread::spawn(move || {
            // Whoever waited may have given up.
            looked.send(this.look_at_rules(&grant)).unwrap_or_default();
        });
        wait.recv_timeout(within).unwrap_or_else(|_| RuleFilesInForce { unknown: true, ..RuleFilesInForce::default() })
    }

    fn look_at_rules(&self, grant: &Grant) -> RuleFilesInForce {
        let mut all = RuleFilesInForce::default();
        for served in self.setup.vaults.granted(grant) {
            match self.scope(served, grant) {
                Ok(scope) => {
                    let rules = scope.rules_in_force();
                    all.ignore |= rules.ignore;
                    all.protect |= rules.protect;
                }
                Err(reason) if reason.kind() == ReasonKind::VaultClosed => {
                    all.closed.push(served.vault.name().to_owned())
                }
                Err(_) => all.unknown = true,
            }
        }
        all
    }

    /// What to tell the owner of rules that are about nothing in their vault, in words. Looks through the vaults, so it is
    /// for a thread of its own. Not for callers: the nearest name may be one that is closed to them.
    pub fn rules_without_effect(&self) -> Vec<String> {
        let approval: Vec<PathPrefix> = self.setup.rules.0.iter().filter_map(|rule| rule.path.clone()).collect();
        let mut words = Vec::new();
        for served in self.setup.vaults.iter() {
            let vault = &served.vault;
            // What cannot be read is said when somebody calls.
            let Ok(scope) = vault.scope(self.setup.clock.now()) else { continue };
            let Ok(found) = vault.rules_without_effect(&scope, &approval, &|| true) else { continue };
            words.extend(found.into_iter().map(|(UnmatchedRule { source, rule }, nearest)| {
                let nearest = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
                format!("{source}: `{rule}` matches nothing in the vault `{}`{nearest}", vault.name())
            }));
        }
        words
    }
}
