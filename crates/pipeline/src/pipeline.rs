use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use lapidary_note::ContentHash;
use lapidary_tools::{
    Cancel, Catalogue, Checked, Context, Disk, Entry, Family, Interruption, Planned, Reason, Rendered, Standing,
    check_arguments, render_answer, render_refusal,
};
use lapidary_vault::{ChangeSet, CommitError, Guard, Scope, View, store::StoreError};
use serde_json::{Map, Value};

use crate::{
    Answer, Clock, Decision, Question, Reply, Request, Rules, ServedVault, Stage, Vaults, Verdict,
    audit::{Audit, AuditLine, Outcome},
    consent::{Consent, Subject},
    policy::judge,
    repetition::Repetition,
};

/// Everything that can call a tool goes through here.
pub struct Pipeline {
    setup: Setup,
    audit: Audit,
    consent: Consent,
    repetition: Repetition,
}

/// What the owner configured.
pub struct Setup {
    pub catalogue: Catalogue,
    pub vaults: Vaults,
    pub scope: Arc<Scope>,
    pub rules: Rules,
    pub limits: Limits,
    pub clock: Clock,
    /// Where to say what no caller should hear.
    pub warn: fn(&str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub max_file_bytes: u64,
    pub max_reply_bytes: u64,
    /// How long a call may take, a person's answer not counted.
    pub deadline: Duration,
    /// How long a person may take to answer.
    pub answer_within: Duration,
    /// Refuse a caller that asks the same again and again.
    pub notice_repetition: bool,
}

/// How often a plan is made because another program changed the file meanwhile.
const PLANS: usize = 16;
/// How long a disk may take to finish a change before the caller is told that the outcome is unknown.
const COMMIT_GRACE: Duration = Duration::from_secs(30);
/// Of a diff, as much as a person will look at in a question.
const SHOWN_DIFF: usize = 6_000;

/// The argument that names the vault.
const VAULT: &str = "vault";

impl Pipeline {
    pub fn new(setup: Setup) -> Result<Self, getrandom::Error> {
        let audit = Audit::new(setup.warn);
        Ok(Self { setup, audit, consent: Consent::new()?, repetition: Repetition::default() })
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.setup.catalogue
    }

    pub fn vaults(&self) -> &Vaults {
        &self.setup.vaults
    }

    pub fn scope(&self) -> &Scope {
        &self.setup.scope
    }

    pub fn limits(&self) -> &Limits {
        &self.setup.limits
    }

    /// A token that stops a call: when the caller takes it back, and at the latest when its time is up.
    pub fn cancel(&self) -> Arc<Cancel> {
        Arc::new(Cancel::after(self.setup.limits.deadline))
    }

    /// Makes a call on a thread where it may wait for the disk, and waits no longer for it than its time allows.
    pub async fn call(self: &Arc<Self>, request: Request, cancel: Arc<Cancel>) -> Reply {
        let family = self.setup.catalogue.find(&request.tool).map_or(Family::Own, family_of);
        let this = Arc::clone(self);
        let work = {
            let cancel = Arc::clone(&cancel);
            tokio::task::spawn_blocking(move || this.call_here(&request, &cancel))
        };
        tokio::pin!(work);
        let refuse = |reason| Reply::Done(render_refusal(family, &reason));
        if let Ok(done) = tokio::time::timeout(cancel.remaining(), &mut work).await {
            return done.unwrap_or_else(|_| refuse(Reason::Internal));
        }
        if cancel.take_back() {
            return refuse(Reason::Interrupted(Interruption::Deadline { allowed: self.setup.limits.deadline }));
        }
        // The change is under way and cannot be called back; only the disk can still be slow.
        match tokio::time::timeout(COMMIT_GRACE, work).await {
            Ok(done) => done.unwrap_or_else(|_| refuse(Reason::Internal)),
            Err(_) => refuse(Reason::Interrupted(Interruption::WriteUnfinished)),
        }
    }

