//! What the rule files of the vaults do, for clients that have to know before the first call.

use std::{
    sync::{Arc, mpsc::channel},
    time::Duration,
};

use lapidary_tools::ReasonKind;
use lapidary_vault::{PathPrefix, UnmatchedRule};

use crate::{Executor, Grant};

/// What rule files restrict, of all vaults together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFilesInForce {
    /// Some paths do not exist for callers.
    pub ignore: bool,
    /// Some files may not be changed.
    pub protect: bool,
    /// Vaults that are closed because their rules cannot be read.
    pub closed: Vec<String>,
    /// Not all of them could be read in time, or exist at all.
    pub unknown: bool,
}

impl Executor {
    /// Reads the rule files, waiting no longer than this.
    pub fn rules_in_force(self: &Arc<Self>, grant: &Arc<Grant>, within: Duration) -> RuleFilesInForce {
        let (this, grant) = (Arc::clone(self), Arc::clone(grant));
        let (looked, wait) = channel();
        std::thread::spawn(move || {
            // The waiter may have given up.
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

    /// Warnings for the owner about rules that match nothing in their vault. Scans the vaults, so it belongs on a
    /// separate thread. Not for callers: the nearest name may be closed to them.
    pub fn rules_without_effect(&self) -> Vec<String> {
        let approval: Vec<PathPrefix> = self.setup.rules.0.iter().filter_map(|rule| rule.path.clone()).collect();
        let mut words = Vec::new();
        for served in self.setup.vaults.iter() {
            let vault = &served.vault;
            // Unreadable rules are reported when a call comes.
            let Ok(scope) = vault.scope(self.setup.clock.now()) else { continue };
            let Ok(found) = vault.rules_without_effect(&scope, &approval, &|| true) else { continue };
            words.extend(found.into_iter().map(|(UnmatchedRule { source, rule, .. }, nearest)| {
                let nearest = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
                format!("{source}: `{rule}` matches nothing in the vault `{}`{nearest}", vault.name())
            }));
        }
        words
    }
}
