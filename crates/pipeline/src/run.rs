//! One call on its way through the stages.

use std::sync::Arc;

use lapidary_note::ContentHash;
use lapidary_tools::{
    ArgumentProblem, Cancel, Checked, Context, Disk, Effect, Entry, Family, Planned, Profile, Reason, Rendered, Spec,
    Spent, bug, check_arguments, clip_diff, clipped, render_answer, render_change, render_dry_run,
};
use lapidary_vault::{
    Change, ChangeSet, CommitError, Guard, LateSave, Receipt, Turn, TurnError, View,
    store::{Origin, StoreError},
};
use serde_json::{Map, Value};

use crate::{
    Answer, Decision, Question, Request, ServedVault, Setup, Stage, Verdict,
    approvals::{self, Heard},
    audit::AuditLine,
    clock::on_the_wall,
    consent::Subject,
    digest::digest,
    door::Door,
    pipeline::{Pipeline, family_of},
    policy::judge,
    repetition::Asked,
};

/// How often a plan is made because another program changed the file meanwhile.
const PLANS: usize = 16;
/// Of a diff, as much as a person will look at in a client's form.
const SHOWN_DIFF: usize = 6_000;
/// And at a terminal.
const WHOLE_DIFF: usize = 1_000_000;
/// The argument that names the vault.
pub(crate) const VAULT: &str = "vault";

/// A call on its way, and what the log will say of it.
pub(crate) struct Call<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) profile: &'a Profile,
    pub(crate) cancel: &'a Cancel,
    pub(crate) line: AuditLine,
    /// Whose wire form the answer takes: that of the tool that really runs.
    pub(crate) family: Family,
    /// What was wrong with the arguments and has been put right; the answer says so.
    pub(crate) repairs: Vec<String>,
    /// What the answer has to tell of others.
    pub(crate) late_saves: Vec<LateSave>,
    /// What a walk through the vault cost.
    pub(crate) spent: Arc<Spent>,
    /// For whoever watches that a caller does not go in circles.
    pub(crate) asked: Asked,
    /// A person has agreed to this change already.
    pub(crate) agreed: Option<ContentHash>,
    /// What the rules say of the tool that led to this one.
    pub(crate) at_least: Decision,
}

pub(crate) enum End {
    Answer(Rendered),
    Ask(Question),
}

impl<'a> Call<'a> {
    pub(crate) fn run(&mut self, entry: &'a Entry, request: &Request) -> Result<End, Reason> {
        entry.authorize()?;
        let mut arguments = request.arguments.clone();
        let served = if entry.spec.needs_vault { Some(self.pick_vault(entry, &mut arguments)?) } else { None };
        self.line.files = files(entry, &arguments);
        let Checked { mut arguments, repairs } = check_arguments(entry.spec.name(), &entry.spec.input, arguments)?;
        // The vault has been picked; tools know nothing of others.
        if served.is_some() {
            arguments.remove(VAULT);
        }
        self.line.files = files(entry, &arguments);
        self.asked = Asked::of(&entry.spec, self.line.vault.as_deref(), &arguments);
        self.repairs.extend(repairs);
        self.cancel.check()?;
        let concerned = served.unwrap_or_else(|| self.pipeline.setup.vaults.first());
        match self.hear_of_answer(entry, concerned) {
            None => {}
            Some(Heard::Reply(rendered)) => return Ok(End::Answer(rendered)),
            Some(Heard::Refused(reason)) => return Err(reason),
            Some(Heard::MayRead) => self.agreed = Some(ChangeSet::default().digest()),
        }
        if let Some(question) = self.before_reading(entry, concerned, request)? {
            return Ok(End::Ask(question));
        }
        let vaults = self.pipeline.setup.vaults.names();
        let spent = Arc::clone(&self.spent);
        let gate = Door::new(self.pipeline, &request.caller, served, self.agreed.is_some());
        let context = Context {
            cancel: self.cancel,
            catalogue: &self.profile.catalogue,
            vaults: &vaults,
            scan: self.pipeline.setup.limits.scan,
            skills: self.pipeline.setup.skills.as_ref(),
            now: on_the_wall(self.pipeline.setup.clock.now()),
            gate: &gate,
            spent: &spent,
        };
        match served {
            Some(served) => {
                let end = self.in_vault(entry, served, &context, &gate, &arguments, request);
                self.line.refused = gate.take_refused();
                end
            }
            None => match entry.tool.plan(&context, None, arguments)? {
                Planned::Answer { output, text } => Ok(self.answer(output, text)),
                Planned::Relay { tool, arguments } => self.relay(entry, &tool, arguments, request),
                Planned::Change { .. } => Err(bug!("a tool without a vault planned a change")),
            },
        }
    }