    /// Makes a call on this thread.
    pub fn call_here(&self, request: &Request, cancel: &Cancel) -> Reply {
        let started = Instant::now();
        let mut line = self.line(request);
        let Ok(entry) = self.setup.catalogue.find(&request.tool) else {
            let nearest = self.setup.catalogue.find(&request.tool).err().and_then(|missing| missing.nearest);
            line.outcome = Outcome::UnknownTool;
            self.record(line, started, 0);
            return Reply::NoSuchTool { nearest };
        };
        line.tool = entry.spec.name().to_owned();
        let mut call = Call { pipeline: self, cancel, line, family: family_of(entry) };
        // A panic is our bug; it must cost one call, not the server.
        let end = catch_unwind(AssertUnwindSafe(|| call.run(entry, request))).unwrap_or(Err(Reason::Internal));
        let Call { mut line, family, .. } = call;
        let (outcome, reply) = match end {
            Ok(End::Ask(question)) => (Outcome::Asked, Reply::Ask(question)),
            Ok(End::Answer(rendered)) => match self.too_much(&line, &rendered) {
                None => (Outcome::Ok, Reply::Done(rendered)),
                Some(reason) => (Outcome::Refused(reason.clone()), Reply::Done(render_refusal(family, &reason))),
            },
            Err(reason) => {
                let rendered = render_refusal(family, &reason);
                let reason = self.repeated(&line, &reason, &rendered).unwrap_or(reason);
                let rendered = render_refusal(family, &reason);
                (Outcome::Refused(reason), Reply::Done(rendered))
            }
        };
        let reply_bytes = match &reply {
            Reply::Done(rendered) => rendered.text.iter().map(String::len).sum(),
            _ => 0,
        };
        line.outcome = outcome;
        self.record(line, started, reply_bytes);
        reply
    }

    fn line(&self, request: &Request) -> AuditLine {
        AuditLine {
            time: self.setup.clock.now(),
            caller: request.caller.id.clone(),
            tool: request.tool.chars().take(100).collect(),
            via: None,
            vault: None,
            files: Vec::new(),
            arguments: digest(&Value::Object(request.arguments.clone())),
            dry_run: false,
            changes: ChangeSet::default(),
            outcome: Outcome::Ok,
            duration: Duration::ZERO,
            reply_bytes: 0,
        }
    }

    fn record(&self, mut line: AuditLine, started: Instant, reply_bytes: usize) {
        line.duration = started.elapsed();
        line.reply_bytes = reply_bytes;
        let vaults = &self.setup.vaults;
        let served = vaults.pick(line.vault.as_deref()).unwrap_or_else(|_| vaults.first());
        self.audit.record(&served.log, &line);
    }

    /// An answer that is too large to send, or that was given too often already.
    fn too_much(&self, line: &AuditLine, rendered: &Rendered) -> Option<Reason> {
        let changed = !line.changes.is_empty() && !line.dry_run;
        let limit = self.setup.limits.max_reply_bytes;
        let bytes = rendered.text.iter().map(|text| text.len() as u64).sum();
        if bytes > limit && !changed {
            return Some(Reason::ReplyTooLarge { bytes, limit });
        }
        if changed {
            self.repetition.forget();
            return None;
        }
        self.noticed(line, rendered)
    }

    /// A refusal counts too, unless trying again is just what it asks for.
    fn repeated(&self, line: &AuditLine, reason: &Reason, rendered: &Rendered) -> Option<Reason> {
        let passing = matches!(
            reason,
            Reason::Interrupted(_) | Reason::Disk { .. } | Reason::KeepsChanging { .. } | Reason::Internal
        );
        if passing { None } else { self.noticed(line, rendered) }
    }

    fn noticed(&self, line: &AuditLine, rendered: &Rendered) -> Option<Reason> {
        if !self.setup.limits.notice_repetition {
            return None;
        }
        let call = ContentHash::of(format!("{} {}", line.tool, line.arguments).as_bytes());
        let outcome = digest(&Value::Object(rendered.structured.clone()));
        self.repetition.record(&line.caller, call, outcome).map(|times| Reason::Repeated { times })
    }
}

fn family_of(entry: &Entry) -> Family {
    entry.spec.declaration.family
}

/// A call on its way, and what the log will say of it.
struct Call<'a> {
    pipeline: &'a Pipeline,
    cancel: &'a Cancel,
    line: AuditLine,
    /// Whose wire form the answer takes: that of the tool that really runs.
    family: Family,
}

