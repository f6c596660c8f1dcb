//! Whether a planned change may happen. Judged on the actual changes, never on what a call says about itself.

use lapidary_tools::{Effect, Reason, Refused};
use lapidary_vault::{ChangeSet, Scope};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// A person has to agree first.
    Ask,
    Deny,
}

/// One of the owner's rules. A part that is not given fits everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub effect: Option<Effect>,
    pub decision: Decision,
}

/// The owner's rules; the first that fits decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules(pub Vec<Rule>);

impl Default for Rules {
    /// What can be undone is allowed, what cannot is asked about.
    fn default() -> Self {
        Self(vec![
            Rule { effect: Some(Effect::Write), decision: Decision::Allow },
            Rule { effect: Some(Effect::Destroy), decision: Decision::Ask },
        ])
    }
}

impl Rules {
    fn decide(&self, effect: Effect) -> Decision {
        let fits = |rule: &&Rule| rule.effect.is_none_or(|wanted| wanted == effect);
        // Without any rule nobody has allowed it.
        self.0.iter().find(fits).map_or(Decision::Ask, |rule| rule.decision)
    }
}

/// Every path of the change lies in the caller's scope, or the reason why not; then what the rules say.
pub(crate) fn judge(changes: &ChangeSet, effect: Effect, scope: &Scope, rules: &Rules) -> Result<Decision, Reason> {
    for change in &changes.changes {
        scope.may_write(change.path()).map_err(|denied| Reason::PathForbidden {
            path: change.path().clone(),
            writing: true,
            denied: Refused::ByScope(denied),
        })?;
    }
    if changes.is_empty() { Ok(Decision::Allow) } else { Ok(rules.decide(effect)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rule = |effect, decision| Rule { effect, decision };
        for (rules, effect, decision) in [
            (Rules::default(), Effect::Write, Decision::Allow),
            (Rules::default(), Effect::Destroy, Decision::Ask),
            (
                Rules(vec![rule(None, Decision::Deny), rule(Some(Effect::Write), Decision::Allow)]),
                Effect::Write,
                Decision::Deny,
            ),
            (Rules(vec![rule(Some(Effect::Destroy), Decision::Deny)]), Effect::Write, Decision::Ask),
            (Rules(vec![]), Effect::Write, Decision::Ask),
        ] {
            assert_eq!(rules.decide(effect), decision, "{rules:?} {effect:?}");
        }
    }
}
