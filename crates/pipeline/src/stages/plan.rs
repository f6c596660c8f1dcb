//! Stage 6: runs the operation, which answers or plans a change.

use std::cell::{Cell, LazyCell};

use jiff::Zoned;
use lapidary_tools::{
    CatalogueEntry, Context, DiskFault, ListedPrompt, MemoryBudget, OpenedVaults, Planned, PlannedChange, ProposalStep,
    ReadOperation, ReadPayload, Reason, RelayedCall, ToolGroup, ToolNeeds, WalkCost, bug, prompts, render_answer,
};
use lapidary_vault::View;
use serde_json::{Map, Value};

use super::{check::bad_argument, judge};
use crate::{
    CallProgress, RuleDecision,
    approvals::PROPOSAL_OPEN,
    batch,
    clock::on_the_wall,
    confirmation::QuestionSubject,
    digest::digest,
    execution::{CallConclusion, ChangePlan, Execution, FoundOperation, StageFlow},
    linked_places::LinkedPlaces,
    repetition::FilesRead,
};

/// The operation itself, as a pure function: an answer, or the change it would make.
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    match execution.found()? {
        FoundOperation::Tool(entry) => plan_tool(execution, entry),
        FoundOperation::Read(operation) => answer(execution, operation),
    }
}

fn answer(execution: &mut Execution<'_>, operation: &dyn ReadOperation) -> Result<StageFlow, Reason> {
    let opened = execution.opened.take().ok_or_else(|| bug!("an operation was reached without its vaults"))?;
    let names = execution.setup().vaults.names(&execution.principal().grant);
    let walked = Cell::new(None);
    let now = wall_clock(execution);
    let payload = operation.answer(&context(execution, &names, &[], &[], &walked, &now), &opened)?;
    // A note that was read as a resource is known to the caller like one that a tool showed.
    if let (OpenedVaults::One(view), ReadPayload::Contents(_)) = (&opened, &payload) {
        execution.read = files_read(Some(view), payload.reply_bytes());
    }
    Ok(StageFlow::End(CallConclusion::Answer(payload)))
}

fn plan_tool<'a>(execution: &mut Execution<'a>, entry: &'a CatalogueEntry) -> Result<StageFlow, Reason> {
    let names = execution.setup().vaults.names(&execution.principal().grant);
    let walked = Cell::new(None);
    // Log and playbooks are read only for tools that declare the need.
    let ToolNeeds { log_lines: lines, playbooks: needs_playbooks } = entry.spec.needs;
    let log = if lines > 0 { log_lines(execution, lines)? } else { Vec::new() };
    let playbooks = if needs_playbooks { playbooks(execution, &names) } else { Vec::new() };
    let now = wall_clock(execution);
    let context = context(execution, &names, &log, &playbooks, &walked, &now);
    let view = execution.view.take();
    let planned = entry.tool.plan(&context, view.as_ref(), execution.arguments.clone());
    // The cost of the walk is recorded even if the tool refuses.
    execution.walked = walked.get().or(execution.walked);
    // A refusal may quote text of notes, so it is subject to the rules about reading.
    let planned = planned.map_err(|reason| judge::as_shown(execution, &[&entry.spec], reason));
    let (change, specs) = match planned? {
        Planned::Answer(answer) => {
            if execution.vault.is_some() {
                execution.report(CallProgress::Done);
            }
            let rendered = render_answer(answer, &execution.notices());
            execution.read = files_read(view.as_ref(), rendered.structured().len());
            return Ok(StageFlow::answer(rendered));
        }
        Planned::Relay(call) => return relay(execution, entry, call),
        Planned::Change(change) => (change, Vec::new()),
        Planned::Batch(batch) => {
            let view = view.as_ref().ok_or_else(|| bug!("a batch was planned without a vault"))?;
            let scope = execution.scope.clone().ok_or_else(|| bug!("a batch was planned without a scope"))?;
            // A plan may be repeated after a race; refusals of the first attempt must not be logged twice.
            execution.refused_steps.clear();
            let planned = batch::plan(execution, &context, view, &scope, batch);
            execution.walked = walked.get().or(execution.walked);
            planned?
        }
    };
    execution.plan = Some(with_proposal(execution, entry, change, specs)?);
    execution.report(CallProgress::Planned);
    Ok(StageFlow::Next)
}

