//! The owner's rules: which effects, tools and paths are allowed, need approval or are denied.

use lapidary_tools::{Effect, NamePattern, ServerCall, ToolGroup, ToolSpec};
use lapidary_vault::{Change, ChangeSet, PathPrefix, VaultPath};

use crate::linked_places::LinkedPlaces;

/// From the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleDecision {
    Allow,
    /// The user has to approve first.
    Ask,
    Deny,
}

/// A decision, and the rule that it comes from, by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleVerdict {
    pub(crate) decision: RuleDecision,
    pub(crate) rule: Option<usize>,
}

impl RuleVerdict {
    /// Without a matching rule nothing is allowed.
    pub(crate) const UNRULED: Self = Self { decision: RuleDecision::Ask, rule: None };

    pub(crate) fn stricter(self, other: Self) -> Self {
        // Of equal decisions the first stays, so that the owner is shown the rule that matched first.
        if other.decision > self.decision { other } else { self }
    }
}

/// One of the owner's rules. An omitted part matches everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRule {
    pub effect: Option<Effect>,
    pub group: Option<ToolGroup>,
    pub tool: Option<String>,
    /// Matches a change that touches anything below it.
    pub path: Option<PathPrefix>,
    pub decision: RuleDecision,
}

impl ApprovalRule {
    /// A rule for everything.
    pub fn any(decision: RuleDecision) -> Self {
        Self { effect: None, group: None, tool: None, path: None, decision }
    }

    /// A rule for all changes of one effect.
    pub fn effect(effect: Effect, decision: RuleDecision) -> Self {
        Self { effect: Some(effect), group: None, tool: None, path: None, decision }
    }

    /// Whether it applies to what a change does to one of its paths.
    fn fits(&self, spec: &ToolSpec, change: &Change, path: &VaultPath) -> bool {
        // A folder includes its contents. Allowing part of that does not allow the whole.
        let takes_along = matches!(change, Change::MoveFolder { .. } | Change::TrashFolder { .. })
            && self.decision != RuleDecision::Allow;
        let touches = |prefix: &PathPrefix| prefix.covers(path) || (takes_along && prefix.is_within(path));
        self.effect.is_none_or(|effect| effect == effect_of(change))
            && self.group.is_none_or(|group| group == spec.declaration.group)
            && self.tool.as_ref().is_none_or(|tool| tool == spec.name())
            && self.path.as_ref().is_none_or(touches)
    }
}

/// What a change does, regardless of what its tool could do: only permanent removal is destruction.
pub(crate) fn effect_of(change: &Change) -> Effect {
    if matches!(change, Change::Delete { .. }) { Effect::Destroy } else { Effect::Write }
}

/// Before the name of a server and its tool, in a rule about them: `mcp:garden/plant_*`.
pub const CALL_MARK: &str = "mcp:";

/// The owner's rules; the first match decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRules(pub Vec<ApprovalRule>);

impl ApprovalRules {
    /// Each path of each change is decided separately, and the strictest decision wins: a rule that allows one folder
    /// must not open another that happens to be part of the same change.
    ///
    /// The target of a path that is a link is decided as well.
    pub(crate) fn decide(&self, spec: &ToolSpec, changes: &ChangeSet, places: &LinkedPlaces) -> RuleVerdict {
        let on = |change: &Change, path: &VaultPath| {
            self.first(|rule| rule.fits(spec, change, path)).unwrap_or(RuleVerdict::UNRULED)
        };
        let on_both = |change, path| on(change, path).stricter(on(change, places.of_path(path)));
        let all = changes.changes.iter().flat_map(|change| change.paths().map(move |path| on_both(change, path)));
        // A change of nothing is asked about as well.
        all.reduce(RuleVerdict::stricter).unwrap_or(RuleVerdict::UNRULED)
    }

    /// The decision for what the app does outside of the vault. It has no path, so rules about paths do not apply.
    pub(crate) fn on_action(&self, spec: &ToolSpec, effect: Effect) -> RuleVerdict {
        let about = |rule: &ApprovalRule| {
            rule.path.is_none()
                && rule.effect.is_none_or(|wanted| wanted == effect)
                && rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
        };
        self.first(about).unwrap_or(RuleVerdict::UNRULED)
    }

