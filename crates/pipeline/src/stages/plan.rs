//! Stage 6: runs the operation, which answers or plans a change.

use std::{
    cell::{Cell, LazyCell},
    collections::BTreeMap,
    rc::Rc,
};

use jiff::Zoned;
use lapidary_note::ContentHash;
use lapidary_tools::{
    AppFacts, CallBatch, CatalogueEntry, CommitReport, Context, DiskFault, ListedPrompt, MemoryBudget, OpenedVaults,
    Planned, PlannedChange, ProposalStep, ReadOperation, ReadPayload, Reason, RecipeAccess, RelayedCall, RestoreReach,
    RunnableRecipe, ServerFacts, ServerRequests, ShareReport, StepsPlan, ToolGroup, ToolNeeds, ToolSpec, WalkCost,
    WebRequests, bug, prompts, recipes, render_answer, schema,
    upkeep::{self, UpkeepPlan},
};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};
use serde_json::{Map, Value};

use super::{admit, approve, check::bad_argument, judge};
use crate::{
    CallProgress, Question, RuleDecision, ServedVault,
    approvals::PROPOSAL_OPEN,
    batch,
    call_bounds::earlier_answer,
    clock::on_the_wall,
    confirmation::QuestionSubject,
    digest::digest,
    execution::{CallConclusion, ChangePlan, Execution, FoundOperation, StageFlow},
    linked_places::LinkedPlaces,
    recipe_steps::{self, as_run},
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
    let listener = share_listener(execution);
    let payload = operation.answer(&context(execution, &names, &[], &[], &walked, &now, &listener), &opened)?;
    // A note that was read as a resource is known to the caller like one that a tool showed.
    if let (OpenedVaults::One(view), ReadPayload::Contents(_)) = (&opened, &payload) {
        execution.read = files_read(Some(view), payload.reply_bytes());
    }
    Ok(StageFlow::End(CallConclusion::Answer(payload)))
}

fn plan_tool<'a>(execution: &mut Execution<'a>, entry: &'a CatalogueEntry) -> Result<StageFlow, Reason> {
    if let Some(answer) = earlier_answer(execution)? {
        return Ok(answer);
    }
    let names = execution.setup().vaults.names(&execution.principal().grant);
    let walked = Cell::new(None);
    // Log and playbooks are read only for tools that declare the need.
    let ToolNeeds { log_lines: lines, playbooks: needs_playbooks, approved_recipes, runnable_recipes } =
        entry.spec.needs;
    let log = if lines > 0 { log_lines(execution, lines)? } else { Vec::new() };
    let playbooks = if needs_playbooks { playbooks(execution, &names) } else { Vec::new() };
    let now = wall_clock(execution);
    let listener = share_listener(execution);
    let approved = if approved_recipes { Some(recipes_approved(execution.concerned_vault())?) } else { None };
    let runnable = if runnable_recipes { runnable(execution, &names) } else { Vec::new() };
    let mut context = context(execution, &names, &log, &playbooks, &walked, &now, &listener);
    (context.recipes.approved, context.recipes.runnable) = (approved.as_ref(), &runnable);
    // Taken out, because the steps of a batch need the view and the execution at the same time.
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
            if let Some(question) = ask_about_batch(execution, entry, &batch)? {
                return Ok(StageFlow::End(CallConclusion::Ask(question)));
            }
            // A plan may be repeated after a race; refusals of the first attempt must not be logged twice.
            execution.refused_steps.clear();
            let planned = batch::plan(execution, &context, view, &scope, batch);
            execution.walked = walked.get().or(execution.walked);
            planned?
        }
        Planned::Steps(steps) => {
            let view = view.as_ref().ok_or_else(|| bug!("steps were planned without a vault"))?;
            let scope = execution.scope.clone().ok_or_else(|| bug!("steps were planned without a scope"))?;
            let may_write = steps.may_write;
            if may_write && let Some(question) = ask_about_run(execution, entry, &steps.plan)? {
                return Ok(StageFlow::End(CallConclusion::Ask(question)));
            }
            context.in_steps = true;
            let planned = recipe_steps::plan(execution, &context, view, &scope, entry, steps);
            execution.walked = walked.get().or(execution.walked);
            let (change, specs) = planned?;
            if !may_write {
                return answer_of_script(execution, change);
            }
            (change, specs)
        }
    };
    let tools: Vec<&ToolSpec> = std::iter::once(&entry.spec).chain(specs.iter().copied()).collect();
    let restores = tools.iter().any(|tool| tool.restores != RestoreReach::Nothing);
    // Ids and links are content of notes.
    let may_show = judge::on_showing(execution, &tools) == RuleDecision::Allow;
    let shown = view.as_ref().filter(|_| may_show);
    execution.lost_blocks = shown.map_or(Ok(None), |view| lost_blocks(&context, view, &change.changes))?;
    // A file that comes back takes only what was its own.
    let shown = shown.filter(|_| !restores);
    execution.taken_links = shown.map_or(Ok(None), |view| taken_links(&context, view, &change.changes))?;
    // Going back is always possible, whatever the notes should look like by now.
    if let Some(view) = view.as_ref().filter(|_| !restores) {
        execution.shape_notice = check_shape(execution, &context, view, &change.changes, &tools)?;
    }
    execution.plan = Some(with_proposal(execution, entry, change, specs)?);
    // What is kept up beside the change is planned once the owner's own corrections are in it.
    execution.view = view;
    execution.report(CallProgress::Planned);
    Ok(StageFlow::Next)
}

