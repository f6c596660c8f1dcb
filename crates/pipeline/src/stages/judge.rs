//! Stage 7: scope and approval rules, on the actual changes.

use lapidary_tools::{
    CommitReport, Effect, MemoryBudget, OutsideAction, PathRefusal, PlannedChange, Reason, RestoreReach, ToolGroup,
    ToolKind, ToolSpec, bug, render_dry_run,
};
use lapidary_vault::{Change, ChangeSet, ContentGuard, PathPrefix, Receipt, Scope, Vault, VaultPath};

use super::admit;
use crate::{
    ChangePreview, DecidedBy, ExecutorSetup, OwnerReview, Principal, RuleDecision,
    approval_rules::{RuleVerdict, effect_of},
    document_outline,
    execution::{CallConclusion, ChangePlan, Execution, StageFlow},
    linked_places::LinkedPlaces,
};

/// May this change happen? Judged on the actual change, never on the call's own claims. A dry run ends here.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    let Some(mut plan) = execution.plan.take() else { return Err(bug!("a change is judged before it is planned")) };
    // Of what the tool planned: the owner may leave files out.
    let is_expected = if plan.change.dry_run { Ok(()) } else { execution.bounds.check(&plan.change.changes) };
    let is_separable = plan.specs.iter().all(|tool| tool.is_separable);
    if let Some(OwnerReview::Approved { amendment, .. }) = &execution.invocation.review {
        // It fitted what was shown, so the change is another one by now.
        let amended = amendment.apply(&mut plan.change.changes, is_separable);
        plan.rewritten = amended.map_err(|_| Reason::ChangedMeanwhile)?;
    }
    let changes = &plan.change.changes;
    // Before the judgement of places and rules: these are not wanted to change by anyone.
    check_folders(execution, &plan)?;
    let vault = &execution.concerned_vault().vault;
    let Judgement { decision, by, places } = match execution.scope.as_deref() {
        Some(scope) => judge(changes, &plan.specs, scope, vault, execution.setup(), execution.principal())?,
        // A call of another server touches no vault.
        None if changes.is_empty() => Judgement::of_nothing(LinkedPlaces::default()),
        None => return Err(bug!("a change is judged before its vault is open")),
    };
    // Its files are named in the refusal, so they are judged first.
    is_expected.map_err(|reason| as_shown(execution, &plan.specs, reason))?;
    let decision =
        plan.change.action.as_ref().map_or(decision, |action| decision.max(on_action(execution, &plan, action)));
    let is_covered = is_covered(execution, changes, &places, &by);
    let decision = if decision == RuleDecision::Ask && is_covered { RuleDecision::Allow } else { decision };
    // More files than the request had would be more than the caller could ask for, and more than it may know of.
    if execution.invocation.asked.as_ref().is_some_and(|asked| !asked.covers(changes, &places)) {
        return Err(Reason::ChangedMeanwhile);
    }
    // An empty change only shows something, and that is decided below; no user has to approve it.
    let at_least = if is_covered { RuleDecision::Allow } else { execution.at_least };
    execution.decision = if plan.is_empty() { decision } else { decision.max(at_least) };
    // The approver of this very change has seen what it replaces.
    if execution.invocation.review.is_none() && execution.approved.is_none() {
        check_overwrites(execution, changes).map_err(|reason| as_shown(execution, &plan.specs, reason))?;
    }
    plan.upkeep = super::plan::upkeep(execution, &plan.change.changes)?;
    let is_shown = plan.change.dry_run || plan.is_empty() || plan.token.is_some();
    if is_shown {
        // A run that changes nothing has only read, and is one of the calls that a rule about recipes means.
        let runs = plan.specs.iter().filter(|spec| spec.kind == ToolKind::Steps);
        let reading = runs.map(|spec| execution.setup().rules.on_reading(spec).decision);
        match reading.fold(on_showing(execution, &plan.specs), RuleDecision::max) {
            RuleDecision::Allow => {}
            RuleDecision::Deny => return Err(Reason::DeniedByRule),
            // Its arguments are all that could be asked about, and that was done.
            RuleDecision::Ask if execution.is_let_out => {}
            RuleDecision::Ask => {
                let entry = execution.entry()?;
                if let StageFlow::End(question) = admit::ask_to_read(execution, entry)? {
                    return Ok(StageFlow::End(question));
                }
            }
        }
    }
    if plan.change.dry_run {
        return show(execution, plan);
    }
    // Regardless of the rules in this process: exactly that change was approved.
    if execution.approved.is_some_and(|approved| approved != plan.digest(&places)) {
        return Err(Reason::ChangedMeanwhile);
    }
    if execution.decision == RuleDecision::Deny {
        return Err(Reason::DeniedByRule);
    }
    if execution.is_preview() {
        let PlannedChange { changes, action, .. } = plan.change;
        let outlined = |change: &Change| {
            let lines = document_outline::outline(execution.setup(), execution.cancel, change);
            (!lines.is_empty()).then(|| (change.path().clone(), lines))
        };
        let outlines = changes.changes.iter().filter_map(outlined).collect();
        let preview = ChangePreview { changes, action, is_separable, outlines, places };
        return Ok(StageFlow::End(CallConclusion::Preview(Box::new(preview))));
    }
    plan.places = places;
    execution.plan = Some(plan);
    Ok(StageFlow::Next)
}