    /// Starts again with the tool that was named, under its own rules. The log tells of that one.
    fn relay(
        &mut self,
        outer: &Entry,
        tool: &str,
        arguments: Map<String, Value>,
        request: &Request,
    ) -> Result<End, Reason> {
        let unknown =
            |nearest: Option<&str>| Reason::ToolUnknown { name: clipped(tool), nearest: nearest.map(str::to_owned) };
        let inner = self.profile.catalogue.find(tool).map_err(|missing| unknown(missing.nearest))?;
        if inner.spec.name() == outer.spec.name() {
            return Err(bad_argument(outer, "name", "must be another tool than this one"));
        }
        self.at_least = self.pipeline.setup.rules.on_relaying(&outer.spec);
        if self.at_least == Decision::Deny {
            return Err(Reason::DeniedByRule);
        }
        self.line.via = Some(outer.spec.name());
        self.line.tool = inner.spec.name().to_owned();
        self.line.arguments = digest(&Value::Object(arguments.clone()));
        self.asked = Asked::raw(inner.spec.name(), &arguments);
        self.family = family_of(inner);
        self.run(inner, &Request { tool: tool.to_owned(), arguments, ..request.clone() })
    }

    fn in_vault(
        &mut self,
        entry: &'a Entry,
        served: &ServedVault,
        context: &Context<'_>,
        gate: &Door<'_>,
        arguments: &Map<String, Value>,
        request: &Request,
    ) -> Result<End, Reason> {
        let report = |stage| request.progress.iter().for_each(|progress| progress(stage));
        let mut agreed = self.agreed;
        // The first plan is made freely. If another caller was faster, the next ones are made in turn.
        let mut turn = None;
        for attempt in 1..=PLANS {
            let scope = self.pipeline.scope(served)?;
            let view = self.pipeline.view_under(served, Arc::clone(&scope));
            self.hear(&view);
            gate.look_through(Arc::clone(&scope));
            let planned = entry.tool.plan(context, Some(&view), arguments.clone())?;
            let (changes, through, dry_run, output, text) = match planned {
                Planned::Answer { output, text } => {
                    report(Stage::Done);
                    return Ok(self.answer(output, text));
                }
                Planned::Change { changes, through, dry_run, output, text } => {
                    (changes, through, dry_run, output, text)
                }
                Planned::Relay { .. } => return Err(bug!("a tool with a vault relays")),
            };
            report(Stage::Planned);
            let specs = self.specs(entry, &through);
            let decision = judge(&changes, &specs, &scope, &self.pipeline.setup, &request.caller)?;
            let decision = if changes.is_empty() { decision } else { decision.max(self.at_least) };
            if dry_run {
                self.line.dry_run = true;
                self.line.receipt = Receipt::of(&changes);
                return Ok(End::Answer(render_dry_run(output, text, &changes.diff().text, &self.notices())));
            }
            // Whatever the rules say in this process: a person agreed to that change and to no other.
            if self.agreed.is_some_and(|agreed| agreed != changes.digest()) {
                return Err(Reason::ChangedMeanwhile);
            }
            match decision {
                Decision::Allow => {}
                Decision::Deny => return Err(Reason::DeniedByRule),
                Decision::Ask => {
                    let shown = |most: usize| question(entry, served, &changes, most);
                    if let Some(question) = self.ask(entry, served, changes.digest(), shown, request, &mut agreed)? {
                        return Ok(End::Ask(question));
                    }
                }
            }
            if changes.is_empty() {
                return Ok(self.answer(output, text));
            }
            let now = self.take_turn(served, turn.take())?;
            gate.spend().inspect_err(|_| self.cancel.end_change())?;
            let origin = Origin {
                tool: entry.spec.name().to_owned(),
                client: request.caller.id.clone(),
                time: self.pipeline.setup.clock.now(),
            };
            match now.commit(&changes, &scope, &origin) {
                Ok(receipt) => {
                    self.line.receipt = receipt;
                    report(Stage::Done);
                    return Ok(End::Answer(render_change(output, text, &self.line.receipt, &self.notices())));
                }
                Err(error) if attempt < PLANS && moved_on(&error) => {
                    self.cancel.end_change();
                    turn = Some(now);
                }
                Err(error) => {
                    // It may well be on disk, so the log must tell of it.
                    if error.error == StoreError::Unsure {
                        self.line.receipt = Receipt::of(&changes);
                    }
                    return Err(refusal(self.family, error));
                }
            }
        }
        Err(bug!("no attempt to commit came to an end"))
    }