    /// The decision for a call of another server. What the owner says of its tool decides, unless a rule names it, or a general
    /// one denies such calls, or asks before reading.
    pub(crate) fn on_call(&self, spec: &ToolSpec, call: &ServerCall) -> RuleDecision {
        let effect = call.standing.effect();
        let names = |tool: &String| {
            tool == spec.name()
                || tool.strip_prefix(CALL_MARK).and_then(NamePattern::parse).is_some_and(|it| it.matches(&call.name()))
        };
        let about = |rule: &ApprovalRule| {
            rule.path.is_none()
                && rule.effect.is_none_or(|wanted| wanted == effect)
                && rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(names)
        };
        let by_owner = if call.standing.is_asked { RuleDecision::Ask } else { RuleDecision::Allow };
        let Some(RuleVerdict { decision, rule: Some(rule) }) = self.first(about) else { return by_owner };
        match decision {
            _ if !self.is_general(rule) => decision,
            RuleDecision::Deny => RuleDecision::Deny,
            RuleDecision::Ask if effect == Effect::Read => RuleDecision::Ask,
            RuleDecision::Allow | RuleDecision::Ask => by_owner,
        }
    }

    /// What the first rule that matches says.
    fn first(&self, matches: impl Fn(&ApprovalRule) -> bool) -> Option<RuleVerdict> {
        let mut rules = self.0.iter().enumerate();
        rules.find(|(_, rule)| matches(rule)).map(|(at, rule)| RuleVerdict { decision: rule.decision, rule: Some(at) })
    }

    /// Whether a rule names nothing but effects.
    pub(crate) fn is_general(&self, rule: usize) -> bool {
        self.0.get(rule).is_none_or(|rule| (&rule.group, &rule.tool, &rule.path) == (&None, &None, &None))
    }

    /// Whether a rule is about some paths only.
    pub(crate) fn names_path(&self, rule: usize) -> bool {
        self.0.get(rule).is_some_and(|rule| rule.path.is_some())
    }

    /// Whether a change is decided by its effect alone, regardless of tool and path.
    pub(crate) fn decide_by_effect(&self, spec: &ToolSpec, changes: &ChangeSet, places: &LinkedPlaces) -> bool {
        let on_both = |change, path| {
            self.is_general_on(spec, change, path) && self.is_general_on(spec, change, places.of_path(path))
        };
        changes.changes.iter().all(|change| change.paths().all(|path| on_both(change, path)))
    }

    /// The same for one path of one change.
    pub(crate) fn is_general_on(&self, spec: &ToolSpec, change: &Change, path: &VaultPath) -> bool {
        let decides = self.0.iter().find(|rule| rule.fits(spec, change, path));
        // Without a rule, the default decides, which knows only effects.
        decides.is_none_or(|rule| (&rule.group, &rule.tool, &rule.path) == (&None, &None, &None))
    }

    /// The decision for a tool that only reads: allowed, unless a rule matches it.
    pub(crate) fn on_reading(&self, spec: &ToolSpec) -> RuleVerdict {
        let about = |rule: &ApprovalRule| {
            // A general rule is about changes. It must not decide about reading before a rule that names it.
            let named = rule.effect == Some(Effect::Read) || rule.group.is_some() || rule.tool.is_some();
            named
                && rule.path.is_none()
                && rule.effect.is_none_or(|effect| effect == Effect::Read)
                && rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
        };
        self.first(about).unwrap_or(RuleVerdict { decision: RuleDecision::Allow, rule: None })
    }

    /// The decision for a call that asks others, before there is a change to be judged: only rules that name the tool, its
    /// group or reading decide, about what it reads and what it changes.
    pub(crate) fn on_reaching(&self, spec: &ToolSpec) -> RuleDecision {
        let on = |effect: Effect| {
            let about = |rule: &ApprovalRule| {
                let names_reading = effect == Effect::Read && rule.effect == Some(effect);
                (names_reading || rule.group.is_some() || rule.tool.is_some())
                    && rule.path.is_none()
                    && rule.effect.is_none_or(|wanted| wanted == effect)
                    && rule.group.is_none_or(|group| group == spec.declaration.group)
                    && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
            };
            self.first(about).map_or(RuleDecision::Allow, |verdict| verdict.decision)
        };
        match on(spec.effect) {
            RuleDecision::Ask => on(Effect::Read).max(RuleDecision::Ask),
            // What may not be changed can still be shown in a dry run; that is judged on the change.
            RuleDecision::Allow | RuleDecision::Deny => on(Effect::Read),
        }
    }