/// Whether the approval of the call itself, before it was planned, is one of its change as well: it named what would be
/// fetched and where it would be kept. The change of a recipe or a batch was not known then, and one of the notes that steer
/// assistants is always shown.
fn is_covered(execution: &Execution<'_>, changes: &ChangeSet, places: &LinkedPlaces, by: &DecidedBy) -> bool {
    let is_named = execution.entry().is_ok_and(|entry| matches!(entry.spec.kind, ToolKind::Write | ToolKind::Forward));
    if !execution.is_let_out || execution.invocation.review.is_some() || !is_named {
        return false;
    }
    let (setup, vault) = (execution.setup(), &execution.concerned_vault().vault);
    let steers = execution.scope.as_deref().is_some_and(|scope| {
        let touches_guide = guides_in(changes, places, scope, vault, setup).next().is_some();
        touches_guide || setup.shape.changes_schemas(changes)
    });
    !steers && matches!(by, DecidedBy::Rule(_) | DecidedBy::NoRule)
}

/// Refuses to move a folder with notes in it that are sources by what they say. What is a source by its path is judged
/// with everything else.
fn check_folders(execution: &Execution<'_>, plan: &ChangePlan<'_>) -> Result<(), Reason> {
    let Some(view) = execution.view.as_ref().filter(|view| view.has_marked_sources()) else { return Ok(()) };
    if takes_back(&plan.specs) {
        return Ok(());
    }
    let folders = plan.change.changes.changes.iter().filter_map(|change| match change {
        Change::MoveFolder { from, .. } => Some(from),
        _ => None,
    });
    for folder in folders {
        let go_on = || execution.cancel.check().is_ok();
        let files = view.files(&go_on).map_err(|error| Reason::from_index(&error, execution.cancel))?;
        for entry in files.below(Some(folder)).filter(|entry| entry.is_note()) {
            execution.cancel.check()?;
            let path = entry.path().clone();
            if view.is_source(&path, view.read(&path).ok().as_deref()) {
                return Err(Reason::SourceFixed { path });
            }
        }
    }
    Ok(())
}

/// Whether these tools only take back what the caller itself did.
fn takes_back(tools: &[&ToolSpec]) -> bool {
    tools.iter().all(|tool| tool.restores == RestoreReach::OwnChanges)
}

/// Refuses to change what is there and has to stay, by the path and by the target of a link.
fn check_sources(changes: &ChangeSet, scope: &Scope, places: &LinkedPlaces) -> Result<(), Reason> {
    for change in &changes.changes {
        let path = change.path();
        let is_source = |path: &VaultPath| scope.is_source(path, change.before());
        let stays = match change {
            Change::Create { .. } | Change::MakeFolder { .. } => false,
            Change::MoveFolder { .. } | Change::TrashFolder { .. } => scope.touches_sources(path),
            Change::Write { .. } | Change::Move { .. } | Change::Trash { .. } | Change::Delete { .. } => {
                is_source(path) || is_source(places.of_path(path))
            }
        };
        if stays {
            return Err(Reason::SourceFixed { path: path.clone() });
        }
    }
    Ok(())
}