    /// Whose changes these are: those of the tool that was called, and of those that it ran.
    fn specs(&self, entry: &'a Entry, through: &[&str]) -> Vec<&'a Spec> {
        let catalogue = &self.profile.catalogue;
        let through = through.iter().filter_map(|name| catalogue.find(name).ok()).map(|entry| &entry.spec);
        std::iter::once(&entry.spec).chain(through).collect()
    }

    /// The right to change the vault, and the point of no return: waiting can be called off, the change cannot.
    fn take_turn<'v>(&self, served: &'v ServedVault, held: Option<Turn<'v>>) -> Result<Turn<'v>, Reason> {
        let turn = match held {
            Some(turn) => turn,
            None => served.vault.turn(&|| self.cancel.check().is_ok()).map_err(|error| match error {
                TurnError::VaultGone => Reason::Disk { path: None, problem: Disk::VaultGone },
                TurnError::NoState => Reason::Disk { path: None, problem: Disk::NoState },
                TurnError::Unfinished => Reason::Disk { path: None, problem: Disk::Failing },
                // The wait ended because the time or the patience of the caller did.
                TurnError::GivenUp => self
                    .cancel
                    .check()
                    .err()
                    .unwrap_or_else(|| bug!("the wait for the turn ended and the call was not cancelled")),
            })?,
        };
        self.cancel.begin_change()?;
        Ok(turn)
    }

    fn answer(&self, output: Map<String, Value>, text: Option<String>) -> End {
        End::Answer(render_answer(output, text, &self.notices()))
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if !self.repairs.is_empty() {
            notices.push(format!("Arguments repaired: {}.", self.repairs.join("; ")));
        }
        notices.extend(self.late_saves.iter().map(|LateSave { path, checkpoint }| {
            format!(
                "Another program saved `{path}` at the moment in which it was changed here; what it saved is in \
                 checkpoint `{checkpoint}` (`checkpoint_read`) and not in the file. Tell the user."
            )
        }));
        notices
    }

    /// The first caller who may read the file hears of a save that came too late.
    fn hear(&mut self, view: &View) {
        match view.late_saves() {
            Ok(late_saves) => self.late_saves.extend(late_saves),
            Err(error) => (self.pipeline.setup.warn)(&format!("checkpoints cannot be looked up: {error}")),
        }
    }

    /// `None` if a person has agreed to exactly this change, otherwise the question.
    fn ask(
        &self,
        entry: &Entry,
        served: &ServedVault,
        digest: ContentHash,
        shown: impl FnOnce(usize) -> String,
        request: &Request,
        agreed: &mut Option<ContentHash>,
    ) -> Result<Option<Question>, Reason> {
        match *agreed {
            Some(before) if before == digest => return Ok(None),
            Some(_) => return Err(Reason::ChangedMeanwhile),
            None => {}
        }
        let Pipeline { setup, consent, .. } = self.pipeline;
        let subject = Subject {
            caller: &request.caller.id,
            tool: entry.spec.name(),
            arguments: self.line.arguments,
            changes: digest,
        };
        let now = setup.clock.now();
        match &request.answer {
            Some(Answer { state, verdict: Verdict::Agreed }) => {
                consent.redeem(state, &subject, now)?;
                *agreed = Some(digest);
                Ok(None)
            }
            Some(Answer { state, verdict: Verdict::Declined }) => {
                consent.void(state, &subject, now);
                Err(Reason::Declined)
            }
            Some(Answer { state, verdict: Verdict::Unanswered }) => {
                consent.void(state, &subject, now);
                Err(Reason::ConsentExpired)
            }
            None if request.caller.can_ask => {
                let state = consent.seal(&subject, now, setup.limits.answer_within)?;
                Ok(Some(Question { message: shown(SHOWN_DIFF), state }))
            }
            None if !setup.waits_for_approval => Err(Reason::NobodyToAsk),
            None => {
                Err(approvals::wait(&served.waiting, &self.line, &request.arguments, &shown(WHOLE_DIFF), digest, now)
                    .unwrap_or_else(|error| {
                        (setup.warn)(&format!("a question cannot be written down for `lapidary approvals`: {error}"));
                        Reason::NobodyToAsk
                    }))
            }
        }
    }

    /// A person may have answered the question that this very call led to.
    fn hear_of_answer(&self, entry: &Entry, served: &ServedVault) -> Option<Heard> {
        let Setup { rules, waits_for_approval, clock, .. } = &self.pipeline.setup;
        let may_be_asked = match entry.spec.effect {
            Effect::Read => rules.on_reading(&entry.spec).max(self.at_least) == Decision::Ask,
            Effect::Write | Effect::Destroy => entry.spec.needs_vault,
        };
        if self.agreed.is_some() || !waits_for_approval || !may_be_asked {
            return None;
        }
        // Where nothing can be kept, nobody has answered anything.
        approvals::hear(&served.waiting, &approvals::question_id(&self.line), clock.now()).unwrap_or_default()
    }

    /// What the owner's rules say of a tool that only looks.
    fn before_reading(
        &mut self,
        entry: &Entry,
        served: &ServedVault,
        request: &Request,
    ) -> Result<Option<Question>, Reason> {
        if entry.spec.effect != Effect::Read {
            return Ok(None);
        }
        match self.pipeline.setup.rules.on_reading(&entry.spec).max(self.at_least) {
            Decision::Allow => Ok(None),
            Decision::Deny => Err(Reason::DeniedByRule),
            Decision::Ask => {
                let mut agreed = self.agreed;
                let shown = |most: usize| {
                    let (tool, vault) = (entry.spec.name(), served.vault.name());
                    let arguments = Value::Object(request.arguments.clone()).to_string();
                    let arguments: String = arguments.chars().take(most).collect();
                    format!("`{tool}` wants to read in the vault `{vault}`. It is called with:\n\n{arguments}")
                };
                self.ask(entry, served, ChangeSet::default().digest(), shown, request, &mut agreed)
            }
        }
    }

    /// The vault that the arguments name. With a single vault the schema does not mention it, but it may be named.
    fn pick_vault(&mut self, entry: &Entry, arguments: &mut Map<String, Value>) -> Result<&'a ServedVault, Reason> {
        // Picked before the arguments are checked, so this one spelling is put right here.
        let spelt = arguments.keys().find(|key| key.eq_ignore_ascii_case(VAULT)).cloned();
        if let Some(spelt) = spelt.filter(|spelt| spelt != VAULT && !arguments.contains_key(VAULT)) {
            let name = arguments.remove(&spelt).unwrap_or_default();
            arguments.insert(VAULT.to_owned(), name);
            self.repairs.push(format!("`{spelt}` was read as `{VAULT}`"));
        }
        let named = arguments.get(VAULT).cloned();
        if !entry.spec.takes(VAULT) {
            arguments.remove(VAULT);
        }
        let name = match named {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err(bad_argument(entry, VAULT, "must be a string")),
        };
        let served = self.pipeline.setup.vaults.pick(name.as_deref())?;
        self.line.vault = Some(served.vault.name().to_owned());
        Ok(served)
    }
}