/// The question about a batch, before it is planned, if one of its calls asks others and a rule asks about that.
fn ask_about_batch(
    execution: &mut Execution<'_>,
    entry: &CatalogueEntry,
    batch: &CallBatch,
) -> Result<Option<Question>, Reason> {
    let (catalogue, rules) = (&execution.profile().catalogue, &execution.setup().rules);
    let found = batch.steps.iter().filter_map(|step| catalogue.find(&step.tool).ok());
    let reaching: Vec<&ToolSpec> = found.map(|found| &found.spec).filter(|spec| spec.reaches_web()).collect();
    // Their arguments are in the question, so it is one about each of them.
    let each = reaching.iter().map(|spec| rules.on_reaching(spec));
    let asks = each.chain([rules.on_reaching(&entry.spec), execution.at_least]).any(|on| on == RuleDecision::Ask);
    if reaching.is_empty() || !asks { Ok(None) } else { ask_to_run(execution, entry, REACHING) }
}

/// The question about a recipe, before it runs, if a rule asks and the run asks others or changes nothing: then there is no
/// change to ask about.
fn ask_about_run(
    execution: &mut Execution<'_>,
    entry: &CatalogueEntry,
    plan: &StepsPlan,
) -> Result<Option<Question>, Reason> {
    let catalogue = &execution.profile().catalogue;
    if execution.setup().rules.on_reaching(&entry.spec).max(execution.at_least) != RuleDecision::Ask {
        return Ok(None);
    }
    let specs = || plan.recipe.steps.iter().filter_map(|step| catalogue.find(&step.tool).ok()).map(|found| &found.spec);
    match () {
        () if specs().any(ToolSpec::reaches_web) => ask_to_run(execution, entry, REACHING),
        () if plan.dry_run || !specs().any(ToolSpec::writes) => ask_to_run(execution, entry, "run in"),
        () => Ok(None),
    }
}

/// What a run wants whose steps ask the web.
const REACHING: &str = "run and reach the web, in";

fn ask_to_run(execution: &mut Execution<'_>, entry: &CatalogueEntry, wanted: &str) -> Result<Option<Question>, Reason> {
    let (name, served) = (entry.spec.name(), execution.concerned_vault());
    let arguments = Value::Object(execution.given.clone()).to_string();
    approve::ask_before(execution, entry, |most| admit::calling(name, wanted, served, &arguments, most))
}

/// A script only reads: its answer is complete.
fn answer_of_script(execution: &mut Execution<'_>, change: PlannedChange) -> Result<StageFlow, Reason> {
    execution.report(CallProgress::Done);
    let offered = execution.offered();
    let report =
        CommitReport { offered, receipt: None, proposal_token: None, acted: None, called: None, shows_content: true };
    let answer = change.draft.finish(&report)?;
    Ok(StageFlow::answer(render_answer(answer, &execution.notices())))
}

/// What the owner approved here. Without the state folder nothing counts as approved.
fn recipes_approved(served: &ServedVault) -> Result<BTreeMap<String, ContentHash>, Reason> {
    served.recipes.all().map_err(|error| {
        tracing::warn!("the approvals of recipes cannot be read: {error}");
        Reason::no_state()
    })
}