/// What an answer of this many bytes may have shown. A search reads many files and shows little of them, which is not
/// worth hashing them.
fn files_read(view: Option<&View>, answer: usize) -> FilesRead {
    let files = view.map(View::files_read).unwrap_or_default();
    let whole = files.iter().map(|(_, file)| file.content.len()).sum::<usize>() <= answer;
    if !whole && files.len() > 1 {
        return FilesRead::default();
    }
    FilesRead { hashes: files.into_iter().map(|(path, file)| (path, file.hash())).collect(), whole }
}

/// Starts over with the named tool, under its own rules. The log records that one.
fn relay(execution: &mut Execution<'_>, outer: &CatalogueEntry, call: RelayedCall) -> Result<StageFlow, Reason> {
    let RelayedCall { tool, arguments } = call;
    let inner = super::find::named_tool(execution.profile(), &tool)?;
    if inner.spec.name() == outer.spec.name() {
        return Err(bad_argument(outer, "name", "must be another tool than this one"));
    }
    execution.at_least = execution.setup().rules.on_relaying(&outer.spec);
    if execution.at_least == RuleDecision::Deny {
        return Err(Reason::DeniedByRule);
    }
    execution.via = Some(outer.spec.name());
    execution.operation_name = inner.spec.name().to_owned();
    execution.given_hash = digest(&arguments);
    execution.given = arguments;
    execution.arguments = Map::new();
    execution.is_checked = false;
    Ok(StageFlow::Restart)
}

/// Issues a token for what the plan proposes, or checks the one that it came with.
fn with_proposal<'a>(
    execution: &Execution<'a>,
    entry: &'a CatalogueEntry,
    change: PlannedChange,
    mut specs: Vec<&'a lapidary_tools::ToolSpec>,
) -> Result<ChangePlan<'a>, Reason> {
    let (tokens, now) = (&execution.executor.tokens, execution.setup().clock.now());
    specs.insert(0, &entry.spec);
    let mut plan = ChangePlan { change, places: LinkedPlaces::default(), specs, token: None, redeemed: None };
    match &plan.change.proposal {
        None => {}
        Some(ProposalStep::Issue(proposal)) => {
            let subject = QuestionSubject::of(&execution.principal().id, proposal);
            plan.token = Some(tokens.issue(&subject, now, PROPOSAL_OPEN)?);
        }
        // The token was issued by another process, and its change has been approved since.
        Some(ProposalStep::Redeem { .. }) if execution.approved.is_some() => {}
        Some(ProposalStep::Redeem { token, proposal }) => {
            let subject = QuestionSubject::of(&execution.principal().id, proposal);
            let verified = tokens.verify(token, &subject, now).map_err(|reason| match reason {
                Reason::ChangedMeanwhile => Reason::ProposalChanged,
                Reason::ConsentExpired => Reason::ProposalExpired,
                other => other,
            })?;
            plan.redeemed = Some(verified);
        }
    }
    Ok(plan)
}

/// Gives the current time on demand.
fn wall_clock(execution: &Execution<'_>) -> impl Fn() -> Zoned + use<> {
    let now = execution.setup().clock.now();
    move || on_the_wall(now)
}

fn context<'c>(
    execution: &Execution<'c>,
    names: &'c [String],
    log: &'c [String],
    playbooks: &'c [ListedPrompt],
    walked: &'c Cell<Option<WalkCost>>,
    now: &'c dyn Fn() -> Zoned,
) -> Context<'c> {
    let setup = execution.setup();
    Context {
        cancel: execution.cancel,
        author: &execution.principal().author,
        catalogue: &execution.profile().catalogue,
        vaults: names,
        scan: setup.limits.scan,
        budget: MemoryBudget::new(setup.limits.budget()),
        skills: setup.skills.as_ref(),
        now: LazyCell::new(now),
        log,
        playbooks,
        walked,
    }
}