enum End {
    Answer(Rendered),
    Ask(Question),
}

impl<'a> Call<'a> {
    fn run(&mut self, entry: &'a Entry, request: &Request) -> Result<End, Reason> {
        let setup = &self.pipeline.setup;
        authorize(entry)?;
        let mut arguments = request.arguments.clone();
        let served = if entry.spec.needs_vault { Some(self.pick_vault(entry, &mut arguments)?) } else { None };
        self.line.files = files(entry, &arguments);
        let Checked { mut arguments, repairs } = check_arguments(entry.spec.name(), &entry.spec.input, arguments)?;
        // The vault has been picked; tools know nothing of others.
        if served.is_some() {
            arguments.remove(VAULT);
        }
        self.line.files = files(entry, &arguments);
        self.cancel.check()?;
        let notices = notices(&repairs);
        let context = Context { cancel: self.cancel, catalogue: &setup.catalogue };
        match served {
            Some(served) => self.in_vault(entry, served, &context, &arguments, &notices, request),
            None => match entry.tool.plan(&context, None, arguments)? {
                Planned::Answer { output, text } => Ok(End::Answer(render_answer(output, text, &notices))),
                Planned::Relay { tool, arguments } => self.relay(entry, &tool, arguments, request),
                Planned::Change { .. } => Err(Reason::Internal),
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
        let unknown = |nearest: Option<&str>| Reason::ToolUnknown {
            name: tool.chars().take(100).collect(),
            nearest: nearest.map(str::to_owned),
        };
        let inner = self.pipeline.setup.catalogue.find(tool).map_err(|missing| unknown(missing.nearest))?;
        if inner.spec.name() == outer.spec.name() {
            return Err(unknown(None));
        }
        self.line.via = Some(outer.spec.name());
        self.line.tool = inner.spec.name().to_owned();
        self.line.arguments = digest(&Value::Object(arguments.clone()));
        self.family = family_of(inner);
        self.run(inner, &Request { tool: tool.to_owned(), arguments, ..request.clone() })
    }

    fn in_vault(
        &mut self,
        entry: &Entry,
        served: &ServedVault,
        context: &Context<'_>,
        arguments: &Map<String, Value>,
        notices: &[String],
        request: &Request,
    ) -> Result<End, Reason> {
        let report = |stage| request.progress.iter().for_each(|progress| progress(stage));
        let mut agreed = None;
        // The first plan is made freely. If another caller was faster, the next ones are made in turn.
        let mut turn = None;
        for attempt in 1..=PLANS {
            let planned = entry.tool.plan(context, Some(&self.view(served)), arguments.clone())?;
            report(Stage::Planned);
            let (changes, dry_run, mut output, text) = match planned {
                Planned::Answer { output, text } => return Ok(End::Answer(render_answer(output, text, notices))),
                Planned::Change { changes, dry_run, output, text } => (changes, dry_run, output, text),
                Planned::Relay { .. } => return Err(Reason::Internal),
            };
            let setup = &self.pipeline.setup;
            let decision = judge(&changes, entry.spec.effect, &setup.scope, &setup.rules)?;
            self.line.changes = changes.clone();
            self.line.dry_run = dry_run;
            if dry_run {
                output.insert("diff".to_owned(), Value::String(changes.diff()));
                return Ok(End::Answer(render_answer(output, with_diff(text, &changes), notices)));
            }
            match decision {
                Decision::Allow => {}
                Decision::Deny => return Err(self.undone(Reason::DeniedByRule)),
                Decision::Ask => match self.ask(entry, served, &changes, request, &mut agreed) {
                    Ok(None) => {}
                    Ok(Some(question)) => return Ok(End::Ask(question)),
                    Err(reason) => return Err(self.undone(reason)),
                },
            }
            if changes.is_empty() {
                return Ok(End::Answer(render_answer(output, text, notices)));
            }
            // Waiting for the turn can still be called off, the change cannot.
            let begun = turn.take().map_or_else(|| served.vault.turn(), Ok);
            let begun = begun.map_err(|_| Reason::Disk { path: None, problem: Disk::NoState });
            let now = match begun.and_then(|turn| self.cancel.begin_change().map(|()| turn)) {
                Ok(turn) => turn,
                Err(reason) => return Err(self.undone(reason)),
            };
            match now.commit(&changes, &setup.scope) {
                Ok(()) => {
                    report(Stage::Committed);
                    return Ok(End::Answer(render_answer(output, text, notices)));
                }
                Err(error) if attempt < PLANS && moved_on(&error) => {
                    self.cancel.end_change();
                    turn = Some(now);
                }
                Err(error) => return Err(self.undone(refusal(self.family, error))),
            }
        }
        Err(Reason::Internal)
    }

    fn view(&self, served: &ServedVault) -> View {
        served.vault.view(Arc::clone(&self.pipeline.setup.scope), self.pipeline.setup.limits.max_file_bytes)
    }

    /// `None` if a person has agreed to exactly this change, otherwise the question.
    fn ask(
        &self,
        entry: &Entry,
        served: &ServedVault,
        changes: &ChangeSet,
        request: &Request,
        agreed: &mut Option<ContentHash>,
    ) -> Result<Option<Question>, Reason> {
        let digest = changes.digest();
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
            Some(Answer { verdict: Verdict::Declined, .. }) => Err(Reason::Declined),
            Some(Answer { verdict: Verdict::Unanswered, .. }) => Err(Reason::ConsentExpired),
            None if !request.caller.can_ask => Err(Reason::NobodyToAsk),
            None => {
                let state = consent.seal(&subject, now, setup.limits.answer_within)?;
                Ok(Some(Question { message: question(entry, served, changes), state }))
            }
        }
    }

    /// The log must not show a change that did not happen.
    fn undone(&mut self, reason: Reason) -> Reason {
        self.line.changes = ChangeSet::default();
        reason
    }

    /// The vault that the arguments name. With a single vault the schema does not mention it, but it may be named.
    fn pick_vault(&mut self, entry: &Entry, arguments: &mut Map<String, Value>) -> Result<&'a ServedVault, Reason> {
        let named = arguments.get(VAULT).cloned();
        if !entry.spec.takes(VAULT) {
            arguments.remove(VAULT);
        }
        let name = match named {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => {
                let problem = lapidary_tools::ArgumentProblem {
                    at: VAULT.to_owned(),
                    problem: "must be a string".to_owned(),
                    nearest: None,
                };
                return Err(Reason::InvalidArguments { tool: entry.spec.name().to_owned(), problems: vec![problem] });
            }
        };
        let served = self.pipeline.setup.vaults.pick(name.as_deref())?;
        self.line.vault = Some(served.vault.name().to_owned());
        Ok(served)
    }
}

