//! What a caller may do to a path, for an owner who asks before anyone calls. Decided by the code that judges calls.

use std::sync::Arc;

use lapidary_tools::{Effect, PathRefusal, Reason, ToolSpec};
use lapidary_vault::{Change, ChangeSet, ContentGuard, File, Scope, VaultPath};

use crate::{
    ApprovalRules, Executor, Principal, RuleDecision, ServedVault,
    approval_rules::RuleVerdict,
    stages::judge::{Judgement, judge},
};

/// What became of the question for one effect of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessVerdict {
    pub effect: Effect,
    pub decision: RuleDecision,
    pub by: DecidedBy,
}

/// What decides.
#[derive(Clone, Debug, PartialEq)]
pub enum DecidedBy {
    /// One of the owner's rules, by its number from 0.
    Rule(usize),
    /// None of them matches.
    NoRule,
    /// The profile does not go that far.
    Profile,
    /// The setting about questions before deletions.
    DeletionSetting,
    /// It is the owner's guide, which steers assistants.
    Guide,
    /// It changes a schema, which is asked for unless a rule says otherwise in particular.
    SchemaFolder,
    /// It makes or changes a recipe, which a person always sees first.
    RecipeTool,
    /// The tool is off, or the path is closed.
    Refusal(Box<Reason>),
}

impl Executor {
    /// The owner's rules, in the order in which they are checked.
    pub fn approval_rules(&self) -> &ApprovalRules {
        &self.setup.rules
    }

    /// What a caller may do with a tool to a path: one verdict for each effect that the tool can have. Nothing if there
    /// is no such tool, or none that works on a vault.
    pub fn access(
        &self,
        principal: &Principal,
        tool: &str,
        vault: Option<&str>,
        path: &VaultPath,
    ) -> Vec<AccessVerdict> {
        // A tool that the caller does not have has no verdict.
        let Ok(entry) = principal.profile().catalogue.find(tool) else { return Vec::new() };
        let spec = &entry.spec;
        if !spec.kind.needs_vault() {
            return Vec::new();
        }
        // One that can delete may also only write, as `bulk_apply` does, and other rules hold for that.
        let effects =
            if spec.effect == Effect::Read { vec![Effect::Read] } else { vec![Effect::Write, Effect::Destroy] };
        let effects = effects.into_iter().filter(|effect| *effect <= spec.effect);
        let decide = |effect: Effect| -> Result<(RuleDecision, DecidedBy), Reason> {
            // In the order of the stages, so that the first refusal is the one that a call would get.
            entry.authorize()?;
            let served = self.setup.vaults.pick(&principal.grant, vault)?;
            let scope = self.scope(served, &principal.grant)?;
            match hypothetical(effect, path) {
                None => self.on_reading(spec, &scope, path),
                Some(changes) => self.on_change(spec, &scope, served, principal, &changes),
            }
        };
        let verdict = |effect| {
            // A refusal is a verdict like any other: the owner asked what would happen.
            let refused = |reason| (RuleDecision::Deny, DecidedBy::Refusal(Box::new(reason)));
            let (decision, by) = decide(effect).unwrap_or_else(refused);
            AccessVerdict { effect, decision, by }
        };
        effects.map(verdict).collect()
    }

    fn on_reading(
        &self,
        spec: &ToolSpec,
        scope: &Scope,
        path: &VaultPath,
    ) -> Result<(RuleDecision, DecidedBy), Reason> {
        scope.may_read(path).map_err(|denied| Reason::PathForbidden {
            path: path.clone(),
            writing: false,
            denied: PathRefusal::ByScope(denied),
        })?;
        let RuleVerdict { decision, rule } = self.setup.rules.on_reading(spec);
        Ok((decision, rule.map_or(DecidedBy::NoRule, DecidedBy::Rule)))
    }

    fn on_change(
        &self,
        spec: &ToolSpec,
        scope: &Scope,
        served: &ServedVault,
        principal: &Principal,
        changes: &ChangeSet,
    ) -> Result<(RuleDecision, DecidedBy), Reason> {
        let Judgement { decision, by, .. } = judge(changes, &[spec], scope, &served.vault, &self.setup, principal)?;
        Ok((decision, by))
    }
}