/// What happens outside of the vault is judged like a change.
fn on_action(execution: &Execution<'_>, plan: &ChangePlan<'_>, action: &OutsideAction) -> RuleDecision {
    let effect = action.effect();
    if effect > execution.profile().most {
        return RuleDecision::Deny;
    }
    let rules = &execution.setup().rules;
    let on = |spec: &&ToolSpec| match action {
        // Opening a note only reads, which was decided before.
        OutsideAction::App(_) if effect == Effect::Read => RuleDecision::Allow,
        OutsideAction::App(_) => rules.on_action(spec, effect).decision,
        OutsideAction::Call(call) => rules.on_call(spec, call),
    };
    plan.specs.iter().map(on).max().unwrap_or(RuleDecision::Ask)
}

/// Refuses to replace unguarded content that the caller saw differently: another program's text would be lost.
fn check_overwrites(execution: &Execution<'_>, changes: &ChangeSet) -> Result<(), Reason> {
    let (served, history) = (execution.concerned_vault(), &execution.executor.history);
    for change in changes.changes.iter().filter(|change| change.guard() == ContentGuard::Nobody) {
        let seen = history.last_seen(&execution.principal().id, served.vault.name(), change.path());
        let Some((seen, before)) = seen.zip(change.before()) else { continue };
        if seen != before.hash() {
            // A view of this moment: the refusal shows what the file has become, not what the plan saw.
            let view = execution.executor.view(served, &execution.principal().grant)?;
            return Err(Reason::overtaken(&view, change.path().clone(), None, seen.into(), change.bytes()));
        }
    }
    Ok(())
}

/// What a refusal may show of a file depends on whether these tools may.
pub(crate) fn as_shown(execution: &Execution<'_>, tools: &[&ToolSpec], reason: Reason) -> Reason {
    match on_showing(execution, tools) {
        RuleDecision::Allow => reason,
        RuleDecision::Ask | RuleDecision::Deny => reason.without_content(),
    }
}

/// A call that changes nothing, or only proposes, shows text of notes: that is reading, whichever tool it uses.
pub(crate) fn on_showing(execution: &Execution<'_>, tools: &[&ToolSpec]) -> RuleDecision {
    if !execution.profile().has(ToolGroup::Read) {
        return RuleDecision::Deny;
    }
    let rules = &execution.setup().rules;
    tools.iter().map(|tool| rules.on_showing(tool)).max().unwrap_or(RuleDecision::Allow)
}

/// The answer that would have been given, and the change that would have been made.
fn show(execution: &mut Execution<'_>, plan: ChangePlan<'_>) -> Result<StageFlow, Reason> {
    let ChangePlan { change, token, upkeep, .. } = plan;
    execution.dry_run = true;
    execution.receipt = Receipt::of(&change.changes);
    let answer = change.draft.finish(&CommitReport {
        offered: execution.offered(),
        receipt: None,
        proposal_token: token.as_deref(),
        acted: None,
        called: None,
        shows_content: true,
    })?;
    let outline = |change: &Change| document_outline::outline(execution.setup(), execution.cancel, change);
    let diff = change.shows_diff.then(|| change.changes.diff_with(&outline).text + &upkeep.diff().text);
    Ok(StageFlow::answer(render_dry_run(answer, diff.as_deref(), &execution.notices())))
}

/// What was decided about a change, and by what.
pub(crate) struct Judgement {
    pub(crate) decision: RuleDecision,
    pub(crate) by: DecidedBy,
    pub(crate) places: LinkedPlaces,
}

impl Judgement {
    /// Of a change of nothing.
    fn of_nothing(places: LinkedPlaces) -> Self {
        Self { decision: RuleDecision::Allow, by: DecidedBy::NoRule, places }
    }
}