fn authorize(entry: &Entry) -> Result<(), Reason> {
    match entry.standing {
        Standing::Listed | Standing::Deferred => Ok(()),
        Standing::Off(off) => Err(Reason::ToolOff { tool: entry.spec.name().to_owned(), off }),
    }
}

fn notices(repairs: &[String]) -> Vec<String> {
    if repairs.is_empty() { Vec::new() } else { vec![format!("Arguments repaired: {}.", repairs.join("; "))] }
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

fn question(entry: &Entry, served: &ServedVault, changes: &ChangeSet) -> String {
    let diff = changes.diff();
    let count = |mark: &str, header: &str| {
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(header)).count()
    };
    let files: Vec<String> = changes.changes.iter().map(|change| format!("`{}`", change.path())).collect();
    let mut shown: String = diff.chars().take(SHOWN_DIFF).collect();
    if shown.len() < diff.len() {
        shown += "\n… (the diff goes on)";
    }
    format!(
        "`{}` wants to change {} in the vault `{}`: {} lines added, {} removed.\n\n{shown}",
        entry.spec.name(),
        files.join(", "),
        served.vault.name(),
        count("+", "+++"),
        count("-", "---"),
    )
}

fn with_diff(text: Option<String>, changes: &ChangeSet) -> Option<String> {
    text.map(|text| format!("{text}\n\n{}", changes.diff()))
}

/// The same for the same JSON, in whatever order its keys come.
fn digest(value: &Value) -> ContentHash {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                Value::Object(keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect())
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    ContentHash::of(sorted(value).to_string().as_bytes())
}