/// The recipes of all vaults that the principal can run.
fn runnable(execution: &Execution<'_>, names: &[String]) -> Vec<RunnableRecipe> {
    let (setup, grant) = (execution.setup(), &execution.principal().grant);
    let may_run = execution.profile().catalogue.find("recipe_run").is_ok_and(|entry| entry.authorize().is_ok());
    if setup.recipes.is_none() || !may_run || setup.rules.on_looking(ToolGroup::Recipe) != RuleDecision::Allow {
        return Vec::new();
    }
    let (walked, now, listener) = (Cell::new(None), wall_clock(execution), share_listener(execution));
    let mut found = Vec::new();
    for served in setup.vaults.granted(grant) {
        // Nothing is known to be approved there, so nothing of it can run.
        let Ok(approved) = recipes_approved(served) else { continue };
        let mut context = context(execution, names, &[], &[], &walked, &now, &listener);
        context.recipes.approved = Some(&approved);
        let view = execution.executor.view(served, grant);
        // A vault that cannot be read has none; the others are still listed.
        found.extend(view.and_then(|view| recipes::runnable(&context, &view)).into_iter().flatten());
    }
    found
}

/// The notice about block ids that the change loses. The change itself is not refused.
fn lost_blocks(context: &Context<'_>, view: &View, changes: &ChangeSet) -> Result<Option<String>, Reason> {
    lapidary_tools::lost_blocks::notice(context, view, changes).or_else(|reason| {
        context.check()?;
        tracing::warn!("the links to the blocks of a changed note could not be found: {:?}", reason.kind());
        Ok(None)
    })
}

/// The notice about links that lead to a new file from now on.
fn taken_links(context: &Context<'_>, view: &View, changes: &ChangeSet) -> Result<Option<String>, Reason> {
    lapidary_tools::taken_links::notice(context, view, changes).or_else(|reason| {
        context.check()?;
        tracing::warn!("the links to files of the same name could not be found: {:?}", reason.kind());
        Ok(None)
    })
}

/// The notice about notes that do not fit their schemas any more, or the refusal that their schemas ask for.
fn check_shape(
    execution: &Execution<'_>,
    context: &Context<'_>,
    view: &View,
    changes: &ChangeSet,
    tools: &[&ToolSpec],
) -> Result<Option<String>, Reason> {
    let checked = schema::check(context, view, changes).map_err(|reason| judge::as_shown(execution, tools, reason))?;
    Ok(checked.notice(judge::on_showing(execution, tools) == RuleDecision::Allow))
}

/// What is written beside a change, in notes that the owner wants kept up. It is the owner's wish and not the caller's, so
/// it is neither judged nor approved with the change; it is only made where the caller may change notes anyway, and no rule
/// is about that very note.
pub(super) fn upkeep(execution: &Execution<'_>, changes: &ChangeSet) -> Result<ChangeSet, Reason> {
    let Some(view) = &execution.view else { return Ok(ChangeSet::default()) };
    let names = execution.setup().vaults.names(&execution.principal().grant);
    let (walked, now, listener) = (Cell::new(None), wall_clock(execution), share_listener(execution));
    let context = context(execution, &names, &[], &[], &walked, &now, &listener);
    let UpkeepPlan { mut changes, problems } = upkeep::plan(&context, view, changes, &execution.operation_name)?;
    for problem in problems {
        tracing::warn!("a note of `upkeep` is not kept up: {problem}");
    }
    // A link leads to a place that was not judged.
    let vault = &execution.concerned_vault().vault;
    let is_own_place = |path: &VaultPath| {
        let scope = execution.scope.as_deref();
        scope.is_some_and(|scope| vault.place_of_change(path, scope).is_ok_and(|place| place == *path))
    };
    let tools = [&execution.entry()?.spec];
    let is_free = |change: &Change| judge::is_free_for_upkeep(execution, &tools, change);
    changes.changes.retain(|change| change.paths().all(is_own_place) && is_free(change));
    Ok(changes)
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
    let run = as_run(&execution.profile().catalogue, &tool, &arguments);
    let (tool, arguments) = run.map_or((tool, arguments), |(run, arguments)| (run.to_owned(), arguments));
    let inner = super::find::named_tool(execution.profile(), &tool)?;
    // There is only one relay, so this is enough to keep the stages from starting over without end.
    if inner.spec.name() == outer.spec.name() {
        return Err(bad_argument(outer, "name", "must be another tool than this one"));
    }
    // A rule about the relay holds for what runs through it, in addition to the rules about that tool.
    execution.at_least = execution.setup().rules.on_relaying(&outer.spec);
    if execution.at_least == RuleDecision::Deny {
        return Err(Reason::DeniedByRule);
    }
    execution.via = Some(outer.spec.name());
    execution.operation_name = inner.spec.name().to_owned();
    // The log, and the tokens of questions, are about the arguments of the tool that runs.
    execution.given_hash = digest(&arguments);
    execution.given = arguments;
    // What the stages learnt about the relay must not be taken for facts about the other tool.
    execution.arguments = Map::new();
    execution.is_checked = false;
    Ok(StageFlow::Restart)
}

