//! Stage 2: whether the principal may use the operation.

use lapidary_tools::{OffReason, ReadOperation, Reason, ToolGroup};

use crate::{
    RuleDecision,
    execution::{Execution, FoundOperation, StageFlow},
};

/// May the principal use it at all?
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    match execution.found()? {
        FoundOperation::Tool(entry) => {
            entry.authorize()?;
            // A command acts on whatever is open, and another server may reach more than this one shows, so neither is for
            // callers that may use only part of the vault.
            let knows_no_folders = entry.spec.is_command || entry.spec.declaration.group == ToolGroup::Mcp;
            if knows_no_folders && execution.principal().grant.paths.is_some() {
                return Err(Reason::ToolOff { tool: entry.spec.name().to_owned(), off: OffReason::OwnFolders });
            }
        }
        FoundOperation::Read(operation) => {
            // Before anything can be refused, so that the log names the files of a refused request.
            execution.files = operation.files();
            read_operation(execution, operation)?;
        }
    }
    Ok(StageFlow::Next)
}

/// Other operations need the same permission to read: that of the tools that show the same.
fn read_operation(execution: &Execution<'_>, operation: &dyn ReadOperation) -> Result<(), Reason> {
    let profile = execution.profile();
    let off = || Reason::ToolOff { tool: operation.declaration().name.to_owned(), off: OffReason::Profile };
    if !profile.has(ToolGroup::Read) && !profile.has(ToolGroup::Vault) {
        return Err(off());
    }
    // Without a group it shows nothing of a vault, like the status of the server.
    let Some(group) = operation.group()? else { return Ok(()) };
    // The text of notes is more than their existence.
    if group == ToolGroup::Read && !profile.has(ToolGroup::Read) {
        return Err(off());
    }
    match execution.setup().rules.on_looking(group) {
        RuleDecision::Allow => Ok(()),
        // The user cannot be asked here.
        RuleDecision::Ask => Err(Reason::NobodyToAsk),
        RuleDecision::Deny => Err(Reason::DeniedByRule),
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{Effect, ListPrompts, ProfileRules, ReadResource, ReasonKind};
    use serde_json::json;

    use super::run;
    use crate::{
        ApprovalRule, Invocation, RuleDecision,
        testing::{StageVerdict, TestSetup, verdict},
    };

    #[test]
    fn a_tool_that_the_profile_does_not_have_is_off() {
        let server = TestSetup { profile: ProfileRules::reader(), ..TestSetup::default() }.serve(&[("a.md", "x\n")]);
        let reason = server.refused("str_replace", json!({ "file": "a.md", "find": "x", "replace": "y" }));
        assert_eq!(reason.kind(), ReasonKind::ToolDisabled);
        server.done("file_read", json!({ "file": "a.md" }));
    }

    #[test]
    fn other_operations_need_the_group_that_shows_the_same() {
        let only = |allow: &str| ProfileRules { allow: vec![allow.into()], exclude: Vec::new(), most: Effect::Read };
        let note = || ReadResource { uri: "obsidian://vault/a.md".into() };
        for (allow, file, prompts) in [("read", true, true), ("vault", false, true), ("agent", false, false)] {
            let server = TestSetup { profile: only(allow), ..TestSetup::default() }.serve(&[("a.md", "x\n")]);
            assert_eq!(server.read(note()).is_ok(), file, "{allow}");
            assert_eq!(server.read(ListPrompts).is_ok(), prompts, "{allow}");
        }
    }

    #[test]
    fn rules_about_reading_apply_to_resources() {
        for (decision, kind) in
            [(RuleDecision::Deny, ReasonKind::DeniedByRule), (RuleDecision::Ask, ReasonKind::ApprovalUnavailable)]
        {
            let rules = vec![ApprovalRule::effect(Effect::Read, decision)];
            let server = TestSetup { rules, ..TestSetup::default() }.serve(&[("a.md", "x\n")]);
            let reason = server.read(ReadResource { uri: "obsidian://vault/a.md".into() }).err().unwrap();
            assert_eq!(reason.kind(), kind);
            assert!(server.read(ReadResource { uri: "obsidian://status".into() }).is_ok(), "shows nothing of a vault");
        }
    }

    #[test]
    fn a_tool_passes_if_the_profile_has_it() {
        for (profile, tool, expected) in [
            (ProfileRules::reader(), "file_read", StageVerdict::Next),
            (ProfileRules::reader(), "str_replace", StageVerdict::Refusal(ReasonKind::ToolDisabled)),
            (ProfileRules::editor(), "str_replace", StageVerdict::Next),
        ] {
            let server = TestSetup { profile, ..TestSetup::default() }.serve(&[]);
            let invocation = server.invocation(tool, json!({}));
            server.at("authorize", &invocation, |execution| assert_eq!(verdict(run(execution)), expected, "{tool}"));
        }
    }

    #[test]
    fn a_refused_resource_is_known_by_its_file() {
        let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Deny)];
        let server = TestSetup { rules, ..TestSetup::default() }.serve(&[("a.md", "x\n")]);
        let resource = ReadResource { uri: "obsidian://vault/a.md".into() };
        server.at("authorize", &Invocation::read(resource, server.principal()), |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Refusal(ReasonKind::DeniedByRule));
            assert_eq!(execution.files, ["a.md"]);
        });
    }
}