/// Every file of the change is in the principal's scope, by its path and by the target of a link, and can be read
/// afterwards, or the reason why not; then the decision of the rules for both.
///
/// `tools` are all tools involved; the strictest decision on any of them wins.
pub(crate) fn judge(
    changes: &ChangeSet,
    tools: &[&ToolSpec],
    scope: &Scope,
    vault: &Vault,
    setup: &ExecutorSetup,
    principal: &Principal,
) -> Result<Judgement, Reason> {
    for change in &changes.changes {
        for path in change.paths() {
            scope.may_write(path).map_err(|denied| Reason::PathForbidden {
                path: path.clone(),
                writing: true,
                denied: PathRefusal::ByScope(denied),
            })?;
        }
        // No later call could read a larger file.
        let (bytes, limit) = (change.bytes().len() as u64, setup.limits.max_file_bytes);
        if bytes > limit {
            return Err(Reason::ResultTooLarge { path: change.path().clone(), bytes, limit });
        }
    }
    MemoryBudget::new(setup.limits.budget()).hold_all(changes)?;
    let places = LinkedPlaces::of(changes, vault, scope)?;
    if !takes_back(tools) {
        check_sources(changes, scope, &places)?;
    }
    if changes.is_empty() {
        return Ok(Judgement::of_nothing(places));
    }
    // The profile has the tool for its milder uses. How far this use goes is only known by now.
    if changes.changes.iter().any(|change| effect_of(change) > principal.profile().most) {
        return Ok(Judgement { decision: RuleDecision::Deny, by: DecidedBy::Profile, places });
    }
    let decided = tools.iter().map(|tool| setup.rules.decide(tool, changes, &places));
    let RuleVerdict { decision, rule } = decided.reduce(RuleVerdict::stricter).unwrap_or(RuleVerdict::UNRULED);
    // If the owner wants no question before a deletion, a general rule about deletions does not ask either.
    let unasked = |tool: &&ToolSpec| tool.asks_first && !setup.asks_before_deleting;
    let by_effect = |tool: &&ToolSpec| setup.rules.decide_by_effect(tool, changes, &places);
    if decision == RuleDecision::Ask && tools.iter().all(|tool| unasked(tool) && by_effect(tool)) {
        return Ok(Judgement { decision: RuleDecision::Allow, by: DecidedBy::DeletionSetting, places });
    }
    // Where the user cannot be asked, a question would refuse what the owner allows.
    let asks_first = tools.iter().any(|tool| tool.asks_first) && setup.asks_before_deleting && principal.can_be_asked;
    if asks_first && decision < RuleDecision::Ask {
        return Ok(Judgement { decision: RuleDecision::Ask, by: DecidedBy::DeletionSetting, places });
    }
    // A recipe runs without showing its steps again, so a person sees each before it counts, whatever the rules allow.
    if tools.iter().any(|tool| tool.keeps_recipes) && decision < RuleDecision::Ask {
        return Ok(Judgement { decision: RuleDecision::Ask, by: DecidedBy::RecipeTool, places });
    }
    // The guide steers assistants, so they do not write it unless a rule about it says so.
    if decision == RuleDecision::Allow && changes_guide(changes, tools, &places, scope, vault, setup) {
        return Ok(Judgement { decision: RuleDecision::Ask, by: DecidedBy::Guide, places });
    }
    // A schema is a rule for others, so a change of one is asked for unless a rule says otherwise in particular.
    let is_general = rule.is_none_or(|rule| setup.rules.is_general(rule));
    if setup.shape.changes_schemas(changes) && decision < RuleDecision::Ask && is_general {
        return Ok(Judgement { decision: RuleDecision::Ask, by: DecidedBy::SchemaFolder, places });
    }
    Ok(Judgement { decision, by: rule.map_or(DecidedBy::NoRule, DecidedBy::Rule), places })
}

/// Whether a note that is kept up may be changed without a question. A rule about a tool or an effect was decided with the
/// change itself; one about this note was not, and neither was the guide, which steers assistants.
pub(super) fn is_free_for_upkeep(execution: &Execution<'_>, tools: &[&ToolSpec], change: &Change) -> bool {
    let (setup, vault) = (execution.setup(), &execution.concerned_vault().vault);
    let Some(scope) = execution.scope.as_deref() else { return false };
    match judge(&ChangeSet::one(change.clone()), tools, scope, vault, setup, execution.principal()) {
        Ok(Judgement { decision: RuleDecision::Allow, .. }) => true,
        Ok(Judgement { by, .. }) => match by {
            DecidedBy::Rule(rule) => !setup.rules.names_path(rule),
            DecidedBy::NoRule | DecidedBy::Profile | DecidedBy::DeletionSetting => true,
            DecidedBy::Guide | DecidedBy::SchemaFolder | DecidedBy::RecipeTool | DecidedBy::Refusal(_) => false,
        },
        Err(_) => false,
    }
}