/// Issues a token for what the plan proposes, or checks the one that it came with.
fn with_proposal<'a>(
    execution: &Execution<'a>,
    entry: &'a CatalogueEntry,
    change: PlannedChange,
    mut specs: Vec<&'a ToolSpec>,
) -> Result<ChangePlan<'a>, Reason> {
    let (tokens, now) = (&execution.executor.tokens, execution.setup().clock.now());
    specs.insert(0, &entry.spec);
    let mut plan = ChangePlan {
        change,
        places: LinkedPlaces::default(),
        specs,
        token: None,
        redeemed: None,
        rewritten: Vec::new(),
        upkeep: ChangeSet::default(),
    };
    match &plan.change.proposal {
        None => {}
        Some(ProposalStep::Issue(proposal)) => {
            let subject = QuestionSubject::of(&execution.principal().id, proposal);
            // Issued before the rules are asked: a call that only proposes is judged as reading.
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
    listener: &'c (dyn Fn(u8) + Sync),
) -> Context<'c> {
    let setup = execution.setup();
    let app = execution.vault.and_then(|served| served.app.as_deref());
    Context {
        cancel: execution.cancel,
        author: &execution.principal().author,
        catalogue: &execution.profile().catalogue,
        vaults: names,
        limits: setup.limits.tools,
        budget: MemoryBudget::new(setup.limits.budget()),
        skills: setup.skills.as_ref(),
        memory: setup.memory.as_ref(),
        owner: &setup.owner,
        shape: &setup.shape,
        recipes: RecipeAccess { folder: setup.recipes.as_ref(), ..RecipeAccess::default() },
        attachments: setup.attachments(),
        // Most tools never ask for the time, and the time zone costs a read of the disk.
        now: LazyCell::new(now),
        log,
        playbooks,
        walked,
        app: app.map(|app| app as &dyn AppFacts),
        web: setup.web.as_deref().map(|web| WebRequests::new(web, Rc::clone(&execution.web_asked))),
        servers: setup.servers.as_deref().map(|servers| {
            let facts: &dyn ServerFacts = servers;
            ServerRequests::new(facts, Rc::clone(&execution.servers_asked))
        }),
        progress: ShareReport::to(listener),
        in_steps: false,
    }
}

