//! The owner's rules: which effects, tools and paths are allowed, asked about or denied.

use lapidary_tools::{Effect, ToolGroup, ToolSpec};
use lapidary_vault::{Change, ChangeSet, PathPrefix, VaultPath};

use crate::places::LinkedPlaces;

/// From the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleDecision {
    Allow,
    /// A person has to agree first.
    Ask,
    Deny,
}

/// One of the owner's rules. A part that is not given fits everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRule {
    pub effect: Option<Effect>,
    pub group: Option<ToolGroup>,
    pub tool: Option<String>,
    /// Fits a change that touches anything below it.
    pub path: Option<PathPrefix>,
    pub decision: RuleDecision,
}

impl ApprovalRule {
    /// A rule for all changes of one effect.
    pub fn effect(effect: Effect, decision: RuleDecision) -> Self {
        Self { effect: Some(effect), group: None, tool: None, path: None, decision }
    }

    /// Whether it is about what a change does to one of its paths.
    fn fits(&self, spec: &ToolSpec, change: &Change, path: &VaultPath) -> bool {
        // A folder takes along what is in it. To allow a part of that is not to allow the whole.
        let takes_along = matches!(change, Change::MoveFolder { .. } | Change::TrashFolder { .. })
            && self.decision != RuleDecision::Allow;
        let touches = |prefix: &PathPrefix| prefix.covers(path) || (takes_along && prefix.is_within(path));
        self.effect.is_none_or(|effect| effect == effect_of(change))
            && self.group.is_none_or(|group| group == spec.declaration.group)
            && self.tool.as_ref().is_none_or(|tool| tool == spec.name())
            && self.path.as_ref().is_none_or(touches)
    }
}

/// What a change does, whatever its tool could do: only what is gone for good is destroyed.
pub(crate) fn effect_of(change: &Change) -> Effect {
    if matches!(change, Change::Delete { .. }) { Effect::Destroy } else { Effect::Write }
}

/// The owner's rules; the first that fits decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRules(pub Vec<ApprovalRule>);

impl ApprovalRules {
    /// Each path of each change is decided on its own, and the strictest word on any of them holds: what is allowed in
    /// one folder must not open another that happens to be part of the same change.
    ///
    /// Where a path leads by a link is decided on as well.
    pub(crate) fn decide(&self, spec: &ToolSpec, changes: &ChangeSet, places: &LinkedPlaces) -> RuleDecision {
        let on = |change: &Change, path: &VaultPath| {
            // Without any rule nobody has allowed it.
            self.0.iter().find(|rule| rule.fits(spec, change, path)).map_or(RuleDecision::Ask, |rule| rule.decision)
        };
        let on_both = |change, path| on(change, path).max(on(change, places.of_path(path)));
        let all = changes.changes.iter().flat_map(|change| change.paths().map(move |path| on_both(change, path)));
        all.max().unwrap_or(RuleDecision::Ask)
    }

    /// Whether what they say of a change is only what they say of its effect, whatever tool and path.
    pub(crate) fn decide_by_effect(&self, spec: &ToolSpec, changes: &ChangeSet, places: &LinkedPlaces) -> bool {
        let on = |change: &Change, path: &VaultPath| {
            let decides = self.0.iter().find(|rule| rule.fits(spec, change, path));
            decides.is_none_or(|rule| (&rule.group, &rule.tool, &rule.path) == (&None, &None, &None))
        };
        let on_both = |change, path| on(change, path) && on(change, places.of_path(path));
        changes.changes.iter().all(|change| change.paths().all(|path| on_both(change, path)))
    }

    /// What is said of a tool that only looks: it may, unless a rule is about it.
    pub(crate) fn on_reading(&self, spec: &ToolSpec) -> RuleDecision {
        let about = |rule: &&ApprovalRule| {
            let named = rule.effect == Some(Effect::Read) || rule.group.is_some() || rule.tool.is_some();
            named
                && rule.path.is_none()
                && rule.effect.is_none_or(|effect| effect == Effect::Read)
                && rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
        };
        self.0.iter().find(about).map_or(RuleDecision::Allow, |rule| rule.decision)
    }