/// The smallest change of a path that has this effect; nothing for reading.
fn hypothetical(effect: Effect, path: &VaultPath) -> Option<ChangeSet> {
    let path = path.clone();
    // Content does not matter: rules are about paths and effects.
    let content = || Vec::new().into();
    match effect {
        Effect::Read => None,
        Effect::Write => Some(ChangeSet::one(Change::Create { path, content: content() })),
        Effect::Destroy => {
            let before = Arc::new(File { content: content(), modified: None, created: None });
            Some(ChangeSet::one(Change::Delete { path, before, guard: ContentGuard::Nobody }))
        }
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::ReasonKind;
    use lapidary_vault::PathPrefix;
    use serde_json::json;

    use super::*;
    use crate::{
        ApprovalRule,
        testing::{TestSetup, granted},
    };

    fn path(path: &str) -> VaultPath {
        VaultPath::parse(path).unwrap()
    }

    fn rules() -> Vec<ApprovalRule> {
        let any = |decision| ApprovalRule { effect: None, group: None, tool: None, path: None, decision };
        vec![
            ApprovalRule { path: Some(PathPrefix::parse("Work").unwrap()), ..any(RuleDecision::Ask) },
            ApprovalRule { tool: Some("file_append".to_owned()), ..any(RuleDecision::Deny) },
            ApprovalRule { tool: Some("outline".to_owned()), ..any(RuleDecision::Deny) },
            ApprovalRule::effect(Effect::Write, RuleDecision::Allow),
        ]
    }

    #[test]
    fn the_verdict_names_the_rule_that_decides() {
        let server = TestSetup { rules: rules(), ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let verdicts = |tool: &str, at: &str| -> Vec<(Effect, RuleDecision, DecidedBy)> {
            let all = server.executor.access(&server.principal(), tool, None, &path(at));
            all.into_iter().map(|verdict| (verdict.effect, verdict.decision, verdict.by)).collect()
        };
        let write = |decision, rule| vec![(Effect::Write, decision, DecidedBy::Rule(rule))];
        assert_eq!(verdicts("str_replace", "Work/a.md"), write(RuleDecision::Ask, 0));
        assert_eq!(verdicts("str_replace", "a.md"), write(RuleDecision::Allow, 3));
        assert_eq!(verdicts("file_append", "a.md"), write(RuleDecision::Deny, 1));
        assert_eq!(verdicts("outline", "a.md"), [(Effect::Read, RuleDecision::Deny, DecidedBy::Rule(2))]);
        assert_eq!(verdicts("file_read", "a.md"), [(Effect::Read, RuleDecision::Allow, DecidedBy::NoRule)]);
        // The test server allows the rest by one more rule.
        assert_eq!(verdicts("file_delete", "a.md")[1], (Effect::Destroy, RuleDecision::Allow, DecidedBy::Rule(4)));
        assert_eq!(verdicts("call_tool", "a.md"), []);
        assert_eq!(verdicts("nothing", "a.md"), []);
        // As it says.
        let edit = json!({ "file": "a.md", "content": "two" });
        assert_eq!(server.refused("file_append", edit).kind(), ReasonKind::DeniedByRule);
    }

    #[test]
    fn a_closed_path_is_the_reason_itself() {
        let server = TestSetup { rules: rules(), ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let caller = server.principal_with(granted(&["Open"]));
        for (tool, at, is_open) in
            [("file_read", "a.md", false), ("file_read", "Open/a.md", true), ("str_replace", "Work/a.md", false)]
        {
            let verdict = server.executor.access(&caller, tool, None, &path(at)).remove(0);
            let is_refused =
                matches!(&verdict.by, DecidedBy::Refusal(reason) if reason.kind() == ReasonKind::PathForbidden);
            assert_eq!((is_refused, verdict.decision == RuleDecision::Deny), (!is_open, !is_open), "{tool} {at}");
        }
    }
}