    /// The decision for a tool that shows something without changing it: a dry run, a proposal, existing content. Only
    /// rules about reading apply.
    pub(crate) fn on_showing(&self, spec: &ToolSpec) -> RuleDecision {
        let about = |rule: &&ApprovalRule| {
            let of_tool = rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name());
            // A caller that may not use reading tools may not read through writing ones either.
            let of_reading = rule.effect.is_none() && rule.group == Some(ToolGroup::Read) && rule.tool.is_none();
            rule.path.is_none() && (rule.effect == Some(Effect::Read) && of_tool || of_reading)
        };
        self.0.iter().find(about).map_or(RuleDecision::Allow, |rule| rule.decision)
    }

    /// Whether a tool is denied whatever it does and wherever: then it does not even read.
    pub(crate) fn deny_all(&self, spec: &ToolSpec) -> bool {
        for rule in &self.0 {
            let fits = rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name());
            let is_whole = (&rule.effect, &rule.path) == (&None, &None);
            let is_named = rule.group.is_some() || rule.tool.is_some();
            match rule.decision {
                _ if !fits => {}
                // A general `deny` is about changes only, and leaves the tool its dry runs.
                RuleDecision::Deny if is_whole && is_named => return true,
                // Part of it may be allowed.
                RuleDecision::Allow | RuleDecision::Ask if rule.effect != Some(Effect::Read) => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether every change that a tool can make of a path is denied, whatever is there.
    pub(crate) fn deny_path(&self, spec: &ToolSpec, path: &VaultPath) -> bool {
        let denies = |effect: Effect| {
            // Like `ApprovalRule::fits`, but before there is a change to look at.
            let fits = |rule: &&ApprovalRule| {
                rule.effect.is_none_or(|wanted| wanted == effect)
                    && rule.group.is_none_or(|group| group == spec.declaration.group)
                    && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
                    && rule.path.as_ref().is_none_or(|prefix| prefix.covers(path))
            };
            self.0.iter().find(fits).is_some_and(|rule| rule.decision == RuleDecision::Deny)
        };
        // A tool that cannot destroy is denied if its writes are.
        [Effect::Write, Effect::Destroy].into_iter().filter(|effect| *effect <= spec.effect).all(denies)
    }

    /// The decision for a tool that runs others: only rules that name it or its group apply.
    pub(crate) fn on_relaying(&self, spec: &ToolSpec) -> RuleDecision {
        let about = |rule: &&ApprovalRule| {
            (rule.group.is_some() || rule.tool.is_some())
                && (&rule.effect, &rule.path) == (&None, &None)
                && rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
        };
        self.0.iter().find(about).map_or(RuleDecision::Allow, |rule| rule.decision)
    }

    /// The decision for reading through something other than a tool, for the purpose of this group.
    pub(crate) fn on_looking(&self, group: ToolGroup) -> RuleDecision {
        let about = |rule: &&ApprovalRule| {
            (rule.effect == Some(Effect::Read) || rule.group.is_some())
                && (&rule.tool, &rule.path) == (&None, &None)
                && rule.effect.is_none_or(|effect| effect == Effect::Read)
                && rule.group.is_none_or(|wanted| wanted == group)
        };
        self.0.iter().find(about).map_or(RuleDecision::Allow, |rule| rule.decision)
    }

    /// Whether some rules stop or delay calls that others let pass.
    pub(crate) fn are_mixed(&self) -> bool {
        self.0.iter().any(|rule| rule.decision != RuleDecision::Allow && rule.effect != Some(Effect::Destroy))
    }

    /// The decision of a rule for every change of this effect.
    pub(crate) fn on(&self, effect: Effect) -> RuleDecision {
        let general = |rule: &&ApprovalRule| {
            rule.effect.is_none_or(|wanted| wanted == effect)
                && (&rule.group, &rule.tool, &rule.path) == (&None, &None, &None)
        };
        self.0.iter().find(general).map_or(RuleDecision::Ask, |rule| rule.decision)
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::TOOLS;

    use super::*;

    #[test]
    fn the_first_matching_rule_decides() {
        let spec = TOOLS.iter().map(|tool| tool.spec()).find(|spec| spec.name() == "str_replace").unwrap();
        let path = VaultPath::parse("Work/a.md").unwrap();
        let changes = ChangeSet::one(Change::Create { path, content: Vec::new().into() });
        let any = |decision| ApprovalRule { effect: None, group: None, tool: None, path: None, decision };
        let below = |prefix: &str| Some(PathPrefix::parse(prefix).unwrap());
        for (rules, decision) in [
            (vec![], RuleDecision::Ask),
            (vec![any(RuleDecision::Deny), any(RuleDecision::Allow)], RuleDecision::Deny),
            (vec![ApprovalRule::effect(Effect::Destroy, RuleDecision::Deny)], RuleDecision::Ask),
            (
                vec![
                    ApprovalRule::effect(Effect::Destroy, RuleDecision::Deny),
                    ApprovalRule::effect(Effect::Write, RuleDecision::Allow),
                ],
                RuleDecision::Allow,
            ),
            (
                vec![
                    ApprovalRule { group: Some(ToolGroup::Read), ..any(RuleDecision::Deny) },
                    any(RuleDecision::Allow),
                ],
                RuleDecision::Allow,
            ),
            (
                vec![
                    ApprovalRule { group: Some(ToolGroup::Edit), ..any(RuleDecision::Deny) },
                    any(RuleDecision::Allow),
                ],
                RuleDecision::Deny,
            ),
            (
                vec![
                    ApprovalRule { tool: Some("str_replace".into()), ..any(RuleDecision::Deny) },
                    any(RuleDecision::Allow),
                ],
                RuleDecision::Deny,
            ),
            (
                vec![
                    ApprovalRule { tool: Some("file_move".into()), ..any(RuleDecision::Deny) },
                    any(RuleDecision::Allow),
                ],
                RuleDecision::Allow,
            ),
            (
                vec![ApprovalRule { path: below("work"), ..any(RuleDecision::Deny) }, any(RuleDecision::Allow)],
                RuleDecision::Deny,
            ),
            (
                vec![ApprovalRule { path: below("home"), ..any(RuleDecision::Deny) }, any(RuleDecision::Allow)],
                RuleDecision::Allow,
            ),
        ] {
            assert_eq!(
                ApprovalRules(rules.clone()).decide(&spec, &changes, &LinkedPlaces::default()).decision,
                decision,
                "{rules:?}"
            );
        }
    }

    #[test]
    fn a_rule_that_allows_one_folder_opens_no_other() {
        let spec = TOOLS.iter().map(|tool| tool.spec()).find(|spec| spec.name() == "file_move").unwrap();
        let path = |path: &str| VaultPath::parse(path).unwrap();
        let create = |at: &str| Change::Create { path: path(at), content: Vec::new().into() };
        let folder = |from: &str, to: &str| Change::MoveFolder { from: path(from), to: path(to) };
        let rule = |at: &str, decision| ApprovalRule {
            effect: None,
            group: None,
            tool: None,
            path: Some(PathPrefix::parse(at).unwrap()),
            decision,
        };
        let rest = |decision| ApprovalRule::effect(Effect::Write, decision);
        let inbox = || vec![rule("Inbox", RuleDecision::Allow), rest(RuleDecision::Ask)];
        let private = || vec![rule("Work/Private", RuleDecision::Deny), rest(RuleDecision::Allow)];
        let part = || vec![rule("Work/Open", RuleDecision::Allow), rest(RuleDecision::Ask)];
        for (rules, changes, decision) in [
            (inbox(), vec![create("Inbox/a.md")], RuleDecision::Allow),
            (inbox(), vec![create("Inbox/a.md"), create("Journal/b.md")], RuleDecision::Ask),
            (inbox(), vec![folder("Inbox/x", "Inbox/y")], RuleDecision::Allow),
            (inbox(), vec![folder("Journal", "Inbox/Journal")], RuleDecision::Ask),
            (private(), vec![folder("Work", "Old")], RuleDecision::Deny),
            (private(), vec![folder("Old", "Work")], RuleDecision::Deny),
            (private(), vec![folder("Home", "Old")], RuleDecision::Allow),
            (part(), vec![folder("Work", "Work 2")], RuleDecision::Ask),
        ] {
            let changes = ChangeSet { changes };
            let decided = ApprovalRules(rules.clone()).decide(&spec, &changes, &LinkedPlaces::default());
            assert_eq!(decided.decision, decision, "{rules:?}: {changes:?}");
        }
    }
}