fn bad_argument(entry: &Entry, at: &str, problem: &str) -> Reason {
    let problem = ArgumentProblem { at: at.to_owned(), problem: problem.to_owned(), nearest: None };
    Reason::InvalidArguments { tool: entry.spec.name().to_owned(), problems: vec![problem] }
}

/// The files that the arguments name, as far as they can be made out.
fn files(entry: &Entry, arguments: &Map<String, Value>) -> Vec<String> {
    let arguments = Value::Object(arguments.clone());
    let named = |pointer: &str| arguments.pointer(pointer)?.as_str().map(|path| path.chars().take(4096).collect());
    entry.spec.declaration.paths.iter().filter_map(|path| named(path.pointer)).collect()
}

/// Another program was faster, and nobody insisted on what was there before.
fn moved_on(error: &CommitError) -> bool {
    error.guard == Guard::Plan
        && matches!(error.error, StoreError::Changed { .. } | StoreError::Exists | StoreError::Missing)
}

fn refusal(family: Family, CommitError { path, error, guard, before }: CommitError) -> Reason {
    let current = match error {
        StoreError::Changed { found } => Some(found),
        _ => None,
    };
    match (guard, before, error) {
        // The hash held when the plan was made and no longer does.
        (Guard::Caller, Some(before), StoreError::Changed { .. } | StoreError::Missing) => {
            let argument = if family == Family::Files { "expected_content_hash" } else { "expectedHash" };
            Reason::Stale { path, argument, expected: before.into(), current }
        }
        (_, _, error) => Reason::from_store(&path, &error, true),
    }
}

fn question(entry: &Entry, served: &ServedVault, changes: &ChangeSet, most: usize) -> String {
    let diff = changes.diff();
    let files: Vec<String> = changes.changes.iter().flat_map(Change::paths).map(|path| format!("`{path}`")).collect();
    let shown = clip_diff(&diff.text, most);
    format!(
        "`{}` wants to change {} in the vault `{}` (lines added: {}, removed: {}).\n\n{shown}",
        entry.spec.name(),
        files.join(", "),
        served.vault.name(),
        diff.lines_added,
        diff.lines_removed,
    )
}
