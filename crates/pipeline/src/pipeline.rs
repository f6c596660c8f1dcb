use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lapidary_note::ContentHash;
use lapidary_tools::{
    Cancel, Disk, Effect, Entry, Family, Interruption, Kind, NoSuchTool, Offered, Profile, Reason, Rendered,
    ScanLimits, bug, catch_panic, render_refusal,
};
use lapidary_vault::{LateSave, News, Receipt, RulesError, Scope, VaultPath, View};
use serde_json::Value;

use crate::{
    Clock, Decision, Reply, Request, Rules, ServedVault, Vaults,
    audit::{Audit, AuditLine, Outcome},
    clock::iso,
    consent::Consent,
    digest::digest,
    lanes::Lanes,
    repetition::{Asked, Repetition, RepetitionLimits},
    run::{Call, End},
};

/// Everything that can call a tool goes through here.
pub struct Pipeline {
    pub(crate) setup: Setup,
    audit: Audit,
    pub(crate) consent: Consent,
    repetition: Repetition,
    lanes: Lanes,
}

/// What the owner configured.
pub struct Setup {
    /// Of callers who present nothing that gives them another.
    pub profile: Arc<Profile>,
    /// All profiles that anybody can have here.
    pub others: Vec<Arc<Profile>>,
    pub vaults: Vaults,
    pub rules: Rules,
    /// Whether a change waits for a person where the client cannot ask one.
    pub waits_for_approval: bool,
    /// Whether a person who can be asked is asked before a note goes to the trash.
    pub asks_before_deleting: bool,
    /// The folder of the vaults in which every note is a playbook.
    pub skills: Option<VaultPath>,
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
    pub repetition: RepetitionLimits,
    pub scan: ScanLimits,
}

/// No call goes on for ever, whatever it asks for.
const LONGEST_DEADLINE: Duration = Duration::from_secs(600);

/// How long a disk may take to finish a change before the caller is told that the outcome is unknown.
const COMMIT_GRACE: Duration = Duration::from_secs(30);

impl Pipeline {
    pub fn new(setup: Setup) -> Result<Self, getrandom::Error> {
        let audit = Audit::new(setup.warn);
        let repetition = Repetition::default();
        Ok(Self { setup, audit, consent: Consent::new()?, repetition, lanes: Lanes::new() })
    }

