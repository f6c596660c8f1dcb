use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use lapidary_note::ContentHash;
use lapidary_tools::{
    Cancel, Catalogue, Disk, Effect, Entry, Family, Interruption, NoSuchTool, Reason, Rendered, ScanLimits,
    render_refusal,
};
use lapidary_vault::{LateSave, News, Receipt, RulesError, Scope, View};
use serde_json::Value;

use crate::{
    Clock, Decision, Reply, Request, Rules, ServedVault, Vaults,
    audit::{Audit, AuditLine, Outcome},
    consent::Consent,
    digest::digest,
    repetition::Repetition,
    run::{Call, End},
};

/// Everything that can call a tool goes through here.
pub struct Pipeline {
    pub(crate) setup: Setup,
    audit: Audit,
    pub(crate) consent: Consent,
    repetition: Repetition,
}

/// What the owner configured.
pub struct Setup {
    pub catalogue: Catalogue,
    pub vaults: Vaults,
    pub rules: Rules,
    /// Whether a person who can be asked is asked before a note goes to the trash.
    pub asks_before_deleting: bool,
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
    pub scan: ScanLimits,
}

/// No call goes on for ever, whatever it asks for.
const LONGEST_DEADLINE: Duration = Duration::from_secs(600);

/// How long a disk may take to finish a change before the caller is told that the outcome is unknown.
const COMMIT_GRACE: Duration = Duration::from_secs(30);

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

    /// What the owner's rules say of changes in general.
    pub fn decision_on_writing(&self) -> Decision {
        self.setup.rules.on(Effect::Write)
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
        let family = self.setup.catalogue.find(&request.tool).map_or(Family::Own, family_of);
        let this = Arc::clone(self);
        let work = {
            let cancel = Arc::clone(&cancel);
            tokio::task::spawn_blocking(move || this.call_here(&request, &cancel))
        };
        tokio::pin!(work);
        let refuse = |reason| Reply::Done(render_refusal(family, &reason));
        if let Ok(done) = tokio::time::timeout(cancel.remaining(), &mut work).await {
            return done.unwrap_or_else(|_| refuse(broken(&cancel)));
        }
        if cancel.take_back() {
            return refuse(Reason::Interrupted(Interruption::Deadline { allowed: cancel.allowed() }));
        }
        // The change is under way and cannot be called back; only the disk can still be slow.
        match tokio::time::timeout(COMMIT_GRACE, work).await {
            Ok(done) => done.unwrap_or_else(|_| refuse(broken(&cancel))),
            Err(_) => refuse(Reason::Interrupted(Interruption::WriteUnfinished)),
        }
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

    /// Makes a call on this thread.
    pub fn call_here(&self, request: &Request, cancel: &Cancel) -> Reply {
        let started = Instant::now();
        let mut line = self.line(request);
        let entry = match self.setup.catalogue.find(&request.tool) {
            Ok(entry) => entry,
            Err(NoSuchTool { nearest }) => {
                line.outcome = Outcome::UnknownTool;
                self.record(line, started, 0);
                return Reply::NoSuchTool { nearest };
            }
        };
        line.tool = entry.spec.name().to_owned();
        let mut call = Call {
            pipeline: self,
            cancel,
            line,
            family: family_of(entry),
            repairs: Vec::new(),
            late_saves: Vec::new(),
            spent: Arc::default(),
        };
        // A panic is our bug; it must cost one call, not the server.
        let end = catch_unwind(AssertUnwindSafe(|| call.run(entry, request))).unwrap_or_else(|_| Err(broken(cancel)));
        let Call { mut line, family, spent, late_saves, .. } = call;
        line.walked = spent.walked();
        let (outcome, reply) = match end {
            Ok(End::Ask(question)) => (Outcome::Asked, Reply::Ask(question)),
            Ok(End::Answer(rendered)) => match self.too_much(&line, &rendered) {
                None => (Outcome::Ok, Reply::Done(rendered)),
                Some(reason) => (Outcome::Refused(reason.clone()), Reply::Done(render_refusal(family, &reason))),
            },
            Err(reason) => {
                if !line.receipt.changed.is_empty() {
                    self.repetition.forget();
                }
                let rendered = render_refusal(family, &reason);
                let reason = self.repeated(&line, &reason, &rendered).unwrap_or(reason);
                let rendered = render_refusal(family, &reason);
                (Outcome::Refused(reason), Reply::Done(rendered))
            }
        };
        if !matches!(outcome, Outcome::Ok) || cancel.check().is_err() {
            self.tell_again(&line, &late_saves);
        }
        let reply_bytes = match &reply {
            Reply::Done(rendered) => size(rendered),
            _ => 0,
        };
        line.outcome = outcome;
        self.record(line, started, reply_bytes);
        reply
    }

    pub(crate) fn line(&self, request: &Request) -> AuditLine {
        AuditLine {
            time: self.setup.clock.now(),
            caller: request.caller.id.clone(),
            one_client: request.caller.one_client,
            tool: request.tool.chars().take(100).collect(),
            via: None,
            vault: None,
            files: Vec::new(),
            arguments: digest(&Value::Object(request.arguments.clone())),
            dry_run: false,
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
    fn too_much(&self, line: &AuditLine, rendered: &Rendered) -> Option<Reason> {
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
        if !self.setup.limits.notice_repetition || !line.one_client {
            return None;
        }
        let call = ContentHash::of(format!("{} {}", line.tool, line.arguments).as_bytes());
        let outcome = digest(&Value::Object(rendered.structured.clone()));
        self.repetition.record(&line.caller, call, outcome).map(|times| Reason::Repeated { times })
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
fn broken(cancel: &Cancel) -> Reason {
    if cancel.is_changing() { Reason::Interrupted(Interruption::WriteUnfinished) } else { Reason::Internal }
}

/// What goes over the wire: the text, and the same facts for programs.
fn size(rendered: &Rendered) -> usize {
    let text: usize = rendered.text.iter().map(String::len).sum();
    text + Value::Object(rendered.structured.clone()).to_string().len()
}

pub(crate) fn family_of(entry: &Entry) -> Family {
    entry.spec.declaration.family
}