/// Tells a caller that asked for it how far long work has come.
fn share_listener(execution: &Execution<'_>) -> impl Fn(u8) + Sync + use<> {
    let progress = execution.invocation.progress.clone();
    move |percent| progress.iter().for_each(|report| report(CallProgress::Working(percent)))
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
    // The id of a principal is its name, followed by `:` and its session if it has one.
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
    let listener = share_listener(execution);
    let context = context(execution, names, &[], &[], &walked, &now, &listener);
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
    use lapidary_note::ContentHash;
    use lapidary_tools::{ListPrompts, ReasonKind};
    use serde_json::json;

    use super::{is_about, run};
    use crate::{
        ApprovalRule, Invocation, RuleDecision,
        testing::{StageVerdict, TestServer, TestSetup, verdict},
    };

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
    fn every_edit_that_takes_the_id_of_a_linked_block_says_so() {
        let note = "# H\n\npara ^b1\n\n- item ^b2\n\n[[#^b2]]\n";
        let files: &[(&str, &str)] = &[
            ("a.md", note),
            ("b.md", "[[a#^b1]] and ![[a#^B1|x]]\n"),
            ("c.canvas", r##"{"nodes":[{"id":"1","type":"file","file":"a.md","subpath":"#^b2"}]}"##),
        ];
        let gone = "No longer the id of a block: `^b1` (2 links lead to it).";
        let both = "No longer ids of blocks: `^b1` (2 links lead to it), `^b2` (1 link leads to it).";
        let hash = lapidary_note::ContentHash::of(note.as_bytes()).to_string();
        for (tool, arguments, expected) in [
            ("str_replace", json!({ "file": "a.md", "find": " ^b1", "replace": "" }), gone),
            ("str_replace", json!({ "file": "a.md", "find": " ^b1", "replace": "", "dry_run": true }), gone),
            ("apply_edits", json!({ "file": "a.md", "edits": [{ "find": "^b1", "replace": "^b1." }] }), gone),
            ("lines_insert", json!({ "file": "a.md", "line": 4, "content": "more" }), gone),
            ("regex_replace", json!({ "file": "a.md", "pattern": "b1", "replacement": "b3" }), gone),
            (
                "obsidian_replace_in_note",
                json!({ "target": "a.md", "replacements": [{ "search": "^b1", "replace": "" }] }),
                gone,
            ),
            ("obsidian_write_note", json!({ "target": "a.md", "content": "x\n", "overwrite": true }), both),
            ("file_replace", json!({ "file": "a.md", "content": "x\n", "expected_content_hash": hash }), both),
            (
                "bulk_apply",
                json!({ "ops": [{ "tool": "str_replace", "args": { "file": "a.md", "find": " ^b1", "replace": "" } }] }),
                gone,
            ),
            (
                "block_rename",
                json!({ "file": "a.md", "blockId": "b1", "newId": "b3", "update_references": false }),
                gone,
            ),
        ] {
            let server = TestServer::new(files);
            let done = server.done(tool, arguments.clone());
            assert_eq!(done["notice"], expected, "{tool} {arguments}: {done:#}");
        }
        for (tool, arguments) in [
            ("str_replace", json!({ "file": "a.md", "find": "para", "replace": "text" })),
            ("block_rename", json!({ "file": "a.md", "blockId": "b1", "newId": "b3" })),
            ("section_move", json!({ "file": "a.md", "section": "H", "to": "d.md" })),
            ("file_move", json!({ "from": "a.md", "to": "d.md" })),
        ] {
            let server = TestServer::new(files);
            let done = server.done(tool, arguments);
            assert_eq!(done.get("notice"), None, "{tool}: {done:#}");
        }
    }

    #[test]
    fn an_id_that_leaves_with_its_block_and_that_no_link_uses_is_not_mentioned() {
        let server = TestServer::new(&[("a.md", "one ^b1\n\ntwo\n")]);
        let done = server.done("str_replace", json!({ "file": "a.md", "find": "one ^b1\n\n", "replace": "" }));
        assert_eq!(done.get("notice"), None, "{done:#}");
        // Text behind it is rarely intended.
        let server = TestServer::new(&[("a.md", "one ^b1\n\ntwo\n")]);
        let done = server.done("lines_insert", json!({ "file": "a.md", "line": 2, "content": "more" }));
        assert_eq!(done["notice"], "No longer the id of a block: `^b1`.", "{done:#}");
    }

    #[test]
    fn a_new_note_that_takes_over_links_of_another_says_so() {
        let files: &[(&str, &str)] =
            &[("People/Ruth.md", "x\n"), ("a.md", "[[Ruth]] and [[ruth|her]]\n"), ("b.md", "[[People/Ruth]]\n")];
        let server = TestServer::new(files);
        let done = server.done("file_create", json!({ "file": "Ruth.md", "content": "y [[Ruth]]\n" }));
        let notice =
            "`Ruth.md` takes over 2 links from `People/Ruth.md`, as both have one name; another name avoids that.";
        assert_eq!(done["notice"], notice, "{done:#}");
        let shown = server.done("file_create", json!({ "file": "Anna.md", "content": "y\n" }));
        assert_eq!(shown.get("notice"), None, "{shown:#}");
        // Links that lead to the existing note all the same.
        let server = TestServer::new(&[("Ruth.md", "x\n"), ("a.md", "[[Ruth]]\n")]);
        let done = server.done("file_create", json!({ "file": "Deep/Folder/Ruth.md", "content": "y\n" }));
        assert_eq!(done.get("notice"), None, "{done:#}");
    }

    #[test]
    fn a_tool_gets_its_inputs() {
        let server = TestServer::new(&[("a.md", "x\n")]);
        server.done("file_read", json!({ "file": "a.md" }));
        let log = server.done("operation_log", json!({}));
        assert_eq!(log["calls"][0]["tool"], "file_read");
    }

    #[test]
    fn a_tool_answers_plans_or_refuses_and_changes_nothing() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let edit = |find: &str| json!({ "file": "a.md", "find": find, "replace": "two" });
        for (tool, given, expected, planned) in [
            ("file_read", json!({ "file": "a.md" }), StageVerdict::Answer, None),
            ("file_read", json!({ "file": "b.md" }), StageVerdict::Refusal(ReasonKind::NoteMissing), None),
            ("str_replace", edit("one"), StageVerdict::Next, Some(1)),
            ("str_replace", edit("three"), StageVerdict::Refusal(ReasonKind::TextMissing), None),
            (
                "bulk_apply",
                json!({ "ops": [
                    { "tool": "str_replace", "args": edit("one") },
                    { "tool": "file_create", "args": { "file": "b.md", "content": "x" } },
                ] }),
                StageVerdict::Next,
                Some(2),
            ),
        ] {
            server.at("plan", &server.invocation(tool, given.clone()), |execution| {
                assert_eq!(verdict(run(execution)), expected, "{tool} {given}");
                let changes = execution.plan.as_ref().map(|plan| plan.change.changes.changes.len());
                assert_eq!(changes, planned, "{tool} {given}");
            });
        }
        assert_eq!(server.text("a.md"), "one\n");
    }

    #[test]
    fn an_answer_tells_which_content_it_showed() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        server.at("plan", &server.invocation("file_read", json!({ "file": "a.md" })), |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Answer);
            let hashes: Vec<_> = execution.read.hashes.iter().map(|(path, hash)| (path.as_str(), *hash)).collect();
            assert_eq!((hashes, execution.read.whole), (vec![("a.md", ContentHash::of(b"one\n"))], true));
        });
    }

    #[test]
    fn another_operation_answers() {
        let server = TestServer::new(&[]);
        server.at("plan", &Invocation::read(ListPrompts, server.principal()), |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Answer);
        });
    }

    #[test]
    fn a_relay_starts_over_with_the_other_tool_unless_a_rule_or_its_name_forbids() {
        let rule = |decision| ApprovalRule {
            effect: None,
            group: None,
            tool: Some("call_tool".to_owned()),
            path: None,
            decision,
        };
        for (rules, name, expected) in [
            (vec![], "file_read", StageVerdict::Restart),
            (vec![rule(RuleDecision::Ask)], "file_read", StageVerdict::Restart),
            (vec![], "call_tool", StageVerdict::Refusal(ReasonKind::InvalidArguments)),
            (vec![], "file_raed", StageVerdict::Refusal(ReasonKind::ToolUnknown)),
        ] {
            let asks = !rules.is_empty();
            let server = TestSetup { rules, ..TestSetup::default() }.serve(&[]);
            let given = json!({ "name": name, "arguments": { "file": "a.md" } });
            server.at("plan", &server.invocation("call_tool", given), |execution| {
                let starts_over = expected == StageVerdict::Restart;
                assert_eq!(verdict(run(execution)), expected, "{name}");
                assert_eq!(execution.via.is_some(), starts_over, "{name}");
                if starts_over {
                    assert_eq!((execution.operation_name.as_str(), execution.via), ("file_read", Some("call_tool")));
                    assert_eq!(execution.given.get("file"), Some(&json!("a.md")));
                    assert!(!execution.is_checked && execution.arguments.is_empty());
                    assert_eq!(execution.at_least == RuleDecision::Ask, asks);
                }
            });
        }
    }

    #[test]
    fn a_line_of_the_log_belongs_to_a_principal_by_its_whole_name() {
        for (line, expected) in [
            (r#"{"client_id":"anna"}"#, true),
            (r#"{"client_id":"anna:1f"}"#, true),
            (r#"{"client_id":"annabel"}"#, false),
            (r#"{"client_id":"bert"}"#, false),
            (r#"{"client_id":"bert","file":"a.md"}"#, true),
            ("damaged", false),
        ] {
            assert_eq!(is_about(line, "anna"), expected, "{line}");
        }
    }
}
