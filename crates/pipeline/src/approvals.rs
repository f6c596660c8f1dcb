//! Changes that wait for a person who cannot be asked through the client. The question is written down in the state
//! folder; whoever answers it does so in a process of their own, and the change is made there, through the same stages.
//! The caller learns of it by making the same call again.

use std::{
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lapidary_note::ContentHash;
use lapidary_tools::{Effect, Kind, Reason, Rendered};
use lapidary_vault::store::{Progress, Waiting};
use serde_json::{Map, Value, json};

use crate::{Caller, Pipeline, Reply, Request, audit::AuditLine, clock::iso, run::VAULT};

/// Nobody remembers for longer what they were asked.
const OPEN_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// As many characters as tell questions from each other.
const ID: usize = 10;

/// A change that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    pub id: String,
    pub vault: String,
    pub asked: SystemTime,
    pub caller: String,
    pub profile: String,
    pub tool: String,
    /// The change itself, for the person.
    pub question: String,
    /// Somebody has answered, and it is being carried out.
    pub taken: bool,
    arguments: Map<String, Value>,
    changes: ContentHash,
}

impl Pending {
    /// When it was asked, as it is shown.
    pub fn asked_at(&self) -> String {
        iso(self.asked)
    }
}

/// What came of a person's answer.
#[derive(Debug)]
pub enum Decided {
    /// It was carried out, or at least tried: the reply to the call.
    Tried(Rendered),
    /// Nothing changes: whoever asked may look when it calls again.
    MayRead,
    Rejected,
    /// The profile under which it was asked is not one of this process.
    NoSuchProfile(String),
    /// Somebody was faster, or it is too late.
    Gone,
}

/// What a caller hears who makes the call again.
pub(crate) enum Heard {
    /// A person agreed, and this came of it.
    Reply(Rendered),
    /// A person agreed that this call may look.
    MayRead,
    Refused(Reason),
}

/// Which question a call leads to: the same for the same call of the same client.
pub(crate) fn question_id(line: &AuditLine) -> String {
    let vault = line.vault.as_deref().unwrap_or_default();
    let call = format!("{vault}\n{}\n{}\n{}\n{}", line.known_as, line.profile, line.tool, line.arguments);
    ContentHash::of(call.as_bytes()).to_string().trim_start_matches("sha256:").chars().take(ID).collect()
}

/// What became of the question that this call led to; `None` if there is nothing to hear.
pub(crate) fn hear(waiting: &Waiting, id: &str, now: SystemTime) -> io::Result<Option<Heard>> {
    let Some((Progress::Settled, text)) = waiting.find(id)? else { return Ok(None) };
    // Of two who make the call at a time one hears the answer; and nobody that of a question they have forgotten.
    if !waiting.remove(id, Progress::Settled)? {
        return Ok(None);
    }
    // Left by a process that ended between writing the answer down and this.
    waiting.remove(id, Progress::Taken)?;
    if is_late(&text, now) {
        return Ok(None);
    }
    let settled: Value = serde_json::from_str(&text).unwrap_or_default();
    if settled["rejected"] == true {
        return Ok(Some(Heard::Refused(Reason::Declined)));
    }
    if settled["mayRead"] == true {
        return Ok(Some(Heard::MayRead));
    }
    let (Value::Object(structured), Value::Array(text)) = (settled["structured"].clone(), &settled["text"]) else {
        return Ok(None);
    };
    let text = text.iter().filter_map(|part| part.as_str().map(str::to_owned)).collect();
    let is_error = settled["isError"] == true;
    let mut rendered = Rendered { text, structured, is_error };
    if !is_error {
        rendered.add_notice("A person agreed, and the change has been made. Do not make the call again.");
    }
    Ok(Some(Heard::Reply(rendered)))
}

/// Writes the question down, or again if the change is another by now. The reason says what to do.
pub(crate) fn wait(
    waiting: &Waiting,
    line: &AuditLine,
    arguments: &Map<String, Value>,
    question: &str,
    changes: ContentHash,
    now: SystemTime,
) -> Result<Reason, io::Error> {
    let id = question_id(line);
    let vault = line.vault.clone().unwrap_or_default();
    if let Some((progress, text)) = waiting.find(&id)?
        && let Some(before) = parse(&id, &vault, &text)
        && (progress == Progress::Taken || (before.changes == changes && !is_late(&text, now)))
    {
        return Ok(Reason::ApprovalPending { id });
    }
    tidy(waiting, now)?;
    let record = json!({
        "asked": iso(now),
        "caller": line.caller,
        "profile": line.profile,
        "tool": line.tool,
        "arguments": arguments,
        "changes": changes.to_string(),
        "question": question,
    });
    waiting.put(&id, &record.to_string())?;
    Ok(Reason::ApprovalPending { id })
}