    /// That of callers who present nothing that gives them another.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.setup.profile
    }

    pub fn vaults(&self) -> &Vaults {
        &self.setup.vaults
    }

    pub fn limits(&self) -> &Limits {
        &self.setup.limits
    }

    /// What somebody who may use the server sees of a vault now.
    pub fn view(&self, served: &ServedVault) -> Result<View, Reason> {
        Ok(self.view_under(served, self.scope(served)?))
    }

    pub(crate) fn view_under(&self, served: &ServedVault, scope: Arc<Scope>) -> View {
        served.vault.view(scope, self.setup.limits.max_file_bytes)
    }

    /// What may be read and changed at this moment. The owner hears what is wrong with the rules, the caller only that
    /// the vault is closed.
    pub(crate) fn scope(&self, served: &ServedVault) -> Result<Arc<Scope>, Reason> {
        served.vault.scope(self.setup.clock.now()).map_err(|error| match error {
            RulesError::VaultGone => Reason::Disk { path: None, problem: Disk::VaultGone },
            RulesError::Unreadable { file, .. } => {
                (self.setup.warn)(&format!("the vault `{}` is closed: {error}", served.vault.name()));
                Reason::VaultClosed { file }
            }
        })
    }

    /// How far a vault has been looked through, in per cent, if one is and that takes a while.
    pub fn indexing(&self) -> Option<u8> {
        self.setup.vaults.iter().find_map(|served| served.vault.indexing())
    }

    /// What the owner's rules say of changes in general.
    pub fn decision_on_writing(&self) -> Decision {
        self.setup.rules.on(Effect::Write)
    }

    /// Whether the owner's rules have a word on some calls that they do not have on all.
    pub fn has_particular_rules(&self) -> bool {
        self.setup.rules.are_mixed()
    }

    /// A token that stops a call: when the caller takes it back, and at the latest when its time is up. A call may ask
    /// for more time than usual; if it asks for less, the tool itself sees to it, and answers with what it has.
    pub fn cancel(&self, request: &Request) -> Arc<Cancel> {
        let usual = self.setup.limits.deadline;
        let arguments = match request.arguments.get("arguments") {
            // A call through `call_tool`.
            Some(Value::Object(inner)) => inner,
            _ => &request.arguments,
        };
        let asked = arguments.get("_budget").and_then(|budget| budget.get("deadlineMs")).and_then(Value::as_u64);
        let asked = asked.map(|asked| match asked {
            0 => LONGEST_DEADLINE,
            asked => Duration::from_millis(asked).min(LONGEST_DEADLINE),
        });
        Arc::new(Cancel::after(asked.map_or(usual, |asked| asked.max(usual))))
    }

    /// Makes a call on a thread where it may wait for the disk, and waits no longer for it than its time allows.
    pub async fn call(self: &Arc<Self>, request: Request, cancel: Arc<Cancel>) -> Reply {
        let family = request.caller.profile.catalogue.find(&request.tool).map_or(Family::Own, family_of);
        let profile = Arc::clone(&request.caller.profile);
        let refuse = |reason| Reply::Done(render_refusal(family, &reason, Offered::of(&profile.catalogue)));
        let too_late = || refuse(Reason::Interrupted(Interruption::Deadline { allowed: cancel.allowed() }));
        let effect = effect_of(&request);
        let Ok(_place) = tokio::time::timeout(cancel.remaining(), self.lanes.enter(effect)).await else {
            let reason = Reason::Interrupted(Interruption::Deadline { allowed: cancel.allowed() });
            let line = AuditLine { outcome: Outcome::Refused(reason), ..self.line(&request) };
            self.record(line, Instant::now(), 0);
            return too_late();
        };
        let this = Arc::clone(self);
        let work = {
            let cancel = Arc::clone(&cancel);
            tokio::task::spawn_blocking(move || this.call_here(&request, &cancel))
        };
        tokio::pin!(work);
        if let Ok(done) = tokio::time::timeout(cancel.remaining(), &mut work).await {
            return done
                .unwrap_or_else(|_| refuse(broken(&cancel, bug!("the task of a call ended without an answer"))));
        }
        if cancel.take_back() {
            return too_late();
        }
        // The change is under way and cannot be called back; only the disk can still be slow.
        match tokio::time::timeout(COMMIT_GRACE, work).await {
            Ok(done) => {
                done.unwrap_or_else(|_| refuse(broken(&cancel, bug!("the task of a call ended without an answer"))))
            }
            Err(_) => refuse(Reason::Interrupted(Interruption::WriteUnfinished)),
        }
    }

    /// Waits for a place among those who look.
    pub(crate) async fn enter_to_read(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        self.lanes.enter(Effect::Read).await
    }

    /// For the end of the process: lets a change that is under way finish, for as long as that may take, and lets no
    /// other begin.
    pub fn stop_changes(self: &Arc<Self>, within: Duration) {
        let this = Arc::clone(self);
        let (stopped, wait) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let turns: Vec<_> = this.setup.vaults.iter().map(|served| served.vault.turn(&|| true)).collect();
            // Whoever waited may have given up.
            stopped.send(()).unwrap_or_default();
            loop {
                std::thread::park();
                std::hint::black_box(&turns);
            }
        });
        wait.recv_timeout(within).unwrap_or_default();
    }

    /// For the end of the process: keeps what was learnt of the vaults for the next start, if that does not take long.
    pub fn save_indexes(self: &Arc<Self>, within: Duration) {
        let this = Arc::clone(self);
        let (saved, wait) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            this.setup.vaults.iter().for_each(|served| served.vault.save_index());
            // Whoever waited may have given up.
            saved.send(()).unwrap_or_default();
        });
        wait.recv_timeout(within).unwrap_or_default();
    }

    /// The profile of a question that was asked earlier, if there is still one of that name.
    pub(crate) fn profile_called(&self, name: &str) -> Option<Arc<Profile>> {
        self.setup.others.iter().find(|profile| profile.name == name).map(Arc::clone)
    }

    /// Makes a call on this thread.
    pub fn call_here(&self, request: &Request, cancel: &Cancel) -> Reply {
        self.carry_out(request, cancel, None).0
    }

    /// Makes a call on this thread, which a person may have agreed to if it leads to exactly this change; and why it was
    /// refused, if it was.
    pub(crate) fn carry_out(
        &self,
        request: &Request,
        cancel: &Cancel,
        agreed: Option<ContentHash>,
    ) -> (Reply, Option<Kind>) {
        let started = Instant::now();
        let mut line = self.line(request);
        let entry = match request.caller.profile.catalogue.find(&request.tool) {
            Ok(entry) => entry,
            Err(NoSuchTool { nearest }) => {
                line.outcome = Outcome::UnknownTool;
                self.record(line, started, 0);
                return (Reply::NoSuchTool { nearest }, None);
            }
        };
        line.tool = entry.spec.name().to_owned();
        line.via = agreed.map(|_| "approvals");
        let mut call = Call {
            pipeline: self,
            profile: &request.caller.profile,
            cancel,
            line,
            family: family_of(entry),
            repairs: Vec::new(),
            late_saves: Vec::new(),
            spent: Arc::default(),
            asked: Asked::raw(entry.spec.name(), &request.arguments),
            agreed,
            at_least: Decision::Allow,
        };
        // A panic is our bug; it must cost one call, not the server.
        let end =
            catch_panic(|| call.run(entry, request)).unwrap_or_else(|bug| Err(broken(cancel, Reason::Internal(bug))));
        let Call { mut line, family, spent, asked, late_saves, .. } = call;
        line.walked = spent.walked();
        let offered = Offered::of(&request.caller.profile.catalogue);
        let (outcome, reply) = match end {
            Ok(End::Ask(question)) => (Outcome::Asked, Reply::Ask(question)),
            Ok(End::Answer(rendered)) => match self.too_much(&line, &asked, &rendered) {
                None => {
                    self.repetition.succeeded(&line.caller);
                    (Outcome::Ok, Reply::Done(rendered))
                }
                Some(reason) => self.refused(&line, family, reason, offered),
            },
            Err(reason) => {
                if !line.receipt.changed.is_empty() {
                    self.repetition.forget();
                }
                let rendered = render_refusal(family, &reason, offered);
                let reason = self.repeated(&line, &asked, &reason, &rendered).unwrap_or(reason);
                self.refused(&line, family, reason, offered)
            }
        };
        if !matches!(outcome, Outcome::Ok) || cancel.check().is_err() {
            self.tell_again(&line, &late_saves);
        }
        let reply_bytes = match &reply {
            Reply::Done(rendered) => size(rendered),
            _ => 0,
        };
        let kind = match &outcome {
            Outcome::Refused(reason) => Some(reason.kind()),
            _ => None,
        };
        line.outcome = outcome;
        self.record(line, started, reply_bytes);
        (reply, kind)
    }

    pub(crate) fn line(&self, request: &Request) -> AuditLine {
        AuditLine {
            time: self.setup.clock.now(),
            caller: request.caller.id.clone(),
            known_as: request.caller.known_as.clone(),
            one_client: request.caller.one_client,
            profile: request.caller.profile.name.clone(),
            tool: request.tool.chars().take(100).collect(),
            via: None,
            vault: None,
            files: Vec::new(),
            arguments: digest(&Value::Object(request.arguments.clone())),
            dry_run: false,
            refused: Vec::new(),
            receipt: Receipt::default(),
            outcome: Outcome::Ok,
            walked: None,
            duration: Duration::ZERO,
            reply_bytes: 0,
        }
    }

    pub(crate) fn record(&self, mut line: AuditLine, started: Instant, reply_bytes: usize) {
        line.duration = started.elapsed();
        line.reply_bytes = reply_bytes;
        let vaults = &self.setup.vaults;
        let served = vaults.pick(line.vault.as_deref()).unwrap_or_else(|_| vaults.first());
        self.audit.record(&served.log, &line);
        for news in served.vault.take_news() {
            (self.setup.warn)(&format!("vault `{}`: {}", served.vault.name(), in_words(&news)));
            self.audit.tell(&served.log, line.time, &news);
        }
    }

    /// Only an answer tells of late saves; with a refusal or a question nobody has heard of them.
    fn tell_again(&self, line: &AuditLine, late_saves: &[LateSave]) {
        if late_saves.is_empty() {
            return;
        }
        let served = self.setup.vaults.pick(line.vault.as_deref()).unwrap_or_else(|_| self.setup.vaults.first());
        if let Err(error) = served.vault.tell_again(late_saves) {
            (self.setup.warn)(&format!("checkpoints cannot be looked up: {error}"));
        }
    }

    /// An answer that is too large to send, or that was given too often already.
    fn too_much(&self, line: &AuditLine, asked: &Asked, rendered: &Rendered) -> Option<Reason> {
        let changed = !line.receipt.changed.is_empty() && !line.dry_run;
        let limit = self.setup.limits.max_reply_bytes;
        let bytes = size(rendered) as u64;
        if bytes > limit && !changed {
            return Some(Reason::ReplyTooLarge { bytes, limit });
        }
        if changed {
            self.repetition.forget();
            return None;
        }
        self.noticed(line, asked, rendered)
    }

    /// A refusal counts too, unless trying again is just what it asks for.
    fn repeated(&self, line: &AuditLine, asked: &Asked, reason: &Reason, rendered: &Rendered) -> Option<Reason> {
        let passing = matches!(
            reason,
            Reason::Interrupted(_)
                | Reason::Disk { .. }
                | Reason::KeepsChanging { .. }
                | Reason::ApprovalPending { .. }
                | Reason::Internal(_)
        );
        if passing { None } else { self.noticed(line, asked, rendered) }
    }

    fn noticed(&self, line: &AuditLine, asked: &Asked, rendered: &Rendered) -> Option<Reason> {
        let limits = &self.setup.limits.repetition;
        if !limits.noticed || !line.one_client {
            return None;
        }
        let outcome = digest(&Value::Object(rendered.structured.clone()));
        let repeated = self
            .repetition
            .record(&line.caller, asked, outcome, line.time, limits, || self.mark(line.vault.as_deref()))?;
        Some(Reason::Repeated { times: repeated.times, last: iso(repeated.last), similar: repeated.similar })
    }

    /// What tells one state of a vault from another, as far as callers see it. `None` if it cannot be told.
    fn mark(&self, vault: Option<&str>) -> Option<ContentHash> {
        let view = self.setup.vaults.pick(vault).and_then(|served| self.view(served)).ok()?;
        let files = view.files(&|| true).ok()?;
        let mut seen = String::new();
        for file in files.iter() {
            seen += &format!("{} {} {:?}\n", file.path(), file.bytes(), file.modified());
        }
        Some(ContentHash::of(seen.as_bytes()))
    }

    /// A refusal in the words of the family; after many in a row, it says so.
    fn refused(&self, line: &AuditLine, family: Family, reason: Reason, offered: Offered<'_>) -> (Outcome, Reply) {
        let limits = &self.setup.limits.repetition;
        let mut rendered = render_refusal(family, &reason, offered);
        if limits.noticed && line.one_client {
            let failures = self.repetition.failed(&line.caller, line.time);
            if limits.max_failures > 0 && failures >= limits.max_failures {
                rendered.add_notice(&format!(
                    "{failures} calls in a row have failed. Stop trying, and ask the person what to do."
                ));
            }
        }
        (Outcome::Refused(reason), Reply::Done(rendered))
    }
}

