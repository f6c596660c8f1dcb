//! Whether a planned change may happen. Judged on the actual changes, never on what a call says about itself.

use lapidary_tools::{Effect, Group, Reason, Refused, Spec};
use lapidary_vault::{Change, ChangeSet, PathPrefix, Scope};

use crate::{Caller, Setup};

/// From the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    pub group: Option<Group>,
    pub tool: Option<String>,
    /// Fits a change that touches anything below it.
    pub path: Option<PathPrefix>,
    pub decision: Decision,
}

impl Rule {
    /// A rule for all changes of one effect.
    pub fn effect(effect: Effect, decision: Decision) -> Self {
        Self { effect: Some(effect), group: None, tool: None, path: None, decision }
    }

    fn fits(&self, spec: &Spec, changes: &ChangeSet) -> bool {
        let below =
            |prefix: &PathPrefix| changes.changes.iter().flat_map(Change::paths).any(|path| prefix.covers(path));
        self.effect.is_none_or(|effect| effect == effect_of(changes))
            && self.group.is_none_or(|group| group == spec.declaration.group)
            && self.tool.as_ref().is_none_or(|tool| tool == spec.name())
            && self.path.as_ref().is_none_or(below)
    }
}

/// What a change does, whatever its tool could do: only what is gone for good is destroyed.
fn effect_of(changes: &ChangeSet) -> Effect {
    let destroys = |change: &Change| matches!(change, Change::Delete { .. });
    if changes.changes.iter().any(destroys) { Effect::Destroy } else { Effect::Write }
}

/// The owner's rules; the first that fits decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules(pub Vec<Rule>);

impl Rules {
    fn decide(&self, spec: &Spec, changes: &ChangeSet) -> Decision {
        // Without any rule nobody has allowed it.
        self.0.iter().find(|rule| rule.fits(spec, changes)).map_or(Decision::Ask, |rule| rule.decision)
    }

    /// What is said of a tool that only looks: it may, unless a rule is about it.
    pub(crate) fn on_reading(&self, spec: &Spec) -> Decision {
        let about = |rule: &&Rule| {
            let named = rule.effect == Some(Effect::Read) || rule.group.is_some() || rule.tool.is_some();
            named
                && rule.path.is_none()
                && rule.effect.is_none_or(|effect| effect == Effect::Read)
                && rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
        };
        self.0.iter().find(about).map_or(Decision::Allow, |rule| rule.decision)
    }

    /// What a rule says of every change of this effect.
    pub(crate) fn on(&self, effect: Effect) -> Decision {
        let general = |rule: &&Rule| {
            rule.effect.is_none_or(|wanted| wanted == effect)
                && (&rule.group, &rule.tool, &rule.path) == (&None, &None, &None)
        };
        self.0.iter().find(general).map_or(Decision::Ask, |rule| rule.decision)
    }
}

/// Every file of the change lies in the caller's scope and can be read again afterwards, or the reason why not; then
/// what the rules say.
///
/// `tools` are all that had a part in the change; the strictest word on any of them holds.
pub(crate) fn judge(
    changes: &ChangeSet,
    tools: &[&Spec],
    scope: &Scope,
    setup: &Setup,
    caller: &Caller,
) -> Result<Decision, Reason> {
    for change in &changes.changes {
        for path in change.paths() {
            scope.may_write(path).map_err(|denied| Reason::PathForbidden {
                path: path.clone(),
                writing: true,
                denied: Refused::ByScope(denied),
            })?;
        }
        let (bytes, limit) = (change.bytes().len() as u64, setup.limits.max_file_bytes);
        if bytes > limit {
            return Err(Reason::FileTooLarge { path: change.path().clone(), bytes, limit });
        }
    }
    if changes.is_empty() {
        return Ok(Decision::Allow);
    }
    if effect_of(changes) > caller.profile.most {
        return Ok(Decision::Deny);
    }
    let decision = tools.iter().map(|tool| setup.rules.decide(tool, changes)).max().unwrap_or(Decision::Ask);
    let asks_first = tools.iter().any(|tool| tool.asks_first) && setup.asks_before_deleting && caller.can_ask;
    Ok(if asks_first { decision.max(Decision::Ask) } else { decision })
}

#[cfg(test)]
mod tests {
    use lapidary_tools::TOOLS;
    use lapidary_vault::VaultPath;

    use super::*;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let spec = TOOLS.iter().map(|tool| tool.spec()).find(|spec| spec.name() == "str_replace").unwrap();
        let path = VaultPath::parse("Work/a.md").unwrap();
        let changes = ChangeSet::one(Change::Create { path, bytes: Vec::new() });
        let any = |decision| Rule { effect: None, group: None, tool: None, path: None, decision };
        let below = |prefix: &str| Some(PathPrefix::parse(prefix).unwrap());
        for (rules, decision) in [
            (vec![], Decision::Ask),
            (vec![any(Decision::Deny), any(Decision::Allow)], Decision::Deny),
            (vec![Rule::effect(Effect::Destroy, Decision::Deny)], Decision::Ask),
            (
                vec![Rule::effect(Effect::Destroy, Decision::Deny), Rule::effect(Effect::Write, Decision::Allow)],
                Decision::Allow,
            ),
            (vec![Rule { group: Some(Group::Read), ..any(Decision::Deny) }, any(Decision::Allow)], Decision::Allow),
            (vec![Rule { group: Some(Group::Edit), ..any(Decision::Deny) }, any(Decision::Allow)], Decision::Deny),
            (
                vec![Rule { tool: Some("str_replace".into()), ..any(Decision::Deny) }, any(Decision::Allow)],
                Decision::Deny,
            ),
            (
                vec![Rule { tool: Some("file_move".into()), ..any(Decision::Deny) }, any(Decision::Allow)],
                Decision::Allow,
            ),
            (vec![Rule { path: below("work"), ..any(Decision::Deny) }, any(Decision::Allow)], Decision::Deny),
            (vec![Rule { path: below("home"), ..any(Decision::Deny) }, any(Decision::Allow)], Decision::Allow),
        ] {
            assert_eq!(Rules(rules.clone()).decide(&spec, &changes), decision, "{rules:?}");
        }
    }
}