fn parse(id: &str, vault: &str, text: &str) -> Option<Pending> {
    let record: Value = serde_json::from_str(text).ok()?;
    let said = |key: &str| record[key].as_str().map(str::to_owned);
    let Value::Object(arguments) = record["arguments"].clone() else { return None };
    Some(Pending {
        id: id.to_owned(),
        vault: vault.to_owned(),
        asked: said("asked")?.parse::<Timestamp>().ok()?.into(),
        caller: said("caller")?,
        profile: said("profile")?,
        tool: said("tool")?,
        question: said("question")?,
        taken: false,
        arguments,
        changes: said("changes")?.parse().ok()?,
    })
}

/// Whether a question or an answer has waited too long for somebody. What cannot be read is of no use any more.
fn is_late(text: &str, now: SystemTime) -> bool {
    let record: Value = serde_json::from_str(text).unwrap_or_default();
    let since = record["answered"].as_str().or_else(|| record["asked"].as_str());
    let since = since.and_then(|since| since.parse::<Timestamp>().ok()).map(SystemTime::from);
    since.is_none_or(|since| now.duration_since(since).is_ok_and(|passed| passed > OPEN_FOR))
}

/// Removes what has waited too long. The text of notes must not stay there for ever.
fn tidy(waiting: &Waiting, now: SystemTime) -> io::Result<()> {
    for (id, progress, text) in waiting.list()? {
        if progress != Progress::Taken && is_late(&text, now) {
            waiting.forget(&id)?;
        }
    }
    Ok(())
}

impl Pipeline {
    /// What waits for a person, the oldest first. What has waited too long goes.
    pub fn pending(&self) -> io::Result<Vec<Pending>> {
        let now = self.setup.clock.now();
        let mut all = Vec::new();
        for served in self.setup.vaults.iter() {
            tidy(&served.waiting, now)?;
            for (id, progress, text) in served.waiting.list()? {
                // An answer that nobody has come for is not asked any more.
                if let Some(pending) = parse(&id, served.vault.name(), &text).filter(|_| progress != Progress::Settled)
                {
                    all.push(Pending { taken: progress == Progress::Taken, ..pending });
                }
            }
        }
        all.sort_by_key(|pending| pending.asked);
        Ok(all)
    }

    /// A person's answer. If it is yes, exactly the change that was shown is made, or none.
    pub fn decide(&self, pending: &Pending, agreed: bool) -> io::Result<Decided> {
        let Ok(served) = self.setup.vaults.pick(Some(&pending.vault)) else { return Ok(Decided::Gone) };
        let Some(profile) = self.profile_called(&pending.profile) else {
            return Ok(Decided::NoSuchProfile(pending.profile.clone()));
        };
        let (waiting, now) = (&served.waiting, self.setup.clock.now());
        tidy(waiting, now)?;
        // Held until the answer is written down.
        let Some(_taken) = waiting.take(&pending.id)? else { return Ok(Decided::Gone) };
        let settle = |mut answer: Value| {
            answer["answered"] = json!(iso(now));
            waiting.settle(&pending.id, &answer.to_string())
        };
        if !agreed {
            settle(json!({ "rejected": true }))?;
            return Ok(Decided::Rejected);
        }
        let spec = profile.catalogue.find(&pending.tool).ok().map(|entry| &entry.spec);
        if spec.is_some_and(|spec| spec.effect == Effect::Read) {
            // Read when it is asked for again, by what may be read then. So no text of a note is kept here.
            settle(json!({ "mayRead": true }))?;
            return Ok(Decided::MayRead);
        }
        let mut arguments = pending.arguments.clone();
        if spec.is_some_and(|spec| spec.needs_vault) {
            // It may have another name in this process, or be one of several here and the only one there.
            arguments.retain(|name, _| !name.eq_ignore_ascii_case(VAULT));
            arguments.insert(VAULT.to_owned(), json!(pending.vault));
        }
        let caller = Caller {
            id: pending.caller.clone(),
            known_as: String::new(),
            one_client: false,
            can_ask: false,
            profile: Arc::clone(&profile),
        };
        let request = Request { tool: pending.tool.clone(), arguments, caller, answer: None, progress: None };
        let cancel = self.cancel(&request);
        let (reply, refused) = self.carry_out(&request, &cancel, Some(pending.changes));
        let Reply::Done(rendered) = reply else {
            waiting.forget(&pending.id)?;
            return Ok(Decided::Gone);
        };
        if refused == Some(Kind::ChangedMeanwhile) {
            // The next call asks about the change as it is by then.
            waiting.forget(&pending.id)?;
        } else {
            settle(json!({
                "structured": rendered.structured, "text": rendered.text, "isError": rendered.is_error,
            }))?;
        }
        Ok(Decided::Tried(rendered))
    }
}