/// The latest lines of the vault's log, oldest first.
fn log_lines(execution: &Execution<'_>, most: usize) -> Result<Vec<String>, Reason> {
    match execution.concerned_vault().log.tail(most) {
        Ok((mut lines, _)) => {
            // A caller with its own folders need not know of calls of others that name no file.
            if execution.principal().grant.paths.is_some() {
                lines.retain(|line| is_about(line, execution.name()));
            }
            Ok(lines)
        }
        Err(error) => {
            tracing::warn!("the log cannot be read: {error}");
            Err(Reason::Disk { path: None, problem: DiskFault::NoState })
        }
    }
}

/// Whether a line of the log names a file, by which it is filtered, or belongs to this principal.
fn is_about(line: &str, name: &str) -> bool {
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    let client = line["client_id"].as_str().and_then(|client| client.strip_prefix(name));
    line.get("file").is_some() || client.is_some_and(|session| session.is_empty() || session.starts_with(':'))
}

/// The playbooks of all vaults that the principal may see.
fn playbooks(execution: &Execution<'_>, names: &[String]) -> Vec<ListedPrompt> {
    let (setup, profile, grant) = (execution.setup(), execution.profile(), &execution.principal().grant);
    let may_look = profile.has(ToolGroup::Read) || profile.has(ToolGroup::Vault);
    let is_allowed = setup.rules.on_looking(ToolGroup::Vault) == RuleDecision::Allow;
    if setup.skills.is_none() || !may_look || !is_allowed {
        return Vec::new();
    }
    let walked = Cell::new(None);
    let now = wall_clock(execution);
    let context = context(execution, names, &[], &[], &walked, &now);
    let mut playbooks = Vec::new();
    for served in setup.vaults.granted(grant) {
        let found = execution.executor.view(served, grant).and_then(|view| prompts(&context, &view));
        // A vault that cannot be read has none; the others are still listed.
        playbooks.extend(found.into_iter().flatten().filter(|prompt| prompt.is_skill));
    }
    playbooks
}

#[cfg(test)]
mod tests {
    use lapidary_tools::ReasonKind;
    use serde_json::json;

    use crate::testing::TestServer;

    #[test]
    fn a_relay_runs_the_other_tool_under_its_own_name() {
        let server = TestServer::new(&[("a.md", "x\n")]);
        let done = server.done("call_tool", json!({ "name": "file_read", "arguments": { "file": "a.md" } }));
        assert_eq!(done["content"], "x\n");
        let log = server.log();
        assert_eq!((&log[0]["tool"], &log[0]["via"]), (&json!("file_read"), &json!("call_tool")));
        let itself = json!({ "name": "call_tool", "arguments": {} });
        assert_eq!(server.refused("call_tool", itself).kind(), ReasonKind::InvalidArguments);
    }

    #[test]
    fn a_proposal_is_carried_out_once_and_only_as_it_was_shown() {
        let server = TestServer::new(&[("a.md", "one one\n")]);
        let call = |token: Option<&str>| json!({ "file": "a.md", "pattern": "one", "replacement": "two", "proposal_token": token });
        let proposed = server.done("regex_replace", call(None));
        let token = proposed["proposal_token"].as_str().unwrap().to_owned();
        assert_eq!(server.text("a.md"), "one one\n");
        let forged = token.replace('a', "b") + "0";
        assert_eq!(server.refused("regex_replace", call(Some(&forged))).kind(), ReasonKind::ProposalExpired);
        server.done("regex_replace", call(Some(&token)));
        assert_eq!(server.text("a.md"), "two two\n");
        assert_eq!(server.refused("regex_replace", call(Some(&token))).kind(), ReasonKind::ProposalExpired);
    }

    #[test]
    fn a_tool_gets_its_inputs() {
        let server = TestServer::new(&[("a.md", "x\n")]);
        server.done("file_read", json!({ "file": "a.md" }));
        let log = server.done("operation_log", json!({}));
        assert_eq!(log["calls"][0]["tool"], "file_read");
    }
}