    /// What is said of a tool that shows something without changing it: a dry run, a proposal, what is there. Only rules
    /// about reading are about that.
    pub(crate) fn on_showing(&self, spec: &ToolSpec) -> RuleDecision {
        let about = |rule: &&ApprovalRule| {
            let of_tool = rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name());
            // Who may not use the tools that read may not read by way of those that write.
            let of_reading = rule.effect.is_none() && rule.group == Some(ToolGroup::Read) && rule.tool.is_none();
            rule.path.is_none() && (rule.effect == Some(Effect::Read) && of_tool || of_reading)
        };
        self.0.iter().find(about).map_or(RuleDecision::Allow, |rule| rule.decision)
    }

    /// Whether a tool is denied whatever it does and wherever: then it does not even look.
    pub(crate) fn deny_all(&self, spec: &ToolSpec) -> bool {
        for rule in &self.0 {
            let fits = rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name());
            let is_whole = (&rule.effect, &rule.path) == (&None, &None);
            let is_named = rule.group.is_some() || rule.tool.is_some();
            match rule.decision {
                _ if !fits => {}
                RuleDecision::Deny if is_whole && is_named => return true,
                // Something of it may be allowed.
                RuleDecision::Allow | RuleDecision::Ask if rule.effect != Some(Effect::Read) => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether every change that a tool can make of a path is denied, whatever is there.
    pub(crate) fn deny_path(&self, spec: &ToolSpec, path: &VaultPath) -> bool {
        let denies = |effect: Effect| {
            let fits = |rule: &&ApprovalRule| {
                rule.effect.is_none_or(|wanted| wanted == effect)
                    && rule.group.is_none_or(|group| group == spec.declaration.group)
                    && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
                    && rule.path.as_ref().is_none_or(|prefix| prefix.covers(path))
            };
            self.0.iter().find(fits).is_some_and(|rule| rule.decision == RuleDecision::Deny)
        };
        [Effect::Write, Effect::Destroy].into_iter().filter(|effect| *effect <= spec.effect).all(denies)
    }

    /// What is said of a tool that stands for others: only rules that name it or its group are about it.
    pub(crate) fn on_relaying(&self, spec: &ToolSpec) -> RuleDecision {
        let about = |rule: &&ApprovalRule| {
            (rule.group.is_some() || rule.tool.is_some())
                && (&rule.effect, &rule.path) == (&None, &None)
                && rule.group.is_none_or(|group| group == spec.declaration.group)
                && rule.tool.as_ref().is_none_or(|tool| tool == spec.name())
        };
        self.0.iter().find(about).map_or(RuleDecision::Allow, |rule| rule.decision)
    }

    /// What is said of looking by other ways than tools, at what this group is for.
    pub(crate) fn on_looking(&self, group: ToolGroup) -> RuleDecision {
        let about = |rule: &&ApprovalRule| {
            (rule.effect == Some(Effect::Read) || rule.group.is_some())
                && (&rule.tool, &rule.path) == (&None, &None)
                && rule.effect.is_none_or(|effect| effect == Effect::Read)
                && rule.group.is_none_or(|wanted| wanted == group)
        };
        self.0.iter().find(about).map_or(RuleDecision::Allow, |rule| rule.decision)
    }

    /// Whether some of them stop or hold up what others let pass.
    pub(crate) fn are_mixed(&self) -> bool {
        self.0.iter().any(|rule| rule.decision != RuleDecision::Allow && rule.effect != Some(Effect::Destroy))
    }

    /// What a rule says of every change of this effect.
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
    fn the_first_rule_that_fits_decides() {
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
                ApprovalRules(rules.clone()).decide(&spec, &changes, &LinkedPlaces::default()),
                decision,
                "{rules:?}"
            );
        }
    }

    #[test]
    fn what_is_allowed_in_one_folder_opens_no_other() {
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
            assert_eq!(decided, decision, "{rules:?}: {changes:?}");
        }
    }
}