/// What a call may do: that of the tool it is for in the end.
fn effect_of(request: &Request) -> Effect {
    let catalogue = &request.caller.profile.catalogue;
    let Ok(entry) = catalogue.find(&request.tool) else { return Effect::Read };
    let relayed = match request.arguments.get("name") {
        Some(Value::String(name)) if !entry.spec.needs_vault && entry.spec.effect != Effect::Read => Some(name),
        _ => None,
    };
    match relayed.map(|name| catalogue.find(name)) {
        Some(Ok(inner)) => inner.spec.effect,
        // Nothing will come of it.
        Some(Err(_)) => Effect::Read,
        None => entry.spec.effect,
    }
}

/// What happened without a call, for the owner.
fn in_words(news: &News) -> String {
    match news {
        News::Completed { checkpoint } => {
            format!("a server was killed right after a change; it was complete (checkpoint {checkpoint})")
        }
        News::Undone { left } if left.is_empty() => {
            "a change that was not finished has been taken back; all files are as before".to_owned()
        }
        News::Undone { left } => {
            let left: Vec<String> = left.iter().map(ToString::to_string).collect();
            format!("an unfinished change has been taken back, but for files changed since: {}", left.join(", "))
        }
        News::LateSave { path, checkpoint } => {
            format!("another program saved `{path}` while it was changed here; its text is in checkpoint {checkpoint}")
        }
        News::Postponed { why } => format!("something could not be looked after and will be tried again: {why}"),
    }
}

/// After a fault of ours, what can honestly be said.
fn broken(cancel: &Cancel, bug: Reason) -> Reason {
    if cancel.is_changing() { Reason::Interrupted(Interruption::WriteUnfinished) } else { bug }
}

/// What goes over the wire: the text, and the same facts for programs.
fn size(rendered: &Rendered) -> usize {
    let text: usize = rendered.text.iter().map(String::len).sum();
    text + Value::Object(rendered.structured.clone()).to_string().len()
}

pub(crate) fn family_of(entry: &Entry) -> Family {
    entry.spec.declaration.family
}