/// Whether the owner's guide is changed, and only a general rule allows that.
fn changes_guide(
    changes: &ChangeSet,
    tools: &[&ToolSpec],
    places: &LinkedPlaces,
    scope: &Scope,
    vault: &Vault,
    setup: &ExecutorSetup,
) -> bool {
    guides_in(changes, places, scope, vault, setup)
        .any(|(change, path)| tools.iter().any(|tool| setup.rules.is_general_on(tool, change, path)))
}

/// The places of a change that are a guide of the owner, or may become one.
fn guides_in<'c>(
    changes: &'c ChangeSet,
    places: &LinkedPlaces,
    scope: &Scope,
    vault: &Vault,
    setup: &ExecutorSetup,
) -> impl Iterator<Item = (&'c Change, &'c VaultPath)> {
    // If it is a link, its text is where the link leads.
    let linked = |guide: &VaultPath| vault.place_of_change(guide, scope).ok().filter(|place| place != guide);
    let guides = setup.owner.guides.iter().flat_map(|guide| [Some(guide.clone()), linked(guide)]).flatten();
    let guides: Vec<PathPrefix> = guides.filter_map(|guide| PathPrefix::parse(guide.as_str()).ok()).collect();
    let all = changes.changes.iter().flat_map(|change| change.paths().map(move |path| (change, path)));
    all.filter(move |(change, path)| {
        // A folder takes along what is in it, and may bring a guide to its place.
        let takes_along = matches!(change, Change::MoveFolder { .. } | Change::TrashFolder { .. });
        let is_guide =
            |path: &VaultPath| guides.iter().any(|guide| guide.covers(path) || (takes_along && guide.is_within(path)));
        is_guide(path) || is_guide(places.of_path(path))
    })
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{Effect, ProfileRules, Reason, ReasonKind};
    use serde_json::json;

    use super::run;
    use crate::{
        ApprovalRule, Principal, RuleDecision,
        testing::{StageVerdict, TestSetup, granted, verdict},
    };

    #[test]
    fn a_dry_run_shows_the_change_and_is_judged_like_one() {
        let server = TestSetup::default().serve(&[("a.md", "one\n")]);
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two", "dry_run": true });
        let shown = server.done("str_replace", edit.clone());
        assert!(shown["diff"].as_str().unwrap().contains("+two"), "{shown:#}");
        assert_eq!(server.text("a.md"), "one\n");
        let nobody = server.principal_with(granted(&["Other"]));
        assert!(server.call_as(&nobody, "str_replace", edit).rendered().unwrap().is_error);
    }

    #[test]
    fn changes_denied_by_rules_or_profile_are_not_made() {
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two" });
        let rules = vec![ApprovalRule::effect(Effect::Write, RuleDecision::Deny)];
        let denied = TestSetup { rules, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        assert_eq!(denied.refused("str_replace", edit).kind(), ReasonKind::DeniedByRule);
        let profile = ProfileRules { most: Effect::Write, ..ProfileRules::curator() };
        let rules = vec![ApprovalRule::effect(Effect::Destroy, RuleDecision::Allow)];
        let editor = TestSetup { profile, rules, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let hash = lapidary_note::ContentHash::of(b"one\n").to_string();
        let gone = json!({ "file": "a.md", "trash": false, "expected_content_hash": hash });
        assert_eq!(editor.refused("file_delete", gone).kind(), ReasonKind::DeniedByRule);
        assert_eq!(editor.text("a.md"), "one\n");
    }

    #[test]
    fn a_refused_overwrite_shows_what_changed_only_to_those_who_may_read() {
        for (rules, shown) in [
            (Vec::new(), vec!["-one", "+two"]),
            (vec![ApprovalRule::effect(Effect::Read, RuleDecision::Deny)], Vec::new()),
        ] {
            let server = TestSetup { rules, ..TestSetup::default() }.serve(&[]);
            let write = |text: &str| json!({ "target": { "type": "path", "path": "a.md" }, "content": text, "overwrite": true });
            server.done("obsidian_write_note", write("one\n"));
            let other = Principal { id: "other".to_owned(), ..server.principal() };
            let edit = json!({ "file": "a.md", "find": "one", "replace": "two" });
            assert!(!server.call_as(&other, "str_replace", edit).rendered().unwrap().is_error);
            let reason = server.refused("obsidian_write_note", write("three\n"));
            let Reason::Overtaken { changed, lost, .. } = &reason else { panic!("{reason:?}") };
            assert_eq!((changed.iter().map(String::as_str).collect::<Vec<_>>(), lost.len()), (shown, 0));
            assert_eq!(server.text("a.md"), "two\n");
            // A caller that never read it overwrites it.
            let third = Principal { id: "third".to_owned(), ..server.principal() };
            assert!(!server.call_as(&third, "obsidian_write_note", write("four\n")).rendered().unwrap().is_error);
        }
    }

    #[test]
    fn unreadable_text_is_not_shown_by_a_tool_that_writes() {
        let files = &[("a.md", "---\nk: v\n---\none\n")];
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two", "dry_run": true });
        let proposal = json!({ "file": "a.md", "pattern": ".+", "replacement": "x" });
        let get = json!({ "target": { "type": "path", "path": "a.md" }, "operation": "get", "key": "k" });
        let previews = [("str_replace", edit), ("regex_replace", proposal), ("obsidian_manage_frontmatter", get)];
        let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Deny)];
        let denied = TestSetup { rules, ..TestSetup::default() }.serve(files);
        let profile = ProfileRules { allow: vec!["edit".into()], exclude: Vec::new(), most: Effect::Write };
        let writer = TestSetup { profile, ..TestSetup::default() }.serve(files);
        for (tool, given) in previews {
            for server in [&denied, &writer] {
                assert_eq!(server.refused(tool, given.clone()).kind(), ReasonKind::DeniedByRule, "{tool}");
            }
        }
        for server in [denied, writer] {
            server.done("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" }));
        }
    }

    #[test]
    fn neither_an_answer_nor_a_refusal_shows_a_note_that_may_not_be_read() {
        let text = "---\nk: 1\nzqkey: zqvalue\ntags: [zqtag]\n---\n# A\n\nline zqtext [[b#zqpart]]\n\n## zqhead\n\nx ^zqblock\n";
        let broken = "---\nzqkey: [\n---\n";
        let files = &[("a.md", text), ("b.md", "# zqpart\n"), ("broken.md", broken)];
        let target = json!({ "type": "path", "path": "a.md" });
        let patch = "--- a/a.md\n+++ b/a.md\n@@ -8 +8 @@\n-other\n+line\n";
        let section = |kind: &str| json!({ "type": kind, "target": "None" });
        let patched =
            |kind: &str| json!({ "target": target, "operation": "append", "content": "x", "section": section(kind) });
        let calls = [
            (
                "obsidian_manage_frontmatter",
                json!({ "target": target, "operation": "set", "key": "k", "value": 2 }),
                true,
            ),
            ("obsidian_manage_tags", json!({ "target": target, "operation": "add", "tags": ["mine"] }), true),
            ("str_replace", json!({ "file": "a.md", "find": "line ", "replace": "row " }), true),
            ("file_append", json!({ "file": "a.md", "content": "more\n" }), true),
            ("obsidian_append_to_note", json!({ "target": target, "content": "more\n" }), true),
            ("section_move", json!({ "file": "a.md", "section": "A", "to": "c.md", "leave": "link" }), true),
            ("str_replace", json!({ "file": "a.md", "find": "row zqte", "replace": "x" }), false),
            ("apply_patch", json!({ "file": "a.md", "patch": patch }), false),
            ("obsidian_patch_note", patched("heading"), false),
            ("obsidian_patch_note", patched("block"), false),
            ("obsidian_patch_note", patched("frontmatter"), false),
            (
                "heading_replace_body",
                json!({ "file": "a.md", "heading": "None", "content": "x", "expected_section_hash": "sha256:00000000" }),
                false,
            ),
        ];
        let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Deny)];
        let server = TestSetup { rules, ..TestSetup::default() }.serve(files);
        for (tool, given, is_done) in calls {
            let reply = server.call(tool, given.clone()).rendered().unwrap();
            assert_eq!(!reply.is_error, is_done, "{tool} {given}: {}", reply.structured());
            let shown = format!("{} {}", reply.structured(), reply.text().join("\n"));
            let own = given.to_string();
            let words = shown.match_indices("zq").map(|(at, _)| {
                let end = shown[at..].find(|letter: char| !letter.is_ascii_alphanumeric());
                &shown[at..end.map_or(shown.len(), |end| at + end)]
            });
            let foreign: Vec<&str> = words.filter(|word| !own.contains(*word)).collect();
            assert!(foreign.is_empty(), "{tool} {given} shows {foreign:?}: {shown}");
        }
    }

    #[test]
    fn a_tool_that_is_denied_runs_no_preview() {
        let named = ApprovalRule {
            effect: None,
            group: None,
            tool: Some("str_replace".into()),
            path: None,
            decision: RuleDecision::Deny,
        };
        let server = TestSetup { rules: vec![named], ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two", "dry_run": true });
        assert_eq!(server.refused("str_replace", edit.clone()).kind(), ReasonKind::DeniedByRule);
        let relayed = json!({ "name": "str_replace", "arguments": edit });
        assert_eq!(server.refused("call_tool", relayed).kind(), ReasonKind::DeniedByRule);
    }

    #[test]
    fn a_file_must_be_readable_afterwards() {
        let server = TestSetup { max_file_bytes: 20, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let long = json!({ "file": "a.md", "find": "one", "replace": "x".repeat(30) });
        assert_eq!(server.refused("str_replace", long).kind(), ReasonKind::FileTooLarge);
    }

    #[test]
    fn the_strictest_decision_on_the_actual_change_counts() {
        // A name is not a path, so nothing is decided before the plan says which file it means.
        let edit = json!({ "file": "a", "find": "one", "replace": "two" });
        let rule = |decision| vec![ApprovalRule::effect(Effect::Write, decision)];
        let denied = || StageVerdict::Refusal(ReasonKind::DeniedByRule);
        for (rules, at_least, expected, decision) in [
            (vec![], RuleDecision::Allow, StageVerdict::Next, RuleDecision::Allow),
            (rule(RuleDecision::Ask), RuleDecision::Allow, StageVerdict::Next, RuleDecision::Ask),
            // Of the tool that led to this one.
            (vec![], RuleDecision::Ask, StageVerdict::Next, RuleDecision::Ask),
            (rule(RuleDecision::Deny), RuleDecision::Allow, denied(), RuleDecision::Deny),
        ] {
            let server = TestSetup { rules, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
            server.at("judge", &server.invocation("str_replace", edit.clone()), |execution| {
                execution.at_least = at_least;
                assert_eq!((verdict(run(execution)), execution.decision), (expected, decision));
                assert_eq!(execution.plan.is_some(), decision != RuleDecision::Deny);
            });
        }
    }

    #[test]
    fn an_approved_change_is_made_only_as_it_was_approved() {
        let server = TestSetup::default().serve(&[("a.md", "one\n")]);
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two" });
        for is_same in [true, false] {
            server.at("judge", &server.invocation("str_replace", edit.clone()), |execution| {
                let planned = execution.plan.as_ref().unwrap().change.changes.digest();
                let other = lapidary_note::ContentHash::of(b"another change");
                execution.approved = Some(if is_same { planned } else { other });
                let expected =
                    if is_same { StageVerdict::Next } else { StageVerdict::Refusal(ReasonKind::ChangedMeanwhile) };
                assert_eq!(verdict(run(execution)), expected);
            });
        }
    }

    #[test]
    fn a_dry_run_ends_with_an_answer_and_leaves_nothing_to_commit() {
        let server = TestSetup::default().serve(&[("a.md", "one\n")]);
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two", "dry_run": true });
        server.at("judge", &server.invocation("str_replace", edit), |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Answer);
            assert!(execution.plan.is_none() && execution.dry_run && !execution.has_changed());
        });
    }
}
